# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # bats and common.bash set the variables
# diff and history: findings of several results, compared and kept.
load common

# results: bug.json has a finding, fine.json none.
results() {
    export TMESIS_STORE=history.db
    "$tmesis" check -q --json=fine.json fine.std 2>/dev/null
    "$tmesis" check -q --json=bug.json lost.std 2>/dev/null || [ $? -eq 1 ]
}

# ran DAY FILE: the result, as if the program had run on that day of November.
ran() {
    sed -E "s/(\"started\": )\"[^\"]*\"/\1\"2026-11-0$1T02:00:00.000Z\"/" "$2"
}

@test "diff says what is new, still there and gone" {
    results
    tms diff fine.json bug.json
    [ "$status" -eq 1 ]
    [[ $output == "+ new         error    AV-"*"  deposit(), balance"*"1 new · 0 worse · 0 still there · 0 gone" ]]
    tms diff bug.json bug.json
    [ "$status" -eq 0 ]
    [[ $output == "= still there error"* ]]
    tms diff bug.json fine.json
    [ "$status" -eq 0 ]
    [[ $output == "- gone        error"* ]]
    tms diff -q bug.json fine.json
    [ "$output" = "0 new · 0 worse · 0 still there · 1 gone" ]
}

@test "diff and history refuse what they can't use" {
    results
    tms diff bug.json
    [ "$status" -eq 2 ]
    tms diff none.json bug.json
    [ "$status" -eq 2 ]
    [[ $stderr == *"none.json can't be read"* ]]
    tms history list
    [ "$status" -eq 2 ]
    [[ $stderr == *"tmesis history import or --store makes it"* ]]
    [ ! -e history.db ]
    tms history lst
    [ "$status" -eq 2 ]
    [[ $stderr == *"did you mean list"* ]]
    head -c 300 bug.json >cut.json
    tms history import cut.json
    [ "$status" -eq 2 ]
    [[ $stderr == *"cut.json: line 1 is not JSON"* ]]
    echo nonsense >nonsense.db
    tms history list --store=nonsense.db
    [ "$status" -eq 2 ]
    [[ $stderr == *"file is not a database"* ]]
    [ "$(cat nonsense.db)" = nonsense ]
    tms history import bug.json
    tms history diff
    [ "$status" -eq 0 ]
    [[ $output == *" is the first label: there is nothing to compare it with yet" ]]
    tms history diff monday tuesday
    [ "$status" -eq 2 ]
    [[ $stderr == *"no result with the label monday"* ]]
    tms history suppress AV-000000 --why=because
    [ "$status" -eq 2 ]
    [[ $stderr == *"no finding AV-000000"* ]]
}

@test "a database of a newer version is refused and left alone" {
    results
    tms history import bug.json
    python3 -c 'import sqlite3; sqlite3.connect("history.db").execute("PRAGMA user_version = 99")'
    cp history.db before.db
    tms history list
    [ "$status" -eq 2 ]
    [[ $stderr == *"schema version 99"*"use a newer tmesis"* ]]
    cmp before.db history.db
}

@test "findings are listed, shown, suppressed and pruned" {
    results
    tms history import --label=monday fine.json
    tms history import --label=tuesday bug.json
    [ "$output" = "1 of 1 result imported" ]
    tms history import --label=wednesday bug.json
    [[ $output == "0 of 1 result imported"* ]]
    tms history list
    [[ $output == "error    AV-"*"  deposit(), balance  tuesday to tuesday, 1 result" ]]
    id=$(awk '{print $2}' <<<"$output")
    tms history show "$id"
    [[ $output == *"first seen "*"(tuesday), last seen "*"in 1 result"*"tuesday  error    observed, cut in 1 of "* ]]
    tms history diff
    [ "$status" -eq 1 ]
    tms history suppress "$id"
    [ "$status" -eq 2 ]
    tms history suppress "$id" --why='by design' --who=ada
    [ "$status" -eq 0 ]
    tms history diff
    [ "$status" -eq 0 ]
    tms history suppress
    echo "$output" >known.rules
    [[ $output == "id $id # ada, "*": by design" ]]
    "$tmesis" check -q --suppress=known.rules lost.std
    tms history suppress "$id" --remove
    tms history diff
    [ "$status" -eq 1 ]
    tms history prune --keep=1
    [ "$output" = "1 result removed" ]
    tms history show "$id"
    [ "$status" -eq 0 ]
}

