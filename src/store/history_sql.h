/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements on the history, for the files that ask it: prepared and bound in one call, and with
 * one sentence in `history->reason` after a failure.
 */
#ifndef TMS_STORE_HISTORY_SQL_H
#define TMS_STORE_HISTORY_SQL_H

#include <sqlite3.h>

#include "store/history_db.h"

/* Both return false, with the sentence given, or with what SQLite says. */
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

/* The next row? Without one the statement is over, `*failed` says how. */
bool tms_sql_next(struct tms_history *history, sqlite3_stmt *statement, bool *failed);

/* A statement without rows; it is finalized. NULL has failed already. */
bool tms_sql_perform(struct tms_history *history, sqlite3_stmt *statement);

/* The number in the first column of the first row, 0 without a row; it is finalized. */
bool tms_sql_number(struct tms_history *history, sqlite3_stmt *statement, uint64_t *number);

/* A column of the row. NULL stays NULL. */
const char *tms_sql_text(sqlite3_stmt *statement, int index);
uint64_t tms_sql_count(sqlite3_stmt *statement, int index);

/* Ends the transaction that BEGIN began: with a commit if all was good, else by taking it back. */
bool tms_sql_end(struct tms_history *history, bool good);

#endif
