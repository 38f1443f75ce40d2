/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judged findings of a report: one entry per block, errors before warnings before notes, what
 * was observed before what is predicted. As many as fit are written in full, others in a line each,
 * and the rest is counted.
 */
#ifndef TMS_REPORT_JUDGED_LISTING_H
#define TMS_REPORT_JUDGED_LISTING_H

#include "report/text_layout.h"

/* The findings of one block; the first is the most severe, of those that were observed if any. */
struct tms_judged_entry {
    const struct tms_finding *const *findings;
    size_t count;
};

struct tms_judged_listing {
    const struct tms_result *result; /* of `judge`; NULL: it did not run */
    const struct tms_finding **findings;
    struct tms_judged_entry *entries;
    size_t count;                       /* of entries */
    size_t levels[TMS_LEVEL_ERROR + 1]; /* how many of them, by level; errors and warnings that
                                           were observed, … */
    size_t predicted;                   /* … and those that were not */
    size_t notes[TMS_PATTERN_COUNT];    /* of those that are notes, by pattern */
    size_t potential;                   /* findings that are only potential, left out */
    bool affected;                      /* an error or a warning was observed, … */
    bool threatened;                    /* … or predicted, … */
    bool expected;                      /* … or is a note because of where it was observed */
};

/*
 * Of the result of `judge`, NULL if there is none; `potential`: with the findings that are only
 * potential. TMS_OK or TMS_ERR_MEMORY. The free is due in either case.
 */
int tms_judged_listing_make(struct tms_judged_listing *listing, const struct tms_result *result,
                            const struct tms_context *names, bool potential);
void tms_judged_listing_free(struct tms_judged_listing *listing);

/* The entries, as far as `page->left` lines go; notes only with `notes`. */
void tms_judged_listing_write(struct tms_page *page, const struct tms_judged_listing *listing,
                              bool notes);

/* The block of a finding: the function, or for a block without label its location. */
uint64_t tms_block_key(const struct tms_context *names, const struct tms_finding *finding);

/* One line with the notes by kind; nothing if there are none. */
void tms_judged_listing_notes(struct tms_page *page, const struct tms_judged_listing *listing);

#endif
