/* SPDX-License-Identifier: Apache-2.0 */
/* Movers; see movers.h. */
#include "lockset/movers.h"

#include <assert.h>

#define LEAST_THREADS 16

int tms_movers_init(struct tms_movers *movers, struct tms_host *host, enum tms_race_test test)
{
    *movers = (struct tms_movers){.host = host};
    tms_periods_init(&movers->periods, host);
    tms_escapes_init(&movers->escapes, host);
    tms_lock_roles_init(&movers->locks, host, &movers->sets);
    tms_races_init(&movers->races, host, &movers->sets, &movers->periods, test);
    return tms_locksets_init(&movers->sets, host);
}

void tms_movers_clear(struct tms_movers *movers)
{
    tms_races_clear(&movers->races);
    tms_lock_roles_clear(&movers->locks);
    tms_escapes_clear(&movers->escapes);
    tms_periods_clear(&movers->periods);
    tms_locksets_clear(&movers->sets);
    if (movers->host != NULL) {
        tms_release(&movers->host->memory, movers->held, movers->held_capacity,
                    sizeof(*movers->held));
    }
    *movers = (struct tms_movers){0};
}

static struct tms_held *held_by(struct tms_movers *movers, uint32_t thread)
{
    if (!TMS_RESERVE(&movers->host->memory, &movers->held, &movers->held_capacity,
                     (size_t)thread + 1, LEAST_THREADS)) {
        tms_host_fail(movers->host, TMS_ERR_MEMORY);
        return NULL;
    }
    assert(thread < movers->held_capacity);
    return &movers->held[thread];
}

enum tms_mover tms_movers_lock(struct tms_movers *movers, const struct tms_op *op)
{
    struct tms_held *held = held_by(movers, op->thread);

    if (held == NULL) {
        return TMS_MOVES_BOTH;
    }
    if (!tms_lock_roles_follow(&movers->locks, held, op)) {
        return TMS_LEFT_OUT;
    }
    if (!tms_lock_orders(&movers->locks, op->target)) {
        return TMS_MOVES_BOTH;
    }
    assert(op->kind >= TMS_OP_ACQUIRE && op->kind <= TMS_OP_SHARED_RELEASE);
    bool takes = op->kind == TMS_OP_ACQUIRE || op->kind == TMS_OP_SHARED_ACQUIRE;
    return takes ? TMS_MOVES_RIGHT : TMS_MOVES_LEFT;
}

enum tms_mover tms_movers_access(struct tms_movers *movers, const struct tms_op *op)
{
    assert(op->kind >= TMS_OP_READ && op->kind <= TMS_OP_UPDATE);
    if (!tms_escaped(&movers->escapes, op)) {
        return TMS_LEFT_OUT;
    }
    const struct tms_held *held = held_by(movers, op->thread);
    uint32_t period = tms_period_of(&movers->periods, op->thread);
    if (held == NULL || period == 0) {
        return TMS_LEFT_OUT;
    }
    bool race = tms_races_access(&movers->races, op, *held, period);
    return race ? TMS_MOVES_NOT : TMS_MOVES_BOTH;
}

void tms_movers_follow(struct tms_movers *movers, const struct tms_op *op)
{
    switch (op->kind) {
    case TMS_OP_FORK:
    case TMS_OP_JOIN:
    case TMS_OP_ARRIVE:
    case TMS_OP_DEPART:
        tms_periods_follow(&movers->periods, op);
        break;
    case TMS_OP_FORGET:
        tms_races_forget(&movers->races, op->target);
        tms_escapes_follow(&movers->escapes, op);
        break;
    default:
        tms_escapes_follow(&movers->escapes, op);
        break;
    }
}

void tms_movers_stats(const struct tms_movers *movers, struct tms_counters *counters)
{
    const struct tms_counter all[] = {
        {"races", "variables with a potential race", movers->races.racy},
        {"locksets", "distinct sets of locks held", movers->sets.set_count},
        {"periods", "thread periods with accesses", movers->periods.period_count - 1},
    };

    TMS_COUNTERS_PUT(counters, all);
}
