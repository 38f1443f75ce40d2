#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Watched programs: reports, traces, exit statuses, and messages if they can't be watched. What
# the runtime sees of programs is tested elsewhere; here are programs whose verdict is the same in
# every run.
# shellcheck disable=SC2154,SC2016 # common.bash sets them; an inner shell expands them
load common

setup_file() {
    export programs=$BATS_FILE_TMPDIR
    local tmesis=${TMESIS:-$BATS_TEST_DIRNAME/../../build/tmesis}
    cd "$programs" || return
    # The account is read, changed by another thread, and written: in the first round, or in one of
    # the next. No thread waits for the other in between: such a wait would split the block.
    cat >cut.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int balance;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *pay(void *unused)
{
    usleep(20000);
    pthread_mutex_lock(&m);
    balance += 5;
    pthread_mutex_unlock(&m);
    return unused;
}
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
    int now = get();
    usleep(60000);
    set(now + 1);
}
static inline __attribute__((always_inline)) void cut(void)
{
    for (int i = 0; i < 50 && get() == 6 * i; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, pay, NULL);
        deposit();
        pthread_join(thread, NULL);
    }
}
void plain(void)
{
    set(get());
}
int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "cut";
    strcmp(how, "cut") == 0 ? cut() : plain();
    for (int i = 2; i < argc; i++) {
        printf("%s\n", argv[i]);
    }
    fflush(stdout);
    if (strcmp(how, "fork") == 0) {
        if (fork() == 0) {
            cut();
            exit(0);
        }
        sleep(1);
    }
    if (strcmp(how, "abort") == 0) {
        abort();
    }
    if (strcmp(how, "kill") == 0) {
        raise(SIGKILL);
    }
    return strcmp(how, "seven") == 0 ? 7 : 0;
}
END
    "$tmesis" cc -g cut.c -o cut
}

setup() {
    unset "${!TMESIS_@}" NO_COLOR
    export TMPDIR=$BATS_TEST_TMPDIR/spools
    mkdir "$TMPDIR"
    cd "$programs" || return
}

# Whatever happened, no spool is left.
teardown() {
    rmdir "$TMPDIR"
}

@test "a violation has stacks, source lines and names, and its own exit status" {
    tms run --engine=frontier,sidetrack ./cut
    [ "$status" -eq 66 ]
    [ -z "$output" ]
    [[ $stderr == './cut: violation: '* ]]
    [[ $flat == *"main's deposit was cut apart"*"by T"[0-9]"'s "* ]]
    [[ $flat == *'m (cut.c:8)'* ]]
    [[ $stderr == *'event '[0-9]*' in set (cut.c:'*'), deposit (cut.c:'* ]]
    [ "$(sed -n '/^AV-/,/^$/p; /^    a  /,/^$/p; /^    So /,/^$/p' <<<"$stderr" | wc -l)" -le 26 ]
    tms run --engine=frontier,sidetrack --verbose ./cut
    [[ $stderr == *' in set (cut.c:'*$'\n'*'pthread_mutex_lock(&m);'$'\n'*'from deposit (cut.c:'*$'\n'*'from cut (cut.c:'*$'\n'*'from main (cut.c:'* ]]
    tms run --engine=frontier,sidetrack --exit-code=9 ./cut
    [ "$status" -eq 9 ]
}

@test "a run is judged: what happened to which data, source lines, and how to prevent it" {
    tms run ./cut
    [ "$status" -eq 66 ]
    [ -z "$output" ]
    [[ $stderr == '✗ deposit() is not atomic: an update of balance was lost '*' AV-'* ]]
    [[ $flat == *' cut.c:31 · cut in 1 of '*' main deposit() T2 pay() '* ]]
    [[ $flat == *' 20 read balance '*' 13 write balance ▶ 27 write balance ← overwrites '* ]]
    [[ $flat == *'Why T2 changed balance after main had read it; '*'Fix hold m from line 32 to line 34.'* ]]
    [[ $stderr == *$'\n./cut: violation: not serializable; data was affected.\n1 error · 0 warnings · '* ]]
    tms run --verbose ./cut
    [[ $flat == *'evidence: observed event '*': main read balance in get (cut.c:20)'* ]]
    [[ $stderr == *': main wrote balance'$'\n'*' in set (cut.c:27)'$'\n'*'from deposit (cut.c:34)'$'\n'*'from cut (cut.c:'*$'\n'*'from main (cut.c:'* ]]
    tms run --exit-code=9 ./cut
    [ "$status" -eq 9 ]
    tms run -q ./cut
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
}

