/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A short trace for each row of the tables of docs/user/judge.md, and for the rules around them:
 *
 *     judge-patterns DIRECTORY
 *
 * What `judge` finds in each trace must be what EXPECTED.tsv in the directory says, a line for each
 * finding; and the second implementation must agree. Speaks TAP, a test for each trace.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/answer.h"

#define MOST_EVENTS 1000
#define MOST_TEXT   8192
#define MOST_PATH   512

struct pass {
    struct tms_context *context;
    struct tms_analysis *analysis;
    struct tms_event events[MOST_EVENTS];
    size_t count;
};

/* ---- a trace ----------------------------------------------------------------------------- */

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

static int judge(struct pass *pass)
{
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = "judge";
    int code = tms_analysis_new(pass->context, &settings, &pass->analysis);
    code =
        code == TMS_OK ? tms_analysis_feed(pass->analysis, pass->events, pass->count, NULL) : code;
    return code < 0 ? code : tms_analysis_finish(pass->analysis);
}

static int start(struct pass *pass, const char *path)
{
    struct tms_reader *reader = NULL;
    int code = tms_reader_open(pass->context, path, NULL, &reader);

    code = code == TMS_OK ? read_events(pass, reader) : code;
    tms_reader_close(reader);
    return code == TMS_OK ? judge(pass) : code;
}

/* ---- what was found ---------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void append(char text[MOST_TEXT], const char *format,
                                                         ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, MOST_TEXT - used, format, arguments);
    va_end(arguments);
}

static void append_patterns(char *text, unsigned patterns)
{
    const char *before = "";

    for (int pattern = 0; pattern < TMS_PATTERN_COUNT; pattern++) {
        if ((patterns >> pattern & 1) != 0) {
            append(text, "%s%s", before, tms_pattern_text((enum tms_pattern)pattern));
            before = ",";
        }
    }
}

/* As a line of EXPECTED.tsv. */
static void append_finding(const struct pass *pass, const char *trace,
                           const struct tms_finding *finding, char *text)
{
    const struct tms_judgement *judgement = finding->judgement;
    const char *label = tms_name(pass->context, TMS_CLASS_LABEL, finding->transaction.label, NULL);

    append(text, "%s\t%s\t%s\t", trace, finding->id, tms_level_text(judgement->level));
    append_patterns(text, judgement->patterns);
    append(text, "\t%s\t%s", label,
           tms_name(pass->context, TMS_CLASS_VARIABLE, judgement->variable, NULL));
    if (judgement->other != 0) {
        append(text, ",%s", tms_name(pass->context, TMS_CLASS_VARIABLE, judgement->other, NULL));
    }
    append(text, "\t%" PRIu64 "\t%" PRIu64 "\n", judgement->cut, judgement->executions);
}

static void describe(const struct pass *pass, const char *trace, char text[MOST_TEXT])
{
    const struct tms_result *result = tms_analysis_result(pass->analysis, 0);

    text[0] = '\0';
    for (size_t i = 0; i < result->finding_count; i++) {
        append_finding(pass, trace, &result->findings[i], text);
    }
    if (result->finding_count == 0) {
        append(text, "%s\t-\n", trace);
    }
}

static const char *difference(const struct pass *pass)
{
    struct naive naive = {.context = pass->context,
                          .events = pass->events,
                          .count = pass->count,
                          .split = TMS_SPLIT_WAIT | TMS_SPLIT_BARRIER};

    naive_judge(&naive);
    const char *fault = answer_fault(&naive);
    fault = fault != NULL ? fault
                          : answer_difference(&naive, tms_analysis_result(pass->analysis, 0), true);
    naive_clear(&naive);
    return fault;
}

/* ---- the run ----------------------------------------------------------------------------- */

/* The lines of EXPECTED.tsv about the trace. */
static void expect(const char *directory, const char *trace, char text[MOST_TEXT])
{
    char path[MOST_PATH], line[MOST_PATH];
    size_t length = strlen(trace);

    snprintf(path, sizeof(path), "%s/EXPECTED.tsv", directory);
    FILE *file = fopen(path, "re");
    text[0] = '\0';
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, trace, length) == 0 && line[length] == '\t') {
            append(text, "%s", line);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void comment(const char *title, const char *lines)
{
    bool start = true;

    printf("# %s\n", title);
    for (; *lines != '\0'; lines++) {
        fputs(start ? "#   " : "", stdout);
        fputc(*lines, stdout);
        start = *lines == '\n';
    }
}

static bool check(const char *directory, const char *trace, unsigned number)
{
    static struct pass pass;
    static char expected[MOST_TEXT], found[MOST_TEXT];
    char path[MOST_PATH];

    snprintf(path, sizeof(path), "%s/%s", directory, trace);
    pass = (struct pass){.context = tms_context_new(NULL, NULL)};
    int code = start(&pass, path);
    const char *fault = code == TMS_OK ? difference(&pass) : tms_error(pass.context);
    found[0] = '\0';
    if (code == TMS_OK) {
        describe(&pass, trace, found);
    }
    expect(directory, trace, expected);
    bool good = fault == NULL && strcmp(expected, found) == 0;
    printf("%sok %u - %s\n", good ? "" : "not ", number, trace);
    if (!good) {
        printf("# %s\n", fault != NULL ? fault : "not as expected");
        comment("expected:", expected);
        comment("found:", found);
    }
    tms_analysis_free(pass.analysis);
    tms_context_free(pass.context);
    return good;
}

static int is_trace(const struct dirent *entry)
{
    const char *extension = strrchr(entry->d_name, '.');

    return extension != NULL && strcmp(extension, ".std") == 0;
}

int main(int argc, char **argv)
{
    struct dirent **entries;
    int count = argc == 2 ? scandir(argv[1], &entries, is_trace, alphasort) : -1;
    bool good = count > 0;

    if (count < 0) {
        fprintf(stderr, "usage: judge-patterns DIRECTORY\n");
        return 2;
    }
    for (int i = 0; i < count; i++) {
        good = check(argv[1], entries[i]->d_name, (unsigned)i + 1) && good;
        free(entries[i]);
    }
    free(entries);
    printf("1..%d\n", count);
    return good ? 0 : 1;
}
