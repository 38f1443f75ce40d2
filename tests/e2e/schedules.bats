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

@test "no output replaces the schedule" {
    made noise 'strategy noise' 'seed 3'
    cp noise before
    for output in --json=./noise --report=csv:./noise --write-suppressions=./noise; do
        tms run -q --schedule=noise "$output" "$BATS_FILE_TMPDIR/bank"
        [ "$status" -eq 125 ]
        [[ $flat == *"noise are the same file"* ]]
    done
    cmp noise before
}

@test "--schedule and --perturb exclude each other" {
    made noise 'strategy noise'
    tms run --schedule=noise --perturb "$BATS_FILE_TMPDIR/bank"
    [ "$status" -eq 125 ]
    [[ $flat == *"--perturb and --schedule can't be combined"* ]]
}

@test "noise finds the lost update of the bank, learn delays nothing" {
    made noise 'strategy noise' 'seed 3'
    tms run -q --schedule=noise --json=found.json "$BATS_FILE_TMPDIR/bank"
    [ "$status" -eq 66 ]
    output=$(cat found.json)
    query 'd[0]["seed"] == 3'
    # The site of an event is the instruction after its hook, so on the line that is reported.
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

@test "a program with many shared accesses is not held up for long" {
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
    local began=$SECONDS
    tms run -q --schedule=noise ./busy
    [ "$status" -eq 0 ]
    [ $((SECONDS - began)) -lt 60 ] # each of them delayed, it would be minutes
}

# windows FILE: "id block variable open close at" for each window, lines of the source for the last three.
windows() {
    python3 -c 'import json, sys
for line in open(sys.argv[1]):
    for w in json.loads(line)["windows"]:
        print(w["id"], w["block"]["label"], w["variable"] or "lock:" + w["lock"],
              *[w[k]["line"] for k in ("open", "close", "at")])' "$1"
}

@test "a run reports its windows, with the ids of the findings that they would be" {
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

@test "a window that only one thread passed is reported once others use the memory" {
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

# window BLOCK VARIABLE: from learnt.json the line of a schedule that holds threads in that window.
window() {
    python3 -c 'import json, sys
for line in open("learnt.json"):
    for w in json.loads(line)["windows"]:
        if [w["block"]["label"], w["variable"] or "lock:" + w["lock"]] == sys.argv[1:3]:
            print("window", "close=" + w["close"]["site"], "open=" + w["open"]["site"])
            sys.exit()
sys.exit("no such window")' "$@"
}

# counted NAME: of the schedule in found.json.
counted() {
    python3 -c 'import json, sys
print(json.loads(open("found.json").readline())["schedule"][sys.argv[1]])' "$1"
}

# A deposit in each of two threads, one after the other unless the first one is held.
account() {
    cat >"$1.c" <<'END'
#include <pthread.h>
#include <stdio.h>
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
static void *late(void *unused)
{
    usleep(30000);
    deposit();
    return unused;
}
static void *early(void *unused)
{
    deposit();
    return unused;
}
int main(void)
{
    pthread_t thread[2];
    pthread_create(&thread[0], 0, early, 0);
    pthread_create(&thread[1], 0, late, 0);
    pthread_join(thread[0], 0);
    pthread_join(thread[1], 0);
    printf("%d\n", balance);
    return 7;
}
END
    "$tmesis" cc -g "$1.c" -o "$1"
    made learn 'strategy learn'
    tms run -q --schedule=learn --json=learnt.json "./$1"
}

@test "a directed run loses the update in every run, where plain runs lose none" {
    account account
    made directed 'strategy directed' 'bound 20000' "$(window deposit balance)"
    for _ in {1..3}; do
        tms run -q ./account
        [ "$status" -eq 7 ] && [ "$output" = 2 ]
    done
    for _ in {1..20}; do
        tms run -q --schedule=directed --json=found.json ./account
        [ "$status" -eq 66 ] && [ "$output" = 1 ]
        [ "$(counted met)" -eq 1 ]
        output=$(cat found.json)
        query 'any(v["id"] == d[0]["windows"][0]["id"] and v["pattern"] == "lost-update" and v["evidence"] == "observed" for r in d[0]["results"] if r["engine"] == "judge" for v in r["violations"])'
    done
}

# order FLAG…: a schedule that makes quick() write while slow() is between its read and its write.
order() {
    cat >order.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static int x;
static void quick(void)
{
    if (x < 5) {
        x = 5;
    }
}
static void slow(void)
{
    int value = x;
    x = value + 1;
}
static void mask(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(how, &set, 0);
}
static void lag(int unused)
{
    (void)unused;
    usleep(100000);
}
static void *first(void *unused)
{
#ifdef LAGS
    struct itimerval soon = {.it_value.tv_usec = 15000};
    mask(SIG_UNBLOCK);
    setitimer(ITIMER_REAL, &soon, 0);
#endif
    quick();
    return unused;
}
static void *second(void *unused)
{
    usleep(30000);
    slow();
    return unused;
}
int main(void)
{
    pthread_t thread[2];
    signal(SIGALRM, lag);
    mask(SIG_BLOCK);
    pthread_create(&thread[0], 0, first, 0);
    pthread_create(&thread[1], 0, second, 0);
    pthread_join(thread[0], 0);
    pthread_join(thread[1], 0);
    return x;
}
END
    "$tmesis" cc -g "$@" order.c -o order
    made learn 'strategy learn'
    tms run -q --schedule=learn --json=learnt.json ./order
    local held foreign
    held=$(window slow x)
    foreign=$(window quick x)
    made directed 'strategy directed' 'bound 20000' "$held foreign=$(sed -E 's/.*close=([^ ]*).*/\1/' <<<"$foreign")"
}

@test "a thread waits at the foreign place until another one is in the window" {
    order
    for _ in {1..5}; do
        tms run -q --exit-code=66 --schedule=directed --json=found.json ./order
        [ "$status" -eq 66 ]
        [ "$(counted met)" -eq 1 ]
    done
}

# A signal handler keeps the first thread busy while it waits, so it sees late that the second one
# is in the window. Until then the second one must not take it for blocked.
@test "a thread that may go on and has not run since does not count as blocked" {
    order -DLAGS
    tms run -q --exit-code=66 --schedule=directed --json=found.json ./order
    [ "$status" -eq 66 ]
    [ "$(counted met)" -eq 1 ]
}

@test "a window over two variables waits for both accesses, and before the lock of the second" {
    cat >two.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t name_lock = PTHREAD_MUTEX_INITIALIZER, number_lock = PTHREAD_MUTEX_INITIALIZER;
static int name, number;
static void put(pthread_mutex_t *lock, int *cell, int value)
{
    pthread_mutex_lock(lock);
    *cell = value;
    pthread_mutex_unlock(lock);
}
static void move_in(int who)
{
    put(&name_lock, &name, who);
    put(&number_lock, &number, who);
}
static void *early(void *unused)
{
    for (int i = 0; i < 2; i++) {
        move_in(1);
    }
    return unused;
}
static void *late(void *unused)
{
    usleep(30000);
    move_in(2);
    return unused;
}
int main(void)
{
    pthread_t thread[2];
    pthread_create(&thread[0], 0, early, 0);
    pthread_create(&thread[1], 0, late, 0);
    pthread_join(thread[0], 0);
    pthread_join(thread[1], 0);
    printf("%d %d\n", name, number);
    return 7;
}
END
    "$tmesis" cc -g two.c -o two
    made learn 'strategy learn'
    tms run -q --schedule=learn --json=learnt.json ./two
    [ "$status" -eq 7 ] && [ "$output" = "2 2" ]
    local put
    put=$({ window early name || window early number; } | sed -E 's/.*open=([^ ]*).*/\1/')
    made directed 'strategy directed' 'bound 20000' "window open=$put close=$put until=$put"
    for _ in {1..5}; do
        tms run -q --schedule=directed --json=found.json ./two
        [ "$output" = "2 1" ]
        [ "$(counted met)" -eq 1 ]
        output=$(cat found.json)
        query 'any(v["pattern"] == "interleaved-writes" and v["block"]["label"] == "move_in" and v["evidence"] == "observed" for r in d[0]["results"] if r["engine"] == "judge" for v in r["violations"])'
    done
}

@test "the same seed makes the same decisions for the same order of points" {
    cat >turns.c <<'END'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;
static void step(void)
{
    pthread_mutex_lock(&lock);
    value++;
    pthread_mutex_unlock(&lock);
}
static void *work(void *unused)
{
    step();
    return unused;
}
int main(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, work, 0);
        pthread_join(thread, 0);
    }
    return 0;
}
END
    "$tmesis" cc -g turns.c -o turns
    for seed in 1 2 3 4 5 6; do
        made noise 'strategy noise' "seed $seed"
        for time in first again once-more; do
            tms run -q --schedule=noise --json=found.json ./turns
            echo "$(counted points) $(counted delays)" >"$time"
        done
        cmp first again && cmp first once-more
        cat first >>all
    done
    [ "$(sort -u all | wc -l)" -gt 1 ]
}

@test "an unmodified program is held between two acquires" {
    account account
    cc -g account.c -o plain -pthread
    tms run -q --schedule=learn --json=learnt.json ./plain
    made directed 'strategy directed' 'bound 20000' "$(window deposit lock:lock)"
    for _ in {1..5}; do
        tms run -q --schedule=directed --json=found.json ./plain
        [ "$output" = 1 ]
        [ "$(counted met)" -eq 1 ]
    done
}

@test "the steps of a window are announced to debuggers" {
    account account
    nm account | grep -q ' T tmesis_schedule_step$'
    nm -D "$(dirname "$tmesis")/runtime/libtmesis-preload.so" | grep -q ' T tmesis_schedule_step$'
}

# unmet NAME BLOCK VARIABLE: the program of standard input, held in that window for a minute at most, ends soon, with its
# own status and output.
unmet() {
    cat >"$1.c"
    "$tmesis" cc -g "$1.c" -o "$1"
    made learn 'strategy learn'
    tms run -q --schedule=learn --json=learnt.json "./$1"
    made directed 'strategy directed' "bound ${4:-60000}" "$(window "$2" "$3")"
    local began=$SECONDS
    tms run -q --exit-code=7 --schedule=directed --json=found.json "./$1"
    [ "$status" -eq 7 ] && [ "$output" = done ]
    [ $((SECONDS - began)) -lt 30 ]
    [ "$(counted released)" -ge 1 ]
}

@test "a hold that no thread meets ends with its bound" {
    unmet alone twice x 50 <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int x, ends;
static void twice(void)
{
    int value = x;
    x = value + 1;
}
static void *work(void *unused)
{
    twice();
    __atomic_store_n(&ends, 1, __ATOMIC_RELEASE);
    return unused;
}
int main(void)
{
    pthread_t thread;
    twice();
    pthread_create(&thread, 0, work, 0);
    while (!__atomic_load_n(&ends, __ATOMIC_ACQUIRE)) {
        usleep(1000);
    }
    pthread_join(thread, 0);
    puts("done");
    return 7;
}
END
}

@test "a thread is let go when all others wait for it to end" {
    unmet joined twice x <<'END'
#include <pthread.h>
#include <stdio.h>
static int x;
static void twice(void)
{
    int value = x;
    x = value + 1;
}
static void *work(void *unused)
{
    twice();
    return unused;
}
int main(void)
{
    pthread_t thread;
    twice();
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    puts("done");
    return 7;
}
END
}

@test "a thread is let go when all others want the lock that it has" {
    unmet locked twice x <<'END'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void twice(void)
{
    pthread_mutex_lock(&lock);
    int value = x;
    x = value + 1;
    pthread_mutex_unlock(&lock);
}
static void *work(void *unused)
{
    for (int i = 0; i < 10; i++) {
        twice();
    }
    return unused;
}
int main(void)
{
    pthread_t thread[3];
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread[i], 0, work, 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], 0);
    }
    puts(x == 30 ? "done" : "lost");
    return 7;
}
END
}