@test "the id is that of the names, not of the lines" {
    tms run -q --json=one.json ./cut
    sed '1i // one line more' cut.c >moved.c
    "$tmesis" cc -g moved.c -o moved
    tms run -q --json=two.json ./moved
    [ "$(jq -r '.results[].violations[].id' one.json)" = "$(jq -r '.results[].violations[].id' two.json)" ]
}

@test "a method of a class that the file has for itself is called as rules call it" {
    sed 's/^void deposit/namespace { struct account { void deposit(); }; }\nvoid account::deposit/
         s/^        deposit();/account().deposit();/' cut.c >local.cpp
    for compiler in gcc clang; do
        TMESIS_CC=$compiler "$tmesis" c++ -g local.cpp -o local
        # In C++ what is inlined is a block as well.
        tms run --not-atomic=cut ./local
        [ "$status" -eq 66 ]
        [[ $stderr == '✗ (…)::account::deposit() is not atomic: '* ]]
        tms run --engine=frontier,sidetrack --not-atomic=cut ./local
        [ "$status" -eq 66 ]
        [[ $flat == *"main's (anonymous namespace)::account::deposit() was cut apart"* ]]
        tms run --not-atomic=cut --not-atomic='(anonymous namespace)::account::deposit' ./local
        [ "$status" -eq 0 ]
        [[ $stderr != *'matched no'* ]]
    done
}

@test "the JSON object keeps to the schema and has the stacks" {
    tms run --json=cut.json ./cut
    output=$(<cut.json)
    valid result
    query 'd[0]["trace"]["format"] == "live"'
    query 'd[0]["results"][0]["verdict"] == "violation"'
    query 'd[0]["results"][0]["violations"][0]["not_atomic"] is True'
    query '[f["function"] for f in d[0]["results"][0]["violations"][0]["cycle"][-1]["second"]["stack"]] == ["set", "deposit", "cut", "main"]'
    tms run --json=plain.json ./cut plain
    output=$(<plain.json)
    valid result
    tms run --json=nowhere/x.json ./cut
    [ "$status" -eq 125 ]
}

@test "output and exit status are the program's, and it gets all arguments after its name" {
    tms run ./cut seven --quiet -- --help
    [ "$status" -eq 7 ]
    [ "$output" = $'--quiet\n--\n--help' ]
    [[ $stderr == *'serializable'* ]]
    tms run -- ./cut plain
    [ "$status" -eq 0 ]
    run bash -c 'echo hello | "$1" run -q ./cut plain 2>/dev/null; cat' - "$tmesis" </dev/null
    [ "$status" -eq 0 ]
}

@test "signals" {
    tms run ./cut abort
    [ "$status" -eq 134 ]
    [[ $stderr == *'serializable'* ]]
    tms run ./cut kill
    [ "$status" -eq 137 ]
    [[ $flat == *'ended without warning'*'./cut kill: incomplete: '* ]]
}

@test "child processes: an object for each and one for all, and one text" {
    tms run --json=fork.json ./cut fork
    [ "$status" -eq 66 ]
    [[ $stderr == *'./cut fork (2 processes): violation'* ]]
    [ "$(grep -c ' executions checked ' <<<"$stderr")" -eq 1 ]
    output=$(<fork.json)
    valid result
    query '[o.get("merged", False) for o in d] == [False, False, True]'
    query '[o["results"][0]["verdict"] for o in d] == ["serializable", "violation", "violation"]'
    query 'd[2]["processes"] == 2 and d[2]["results"][0]["violations"][0]["processes"] == 1'
    query 'd[0]["results"][0]["stats"]["seconds"] >= 0 and d[1]["seconds"] <= d[0]["seconds"]'
}

