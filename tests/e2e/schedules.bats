# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # bats and common.bash set the variables
# run --schedule: schedule files and what the strategies do to small programs.
load common

# made NAME LINE…: a schedule file.
made() {
    local name=$1
    shift
    printf 'tmesis-schedule 1\n' >"$name"
    printf '%s\n' "$@" >>"$name"
}

setup_file() {
    "${TMESIS:-$BATS_TEST_DIRNAME/../../build/tmesis}" cc -g "$BATS_TEST_DIRNAME/../../examples/bank/buggy.c" \
        -o "$BATS_FILE_TMPDIR/bank"
}

@test "a bad schedule is refused with its line before the program starts" {
    made bad 'strategy noise' 'strength lots'
    printf '#!/bin/sh\ntouch started\n' >program
    chmod +x program
    tms run --schedule=bad ./program
    [ "$status" -eq 125 ]
    [[ $stderr == *'--schedule: bad:3: expected per cent between 1 and 10000, not "lots"' ]]
    [ ! -e started ]
}

@test "a schedule that is not there, or too long, is refused" {
    tms run --schedule=none "$BATS_FILE_TMPDIR/bank"
    [ "$status" -eq 125 ]
    [[ $stderr == *"none can't be read: No such file"* ]]
    head -c 1100000 /dev/zero >long
    tms run --schedule=long "$BATS_FILE_TMPDIR/bank"
    [ "$status" -eq 125 ]
    [[ $stderr == *'long is longer than 1048576 bytes'* ]]
}

@test "--schedule and --perturb exclude each other" {
    made noise 'strategy noise'
    tms run --schedule=noise --perturb "$BATS_FILE_TMPDIR/bank"
    [ "$status" -eq 125 ]
    [[ $flat == *'leave it or --schedule out'* ]]
}

@test "noise finds the lost update of the bank, learn delays nothing" {
    made noise 'strategy noise' 'seed 3'
    tms run -q --schedule=noise --json=found.json "$BATS_FILE_TMPDIR/bank"
    [ "$status" -eq 66 ]
    output=$(cat found.json)
    query 'd[0]["seed"] == 3'
    # The site of an event is the instruction after its hook, so on the line that is told.
    query 'all(v["own"][0]["at"]["site"].startswith("bank+0x") for r in d[0]["results"] for v in r["violations"] if "own" in v)'
    valid result
    site=$(python3 -c 'import json, sys
at = next(v for r in json.loads(sys.argv[1])["results"] for v in r["violations"] if "own" in v)["own"][0]["at"]
print(hex(int(at["site"].split("+")[1], 16) - 1), at["line"])' "$output")
    [[ $(addr2line -e "$BATS_FILE_TMPDIR/bank" "${site% *}") == *:"${site#* }"* ]]
    made learn 'strategy learn'
    tms run -q --schedule=learn --json=learnt.json "$BATS_FILE_TMPDIR/bank"
    [ "$status" -eq 0 ] || [ "$status" -eq 66 ]
}

@test "a program with a million shared accesses is not held up for long" {
    cat >busy.c <<'END'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long shared;
static void add(void)
{
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
}
static void *work(void *unused)
{
    for (int i = 0; i < 100000; i++) {
        add();
    }
    return unused;
}
int main(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread[i], 0, work, 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], 0);
    }
    return shared == 200000 ? 0 : 1;
}
END
    "$tmesis" cc -g -O1 busy.c -o busy
    made noise 'strategy noise' 'seed 3'
    tms run -q --schedule=noise ./busy
    [ "$status" -eq 0 ]
}
