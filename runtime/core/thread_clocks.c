/* SPDX-License-Identifier: Apache-2.0 */
/* Vector clocks; thread_clocks.h describes their meaning and representation. */
#include "runtime/core/thread_clocks.h"

#include <assert.h>
#include <string.h>

#include "base/hash_mix.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/kernel_channels.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/shadow/atomic_locks.h"
#include "runtime/shadow/variable_ids.h"

/* Times by slot, of the threads that existed when it was made. */
struct tms_rt_snapshot {
    _Atomic uint32_t references;
    uint32_t count, capacity;
    struct tms_rt_snapshot *wider; /* the thread's `wider` at that time */
    uint64_t at[];
};

static struct tms_memory memory = TMS_RT_MEMORY;

/* ---- snapshots ---------------------------------------------------------------------------- */

static size_t bytes_for(uint32_t capacity)
{
    return sizeof(struct tms_rt_snapshot) + capacity * sizeof(uint64_t);
}

/* Empty, with one reference; NULL if memory is short. */
static struct tms_rt_snapshot *new_snapshot(uint32_t count)
{
    uint32_t capacity = 13; /* with the header this makes a power of two */

    while (capacity < count) {
        capacity = 2 * capacity + 3;
    }
    struct tms_rt_snapshot *snapshot = tms_resize(&memory, NULL, 0, 1, bytes_for(capacity));
    if (snapshot == NULL) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
        return NULL;
    }
    atomic_store_explicit(&snapshot->references, 1, memory_order_relaxed);
    snapshot->count = count;
    snapshot->capacity = capacity;
    return snapshot;
}

static struct tms_rt_snapshot *share(struct tms_rt_snapshot *snapshot)
{
    if (snapshot != NULL) {
        assert(atomic_load_explicit(&snapshot->references, memory_order_relaxed) > 0);
        atomic_fetch_add_explicit(&snapshot->references, 1, memory_order_relaxed);
    }
    return snapshot;
}

/* `wider` has no `wider` of its own, so the recursion is at most two deep. */
static void drop_snapshot(struct tms_rt_snapshot *snapshot)
{
    assert(snapshot == NULL || atomic_load(&snapshot->references) > 0);
    if (snapshot != NULL &&
        atomic_fetch_sub_explicit(&snapshot->references, 1, memory_order_acq_rel) == 1) {
        assert(snapshot->wider == NULL || snapshot->wider->wider == NULL);
        drop_snapshot(snapshot->wider);
        tms_release(&memory, snapshot, 1, bytes_for(snapshot->capacity));
    }
}

/* Is this the only reference, so that it may be changed? */
static bool is_alone(const struct tms_rt_snapshot *snapshot)
{
    return atomic_load_explicit(&snapshot->references, memory_order_acquire) == 1;
}

/* Later threads have slots beyond this, and have released nothing yet. */
static uint32_t slots(void)
{
    return __atomic_load_n(&tms_rt_engine.slot_count, __ATOMIC_RELAXED);
}

static void add_all(struct tms_rt_snapshot *sum, const uint64_t *at, uint32_t count)
{
    assert(count <= sum->capacity);
    for (uint32_t slot = FIRST_SLOT; slot < count; slot++) {
        sum->at[slot] = sum->at[slot] < at[slot] ? at[slot] : sum->at[slot];
    }
}

/* ---- vectors of the wider order ----------------------------------------------------------- */

/* Makes the vector writable, with at least `count` slots; NULL if memory is short. */
static struct tms_rt_snapshot *own_vector(struct tms_rt_snapshot **vector, uint32_t count)
{
    struct tms_rt_snapshot *old = *vector;
    uint32_t known = old == NULL ? 0 : old->count;

