#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Data that is handed over through the kernel does not race; runtime/handover.c has the ways.
# Verdicts do not depend on it: see messages in runtime/EXPECTED.tsv.
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

# A recording has the same result as the process. Without the way that spins, which would fill it.
@test "fasttrack says the same of a recording, full or not" {
    build_handover gcc -O2
    for way in "${ways[@]}"; do
        [ "$way" = handler-spinning ] || recorded+=("$way")
    done
    for variant in "" late --full; do
        how=-q wanted=race
        [ "$variant" != --full ] || how=--full variant=
        [ -n "$variant" ] || wanted=no-race
        printf '%s\n' "${recorded[@]}" |
            xargs -P 2 -I WAY "$tmesis" record -q $how -o WAY.tms ./handover WAY "$variant"
        for way in "${recorded[@]}"; do
            tms check -q --engine=fasttrack --json "$way.tms"
            query '[r["verdict"] for r in d[0]["results"]] == ["'"$wanted"'"]'
        done
    done
}

@test "sidetrack predicts nothing against what came through the kernel" {
    cat >window.c <<'SOURCE'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ends[2], value;
static int get(void)
{
    pthread_mutex_lock(&m);
    int now = value;
    pthread_mutex_unlock(&m);
    return now;
}
static void set(int now)
{
    pthread_mutex_lock(&m);
    value = now;
    pthread_mutex_unlock(&m);
}
void add(void)
{
    set(get() + 1);
}
static void *second(void *notified)
{
    char byte;
    if (notified != NULL) {
        if (read(ends[0], &byte, 1) != 1)
            abort();
    } else {
        usleep(200000);
    }
    add();
    return NULL;
}
int main(int count, char **words)
{
    pthread_t thread;
    if (pipe(ends) != 0)
        return 2;
    pthread_create(&thread, NULL, second, count > 1 ? words : NULL);
    add();
    if (count > 1 && write(ends[1], "x", 1) != 1)
        return 2;
    pthread_join(thread, NULL);
    return 0;
}
SOURCE
    "$tmesis" cc -g window.c -o window
    for notified in "" notified; do
        wanted=predicted
        [ -z "$notified" ] || wanted=none-predicted
        # shellcheck disable=SC2086 # no word at all, or one
        tms run -q --json=run.json ./window $notified
        output=$(cat run.json)
        query '[r["verdict"] for r in d[0]["results"] if r["engine"] == "sidetrack"] == ["'"$wanted"'"]'
        # shellcheck disable=SC2086
        tms record -q -o window.tms ./window $notified
        tms check -q --engine=sidetrack --json window.tms
        query '[r["verdict"] for r in d[0]["results"]] == ["'"$wanted"'"]'
    done
}
