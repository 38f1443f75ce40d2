/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants of a judge's structures between two events. Each check walks its whole structure, so
 * release builds (NDEBUG) do without them. With concurrent threads (port.guard) only the part of a
 * thread's state that no other thread changes is checked.
 */
#ifndef TMS_JUDGE_JUDGE_INVARIANTS_H
#define TMS_JUDGE_JUDGE_INVARIANTS_H

#include "judge/judge.h"

#ifdef NDEBUG
#define tms_judge_check_thread(judge, thread)     ((void)0)
#define tms_judge_check_variable(judge, variable) ((void)0)
#else
/* Called by the thread itself, without the guard. */
void tms_judge_check_thread(const struct tms_judge *judge, const struct tms_judge_thread *thread);
/* Under the guard. */
void tms_judge_check_variable(const struct tms_judge *judge, uint32_t variable);
#endif

#endif
