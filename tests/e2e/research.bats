#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The scripts for researchers: engines, plot, growth in bench/. What they measure is not tested.
# shellcheck disable=SC2154 # common.bash sets them
load common

# bench SCRIPT ARGUMENT…: runs it with the command under test; $status, $output, $stderr.
bench() {
    local script=$1
    shift
    run --separate-stderr env TMESIS="$(realpath "$tmesis")" "$top/bench/$script" "$@"
    printf 'status %s\n--- out\n%s\n--- err\n%s\n' "$status" "$output" "$stderr"
}

# row NAME [N]: the cells of the N-th table row whose first cell that is, one blank between.
row() {
    grep "^| *$1 |" <<<"$output" | sed -n "${2:-1}p" | tr -s ' '
}

@test "engines: tables about traces of one's own, and the CSV" {
    mkdir 'my traces'
    cp lost.std 'my traces/lost | found.std'
    bench engines --runs 2 --csv out.csv 'my traces/lost | found.std' fine.std
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ $(row 'lost .. found.std') =~ ^"| lost \\| found.std | 14 | 2 | 1 | 1 | 2 | no | 11 |"(\ [0-9.e-]+\ \|){5}$ ]]
    [[ $(row fine.std) =~ ^"| fine.std | "[0-9\ \|]+" | yes | - |"(\ [0-9.e-]+\ \|){5}$ ]]
    [[ $(row Trace 2) == "| Trace | frontier | reference | velodrome |"*"| doublechecker |" ]]
    [[ $(row fine.std 2) =~ ^"| fine.std |"(\ [0-9.e-]+\ \|){10}$ ]]
    [[ $(row Trace 3) == "| Trace | judge | sidetrack |"*"| blocks |" ]]
    [[ $output == *"median of 2, each engine up to its first violation"* ]]
    [[ $output =~ 'Relative to frontier, geometric mean where both finished: reference '[0-9.] ]]
    python3 -c 'import csv
rows = list(csv.DictReader(open("out.csv", newline=""), strict=True))
assert {row["trace"] for row in rows} == {"my traces/lost | found.std", "fine.std"}
assert len(rows) == 2 * len({row["engine"] for row in rows}) > 30
assert all(row["runs"] == "2" and row["until_first"] == "true" for row in rows)'
}

@test "engines: some engines, the whole trace, a timeout" {
    "$tmesis" gen -q --preset bench --variables 100k --events 200k --violation 90% -o t.tms
    BENCH_TIMEOUT=0.3 bench engines --engine=frontier,aerodrome-basic --runs 1 --whole t.tms
    [ "$status" -eq 0 ]
    [[ $(row t.tms) == "| t.tms | 200K | 8 |"*"| no | 180000 | | | - | "* ]]
    [[ $(row t.tms 2) =~ ^"| t.tms | "[0-9.]+" | TO |"$ ]]
    [[ $output == *"median of 1, the whole trace"* ]]
    [[ $output != *spread* ]]
}

@test "engines: what is wrong is said in a sentence, and the other traces are measured" {
    bench engines --engine=frontier --runs 1 missing.std bad.std lost.std
    [ "$status" -eq 2 ]
    [ "${stderr_lines[0]}" = "bench: missing.std: can't be opened: No such file or directory" ]
    [[ ${stderr_lines[1]} == "bench: bad.std:2: "* ]]
    [ "${#stderr_lines[@]}" -eq 2 ]
    [[ $(row lost.std) == "| lost.std | 14 |"* ]]
    bench engines missing.std
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    bench engines --engine=zebra lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == "bench: --engine takes one or more of "*'not "zebra"' ]]
    bench engines -
    [ "$status" -eq 2 ]
    [[ $stderr == "bench: standard input: --until-first reads a trace several times"* ]]
    bench engines --csv lost.std lost.std
    [ "$status" -eq 2 ]
    [ "$stderr" = "bench: lost.std is also an input; write to another file" ]
    cmp lost.std "$golden/lost-update-locked.std"
    bench engines --csv no/such/out.csv lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == "bench: no/such/out.csv: can't be written"* ]]
    bench engines --csv out.csv
    [ "$status" -eq 2 ]
    [[ $stderr == *"name at least one TRACE" ]]
    [ ! -e out.csv ]
}

# columns: a CSV with the columns that plot needs, a word of TRACE:EVENTS:ENGINE:VERDICT:SECONDS for each row.
columns() {
    echo trace,events,threads,variables,engine,verdict,seconds,seconds_min,seconds_max,remark
    printf '%s\n' "$@" | awk -F: '{printf "%s,%s,2,10,%s,%s,%s,%s,%s,\n", $1, $2, $3, $4, $5, $5 / 2, $5 * 2}'
}

