/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a woven program (weave.h): the only code in it that is instrumented. A function
 * touches nothing but the object that it is given, since every other access would be an event,
 * too. The numbers that are written differ from function to function, so that no compiler takes
 * two of them for the same.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tmesis/annotate.h"
#include "weave.h"

/* An update by 0, as 1024 is in a byte, may become a load: so it is by an odd number. */
#define ACCESSES(size, type)                                                                       \
    case WEAVE_READ_##size:                                                                        \
        return (void *)(uintptr_t) * (type *)object;                                               \
    case WEAVE_WRITE_##size:                                                                       \
        *(type *)object = (type)number;                                                            \
        break;                                                                                     \
    case WEAVE_LOAD_##size:                                                                        \
        return (void *)(uintptr_t)__atomic_load_n((type *)object, __ATOMIC_ACQUIRE);               \
    case WEAVE_STORE_##size:                                                                       \
        __atomic_store_n((type *)object, (type)number, __ATOMIC_RELEASE);                          \
        break;                                                                                     \
    case WEAVE_UPDATE_##size:                                                                      \
        __atomic_fetch_add((type *)object, (type)(number | 1), __ATOMIC_ACQ_REL);                  \
        break;                                                                                     \
    case WEAVE_LOAD_RELAXED_##size:                                                                \
        return (void *)(uintptr_t)__atomic_load_n((type *)object, __ATOMIC_RELAXED);               \
    case WEAVE_STORE_RELAXED_##size:                                                               \
        __atomic_store_n((type *)object, (type)number, __ATOMIC_RELAXED);                          \
        break;                                                                                     \
    case WEAVE_UPDATE_RELAXED_##size:                                                              \
        __atomic_fetch_add((type *)object, (type)(number | 1), __ATOMIC_RELAXED);                  \
        break;

/* EVENT(017) is event_017, and 1017 is the number that it writes. */
#define EVENT(n)                                                                                   \
    static void *event_##n(enum weave_deed deed, void *object, void *second)                       \
    {                                                                                              \
        enum { number = 1##n };                                                                    \
        switch (deed) {                                                                            \
            WEAVE_SIZES(ACCESSES)                                                                  \
        case WEAVE_LOCK:                                                                           \
            pthread_mutex_lock(object);                                                            \
            break;                                                                                 \
        case WEAVE_UNLOCK:                                                                         \
            pthread_mutex_unlock(object);                                                          \
            break;                                                                                 \
        case WEAVE_LOCK_WRITE:                                                                     \
            pthread_rwlock_wrlock(object);                                                         \
            break;                                                                                 \
        case WEAVE_LOCK_READ:                                                                      \
            pthread_rwlock_rdlock(object);                                                         \
            break;                                                                                 \
        case WEAVE_UNLOCK_EITHER:                                                                  \
            pthread_rwlock_unlock(object);                                                         \
            break;                                                                                 \
        case WEAVE_WAIT:                                                                           \
            pthread_cond_wait(second, object);                                                     \
            break;                                                                                 \
        case WEAVE_CROSS:                                                                          \
            pthread_barrier_wait(object);                                                          \
            break;                                                                                 \
        case WEAVE_FORK:                                                                           \
            pthread_create(object, NULL, weave_enter, second);                                     \
            break;                                                                                 \
        case WEAVE_JOIN:                                                                           \
            pthread_join((pthread_t)(uintptr_t)object, NULL);                                      \
            break;                                                                                 \
        case WEAVE_BEGIN:                                                                          \
            tmesis_begin(object);                                                                  \
            break;                                                                                 \
        case WEAVE_END:                                                                            \
            tmesis_end();                                                                          \
            break;                                                                                 \
        case WEAVE_RENEW:                                                                          \
            free(object);                                                                          \
            return malloc(WEAVE_MEMORY);                                                           \
        }                                                                                          \
        return NULL;                                                                               \
    }

#include "numbers.inc"
#undef EVENT

int main(int argc, char **argv)
{
    static weave_event *const events[WEAVE_EVENTS] = {
        NULL,
#define EVENT(n) event_##n,
#include "numbers.inc"
#undef EVENT
    };

    if (argc != 2) {
        fprintf(stderr, "usage: weave TRACE\n");
        return 2;
    }
    return weave_play(argv[1], events);
}
