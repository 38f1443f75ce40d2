/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine `blocks` against view.h, which tries all traces: random sets of short transactions
 * without a deadlock, everything escaped, no periods to keep apart. Prints TAP.
 *
 *   predict-blocks [SETS [SEED]]
 *
 * Two transactions: the engine must say "potential" exactly if some trace can't be serialized, and
 * each pattern that it shows must come in one that can't. Three: without a finding every trace
 * can; and with one variable there is a finding exactly if some two of them alone have a trace
 * that can't.
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
    unsigned share;           /* one of so many sets */
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

static void make_set(const struct shape *shape, uint64_t *random, struct tms_view_set *set)
{
    do {
        set->count = shape->transactions;
        for (size_t i = 0; i < set->count; i++) {
            bool free = shape->threads < set->count && i >= shape->threads;
            set->transaction[i].thread =
                free ? tms_random_below(random, shape->threads) : (unsigned)i;
            make_transaction(shape, random, &set->transaction[i]);
        }
    } while (tms_view_deadlocks(set));
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

/* The set without the transactions that the schedule leaves out; its numbers in that set. */
static void restrict_set(const struct tms_view_set *set, const struct tms_finding *finding,
                         struct tms_view_set *part, unsigned *numbers)
{
    bool used[TMS_VIEW_TRANSACTIONS] = {false};
    unsigned less[TMS_VIEW_TRANSACTIONS] = {0}, dropped = 0;

    for (size_t i = 0; i < finding->schedule_length; i++) {
        numbers[i] = finding->schedule[i].location - TMS_LOCATION_NUMBER;
        used[transaction_of(set, numbers[i])] = true;
    }
    part->count = 0;
    for (size_t i = 0; i < set->count; i++) {
        less[i] = dropped;
        if (used[i]) {
            part->transaction[part->count++] = set->transaction[i];
        } else {
            dropped += (unsigned)set->transaction[i].count;
        }
    }
    for (size_t i = 0; i < finding->schedule_length; i++) {
        numbers[i] -= less[transaction_of(set, numbers[i])];
    }
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

/* Does the schedule have the events of the cycle in its order? */
static bool cycle_holds(const struct tms_finding *finding)
{
    for (size_t i = 0; i < finding->cycle_length; i++) {
        const struct tms_step *step = &finding->cycle[i];
        const struct tms_step *next = &finding->cycle[(i + 1) % finding->cycle_length];
        size_t second = turn_of(finding, step->second_event);
        if (turn_of(finding, step->first_event) >= second || second == finding->schedule_length ||
            step->to.begin_event != next->from.begin_event) {
            return false;
        }
    }
    return finding->cycle_length >= 2;
}

/*
 * Does the schedule come in a trace of its transactions that no serial order explains? Cycles of
 * more than two are only promised to come.
 */
static bool schedule_holds(const struct tms_view_set *set, const struct tms_finding *finding,
                           bool full)
{
    unsigned numbers[TMS_VIEW_NUMBERS];
    struct tms_view_set part;

    if (finding->schedule_length > TMS_VIEW_NUMBERS || !cycle_holds(finding)) {
        return false;
    }
    restrict_set(set, finding, &part, numbers);
    return full && part.count > 2 ? tms_view_allows(&part, numbers, finding->schedule_length)
                                  : tms_view_refutes(&part, numbers, finding->schedule_length);
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
            struct tms_view_set pair = {2, {set->transaction[i], set->transaction[j]}};
            if (pair.transaction[0].thread != pair.transaction[1].thread &&
                !tms_view_atomic(&pair)) {
                return true;
            }
        }
    }
    return false;
}

struct tally {
    size_t refuted, clean, spared; /* spared: a finding, and yet all traces can be serialized */
};

/* What holds only if locks are taken and given back inside each other. NULL, or what is wrong. */
static const char *judge_exactness(const struct shape *shape, const struct tms_view_set *set,
                                   const struct tms_subject *subject, bool atomic)
{
    if (set->count == 2 && tms_subject_found(subject) && atomic) {
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

/* NULL, or what is wrong. */
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
    {"1v, two transactions, one variable", TMS_BLOCKS_1V, 2, 2, 1, 2, 7, 0, 0, false, 1},
    {"1v, with atomics and shared locks", TMS_BLOCKS_1V, 2, 2, 1, 2, 7, 20, 40, false, 1},
    {"1v, with locks given back in any order", TMS_BLOCKS_1V, 2, 2, 1, 3, 9, 10, 20, true, 1},
    {"2v, two transactions, two variables", TMS_BLOCKS_2V, 2, 2, 2, 2, 7, 0, 0, false, 1},
    {"2v, two transactions, three variables", TMS_BLOCKS_2V, 2, 2, 3, 3, 7, 0, 0, false, 1},
    {"2v, with atomics and shared locks", TMS_BLOCKS_2V, 2, 2, 3, 3, 7, 20, 40, false, 1},
    {"2v, with locks given back in any order", TMS_BLOCKS_2V, 2, 2, 3, 3, 9, 10, 20, true, 1},
    {"1v, three transactions of three threads", TMS_BLOCKS_1V, 3, 3, 1, 2, 4, 0, 0, false, 1},
    {"1v, three transactions of two threads", TMS_BLOCKS_1V, 3, 2, 1, 2, 4, 10, 20, false, 1},
    {"full, three transactions of three threads", TMS_BLOCKS_FULL, 3, 3, 3, 2, 4, 0, 0, false, 1},
    {"full, three transactions of two threads", TMS_BLOCKS_FULL, 3, 2, 3, 2, 4, 10, 20, false, 1},
    {"full, four transactions of four threads", TMS_BLOCKS_FULL, 4, 4, 5, 2, 3, 0, 0, false, 10},
    {"full, four transactions of three threads", TMS_BLOCKS_FULL, 4, 3, 4, 2, 3, 0, 0, false, 10},
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
