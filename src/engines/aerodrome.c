/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AeroDrome, optimised: the algorithm of aerodrome_basic.c (Mathur and Viswanathan, Atomicity
 * Checking in Linear Time using Vector Clocks, ASPLOS 2020) with lazy clocks, update sets and
 * collection, the optimisations that its authors sketch, in a form that is correct on all traces.
 * "Line" means a line of Algorithm 1. docs/research/engines/aerodrome.md has the reasons.
 *
 * A clock's component for a thread matters only if it knows the begin of the transaction that the
 * thread is running. A clock is *live* if it knows such a begin; one that is not never will be, and
 * is as good as none.
 *
 * - Stale sets. While the transaction that wrote x last is running in t, W_x is not stored: it is
 *   C_t, whatever that grows to, since what comes before the transaction comes before all that
 *   comes after an event of it. Likewise reads: a bit for each running transaction that has read x
 *   since the last write.
 * - When a transaction ends, each variable that it touched gets its clock, once.
 * - Update sets. Lines 41 to 46 visit all variables. Here every thread has a set of places: those
 *   that its running transaction touched, and those with a clock that knows its begin. To keep it
 *   complete, a place whose clock is joined with C_t is passed on to the set of each running u
 *   whose begin C_t knows.
 * - Collection. If C_t is not live when its transaction ends, nothing leads back to it, and no
 *   clock is made. Clocks that were live by this transaction alone are dropped.
 * - An event outside blocks is a transaction that ends at once. It is never stale, and stored only
 *   if C_t is live.
 * - A write discards the reads before it: they come before it, and it before all that comes after.
 *   So R_x has reads of ended transactions only. Their components for their own threads are less
 *   than any running begin, so chR_x is not needed. Nor, for the same reason, is lastWThr.
 */
#include <assert.h>
#include <string.h>

#include "engines/aerodrome_state.h"

/* What an operation acts on, and who. */
struct act {
    uint32_t slot;
    struct tms_aerodrome_place *place;
    uint64_t *readers;
    size_t words; /* of `readers` */
    uint64_t key;
    struct tms_aerodrome_moment now;
};

/* ---- clocks ----------------------------------------------------------------------------- */

/* Does the clock know the begin of the transaction that the thread in `slot` is running? */
static bool knows(const struct tms_aerodrome *a, uint32_t clock, uint32_t slot)
{
    return tms_clocks_at(&a->clocks, clock)[slot] >= a->begins[slot];
}

static bool is_live(const struct tms_aerodrome *a, uint32_t clock)
{
    const uint64_t *component = tms_clocks_at(&a->clocks, clock);
    bool live = false;

    for (uint32_t slot = 0; slot < a->slot_count; slot++) {
        live |= component[slot] >= a->begins[slot];
    }
    return live;
}

/* Lists the other running transactions whose begins C_t knows; false if there are none. */
static bool find_ancestors(struct tms_aerodrome *a, uint32_t slot)
{
    uint32_t clock = a->threads[slot].clock;

    a->ancestor_count = 0;
    for (uint32_t u = 0; u < a->slot_count; u++) {
        if (u != slot && knows(a, clock, u)) {
            a->ancestors[a->ancestor_count++] = u;
        }
    }
    assert(a->ancestor_count < a->slot_count);
    return a->ancestor_count > 0;
}

/* Lines 9 to 12. The paper ends at line 11; here the join is left out. */
static void check_and_get(struct tms_aerodrome *a, uint32_t slot, uint32_t clock,
                          struct tms_aerodrome_moment now)
{
    assert(slot < a->slot_count && clock != 0 && clock != a->threads[slot].clock);
    if (knows(a, clock, slot)) {
        tms_aerodrome_declare(a->host, &a->threads[slot].block, now);
        return;
    }
    a->joins++;
    tms_clocks_join(&a->clocks, a->threads[slot].clock, clock);
}

static void drop(struct tms_aerodrome *a, uint32_t *clock)
{
    tms_clocks_drop(&a->clocks, *clock);
    *clock = 0;
}

