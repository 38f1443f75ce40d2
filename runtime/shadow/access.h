/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An access to some of 8 aligned bytes, and its relation to the words of their cell: shared by the
 * files of the slow path. shadow_slow.c gives the overview.
 */
#ifndef TMS_RUNTIME_ACCESS_H
#define TMS_RUNTIME_ACCESS_H

#include <assert.h>

#include "runtime/core/engine_online.h"
#include "runtime/core/judge_online.h"
#include "runtime/core/open_blocks.h"
#include "runtime/shadow/cells.h"
#include "runtime/shadow/variable_ids.h"

/* ---- kinds of accesses -------------------------------------------------------------------- */

/* An access to some of 8 aligned bytes. */
struct tms_rt_word_access {
    uintptr_t address;
    uint64_t bytes;
    uint64_t kind; /* WORD_KIND bits */
    uint32_t site;
    uint32_t id; /* of the 8 bytes */
};

/* Its kinds in the engine and in a recording. */
struct tms_rt_access_name {
    uint8_t op, event;
};
static const struct tms_rt_access_name tms_rt_access_names[] = {
    [TMS_RT_READ] = {TMS_OP_READ, TMS_EVENT_READ},
    [TMS_RT_WRITE] = {TMS_OP_WRITE, TMS_EVENT_WRITE},
    [TMS_RT_UPDATE] = {TMS_OP_UPDATE, TMS_EVENT_UPDATE},
};

static inline enum tms_rt_access access_of(uint64_t kind)
{
    const uint64_t update = WORD_ATOMIC | WORD_WRITE | WORD_RMW;

    return (kind & WORD_WRITE) == 0    ? TMS_RT_READ
           : (kind & update) == update ? TMS_RT_UPDATE
                                       : TMS_RT_WRITE;
}

static inline uint64_t moment_of(uint64_t word)
{
    assert(word_slot(word) != 0 && word_event(word) != 0);
    return make_moment(word_slot(word), word_event(word),
                       tms_rt_access_names[access_of(word)].event);
}

/* ---- order -------------------------------------------------------------------------------- */

static inline bool is_of_epoch(const struct tms_rt_thread *t, uint64_t word)
{
    return word - t->epoch < t->epoch_span;
}

/*
 * Does the word belong to this thread, and is it equivalent to a new one of the same kind? It is if
 * it is of
 *
 *     the thread's epoch     a plain access, to memory on which no race was seen
 *     its stretch            an atomic access, without exact races
 *     both                   any other
 *
 * The engine filters by stretch, race detection by epoch; so the engine does not distinguish atomic
 * accesses before and after a release, and only exact races do.
 */
static inline bool is_fresh(const struct tms_rt_thread *t, uint64_t word)
{
    if ((word & WORD_FAST) != 0) {
        return is_of_epoch(t, word);
    }
    bool any_epoch = (word & WORD_ATOMIC) != 0 && !tms_rt_mode.exact_races;

    return word - t->stretch < t->stretch_span && (any_epoch || is_of_epoch(t, word));
}

static inline bool conflicts(const struct tms_rt_thread *t, uint64_t word,
                             const struct tms_rt_word_access *a)
{
    return (word & a->bytes) != 0 && ((word | a->kind) & WORD_WRITE) != 0 && !is_own(t, word);
}

static inline bool are_atomic(uint64_t word, const struct tms_rt_word_access *a)
{
    return (word & a->kind & WORD_ATOMIC) != 0;
}

static inline bool happens_before(const struct tms_rt_thread *t, uint64_t word)
{
    assert(word_slot(word) <= TMS_RT_SLOTS_MOST);
    return t->seen[word_slot(word)] >= word_event(word);
}

static inline bool is_race(const struct tms_rt_thread *t, uint64_t word,
                           const struct tms_rt_word_access *a)
{
    return conflicts(t, word, a) && !are_atomic(word, a) && !happens_before(t, word);
}

/*
 * Do the two conflict, with an edge that is neither implied by synchronisation nor redundant? A
 * race-only word makes none: the atomic write of its bytes comes after it, and makes the edge in
 * its place.
 */