@test "what is run when and where, in JSON" {
    before=$(date -u +%Y-%m-%dT%H:%M:%S)
    tms run --perturb=7 --json=origin.json ./cut
    output=$(<origin.json)
    query 'd[0]["command"] == "./cut" and d[0]["seed"] == 7 and d[0]["host"] == "'"$(uname -n)"'"'
    query '"'"$before"'" <= d[0]["started"] and d[0]["started"].endswith("Z")'
    tms run --json=origin.json ./cut
    output=$(<origin.json)
    query 'd[0]["seed"] is None and 0 < d[0]["seconds"] < 60'
}

@test "a baseline of an earlier run" {
    tms run --json=old.json ./cut
    [ "$status" -eq 66 ]
    tms run --baseline=old.json --json=new.json ./cut
    [ "$status" -eq 0 ]
    [[ $stderr == *$'\n1 known finding left out (--baseline).\n'*'; no data was affected except as in the baseline.'* ]]
    tms run --baseline=old.json ./cut fork
    [ "$status" -eq 0 ]
    output=$(<new.json)
    valid result
}

@test "rules from the command line" {
    tms run --not-atomic=deposit ./cut
    [ "$status" -eq 0 ]
    tms run --atomic='dep*' ./cut
    [ "$status" -eq 66 ]
    printf 'atomic dep*\n' >rules
    tms run --spec=rules ./cut
    [ "$status" -eq 66 ]
    tms run --atomic=@locks ./cut
    [ "$status" -eq 0 ]
    tms run --atomic=@zebras ./cut
    [ "$status" -eq 125 ]
    [[ $stderr == *'@functions, @threads, @locks or @annotations, not "@zebras"' ]]
}

@test "a run without any block is never fine" {
    tms run --atomic=nothing_of_that_name ./cut
    [ "$status" -eq 3 ]
    [[ $stderr == *'./cut: incomplete: no block '* ]]
    [[ $flat == *'no block that is meant to be atomic was seen'*'--atomic=PATTERN'* ]]
    [[ $flat == *nothing_of_that_name* ]]
}

@test "other engines get a recording of the run" {
    tms run --engine=frontier,reference,velodrome --json=engines.json ./cut
    [ "$status" -eq 66 ]
    output=$(<engines.json)
    valid result
    query '[r["verdict"] for r in d[0]["results"]] == ["violation"] * 3'
    query 'd[0]["trace"]["locks"] == 1'
    tms run --full ./cut plain
    [ "$status" -eq 0 ]
    [[ $stderr == *'--full and --max-size are for recordings, which frontier does not need'* ]]
    tms run --engine=velodrome --max-size=1 ./cut plain
    [[ $flat != *'are for recordings'* ]]
}

@test "record, then check" {
    for full in '' --full; do
        # shellcheck disable=SC2086 # may be nothing
        tms record $full -o cut.tms ./cut
        [ "$status" -eq 0 ]
        [[ $stderr == *'cut.tms: '*' events of '[2-9]*' threads'* ]]
        tms check -q --engine="$(observing)" --json cut.tms
        [ "$status" -eq 1 ]
        query 'len({r["verdict"] for r in d[0]["results"]}) == 1'
        tms info cut.tms
        [[ $output == *'well formed'*yes* ]]
    done
    tms convert cut.tms cut.std
    [ "$status" -eq 0 ]
    grep -q '^main|begin(deposit)|cut.c:' cut.std
    grep -q '^T2|w(balance)|cut.c:13$' cut.std
    grep -q '|acq(m)|' cut.std
}