    count = count < known ? known : count;
    if (old != NULL && is_alone(old) && old->capacity >= count) {
        old->count = count;
        return old;
    }
    struct tms_rt_snapshot *copy = new_snapshot(count);
    if (copy == NULL) {
        return NULL;
    }
    if (old != NULL) {
        memcpy(copy->at, old->at, known * sizeof(*old->at));
        drop_snapshot(old);
    }
    assert(copy->capacity >= count && copy->count >= known);
    *vector = copy;
    return copy;
}

static void widen(struct tms_rt_snapshot **vector, const uint64_t *at, uint32_t count)
{
    struct tms_rt_snapshot *sum = own_vector(vector, count);

    if (sum != NULL) {
        add_all(sum, at, count);
    }
}

static uint64_t time_in(const struct tms_rt_snapshot *vector, uint32_t slot)
{
    return vector != NULL && slot < vector->count ? vector->at[slot] : 0;
}

/* Does the vector include another one? */
static bool includes(const struct tms_rt_snapshot *vector, const struct tms_rt_snapshot *other)
{
    for (uint32_t slot = FIRST_SLOT; slot < other->count; slot++) {
        if (time_in(vector, slot) < other->at[slot]) {
            return false;
        }
    }
    return true;
}

/* Joins another vector into this one; true if that added something. */
static bool widen_by(struct tms_rt_snapshot **vector, struct tms_rt_snapshot *other)
{
    if (other == NULL || other == *vector || includes(*vector, other)) {
        return false;
    }
    if (*vector == NULL) {
        *vector = share(other);
    } else {
        widen(vector, other->at, other->count);
    }
    return true;
}

static void set_wider(struct tms_rt_snapshot *snapshot, struct tms_rt_snapshot *wider)
{
    assert(wider == NULL || wider->wider == NULL); /* its own is all of it */
    assert(is_alone(snapshot));
    if (snapshot->wider != wider) {
        drop_snapshot(snapshot->wider);
        snapshot->wider = share(wider);
    }
}

/* ---- snapshots of threads ----------------------------------------------------------------- */

/* A snapshot of what the thread has seen; its own time is not included. */
static struct tms_rt_snapshot *snapshot_of(struct tms_rt_thread *t)
{
    uint32_t count = slots();

    if (t->snapshot != NULL && !t->seen_more) {
        return t->snapshot;
    }
    t->seen_more = false; /* first, because a signal handler may set it again */
    atomic_signal_fence(memory_order_seq_cst);
    tms_rt_take_signals(t);
    if (t->snapshot == NULL || !is_alone(t->snapshot) || t->snapshot->capacity < count) {
        drop_snapshot(t->snapshot);
        t->snapshot = new_snapshot(count);
        if (t->snapshot == NULL) {
            return NULL;
        }
    }
    t->snapshot->count = count;
    assert(t->engine->slot < count && count <= t->snapshot->capacity);
    memcpy(t->snapshot->at, t->seen, count * sizeof(*t->seen));
    set_wider(t->snapshot, t->wider);
    return t->snapshot;
}

/* ---- clocks ------------------------------------------------------------------------------- */

static void see(struct tms_rt_thread *t, uint32_t slot, uint64_t number, bool *more)
{
    assert(slot >= FIRST_SLOT && slot <= TMS_RT_SLOTS_MOST);
    if (slot != t->engine->slot && t->seen[slot] < number) {
        t->seen[slot] = number;
        *more = true;
    }
}

static bool see_all(struct tms_rt_thread *t, const uint64_t *at, uint32_t count)
{
    bool more = false;

    for (uint32_t slot = FIRST_SLOT; slot < count; slot++) {
        see(t, slot, at[slot], &more);
    }
    return more;
}

/* A signal handler may set `seen_more` at any time. */
static void learn_wider(struct tms_rt_thread *t, struct tms_rt_snapshot *wider)
{
    if (widen_by(&t->wider, wider)) {
        t->seen_more = true;
    }
}

/* Orders the thread's events after those up to this number. */
static void catch_up(struct tms_rt_thread *t, uint64_t number)
{
    t->number = t->number < number ? number : t->number;
}

