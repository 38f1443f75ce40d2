/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks, conditions, barriers and other objects, by address: their id in the engine, and the effect
 * of each operation. Semaphores and once controls are variables: their operations are accesses to
 * their memory. The table is not a base/hashtable.h, which removes no single row.
 */
#include "runtime/core/sync_objects.h"
#include "base/hash_mix.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/heap_blocks.h"
#include "runtime/core/judge_online.h"
#include "runtime/core/open_blocks.h"
#include "runtime/core/predict_online.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/sites.h"
#include "runtime/core/violations.h"
#include "runtime/core/window_learning.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/variable_ids.h"
#include "runtime/spool/spool_writer.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#define TABLE_LEAST 1024u
#define KINDS       (TMS_RT_ONCE + 1)

struct object {
    uintptr_t address; /* 0: free, 1: was used */
    uint16_t what;     /* enum tms_rt_sync */
    bool unowned;      /* threads release it for each other */
    uint32_t id;
};

/* The clocks of a lock: of its last exclusive holder, and of its shared holders since. */
struct lock_clocks {
    struct tms_rt_clock exclusive, shared;
};

static struct tms_memory memory = TMS_RT_MEMORY;
static struct {
    struct tms_rt_mutex lock;
    struct object *table;
    struct lock_clocks *clocks; /* by lock id: reserved at full size, so it never moves */
    size_t size, used;          /* size is a power of two */
    uint32_t ids[KINDS];
    uintptr_t *address; /* by id and kind, for reports: reserved at full size, so it never moves */
    _Atomic uint32_t age;     /* changes with each removal: entries in threads' caches are stale */
    _Atomic uint32_t unowned; /* counts locks that turned out to be unowned */
} objects;

#define GONE 1

static struct object *find(struct object *table, size_t size, uintptr_t address, uint32_t what)
{
    size_t at = (tms_hash(address >> 3) >> 20) + what;
    struct object *gone = NULL;

    assert(tms_rt_mutex_is_mine(&objects.lock));
    assert(address > GONE && (size & (size - 1)) == 0);
    for (;; at++) {
        struct object *object = &table[at & (size - 1)];
        if (object->address == 0) {
            return gone != NULL ? gone : object;
        }
        if (object->address == address && object->what == what) {
            return object;
        }
        if (object->address == GONE && gone == NULL) {
            gone = object;
        }
    }
}

static bool make_room(void)
{
    assert(objects.used * 2 <= objects.size);
    if ((objects.used + 1) * 2 <= objects.size) {
        return true;
    }
    size_t size = objects.size == 0 ? TABLE_LEAST : objects.size * 2;
    struct object *table = tms_resize(&memory, NULL, 0, size, sizeof(*table));
    if (table == NULL) {
        return false;
    }
    objects.used = 0;
    for (size_t i = 0; i < objects.size; i++) {
        const struct object *object = &objects.table[i];
        if (object->address > GONE) {
            *find(table, size, object->address, object->what) = *object;
            objects.used++;
        }
    }
    tms_release(&memory, objects.table, objects.size, sizeof(*table));
    objects.table = table;
    objects.size = size;
    return true;
}

static uint32_t new_object(struct object *object, uintptr_t address, uint32_t what)
{
    uint32_t id = ++objects.ids[what];

    assert(tms_rt_mutex_is_mine(&objects.lock) && what < KINDS);
    assert(object->address <= GONE);
    if (objects.address == NULL) {
        objects.address = tms_rt_map((size_t)TMS_RT_IDS_MOST * KINDS * sizeof(*objects.address));
    }
    if (objects.clocks == NULL) {
        objects.clocks = tms_rt_map(TMS_RT_IDS_MOST * sizeof(*objects.clocks));
    }
    if (objects.address == NULL || objects.clocks == NULL || id >= TMS_RT_IDS_MOST) {
        return 0;
    }
    objects.used += object->address == 0;
    *object = (struct object){.address = address, .what = (uint16_t)what, .id = id};
    objects.address[(size_t)id * KINDS + what] = address;
    tms_rt_page_has_object(address);
    return id;
}

