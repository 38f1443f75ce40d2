/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who can still run: a thread that is held for another one's sake is let go at once if all the
 * others wait, too. The kernel knows: /proc/self/task/N/syscall has what a thread waits in.
 */
#ifndef TMS_RUNTIME_BLOCKED_THREADS_H
#define TMS_RUNTIME_BLOCKED_THREADS_H

#include "runtime/core/thread.h"

/*
 * Does every other thread of the program wait for a lock, a condition or another thread without a
 * time limit, or is held by a schedule (`steered`)? Where the kernel does not tell, the answer is
 * no. The caller is inside the runtime and holds none of its locks. Cost: a few system calls for
 * each thread.
 */
bool tms_rt_others_are_stuck(const struct tms_rt_thread *thread);

/* Does this one? Waits in the kernel of any kind count, for as long as they last. */
bool tms_rt_is_waiting(const struct tms_rt_thread *thread);

/* In the child of a fork. */
void tms_rt_blocked_threads_restart(void);

#endif
