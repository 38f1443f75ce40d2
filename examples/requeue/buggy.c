/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pop, then push, on a shared list.
 *
 * The workers pop the oldest task from the list, count a run of it, and push it back at the end.
 * The list is locked during each step, but not between them: for a moment there is one task too
 * few. A worker that looks at that moment finds the list empty although there was a task all the
 * time, and might stop.
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

static struct task *list_pop(struct list *from)
{
    pthread_mutex_lock(&from->lock);
    struct task *task = from->first;
    if (task != NULL) {
        from->first = task->next;
    }
    pthread_mutex_unlock(&from->lock);
    return task;
}

static void list_push(struct list *to, struct task *task)
{
    pthread_mutex_lock(&to->lock);
    task->next = NULL;
    *(to->first == NULL ? &to->first : &to->last->next) = task;
    to->last = task;
    pthread_mutex_unlock(&to->lock);
}

static bool run_oldest(struct list *tasks)
{
    struct task *task = list_pop(tasks);

    if (task == NULL) {
        return false;
    }
    task->runs++;
    list_push(tasks, task);
    return true;
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

    list_push(&list, &task);
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&threads[i], NULL, worker, &idle[i]);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("there was a task all the time, and %d times it was not found\n", idle[0] + idle[1]);
    return 0;
}