/*
 * The first use of an object is ordered after its initialisation or the allocation of its memory,
 * and that thread has advanced the global counter. No watched event need have ordered the two:
 * pointers also travel through pipes.
 */
static void order_after_creation(struct tms_rt_thread *t)
{
    uint64_t now = tms_rt_now();

    if (tms_rt_mode.records_sync && t->number < now) {
        t->number = now;
        t->coalesce_epoch++;
    }
}

/*
 * Allocations are recorded only together with accesses: elsewhere the heap block of a lock is
 * recorded.
 */
static void record_heap_block(const struct tms_rt_thread *t, uintptr_t address)
{
    struct tms_rt_heap_block block;

    if (tms_rt_mode.records_sync && !tms_rt_mode.records && tms_rt_heap_find(address, &block)) {
        tms_rt_spool_block(&block, address, t->number);
    }
}

/* The id of an object, created if it is new; 0 if memory is short. */
static uint32_t look_up(struct tms_rt_thread *t, const void *object, enum tms_rt_sync what)
{
    uintptr_t address = (uintptr_t)object;
    uint32_t id = 0;
    bool is_new = false;

    tms_rt_mutex_lock(&objects.lock);
    if (make_room()) {
        struct object *found = find(objects.table, objects.size, address, what);
        is_new = found->address != address;
        if (is_new) {
            id = new_object(found, address, what);
            order_after_creation(t);
        } else {
            id = found->id;
        }
    }
    tms_rt_mutex_unlock(&objects.lock);
    if (is_new) {
        record_heap_block(t, address);
    }
    if (id == 0) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
    }
    return id;
}

/* The same, from the thread's cache if it is there. */
static uint32_t id_of(struct tms_rt_thread *t, const void *object, enum tms_rt_sync what)
{
    size_t at = tms_hash((uintptr_t)object >> 3) >> 58;
    struct tms_rt_object_entry *entry = &t->objects[at];
    uint32_t age = atomic_load_explicit(&objects.age, memory_order_acquire);

    if (entry->object != object || entry->what != what || entry->age != age || entry->id == 0) {
        *entry = (struct tms_rt_object_entry){object, what, age, look_up(t, object, what)};
    }
    return entry->id;
}

uintptr_t tms_rt_object_address(enum tms_rt_sync what, uint32_t id)
{
    assert(what < KINDS && id < TMS_RT_IDS_MOST);
    return objects.address == NULL ? 0 : objects.address[(size_t)id * KINDS + what];
}

static void drop_clocks(const struct object *object)
{
    assert(tms_rt_mutex_is_mine(&objects.lock) && object->address > GONE);
    assert(object->id > 0 && object->id < TMS_RT_IDS_MOST);
    if (object->what == TMS_RT_LOCK) {
        tms_rt_clock_drop(&objects.clocks[object->id].exclusive);
        tms_rt_clock_drop(&objects.clocks[object->id].shared);
    }
}

/* Removes an object and returns its id; 0: it was unknown. */
static uint32_t forget(uintptr_t address, uint32_t what)
{
    struct object *found = find(objects.table, objects.size, address, what);

    if (found->address != address) {
        return 0;
    }
    drop_clocks(found);
    found->address = GONE;
    atomic_fetch_add(&objects.age, 1);
    tms_rt_predict_gone(what, found->id);
    return found->id;
}

/* The number of the last operation on it, which may not come from the global counter. */
static uint64_t last_used(uint32_t what, uint32_t id)
{
    return what == TMS_RT_LOCK && id != 0 ? tms_rt_lock_used(id) : 0;
}

/* Recorded after all earlier operations on it. */
static void spool_gone(struct tms_rt_thread *t, uintptr_t address, uint32_t what, uint32_t id)
{
    assert(what < KINDS && id < TMS_RT_IDS_MOST);
    if (tms_rt_mode.checks && tms_rt_mode.records_sync) {
        tms_rt_next_global_number(t, last_used(what, id));
        t->events_seen--;
        struct tms_spool_event event = {
            .number = t->number, .target = address, .kind = TMS_EVENT_FREE, .what = (uint8_t)what};
        tms_rt_spool_without_blocks(t, &event);
    }
}