/* ---- update sets ------------------------------------------------------------------------ */

static void add(struct tms_aerodrome *a, uint32_t slot, uint64_t key)
{
    struct tms_aerodrome_set *set = &a->threads[slot].set;

    if (set->count == set->capacity && !tms_aerodrome_tidy(a, set)) {
        tms_host_fail(a->host, TMS_ERR_MEMORY);
        return;
    }
    assert(set->count < set->capacity && a->begins[slot] != NOT_RUNNING);
    set->keys[set->count++] = key;
}

/* *clock := *clock ⊔ C_t. The place is handed on to those whose begins it had not known. */
static void absorb(struct tms_aerodrome *a, uint32_t slot, uint32_t *clock, uint64_t key)
{
    if (*clock == 0) {
        *clock = tms_clocks_make(&a->clocks);
        if (*clock == 0) {
            tms_host_fail(a->host, TMS_ERR_MEMORY);
            return;
        }
    }
    assert(a->ancestor_count > 0);
    for (uint32_t i = 0; i < a->ancestor_count; i++) {
        if (!knows(a, *clock, a->ancestors[i])) {
            add(a, a->ancestors[i], key);
        }
    }
    a->joins++;
    tms_clocks_join(&a->clocks, *clock, a->threads[slot].clock);
}

/* ---- accesses --------------------------------------------------------------------------- */

static bool is_running(const struct tms_aerodrome *a, uint32_t slot)
{
    return a->begins[slot] != NOT_RUNNING;
}

static bool is_writer(const struct act *act)
{
    return act->place->writer == act->slot + 1;
}

static bool is_reader(const struct act *act)
{
    return (act->readers[act->slot / 64] >> act->slot % 64 & 1) != 0;
}

/* Lines 14 and 15, 24 and 25, 28 and 29. */
static void get_last(struct tms_aerodrome *a, const struct act *act)
{
    const struct tms_aerodrome_place *place = act->place;

    assert(place->write == 0 || place->writer == 0);
    if (place->write != 0) {
        check_and_get(a, act->slot, place->write, act->now);
    } else if (place->writer != 0 && !is_writer(act)) {
        check_and_get(a, act->slot, a->threads[place->writer - 1].clock, act->now);
    }
}

/* Lines 30 and 31. */
static void get_reads(struct tms_aerodrome *a, const struct act *act)
{
    for (size_t word = 0; word < act->words; word++) {
        for (uint64_t left = act->readers[word]; left != 0; left &= left - 1) {
            uint32_t reader = (uint32_t)word * 64 + (uint32_t)__builtin_ctzll(left);
            assert(reader < a->slot_count && is_running(a, reader));
            if (reader != act->slot) {
                check_and_get(a, act->slot, a->threads[reader].clock, act->now);
            }
        }
    }
    if (act->place->read != 0) {
        check_and_get(a, act->slot, act->place->read, act->now);
    }
}

static void forget(struct tms_aerodrome *a, const struct act *act)
{
    drop(a, &act->place->write);
    drop(a, &act->place->read);
    act->place->writer = 0;
    memset(act->readers, 0, act->words * sizeof(*act->readers));
}

/* Lines 17 and 32. */
static void put_last(struct tms_aerodrome *a, const struct act *act)
{
    bool listed = is_writer(act) || is_reader(act);

    forget(a, act);
    assert(!is_reader(act) && !is_writer(act));
    if (is_running(a, act->slot)) {
        act->place->writer = act->slot + 1;
        if (!listed) {
            add(a, act->slot, act->key);
        }
    } else if (find_ancestors(a, act->slot)) {
        absorb(a, act->slot, &act->place->write, act->key);
    }
}

/* Line 26. */
static void put_read(struct tms_aerodrome *a, const struct act *act)
{
    if (is_running(a, act->slot)) {
        act->readers[act->slot / 64] |= UINT64_C(1) << act->slot % 64;
        add(a, act->slot, act->key);
    } else if (find_ancestors(a, act->slot)) {
        absorb(a, act->slot, &act->place->read, act->key);
    }
}

