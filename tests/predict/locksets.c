/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned locksets against bit sets, and thread periods of programs that start threads all the
 * time: how many lines they take, and which threads they order. Prints TAP.
 *
 *   predict-locksets [STEPS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differential/trace.h"
#include "lockset/lockset.h"
#include "lockset/periods.h"
#include "tap.h"

static void set_up(struct tms_host *host, struct tms_settings *settings)
{
    tms_settings_init(settings);
    *host = (struct tms_host){.settings = settings};
}

/* ---- sets -------------------------------------------------------------------------------- */

#define LOCKS 64
#define KNOWN 256

/* Some sets, by number and as bits. */
struct known {
    uint32_t set[KNOWN];
    uint64_t bits[KNOWN];
};

static uint64_t bits_of(const struct tms_locksets *sets, uint32_t set)
{
    size_t count;
    const uint32_t *locks = tms_lockset_locks(sets, set, &count);
    uint64_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        bits |= UINT64_C(1) << (locks[i] - 1);
    }
    return bits;
}

static uint32_t make_set(struct tms_locksets *sets, uint64_t *random, uint64_t *bits)
{
    uint32_t locks[8];
    size_t count = tms_random_below(random, 8);

    *bits = 0;
    for (size_t i = 0; i < count; i++) {
        locks[i] = 1 + tms_random_below(random, LOCKS);
        *bits |= UINT64_C(1) << (locks[i] - 1);
    }
    return tms_lockset_make(sets, locks, count);
}

/* One operation on two known sets; the result takes the place of a third. */
static bool step(struct tms_locksets *sets, struct known *known, uint64_t *random)
{
    unsigned a = tms_random_below(random, KNOWN), b = tms_random_below(random, KNOWN);
    unsigned into = tms_random_below(random, KNOWN);
    uint32_t lock = 1 + tms_random_below(random, LOCKS);
    uint64_t bit = UINT64_C(1) << (lock - 1);
    uint32_t x = known->set[a], y = known->set[b];
    const struct {
        uint32_t set;
        uint64_t bits;
    } results[] = {
        {tms_lockset_add(sets, x, lock), known->bits[a] | bit},
        {tms_lockset_remove(sets, x, lock), known->bits[a] & ~bit},
        {tms_lockset_union(sets, x, y), known->bits[a] | known->bits[b]},
        {tms_lockset_intersection(sets, x, y), known->bits[a] & known->bits[b]},
    };
    size_t chosen = tms_random_below(random, 5);
    bool good = tms_lockset_within(sets, x, y) == ((known->bits[a] & ~known->bits[b]) == 0) &&
                tms_lockset_has(sets, x, lock) == ((known->bits[a] & bit) != 0) &&
                (x == y) == (known->bits[a] == known->bits[b]);

    for (size_t i = 0; i < 4; i++) {
        good = good && bits_of(sets, results[i].set) == results[i].bits;
    }
    if (chosen < 4) {
        known->set[into] = results[chosen].set;
        known->bits[into] = results[chosen].bits;
    } else {
        known->set[into] = make_set(sets, random, &known->bits[into]);
    }
    return good;
}

static void test_sets(struct tap *tap, uint64_t steps)
{
    struct tms_settings settings;
    struct tms_host host;
    struct tms_locksets sets;
    struct known known = {{0}, {0}};
    uint64_t random = 1;
    bool good = true;

    set_up(&host, &settings);
    good = tms_locksets_init(&sets, &host) == TMS_OK;
    for (uint64_t i = 0; i < steps && good; i++) {
        good = step(&sets, &known, &random);
    }
    ok(tap, good, "%u distinct sets are what their bits are", (unsigned)sets.set_count);
    ok(tap, sets.set_count > 1000, "there are many");
    tms_locksets_clear(&sets);
    ok(tap, host.memory.bytes == 0 && host.failed == TMS_OK, "sets give their memory back");
}

