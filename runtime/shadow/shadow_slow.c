/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow path of an access that the fast path in shadow.h has not recognised as repeated.
 *
 *        unpack        order                    claim               pack
 *     cell ──▶ words ──▶ every conflicting word ──▶ bytes taken over ──▶ cell
 *                          │ ordered before: nothing
 *                          │ both atomic: an edge, unless it is redundant
 *                          └ otherwise: a data race, and an edge. If the kernel orders the two, the
 *                            race is not reported, but still makes an edge
 *
 * The cell is locked from the first step to the last, so the order in which a cell sees accesses is
 * the order of their numbers, and recording and engine agree even where the program has a race.
 * The judge's lock and the engine's may be taken while it is held, never the other way round
 * (docs/internals/locking.md).
 *
 * An access that is ordered after everything it conflicts with does not lock the cell, provided
 * that all words are plain and the link is 0 (access_ordered).
 */
#include <assert.h>

#include "runtime/core/coverage.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/judge_online.h"
#include "runtime/core/open_blocks.h"
#include "runtime/core/sites.h"
#include "runtime/shadow/claim_bytes.h"
#include "runtime/shadow/race_edges.h"
#include "runtime/shadow/shared_use.h"
#include "runtime/spool/access_coalesce.h"

/* ---- one cell ----------------------------------------------------------------------------- */

/* Updates the coverage: does the cell have accesses of other threads to the same bytes? */
static __attribute__((noinline)) void note_coverage(struct tms_rt_thread *t, const uint64_t *word,
                                                    uint32_t count,
                                                    const struct tms_rt_word_access *a)
{
    for (uint32_t i = 0; i < count; i++) {
        if ((word[i] & a->bytes) != 0 && !is_own(t, word[i])) {
            tms_rt_coverage_note(t, word_slot(word[i]), word_event(word[i]));
        }
    }
}

/* Has the thread made this access in its stretch? Only cases that the fast path does not decide. */
static __attribute__((noinline)) bool repeats(const struct tms_rt_thread *t,
                                              const struct tms_rt_unpacked *cell,
                                              const struct tms_rt_word_access *a)
{
    bool found = false;

    if ((a->kind & WORD_FAST) != 0 || (tms_rt_mode.records && (a->kind & WORD_WRITE) != 0)) {
        return false; /* a recording needs every write that may release something */
    }
    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t word = cell->word[i];
        bool repeated = (~word & (a->bytes | (a->kind & ~WORD_VARIANT))) == 0 && is_own(t, word) &&
                        is_fresh(t, word) && ((word ^ a->kind) & WORD_ATOMIC) == 0;
        bool weaker = (a->kind & WORD_ACQUIRES & ~word) != 0 && (a->kind & WORD_WRITE) == 0;
        if (repeated && !weaker) {
            found = true;
        } else if ((a->kind & WORD_WRITE) != 0 && (word & a->bytes) != 0 && !is_own(t, word) &&
                   (word & WORD_RACE_ONLY) == 0) {
            return false;
        }
    }
    return found;
}

static __attribute__((noinline)) void
spool_access(struct tms_rt_thread *t, const struct tms_rt_word_access *a, uint64_t event)
{
    static const uint8_t with_order[] = {
        [TMS_RT_READ] = TMS_EVENT_ATOMIC_READ,
        [TMS_RT_WRITE] = TMS_EVENT_ATOMIC_WRITE,
        [TMS_RT_UPDATE] = TMS_EVENT_ATOMIC_UPDATE,
    };
    enum tms_rt_access access = access_of(a->kind);
    struct tms_spool_event record = {
        .number = event,
        .target = a->address,
        .site = a->site,
        .kind = t->order != 0 ? with_order[access] : tms_rt_access_names[access].event,
        .size = (uint8_t)__builtin_popcountll(a->bytes),
        .what = t->order != 0 ? tms_spool_what(t->order, t->mark) : t->mark};

    tms_rt_spool_access(t, &record);
}