@test "a week of nights with writers at the same time, one of them killed" {
    results
    for program in {1..30}; do
        sed "s/\"command\": null/\"command\": \".\/test$program\"/" fine.json >"fine$program.json"
    done
    for day in {1..7}; do
        mkdir "day$day"
        for program in {1..30}; do
            from=fine$program.json
            ((day < 3 || day > 5 || program != 17)) || from=bug.json
            { ran "$day" "$from" && printf '%*s\n' "$((30 * day + program))" ''; } >"day$day/$program.json"
        done
        if ((day == 4)); then
            "$tmesis" history import -q --label=day4 day4/{1..30}.json &
            sleep 0.02
            kill -KILL $! 2>/dev/null || true
            wait $! || true
        fi
        printf '%s\n' "day$day"/*.json | xargs -P4 -n5 "$tmesis" history import -q --label="day$day"
        if ((day > 1)); then
            tms history diff
            echo "$day $status ${lines[-1]}" >>days
        fi
    done
    cat days
    diff days - <<'END'
2 0 0 new · 0 worse · 0 still there · 0 gone
3 1 1 new · 0 worse · 0 still there · 0 gone
4 0 0 new · 0 worse · 1 still there · 0 gone
5 0 0 new · 0 worse · 1 still there · 0 gone
6 0 0 new · 0 worse · 0 still there · 1 gone
7 0 0 new · 0 worse · 0 still there · 0 gone
END
    python3 -c 'import sqlite3
db = sqlite3.connect("history.db")
assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
assert db.execute("SELECT COUNT(*) FROM results").fetchone() == (210,)'
    tms history diff day2 day5
    [ "$status" -eq 1 ]
}

@test "labels are in the order in which the programs ran, whenever they are imported" {
    results
    ran 2 fine.json >tuesday.json
    ran 1 bug.json >monday.json
    ran 1 fine.json >late.json
    tms history import --label=tuesday tuesday.json
    tms history import --label=monday monday.json late.json
    [ "$output" = "2 of 2 results imported" ]
    tms history diff
    [ "$status" -eq 0 ]
    [[ $output == "monday → tuesday"*"1 gone" ]]
    tms history diff monday
    [[ $output == "monday → tuesday"* ]]
    tms history show "$(tmesis_id)"
    [[ $output == *"first seen 2026-11-01T02:00:00.000Z (monday), last seen 2026-11-01T02:00:00.000Z (monday)"* ]]
    tms history prune --keep=1
    [ "$output" = "2 results removed" ]
    tms history results
    [[ $output == "1  tuesday"* ]]
}

# tmesis_id: of the finding of bug.json.
tmesis_id() {
    "$tmesis" history list | awk '{print $2}'
}

@test "a database of another program is left alone, and reading changes nothing" {
    results
    for version in 0 1 2 3; do
        rm -f other.db
        python3 -c 'import sqlite3, sys
db = sqlite3.connect("other.db")
db.execute("CREATE TABLE results (id)")
db.execute("PRAGMA user_version = " + sys.argv[1])' "$version"
        cp other.db before.db
        for action in list diff "import bug.json" prune; do
            # shellcheck disable=SC2086 # several words
            tms history --store=other.db $action
            [ "$status" -eq 2 ]
            [[ $stderr == *"other.db is a database of another program; choose another file"* ]]
            cmp other.db before.db
        done
    done
    : >empty.db
    tms history list --store=empty.db
    [ "$status" -eq 2 ]
    [[ $stderr == *"empty.db is empty"* ]]
    [ ! -s empty.db ]
    tms history import bug.json
    cp history.db before.db
    for action in list results diff "show $(tmesis_id)"; do
        # shellcheck disable=SC2086 # several words
        tms history $action
        [ "$status" -eq 0 ]
    done
    cmp history.db before.db
}

@test "a history that can't be written is refused before the program runs" {
    [ "$(id -u)" -eq 0 ] || skip "only root can become another user"
    local other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    "${other[@]}" test -x "$tmesis" || skip "another user can't run $tmesis"
    results
    local store
    store=$(mktemp -d)/history.db
    tms history import --store="$store" bug.json
    chmod 755 "${store%/*}"
    run "${other[@]}" "$tmesis" history list --store="$store"
    [ "$status" -eq 0 ]
    run "${other[@]}" "$tmesis" run -q --store="$store" echo it-ran
    [ "$status" -eq 125 ]
    [[ $output == *"$store can't be used: attempt to write a readonly database" ]]
    rm -r "${store%/*}"
}

@test "a result without any trace that was read is not stored" {
    printf 'A|end\n' >broken.std
    run ! "$tmesis" check -q --json=broken.json broken.std
    run "$tmesis" history import --store=unread.db broken.json
    [ "$status" -eq 2 ]
    [[ $output == *"broken.json has no result to store: none of its traces could be read"* ]]
    run ! "$tmesis" check -q --store=read.db broken.std fine.std
    run "$tmesis" history results --store=read.db
    [[ $output == *"1 finding"*" on "* || $output == *"0 findings"*" on "* ]]
}

@test "diff says that the later result is incomplete" {
    "$tmesis" check -q --json=before.json lost.std || true
    printf 'A|w(x)\n' >nothing.std
    "$tmesis" check -q --json=after.json nothing.std || true
    tms diff before.json after.json
    [ "$status" -eq 0 ]
    [ "$stderr" = "tmesis: after.json is incomplete, so what it lacks may not be gone" ]
    tms diff before.json before.json
    [ -z "$stderr" ]
}

@test "a hunt in which every run failed is stored, and is not clean in documents" {
    printf '#include <unistd.h>\nint main(void) { return pause(); }\n' >pauses.c
    "$tmesis" cc -g pauses.c -o pauses
    run "$tmesis" hunt -q --runs=1 --timeout=1 --store=failed.db -o failed ./pauses
    [ "$status" -eq 1 ]
    run "$tmesis" history results --store=failed.db
    [[ $output == *'0 findings'*'failed in 1 of 1 runs'* ]]
    "$tmesis" report --format=junit failed >failed.xml
    grep -q 'errors="2"' failed.xml
}

@test "import goes on after a result that can't be used" {
    results
    head -c 300 bug.json >cut.json
    tms history import fine.json cut.json bug.json
    [ "$status" -eq 2 ]
    [ "$output" = "2 of 3 results imported; 1 can't be used" ]
    [[ $stderr == *"cut.json: line 1 is not JSON"* ]]
}

@test "every suppression becomes a rule, of findings that are only predicted or whose results are gone too" {
    export TMESIS_STORE=history.db
    "$tmesis" history import -q --label=monday "$here/reports/requeue.json"
    for id in AV-35f37f AV-d5c378; do # observed; predicted
        "$tmesis" history suppress "$id" --why=why
    done
    tms history suppress
    [ "$(cut -d' ' -f1,2 <<<"$output" | sort | tr '\n' ,)" = "id AV-35f37f,id AV-d5c378," ]
    "$tmesis" check -q --json=fine.json fine.std
    "$tmesis" history import -q --label=tuesday fine.json
    "$tmesis" history prune -q --keep=1
    before=$output
    tms history suppress
    [ "$output" = "$before" ]
}

@test "labels may be long" {
    results
    long=$(printf 'night-%.0s' {1..200})
    "$tmesis" history import -q --label="${long}1" fine.json
    "$tmesis" history import -q --label="${long}2" bug.json
    for labels in '' "${long}1" "${long}1 ${long}2"; do
        # shellcheck disable=SC2086 # no, one or two words
        tms history diff $labels
        [ "$status" -eq 1 ]
        [[ $output == "${long}1 → ${long}2"*"1 new · "* ]]
    done
    tms history diff "${long}3"
    [ "$status" -eq 2 ]
}

@test "names of a suppression stay in their line" {
    results
    tms history import bug.json
    tms history suppress "$(tmesis_id)" --why=$'a\nblock *' --who=$'bob\nblock *'
    [ "$status" -eq 0 ]
    tms history suppress
    [ "${#lines[@]}" -eq 1 ]
    tms history show "$(tmesis_id)"
    [[ $output == *"suppressed by bob"*" at "* ]]
}

@test "options of other actions are refused" {
    results
    tms history import bug.json
    for wrong in "prune --label=x" "list --why=x" "diff --keep=3" "results --notes" "show AV-000000 --remove"; do
        # shellcheck disable=SC2086 # several words
        tms history $wrong
        [ "$status" -eq 2 ]
        [[ $stderr == *"has no option --"*"see tmesis history --help"* ]]
    done
    tms history suppress --remove
    [ "$status" -eq 2 ]
    [[ $stderr == *"suppress needs the id of a finding"* ]]
    TMESIS_LABEL=monday tms history list
    [ "$status" -eq 0 ]
}
