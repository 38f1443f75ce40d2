#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tmesis explain: one finding of a result in full.
# shellcheck disable=SC2154 # common.bash sets them
load common

# result FILE TRACE…: what check says of the traces, in the file.
result() {
    "$tmesis" check -q --engine=frontier,judge,sidetrack --json="$1" "${@:2}" 2>/dev/null || true
}

# ids ENGINE FILE
ids() {
    jq -r --arg engine "$1" '.results[] | select(.engine == $engine) | .violations[].id' "$2"
}

@test "a finding is shown as the report shows it" {
    result r.json lost.std
    for engine in frontier judge sidetrack; do
        id=$(ids "$engine" r.json)
        tms explain r.json "$id"
        [ "$status" -eq 0 ]
        [ "$stderr" = "" ]
        [[ $output == *"$id"* && $output == *deposit* && $output != *AV-*AV-*AV-* ]]
    done
    tms explain r.json "$(ids judge r.json)"
    [[ $output == *balance* ]]
}

@test "standard input, colours, and lines that fit" {
    result r.json lost.std
    id=$(ids judge r.json)
    run --separate-stderr "$tmesis" explain - "$id" <r.json
    [ "$status" -eq 0 ]
    [[ $output == *"$id"* && $output != *$'\033'* ]]
    tms explain --color=always r.json "$id"
    [[ $output == *$'\033['* ]]
    COLUMNS=60 tms explain r.json "$id"
    [ "$(wc -L <<<"$output")" -le 60 ]
}

@test "an id that is not there: those that are" {
    result r.json lost.std
    tms explain r.json AV-000000
    [ "$status" -eq 2 ]
    [[ $stderr == "tmesis: r.json has no finding AV-000000; it has $(ids frontier r.json), "* ]]
    result fine.json fine.std
    tms explain fine.json AV-000000
    [ "$status" -eq 2 ]
    [ "$stderr" = 'tmesis: fine.json has no findings' ]
}

@test "of many ids ten are named" {
    for i in $(seq 15); do
        sed "s/deposit/deposit$i/" lost.std >"t$i.std"
    done
    "$tmesis" check -q --engine=frontier --json=r.json t*.std 2>/dev/null || true
    tms explain r.json AV-000000
    [ "$status" -eq 2 ]
    [[ $stderr == *' and more' ]]
    [ "$(grep -o 'AV-' <<<"$stderr" | wc -l)" -eq 11 ]
}

@test "what several processes found together is shown" {
    result r.json lost.std
    id=$(ids judge r.json)
    jq -c '.merged = true | .processes = 7 |
        (.results[] | select(.engine == "judge") | .violations[].executions) = 12345' r.json >m.json
    cat r.json m.json >both.json
    "$tmesis" explain m.json "$id" >merged.txt
    "$tmesis" explain both.json "$id" >both.txt
    diff merged.txt both.txt
}

@test "bad words and bad files" {
    result r.json lost.std
    tms explain r.json
    [ "$status" -eq 2 ]
    tms explain r.json AV-1 AV-2
    [ "$status" -eq 2 ]
    head -c 700 r.json >cut.json
    tms explain cut.json AV-1
    [ "$status" -eq 2 ]
    [[ $stderr == 'tmesis: cut.json: line 1 is not JSON ('*'; expected a result of '* ]]
    jq -c '.results[0].violations[0].evidence = "heard"' r.json >odd.json
    tms explain odd.json AV-1
    [ "$status" -eq 2 ]
    [[ $stderr == 'tmesis: odd.json: object 1, finding AV-'*'"evidence" should be one of observed, predicted, potential' ]]
    python3 -c 'print("[" * 1000000)' >deep.json
    tms explain deep.json AV-1
    [ "$status" -eq 2 ]
}

# With sanitizers, where a command takes long, every sixth one.
@test "every finding of every engine can be read back and shown" {
    "$tmesis" check -q --engine=all --json=all.json "$golden"/*.std 2>/dev/null || true
    for id in $(jq -r '.results[].violations[].id' all.json | sort -u | awk "NR % ${SAMPLE_EVERY:-1} == 0"); do
        "$tmesis" explain all.json "$id" | grep -qF "$id" || { echo "$id" && return 1; }
    done
}
