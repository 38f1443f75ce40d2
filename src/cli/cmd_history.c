/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis history: findings over time, in a database. */
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array_length.h"
#include "cli/console.h"
#include "cli/difference_list.h"
#include "cli/options.h"
#include "cli/store_option.h"
#include "hunt/hunt_directory.h"
#include "store/history_db.h"
#include "store/result_import.h"

struct values {
    struct tms_common common;
    struct tms_row_filter filter;
    const char *store, *why, *who;
    struct tms_result_origin origin;
    uint64_t keep, keep_details;
    bool keep_given, details_given;
    bool remove;
};

#define AT(field) offsetof(struct values, field)

static const struct tms_option options[] = {
    {.name = "store",
     .type = TMS_OPTION_TEXT,
     .at = AT(store),
     .initial = TMS_STORE_FILE,
     .environment = true,
     .value = "FILE",
     .help = "the database"},
    {.name = "label",
     .type = TMS_OPTION_TEXT,
     .at = AT(origin.label),
     .environment = true,
     .value = "TEXT",
     .help = "with import: what the results belong to, such as a night or a branch; without it the "
             "revision, or the day (UTC) on which the program ran"},
    {.name = "revision",
     .type = TMS_OPTION_TEXT,
     .at = AT(origin.revision),
     .environment = true,
     .value = "TEXT",
     .help = "with import: the revision of the source that the program was built from"},
    {.name = "why",
     .type = TMS_OPTION_TEXT,
     .at = AT(why),
     .value = "TEXT",
     .help = "with suppress: the reason"},
    {.name = "who",
     .type = TMS_OPTION_TEXT,
     .at = AT(who),
     .value = "NAME",
     .help = "with suppress: who decided it; without it the name of the user"},
    {.name = "remove",
     .type = TMS_OPTION_FLAG,
     .at = AT(remove),
     .help = "with suppress: the finding counts again"},
    {.name = "keep",
     .type = TMS_OPTION_COUNT,
     .at = AT(keep),
     .given = AT(keep_given),
     .initial = "30",
     .least = 1,
     .value = "N",
     .help = "with prune: how many labels keep their results"},
    {.name = "keep-details",
     .type = TMS_OPTION_COUNT,
     .at = AT(keep_details),
     .given = AT(details_given),
     .value = "N",
     .help =
         "with prune: keep full results for the last N labels only; reports need them, and they "
         "take most of the space. Default: all kept labels"},
    TMS_DIFFERENCE_OPTIONS(AT(filter)),
    {0}};

/* ---- actions -------------------------------------------------------------------------------- */

typedef int action_function(struct tms_history *history, const struct values *values,
                            const struct tms_operands *operands);

static int bad(const struct tms_history *history)
{
    return tms_bad("%s", history->reason);
}

static void print_imported(size_t added, size_t refused, size_t count)
{
    printf("%zu of %zu result%s imported", added, count, count == 1 ? "" : "s");
    if (added + refused < count) {
        printf("; %zu %s there already", count - added - refused,
               count - added - refused == 1 ? "was" : "were");
    }
    if (refused > 0) {
        printf("; %zu can't be used", refused);
    }
    putchar('\n');
}

/* A result that can't be used does not keep out those after it. */
static int import(struct tms_history *history, const struct values *values,
                  const struct tms_operands *operands)
{
    size_t added = 0, refused = 0;

    for (size_t i = 0; i < operands->count; i++) {
        char path[PATH_MAX];
        bool new = false;
        tms_hunt_directory_json_path(operands->text[i], path);
        if (!tms_result_import(history, path, &values->origin, &new)) {
            bad(history);
            refused++;
        }
        added += new;
    }
    if (!values->common.quiet) {
        print_imported(added, refused, operands->count);
    }
    return refused == 0 ? TMS_EXIT_OK : TMS_EXIT_BAD;
}

static void show_text(const char *before, const char *text)
{
    if (text != NULL) {
        fputs(before, stdout);
        tms_console_name(stdout, text);
    }
}

static void show_result(void *user, const struct tms_history_result *result)
{
    ++*(size_t *)user;
    printf("%llu", (unsigned long long)result->id);
    show_text("  ", result->label);
    show_text("  ", result->started != NULL ? result->started : result->imported);
    printf("  %llu finding%s", (unsigned long long)result->findings,
           result->findings == 1 ? "" : "s");
    if (result->runs > 1) {
        printf(" in %llu runs", (unsigned long long)result->runs);
    }
    show_text("  ", result->command);
    if (result->outcome != NULL) {
        printf("  (%s)", result->outcome);
    }
    show_text("  on ", result->host);
    show_text("  revision ", result->revision);
    if (result->seed != 0) {
        printf("  seed %llu", (unsigned long long)result->seed);
    }
    puts(result->kept ? "" : "  without details");
}

