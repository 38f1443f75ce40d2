/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the contents of a trace; see trace_stats.h. */
#include "cli/trace_stats.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SEVERAL UINT32_MAX

/* ---- tables by id --------------------------------------------------------------------- */

static bool grow(struct tms_stats_table *table, uint32_t id)
{
    size_t capacity = table->capacity < 16 ? 16 : table->capacity * 2;

    capacity = capacity > id ? capacity : (size_t)id + 1;
    char *rows = reallocarray(table->rows, capacity, table->size);
    if (rows == NULL) {
        return false;
    }
    memset(rows + table->capacity * table->size, 0, (capacity - table->capacity) * table->size);
    table->rows = rows;
    table->capacity = capacity;
    return true;
}

/* The row of an id, made if new; NULL when memory is short. */
static void *row_at(struct tms_stats_table *table, uint32_t id)
{
    if (id >= table->capacity && !grow(table, id)) {
        return NULL;
    }
    table->most = id > table->most ? id : table->most;
    return (char *)table->rows + id * table->size;
}

const void *tms_stats_row(const struct tms_stats_table *table, uint32_t id)
{
    return id <= table->most && id < table->capacity ? (char *)table->rows + id * table->size
                                                     : NULL;
}

void tms_stats_init(struct tms_trace_stats *stats)
{
    *stats = (struct tms_trace_stats){
        .threads.size = sizeof(struct tms_stats_thread),
        .locks.size = sizeof(struct tms_stats_lock),
        .variables.size = sizeof(uint32_t),
        .labels.size = sizeof(uint64_t),
        .locations.size = sizeof(bool),
    };
}

void tms_stats_clear(struct tms_trace_stats *stats)
{
    free(stats->threads.rows);
    free(stats->locks.rows);
    free(stats->variables.rows);
    free(stats->labels.rows);
    free(stats->locations.rows);
    tms_hashtable_clear(&stats->numbers, NULL);
    tms_stats_init(stats);
}

/* ---- locations ------------------------------------------------------------------------ */

static bool is_known(const struct tms_trace_stats *stats, uint32_t id)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&stats->numbers, tms_hash(id), &walk);

    while (found != 0 && found != id) {
        found = tms_hash_next(&walk);
    }
    return found != 0;
}

static bool count_location(struct tms_trace_stats *stats, uint32_t id)
{
    stats->located++;
    if (id < TMS_LOCATION_NUMBER) {
        bool *seen = row_at(&stats->locations, id);
        if (seen != NULL) {
            *seen = true;
        }
        return seen != NULL;
    }
    return is_known(stats, id) || tms_hashtable_add(&stats->numbers, NULL, tms_hash(id), id);
}

/* ---- blocks --------------------------------------------------------------------------- */

static size_t bucket_of(uint64_t length)
{
    if (length < 2 * TMS_STATS_STEPS) {
        return (size_t)length;
    }
    unsigned shift = 59 - (unsigned)__builtin_clzll(length);
    return (size_t)shift * TMS_STATS_STEPS + (size_t)(length >> shift);
}

/* The smallest length in a bucket. */
static uint64_t bucket_start(size_t bucket)
{
    if (bucket < 2 * TMS_STATS_STEPS) {
        return bucket;
    }
    size_t shift = bucket / TMS_STATS_STEPS - 1;
    return (uint64_t)(bucket - shift * TMS_STATS_STEPS) << shift;
}

static void finish_transaction(struct tms_trace_stats *stats, uint64_t length)
{
    stats->shortest = stats->finished == 0 || length < stats->shortest ? length : stats->shortest;
    stats->longest = length > stats->longest ? length : stats->longest;
    stats->total += length;
    stats->finished++;
    assert(bucket_of(length) < TMS_STATS_BUCKETS);
    stats->lengths[bucket_of(length)]++;
}

