/* SPDX-License-Identifier: Apache-2.0 */
/* The history in SQLite; see history_db.h. */
#include "store/history_db.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array_length.h"
#include "base/parent_directories.h"
#include "store/history_schema.h"
#include "store/history_sql.h"

#define BUSY_MOST      60000 /* milliseconds that a writer waits for others */
#define HISTORY_TABLES 4     /* of every version */

/* ---- opening -------------------------------------------------------------------------------- */

/* What a database says of itself, and how many tables of a history it has. */
struct identity {
    uint64_t application, version;
    uint64_t tables, histories;
};

static bool identify(struct tms_history *history, struct identity *identity)
{
    static const char *const asked[] = {
        "PRAGMA application_id", "PRAGMA user_version", "SELECT COUNT(*) FROM sqlite_master",
        "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ('results',"
        " 'findings', 'occurrences', 'suppressions')"};
    uint64_t *const answers[] = {&identity->application, &identity->version, &identity->tables,
                                 &identity->histories};
    bool good = true;

    for (size_t i = 0; good && i < TMS_LENGTH(asked); i++) {
        good = tms_sql_number(history, tms_sql_prepare(history, asked[i], ""), answers[i]);
    }
    return good;
}

static bool is_empty(const struct identity *identity)
{
    return identity->application == 0 && identity->version == 0 && identity->tables == 0;
}

/* False after a sentence: a database that is none of ours is left alone. */
static bool is_usable(struct tms_history *history, const struct identity *identity)
{
    bool old = identity->application == 0 && identity->version > 0 &&
               identity->histories == HISTORY_TABLES;

    if (identity->application != TMS_HISTORY_APPLICATION && !old && !is_empty(identity)) {
        return tms_history_fail(
            history, "%.200s is a database of another program; choose another file with --store",
            history->path);
    }
    return identity->version <= TMS_HISTORY_VERSION ||
           tms_history_fail(history,
                            "%.200s has schema version %llu, and this tmesis knows up to %zu: use "
                            "a newer tmesis",
                            history->path, (unsigned long long)identity->version,
                            TMS_HISTORY_VERSION);
}

/* In a transaction, so that of two processes that migrate it, the second finds it done. */
static bool migrate(struct tms_history *history)
{
    struct identity identity = {0};
    char pragmas[96];

    if (!tms_sql_execute(history, "BEGIN IMMEDIATE")) {
        return false;
    }
    bool good = identify(history, &identity) && is_usable(history, &identity);
    for (size_t i = identity.version; good && i < TMS_HISTORY_VERSION; i++) {
        good = tms_sql_execute(history, tms_history_steps[i]);
    }
    snprintf(pragmas, sizeof(pragmas), "PRAGMA user_version = %zu; PRAGMA application_id = %u",
             TMS_HISTORY_VERSION, TMS_HISTORY_APPLICATION);
    return tms_sql_end(history, good && tms_sql_execute(history, pragmas));
}

/* Can the file be written? Sets the version to what it is already, and rolls back. */
static bool try_writing(struct tms_history *history)
{
    char pragma[64];

    snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %zu", TMS_HISTORY_VERSION);
    bool good = tms_sql_execute(history, "BEGIN IMMEDIATE") && tms_sql_execute(history, pragma);
    sqlite3_exec(history->db, "ROLLBACK", NULL, NULL, NULL);
    return good;
}

/* Only a creator fills an empty file, and a reader never writes to a history of today's version. */
static bool prepare(struct tms_history *history, enum tms_history_access access)
{
    struct identity identity = {0};

    /* Identified in one transaction, because another process may be creating it. */
    if (!tms_sql_execute(history, "PRAGMA foreign_keys = ON; BEGIN") ||
        !tms_sql_end(history, identify(history, &identity)) || !is_usable(history, &identity)) {
        return false;
    }
    if (is_empty(&identity) && access != TMS_HISTORY_CREATE) {
        return tms_history_fail(history,
                                "%.200s is empty; tmesis history import or --store makes a history",
                                history->path);
    }
    bool good = identity.version == TMS_HISTORY_VERSION || migrate(history);
    return good && (access == TMS_HISTORY_READ ? tms_sql_execute(history, "PRAGMA query_only = ON")
                                               : try_writing(history));
}

