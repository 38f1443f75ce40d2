#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# From a prediction to a proof: confirm, replay, and many runs instead of one.
# shellcheck disable=SC2154 # common.bash sets them
load common

setup_file() {
    export programs=$BATS_FILE_TMPDIR
    local tmesis=${TMESIS:-$BATS_TEST_DIRNAME/../../build/tmesis}
    "$tmesis" cc -g "$BATS_TEST_DIRNAME/hunt/apart.c" -o "$programs/apart"
    "$tmesis" cc -g -DFIXED "$BATS_TEST_DIRNAME/hunt/apart.c" -o "$programs/fixed"
    "$tmesis" cc -g "$BATS_TEST_DIRNAME/hunt/work.c" -o "$programs/work"
}

# predicted: a hunt in which the finding is predicted, with $id.
predicted() {
    "$tmesis" hunt -q --runs=1 --strategy=learn --seed=1 -o out "$programs/apart"
    id=$(python3 -c 'import json
for result in json.load(open("out/result.json"))["results"]:
    for v in result["violations"] if result["engine"] == "judge" else ():
        if v["level"] != "note":
            assert v["evidence"] == "predicted", v["evidence"]
            print(v["id"])')
    [[ $id == AV-* ]]
}

# finding EXPRESSION: over `v`, the finding $id of out.
finding() {
    python3 -c 'import json, sys
for result in json.load(open("out/result.json"))["results"]:
    for v in result["violations"] if result["engine"] == "judge" else ():
        if v["id"] == sys.argv[1]:
            value = eval(sys.argv[2])
            print(v, value)
            sys.exit(0 if value is True else 1)
sys.exit(2)' "$id" "$1"
}

@test "confirm makes a predicted finding happen, and the result knows it" {
    predicted
    tms confirm out
    [ "$status" -eq 1 ]
    [[ $output == "$id  deposit, balance: observed, with seed "*" directed run"* ]]
    finding 'v["evidence"] == "observed" and v["runs"] == 1'
    grep -q "^window close=" "out/schedules/$id"
    tms confirm out
    [ "$status" -eq 0 ]
    [[ $flat == *"out has no predicted error or warning to confirm"* ]]
}

@test "replay makes it happen again" {
    predicted
    "$tmesis" confirm -q out || [ $? -eq 1 ]
    tms replay -q --times=5 out "$id"
    [ "$status" -eq 1 ]
    [[ $output == "$id  deposit, balance: observed in "[345]" of 5 runs"* ]]
}

@test "replay works by the windows of a result alone" {
    predicted
    tms replay -q --times=5 out "$id"
    [ "$status" -eq 1 ]
    [[ $output == "$id  deposit, balance: observed in "[12345]" of 5 runs"* ]]
    cmp <(ls out/schedules) <(echo "$id")
}

@test "replay --gdb stops at each step, in the code of the program" {
    command -v gdb >/dev/null || skip "no gdb"
    predicted
    printf 'continue 1\n%.0s' {1..30} | timeout 60 "$tmesis" replay --gdb out "$id" >said 2>&1
    cat said
    grep -q '^tmesis: step 1 of the finding: opened, thread ' said
    grep -A2 '^tmesis: step 2 of the finding: foreign access, thread ' said | grep -q 'apart.c:'
    grep -q '^tmesis: step 3 of the finding: closed, thread ' said
    code=0
    PATH=$programs "$tmesis" replay --gdb out "$id" 2>said || code=$?
    [ "$code" -eq 2 ]
    grep -q -e '--gdb needs gdb, which is not on PATH' said
}

@test "the JSON of a single run is enough, and stays as it is" {
    "$tmesis" run -q --json=one.json "$programs/apart"
    cp one.json before.json
    tms confirm one.json
    [ "$status" -eq 1 ]
    [[ $output == AV-*"  deposit, balance: observed, with seed "* ]]
    [[ $flat == *"the result is a single file, which is not changed"* ]]
    cmp one.json before.json
    tms replay -q one.json "${output%% *}"
    [[ $output == AV-*" of 1 run"* ]]
}

@test "a fix is not reproduced" {
    predicted
    cp out/runs.jsonl before
    tms confirm -q --runs=4 out "$id" -- "$programs/fixed"
    [ "$status" -eq 0 ]
    [[ $output == "$id  deposit, balance: not reproduced in "* ]]
    cmp out/runs.jsonl before
}

@test "a program that was only built again still shows it" {
    predicted
    "$tmesis" cc -g -O1 "$here/hunt/apart.c" -o again
    tms confirm -q out "$id" -- ./again
    [ "$status" -eq 1 ]
    [[ $output == "$id  deposit, balance: observed"* ]]
}

@test "bad words and bad files" {
    predicted
    tms confirm out AV-123456
    [ "$status" -eq 2 ]
    [[ $flat == *"out has no judged finding AV-123456; it has $id"* ]]
    tms replay out AV-123456
    [ "$status" -eq 2 ]
    tms replay out
    [ "$status" -eq 2 ]
    tms confirm nothing
    [ "$status" -eq 2 ]
    [[ $flat == *"nothing can't be read"* ]]
    echo '{}' >empty.json
    tms confirm empty.json
    [ "$status" -eq 2 ]
    [[ $flat == *"empty.json is not a result"* ]]
    tms confirm out "$id" -- ./nothing
    [ "$status" -eq 2 ]
    [[ $flat == *"./nothing can't be started"* ]]
}

@test "run --runs ends as a run does" {
    tms run --runs=3 --perturb=7 --json=all.json "$programs/work" status
    [[ $flat == *"3 runs ended with status 7, first with seed 7"* ]]
    [ "$status" -eq 66 ]
    python3 -c 'import json
d = json.load(open("all.json"))
assert d["hunt"]["runs"] == 3 and d["hunt"]["hunts"][0]["strategy"] == "noise"'
    [ ! -e .tmesis ]
    tms run -q --runs=2 --perturb=7 --exit-code=5 "$programs/work"
    [ "$status" -eq 5 ]
    tms run -q --runs=2 --not-atomic='*' "$programs/work" status
    [ "$status" -eq 7 ]
    tms run -q --runs=2 --not-atomic='*' "$programs/work" crash
    [ "$status" -eq 139 ]
    tms run --runs=2 ./nothing
    [ "$status" -eq 125 ]
}

@test "what is about a single run does not go with --runs" {
    for option in --stats --report-on=USR1 --write-suppressions=rules; do
        tms run --runs=2 "$option" "$programs/work"
        [ "$status" -eq 125 ]
        [[ $flat == *"is for a single run; it can't be combined with --runs"* ]]
    done
}