bool tms_rt_clock_acquire(struct tms_rt_thread *t, const struct tms_rt_clock *clock)
{
    bool more = false;

    assert(t->engine != NULL && clock->slot <= TMS_RT_SLOTS_MOST);
    if (clock->snapshot == NULL || clock->slot == t->engine->slot ||
        (clock->slot != 0 && t->seen[clock->slot] >= clock->number)) {
        return false;
    }
    if (clock->slot != 0) {
        see(t, clock->slot, clock->number, &more);
    }
    more |= see_all(t, clock->snapshot->at, clock->snapshot->count);
    assert(clock->slot == 0 || t->seen[clock->slot] >= clock->number);
    learn_wider(t, clock->snapshot->wider);
    if (more) {
        catch_up(t, clock->number);
        t->seen_more = true;
        tms_rt_start_epoch(t);
    }
    return more;
}

void tms_rt_clock_release(struct tms_rt_thread *t, struct tms_rt_clock *clock)
{
    struct tms_rt_snapshot *snapshot = snapshot_of(t);

    assert(snapshot == NULL || t->engine->slot < snapshot->count);
    if (clock->snapshot != snapshot) {
        drop_snapshot(clock->snapshot);
        clock->snapshot = share(snapshot);
    }
    clock->slot = t->engine->slot;
    clock->number = t->number;
    tms_rt_start_epoch(t);
}

/* Turns the clock into a sum: a vector of its own with all its times. False if memory is short. */
static bool make_sum(struct tms_rt_clock *clock, uint32_t count)
{
    struct tms_rt_snapshot *old = clock->snapshot;

    assert(old != NULL && clock->slot <= TMS_RT_SLOTS_MOST);
    if (clock->slot == 0 && is_alone(old) && old->capacity >= count) {
        old->count = old->count < count ? count : old->count;
        return true;
    }
    struct tms_rt_snapshot *sum = new_snapshot(old->count < count ? count : old->count);
    if (sum == NULL) {
        return false;
    }
    assert(clock->slot < sum->count);
    memcpy(sum->at, old->at, old->count * sizeof(*old->at));
    if (clock->slot != 0 && sum->at[clock->slot] < clock->number) {
        sum->at[clock->slot] = clock->number;
    }
    set_wider(sum, old->wider);
    drop_snapshot(old);
    clock->snapshot = sum;
    clock->slot = 0;
    return true;
}

void tms_rt_clock_add(struct tms_rt_thread *t, struct tms_rt_clock *clock)
{
    bool dominated = clock->snapshot == NULL || clock->slot == t->engine->slot ||
                     (clock->slot != 0 && t->seen[clock->slot] >= clock->number);

    if (dominated) {
        tms_rt_clock_release(t, clock);
        return;
    }
    if (make_sum(clock, slots())) {
        tms_rt_take_signals(t);
        add_all(clock->snapshot, t->seen, slots());
        widen_by(&clock->snapshot->wider, t->wider);
        clock->snapshot->at[t->engine->slot] = t->number;
        clock->number = clock->number < t->number ? t->number : clock->number;
    }
    tms_rt_start_epoch(t);
}

void tms_rt_clock_copy(struct tms_rt_clock *to, const struct tms_rt_clock *from)
{
    assert(to->snapshot == NULL);
    *to = *from;
    share(to->snapshot);
}

void tms_rt_clock_merge(struct tms_rt_clock *to, const struct tms_rt_clock *from)
{
    if (from->snapshot == NULL ||
        (to->snapshot == from->snapshot && to->slot == from->slot && to->number >= from->number)) {
        return;
    }
    if (to->snapshot == NULL) {
        tms_rt_clock_copy(to, from);
        return;
    }
    uint32_t count = from->snapshot->count > from->slot ? from->snapshot->count : from->slot + 1;
    if (make_sum(to, count)) {
        add_all(to->snapshot, from->snapshot->at, from->snapshot->count);
        widen_by(&to->snapshot->wider, from->snapshot->wider);
        if (from->slot != 0 && to->snapshot->at[from->slot] < from->number) {
            to->snapshot->at[from->slot] = from->number;
        }
        to->number = to->number < from->number ? from->number : to->number;
    }
}

