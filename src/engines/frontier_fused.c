/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fused lane of `frontier`: validation, lowering and the loop of frontier_access.c in one pass,
 * without a buffer of operations. An operation is made where it is needed, in the log of its
 * thread. The kind of the next event is unpredictable, so the branch on it is mispredicted once per
 * event instead of three times. bench/pipeline measures what the lane gains.
 */
#include "engines/frontier_fused.h"

#include "engine_api/fused_lane.h"
#include "frontier/frontier_access.h"

/* False if the engine has failed. */
static __attribute__((noinline)) bool access_slow(struct tms_frontier *f,
                                                  struct tms_frontier_thread *t,
                                                  const struct tms_event *event, uint64_t number)
{
    struct tms_op *op = log_room(f, &t->log);

    tms_lower_bare(op, event, number);
    tms_frontier_meet(f, t, op);
    t->log.next++;
    return f->failed == TMS_OK;
}

static inline bool access_event(struct tms_frontier *f, struct tms_frontier_cell *const cells[2],
                                const struct tms_event *event, const struct tms_plain_kind *kind,
                                uint64_t number)
{
    struct tms_frontier_thread *t = f->by_id[event->thread];
    unsigned of = kind->lock & 1;
    uint32_t target = event->target;
    uint64_t moment = t->base | number << MOMENT_KIND_BITS | event->kind;

    _Static_assert(TMS_PLACE_VARIABLE == 0 && TMS_PLACE_LOCK == 1, "chosen by a bit");
    switch (access_cell(t, &cells[of][target], kind->exclusive, kind->changes, moment)) {
    case REPEATS:
        break;
    case MEETS:
        return access_slow(f, t, event, number);
    case PASSES:
        note_place(f, &f->cells[of], target, kind->exclusive, event->location);
        tms_lower_bare(log_room(f, &t->log), event, number);
        t->log.next++;
        break;
    }
    return true;
}

/* `opens` is a constant at each call, so that the branch on it is predicted separately. */
static inline __attribute__((always_inline)) bool
open_or_close(struct tms_frontier *f, struct tms_fused_lane *lane, const struct tms_event *event,
              uint64_t number, uint8_t *plain, bool opens)
{
    struct tms_frontier_thread *t = f->by_id[event->thread];
    struct tms_op *op = log_room(f, &t->log);

    if (!tms_lower_block(lane->lower, op, event, number, plain, opens)) {
        return false;
    }
    tms_validate_block(lane->validator, event, opens);
    if (op->kind >= TMS_OP_NEST) {
        tms_frontier_nest(f, t, op);
    } else {
        (opens ? tms_frontier_begin : tms_frontier_end)(f, t, op);
    }
    return true;
}

/* A block that is plain begins or ends. False if it is not, and nothing was done. */
static __attribute__((noinline)) bool take_block(struct tms_frontier *f,
                                                 struct tms_fused_lane *lane,
                                                 const struct tms_event *event, uint64_t number)
{
    uint8_t *plain = &lane->lower->plain[event->thread];

    if (!tms_is_plain_block(event, *plain)) {
        return false;
    }
    return tms_opens_block(event) ? open_or_close(f, lane, event, number, plain, true)
                                  : open_or_close(f, lane, event, number, plain, false);
}

/* `ahead` is a constant at each call: so many events after the last can be read. */
static inline __attribute__((always_inline)) size_t
take_each(struct tms_frontier *f, struct tms_fused_lane *lane,
          const struct tms_event *restrict events, size_t count, uint64_t number, size_t ahead)
{
    /* Declared restrict, so that nothing is reloaded after each store. */
    struct tms_valid_lock *restrict locks = lane->validator->locks;
    const uint8_t *plain_of = lane->lower->plain;
    struct tms_frontier_cell *const cells[2] = {f->cells[TMS_PLACE_VARIABLE].cell,
                                                f->cells[TMS_PLACE_LOCK].cell};
    const struct tms_event *event, *end = events + count;
    size_t sum = 0, blocks = 0;

    for (event = events; event < end; event++, number++) {
        const struct tms_plain_kind *kind = &tms_plain_kinds[event->kind];
        uint8_t plain = plain_of[event->thread];
        __builtin_prefetch(&cells[TMS_PLACE_VARIABLE][event[ahead].target]);
        if (tms_validate_plain(locks, event, kind, plain & TMS_PLAIN)) {
            sum += plain;
            if (access_event(f, cells, event, kind, number)) {
                continue;
            }
            event++;
            break;
        }
        if (!take_block(f, lane, event, number)) {
            break;
        }
        blocks++;
        if (f->failed != TMS_OK) {
            event++;
            break;
        }
    }
    size_t taken = (size_t)(event - events);
    lane->lower->unary += (taken - blocks) * (TMS_PLAIN + TMS_OP_IN_BLOCK) - sum;
    return taken;
}

size_t tms_frontier_fused(struct tms_frontier *f, struct tms_fused_lane *lane,
                          const struct tms_event *events, size_t count, uint64_t number)
{
    size_t most = count > AHEAD ? count - AHEAD : 0;
    size_t taken = take_each(f, lane, events, most, number, AHEAD);

    if (taken < most || f->failed != TMS_OK) {
        return taken;
    }
    return taken + take_each(f, lane, events + most, count - most, number + most, 0);
}
