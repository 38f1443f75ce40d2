/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of buggy.c, fixed: a task is popped, run and pushed back in one critical section. If
 * running takes long, a second list of running tasks would keep them visible.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define WORKERS 2
#define ROUNDS  3000

struct task {
    struct task *next;
    int runs;
};

struct list {
    pthread_mutex_t lock;
    struct task *first, *last;
};

static struct list list = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The caller holds the lock. */
static struct task *list_pop(struct list *from)
{
    struct task *task = from->first;
    if (task != NULL) {
        from->first = task->next;
    }
    return task;
}

/* The caller holds the lock. */
static void list_push(struct list *to, struct task *task)
{
    task->next = NULL;
    *(to->first == NULL ? &to->first : &to->last->next) = task;
    to->last = task;
}

static bool run_oldest(struct list *tasks)
{
    pthread_mutex_lock(&tasks->lock);
    struct task *task = list_pop(tasks);
    if (task != NULL) {
        task->runs++;
        list_push(tasks, task);
    }
    pthread_mutex_unlock(&tasks->lock);
    return task != NULL;
}

static void *worker(void *idle)
{
    for (int i = 0; i < ROUNDS; i++) {
        *(int *)idle += !run_oldest(&list);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];
    int idle[WORKERS] = {0};
    struct task task = {0};

    list_push(&list, &task); /* no other thread runs yet */
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&threads[i], NULL, worker, &idle[i]);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("there was a task all the time, and %d times it was not found\n", idle[0] + idle[1]);
    return 0;
}
