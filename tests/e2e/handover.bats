#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Data that is handed over through the kernel does not race; runtime/handover.c has the ways.
# That verdicts do not depend on it, runtime/EXPECTED.tsv has (messages).
# shellcheck disable=SC2154 # common.bash sets them
load common

build_handover() {
    TMESIS_CC=$1 "$tmesis" cc -g "$2" -D_GNU_SOURCE -pthread "$here/runtime/handover.c" -o handover
    mapfile -t ways < <(./handover)
    [ "${#ways[@]}" -gt 20 ]
}

# judge_ways VARIANT WANTED: plays every way, two at a time, and compares what fasttrack says.
judge_ways() {
    printf '%s\n' "${ways[@]}" |
        xargs -P 2 -I WAY "$tmesis" run --races -q --json="WAY.json" --exit-code=0 \
            ./handover WAY "$1" 2>said || { cat said; return 1; }
    python3 - "$2" "${ways[@]}" <<'COMPARE'
import json, sys
wrong = []
for way in sys.argv[2:]:
    results = json.loads(open(way + ".json").readline())["results"]
    found = [(r["verdict"], {v["cycle"][0]["on"] for v in r["violations"]})
             for r in results if r["engine"] == "fasttrack"]
    if found != [(sys.argv[1], {"data"} if sys.argv[1] == "race" else set())]:
        wrong.append((way, found))
assert not wrong, wrong
COMPARE
}

@test "data that comes through the kernel does not race, with gcc and clang" {
    for compiler in gcc clang; do
        build_handover "$compiler" -O2
        judge_ways "" no-race
    done
}

@test "it races if nothing is handed over" {
    build_handover gcc -O0
    judge_ways slept race
}

@test "what the sender does after it has handed over races" {
    build_handover gcc -O2
    judge_ways late race
}
