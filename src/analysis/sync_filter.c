/* SPDX-License-Identifier: Apache-2.0 */
/* Operations for those who do without reads and writes; see sync_filter.h. */
#include "analysis/sync_filter.h"

#include <assert.h>

#include "engines/kind_scan.h"
#include "spec/lower.h"

#define GROUP 64 /* events that are looked through at a time */

void tms_pick_init(struct tms_pick *pick, bool no_ends, tms_pick_emit *emit, void *user)
{
    pick->no_ends = no_ends;
    pick->emit = emit;
    pick->user = user;
}

void tms_pick_clear(struct tms_pick *pick)
{
    for (size_t i = 0; i < pick->thread_capacity; i++) {
        tms_release(&pick->memory, pick->threads[i].blocks, pick->threads[i].capacity,
                    sizeof(struct tms_picked_block));
    }
    tms_release(&pick->memory, pick->threads, pick->thread_capacity, sizeof(*pick->threads));
}

void tms_pick_flush(struct tms_pick *pick)
{
    if (pick->count > 0) {
        pick->emit(pick->user, &pick->ops[1], pick->count);
        pick->count = 0;
    }
}

/* Where the next operation goes, and as many as one group of events makes. */
static inline struct tms_op *next_op(struct tms_pick *pick)
{
    if (pick->count > TMS_PICK_BATCH - GROUP) {
        tms_pick_flush(pick);
    }
    return &pick->ops[1 + pick->count];
}

static __attribute__((noinline)) bool make_room(struct tms_pick *pick, uint32_t id)
{
    bool room =
        TMS_RESERVE(&pick->memory, &pick->threads, &pick->thread_capacity, (size_t)id + 1, 16);

    if (room) {
        struct tms_pick_thread *thread = &pick->threads[id];
        room = TMS_RESERVE(&pick->memory, &thread->blocks, &thread->capacity, thread->count + 1, 8);
    }
    pick->failed = !room;
    return room;
}

/* It has room for another block. NULL when memory is short. */
static inline struct tms_pick_thread *thread_of(struct tms_pick *pick, uint32_t id)
{
    bool room = id < pick->thread_capacity && pick->threads[id].count < pick->threads[id].capacity;

    return room || make_room(pick, id) ? &pick->threads[id] : NULL;
}

/* ---- events ----------------------------------------------------------------------------- */

/* By kind: what an event that is plain does to the blocks that are open, and its operation. */
static const struct effect {
    bool opens, closes;
    uint8_t op; /* of a block, that of an outermost one */
} effects[TMS_EVENT_COUNT] = {
    [TMS_EVENT_BEGIN] = {.opens = true, .op = TMS_OP_BEGIN},
    [TMS_EVENT_ENTER] = {.opens = true, .op = TMS_OP_BEGIN},
    [TMS_EVENT_END] = {.closes = true, .op = TMS_OP_END},
    [TMS_EVENT_EXIT] = {.closes = true, .op = TMS_OP_END},
    [TMS_EVENT_UPDATE] = {.op = TMS_OP_UPDATE},
    [TMS_EVENT_ACQUIRE] = {.op = TMS_OP_ACQUIRE},
    [TMS_EVENT_RELEASE] = {.op = TMS_OP_RELEASE},
};

/*
 * Behind an operation for those who do without ends: one further; on the same place, if it is the
 * end of a transaction; one back, if it ends a nested block that was the last to begin, as that
 * need not have begun. Before the first operation of a batch there is one that is none.
 */
static inline struct tms_op *behind(struct tms_op *op, unsigned closes, unsigned inside)
{
    unsigned last = (unsigned)(op[-1].kind == TMS_OP_NEST) & (op[-1].thread == op->thread);

    return op + !closes + (closes & inside & ~last) - (closes & inside & last);
}

/*
 * Makes the operation of an event: where the next one goes, or NULL when memory is short. What
 * comes nobody can guess, so it is done without a branch. Where an event that is plain closes a
 * block, that is the one that was opened last; and one that does neither may write where the next
 * block goes.
 */
