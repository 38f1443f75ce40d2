/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of a thread's descriptor whenever the thread leaves the runtime. Called by the
 * thread itself, inside the runtime. Costs what the thread has open; nothing in a release build.
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
