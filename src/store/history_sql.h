/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes statements on the history: prepares and binds them in one call, and sets
 * `history->reason` on failure.
 */
#ifndef TMS_STORE_HISTORY_SQL_H
#define TMS_STORE_HISTORY_SQL_H

#include <sqlite3.h>

#include "store/history_db.h"

/* The labels, the newest first: a label is as new as its newest result. */
#define TMS_SQL_LABELS                                                                             \
    "SELECT l.label FROM results l GROUP BY l.label ORDER BY MAX(l.seen) DESC, MAX(l.id) DESC "

/* Both return false and set the reason: to the given sentence, or to SQLite's message. */
__attribute__((format(printf, 2, 3))) bool tms_history_fail(struct tms_history *history,
                                                            const char *format, ...);
bool tms_sql_fail(struct tms_history *history);

/* Statements without parameters and rows. */
bool tms_sql_execute(struct tms_history *history, const char *sql);

/*
 * Prepares a statement and binds its parameters: of `types`, one letter each, `t` is a text (which
 * may be NULL), `n` a uint64_t, `r` a double, `b` bytes: a pointer that stays valid, and a size_t.
 * NULL after a sentence.
 */
sqlite3_stmt *tms_sql_prepare(struct tms_history *history, const char *sql, const char *types, ...);

/* Steps to the next row. False at the end, with `*failed` set after an error. */
bool tms_sql_next(struct tms_history *history, sqlite3_stmt *statement, bool *failed);

/* Executes and finalizes a statement without rows. NULL: it has failed already. */
bool tms_sql_perform(struct tms_history *history, sqlite3_stmt *statement);

/*
 * Reads the number in the first column of the first row, 0 without a row, and finalizes the
 * statement.
 */
bool tms_sql_number(struct tms_history *history, sqlite3_stmt *statement, uint64_t *number);

/* A column of the row. NULL stays NULL. */
const char *tms_sql_text(sqlite3_stmt *statement, int index);
uint64_t tms_sql_count(sqlite3_stmt *statement, int index);

/* Ends a transaction: commits it if `good`, else rolls it back. */
bool tms_sql_end(struct tms_history *history, bool good);

#endif