static int results(struct tms_history *history, const struct values *values,
                   const struct tms_operands *operands)
{
    const struct tms_history_choice choice = {.name =
                                                  operands->count > 0 ? operands->text[0] : NULL};

    size_t shown = 0;

    (void)values;
    if (!tms_history_results(history, &choice, show_result, &shown)) {
        return bad(history);
    }
    return choice.name == NULL || shown > 0
               ? TMS_EXIT_OK
               : tms_bad("the history has no result with the label or revision %s", choice.name);
}

static bool is_shown(const struct values *values, const struct tms_finding_row *row)
{
    return (values->filter.notes || row->level != TMS_LEVEL_NOTE) &&
           (values->filter.predicted || row->evidence == TMS_EVIDENCE_OBSERVED);
}

static void show_line(void *user, const struct tms_history_finding *finding)
{
    const struct tms_finding_row *row = finding->row;

    if (!is_shown(user, row)) {
        return;
    }
    printf("%-7s  %s  ", tms_level_text(row->level), row->id);
    tms_finding_row_describe(stdout, row);
    show_text("  ", finding->first_label);
    show_text(" to ", finding->last_label);
    printf(", %llu result%s", (unsigned long long)finding->results,
           finding->results == 1 ? "" : "s");
    if (row->evidence != TMS_EVIDENCE_OBSERVED) {
        printf(", %s", tms_evidence_text(row->evidence));
    }
    puts(finding->suppressed_why != NULL ? ", suppressed" : "");
}

static int list(struct tms_history *history, const struct values *values,
                const struct tms_operands *operands)
{
    (void)operands;
    return tms_history_findings(history, NULL, show_line, (void *)(uintptr_t)values) ? TMS_EXIT_OK
                                                                                     : bad(history);
}

static void show_finding(void *user, const struct tms_history_finding *finding)
{
    bool *shown = user;

    if (*shown) {
        return; /* the same with weaker evidence */
    }
    *shown = true;
    printf("%s  ", finding->row->id);
    tms_finding_row_describe(stdout, finding->row);
    printf("\n  %s, %s", tms_level_text(finding->row->level),
           tms_evidence_text(finding->row->evidence));
    if (finding->row->place[0] != '\0') {
        fputs(", ", stdout);
        tms_console_name(stdout, finding->row->place);
    }
    show_text("\n  first seen ", finding->first_seen);
    show_text(" (", finding->first_label);
    show_text("), last seen ", finding->last_seen);
    show_text(" (", finding->last_label);
    printf("), in %llu result%s\n", (unsigned long long)finding->results,
           finding->results == 1 ? "" : "s");
    if (finding->suppressed_why != NULL) {
        show_text("  suppressed by ", finding->suppressed_by);
        show_text(" at ", finding->suppressed_at);
        show_text(": ", finding->suppressed_why);
        putchar('\n');
    }
}

static void show_occurrence(void *user, const struct tms_history_occurrence *occurrence)
{
    (void)user;
    show_text("  ", occurrence->label);
    printf("  %-7s  %s", tms_level_text(occurrence->level),
           tms_evidence_text(occurrence->evidence));
    if (occurrence->executions > 0) {
        printf(", cut in %llu of %llu", (unsigned long long)occurrence->cut,
               (unsigned long long)occurrence->executions);
    }
    if (occurrence->command != NULL) {
        fputs("  ", stdout);
        tms_console_name(stdout, occurrence->command);
    }
    if (occurrence->outcome != NULL) {
        printf("  (%s)", occurrence->outcome);
    }
    putchar('\n');
}

static int show(struct tms_history *history, const struct values *values,
                const struct tms_operands *operands)
{
    const char *id = operands->text[0];
    bool shown = false;

    (void)values;
    if (!tms_history_findings(history, id, show_finding, &shown) ||
        !tms_history_occurrences(history, id, show_occurrence, NULL)) {
        return bad(history);
    }
    return shown ? TMS_EXIT_OK
                 : tms_bad("the history has no finding %s; tmesis history list shows those it has",
                           id);
}

