/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What documents say about a finding: its rule, its words, where in the source it is, and its
 * interleaving as one list of steps in the order in which they come. Words are written to a stream;
 * with tms_page_note() as that stream, `page->note_text` has them for the escaping of the format.
 */
#ifndef TMS_REPORT_EXPORTED_FINDING_H
#define TMS_REPORT_EXPORTED_FINDING_H

#include "report/export.h"
#include "report/export_rules.h"
#include "report/judged_phrase.h"
#include "report/user_frame.h"

#define TMS_NO_CONFLICT SIZE_MAX

struct tms_exported_step {
    struct tms_turn turn;
    struct tms_place place; /* the line that a person looks for */
    uint32_t label;         /* of the block that begins here, if `begins` */
    bool begins;            /* no more is known than that a block begins here */
    bool opens;             /* a block begins here, whatever else happens */
    uint64_t block;         /* of a cycle or schedule: the event that began its transaction */
    bool own;               /* of the thread whose block was cut */
    size_t conflict;        /* the later step that it conflicts with; TMS_NO_CONFLICT: none */
};

struct tms_exported {
    const struct tms_export_entry *entry;
    struct tms_page *page;
    const struct tms_finding *finding;
    const struct tms_export_rule *rule;
    struct tms_judged judged; /* of other engines than `judge`: only its page */
    /* The lines from the first to the second step of the block; the same line: one is known. */
    struct tms_place first, last;
    struct tms_exported_step *steps;
    size_t step_count;
};

/* TMS_OK or TMS_ERR_MEMORY; the free is due in both cases. */
int tms_exported_make(struct tms_exported *exported, const struct tms_export_entry *entry);
void tms_exported_free(struct tms_exported *exported);

/* "deposit() is not atomic: an update of account.balance was lost", without a full stop. */
void tms_exported_headline(const struct tms_exported *exported, FILE *out);

/* Sentences; nothing if there is nothing to say. */
void tms_exported_why(const struct tms_exported *exported, FILE *out);
void tms_exported_but(const struct tms_exported *exported, FILE *out);
void tms_exported_fix(const struct tms_exported *exported, FILE *out);

/* "cut in 27 of 40,001 executions", "seen 3 times, in 7 of 30 runs, first with seed 12". */
void tms_exported_counted(const struct tms_exported *exported, FILE *out);

/* The blocks that were cut along with it: "transfer(), cashier()"; nothing if there are none. */
void tms_exported_outer(const struct tms_exported *exported, FILE *out);

/* The process, or if the document is about several traces or programs the one that it is from:
 * "bank, process 4711"; NULL if there is only one. */
const char *tms_exported_origin(const struct tms_exported *exported);

/* The headline, why, but and fix in one paragraph, in the note of the page. */
void tms_exported_message(const struct tms_exported *exported);

/* `"key": "…"` with what the note of the page has, as JSON. */
void tms_exported_json(const struct tms_exported *exported, FILE *out, const char *before,
                       const char *key);

/* "read balance", "begin deposit". */
void tms_exported_operation(const struct tms_exported *exported,
                            const struct tms_exported_step *step, FILE *out);

/* The file of a place, as tms_exported_path has it; nothing if it is not known. With its line:
 * "bank.c:12", after `before`; of a location without file and line, "location 3". */
void tms_exported_file(const struct tms_exported *exported, const struct tms_place *place,
                       FILE *out);
void tms_exported_place(const struct tms_exported *exported, const struct tms_place *place,
                        const char *before, FILE *out);

/* Are its file and line known? */
bool tms_exported_is_known(const struct tms_place *place);

/* The block: its function, "deposit"; "" if it has no name. */
const char *tms_exported_block(const struct tms_exported *exported);

/* The name of a thread. */
const char *tms_exported_thread(const struct tms_exported *exported, uint32_t thread);

/*
 * A path of the source for other programs: relative to --strip-prefix or to the working directory
 * if it is in it, otherwise as it is. *length becomes that of the part that is returned.
 */
const char *tms_exported_path(const struct tms_page *page, const char *path, size_t *length);

#endif