static inline struct tms_op *pick_one(struct tms_pick *pick, struct tms_op *op,
                                      const struct tms_event *event, uint64_t number)
{
    const struct effect *effect = &effects[event->kind];
    struct tms_pick_thread *thread = thread_of(pick, event->thread);

    if (thread == NULL) {
        return NULL;
    }
    unsigned opens = effect->opens, closes = effect->closes;
    assert(thread->count >= closes);
    size_t around = thread->count - closes;
    unsigned inside = around > 0;
    struct tms_picked_block *block = &thread->blocks[around];
    uint32_t label = (block->label & -closes) | (event->target & ~-closes);
    *block = (struct tms_picked_block){label, tms_is_function(event)};
    thread->count = around + opens;
    tms_lower_block_op(op, event, number, label, effect->op + 2 * (inside & (opens | closes)));
    op->flags = (uint8_t)(TMS_OP_IN_BLOCK * (inside | opens | closes));
    return behind(op, closes & pick->no_ends, inside);
}

_Static_assert(TMS_EVENT_READ % 2 == 0 && TMS_EVENT_WRITE == TMS_EVENT_READ + 1, "one bit apart");

/* Of GROUP events at most, as bits: which are neither READ nor WRITE. */
static inline uint64_t others_of(const struct tms_event *events, size_t count)
{
    uint64_t others = 0;
    size_t i = 0;

    for (; i + 8 <= count; i += 8) {
        uint64_t kinds = tms_kinds_of_eight(&events[i].kind, sizeof(*events));
        others |= tms_bits_of_eight(tms_neither_kind(kinds, TMS_EVENT_READ)) << i;
    }
    for (; i < count; i++) {
        others |= (uint64_t)((events[i].kind | 1) != TMS_EVENT_WRITE) << i;
    }
    return others;
}

void tms_pick_events(struct tms_pick *pick, const struct tms_event *events, size_t count,
                     uint64_t number)
{
    for (size_t done = 0; done < count && !pick->failed; done += GROUP) {
        size_t some = count - done < GROUP ? count - done : GROUP;
        struct tms_op *op = next_op(pick);
        for (uint64_t others = others_of(&events[done], some); others != 0; others &= others - 1) {
            size_t at = done + (size_t)__builtin_ctzll(others);
            struct tms_op *next = pick_one(pick, op, &events[at], number + at);
            if (next == NULL) {
                break;
            }
            op = next;
        }
        pick->count = (size_t)(op - &pick->ops[1]);
    }
}

/* ---- operations ------------------------------------------------------------------------- */

/* `end` closes a begin, `exit` an enter: not always the last. */
static void close_block(struct tms_pick_thread *thread, bool function)
{
    size_t at = thread->count - 1;

    while (thread->blocks[at].function != function) {
        assert(at > 0); /* validation saw that there is one */
        at--;
    }
    for (thread->count--; at < thread->count; at++) {
        thread->blocks[at] = thread->blocks[at + 1];
    }
}

/* What a split or a join makes up leaves the blocks as they are, or comes after all others. */
static void follow(struct tms_pick_thread *thread, const struct tms_op *op)
{
    bool function = op->event_kind >= TMS_EVENT_ENTER;

    if (op->kind > TMS_OP_UNNEST || (op->flags & TMS_OP_SYNTHETIC)) {
        return;
    }
    if (op->kind == TMS_OP_BEGIN || op->kind == TMS_OP_NEST) {
        thread->blocks[thread->count++] = (struct tms_picked_block){op->target, function};
    } else {
        close_block(thread, function);
    }
}

/* Those that are atomic pass on order, and are wanted. */
static bool is_plain_access(const struct tms_op *op)
{
    return (op->kind == TMS_OP_READ || op->kind == TMS_OP_WRITE) && (op->flags & TMS_OP_ORDER) == 0;
}

static bool is_for_judge(const struct tms_op *op)
{
    return op->kind > TMS_OP_FORGET && op->kind < TMS_OP_SEND;
}

void tms_pick_ops(struct tms_pick *pick, const struct tms_op *ops, size_t count)
{
    for (size_t i = 0; i < count && !pick->failed; i++) {
        if (is_for_judge(&ops[i]) || is_plain_access(&ops[i])) {
            continue;
        }
        struct tms_pick_thread *thread = thread_of(pick, ops[i].thread);
        if (thread == NULL) {
            return;
        }
        follow(thread, &ops[i]);
        if (ops[i].kind != TMS_OP_END || !pick->no_ends) {
            *next_op(pick) = ops[i];
            pick->count++;
        }
    }
}