/* ---- the end of a transaction ----------------------------------------------------------- */

/*
 * Brings a clock up to date after a transaction with that begin (lines 42, 44, 46): if the
 * transaction has a stale access to write down there, or the clock knows its begin.
 */
static void settle(struct tms_aerodrome *a, uint32_t slot, uint64_t begin, bool stale,
                   uint32_t *clock, uint64_t key)
{
    if (!stale && (*clock == 0 || tms_clocks_at(&a->clocks, *clock)[slot] < begin)) {
        return;
    }
    if (a->ancestor_count > 0) {
        absorb(a, slot, clock, key);
    } else if (*clock != 0 && !is_live(a, *clock)) {
        drop(a, clock);
    }
}

static void settle_place(struct tms_aerodrome *a, uint32_t slot, uint64_t begin, uint64_t key)
{
    struct tms_aerodrome_place *place = place_of(a, key);
    uint64_t *readers = &tms_grid_row(&places_of(a, key)->readers, key >> KIND_BITS)[slot / 64];
    uint64_t bit = UINT64_C(1) << slot % 64;
    bool wrote = place->writer == slot + 1;
    bool read = (*readers & bit) != 0;

    assert(key >> KIND_BITS < places_of(a, key)->count);
    assert(place->writer == 0 || place->write == 0);
    place->writer = wrote ? 0 : place->writer;
    *readers &= ~bit;
    settle(a, slot, begin, wrote, &place->write, key);
    settle(a, slot, begin, read, &place->read, key);
}

/* Lines 37 to 46. */
static void end(struct tms_aerodrome *a, uint32_t slot, struct tms_aerodrome_moment now)
{
    struct tms_aerodrome_thread *t = &a->threads[slot];
    uint64_t begin = a->begins[slot];
    bool live = find_ancestors(a, slot);

    assert(slot < a->slot_count && is_running(a, slot));
    assert(begin == tms_clocks_at(&a->clocks, t->clock)[slot]);
    for (uint32_t u = 0; u < a->slot_count && live; u++) {
        if (u != slot && knows(a, a->threads[u].clock, slot)) {
            check_and_get(a, u, t->clock, now);
        }
    }
    a->begins[slot] = NOT_RUNNING;
    for (size_t i = 0; i < t->set.count; i++) {
        settle_place(a, slot, begin, t->set.keys[i]);
    }
    a->visits += t->set.count;
    t->set.count = 0;
    a->ends++;
    a->collected += live ? 0 : 1;
}

/* ---- operations ------------------------------------------------------------------------- */

/* NO_SLOT when memory is short. */
static uint32_t slot_of(struct tms_aerodrome *a, uint32_t id)
{
    if (id < a->id_capacity && a->slots[id] != 0) {
        return a->slots[id] - 1;
    }
    uint32_t slot = tms_aerodrome_take_slot(a, id);
    if (slot == NO_SLOT) {
        tms_host_fail(a->host, TMS_ERR_MEMORY);
    }
    return slot;
}

/* The slot of the thread that does an operation, which is an event of it. */
static uint32_t actor(struct tms_aerodrome *a, const struct tms_op *op)
{
    uint32_t slot = slot_of(a, op->thread);

    if (slot != NO_SLOT) {
        assert(op->kind == TMS_OP_BEGIN ||
               is_running(a, slot) == ((op->flags & TMS_OP_IN_BLOCK) != 0));
        a->threads[slot].acted = true;
    }
    return slot;
}

/*
 * The effect of operations on places. PUT_LAST ends what came before. An acquire is not stored, as
 * no other thread can use the lock before its release, which follows in the same thread.
 */
enum { GET_LAST = 1, GET_READS = 2, PUT_LAST = 4, PUT_READ = 8 };

