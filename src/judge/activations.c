/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activations: which blocks are open, which of them are busy, and how often each function ran. See
 * judge.h for the nodes that outlive them.
 */
#include <assert.h>
#include <string.h>

#include "judge/pools.h"

#define NODES_LEAST 65536 /* so many may be in use before the first sweep */

TMS_JUDGE_DEFINE_POOL(node, nodes, parent)
TMS_JUDGE_DEFINE_POOL(cut, cuts, next)

struct tms_judge_thread *tms_judge_thread(struct tms_judge *judge, uint32_t thread)
{
    if (!TMS_RESERVE(judge->memory, &judge->threads, &judge->thread_capacity, (size_t)thread + 1,
                     16)) {
        judge->failed = true;
        return NULL;
    }
    return &judge->threads[thread];
}

/* ---- functions ------------------------------------------------------------------------------ */

static uint32_t function_of(struct tms_judge *judge, uint32_t label)
{
    if (!TMS_RESERVE(judge->memory, &judge->function_of, &judge->label_capacity, (size_t)label + 1,
                     64)) {
        judge->failed = true;
        return 0;
    }
    if (judge->function_of[label] == 0) {
        uint32_t function = judge->port.function_of(judge->port.user, label);
        if (!TMS_RESERVE(judge->memory, &judge->functions, &judge->function_capacity,
                         (size_t)function + 1, 64)) {
            judge->failed = true;
            return 0;
        }
        if (function >= judge->function_count) {
            judge->function_count = (size_t)function + 1;
        }
        if (judge->functions[function].label == 0) {
            judge->functions[function].label = label;
        }
        judge->function_of[label] = function;
    }
    return judge->function_of[label];
}

/* ---- blocks --------------------------------------------------------------------------------- */

void tms_judge_open(struct tms_judge *judge, uint32_t thread, uint32_t label, uint8_t source,
                    uint64_t event, uint32_t location)
{
    struct tms_judge_thread *t = tms_judge_thread(judge, thread);
    uint32_t function = function_of(judge, label);

    if (judge->node_live >= judge->node_limit) {
        tms_judge_sweep(judge);
    }
    uint32_t number = judge->failed ? 0 : tms_judge_take_node(judge);
    if (number == 0 ||
        !TMS_RESERVE(judge->memory, &t->open, &t->open_capacity, t->open_count + 1, 8)) {
        judge->failed = true;
        return;
    }
    judge->node_live++;
    uint32_t parent = t->open_count > 0 ? t->open[t->open_count - 1].node : 0;
    judge->nodes.at[number] = (struct tms_judge_node){.begin = event,
                                                      .label = label,
                                                      .location = location,
                                                      .thread = thread,
                                                      .function = function,
                                                      .parent = parent,
                                                      .used = true};
    t->open[t->open_count++] =
        (struct tms_judge_open){number, source, t->acquires, t->synchronised};
    judge->functions[function].executions++;
}

/* It acquired many locks, and did most of what its thread has done. */
static bool is_most(const struct tms_judge_thread *t, const struct tms_judge_open *open)
{
    uint64_t synchronised = t->synchronised - open->synchronised;

    return t->acquires - open->acquires > TMS_JUDGE_MANY && 2 * synchronised > t->synchronised;
}

static void close_at(struct tms_judge *judge, struct tms_judge_thread *t, size_t at, uint64_t event)
{
    const struct tms_judge_open *open = &t->open[at];
    struct tms_judge_node *node = &judge->nodes.at[open->node];
    struct tms_judge_function *function = &judge->functions[node->function];

    node->end = event;
    function->ended++;
    function->same += at < t->busy;
    function->busy += at < t->busy || is_most(t, open);
    function->counted += !node->delayed;
    function->counted_cut += !node->delayed && node->cuts != 0;
    t->busy -= at < t->busy;
    t->open_count--;
    memmove(&t->open[at], &t->open[at + 1], (t->open_count - at) * sizeof(*t->open));
    if (t->open_count == 0) {
        tms_judge_rendezvous(judge, node->thread, event); /* nothing is left to be cut */
    }
}