@test "record: statuses, children, and files that can't be written" {
    tms record -o seven.tms ./cut seven
    [ "$status" -eq 7 ]
    tms record ./cut
    [ "$status" -eq 125 ]
    [[ $stderr == *'record needs -o FILE'* ]]
    tms record -o nowhere/x.tms ./cut
    [ "$status" -eq 125 ]
    tms record -o killed.tms ./cut kill
    [ "$status" -eq 137 ]
    [[ $flat == *'killed.tms is incomplete'* ]]
    tms info killed.tms
    [ "$status" -eq 3 ]
    [[ $stderr == *'the process ended without warning'* ]]
    tms record -o fork.tms ./cut fork
    [ "$status" -eq 0 ]
    tms check -q fork.tms
    [ "$status" -eq 0 ]
    tms check -q fork.tms.*.tms
    [ "$status" -eq 1 ]
    rm fork.tms.*.tms
}

@test "programs that can't be watched" {
    tms run ./nowhere
    [ "$status" -eq 125 ]
    [[ $stderr == *"./nowhere can't be started: No such file or directory" ]]
    tms run
    [ "$status" -eq 125 ]
    tms run --zebra ./cut
    [ "$status" -eq 125 ]
    tms run --perturb=often ./cut
    [ "$status" -eq 125 ]
    [[ $stderr == *'--perturb takes a whole number up to 9007199254740992, not "often"' ]]
    printf 'tmesis-schedule 1\nstrategy noise\nseed 9223372036854775808\n' >large
    for choice in --perturb=9007199254740993 --perturb=9223372036854775808 --schedule=large; do
        tms run "$choice" --json=large.json ./cut
        [ "$status" -eq 125 ]
        [[ $flat == *" 9007199254740992"* ]]
    done
    tms run -q --perturb=9007199254740992 --json=most.json ./cut
    "$tmesis" report most.json
    TMPDIR=$TMPDIR/nowhere tms run ./cut
    [ "$status" -eq 125 ]
    [[ $stderr == *'set TMPDIR to another one'* ]]
}

@test "a seed is reported, and accepted" {
    tms run --perturb ./cut plain
    [[ $flat =~ 'perturbed with seed '[0-9]+'; --perturb=' ]]
    tms run --perturb=12 ./cut plain
    [[ $flat == *'perturbed with seed 12;'* ]]
}

@test "signals to the command are passed on" {
    printf '#include <unistd.h>\nint main(void) { for (;;) pause(); }\n' >waits.c
    "$tmesis" cc -g waits.c -o waits
    "$tmesis" run ./waits 2>said &
    child=$!
    for _ in {1..100}; do
        ls "$TMPDIR"/*/*.spool >/dev/null 2>&1 && break
        sleep 0.05
    done
    sleep 0.2
    kill -TERM "$child"
    status=0
    wait "$child" || status=$?
    cat said
    [ "$status" -eq 143 ]
    grep -q incomplete said
}

@test "a recording of a lock that is shared and not shared in turn is well-formed" {
    cat >shares.c <<'END'
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long value;
static void *use(void *seed)
{
    uint32_t random = (uint32_t)(uintptr_t)seed;
    long sum = 0;
    for (int i = 0; i < 20000; i++) {
        random = random * 1103515245 + 12345;
        if ((random >> 16) % 4 == 0) {
            pthread_rwlock_wrlock(&lock);
            value++;
        } else {
            pthread_rwlock_rdlock(&lock);
            sum += value;
        }
        pthread_rwlock_unlock(&lock);
    }
    return sum == 0 ? seed : NULL;
}
int main(void)
{
    pthread_t threads[3];
    for (uintptr_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, use, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
END
    "$tmesis" cc -O2 -g -pthread shares.c -o shares
    "$tmesis" record -q -o shares.tms ./shares
    run "$tmesis" check -q shares.tms
    [ "$status" -eq 3 ] # well-formed, without a block
    run --separate-stderr "$tmesis" run -q --engine=frontier,sidetrack,goodlock ./shares
    [[ $stderr == *'no block that is meant to be atomic was seen'* ]]
    [ "$status" -eq 3 ]
}