/* The first night is no failure. */
static int diff_first(const struct values *values, const char *label)
{
    if (label[0] == '\0') {
        return tms_bad("the history has no result yet; tmesis history import or --store adds one");
    }
    if (!values->common.quiet) {
        tms_console_name(stdout, label);
        puts(" is the first label: there is nothing to compare it with yet");
    }
    return TMS_EXIT_OK;
}

/* Both labels have results. */
static int diff_labels(struct tms_history *history, const struct values *values,
                       const char *const labels[2])
{
    struct tms_finding_rows before = {0}, after = {0};
    int status = TMS_EXIT_BAD;

    if (tms_history_rows(history, labels[0], &before) &&
        tms_history_rows(history, labels[1], &after)) {
        if (!values->common.quiet) {
            tms_console_name(stdout, labels[0]);
            fputs(" → ", stdout);
            tms_console_name(stdout, labels[1]);
            putchar('\n');
        }
        status = tms_difference_list(&before, &after, &values->filter, &values->common);
    } else {
        bad(history);
    }
    tms_finding_rows_clear(&before);
    tms_finding_rows_clear(&after);
    return status;
}

static int diff(struct tms_history *history, const struct values *values,
                const struct tms_operands *operands)
{
    const char *labels[2];
    char *found[2] = {NULL, NULL};
    bool good = true;
    int status;

    for (unsigned i = 0; good && i < 2; i++) {
        found[i] = operands->count > i ? NULL : tms_history_label(history, 1 - i);
        labels[i] = operands->count > i ? operands->text[i] : found[i];
        good = labels[i] != NULL;
    }
    if (!good) {
        status = bad(history);
    } else if (labels[0][0] == '\0') {
        status = diff_first(values, labels[1]);
    } else {
        status =
            tms_history_has_label(history, labels[0]) && tms_history_has_label(history, labels[1])
                ? diff_labels(history, values, labels)
                : bad(history);
    }
    free(found[0]);
    free(found[1]);
    return status;
}

static int prune(struct tms_history *history, const struct values *values,
                 const struct tms_operands *operands)
{
    struct tms_history_prune plan = {.results = values->keep,
                                     .documents = values->details_given ? values->keep_details
                                                                        : values->keep};

    (void)operands;
    if (!tms_history_prune(history, &plan)) {
        return bad(history);
    }
    if (!values->common.quiet) {
        printf("%llu result%s removed", (unsigned long long)plan.results_removed,
               plan.results_removed == 1 ? "" : "s");
        if (values->details_given) {
            printf(", and the details of %llu more", (unsigned long long)plan.documents_removed);
        }
        putchar('\n');
    }
    return TMS_EXIT_OK;
}

static void write_rule(void *user, const struct tms_history_suppression *suppression)
{
    (void)user;
    printf("id %s", suppression->id);
    show_text(" # ", suppression->who);
    show_text(", ", suppression->at);
    show_text(": ", suppression->why);
    putchar('\n');
}

static int suppress(struct tms_history *history, const struct values *values,
                    const struct tms_operands *operands)
{
    const struct passwd *user = getpwuid(geteuid());
    const char *who = values->who != NULL ? values->who : user != NULL ? user->pw_name : "unknown";

    if (operands->count == 0 && (values->remove || values->why != NULL || values->who != NULL)) {
        return tms_bad("suppress needs the id of a finding; tmesis history list shows them");
    }
    if (operands->count == 0) {
        return tms_history_suppressions(history, write_rule, NULL) ? TMS_EXIT_OK : bad(history);
    }
    if (values->remove == (values->why != NULL)) {
        return tms_bad("suppress needs --why=TEXT, the reason, or --remove");
    }
    return tms_history_suppress(history, operands->text[0], who, values->why) ? TMS_EXIT_OK
                                                                              : bad(history);
}

static const struct action {
    const char *name;
    size_t least, most; /* operands after the name; most 0: none, SIZE_MAX: any number */
    const char *operands;
    const char *options; /* that are for it, each between blanks */
    action_function *act;
    enum tms_history_access access;
} actions[] = {
    {"import", 1, SIZE_MAX, "RESULT…", " label revision ", import, TMS_HISTORY_CREATE},
    {"list", 0, 0, "nothing after it", " notes predicted ", list, TMS_HISTORY_READ},
    {"results", 0, 1, "at most one label or revision", "", results, TMS_HISTORY_READ},
    {"show", 1, 1, "the id of a finding", "", show, TMS_HISTORY_READ},
    {"diff", 0, 2, "at most two labels", " notes predicted ", diff, TMS_HISTORY_READ},
    {"prune", 0, 0, "nothing after it", " keep keep-details ", prune, TMS_HISTORY_WRITE},
    {"suppress", 0, 1, "at most one id", " why who remove ", suppress, TMS_HISTORY_WRITE},
};