static bool make_directories(struct tms_history *history)
{
    char failed[PATH_MAX];

    return tms_make_parent_directories(history->path, failed) ||
           tms_history_fail(history, "the directory %.200s can't be made: %s", failed,
                            strerror(errno));
}

/* To SQLite ":memory:" is not a file name. */
static bool open_file(struct tms_history *history, const char *path, bool create)
{
    int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    char plain[PATH_MAX];

    snprintf(plain, sizeof(plain), "%s%.*s", path[0] == ':' ? "./" : "", PATH_MAX - 8, path);
    return sqlite3_open_v2(plain, &history->db, flags, NULL) == SQLITE_OK;
}

bool tms_history_open(struct tms_history *history, const char *path, enum tms_history_access access)
{
    bool create = access == TMS_HISTORY_CREATE;
    struct stat status;

    *history = (struct tms_history){.path = path};
    if (path[0] == '\0') {
        return tms_history_fail(history, "the history needs the name of a file");
    }
    if (!create && stat(path, &status) != 0) {
        return tms_history_fail(history,
                                "%s can't be read: %s; tmesis history import or --store makes it",
                                path, strerror(errno));
    }
    if (create && !make_directories(history)) {
        return false;
    }
    if (!open_file(history, path, create)) {
        return tms_history_fail(history, "%s can't be opened: %s", path,
                                sqlite3_errmsg(history->db));
    }
    sqlite3_busy_timeout(history->db, BUSY_MOST);
    return prepare(history, access);
}

void tms_history_close(struct tms_history *history)
{
    sqlite3_close(history->db);
    history->db = NULL;
}

/* ---- import --------------------------------------------------------------------------------- */

#define TIME_SIZE 24