void tms_rt_clock_drop(struct tms_rt_clock *clock)
{
    drop_snapshot(clock->snapshot);
    *clock = (struct tms_rt_clock){0};
}

/* ---- threads ------------------------------------------------------------------------------ */

/*
 * By slot, reserved at full size: a mapping made at a thread's start could take an address range
 * that the program has just unmapped and expects to get back.
 */
static uint64_t *seen_by_slot;

bool tms_rt_clocks_start(void)
{
    size_t slots_most = TMS_RT_SLOTS_MOST + 1;

    if (seen_by_slot == NULL) {
        seen_by_slot = tms_rt_map(slots_most * slots_most * sizeof(*seen_by_slot));
    }
    return seen_by_slot != NULL;
}

void tms_rt_clock_start(struct tms_rt_thread *t)
{
    assert(t->engine != NULL && seen_by_slot != NULL);
    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock));
    t->seen = &seen_by_slot[t->engine->slot * (TMS_RT_SLOTS_MOST + 1)];
    memset(t->seen, 0, (TMS_RT_SLOTS_MOST + 1) * sizeof(*t->seen));
    tms_rt_clock_acquire(t, &t->forked);
    tms_rt_start_epoch(t);
}

void tms_rt_clock_join(struct tms_rt_thread *t, const struct tms_rt_thread *child)
{
    bool more = false;

    assert(t != child && t->engine != NULL);
    learn_wider(t, child->wider);
    if (child->engine == NULL) {
        tms_rt_clock_acquire(t, &child->forked);
        return;
    }
    see(t, child->engine->slot, child->number, &more);
    see_all(t, child->seen, slots());
    t->seen_more = true;
    tms_rt_start_epoch(t);
}

/* By slot: the last event of its previous thread. */
static uint64_t ends[TMS_RT_SLOTS_MOST + 1];

void tms_rt_clock_end(const struct tms_rt_thread *t)
{
    assert(t->number >= ends[t->engine->slot] || !tms_rt_mode.checks);
    __atomic_store_n(&ends[t->engine->slot], t->number, __ATOMIC_RELAXED);
}

bool tms_rt_clock_knows_end(const struct tms_rt_clock *clock, uint32_t slot)
{
    const struct tms_rt_snapshot *snapshot = clock->snapshot;
    uint64_t known = snapshot != NULL && slot < snapshot->count ? snapshot->at[slot] : 0;

    assert(slot >= FIRST_SLOT && slot <= TMS_RT_SLOTS_MOST);
    known = clock->slot == slot && known < clock->number ? clock->number : known;
    return known >= __atomic_load_n(&ends[slot], __ATOMIC_RELAXED);
}

void tms_rt_clock_forget(struct tms_rt_thread *t)
{
    drop_snapshot(t->snapshot);
    drop_snapshot(t->wider);
    t->snapshot = t->wider = NULL;
    tms_rt_clock_drop(&t->forked);
    tms_rt_clock_drop(&t->fenced);
    tms_rt_clock_drop(&t->loaded);
}

/* ---- the wider order ---------------------------------------------------------------------- */

bool tms_rt_clock_knows(struct tms_rt_thread *t, uint32_t slot, uint64_t event)
{
    tms_rt_take_signals(t);
    return time_in(t->wider, slot) >= event;
}

const uint64_t *tms_rt_clock_wider(const struct tms_rt_thread *t, uint32_t *count)
{
    *count = t->wider->count;
    return t->wider->at;
}

