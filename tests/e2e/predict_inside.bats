#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Predictions that a program makes itself while it runs: nothing is recorded for them.
# shellcheck disable=SC2154 # common.bash sets them
load common

# build NAME: a program that has deposit(), which can be cut, from what main is on standard input.
build() {
    cat >"$1.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t account = PTHREAD_MUTEX_INITIALIZER, book = PTHREAD_MUTEX_INITIALIZER;
static long balance;
static atomic_int flag;
static long get(void)
{
    pthread_mutex_lock(&account);
    long now = balance;
    pthread_mutex_unlock(&account);
    return now;
}
static void set(long value)
{
    pthread_mutex_lock(&account);
    balance = value;
    pthread_mutex_unlock(&account);
}
void deposit(long amount) { set(get() + amount); }
void pay(void)
{
    pthread_mutex_lock(&account);
    pthread_mutex_lock(&book);
    balance++;
    pthread_mutex_unlock(&book);
    pthread_mutex_unlock(&account);
}
void note(void)
{
    pthread_mutex_lock(&book);
    pthread_mutex_lock(&account);
    balance++;
    pthread_mutex_unlock(&account);
    pthread_mutex_unlock(&book);
}
END
    cat >>"$1.c"
    "$tmesis" cc -g -O1 -pthread "$1.c" -o "$1"
}

# Of the engine in $1, a Python expression over its result `r`.
of() {
    query "all($2 for r in d[0]['results'] if r['engine'] == '$1') and any(r['engine'] == '$1' for r in d[0]['results'])"
}

@test "a cut by another timing, with stacks, and nothing recorded" {
    build plain <<'END'
static void *work(void *unused) { usleep(50000); deposit(1); return unused; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    deposit(2);
    pthread_join(thread, NULL);
    return 0;
}
END
    tms run --stats --json=out.json ./plain
    [ "$status" -eq 0 ]
    output=$(<out.json)
    valid result
    of sidetrack 'r["verdict"] == "predicted" and r["complete"]'
    of sidetrack '[v["kind"] for v in r["violations"]] == ["after", "before"]'
    of sidetrack 'all(v["evidence"] == "predicted" for v in r["violations"])'
    of sidetrack 'r["violations"][0]["transaction"]["label"] == "deposit"'
    of sidetrack '[s["on"] for s in r["violations"][0]["cycle"]] == ["account", "account"]'
    of sidetrack '[f["function"] for f in r["violations"][0]["cycle"][0]["first"]["stack"]] == ["get", "deposit", "main"]'
    of sidetrack '[f["function"] for f in r["violations"][0]["cycle"][1]["first"]["stack"]] == ["get", "deposit", "work"]'
    [[ $flat == *'acquires 4 '*'windows 4 '* ]]
    tms run --fail-on=predicted --quiet ./plain
    [ "$status" -eq 66 ]
}

@test "what fork, join or a flag orders is not predicted" {
    build joined <<'END'
static void *work(void *unused) { deposit(1); return unused; }
int main(void)
{
    pthread_t thread;
    deposit(2);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    deposit(3);
    return 0;
}
END
    build flagged <<'END'
static void *work(void *unused)
{
    while (atomic_load_explicit(&flag, memory_order_acquire) == 0) {
        usleep(1000);
    }
    deposit(1);
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    deposit(2);
    atomic_store_explicit(&flag, 1, memory_order_release);
    pthread_join(thread, NULL);
    return 0;
}
END
    for program in joined flagged; do
        tms run --json=out.json ./$program
        [ "$status" -eq 0 ]
        output=$(<out.json)
        of sidetrack 'r["verdict"] == "none-predicted" and r["complete"]'
    done
    # Without atomics the flag orders nothing.
    tms run --predict=shared,barrier,wait --json=out.json ./flagged
    output=$(<out.json)
    of sidetrack 'r["verdict"] == "predicted"'
}