/* Handles an access to a locked cell, and unlocks it. Returns the number of the event; 0: none. */
static uint64_t access_unpacked(struct tms_rt_thread *t, struct tms_rt_unpacked *cell,
                                struct tms_rt_word_access *a)
{
    bool edges = false;
    uint64_t event;

    if ((cell->link & LINK_RACED) != 0) {
        a->kind &= ~WORD_FAST;
        tms_rt_function_raced(t);
    }
    if (!tms_rt_mode.full && repeats(t, cell, a)) {
        tms_rt_cell_unlock(cell->cell, cell->link);
        return 0;
    }
    for (uint32_t i = 0; i < cell->count; i++) {
        edges |= makes_edge(t, cell->word[i], a) || is_race(t, cell->word[i], a);
    }
    if (tms_rt_coverage_is_due(t)) {
        note_coverage(t, cell->word, cell->count, a);
    }
    if (!edges) {
        event = record_without_edge(t, a);
    } else if (tms_rt_add_access_edges(t, cell, a, &event)) {
        tms_rt_start_epoch_at(t, event);
        tms_rt_function_raced(t);
        tms_rt_mark_raced(cell, a);
    } else if (tms_rt_mode.exact_races) { /* order for the engine, though not for the clocks */
        tms_rt_start_epoch_at(t, event);
    }
    if (t->judge != NULL) {
        tms_rt_judge_shared_access(
            t, cell, &(struct tms_rt_judged){a->address, a->bytes, a->kind, event, a->site});
    }
    assert(event == t->number);
    tms_rt_claim(t, cell, a, event);
    tms_rt_pack(t, cell);
    return event;
}

bool tms_rt_first_access(struct tms_rt_thread *t, const struct tms_rt_word_access *a)
{
    struct tms_op op;

    fill_in(t, a, &op);
    op.event = 0;
    return tms_rt_first(t, &op);
}

/*
 * Orders the first use of new memory after the event that made it new. Mostly synchronisation has
 * done that already; otherwise at least the numbers in a recording say it.
 */
static inline void follow_renewal(struct tms_rt_thread *t, uint32_t word)
{
    uint64_t renewed = tms_rt_variable_cleared_at(word);

    assert(word != 0);
    if (t->number < renewed) {
        t->number = renewed;
        t->coalesce_epoch++;
    }
}

/* ---- plain accesses that are ordered ------------------------------------------------------ */

/* The word makes no edge, and that can't change without the lock. */
static inline bool is_ordered(const struct tms_rt_thread *t, uint64_t word,
                              const struct tms_rt_word_access *a)
{
    return word == 0 ||
           ((word & WORD_FAST) != 0 && (!conflicts(t, word, a) || happens_before(t, word)));
}

/* What remains of a word; what can be merged with the new word becomes part of it. */
static inline uint64_t keep(const struct tms_rt_thread *t, uint64_t word,
                            const struct tms_rt_word_access *a, uint64_t *mine)
{
    bool own = is_own(t, word), fresh = is_of_epoch(t, word);
    bool same = own && ((word ^ a->kind) & WORD_WRITE) == 0;
    uint64_t left = (a->kind & WORD_WRITE) != 0 || same ? word & ~a->bytes : word;

    if (same && fresh) {
        *mine |= word & (WORD_BYTES | WORD_UPDATES);
        return 0;
    }
    return (left & WORD_BYTES) != 0 ? left : 0;
}

/*
 * Nearly all accesses that are not repeated: plain, and ordered after everything that the cell has
 * of other threads. They do not lock the cell, and take the engine's lock only if the thread's log
 * is full (tms_rt_next_note). Another thread that accesses the cell at this moment races with this
 * one, or both read, or it accesses other bytes; one of the two words may then be lost, which can
 * hide a race and nothing else. False in all other cases; then nothing has happened.
 */
static inline bool access_ordered(struct tms_rt_thread *t, struct tms_rt_cell *cell,
                                  struct tms_rt_word_access *a)
{
    uint64_t word[CELL_WORDS] = {atomic_load_explicit(&cell->word[0], memory_order_relaxed),
                                 atomic_load_explicit(&cell->word[1], memory_order_relaxed),
                                 atomic_load_explicit(&cell->word[2], memory_order_relaxed)};
    const unsigned place = (a->kind & WORD_WRITE) == 0;
    uint64_t mine = 0;

