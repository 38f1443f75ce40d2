#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tmesis check --csv, --repeat and --until-first: engines measured over several passes.
# shellcheck disable=SC2154 # common.bash sets them
load common

# rows PROGRAM [FILE]: a Python expression over `r`, the rows of a CSV file as dictionaries; without
# FILE of standard output. `f` makes a number of a cell.
rows() {
    python3 -c 'import csv, io, sys
text = open(sys.argv[2], newline="").read() if sys.argv[2:] else sys.stdin.read()
r = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
f = float
result = eval(sys.argv[1])
print(result, [list(row.items()) for row in r])
sys.exit(0 if result is True else 1)' "$@" <<<"$output"
}

# many: v.std with a violation at event 5000 of 20,000, ok.std with none.
many() {
    "$tmesis" gen -q --events 20k --violation 25% -o v.std
    "$tmesis" gen -q --events 20k -o ok.std
}

@test "CSV: a header, and a row per trace and engine, with the columns of the manual page" {
    tms check -q --csv --engine frontier,goodlock lost.std fine.std
    [ "$status" -eq 1 ]
    rows '[(x["trace"], x["engine"]) for x in r] == [("lost.std", "frontier"), ("lost.std", "goodlock"), ("fine.std", "frontier"), ("fine.std", "goodlock")]'
    rows 'r[0]["verdict"] == "violation" and r[0]["first_violation_event"] == "11" and r[0]["violations"] == "1"'
    rows '(r[0]["format"], r[0]["events"], r[0]["threads"], r[0]["locks"], r[0]["variables"], r[0]["transactions"]) == ("std", "14", "2", "1", "1", "2")'
    rows 'r[2]["verdict"] == "serializable" and r[2]["first_violation_event"] == "" and r[2]["complete"] == "true"'
    rows 'all(x["runs"] == "1" and x["until_first"] == "false" and x["events_checked"] == x["events"] for x in r)'
    rows 'all(x["seconds"] == x["seconds_min"] == x["seconds_max"] and f(x["pass_seconds"]) > 0 and int(x["memory_bytes"]) > 0 for x in r)'
    rows 'all(None not in x and None not in x.values() for x in r)'
    documented=$(sed -n '/^# CSV/,/^# EXIT/p' "$top/docs/man/tmesis-check.1.scd" | grep '^_' | tr -d '_ \n' | sed 's/,$//')
    [ -n "$documented" ]
    header=${lines[0]%$'\r'}
    [ "${header//[_,]/}" = "${documented//,/}" ]
}

@test "CSV to a file; odd paths are quoted" {
    odd=$'odd "name", with\nall.std'
    cp lost.std "$odd"
    cp lost.std $'bad\xff.std'
    tms check -q --csv=out.csv --engine=frontier "$odd" $'bad\xff.std'
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    rows 'len(r) == 2 and r[0]["trace"] == "odd \"name\", with\nall.std" and r[1]["trace"] == "bad\ufffd.std"' out.csv
    [ "$(head -1 out.csv | tail -c 2 | od -An -tx1 | tr -d ' ')" = 0d0a ]
}

@test "a trace that can't be checked has a row with the reason, and the others theirs" {
    tms check -q --csv --engine=frontier missing.std bad.std lost.std
    [ "$status" -eq 2 ]
    rows 'len(r) == 3 and "No such file" in r[0]["remark"] and r[1]["remark"].startswith("bad.std:2: ")'
    rows 'all(x[k] == "" for x in r[:2] for k in x if k not in ("trace", "remark"))'
    rows 'r[2]["verdict"] == "violation" and r[2]["remark"] == ""'
    for option in --repeat=2 --until-first; do
        tms check -q --csv "$option" --engine=frontier bad.std missing.std
        [ "$status" -eq 2 ]
        [ "$(grep -c "bad.std:2:" <<<"$stderr")" -eq 1 ]
        rows 'len(r) == 2 and r[0]["remark"].startswith("bad.std:2: ") and "No such file" in r[1]["remark"]'
    done
}

@test "empty and truncated traces" {
    : >empty.std
    tms gen -q --events 100k -o whole.tms
    head -c $(($(stat -c %s whole.tms) * 3 / 4)) whole.tms >cut.tms
    for option in --repeat=2 --until-first; do
        tms check -q --csv "$option" --engine=frontier,aerodrome empty.std cut.tms
        [ "$status" -eq 3 ]
        rows 'len(r) == 4 and all(x["complete"] == "false" and x["remark"] != "" for x in r)'
        rows 'r[0]["events"] == "0" and 0 < int(r[2]["events"]) < 100000 and r[2]["events_checked"] == r[3]["events_checked"] == r[2]["events"]'
        [ "$(grep -c "cut off" <<<"$stderr")" -ge 1 ]
        [ "$(grep -c "^tmesis: cut.tms: " <<<"$stderr")" -eq 1 ]
    done
}

