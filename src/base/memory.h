/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counted memory: every engine and every table counts its allocations, so that reports can state
 * the peak, and tests can inject allocation failures.
 *
 * Arrays grow by doubling and never per event. A failure is returned, nothing is changed.
 *
 * A `struct tms_memory *` may be NULL: then the C library is used without counting, and blocks may
 * also be freed with free().
 */
#ifndef TMS_BASE_MEMORY_H
#define TMS_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An allocator other than the C library. Several threads may call both functions. */
struct tms_allocator {
    /* As realloc, but new bytes are zero; `block` may be NULL. Neither size is checked. */
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
 * Allocates a table with random access, such as a hash table: `count` elements, zeroed and
 * prefaulted. A read of an untouched page would map the zero page, and the later write would fault
 * again, while all threads of the process wait. NULL as above.
 */
void *tms_table(struct tms_memory *memory, size_t count, size_t size);

/* Frees a block of `count` elements. Accepts NULL. */
void tms_release(struct tms_memory *memory, void *block, size_t count, size_t size);

/* Moves the count of a block of `count` elements from one memory to another. */
void tms_hand_over(struct tms_memory *from, struct tms_memory *to, size_t count, size_t size);

/*
 * Ensures that an array has room for `wanted` elements; `array` is the address of the pointer to
 * its first one. Grows by doubling, at least to `least`. False if out of memory.
 */
#define TMS_RESERVE(memory, array, capacity, wanted, least)                                        \
    ((wanted) <= *(capacity) ||                                                                    \
     tms_reserve(memory, array, capacity, wanted, least, sizeof(**(array))))
bool tms_reserve(struct tms_memory *memory, void *array, size_t *capacity, size_t wanted,
                 size_t least, size_t size);

/* The next capacity that holds `wanted`: doubles from `capacity`, at least `least`. */
size_t tms_capacity(size_t capacity, size_t wanted, size_t least);

#endif
