/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What documents say about a trace or program as a whole, besides its findings: that the trace
 * could not be read, that the program failed, and that not everything was checked. A document
 * without findings must not be taken for a clean result then.
 */
#ifndef TMS_REPORT_PART_OUTCOME_H
#define TMS_REPORT_PART_OUTCOME_H

#include <stdbool.h>
#include <stdio.h>

#include "tmesis/tmesis.h"

/* A thing that can be wrong with a part. */
struct tms_part_trouble {
    const char *name; /* "program" */
    const char *type; /* "program-failed" */
    bool (*is_there)(const struct tms_export_part *part);
    void (*write)(const struct tms_export_part *part, FILE *out); /* sentences */
};

/* The index-th of all; NULL after the last. */
const struct tms_part_trouble *tms_part_trouble(size_t index);

/* How many of them the part has. */
size_t tms_part_troubles(const struct tms_export_part *part);

/* Why the verdict on the run is not complete; NULL: it is. */
const char *tms_part_loss(const struct tms_export_part *part);

/* "SIGABRT", "signal 77" */
void tms_signal_write(FILE *out, int number);

/* How the program ended: "ended by SIGABRT", "status 0", "failed in 2 of 30 runs (SIGABRT)";
 * nothing if it is not known. */
void tms_part_outcome_write(const struct tms_export_part *part, FILE *out);

#endif
