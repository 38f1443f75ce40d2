/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happens-before: vector clocks of threads, and the clocks that synchronisation objects carry from
 * one thread to the next.
 *
 * Time is the event number of a thread, so an access with number e of the thread in slot u happens
 * before what thread t does now iff t->seen[u] >= e. Only release and acquire move clocks: locks,
 * fork and join, barriers, atomics by their memory order. Relaxed atomics do not, and neither do
 * the edges of data races (DESIGN: wrong verdicts if they do).
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

/* What an object carries. All zero: nothing. */
struct tms_rt_clock {
    struct tms_rt_snapshot *snapshot;
    uint64_t number; /* of the release: everything in the clock has a number up to this */
    uint32_t slot;   /* of the thread that released last; 0: a sum of several */
};

/* The thread comes after all releases in the clock. True if that is new to it. */
bool tms_rt_clock_acquire(struct tms_rt_thread *thread, const struct tms_rt_clock *clock);

/*
 * What the thread did up to its last event is released: in the place of what was in the clock, or
 * in addition to it. The thread's epoch ends.
 */
void tms_rt_clock_release(struct tms_rt_thread *thread, struct tms_rt_clock *clock);
void tms_rt_clock_add(struct tms_rt_thread *thread, struct tms_rt_clock *clock);

/* A second reference to the same; the target is empty. */
void tms_rt_clock_copy(struct tms_rt_clock *to, const struct tms_rt_clock *from);
/* Everything in `from` as well; it may be that of the other thread's past. */
void tms_rt_clock_merge(struct tms_rt_clock *to, const struct tms_rt_clock *from);
void tms_rt_clock_drop(struct tms_rt_clock *clock);

bool tms_rt_clocks_start(void);
/* The thread has a slot from now on: it knows what its creator had released when it forked. */
void tms_rt_clock_start(struct tms_rt_thread *thread);
/* The joined thread is over: everything it did comes before. */
void tms_rt_clock_join(struct tms_rt_thread *thread, const struct tms_rt_thread *child);
/* The thread has ended; the next thread in its slot should be ordered after it. */
void tms_rt_clock_end(const struct tms_rt_thread *thread);
bool tms_rt_clock_knows_end(const struct tms_rt_clock *clock, uint32_t slot);
/* The descriptor is about to be used for another thread. */
void tms_rt_clock_forget(struct tms_rt_thread *thread);

/* ---- the wider order ---------------------------------------------------------------------- */

/*
 * What the thread knows, in either order, and what it did go into the vector, which starts as NULL;
 * its epoch ends. And from there to the thread. The vector is the caller's alone, or locked.
 */
void tms_rt_clock_hand_over(struct tms_rt_thread *thread, struct tms_rt_snapshot **vector);
/* `number`: of the last release. True if there was something to learn. */
bool tms_rt_clock_take_over(struct tms_rt_thread *thread, const struct tms_rt_snapshot *vector,
                            uint64_t number);
/* Did the event come before, by what the kernel passed on? */
bool tms_rt_clock_knows(struct tms_rt_thread *thread, uint32_t slot, uint64_t event);
/* `wider`, if it is not NULL, as times by slot. */
const uint64_t *tms_rt_clock_wider(const struct tms_rt_thread *thread, uint32_t *count);

/* ---- clocks of memory: atomics, semaphores, once controls --------------------------------- */

/*
 * The clock of an address, under the stripe of that address (tms_rt_atomic_lock). _find: NULL if
 * nothing was released there; _make: NULL when there is no memory for it.
 */
struct tms_rt_clock *tms_rt_clock_find(uintptr_t address);
struct tms_rt_clock *tms_rt_clock_make(uintptr_t address);
/* The memory is new: nothing was released there. Takes the stripes. */
void tms_rt_clocks_gone(uintptr_t address, uintptr_t end);

/* In the child of a fork: nothing is known. */
void tms_rt_clocks_restart(void);

#endif
