/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks that order nothing, as far as has been seen: acquiring and releasing these are both-movers
 * (Wang and Stoller, section 5.5). They are
 * - locks that a single thread uses,
 * - locks that are never taken exclusively,
 * - locks *protected* by another one: every holder of the lock holds that other one exclusively,
 *   all the time, so that two threads can't contend for it. Re-entrant acquires never get here. A
 *   lock that loses the property never regains it.
 *
 * Representation: for each lock its users, and the set of its protectors so far, which an acquire
 * refines by the locks that the thread holds already, and the release of another lock by those that
 * remain.
 */
#ifndef TMS_LOCKSET_LOCK_ROLES_H
#define TMS_LOCKSET_LOCK_ROLES_H

#include "lockset/lockset.h"

struct tms_lock_role {
    uint32_t thread;     /* that used it; 0: none yet */
    uint32_t protectors; /* a set; meaningless if none used it yet */
    bool several;        /* threads did */
    bool exclusive;      /* it was taken exclusively */
};

struct tms_lock_roles {
    struct tms_host *host;
    struct tms_locksets *sets;
    struct tms_lock_role *uses; /* by lock */
    size_t capacity;
};

/* Always works; all zero is cleared. */
void tms_lock_roles_init(struct tms_lock_roles *uses, struct tms_host *host,
                         struct tms_locksets *sets);
void tms_lock_roles_clear(struct tms_lock_roles *uses);

/*
 * At each operation on a lock, with what the thread held before it; follows `held` as well. False
 * if the lock is left out (tms_held_follow).
 */
bool tms_lock_roles_follow(struct tms_lock_roles *uses, struct tms_held *held,
                           const struct tms_op *op);

/* Does taking it order something? */
static inline bool tms_lock_orders(const struct tms_lock_roles *uses, uint32_t lock)
{
    if (lock >= uses->capacity) {
        return false;
    }
    const struct tms_lock_role *use = &uses->uses[lock];
    return use->several && use->exclusive && use->protectors == TMS_LOCKSET_EMPTY;
}

#endif
