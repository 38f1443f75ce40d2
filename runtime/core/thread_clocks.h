/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happens-before: vector clocks of threads, and the clocks that synchronisation objects carry from
 * one thread to the next.
 *
 * Time is the event number of a thread, so an access with number e of the thread in slot u happens
 * before what thread t does now iff t->seen[u] >= e. Only release and acquire move clocks: locks,
 * fork and join, barriers, atomics by their memory order. Relaxed atomics do so only together with
 * fences, and the edges of data races never do: verdicts would be wrong (docs/internals/runtime.md,
 * "Exactness").
 *
 * Representation. A thread's clock is the array `seen`. An object holds the clock of the last
 * thread that released it as a snapshot: an immutable copy of `seen`, shared by all objects that
 * the thread releases until it learns something new, and reference counted. So a release costs two
 * stores as long as nothing new came in, and an acquire costs one comparison if the thread has seen
 * that release already; otherwise both are linear in the number of threads.
 *
 * A clock into which several threads have released without an acquire between (shared locks,
 * barriers, read-modify-writes) is a sum: a vector of its own, slot 0.
 *
 * The wider order. What the kernel passes from thread to thread (kernel_channels.h) orders accesses
 * too, so such accesses do not race. But it is no conflict: verdicts must not depend on it, so it
 * is not in `seen`. It is in a second vector of the thread, `wider`, which only races and
 * predictions use: an access happens before, in this order, if it does so in either. The order is
 * transitive, so `wider` is passed on with `seen`: each snapshot has a reference to that of its
 * thread. As long as nothing came through the kernel it is NULL everywhere, and costs one test
 * where a clock is joined.
 *
 * Locking: an object's clock is only touched by the thread that holds the object, or under the lock
 * that protects the clock (the stripe of an atomic, the engine's lock). `seen` is its thread's.
 */
#ifndef TMS_RUNTIME_THREAD_CLOCKS_H
#define TMS_RUNTIME_THREAD_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct tms_rt_thread;
struct tms_rt_snapshot;

/* A clock. All zero: nothing was released. */
struct tms_rt_clock {
    struct tms_rt_snapshot *snapshot;
    uint64_t number; /* of the release: no time in the clock is larger */
    uint32_t slot;   /* of the last thread that released; 0: a sum of several */
};

/* Orders the thread after all releases in the clock. True if that added something. */
bool tms_rt_clock_acquire(struct tms_rt_thread *thread, const struct tms_rt_clock *clock);

/*
 * Releases what the thread did up to its last event: replaces the contents of the clock (_release),
 * or joins them (_add). Ends the thread's epoch.
 */
void tms_rt_clock_release(struct tms_rt_thread *thread, struct tms_rt_clock *clock);
void tms_rt_clock_add(struct tms_rt_thread *thread, struct tms_rt_clock *clock);

/* Adds a reference; the target must be empty. */
void tms_rt_clock_copy(struct tms_rt_clock *to, const struct tms_rt_clock *from);
/* Joins `from` into `to`. */
void tms_rt_clock_merge(struct tms_rt_clock *to, const struct tms_rt_clock *from);
void tms_rt_clock_drop(struct tms_rt_clock *clock);

bool tms_rt_clocks_start(void);
/* The thread has got its slot: it acquires what its creator had released at the fork. */
void tms_rt_clock_start(struct tms_rt_thread *thread);
/* Orders the thread after everything that the joined thread did. */
void tms_rt_clock_join(struct tms_rt_thread *thread, const struct tms_rt_thread *child);
/* The thread has ended; the next thread in its slot should be ordered after it. */
void tms_rt_clock_end(const struct tms_rt_thread *thread);
bool tms_rt_clock_knows_end(const struct tms_rt_clock *clock, uint32_t slot);
/* Releases the thread's clocks, because its descriptor will be reused. */
void tms_rt_clock_forget(struct tms_rt_thread *thread);

/* ---- the wider order ---------------------------------------------------------------------- */

/*
 * _hand_over joins what the thread knows in either order, and its own events, into the vector,
 * which starts as NULL, and ends its epoch. _take_over joins the vector into the thread. The vector
 * belongs to the caller alone, or is locked.
 */
void tms_rt_clock_hand_over(struct tms_rt_thread *thread, struct tms_rt_snapshot **vector);
/* `number`: of the last release. True if that added something. */
bool tms_rt_clock_take_over(struct tms_rt_thread *thread, const struct tms_rt_snapshot *vector,
                            uint64_t number);
/* Is the event ordered before the thread's next one, through the kernel? */
bool tms_rt_clock_knows(struct tms_rt_thread *thread, uint32_t slot, uint64_t event);
/* The times of `wider` by slot; NULL if there are none. */
const uint64_t *tms_rt_clock_wider(const struct tms_rt_thread *thread, uint32_t *count);

/* ---- clocks of memory: atomics, semaphores, once controls --------------------------------- */

/*
 * The clock of an address, under the stripe of that address (tms_rt_atomic_lock). _find: NULL if
 * nothing was released there; _make: NULL when there is no memory for it.
 */
struct tms_rt_clock *tms_rt_clock_find(uintptr_t address);
struct tms_rt_clock *tms_rt_clock_make(uintptr_t address);
/* The memory is reused: drops the clocks in it. Takes the stripes. */
void tms_rt_clocks_gone(uintptr_t address, uintptr_t end);

/* In the child of a fork: resets all clocks. */
void tms_rt_clocks_restart(void);

#endif