void tms_rt_sync_gone(enum tms_rt_sync what, const void *object)
{
    uint32_t id = 0;

    tms_rt_mutex_lock(&objects.lock);
    if (objects.size > 0) {
        id = forget((uintptr_t)object, what);
    }
    tms_rt_mutex_unlock(&objects.lock);
    if (what == TMS_RT_SEMAPHORE || what == TMS_RT_ONCE) {
        tms_rt_clear_history((uintptr_t)object, 1); /* the byte that represents it */
        return;
    }
    if (tms_rt_self != NULL) {
        spool_gone(tms_rt_self, (uintptr_t)object, what, id);
    }
}

/*
 * Forgets an object because its memory is cleared. The clearing is recorded after this, but only
 * together with accesses.
 */
static void forget_with_memory(struct tms_rt_thread *t, struct object *object)
{
    uint64_t used = last_used(object->what, object->id);

    if (!tms_rt_mode.records) {
        spool_gone(t, object->address, object->what, object->id);
    } else if (t->number < used) {
        t->number = used;
    }
    drop_clocks(object);
    object->address = GONE;
    atomic_fetch_add(&objects.age, 1);
    tms_rt_predict_gone(object->what, object->id);
}

void tms_rt_objects_gone(struct tms_rt_thread *t, uintptr_t address, size_t size)
{
    uintptr_t end = address + size;

    if (__atomic_load_n(&objects.used, __ATOMIC_RELAXED) == 0) {
        return;
    }
    tms_rt_mutex_lock(&objects.lock);
    if (size / 4 < objects.size) { /* whichever is shorter: by address, or by object */
        for (uintptr_t at = (address + 3) & ~UINT64_C(3); at < end; at += 4) {
            for (uint32_t what = 0; what < KINDS; what++) {
                struct object *found = find(objects.table, objects.size, at, what);
                if (found->address == at) {
                    forget_with_memory(t, found);
                }
            }
        }
    } else {
        for (size_t i = 0; i < objects.size; i++) {
            if (objects.table[i].address >= address && objects.table[i].address < end) {
                forget_with_memory(t, &objects.table[i]);
            }
        }
    }
    tms_rt_mutex_unlock(&objects.lock);
}

void tms_rt_objects_restart(void)
{
    tms_rt_mutex_restart(&objects.lock);
    atomic_store(&objects.unowned, 0);
    if (objects.size > 0) {
        memset(objects.table, 0, objects.size * sizeof(*objects.table));
    }
    objects.used = 0;
    atomic_fetch_add(&objects.age, 1);
    memset(objects.ids, 0, sizeof(objects.ids));
    if (objects.clocks != NULL) {
        madvise(objects.clocks, TMS_RT_IDS_MOST * sizeof(*objects.clocks), MADV_DONTNEED);
    }
}

/* ---- events ----------------------------------------------------------------------------- */

/* Returns the id of the object; 0: the engine has stopped. */
static uint32_t operate(struct tms_rt_thread *t, uint8_t kind, uint8_t event, enum tms_rt_sync what,
                        const void *object, uintptr_t pc)
{
    struct tms_op op = {.target = id_of(t, object, what),
                        .location = tms_rt_site(t, pc),
                        .event_kind = event,
                        .kind = kind,
                        .flags = tms_rt_in_block(t) ? TMS_OP_IN_BLOCK : 0};

    if (!tms_rt_mode.checks) {
        return 0;
    }
    tms_rt_split_due(t, op.location);
    if (!tms_rt_lock_fast_path(t, &op)) {
        tms_rt_operate(t, &op, 0);
    }
    tms_rt_predict(t, &op);
    if (tms_rt_mode.records_sync) {
        struct tms_spool_event record = {.number = op.event,
                                         .target = (uintptr_t)object,
                                         .extra = TMS_RT_ACTIVATION(),
                                         .site = op.location,
                                         .kind = event,
                                         .what = (uint8_t)what};
        tms_rt_spool_event(t, &record);
    }
    return tms_rt_mode.checks && t->engine != NULL ? op.target : 0;
}

