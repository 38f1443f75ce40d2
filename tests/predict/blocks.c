/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine `blocks` against view.h, which tries all traces: random sets of short transactions
 * without a deadlock, everything escaped, with and without forks and joins. Prints TAP.
 *
 *   predict-blocks [SETS [SEED]]
 *
 * Two transactions: the engine must say "potential" exactly if some trace can't be serialized, and
 * each pattern that it shows must come in one that can't. Three: without a finding every trace
 * can; and with one variable there is a finding exactly if some two of them alone have a trace
 * that can't. With forks and joins, silence of the engine `reduction` means the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "blocks_subject.h"
#include "differential/trace.h"

/* ---- random sets --------------------------------------------------------------------------- */

struct shape {
    const char *title;
    enum tms_blocks blocks;
    size_t transactions;
    unsigned threads, variables, locks;
    size_t longest;           /* actions of a transaction */
    unsigned updates, shared; /* of a hundred accesses, lock operations */
    bool loose;               /* locks are given back in any order */
    bool forks;               /* threads are forked and joined */
    unsigned share;           /* one in so many sets */
};

static bool holds(const struct tms_view_action *open, size_t depth, unsigned lock)
{
    for (size_t i = 0; i < depth; i++) {
        if (open[i].target == lock) {
            return true;
        }
    }
    return false;
}

static void add_access(const struct shape *shape, uint64_t *random, struct tms_view_transaction *t)
{
    bool update = tms_random_below(random, 100) < shape->updates;
    bool read = tms_random_below(random, 2) == 0;

    t->action[t->count++] = (struct tms_view_action){
        .kind = update ? TMS_EVENT_UPDATE
                : read ? TMS_EVENT_READ
                       : TMS_EVENT_WRITE,
        .target = tms_random_below(random, shape->variables),
    };
}

/* Gives one of the open locks back: by structured locking the last. */
static void add_release(const struct shape *shape, uint64_t *random, struct tms_view_transaction *t,
                        struct tms_view_action *open, size_t depth)
{
    size_t at = shape->loose ? tms_random_below(random, (unsigned)depth) : depth - 1;

    t->action[t->count++] = open[at];
    open[at] = open[depth - 1];
}

static void make_transaction(const struct shape *shape, uint64_t *random,
                             struct tms_view_transaction *t)
{
    struct tms_view_action open[TMS_VIEW_ACTIONS];
    size_t depth = 0, length = 1 + tms_random_below(random, (unsigned)shape->longest);

    t->count = 0;
    while (t->count + depth < length) {
        unsigned choice = t->count == 0 ? tms_random_below(random, 2) : tms_random_below(random, 5);
        unsigned lock = tms_random_below(random, shape->locks);
        if (choice == 0 && t->count + depth + 3 <= length && !holds(open, depth, lock)) {
            bool shared = tms_random_below(random, 100) < shape->shared;
            open[depth] = (struct tms_view_action){
                shared ? TMS_EVENT_SHARED_RELEASE : TMS_EVENT_RELEASE, lock};
            t->action[t->count++] = (struct tms_view_action){
                shared ? TMS_EVENT_SHARED_ACQUIRE : TMS_EVENT_ACQUIRE, lock};
            depth++;
        } else if (choice == 1 && depth > 0) {
            add_release(shape, random, t, open, depth--);
        } else {
            add_access(shape, random, t);
        }
    }
    while (depth > 0) {
        add_release(shape, random, t, open, depth--);
    }
}

/* Threads that are there from the start, one transaction of each first. */
static void make_fixed(const struct shape *shape, uint64_t *random, struct tms_view_set *set)
{
    set->count = shape->transactions;
    for (size_t i = 0; i < set->count; i++) {
        bool free = shape->threads < set->count && i >= shape->threads;
        set->transaction[i].thread = free ? tms_random_below(random, shape->threads) : (unsigned)i;
        make_transaction(shape, random, &set->transaction[i]);
    }
}

enum life { ABSENT, RUNNING, JOINED };

