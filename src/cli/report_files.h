/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents in the formats of tms_export: --report=FORMAT:FILE, any number of them, for the
 * commands that make results. They are made from the result as JSON has it, so `tmesis report`
 * makes the same from a file of --json later. --store (store_option.h) imports the same JSON.
 *
 *     struct values { … struct tms_given reports; … };
 *     static const struct tms_option options[] = { … TMS_REPORT_FILES_OPTION(AT(reports)), {0}};
 */
#ifndef TMS_CLI_REPORT_FILES_H
#define TMS_CLI_REPORT_FILES_H

#include <stdio.h>

#include "cli/options.h"
#include "cli/store_option.h"
#include "saved/saved_result.h"

#define TMS_REPORT_FILES_OPTION(field)                                                             \
    {                                                                                              \
        .name = "report", .type = TMS_OPTION_ORDERED, .at = (field), .value = "FORMAT:FILE",       \
        .help = "also write the result to FILE in that format, like tmesis report --format",       \
        .brief = "also write it in another format, such as sarif"                                  \
    }

/* The names of the formats, for a CHOICE option. */
const char *tms_word_export(size_t index);

/*
 * False after a sentence: a value is not of that form, its file can't be written, or is also one of
 * the inputs, of the rules, another report, or `other`, one more output (each may be NULL).
 */
bool tms_report_files_good(const struct tms_given *reports, const struct tms_operands *inputs,
                           const struct tms_given *rules, const char *other);

/* The result on its way to the documents and into the history; zero at first. */
struct tms_report_files {
    const struct tms_given *reports;
    const struct tms_storing *storing; /* NULL: it is not stored */
    FILE *json; /* where its JSON objects are written; NULL: nothing is wanted */
    char *text;
    size_t size;
    size_t results; /* objects that are results, and not traces that could not be read */
    bool broken;    /* not all of it is there: no document is written */
};

/*
 * `storing` may be NULL: nothing is stored. TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence;
 * tms_report_files_free is due in both cases.
 */
int tms_report_files_open(struct tms_report_files *files, const struct tms_given *reports,
                          const struct tms_storing *storing);

/* One more object of JSON: a finished analysis. TMS_OK or TMS_ERR_MEMORY. */
int tms_report_files_add(struct tms_report_files *files, const struct tms_analysis *analysis,
                         const struct tms_report_settings *settings);

/* The same for a trace that could not be read, with the reason. */
void tms_report_files_add_bad(struct tms_report_files *files, const char *path,
                              const char *message);

/*
 * Writes all documents, and stores the result; `settings` has what the user wants of reports.
 * TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence for what could not be written. Nothing is done
 * without any object, and nothing is stored if no trace could be read.
 */
int tms_report_files_write(struct tms_report_files *files,
                           const struct tms_report_settings *settings);
void tms_report_files_free(struct tms_report_files *files);

/*
 * Writes one document about some saved results to a file; NULL and "-" are standard output.
 * TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence.
 */
int tms_report_file(struct tms_saved *saved, size_t count, const char *format, const char *path,
                    const struct tms_report_settings *settings);

#endif
