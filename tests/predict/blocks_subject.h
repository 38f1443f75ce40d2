/* SPDX-License-Identifier: Apache-2.0 */
/* The engine `blocks` under test: sets of transactions (view.h) as traces, and lines of TAP. */
#ifndef TMS_PREDICT_BLOCKS_SUBJECT_H
#define TMS_PREDICT_BLOCKS_SUBJECT_H

#include "view.h"

struct tms_subject {
    struct tms_context *context;
    struct tms_analysis *analysis;
    const struct tms_result *result; /* of the first engine */
};

/*
 * The findings of `engines`, with everything escaped and each violation listed. Ends the program on
 * an error.
 */
struct tms_subject tms_subject_of_set(const struct tms_view_set *set, const char *engines,
                                      enum tms_blocks blocks);
/* The same of a trace in STD, with lines ended by blanks. */
struct tms_subject tms_subject_of_text(const char *text, const struct tms_settings *settings);
void tms_subject_clear(struct tms_subject *subject);

static inline bool tms_subject_found(const struct tms_subject *subject)
{
    return subject->result->verdict == TMS_VERDICT_POTENTIAL;
}

void tms_view_print(const struct tms_view_set *set);

/* One test of the plan; counts itself. */
__attribute__((format(printf, 2, 3))) void tms_tap(bool good, const char *format, ...);
/* Prints the plan; the exit status. */
int tms_tap_end(void);

/* blocks_golden.c: the examples of the paper, and traces with more than accesses and locks. */
void tms_blocks_goldens(void);

#endif
