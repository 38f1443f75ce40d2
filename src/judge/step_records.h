/* SPDX-License-Identifier: Apache-2.0 */
/* Records of (thread, variable), as accesses and pairs see them: see judge.h. */
#ifndef TMS_JUDGE_STEP_RECORDS_H
#define TMS_JUDGE_STEP_RECORDS_H

#include <string.h>

#include "judge/judge_pools.h"

/* Does the step need a record? A retry keeps the time of the access, which pairs need. */
static inline bool tms_judge_is_kept(const struct tms_judge_thread *thread,
                                     const struct tms_judge_step *step)
{
    return tms_judge_keeps(thread, step->event);
}

/* Does the step still count as an own step of its thread? */
static inline bool tms_judge_is_own(const struct tms_judge_thread *thread,
                                    const struct tms_judge_step *step)
{
    return !step->cleared && tms_judge_is_kept(thread, step);
}

/* 0: the thread has none. */
uint32_t tms_judge_find_record(const struct tms_judge *judge, const struct tms_judge_cell *cell,
                               uint32_t thread);

/* What a read turns out to be. */
enum tms_judge_answer {
    TMS_JUDGE_WAITS, /* not known yet */
    TMS_JUDGE_IS_READ,
    TMS_JUDGE_IS_LATER, /* the read of an update, with other reads in between */
    TMS_JUDGE_IS_UPDATE,
};
typedef enum tms_judge_answer tms_judge_outcome(const struct tms_judge_case *open,
                                                const void *user);

/* Decides the open cases of a record. */
void tms_judge_settle(struct tms_judge *judge, uint32_t record, tms_judge_outcome *outcome,
                      const void *user);
tms_judge_outcome tms_judge_reads_only;

/* The record's variable is no longer among those of its thread that were taken over. */
void tms_judge_unlist(struct tms_judge *judge, uint32_t record);

/* The first read of `thread` after the record's step, if no write came before it; else NULL. */
const struct tms_judge_foreign *tms_judge_read_of(const struct tms_judge *judge,
                                                  const struct tms_judge_record *record,
                                                  uint32_t thread);

/* The owner's step moves to its record: another thread is about to access the variable. */
void tms_judge_push_away(struct tms_judge *judge, uint32_t variable);

/* Adds the access to the records of all other threads that have used the variable. */
void tms_judge_show(struct tms_judge *judge, const struct tms_judge_cell *cell,
                    const struct tms_judge_foreign *access);

/* Frees a record that its thread no longer needs. */
void tms_judge_drop_record(struct tms_judge *judge, uint32_t variable, uint32_t record);

/* The variable becomes new. */
void tms_judge_drop_records(struct tms_judge *judge, uint32_t variable);

#endif
