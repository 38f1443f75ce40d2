/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A judged finding with what its words need: where the block and its two steps are in the source,
 * and how its variables, threads and lock are called.
 */
#ifndef TMS_REPORT_JUDGED_PHRASE_H
#define TMS_REPORT_JUDGED_PHRASE_H

#include "report/text_layout.h"
#include "report/user_frame.h"

struct tms_judged {
    struct tms_page *page;
    const struct tms_finding *finding;
    const struct tms_judgement *judgement;
    struct tms_place block;       /* where it begins */
    struct tms_place first, last; /* of its two steps, in its own function if that is known */
    bool full;                    /* the two variables have the same field: call them in full */
    bool wide;                    /* no line is too narrow for a long name: a document */
};

void tms_judged_start(struct tms_judged *judged, struct tms_page *page,
                      const struct tms_finding *finding);

/* Was it not observed? */
bool tms_judged_unseen(const struct tms_finding *finding);

/* A template of pattern_words.h with its names. */
void tms_judged_phrase(const struct tms_judged *judged, FILE *out, const char *words);

/* "deposit()", or "a block at bank.c:12" if it has no label, in about `most` characters. */
size_t tms_judged_block(const struct tms_page *page, FILE *out, const struct tms_transaction *block,
                        size_t most);

/* "account.balance", "variable 3"; `brief`: "balance", if it is a field. */
size_t tms_judged_variable(const struct tms_page *page, FILE *out, uint32_t variable, bool brief,
                           size_t most);

/* "T3", "thread 3" */
size_t tms_judged_thread(const struct tms_page *page, FILE *out, uint32_t thread);

/* "line 40"; "get.c:40" if it is not in the file of the block; "location 40". */
void tms_judged_line(const struct tms_judged *judged, FILE *out, const struct tms_place *place);

/* The other thread. */
uint32_t tms_judged_intruder(const struct tms_judgement *judgement);

/* 40001 as "40,001" */
void tms_write_number(FILE *out, uint64_t number);

#endif
