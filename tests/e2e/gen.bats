#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tmesis gen: traces of the shape asked for, which the other commands accept.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # bats and common.bash set them; an inner shell expands
load common

# first_violation FILE: what check says of it.
first_violation() {
    "$tmesis" check --json --engine frontier "$1" 2>/dev/null |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["results"][0]["first_violation_event"])'
}

# counts FILE FIELD…: numbers that check gives in the trace object of its JSON.
counts() {
    "$tmesis" check --json "$1" 2>/dev/null |
        python3 -c 'import json, sys
trace = json.load(sys.stdin)["trace"]
print(*(trace[field] for field in sys.argv[1:]))' "${@:2}"
}

@test "a trace of exactly the events asked for, in the format of the extension" {
    for file in a.std a.tms a.rt a.std.gz a.std.zst; do
        tms gen --events 3k -o $file
        [ "$status" -eq 0 ]
        [ -z "$output" ]
        [ "$stderr" = "tmesis: $file: 3000 events, serializable" ]
        [ "$(counts $file events)" = 3000 ]
    done
    [ "$(wc -l <a.std)" -eq 3000 ]
    cmp <(zstd -dc a.std.zst) a.std
    "$tmesis" convert -q a.tms b.std
    cmp b.std a.std
}

@test "to standard output, with the format named" {
    tms gen --events 50 --to std -o - -q
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "$(wc -l <<<"$output")" -eq 50 ]
    for file in - a.txt nothing; do
        tms gen --events 50 -o $file
        [ "$status" -eq 2 ]
        [[ $stderr != "tmesis: -:"* && $stderr == *"which format to write; "*"; name the format with --to" ]]
        [ ! -e "$file" ]
    done
}

@test "a reader that goes away is not an error" {
    run --separate-stderr bash -c 'set -o pipefail; "$0" gen --events=200k --to=std -o - | head -1' "$tmesis"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "${#lines[@]}" -eq 1 ]
    tms gen --to=std -o /dev/full
    [ "$status" -eq 2 ]
    run bash -c '"$0" gen --to=std -o - >/dev/full' "$tmesis"
    [ "$status" -eq 2 ]
}

@test "the same options give the same bytes, another seed gives others" {
    tms gen --preset bench --events 5k -o one.std
    tms gen --events=5000 --preset=bench --seed=1 -o two.std
    tms gen --preset bench --events 5k --seed 2 -o three.std
    cmp one.std two.std
    run cmp -s one.std three.std
    [ "$status" -eq 1 ]
}

@test "threads, locks, variables, labels and locations are those asked for" {
    tms gen --events 50k --threads 6 --locks 3 --variables 40 --labels 2 --locations 5 -o a.std
    [ "$(counts a.std threads locks variables)" = "6 3 40" ]
    [ "$(grep -o 'begin([^)]*)' a.std | sort -u | wc -l)" -eq 2 ]
    [ "$(cut -d'|' -f3 a.std | sort -u | tr '\n' ' ')" = "gen.c:1 gen.c:2 gen.c:3 gen.c:4 gen.c:5 " ]
    tms gen --events 1k --labels 0 --locks 0 --unary-share 0.5 -o b.std
    grep -q '|begin$' b.std
    run grep -E 'acq|begin\(' b.std
    [ "$status" -eq 1 ]
}

@test "blocks overlap, and check still finds nothing to cut" {
    for overlap in 0 0.3 1; do
        for seed in 1 2 3; do
            tms gen --events 20k --seed $seed --overlap $overlap --nesting 3 --fork-join \
                --churn 20 -o a.tms
            [ "$status" -eq 0 ]
            tms check -q a.tms
            [ "$status" -eq 0 ]
        done
    done
}

@test "a violation is where it was asked for" {
    for where in 500 2k 19999 50% 0.5% 100% random; do
        for locks in 1 4; do
            tms gen --events 20k --violation $where --locks $locks --fork-join -o a.tms
            [ "$status" -eq 0 ]
            stated=$(grep -o 'first violation at event [0-9]*$' <<<"$stderr" | grep -o '[0-9]*$')
            [ "$(first_violation a.tms)" = "$stated" ]
            case $where in
            500) [ "$stated" = 500 ] ;;
            2k) [ "$stated" = 2000 ] ;;
            50%) [ "$stated" = 10000 ] ;;
            0.5%) [ "$stated" = 100 ] ;;
            esac
        done
    done
    tms check a.tms
    [ "$status" -eq 1 ]
    [[ $stderr == *"deposit"* ]]
}

