#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --store of run, hunt and check, what the history keeps of a result, and reports made from it. The
# results in reports/ are those of the programs of examples/, saved.
# shellcheck disable=SC2154 # variables of common.bash
load common

setup_file() {
    export programs=$BATS_FILE_TMPDIR
    cat >"$programs/sum.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int sum;
static void add(void) { int old = sum; sum = old + 1; }
static void *work(void *unused) { for (int i = 0; i < 50; i++) add(); return unused; }
static void both(void) { pthread_t other; pthread_create(&other, 0, work, 0); work(0); pthread_join(other, 0); }
int main(int argc, char **argv)
{
    both();
    if (argc > 1 && strcmp(argv[1], "fork") == 0) {
        if (fork() == 0) { both(); exit(0); }
        wait(NULL);
    } else if (argc > 1) { /* a file to spoil */
        FILE *file = fopen(argv[1], "w");
        fputs("spoiled\n", file);
        fclose(file);
    }
    return 0;
}
END
    "${TMESIS:-$BATS_TEST_DIRNAME/../../build/tmesis}" cc -g "$programs/sum.c" -o "$programs/sum"
}

# sql STATEMENT [FILE]: its rows, one line each.
sql() {
    python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[2]).execute(sys.argv[1]):
    print("|".join(map(str, row)))' "$1" "${2:-.tmesis/history.db}"
}

# same_rows FILE FILE: two histories are equal except for the time of import.
same_rows() {
    local file
    for file in "$@"; do
        sql 'SELECT digest, label, revision, command, host, started, seconds, seed, runs, outcome
             FROM results ORDER BY digest' "$file" >"$file.rows"
        sql 'SELECT r.digest, o.finding, o.evidence, level, variable, patterns, place, count, executions, cut,
             o.runs, suppressed FROM occurrences o JOIN results r ON r.id = o.result ORDER BY 1, 2, 3' "$file" >>"$file.rows"
        sql 'SELECT r.digest, size, hex(bytes) FROM documents JOIN results r ON r.id = result ORDER BY 1' "$file" >>"$file.rows"
        [ "$(wc -l <"$file.rows")" -gt 2 ]
    done
    cmp "$1.rows" "$2.rows"
}

@test "--store has what history import of the JSON has: check, run, several processes, many runs, hunt" {
    stored=(--store=direct.db --label=night --revision=abc)
    tms check -q "${stored[@]}" --json=check.json lost.std fine.std
    [ "$status" -eq 1 ]
    tms run -q "${stored[@]}" --perturb=3 --json=run.json "$programs/sum"
    tms run -q "${stored[@]}" --json=fork.json "$programs/sum" fork
    tms run -q "${stored[@]}" --runs=2 --json=runs.json "$programs/sum"
    tms hunt -q "${stored[@]}" -n 3 -o found "$programs/sum"
    tms history import --store=later.db --label=night --revision=abc {check,run,fork,runs}.json found
    [ "$output" = "5 of 5 results imported" ]
    same_rows direct.db later.db
    # The same again is there already, also under another label.
    tms history import --store=direct.db --label=other {check,run,fork,runs}.json found
    [[ $output == "0 of 5 results imported"* ]]
    [ "$(sql "SELECT command LIKE '%sum', host <> '', started <> '', seed, outcome FROM results WHERE id = 2" direct.db)" = "1|1|1|3|status 0" ]
    [[ $(sql "SELECT runs, outcome FROM results WHERE id = 5" direct.db) == "3|failed in "?" of 3 runs" ]]
    tms history results --store=direct.db abc
    [ "${#lines[@]}" -eq 5 ]
    [[ ${lines[3]} == "2  night  20"*"Z  "*"  $programs/sum  (status 0)  on "*"  revision abc  seed 3" ]]
    [[ ${lines[0]} == *" in 3 runs "* ]]
}

@test "without a name it is the file of tmesis history, and only the option stores anything" {
    tms check -q --store lost.std
    [ "$status" -eq 1 ]
    [ "$(sql 'SELECT label, revision FROM results')" = "$(date -u +%F)|None" ]
    tms history list
    [[ $output == "error    AV-"* ]]
    export TMESIS_STORE=other.db TMESIS_LABEL=monday TMESIS_REVISION=abc
    tms check -q lost.std
    [ ! -e other.db ]
    tms check -q --store lost.std
    [ "$(sql 'SELECT label, revision FROM results' other.db)" = "monday|abc" ]
    tms hunt -q -n 2 -o found --store=one.db "$programs/sum"
    [ "$(sql 'SELECT COUNT(*) FROM results' one.db)" = 1 ]
    [ "$(sql 'SELECT COUNT(*) FROM results' other.db)" = 1 ]
}

