#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Coverage of a run: functions that access memory of other threads, and those that met one there.
# shellcheck disable=SC2154 # common.bash sets them

load common

# Three functions touch memory that another thread has touched, one while that is still in its block.
program() {
    cat >covers.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static int there[2], back[2];
static long met, later, own[2];
static void pass(int *ends) { char c = 'x'; if (write(ends[1], &c, 1) != 1) perror("write"); }
static void wait_at(int *ends) { char c; if (read(ends[0], &c, 1) != 1) perror("read"); }
APART static void alone(int i) { own[i]++; }              /* never another thread's */
APART static void first(void) { met++; pass(there); wait_at(back); }
APART static void second(void) { met++; }                 /* first is still open */
APART static void third(void) { met++; }                  /* second is over */
APART static void fill(void) { later = 1; }
APART static void after(void) { later++; met++; }         /* all threads are over */
static void *one(void *unused) { alone(0); fill(); first(); third(); return unused; }
static void *two(void *unused)
{
    wait_at(there);
    alone(1);
    second();
    pass(back);
    return unused;
}
int main(void)
{
    pthread_t threads[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, two, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    after();
    return 0;
}
END
    TMESIS_CC=$1 "$tmesis" cc -g -pthread covers.c -o covers
}

covers() {
    program "$1"
    tms run --json=result.json ./covers
    output=$(cat result.json)
    valid result
    query '(d[0]["trace"]["functions_met"], d[0]["trace"]["functions_shared"]) == (1, 3)'
}

@test "functions that met another thread are counted, gcc" {
    covers gcc
}

@test "functions that met another thread are counted, clang" {
    covers clang
}

@test "a clean report says what it is worth" {
    printf 'int main(void) { return 0; }\n' >nothing.c
    "$tmesis" cc -g nothing.c -o nothing
    tms run ./nothing
    [[ $flat == *'Covered: no function touched memory that another thread had touched.'* ]]
    program gcc
    tms run --verbose ./covers
    [[ $flat == *'Covered: 1 of 3 functions that touch shared memory ran while another thread touched the same memory.'* ]]
}

@test "of a program whose memory is not watched nothing is known" {
    program gcc
    gcc -g -pthread covers.c -o native
    tms run --json=result.json --engine=sidetrack ./native
    [[ $flat != *Covered* ]]
    output=$(cat result.json)
    valid result
    query '"functions_shared" not in d[0]["trace"]'
}
