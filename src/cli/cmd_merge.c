/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis merge: the results of several hunts, or of the shards of one, as one result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "cli/hunt_summary.h"
#include "cli/hunt_trial.h"
#include "cli/options.h"
#include "cli/report_options.h"
#include "hunt/hunt_directory.h"
#include "hunt/merged_json.h"
#include "hunt/run_record.h"

struct values {
    struct tms_common common;
    struct tms_reporting reporting;
    const char *output;
};

#define AT(field) offsetof(struct values, field)

static const struct tms_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = TMS_OPTION_TEXT,
     .at = AT(output),
     .value = "DIR",
     .help = "the directory for the merged result, which must not exist yet"},
    TMS_REPORTING_OPTIONS(AT(reporting)),
    {0}};

/* The name of the program, without its directory; NULL: there is no hunt yet. */
static const char *program_of(const struct tms_hunt *hunt)
{
    const json_t *entry = json_object_iter_value(json_object_iter(hunt->hunts));
    const char *path = json_string_value(json_array_get(json_object_get(entry, "program"), 0));
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    return slash != NULL ? slash + 1 : path;
}

/* Counts of different programs have nothing in common, so they are not added up. */
static bool is_same_program(const struct tms_hunt *into, const struct tms_hunt *from,
                            const char *path, char reason[TMS_HUNT_REASON])
{
    const char *first = program_of(into), *other = program_of(from);

    if (first == NULL || other == NULL || strcmp(first, other) == 0) {
        return true;
    }
    snprintf(reason, TMS_HUNT_REASON,
             "%.200s is a hunt of %.60s, and the first one of %.60s; merge joins hunts of one "
             "program, tmesis history import results of many",
             path, other, first);
    return false;
}

static bool merge_one(struct tms_hunt *into, const char *path)
{
    struct tms_hunt from;
    char reason[TMS_HUNT_REASON] = "out of memory";
    bool good = tms_hunt_init(&from) && tms_hunt_directory_load(&from, path, reason) &&
                is_same_program(into, &from, path, reason);

    if (good && !tms_hunt_merge(into, &from)) {
        snprintf(reason, sizeof(reason), "out of memory");
        good = false;
    }
    tms_hunt_clear(&from);
    if (!good) {
        tms_say("%s", reason);
    }
    return good;
}

/* All or nothing: a directory that could not be filled is removed. */
static int save(const struct tms_hunt *hunt, const char *path)
{
    struct tms_hunt_directory directory;
    char reason[TMS_HUNT_REASON];
    size_t count = 0;
    json_t **records = tms_hunt_records(hunt, &count);
    bool created = tms_hunt_directory_create(&directory, path, reason),
         good = created && records != NULL;

    for (size_t i = 0; good && i < count; i++) {
        good = tms_hunt_directory_add_run(&directory, records[i], reason);
    }
    good = good && tms_hunt_directory_write_result(&directory, hunt, false, reason);
    free(records);
    tms_hunt_directory_close(&directory);
    if (created && !good) {
        tms_remove_tree(path);
    }
    return good ? TMS_EXIT_OK : tms_bad("%s", records != NULL ? reason : "out of memory");
}

/* Which shards have runs that are missing. */
static void say_partial(const struct tms_hunt *hunt)
{
    json_t *result = tms_hunt_json(hunt, false);
    const json_t *hunts = json_object_get(json_object_get(result, "hunt"), "hunts");

    for (size_t i = 0; i < json_array_size(hunts); i++) {
        const json_t *entry = json_array_get(hunts, i);
        const json_t *partial = json_object_get(entry, "partial_shards");
        for (size_t j = 0; j < json_array_size(partial); j++) {
            tms_say("shard %lld/%lld of seed %lld is partial: runs of it are missing",
                    (long long)json_integer_value(json_array_get(partial, j)),
                    (long long)json_integer_value(json_object_get(entry, "shards")),
                    (long long)json_integer_value(json_object_get(entry, "seed")));
        }
    }
    json_decref(result);
}

static int show(const struct tms_hunt *hunt, const struct values *values)
{
    static const struct tms_fail_on fail_on = {.level = TMS_LEVEL_WARNING,
                                               .evidence = TMS_EVIDENCE_OBSERVED};
    struct tms_report_settings settings;
    struct tms_fail_on_answer answer = {0};

    tms_reporting_settings(&values->reporting, &values->common, &settings);
    settings.potential = settings.races = false;
    int status = tms_hunt_report(hunt, &settings, &fail_on, &answer);
    say_partial(hunt);
    return status;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    const struct values *values = all_values;
    struct tms_hunt hunt;
    bool good = tms_hunt_init(&hunt);

    if (values->output == NULL) {
        tms_hunt_clear(&hunt);
        return tms_bad("merge needs -o DIR, the directory for the merged result");
    }
    for (size_t i = 0; good && i < operands->count; i++) {
        good = merge_one(&hunt, operands->text[i]);
    }
    int status = good ? save(&hunt, values->output) : TMS_EXIT_BAD;
    if (status == TMS_EXIT_OK) {
        status = show(&hunt, values);
    }
    tms_hunt_clear(&hunt);
    return status;
}

const struct tms_command tms_command_merge = {
    .name = "merge",
    .group = TMS_GROUP_RESULT,
    .summary = "merge the results of several hunts",
    .usage = "RESULT… -o DIR",
    .about = "Merges the results of several hunts of a program, or of the shards of one (hunt "
             "--shard). Findings "
             "are merged by id, and a run in several results counts once, so their order does not "
             "matter, and merging again changes nothing. Names shards with missing runs, and marks "
             "them in the result.\n\n"
             "Exit status: 0, or 2 if a result can't be read or written.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .run = run,
};
