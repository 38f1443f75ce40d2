/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of a result as a table, a row for each id and evidence, and the comparison of two
 * such tables. A row owns its texts, so that rows of a file and rows of a database are the same.
 *
 * Two results are compared as with a baseline (docs/user/suppressions.md): by block and level. A
 * finding on another variable of a known block, with the same level, is not new.
 *
 * Not thread-safe. Memory grows with the findings.
 */
#ifndef TMS_STORE_FINDING_ROWS_H
#define TMS_STORE_FINDING_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "saved/saved_result.h"

struct tms_finding_row {
    const char *id;
    const char *block;    /* the function; "" if it has no name */
    const char *variable; /* what it is about; "": no data */
    const char *patterns; /* words with commas between; "": it is not judged */
    const char *place;    /* "bank.c:39", "": unknown */
    enum tms_level level;
    enum tms_evidence evidence;
    uint64_t count, executions, cut;
    uint64_t runs; /* that showed it */
    bool suppressed;
};

struct tms_finding_rows {
    struct tms_finding_row *at;
    size_t count, capacity;
};

void tms_finding_rows_clear(struct tms_finding_rows *rows);

/* Appends a copy of a row. False if out of memory. */
bool tms_finding_rows_add(struct tms_finding_rows *rows, const struct tms_finding_row *row);

/*
 * Appends the findings of a saved result: those of `judge` or, if it did not run, those of every
 * engine; the latter are warnings if they were observed and notes otherwise. False if out of
 * memory.
 */
bool tms_finding_rows_load(struct tms_finding_rows *rows, const struct tms_saved *saved);

/* Selects the findings to compare. Suppressed findings are never compared. */
struct tms_row_filter {
    bool notes;     /* notes as well, not only errors and warnings */
    bool predicted; /* what was not observed as well */
};

enum tms_row_change { TMS_ROW_NEW, TMS_ROW_WORSE, TMS_ROW_STILL, TMS_ROW_GONE, TMS_ROW_CHANGES };

/* A block of either table, with the most severe of its findings. */
struct tms_row_difference {
    enum tms_row_change change;
    const struct tms_finding_row *row; /* of the later table, or of the earlier if it is gone */
};

struct tms_row_differences {
    struct tms_row_difference *at; /* by change, then level, then block */
    size_t count;
};

/*
 * Compares two tables; the differences point into them, and the caller frees `at`. False if
 * out of memory. Cost: n log n.
 */
bool tms_finding_rows_compare(const struct tms_finding_rows *before,
                              const struct tms_finding_rows *after,
                              const struct tms_row_filter *filter,
                              struct tms_row_differences *differences);

#endif