@test "a history that can't be used is refused in a sentence before anything is done" {
    for command in "check lost.std" "run $programs/sum" "hunt -n 1 -o found $programs/sum"; do
        # shellcheck disable=SC2086 # several words
        set -- $command
        bad=2
        [ "$1" != run ] || bad=125
        tms "$1" -q --store=lost.std/deep/history.db "${@:2}"
        [ "$status" -eq "$bad" ]
        [ "$flat" = "tmesis: the directory lost.std/deep can't be made: Not a directory " ]
        tms "$1" -q --store=lost.std "${@:2}"
        [ "$status" -eq "$bad" ]
        [[ $flat == "tmesis: the history lost.std can't be used: file is not a database " ]]
        tms "$1" -q --store=both --json=both "${@:2}"
        [ "$status" -eq "$bad" ]
        [[ $flat == *"both can't be the history and another output"* ]]
        tms "$1" -q --store=both --report=csv:./both "${@:2}"
        [ "$status" -eq "$bad" ]
        tms "$1" -q --label=night "${@:2}"
        [ "$status" -eq "$bad" ]
        [[ $flat == *"--label needs --store"* ]]
    done
    cmp lost.std "$golden/lost-update-locked.std"
    [ ! -e both ]
    [ ! -e found ]
}

@test "rules for suppressions never replace the history" {
    "$tmesis" history import -q --store=kept.db --label=night "$here/reports/bank.json"
    cp kept.db before.db
    for store in kept.db new.db; do
        tms check -q --store="$store" --write-suppressions="./$store" lost.std
        [ "$status" -eq 2 ]
        [[ $flat == *"$store can't be the history and another output"* ]]
        tms run -q --store="$store" --write-suppressions="./$store" "$programs/sum"
        [ "$status" -eq 125 ]
        [[ $flat == *"$store can't be the history and another output"* ]]
    done
    cmp kept.db before.db
    [ ! -e new.db ]
}

@test "what goes wrong at the end leaves the report, and is an error" {
    tms run --store=history.db --json=run.json "$programs/sum" "$PWD/history.db"
    [ "$status" -eq 125 ]
    [[ $stderr == *"executions checked"*"the history history.db can't be used: file is not a database"* ]]
    output=$(<run.json)
    valid result
    tms hunt -n 1 -o found --store=history2.db "$programs/sum" "$PWD/history2.db"
    [ "$status" -eq 2 ]
    [[ $stderr == *"executions checked"*"the history history2.db can't be used: file is not a database"* ]]
    [ -s found/result.json ]
}

@test "many writers at the same time, one killed, and all others are there" {
    for i in {1..12}; do
        "$tmesis" check -q --store=history.db --label="job$i" lost.std 2>/dev/null &
    done
    "$tmesis" check -q --store=history.db --label=killed lost.std 2>/dev/null &
    kill -KILL $! 2>/dev/null || true
    wait || true
    [ "$(sql "SELECT COUNT(*), COUNT(DISTINCT label) FROM results WHERE label <> 'killed'" history.db)" = "12|12" ]
    [ "$(sql "PRAGMA integrity_check" history.db)" = ok ]
    [ "$(sql "SELECT COUNT(*) FROM results WHERE id NOT IN (SELECT result FROM documents)" history.db)" = 0 ]
}

@test "an interim report is not stored, the last one is" {
    { echo '#include <tmesis/annotate.h>' && sed 's/^    both();/& tmesis_report(); getchar();/' "$programs/sum.c"; } >interim.c
    "$tmesis" cc -g -I"$top/include" interim.c -o interim
    mkfifo input
    "$tmesis" run --store=history.db ./interim <input 2>err &
    exec 9>input
    wait_for 'still runs' err
    exec 9>&-
    wait $! || [ $? -eq 66 ] # the threads may meet
    cat err
    [[ $(<err) == *"still runs"*"final report"* ]]
    [ "$(sql 'SELECT COUNT(*) FROM results' history.db)" = 1 ]
}

