/* SPDX-License-Identifier: Apache-2.0 */
/* Interned sets of locks; see lockset.h. */
#include "lockset/lockset.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SETS  64
#define LEAST_LOCKS 256
#define CACHE_BITS  12

enum { NOTHING, ADD, REMOVE, UNION, INTERSECTION, WITHIN };

static void fail(struct tms_locksets *sets, int code)
{
    tms_host_fail(sets->host, code);
}

int tms_locksets_init(struct tms_locksets *sets, struct tms_host *host)
{
    struct tms_memory *memory = &host->memory;

    *sets = (struct tms_locksets){.host = host, .set_count = 1}; /* the empty one */
    sets->cache = tms_resize(memory, NULL, 0, (size_t)1 << CACHE_BITS, sizeof(*sets->cache));
    bool room = sets->cache != NULL &&
                TMS_RESERVE(memory, &sets->sets, &sets->set_capacity, 1, LEAST_SETS) &&
                TMS_RESERVE(memory, &sets->pool, &sets->pool_capacity, 1, LEAST_LOCKS);
    return room ? TMS_OK : TMS_ERR_MEMORY;
}

void tms_locksets_clear(struct tms_locksets *sets)
{
    if (sets->host == NULL) {
        return;
    }
    struct tms_memory *memory = &sets->host->memory;
    tms_release(memory, sets->cache, (size_t)1 << CACHE_BITS, sizeof(*sets->cache));
    tms_release(memory, sets->sets, sets->set_capacity, sizeof(*sets->sets));
    tms_release(memory, sets->pool, sets->pool_capacity, sizeof(*sets->pool));
    tms_hashtable_clear(&sets->index, memory);
    tms_release(memory, sets->scratch, sets->scratch_capacity, sizeof(*sets->scratch));
    *sets = (struct tms_locksets){0};
}

/* ---- by content ------------------------------------------------------------------------- */

static uint64_t hash_locks(const uint32_t *locks, uint32_t count)
{
    uint64_t hash = count;

    for (uint32_t i = 0; i < count; i++) {
        hash = tms_mix(hash, locks[i]);
    }
    return hash;
}

static bool is_set(const struct tms_locksets *sets, uint32_t set, const uint32_t *locks,
                   uint32_t count)
{
    const struct tms_lockset *known = &sets->sets[set];

    return known->count == count &&
           memcmp(&sets->pool[known->start], locks, count * sizeof(*locks)) == 0;
}

/* The number of such a set, 0: there is none. */
static uint32_t find_set(const struct tms_locksets *sets, const uint32_t *locks, uint32_t count,
                         uint64_t hash)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&sets->index, hash, &walk);

    assert(sets->set_count == sets->index.count + 1); /* all but the empty one */
    while (found != 0 && !is_set(sets, found, locks, count)) {
        found = tms_hash_next(&walk);
    }
    return found;
}

static bool make_room(struct tms_locksets *sets, uint32_t count)
{
    struct tms_memory *memory = &sets->host->memory;

    return TMS_RESERVE(memory, &sets->sets, &sets->set_capacity, sets->set_count + 1, LEAST_SETS) &&
           TMS_RESERVE(memory, &sets->pool, &sets->pool_capacity, sets->pool_count + count,
                       LEAST_LOCKS);
}

