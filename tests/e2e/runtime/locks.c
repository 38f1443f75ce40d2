/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind of lock, and every way to take it: taken and released before, between and after, it
 * orders the two threads both ways. Two shared holders are not ordered, and a failed try has no
 * effect.
 */
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "scene.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static mtx_t c11_plain, c11_timed;
static sem_t semaphore;
static const struct timespec later = {.tv_sec = 4000000000};

#define TAKE_AND_GIVE(name, take, give)                                                            \
    static void name(void)                                                                         \
    {                                                                                              \
        take;                                                                                      \
        give;                                                                                      \
    }

TAKE_AND_GIVE(lock, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
TAKE_AND_GIVE(try_lock, pthread_mutex_trylock(&mutex), pthread_mutex_unlock(&mutex))
TAKE_AND_GIVE(timed_lock, pthread_mutex_timedlock(&mutex, &later), pthread_mutex_unlock(&mutex))
TAKE_AND_GIVE(clock_lock, pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &later),
              pthread_mutex_unlock(&mutex))
TAKE_AND_GIVE(check_lock, pthread_mutex_lock(&errorcheck), pthread_mutex_unlock(&errorcheck))
TAKE_AND_GIVE(read_lock, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock))
TAKE_AND_GIVE(try_read, pthread_rwlock_tryrdlock(&rwlock), pthread_rwlock_unlock(&rwlock))
TAKE_AND_GIVE(timed_read, pthread_rwlock_timedrdlock(&rwlock, &later),
              pthread_rwlock_unlock(&rwlock))
TAKE_AND_GIVE(clock_read, pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &later),
              pthread_rwlock_unlock(&rwlock))
TAKE_AND_GIVE(write_lock, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
TAKE_AND_GIVE(try_write, pthread_rwlock_trywrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
TAKE_AND_GIVE(timed_write, pthread_rwlock_timedwrlock(&rwlock, &later),
              pthread_rwlock_unlock(&rwlock))
TAKE_AND_GIVE(clock_write, pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &later),
              pthread_rwlock_unlock(&rwlock))
TAKE_AND_GIVE(spin_lock, pthread_spin_lock(&spin), pthread_spin_unlock(&spin))
TAKE_AND_GIVE(try_spin, pthread_spin_trylock(&spin), pthread_spin_unlock(&spin))
TAKE_AND_GIVE(c11_lock, mtx_lock(&c11_plain), mtx_unlock(&c11_plain))
TAKE_AND_GIVE(c11_try, mtx_trylock(&c11_plain), mtx_unlock(&c11_plain))
TAKE_AND_GIVE(c11_timed_lock, mtx_timedlock(&c11_timed, &later), mtx_unlock(&c11_timed))
TAKE_AND_GIVE(wait_post, sem_wait(&semaphore), sem_post(&semaphore))
TAKE_AND_GIVE(try_post, sem_trywait(&semaphore), sem_post(&semaphore))
TAKE_AND_GIVE(timed_post, sem_timedwait(&semaphore, &later), sem_post(&semaphore))
TAKE_AND_GIVE(clock_post, sem_clockwait(&semaphore, CLOCK_MONOTONIC, &later), sem_post(&semaphore))
TAKE_AND_GIVE(own_lock, tmesis_lock_acquired(&later), tmesis_lock_releasing(&later))
TAKE_AND_GIVE(own_share, tmesis_lock_acquired_shared(&later), tmesis_lock_releasing_shared(&later))
TAKE_AND_GIVE(twice, (pthread_mutex_lock(&recursive), pthread_mutex_lock(&recursive)),
              (pthread_mutex_unlock(&recursive), pthread_mutex_unlock(&recursive)))

/* The main thread holds all of these, and the semaphore is down. */
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t busy_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t down;

static void fail(void)
{
    static const struct timespec past = {.tv_sec = 1};

    if (pthread_mutex_trylock(&busy) == 0 || pthread_mutex_timedlock(&busy, &past) == 0 ||
        pthread_rwlock_tryrdlock(&busy_rwlock) == 0 ||
        pthread_rwlock_timedwrlock(&busy_rwlock, &past) == 0 || sem_trywait(&down) == 0) {
        puts("a lock was taken that is held");
    }
}

static struct scene scenes[] = {
    {"mutex", lock, lock, NULL},
    {"mutex-try", try_lock, try_lock, NULL},
    {"mutex-timed", timed_lock, lock, NULL},
    {"mutex-clock", clock_lock, lock, NULL},
    {"mutex-recursive", twice, twice, NULL},
    {"mutex-errorcheck", check_lock, check_lock, NULL},
    {"busy", fail, fail, NULL},
    {"rwlock-write", write_lock, write_lock, NULL},
    {"rwlock-try-write", try_write, write_lock, NULL},
    {"rwlock-timed-write", timed_write, write_lock, NULL},
    {"rwlock-clock-write", clock_write, write_lock, NULL},
    {"rwlock-read-write", read_lock, write_lock, NULL},
    {"rwlock-try-read-write", try_read, write_lock, NULL},
    {"rwlock-timed-read-write", timed_read, write_lock, NULL},
    {"rwlock-clock-read-write", clock_read, write_lock, NULL},
    {"rwlock-read", read_lock, read_lock, NULL},
    {"rwlock-try-read", try_read, timed_read, NULL},
    {"rwlock-timed-read", timed_read, clock_read, NULL},
    {"spin", spin_lock, spin_lock, NULL},
    {"spin-try", try_spin, spin_lock, NULL},
    {"c11-mutex", c11_lock, c11_lock, NULL},
    {"c11-mutex-try", c11_try, c11_lock, NULL},
    {"c11-mutex-timed", c11_timed_lock, c11_timed_lock, NULL},
    {"semaphore", wait_post, wait_post, NULL},
    {"semaphore-try", try_post, wait_post, NULL},
    {"semaphore-timed", timed_post, wait_post, NULL},
    {"semaphore-clock", clock_post, wait_post, NULL},
    {"annotated", own_lock, own_lock, NULL},
    {"annotated-shared", own_share, own_share, NULL},
    {"annotated-shared-exclusive", own_share, own_lock, NULL},
};

int main(int argc, char **argv)
{
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    mtx_init(&c11_plain, mtx_plain);
    mtx_init(&c11_timed, mtx_timed);
    sem_init(&semaphore, 0, 1);
    sem_init(&down, 0, 0);
    pthread_mutex_lock(&busy);
    pthread_rwlock_wrlock(&busy_rwlock);
    return SCENE_PLAY(scenes, argc, argv);
}
