/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the history, loaded for a report, with what the history knows of their findings. */
#ifndef TMS_CLI_STORED_RESULTS_H
#define TMS_CLI_STORED_RESULTS_H

#include "saved/saved_result.h"
#include "store/history_timeline.h"

struct tms_stored_results {
    struct tms_saved *saved; /* the newest first */
    size_t count;
    size_t unkept; /* of the choice, results whose document is not there */
    struct tms_history_timeline over_time;
};

/*
 * Loads the results of a choice from a history; findings that it suppresses are marked so.
 * TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence; the free is due in both cases.
 */
int tms_stored_results_open(struct tms_stored_results *stored, const char *path,
                            const struct tms_history_choice *choice);
void tms_stored_results_free(struct tms_stored_results *stored);

#endif