/* The innermost of that source, counted from 1; 0: there is none. */
static size_t innermost(const struct tms_judge_thread *t, uint8_t source)
{
    size_t at = t->open_count;

    while (at > 0 && t->open[at - 1].source != source) {
        at--;
    }
    return at;
}

void tms_judge_close(struct tms_judge *judge, uint32_t thread, uint8_t source, uint64_t event)
{
    struct tms_judge_thread *t = tms_judge_thread(judge, thread);
    size_t at = t != NULL ? innermost(t, source) : 0;

    if (at > 0) {
        close_at(judge, t, at - 1, event);
    }
}

void tms_judge_change(struct tms_judge *judge, uint32_t thread, uint8_t source, uint8_t other)
{
    struct tms_judge_thread *t = tms_judge_thread(judge, thread);
    size_t at = t != NULL ? innermost(t, source) : 0;

    if (at > 0) {
        t->open[at - 1].source = other;
    }
}

void tms_judge_close_all(struct tms_judge *judge, uint32_t thread, uint64_t event)
{
    struct tms_judge_thread *t = tms_judge_thread(judge, thread);

    while (t != NULL && t->open_count > 0) {
        close_at(judge, t, t->open_count - 1, event);
    }
}

void tms_judge_delay(struct tms_judge *judge, uint32_t thread)
{
    struct tms_judge_thread *t = tms_judge_thread(judge, thread);

    for (size_t i = 0; t != NULL && i < t->open_count; i++) {
        judge->nodes.at[t->open[i].node].delayed = true;
    }
}

uint32_t tms_judge_block(const struct tms_judge *judge, const struct tms_judge_thread *thread,
                         uint64_t event)
{
    for (size_t at = thread->open_count; at > 0; at--) {
        uint32_t node = thread->open[at - 1].node;
        if (judge->nodes.at[node].begin < event) {
            return node;
        }
    }
    return 0;
}

uint32_t tms_judge_common(const struct tms_judge *judge, const struct tms_judge_foreign *first,
                          const struct tms_judge_foreign *second)
{
    uint32_t number = second->node;

    assert(first->thread == second->thread && first->event < second->event);
    while (number != 0) {
        const struct tms_judge_node *node = &judge->nodes.at[number];
        if (node->begin < first->event && (node->end == 0 || node->end > second->event)) {
            return number;
        }
        number = node->parent;
    }
    return 0;
}

/* ---- who is busy ---------------------------------------------------------------------------- */

static uint64_t use_key(uint32_t thread, uint32_t target, bool lock)
{
    return (uint64_t)thread << 33 | (uint64_t)target << 1 | lock;
}

static uint64_t use_hash(const struct tms_judge *judge, uint32_t number)
{
    return tms_mix(0, judge->uses.at[number].key);
}

struct tms_judge_use *tms_judge_use(struct tms_judge *judge, uint32_t thread, uint32_t target,
                                    bool lock)
{
    struct tms_judge_index *index = &judge->use_index;
    uint64_t key = use_key(thread, target, lock);

    if (!tms_judge_index_room(judge, index, use_hash)) {
        return NULL;
    }
    size_t at = tms_judge_index_start(index, tms_mix(0, key));
    while (index->slot[at] != 0 && judge->uses.at[index->slot[at]].key != key) {
        at = (at + 1) & (index->size - 1);
    }
    if (index->slot[at] == 0) {
        if (!TMS_RESERVE(judge->memory, &judge->uses.at, &judge->uses.capacity,
                         judge->uses.count + 2, 64)) {
            judge->failed = true;
            return NULL;
        }
        index->slot[at] = (uint32_t)++judge->uses.count;
        index->count++;
        judge->uses.at[index->slot[at]] = (struct tms_judge_use){.key = key};
    }
    return &judge->uses.at[index->slot[at]];
}