/* One step of a running thread: it forks or joins another one, or runs a transaction. */
static void step_of(const struct shape *shape, uint64_t *random, struct tms_view_set *set,
                    unsigned thread, enum life *life)
{
    struct tms_view_transaction *t = &set->transaction[set->count];
    unsigned other = tms_random_below(random, shape->threads), choice = tms_random_below(random, 4);
    bool forks = life[other] == ABSENT && choice > 1;
    bool joins = life[other] == RUNNING && other != thread && choice == 1;

    t->thread = thread;
    if (forks || joins) {
        life[other] = forks ? RUNNING : JOINED;
        t->count = 1;
        t->action[0] = (struct tms_view_action){forks ? TMS_EVENT_FORK : TMS_EVENT_JOIN, other};
    } else {
        make_transaction(shape, random, t);
    }
    set->count++;
}

/* False if there was no room for all transactions. */
static bool make_forked(const struct shape *shape, uint64_t *random, struct tms_view_set *set)
{
    enum life life[TMS_VIEW_THREADS] = {RUNNING};
    size_t blocks = 0;

    for (unsigned i = 1; i < shape->threads; i++) {
        life[i] = tms_random_below(random, 3) == 0 ? RUNNING : ABSENT;
    }
    for (set->count = 0; blocks < shape->transactions && set->count < TMS_VIEW_TRANSACTIONS;) {
        unsigned thread = tms_random_below(random, shape->threads);
        if (life[thread] == RUNNING) {
            step_of(shape, random, set, thread, life);
            blocks += !tms_view_orders_threads(&set->transaction[set->count - 1]);
        }
    }
    return blocks == shape->transactions;
}

static void make_set(const struct shape *shape, uint64_t *random, struct tms_view_set *set)
{
    bool complete = true; /* by make_fixed always */

    do {
        if (shape->forks) {
            complete = make_forked(shape, random, set);
        } else {
            make_fixed(shape, random, set);
        }
    } while (!complete || tms_view_deadlocks(set));
}

/* ---- what must hold ------------------------------------------------------------------------ */

static size_t transaction_of(const struct tms_view_set *set, unsigned number)
{
    size_t i = 0;

    while (i + 1 < set->count && number >= tms_view_number(set, i + 1, 0)) {
        i++;
    }
    return i;
}

/* Forks and joins, and of the other transactions those that are wanted; less[i]: actions dropped
 * before transaction i. Returns how many others there are. */
static size_t restrict_set(const struct tms_view_set *set, const bool *wanted,
                           struct tms_view_set *part, unsigned *less)
{
    unsigned dropped = 0;
    size_t blocks = 0;

    part->count = 0;
    for (size_t i = 0; i < set->count; i++) {
        bool forks = tms_view_orders_threads(&set->transaction[i]);
        less[i] = dropped;
        if (forks || wanted[i]) {
            part->transaction[part->count++] = set->transaction[i];
            blocks += !forks;
        } else {
            dropped += (unsigned)set->transaction[i].count;
        }
    }
    return blocks;
}

/* The place of an event in the schedule, or its length. */
static size_t turn_of(const struct tms_finding *finding, uint64_t event)
{
    size_t i = 0;

    while (i < finding->schedule_length && finding->schedule[i].event != event) {
        i++;
    }
    return i;
}

/* A step that is no conflict: does no trace have its events the other way round? */
static bool is_ordered(const struct tms_view_set *set, const struct tms_step *step)
{
    const unsigned reversed[] = {step->second_location - TMS_LOCATION_NUMBER,
                                 step->first_location - TMS_LOCATION_NUMBER};

    return !tms_view_allows(set, reversed, 2);
}

/* Does the schedule have the events of the cycle in its order? */
static bool cycle_holds(const struct tms_view_set *set, const struct tms_finding *finding)
{
    for (size_t i = 0; i < finding->cycle_length; i++) {
        const struct tms_step *step = &finding->cycle[i];
        const struct tms_step *next = &finding->cycle[(i + 1) % finding->cycle_length];
        size_t second = turn_of(finding, step->second_event);
        if (turn_of(finding, step->first_event) >= second || second == finding->schedule_length ||
            step->to.begin_event != next->from.begin_event ||
            (step->kind == TMS_EDGE_PROGRAM_ORDER && !is_ordered(set, step))) {
            return false;
        }
    }
    return finding->cycle_length >= 2;
}

