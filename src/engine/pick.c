/* SPDX-License-Identifier: Apache-2.0 */
/* Operations for those who do without reads and writes; see pick.h. */
#include "engine/pick.h"

#include <assert.h>

#include "spec/lower.h"

#define GROUP 256 /* events that are looked through at a time */

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
        pick->emit(pick->user, pick->ops, pick->count);
        pick->count = 0;
    }
}

static inline struct tms_op *next_op(struct tms_pick *pick)
{
    if (pick->count == TMS_PICK_BATCH) {
        tms_pick_flush(pick);
    }
    return &pick->ops[pick->count];
}

/* NULL when memory is short. */
static inline struct tms_pick_thread *thread_of(struct tms_pick *pick, uint32_t id)
{
    if (!TMS_RESERVE(&pick->memory, &pick->threads, &pick->thread_capacity, (size_t)id + 1, 16)) {
        pick->failed = true;
        return NULL;
    }
    return &pick->threads[id];
}

/* ---- blocks ----------------------------------------------------------------------------- */

/* The operation in next_op is one, unless they can do without it. */
static inline void keep(struct tms_pick *pick)
{
    pick->count += !pick->no_ends || pick->ops[pick->count].kind != TMS_OP_END;
}

/* Was the begin of the block that ends here the last that was picked? */
static inline bool saw_nothing(const struct tms_pick *pick, uint32_t thread)
{
    const struct tms_op *next = &pick->ops[pick->count];

    return pick->count > 0 && next[-1].kind == TMS_OP_NEST && next[-1].thread == thread;
}

static inline bool open_block(struct tms_pick *pick, struct tms_pick_thread *thread, uint32_t label,
                              bool function)
{
    if (thread->count == thread->capacity &&
        !TMS_RESERVE(&pick->memory, &thread->blocks, &thread->capacity, thread->count + 1, 8)) {
        pick->failed = true;
        return false;
    }
    thread->blocks[thread->count++] = (struct tms_picked_block){label, function};
    return true;
}

static void begin(struct tms_pick *pick, struct tms_pick_thread *thread,
                  const struct tms_event *event, uint64_t number)
{
    unsigned nested = thread->count > 0 ? 2 : 0;

    if (open_block(pick, thread, event->target, tms_is_function(event))) {
        tms_lower_block_op(next_op(pick), event, number, event->target, TMS_OP_BEGIN + nested);
        keep(pick);
    }
}

/* Where an event that is plain ends a block, that is the one that was opened last. */
static void end(struct tms_pick *pick, struct tms_pick_thread *thread,
                const struct tms_event *event, uint64_t number)
{
    assert(thread->count > 0);
    uint32_t label = thread->blocks[--thread->count].label;
    unsigned nested = thread->count > 0 ? 2 : 0;

    if (nested != 0 && pick->no_ends && saw_nothing(pick, event->thread)) {
        pick->count--; /* for them it need not have begun */
        return;
    }
    tms_lower_block_op(next_op(pick), event, number, label, TMS_OP_END + nested);
    keep(pick);
}

/* ---- events ----------------------------------------------------------------------------- */

static inline void pick_one(struct tms_pick *pick, const struct tms_event *event, uint64_t number)
{
    struct tms_pick_thread *thread = thread_of(pick, event->thread);

    if (thread == NULL) {
        return;
    }
    if (tms_is_plain_block(event, TMS_PLAIN)) {
        (tms_opens_block(event) ? begin : end)(pick, thread, event, number);
    } else {
        tms_lower_plain(next_op(pick), event, number, thread->count > 0 ? TMS_OP_IN_BLOCK : 0);
        pick->count++;
    }
}

/* Most are accesses, and nobody could guess which are not: these are noted without a branch. */
static size_t note_others(const struct tms_event *events, size_t count, uint8_t others[GROUP])
{
    size_t noted = 0;

    _Static_assert(TMS_EVENT_READ % 2 == 0 && TMS_EVENT_WRITE == TMS_EVENT_READ + 1,
                   "one bit apart");
    for (size_t i = 0; i < count; i++) {
        others[noted] = (uint8_t)i;
        noted += (events[i].kind | 1) != TMS_EVENT_WRITE;
    }
    return noted;
}

void tms_pick_events(struct tms_pick *pick, const struct tms_event *events, size_t count,
                     uint64_t number)
{
    for (size_t done = 0, some; done < count; done += some) {
        uint8_t others[GROUP];
        some = count - done < GROUP ? count - done : GROUP;
        size_t noted = note_others(&events[done], some, others);
        for (size_t i = 0; i < noted && !pick->failed; i++) {
            size_t at = done + others[i];
            pick_one(pick, &events[at], number + at);
        }
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
static bool follow(struct tms_pick *pick, const struct tms_op *op)
{
    struct tms_pick_thread *thread = thread_of(pick, op->thread);
    bool function = op->event_kind >= TMS_EVENT_ENTER;

    if (thread == NULL || op->kind > TMS_OP_UNNEST || (op->flags & TMS_OP_SYNTHETIC)) {
        return thread != NULL;
    }
    if (op->kind == TMS_OP_BEGIN || op->kind == TMS_OP_NEST) {
        return open_block(pick, thread, op->target, function);
    }
    close_block(thread, function);
    return true;
}

void tms_pick_ops(struct tms_pick *pick, const struct tms_op *ops, size_t count)
{
    for (size_t i = 0; i < count && !pick->failed; i++) {
        if (ops[i].kind != TMS_OP_READ && ops[i].kind != TMS_OP_WRITE && follow(pick, &ops[i])) {
            *next_op(pick) = ops[i];
            keep(pick);
        }
    }
}
