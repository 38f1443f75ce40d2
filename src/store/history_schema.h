/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema of the history, one step per version: a database of version n has had the first n
 * steps. Steps are never changed once released; a new version appends one. Plain SQL that
 * PostgreSQL accepts too: texts for times (ISO 8601, UTC), no SQLite-only types or functions. BYTEA
 * is PostgreSQL's type for bytes; SQLite stores bytes in a column of any type.
 *
 * The version is SQLite's user_version. The application_id tells a history from the databases of
 * other programs; a history that has been of version 2 at most does not have it.
 */
#ifndef TMS_STORE_HISTORY_SCHEMA_H
#define TMS_STORE_HISTORY_SCHEMA_H

static const char *const tms_history_steps[] = {
    "CREATE TABLE results ("
    " id INTEGER PRIMARY KEY,"
    " digest TEXT NOT NULL UNIQUE,"
    " label TEXT NOT NULL,"
    " revision TEXT,"
    " command TEXT,"
    " host TEXT,"
    " started TEXT,"
    " imported TEXT NOT NULL,"
    " seconds DOUBLE PRECISION NOT NULL,"
    " seed BIGINT NOT NULL,"
    " runs BIGINT NOT NULL,"
    " outcome TEXT);"
    "CREATE INDEX results_label ON results (label);"
    "CREATE TABLE findings ("
    " id TEXT PRIMARY KEY,"
    " block TEXT NOT NULL,"
    " first_seen TEXT NOT NULL,"
    " first_label TEXT NOT NULL,"
    " last_seen TEXT NOT NULL,"
    " last_label TEXT NOT NULL);"
    "CREATE TABLE occurrences ("
    " result BIGINT NOT NULL REFERENCES results (id) ON DELETE CASCADE,"
    " finding TEXT NOT NULL REFERENCES findings (id),"
    " evidence BIGINT NOT NULL,"
    " level BIGINT NOT NULL,"
    " variable TEXT NOT NULL,"
    " patterns TEXT NOT NULL,"
    " place TEXT NOT NULL,"
    " count BIGINT NOT NULL,"
    " executions BIGINT NOT NULL,"
    " cut BIGINT NOT NULL,"
    " runs BIGINT NOT NULL,"
    " suppressed BIGINT NOT NULL,"
    " PRIMARY KEY (result, finding, evidence));"
    "CREATE INDEX occurrences_finding ON occurrences (finding);"
    "CREATE TABLE suppressions ("
    " finding TEXT PRIMARY KEY REFERENCES findings (id),"
    " who TEXT NOT NULL,"
    " at TEXT NOT NULL,"
    " why TEXT NOT NULL);",
    /* 2: the whole result, for reports; a table of its own, so that the others stay small */
    "CREATE TABLE documents ("
    " result BIGINT PRIMARY KEY REFERENCES results (id) ON DELETE CASCADE,"
    " size BIGINT NOT NULL,"
    " bytes BYTEA NOT NULL);",
    /* 3: what counts is when the program ran, not when its result was imported */
    "ALTER TABLE results ADD COLUMN seen TEXT NOT NULL DEFAULT '';"
    "UPDATE results SET seen = COALESCE(started, imported);"
    "UPDATE findings SET first_seen = (SELECT MIN(r.seen) FROM occurrences o JOIN results r"
    " ON r.id = o.result WHERE o.finding = findings.id),"
    " first_label = (SELECT r.label FROM occurrences o JOIN results r ON r.id = o.result"
    " WHERE o.finding = findings.id ORDER BY r.seen, r.id LIMIT 1)"
    " WHERE first_seen > (SELECT MIN(r.seen) FROM occurrences o JOIN results r"
    " ON r.id = o.result WHERE o.finding = findings.id);"
    "UPDATE findings SET last_seen = (SELECT MAX(r.seen) FROM occurrences o JOIN results r"
    " ON r.id = o.result WHERE o.finding = findings.id),"
    " last_label = (SELECT r.label FROM occurrences o JOIN results r ON r.id = o.result"
    " WHERE o.finding = findings.id ORDER BY r.seen DESC, r.id DESC LIMIT 1)"
    " WHERE last_seen > (SELECT MAX(r.seen) FROM occurrences o JOIN results r"
    " ON r.id = o.result WHERE o.finding = findings.id);",
};

#define TMS_HISTORY_APPLICATION 0x746d6573u /* "tmes" */
#define TMS_HISTORY_VERSION     (sizeof(tms_history_steps) / sizeof(tms_history_steps[0]))

#endif