    if (atomic_load_explicit(&cell->link, memory_order_relaxed) != 0 ||
        !is_ordered(t, word[0], a) || !is_ordered(t, word[1], a) || !is_ordered(t, word[2], a)) {
        return false;
    }
    if (place == 0 && (is_read_before(t, word[1], a) || is_read_before(t, word[2], a))) {
        mine = WORD_UPDATES;
    }
    uint64_t write = keep(t, word[0], a, &mine), read = keep(t, word[1], a, &mine);
    uint64_t third = keep(t, word[2], a, &mine);
    uint64_t moved = place == 0 ? write : read;
    if (moved != 0) {
        if (third != 0 && !is_superseded(t, third, a->kind | a->bytes)) {
            return false;
        }
        third = moved;
    }
    if (tms_rt_coverage_is_due(t)) {
        note_coverage(t, word, CELL_WORDS, a);
    }
    mine |= make_word(t, record_without_edge(t, a), a);
    atomic_store_explicit(&cell->word[0], place == 0 ? mine : write, memory_order_relaxed);
    atomic_store_explicit(&cell->word[1], place == 0 ? read : mine, memory_order_relaxed);
    atomic_store_explicit(&cell->word[2], third, memory_order_relaxed);
    return true;
}

/* The words of a cell on the bytes of an access that matter to `judge`. */
struct judged_words {
    uint64_t own_read; /* the thread's own read, if no other access to the bytes followed; else 0 */
    uint64_t write;    /* the last write, if another thread made it; else 0 */
};

/* False if one of them is another thread's step that matters: then the lock is needed. */
static inline bool look_at_words(const struct tms_rt_thread *t, const struct tms_rt_cell *cell,
                                 const struct tms_rt_word_access *a, struct judged_words *found)
{
    bool read = false, written = false;

    *found = (struct judged_words){0};
    for (int i = 0; i < CELL_WORDS; i++) { /* the newest write comes first, then the newest read */
        uint64_t word = atomic_load_explicit(&cell->word[i], memory_order_relaxed);
        bool own = is_own(t, word);
        if ((word & a->bytes) == 0) {
            continue;
        }
        if (!own && ((word | a->kind) & WORD_WRITE) != 0 &&
            (t->judge->taken_over_count > 0 || is_kept_step(word))) {
            return false;
        }
        if ((word & WORD_WRITE) != 0) {
            found->write = written || own ? found->write : word_event(word);
            written = true;
        } else {
            bool whole = own && !read && (~word & a->bytes) == 0;
            found->own_read = whole ? word_event(word) : found->own_read;
            read = true;
        }
    }
    return true;
}

/* The same if accesses are judged. */
static bool access_judged(struct tms_rt_thread *t, struct tms_rt_cell *cell,
                          struct tms_rt_word_access *a)
{
    struct judged_words words;

    if (!look_at_words(t, cell, a, &words) || !access_ordered(t, cell, a)) {
        return false;
    }
    const struct tms_rt_judged judged = {a->address, a->bytes, a->kind, t->number, a->site};
    tms_rt_judge_private_access(t, &judged, words.own_read, words.write);
    return true;
}

/* ---- one word ----------------------------------------------------------------------------- */

/* A function of its own, to keep the stack frame of the path without the lock small. */
static __attribute__((noinline)) uint64_t
access_locked(struct tms_rt_thread *t, struct tms_rt_cell *cell, struct tms_rt_word_access *a)
{
    struct tms_rt_unpacked unpacked;

    tms_rt_unpack(t, cell, tms_rt_cell_lock(cell), &unpacked);
    return access_unpacked(t, &unpacked, a);
}