static struct tms_rt_held *held_by(struct tms_rt_thread *t, const void *lock)
{
    for (uint32_t i = t->held_count; i-- > 0;) {
        if (t->held[i].lock == lock) {
            return &t->held[i];
        }
    }
    return NULL;
}

static void hold(struct tms_rt_thread *t, const void *lock, uint32_t depth, bool shared)
{
    size_t capacity = t->held_capacity;

    assert(depth > 0 && held_by(t, lock) == NULL);
    if (!TMS_RESERVE(&memory, &t->held, &capacity, t->held_count + 1u, 8)) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
        return;
    }
    t->held_capacity = (uint32_t)capacity;
    t->held[t->held_count++] =
        (struct tms_rt_held){.lock = lock, .since = t->number, .depth = depth, .shared = shared};
    if (tms_rt_mode.scheduled) {
        tms_rt_steer_lock(t, lock, shared, true);
    }
}

static void drop(struct tms_rt_thread *t, const struct tms_rt_held *held)
{
    size_t at = (size_t)(held - t->held);

    assert(at < t->held_count);
    if (tms_rt_mode.scheduled) {
        tms_rt_steer_lock(t, held->lock, held->shared, false);
    }
    if (at < --t->held_count) {
        memmove(&t->held[at], &t->held[at + 1], (t->held_count - at) * sizeof(*t->held));
    }
}

/* ---- locks ------------------------------------------------------------------------------- */

/*
 * The holder of a lock has exclusive access to its clocks, except for the sum of its shared
 * holders. (For a lock without an owner `alone` is false.)
 */
static void take(struct tms_rt_thread *t, const void *lock, uintptr_t pc, bool shared, bool alone)
{
    uint32_t id =
        operate(t, shared ? TMS_OP_SHARED_ACQUIRE : TMS_OP_ACQUIRE,
                shared ? TMS_EVENT_SHARED_ACQUIRE : TMS_EVENT_ACQUIRE, TMS_RT_LOCK, lock, pc);
    const struct lock_clocks *clocks = &objects.clocks[id];

    if (id == 0) {
        return;
    }
    assert(id < TMS_RT_IDS_MOST && t->engine != NULL);
    if (alone) {
        tms_rt_judge_acquired(t, lock, tms_rt_site(t, pc));
    } else {
        tms_rt_judge_updated(t, (uintptr_t)lock);
        tms_rt_atomic_lock((uintptr_t)lock);
    }
    tms_rt_clock_acquire(t, &clocks->exclusive);
    if (!shared) {
        tms_rt_clock_acquire(t, &clocks->shared);
    }
    if (!alone) {
        tms_rt_atomic_unlock((uintptr_t)lock);
    }
}

static void give(struct tms_rt_thread *t, const void *lock, uintptr_t pc, bool shared, bool alone)
{
    uint32_t id =
        operate(t, shared ? TMS_OP_SHARED_RELEASE : TMS_OP_RELEASE,
                shared ? TMS_EVENT_SHARED_RELEASE : TMS_EVENT_RELEASE, TMS_RT_LOCK, lock, pc);
    struct lock_clocks *clocks = &objects.clocks[id];

    if (id == 0) {
        return;
    }
    if (alone) {
        tms_rt_judge_released(t, lock, tms_rt_site(t, pc), shared);
    } else {
        tms_rt_judge_updated(t, (uintptr_t)lock);
    }
    if (shared || !alone) {
        tms_rt_atomic_lock((uintptr_t)lock);
        tms_rt_clock_add(t, shared ? &clocks->shared : &clocks->exclusive);
        tms_rt_atomic_unlock((uintptr_t)lock);
    } else {
        tms_rt_clock_release(t, &clocks->exclusive);
        tms_rt_clock_drop(&clocks->shared);
    }
}

/*
 * A lock that one thread takes and another releases is in effect a semaphore. For the engine that
 * makes no difference: each operation on an exclusive lock is ordered after the previous one. But
 * from then on it has no holder, and a recording has updates instead of its operations, because in
 * a trace a thread may only release locks that it has acquired.
 */
