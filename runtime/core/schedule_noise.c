/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The noise strategy: a thread sleeps at some of its scheduling points inside blocks, and before it
 * starts. Its random numbers depend on seed and thread only. At which points it sleeps also depends
 * on the visits of all threads to a code location (`visits`) and on the clock (may_sleep), so a
 * seed alone does not determine a run.
 *
 * A short thread passes few points, and its counterpart may not even run yet: so a thread is
 * delayed more often and for longer at its first points, and at the first visits of each code
 * location, because there are many accesses and few of them matter. So that busy programs still
 * finish, the sum of all delays is limited to about half the time since the start.
 */
#include <assert.h>

#include "base/hash_mix.h"
#include "runtime/core/judge_events.h"
#include "runtime/core/scheduler.h"
#include "runtime/spool/spool_writer.h"

#define MILLISECOND UINT64_C(1000000)
#define EARLY       32u /* points of a thread */
#define PLACES      4096u
#define ALLOWANCE   (100 * MILLISECOND) /* delays that are always allowed */

/* At one in `share` points the thread sleeps for up to `longest` nanoseconds. */
struct density {
    uint32_t visits; /* up to so many */
    uint32_t share;
    uint64_t longest;
};

/* Points that synchronise, by how many of them the thread has passed. */
static const struct density synchronising[] = {{EARLY, 2, MILLISECOND},
                                               {UINT32_MAX, 16, MILLISECOND / 5}};
/* Other points, by how often their code location was visited. */
static const struct density other[] = {{4, 2, MILLISECOND},
                                       {16, 4, MILLISECOND},
                                       {64, 16, MILLISECOND / 5},
                                       {254, 64, MILLISECOND / 5},
                                       {UINT32_MAX, 256, MILLISECOND / 5}};

static _Atomic uint8_t visits[PLACES];
static _Atomic uint64_t slept; /* nanoseconds, of all threads */
static _Atomic uint64_t began;

/* How often a code location was visited; counts up to 255. */
static uint32_t count_visit(uintptr_t pc)
{
    _Atomic uint8_t *counter = &visits[tms_hash(pc) >> 52];
    uint8_t before = atomic_load_explicit(counter, memory_order_relaxed);

    if (before < UINT8_MAX) {
        atomic_store_explicit(counter, (uint8_t)(before + 1), memory_order_relaxed);
    }
    return before;
}

static const struct density *density_at(struct tms_rt_thread *t, const struct tms_rt_point *point)
{
    bool by_place = point->kind == TMS_RT_AT_ACCESS || point->kind == TMS_RT_AT_BLOCK;
    const struct density *density = by_place ? other : synchronising;
    uint32_t before = by_place ? count_visit(point->pc) : t->syncs_passed;

    t->syncs_passed += !by_place && before < EARLY;
    while (density->visits <= before) {
        density++;
    }
    return density;
}

/* The time left for delays depends on how long the program has run. */
static bool may_sleep(uint64_t nanoseconds)
{
    uint64_t now = tms_rt_monotonic_time(), none = 0;

    atomic_compare_exchange_strong(&began, &none, now);
    assert(now >= atomic_load(&began)); /* the clock is monotonic */
    uint64_t half = (now - atomic_load(&began)) / 2 + ALLOWANCE;
    uint64_t most = half / 100 * tms_rt_schedule.strength;
    uint64_t before = atomic_fetch_add_explicit(&slept, nanoseconds, memory_order_relaxed);
    if (before < most) {
        return true;
    }
    atomic_fetch_sub_explicit(&slept, nanoseconds, memory_order_relaxed);
    return false;
}

static bool delay(struct tms_rt_thread *t, const struct tms_rt_point *point)
{
    if (!tms_rt_is_judged(t) && point->kind != TMS_RT_AT_START) {
        return false;
    }
    const struct density *density = density_at(t, point);
    uint64_t random = tms_rt_random(t), strength = tms_rt_schedule.strength;
    uint64_t time = (random >> 20) % density->longest;

    if (random % (UINT64_C(100) * density->share) >= strength || !may_sleep(time)) {
        return false;
    }
    tms_rt_rest(t, time);
    return true;
}

const struct tms_rt_strategy tms_rt_noise = {.point = delay};
