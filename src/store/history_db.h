/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of findings: a SQLite database that results are imported into (docs/user/history.md
 * has the schema). A result is imported in one transaction, so an interrupted writer loses its own
 * result at most; writers wait for each other.
 *
 * A handle belongs to one thread. Every function that can fail returns false with a sentence in
 * `reason`.
 */
#ifndef TMS_STORE_HISTORY_DB_H
#define TMS_STORE_HISTORY_DB_H

#include <stdio.h>

#include "store/finding_rows.h"
#include "store/result_document.h"

#define TMS_HISTORY_REASON 512

struct sqlite3;

struct tms_history {
    struct sqlite3 *db;
    char reason[TMS_HISTORY_REASON];
};

/*
 * Opens it, brings an older schema up to date, and with `create` makes it if it is not there, the
 * directory around it included. A newer schema is refused. tms_history_close is due in both cases.
 */
bool tms_history_open(struct tms_history *history, const char *path, bool create);
void tms_history_close(struct tms_history *history);

/* A result, as it is imported. Texts may be NULL if they are unknown. */
struct tms_history_run {
    const char *digest; /* of its bytes: the same result is imported once */
    const char *label;  /* what belongs together: a night, a revision */
    const char *revision, *command, *host, *started, *outcome;
    double seconds;
    uint64_t seed, runs;
    const struct tms_document *document; /* its JSON */
};

/*
 * Imports a result. `*added` is false if the history has it already; its document is added then, if
 * that was pruned or the result is from before schema version 2.
 */
bool tms_history_import(struct tms_history *history, const struct tms_history_run *run,
                        const struct tms_finding_rows *rows, bool *added);

/*
 * The findings of all results with a label, the most severe row of each id and evidence; those that
 * the history suppresses are marked so.
 */
bool tms_history_rows(struct tms_history *history, const char *label,
                      struct tms_finding_rows *rows);

/* The label that was imported last (`back` 0), the one before that (1) …; "" if there is none. */
bool tms_history_label(struct tms_history *history, unsigned back, char *label, size_t size);

/* False after a sentence if no result has the label. */
bool tms_history_has_label(struct tms_history *history, const char *label);

/* What the history knows of a finding. */
struct tms_history_finding {
    const struct tms_finding_row *row; /* as it was last seen */
    const char *first_seen, *last_seen, *first_label, *last_label;
    uint64_t results;                                           /* that showed it */
    const char *suppressed_by, *suppressed_at, *suppressed_why; /* NULL: it is not suppressed */
};

/* Calls for each finding, the one seen last first; with `id` only for that one. */
typedef void tms_history_visit(void *user, const struct tms_history_finding *finding);
bool tms_history_findings(struct tms_history *history, const char *id, tms_history_visit *visit,
                          void *user);

/* Calls for each occurrence of a finding, the newest first. */
struct tms_history_occurrence {
    const char *label, *started, *command, *revision, *outcome, *patterns;
    enum tms_level level;
    enum tms_evidence evidence;
    uint64_t cut, executions;
};
typedef void tms_history_visit_occurrence(void *user,
                                          const struct tms_history_occurrence *occurrence);
bool tms_history_occurrences(struct tms_history *history, const char *id,
                             tms_history_visit_occurrence *visit, void *user);

/* Which results; zero: all of them. */
struct tms_history_choice {
    const char *name; /* a label, or a revision; NULL: any */
    uint64_t result;  /* the number of a single one; 0: any */
    uint64_t labels;  /* those of the last so many labels; 0: of all */
};

struct tms_history_result {
    uint64_t id; /* its number, from 1 on */
    const char *label, *revision, *command, *host, *started, *imported, *outcome;
    uint64_t runs, seed;
    uint64_t findings; /* different ones */
    bool kept;         /* its document is there */
};

/* Calls for each result of the choice, the newest first. */
typedef void tms_history_visit_result(void *user, const struct tms_history_result *result);
bool tms_history_results(struct tms_history *history, const struct tms_history_choice *choice,
                         tms_history_visit_result *visit, void *user);

/* What a prune leaves, as numbers of labels, and what it has removed. */
struct tms_history_prune {
    uint64_t results;   /* the last so many labels keep their results, … */
    uint64_t documents; /* … and of these so many keep the documents */
    uint64_t results_removed, documents_removed;
};

/* Removes what is older; the file becomes smaller if no other process uses it. */
bool tms_history_prune(struct tms_history *history, struct tms_history_prune *prune);

/* Suppresses a finding that the history knows, or, with `why` NULL, no longer does. */
bool tms_history_suppress(struct tms_history *history, const char *id, const char *who,
                          const char *why);

#endif