/* An access within 8 aligned bytes that is not repeated. */
static void access_word(struct tms_rt_thread *t, uintptr_t address, size_t size, uint64_t kind,
                        uint32_t site)
{
    struct tms_rt_word_access a = {.address = address,
                                   .bytes = tms_rt_bytes(address, size),
                                   .kind = kind,
                                   .site = site,
                                   .id = tms_rt_variable_id(address)};
    struct tms_rt_cell *cell = tms_rt_cell(address);

    assert(size > 0 && (address & 7) + size <= 8);
    if (a.id == 0 || (t->engine == NULL && !tms_rt_first_access(t, &a))) {
        return;
    }
    if (t->split_due) {
        tms_rt_split_due(t, site);
    }
    if (__builtin_expect(tms_rt_mode.scheduled, 0)) {
        tms_rt_steer_access(t, cell, &a);
    }
    if (tms_rt_mode.records) {
        follow_renewal(t, a.id);
    } else if ((a.kind & WORD_FAST) != 0 &&
               (t->judge != NULL ? access_judged(t, cell, &a) : access_ordered(t, cell, &a))) {
        return;
    }
    uint64_t event = access_locked(t, cell, &a);
    if (tms_rt_mode.records && event != 0) {
        spool_access(t, &a, event);
    }
}

/* ---- the way here ------------------------------------------------------------------------- */

static const uint64_t plain_kinds[] = {
    [TMS_RT_READ] = WORD_FAST,
    [TMS_RT_WRITE] = WORD_FAST | WORD_WRITE,
    [TMS_RT_UPDATE] = WORD_ATOMIC | WORD_WRITE | WORD_RMW,
};

static inline bool is_repeated(const struct tms_rt_thread *t, uintptr_t address, size_t size,
                               uint64_t kind)
{
    return (kind & WORD_FAST) == 0    ? false
           : (kind & WORD_WRITE) == 0 ? tms_rt_is_repeated(t, address, size, TMS_RT_READ)
                                      : tms_rt_is_repeated(t, address, size, TMS_RT_WRITE);
}

void tms_rt_access_words(struct tms_rt_thread *t, uintptr_t address, size_t size, uint64_t kind,
                         uint32_t site)
{
    while (size > 0) {
        size_t here = word_part(address, size);
        if (!is_repeated(t, address, here, kind)) {
            access_word(t, address, here, kind, site);
        }
        address += here;
        size -= here;
    }
}

void tms_rt_access(struct tms_rt_thread *t, uintptr_t address, size_t size,
                   enum tms_rt_access access, uintptr_t pc)
{
    if (tms_rt_mode.memory && tms_rt_mode.checks && t->ignored[access] == 0) {
        tms_rt_access_words(t, address, size, plain_kinds[access], tms_rt_site(t, pc));
    }
}

void tms_rt_access_slow(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    struct tms_rt_thread *t = tms_rt_enter_fast();

    if (t == NULL) {
        return;
    }
    if (tms_rt_mode.checks && t->ignored[access] == 0) {
        access_word(t, address, size, plain_kinds[access], tms_rt_site(t, pc));
    }
    tms_rt_leave_fast(t);
}

/* Is an access of up to 16 bytes repeated in all cells that it touches? */
static inline __attribute__((always_inline)) bool is_repeated_wide(const struct tms_rt_thread *t,
                                                                   uintptr_t address, size_t size,
                                                                   enum tms_rt_access access)
{
    size_t here = word_part(address, size);

    return tms_rt_is_repeated(t, address, here, access) &&
           (size - here <= 8
                ? tms_rt_is_repeated(t, address + here, size - here, access)
                : tms_rt_is_repeated(t, address + here, 8, access) &&
                      tms_rt_is_repeated(t, address + here + 8, size - here - 8, access));
}

void tms_rt_access_wide(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    struct tms_rt_thread *t = tms_rt_watched;
    bool repeated = access == TMS_RT_READ ? is_repeated_wide(t, address, size, TMS_RT_READ)
                                          : is_repeated_wide(t, address, size, TMS_RT_WRITE);

    if (repeated || (t = tms_rt_enter_fast()) == NULL) {
        return;
    }
    if (tms_rt_mode.checks && t->ignored[access] == 0) {
        tms_rt_access_words(t, address, size, plain_kinds[access], tms_rt_site(t, pc));
    }
    tms_rt_leave_fast(t);
}
