/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding of `judge` as text: what happened to which data of which block, the interleaving in two
 * columns, the lines of source, why it is wrong and how to fix it.
 */
#ifndef TMS_REPORT_JUDGED_FINDINGS_H
#define TMS_REPORT_JUDGED_FINDINGS_H

#include "report/judged_phrase.h"
#include "report/text_layout.h"

/*
 * Writes one finding in full, without an empty line after it; `finding->judgement` is not NULL.
 * `verbose` adds call stacks and event numbers, and shows every foreign event.
 */
void tms_judged_write(struct tms_page *page, const struct tms_finding *finding, bool verbose);

/* The same of all findings of a block, the first of which is the most severe. */
void tms_judged_write_entry(struct tms_page *page, const struct tms_finding *const *findings,
                            size_t count, bool verbose);

/* Its headline only, in one line. */
void tms_judged_headline(struct tms_page *page, const struct tms_finding *finding);

/*
 * The parts of a finding, each in words without a line end: "deposit() is not atomic: an update of
 * account.balance was lost", the block in about `block_most` characters; "cut in 27 of 40,001
 * executions"; why that is wrong; and how to fix it.
 */
void tms_judged_sentence(const struct tms_judged *judged, FILE *out, size_t block_most);
void tms_judged_executions(const struct tms_judged *judged, FILE *out);
void tms_judged_why(const struct tms_judged *judged, FILE *out);
void tms_judged_fix(const struct tms_judged *judged, FILE *out);

/* Items of a list in one line: those for which there is no room are counted. */
struct tms_item_line {
    struct tms_page *page;
    size_t column;
    size_t written, omitted;
};

/*
 * Starts a line with `head`; each item is written to the stream that tms_item_line_next returns,
 * and added by tms_item_line_add; `count` is what it counts for in ", 3 more", if it does not fit.
 */
void tms_item_line_start(struct tms_item_line *line, struct tms_page *page, const char *head);
FILE *tms_item_line_next(struct tms_item_line *line);
void tms_item_line_add(struct tms_item_line *line, size_t count);
void tms_item_line_end(struct tms_item_line *line);

#endif
