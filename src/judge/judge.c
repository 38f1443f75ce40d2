/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of a judge; see judge.h. */
#include "judge/judge.h"

#include <assert.h>

#include "judge/step_records.h"

void tms_judge_init(struct tms_judge *judge, struct tms_memory *memory,
                    const struct tms_judge_port *port)
{
    assert(memory != NULL && port->object_of != NULL && judge->records.count == 0);
    judge->memory = memory;
    judge->port = *port;
    judge->enough = TMS_JUDGE_SETTLED_AFTER;
}

/* Reads that no write has followed are plain reads. */
void tms_judge_decide_open(struct tms_judge *judge)
{
    for (uint32_t i = 1; i <= judge->records.count; i++) {
        tms_judge_settle(judge, i, tms_judge_reads_only, NULL);
    }
}

/* ---- copies of running threads -------------------------------------------------------------- */

/* Is the node, if there is one, still open? The thread may just have ended it. */
static bool has_open_node(const struct tms_judge *judge, const struct tms_judge_open *open)
{
    if (open->node == 0 || open->node > judge->nodes.count) {
        return open->node == 0;
    }
    return judge->nodes.at[open->node].used && judge->nodes.at[open->node].end == 0;
}

/*
 * Is the index-th activation one that can be ended? If the list was shifted while it was copied, it
 * may have one twice.
 */
static bool is_open(const struct tms_judge *judge, const struct tms_judge_thread *copy,
                    size_t index)
{
    const struct tms_judge_open *open = &copy->open[index];
    bool good = open->function < copy->function_capacity && has_open_node(judge, open);

    for (size_t i = 0; good && open->node != 0 && i < index; i++) {
        good = copy->open[i].node != open->node;
    }
    return good;
}

/* Counts the open activations of the copy as ended, or takes that back. False: too many are open.
 */
static bool count_open(const struct tms_judge_thread *copy, size_t count, int ended)
{
    bool good = true;

    for (size_t i = 0; i < count; i++) {
        struct tms_judge_function *function = &copy->functions[copy->open[i].function];
        function->ended += (uint64_t)ended;
        good = good && function->ended <= function->executions;
    }
    return good;
}

/* A copy of a running thread is torn if its counts or its activations contradict each other. */
static bool is_consistent(const struct tms_judge *judge, const struct tms_judge_thread *copy)
{
    bool good = copy->open_count <= copy->open_capacity && copy->busy <= copy->open_count &&
                copy->settled <= copy->busy;

    for (size_t i = 0; good && i < copy->open_count; i++) {
        good = is_open(judge, copy, i);
    }
    for (size_t i = 0; good && i < copy->function_capacity; i++) {
        const struct tms_judge_function *counts = &copy->functions[i];
        good = counts->ended <= counts->executions && counts->same <= counts->ended &&
               counts->busy <= counts->ended && counts->counted <= counts->ended;
    }
    if (good) {
        good = count_open(copy, copy->open_count, 1);
        count_open(copy, copy->open_count, -1);
    }
    return good;
}

static uint64_t at_most(uint64_t number, uint64_t most)
{
    return number < most ? number : most;
}

/* Lowers counts to the largest ones that do not contradict each other. */
static void repair_counts(struct tms_judge_function *counts)
{
    counts->ended = at_most(counts->ended, counts->executions);
    counts->same = at_most(counts->same, counts->ended);
    counts->busy = at_most(counts->busy, counts->ended);
    counts->counted = at_most(counts->counted, counts->ended);
}

static bool has_room(const struct tms_judge_thread *copy, const struct tms_judge_open *open)
{
    const struct tms_judge_function *counts = &copy->functions[open->function];

    return counts->ended < counts->executions;
}

