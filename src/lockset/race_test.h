/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May two threads race for a variable? Four published tests that decide by the locks held at its
 * accesses, with one interface; settings.race_test chooses. All say "potential": locks are not the
 * only way to exclude other threads.
 *
 *   eraser        a variable belongs to its first thread until a second one comes; from then on
 *                 the set of locks held at *every* access is kept, and if it becomes empty and
 *                 there was a write since, that is a race;
 *   praun-gross   the same, but ownership passes on once: from the third owner on;
 *   atomizer      from the second thread on two sets: of locks held at every access, and at every
 *                 write. A write is safe if the first is not empty, a read if the thread holds one
 *                 of the second;
 *   multilockset  from the first access on: the set of locks held at every write, and the smallest
 *                 of the sets held at reads. A read may be safe by one lock and the next by
 *                 another, as long as writes hold both (Wang and Stoller, section 5.4, figure 3).
 *
 * In addition to the locks each cell has its *contacts*: was there a pair of conflicting accesses
 * in periods that may happen in parallel (periods.h)? Without one nothing is a race, and the
 * variable is read-only, or local to a thread, or handed from thread to thread in order. The figure
 * keeps all periods of a variable and compares them on request. Here an access is compared when it
 * comes, with the last period of each line: if it is parallel to an earlier one of that line, it is
 * parallel to the last one too.
 *
 * All results are final: a variable that races now does so whatever follows. New memory after
 * `alloc` and `free` starts afresh, but the variable's name keeps the result.
 */
#ifndef TMS_LOCKSET_RACE_TEST_H
#define TMS_LOCKSET_RACE_TEST_H

#include "lockset/lockset.h"
#include "lockset/periods.h"

/* A short list; up to two items need no memory of their own. */
#define TMS_FEW 2
struct tms_few {
    uint32_t count, capacity; /* capacity 0: the items are in `some` */
    union {
        uint32_t some[TMS_FEW];
        uint32_t *many;
    };
};

struct tms_race_cell {
    struct tms_few readers, writers; /* the last period of each line */
    struct tms_few read_sets;        /* multilockset: minimal sets held at reads */
    uint32_t owner;                  /* period; while the variable belongs to one thread */
    uint32_t access_set, write_set;  /* locks held at every access, at every write */
    uint8_t owners;                  /* how many it has had; 0: it is new */
    bool shared;                     /* it has no owner any more: the locks count */
    bool written;                    /* since it is shared; multilockset: ever */
    bool write_write, read_write;    /* contacts of this kind, since it is new */
    bool contact, racy;              /* ever, under this name */
};

struct tms_races;

struct tms_race_rules {
    uint8_t owners; /* so many before locks count */
    /* Takes an access to a shared variable in; is it a race? */
    bool (*access)(struct tms_races *races, struct tms_race_cell *cell, const struct tms_op *op,
                   struct tms_held held);
};

struct tms_races {
    struct tms_host *host;
    struct tms_locksets *sets;
    struct tms_periods *periods;
    const struct tms_race_rules *rules;
    struct tms_race_cell *cells; /* by variable */
    size_t cell_capacity;
    uint64_t racy; /* variables */
};

/* `test` is not TMS_RACE_DEFAULT. Always works; all zero is cleared. */
void tms_races_init(struct tms_races *races, struct tms_host *host, struct tms_locksets *sets,
                    struct tms_periods *periods, enum tms_race_test test);
void tms_races_clear(struct tms_races *races);

/*
 * At READ, WRITE and UPDATE of a variable that has escaped: may this access race, as far as is
 * known now? `held` and `period` are those of its thread.
 */
bool tms_races_access(struct tms_races *races, const struct tms_op *op, struct tms_held held,
                      uint32_t period);

/* At FORGET. */
void tms_races_forget(struct tms_races *races, uint32_t variable);

/* Did some access to it race? */
static inline bool tms_races_racy(const struct tms_races *races, uint32_t variable)
{
    return variable < races->cell_capacity && races->cells[variable].racy;
}

/* Did accesses in parallel periods conflict, whatever locks were held? */
static inline bool tms_races_contact(const struct tms_races *races, uint32_t variable)
{
    return variable < races->cell_capacity && races->cells[variable].contact;
}

#endif
