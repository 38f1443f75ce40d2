/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of blocks: the transaction that is cut, the cycle through it, and the operations in
 * the order that no serial one explains, as in figure 7 of the paper.
 */
#include "lockset/blocks.h"

static bool writes(const struct tms_blocks_place *place)
{
    return place->event_kind != TMS_EVENT_READ;
}

static enum tms_edge_kind edge_kind(const struct tms_blocks_place *first,
                                    const struct tms_blocks_place *second)
{
    if (!writes(first)) {
        return TMS_EDGE_READ_WRITE;
    }
    return writes(second) ? TMS_EDGE_WRITE_WRITE : TMS_EDGE_WRITE_READ;
}

struct tms_step tms_blocks_step(const struct tms_blocks_engine *b,
                                const struct tms_blocks_operation *first,
                                const struct tms_blocks_operation *second)
{
    struct tms_step step = tms_blocks_step_on(b, first, second);

    assert(first->cell == second->cell);
    step.on = b->cells[first->cell].variable;
    step.on_class = TMS_CLASS_VARIABLE;
    step.kind = edge_kind(first->at, second->at);
    return step;
}

struct tms_step tms_blocks_step_on(const struct tms_blocks_engine *b,
                                   const struct tms_blocks_operation *first,
                                   const struct tms_blocks_operation *second)
{
    return (struct tms_step){
        .from = b->transactions[first->transaction],
        .to = b->transactions[second->transaction],
        .first_event = first->at->event,
        .second_event = second->at->event,
        .first_location = first->at->location,
        .second_location = second->at->location,
        .kind = TMS_EDGE_PROGRAM_ORDER,
        .first_kind = first->at->event_kind,
        .second_kind = second->at->event_kind,
    };
}

static struct tms_turn turn(const struct tms_blocks_engine *b,
                            const struct tms_blocks_operation *operation, const char *role)
{
    return (struct tms_turn){
        .event = operation->at->event,
        .thread = b->transactions[operation->transaction].thread,
        .target = b->cells[operation->cell].variable,
        .location = operation->at->location,
        .kind = operation->at->event_kind,
        .role = role,
    };
}

/* The cycle starts at the transaction that is cut, whose last operation is at `last`. */
static void report(struct tms_blocks_engine *b, struct tms_violation *violation, uint64_t last)
{
    violation->kind = "pattern";
    violation->evidence = TMS_EVIDENCE_POTENTIAL;
    violation->event = last;
    violation->transaction = violation->cycle[0].from;
    violation->thread = violation->transaction.thread;
    violation->not_atomic = true;
    if (b->deadlocks > 0) {
        violation->caveat = "The threads may deadlock, and then may not come to these events in "
                            "this order.";
    }
    uint32_t label = violation->transaction.label;
    if (label != 0 && RESERVE(b, &b->blamed, &b->blamed_capacity, (size_t)label + 1)) {
        b->blamed[label] = true;
    }
    tms_host_violation(b->host, violation);
}

void tms_blocks_report_one(struct tms_blocks_engine *b, const struct tms_blocks_use *cut,
                           const struct tms_blocks_use *culprit)
{
    uint32_t cell = cut->key.of.cell;
    const struct tms_blocks_operation first = {cut->transaction, cell, &cut->first};
    const struct tms_blocks_operation second = {cut->transaction, cell, &cut->second};
    const struct tms_blocks_operation between = {culprit->transaction, cell, &culprit->first};
    const struct tms_step cycle[] = {tms_blocks_step(b, &first, &between),
                                     tms_blocks_step(b, &between, &second)};
    const struct tms_turn schedule[] = {
        turn(b, &first, "first access"),
        turn(b, &between, "culprit"),
        turn(b, &second, "second access"),
    };
    struct tms_violation violation = {
        .cycle = cycle,
        .cycle_length = 2,
        .refuted = cut->refuted_count > 0 ? &b->refuted[cut->refuted] : NULL,
        .refuted_count = cut->refuted_count,
        .schedule = schedule,
        .schedule_length = 3,
    };

    report(b, &violation, cut->second.event);
}

void tms_blocks_report_two(struct tms_blocks_engine *b,
                           const struct tms_blocks_operation *operation,
                           const struct tms_refuted *refuted, bool aligned, bool inside)
{
    const struct tms_blocks_operation *cut = operation, *culprit = operation + 2;
    const struct tms_step cycle[] = {
        tms_blocks_step(b, &cut[0], &culprit[aligned ? 0 : 1]),
        tms_blocks_step(b, &culprit[aligned ? 1 : 0], &cut[1]),
    };
    const struct tms_turn second = turn(b, &cut[1], "second access");
    const struct tms_turn last = turn(b, &culprit[1], "culprit");
    const struct tms_turn schedule[] = {
        turn(b, &cut[0], "first access"),
        turn(b, &culprit[0], "culprit"),
        inside ? last : second,
        inside ? second : last,
    };
    struct tms_violation violation = {
        .cycle = cycle,
        .cycle_length = 2,
        .refuted = refuted->block,
        .refuted_count = refuted->count,
        .schedule = schedule,
        .schedule_length = 4,
    };

    report(b, &violation, cut[1].at->event);
}

void tms_blocks_report_cycle(struct tms_blocks_engine *b, const struct tms_step *cycle,
                             size_t length, const struct tms_refuted *refuted,
                             const struct tms_blocks_operation *order, size_t count)
{
    struct tms_turn schedule[TMS_BLOCKS_TURNS];
    const struct tms_step *last = &cycle[length - 1];

    assert(count <= TMS_BLOCKS_TURNS);
    for (size_t i = 0; i < count; i++) {
        uint64_t event = order[i].at->event;
        schedule[i] = turn(b, &order[i],
                           event == cycle[0].first_event ? "first access"
                           : event == last->second_event ? "second access"
                                                         : "culprit");
    }
    struct tms_violation violation = {
        .cycle = cycle,
        .cycle_length = length,
        .refuted = refuted->block,
        .refuted_count = refuted->count,
        .schedule = schedule,
        .schedule_length = count,
    };

    report(b, &violation, last->second_event);
}
