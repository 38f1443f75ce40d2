/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a prediction is told: the cycle, the schedule that has it, and what stands against it.
 *
 * A block that can be cut is mostly cut in the same way again and again. To make a finding takes a
 * microsecond, and only the first of a pattern is shown; so the last patterns are remembered, and
 * when one comes again it is counted. The host gets the counts at the end, or when another pattern
 * needs the place.
 */
#include <string.h>

#include "engine/sidetrack.h"

static const char *const kinds[ERROR_KINDS] = {
    [ERROR_BEFORE] = "before",
    [ERROR_IN] = "in",
    [ERROR_AFTER] = "after",
};

#define MAY_DEADLOCK                                                                               \
    "the threads take further locks around these acquires, and in this schedule they may end in "  \
    "a deadlock instead"
#define SAME_WAY                                                                                   \
    "it presupposes that the block takes its second turn also when the culprit has not had its "   \
    "turn before"
#define MAY_WAIT                                                                                   \
    "if this is a semaphore, or a lock made by hand, the culprit may have to wait for the block"

static const char *caveat_of(const struct prediction *p)
{
    if (p->error == ERROR_IN) {
        return NULL;
    }
    if (p->unproven) {
        return MAY_WAIT;
    }
    if (p->error == ERROR_BEFORE) {
        return p->rough ? SAME_WAY "; and " MAY_DEADLOCK : SAME_WAY;
    }
    return p->rough ? MAY_DEADLOCK : NULL;
}

static bool is_proven(const struct prediction *p)
{
    return p->error == ERROR_IN || !p->unproven;
}

/* The event that shows it: the second of the window, or the culprit. */
static uint64_t event_of(const struct prediction *p)
{
    return p->shows->id == p->block->thread ? p->second->event : p->culprit->event;
}

static uint8_t edge_kind(const struct prediction *p, const struct place *first,
                         const struct place *second)
{
    if (p->on_class == TMS_CLASS_LOCK) {
        return TMS_EDGE_LOCK;
    }
    if (first->kind == TMS_EVENT_READ) {
        return TMS_EDGE_READ_WRITE;
    }
    return second->kind == TMS_EVENT_READ ? TMS_EDGE_WRITE_READ : TMS_EDGE_WRITE_WRITE;
}

static struct tms_step step_of(const struct prediction *p, const struct tms_transaction *from,
                               const struct place *first, const struct tms_transaction *to,
                               const struct place *second)
{
    return (struct tms_step){
        .from = *from,
        .to = *to,
        .first_event = first->event,
        .second_event = second->event,
        .first_location = first->location,
        .second_location = second->location,
        .on = p->on,
        .on_class = p->on_class,
        .kind = edge_kind(p, first, second),
        .first_kind = first->kind,
        .second_kind = second->kind,
    };
}

