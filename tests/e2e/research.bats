#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The scripts for researchers: bench/engines on traces of one's own. What they measure is not tested.
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