static bool count_begin(struct tms_trace_stats *stats, struct tms_stats_thread *thread,
                        uint32_t label)
{
    if (thread->depth++ == 0) {
        thread->length = 0;
        thread->transactions++;
        stats->transactions++;
    } else {
        thread->length++;
    }
    thread->depth_most = thread->depth > thread->depth_most ? thread->depth : thread->depth_most;
    if (label == 0) {
        stats->unlabelled++;
        return true;
    }
    uint64_t *count = row_at(&stats->labels, label);
    if (count != NULL) {
        (*count)++;
    }
    return count != NULL;
}

static void count_end(struct tms_trace_stats *stats, struct tms_stats_thread *thread)
{
    if (thread->depth == 0) {
        return;
    }
    if (--thread->depth == 0) {
        finish_transaction(stats, thread->length);
    } else {
        thread->length++;
    }
}

static void count_inside(struct tms_trace_stats *stats, struct tms_stats_thread *thread)
{
    if (thread->depth > 0) {
        thread->length++;
    } else {
        thread->outside++;
        stats->outside++;
    }
}

/* ---- locks ---------------------------------------------------------------------------- */

static void take(struct tms_stats_lock *lock, struct tms_stats_thread *thread, uint32_t id)
{
    lock->handovers += lock->last != 0 && lock->last != id;
    lock->last = id;
    thread->acquires++;
    thread->held++;
    lock->deepest = thread->held > lock->deepest ? thread->held : lock->deepest;
}

static void count_acquire(struct tms_stats_lock *lock, struct tms_stats_thread *thread, uint32_t id)
{
    lock->acquires++;
    if (lock->holder == id) {
        lock->reentrant++;
        lock->depth++;
        thread->acquires++;
        return;
    }
    lock->holder = id;
    lock->depth = 1;
    take(lock, thread, id);
}

static void count_release(struct tms_stats_lock *lock, struct tms_stats_thread *thread, uint32_t id)
{
    if (lock->holder == id && --lock->depth == 0) {
        lock->holder = 0;
        thread->held -= thread->held > 0;
    }
}

static void count_shared_acquire(struct tms_stats_lock *lock, struct tms_stats_thread *thread,
                                 uint32_t id)
{
    lock->shared++;
    lock->readers++;
    take(lock, thread, id);
}

static void count_shared_release(struct tms_stats_lock *lock, struct tms_stats_thread *thread,
                                 uint32_t id)
{
    (void)id;
    lock->readers -= lock->readers > 0;
    thread->held -= thread->held > 0;
}

typedef void count_lock_event(struct tms_stats_lock *lock, struct tms_stats_thread *thread,
                              uint32_t id);

static count_lock_event *const lock_events[TMS_EVENT_COUNT] = {
    [TMS_EVENT_ACQUIRE] = count_acquire,
    [TMS_EVENT_RELEASE] = count_release,
    [TMS_EVENT_SHARED_ACQUIRE] = count_shared_acquire,
    [TMS_EVENT_SHARED_RELEASE] = count_shared_release,
};

/* ---- events --------------------------------------------------------------------------- */

static bool count_access(struct tms_trace_stats *stats, struct tms_stats_thread *thread,
                         uint32_t id, uint32_t variable)
{
    uint32_t *owner = row_at(&stats->variables, variable);

    thread->accesses++;
    if (owner != NULL) {
        *owner = *owner == 0 || *owner == id ? id : SEVERAL;
    }
    return owner != NULL;
}

static bool count_lock(struct tms_trace_stats *stats, struct tms_stats_thread *thread,
                       const struct tms_event *event)
{
    struct tms_stats_lock *lock = row_at(&stats->locks, event->target);

    if (lock != NULL) {
        lock->events++;
        lock_events[event->kind](lock, thread, event->thread);
    }
    return lock != NULL;
}

static bool count_child(struct tms_trace_stats *stats, uint32_t id)
{
    struct tms_stats_thread *child = row_at(&stats->threads, id);

    if (child != NULL) {
        child->seen = true;
    }
    return child != NULL;
}

static bool count_target(struct tms_trace_stats *stats, struct tms_stats_thread *thread,
                         const struct tms_event *event)
{
    switch (tms_event_class((enum tms_event_kind)event->kind)) {
    case TMS_CLASS_VARIABLE:
        return count_access(stats, thread, event->thread, event->target);
    case TMS_CLASS_LOCK:
        return count_lock(stats, thread, event);
    case TMS_CLASS_THREAD:
        return count_child(stats, event->target);
    default:
        return true;
    }
}

