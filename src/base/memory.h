/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory with a bill: every engine and every table counts what it holds, so that reports can
 * state the most it held, and so that a failing allocation can be provoked in tests.
 *
 * Arrays grow by doubling and never per event. A failure is returned, nothing is changed.
 *
 * Wherever a `struct tms_memory *` is asked for here, NULL means the C library without a bill: its
 * blocks may also be given back with free().
 */
#ifndef TMS_BASE_MEMORY_H
#define TMS_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where memory comes from, if not from the C library. Both may be called by several threads. */
struct tms_allocator {
    /* As realloc, but what is new is zero; `block` may be NULL. Neither size is checked. */
    void *(*resize)(void *block, size_t old_bytes, size_t new_bytes);
    void (*release)(void *block, size_t bytes); /* never NULL */
};

struct tms_memory {
    uint64_t bytes;                        /* held now */
    uint64_t peak;                         /* most ever held */
    uint64_t fail_after;                   /* tests: allocations that still succeed; 0: no limit */
    const struct tms_allocator *allocator; /* NULL: the C library; the same for all blocks */
};

/*
 * Changes a block from `old_count` to `new_count` elements of `size` bytes; new elements are
 * zero. NULL on failure or overflow, with the old block untouched.
 */
void *tms_resize(struct tms_memory *memory, void *block, size_t old_count, size_t new_count,
                 size_t size);

/*
 * A table that is filled in no order, a hash table: `count` elements, all zero, none of which is
 * untouched memory. Looking into that and then writing to it would have each page made twice, the
 * second time while all threads of the process wait. NULL as above.
 */
void *tms_table(struct tms_memory *memory, size_t count, size_t size);

/* Gives a block of `count` elements back. NULL is fine. */
void tms_release(struct tms_memory *memory, void *block, size_t count, size_t size);

/* A block of `count` elements that `from` has counted goes to an owner whose memory is `to`. */
void tms_hand_over(struct tms_memory *from, struct tms_memory *to, size_t count, size_t size);

/*
 * Sees to it that an array holds `wanted` elements: `array` is the address of the pointer to
 * its first one. Grows by doubling, at least to `least`. False when memory is short.
 */
#define TMS_RESERVE(memory, array, capacity, wanted, least)                                        \
    ((wanted) <= *(capacity) ||                                                                    \
     tms_reserve(memory, array, capacity, wanted, least, sizeof(**(array))))
bool tms_reserve(struct tms_memory *memory, void *array, size_t *capacity, size_t wanted,
                 size_t least, size_t size);

/* The next capacity that holds `wanted`: doubles from `capacity`, at least `least`. */
size_t tms_capacity(size_t capacity, size_t wanted, size_t least);

#endif