static const uint8_t steps_of[TMS_OP_COUNT] = {
    [TMS_OP_READ] = GET_LAST | PUT_READ,
    [TMS_OP_WRITE] = GET_LAST | GET_READS | PUT_LAST,
    [TMS_OP_UPDATE] = GET_LAST | GET_READS | PUT_LAST,
    [TMS_OP_ACQUIRE] = GET_LAST | GET_READS,
    [TMS_OP_RELEASE] = PUT_LAST,
    [TMS_OP_SHARED_ACQUIRE] = GET_LAST,
    [TMS_OP_SHARED_RELEASE] = PUT_READ,
    [TMS_OP_ARRIVE] = PUT_READ,
    [TMS_OP_DEPART] = GET_READS,
};

/* False when memory is short. */
static bool prepare(struct tms_aerodrome *a, const struct tms_op *op, struct act *act)
{
    uint8_t kind = tms_op_traits[op->kind].place;
    struct tms_aerodrome_places *places = &a->places[kind];

    if (op->target >= places->count && !tms_aerodrome_grow_places(a, places, op->target)) {
        tms_host_fail(a->host, TMS_ERR_MEMORY);
        return false;
    }
    act->place = &places->at[op->target];
    act->readers = tms_grid_row(&places->readers, op->target);
    act->words = places->readers.width;
    act->key = (uint64_t)op->target << KIND_BITS | kind;
    act->now = tms_aerodrome_now(op);
    return true;
}

static void on_place(void *state, const struct tms_op *op)
{
    struct tms_aerodrome *a = state;
    struct act act = {.slot = actor(a, op)};
    uint8_t steps = steps_of[op->kind];

    if (act.slot == NO_SLOT || !prepare(a, op, &act)) {
        return;
    }
    if ((steps & PUT_READ) && (is_writer(&act) || is_reader(&act))) {
        return; /* known, and so is all that it comes after */
    }
    if (steps & GET_LAST) {
        get_last(a, &act);
    }
    if (steps & GET_READS) {
        get_reads(a, &act);
    }
    if (steps & PUT_LAST) {
        put_last(a, &act);
    }
    if (steps & PUT_READ) {
        put_read(a, &act);
    }
}

static void on_forget(void *state, const struct tms_op *op)
{
    struct act act = {.slot = NO_SLOT};

    if (prepare(state, op, &act)) {
        forget(state, &act);
    }
}

/* Lines 34 to 36. */
static void on_begin(void *state, const struct tms_op *op)
{
    struct tms_aerodrome *a = state;
    uint32_t slot = actor(a, op);

    if (slot == NO_SLOT) {
        return;
    }
    if (is_running(a, slot)) {
        end(a, slot, tms_aerodrome_now(op)); /* see on_end */
    }
    a->begins[slot] = ++tms_clocks_at(&a->clocks, a->threads[slot].clock)[slot];
    tms_aerodrome_begin(&a->threads[slot].block, op);
}

/*
 * The end that a split makes is followed by a begin, and the one that a join makes by that join:
 * these then end the transaction, as they tell whose event it is.
 */
static void on_end(void *state, const struct tms_op *op)
{
    struct tms_aerodrome *a = state;

    if ((op->flags & TMS_OP_SYNTHETIC) == 0) {
        end(a, a->slots[op->thread] - 1, tms_aerodrome_now(op));
    }
}

/* Lines 19 and 20. */
static void on_fork(void *state, const struct tms_op *op)
{
    struct tms_aerodrome *a = state;
    uint32_t slot = actor(a, op), child = slot_of(a, op->target);

    if (slot != NO_SLOT && child != NO_SLOT) {
        tms_clocks_join(&a->clocks, a->threads[child].clock, a->threads[slot].clock);
    }
}

/* Lines 21 and 22, unless the child did nothing: then there is no event to come after. */
static void on_join(void *state, const struct tms_op *op)
{
    struct tms_aerodrome *a = state;
    struct tms_aerodrome_moment now = tms_aerodrome_now(op);
    uint32_t slot = actor(a, op), child = slot_of(a, op->target);

    if (slot == NO_SLOT || child == NO_SLOT) {
        return;
    }
    if (is_running(a, child)) {
        end(a, child, now);
    }
    if (a->threads[child].acted) {
        check_and_get(a, slot, a->threads[child].clock, now);
    }
    tms_aerodrome_give_slot_back(a, op->target);
}

