/* SPDX-License-Identifier: Apache-2.0 */
/* The differences between two results as a list, for `diff` and `history diff`. */
#ifndef TMS_CLI_DIFFERENCE_LIST_H
#define TMS_CLI_DIFFERENCE_LIST_H

#include "cli/options.h"
#include "store/finding_rows.h"

/* The options that both commands have; `at` is the offset of a struct tms_row_filter. */
#define TMS_DIFFERENCE_OPTIONS(filter_at)                                                          \
    {.name = "notes",                                                                              \
     .type = TMS_OPTION_FLAG,                                                                      \
     .at = (filter_at) + offsetof(struct tms_row_filter, notes),                                   \
     .help = "compare notes as well, not only errors and warnings"},                               \
    {                                                                                              \
        .name = "predicted", .type = TMS_OPTION_FLAG,                                              \
        .at = (filter_at) + offsetof(struct tms_row_filter, predicted),                            \
        .help = "compare what was predicted or is potential as well, not only what was observed"   \
    }

/*
 * Writes the list to standard output, with --quiet only its last line, the counts.
 * TMS_EXIT_VIOLATION if a block is new or worse, else TMS_EXIT_OK; TMS_EXIT_BAD when memory is
 * short.
 */
int tms_difference_list(const struct tms_finding_rows *before, const struct tms_finding_rows *after,
                        const struct tms_row_filter *filter, const struct tms_common *common);

/* "deposit(), account.balance": what a row is about. */
void tms_finding_row_describe(FILE *out, const struct tms_finding_row *row);

#endif