/*
 * Does the schedule occur in a trace of its transactions that no serial order explains? Cycles of
 * more than two are only promised to occur.
 */
static bool schedule_holds(const struct tms_view_set *set, const struct tms_finding *finding,
                           bool full)
{
    unsigned numbers[TMS_VIEW_NUMBERS], less[TMS_VIEW_TRANSACTIONS];
    bool used[TMS_VIEW_TRANSACTIONS] = {false};
    size_t length = finding->schedule_length;
    struct tms_view_set part;

    if (length > TMS_VIEW_NUMBERS || !cycle_holds(set, finding)) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        numbers[i] = finding->schedule[i].location - TMS_LOCATION_NUMBER;
        used[transaction_of(set, numbers[i])] = true;
    }
    size_t blocks = restrict_set(set, used, &part, less);
    for (size_t i = 0; i < length; i++) {
        numbers[i] -= less[transaction_of(set, numbers[i])];
    }
    return full && blocks > 2 ? tms_view_allows(&part, numbers, length)
                              : tms_view_refutes(&part, numbers, length);
}

static bool schedules_hold(const struct tms_view_set *set, const struct tms_subject *subject,
                           bool full)
{
    for (size_t i = 0; i < subject->result->finding_count; i++) {
        if (!schedule_holds(set, &subject->result->findings[i], full)) {
            return false;
        }
    }
    return true;
}

/* Have some two transactions of different threads, alone, a trace that can't be serialized? */
static bool some_pair_refuted(const struct tms_view_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        for (size_t j = i + 1; j < set->count; j++) {
            unsigned less[TMS_VIEW_TRANSACTIONS];
            bool wanted[TMS_VIEW_TRANSACTIONS] = {false};
            struct tms_view_set pair;
            wanted[i] = wanted[j] = true;
            if (set->transaction[i].thread != set->transaction[j].thread &&
                restrict_set(set, wanted, &pair, less) == 2 && !tms_view_atomic(&pair)) {
                return true;
            }
        }
    }
    return false;
}

struct tally {
    size_t refuted, clean, spared; /* spared: a finding, and yet all traces can be serialized */
};

/* Checks that apply only to properly nested locks. NULL, or the fault. */
static const char *judge_exactness(const struct shape *shape, const struct tms_view_set *set,
                                   const struct tms_subject *subject, bool atomic)
{
    if (shape->transactions == 2 && tms_subject_found(subject) && atomic) {
        return "a finding, and all traces can be serialized";
    }
    if (shape->blocks == TMS_BLOCKS_1V && tms_subject_found(subject) != some_pair_refuted(set)) {
        return "a finding, and no two alone have a trace that can't be serialized, or the opposite";
    }
    if (!schedules_hold(set, subject, shape->blocks == TMS_BLOCKS_FULL)) {
        return "a schedule that can't come, or that can be serialized";
    }
    return NULL;
}

/* The test of `reduction` itself (theorem.h) has no forks and joins. */
static bool reduction_is_silent(const struct tms_view_set *set)
{
    struct tms_subject subject = tms_subject_of_set(set, "reduction", TMS_BLOCKS_1V);
    bool silent = !tms_subject_found(&subject);

    tms_subject_clear(&subject);
    return silent;
}

/* NULL, or the fault. */
static const char *judge(const struct shape *shape, const struct tms_view_set *set,
                         const struct tms_subject *subject, struct tally *tally)
{
    bool atomic = tms_view_atomic(set);

    tally->refuted += tms_subject_found(subject);
    tally->clean += !tms_subject_found(subject);
    tally->spared += tms_subject_found(subject) && atomic;
    if (!subject->result->complete) {
        return "the engine gave up";
    }
    if (!tms_subject_found(subject) && !atomic) {
        return "no finding, and a trace that can't be serialized";
    }
    if (shape->forks && !atomic && reduction_is_silent(set)) {
        return "no finding by reduction, and a trace that can't be serialized";
    }
    return shape->loose ? NULL : judge_exactness(shape, set, subject, atomic);
}

