/* SPDX-License-Identifier: Apache-2.0 */
/* Counted allocation, and arrays that grow by doubling; see memory.h. */
#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u /* or more: then some are touched twice */

/* Threads of a watched program share the count: the sum is exact, the peak approximate. */
static void count_more(struct tms_memory *memory, size_t bytes)
{
    if (memory == NULL) {
        return;
    }
    uint64_t sum = __atomic_add_fetch(&memory->bytes, bytes, __ATOMIC_RELAXED);

    if (sum > memory->peak) {
        memory->peak = sum;
    }
}

static void count_less(struct tms_memory *memory, size_t bytes)
{
    if (memory == NULL) {
        return;
    }
    uint64_t before = __atomic_fetch_sub(&memory->bytes, bytes, __ATOMIC_RELAXED);

    assert(before >= bytes);
    (void)before;
}

static int refused(struct tms_memory *memory)
{
    return memory != NULL && memory->fail_after != 0 && --memory->fail_after == 0;
}

static void *libc_resize(void *block, size_t old_bytes, size_t new_bytes)
{
    /* calloc returns untouched zero pages, so a large table costs only what is used of it. */
    char *grown = block == NULL ? calloc(1, new_bytes) : realloc(block, new_bytes);

    if (grown != NULL && block != NULL && new_bytes > old_bytes) {
        memset(grown + old_bytes, 0, new_bytes - old_bytes);
    }
    return grown;
}

static void libc_release(void *block, size_t bytes)
{
    (void)bytes;
    free(block);
}

static const struct tms_allocator libc = {.resize = libc_resize, .release = libc_release};

/*
 * Not inlined: otherwise the compiler would add a direct call of the C library for a NULL memory,
 * which the runtime never passes, and the stack usage test of the runtime follows direct calls.
 */
__attribute__((noinline)) static const struct tms_allocator *
allocator_of(const struct tms_memory *memory)
{
    return memory != NULL && memory->allocator != NULL ? memory->allocator : &libc;
}

void *tms_resize(struct tms_memory *memory, void *block, size_t old_count, size_t new_count,
                 size_t size)
{
    size_t new_bytes;
    size_t old_bytes = old_count * size;

    assert(size > 0);
    if (__builtin_mul_overflow(new_count, size, &new_bytes) || new_bytes == 0) {
        return NULL;
    }
    if (refused(memory)) {
        memory->fail_after = 1; /* once out of memory, always out of memory */
        return NULL;
    }
    void *grown = allocator_of(memory)->resize(block, old_bytes, new_bytes);
    if (grown == NULL) {
        return NULL;
    }
    count_more(memory, new_bytes - old_bytes);
    return grown;
}

void *tms_table(struct tms_memory *memory, size_t count, size_t size)
{
    char *table = tms_resize(memory, NULL, 0, count, size);

    for (size_t at = 0; table != NULL && at < count * size; at += PAGE) {
        *(volatile char *)&table[at] = 0;
    }
    return table;
}

void tms_release(struct tms_memory *memory, void *block, size_t count, size_t size)
{
    if (block != NULL) {
        count_less(memory, count * size);
        allocator_of(memory)->release(block, count * size);
    }
}

void tms_hand_over(struct tms_memory *from, struct tms_memory *to, size_t count, size_t size)
{
    assert(from->allocator == to->allocator);
    count_less(from, count * size);
    count_more(to, count * size);
}

size_t tms_capacity(size_t capacity, size_t wanted, size_t least)
{
    if (capacity < least) {
        capacity = least;
    }
    while (capacity < wanted) {
        capacity *= 2;
    }
    return capacity;
}

bool tms_reserve(struct tms_memory *memory, void *array, size_t *capacity, size_t wanted,
                 size_t least, size_t size)
{
    void *block; /* copied as bytes: the caller's pointer has a type of its own */
    size_t grown = tms_capacity(*capacity, wanted, least);

    memcpy(&block, array, sizeof(block));
    block = tms_resize(memory, block, *capacity, grown, size);
    if (block == NULL) {
        return false;
    }
    memcpy(array, &block, sizeof(block));
    *capacity = grown;
    return true;
}
