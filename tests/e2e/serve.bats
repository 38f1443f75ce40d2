#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # common.bash sets them
# shellcheck disable=SC2030,SC2031 # each test has its own
# Programs that do not end by themselves: reports while they run, on demand and after SIGTERM.

load common

setup_file() {
    for each in gcc clang; do
        TMESIS_CC=$each "${TMESIS:-$BATS_TEST_DIRNAME/../../build/tmesis}" cc -g -O1 -D_GNU_SOURCE -pthread \
            -I"$BATS_TEST_DIRNAME/../../include" "$BATS_TEST_DIRNAME/serve/server.c" \
            -o "$BATS_FILE_TMPDIR/server-$each"
    done
}

# serve COMPILER [OPTION…] [-- HOW]: starts the server, and waits until it is ready.
serve() {
    local each=$1
    shift
    local options=()
    while (($# > 0)) && [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    [[ ${1-} != -- ]] || shift
    export TMPDIR=$BATS_TEST_TMPDIR
    mkfifo letters
    "$tmesis" run --json=result.json "${options[@]}" "$BATS_FILE_TMPDIR/server-$each" "$@" \
        <letters >out 2>err 3>&- &
    command=$!
    exec 5>letters
    wait_for ready out
}

teardown() {
    exec 5>&-
    wait
}

# tell LETTER WORD: sends the server a letter, and waits for its answer.
tell() {
    printf %s "$1" >&5
    wait_for "$2" out
}

# ends STATUS: ends the server; the command must end with this status.
ends() {
    local status=0
    printf q >&5
    wait "$command" || status=$?
    cat out err
    [ "$status" -eq "$1" ]
    grep -q '^ended' out
}

# results FILE EXPRESSION: the file keeps to the schema, and the expression over `d` holds.
results() {
    output=$(cat "$1")
    valid result
    query "$2"
}

still_runs='report on demand: .*server-.* still runs, after [0-9.]* s; open blocks are'
lost='✗ deposit() is not atomic: an update of balance was lost'

reports_by_signal() {
    serve "$1"
    tell w worked
    kill -URG "$command"
    wait_for "$still_runs" err
    wait_for ' executions\? checked ' err
    grep -q "$lost" err
    run ! grep -q ' of 0 executions' err # they are counted at the end
    tr -s ' \n' ' ' <err | grep -q 'the process still runs; blocks that'
    results result.json 'd[0]["partial"] and d[0]["results"][0]["verdict"] == "violation"'
    run ! grep -q interrupted out
    run ! grep -q 'final report' err
    kill -URG "$command"
    wait_for "$still_runs" err 2
    ends 66
    grep -q 'final report: .* has ended after' err
    [ "$(grep -c "$lost" err)" -eq 3 ]
    grep -q 'server.c:5[23] · cut in [0-9]* of [0-9]* executions' err
    results result.json 'len(d) == 1 and "partial" not in d[0] and d[0]["results"][0]["complete"]'
}

@test "a signal to the command asks for a report, gcc" {
    reports_by_signal gcc
}

@test "a signal to the command asks for a report, clang" {
    reports_by_signal clang
}

@test "the program asks for a report" {
    serve clang
    tell r asked
    wait_for "$still_runs" err
    wait_for 'incomplete: no violation found, but only a part could be checked' err
    tell w worked
    printf r >&5
    wait_for "$still_runs" err 2
    wait_for "$lost" err
    ends 66
}

@test "a block that is open is judged as far as it got, although every thread waits" {
    serve gcc --engine=frontier
    tell o open
    kill -URG "$command"
    wait_for 'open_block was cut apart' err
    results result.json 'd[0]["partial"] and len(d[0]["results"][0]["violations"]) == 1'
    ends 66
    results result.json 'len(d[0]["results"][0]["violations"]) == 1 and d[0]["results"][0]["violation_count"] == 1'
}

@test "a block that was open when the program was killed is judged as far as it got" {
    serve gcc --engine=frontier
    tell o open
    kill -KILL "$(sed -n 's/^pid //p' out)"
    status=0
    wait "$command" || status=$?
    cat err
    [ "$status" -eq 66 ]
    grep -q 'open_block was cut apart' err
}

@test "every engine gets what was recorded so far" {
    serve clang --engine=judge
    tell w worked
    kill -URG "$command"
    wait_for "$still_runs" err
    wait_for '1 error .* checked' err
    grep -q 'deposit() is not atomic: an update of balance was lost' err
    results result.json 'd[0]["partial"] and any(r["engine"] == "judge" and r["verdict"] == "affected" for r in d[0]["results"])'
    ends 66
}

@test "a program that is busy is not disturbed, and what is read is whole" {
    serve gcc --engine=frontier,sidetrack,goodlock
    tell b busy
    for i in {1..4}; do
        kill -URG "$command"
        wait_for "$still_runs" err "$i"
        wait_for '^Next:' err "$i"
        results result.json 'd[0]["partial"] is True'
    done
    run ! grep -q damaged err
    run ! grep -q damaged result.json
    ends 7
    results result.json '"partial" not in d[0] and d[0]["results"][0]["verdict"] == "serializable"'
}

@test "a program that ends on SIGTERM has one report, at its end" {
    serve gcc
    tell w worked
    kill -TERM "$command"
    status=0
    wait "$command" || status=$?
    cat out err
    [ "$status" -eq 66 ]
    grep -q '^ended' out
    run ! grep -q 'tmesis: .*report' err
    [ "$(grep -c "$lost" err)" -eq 1 ]
}

@test "a program that ignores SIGTERM is reported on" {
    serve gcc -q -- ignores
    tell w worked
    kill -TERM "$command"
    wait_for 'report after SIGTERM: .* still runs' err
    wait_for 'violation: not serializable; data was affected' err
    results result.json 'd[0]["partial"] is True'
    ends 66
    grep -q 'final report' err
    [ "$(grep -c 'report after SIGTERM' err)" -eq 1 ]
}

@test "so is one that got SIGTERM itself, and goes on" {
    for how in goes-on waits; do
        serve gcc -q -- "$how"
        kill -TERM "$(sed -n 's/^pid //p' out)"
        wait_for 'report after SIGTERM: .* still runs' err
        ends 7
        exec 5>&-
        rm letters
    done
}

@test "child processes are in the report while they run" {
    cat >family.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long value;
static void touch(void) { pthread_mutex_lock(&lock); value++; pthread_mutex_unlock(&lock); }
int main(void)
{
    char c;
    touch();
    if (fork() == 0) {
        touch();
        puts("child");
        fflush(stdout);
        for (;;)
            pause();
    }
    while (read(0, &c, 1) == 1) {
    }
    return 0;
}
END
    "$tmesis" cc -g -pthread family.c -o family
    mkfifo letters
    "$tmesis" run --json=result.json ./family <letters >out 2>err 3>&- &
    command=$!
    exec 5>letters
    wait_for child out
    kill -URG "$command"
    wait_for 'report on demand' err
    wait_for '2 processes' err
    results result.json 'len(d) == 3 and all(o["partial"] for o in d) and d[2]["processes"] == 2'
    child=$(pgrep -P "$(pgrep -P "$command" -x family)")
    kill "$child"
    until [[ $(ps -o stat= -p "$child") == Z* ]]; do
        sleep 0.05
    done
    exec 5>&-
    wait "$command" || true
    cat err
    grep -q 'final report' err
    results result.json 'len(d) == 3 and all("partial" not in o for o in d)'
}

@test "--report-on is for the command, and for a program without a handler" {
    serve gcc -q --report-on=USR1
    kill -USR1 "$command"
    wait_for "$still_runs" err
    kill -USR1 "$(sed -n 's/^pid //p' out)"
    wait_for "$still_runs" err 2
    ends 7
}

@test "tmesis_report is nothing where there is no runtime" {
    gcc -D_GNU_SOURCE -pthread -I"$top/include" "$here/serve/server.c" -o native
    printf 'rq' | { ./native >out || [ $? -eq 7 ]; }
    grep -q asked out
    gcc -D_GNU_SOURCE -pthread -DTMESIS_OFF -I"$top/include" "$here/serve/server.c" -o off
    printf 'rq' | { ./off >out || [ $? -eq 7 ]; }
    grep -q asked out
}
