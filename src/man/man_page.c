/* SPDX-License-Identifier: Apache-2.0 */
/*
 * man-page PAGE SHARED: writes a manual page with its list of options, for scdoc. The build runs
 * it; it is not installed.
 *
 * PAGE is docs/man/tmesis-COMMAND.1.scd. Its section OPTIONS begins with text that is kept, if any,
 * and goes on with extra text for some of the options (extra_text.h). The list has all options of
 * the command's table (src/cli/options.h), so a page can't miss one or state another default.
 * SHARED is docs/man/options.scd, the extra text that several commands share.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/option_table.h"
#include "man/extra_text.h"
#include "man/option_entry.h"

#define HEADING "# OPTIONS\n"

enum place {
    BEFORE,
    INTRODUCTION,
    ENTRIES,
    AFTER,
};

struct page {
    const struct tms_command *command;
    struct tms_extra_texts own, shared;
    enum place place;
};

/* Of the command that the page is named after; NULL after a sentence. */
static const struct tms_command *command_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
    const char *dash = strchr(file, '-');
    char name[TMS_SPELLING_SIZE];

    snprintf(name, sizeof(name), "%.*s", dash != NULL ? (int)strcspn(dash + 1, ".") : 0,
             dash != NULL ? dash + 1 : "");
    const struct tms_command *command = tms_command_named(name);
    if (command == NULL) {
        fprintf(stderr, "%s: is not named after a command, as tmesis-run.1.scd is\n", path);
    }
    return command;
}

static bool write_option(const struct page *page, const struct tms_option *option)
{
    char *extra = NULL;
    size_t size;
    FILE *memory = open_memstream(&extra, &size);

    if (memory == NULL) {
        return false;
    }
    tms_extra_write(&page->shared, page->command, option, memory);
    tms_extra_write(&page->own, page->command, option, memory);
    bool good = fclose(memory) == 0;
    if (good) {
        tms_option_entry(stdout, page->command, option, extra);
    }
    free(extra);
    return good;
}

static bool write_options(const struct page *page)
{
    const struct tms_option *option;
    bool good = tms_extra_known(&page->own, page->command);

    for (size_t i = 0; good && (option = tms_option_at(page->command, i)) != NULL; i++) {
        good = write_option(page, option);
    }
    return good;
}

/* Where the line is, by the place of the one before it. */
static enum place place_of(enum place before, const char *line)
{
    switch (before) {
    case BEFORE:
        return strcmp(line, HEADING) == 0 ? INTRODUCTION : BEFORE;
    case INTRODUCTION:
    case ENTRIES:
        return strncmp(line, "# ", 2) == 0 ? AFTER : *line == '*' ? ENTRIES : before;
    default:
        return AFTER;
    }
}

static bool take_line(struct page *page, const char *line)
{
    enum place place = place_of(page->place, line);
    bool good = true;

    if (place == ENTRIES) {
        good = tms_extra_line(&page->own, line);
    } else {
        if (place == AFTER && page->place != AFTER) {
            good = write_options(page);
        }
        page->own.line++;
        fputs(line, stdout);
    }
    page->place = place;
    return good;
}

static bool take_page(struct page *page)
{
    FILE *in = fopen(page->own.path, "r");
    char *line = NULL;
    size_t size = 0;
    bool good = in != NULL;

    while (good && getline(&line, &size, in) > 0) {
        good = take_line(page, line);
    }
    if (in == NULL || (good && page->place != AFTER)) {
        fprintf(stderr, "%s: %s\n", page->own.path,
                in == NULL ? "can't be read" : "has no section OPTIONS with another after it");
        good = false;
    }
    free(line);
    if (in != NULL) {
        fclose(in);
    }
    return good;
}

int main(int argc, char **argv)
{
    struct page page = {0};

    if (argc != 3) {
        fprintf(stderr, "usage: man-page PAGE SHARED\n");
        return EXIT_FAILURE;
    }
    page.own.path = argv[1];
    page.shared.path = argv[2];
    page.command = command_of(argv[1]);
    bool good = page.command != NULL && tms_extra_file(&page.shared) &&
                tms_extra_known(&page.shared, NULL) && take_page(&page) && fflush(stdout) == 0;
    tms_extra_release(&page.own);
    tms_extra_release(&page.shared);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