@test "a thread is let go when all others wait for a condition" {
    unmet signalled twice x <<'END'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int x, ready;
static void twice(void)
{
    int value = x;
    x = value + 1;
}
static void *work(void *unused)
{
    twice();
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void)
{
    pthread_t thread;
    twice();
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_lock(&lock);
    while (!ready) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    puts("done");
    return 7;
}
END
}

@test "one thread at a time, a program that waits in many ways ends as usual" {
    cat >ways.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t posted;
static atomic_int flag;
static int turn, total[3], ends[2]; /* a total per lock */
static void take_turns(int self)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        while (turn % 2 != self) {
            pthread_cond_wait(&changed, &lock);
        }
        turn++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
}
static void add(void)
{
    while (pthread_mutex_trylock(&lock) != 0) {
    }
    total[0]++;
    pthread_mutex_unlock(&lock);
    pthread_rwlock_rdlock(&shared);
    pthread_rwlock_unlock(&shared);
    pthread_rwlock_wrlock(&shared);
    total[1]++;
    pthread_rwlock_unlock(&shared);
    pthread_spin_lock(&spin);
    total[2]++;
    pthread_spin_unlock(&spin);
}
static void *first(void *unused)
{
    char byte = 1;
    take_turns(0);
    pthread_barrier_wait(&barrier);
    sem_wait(&posted);
    while (atomic_load(&flag) == 0) {
    }
    usleep(1000);
    add();
    return write(ends[1], &byte, 1) == 1 ? unused : total;
}
static void *second(void *unused)
{
    struct pollfd input = {.fd = ends[0], .events = POLLIN};
    char byte = 0;
    take_turns(1);
    pthread_barrier_wait(&barrier);
    usleep(1000);
    sem_post(&posted);
    atomic_store(&flag, 1);
    add();
    return poll(&input, 1, -1) == 1 && read(ends[0], &byte, 1) == 1 ? unused : total;
}
int main(void)
{
    pthread_t thread[2];
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, 0, 2);
    sem_init(&posted, 0, 0);
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&thread[0], 0, first, 0);
    pthread_create(&thread[1], 0, second, 0);
    pthread_join(thread[0], 0);
    pthread_join(thread[1], 0);
    printf("%d %d\n", turn, total[0] + total[1] + total[2]);
    return 7;
}
END
    "$tmesis" cc -g ways.c -o ways
    cc -g ways.c -o plain -pthread
    local began=$SECONDS
    for seed in 1 2 3; do
        made pct 'strategy pct' "seed $seed" 'depth 3' 'points 100'
        tms run -q --exit-code=7 --schedule=pct --json=found.json ./ways
        [ "$status" -eq 7 ] && [ "$output" = '20 6' ]
        tms run -q --exit-code=7 --schedule=pct --json=found.json ./plain
        [ "$status" -eq 7 ] && [ "$output" = '20 6' ]
        [ "$(counted points)" -gt 20 ]
    done
    [ $((SECONDS - began)) -lt 60 ]
}

@test "one thread at a time, threads that wait for each other can be killed" {
    cat >forever.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, 0, work, 0);
    alarm(1);
    pthread_join(thread, 0);
    return 0;
}
END
    "$tmesis" cc -g forever.c -o forever
    made pct 'strategy pct'
    tms run -q --schedule=pct ./forever
    [ "$status" -eq 142 ] # SIGALRM
}
