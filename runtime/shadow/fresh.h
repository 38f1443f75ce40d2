/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An access that is something new, on its way into its cell: what shadow.c, which knows the short
 * ways, and meet.c, which knows the long one, have in common.
 */
#ifndef TMS_RUNTIME_FRESH_H
#define TMS_RUNTIME_FRESH_H

#include "runtime/shadow/cells.h"
#include "runtime/shadow/recall.h"
#include "runtime/shadow/words.h"

/* What the engine calls the kinds of accesses. */
struct tms_rt_kind {
    uint8_t op, event;
};
extern const struct tms_rt_kind tms_rt_kinds[];

static inline uint64_t word_moment(uint64_t word)
{
    return make_moment(word >> WORD_SLOT & WORD_SLOT_MOST, word >> WORD_EVENT & WORD_EVENT_MOST,
                       tms_rt_kinds[word_kind(word)].event);
}

/* To some of the 8 bytes around an address. */
struct fresh_access {
    uintptr_t address;
    uint64_t bytes;
    enum tms_rt_access access;
    uint32_t site;
    uint32_t id; /* of the 8 bytes */
};

/*
 * All but its number. Field by field: an initializer is put together on the stack and then copied
 * in larger pieces, for which the processor waits until the small ones have arrived.
 */
static inline void fill_in(const struct tms_rt_thread *t, const struct fresh_access *a,
                           struct tms_op *op)
{
    op->thread = t->index;
    op->target = a->id;
    op->location = a->site;
    op->event_kind = tms_rt_kinds[a->access].event;
    op->kind = tms_rt_kinds[a->access].op;
    op->flags = tms_rt_in_block(t) ? TMS_OP_IN_BLOCK : 0;
    op->spared = (uint8_t)~a->bytes;
}

/* The access meets no other thread: it gets its number, and is noted. */
static inline uint64_t pass_by(struct tms_rt_thread *t, const struct fresh_access *a)
{
    struct tms_op *note = tms_rt_next_note(t);

    fill_in(t, a, note);
    note->event = tms_rt_next_number(t);
    tms_rt_noted(t);
    return note->event;
}

/* The word is another thread's: what it, or what the thread did again, says has been said. */
bool tms_rt_is_foreign_old_news(const struct tms_rt_thread *thread, uint64_t word,
                                uintptr_t address, uint64_t bytes, enum tms_rt_access access);
static inline bool is_old_news(const struct tms_rt_thread *t, uint64_t word,
                               const struct fresh_access *a)
{
    return is_own(t, word) || tms_rt_is_foreign_old_news(t, word, a->address, a->bytes, a->access);
}

/* The word of a reader is not needed behind this read: who comes after the one comes after both. */
bool tms_rt_foreign_makes_way(const struct tms_rt_thread *thread, uint64_t word, uintptr_t address);
static inline bool makes_way(const struct tms_rt_thread *t, uint64_t word,
                             const struct fresh_access *a)
{
    return word == 0 || is_own(t, word) || tms_rt_foreign_makes_way(t, word, a->address);
}

/* The long way. The cell is locked, `write` its first word; the number of the event. */
uint64_t tms_rt_take_over_among_others(struct tms_rt_thread *thread, struct tms_rt_cell *at,
                                       uint64_t write, const struct fresh_access *a);

#endif
