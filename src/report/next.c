/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a text report: commands to type; see next.h. */
#include "report/next.h"

#include <string.h>

#include "report/utf8.h"

/* A path that a shell takes back as it is. */
static void write_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./+,:@%-";

    if (word[strspn(word, plain)] == '\0' && word[0] != '-') {
        fputs(word, out);
        return;
    }
    fputs(word[0] == '-' ? "./'" : "'", out);
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            fputs("'\\''", out);
        } else {
            fputc((unsigned char)*word < 0x20 ? '?' : *word, out);
        }
    }
    fputc('\'', out);
}

/* The command line of a program is made of such words already. */
static void write_path(FILE *out, const struct tms_report_settings *settings)
{
    if (tms_report_is_live(settings)) {
        tms_utf8_write(out, settings->path, SIZE_MAX);
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

void tms_next_write(const struct tms_page *page, const struct tms_report_settings *settings,
                    const struct tms_result *worst)
{
    bool violation = worst->verdict == TMS_VERDICT_VIOLATION, live = tms_report_is_live(settings);
    const struct suggestion all[] = {
        {!live && violation && has_repeats(worst), "check --all", "every occurrence by itself"},
        {!live && violation && !worst->blamed, "check", "which block is to blame"},
        {!live && violation, "check --json", "the same for programs"},
        {!live, "info", "what is in the trace"},
        {live && violation && !worst->blamed, "run", "which block is to blame"},
        {live && !violation, "run --perturb", "with another timing"},
        {live, "record -o run.tms", "keep a trace of it, for tmesis check"},
    };

    if (strcmp(settings->path, "-") != 0) {
        suggest(page->out, settings, all, sizeof(all) / sizeof(all[0]));
    }
}
