/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between results; see difference_list.h. */
#include "cli/difference_list.h"

#include <stdlib.h>
#include <string.h>

#include "cli/console.h"

static const struct {
    const char *word, *mark;
} changes[TMS_ROW_CHANGES] = {
    [TMS_ROW_NEW] = {"new", "+"},
    [TMS_ROW_WORSE] = {"worse", "!"},
    [TMS_ROW_STILL] = {"still there", "="},
    [TMS_ROW_GONE] = {"gone", "-"},
};

void tms_finding_row_describe(FILE *out, const struct tms_finding_row *row)
{
    size_t length = strlen(row->block);

    if (length > 0) {
        tms_console_name(out, row->block);
        fputs(row->block[length - 1] == ')' ? "" : "()", out);
    }
    if (row->variable[0] != '\0') {
        fputs(length > 0 ? ", " : "", out);
        tms_console_name(out, row->variable);
    }
}

static void write_difference(const struct tms_row_difference *difference)
{
    const struct tms_finding_row *row = difference->row;

    printf("%s %-11s %-7s  %s  ", changes[difference->change].mark,
           changes[difference->change].word, tms_level_text(row->level), row->id);
    tms_finding_row_describe(stdout, row);
    if (row->evidence != TMS_EVIDENCE_OBSERVED) {
        printf("  (%s)", tms_evidence_text(row->evidence));
    }
    if (row->place[0] != '\0') {
        fputs("  ", stdout);
        tms_console_name(stdout, row->place);
    }
    putchar('\n');
}

static void write_counts(const size_t counts[TMS_ROW_CHANGES])
{
    for (size_t i = 0; i < TMS_ROW_CHANGES; i++) {
        printf("%s%zu %s", i > 0 ? " · " : "", counts[i], changes[i].word);
    }
    putchar('\n');
}

int tms_difference_list(const struct tms_finding_rows *before, const struct tms_finding_rows *after,
                        const struct tms_row_filter *filter, const struct tms_common *common)
{
    struct tms_row_differences differences;
    size_t counts[TMS_ROW_CHANGES] = {0};

    if (!tms_finding_rows_compare(before, after, filter, &differences)) {
        return tms_bad("out of memory");
    }
    for (size_t i = 0; i < differences.count; i++) {
        counts[differences.at[i].change]++;
        if (!common->quiet) {
            write_difference(&differences.at[i]);
        }
    }
    write_counts(counts);
    free(differences.at);
    return counts[TMS_ROW_NEW] + counts[TMS_ROW_WORSE] > 0 ? TMS_EXIT_VIOLATION : TMS_EXIT_OK;
}
