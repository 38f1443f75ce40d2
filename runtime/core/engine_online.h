/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frontier engine inside the program (engine_online.c): event numbers, edges and operations,
 * under one lock.
 */
#ifndef TMS_RUNTIME_ENGINE_ONLINE_H
#define TMS_RUNTIME_ENGINE_ONLINE_H

#include "runtime/core/thread.h"

/* The engine's lock. The comments below call it the lock. */
extern struct tms_rt_mutex tms_rt_engine_lock;
extern struct tms_frontier tms_rt_engine;

/* Gives the thread its slot; called with its first event. */
bool tms_rt_first(struct tms_rt_thread *thread, struct tms_op *op);
/* The next number, for an event without an edge from another thread. */
static inline uint64_t tms_rt_next_number(struct tms_rt_thread *thread)
{
    thread->events_seen++;
    return ++thread->number;
}
/*
 * The next number for an event that is ordered after `source`: larger than every number given out
 * under the lock so far. The caller holds the lock.
 */
uint64_t tms_rt_next_global_number(struct tms_rt_thread *thread, uint64_t source);
/* From now on several threads may operate on this lock of the program at a time. */
void tms_rt_lock_is_shared(uint32_t id);
/* The number of the last operation on a lock, if it was an exclusive one. */
uint64_t tms_rt_lock_used(uint32_t id);
/* The latest number given out under the lock, and by tms_rt_advance_clock. */
uint64_t tms_rt_now(void);
void tms_rt_yield(void);
/* Memory is reused: orders later accesses to it after earlier ones. */
void tms_rt_advance_clock(struct tms_rt_thread *thread);
/* Copies the engine's stretch into the thread's filter; called whenever it may have changed. */
void tms_rt_refresh_filter(struct tms_rt_thread *thread);

/* The thread in a slot; NULL if it has ended. */
#define TMS_RT_SLOTS_MOST 1024u
extern struct tms_rt_thread *tms_rt_by_slot[TMS_RT_SLOTS_MOST + 1];
static inline struct tms_rt_thread *tms_rt_thread_of_slot(uint32_t slot)
{
    return __atomic_load_n(&tms_rt_by_slot[slot], __ATOMIC_ACQUIRE);
}
/*
 * Is an edge from this moment irrelevant, because no running transaction reaches it? Needs no lock:
 * later events can't reach a moment of the past.
 */
bool tms_rt_edge_is_irrelevant(uint64_t moment);
/* The number of an event whose incoming edges, from moments up to `source`, are irrelevant. */
static inline uint64_t tms_rt_next_number_after(struct tms_rt_thread *thread, uint64_t source)
{
    thread->number = source > thread->number ? source : thread->number;
    return tms_rt_next_number(thread);
}
/* The thread with this index, as long as the engine knows it. The caller holds the lock. */
struct tms_rt_thread *tms_rt_thread_of_index(uint32_t index);
/* The thread has ended: frees its slot, unless another thread has it already. */
void tms_rt_forget_slot(struct tms_rt_thread *thread);
/* Makes room in the thread's log, which is full. */
void tms_rt_rotate_log(struct tms_rt_thread *thread);
/* The next entry of the thread's log, for witnesses. It counts once it is filled in and _noted. */
static inline struct tms_op *tms_rt_next_note(struct tms_rt_thread *thread)
{
    struct tms_frontier_log *log = &thread->engine->log;

    if (__builtin_expect(log->next == log->stop, 0)) {
        tms_rt_rotate_log(thread);
    }
    return log->next;
}
static inline void tms_rt_noted(struct tms_rt_thread *thread)
{
    atomic_signal_fence(memory_order_release);
    thread->engine->log.next++;
}
/*
 * Copies field by field, which only atomics guarantee: a copy by wider loads would stall on
 * store-to-load forwarding from the narrow stores that have just filled the op in.
 */
static inline void tms_rt_note(struct tms_rt_thread *thread, const struct tms_op *op)
{
    struct tms_op *note = tms_rt_next_note(thread);

#define COPY(field) __atomic_store_n(&note->field, op->field, __ATOMIC_RELAXED)
    COPY(event);
    COPY(thread);
    COPY(target);
    COPY(location);
    COPY(event_kind);
    COPY(kind);
    COPY(flags);
    COPY(spared);
#undef COPY
    tms_rt_noted(thread);
}
/*
 * Adds an edge that is not implied, and remembers it if it closed a cycle. The caller holds the
 * lock.
 */
void tms_rt_add_edge(struct tms_rt_thread *thread, const struct tms_op *op,
                     struct tms_frontier_source source);
/* Does an edge from this moment into the thread add nothing? */
static inline bool tms_rt_edge_is_redundant(const struct tms_rt_thread *thread, uint64_t moment)
{
    const struct tms_rt_refused *refused = &thread->refused[moment_slot(moment) % TMS_RT_REFUSED];

    return implied(thread->engine, moment) ||
           (refused->begin == thread->running_from && refused->begin != 0 &&
            refused->first <= moment && moment <= refused->last);
}

/* Ids of locks and barriers, whose cells in the engine never move. */
#define TMS_RT_IDS_MOST (1u << 22)
/*
 * The fast path of lock operations: the lock's cell belongs to this thread, and incoming edges, if
 * any, are irrelevant. False in any other case; then nothing has happened.
 */
bool tms_rt_lock_fast_path(struct tms_rt_thread *thread, struct tms_op *op);
/* Passes an operation without a cell in shadow memory to the engine. Takes the lock. */
void tms_rt_operate(struct tms_rt_thread *thread, struct tms_op *op, uint64_t source);
/* Releases what the engine keeps of the threads with an index in [from, to), which have ended. */
#define TMS_RT_THREADS_EVER (1u << 26)
void tms_rt_forget_threads(uint32_t from, uint32_t to);
/* Resets the engine; false if memory is short. */
bool tms_rt_engine_start(bool blame);
/* Reports the violations of transactions that still run, and updates the counts. */
void tms_rt_engine_settle(void);
/* Updates the counts only. */
void tms_rt_engine_count(void);
/* Records that something was lost (enum tms_spool_loss) and stops checking. */
void tms_rt_record_loss(unsigned loss);

#endif
