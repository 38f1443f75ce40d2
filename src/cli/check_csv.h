/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis check --csv: a row for each trace and engine, as in RFC 4180. */
#ifndef TMS_CLI_CHECK_CSV_H
#define TMS_CLI_CHECK_CSV_H

#include <stdio.h>

#include "tmesis/tmesis.h"

void tms_check_csv_head(FILE *out);

/* A row for each result; the timings of `settings` are used if it has any. */
void tms_check_csv_rows(FILE *out, const struct tms_analysis *analysis,
                        const struct tms_report_settings *settings);

/* The row of a trace that could not be checked: its path, and why. */
void tms_check_csv_bad(FILE *out, const char *path, const char *message);

#endif