static void test_held(struct tap *tap)
{
    struct tms_settings settings;
    struct tms_host host;
    struct tms_locksets sets;
    struct tms_held a = {0}, b = {0}, none = {0};

    set_up(&host, &settings);
    bool good = tms_locksets_init(&sets, &host) == TMS_OK;
    tms_held_follow(&sets, &a, &(struct tms_op){.kind = TMS_OP_SHARED_ACQUIRE, .target = 7});
    tms_held_follow(&sets, &b, &(struct tms_op){.kind = TMS_OP_SHARED_ACQUIRE, .target = 7});
    good = good && !tms_held_exclude(&sets, a, b) && !tms_held_exclude(&sets, a, none);
    tms_held_follow(&sets, &b, &(struct tms_op){.kind = TMS_OP_SHARED_RELEASE, .target = 7});
    good = good && b.any == TMS_LOCKSET_EMPTY;
    tms_held_follow(&sets, &b, &(struct tms_op){.kind = TMS_OP_ACQUIRE, .target = 7});
    good = good && tms_held_exclude(&sets, a, b) && tms_held_exclude(&sets, b, a) &&
           tms_held_both(&sets, a, b).exclusive == TMS_LOCKSET_EMPTY &&
           tms_held_both(&sets, a, b).any == b.any;
    ok(tap, good, "who holds it shared keeps out who holds it exclusively, no others");
    tms_locksets_clear(&sets);
}

/* ---- periods ----------------------------------------------------------------------------- */

#define MAIN     1u
#define CHILDREN 5000u

static void follow(struct tms_periods *periods, enum tms_op_kind kind, uint32_t thread,
                   uint32_t target)
{
    tms_periods_follow(periods,
                       &(struct tms_op){.kind = (uint8_t)kind, .thread = thread, .target = target});
}

/* Children that run one after the other share one line, and are not parallel to each other. */
static void test_in_turn(struct tap *tap)
{
    struct tms_settings settings;
    struct tms_host host;
    struct tms_periods periods;
    uint32_t first = 0, last = 0, before = 0;

    set_up(&host, &settings);
    tms_periods_init(&periods, &host);
    for (uint32_t child = 2; child < 2 + CHILDREN; child++) {
        follow(&periods, TMS_OP_FORK, MAIN, child);
        last = tms_period_of(&periods, child);
        first = child == 2 ? last : first;
        before = tms_period_of(&periods, MAIN);
        follow(&periods, TMS_OP_JOIN, MAIN, child);
    }
    uint32_t after = tms_period_of(&periods, MAIN);
    ok(tap, periods.line_count == 3, "%u threads in turn take one line beside their parent",
       CHILDREN);
    ok(tap,
       !tms_periods_parallel(&periods, first, last) &&
           !tms_periods_parallel(&periods, first, before) &&
           tms_periods_parallel(&periods, last, before) &&
           !tms_periods_parallel(&periods, last, after),
       "and are ordered with it as they were");
    tms_periods_clear(&periods);
    ok(tap, host.memory.bytes == 0, "periods give their memory back");
}

/* Barriers all the time: gatherings are used again. */
static void test_rounds(struct tap *tap)
{
    struct tms_settings settings;
    struct tms_host host;
    struct tms_periods periods;
    bool good = true;

    set_up(&host, &settings);
    tms_periods_init(&periods, &host);
    for (unsigned round = 0; round < 1000; round++) {
        uint32_t one = tms_period_of(&periods, 1), two = tms_period_of(&periods, 2);
        good = good && tms_periods_parallel(&periods, one, two);
        follow(&periods, TMS_OP_ARRIVE, 1, 1);
        follow(&periods, TMS_OP_ARRIVE, 2, 1);
        follow(&periods, TMS_OP_DEPART, 1, 1);
        follow(&periods, TMS_OP_DEPART, 2, 1);
        good = good && !tms_periods_parallel(&periods, one, tms_period_of(&periods, 2)) &&
               !tms_periods_parallel(&periods, tms_period_of(&periods, 1), two);
    }
    ok(tap, good && periods.gathering_count <= 2, "a barrier orders each round before the next");
    tms_periods_clear(&periods);
}

static void test_off(struct tap *tap)
{
    struct tms_settings settings;
    struct tms_host host;
    struct tms_periods periods;

    set_up(&host, &settings);
    settings.periods = false;
    tms_periods_init(&periods, &host);
    uint32_t before = tms_period_of(&periods, MAIN);
    follow(&periods, TMS_OP_FORK, MAIN, 2);
    follow(&periods, TMS_OP_JOIN, MAIN, 2);
    ok(tap,
       tms_period_of(&periods, MAIN) == before &&
           tms_periods_parallel(&periods, before, tms_period_of(&periods, 2)) &&
           !tms_periods_parallel(&periods, before, before),
       "with periods off, different threads are parallel, and a thread is not to itself");
    tms_periods_clear(&periods);
}

int main(int argc, char **argv)
{
    struct tap tap = {0};

    test_sets(&tap, argc > 1 ? strtoull(argv[1], NULL, 10) : 100000);
    test_held(&tap);
    test_in_turn(&tap);
    test_rounds(&tap);
    test_off(&tap);
    return done(&tap);
}
