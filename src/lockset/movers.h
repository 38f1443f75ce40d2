/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which way an operation can be moved past those of other threads without a change (Lipton; Wang
 * and Stoller, sections 5.1 and 5.5): what the two engines of reduction, atomizer and reduction,
 * go by. Taking a lock moves to the right, releasing it to the left, both ways if the lock orders
 * nothing (lock_roles.h); an access that can't race (race_test.h) moves both ways, one that can
 * moves neither way. An access to a variable that has not escaped (escape.h) is left out.
 *
 * Everything is as far as has been seen: what moves may turn out not to, never the reverse.
 */
#ifndef TMS_LOCKSET_MOVERS_H
#define TMS_LOCKSET_MOVERS_H

#include "lockset/escape.h"
#include "lockset/lock_roles.h"
#include "lockset/lockset.h"
#include "lockset/periods.h"
#include "lockset/race_test.h"

enum tms_mover { TMS_MOVES_BOTH, TMS_MOVES_RIGHT, TMS_MOVES_LEFT, TMS_MOVES_NOT, TMS_LEFT_OUT };

struct tms_movers {
    struct tms_host *host;
    struct tms_locksets sets;
    struct tms_periods periods;
    struct tms_escapes escapes;
    struct tms_lock_roles locks;
    struct tms_races races;
    struct tms_held *held; /* by thread */
    size_t held_capacity;
};

/* TMS_OK or TMS_ERR_MEMORY; clear it in both cases. All zero is cleared. */
int tms_movers_init(struct tms_movers *movers, struct tms_host *host, enum tms_race_test test);
void tms_movers_clear(struct tms_movers *movers);

/* At each operation on a lock, and at each access: what it is. */
enum tms_mover tms_movers_lock(struct tms_movers *movers, const struct tms_op *op);
enum tms_mover tms_movers_access(struct tms_movers *movers, const struct tms_op *op);

/* At FORK, JOIN, ARRIVE, DEPART, STEP, ESCAPE and FORGET. */
void tms_movers_follow(struct tms_movers *movers, const struct tms_op *op);

/* The counters that both engines have. */
void tms_movers_stats(const struct tms_movers *movers, struct tms_counters *counters);

#endif