/* All that began before the first of the last five times have done it too often. */
void tms_judge_used(struct tms_judge *judge, uint32_t thread, uint32_t target, bool lock,
                    uint64_t event)
{
    const unsigned ring = TMS_JUDGE_SAME + 1;
    struct tms_judge_thread *t = tms_judge_thread(judge, thread);
    struct tms_judge_use *use = t != NULL ? tms_judge_use(judge, thread, target, lock) : NULL;

    if (use == NULL) {
        return;
    }
    use->last[use->count++ % ring] = event;
    if (use->count < ring) {
        return;
    }
    uint64_t first = use->last[use->count % ring];
    while (t->busy < t->open_count && judge->nodes.at[t->open[t->busy].node].begin < first) {
        t->busy++;
    }
    use->count = ring + use->count % ring; /* so that it never overflows */
}

bool tms_judge_is_busy(const struct tms_judge *judge, uint32_t function)
{
    const struct tms_judge_function *counts = &judge->functions[function];

    return 2 * counts->busy > counts->ended;
}

bool tms_judge_is_interleaved(const struct tms_judge *judge, uint32_t function)
{
    const struct tms_judge_function *counts = &judge->functions[function];

    return 2 * counts->same > counts->ended || counts->counted < 4 ||
           2 * counts->counted_cut >= counts->counted;
}

/* ---- sweeping ------------------------------------------------------------------------------- */

/* Those around a node stay as well. */
static void mark(struct tms_judge *judge, uint32_t node)
{
    while (node != 0 && !judge->nodes.at[node].marked) {
        judge->nodes.at[node].marked = true;
        node = judge->nodes.at[node].parent;
    }
}

static void mark_cases(struct tms_judge *judge, uint32_t number)
{
    for (; number != 0; number = judge->cases.at[number].next) {
        const struct tms_judge_case *open = &judge->cases.at[number];
        mark(judge, open->block);
        for (size_t i = 0; i < 2; i++) {
            mark(judge, open->own[i].node);
            mark(judge, open->foreign[i].node);
        }
    }
}

static void mark_record(struct tms_judge *judge, const struct tms_judge_record *record)
{
    mark(judge, record->step.node);
    mark(judge, record->first_read.node);
    mark(judge, record->first_write.node);
    mark(judge, record->skip.node);
    mark(judge, record->skipped.node);
    for (uint32_t at = record->reads; at != 0; at = judge->reads.at[at].next) {
        mark(judge, judge->reads.at[at].access.node);
    }
    mark_cases(judge, record->open);
}

static void mark_all(struct tms_judge *judge)
{
    for (size_t i = 0; i < judge->cell_capacity; i++) {
        mark(judge, judge->cells[i].last.node);
        mark(judge, judge->cells[i].write_node);
    }
    for (size_t i = 1; i <= judge->records.count; i++) {
        mark_record(judge, &judge->records.at[i]);
    }
    for (size_t i = 0; i < judge->thread_capacity; i++) {
        const struct tms_judge_thread *t = &judge->threads[i];
        if (t->open_count > 0) {
            mark(judge, t->open[t->open_count - 1].node);
        }
        for (size_t k = 0; k < t->open_count; k++) {
            mark(judge, t->open[k].node);
        }
    }
}

static void free_node(struct tms_judge *judge, uint32_t number)
{
    uint32_t next;

    for (uint32_t cut = judge->nodes.at[number].cuts; cut != 0; cut = next) {
        next = judge->cuts.at[cut].next;
        tms_judge_give_cut(judge, cut);
    }
    judge->nodes.at[number] = (struct tms_judge_node){0};
    tms_judge_give_node(judge, number);
    judge->node_live--;
}

void tms_judge_sweep(struct tms_judge *judge)
{
    mark_all(judge);
    for (uint32_t i = 1; i <= judge->nodes.count; i++) {
        struct tms_judge_node *node = &judge->nodes.at[i];
        if (node->used && !node->marked) {
            free_node(judge, i);
        }
        node->marked = false;
    }
    judge->node_limit = 2 * judge->node_live + judge->cell_capacity + NODES_LEAST;
}
