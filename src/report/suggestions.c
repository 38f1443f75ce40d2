/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a text report: commands to type; see suggestions.h. */
#include "report/suggestions.h"

#include <string.h>

#include "base/utf8.h"
#include "report/findings_list.h"

static bool to_stream(void *user, const char *text, size_t length)
{
    return fwrite(text, 1, length, user) == length;
}

/* A path, quoted for a shell. */
static void write_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./+,:@%-";

    if (word[strspn(word, plain)] == '\0' && word[0] != '-') {
        fputs(word, out);
        return;
    }
    fputs(word[0] == '-' ? "./'" : "'", out);
    for (size_t part; *word != '\0'; word += part) {
        part = strcspn(word, "'");
        tms_printable_string(word, part, to_stream, out);
        if (word[part] == '\'') {
            fputs("'\\''", out);
            part++;
        }
    }
    fputc('\'', out);
}

/* The command line of a program is made of such words already. */
static void write_path(FILE *out, const struct tms_report_settings *settings)
{
    if (tms_report_is_live(settings)) {
        tms_utf8_write(out, settings->command != NULL ? settings->command : settings->path,
                       SIZE_MAX);
    } else {
        write_word(out, settings->path);
    }
}

struct suggestion {
    bool fits;
    const char *command;
    const char *what;
};

static void suggest(FILE *out, const struct tms_report_settings *settings,
                    const struct suggestion *all, size_t count)
{
    size_t width = 0;

    for (size_t i = 0; i < count; i++) {
        size_t length = all[i].fits ? strlen(all[i].command) : 0;
        width = length > width ? length : width;
    }
    fputs("Next:\n", out);
    for (size_t i = 0; i < count; i++) {
        if (all[i].fits) {
            fprintf(out, "  tmesis %s ", all[i].command);
            write_path(out, settings);
            fprintf(out, "%*s  # %s\n", (int)(width - strlen(all[i].command)), "", all[i].what);
        }
    }
}

static bool has_repeats(const struct tms_result *result)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        if (result->findings[i].count > 1) {
            return true;
        }
    }
    return false;
}

static const struct tms_result *result_of(const struct tms_analysis *analysis, const char *engine)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        if (strcmp(result->engine->name, engine) == 0) {
            return result;
        }
    }
    return NULL;
}

/* Something is predicted, and its assumptions were not checked. */
static bool is_unchecked(const struct tms_report_job *job)
{
    const struct tms_analysis *analysis = job->analysis;
    const struct tms_result *predicting = result_of(analysis, "sidetrack");

    return predicting != NULL && predicting->verdict == TMS_VERDICT_PREDICTED &&
           tms_count_shown(job, TMS_EVIDENCE_PREDICTED) > 0 &&
           (result_of(analysis, "fasttrack") == NULL || result_of(analysis, "goodlock") == NULL);
}

#define ASSUMED "--engine=frontier,sidetrack,fasttrack,goodlock"

void tms_next_write(const struct tms_page *page, const struct tms_report_job *job,
                    const struct tms_result *worst)
{
    const struct tms_report_settings *settings = job->settings;
    bool violation = worst->verdict == TMS_VERDICT_VIOLATION, live = tms_report_is_live(settings);
    bool unchecked = is_unchecked(job);
    /* Otherwise only the locks of the program may have been watched. */
    bool built = live && tms_first_observing(job->analysis) != NULL;
    const struct suggestion all[] = {
        {!live && violation && has_repeats(worst), "check --all", "list every occurrence"},
        {!live && violation && !worst->blamed, "check", "find the block at fault"},
        {!live && unchecked, "check " ASSUMED, "check what the predictions assume"},
        {!live && violation, "check --json", "the same as JSON"},
        {!live && !violation && !unchecked && !settings->potential, "check --potential",
         "also what locks do not rule out"},
        {!live, "info", "summarize the trace"},
        {live && violation && !worst->blamed, "run", "find the block at fault"},
        {built && unchecked, "run " ASSUMED, "check what the predictions assume"},
        {live && !built && result_of(job->analysis, "goodlock") == NULL,
         "run --engine=sidetrack,goodlock", "look for deadlocks"},
        {built && !violation, "run --perturb", "try another timing"},
        {built, "record -o run.tms", "record a trace for tmesis check"},
        {live && !built, "run --engine=sidetrack --json=run.json", "the same as JSON"},
    };

    if (strcmp(settings->path, "-") != 0) {
        suggest(page->out, settings, all, sizeof(all) / sizeof(all[0]));
    }
}