/* Both answers must come often, or the test shows little. */
static void run_shape(const struct shape *shape, size_t sets, uint64_t seed)
{
    struct tally tally = {0};
    struct tms_view_set set;

    for (size_t i = 0; i < sets; i++) {
        uint64_t random = seed + i;
        make_set(shape, &random, &set);
        struct tms_subject subject = tms_subject_of_set(&set, "blocks", shape->blocks);
        const char *wrong = judge(shape, &set, &subject, &tally);
        tms_subject_clear(&subject);
        if (wrong != NULL) {
            tms_tap(false, "%s: %s (seed %llu)", shape->title, wrong,
                    (unsigned long long)(seed + i));
            tms_view_print(&set);
            return;
        }
    }
    tms_tap(tally.refuted >= sets / 10 && tally.clean >= sets / 10,
            "%s: %zu sets, %zu with a finding (%zu of them can be serialized)", shape->title, sets,
            tally.refuted, tally.spared);
}

static const struct shape shapes[] = {
    {"1v, two transactions, one variable", TMS_BLOCKS_1V, 2, 2, 1, 2, 7, 0, 0, false, false, 1},
    {"1v, with atomics and shared locks", TMS_BLOCKS_1V, 2, 2, 1, 2, 7, 20, 40, false, false, 1},
    {"1v, with locks given back in any order", TMS_BLOCKS_1V, 2, 2, 1, 3, 9, 10, 20, true, false,
     1},
    {"2v, two transactions, two variables", TMS_BLOCKS_2V, 2, 2, 2, 2, 7, 0, 0, false, false, 1},
    {"2v, two transactions, three variables", TMS_BLOCKS_2V, 2, 2, 3, 3, 7, 0, 0, false, false, 1},
    {"2v, with atomics and shared locks", TMS_BLOCKS_2V, 2, 2, 3, 3, 7, 20, 40, false, false, 1},
    {"2v, with locks given back in any order", TMS_BLOCKS_2V, 2, 2, 3, 3, 9, 10, 20, true, false,
     1},
    {"1v, three transactions of three threads", TMS_BLOCKS_1V, 3, 3, 1, 2, 4, 0, 0, false, false,
     1},
    {"1v, three transactions of two threads", TMS_BLOCKS_1V, 3, 2, 1, 2, 4, 10, 20, false, false,
     1},
    {"full, three transactions of three threads", TMS_BLOCKS_FULL, 3, 3, 3, 2, 4, 0, 0, false,
     false, 1},
    {"full, three transactions of two threads", TMS_BLOCKS_FULL, 3, 2, 3, 2, 4, 10, 20, false,
     false, 1},
    {"full, four transactions of four threads", TMS_BLOCKS_FULL, 4, 4, 5, 2, 3, 0, 0, false, false,
     10},
    {"full, four transactions of three threads", TMS_BLOCKS_FULL, 4, 3, 4, 2, 3, 0, 0, false, false,
     10},
    {"1v, fork and join, two transactions", TMS_BLOCKS_1V, 2, 3, 1, 2, 7, 10, 20, false, true, 1},
    {"1v, fork and join, three transactions", TMS_BLOCKS_1V, 3, 3, 1, 2, 4, 10, 20, false, true, 1},
    {"2v, fork and join, two transactions", TMS_BLOCKS_2V, 2, 3, 2, 2, 7, 10, 20, false, true, 1},
    {"full, fork and join, three transactions", TMS_BLOCKS_FULL, 3, 3, 3, 2, 4, 10, 20, false, true,
     1},
    {"full, fork and join, four transactions", TMS_BLOCKS_FULL, 4, 4, 3, 2, 3, 0, 0, false, true,
     4},
};

int main(int count, char **arguments)
{
    size_t sets = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000;
    uint64_t seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;

    tms_blocks_goldens();
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        run_shape(&shapes[i], sets / shapes[i].share, seed);
    }
    return tms_tap_end();
}
