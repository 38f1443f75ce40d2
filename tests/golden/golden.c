/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The golden traces through the public interface: every exact engine must give the verdict, the
 * first violation event and the blame of EXPECTED.tsv, as far as it promises them, and witnesses
 * that agree with the raw events. Malformed traces must be refused, and the message must name the
 * line.
 *
 *     golden DIRECTORY
 *
 * An engine that blames only some must blame exactly those that PARTIAL.tsv names.
 *
 * Speaks TAP: a test per engine and trace of EXPECTED.tsv, and one per row of PARTIAL.tsv and of
 * bad/EXPECTED.tsv.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differential/checker.h"

#define MOST_EVENTS 1000
#define MOST_FIELDS 5

struct golden {
    const char *directory;
    unsigned passed, failed;
    char fault[1024]; /* of the current test, "" while there is none */
};

/* One trace on its way through one engine. */
struct pass {
    struct tms_context *context;
    struct tms_analysis *analysis;
    struct tms_event events[MOST_EVENTS];
    size_t count;
};

__attribute__((format(printf, 2, 3))) static void fault(struct golden *golden, const char *format,
                                                        ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(golden->fault, sizeof(golden->fault), format, arguments);
    va_end(arguments);
}

/* Ends a test: it passed if no fault was found. */
static void report(struct golden *golden, const char *trace, const char *engine)
{
    bool good = golden->fault[0] == '\0';
    unsigned number = golden->passed + golden->failed + 1;

    printf("%s %u - %s, %s\n", good ? "ok" : "not ok", number, trace, engine);
    if (!good) {
        printf("# %s\n", golden->fault);
    }
    golden->passed += good ? 1 : 0;
    golden->failed += good ? 0 : 1;
    golden->fault[0] = '\0';
}

/* ---- running a trace ------------------------------------------------------------------ */

static int read_events(struct pass *pass, struct tms_reader *reader)
{
    const struct tms_event *events;
    int64_t got;

    while ((got = tms_reader_next(reader, &events)) > 0) {
        if (pass->count + (size_t)got > MOST_EVENTS) {
            return TMS_ERR_LIMIT;
        }
        memcpy(&pass->events[pass->count], events, (size_t)got * sizeof(*events));
        pass->count += (size_t)got;
    }
    return (int)got;
}

static int analyse(struct pass *pass, struct tms_reader *reader, const char *engine)
{
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = engine;
    settings.all = true;
    int code = tms_analysis_new(pass->context, &settings, &pass->analysis);
    return code == TMS_OK ? tms_analysis_read(pass->analysis, reader) : code;
}

