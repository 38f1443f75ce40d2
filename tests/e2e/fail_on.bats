# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # bats and common.bash set the variables
# The exit status: --fail-on with levels and evidence, and --strict.
load common

@test "words: at most one level and one evidence word" {
    tms check --fail-on=note,error fine.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"at most one level and one evidence word, not both note and error"* ]]
    tms check --fail-on=observed,predicted fine.std
    [ "$status" -eq 2 ]
    tms run --fail-on=note,error true
    [ "$status" -eq 125 ]
    [ "$(grep -c 'at most one level' <<<"$stderr")" -eq 1 ]
    tms check --fail-on=warnings fine.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"did you mean warning?"* ]]
    tms check --fail-on= fine.std
    [ "$status" -eq 2 ]
}

@test "a level above note needs the engine that gives levels" {
    tms check --engine=frontier --fail-on=warning lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"--fail-on=warning needs the engine judge, which is not in --engine=frontier"* ]]
    tms run --engine=frontier --fail-on=error,predicted true
    [ "$status" -eq 125 ]
    tms check -q --engine=frontier --fail-on=note lost.std
    [ "$status" -eq 1 ]
    tms check -q --engine=frontier --fail-on=note fine.std
    [ "$status" -eq 0 ]
}

@test "--strict does not go with a level above note" {
    tms run --strict --fail-on=warning true
    [ "$status" -eq 125 ]
    [[ $stderr == *"--strict counts every block that was cut, --fail-on=warning does not"* ]]
}

@test "level note is the definition" {
    tms check -q lost.std
    [ "$status" -eq 1 ]
    tms check -q --fail-on=note,observed lost.std
    [ "$status" -eq 1 ]
    tms check -q --fail-on=note,predicted fine.std
    [ "$status" -eq 0 ]
}

@test "data races count only if they are asked for, or with a bare evidence word" {
    printf 'A|w(x)|1\nB|w(x)|2\nA|begin(f)|3\nA|end|4\n' >race.std
    tms check -q --engine=fasttrack race.std
    [ "$status" -eq 0 ]
    tms check -q --engine=fasttrack --fail-on=note,potential race.std
    [ "$status" -eq 0 ]
    tms check -q --engine=fasttrack --fail-on=race race.std
    [ "$status" -eq 1 ]
    tms check -q --engine=fasttrack --fail-on=note,race race.std
    [ "$status" -eq 1 ]
    tms check -q --engine=fasttrack --fail-on=predicted race.std
    [ "$status" -eq 1 ]
}

# A lost update that only judge can weigh, and one function that merely takes a lock twice.
error_and_note() {
    cp lost.std error.std
    grep -v '|[rw](' lost.std >note.std
    printf '%s\n' 'C|begin(other)|20' 'C|r(z)|21' 'C|end|22' >>note.std # accesses were recorded
}

@test "check: judge is beside frontier, and levels count only if they are asked for" {
    error_and_note
    tms check --json -q error.std
    query '[r["engine"] for r in d[0]["results"]] == ["frontier", "judge", "sidetrack"]'
    for trace in error.std note.std; do
        tms check -q "$trace"
        [ "$status" -eq 1 ]
        tms check -q --fail-on=note "$trace"
        [ "$status" -eq 1 ]
    done
    for level in warning error warning,observed error,predicted; do
        tms check -q --fail-on="$level" error.std
        [ "$status" -eq 1 ]
        tms check -q --fail-on="$level" note.std
        [ "$status" -eq 0 ]
        tms check -q --fail-on="$level" --ignore-variable=balance error.std
        [ "$status" -eq 0 ]
    done
    tms check -q --fail-on=warning --suppress="$(
        "$tmesis" check -q --write-suppressions=- error.std 2>/dev/null | sed -n 's/^id //p')" error.std
    [ "$status" -eq 0 ]
}

@test "run: judged inside the program, notes never fail it, --strict goes by the definition" {
    cat >order.c <<'CODE'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int turn;
static void reach(int wanted)
{
    for (int now = 0; now < wanted;) {
        pthread_mutex_lock(&m);
        now = turn;
        pthread_mutex_unlock(&m);
    }
}
static void step(void) { pthread_mutex_lock(&m); turn++; pthread_mutex_unlock(&m); }
void twice(void) { step(); reach(2); step(); }
static void *other(void *none) { reach(1); step(); return none; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    twice();
    pthread_join(thread, NULL);
    return 0;
}
CODE
    "$tmesis" cc -O1 -g -o order order.c
    "$tmesis" cc -O1 -g -o bank "$top/examples/bank/buggy.c"
    tms run --json=out ./order
    [ "$status" -eq 0 ]
    output=$(cat out)
    query '[r["verdict"] for r in d[0]["results"] if r["engine"] == "frontier"] == ["violation"]'
    query '[r["verdict"] for r in d[0]["results"] if r["engine"] == "judge"] == ["unaffected"]'
    tms run -q --strict ./order
    [ "$status" -eq 66 ]
    tms run -q --engine=frontier,sidetrack ./order # not judged
    [ "$status" -eq 66 ]
    tms run -q --fail-on=warning ./order
    [ "$status" -eq 0 ]
    tms run -q --perturb=1 ./bank
    [ "$status" -eq 66 ]
    tms run -q --engine=frontier,judge --fail-on=error --exit-code=9 --perturb=1 ./bank
    [ "$status" -eq 9 ]
}
