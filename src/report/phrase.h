/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transactions and steps of a cycle in words, for a reader who knows threads, locks and
 * variables but no theory of transactions.
 */
#ifndef TMS_REPORT_PHRASE_H
#define TMS_REPORT_PHRASE_H

#include "report/text_layout.h"

bool tms_same_transaction(const struct tms_transaction *a, const struct tms_transaction *b);

/* The letter of the index-th step of a cycle: a … z, then a2 … z2, and so on. */
#define TMS_LETTER_SIZE 24
const char *tms_step_letter(size_t index, char buffer[TMS_LETTER_SIZE]);

/*
 * "A's deposit", "A's block begun at event 5", "A's event 7 (outside any block)". Within the
 * cycle of `finding` the phrase belongs to one transaction only.
 */
void tms_phrase_transaction(const struct tms_page *page, FILE *out,
                            const struct tms_finding *finding,
                            const struct tms_transaction *transaction);

/* The thread, lock, variable …: its name, with its class before a bare number: "lock 3". */
void tms_phrase_thing(const struct tms_page *page, FILE *out, enum tms_class cls, uint32_t id);

/* The other transactions of the cycle: "B's deposit and C's transfer", "…, and 7 more". */
void tms_phrase_others(const struct tms_page *page, FILE *out, const struct tms_finding *finding);

/* A sentence about the blocks inside the transaction that are refuted too; nothing for none. */
void tms_phrase_refuted(const struct tms_page *page, FILE *out, const struct tms_finding *finding);

/*
 * "A read x (event 3) before B wrote it (event 8)"; if it did not happen, "A reads x (event 3)
 * before B writes it (event 8)"; of program order also what follows from it:
 * "A ran transfer (event 4) before audit (event 7): the same thread, so in that order"
 */
void tms_phrase_step(const struct tms_page *page, FILE *out, const struct tms_step *step,
                     bool happened);

#endif
