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
    const char *path; /* of the caller, who keeps it until the history is closed */
    char reason[TMS_HISTORY_REASON];
};

enum tms_history_access {
    TMS_HISTORY_READ,   /* nothing is changed, except that an older schema is migrated */
    TMS_HISTORY_WRITE,  /* fails if the database can't be written */
    TMS_HISTORY_CREATE, /* … and creates a missing one, and its directories */
};

/*
 * Opens the database and migrates an older schema. Refuses a newer schema, and a database of
 * another program. Call tms_history_close in both cases.
 */
bool tms_history_open(struct tms_history *history, const char *path,
                      enum tms_history_access access);
void tms_history_close(struct tms_history *history);

/* A result, as it is imported. Texts may be NULL if they are unknown. */
struct tms_history_run {
    const char *digest; /* of its bytes: the same result is imported once */
    const char *label;  /* groups results: a night, a revision */
    const char *revision, *command, *host, *started, *outcome;
    double seconds;
    uint64_t seed, runs;
    const struct tms_document *document; /* its JSON */
};

/*
 * Imports a result. Sets `*added` to false if the history has it already; then only adds its
 * document, if that was pruned or the result is older than schema version 2.
 */
bool tms_history_import(struct tms_history *history, const struct tms_history_run *run,
                        const struct tms_finding_rows *rows, bool *added);

/*
 * The findings of all results with a label, the most severe row of each id and evidence; those that
 * the history suppresses are marked so.
 */
bool tms_history_rows(struct tms_history *history, const char *label,
                      struct tms_finding_rows *rows);

/*
 * The newest label (`back` 0), the one before that (1) …; "" if there is none. The caller frees it;
 * NULL after a failure.
 */
char *tms_history_label(struct tms_history *history, unsigned back);

/* False after a sentence if no result has the label. */
bool tms_history_has_label(struct tms_history *history, const char *label);

/* A finding over all results of the history. */
struct tms_history_finding {
    const struct tms_finding_row *row; /* as it was last seen */
    const char *first_seen, *last_seen, *first_label, *last_label;
    uint64_t results;                                           /* that showed it */
    const char *suppressed_by, *suppressed_at, *suppressed_why; /* NULL: it is not suppressed */
};

/* Calls `visit` for each finding, most recently seen first; with `id` only for that one. */
typedef void tms_history_visit(void *user, const struct tms_history_finding *finding);
bool tms_history_findings(struct tms_history *history, const char *id, tms_history_visit *visit,
                          void *user);

/* Calls `visit` for each occurrence of a finding, newest first. */
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
    uint64_t labels;  /* only results of this many last labels; 0: of all */
};

struct tms_history_result {
    uint64_t id; /* its number, from 1 on */
    const char *label, *revision, *command, *host, *started, *imported, *outcome;
    uint64_t runs, seed;
    uint64_t findings; /* different ones */
    bool kept;         /* its document is stored */
};

/* Calls `visit` for each result of the choice, newest first. */
typedef void tms_history_visit_result(void *user, const struct tms_history_result *result);
bool tms_history_results(struct tms_history *history, const struct tms_history_choice *choice,
                         tms_history_visit_result *visit, void *user);

/* What pruning keeps, as numbers of labels, and what it has removed. */
struct tms_history_prune {
    uint64_t results;   /* number of last labels that keep their results, … */
    uint64_t documents; /* … and of these, those that keep the documents */
    uint64_t results_removed, documents_removed;
};

/* Removes what is older; the file becomes smaller if no other process uses it. */
bool tms_history_prune(struct tms_history *history, struct tms_history_prune *prune);

/* A finding that the history suppresses, whether or not a result that showed it is still there. */
struct tms_history_suppression {
    const char *id, *who, *at, *why;
};

/* Calls `visit` for each of them, in the order in which they were decided. */
typedef void tms_history_visit_suppression(void *user,
                                           const struct tms_history_suppression *suppression);
bool tms_history_suppressions(struct tms_history *history, tms_history_visit_suppression *visit,
                              void *user);

/* Suppresses a finding of the history; with `why` NULL, no longer suppresses it. */
bool tms_history_suppress(struct tms_history *history, const char *id, const char *who,
                          const char *why);

#endif