/* Passes on the creator's clock, for a thread that has no event of its own yet. */
static void pass_on_fork(const struct tms_rt_clock *forked, struct tms_rt_snapshot **vector)
{
    const struct tms_rt_snapshot *snapshot = forked->snapshot;

    if (snapshot == NULL) {
        return;
    }
    uint32_t count = snapshot->count > forked->slot ? snapshot->count : forked->slot + 1;
    struct tms_rt_snapshot *sum = own_vector(vector, count);
    if (sum != NULL) {
        add_all(sum, snapshot->at, snapshot->count);
        uint64_t *time = &sum->at[forked->slot];
        *time = *time < forked->number ? forked->number : *time;
        widen_by(vector, snapshot->wider);
    }
}

void tms_rt_clock_hand_over(struct tms_rt_thread *t, struct tms_rt_snapshot **vector)
{
    if (t->wider != NULL) {
        widen(vector, t->wider->at, t->wider->count);
    }
    if (t->engine == NULL) {
        pass_on_fork(&t->forked, vector);
        return;
    }
    widen(vector, t->seen, slots());
    ++t->number;
    if (*vector != NULL && t->engine->slot < (*vector)->count) { /* it has grown, if it could */
        (*vector)->at[t->engine->slot] = t->number;
    }
    t->coalesce_epoch++;
    tms_rt_start_epoch(t);
}

/* Does the vector contain something new for the thread? */
static bool is_news(const struct tms_rt_thread *t, const struct tms_rt_snapshot *vector)
{
    for (uint32_t slot = FIRST_SLOT; slot < vector->count; slot++) {
        bool own = t->engine != NULL && slot == t->engine->slot;
        bool seen = t->engine != NULL && t->seen[slot] >= vector->at[slot];
        if (!own && !seen && time_in(t->wider, slot) < vector->at[slot]) {
            return true;
        }
    }
    return false;
}

/*
 * Takes a new number, because two releases with the same number must have released the same. It is
 * larger than those of the releases, so that a recording has them in this order.
 */
bool tms_rt_clock_take_over(struct tms_rt_thread *t, const struct tms_rt_snapshot *vector,
                            uint64_t number)
{
    if (vector == NULL || !is_news(t, vector)) {
        return false;
    }
    widen(&t->wider, vector->at, vector->count);
    catch_up(t, number);
    t->number++;
    t->coalesce_epoch++;
    t->seen_more = true;
    return true;
}

/* ---- clocks of memory --------------------------------------------------------------------- */

#define TABLE_LEAST 8u

struct entry {
    uintptr_t address; /* 0: free */
    struct tms_rt_clock clock;
};

/*
 * Open addressing; all addresses in 8 aligned bytes have the same hash. Not a base/hashtable.h,
 * which removes no single row.
 */
struct table {
    struct entry *entry;
    uint32_t size, used; /* size is a power of two, or 0 */
};

static struct table tables[TMS_RT_STRIPES];
static _Atomic size_t entries; /* in all tables */

static uint32_t start_of(const struct table *table, uintptr_t address)
{
    return (uint32_t)(tms_hash(address >> 3) >> 32) & (table->size - 1);
}

static struct entry *find_entry(const struct table *table, uintptr_t address)
{
    uint32_t at = start_of(table, address);

    assert(table->size > table->used && (table->size & (table->size - 1)) == 0);
    while (table->entry[at].address != 0 && table->entry[at].address != address) {
        at = (at + 1) & (table->size - 1);
    }
    return &table->entry[at];
}

static bool grow(struct table *table)
{
    struct table old = *table;

    if (2 * (old.used + 1) <= old.size) {
        return true;
    }
    table->size = old.size == 0 ? TABLE_LEAST : 2 * old.size;
    table->entry = tms_resize(&memory, NULL, 0, table->size, sizeof(*table->entry));
    if (table->entry == NULL) {
        *table = old;
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
        return false;
    }
    for (uint32_t i = 0; i < old.size; i++) {
        if (old.entry[i].address != 0) {
            *find_entry(table, old.entry[i].address) = old.entry[i];
        }
    }
    tms_release(&memory, old.entry, old.size, sizeof(*old.entry));
    return true;
}

