/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add() reads and writes a counter in two critical sections, and two threads call it one after the
 * other. The argument says what orders them: a semaphore, a once control, or nothing but time
 * ("time"). In "inside" there is a post between the two sections of add().
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t counter = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t done, elsewhere;
static int count, inside;
static const char *how;

static __attribute__((noinline)) void add(void)
{
    pthread_mutex_lock(&counter);
    int old = count;
    pthread_mutex_unlock(&counter);
    if (inside) {
        sem_post(&elsewhere);
    }
    pthread_mutex_lock(&counter);
    count = old + 1;
    pthread_mutex_unlock(&counter);
}

static void initialise(void)
{
    add();
}

static void *second(void *unused)
{
    usleep(100000);
    if (strcmp(how, "semaphore") == 0) {
        sem_wait(&done);
    } else if (strcmp(how, "once") == 0) {
        pthread_once(&once, initialise);
    }
    add();
    return unused;
}

int main(int words, char **word)
{
    pthread_t thread;

    how = words > 1 ? word[1] : "time";
    inside = strcmp(how, "inside") == 0;
    sem_init(&done, 0, 0);
    sem_init(&elsewhere, 0, 0);
    pthread_create(&thread, NULL, second, NULL);
    if (strcmp(how, "once") == 0) {
        pthread_once(&once, initialise);
    } else {
        add();
    }
    sem_post(&done);
    pthread_join(thread, NULL);
    printf("%s: %d\n", how, count);
    return 0;
}