@test "a history of schema version 1 is brought up to date, and reports want its files again" {
    python3 -c 'import sqlite3, sys
sqlite3.connect("old.db").executescript(open(sys.argv[1]).read())' "$here/history/version1.sql"
    [ "$(sql 'PRAGMA user_version' old.db)" = 1 ]
    tms history list --store=old.db --notes
    [[ $output == *"AV-bc22fc  deposit(), account.balance  monday to monday, 1 result"*"AV-e32f1c"*", suppressed" ]]
    [ "$(sql 'PRAGMA user_version' old.db)" = 3 ]
    [ "$(sql 'SELECT first_seen, last_seen FROM findings LIMIT 1' old.db)" = "2026-11-18T05:53:56.050Z|2026-11-18T05:53:56.050Z" ]
    tms history results --store=old.db
    [[ $output == *"revision abc123"*"  without details" ]]
    tms report --store=old.db --format=csv
    [ "$status" -eq 2 ]
    [[ $flat == *"has only the counts of these results"*"import their files again"* ]]
    cp "$here/reports/bank.json" .
    tms history import --store=old.db --label=monday bank.json
    [[ $output == "0 of 1 result imported"* ]]
    tms report --store=old.db --format=csv
    [ "$status" -eq 0 ]
    [[ $output == *AV-bc22fc* ]]
    "$tmesis" history import -q --store=new.db --label=monday --revision=abc123 bank.json
    same_rows old.db new.db
}

@test "a history in which an older result was imported late gets its labels by when programs ran" {
    python3 - "$here/history/version1.sql" <<'END'
import sqlite3, sys
db = sqlite3.connect("old.db")
db.executescript(open(sys.argv[1]).read())
# That result is of Tuesday; the one of Monday was imported a day later.
db.executescript("""
UPDATE results SET label = 'tuesday', started = '2026-11-17T05:00:00.000Z', imported = '2026-11-17T09:00:00Z';
INSERT INTO results SELECT 2, 'other', 'monday', revision, command, host, '2026-11-16T05:00:00.000Z',
    '2026-11-18T09:00:00Z', seconds, seed, runs, outcome FROM results;
INSERT INTO occurrences SELECT 2, finding, evidence, level, variable, patterns, place, count, executions, cut, runs,
    suppressed FROM occurrences;
UPDATE findings SET first_seen = '2026-11-17T09:00:00Z', first_label = 'tuesday',
    last_seen = '2026-11-18T09:00:00Z', last_label = 'monday';""")
END
    tms history list --store=old.db
    [[ $output == *"AV-bc22fc  deposit(), account.balance  monday to tuesday, 2 results"* ]]
    tms history show --store=old.db AV-bc22fc
    [[ $output == *"first seen 2026-11-16T05:00:00.000Z (monday), last seen 2026-11-17T05:00:00.000Z (tuesday)"* ]]
}

@test "prune bounds what is kept: results, or only their details" {
    for day in {1..4}; do
        { cat "$here/reports/bank.json" && printf '%*s\n' "$day" ''; } >"$day.json"
        "$tmesis" history import -q --store=h.db --label="day$day" "$day.json"
    done
    tms history prune --store=h.db --keep=3 --keep-details=1
    [ "$output" = "1 result removed, and the details of 2 more" ]
    [ "$(sql 'SELECT (SELECT COUNT(*) FROM results), (SELECT COUNT(*) FROM documents)' h.db)" = "3|1" ]
    [ "$(sql 'PRAGMA freelist_count' h.db)" = 0 ]
    tms report --store=h.db --labels=3 --format=csv
    [ "$status" -eq 0 ]
    [[ $flat == *"2 of 3 results are left out"* ]]
    tms report --store=h.db day2
    [ "$status" -eq 2 ]
    tms history show --store=h.db AV-bc22fc
    [[ $output == *"(day1), last seen "*"(day4), in 3 results"* ]]
    tms history import --store=h.db --label=day2 2.json
    tms report --store=h.db day2 -q
    [ "$status" -eq 0 ]
}

@test "a report on one stored result is that of its file, in every format" {
    "$tmesis" history import -q --store=h.db "$here/reports/bank.json"
    for format in text sarif junit github markdown csv; do
        "$tmesis" report --store=h.db --format="$format" -o stored
        "$tmesis" report --format="$format" -o file "$here/reports/bank.json"
        cmp stored file
    done
    "$tmesis" report --format=html -o file.html "$here/reports/bank.json"
    run ! grep -q '"timeline": {\|"history": {' file.html
    "$tmesis" report --store=h.db --format=html -o stored.html
    grep -q '"timeline": {' stored.html
    grep -q '"history": {"first": "20' stored.html
}

