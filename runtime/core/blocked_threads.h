/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out which threads are blocked: a schedule that holds a thread for the sake of another one
 * lets it go at once if all other threads wait, too. /proc/self/task/N/syscall shows the system
 * call that a thread waits in.
 */
#ifndef TMS_RUNTIME_BLOCKED_THREADS_H
#define TMS_RUNTIME_BLOCKED_THREADS_H

#include "runtime/core/thread.h"

/*
 * Does every other thread of the program wait for a lock, a condition or another thread without a
 * timeout, or because a schedule holds it (`held_until`)? If the kernel does not say, the answer is
 * no. The caller is inside the runtime and holds none of its locks. Cost: a few system calls per
 * thread.
 */
bool tms_rt_others_are_stuck(const struct tms_rt_thread *thread);

/* Does this thread wait in the kernel, for whatever reason and however briefly? */
bool tms_rt_is_waiting(const struct tms_rt_thread *thread);

/* In the child of a fork. */
void tms_rt_blocked_threads_restart(void);

#endif