static struct tms_turn turn_of(const struct prediction *p, const struct place *place,
                               uint32_t thread, const char *role)
{
    return (struct tms_turn){.event = place->event,
                             .thread = thread,
                             .target = p->on,
                             .location = place->location,
                             .kind = place->kind,
                             .role = role};
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* All that findings are grouped by, and the caveat. Never 0. */
static uint64_t pattern_of(const struct prediction *p)
{
    uint64_t error = (uint64_t)p->error << 2 | (uint64_t)p->rough << 1 | p->unproven;
    uint64_t hash = mix(0, error << 40 | (uint64_t)p->on_class << 32 | p->on);

    hash = mix(hash, (uint64_t)p->block->label << 32 | p->culprit_in->label);
    hash = mix(hash,
               (uint64_t)p->first->kind << 16 | (uint64_t)p->second->kind << 8 | p->culprit->kind);
    hash = mix(hash, p->culprit_in->unary);
    for (size_t i = 1; i < p->refuted->count; i++) {
        hash = mix(hash, p->refuted->block[i].label);
    }
    return hash | 1;
}

static void settle_told(struct sidetrack *s, struct told *told)
{
    if (told->repeats > 0) {
        told->violation.repeats = told->repeats - 1;
        tms_host_violation(s->host, &told->violation);
        told->repeats = 0;
    }
}

void tms_sidetrack_settle_told(struct sidetrack *s)
{
    for (size_t i = 0; s->told != NULL && i < SIDETRACK_TOLD; i++) {
        settle_told(s, &s->told[i]);
    }
}

/* Where the pattern is remembered, or may be; NULL: nowhere. */
static struct told *told_of(struct sidetrack *s, const struct prediction *p, uint64_t pattern)
{
    if (s->host->settings->all || p->refuted->count > SIDETRACK_REFUTED) {
        return NULL;
    }
    if (s->told == NULL) {
        s->told = tms_resize(s->memory, NULL, 0, SIDETRACK_TOLD, sizeof(*s->told));
        if (s->told == NULL) {
            sidetrack_out_of_memory(s);
            return NULL;
        }
    }
    return &s->told[pattern >> 8 & (SIDETRACK_TOLD - 1)];
}

static void remember(struct sidetrack *s, struct told *told, uint64_t pattern,
                     const struct tms_violation *violation)
{
    settle_told(s, told);
    told->pattern = pattern;
    told->violation = *violation;
    told->violation.cycle = memcpy(told->cycle, violation->cycle, sizeof(told->cycle));
    told->violation.schedule = NULL;
    told->violation.schedule_length = 0;
    if (violation->refuted_count > 0) {
        told->violation.refuted = memcpy(told->refuted, violation->refuted,
                                         violation->refuted_count * sizeof(*told->refuted));
    }
}

static void tell(struct sidetrack *s, const struct prediction *p, const struct tms_step *cycle,
                 const struct tms_turn *schedule, size_t turns)
{
    bool blame = s->host->settings->blame;
    const struct tms_violation violation = {
        .kind = kinds[p->error],
        .evidence = is_proven(p) ? TMS_EVIDENCE_PREDICTED : TMS_EVIDENCE_POTENTIAL,
        .event = event_of(p),
        .thread = p->shows->id,
        .not_atomic = blame,
        .transaction = *p->block,
        .cycle = cycle,
        .cycle_length = 2,
        .refuted = p->refuted->block,
        .refuted_count = blame ? p->refuted->count : 0,
        .schedule = schedule,
        .schedule_length = turns,
        .caveat = caveat_of(p),
    };
    uint64_t pattern = pattern_of(p);
    struct told *told = told_of(s, p, pattern);

    tms_host_violation(s->host, &violation);
    if (told != NULL) {
        remember(s, told, pattern, &violation);
    }
}

/* Was this pattern told lately? Then it is counted. */
static bool is_told(struct sidetrack *s, const struct prediction *p)
{
    uint64_t pattern = pattern_of(p);
    struct told *told = told_of(s, p, pattern);

    if (told == NULL || told->pattern != pattern) {
        return false;
    }
    told->repeats++;
    return true;
}

static void make_report(struct sidetrack *s, const struct prediction *p)
{
    bool lock = p->on_class == TMS_CLASS_LOCK;
    const struct tms_step cycle[] = {
        step_of(p, p->block, p->first, p->culprit_in, p->culprit),
        step_of(p, p->culprit_in, p->culprit, p->block, p->second),
    };
    const struct tms_turn schedule[] = {
        turn_of(p, p->first, p->block->thread, lock ? "first acquire" : "first access"),
        turn_of(p, p->culprit, p->culprit_in->thread, "culprit"),
        turn_of(p, p->second, p->block->thread, lock ? "second acquire" : "second access"),
    };

    tell(s, p, cycle, schedule, sizeof(schedule) / sizeof(*schedule));
}

void tms_sidetrack_report(struct sidetrack *s, const struct prediction *p)
{
    uint64_t event = event_of(p);
    uint64_t first = s->host->first_violation_event;

    s->reports[p->error]++;
    s->host->closing_edges++;
    if (is_proven(p) && (first == 0 || event < first)) {
        s->host->first_violation_event = event;
    }
    if (!is_told(s, p)) {
        make_report(s, p);
    }
}
