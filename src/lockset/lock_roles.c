/* SPDX-License-Identifier: Apache-2.0 */
/* How locks are used; see lock_roles.h. */
#include "lockset/lock_roles.h"

#define LEAST_LOCKS 64

void tms_lock_roles_init(struct tms_lock_roles *uses, struct tms_host *host,
                         struct tms_locksets *sets)
{
    *uses = (struct tms_lock_roles){.host = host, .sets = sets};
}

void tms_lock_roles_clear(struct tms_lock_roles *uses)
{
    if (uses->host != NULL) {
        tms_release(&uses->host->memory, uses->uses, uses->capacity, sizeof(*uses->uses));
    }
    *uses = (struct tms_lock_roles){0};
}

static void acquire(struct tms_lock_roles *uses, const struct tms_held *held,
                    const struct tms_op *op)
{
    struct tms_lock_role *use = &uses->uses[op->target];

    use->protectors = use->thread == 0
                          ? held->exclusive
                          : tms_lockset_intersection(uses->sets, use->protectors, held->exclusive);
    use->several = use->several || (use->thread != 0 && use->thread != op->thread);
    use->thread = op->thread;
    use->exclusive = use->exclusive || op->kind == TMS_OP_ACQUIRE;
}

/*
 * The released lock no longer protects those that are still held. The locks are looked up each
 * time: a new set may move them.
 */
static void release(struct tms_lock_roles *uses, const struct tms_held *left)
{
    size_t count = uses->sets->sets[left->any].count;

    for (size_t i = 0; i < count; i++) {
        struct tms_lock_role *use =
            &uses->uses[tms_lockset_locks(uses->sets, left->any, &count)[i]];
        use->protectors = tms_lockset_intersection(uses->sets, use->protectors, left->exclusive);
    }
}

bool tms_lock_roles_follow(struct tms_lock_roles *uses, struct tms_held *held,
                           const struct tms_op *op)
{
    if (!TMS_RESERVE(&uses->host->memory, &uses->uses, &uses->capacity, (size_t)op->target + 1,
                     LEAST_LOCKS)) {
        tms_host_fail(uses->host, TMS_ERR_MEMORY);
        return false;
    }
    const struct tms_held before = *held;
    if (!tms_held_follow(uses->sets, held, op)) {
        return false;
    }
    if (op->kind == TMS_OP_ACQUIRE || op->kind == TMS_OP_SHARED_ACQUIRE) {
        acquire(uses, &before, op);
    } else {
        release(uses, held);
    }
    return true;
}
