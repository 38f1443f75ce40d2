/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a prediction: the cycle, the schedule that has it, and its caveats.
 *
 * A block that can be cut is mostly cut in the same way again and again, and only the first of a
 * pattern is shown. So the host is asked whether it knows the pattern before the report is built.
 */
#include "base/hash_mix.h"
#include "engines/online_predictions.h"
#include "engines/sidetrack.h"

static const char *const kinds[ERROR_KINDS] = {
    [ERROR_BEFORE] = "before",
    [ERROR_IN] = "in",
    [ERROR_AFTER] = "after",
    [ERROR_PAIR] = "pair",
};

#define MAY_DEADLOCK                                                                               \
    "the threads acquire further locks around these, so this schedule may end in a deadlock "      \
    "instead"
#define SAME_WAY                                                                                   \
    "this assumes that the block acquires the lock again even if the other thread has not run "    \
    "first"
#define MAY_WAIT                                                                                   \
    "if this is a semaphore or a hand-made lock, the other thread may have to wait for the block"

static const char *caveat_of(const struct tms_sidetrack_prediction *p)
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

static bool is_proven(const struct tms_sidetrack_prediction *p)
{
    return p->error == ERROR_IN || !p->unproven;
}

/* The event that shows it: the second of the window, or the culprit. */
static uint64_t event_of(const struct tms_sidetrack_prediction *p)
{
    return p->shows == p->block->thread ? p->second->event : p->culprit->event;
}

static uint8_t edge_kind(const struct tms_sidetrack_prediction *p,
                         const struct tms_sidetrack_place *first,
                         const struct tms_sidetrack_place *second)
{
    if (p->on_class == TMS_CLASS_LOCK) {
        return TMS_EDGE_LOCK;
    }
    if (first->kind == TMS_EVENT_READ) {
        return TMS_EDGE_READ_WRITE;
    }
    return second->kind == TMS_EVENT_READ ? TMS_EDGE_WRITE_READ : TMS_EDGE_WRITE_WRITE;
}

/* An event of the schedule, in order, with what it is on. */
struct turning {
    const struct tms_sidetrack_place *place;
    const struct tms_transaction *in;
    uint32_t on, on_alias, stack;
    const char *role;
};

static bool is_pair(const struct tms_sidetrack_prediction *p)
{
    return p->error == ERROR_PAIR;
}

enum { FIRST, THROUGH, CULPRIT, SECOND, TURNS };

/* Without a pair there is no THROUGH. How many. */
static size_t turns_of(const struct tms_sidetrack_prediction *p, struct turning *turning)
{
    static const uint32_t none[TURNS] = {0};
    const uint32_t *stacks = p->stacks != NULL ? p->stacks : none;
    bool lock = p->on_class == TMS_CLASS_LOCK, pair = is_pair(p);
    uint32_t on = pair ? p->first_on : p->on, alias = pair ? p->first_alias : p->on_alias;
    size_t count = 0;

    turning[count++] = (struct turning){
        p->first, p->block, on, alias, stacks[FIRST], lock ? "first acquire" : "first access"};
    if (pair) {
        turning[count++] =
            (struct turning){p->through, p->through_in, on, alias, stacks[THROUGH], "culprit"};
    }
    turning[count++] =
        (struct turning){p->culprit, p->culprit_in, p->on, p->on_alias, stacks[CULPRIT], "culprit"};
    turning[count++] =
        (struct turning){p->second,   p->block,       p->on,
                         p->on_alias, stacks[SECOND], lock ? "second acquire" : "second access"};
    return count;
}

static struct tms_turn turn_of(const struct turning *turning)
{
    return (struct tms_turn){.event = turning->place->event,
                             .thread = turning->in->thread,
                             .target = turning->on,
                             .location = turning->place->location,
                             .stack = turning->stack,
                             .kind = turning->place->kind,
                             .role = turning->role};
}

/* From one turn to another, which is on the same, unless both are of one thread. */
static struct tms_step step_of(const struct tms_sidetrack_prediction *p,
                               const struct turning *first, const struct turning *second)
{
    struct tms_step step = {
        .from = *first->in,
        .to = *second->in,
        .first_event = first->place->event,
        .second_event = second->place->event,
        .first_location = first->place->location,
        .second_location = second->place->location,
        .first_stack = first->stack,
        .second_stack = second->stack,
        .kind = TMS_EDGE_PROGRAM_ORDER,
        .first_kind = first->place->kind,
        .second_kind = second->place->kind,
    };

    if (first->in->thread != second->in->thread) {
        step.on = first->on;
        step.on_alias = first->on_alias;
        step.on_class = p->on_class;
        step.kind = edge_kind(p, first->place, second->place);
    }
    return step;
}

static bool is_same(const struct tms_transaction *a, const struct tms_transaction *b)
{
    return a->begin_event == b->begin_event && a->thread == b->thread && a->unary == b->unary;
}

/* The steps between the turns, but for one inside a block of the culprit. How many. */
static size_t cycle_of(const struct tms_sidetrack_prediction *p, const struct turning *turning,
                       size_t count, struct tms_step *cycle)
{
    size_t length = 0;

    for (size_t i = 1; i < count; i++) {
        if (!is_same(turning[i - 1].in, turning[i].in)) {
            cycle[length++] = step_of(p, &turning[i - 1], &turning[i]);
        }
    }
    return length;
}

static size_t refuted_count(const struct tms_sidetrack *s, const struct tms_sidetrack_prediction *p)
{
    return s->host->settings->blame ? p->refuted->count : 0;
}

