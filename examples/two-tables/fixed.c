/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of buggy.c, fixed: both tables are locked, always in the same order, before
 * either is changed.
 */
#include <pthread.h>
#include <stdio.h>

#define LINES 3000

struct table {
    pthread_mutex_t lock;
    const char *cells[LINES];
};

static struct table names = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct table numbers = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct person {
    const char *name, *number;
};

static void move_in(const struct person *person, int line)
{
    pthread_mutex_lock(&names.lock);
    pthread_mutex_lock(&numbers.lock);
    names.cells[line] = person->name;
    numbers.cells[line] = person->number;
    pthread_mutex_unlock(&numbers.lock);
    pthread_mutex_unlock(&names.lock);
}

static void *mover(void *person)
{
    for (int line = 0; line < LINES; line++) {
        move_in(person, line);
    }
    return NULL;
}

int main(void)
{
    static struct person people[] = {{"Ada", "1815"}, {"Grace", "1906"}};
    pthread_t threads[2];
    int mixed = 0;

    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, mover, &people[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int line = 0; line < LINES; line++) {
        int owner = names.cells[line] == people[1].name;
        mixed += numbers.cells[line] != people[owner].number;
    }
    printf("%d of %d lines have the number of another person\n", mixed, LINES);
    return 0;
}