/* An event without a conflict but with those that fork or join its thread. */
static void on_step(void *state, const struct tms_op *op)
{
    actor(state, op);
}

/* ---- the engine ------------------------------------------------------------------------- */

static int create(void *state, struct tms_host *host)
{
    struct tms_aerodrome *a = state;

    a->host = host;
    a->memory = &host->memory;
    tms_clocks_init(&a->clocks, a->memory);
    return TMS_OK;
}

static void finish(void *state)
{
    struct tms_aerodrome *a = state;
    struct tms_aerodrome_moment last = {a->host->last_event, a->host->last_thread};

    for (uint32_t slot = 0; slot < a->slot_count && tms_aerodrome_closes_blocks(a->host); slot++) {
        if (is_running(a, slot)) {
            end(a, slot, last);
        }
    }
}

static void stats(const void *state, struct tms_counters *counters)
{
    const struct tms_aerodrome *a = state;
    const struct tms_counter all[] = {
        {"slots", "most threads distinguished at the same time", a->slot_count},
        {"ends", "transactions ended", a->ends},
        {"collected", "of these, forgotten at once: no running one led to them", a->collected},
        {"visits", "variables, locks and barriers looked at when one ended", a->visits},
        {"joins", "clocks joined", a->joins},
        {"clocks", "most clocks that existed at a time", a->clocks.count - 1},
    };

    TMS_COUNTERS_PUT(counters, all);
}

static void destroy(void *state)
{
    tms_aerodrome_clear(state);
}

const struct tms_engine tms_engine_aerodrome = {
    .info =
        {
            .name = "aerodrome",
            .summary = "AeroDrome with lazy clocks, update sets and collection",
            .paper =
                "Mathur and Viswanathan, Atomicity Checking in Linear Time using Vector "
                "Clocks, ASPLOS 2020, optimised; corrected, see docs/research/engines/aerodrome.md",
            .guarantee = "exact. A violation is reported if and only if this run was not "
                         "serializable, but perhaps later than at the first event that shows "
                         "it.",
            .reports = "at the latest when all transactions of the cycle but one have ended",
            .time = "O(k) per event, O(k) per touched variable and end (k: threads)",
            .memory = "24 bytes per variable, at most two clocks of k numbers while a running "
                      "transaction leads to them",
            .flags = TMS_ENGINE_EXACT | TMS_ENGINE_BOUNDED,
            .found = TMS_VERDICT_VIOLATION,
            .clean = TMS_VERDICT_SERIALIZABLE,
        },
    .state_size = sizeof(struct tms_aerodrome),
    .create = create,
    .on =
        {
            [TMS_OP_BEGIN] = on_begin,
            [TMS_OP_END] = on_end,
            [TMS_OP_NEST] = on_step,
            [TMS_OP_UNNEST] = on_step,
            [TMS_OP_READ] = on_place,
            [TMS_OP_WRITE] = on_place,
            [TMS_OP_UPDATE] = on_place,
            [TMS_OP_ACQUIRE] = on_place,
            [TMS_OP_RELEASE] = on_place,
            [TMS_OP_SHARED_ACQUIRE] = on_place,
            [TMS_OP_SHARED_RELEASE] = on_place,
            [TMS_OP_FORK] = on_fork,
            [TMS_OP_JOIN] = on_join,
            [TMS_OP_ARRIVE] = on_place,
            [TMS_OP_DEPART] = on_place,
            [TMS_OP_STEP] = on_step,
            [TMS_OP_ESCAPE] = on_step,
            [TMS_OP_FORGET] = on_forget,
        },
    .finish = finish,
    .stats = stats,
    .destroy = destroy,
};
