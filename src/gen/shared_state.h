/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables and locks of a synthetic trace, and the discipline that keeps it serializable.
 *
 * Discipline. Every transaction has a rank, counted up: it takes the next one at its first
 * operation on something common (or at its end if there is none); an event outside blocks takes the
 * next one at once. A lock or variable remembers the highest rank that operated on it, a variable
 * separately for reads and writes, and a transaction operates only on what no conflicting
 * transaction of a higher rank has operated on; otherwise it chooses something else.
 *
 * Proof. Ranks rise along each thread, from a fork to the events of its thread and from those to
 * the join (both are outside blocks), and by the rule above along every conflict on a lock or a
 * variable. So every edge of the transaction graph goes from a lower to a higher rank, and there
 * is no cycle.
 *
 * Transactions still overlap freely: two that are both open may exchange values any number of
 * times, as long as it is in one direction.
 *
 * Variables, by index: first those guarded by lock (index mod locks), accessed only while it is
 * held; then the open ones, which any thread may access at any time; then an equal number of
 * private ones for each thread. At 16 bytes for a common variable this is the memory of the
 * generator.
 */
#ifndef TMS_GEN_SHARED_STATE_H
#define TMS_GEN_SHARED_STATE_H

#include <stdbool.h>

#include "gen/random.h"
#include "gen/shape.h"

struct tms_cell {
    uint64_t read, write; /* highest rank that did */
};

struct tms_gate {
    uint64_t rank; /* highest that operated on the lock */
    bool held;
};

struct tms_shared_state {
    bool ranked; /* keep the discipline */
    uint64_t clock;
    struct tms_cell *cells;
    struct tms_gate *gates;
    uint64_t guarded, open, own; /* variables; `own` for each thread */
    uint64_t atomic;             /* the number of open ones, from the first, that are atomic */
    uint64_t locks;
    uint32_t sharing;
};

#define TMS_NO_LOCK UINT64_MAX

/* Initialises `locks` and `variables` of the shape, minus what a planted violation reserves. */
bool tms_shared_state_init(struct tms_shared_state *store, const struct tms_shape *shape,
                           uint64_t variables, uint64_t locks);
void tms_shared_state_clear(struct tms_shared_state *store);

/*
 * Chooses a variable for an access by the thread in `slot`, which holds `lock` or TMS_NO_LOCK.
 * *rank is that of its transaction, 0 if it has none yet. False if nothing suitable was found:
 * never for an event outside blocks.
 */
bool tms_shared_state_access(struct tms_shared_state *store, struct tms_random *random,
                             uint64_t slot, uint64_t lock, bool write, uint64_t *rank,
                             uint64_t *variable);

/* Takes some free lock: false if none was found that the rank may take. */
bool tms_shared_state_lock(struct tms_shared_state *store, struct tms_random *random,
                           uint64_t *rank, uint64_t *lock);
void tms_shared_state_unlock(struct tms_shared_state *store, uint64_t lock, uint64_t *rank);

static inline bool tms_shared_state_is_atomic(const struct tms_shared_state *store,
                                              uint64_t variable)
{
    return variable - store->guarded < store->atomic; /* below is beyond */
}

#endif