# The second thread comes after the first, by nothing that orders them: it looks for a file.
pairs() {
    build "$1" <<END
#include <fcntl.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static long written;
long total(void)
{
    $2
    pthread_mutex_lock(&account);
    long sum = balance;
    pthread_mutex_unlock(&account);
    pthread_mutex_lock(&book);
    sum += written;
    pthread_mutex_unlock(&book);
    $3
    return sum;
}
void transfer(void)
{
    pthread_mutex_lock(&account);
    balance--;
    pthread_mutex_unlock(&account);
    $2
    pthread_mutex_lock(&book);
    written++;
    pthread_mutex_unlock(&book);
    $3
}
static void *work(void *unused)
{
    while (access("$1.done", F_OK) != 0) {
        usleep(1000);
    }
    transfer();
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    long sum = total();
    close(open("$1.done", O_CREAT | O_WRONLY, 0600));
    pthread_join(thread, NULL);
    return (int)sum;
}
END
}

@test "a cut between two locks, judged by the data of both" {
    pairs two '' ''
    tms run --json=out.json ./two
    [ "$status" -eq 0 ]
    output=$(<out.json)
    valid result
    of sidetrack '[v["kind"] for v in r["violations"]] == ["pair"] and r["complete"]'
    of sidetrack '[s["on"] for s in r["violations"][0]["cycle"]] == ["account", "book"]'
    of sidetrack '[t["on"] for t in r["violations"][0]["schedule"]] == ["account", "account", "book", "book"]'
    of sidetrack '[t["at"]["stack"][0]["function"] for t in r["violations"][0]["schedule"]] == ["total", "transfer", "transfer", "total"]'
    of judge '[(v["pattern"], v["level"], v["block"]["label"]) for v in r["violations"]] == [("inconsistent-reads", "error", "total")]'
    [[ $flat == *'total() can be cut: it can read balance and written from'*'different states'* ]]
    rm two.done
    tms run --predict=shared --json=out.json ./two
    output=$(<out.json)
    of sidetrack 'r["verdict"] == "none-predicted"'
    rm two.done
    # The same from a recording.
    "$tmesis" record -o two.tms ./two
    tms check --json=out.json two.tms
    output=$(<out.json)
    of sidetrack '[v["kind"] for v in r["violations"]] == ["pair"]'
    of judge '[(v["pattern"], v["level"]) for v in r["violations"]] == [("inconsistent-reads", "error")]'
}

@test "a lock around both sections keeps who needs it out" {
    pairs around 'pthread_mutex_lock(&outer);' 'pthread_mutex_unlock(&outer);'
    tms run --json=out.json ./around
    output=$(<out.json)
    of sidetrack 'r["verdict"] == "none-predicted" and r["complete"]'
}

