/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON file of a result on its way into the history. */
#ifndef TMS_STORE_RESULT_IMPORT_H
#define TMS_STORE_RESULT_IMPORT_H

#include "store/history_db.h"

/*
 * Imports the file at `path`. `label` NULL: the revision, or without one the day (UTC) on which the
 * program ran; `revision` may be NULL. False with a sentence in `history->reason`; `*added` is
 * false if the history has the same bytes already.
 */
bool tms_result_import(struct tms_history *history, const char *path, const char *label,
                       const char *revision, bool *added);

#endif
