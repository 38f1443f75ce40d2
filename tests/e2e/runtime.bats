#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tmesis record around programs that end early or start others; what they come to under tmesis run
# is in runtime/EXPECTED.tsv.
# shellcheck disable=SC2154 # common.bash sets them
load common

# The program that makes a violation and then ends in the way that its argument names.
build_ending() {
    cc -O2 -c "$top/tests/weave/turn.c" -o turn.o
    "$tmesis" cc -g -I"$top/include" -I"$top/tests" "$here/runtime/ending.c" turn.o -o ending
}

@test "a recording is readable whatever ends the program, whose status is kept" {
    build_ending
    for way in exit:7 _exit:7 abort:134 crash:139 terminate:143 interrupt:130 kill:137 exec:0; do
        tms record -q --atomic=@annotations -o "$way.tms" -- ./ending "${way%:*}"
        echo "$way: $status"
        [ "$status" -eq "${way#*:}" ]
        tms check --json "$way.tms"
        [ "$status" -eq 1 ]
        query '[v["transaction"]["label"] for v in d[0]["results"][0]["violations"]] == ["cut"]'
    done
}

@test "a child process is recorded apart, and has nothing of its parent's" {
    build_ending
    tms record --atomic=@annotations -o parent.tms -- ./ending fork
    [ "$status" -eq 0 ]
    children=(parent.tms.*.tms)
    [ "${#children[@]}" -eq 1 ]
    [[ $stderr == *"${children[0]}"* ]]
    tms check -q parent.tms
    [ "$status" -eq 1 ]
    tms check -q "${children[0]}"
    [ "$status" -eq 3 ] # it has no block
}