# The second thread comes after the first, as in pairs(). Its start function is all that it has.
# Other blocks of the heap have locks as well, and in the end the memory of the accounts is theirs.
@test "a lock in a block of the heap is that of its section, whatever becomes of the memory" {
    cat >accounts.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct account { pthread_mutex_t lock; long balance; };
struct queue { long rest[2]; pthread_mutex_t lock; };
static struct account *accounts[4];
static struct queue *queues[7];
static struct account *new_account(void)
{
    struct account *account = calloc(1, sizeof(*account));
    pthread_mutex_init(&account->lock, 0);
    return account;
}
static struct queue *new_queue(void)
{
    struct queue *queue = calloc(1, sizeof(*queue));
    pthread_mutex_init(&queue->lock, 0);
    return queue;
}
static long get(struct account *account)
{
    pthread_mutex_lock(&account->lock);
    long balance = account->balance;
    pthread_mutex_unlock(&account->lock);
    return balance;
}
static void set(struct account *account, long balance)
{
    pthread_mutex_lock(&account->lock);
    account->balance = balance;
    pthread_mutex_unlock(&account->lock);
}
static void deposit(struct account *account)
{
    long balance = get(account);
    set(account, balance + 1);
}
static void put(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->rest[0]++;
    pthread_mutex_unlock(&queue->lock);
}
static void *work(void *late)
{
    while (late != 0 && access("done", F_OK) != 0) { /* far from the other one */
        usleep(1000);
    }
    for (int i = 0; i < 3; i++) {
        put(queues[i]);
    }
    for (int i = 0; i < 4; i++) {
        deposit(accounts[i]);
    }
    close(creat("done", 0600));
    return 0;
}
int main(void)
{
    pthread_t threads[2];
    unlink("done");
    for (int i = 0; i < 3; i++) {
        queues[i] = new_queue();
    }
    for (int i = 0; i < 4; i++) {
        accounts[i] = new_account();
    }
    for (long i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, work, (void *)i);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], 0);
    }
    for (int i = 0; i < 4; i++) {
        free(accounts[i]);
    }
    for (int i = 3; i < 7; i++) {
        queues[i] = new_queue();
        put(queues[i]);
    }
    return 0;
}
END
    "$tmesis" cc -g accounts.c -o accounts
    tms run --json=found.json ./accounts
    [ "$status" -eq 0 ]
    output=$(<found.json)
    query '[v["pattern"] for r in d[0]["results"] if r["engine"] == "judge" for v in r["violations"] if v["block"]["label"] == "deposit"] == ["lost-update"]'
    [[ $(tr -s ' \n' ' ' <<<"$stderr") =~ (account#[0-9]+)'.balance after T'.*'hold '(account#[0-9]+)'.lock' ]]
    [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
    printf '#!/bin/sh\n./accounts\n' >launch.sh # with which it records its locks for the command
    chmod +x launch.sh
    tms run --json=found.json ./launch.sh
    output=$(<found.json)
    query '[v["pattern"] for r in d[0]["results"] if r["engine"] == "judge" for v in r["violations"] if v["block"]["label"] == "deposit"] == ["lost-update"]'
}

@test "thread start functions are blocks if that is asked for" {
    build start <<'END'
#include <fcntl.h>
static void *bump(void *last)
{
    while (last != NULL && access("start.done", F_OK) != 0) {
        usleep(1000);
    }
    pthread_mutex_lock(&account);
    long now = balance;
    pthread_mutex_unlock(&account);
    pthread_mutex_lock(&account);
    balance = now + 1;
    pthread_mutex_unlock(&account);
    if (last == NULL) {
        close(open("start.done", O_CREAT | O_WRONLY, 0600));
    }
    return NULL;
}
int main(void)
{
    pthread_t first, last;
    pthread_create(&first, NULL, bump, NULL);
    pthread_create(&last, NULL, bump, &first);
    pthread_join(first, NULL);
    pthread_join(last, NULL);
    return 0;
}
END
    tms run ./start
    [ "$status" -eq 3 ]
    [[ $flat == *'or include thread start functions with --atomic=@threads'* ]]
    rm start.done
    tms run --verbose --atomic=@threads --json=out.json ./start
    [ "$status" -eq 0 ]
    [[ $flat == *'also thread start functions'* ]]
    output=$(<out.json)
    of sidetrack 'r["verdict"] == "predicted" and r["complete"]'
    of judge '[(v["pattern"], v["level"], v["block"]["label"]) for v in r["violations"]] == [("lost-update", "error", "bump")]'
    rm start.done
    "$tmesis" record --atomic=@threads -o start.tms ./start
    tms check --json=out.json start.tms
    output=$(<out.json)
    of judge '[(v["pattern"], v["block"]["label"]) for v in r["violations"]] == [("lost-update", "bump")]'
}

@test "a thread start function that waits is no block" {
    build waits <<'END'
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int ready, waiting;
static void *worker(void *unused)
{
    pthread_mutex_lock(&account);
    waiting++;
    while (ready == 0) {
        pthread_cond_wait(&change, &account);
    }
    pthread_mutex_unlock(&account);
    pthread_mutex_lock(&account);
    balance++;
    pthread_mutex_unlock(&account);
    return unused;
}
int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, worker, NULL);
    }
    pthread_mutex_lock(&account);
    while (waiting < 2) {
        pthread_mutex_unlock(&account);
        usleep(1000);
        pthread_mutex_lock(&account);
    }
    ready = 1;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&account);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
END
    tms run --atomic=@threads --json=out.json ./waits
    output=$(<out.json)
    of sidetrack 'r["violations"] == []'
}

