/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash map with a lock for each of a few groups of buckets: both threads look up, count and
 * insert; short critical sections, lists of heap blocks that either thread made.
 */
#include "kernel.h"

#define BUCKETS 16384u
#define LOCKS   64u
#define KEYS    40000u

struct node {
    struct node *next;
    uint64_t key, count;
};

static struct node *buckets[BUCKETS];
static pthread_mutex_t locks[LOCKS];

static struct node **find(uint64_t key)
{
    struct node **link = &buckets[mix(key) % BUCKETS];

    while (*link != NULL && (*link)->key != key) {
        link = &(*link)->next;
    }
    return link;
}

static void count(uint64_t key)
{
    pthread_mutex_t *lock = &locks[mix(key) % BUCKETS % LOCKS];

    pthread_mutex_lock(lock);
    struct node **link = find(key);
    if (*link == NULL) {
        *link = need(1, sizeof(**link));
        (*link)->key = key;
    }
    (*link)->count++;
    pthread_mutex_unlock(lock);
}

static uint64_t look_up(uint64_t key)
{
    pthread_mutex_t *lock = &locks[mix(key) % BUCKETS % LOCKS];

    pthread_mutex_lock(lock);
    const struct node *node = *find(key);
    uint64_t found = node == NULL ? 0 : node->key;
    pthread_mutex_unlock(lock);
    return found;
}

/* Even keys are there from the start on; odd ones are never looked up. */
static void *use(void *argument)
{
    struct part *part = argument;
    uint64_t state = part->index + 1;

    for (size_t i = 0; i < part->size; i++) {
        uint64_t key = next_random(&state) % KEYS;
        if (i % 4 == 0) {
            count(key | 1);
        } else {
            part->sum += look_up(key & ~UINT64_C(1));
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    size_t size = size_argument(argc, argv, 1000000);

    for (unsigned i = 0; i < LOCKS; i++) {
        pthread_mutex_init(&locks[i], NULL);
    }
    for (uint64_t key = 0; key < KEYS; key += 2) {
        count(key);
    }
    uint64_t sum = run_parts(use, size);
    for (uint64_t key = 0; key < KEYS; key++) {
        const struct node *node = *find(key);
        sum = mix(sum + (node == NULL ? 0 : node->count));
    }
    return print_sum(sum);
}
