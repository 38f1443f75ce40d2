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

# windows FILE: "id block variable open close at" for each window, lines of the source for the last three.
windows() {
    python3 -c 'import json, sys
for line in open(sys.argv[1]):
    for w in json.loads(line)["windows"]:
        print(w["id"], w["block"]["label"], w["variable"] or "lock:" + w["lock"],
              *[w[k]["line"] for k in ("open", "close", "at")])' "$1"
}

@test "a run tells its windows, with the ids of the findings that they would be" {
    made learn 'strategy learn'
    tms run -q --schedule=learn --json=learnt.json "$BATS_FILE_TMPDIR/bank"
    windows learnt.json
    windows learnt.json | grep -x 'AV-bc22fc deposit account.balance 26 33 34'
    output=$(cat learnt.json)
    valid result
    query 'd[0]["schedule"]["strategy"] == "learn" and d[0]["schedule"]["delays"] == 0 and d[0]["schedule"]["points"] > 1000'
    query 'all(w["close"]["site"].startswith("bank+0x") for w in d[0]["windows"])'
}

@test "where memory is not watched windows are between two acquires" {
    made learn 'strategy learn'
    tms run -q --memory=off --schedule=learn --json=learnt.json "$BATS_FILE_TMPDIR/bank"
    windows learnt.json | grep -x 'AV-bc22fc deposit lock:account.lock 25 33 33'
    cc -g "$top/examples/bank/buggy.c" -o plain -pthread
    tms run -q --schedule=learn --json=learnt.json ./plain
    windows learnt.json
    windows learnt.json | grep -x 'AV-bc22fc deposit lock:account.lock 25 33 33'
}

@test "a window that only one thread passed is told once others use the memory" {
    cat >once.c <<'END'
#include <pthread.h>
static int *table, storage, unshared;
static int *get(void)
{
    unshared++;
    if (!table) {
        table = &storage;
    }
    return table;
}
static void *first(void *unused)
{
    get();
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, first, 0);
    pthread_join(thread, 0);
    return table != &storage;
}
END
    "$tmesis" cc -g once.c -o once
    made learn 'strategy learn'
    tms run -q --schedule=learn --json=learnt.json ./once
    windows learnt.json
    windows learnt.json | grep -E '^AV-[0-9a-f]+ get table 6 7 7$'
    run ! grep unshared <(windows learnt.json)
}

@test "an atomic load after an update of the same variable ends a window" {
    "$tmesis" cc -g "$top/examples/refcount/buggy.c" -o refcount
    made learn 'strategy learn'
    tms run -q --schedule=learn --json=learnt.json ./refcount
    windows learnt.json | grep -E '^AV-[0-9a-f]+ object_release object.references 37 38 38$'
}

@test "windows outlive a process that is killed" {
    cat >killed.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static int get(void)
{
    pthread_mutex_lock(&lock);
    int value = balance;
    pthread_mutex_unlock(&lock);
    return value;
}
static void set(int value)
{
    pthread_mutex_lock(&lock);
    balance = value;
    pthread_mutex_unlock(&lock);
}
static void deposit(void)
{
    set(get() + 1);
}
static void *work(void *unused)
{
    deposit();
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    deposit();
    kill(getpid(), SIGKILL);
    return 0;
}
END
    "$tmesis" cc -g killed.c -o killed
    made learn 'strategy learn'
    tms run -q --schedule=learn --json=learnt.json ./killed
    windows learnt.json | grep -E '^AV-[0-9a-f]+ deposit balance 9 15 16$'
}
