/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page that a text report is written on: a stream, colours, wrapped paragraphs, and names
 * made fit to be seen. A paragraph is first written to `note`, in as many pieces as it takes,
 * and then flows onto the page. A part of the report whose length matters is held back, and then
 * goes onto the page or is dropped.
 */
#ifndef TMS_REPORT_TEXT_LAYOUT_H
#define TMS_REPORT_TEXT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tmesis/tmesis.h"

#define TMS_PAGE_WIDTH 80
#define TMS_PAGE_LEAST 40
#define TMS_PAGE_LINES 60 /* of a report that is not verbose */
#define TMS_PATH_MOST  1024

enum tms_ink {
    TMS_INK_PLAIN,
    TMS_INK_BOLD,
    TMS_INK_FAINT,
    TMS_INK_GOOD,
    TMS_INK_BAD,
    TMS_INK_DOUBT,
    TMS_INK_MARK,
};

/* Call stacks: none, a line each, or the innermost frames with a line of source. */
enum tms_stack_room { TMS_STACKS_NONE, TMS_STACKS_LINE, TMS_STACKS_FRAMES };

struct tms_page {
    FILE *out;
    const struct tms_context *names;
    bool color;
    bool verbose;
    enum tms_stack_room stacks;    /* how much there is for call stacks, if it is not verbose */
    size_t width;                  /* columns */
    size_t left;                   /* lines that the report may still take; SIZE_MAX: no limit */
    uint64_t processes;            /* that the report is about, 0: one */
    uint64_t runs;                 /* likewise */
    bool racing;                   /* data races were seen in what was analysed */
    const char *prefix;            /* of paths, to be left out; NULL: none */
    char directory[TMS_PATH_MOST]; /* the working directory, "" if unknown */
    FILE *note;
    char *note_text;
    size_t note_size;
    FILE *held, *real_out; /* while something is held back, `out` is `held` */
    char *held_text;
    size_t held_size;
};

/* TMS_OK or TMS_ERR_MEMORY. */
int tms_page_open(struct tms_page *page, FILE *out, const struct tms_context *names,
                  const struct tms_report_settings *settings);
int tms_page_close(struct tms_page *page);

/* Everything that follows on `out` is in this ink. */
void tms_page_ink(const struct tms_page *page, enum tms_ink ink);

/* The same in the colour of a thread, which it keeps throughout a report. */
void tms_page_ink_thread(const struct tms_page *page, uint32_t thread);

/* That of a verdict. */
enum tms_ink tms_ink_of(enum tms_verdict verdict);

/* The stream for a new paragraph; what was there is gone. */
FILE *tms_page_note(struct tms_page *page);

/*
 * Wraps the paragraph onto the page, whose cursor is at `column`; further lines start at
 * `indent`. Ends the line.
 */
void tms_page_flow(struct tms_page *page, size_t column, size_t indent);

/* The paragraph in one line, which is not ended, at most `most` characters of it; how many. */
size_t tms_page_put(struct tms_page *page, size_t most);

/* A name as display_name.h has it, in at most `most` characters; returns how many. */
size_t tms_page_name(const struct tms_page *page, FILE *out, enum tms_class cls, uint32_t id,
                     size_t most);

/* A path of `length` bytes likewise. */
size_t tms_page_path(const struct tms_page *page, FILE *out, const char *path, size_t length,
                     size_t most);

/*
 * From here on nothing goes onto the page until it is released, or dropped. tms_page_held is the
 * number of lines held so far.
 */
void tms_page_hold(struct tms_page *page);
size_t tms_page_held(struct tms_page *page);
void tms_page_release(struct tms_page *page); /* and counts its lines against `left` */
void tms_page_drop(struct tms_page *page);
void tms_page_offer(struct tms_page *page); /* releases it if it fits, else drops it */

/* The number of blanks. */
void tms_page_blank(FILE *out, size_t count);

/* How many findings a baseline has, if any: one line. */
void tms_page_known(const struct tms_page *page, const struct tms_analysis *analysis);

/* Says how many findings are suppressed, if any are; suppressed_line.c. */
void tms_page_suppressed(const struct tms_page *page, const struct tms_analysis *analysis);

#endif