/* The number of the set in the scratch. */
static uint32_t intern(struct tms_locksets *sets, uint32_t count)
{
    uint64_t hash = hash_locks(sets->scratch, count);
    uint32_t set = count == 0 ? TMS_LOCKSET_EMPTY : find_set(sets, sets->scratch, count, hash);

    if (count == 0 || set != 0) {
        return set;
    }
    set = (uint32_t)sets->set_count;
    if (sets->set_count == UINT32_MAX || !make_room(sets, count) ||
        !tms_hashtable_add(&sets->index, &sets->host->memory, hash, set)) {
        fail(sets, sets->set_count == UINT32_MAX ? TMS_ERR_LIMIT : TMS_ERR_MEMORY);
        return TMS_LOCKSET_EMPTY;
    }
    assert(sets->pool_count + count <= sets->pool_capacity);
    assert(sets->set_count < sets->set_capacity);
    sets->sets[sets->set_count++] = (struct tms_lockset){sets->pool_count, count};
    memcpy(&sets->pool[sets->pool_count], sets->scratch, count * sizeof(*sets->pool));
    sets->pool_count += count;
    return set;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

uint32_t tms_lockset_make(struct tms_locksets *sets, const uint32_t *locks, size_t count)
{
    uint32_t distinct = 0;

    if (count == 0) {
        return TMS_LOCKSET_EMPTY;
    }
    if (!TMS_RESERVE(&sets->host->memory, &sets->scratch, &sets->scratch_capacity, count,
                     LEAST_LOCKS)) {
        fail(sets, TMS_ERR_MEMORY);
        return TMS_LOCKSET_EMPTY;
    }
    memcpy(sets->scratch, locks, count * sizeof(*locks));
    qsort(sets->scratch, count, sizeof(*locks), by_id);
    for (size_t i = 0; i < count; i++) {
        if (distinct == 0 || sets->scratch[distinct - 1] != sets->scratch[i]) {
            sets->scratch[distinct++] = sets->scratch[i];
        }
    }
    assert(distinct > 0 && distinct <= count);
    return intern(sets, distinct);
}

/* ---- operations ------------------------------------------------------------------------- */

/* A set to be combined, which may have no number. */
struct operand {
    const uint32_t *locks;
    uint32_t count;
};

static struct operand operand(const struct tms_locksets *sets, uint32_t set)
{
    assert(set < sets->set_count);
    return (struct operand){&sets->pool[sets->sets[set].start], sets->sets[set].count};
}

/*
 * Merges two sorted sets into the scratch: what is only in a, only in b, in both, as asked for.
 * Returns how many there are.
 */
enum { ONLY_A = 1, ONLY_B = 2, BOTH = 4 };

static uint32_t merge(struct tms_locksets *sets, struct operand a, struct operand b,
                      unsigned wanted)
{
    uint32_t i = 0, j = 0, count = 0;

    while (i < a.count || j < b.count) {
        bool from_a = j == b.count || (i < a.count && a.locks[i] <= b.locks[j]);
        bool from_b = i == a.count || (j < b.count && b.locks[j] <= a.locks[i]);
        uint32_t lock = from_a ? a.locks[i] : b.locks[j];
        assert(from_a || from_b);
        if (wanted & (from_a && from_b ? BOTH : from_a ? ONLY_A : ONLY_B)) {
            sets->scratch[count++] = lock;
        }
        i += from_a;
        j += from_b;
    }
    assert(count <= a.count + b.count && count <= sets->scratch_capacity);
    return count;
}

static const uint8_t wanted_of[] = {
    [ADD] = ONLY_A | ONLY_B | BOTH, [REMOVE] = ONLY_A, [UNION] = ONLY_A | ONLY_B | BOTH,
    [INTERSECTION] = BOTH,          [WITHIN] = ONLY_A,
};

static uint32_t compute(struct tms_locksets *sets, uint32_t question, uint32_t a, uint32_t b)
{
    bool lock = question == ADD || question == REMOVE;
    struct operand first = operand(sets, a);
    struct operand second = lock ? (struct operand){&b, 1} : operand(sets, b);

    assert(question > NOTHING && question <= WITHIN);
    if (!TMS_RESERVE(&sets->host->memory, &sets->scratch, &sets->scratch_capacity,
                     (size_t)first.count + second.count, LEAST_LOCKS)) {
        fail(sets, TMS_ERR_MEMORY);
        return TMS_LOCKSET_EMPTY;
    }
    uint32_t count = merge(sets, first, second, wanted_of[question]);
    return question == WITHIN ? count == 0 : intern(sets, count);
}

static uint32_t ask(struct tms_locksets *sets, uint32_t question, uint32_t a, uint32_t b)
{
    uint64_t hash = tms_mix(question, (uint64_t)a << 32 | b);
    struct tms_lockset_answer *cached = &sets->cache[hash >> (64 - CACHE_BITS)];

    assert(a < sets->set_count);
    if (cached->question != question || cached->a != a || cached->b != b) {
        *cached = (struct tms_lockset_answer){a, b, question, compute(sets, question, a, b)};
    }
    return cached->answer;
}

uint32_t tms_lockset_add(struct tms_locksets *sets, uint32_t set, uint32_t lock)
{
    return ask(sets, ADD, set, lock);
}

uint32_t tms_lockset_remove(struct tms_locksets *sets, uint32_t set, uint32_t lock)
{
    return set == TMS_LOCKSET_EMPTY ? set : ask(sets, REMOVE, set, lock);
}

uint32_t tms_lockset_union(struct tms_locksets *sets, uint32_t a, uint32_t b)
{
    return a == b || b == TMS_LOCKSET_EMPTY ? a
           : a == TMS_LOCKSET_EMPTY         ? b
                                            : ask(sets, UNION, a, b);
}

uint32_t tms_lockset_intersection(struct tms_locksets *sets, uint32_t a, uint32_t b)
{
    if (a == b) {
        return a;
    }
    bool empty = a == TMS_LOCKSET_EMPTY || b == TMS_LOCKSET_EMPTY;
    return empty ? TMS_LOCKSET_EMPTY : ask(sets, INTERSECTION, a, b);
}

bool tms_lockset_within(struct tms_locksets *sets, uint32_t a, uint32_t b)
{
    return a == b || a == TMS_LOCKSET_EMPTY ||
           (b != TMS_LOCKSET_EMPTY && ask(sets, WITHIN, a, b) != 0);
}

bool tms_lockset_has(const struct tms_locksets *sets, uint32_t set, uint32_t lock)
{
    struct operand locks = operand(sets, set);
    uint32_t i = 0;

    while (i < locks.count && locks.locks[i] < lock) {
        i++;
    }
    return i < locks.count && locks.locks[i] == lock;
}

/* ---- what a thread holds ---------------------------------------------------------------- */

#define TEXT(number)  TEXT_(number)
#define TEXT_(number) #number

bool tms_held_full(struct tms_locksets *sets, struct tms_held held)
{
    bool full = sets->sets[held.any].count >= TMS_HELD_MOST;

    if (full) {
        sets->host->loss = "a thread held more than " TEXT(
            TMS_HELD_MOST) " locks at the same time, and the others were ignored: what they "
                           "exclude "
                           "may be reported, what they take part in may be missed";
    }
    return full;
}

bool tms_held_follow(struct tms_locksets *sets, struct tms_held *held, const struct tms_op *op)
{
    const struct tms_held before = *held;
    bool takes = op->kind == TMS_OP_ACQUIRE || op->kind == TMS_OP_SHARED_ACQUIRE;
    bool exclusive = op->kind == TMS_OP_ACQUIRE || op->kind == TMS_OP_RELEASE;
    uint32_t (*change)(struct tms_locksets *, uint32_t, uint32_t) =
        takes ? tms_lockset_add : tms_lockset_remove;

    if (takes && tms_held_full(sets, *held)) {
        return false;
    }
    held->any = change(sets, held->any, op->target);
    if (exclusive) {
        held->exclusive = change(sets, held->exclusive, op->target);
    }
    assert(tms_lockset_has(sets, held->any, op->target) == takes || sets->host->failed != TMS_OK);
    assert(tms_lockset_within(sets, held->exclusive, held->any) || sets->host->failed != TMS_OK);
    return held->any != before.any;
}
