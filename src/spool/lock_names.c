/* SPDX-License-Identifier: Apache-2.0 */
/* Names of recorded locks; see lock_names.h. */
#include "spool/lock_names.h"

#include <assert.h>
#include <stdlib.h>

#include "spool/object_names.h"

void tms_lock_names_free(struct tms_lock_names *locks)
{
    free(locks->names);
    free(locks->aliases);
    free(locks->by_address);
    *locks = (struct tms_lock_names){0};
}

static const struct tms_spool_list *list_of(const struct tms_spool_names *names)
{
    return &names->spool->lists[TMS_SPOOL_LOCK];
}

static const struct tms_spool_lock *lock_at(const struct tms_spool_names *names, size_t index)
{
    assert(index < list_of(names)->count);
    return (const void *)list_of(names)->entries[index].record;
}

uint32_t tms_lock_record(const struct tms_spool_names *names, uint32_t id)
{
    const struct tms_spool_entry *entry = tms_spool_find(names->spool, TMS_SPOOL_LOCK, id);

    return entry == NULL ? UINT32_MAX : (uint32_t)(entry - list_of(names)->entries);
}

/* ---- names -------------------------------------------------------------------------------- */

/* The block of the heap is the one that was recorded with the lock. */
static void name_lock(struct tms_spool_names *names, uint32_t index)
{
    struct tms_lock_names *locks = &names->locks;
    uint64_t address = lock_at(names, index)->address;
    uint32_t sequence = list_of(names)->entries[index].sequence;

    locks->names[index] =
        tms_spool_name_near(names, sequence, TMS_CLASS_LOCK, address, TMS_NAME_AS_RECORDED);
    locks->aliases[index] =
        tms_spool_name_near(names, sequence, TMS_CLASS_LOCK, address, TMS_NAME_AS_ALIAS);
}

/* ---- addresses ---------------------------------------------------------------------------- */

struct located {
    uint64_t address;
    uint32_t name, index;
};

static int by_address(const void *a, const void *b)
{
    const struct located *x = a, *y = b;

    return x->address != y->address ? (x->address < y->address ? -1 : 1)
                                    : (x->name > y->name) - (x->name < y->name);
}

static bool sort_addresses(struct tms_spool_names *names)
{
    struct tms_lock_names *locks = &names->locks;
    struct located *located = calloc(locks->count + 1, sizeof(*located));

    if (located == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < locks->count; i++) {
        located[i] = (struct located){lock_at(names, i)->address, locks->names[i], i};
    }
    qsort(located, locks->count, sizeof(*located), by_address);
    for (size_t i = 0; i < locks->count; i++) {
        locks->by_address[i] = located[i].index;
    }
    free(located);
    return true;
}

uint64_t tms_lock_address(const struct tms_spool_names *names, size_t place)
{
    assert(names->locks.made && place < names->locks.count);
    return lock_at(names, names->locks.by_address[place])->address;
}

size_t tms_locks_at(const struct tms_spool_names *names, uint64_t address)
{
    size_t low = 0, high = names->locks.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tms_lock_address(names, middle) < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < names->locks.count && tms_lock_address(names, low) == address;
    return found ? low : names->locks.count;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static bool make(struct tms_spool_names *names)
{
    struct tms_lock_names *locks = &names->locks;
    size_t count = list_of(names)->count;

    locks->count = count;
    locks->names = calloc(count + 1, sizeof(*locks->names));
    locks->aliases = calloc(count + 1, sizeof(*locks->aliases));
    locks->by_address = calloc(count + 1, sizeof(*locks->by_address));
    bool good = locks->names != NULL && locks->aliases != NULL && locks->by_address != NULL;
    for (uint32_t i = 0; good && i < count; i++) {
        name_lock(names, i);
    }
    return good && sort_addresses(names);
}

const struct tms_lock_names *tms_lock_names(struct tms_spool_names *names)
{
    if (!names->locks.made) {
        names->locks.made = make(names);
    }
    if (!names->locks.made) {
        tms_lock_names_free(&names->locks);
        names->failed = true;
        return NULL;
    }
    return &names->locks;
}
