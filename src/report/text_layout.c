/* SPDX-License-Identifier: Apache-2.0 */
/* Pages; see text_layout.h. */
#include "report/text_layout.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "report/display_name.h"

#define LINE_MOST 1024 /* bytes of a paragraph that is put into one line */

static size_t width_of(const struct tms_report_settings *settings)
{
    if (settings->width == 0) {
        return TMS_PAGE_WIDTH;
    }
    return settings->width < TMS_PAGE_LEAST ? TMS_PAGE_LEAST : settings->width;
}

int tms_page_open(struct tms_page *page, FILE *out, const struct tms_context *names,
                  const struct tms_report_settings *settings)
{
    *page = (struct tms_page){.out = out,
                              .names = names,
                              .color = settings->color,
                              .verbose = settings->verbose,
                              .width = width_of(settings),
                              .left = settings->verbose ? SIZE_MAX : TMS_PAGE_LINES,
                              .processes = settings->processes,
                              .runs = settings->runs,
                              .prefix = settings->strip_prefix};
    if (getcwd(page->directory, sizeof(page->directory)) == NULL) {
        page->directory[0] = '\0';
    }
    page->note = open_memstream(&page->note_text, &page->note_size);
    page->held = open_memstream(&page->held_text, &page->held_size);
    if (page->note == NULL || page->held == NULL) {
        tms_page_close(page);
        return TMS_ERR_MEMORY;
    }
    return TMS_OK;
}

static bool close_stream(FILE *stream)
{
    bool failed = stream == NULL || ferror(stream);

    return stream != NULL && fclose(stream) == 0 && !failed;
}

int tms_page_close(struct tms_page *page)
{
    bool good = close_stream(page->note);

    good = close_stream(page->held) && good;
    free(page->note_text);
    free(page->held_text);
    return good ? TMS_OK : TMS_ERR_MEMORY;
}

void tms_page_ink(const struct tms_page *page, enum tms_ink ink)
{
    static const char *const codes[] = {
        [TMS_INK_PLAIN] = "\033[0m",   [TMS_INK_BOLD] = "\033[1m",   [TMS_INK_FAINT] = "\033[2m",
        [TMS_INK_GOOD] = "\033[1;32m", [TMS_INK_BAD] = "\033[1;31m", [TMS_INK_DOUBT] = "\033[1;33m",
        [TMS_INK_MARK] = "\033[36m",
    };

    if (page->color) {
        fputs(codes[ink], page->out);
    }
}

void tms_page_ink_thread(const struct tms_page *page, uint32_t thread)
{
    static const char *const codes[] = {"\033[36m", "\033[35m", "\033[34m",
                                        "\033[32m", "\033[96m", "\033[95m"};

    if (page->color) {
        fputs(codes[thread % (sizeof(codes) / sizeof(codes[0]))], page->out);
    }
}

enum tms_ink tms_ink_of(enum tms_verdict verdict)
{
    static const enum tms_ink inks[] = {[TMS_VERDICT_SERIALIZABLE] = TMS_INK_GOOD,
                                        [TMS_VERDICT_INCOMPLETE] = TMS_INK_DOUBT,
                                        [TMS_VERDICT_NONE_BLAMED] = TMS_INK_GOOD,
                                        [TMS_VERDICT_NONE_PREDICTED] = TMS_INK_GOOD,
                                        [TMS_VERDICT_NONE_POTENTIAL] = TMS_INK_GOOD,
                                        [TMS_VERDICT_NO_RACE] = TMS_INK_GOOD,
                                        [TMS_VERDICT_POTENTIAL] = TMS_INK_DOUBT,
                                        [TMS_VERDICT_PREDICTED] = TMS_INK_BAD,
                                        [TMS_VERDICT_RACE] = TMS_INK_BAD,
                                        [TMS_VERDICT_VIOLATION] = TMS_INK_BAD,
                                        [TMS_VERDICT_AFFECTED] = TMS_INK_BAD,
                                        [TMS_VERDICT_UNAFFECTED] = TMS_INK_GOOD};

    return inks[verdict];
}

FILE *tms_page_note(struct tms_page *page)
{
    rewind(page->note);
    return page->note;
}

void tms_page_blank(FILE *out, size_t count)
{
    fprintf(out, "%*s", (int)count, "");
}

static size_t characters(const char *text, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++) {
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return count;
}

/* The next word of [*at, end): its length, with *at moved to its start. 0: none left. */
static size_t next_word(const char **at, const char *end)
{
    size_t length = 0;

    while (*at < end && **at == ' ') {
        (*at)++;
    }
    while (*at + length < end && (*at)[length] != ' ') {
        length++;
    }
    return length;
}

void tms_page_flow(struct tms_page *page, size_t column, size_t indent)
{
    fflush(page->note);
    const char *at = page->note_text, *end = at + page->note_size;
    bool first = true;

    for (size_t length; (length = next_word(&at, end)) > 0; at += length) {
        size_t width = characters(at, length);
        if (!first && column + 1 + width > page->width) {
            fputc('\n', page->out);
            tms_page_blank(page->out, indent);
            column = indent;
        } else if (!first) {
            fputc(' ', page->out);
            column++;
        }
        fwrite(at, 1, length, page->out);
        column += width;
        first = false;
    }
    fputc('\n', page->out);
}

size_t tms_page_put(struct tms_page *page, size_t most)
{
    char line[LINE_MOST];

    fflush(page->note);
    snprintf(line, sizeof(line), "%.*s",
             (int)(page->note_size < sizeof(line) ? page->note_size : sizeof(line) - 1),
             page->note_text);
    return tms_utf8_write(page->out, line, most);
}

size_t tms_page_path(const struct tms_page *page, FILE *out, const char *path, size_t length,
                     size_t most)
{
    return tms_display_path(out, path, length, page->prefix,
                            *page->directory != '\0' ? page->directory : NULL, most);
}

size_t tms_page_name(const struct tms_page *page, FILE *out, enum tms_class cls, uint32_t id,
                     size_t most)
{
    char number[TMS_NUMBER_SIZE];
    const char *name = tms_name(page->names, cls, id, number);

    return cls == TMS_CLASS_LOCATION ? tms_page_path(page, out, name, strlen(name), most)
                                     : tms_display_name(out, name, most);
}

/* ---- parts that are held back --------------------------------------------------------- */

void tms_page_hold(struct tms_page *page)
{
    assert(page->real_out == NULL);
    rewind(page->held);
    page->real_out = page->out;
    page->out = page->held;
}

size_t tms_page_held(struct tms_page *page)
{
    size_t lines = 0;

    fflush(page->held);
    for (size_t i = 0; i < page->held_size; i++) {
        lines += page->held_text[i] == '\n';
    }
    return lines;
}

void tms_page_drop(struct tms_page *page)
{
    page->out = page->real_out;
    page->real_out = NULL;
}

void tms_page_release(struct tms_page *page)
{
    size_t lines = tms_page_held(page);

    tms_page_drop(page);
    fwrite(page->held_text, 1, page->held_size, page->out);
    if (page->left != SIZE_MAX) {
        page->left -= lines < page->left ? lines : page->left;
    }
}

void tms_page_offer(struct tms_page *page)
{
    if (tms_page_held(page) <= page->left) {
        tms_page_release(page);
    } else {
        tms_page_drop(page);
    }
}