@test "labels that are cut are named, and only their blocks are to blame" {
    tms gen --events 5k --cut-labels 2 -o a.std
    [ "$status" -eq 0 ]
    grep -qE 'first violation at event [0-9]+; cut apart: work[0-9], work[0-9]$' <<<"$stderr"
    cut=$(grep -o 'work[0-9]' <<<"$stderr" | paste -sd ' ')
    tms check -q --json --all a.std
    query "sorted({v['transaction']['label'] for v in d[0]['results'][0]['violations']}) == sorted('$cut'.split())"
    query "len(d[0]['results'][0]['violations']) == 4"
    tms gen --events 5k --labels 20 --cut-labels 12 -o a.std
    [[ $stderr == *" and 2 more labels" ]]
}

@test "without discipline there are violations" {
    tms gen --preset bench-any --events 5k -o a.tms
    [ "$status" -eq 0 ]
    [ "$(first_violation a.tms)" -gt 0 ]
}

@test "every preset makes a trace with the verdict of its table" {
    tms gen --list-presets
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 24 ]
    while read -r name _ _ _ _ _ violation; do
        tms gen --preset "$name" --events 3k -o a.tms
        [ "$status" -eq 0 ]
        case $violation in
        none) [ "$(first_violation a.tms)" = None ] ;;
        late) [ "$(first_violation a.tms)" = 2700 ] ;;
        early) [ "$(first_violation a.tms)" = 30 ] ;;
        any) [ "$(first_violation a.tms)" -gt 0 ] ;;
        esac
    done < <("$tmesis" gen --list-presets | tail -n +2)
}

@test "options change a preset" {
    tms gen --preset philo -o a.std
    [ "$(counts a.std events transactions threads)" = "613 0 6" ]
    tms gen --preset philo --threads 3 --unary-share 0 --no-fork-join --violation 300 -o a.std
    [ "$(counts a.std events threads)" = "613 3" ]
    [ "$(first_violation a.std)" = 300 ]
    run grep -cE 'fork|join' a.std
    [ "$output" = 0 ]
}

# refused WORDS ARGUMENT…: one sentence with these words, status 2, and no file.
refused() {
    tms gen "${@:2}" -o a.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"$1"* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [ ! -e a.std ]
}

@test "what can't be is refused in a sentence" {
    refused "two threads" --threads 1 --violation 50
    refused "too few" --threads 50 --fork-join --events 20
    refused "17 events are too few" --events 17 --threads 9 --fork-join --churn 3
    refused "1 event is too few" --events 1 --threads 2 --fork-join
    refused "--churn needs --fork-join" --churn 3
    refused "place it earlier" --events 100 --violation 101
    refused "labels that are cut" --labels 2 --cut-labels 3
    refused "--cut-labels and --violation can't be combined" --cut-labels 1 --violation 50%
    for where in x 0 101% 5x 1e3 0x10 -5 nan ''; do
        refused "--violation" --violation="$where"
    done
    refused "did you mean bench" --preset bensh
    refused "--read-share" --read-share 1.5
    refused "--transaction-length" --transaction-length 1
    tms gen
    [ "$status" -eq 2 ]
    [[ $stderr == *"-o FILE"* ]]
}

@test "an error leaves no partial trace" {
    tms gen --fork-join -o a.rt
    [ "$status" -eq 2 ]
    [[ $stderr == "tmesis: a.rt: event 1, fork"* ]]
    [ "$(echo a.rt*)" = 'a.rt*' ]
    echo precious >a.rt
    tms gen --fork-join -o a.rt
    [ "$status" -eq 2 ]
    [ "$(cat a.rt)" = precious ]
}

@test "atomics, with their memory orders" {
    tms gen -q --atomics=1 --guarded=0 --sharing=1 --events=2k -o atomics.std
    [ "$status" -eq 0 ]
    for kind in ar aw au; do
        grep -q "|$kind(V[0-9]*,relaxed)" atomics.std
    done
    grep -q '|fence(' atomics.std
    run ! grep -q '|[rw](' atomics.std
    tms check -q --engine=frontier,reference atomics.std
    [ "$status" -eq 0 ]
    tms gen -q --events=2k -o plain.std
    run ! grep -q '|a[rwu](\||fence(' plain.std
}
