/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports while the process runs. The command may read the spool at any time; findings are there as
 * soon as they are made. Counts are not: each thread keeps its own, and they are added up when the
 * command asks for them by a word in the spool (struct tms_spool_live), which threads check when
 * they leave the runtime. This needs no thread, no signal and no descriptor.
 *
 * A part of the runtime that buffers findings has to flush them in tms_rt_publish.
 */
#ifndef TMS_RUNTIME_LIVE_COUNTS_H
#define TMS_RUNTIME_LIVE_COUNTS_H

#include <stdatomic.h>

#include "runtime/core/rt.h"

/* The command's request counter, never NULL, and the last request that was answered. */
extern _Atomic(uint32_t *) tms_rt_wanted;
extern _Atomic uint32_t tms_rt_answered;

/* Updates the counts in the spool. The calling thread is inside the runtime. */
void tms_rt_publish(void);

static inline void tms_rt_answer(void)
{
    const uint32_t *wanted = atomic_load_explicit(&tms_rt_wanted, memory_order_relaxed);

    if (__builtin_expect(__atomic_load_n(wanted, __ATOMIC_RELAXED) !=
                             atomic_load_explicit(&tms_rt_answered, memory_order_relaxed),
                         0)) {
        tms_rt_publish();
    }
}

/* The spool has changed; NULL: there is none. */
struct tms_spool_live;
void tms_rt_publish_to(struct tms_spool_live *live);

/* The signal that requests a report (--report-on); 0: none. Set before signals.c starts. */
extern int tms_rt_report_signal;

/* Requests a report. From any context, also a signal handler that has interrupted the runtime. */
void tms_rt_ask_report(void);

/* The signal is delivered to the program, which may continue. From any context. */
void tms_rt_heard_signal(int number);

#endif
