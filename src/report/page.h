/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page that a text report is written on: a stream, colours, wrapped paragraphs, and names
 * made fit to be seen. A paragraph is first written to `note`, in as many pieces as it takes,
 * and then flows onto the page.
 */
#ifndef TMS_REPORT_PAGE_H
#define TMS_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tmesis/tmesis.h"

#define TMS_PAGE_WIDTH 100
#define TMS_PAGE_LEAST 40

enum tms_ink {
    TMS_INK_PLAIN,
    TMS_INK_BOLD,
    TMS_INK_FAINT,
    TMS_INK_GOOD,
    TMS_INK_BAD,
    TMS_INK_DOUBT,
    TMS_INK_MARK,
};

struct tms_page {
    FILE *out;
    const struct tms_context *names;
    bool color;
    size_t width; /* columns */
    FILE *note;
    char *note_text;
    size_t note_size;
};

/* TMS_OK or TMS_ERR_MEMORY. */
int tms_page_open(struct tms_page *page, FILE *out, const struct tms_context *names,
                  const struct tms_report_settings *settings);
int tms_page_close(struct tms_page *page);

/* Everything that follows on `out` is in this ink. */
void tms_page_ink(const struct tms_page *page, enum tms_ink ink);

/* That of a verdict. */
enum tms_ink tms_ink_of(enum tms_verdict verdict);

/* The stream for a new paragraph; what was there is gone. */
FILE *tms_page_note(struct tms_page *page);

/*
 * Wraps the paragraph onto the page, which stands at `column`; further lines start at
 * `indent`. Ends the line.
 */
void tms_page_flow(struct tms_page *page, size_t column, size_t indent);

/* A name, at most `most` characters of it; returns how many. */
size_t tms_page_name(const struct tms_page *page, FILE *out, enum tms_class cls, uint32_t id,
                     size_t most);

/* The number of blanks. */
void tms_page_blank(FILE *out, size_t count);

/* How many findings a baseline has, if any: one line. */
void tms_page_known(const struct tms_page *page, const struct tms_analysis *analysis);

#endif
