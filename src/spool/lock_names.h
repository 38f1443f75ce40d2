/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the locks that a process recorded for its predictions, by id and by address.
 *
 * Predictions and the sections of `judge` must name a lock alike, because a section is found by its
 * lock. Both take the names from here: a heap block that contains locks has the number of the first
 * lock record in it, and the memory of a lock may be another block when the process ends.
 */
#ifndef TMS_SPOOL_LOCK_NAMES_H
#define TMS_SPOOL_LOCK_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tms_spool_names;

/* All zero at first. The arrays are parallel to the spool's list of lock records. */
struct tms_lock_names {
    uint32_t *names, *aliases;
    uint32_t *by_address; /* indices of the records, sorted by address and then by name */
    size_t count;
    bool made;
};

void tms_lock_names_free(struct tms_lock_names *locks);

/* Names all locks when it is first called. NULL: out of memory. */
const struct tms_lock_names *tms_lock_names(struct tms_spool_names *names);

/* The index of the last record of a lock, which counts; UINT32_MAX: there is none. */
uint32_t tms_lock_record(const struct tms_spool_names *names, uint32_t id);

/* The first place in `by_address` of an address; `count`: there is none. Cost: logarithmic. */
size_t tms_locks_at(const struct tms_spool_names *names, uint64_t address);

/* The address of the lock at a place in `by_address`. */
uint64_t tms_lock_address(const struct tms_spool_names *names, size_t place);

#endif
