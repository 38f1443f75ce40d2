/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports while the process runs. The command reads the spool at any time; what is found is there
 * as soon as it is found. Counts are not: they are kept by the threads, and added up when the
 * command asks for them by a word in the spool (struct tms_spool_live), which threads look at when
 * they leave the runtime. There is no thread for this, no signal and no descriptor.
 *
 * A part of the runtime that keeps findings to itself has to hand them over in tms_rt_publish.
 */
#ifndef TMS_RUNTIME_LIVE_COUNTS_H
#define TMS_RUNTIME_LIVE_COUNTS_H

#include <stdatomic.h>

#include "runtime/core/rt.h"

/* The command's word, never NULL, and the request that was answered last. */
extern _Atomic(uint32_t *) tms_rt_wanted;
extern _Atomic uint32_t tms_rt_answered;

/* Brings the counts in the spool up to date; by a thread that is inside the runtime. */
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

/* The spool is another one, or NULL: there is none. */
struct tms_spool_live;
void tms_rt_publish_to(struct tms_spool_live *live);

/* By which signal a report is asked for (--report-on); 0: by none. Set before signals.c starts. */
extern int tms_rt_report_signal;

/* A report is wanted. From any context, also a signal handler that has interrupted the runtime. */
void tms_rt_ask_report(void);

/* The signal is delivered to the program, which may go on. From any context. */
void tms_rt_heard_signal(int number);

#endif