@test "locks in opposite orders, and in periods that can't overlap" {
    build cycle <<'END'
static void *work(void *unused) { usleep(50000); note(); return unused; }
int main(int count, char **arguments)
{
    pthread_t thread;
    (void)arguments;
    if (count > 1) {
        pay();
    }
    pthread_create(&thread, NULL, work, NULL);
    if (count == 1) {
        pay();
    }
    pthread_join(thread, NULL);
    return 0;
}
END
    tms run --engine=frontier,sidetrack,goodlock --json=out.json ./cycle
    output=$(<out.json)
    of goodlock 'r["verdict"] == "potential" and len(r["violations"]) == 1'
    of goodlock 'sorted(s["on"] for s in r["violations"][0]["cycle"]) == ["account", "book"]'
    of goodlock '[f["function"] for f in r["violations"][0]["cycle"][0]["first"]["stack"]] == ["pay", "main"]'
    tms run --engine=frontier,sidetrack,goodlock --json=out.json ./cycle before
    output=$(<out.json)
    of goodlock 'r["verdict"] == "none-potential" and r["complete"]'
}

@test "a thread that is joined with a lock in hand that it wants" {
    build held <<'END'
static void *work(void *unused) { get(); return unused; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    usleep(100000);
    pthread_mutex_lock(&account);
    pthread_join(thread, NULL);
    pthread_mutex_unlock(&account);
    return 0;
}
END
    tms run --engine=frontier,sidetrack,goodlock --json=out.json ./held
    output=$(<out.json)
    of goodlock 'r["verdict"] == "potential" and [s["kind"] for s in r["violations"][0]["cycle"]].count("join") == 1'
}

@test "predictions outlive the process, and its children have their own" {
    build killed <<'END'
static void *work(void *unused) { usleep(50000); deposit(1); return unused; }
int main(void)
{
    pthread_t thread;
    int status;
    if (fork() == 0) {
        pthread_create(&thread, NULL, work, NULL);
        deposit(2);
        pthread_join(thread, NULL);
        kill(getpid(), SIGKILL);
    }
    wait(&status);
    return 0;
}
END
    tms run --json=out.json ./killed
    output=$(<out.json)
    query 'any(r["engine"] == "sidetrack" and r["verdict"] == "predicted" for p in d for r in p["results"])'
}

@test "memory does not grow with locks that come and go, nor with threads" {
    build churn <<'END'
#include <stdio.h>
#include <sys/resource.h>
static void *work(void *unused) { get(); return unused; }
static long most(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}
static void turn(void)
{
    pthread_mutex_t *lock = malloc(sizeof(*lock));
    pthread_mutex_init(lock, NULL);
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    pthread_mutex_destroy(lock);
    free(lock);
}
int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 300; i++) {
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
        turn();
    }
    long before = most();
    for (int i = 0; i < 100000; i++) {
        turn();
        if (i % 50 == 0) {
            pthread_create(&thread, NULL, work, NULL);
            pthread_join(thread, NULL);
        }
    }
    printf("%ld\n", most() - before);
    return 0;
}
END
    tms run --quiet --engine=frontier ./churn
    alone=${output//[!0-9]/}
    tms run --quiet --engine=frontier,sidetrack,goodlock ./churn
    [ "$status" -eq 0 ]
    # A state of a lock is some 900 bytes: 90 MB if none were used again.
    [ "${output//[!0-9]/}" -lt $((alone + 8000)) ]
}
