#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Names of memory in recordings: fields, elements, allocating functions and types, the same for
# every compiler, level of optimisation and run.
# shellcheck disable=SC2154 # common.bash sets them
load common

# build SOURCE COMPILER LEVEL: as ./program.
build() {
    local front=cc plus=clang++
    [[ $1 == *.c ]] || front=c++
    [[ $2 != gcc ]] || plus=g++
    TMESIS_CC=$2 TMESIS_CXX=$plus "$tmesis" $front -g "$3" "$here/names/$1" -o program
}

# names: of what a run of ./program accesses, without numbers of blocks.
names() {
    "$tmesis" record -q --full -o run.tms ./program
    "$tmesis" convert -q --to std run.tms run.std
    sed -nE 's/^[^|]*\|(r|w|u|acq)\((.*)\)(\|.*)?$/\2/p
        s/^[^|]*\|a[rwu]\((.*),[a-z_]+\)(\|.*)?$/\1/p' run.std | sed -E 's/#[0-9]+/#/' | LC_ALL=C sort -u
}

# objects: the object names that ids of findings are computed from.
objects() {
    names | sed -E 's/^(heap:[^#]*)#.*/\1/; t; s/[.[+#@].*//' | LC_ALL=C sort -u
}

compilers() {
    local each
    for each in gcc clang; do
        if command -v "$each" >/dev/null; then
            echo "$each"
        fi
    done
}

@test "fields, elements and allocations of a C program, by every compiler" {
    for compiler in $(compilers); do
        for level in -O0 -O2; do
            build accounts.c "$compiler" "$level"
            names | grep -v '^stack:' >found
            diff -u "$here/names/accounts.names" found
            grep -q '^[^|]*|w(stack:main#1+' run.std
        done
    done
}

@test "objects of a C++ program, by every compiler" {
    for compiler in $(compilers); do
        for level in -O0 -O2; do
            build containers.cpp "$compiler" "$level"
            names >found
            LC_ALL=C comm -23 "$here/names/containers.names" found >missing
            diff -u /dev/null missing
            objects | grep '^heap:' >blocks
            diff -u "$here/names/containers.blocks" blocks
        done
    done
}

@test "ten runs have the same objects" {
    build accounts.c gcc -O2
    objects >first
    [ "$(wc -l <first)" -gt 10 ]
    for _ in 1 2 3 4 5 6 7 8 9; do
        objects >again
        diff -u first again
    done
}

@test "an operation on a lock is where the program calls its wrapper" {
    build accounts.c gcc -O0
    names >/dev/null
    line=$(grep -n 'account_lock(account);' "$here/names/accounts.c" | cut -d: -f1)
    grep -q "acq(single.lock)|.*accounts.c:$line\$" run.std
    wrapper=$(grep -n 'pthread_mutex_lock(&account->lock);' "$here/names/accounts.c" | cut -d: -f1)
    run grep -q "acq(.*accounts.c:$wrapper\$" run.std
    [ "$status" -eq 1 ]
}

@test "predictions have the stacks and the names of heap locks" {
    cat >predicted.c <<'END'
#include <pthread.h>
#include <stdlib.h>
struct account {
    int balance;
    pthread_mutex_t lock;
};
static struct account *account;
static struct account *new_account(void)
{
    struct account *made = calloc(1, sizeof(*made));
    pthread_mutex_init(&made->lock, NULL);
    return made;
}
static int get(void)
{
    pthread_mutex_lock(&account->lock);
    int balance = account->balance;
    pthread_mutex_unlock(&account->lock);
    return balance;
}
static void set(int balance)
{
    pthread_mutex_lock(&account->lock);
    account->balance = balance;
    pthread_mutex_unlock(&account->lock);
}
static void deposit(void)
{
    set(get() + 1);
}
static int finished;
static void *work(void *self)
{
    while (self != NULL && __atomic_load_n(&finished, __ATOMIC_RELAXED) == 0) {
    }
    deposit();
    __atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
    return NULL;
}
int main(void)
{
    pthread_t threads[2];
    account = new_account();
    for (long i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work, (void *)i);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
END
    "$tmesis" cc -g predicted.c -o predicted
    tms run --verbose --json found.json ./predicted
    [[ $flat == *"between two acquires of heap:new_account:account#1.lock"* ]]
    [[ $flat == *"in get (predicted.c:16)"*"from deposit (predicted.c:"* ]]
    grep -Eq '"function": ?"get"' found.json
}

@test "a prediction names the block that was there, not the one that has its memory now" {
    cat >reused.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct account { int balance; };
struct message { int length; };
static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER, messages = PTHREAD_MUTEX_INITIALIZER;
static struct account *new_account(void)
{
    struct account *new = malloc(sizeof(struct account));
    new->balance = 0;
    return new;
}
static struct message *new_message(void)
{
    struct message *new = malloc(sizeof(struct message));
    new->length = 0;
    return new;
}
static int get(struct account *from)
{
    pthread_mutex_lock(&accounts);
    int balance = from->balance;
    pthread_mutex_unlock(&accounts);
    return balance;
}
static void set(struct account *to, int balance)
{
    pthread_mutex_lock(&accounts);
    to->balance = balance;
    pthread_mutex_unlock(&accounts);
}
static void deposit(struct account *to) { set(to, get(to) + 1); }
static void append(struct message *to)
{
    pthread_mutex_lock(&messages);
    to->length++;
    pthread_mutex_unlock(&messages);
}
static void *late(void *to)
{
    usleep(500000);
    deposit(to);
    return NULL;
}
int main(void)
{
    struct account *account = new_account();
    pthread_t thread;
    pthread_create(&thread, NULL, late, account);
    deposit(account);
    pthread_join(thread, NULL);
    free(account);
    struct message *message = new_message();
    append(message);
    return message == (void *)account ? 0 : 9;
}
END
    "$tmesis" cc -g -w reused.c -o reused
    tms run -q --json=- ./reused
    [ "$status" -eq 0 ]
    query '[v["variable"]["name"] for r in d[0]["results"] if r["engine"] == "judge"
            for v in r["violations"] if v["block"]["label"] == "deposit"] == ["heap:new_account:account#1.balance"]'
}
