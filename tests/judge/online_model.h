/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `judge` as a running program uses it, on a trace: the filter of shadow memory, steps that are
 * reported when another thread arrives, activations that are opened late and dropped silently if
 * nothing happened in them, findings by addresses that are named at the end.
 */
#ifndef TMS_JUDGE_ONLINE_MODEL_H
#define TMS_JUDGE_ONLINE_MODEL_H

#include "judge/naive.h"

/* With fewer synchronisations than this, no busy activation is settled in a trace of the tests. */
#define ONLINE_NEVER_SETTLED 1000

#define ONLINE_VARIABLES 65536 /* more than any trace of the tests needs at a time */

/*
 * A finished analysis with its findings; NULL: the trace contains something that no program does.
 * `naive` has judged the trace; only which blocks are candidates, which locks are re-entered, and
 * which memory becomes new is taken from there. A busy activation is judged until it has
 * synchronised more than `enough` times. At most `variables` are followed at a time; NULL also if
 * some were dropped for it that were still in use.
 */
struct tms_analysis *online_judge(struct tms_context *context, const struct naive *naive,
                                  uint32_t enough, uint32_t variables);

#endif