static const char *action_name(size_t index)
{
    return index < TMS_LENGTH(actions) ? actions[index].name : NULL;
}

static const struct action *find_action(const char *name)
{
    for (size_t i = 0; i < TMS_LENGTH(actions); i++) {
        if (strcmp(actions[i].name, name) == 0) {
            return &actions[i];
        }
    }
    const char *near = tms_nearest(name, action_name);
    tms_say("history has no action \"%s\"%s%s; there are import, list, results, show, diff, prune "
            "and suppress",
            name, near != NULL ? ", did you mean " : "", near != NULL ? near : "");
    return NULL;
}

/* A value of the command line: those of the environment are for all actions. */
static bool is_given(const char *value, const char *variable)
{
    const char *environment = getenv(variable);

    return value != NULL && (environment == NULL || strcmp(value, environment) != 0);
}

/* False after a sentence if an option was given that is for other actions. */
static bool takes_options(const struct action *action, const struct values *values)
{
    const struct {
        const char *name; /* between blanks, as in the table of actions */
        bool given;
    } all[] = {
        {" label ", is_given(values->origin.label, "TMESIS_LABEL")},
        {" revision ", is_given(values->origin.revision, "TMESIS_REVISION")},
        {" why ", values->why != NULL},
        {" who ", values->who != NULL},
        {" remove ", values->remove},
        {" keep ", values->keep_given},
        {" keep-details ", values->details_given},
        {" notes ", values->filter.notes},
        {" predicted ", values->filter.predicted},
    };

    for (size_t i = 0; i < TMS_LENGTH(all); i++) {
        if (all[i].given && strstr(action->options, all[i].name) == NULL) {
            tms_say("history %s has no option --%.*s; see tmesis history --help", action->name,
                    (int)strlen(all[i].name) - 2, all[i].name + 1);
            return false;
        }
    }
    return true;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    const struct values *values = all_values;
    const struct action *action = find_action(operands->text[0]);
    const struct tms_operands rest = {operands->text + 1, operands->count - 1};
    struct tms_history history;

    if (action == NULL) {
        return TMS_EXIT_BAD;
    }
    if (rest.count < action->least || rest.count > action->most) {
        return tms_bad("history %s takes %s; see tmesis history --help", action->name,
                       action->operands);
    }
    if (!takes_options(action, values)) {
        return TMS_EXIT_BAD;
    }
    int status = tms_history_open(&history, values->store, action->access)
                     ? action->act(&history, values, &rest)
                     : bad(&history);
    tms_history_close(&history);
    return status;
}

const struct tms_command tms_command_history = {
    .name = "history",
    .group = TMS_GROUP_RESULT,
    .summary = "keep findings over time: what is new since yesterday",
    .usage = "import RESULT… | list | results [LABEL] | show ID | diff [LABEL [LABEL]] | prune | "
             "suppress [ID]",
    .about =
        "Keeps the findings of results in a database, .tmesis/history.db or --store=FILE.\n\n"
        "import takes in results: directories of hunts, and files that run, check, hunt or merge "
        "wrote as JSON. The same result again changes nothing; several may be imported at the "
        "same time.\n"
        "list shows the findings, the one seen last first; show one of them with all its "
        "occurrences.\n"
        "results shows the results, the newest first: number, label, time, how many findings, "
        "command, how the program ended, host, revision and seed.\n"
        "diff compares two labels, one with the newest, or the newest two: blocks that are new, "
        "worse, still there and gone. The order is that of the times when the programs ran.\n"
        "suppress excludes a finding from comparisons; without an ID it writes the rules of all "
        "suppressed findings, for --suppress=FILE of run and check.\n"
        "prune removes old results, or with --keep-details only what reports are made from. The "
        "date of the first occurrence is kept.\n\n"
        "Exit status: 1 if diff found a block that is new or worse, 0 otherwise, 2 after wrong "
        "usage or if the database or a result can't be used.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .first = action_name,
    .run = run,
};
