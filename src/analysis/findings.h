/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of one engine: violations grouped by static pattern, with ids made of names.
 *
 * fingerprint.h defines patterns. The representative of a group is its first violation that blames
 * a transaction, or else its first violation. The id shows the first 24 bits of the 128-bit hash of
 * the pattern, and more of them where two patterns of one result would share an id.
 *
 * Names are looked up by tms_findings_close. Until then adding uses no shared state.
 */
#ifndef TMS_ANALYSIS_FINDINGS_H
#define TMS_ANALYSIS_FINDINGS_H

#include "engine_api/engine.h"

struct tms_findings;

struct tms_findings *tms_findings_new(struct tms_context *context,
                                      const struct tms_settings *settings,
                                      struct tms_memory *memory);
void tms_findings_free(struct tms_findings *findings);

/* TMS_OK or TMS_ERR_MEMORY. */
int tms_findings_add(struct tms_findings *findings, const struct tms_violation *violation);

/* See tms_host_again. */
bool tms_findings_again(struct tms_findings *findings, uint64_t key, uint64_t event);

/* Makes later predictions about blocks of that label potential. TMS_OK or TMS_ERR_MEMORY. */
int tms_findings_doubt(struct tms_findings *findings, uint32_t label, const char *why);

/*
 * Sorts by event, assigns ids, applies max_violations. The array belongs to the findings. Call
 * once, after the last add.
 */
int tms_findings_close(struct tms_findings *findings, const struct tms_finding **list,
                       size_t *count, uint64_t *unlisted);

/* Violations taken in so far. */
uint64_t tms_findings_total(const struct tms_findings *findings);

/* The strongest evidence among them; TMS_EVIDENCE_POTENTIAL if there are none. */
enum tms_evidence tms_findings_strongest(const struct tms_findings *findings);

/* After the close: tms_fingerprint_place of the finding at `index`. */
uint64_t tms_findings_place(const struct tms_findings *findings, size_t index);

/* After the close: the id of the judged finding that is about the finding at `index`. */
void tms_findings_judged(struct tms_findings *findings, size_t index, const char *id);

/* After the close: see tms_analysis_resolve. */
void tms_findings_resolve(struct tms_findings *findings, tms_stack_of *stack_of, void *user);

/* After the close: sets same_as of the finding at `index`; NULL: none. */
void tms_findings_same(struct tms_findings *findings, size_t index, const char *id);

/* After the close: the list of findings, modifiable. */
struct tms_finding *tms_findings_list(struct tms_findings *findings);

#endif
