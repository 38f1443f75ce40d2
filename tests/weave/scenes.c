/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that a recording omits or coalesces, in cases where that could change the findings: in
 * each scene one thread has blocks, and another comes between at one moment.
 *
 *     scenes NAME
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tmesis/annotate.h"

#define UNSEEN __attribute__((no_sanitize("thread"), noinline)) static
#define SEEN   __attribute__((noinline)) static

/*
 * No read is left out. From byte 4 on they are in the next 4 KiB page, the granularity at which
 * repeated accesses are tracked.
 */
static struct {
    unsigned char before[4096 - 4];
    volatile unsigned char bytes[16];
} aligned __attribute__((aligned(4096)));
#define bytes aligned.bytes
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int turn;

/* ---- what is seen ------------------------------------------------------------------------- */

SEEN void read_bytes(unsigned from, unsigned count)
{
    for (unsigned i = from; i < from + count; i++) {
        (void)bytes[i];
    }
}

SEEN void read_four_at_once(unsigned from)
{
    struct __attribute__((packed)) {
        volatile unsigned number;
    } *four = (void *)&bytes[from];

    (void)four->number;
}

SEEN void write_byte(unsigned at)
{
    bytes[at] = 1;
}

SEEN void write_locked(unsigned at)
{
    pthread_mutex_lock(&lock);
    bytes[at] = 1;
    pthread_mutex_unlock(&lock);
}

/* ---- turns -------------------------------------------------------------------------------- */

UNSEEN void wait_for(int wanted)
{
    while (turn != wanted) {
        sched_yield();
    }
    __sync_synchronize();
}

UNSEEN void let_in(void)
{
    __sync_synchronize();
    turn = 1;
    wait_for(2);
}

/* ---- scenes ------------------------------------------------------------------------------- */

/*
 * The operations of the one thread: < and > begin and end a block, r42 reads two bytes from byte 4
 * on, f4 reads four at once, L and U acquire and release the lock, A allocates and frees, ! lets
 * the other thread write byte 5. All accesses are made at one site.
 */
static const struct {
    const char *name, *script;
    bool locked; /* so writes the other */
} scenes[] = {
    /* The first read of the second block is adjacent to the last one of the first block. */
    {"next-block", "<r04> <r44!r51>", false},
    {"inner-block", "<r04 <r44!r51>>", false},
    /* Nothing is cut apart: the block's accesses to what the other wrote all come after that. */
    {"after-a-lock", "<r41 ! L r51 U>", true},
    /* Repeated accesses of the inner block are recorded again after an operation on the heap. */
    {"after-an-allocation", "<r51> <<r51 A ! r51>>", false},
    /* The same bytes in block after block, nothing of it new: met, or not. */
    {"over-and-over", "<r08> <r08> <r08> <r08!r51> <r08>", false},
    {"all-at-once", "<f3> <f3> <f3> <f3!r51> <f3>", false},
};

/* Blocks have the names of the letters, in their order. */
UNSEEN void play(const char *script)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    unsigned blocks = 0;

    for (const char *at = script; *at != '\0'; at++) {
        switch (*at) {
        case '<':
            tmesis_begin(names[blocks++]);
            break;
        case '>':
            tmesis_end();
            break;
        case 'r':
            read_bytes((unsigned)(at[1] - '0'), (unsigned)(at[2] - '0'));
            at += 2;
            break;
        case 'f':
            read_four_at_once((unsigned)(at[1] - '0'));
            at++;
            break;
        case 'L':
            pthread_mutex_lock(&lock);
            break;
        case 'U':
            pthread_mutex_unlock(&lock);
            break;
        case 'A':
            free(malloc(100));
            break;
        case '!':
            let_in();
            break;
        }
    }
}

static size_t scene;

UNSEEN void *have_blocks(void *argument)
{
    play(scenes[scene].script);
    return argument;
}

UNSEEN void *come_between(void *argument)
{
    wait_for(1);
    (scenes[scene].locked ? write_locked : write_byte)(5);
    __sync_synchronize();
    turn = 2;
    return argument;
}

UNSEEN int find_scene(const char *name)
{
    for (scene = 0; scene < sizeof(scenes) / sizeof(scenes[0]); scene++) {
        if (strcmp(scenes[scene].name, name) == 0) {
            return 0;
        }
    }
    return 2;
}

int main(int argc, char **argv)
{
    int status = argc == 2 ? find_scene(argv[1]) : 2;
    pthread_t one, other;

    if (status == 0) {
        pthread_create(&one, NULL, have_blocks, NULL);
        pthread_create(&other, NULL, come_between, NULL);
        pthread_join(one, NULL);
        pthread_join(other, NULL);
    }
    return status;
}