static bool is_unowned(const void *lock)
{
    if (atomic_load_explicit(&objects.unowned, memory_order_acquire) == 0) {
        return false;
    }
    tms_rt_mutex_lock(&objects.lock);
    const struct object *found = find(objects.table, objects.size, (uintptr_t)lock, TMS_RT_LOCK);
    bool unowned = found->address == (uintptr_t)lock && found->unowned;
    tms_rt_mutex_unlock(&objects.lock);
    return unowned;
}

static void spool_unowned(const void *lock)
{
    struct tms_spool_unowned *record = tms_rt_spool_record(TMS_SPOOL_UNOWNED, sizeof(*record));

    if (record != NULL) {
        record->address = (uintptr_t)lock;
    }
    tms_rt_warn("a lock was released by a thread that had not taken it; such locks are treated as "
                "semaphores");
}

static void make_unowned(struct tms_rt_thread *t, const void *lock)
{
    uint32_t id = id_of(t, lock, TMS_RT_LOCK);

    if (id == 0) {
        return;
    }
    tms_rt_lock_is_shared(id); /* its holder no longer has exclusive access */
    tms_rt_predict_unowned(id);
    tms_rt_mutex_lock(&objects.lock);
    struct object *found = find(objects.table, objects.size, (uintptr_t)lock, TMS_RT_LOCK);
    found->unowned = found->address == (uintptr_t)lock;
    tms_rt_mutex_unlock(&objects.lock);
    atomic_fetch_add(&objects.unowned, 1);
    spool_unowned(lock);
}

/* Drops locks that other threads have released for this thread. */
static void drop_unowned(struct tms_rt_thread *t, uintptr_t pc)
{
    uint32_t now = atomic_load_explicit(&objects.unowned, memory_order_acquire);

    assert(now >= t->unowned_seen);
    if (now == t->unowned_seen) {
        return;
    }
    t->unowned_seen = now;
    for (uint32_t i = t->held_count; i-- > 0;) {
        if (is_unowned(t->held[i].lock)) {
            tms_rt_predict_drop(t, id_of(t, t->held[i].lock, TMS_RT_LOCK));
            drop(t, &t->held[i]);
            tms_rt_section_ends(t, pc);
        }
    }
}

static void acquired(struct tms_rt_thread *t, const void *lock, uintptr_t pc, bool shared)
{
    if (!tms_rt_mode.checks) {
        return;
    }
    drop_unowned(t, pc);
    struct tms_rt_held *held = held_by(t, lock);
    if (held != NULL) {
        assert(held->depth > 0 && held->depth < UINT32_MAX);
        held->depth++;
        return;
    }
    if (is_unowned(lock)) {
        take(t, lock, pc, shared, false);
        return;
    }
    if (!shared) {
        tms_rt_section_begins(t, lock, pc);
    }
    hold(t, lock, 1, shared);
    take(t, lock, pc, shared, true);
}

/* The same, and notes the site for windows, and the acquire if accesses are not watched. */
static __attribute__((noinline)) void acquired_at_point(struct tms_rt_thread *t, const void *lock,
                                                        uintptr_t pc, bool shared)
{
    acquired(t, lock, pc, shared);
    struct tms_rt_held *held = held_by(t, lock);
    if (held != NULL && held->depth == 1) {
        held->site = tms_rt_site(t, pc);
        if (!TMS_RT_SEES_MEMORY || !tms_rt_mode.memory) {
            tms_rt_note_acquire(t, lock, held->site);
        }
    }
    tms_rt_point_inside(t, TMS_RT_AT_ACQUIRED, lock, pc);
}

void tms_rt_acquired(struct tms_rt_thread *t, const void *lock, uintptr_t pc)
{
    (tms_rt_mode.scheduled ? acquired_at_point : acquired)(t, lock, pc, false);
}

void tms_rt_acquired_shared(struct tms_rt_thread *t, const void *lock, uintptr_t pc)
{
    (tms_rt_mode.scheduled ? acquired_at_point : acquired)(t, lock, pc, true);
}