@test "plot: a panel per quantity, a mark per measurement, where it belongs" {
    columns a:1000:frontier:serializable:0.01 $'b\1':100000:frontier:serializable:1 \
        a:1000:'x<&':serializable:0.1 b:100000:'x<&':incomplete:9 >times.csv
    bench plot times.csv -o times.svg
    [ "$status" -eq 0 ]
    [ -z "$output$stderr" ]
    bench plot events:times.csv --engine frontier --title 'A & B'
    [ "$status" -eq 0 ]
    printf '%s' "$output" >joined.svg
    python3 -c 'import re, xml.etree.ElementTree as tree
SVG = "{http://www.w3.org/2000/svg}"
def series(path):
    return [(one.get("data-engine"), one) for one in tree.parse(path).iter(SVG + "g") if one.get("class") == "series"]
names = [name for name, _ in series("times.svg")]
assert names == ["frontier", "x<&"] * 3, names
titles = [one.text for one in tree.parse("times.svg").iter(SVG + "title")]
assert "x<&, a: 100 ms (50 ms to 200 ms), 1k events checked" in titles, titles
assert "Left out: 1 without an answer" in open("times.svg").read()
((name, only),) = series("joined.svg")
assert name == "frontier" and only.find(SVG + "polyline") is not None
places = [list(map(float, re.findall(r"[-\d.]+", one.get("transform")))) for one in only.iter(SVG + "g") if one.get("transform")]
(x1, y1), (x2, y2) = places
assert 0 < x1 < x2 < 330 and 300 > y1 > y2 > 0, places
assert tree.parse("joined.svg").find(SVG + "title").text == "A & B"'
}

@test "plot: what is wrong is said in a sentence, and nothing is written" {
    columns a:1000:frontier:serializable:0.01 >good.csv
    columns a:many:frontier:serializable:0.01 >word.csv
    columns a:1000:frontier:incomplete:9 >late.csv
    { columns && echo a,1000,2,10,frontier,serializable,soon,1,1,; } >soon.csv
    { columns && echo a,1000,2,10,frontier,serializable,0,0.2,0,; } >zero.csv
    echo trace,events >short.csv
    : >empty.csv
    while IFS='|' read -r arguments sentence; do
        # shellcheck disable=SC2086 # several words
        bench plot $arguments -o out.svg
        [ "$status" -eq 2 ]
        [[ $stderr == *"$sentence"* ]]
        [ ! -e out.svg ]
    done <<'END'
missing.csv|plot: missing.csv: can't be read: No such file or directory
word.csv|plot: word.csv: expected a number in column events, found "many"
late.csv|plot: late.csv: there is nothing to draw: no measurement with an answer
soon.csv|plot: a: expected a number in column seconds, found "soon"
zero.csv|plot: zero.csv: there is nothing to draw: no measurement with an answer
short.csv|plot: short.csv: expected CSV as tmesis check --csv writes it, but there is no column engine
empty.csv|plot: empty.csv: expected CSV as tmesis check --csv writes it
good.csv --by=events,colour|expected some of events, threads, variables, locks, transactions, not 'colour'
good.csv --by=locks|plot: good.csv: there is no column locks
END
    bench plot good.csv -o good.csv
    [ "$status" -eq 2 ]
    [ "$stderr" = "plot: good.csv is also an input; write to another file" ]
    [ "$(wc -l <good.csv)" -eq 2 ]
}

@test "growth: engines that take too long are in the CSV" {
    # shellcheck disable=SC2016 # for the script that is written
    printf '%s\n' '#!/bin/bash' '[[ $* != *threads-* ]] || set -- "${@/--timeout=60/--timeout=0.00001}"' \
        "exec '$(realpath "$tmesis")' \"\$@\"" >hasty
    chmod +x hasty
    TMESIS=$PWD/hasty BENCH_QUICK=1 BENCH_ENGINES=frontier,velodrome run "$top/bench/growth" grown
    echo "$output"
    [ "$status" -eq 0 ]
    grep -q '"timeout after 1e-05 s"' grown/threads.csv
    [ -s grown/growth.svg ]
}

@test "growth: traces that grow in three ways, as CSV and as one picture" {
    BENCH_QUICK=1 BENCH_ENGINES=frontier,velodrome bench growth grown
    [ "$status" -eq 0 ]
    [ "$(cut -d, -f4,8 grown/threads.csv | sort -u | wc -l)" -eq 9 ]
    [ "$(grep -o 'class="series"' grown/growth.svg | wc -l)" -eq 6 ]
    [ "$(grep -o 'class="mark"' grown/growth.svg | wc -l)" -eq 22 ]
    TMESIS=/nowhere run "$top/bench/growth" grown
    [ "$status" -eq 2 ]
    [ "$output" = "bench: /nowhere is not there: build it with make, or name one with TMESIS=" ]
    bench growth
    [ "$status" -eq 2 ]
    [[ $stderr == "bench: expected a directory to write to"* ]]
}
