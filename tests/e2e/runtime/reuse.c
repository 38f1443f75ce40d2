/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freed memory is new memory when it is allocated again: accesses of two threads to the same
 * address are unrelated then. The program fails if the address was never reused, since it would
 * prove nothing.
 */
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "scene.h"

#define SIZE 8192

/* What follows must not be events: they would order the threads. */
static char *place;

__attribute__((no_sanitize("thread"))) static void use(char *memory)
{
    if (place != NULL && place != memory) {
        puts("not the same address");
    }
    place = memory;
}

__attribute__((no_sanitize("thread"))) static char *last_place(void)
{
    return place;
}

static void touch(char *memory)
{
    use(memory);
    memory[SIZE - 1] = 1;
}

static void use_malloc(void)
{
    char *memory = malloc(SIZE);

    touch(memory);
    free(memory);
}

static void use_calloc(void)
{
    char *memory = calloc(1, SIZE);

    touch(memory);
    free(memory);
}

static void use_realloc(void)
{
    char *memory = realloc(NULL, SIZE);

    touch(memory);
    free(realloc(memory, SIZE));
}

static void use_aligned(void)
{
    void *memory;

    if (posix_memalign(&memory, 16, SIZE) == 0) {
        touch(memory);
        free(memory);
    }
}

static void use_mapping(void)
{
    char *memory =
        mmap(last_place(), SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    touch(memory);
    munmap(memory, SIZE);
}

static struct scene scenes[] = {
    {"malloc", use_malloc, use_malloc, NULL},    {"calloc", use_calloc, use_calloc, NULL},
    {"realloc", use_realloc, use_realloc, NULL}, {"aligned", use_aligned, use_aligned, NULL},
    {"mmap", use_mapping, use_mapping, NULL},
};

int main(int argc, char **argv)
{
    mallopt(M_ARENA_MAX, 1); /* one for both threads */
    return SCENE_PLAY(scenes, argc, argv);
}