/* Leaves out activations that can't be ended, or more of a function than were open. */
static void repair_open(const struct tms_judge *judge, struct tms_judge_thread *copy)
{
    size_t kept = 0, count = at_most(copy->open_count, copy->open_capacity);

    for (size_t i = 0; i < count; i++) {
        copy->open[kept] = copy->open[i];
        if (is_open(judge, copy, kept) && has_room(copy, &copy->open[kept])) {
            copy->functions[copy->open[kept++].function].ended++;
        }
    }
    count_open(copy, kept, -1);
    copy->open_count = kept;
    copy->busy = at_most(copy->busy, kept);
    copy->settled = at_most(copy->settled, copy->busy);
}

void tms_judge_repair_copy(const struct tms_judge *judge, struct tms_judge_thread *copy)
{
    for (size_t i = 0; i < copy->function_capacity; i++) {
        repair_counts(&copy->functions[i]);
    }
    repair_open(judge, copy);
    assert(is_consistent(judge, copy));
}

bool tms_judge_finish_copy(struct tms_judge *judge, struct tms_judge_thread *copy, uint64_t event)
{
    if (!is_consistent(judge, copy)) {
        return false;
    }
    copy->taken_over_count = 0; /* that list is the thread's own */
    tms_judge_close_all(judge, copy, event);
    for (size_t i = 0; i < copy->function_capacity; i++) {
        if (copy->functions[i].executions > 0) {
            tms_judge_add_function(judge, (uint32_t)i, &copy->functions[i]);
        }
    }
    return true;
}

static void free_thread(struct tms_judge *judge, struct tms_judge_thread *t)
{
    tms_judge_release_thread(judge, t);
    tms_judge_threads_remove(&judge->threads, judge->memory, t->id);
    tms_release(judge->memory, t, 1, sizeof(*t));
}

void tms_judge_finish(struct tms_judge *judge, uint64_t event)
{
    struct tms_judge_thread *t;
    uint32_t id = 0;

    tms_judge_decide_open(judge);
    while ((t = tms_judge_threads_from(&judge->threads, &id)) != NULL) {
        tms_judge_close_all(judge, t, event + 1);
        assert(t->open_count == 0);
        free_thread(judge, t);
    }
}

#define RELEASE(judge, pool)                                                                       \
    tms_release((judge)->memory, (judge)->pool.at, (judge)->pool.capacity,                         \
                sizeof(*(judge)->pool.at))

static void clear_threads(struct tms_judge *judge)
{
    struct tms_judge_thread *t;
    uint32_t id = 0;

    while ((t = tms_judge_threads_from(&judge->threads, &id)) != NULL) {
        free_thread(judge, t);
    }
    while (judge->ended != NULL) {
        struct tms_judge_thread *next = judge->ended->next;
        tms_release(judge->memory, judge->ended, 1, sizeof(*judge->ended));
        judge->ended = next;
    }
    tms_judge_threads_clear(&judge->threads, judge->memory);
}

void tms_judge_clear(struct tms_judge *judge)
{
    struct tms_memory *memory = judge->memory;

    for (size_t i = 1; i <= judge->evidence.count; i++) {
        struct tms_judge_evidence *evidence = &judge->evidence.at[i];
        tms_release(memory, evidence->outer, evidence->outer_capacity, sizeof(*evidence->outer));
    }
    clear_threads(judge);
    tms_release(memory, judge->cells, judge->cell_capacity, sizeof(*judge->cells));
    tms_release(memory, judge->objects, judge->object_capacity, sizeof(*judge->objects));
    tms_release(memory, judge->function_of, judge->label_capacity, sizeof(*judge->function_of));
    tms_release(memory, judge->functions, judge->function_capacity, sizeof(*judge->functions));
    RELEASE(judge, records);
    RELEASE(judge, reads);
    RELEASE(judge, cases);
    RELEASE(judge, nodes);
    RELEASE(judge, cuts);
    RELEASE(judge, sites);
    RELEASE(judge, findings);
    RELEASE(judge, evidence);
    tms_hashtable_clear(&judge->site_index, memory);
    tms_hashtable_clear(&judge->waiting, memory);
    tms_hashtable_clear(&judge->finding_index, memory);
}