@test "a label, a revision, the last labels, one result; and each finding once" {
    for day in {1..3}; do
        for name in bank lazy; do
            { cat "$here/reports/$name.json" && printf '%*s\n' "$day" ''; } >"$name$day.json"
            ((day == 3)) && [ $name = bank ] ||
                "$tmesis" history import -q --store=h.db --label="day$day" --revision="r$day" "$name$day.json"
        done
    done
    ids() { tail -n +2 <<<"$output" | cut -d, -f1 | sort; }
    both=$("$tmesis" report --store=h.db day1 --format=csv | tail -n +2 | cut -d, -f1 | sort)
    grep -q AV-bc22fc <<<"$both"
    for choice in day2 r2 --labels=2 --labels=99; do
        tms report --store=h.db "$choice" --format=csv
        [ "$(ids)" = "$both" ]
    done
    tms report --store=h.db --format=csv
    run ! grep AV-bc22fc <<<"$output"
    tms report --store=h.db --result=1 --format=csv
    [ "$(ids)" = "$("$tmesis" report --format=csv "$here/reports/bank.json" | tail -n +2 | cut -d, -f1 | sort)" ]
    # A test suite for each program and result.
    tms report --store=h.db --labels=2 --format=junit
    [ "$(grep -c '<testsuite ' <<<"$output")" -eq 3 ]
    for wrong in day9 --result=9 "--labels=2 day1" "--result=1 day1"; do
        # shellcheck disable=SC2086 # two words
        tms report --store=h.db $wrong
        [ "$status" -eq 2 ]
    done
    tms report
    [ "$status" -eq 2 ]
    [[ $flat == *"report needs a RESULT, or --store"* ]]
    tms report --labels=2 bank1.json
    [ "$status" -eq 2 ]
    tms report --store=none.db
    [ "$status" -eq 2 ]
    [[ $flat == *"none.db can't be read"* ]]
    [ ! -e none.db ]
    cp h.db before.db
    tms report --store=h.db --format=csv -o h.db
    [ "$status" -eq 2 ]
    cmp h.db before.db
}

@test "suppressions of the history are in SARIF and count in no report" {
    "$tmesis" history import -q --store=h.db --label=night "$here/reports/bank.json"
    "$tmesis" history suppress --store=h.db AV-bc22fc --why='by "design", <see> #12' --who=ada
    "$tmesis" report --store=h.db --format=sarif -o out.sarif
    python3 - <<'END'
import json
results = json.load(open("out.sarif"))["runs"][0]["results"]
by_id = {r["partialFingerprints"]["tmesis/v1"]: r["suppressions"] for r in results}
(one,) = by_id.pop("AV-bc22fc")
assert one["kind"] == "external" and one["status"] == "accepted", one
assert one["justification"] == 'by "design", <see> #12', one
assert one["properties"]["suppressedBy"] == "ada", one
assert one["properties"]["suppressedAt"].startswith("20"), one
assert all(other == [] for other in by_id.values()), by_id
END
    tms report --store=h.db --format=junit
    [[ $output == *'failures="0"'* ]]
    tms report --store=h.db
    [[ $output == *"suppressed."* ]]
    [[ $output != *"Not a bug?  --suppress=AV-bc22fc"* ]]
    "$tmesis" history suppress --store=h.db AV-bc22fc --remove
    tms report --store=h.db --format=junit
    [[ $output == *'failures="1"'* ]]
}

@test "a damaged document is refused" {
    "$tmesis" history import -q --store=h.db "$here/reports/bank.json"
    for change in "size = size + 1" "size = 1000000000000" "size = -1" "bytes = 'text'" "bytes = NULL" "bytes = substr(bytes, 1, 100)"; do
        cp h.db bad.db
        python3 -c 'import sqlite3, sys
db = sqlite3.connect("bad.db")
db.execute("PRAGMA writable_schema = ON")
db.execute("PRAGMA ignore_check_constraints = ON")
try:
    db.execute("UPDATE documents SET " + sys.argv[1])
except sqlite3.IntegrityError:
    sys.exit(0)
db.commit()' "$change"
        cmp -s h.db bad.db && continue
        tms report --store=bad.db --format=html -o bad.html
        [ "$status" -eq 2 ]
        [[ $flat == *"the document of result 1 is damaged"* ]]
        [ ! -e bad.html ]
    done
}