/* Twice through the file: once for the raw events, once for the engine. */
static int start(struct pass *pass, const char *path, const char *engine)
{
    int code = TMS_OK;

    *pass = (struct pass){.context = tms_context_new(NULL, NULL)};
    if (pass->context == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (int time = 0; time < 2 && code == TMS_OK; time++) {
        struct tms_reader *reader = NULL;
        code = tms_reader_open(pass->context, path, NULL, &reader);
        if (code == TMS_OK) {
            code = time == 0 ? read_events(pass, reader) : analyse(pass, reader, engine);
        }
        tms_reader_close(reader);
    }
    return code;
}

static void stop(struct pass *pass)
{
    tms_analysis_free(pass->analysis);
    tms_context_free(pass->context);
}

/* ---- good traces ---------------------------------------------------------------------- */

/* "T1@1,T2@5", or "-" for none; "T1@1/3" if the block begun at event 3 is refuted as well. */
static void blame_text(const struct pass *pass, const struct tms_result *result, char *text,
                       size_t size)
{
    size_t used = 0;

    snprintf(text, size, "-");
    for (size_t i = 0; i < result->finding_count && used < size; i++) {
        const struct tms_transaction *transaction = &result->findings[i].transaction;
        if (result->findings[i].not_atomic) {
            used += (size_t)snprintf(
                text + used, size - used, "%s%s@%llu", used == 0 ? "" : ",",
                tms_name(pass->context, TMS_CLASS_THREAD, transaction->thread, NULL),
                (unsigned long long)transaction->begin_event);
        }
        for (size_t j = 1; j < result->findings[i].refuted_count && used < size; j++) {
            used +=
                (size_t)snprintf(text + used, size - used, "/%llu",
                                 (unsigned long long)result->findings[i].refuted[j].begin_event);
        }
    }
}

static void check_witnesses(struct golden *golden, const struct pass *pass,
                            const struct tms_result *result)
{
    struct tms_oracle *oracle = tms_oracle_new(pass->context, pass->events, pass->count,
                                               TMS_SPLIT_WAIT | TMS_SPLIT_BARRIER);
    const char *wrong = oracle == NULL ? "out of memory" : tms_check_result(oracle, result);

    if (wrong != NULL) {
        fault(golden, "%s", wrong);
    }
    tms_oracle_free(oracle);
}

/* At the very event, or, if the engine does not promise that, not before it. */
static bool first_event_fits(const struct tms_result *result, unsigned long long first)
{
    bool exactly = (result->engine->flags & TMS_ENGINE_AT_EVENT) != 0;

    return exactly ? result->first_violation_event == first
                   : result->first_violation_event >= first;
}

/* fields: trace, events, serializable, first violation event, who is not atomic */
static void compare(struct golden *golden, const struct pass *pass, char *const *fields)
{
    const struct tms_result *result = tms_analysis_result(pass->analysis, 0);
    const char *verdict = strcmp(fields[2], "yes") == 0 ? "serializable" : "violation";
    unsigned long long first = strtoull(fields[3], NULL, 10);
    char blame[256];

    blame_text(pass, result, blame, sizeof(blame));
    if (pass->count != strtoull(fields[1], NULL, 10)) {
        fault(golden, "%zu events, should be %s", pass->count, fields[1]);
    } else if (strcmp(tms_verdict_text(result->verdict), verdict) != 0) {
        fault(golden, "verdict %s, should be %s", tms_verdict_text(result->verdict), verdict);
    } else if (!first_event_fits(result, first)) {
        fault(golden, "first violation event %llu, should be %s",
              (unsigned long long)result->first_violation_event, fields[3]);
    } else if ((result->engine->flags & TMS_ENGINE_BLAMES) != 0 && strcmp(blame, fields[4]) != 0) {
        fault(golden, "not atomic: %s, should be %s", blame, fields[4]);
    } else {
        check_witnesses(golden, pass, result);
    }
}

static void check_good(struct golden *golden, const char *path, char *const *fields)
{
    const struct tms_engine_info *engine;

    for (size_t i = 0; (engine = tms_engine_info(i)) != NULL; i++) {
        struct pass pass;
        if ((engine->flags & TMS_ENGINE_EXACT) == 0 || engine->found != TMS_VERDICT_VIOLATION) {
            continue;
        }
        if (start(&pass, path, engine->name) == TMS_OK) {
            compare(golden, &pass, fields);
        } else {
            fault(golden, "%s", pass.context == NULL ? "out of memory" : tms_error(pass.context));
        }
        stop(&pass);
        report(golden, fields[0], engine->name);
    }
}

/* fields: trace, an engine that blames some, whom it blames */
static void check_partial(struct golden *golden, const char *path, char *const *fields)
{
    struct pass pass;

    if (start(&pass, path, fields[1]) == TMS_OK) {
        char blame[256];
        blame_text(&pass, tms_analysis_result(pass.analysis, 0), blame, sizeof(blame));
        if (strcmp(blame, fields[2]) != 0) {
            fault(golden, "blames %s, should blame %s", blame, fields[2]);
        }
    } else {
        fault(golden, "%s", pass.context == NULL ? "out of memory" : tms_error(pass.context));
    }
    stop(&pass);
    report(golden, fields[0], fields[1]);
}

/* ---- bad traces ----------------------------------------------------------------------- */

/* Does the message point at the line of "error, line N"? */
static bool names_line(const char *message, const char *path, const char *outcome)
{
    char place[512];

    snprintf(place, sizeof(place), "%s:%s: ", path, strrchr(outcome, ' ') + 1);
    return strstr(message, place) != NULL;
}

/* fields: trace, outcome, exit status, why */
static void check_bad(struct golden *golden, const char *path, char *const *fields)
{
    struct pass pass;
    const char *outcome = fields[1];
    int code = start(&pass, path, "frontier");

    if (strncmp(outcome, "error", 5) == 0) {
        if (code != TMS_ERR_SYNTAX && code != TMS_ERR_MALFORMED) {
            fault(golden, "%s, should be an error (%s)", tms_strerror(code), fields[3]);
        } else if (!names_line(tms_error(pass.context), path, outcome)) {
            fault(golden, "\"%s\" should name %s", tms_error(pass.context), outcome);
        }
    } else if (code != TMS_OK) {
        fault(golden, "%s", pass.context == NULL ? "out of memory" : tms_error(pass.context));
    } else {
        const struct tms_result *result = tms_analysis_result(pass.analysis, 0);
        check_witnesses(golden, &pass, result);
        if ((result->verdict == TMS_VERDICT_VIOLATION) != (strcmp(outcome, "violation") == 0)) {
            fault(golden, "verdict %s (%s)", tms_verdict_text(result->verdict), fields[3]);
        }
    }
    stop(&pass);
    report(golden, fields[0], fields[3]);
}

/* ---- tables --------------------------------------------------------------------------- */

typedef void check_row(struct golden *golden, const char *path, char *const *fields);

static unsigned split(char *line, char **fields)
{
    unsigned count = 0;
    char *rest = line;

    line[strcspn(line, "\n")] = '\0';
    while (rest != NULL && count < MOST_FIELDS) {
        fields[count++] = strsep(&rest, "\t");
    }
    return count;
}

/* A table beside the traces that it speaks of. */
static bool check_table(struct golden *golden, const char *folder, const char *name,
                        unsigned columns, check_row *check)
{
    char path[512], line[512], *fields[MOST_FIELDS];

    snprintf(path, sizeof(path), "%s%s/%s", golden->directory, folder, name);
    FILE *table = fopen(path, "r");
    if (table == NULL) {
        perror(path);
        return false;
    }
    while (fgets(line, sizeof(line), table) != NULL) {
        if (line[0] == '#') {
            continue;
        }
        if (split(line, fields) != columns) {
            fault(golden, "a row of %s does not have %u fields", path, columns);
            report(golden, path, fields[0]);
            continue;
        }
        char trace[1024];
        snprintf(trace, sizeof(trace), "%s%s/%s", golden->directory, folder, fields[0]);
        check(golden, trace, fields);
    }
    fclose(table);
    return true;
}

int main(int argc, char **argv)
{
    struct golden golden = {.directory = argc == 2 ? argv[1] : NULL};

    if (golden.directory == NULL) {
        fprintf(stderr, "usage: golden DIRECTORY\n");
        return 2;
    }
    bool read = check_table(&golden, "", "EXPECTED.tsv", 5, check_good) &&
                check_table(&golden, "", "PARTIAL.tsv", 3, check_partial) &&
                check_table(&golden, "/bad", "EXPECTED.tsv", 4, check_bad);
    printf("1..%u\n", golden.passed + golden.failed);
    return read && golden.failed == 0 && golden.passed > 0 ? 0 : 1;
}
