#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tmesis check --table and --timeout: engines side by side, each within its time.
# shellcheck disable=SC2154 # common.bash sets them
load common

# row ENGINE: its row in what the command said, one blank between columns.
row() {
    grep "^$1 " <<<"$stderr" | tr -s ' '
}

@test "a row for each engine: verdict, event, violations, labels, and what it took" {
    tms check --engine "$(observing)" --table lost.std
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [ "${stderr_lines[0]}" = "lost.std: events 14, threads 2, locks 1, variables 1, atomic blocks 2" ]
    [ "$(tr -s ' ' <<<"${stderr_lines[1]}")" = "engine verdict event violations labels seconds events/s peak memory" ]
    for engine in $(observing | tr , " "); do
        [[ $(row "$engine") =~ ^$engine\ violation\ 11\ 1\ 1\ [0-9]+\.[0-9]+\ [0-9.]+(\ [kMG])?\ [0-9.]+\ [kM]?B$ ]]
    done
    [[ ${stderr_lines[-1]} == "Seconds, events/s and memory are the engine's own; the whole pass took "*" s." ]]
}

@test "no violation, no blame, no label" {
    tms check --engine frontier,regiontrack-blame --table fine.std
    [ "$status" -eq 0 ]
    [[ $(row frontier) == "frontier serializable - 0 0 "* ]]
    [[ $(row regiontrack-blame) == "regiontrack-blame none-blamed - 0 0 "* ]]
    tms check --engine frontier,doublechecker --table "$golden/regiontrack-alpha1.std"
    [[ $(row frontier) == "frontier violation 14 1 0 "* ]] # without blame
    [[ $(row doublechecker) == "doublechecker violation 14 1 1 "* ]] # it never blames a single block
    printf '%s\n' 'A|begin' 'A|r(x)' 'B|w(x)' 'A|w(x)' 'A|end' >bare.std
    tms check --table bare.std
    [[ $(row frontier) == "frontier violation 4 1 0 "* ]]
}

@test "labels are those that are refuted, each once" {
    tms gen -q --events 20k --cut-labels 4 -o t.std
    tms check --engine frontier,velodrome,regiontrack,aerodrome --table t.std
    for engine in frontier velodrome regiontrack aerodrome; do
        [[ $(row $engine) == "$engine violation "*" 20 4 "* ]]
    done
    tms check --engine aerodrome,frontier --no-blame --table t.std
    [[ $(row frontier) == "frontier violation "*" 20 4 "* ]]
}

@test "columns are aligned" {
    tms check --engine "$(observing)" --table lost.std
    width=$(grep -o '^.*peak memory' <<<"$stderr" | wc -m)
    while read -r line; do
        [ "$(wc -m <<<"$line")" -eq "$width" ]
    done < <(grep -E 'violation  ' <<<"$stderr")
}

@test "one table per trace; quiet leaves out the last line; JSON is as without" {
    tms check --table lost.std fine.std
    [ "$status" -eq 1 ]
    [ "$(grep -c '^engine ' <<<"$stderr")" -eq 2 ]
    tms check -q --table lost.std
    [ "${#stderr_lines[@]}" -eq 5 ]
    tms check --table --json lost.std
    valid result
    query 'd[0]["results"][0]["violations"][0]["not_atomic"] is True'
    [[ $stderr == *"peak memory"* ]]
    TMESIS_TABLE=yes tms check lost.std
    [[ $stderr == *"peak memory"* ]]
    tms check --table --color=always lost.std
    [[ $stderr == *$'\e['*violation* ]]
}

@test "an engine that is out of its time says so, and the others go on" {
    # Algorithm 1 looks at 100,000 variables at each of 13,000 ends: many times the second it gets.
    tms gen -q --preset bench --variables 100k --events 300k -o t.tms
    tms check --engine aerodrome-basic,frontier --table --timeout 1 t.tms
    [ "$status" -eq 3 ]
    [[ $(row aerodrome-basic) == *" incomplete - 0 0 "*" timeout after 1 s" ]]
    [[ $(row frontier) == *" serializable - 0 0 "* ]]
    tms check -q --json --engine aerodrome-basic --timeout 0.25 t.tms
    [ "$status" -eq 3 ]
    query 'd[0]["results"][0]["loss"] == "timeout after 0.25 s"'
    query 'd[0]["results"][0]["complete"] is False'
    tms check --engine aerodrome-basic --timeout=0.25 t.tms
    [[ $flat == *"aerodrome-basic did not see everything: timeout after 0.25 s. The rest may contain a violation."* ]]
}

@test "a violation found in time is one" {
    tms gen -q --preset bench --variables 100k --events 300k --violation 1% -o t.tms
    tms check --engine aerodrome-basic --table --timeout 1 t.tms
    [ "$status" -eq 1 ]
    [[ $(row aerodrome-basic) == "aerodrome-basic violation 3000 1 1 "*" timeout after 1 s" ]]
}

@test "an engine that gives up says so in its row" {
    tms gen -q --events 12k -o t.std
    tms check --engine frontier,reference --table t.std
    [ "$status" -eq 3 ]
    [[ $(row reference) == "reference incomplete "*" the trace is too long for this engine; frontier has no such limit" ]]
    [[ $(row frontier) == "frontier serializable "* ]]
}

@test "no limit by default; seconds are seconds" {
    tms check -q --timeout 0 lost.std
    [ "$status" -eq 1 ]
    for wrong in -1 x 1e3 nan 5s '' 99999999999; do
        tms check --timeout="$wrong" lost.std
        [ "$status" -eq 2 ]
        [[ $stderr == *"--timeout takes seconds such as 30 or 0.5, or 0 for no limit, not \"$wrong\"" ]]
    done
}