/* Of all that findings are grouped by. Never 0. */
static uint64_t key_of(const struct tms_sidetrack *s, const struct tms_sidetrack_prediction *p)
{
    uint64_t edges =
        (uint64_t)edge_kind(p, p->first, p->culprit) << 8 | edge_kind(p, p->culprit, p->second);
    uint64_t how = (uint64_t)p->error << 2 | (uint64_t)is_proven(p) << 1 | p->culprit_in->unary;
    uint64_t hash = tms_mix(0, (uint64_t)p->on_class << 32 | p->on);

    hash = tms_mix(hash, (uint64_t)p->block->label << 32 | p->culprit_in->label);
    if (is_pair(p)) {
        hash = tms_mix(hash, (uint64_t)p->first_on << 32 | p->through_in->label);
        how |= (uint64_t)is_same(p->through_in, p->culprit_in) << 5;
    }
    hash = tms_mix(hash, edges << 8 | how);
    for (size_t i = 1; i < refuted_count(s, p); i++) {
        hash = tms_mix(hash, p->refuted->block[i].label);
    }
    return hash != 0 ? hash : 1;
}

static void tell(struct tms_sidetrack *s, const struct tms_sidetrack_prediction *p, uint64_t key)
{
    struct turning turning[TURNS];
    struct tms_step cycle[TURNS];
    struct tms_turn schedule[TURNS];
    size_t turns = turns_of(p, turning);

    for (size_t i = 0; i < turns; i++) {
        schedule[i] = turn_of(&turning[i]);
    }
    const struct tms_violation violation = {
        .kind = kinds[p->error],
        .evidence = is_proven(p) ? TMS_EVIDENCE_PREDICTED : TMS_EVIDENCE_POTENTIAL,
        .event = event_of(p),
        .key = key,
        .repeats = p->repeats,
        .thread = p->shows,
        .not_atomic = s->host->settings->blame,
        .transaction = *p->block,
        .cycle = cycle,
        .cycle_length = cycle_of(p, turning, turns, cycle),
        .refuted = p->refuted->block,
        .refuted_count = refuted_count(s, p),
        .schedule = schedule,
        .schedule_length = turns,
        .caveat = caveat_of(p),
    };

    tms_host_violation(s->host, &violation);
}

static void count(struct tms_sidetrack *s, const struct tms_sidetrack_prediction *p, uint64_t event)
{
    uint64_t first = s->host->first_violation_event;

    s->reports[p->error] += 1 + p->repeats;
    s->host->closing_edges += 1 + p->repeats;
    if (is_proven(p) && (first == 0 || event < first)) {
        s->host->first_violation_event = event;
    }
}

void tms_sidetrack_report(struct tms_sidetrack *s, const struct tms_sidetrack_prediction *p)
{
    uint64_t event = event_of(p);
    uint64_t key = key_of(s, p);

    count(s, p, event);
    if (!tms_host_again(s->host, key, event)) {
        tell(s, p, key);
    }
}

/* ---- decided elsewhere ---------------------------------------------------------------------- */

static struct tms_sidetrack_place place_of(const struct tms_predicted_event *event)
{
    return (struct tms_sidetrack_place){event->event, event->location, event->kind};
}

static void report_decided(struct tms_sidetrack *s, const struct tms_predicted *from)
{
    static const uint8_t errors[] = {[TMS_PREDICTED_BEFORE] = ERROR_BEFORE,
                                     [TMS_PREDICTED_IN] = ERROR_IN,
                                     [TMS_PREDICTED_AFTER] = ERROR_AFTER,
                                     [TMS_PREDICTED_PAIR] = ERROR_PAIR};
    const struct tms_sidetrack_place first = place_of(&from->first),
                                     through = place_of(&from->through),
                                     culprit = place_of(&from->culprit),
                                     second = place_of(&from->second);
    const struct tms_refuted refuted = {(struct tms_transaction *)(uintptr_t)from->refuted,
                                        from->refuted_count, 0};
    const uint32_t stacks[] = {[FIRST] = from->first.stack,
                               [THROUGH] = from->through.stack,
                               [CULPRIT] = from->culprit.stack,
                               [SECOND] = from->second.stack};
    const struct tms_sidetrack_prediction prediction = {
        .error = errors[from->kind],
        .rough = from->rough,
        .on_class = TMS_CLASS_LOCK,
        .on = from->on,
        .on_alias = from->on_alias,
        .first = &first,
        .second = &second,
        .block = &from->second.in,
        .refuted = &refuted,
        .culprit = &culprit,
        .culprit_in = &from->culprit.in,
        .first_on = from->first_on,
        .first_alias = from->first_alias,
        .through = &through,
        .through_in = &from->through.in,
        .shows =
            from->kind >= TMS_PREDICTED_AFTER ? from->culprit.in.thread : from->second.in.thread,
        .repeats = from->count > 0 ? from->count - 1 : 0,
        .stacks = stacks,
    };

    count(s, &prediction, event_of(&prediction));
    tell(s, &prediction, 0);
}

void tms_sidetrack_decided(void *state, const struct tms_predictions *predictions)
{
    struct tms_sidetrack *s = state;

    s->acquires = predictions->acquires;
    s->windows = predictions->windows;
    s->dropped = predictions->dropped;
    for (size_t i = 0; i < predictions->predicted_count; i++) {
        report_decided(s, &predictions->predicted[i]);
    }
}