void tms_rt_releasing_any(struct tms_rt_thread *t, const void *lock, uintptr_t pc)
{
    if (!tms_rt_mode.checks) {
        return;
    }
    drop_unowned(t, pc);
    struct tms_rt_held *held = held_by(t, lock);
    if (held == NULL) {
        if (!is_unowned(lock)) {
            make_unowned(t, lock);
        }
        give(t, lock, pc, false, false);
        return;
    }
    assert(held->depth > 0);
    if (--held->depth > 0) {
        return;
    }
    bool shared = held->shared, inherited = held->inherited;
    uint64_t since = held->since;
    drop(t, held);
    if (!inherited) {
        give(t, lock, pc, shared, true);
    }
    tms_rt_function_releases(t, since);
    tms_rt_section_ends(t, pc);
}

void tms_rt_releasing(struct tms_rt_thread *t, const void *lock, uintptr_t pc)
{
    tms_rt_point(t, TMS_RT_AT_RELEASE, lock, pc);
    tms_rt_releasing_any(t, lock, pc);
}

void tms_rt_releasing_own(struct tms_rt_thread *t, const void *lock, uintptr_t pc)
{
    if (held_by(t, lock) != NULL) {
        tms_rt_releasing(t, lock, pc);
    }
}

void tms_rt_releasing_shared(struct tms_rt_thread *t, const void *lock, uintptr_t pc)
{
    tms_rt_point(t, TMS_RT_AT_RELEASE, lock, pc);
    tms_rt_releasing_any(t, lock, pc);
}

void tms_rt_drop_locks(struct tms_rt_thread *t)
{
    drop_unowned(t, 0);
    while (tms_rt_mode.checks && t->held_count > 0) {
        struct tms_rt_held *last = &t->held[t->held_count - 1];
        assert(last->lock != NULL);
        last->depth = 1;
        tms_rt_releasing_any(t, last->lock, 0);
    }
}

unsigned tms_rt_wait_begins(struct tms_rt_thread *t, const void *condition, const void *lock,
                            uintptr_t pc)
{
    drop_unowned(t, pc);
    struct tms_rt_held *held = held_by(t, lock);
    unsigned depth = held != NULL ? held->depth : is_unowned(lock);

    if (!tms_rt_mode.checks) {
        return depth;
    }
    if (held != NULL) {
        held->depth = 1;
    }
    if (depth > 0) {
        tms_rt_releasing_any(t, lock, pc);
    }
    tms_rt_functions_wait(t);
    tms_rt_split(t, TMS_SPLIT_WAIT, pc);
    operate(t, TMS_OP_STEP, TMS_EVENT_WAIT, TMS_RT_CONDITION, condition, pc);
    tms_rt_judge_waits(t);
    return depth;
}

void tms_rt_wait_ends(struct tms_rt_thread *t, const void *lock, unsigned depth, uintptr_t pc)
{
    if (depth > 0) {
        acquired(t, lock, pc, false);
        struct tms_rt_held *held = held_by(t, lock);
        if (held != NULL) {
            held->depth = depth;
        }
    }
}

void tms_rt_arriving(struct tms_rt_thread *t, const void *barrier, uintptr_t pc)
{
    tms_rt_functions_wait(t);
    if (operate(t, TMS_OP_ARRIVE, TMS_EVENT_ARRIVE, TMS_RT_BARRIER, barrier, pc) != 0) {
        tms_rt_judge_synchronised(t);
        tms_rt_judge_rendezvous(t);
        tms_rt_atomic_lock((uintptr_t)barrier);
        struct tms_rt_clock *clock = tms_rt_clock_make((uintptr_t)barrier);
        if (clock != NULL) {
            tms_rt_clock_add(t, clock);
        }
        tms_rt_atomic_unlock((uintptr_t)barrier);
        tms_rt_function_releases(t, 0);
    }
}

void tms_rt_departed(struct tms_rt_thread *t, const void *barrier, uintptr_t pc)
{
    tms_rt_split(t, TMS_SPLIT_BARRIER, pc);
    if (operate(t, TMS_OP_DEPART, TMS_EVENT_DEPART, TMS_RT_BARRIER, barrier, pc) != 0) {
        tms_rt_judge_rendezvous(t);
        tms_rt_atomic_lock((uintptr_t)barrier);
        const struct tms_rt_clock *clock = tms_rt_clock_find((uintptr_t)barrier);
        if (clock != NULL) {
            tms_rt_clock_acquire(t, clock);
        }
        tms_rt_atomic_unlock((uintptr_t)barrier);
    }
}

