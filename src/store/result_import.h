/* SPDX-License-Identifier: Apache-2.0 */
/* Imports the JSON of results into the history. */
#ifndef TMS_STORE_RESULT_IMPORT_H
#define TMS_STORE_RESULT_IMPORT_H

#include "store/history_db.h"

/* What the JSON of a result does not contain. */
struct tms_result_origin {
    const char *label; /* NULL: the revision, or without one the day (UTC) of the run */
    const char *revision;
};

/*
 * Imports the file at `path`, "-" being standard input. False with a sentence in `history->reason`;
 * `*added` is false if the history has the same bytes already.
 */
bool tms_result_import(struct tms_history *history, const char *path,
                       const struct tms_result_origin *origin, bool *added);

/* The same from memory; `name` is used in the error message. */
bool tms_result_import_bytes(struct tms_history *history, const char *name, const char *bytes,
                             size_t size, const struct tms_result_origin *origin, bool *added);

#endif
