/* SPDX-License-Identifier: Apache-2.0 */
/* Claiming the bytes of a cell; see claim_bytes.h. */
#include "runtime/shadow/claim_bytes.h"

#include <assert.h>

static inline bool is_atomic_write(const struct tms_rt_word_access *a)
{
    return (~a->kind & (WORD_WRITE | WORD_ATOMIC)) == 0;
}

/*
 * May a later access race with the word, but not with this atomic write? A later atomic access
 * races with plain accesses only. A later plain access that is ordered after the write need not be
 * ordered after atomic accesses that the write itself is not ordered after. In all other cases an
 * access that races with the word races with the write.
 */
static inline bool outlives(const struct tms_rt_thread *t, uint64_t word)
{
    return (word & WORD_ATOMIC) == 0 || !(is_own(t, word) || happens_before(t, word));
}

/*
 * Does the cell have plain accesses, too? Otherwise it is useless to keep words of atomic
 * accesses, unless the first plain access is still to come, which only exact races allow for.
 */
static inline bool is_mixed(const struct tms_rt_unpacked *cell)
{
    bool mixed = tms_rt_mode.exact_races;

    for (uint32_t i = 0; i < cell->count; i++) {
        mixed |= (cell->word[i] & WORD_ATOMIC) == 0;
    }
    return mixed;
}

/*
 * Keeps the words that outlive an atomic write, whole or the part of them that it overlaps, for
 * races alone.
 */
static void mark_race_only(struct tms_rt_thread *t, struct tms_rt_unpacked *cell,
                           const struct tms_rt_word_access *a)
{
    for (uint32_t i = 0, count = cell->count; i < count; i++) {
        uint64_t word = cell->word[i], rest = word & WORD_BYTES & ~a->bytes;
        if ((word & a->bytes) == 0 || (word & WORD_RACE_ONLY) != 0 || !outlives(t, word)) {
            continue;
        }
        uint64_t marked = (word & ~(rest | WORD_FAST)) | WORD_RACE_ONLY;
        if (rest == 0) {
            cell->word[i] = marked;
        } else {
            tms_rt_add_word(t, cell, marked);
        }
    }
}

/*
 * What is left of a word. A plain write takes its bytes from all words, an atomic one from those
 * that do not stay for races alone, a read from the thread's own reads of the same kind.
 */
static inline uint64_t left_of(const struct tms_rt_thread *t, uint64_t word,
                               const struct tms_rt_word_access *a)
{
    bool taken = (a->kind & WORD_WRITE) != 0
                     ? !(is_atomic_write(a) && (word & WORD_RACE_ONLY) != 0 && outlives(t, word))
                     : is_own(t, word) && ((word ^ a->kind) & (WORD_WRITE | WORD_ATOMIC)) == 0;

    return taken ? word & ~a->bytes : word;
}

/*
 * Can the two be merged? For a plain write WORD_UPDATES then holds for some of the bytes. Never
 * across a release, which others may be ordered after: the word would date older accesses to now,
 * as races.
 */
static inline bool is_joined(const struct tms_rt_thread *t, uint64_t word, uint64_t mine)
{
    uint64_t kind = (mine & WORD_ATOMIC) != 0 ? WORD_KIND : WORD_KIND & ~WORD_UPDATES;

    return ((word ^ mine) & kind) == 0 && is_fresh(t, word) && is_of_epoch(t, word);
}

/* Adds the access's own word, and keeps what is left of the others. */
static void claim_bytes(struct tms_rt_thread *t, struct tms_rt_unpacked *cell,
                        struct tms_rt_word_access *a, uint64_t event)
{
    uint32_t kept = 0;

    if (is_atomic_write(a)) {
        if (is_mixed(cell)) {
            mark_race_only(t, cell, a);
        }
    } else if ((a->kind & WORD_WRITE) != 0) {
        for (uint32_t i = 0; i < cell->count; i++) {
            a->kind |= is_read_before(t, cell->word[i], a) ? WORD_UPDATES : 0;
        }
    }
    assert((a->kind & WORD_RACE_ONLY) == 0);
    uint64_t mine = make_word(t, event, a);
    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t word = left_of(t, cell->word[i], a);
        if ((word & WORD_BYTES) == 0) {
            continue;
        }
        if (is_joined(t, word, mine)) {
            mine |= word & (WORD_BYTES | WORD_VARIANT);
        } else {
            cell->word[kept++] = word;
        }
    }
    assert(kept <= cell->count);
    cell->count = kept;
    tms_rt_add_word(t, cell, mine);
}

/*
 * Race-only words stay as long as they fit the cell, and with exact races in any case: if many
 * threads use an atomic without ordering each other, each of them would have one.
 */
static void drop_race_only(struct tms_rt_unpacked *cell)
{
    uint32_t kept = 0, spare = cell->count > CELL_WORDS ? cell->count - CELL_WORDS : 0;

    if (spare == 0 || tms_rt_mode.exact_races) {
        return;
    }
    for (uint32_t i = 0; i < cell->count; i++) {
        bool dropped = spare > 0 && (cell->word[i] & WORD_RACE_ONLY) != 0;
        spare -= dropped;
        if (!dropped) {
            cell->word[kept++] = cell->word[i];
        }
    }
    cell->count = kept;
}

/* Readers stay as long as they fit the cell, because the fast path serves all of them. */
static void drop_superseded(struct tms_rt_thread *t, struct tms_rt_unpacked *cell)
{
    uint64_t mine = cell->word[cell->count - 1];
    uint32_t kept = 0;

    assert(cell->count > 0 && is_own(t, mine));
    if (cell->count <= CELL_WORDS || (mine & (WORD_WRITE | WORD_ATOMIC)) != 0) {
        return;
    }
    for (uint32_t i = 0; i + 1 < cell->count; i++) {
        if (!is_superseded(t, cell->word[i], mine)) {
            cell->word[kept++] = cell->word[i];
        }
    }
    cell->word[kept++] = mine;
    cell->count = kept;
}

void tms_rt_claim(struct tms_rt_thread *t, struct tms_rt_unpacked *cell,
                  struct tms_rt_word_access *a, uint64_t event)
{
    assert((atomic_load(&cell->cell->link) & LINK_LOCK) != 0);
    claim_bytes(t, cell, a, event);
    drop_race_only(cell);
    drop_superseded(t, cell);
}

void tms_rt_mark_raced(struct tms_rt_unpacked *cell, struct tms_rt_word_access *a)
{
    cell->link |= LINK_RACED;
    a->kind &= ~WORD_FAST;
    for (uint32_t i = 0; i < cell->count; i++) {
        cell->word[i] &= ~WORD_FAST;
    }
}
