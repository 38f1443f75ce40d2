/* SPDX-License-Identifier: Apache-2.0 */
/* --baseline=FILE: findings that an earlier result has are known, and only others count. */
#ifndef TMS_CLI_BASELINE_OPTION_H
#define TMS_CLI_BASELINE_OPTION_H

#include "cli/options.h"
#include "tmesis/tmesis.h"

/* A row of an option table; `field` is the offset of a const char *. */
#define TMS_BASELINE_OPTION(field)                                                                 \
    {                                                                                              \
        .name = "baseline", .type = TMS_OPTION_TEXT, .at = (field), .environment = true,           \
        .value = "FILE",                                                                           \
        .help = "show and count only findings that are new or worse than in FILE, an earlier "     \
                "result written by --json, or the directory of a hunt",                            \
        .brief = "show only what is new or worse since that result"                                \
    }

/* All NULL: none was given. */
struct tms_known {
    struct tms_context *context;
    struct tms_baseline *baseline;
};

/*
 * Reads the file; NULL: none was given. TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence;
 * tms_known_close is due in both cases.
 */
int tms_known_open(struct tms_known *known, const char *path);
void tms_known_close(struct tms_known *known);

/*
 * False after a sentence if one of the reports, or of two more outputs (NULL: not given), would
 * replace the baseline (NULL: none).
 */
bool tms_known_spared(const char *path, const struct tms_given *reports, const char *json,
                      const char *other);

/* Marks the known findings of a finished analysis. TMS_OK or TMS_ERR_MEMORY. */
int tms_known_mark(const struct tms_known *known, struct tms_analysis *analysis);

#endif
