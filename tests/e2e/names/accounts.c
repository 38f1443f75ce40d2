/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of all kinds that two threads use, for tests of their names in a recording. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    int balance;
    struct {
        short low, high;
    } limits;
    unsigned ready : 1, done : 1;
    union {
        int whole;
        char part;
    } value;
};

struct group {
    int count;
    struct account members[];
};

typedef struct {
    long hits;
} counter_t;

struct account table[4];
long matrix[3][6];
struct account single;
struct account *accounts[2];
struct group *group;
counter_t *counters;
uint64_t *numbers;
char *line;
void *unknown;

static void *xmalloc(size_t size)
{
    void *block = malloc(size);

    if (block == NULL) {
        abort();
    }
    return block;
}

static struct account *new_account(int balance)
{
    struct account *account = malloc(sizeof(*account));

    pthread_mutex_init(&account->lock, NULL);
    account->balance = balance;
    return account;
}

static struct group *new_group(int count)
{
    struct group *made = xmalloc(sizeof(struct group) + (size_t)count * sizeof(struct account));

    made->count = count;
    return made;
}

static void account_lock(struct account *account)
{
    pthread_mutex_lock(&account->lock);
}

static void account_unlock(struct account *account)
{
    pthread_mutex_unlock(&account->lock);
}

static void deposit(struct account *account)
{
    account_lock(account);
    account->balance++;
    account->limits.high++;
    account->done = 1;
    account->value.whole++;
    account_unlock(account);
}

static void *work(void *argument)
{
    int *shared = argument;

    for (int i = 0; i < 2; i++) {
        deposit(accounts[i]);
        deposit(&table[i + 1]);
        deposit(&single);
        pthread_mutex_lock(&single.lock);
        matrix[2][i]++;
        group->members[i].balance++;
        counters[i].hits++;
        numbers[i + 2]++;
        line[i]++;
        ((char *)unknown)[i]++;
        ++*shared;
        pthread_mutex_unlock(&single.lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int shared = 0;

    for (int i = 0; i < 2; i++) {
        accounts[i] = new_account(i);
    }
    group = new_group(2);
    counters = calloc(2, sizeof(counter_t));
    numbers = calloc(4, sizeof(*numbers));
    line = malloc(80);
    unknown = malloc(80);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work, &shared);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
