/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector clocks for the engines that are published with them.
 *
 * A clock holds a number per thread slot, zero where none was set, and is as long as needed:
 * entries beyond its end are zero. Values are 64 bits, so that a clock can count events. Join, copy
 * and comparison are linear in the shorter or the other clock; growing is by doubling. Clocks hold
 * memory of the tms_memory they are first grown with.
 */
#ifndef TMS_CLOCK_VECTOR_CLOCK_H
#define TMS_CLOCK_VECTOR_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

struct tms_vector {
    uint64_t *at;
    size_t capacity; /* all of it is initialised */
};

static inline uint64_t tms_vector_get(const struct tms_vector *vector, uint32_t slot)
{
    return slot < vector->capacity ? vector->at[slot] : 0;
}

/* False when memory is short; so do the next two. */
static inline bool tms_vector_set(struct tms_memory *memory, struct tms_vector *vector,
                                  uint32_t slot, uint64_t value)
{
    if (!TMS_RESERVE(memory, &vector->at, &vector->capacity, (size_t)slot + 1, 4)) {
        return false;
    }
    vector->at[slot] = value;
    return true;
}

/* into := into ⊔ other */
static inline bool tms_vector_join(struct tms_memory *memory, struct tms_vector *into,
                                   const struct tms_vector *other)
{
    if (!TMS_RESERVE(memory, &into->at, &into->capacity, other->capacity, other->capacity)) {
        return false;
    }
    for (size_t i = 0; i < other->capacity; i++) {
        into->at[i] = other->at[i] > into->at[i] ? other->at[i] : into->at[i];
    }
    return true;
}

/* into := other */
static inline bool tms_vector_copy(struct tms_memory *memory, struct tms_vector *into,
                                   const struct tms_vector *other)
{
    if (!TMS_RESERVE(memory, &into->at, &into->capacity, other->capacity, other->capacity)) {
        return false;
    }
    if (other->capacity > 0) {
        memcpy(into->at, other->at, other->capacity * sizeof(*into->at));
    }
    if (into->capacity > other->capacity) {
        memset(into->at + other->capacity, 0,
               (into->capacity - other->capacity) * sizeof(*into->at));
    }
    return true;
}

/* a ⊑ b */
static inline bool tms_vector_within(const struct tms_vector *a, const struct tms_vector *b)
{
    for (size_t i = 0; i < a->capacity; i++) {
        if (a->at[i] > tms_vector_get(b, (uint32_t)i)) {
            return false;
        }
    }
    return true;
}

static inline void tms_vector_clear(struct tms_memory *memory, struct tms_vector *vector)
{
    tms_release(memory, vector->at, vector->capacity, sizeof(*vector->at));
    *vector = (struct tms_vector){0};
}

#endif