struct tms_rt_clock *tms_rt_clock_find(uintptr_t address)
{
    const struct table *table = &tables[tms_rt_stripe(address)];
    struct entry *entry = table->size == 0 ? NULL : find_entry(table, address);

    assert(tms_rt_stripe_is_mine(tms_rt_stripe(address)));
    return entry == NULL || entry->address == 0 ? NULL : &entry->clock;
}

struct tms_rt_clock *tms_rt_clock_make(uintptr_t address)
{
    struct table *table = &tables[tms_rt_stripe(address)];
    struct entry *entry = grow(table) ? find_entry(table, address) : NULL;

    assert(tms_rt_stripe_is_mine(tms_rt_stripe(address)));
    if (entry != NULL && entry->address == 0) {
        entry->address = address;
        table->used++;
        atomic_fetch_add_explicit(&entries, 1, memory_order_relaxed);
        tms_rt_page_has_object(address);
    }
    return entry == NULL ? NULL : &entry->clock;
}

/* Removes an entry and moves later ones up, so that no search ends before them. */
static void remove_at(struct table *table, uint32_t at)
{
    uint32_t mask = table->size - 1, hole = at;

    assert(table->used > 0 && table->entry[at].address != 0);
    assert(tms_rt_stripe_is_mine(tms_rt_stripe(table->entry[at].address)));
    tms_rt_clock_drop(&table->entry[at].clock);
    for (uint32_t i = (at + 1) & mask; table->entry[i].address != 0; i = (i + 1) & mask) {
        uint32_t start = start_of(table, table->entry[i].address);
        if (((i - start) & mask) >= ((i - hole) & mask)) {
            table->entry[hole] = table->entry[i];
            hole = i;
        }
    }
    table->entry[hole] = (struct entry){0};
    table->used--;
    atomic_fetch_sub_explicit(&entries, 1, memory_order_relaxed);
}

/* Removes the clocks of 8 aligned bytes that are in the range. */
static void remove_word(uintptr_t word, uintptr_t address, uintptr_t end)
{
    struct table *table = &tables[tms_rt_stripe(word)];

    tms_rt_atomic_lock(word);
    uint32_t at = table->size == 0 ? 0 : start_of(table, word);
    while (table->size > 0 && table->entry[at].address != 0) {
        uintptr_t found = table->entry[at].address;
        if (found >> 3 == word >> 3 && found >= address && found < end) {
            remove_at(table, at);
        } else {
            at = (at + 1) & (table->size - 1);
        }
    }
    tms_rt_atomic_unlock(word);
}

static void remove_everywhere(uintptr_t address, uintptr_t end)
{
    for (uint32_t stripe = 0; stripe < TMS_RT_STRIPES; stripe++) {
        struct table *table = &tables[stripe];
        tms_rt_stripe_lock(stripe);
        for (uint32_t at = 0; at < table->size;) {
            uintptr_t found = table->entry[at].address;
            if (found != 0 && found >= address && found < end) {
                remove_at(table, at);
            } else {
                at++;
            }
        }
        tms_rt_stripe_unlock(stripe);
    }
}

void tms_rt_clocks_gone(uintptr_t address, uintptr_t end)
{
    size_t known = atomic_load_explicit(&entries, memory_order_relaxed);

    if (known == 0) {
        return;
    }
    if ((end - address) / 8 > known + TMS_RT_STRIPES) {
        remove_everywhere(address, end);
        return;
    }
    for (uintptr_t word = address & ~UINT64_C(7); word < end; word += 8) {
        remove_word(word, address, end);
    }
}

void tms_rt_clocks_restart(void)
{
    for (uint32_t stripe = 0; stripe < TMS_RT_STRIPES; stripe++) {
        struct table *table = &tables[stripe];
        if (table->size > 0) {
            memset(table->entry, 0, table->size * sizeof(*table->entry));
        }
        table->used = 0;
    }
    atomic_store(&entries, 0);
    memset(ends, 0, sizeof(ends));
}
