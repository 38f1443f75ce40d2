/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of an interleaving: one for each event that matters, and where the blocks begin. Those
 * of a cycle come in the order of the trace, those of a schedule in an order of their own.
 */
#ifndef TMS_REPORT_INTERLEAVING_ROWS_H
#define TMS_REPORT_INTERLEAVING_ROWS_H

#include "tmesis/tmesis.h"

#define TMS_NO_STEP SIZE_MAX
#define TMS_NO_ROW  SIZE_MAX

struct tms_row {
    uint64_t event;
    uint64_t begin_event; /* with `thread`: the transaction it belongs to */
    uint32_t thread;
    uint32_t location;
    uint32_t target; /* of the event, 0 if unknown */
    uint32_t label;  /* of the block that begins here */
    size_t in, out;  /* steps that arrive and leave, or TMS_NO_STEP */
    size_t column;
    size_t next;      /* the next row of the same column, or the number of rows */
    const char *role; /* its role in a schedule; NULL: none */
    uint8_t kind;
    bool has_kind;
    bool begins;
};

struct tms_rows {
    const struct tms_finding *finding;
    struct tms_row *list;
    size_t count;
    size_t marked; /* the row with the triangle, or TMS_NO_ROW */
};

/* Of the cycle, or of the schedule; neither is empty. TMS_OK or TMS_ERR_MEMORY. */
int tms_rows_make(struct tms_rows *rows, const struct tms_finding *finding, bool schedule);
void tms_rows_free(struct tms_rows *rows);

#endif
