/* SPDX-License-Identifier: Apache-2.0 */
/* Statements on the history; see history_sql.h. */
#include "store/history_sql.h"

#include <stdarg.h>

bool tms_history_fail(struct tms_history *history, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(history->reason, sizeof(history->reason), format, arguments);
    va_end(arguments);
    return false;
}

bool tms_sql_fail(struct tms_history *history)
{
    bool busy = sqlite3_errcode(history->db) == SQLITE_BUSY;

    return tms_history_fail(history, "the history %.200s can't be used: %.200s%s", history->path,
                            sqlite3_errmsg(history->db),
                            busy ? "; another process has written to it for too long" : "");
}

bool tms_sql_execute(struct tms_history *history, const char *sql)
{
    return sqlite3_exec(history->db, sql, NULL, NULL, NULL) == SQLITE_OK || tms_sql_fail(history);
}

/* One parameter of the type that the letter names. */
static int bind(sqlite3_stmt *statement, int at, char type, va_list *arguments)
{
    if (type == 't') {
        return sqlite3_bind_text(statement, at, va_arg(*arguments, const char *), -1,
                                 SQLITE_TRANSIENT);
    }
    if (type == 'n') {
        return sqlite3_bind_int64(statement, at, (sqlite3_int64)va_arg(*arguments, uint64_t));
    }
    if (type == 'b') {
        const void *bytes = va_arg(*arguments, const void *);
        return sqlite3_bind_blob64(statement, at, bytes, va_arg(*arguments, size_t), SQLITE_STATIC);
    }
    return sqlite3_bind_double(statement, at, va_arg(*arguments, double));
}

sqlite3_stmt *tms_sql_prepare(struct tms_history *history, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement = NULL;
    va_list arguments;
    int code = sqlite3_prepare_v2(history->db, sql, -1, &statement, NULL);

    va_start(arguments, types);
    for (int i = 0; code == SQLITE_OK && types[i] != '\0'; i++) {
        code = bind(statement, i + 1, types[i], &arguments);
    }
    va_end(arguments);
    if (code != SQLITE_OK) {
        tms_sql_fail(history);
        sqlite3_finalize(statement);
        return NULL;
    }
    return statement;
}

bool tms_sql_next(struct tms_history *history, sqlite3_stmt *statement, bool *failed)
{
    int code = sqlite3_step(statement);

    *failed = code != SQLITE_ROW && code != SQLITE_DONE;
    if (*failed) {
        tms_sql_fail(history);
    }
    return code == SQLITE_ROW;
}

bool tms_sql_perform(struct tms_history *history, sqlite3_stmt *statement)
{
    bool failed = statement == NULL;

    if (statement != NULL) {
        tms_sql_next(history, statement, &failed);
        sqlite3_finalize(statement);
    }
    return !failed;
}

bool tms_sql_number(struct tms_history *history, sqlite3_stmt *statement, uint64_t *number)
{
    bool failed = statement == NULL;

    *number = 0;
    if (statement != NULL) {
        if (tms_sql_next(history, statement, &failed)) {
            *number = (uint64_t)sqlite3_column_int64(statement, 0);
        }
        sqlite3_finalize(statement);
    }
    return !failed;
}

const char *tms_sql_text(sqlite3_stmt *statement, int index)
{
    return (const char *)sqlite3_column_text(statement, index);
}

uint64_t tms_sql_count(sqlite3_stmt *statement, int index)
{
    return (uint64_t)sqlite3_column_int64(statement, index);
}

bool tms_sql_end(struct tms_history *history, bool good)
{
    if (good && tms_sql_execute(history, "COMMIT")) {
        return true;
    }
    sqlite3_exec(history->db, "ROLLBACK", NULL, NULL, NULL); /* keeps the earlier reason */
    return false;
}
