/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the invariants of a thread's descriptor whenever the thread leaves the runtime. Called by
 * the thread itself, inside the runtime. Linear in the blocks and locks that the thread has open;
 * compiled out in a release build.
 */
#ifndef TMS_RUNTIME_THREAD_INVARIANTS_H
#define TMS_RUNTIME_THREAD_INVARIANTS_H

#include "runtime/core/thread.h"

#ifdef NDEBUG
#define tms_rt_check_thread(thread) ((void)0)
#else
void tms_rt_check_thread(const struct tms_rt_thread *thread);
#endif

#endif
