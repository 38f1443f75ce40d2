/* SPDX-License-Identifier: Apache-2.0 */
/* Findings over time; see history_timeline.h. */
#include "store/history_timeline.h"

#include <string.h>

#include "store/history_sql.h"

/* The state while loading. */
struct loading {
    struct tms_history_timeline *made;
    struct tms_history *history;
    struct tms_timeline_column *columns;
    struct tms_timeline_finding *findings;
    uint64_t *first; /* of each column the number of its first result: the key of the column */
    bool by_result;
    bool failed;
};

static void *take(struct loading *loading, size_t bytes)
{
    void *taken = tms_arena_take(&loading->made->arena, &loading->made->memory, bytes);

    if (taken == NULL && !loading->failed) {
        loading->failed = true;
        tms_history_fail(loading->history, "out of memory");
    }
    return taken;
}

static const char *copy(struct loading *loading, const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    char *taken = text != NULL ? take(loading, size) : NULL;

    return taken != NULL ? memcpy(taken, text, size) : NULL;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* The key of a result's column: the first result of its label, or the result itself. */
#define BY_LABEL                                                                                   \
    "WITH labels AS (SELECT l.label AS name, MIN(l.id) AS key, MAX(l.id) AS last,"                 \
    " MAX(l.seen) AS at FROM results l GROUP BY l.label),"                                         \
    " keyed AS (SELECT r.*, l.key, l.name, l.at, l.last FROM results r"                            \
    " JOIN labels l ON l.name = r.label) "
#define BY_RESULT                                                                                  \
    "WITH keyed AS (SELECT r.*, r.id AS key, r.seen AS name, r.seen AS at, r.id AS last"           \
    " FROM results r) "

static sqlite3_stmt *ask(struct loading *loading, const char *by_label, const char *by_result,
                         const char *types, const struct tms_history_choice *choice)
{
    return tms_sql_prepare(loading->history, loading->by_result ? by_result : by_label, types,
                           (uint64_t)TMS_TIMELINE_COLUMNS, choice->name, choice->result,
                           choice->labels);
}

#define COLUMNS                                                                                    \
    "SELECT k.key, k.name, COUNT(*), SUM(k.runs), MAX(CASE WHEN (?2 IS NULL OR k.label = ?2 OR"    \
    " k.revision = ?2) AND (?3 = 0 OR k.id = ?3) AND (?4 = 0 OR k.label IN (" TMS_SQL_LABELS       \
    "LIMIT ?4)) THEN 1 ELSE 0 END)"                                                                \
    " FROM keyed k GROUP BY k.key, k.name ORDER BY MAX(k.at) DESC, MAX(k.last) DESC LIMIT ?1"

static void load_columns(struct loading *loading, const struct tms_history_choice *choice)
{
    sqlite3_stmt *statement = ask(loading, BY_LABEL COLUMNS, BY_RESULT COLUMNS, "ntnn", choice);
    size_t count = 0;

    loading->failed = loading->failed || statement == NULL;
    while (!loading->failed && tms_sql_next(loading->history, statement, &loading->failed)) {
        size_t at =
            TMS_TIMELINE_COLUMNS - ++count; /* rows are newest first, columns oldest first */
        loading->first[at] = tms_sql_count(statement, 0);
        loading->columns[at] = (struct tms_timeline_column){
            .name = copy(loading, tms_sql_text(statement, 1)),
            .results = tms_sql_count(statement, 2),
            .runs = tms_sql_count(statement, 3),
            .reported = sqlite3_column_int(statement, 4) != 0,
        };
    }
    sqlite3_finalize(statement);
    loading->first += TMS_TIMELINE_COLUMNS - count;
    loading->columns += TMS_TIMELINE_COLUMNS - count;
    loading->made->timeline.columns = loading->columns;
    loading->made->timeline.column_count = count;
}

/* The column with a key; SIZE_MAX if it is older than those that are listed. */
static size_t column_of(const struct loading *loading, uint64_t first)
{
    for (size_t i = 0; i < loading->made->timeline.column_count; i++) {
        if (loading->first[i] == first) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* ---- findings ------------------------------------------------------------------------------- */

static void load_findings(struct loading *loading)
{
    struct tms_history *history = loading->history;
    struct tms_timeline *timeline = &loading->made->timeline;
    sqlite3_stmt *statement =
        tms_sql_prepare(history,
                        "SELECT f.id, f.first_seen, f.last_seen, f.first_label, f.last_label,"
                        " s.who, s.at, s.why FROM findings f LEFT JOIN suppressions s"
                        " ON s.finding = f.id ORDER BY f.id",
                        "");
    size_t most = timeline->finding_count;

    timeline->finding_count = 0;
    timeline->findings = loading->findings;
    loading->failed = loading->failed || statement == NULL;
    while (!loading->failed && timeline->finding_count < most &&
           tms_sql_next(history, statement, &loading->failed)) {
        loading->findings[timeline->finding_count++] = (struct tms_timeline_finding){
            .id = copy(loading, tms_sql_text(statement, 0)),
            .first_seen = copy(loading, tms_sql_text(statement, 1)),
            .last_seen = copy(loading, tms_sql_text(statement, 2)),
            .first_column = copy(loading, tms_sql_text(statement, 3)),
            .last_column = copy(loading, tms_sql_text(statement, 4)),
            .suppressed_by = copy(loading, tms_sql_text(statement, 5)),
            .suppressed_at = copy(loading, tms_sql_text(statement, 6)),
            .suppressed_why = copy(loading, tms_sql_text(statement, 7)),
        };
    }
    sqlite3_finalize(statement);
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* The strongest occurrence of a finding in a result. */
#define CELLS                                                                                      \
    ", seen AS (SELECT o.finding, o.result, MAX(o.level) AS level, MAX(o.runs) AS runs,"           \
    " MIN(o.suppressed) AS suppressed FROM occurrences o GROUP BY o.finding, o.result)"            \
    " SELECT s.finding, k.key, MAX(s.level), COUNT(*), SUM(s.runs), MIN(s.suppressed)"             \
    " FROM seen s JOIN keyed k ON k.id = s.result GROUP BY s.finding, k.key"                       \
    " ORDER BY s.finding, MAX(k.at), MAX(k.last)"

/* Cells by finding, then by column. */
struct row {
    struct tms_timeline_cell cells[TMS_TIMELINE_COLUMNS];
    size_t count;
    struct tms_timeline_finding *finding;
};

/*
 * A finding is new if no label before the reported ones has it. Among results of one label nothing
 * is new: they are of different programs as a rule, and none precedes another.
 */
static bool is_new(const struct loading *loading, const struct tms_timeline_finding *finding)
{
    const struct tms_timeline *timeline = &loading->made->timeline;
    const struct tms_timeline_column *column = &timeline->columns[finding->cells[0].column];

    return !loading->by_result && column->reported &&
           (column > timeline->columns || timeline->omitted > 0) &&
           strcmp(finding->first_column, column->name) == 0;
}

static void end_row(struct loading *loading, struct row *row)
{
    size_t bytes = row->count * sizeof(row->cells[0]);
    struct tms_timeline_cell *cells = row->count > 0 ? take(loading, bytes) : NULL;

    if (cells != NULL) {
        memcpy(cells, row->cells, bytes);
        row->finding->cells = cells;
        row->finding->cell_count = row->count;
        row->finding->is_new = is_new(loading, row->finding);
    }
    row->count = 0;
}

static void add_cell(struct loading *loading, struct row *row, sqlite3_stmt *statement)
{
    size_t column = column_of(loading, tms_sql_count(statement, 1));
    bool suppressed = sqlite3_column_int(statement, 5) != 0 || row->finding->suppressed_why != NULL;
    enum tms_level level = (enum tms_level)sqlite3_column_int(statement, 2);

    if (column == SIZE_MAX || row->count == TMS_TIMELINE_COLUMNS || level > TMS_LEVEL_ERROR) {
        return;
    }
    row->cells[row->count++] = (struct tms_timeline_cell){.column = column,
                                                          .level = level,
                                                          .results = tms_sql_count(statement, 3),
                                                          .runs = tms_sql_count(statement, 4)};
    loading->columns[column].levels[level] += !suppressed;
}

static void load_cells(struct loading *loading)
{
    static const struct tms_history_choice all;
    sqlite3_stmt *statement = ask(loading, BY_LABEL CELLS, BY_RESULT CELLS, "", &all);
    struct row row = {0};

    loading->failed = loading->failed || statement == NULL;
    while (!loading->failed && tms_sql_next(loading->history, statement, &loading->failed)) {
        const struct tms_timeline_finding *found =
            tms_timeline_find(&loading->made->timeline, tms_sql_text(statement, 0));
        if (found == NULL) {
            continue; /* the schema does not allow it, but a damaged file may */
        }
        struct tms_timeline_finding *finding =
            &loading->findings[found - loading->made->timeline.findings];
        if (finding != row.finding) {
            end_row(loading, &row);
            row.finding = finding;
        }
        add_cell(loading, &row, statement);
    }
    end_row(loading, &row);
    sqlite3_finalize(statement);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool count(struct tms_history *history, const char *sql, uint64_t *number)
{
    return tms_sql_number(history, tms_sql_prepare(history, sql, ""), number);
}

static void load_all(struct loading *loading, const struct tms_history_choice *choice)
{
    struct tms_timeline *timeline = &loading->made->timeline;
    struct tms_history *history = loading->history;
    uint64_t labels, results, findings;

    if (!count(history, "SELECT COUNT(DISTINCT label) FROM results", &labels) ||
        !count(history, "SELECT COUNT(*) FROM results", &results) ||
        !count(history, "SELECT COUNT(*) FROM findings", &findings)) {
        loading->failed = true;
        return;
    }
    loading->by_result = labels <= 1;
    timeline->unit = loading->by_result ? "result" : "label";
    loading->columns = take(loading, TMS_TIMELINE_COLUMNS * sizeof(*loading->columns));
    loading->first = take(loading, TMS_TIMELINE_COLUMNS * sizeof(*loading->first));
    loading->findings = take(loading, (findings + 1) * sizeof(*loading->findings));
    timeline->finding_count = findings;
    if (!loading->failed) {
        load_columns(loading, choice);
        load_findings(loading);
        timeline->omitted = (loading->by_result ? results : labels) - timeline->column_count;
        load_cells(loading);
    }
}

bool tms_timeline_load(struct tms_history_timeline *made, struct tms_history *history,
                       const struct tms_history_choice *choice)
{
    struct loading loading = {.made = made, .history = history};

    *made = (struct tms_history_timeline){0};
    if (!tms_sql_execute(history, "BEGIN")) { /* so that all queries see one state */
        return false;
    }
    load_all(&loading, choice);
    return tms_sql_end(history, !loading.failed);
}

void tms_timeline_free(struct tms_history_timeline *made)
{
    tms_arena_clear(&made->arena, &made->memory);
    *made = (struct tms_history_timeline){0};
}
