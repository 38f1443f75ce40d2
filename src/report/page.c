/* SPDX-License-Identifier: Apache-2.0 */
/* Pages; see page.h. */
#include "report/page.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"

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
    *page = (struct tms_page){
        .out = out, .names = names, .color = settings->color, .width = width_of(settings)};
    page->note = open_memstream(&page->note_text, &page->note_size);
    return page->note != NULL ? TMS_OK : TMS_ERR_MEMORY;
}

int tms_page_close(struct tms_page *page)
{
    bool failed = ferror(page->note);

    failed = fclose(page->note) != 0 || failed;
    free(page->note_text);
    return failed ? TMS_ERR_MEMORY : TMS_OK;
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
                                        [TMS_VERDICT_AFFECTED] = TMS_INK_BAD,
                                        [TMS_VERDICT_UNAFFECTED] = TMS_INK_GOOD,
                                        [TMS_VERDICT_VIOLATION] = TMS_INK_BAD};

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

size_t tms_page_name(const struct tms_page *page, FILE *out, enum tms_class cls, uint32_t id,
                     size_t most)
{
    char number[TMS_NUMBER_SIZE];

    return tms_utf8_write(out, tms_name(page->names, cls, id, number), most);
}
