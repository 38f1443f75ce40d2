/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache under a read-write lock: lookups take it shared, and a thread that misses fills it. The
 * lock is released between the lookup and the fill, so the same entry may be computed twice.
 */
#include <pthread.h>
#include <stdio.h>

#define KEYS    16
#define LOOKUPS 3000
#define READERS 3

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long cache[KEYS];
static int made;

static long compute(int key)
{
    long value = 1;

    for (int i = 0; i <= key; i++) {
        value = value * 31 + i;
    }
    return value;
}

static long look(int key)
{
    pthread_rwlock_rdlock(&lock);
    long value = cache[key];
    pthread_rwlock_unlock(&lock);
    return value;
}

static void fill(int key, long value)
{
    pthread_rwlock_wrlock(&lock);
    cache[key] = value;
    made++;
    pthread_rwlock_unlock(&lock);
}

static long get(int key)
{
    long value = look(key);

    if (value == 0) {
        value = compute(key);
        fill(key, value);
    }
    return value;
}

static void forget(int key)
{
    pthread_rwlock_wrlock(&lock);
    cache[key] = 0;
    pthread_rwlock_unlock(&lock);
}

static void *read_all(void *sum)
{
    for (int i = 0; i < LOOKUPS; i++) {
        *(long *)sum += get(i % KEYS) & 1;
        if (i % 9 == 0) {
            forget((i + 5) % KEYS);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[READERS];
    long sums[READERS] = {0};

    for (int i = 0; i < READERS; i++) {
        pthread_create(&threads[i], NULL, read_all, &sums[i]);
    }
    for (int i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%ld, made %d\n", sums[0] + sums[1] + sums[2], made);
    return 0;
}
