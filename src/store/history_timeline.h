/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings over time, as reports show them (struct tms_timeline): a column for each of the last
 * labels, or, while there is one label only, for each of the last results.
 *
 * Memory: all findings of the history, and for each of them the columns that showed it.
 */
#ifndef TMS_STORE_HISTORY_TIMELINE_H
#define TMS_STORE_HISTORY_TIMELINE_H

#include "base/arena.h"
#include "store/history_db.h"

#define TMS_TIMELINE_COLUMNS 60

struct tms_history_timeline {
    struct tms_timeline timeline;
    struct tms_memory memory;
    struct tms_arena arena; /* of everything that the timeline points to */
};

/*
 * Loads the timeline, and marks columns with results of the choice as reported. False with a
 * sentence in the reason of the history; call tms_timeline_free in both cases.
 */
bool tms_timeline_load(struct tms_history_timeline *made, struct tms_history *history,
                       const struct tms_history_choice *choice);
void tms_timeline_free(struct tms_history_timeline *made);

#endif
