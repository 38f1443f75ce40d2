/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two tables that belong together, under two locks.
 *
 * A line of a telephone directory is a name in one table and a number in the other, and each
 * table has its lock. Moving in takes one lock after the other and never holds both. When two
 * people move into the same line at the same time, the name may end up being that of one, and
 * the number that of the other.
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

static void table_put(struct table *table, int line, const char *text)
{
    pthread_mutex_lock(&table->lock);
    table->cells[line] = text;
    pthread_mutex_unlock(&table->lock);
}

static void move_in(const struct person *person, int line)
{
    table_put(&names, line, person->name);
    table_put(&numbers, line, person->number);
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
