/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of a judge's structures between two events. Each walks over what it is asked
 * about, so none is there in a release build (NDEBUG). Where threads judge beside each other
 * (port.guard), the state of a thread is checked only as far as no other thread changes it.
 */
#ifndef TMS_JUDGE_JUDGE_INVARIANTS_H
#define TMS_JUDGE_JUDGE_INVARIANTS_H

#include "judge/judge.h"

#ifdef NDEBUG
#define tms_judge_check_thread(judge, thread)     ((void)0)
#define tms_judge_check_variable(judge, variable) ((void)0)
#else
/* By the thread itself, without the guard. */
void tms_judge_check_thread(const struct tms_judge *judge, const struct tms_judge_thread *thread);
/* Under the guard. */
void tms_judge_check_variable(const struct tms_judge *judge, uint32_t variable);
#endif

#endif
