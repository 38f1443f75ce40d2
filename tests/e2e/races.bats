#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Data races that the runtime sees, in reports of tmesis run. tests/weave compares them with those
# of fasttrack on full recordings, for hundreds of programs.
# shellcheck disable=SC2154 # common.bash sets them
load common

# Two threads write what nothing protects, each at a place of its own: in every run the same pairs.
build_racing() {
    cat >racing.c <<'SOURCE'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct box { long lid, content; };

static int total, guarded;
static struct box *box;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void guard(void)
{
    pthread_mutex_lock(&m);
    guarded++;
    pthread_mutex_unlock(&m);
}
static void set_one(void)
{
    total = 1;
    box->content = 1;
}
static void set_two(void)
{
    total = 2;
    box->content = 2;
}
static void *one(void *unused)
{
    set_one();
    return unused;
}
static void *two(void *unused)
{
    usleep(100000); /* two at the very same time may not meet */
    set_two();
    return unused;
}
int main(void)
{
    pthread_t threads[2];
    box = calloc(1, sizeof(*box));
    guard();
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, two, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    guard();
    free(box);
    return 0;
}
SOURCE
    TMESIS_CC=$1 "$tmesis" cc -g racing.c -o "racing-$1"
}

# The same with a lock around each.
build_free() {
    build_racing gcc
    sed -i '/^static void set_/,/^}/{s/^{/{ pthread_mutex_lock(\&m);/;s/^}/pthread_mutex_unlock(\&m); }/}' \
        racing.c
    "$tmesis" cc -g racing.c -o free
}

# pairs FILE: variable and places of each race, sorted.
pairs() {
    python3 -c 'import json, sys
result = [r for r in json.loads(open(sys.argv[1]).readline())["results"] if r["engine"] == "fasttrack"]
for line in sorted("{} {}".format(v["cycle"][0]["on"].replace("#1", ""), " ".join(sorted(
        "{}({})".format(v["cycle"][0][side]["function"], v["cycle"][0][side]["line"])
        for side in ("first", "second")))) for v in result[0]["violations"]):
    print(line)' "$1"
}

@test "races are counted in a line, and are no violation" {
    build_racing gcc
    tms run ./racing-gcc
    [ "$status" -eq 0 ]
    [[ $stderr == *$'\n./racing-gcc: serializable: '* ]]
    [[ $flat == *'2 data races were seen, the first at event '*', so predictions may not hold; --races lists them.'* ]]
    [[ $stderr != *AV-* ]]
    tms run --fail-on=race ./racing-gcc
    [ "$status" -eq 66 ]
}

@test "--races names the variable, the functions and the call stacks, with gcc and clang" {
    for compiler in gcc clang; do
        build_racing "$compiler"
        tms run --races --json="$compiler.json" "./racing-$compiler"
        [ "$status" -eq 0 ]
        [[ $stderr == *$'\n'"./racing-$compiler: race: "*'; data race, first at event '* ]]
        [[ $flat == *'data race on total: '*' and nothing orders the two.'* ]]
        [[ $stderr == *' in set_'*$'\n'*'from '* ]]
        pairs "$compiler.json" | tee found
        diff found - <<'PAIRS'
heap:main:box.content set_one(18) set_two(23)
total set_one(17) set_two(22)
PAIRS
        output=$(cat "$compiler.json")
        valid result
        query '[(r["verdict"], len({v["id"] for v in r["violations"]})) for r in d[0]["results"] if r["engine"] == "fasttrack"] == [("race", 2)]'
    done
}

@test "a run has the races of fasttrack on a full recording, with the same fields" {
    build_racing gcc
    tms run --races --json=run.json ./racing-gcc
    tms record --full -o full.tms ./racing-gcc
    tms check -q --engine=fasttrack --json=check.json full.tms
    [ "$status" -eq 0 ]
    python3 - <<'COMPARE'
import json
run, check = ([r for r in json.loads(open(name).readline())["results"] if r["engine"] == "fasttrack"][0]
              for name in ("run.json", "check.json"))
def races(result):
    steps = [(v, v["cycle"][0]) for v in result["violations"]]
    return sorted((s["on"], s["kind"], v["count"], sorted((s["first"]["line"], s["second"]["line"])))
                  for v, s in steps)
assert set(run) == set(check), set(run) ^ set(check)
assert [set(v) for v in run["violations"]] == [set(v) for v in check["violations"]]
assert races(run) == races(check), (races(run), races(check))
COMPARE
}

@test "a program without races says nothing of them" {
    build_free
    tms run --json=free.json ./free
    [ "$status" -eq 0 ]
    [[ $stderr != *'data race'* ]]
    output=$(cat free.json)
    query '[r["verdict"] for r in d[0]["results"] if r["engine"] == "fasttrack"] == ["no-race"]'
    tms run --races ./free
    [ "$status" -eq 0 ]
    [[ $stderr == *$'\n./free: serializable: '* ]]
    [[ $stderr != *'data race'* ]]
    tms run --races --engine=frontier,sidetrack ./free
    [ "$status" -eq 0 ]
    [[ $flat == *'fasttrack: no-race.'* ]]
}

@test "what is predicted says that there were races" {
    cat >predicted.c <<'SOURCE'
#include <pthread.h>
#include <unistd.h>
static int balance, stray;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int get(void)
{
    pthread_mutex_lock(&m);
    int now = balance;
    pthread_mutex_unlock(&m);
    return now;
}
static void set(int now)
{
    pthread_mutex_lock(&m);
    balance = now;
    pthread_mutex_unlock(&m);
}
void deposit(void)
{
    set(get() + 1);
}
static void *pay(void *unused)
{
    sleep(1);
    stray = 1;
    deposit();
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, pay, NULL);
    stray = 2;
    deposit();
    pthread_join(thread, NULL);
    return 0;
}
SOURCE
    "$tmesis" cc -g predicted.c -o predicted
    tms run ./predicted
    [ "$status" -eq 0 ]
    [[ $flat == *'predicted AV-'*'But this run has a data race, '*'the predicted order may be impossible. Fix '* ]]
    [[ $flat == *'1 data race was seen'* ]]
    tms run --engine=frontier,sidetrack ./predicted
    [[ $flat == *'But: fasttrack found a data race in this run, first at event '* ]]
    [[ $flat == *'1 data race was seen'* ]]
}
