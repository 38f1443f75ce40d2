/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --store[=FILE]: the result of a command goes into the history when the command ends, as tmesis
 * history import would take it in from a file of --json. For the commands that make results:
 *
 *     struct values { … struct tms_storing storing; … };
 *     static const struct tms_option options[] = { … TMS_STORING_OPTIONS(AT(storing)), {0}};
 *
 * Without a FILE the result goes into the file that tmesis history uses. The environment variables
 * of tmesis history give the file and the label, but only the option itself stores anything: a user
 * who sets them for tmesis history does not expect every check to write to it.
 */
#ifndef TMS_CLI_STORE_OPTION_H
#define TMS_CLI_STORE_OPTION_H

#include "cli/options.h"
#include "store/result_import.h"

#define TMS_STORE_FILE ".tmesis/history.db"

struct tms_storing {
    struct tms_maybe store;
    const char *label, *revision;
};

/* Rows of an option table; `field` is the offset of a struct tms_storing. */
#define TMS_STORING_OPTIONS(field)                                                                 \
    {.name = "store",                                                                              \
     .type = TMS_OPTION_MAYBE,                                                                     \
     .at = (field) + offsetof(struct tms_storing, store),                                          \
     .value = "FILE",                                                                              \
     .help =                                                                                       \
         "also store the result in the history FILE, " TMS_STORE_FILE " by default, as tmesis "    \
         "history import does",                                                                    \
     .brief = "also store it in the history of findings"},                                         \
        {.name = "label",                                                                          \
         .type = TMS_OPTION_TEXT,                                                                  \
         .at = (field) + offsetof(struct tms_storing, label),                                      \
         .value = "TEXT",                                                                          \
         .help = "with --store: what the result belongs to, such as a night or a branch; without " \
                 "it the revision, or the day (UTC)"},                                             \
    {                                                                                              \
        .name = "revision", .type = TMS_OPTION_TEXT,                                               \
        .at = (field) + offsetof(struct tms_storing, revision), .value = "TEXT",                   \
        .help = "with --store: the revision of the source that the program was built from"         \
    }

/* The names of these options, for a list of those that a started command does not get. */
#define TMS_STORING_NAMES "store", "label", "revision"

/* The file that --store names, or, without a value, the one that tmesis history uses. */
const char *tms_store_path(const struct tms_maybe *store);

/*
 * Before anything is done: false after a sentence if the history can't be used, is also `json`
 * (which may be NULL) or one of the reports, or if there is a label without --store. Makes the
 * history if it is not there.
 */
bool tms_storing_good(const struct tms_storing *storing, const char *json,
                      const struct tms_given *reports);

/* False after a sentence if `output` is also the history. For outputs that those do not cover. */
bool tms_storing_spares(const struct tms_storing *storing, const char *output);

/* Imports a result, the objects of JSON. TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence. */
int tms_storing_import(const struct tms_storing *storing, const char *bytes, size_t size);

#endif