static bool count_event(struct tms_trace_stats *stats, const struct tms_event *event)
{
    struct tms_stats_thread *thread = row_at(&stats->threads, event->thread);

    if (thread == NULL || (event->location != 0 && !count_location(stats, event->location))) {
        return false;
    }
    stats->events++;
    stats->kinds[event->kind]++;
    stats->orders[event->order]++;
    thread->seen = true;
    thread->events++;
    if (event->kind == TMS_EVENT_BEGIN) {
        return count_begin(stats, thread, event->target);
    }
    if (event->kind == TMS_EVENT_END) {
        count_end(stats, thread);
        return true;
    }
    if (event->kind >= TMS_EVENT_FENCE &&
        event->kind <= TMS_EVENT_RECEIVE) { /* in no transaction */
        return true;
    }
    count_inside(stats, thread);
    return count_target(stats, thread, event);
}

bool tms_stats_add(struct tms_trace_stats *stats, const struct tms_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!count_event(stats, &events[i])) {
            return false;
        }
    }
    return true;
}

/* ---- sums ----------------------------------------------------------------------------- */

uint64_t tms_stats_threads(const struct tms_trace_stats *stats)
{
    uint64_t count = 0;

    for (uint32_t id = 1; id <= stats->threads.most; id++) {
        const struct tms_stats_thread *thread = tms_stats_row(&stats->threads, id);
        count += thread->seen;
    }
    return count;
}

uint64_t tms_stats_locks(const struct tms_trace_stats *stats)
{
    uint64_t count = 0;

    for (uint32_t id = 1; id <= stats->locks.most; id++) {
        count += ((const struct tms_stats_lock *)tms_stats_row(&stats->locks, id))->events > 0;
    }
    return count;
}

uint64_t tms_stats_labels(const struct tms_trace_stats *stats)
{
    uint64_t count = 0;

    for (uint32_t id = 1; id <= stats->labels.most; id++) {
        count += *(const uint64_t *)tms_stats_row(&stats->labels, id) > 0;
    }
    return count;
}

uint64_t tms_stats_locations(const struct tms_trace_stats *stats)
{
    uint64_t count = stats->numbers.count;

    for (uint32_t id = 1; id <= stats->locations.most; id++) {
        count += *(const bool *)tms_stats_row(&stats->locations, id);
    }
    return count;
}

uint64_t tms_stats_variables(const struct tms_trace_stats *stats, uint64_t *shared)
{
    uint64_t count = 0;

    *shared = 0;
    for (uint32_t id = 1; id <= stats->variables.most; id++) {
        uint32_t owner = *(const uint32_t *)tms_stats_row(&stats->variables, id);
        count += owner != 0;
        *shared += owner == SEVERAL;
    }
    return count;
}

uint64_t tms_stats_open_blocks(const struct tms_trace_stats *stats)
{
    uint64_t count = 0;

    for (uint32_t id = 1; id <= stats->threads.most; id++) {
        count += ((const struct tms_stats_thread *)tms_stats_row(&stats->threads, id))->depth;
    }
    return count;
}

uint64_t tms_stats_held_locks(const struct tms_trace_stats *stats)
{
    uint64_t count = 0;

    for (uint32_t id = 1; id <= stats->locks.most; id++) {
        const struct tms_stats_lock *lock = tms_stats_row(&stats->locks, id);
        count += lock->holder != 0 || lock->readers > 0;
    }
    return count;
}

uint64_t tms_stats_quantile(const struct tms_trace_stats *stats, double share)
{
    double wanted = (double)stats->finished * share;
    uint64_t passed = 0;

    for (size_t i = 0; i < TMS_STATS_BUCKETS; i++) {
        passed += stats->lengths[i];
        if (passed > 0 && (double)passed >= wanted) {
            return bucket_start(i);
        }
    }
    return 0;
}
