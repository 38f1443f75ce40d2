-- A history of schema version 1: reports/bank.json, imported and with a suppression, as sqlite3 .dump writes it.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE results ( id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, label TEXT NOT NULL, revision TEXT, command TEXT, host TEXT, started TEXT, imported TEXT NOT NULL, seconds DOUBLE PRECISION NOT NULL, seed BIGINT NOT NULL, runs BIGINT NOT NULL, outcome TEXT);
INSERT INTO results VALUES(1,'99fed6645f9b21e876151bee4ae95786','monday','abc123','./bank','host','2026-11-18T05:53:56.050Z','2026-11-18T09:16:45Z',0.33311499999999999444,1,1,'status 0');
CREATE TABLE findings ( id TEXT PRIMARY KEY, block TEXT NOT NULL, first_seen TEXT NOT NULL, first_label TEXT NOT NULL, last_seen TEXT NOT NULL, last_label TEXT NOT NULL);
INSERT INTO findings VALUES('AV-bc22fc','deposit','2026-11-18T09:16:45Z','monday','2026-11-18T09:16:45Z','monday');
INSERT INTO findings VALUES('AV-e32f1c','cashier','2026-11-18T09:16:45Z','monday','2026-11-18T09:16:45Z','monday');
CREATE TABLE occurrences ( result BIGINT NOT NULL REFERENCES results (id) ON DELETE CASCADE, finding TEXT NOT NULL REFERENCES findings (id), evidence BIGINT NOT NULL, level BIGINT NOT NULL, variable TEXT NOT NULL, patterns TEXT NOT NULL, place TEXT NOT NULL, count BIGINT NOT NULL, executions BIGINT NOT NULL, cut BIGINT NOT NULL, runs BIGINT NOT NULL, suppressed BIGINT NOT NULL, PRIMARY KEY (result, finding, evidence));
INSERT INTO occurrences VALUES(1,'AV-bc22fc',0,2,'account.balance','lost-update','examples/bank/buggy.c:39',459,4000,459,1,0);
INSERT INTO occurrences VALUES(1,'AV-e32f1c',0,0,'account.balance','foreign-value-read-back,intermediate-value-seen','examples/bank/buggy.c:46',51,2,2,1,0);
CREATE TABLE suppressions ( finding TEXT PRIMARY KEY REFERENCES findings (id), who TEXT NOT NULL, at TEXT NOT NULL, why TEXT NOT NULL);
INSERT INTO suppressions VALUES('AV-e32f1c','ada','2026-11-18T09:16:45Z','by design');
CREATE INDEX results_label ON results (label);
CREATE INDEX occurrences_finding ON occurrences (finding);
COMMIT;
PRAGMA user_version = 1;