static inline bool makes_edge(const struct tms_rt_thread *t, uint64_t word,
                              const struct tms_rt_word_access *a)
{
    return (word & WORD_RACE_ONLY) == 0 && conflicts(t, word, a) &&
           (are_atomic(word, a) || !happens_before(t, word)) &&
           !tms_rt_edge_is_redundant(t, moment_of(word));
}

/* ---- words -------------------------------------------------------------------------------- */

static inline uint64_t make_word(const struct tms_rt_thread *t, uint64_t event,
                                 const struct tms_rt_word_access *a)
{
    assert(event > 0 && event <= t->number);
    assert((a->kind & ~WORD_KIND) == 0 && (a->bytes & ~WORD_BYTES) == 0);
    return t->word_base | event << WORD_EVENT | a->kind | a->bytes;
}

/* Is it the thread's own earlier read of the bytes, which the write updates? See judge/judge.h. */
static inline bool is_read_before(const struct tms_rt_thread *t, uint64_t word,
                                  const struct tms_rt_word_access *a)
{
    return (word & (WORD_ATOMIC | WORD_WRITE)) == 0 && (~word & a->bytes) == 0 && is_own(t, word) &&
           t->judge != NULL && word_event(word) > t->judge->updates_from;
}

/* Is the other thread's word a step that may still become part of a pattern? */
static inline bool is_kept_step(uint64_t word)
{
    const struct tms_rt_thread *u = tms_rt_thread_of_slot(word_slot(word));
    const struct tms_judge_thread *judge = u != NULL ? u->judge : NULL;

    return judge != NULL && tms_judge_keeps(judge, word_event(word));
}

/*
 * Does this read supersede another reader's? It is ordered after it, so whatever is ordered after
 * this read is ordered after both.
 */
static inline bool is_superseded(const struct tms_rt_thread *t, uint64_t word, uint64_t mine)
{
    return (mine & WORD_WRITE) == 0 && !is_own(t, word) &&
           (word & (WORD_WRITE | WORD_ATOMIC)) == 0 && (word & WORD_BYTES & ~mine) == 0 &&
           happens_before(t, word) && (t->judge == NULL || !is_kept_step(word));
}

/* ---- events ------------------------------------------------------------------------------- */

/*
 * Fills in everything but the number. Field by field: an initializer would be built on the stack
 * and copied by wider loads, which stall on store-to-load forwarding from the narrow stores.
 */
static inline void fill_in(const struct tms_rt_thread *t, const struct tms_rt_word_access *a,
                           struct tms_op *op)
{
    const struct tms_rt_access_name *name = &tms_rt_access_names[access_of(a->kind)];

    op->thread = t->index;
    op->target = a->id;
    op->location = a->site;
    op->event_kind = name->event;
    op->kind = name->op;
    op->flags = tms_rt_in_block(t) ? TMS_OP_IN_BLOCK : 0;
    op->spared = (uint8_t)~a->bytes;
}

/* Numbers and logs an access that makes no edge. */
static inline uint64_t record_without_edge(struct tms_rt_thread *t,
                                           const struct tms_rt_word_access *a)
{
    struct tms_op *note = tms_rt_next_note(t);

    assert(a->id != 0 && a->bytes != 0);
    fill_in(t, a, note);
    note->event = tms_rt_next_number(t);
    tms_rt_noted(t);
    return note->event;
}

/* ---- shadow_slow.c ------------------------------------------------------------------------ */

/* Any size, any alignment; `kind` has the bits of words. */
void tms_rt_access_words(struct tms_rt_thread *thread, uintptr_t address, size_t size,
                         uint64_t kind, uint32_t site);
/* The thread's first event is this access; false if it can't be watched. */
bool tms_rt_first_access(struct tms_rt_thread *thread, const struct tms_rt_word_access *access);

/* How many bytes of an access are in the first aligned 8 bytes that it touches. */
static inline size_t word_part(uintptr_t address, size_t size)
{
    size_t here = 8 - (address & 7);

    assert(size > 0);
    return here < size ? here : size;
}

#endif
