#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --baseline: findings of an earlier result are known; only new ones count and are shown.
# shellcheck disable=SC2154 # common.bash sets them
load common

# judged FILE: the result with judge, in the file.
judged() {
    "$tmesis" check -q --engine=frontier,judge --json="$1" "${@:2}" 2>/dev/null || true
}

@test "what is known is counted, and nothing else" {
    judged old.json lost.std
    tms check --engine=frontier,judge --baseline=old.json --json lost.std
    [ "$status" -eq 0 ]
    [[ $stderr == '1 known finding left out (--baseline).'$'\n'*'; no data was affected except as in the baseline.'$'\n'* ]]
    [[ $stderr != *AV-* ]]
    valid result
    query 'all(f["new"] is False for r in d[0]["results"] for f in r["violations"])'
    query '[len(r["violations"]) for r in d[0]["results"]] == [1, 1]'
}

@test "a block that is not in the baseline is new" {
    judged old.json fine.std
    tms check --engine=frontier,judge --baseline=old.json --json lost.std
    [ "$status" -eq 1 ]
    [[ $stderr == *AV-* && $stderr != *'left out'* ]]
    query 'all(f["new"] for r in d[0]["results"] for f in r["violations"])'
}

@test "another function is new, a clone of the same is not" {
    judged old.json lost.std
    sed 's/deposit/deposit.constprop.0/' lost.std >clone.std
    tms check --engine=frontier,judge --baseline=old.json clone.std
    [ "$status" -eq 0 ]
    sed 's/deposit/withdraw/' lost.std >other.std
    tms check --engine=frontier,judge --baseline=old.json other.std
    [ "$status" -eq 1 ]
}

@test "what is worse is new, what is milder is not" {
    judged old.json lost.std
    sed 's/"level": "error"/"level": "warning"/' old.json >milder.json
    run ! cmp -s old.json milder.json
    tms check --engine=frontier,judge --baseline=milder.json --json lost.std
    query '[f["new"] for r in d[0]["results"] for f in r["violations"]] == [False, True]'
}

@test "without judge, evidence counts as the level does" {
    "$tmesis" check -q --engine=frontier,sidetrack --json=old.json lost.std || true
    tms check --baseline=old.json lost.std
    [ "$status" -eq 0 ]
    "$tmesis" check -q --engine=sidetrack --json=old.json lost.std || true
    tms check --engine=frontier,sidetrack --baseline=old.json --json lost.std
    [ "$status" -eq 1 ]
    query '[r["violations"][0]["new"] for r in d[0]["results"]] == [True, False]'
}

@test "several objects, in any layout" {
    judged one.json fine.std blameless.std
    judged two.json lost.std
    cat one.json two.json >both.json
    jq . both.json >pretty.json
    for file in both.json pretty.json; do
        tms check --baseline="$file" lost.std
        [ "$status" -eq 0 ]
    done
}

@test "a file that is no result is refused before anything is read" {
    : >empty
    printf '{"schema": 1, "tool": "tmesis"' >cut.json
    printf '{"schema": 2, "tool": "tmesis", "results": []}' >newer
    "$tmesis" info --json fine.std >info.json
    for file in empty cut.json newer info.json lost.std none .; do
        tms check --baseline="$file" lost.std
        [ "$status" -eq 2 ]
        [ "$output" = "" ]
        [[ $stderr == "tmesis: --baseline: $file"* ]]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
    done
    tms run --baseline=cut.json /bin/true
    [ "$status" -eq 125 ]
    [[ $stderr == 'tmesis: --baseline: cut.json: line 1 is not JSON ('*'; expected a result of '* ]]
}

@test "no output replaces the baseline" {
    judged old.json lost.std
    cp old.json before.json
    cp /bin/true sum
    for command in "check lost.std" "run ./sum" "hunt -n 1 -o found ./sum"; do
        # shellcheck disable=SC2086 # several words
        set -- $command
        for output in --json=old.json --report=csv:./old.json; do
            tms "$1" -q --baseline=old.json "$output" "${@:2}"
            [ "$status" -eq "$([ "$1" = run ] && echo 125 || echo 2)" ]
            [[ $stderr == *"old.json are the same file; write to another one" ]]
        done
    done
    tms check -q --baseline=old.json --csv=old.json lost.std
    [ "$status" -eq 2 ]
    tms check -q --baseline=old.json --write-suppressions=old.json lost.std
    [ "$status" -eq 2 ]
    tms run -q --baseline=old.json --write-suppressions=old.json ./sum
    [ "$status" -eq 125 ]
    tms hunt -q -n 1 -o found --json=./sum ./sum
    [ "$status" -eq 2 ]
    cmp old.json before.json
    [ -x sum ]
    [ ! -e found ]
}

@test "the directory of a hunt is a baseline, too" {
    mkdir hunted
    judged hunted/result.json lost.std
    tms check -q --engine=frontier,judge --baseline=hunted lost.std
    [ "$status" -eq 0 ]
}