/* Records order where accesses are not recorded; `kind` and `what` describe it. */
static void order(struct tms_rt_thread *t, uint8_t kind, uint8_t what, const void *object,
                  uintptr_t pc)
{
    if ((!tms_rt_mode.records_sync && !tms_rt_predicts) || tms_rt_mode.records ||
        !tms_rt_mode.checks) {
        return;
    }
    enum tms_rt_sync sync = what % TMS_SPOOL_ORDER_UNIT; /* without the memory order */
    tms_rt_advance_clock(t);
    tms_rt_predict_pass(t, sync, id_of(t, object, sync));
    if (!tms_rt_mode.records_sync) {
        return;
    }
    struct tms_spool_event event = {.number = t->number,
                                    .target = (uintptr_t)object,
                                    .site = tms_rt_site(t, pc),
                                    .kind = kind,
                                    .size = 1,
                                    .what = what};
    tms_rt_spool_event(t, &event);
}

_Static_assert(TMS_SPOOL_ON_SEMAPHORE == (TMS_SPOOL_RETRY | TMS_RT_SEMAPHORE),
               "see spool_format.h");
_Static_assert(TMS_SPOOL_ON_ONCE == (TMS_SPOOL_RETRY | TMS_RT_ONCE), "see spool_format.h");

/* An atomic access to the byte that represents the object. */
static void access(struct tms_rt_thread *t, const void *object, enum tms_rt_access access,
                   enum tms_spool_mark mark, uintptr_t pc)
{
    assert(t->mark == 0);
    t->mark = tms_rt_mode.records || t->judge != NULL ? (uint8_t)mark : 0;
    tms_rt_atomic_lock((uintptr_t)object);
    tms_rt_access_atomic(t, (uintptr_t)object, 1, access, __ATOMIC_SEQ_CST, pc);
    tms_rt_atomic_unlock((uintptr_t)object);
    t->mark = 0;
}

void tms_rt_semaphore(struct tms_rt_thread *t, const void *semaphore, uintptr_t pc)
{
    tms_rt_point(t, TMS_RT_AT_OTHER, semaphore, pc);
    access(t, semaphore, TMS_RT_UPDATE, TMS_SPOOL_ON_SEMAPHORE, pc);
    order(t, TMS_EVENT_UPDATE, TMS_RT_SEMAPHORE, semaphore, pc);
}

void tms_rt_ordered(struct tms_rt_thread *t, const void *object, uintptr_t pc)
{
    tms_rt_point(t, TMS_RT_AT_OTHER, object, pc);
    access(t, object, TMS_RT_UPDATE, 0, pc);
    order(t, TMS_EVENT_UPDATE, TMS_RT_SEMAPHORE, object, pc);
}

void tms_rt_once_done(struct tms_rt_thread *t, const void *once, uintptr_t pc)
{
    access(t, once, TMS_RT_WRITE, TMS_SPOOL_ON_ONCE, pc);
    order(t, TMS_EVENT_ATOMIC_WRITE, tms_spool_what(TMS_ORDER_RELEASE, TMS_RT_ONCE), once, pc);
}

void tms_rt_once_seen(struct tms_rt_thread *t, const void *once, uintptr_t pc)
{
    access(t, once, TMS_RT_READ, TMS_SPOOL_ON_ONCE, pc);
    order(t, TMS_EVENT_ATOMIC_READ, tms_spool_what(TMS_ORDER_ACQUIRE, TMS_RT_ONCE), once, pc);
}

void tms_rt_name_object(const void *object, const char *name)
{
    size_t length = strlen(name) + 1;
    struct tms_spool_name *record = tms_rt_spool_record(TMS_SPOOL_NAME, sizeof(*record) + length);

    if (record != NULL) {
        record->address = (uintptr_t)object;
        memcpy(record->text, name, length);
    }
}