static void write_now(char text[TIME_SIZE])
{
    time_t now = time(NULL);
    struct tm parts;

    gmtime_r(&now, &parts);
    strftime(text, TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static bool insert_result(struct tms_history *history, const struct tms_history_run *run,
                          const char *now, const char *seen)
{
    return tms_sql_perform(
        history,
        tms_sql_prepare(history,
                        "INSERT INTO results (digest, label, revision, command, host, started,"
                        " imported, seen, seconds, seed, runs, outcome)"
                        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "ttttttttrnnt", run->digest, run->label, run->revision, run->command,
                        run->host, run->started, now, seen, run->seconds, run->seed, run->runs,
                        run->outcome));
}

static bool insert_row(struct tms_history *history, uint64_t result,
                       const struct tms_finding_row *row, const char *label, const char *seen)
{
    return tms_sql_perform(
               history, tms_sql_prepare(
                            history,
                            "INSERT INTO findings (id, block, first_seen, first_label, last_seen,"
                            " last_label) VALUES (?1, ?2, ?3, ?4, ?3, ?4)"
                            " ON CONFLICT (id) DO UPDATE SET"
                            " first_label = CASE WHEN ?3 < first_seen THEN ?4 ELSE first_label END,"
                            " first_seen = CASE WHEN ?3 < first_seen THEN ?3 ELSE first_seen END,"
                            " last_label = CASE WHEN ?3 < last_seen THEN last_label ELSE ?4 END,"
                            " last_seen = CASE WHEN ?3 < last_seen THEN last_seen ELSE ?3 END",
                            "tttt", row->id, row->block, seen, label)) &&
           tms_sql_perform(
               history,
               tms_sql_prepare(
                   history,
                   "INSERT INTO occurrences (result, finding, evidence, level, variable,"
                   " patterns, place, count, executions, cut, runs, suppressed)"
                   " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                   " ON CONFLICT (result, finding, evidence) DO NOTHING",
                   "ntnntttnnnnn", result, row->id, (uint64_t)row->evidence, (uint64_t)row->level,
                   row->variable, row->patterns, row->place, row->count, row->executions, row->cut,
                   row->runs, (uint64_t)row->suppressed));
}

static bool insert_all(struct tms_history *history, const struct tms_history_run *run,
                       const struct tms_finding_rows *rows, uint64_t *result)
{
    char now[TIME_SIZE];
    const char *seen = run->started != NULL ? run->started : now;

    write_now(now);
    bool good = insert_result(history, run, now, seen);
    *result = (uint64_t)sqlite3_last_insert_rowid(history->db);
    for (size_t i = 0; good && i < rows->count; i++) {
        good = insert_row(history, *result, &rows->at[i], run->label, seen);
    }
    return good;
}

/* The number of the result with a digest, 0: there is none. */
static bool find_result(struct tms_history *history, const char *digest, uint64_t *result)
{
    return tms_sql_number(
        history, tms_sql_prepare(history, "SELECT id FROM results WHERE digest = ?", "t", digest),
        result);
}

static bool insert_document(struct tms_history *history, uint64_t result,
                            const struct tms_document *document)
{
    return tms_sql_perform(history, tms_sql_prepare(history,
                                                    "INSERT INTO documents (result, size, bytes)"
                                                    " VALUES (?, ?, ?)"
                                                    " ON CONFLICT (result) DO NOTHING",
                                                    "nnb", result, (uint64_t)document->size,
                                                    document->bytes, document->packed));
}

bool tms_history_import(struct tms_history *history, const struct tms_history_run *run,
                        const struct tms_finding_rows *rows, bool *added)
{
    uint64_t result = 0;

    *added = false;
    if (!tms_sql_execute(history, "BEGIN IMMEDIATE")) {
        return false;
    }
    bool good = find_result(history, run->digest, &result);
    bool adds = good && result == 0;
    good = good && (!adds || insert_all(history, run, rows, &result)) &&
           insert_document(history, result, run->document);
    good = tms_sql_end(history, good);
    *added = good && adds;
    return good;
}

/* ---- questions ------------------------------------------------------------------------------ */

char *tms_history_label(struct tms_history *history, unsigned back)
{
    sqlite3_stmt *statement =
        tms_sql_prepare(history, TMS_SQL_LABELS "LIMIT 1 OFFSET ?", "n", (uint64_t)back);
    bool failed = statement == NULL;
    bool there = !failed && tms_sql_next(history, statement, &failed);
    char *label = failed ? NULL : strdup(there ? tms_sql_text(statement, 0) : "");

    if (!failed && label == NULL) {
        tms_history_fail(history, "out of memory");
    }
    sqlite3_finalize(statement);
    return label;
}

bool tms_history_has_label(struct tms_history *history, const char *label)
{
    uint64_t count = 0;

    return tms_sql_number(
               history,
               tms_sql_prepare(history, "SELECT COUNT(*) FROM results WHERE label = ?", "t", label),
               &count) &&
           (count > 0 ||
            tms_history_fail(history, "the history has no result with the label %.200s", label));
}

/* The columns of ROW, from 0 on. */
#define ROW                                                                                        \
    "o.finding, f.block, o.variable, o.patterns, o.place, o.level, o.evidence, o.count,"           \
    " o.executions, o.cut, o.runs, (o.suppressed <> 0 OR s.finding IS NOT NULL)"
#define ROW_COLUMNS 12
#define ROW_TABLES                                                                                 \
    " FROM occurrences o JOIN findings f ON f.id = o.finding JOIN results r ON r.id = o.result"    \
    " LEFT JOIN suppressions s ON s.finding = o.finding "

static struct tms_finding_row row_of(sqlite3_stmt *statement)
{
    return (struct tms_finding_row){
        .id = tms_sql_text(statement, 0),
        .block = tms_sql_text(statement, 1),
        .variable = tms_sql_text(statement, 2),
        .patterns = tms_sql_text(statement, 3),
        .place = tms_sql_text(statement, 4),
        .level = (enum tms_level)sqlite3_column_int(statement, 5),
        .evidence = (enum tms_evidence)sqlite3_column_int(statement, 6),
        .count = tms_sql_count(statement, 7),
        .executions = tms_sql_count(statement, 8),
        .cut = tms_sql_count(statement, 9),
        .runs = tms_sql_count(statement, 10),
        .suppressed = sqlite3_column_int(statement, 11) != 0,
    };
}

bool tms_history_rows(struct tms_history *history, const char *label, struct tms_finding_rows *rows)
{
    sqlite3_stmt *statement = tms_sql_prepare(
        history,
        "SELECT " ROW ROW_TABLES "WHERE r.label = ? ORDER BY o.finding, o.evidence, o.level DESC",
        "t", label);
    bool failed = statement == NULL;

    while (!failed && tms_sql_next(history, statement, &failed)) {
        struct tms_finding_row row = row_of(statement);
        const struct tms_finding_row *last = rows->count > 0 ? &rows->at[rows->count - 1] : NULL;
        if (last != NULL && strcmp(last->id, row.id) == 0 && last->evidence == row.evidence) {
            continue; /* a less severe occurrence */
        }
        failed = !tms_finding_rows_add(rows, &row) && !tms_history_fail(history, "out of memory");
    }
    sqlite3_finalize(statement);
    return !failed;
}

bool tms_history_findings(struct tms_history *history, const char *id, tms_history_visit *visit,
                          void *user)
{
    sqlite3_stmt *statement = tms_sql_prepare(
        history,
        "SELECT " ROW ", f.first_seen, f.last_seen, f.first_label, f.last_label,"
        " (SELECT COUNT(DISTINCT p.result) FROM occurrences p WHERE p.finding = o.finding),"
        " s.who, s.at, s.why" ROW_TABLES "WHERE (?1 IS NULL OR o.finding = ?1) AND o.result ="
        " (SELECT p.result FROM occurrences p JOIN results q ON q.id = p.result"
        " WHERE p.finding = o.finding ORDER BY q.seen DESC, q.id DESC LIMIT 1)"
        " ORDER BY r.seen DESC, o.result DESC, o.level DESC, o.finding, o.evidence",
        "t", id);
    bool failed = statement == NULL;

    while (!failed && tms_sql_next(history, statement, &failed)) {
        const struct tms_finding_row row = row_of(statement);
        visit(user, &(struct tms_history_finding){
                        .row = &row,
                        .first_seen = tms_sql_text(statement, ROW_COLUMNS),
                        .last_seen = tms_sql_text(statement, ROW_COLUMNS + 1),
                        .first_label = tms_sql_text(statement, ROW_COLUMNS + 2),
                        .last_label = tms_sql_text(statement, ROW_COLUMNS + 3),
                        .results = tms_sql_count(statement, ROW_COLUMNS + 4),
                        .suppressed_by = tms_sql_text(statement, ROW_COLUMNS + 5),
                        .suppressed_at = tms_sql_text(statement, ROW_COLUMNS + 6),
                        .suppressed_why = tms_sql_text(statement, ROW_COLUMNS + 7),
                    });
    }
    sqlite3_finalize(statement);
    return !failed;
}

bool tms_history_occurrences(struct tms_history *history, const char *id,
                             tms_history_visit_occurrence *visit, void *user)
{
    sqlite3_stmt *statement = tms_sql_prepare(
        history,
        "SELECT r.label, r.started, r.command, r.revision, r.outcome, o.patterns, o.level,"
        " o.evidence, o.cut, o.executions FROM occurrences o JOIN results r"
        " ON r.id = o.result WHERE o.finding = ? ORDER BY r.seen DESC, r.id DESC, o.evidence",
        "t", id);
    bool failed = statement == NULL;

    while (!failed && tms_sql_next(history, statement, &failed)) {
        visit(user, &(struct tms_history_occurrence){
                        .label = tms_sql_text(statement, 0),
                        .started = tms_sql_text(statement, 1),
                        .command = tms_sql_text(statement, 2),
                        .revision = tms_sql_text(statement, 3),
                        .outcome = tms_sql_text(statement, 4),
                        .patterns = tms_sql_text(statement, 5),
                        .level = (enum tms_level)sqlite3_column_int(statement, 6),
                        .evidence = (enum tms_evidence)sqlite3_column_int(statement, 7),
                        .cut = tms_sql_count(statement, 8),
                        .executions = tms_sql_count(statement, 9),
                    });
    }
    sqlite3_finalize(statement);
    return !failed;
}

bool tms_history_results(struct tms_history *history, const struct tms_history_choice *choice,
                         tms_history_visit_result *visit, void *user)
{
    sqlite3_stmt *statement = tms_sql_prepare(
        history,
        "SELECT r.id, r.label, r.revision, r.command, r.host, r.started, r.imported, r.outcome,"
        " r.runs, r.seed,"
        " (SELECT COUNT(DISTINCT o.finding) FROM occurrences o WHERE o.result = r.id),"
        " (SELECT COUNT(*) FROM documents d WHERE d.result = r.id) FROM results r"
        " WHERE (?1 IS NULL OR r.label = ?1 OR r.revision = ?1) AND (?2 = 0 OR r.id = ?2)"
        " AND (?3 = 0 OR r.label IN (" TMS_SQL_LABELS "LIMIT ?3))"
        " ORDER BY r.seen DESC, r.id DESC",
        "tnn", choice->name, choice->result, choice->labels);
    bool failed = statement == NULL;

    while (!failed && tms_sql_next(history, statement, &failed)) {
        visit(user, &(struct tms_history_result){
                        .id = tms_sql_count(statement, 0),
                        .label = tms_sql_text(statement, 1),
                        .revision = tms_sql_text(statement, 2),
                        .command = tms_sql_text(statement, 3),
                        .host = tms_sql_text(statement, 4),
                        .started = tms_sql_text(statement, 5),
                        .imported = tms_sql_text(statement, 6),
                        .outcome = tms_sql_text(statement, 7),
                        .runs = tms_sql_count(statement, 8),
                        .seed = tms_sql_count(statement, 9),
                        .findings = tms_sql_count(statement, 10),
                        .kept = tms_sql_count(statement, 11) != 0,
                    });
    }
    sqlite3_finalize(statement);
    return !failed;
}

bool tms_history_suppressions(struct tms_history *history, tms_history_visit_suppression *visit,
                              void *user)
{
    sqlite3_stmt *statement = tms_sql_prepare(
        history, "SELECT finding, who, at, why FROM suppressions ORDER BY at, finding", "");
    bool failed = statement == NULL;

    while (!failed && tms_sql_next(history, statement, &failed)) {
        visit(user, &(struct tms_history_suppression){
                        .id = tms_sql_text(statement, 0),
                        .who = tms_sql_text(statement, 1),
                        .at = tms_sql_text(statement, 2),
                        .why = tms_sql_text(statement, 3),
                    });
    }
    sqlite3_finalize(statement);
    return !failed;
}

/* ---- changes -------------------------------------------------------------------------------- */

/* Executes `sql`, for one of the two tables, with the number of labels to keep. */
static bool prune_table(struct tms_history *history, const char *sql, uint64_t keep,
                        uint64_t *removed)
{
    bool good = tms_sql_perform(history, tms_sql_prepare(history, sql, "n", keep));

    *removed = good ? (uint64_t)sqlite3_changes(history->db) : 0;
    return good;
}

#define LAST_LABELS "(" TMS_SQL_LABELS "LIMIT ?)"

bool tms_history_prune(struct tms_history *history, struct tms_history_prune *prune)
{
    if (!tms_sql_execute(history, "BEGIN IMMEDIATE")) {
        return false;
    }
    bool good = tms_sql_end(
        history, prune_table(history, "DELETE FROM results WHERE label NOT IN " LAST_LABELS,
                             prune->results, &prune->results_removed) &&
                     prune_table(history,
                                 "DELETE FROM documents WHERE result NOT IN (SELECT id FROM results"
                                 " WHERE label IN " LAST_LABELS ")",
                                 prune->documents, &prune->documents_removed));
    if (good && prune->results_removed + prune->documents_removed > 0) {
        /* The file cannot shrink while others use it; they reuse its free space. */
        sqlite3_exec(history->db, "VACUUM", NULL, NULL, NULL);
    }
    return good;
}

bool tms_history_suppress(struct tms_history *history, const char *id, const char *who,
                          const char *why)
{
    uint64_t known = 0;
    char now[TIME_SIZE];

    write_now(now);
    if (!tms_sql_number(
            history,
            tms_sql_prepare(history, "SELECT COUNT(*) FROM findings WHERE id = ?", "t", id),
            &known)) {
        return false;
    }
    if (known == 0) {
        return tms_history_fail(
            history, "the history has no finding %.40s; tmesis history list shows those it has",
            id);
    }
    return why == NULL
               ? tms_sql_perform(
                     history, tms_sql_prepare(history, "DELETE FROM suppressions WHERE finding = ?",
                                              "t", id))
               : tms_sql_perform(
                     history,
                     tms_sql_prepare(
                         history,
                         "INSERT INTO suppressions (finding, who, at, why)"
                         " VALUES (?1, ?2, ?3, ?4)"
                         " ON CONFLICT (finding) DO UPDATE SET who = ?2, at = ?3, why = ?4",
                         "tttt", id, who, now, why));
}