@test "repeat: least, median and most of the passes; the rest as without" {
    many
    tms check -q --json=once.json --engine=frontier,velodrome v.std ok.std
    tms check --repeat=3 --csv=out.csv --json --engine=frontier,velodrome v.std ok.std
    [ "$status" -eq 1 ]
    rows 'all(0 < f(x["seconds_min"]) <= f(x["seconds"]) <= f(x["seconds_max"]) and x["runs"] == "3" for x in r)' out.csv
    rows 'any(x["seconds_min"] != x["seconds_max"] for x in r)' out.csv
    rows 'all(x["until_first"] == "false" and x["events_checked"] == "20000" for x in r)' out.csv
    valid result
    query 'all(t["runs"] == 3 and t["until_first"] is False and t["min_seconds"] <= t["median_seconds"] <= t["max_seconds"] and t["pass_seconds"] > 0 for o in d for t in [x["stats"]["timing"] for x in o["results"]])'
    query '[[(x["verdict"], [v["id"] for v in x["violations"]]) for x in o["results"]] for o in d] == [[(x["verdict"], [v["id"] for v in x["violations"]]) for x in o["results"]] for o in map(json.loads, open("once.json"))]'
    [[ $(tr -s ' ' <<<"${stderr_lines[1]}") == "engine verdict event violations labels median s least s most s events/s peak memory" ]]
    [ "${stderr_lines[-1]}" = "Seconds of 3 passes, without reading." ]
    [[ $(<once.json) != *'"timing"'* ]]
}

@test "until-first: an engine with a violation sees the events up to it, others all" {
    many
    tms check --until-first --repeat=2 --csv=out.csv --json --engine=frontier,velodrome,aerodrome,regiontrack,goodlock v.std ok.std
    [ "$status" -eq 1 ]
    rows 'len(r) == 10 and all(x["until_first"] == "true" and x["runs"] == "2" and x["events"] == "20000" for x in r)' out.csv
    rows 'all(x["first_violation_event"] == x["events_checked"] == "5000" and x["violations"] == "1" for x in r[:4])' out.csv
    rows 'all(x["first_violation_event"] == "" and x["events_checked"] == "20000" for x in r[4:])' out.csv
    rows 'all(0 < f(x["seconds_min"]) <= f(x["seconds"]) <= f(x["seconds_max"]) for x in r)' out.csv
    valid result
    query 'd[0]["results"][0]["stats"]["timing"]["events"] == 5000 and d[0]["trace"]["events"] == 20000'
    [[ ${stderr_lines[1]} == *" labels  checked  median s "* ]]
    [[ $stderr == *"Seconds of 2 passes, without reading; each engine alone, up to its first violation."* ]]
}

@test "until-first with all engines and documents" {
    tms check -q --engine=all --until-first --csv=out.csv --report=sarif:out.sarif --store=h.db lost.std
    [ "$status" -eq 1 ]
    rows "len(r) == $("$tmesis" engines --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["engines"]))')" out.csv
    python3 -c 'import json; assert json.load(open("out.sarif"))["runs"][0]["results"]'
    tms history list --store=h.db
    [[ $output == *AV-* ]]
}

@test "a warning is given once, however many passes there are" {
    printf '%s\n' 'A|begin' nonsense 'A|r(x)' 'A|end' >odd.std
    for option in --repeat=3 --until-first; do
        tms check --lenient "$option" --engine=frontier,aerodrome odd.std
        [ "$status" -eq 3 ]
        [ "$(grep -c 'odd.std:2:' <<<"$stderr")" -eq 1 ]
    done
}

@test "what can't be read again, or goes nowhere, is refused before anything is written" {
    for option in --repeat=2 --until-first; do
        run --separate-stderr "$tmesis" check "$option" --csv=o.csv - <lost.std
        [ "$status" -eq 2 ]
        [ "$stderr" = "tmesis: standard input: ${option%=*} reads a trace several times, so it must be a regular file; save it first" ]
        run --separate-stderr "$tmesis" check "$option" --csv=o.csv <(cat lost.std)
        [ "$status" -eq 2 ]
        [[ $stderr == *"so it must be a regular file"* ]]
    done
    tms check --until-first --first --csv=o.csv lost.std
    [ "$stderr" = "tmesis: --until-first and --first can't be combined; use one of them" ]
    tms check --json --csv lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"can't both write to standard output; name another file"* ]]
    tms check --json=o.csv --csv=./o.csv lost.std
    [ "$status" -eq 2 ]
    tms check --report=csv:o.csv --csv=o.csv lost.std
    [ "$status" -eq 2 ]
    tms check --store=o.csv --csv=o.csv lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"o.csv can't be the history and another output"* ]]
    tms check --write-suppressions=o.csv --csv=o.csv lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"--write-suppressions and another output can't both go to o.csv"* ]]
    [ ! -e o.csv ]
    tms check --csv=lost.std lost.std
    [ "$status" -eq 2 ]
    cmp lost.std "$golden/lost-update-locked.std"
    tms check --csv=no/such/o.csv lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"no/such/o.csv can't be written"* ]]
    for wrong in 0 10001; do
        tms check --repeat="$wrong" lost.std
        [ "$status" -eq 2 ]
        [[ $stderr == *"--repeat takes a number from 1 to 10000"* ]]
    done
}
