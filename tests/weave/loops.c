/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that take turns, by means that the runtime does not see, with work chosen by a seed:
 * loops over two arrays, all by the same few instructions, alone, in blocks, and under a lock. A
 * recording coalesces these loops into runs; `loops` compares it with a full one.
 *
 *     loops SEED STEPS
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "tmesis/annotate.h"

#define THREADS 3
#define DEPTH   2
#define UNSEEN  __attribute__((no_sanitize("thread"), noinline))
#define SEEN    __attribute__((noinline)) static

/*
 * Both cross the end of a 4 KiB page, the granularity at which the runtime tracks repeated
 * accesses.
 */
static struct {
    unsigned char before[4096 - 6], bytes[96];
    unsigned char between[4096 - 90 - 24];
    uint64_t words[64];
} shared __attribute__((aligned(4096)));
#define bytes shared.bytes
#define words shared.words
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int turn;
static unsigned seed;
static int steps;

/* A step: its thread, operation and operand. */
struct step {
    unsigned who, what, from, to, count;
};

UNSEEN static unsigned draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*state >> 33);
}

UNSEEN static struct step next_step(uint64_t *state, int depth[THREADS])
{
    unsigned range = seed % 2 == 0 ? 40 : 8; /* where loops meet more or less often */
    struct step step = {.who = draw(state) % THREADS, .what = draw(state) % 13};

    step.from = draw(state) % range;
    step.to = draw(state) % range;
    step.count = 1 + draw(state) % 12;
    if (step.what < 2) {
        step.what = depth[step.who] < DEPTH ? step.what : 4;
        depth[step.who] += step.what < 2;
    } else if (step.what < 4) {
        step.what = depth[step.who] > 0 ? step.what : 5;
        depth[step.who] -= step.what < 4;
    }
    return step;
}

SEEN unsigned read_bytes(unsigned at, unsigned count, unsigned step)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < count; i++) {
        sum += bytes[at + i * step];
    }
    return sum;
}

SEEN void write_bytes(unsigned at, unsigned count, unsigned step)
{
    for (unsigned i = 0; i < count; i++) {
        bytes[at + i * step] = (unsigned char)i;
    }
}

SEEN unsigned read_both(unsigned at, unsigned other, unsigned count)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < count; i++) {
        sum += bytes[at + i] + (unsigned)words[other + i];
    }
    return sum;
}

SEEN void copy_words(unsigned to, unsigned from, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        words[to + i] = words[from + i] + 1;
    }
}

SEEN unsigned read_words(unsigned at, unsigned count)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < count; i++) {
        sum += words[at + i];
    }
    return (unsigned)sum;
}

/* At any offset: the bytes may be in two words, and in two pages. */
SEEN unsigned add_to_four(unsigned at)
{
    struct __attribute__((packed)) {
        uint32_t number;
    } *four = (void *)&bytes[at];

    return ++four->number;
}

SEEN unsigned both_locked(unsigned at, unsigned other)
{
    pthread_mutex_lock(&lock);
    write_bytes(at, 3, 1);
    unsigned sum = read_bytes(other, 5, 2);
    pthread_mutex_unlock(&lock);
    return sum;
}

UNSEEN static unsigned perform(const struct step *step)
{
    static const char *const names[] = {"A", "B", "C", "D"};
    unsigned sum = 0;

    switch (step->what) {
    case 0:
    case 1:
        tmesis_begin(names[step->from % 4]);
        return 0;
    case 2:
    case 3:
        tmesis_end();
        return 0;
    case 4:
    case 5: /* again and again */
        for (unsigned i = 0; i <= seed / 2 % 3; i++) {
            sum += read_bytes(step->from, step->count, 1 + step->to % 3);
        }
        return sum;
    case 6:
        write_bytes(step->from, step->count, 1 + step->to % 3);
        return 0;
    case 7:
    case 8:
        return read_words(step->from, step->count);
    case 9:
        copy_words(step->to, step->from, step->count / 2);
        return 0;
    case 10:
        return read_both(step->from, step->to, step->count);
    case 11:
        return add_to_four(step->from + step->to % 4);
    default:
        return both_locked(step->from, step->to);
    }
}

UNSEEN static void *work(void *argument)
{
    unsigned self = (unsigned)(uintptr_t)argument, sum = 0;
    uint64_t state = seed * UINT64_C(977) + 5;
    int depth[THREADS] = {0};

    for (int i = 0; i < steps; i++) {
        struct step step = next_step(&state, depth);
        if (step.who == self) {
            while (turn != i) {
                sched_yield();
            }
            __sync_synchronize();
            sum += perform(&step);
            __sync_synchronize();
            turn = i + 1;
        }
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    unsigned sum = 0;

    if (argc != 3) {
        return 2;
    }
    seed = (unsigned)atoi(argv[1]);
    steps = atoi(argv[2]);
    write_bytes(0, sizeof(bytes), 1);
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, (void *)i);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (unsigned)(uintptr_t)result;
    }
    return sum + read_bytes(0, sizeof(bytes), 1) == UINT32_MAX;
}
