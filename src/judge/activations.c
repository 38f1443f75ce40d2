/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activations: which blocks are open, which of them are busy, and how often each function ran. See
 * judge.h for the nodes that outlive them.
 */
#include <assert.h>
#include <string.h>

#include "judge/judge_pools.h"

#define NODES_LEAST 16384 /* nodes in use before the first sweep */

TMS_JUDGE_DEFINE_POOL(node, nodes, parent)
TMS_JUDGE_DEFINE_POOL(cut, cuts, next)

static struct tms_judge_thread *new_thread(struct tms_judge *judge, uint32_t id)
{
    struct tms_judge_thread *t = judge->ended;

    if (t != NULL) {
        judge->ended = t->next;
    } else if ((t = tms_resize(judge->memory, NULL, 0, 1, sizeof(*t))) == NULL) {
        judge->failed = true;
        return NULL;
    }
    assert(atomic_load(&t->cleared) == TMS_JUDGE_NOTHING_KEPT || t->next == NULL);
    atomic_store_explicit(&t->cleared, TMS_JUDGE_NOTHING_KEPT, memory_order_relaxed);
    memset(&t->stretch, 0, sizeof(*t) - offsetof(struct tms_judge_thread, stretch));
    t->id = id;
    return t;
}

struct tms_judge_thread *tms_judge_thread(struct tms_judge *judge, uint32_t id)
{
    struct tms_judge_thread *t = tms_judge_thread_at(&judge->threads, id);

    if (t == NULL && (t = new_thread(judge, id)) != NULL &&
        !tms_judge_threads_add(&judge->threads, judge->memory, id, t)) {
        judge->failed = true;
        t->next = judge->ended;
        judge->ended = t;
        return NULL;
    }
    assert(t == NULL || t->id == id);
    return t;
}

static void sum_up(struct tms_judge *judge, struct tms_judge_thread *t)
{
    for (size_t i = 0; i < t->function_capacity; i++) {
        if (t->functions[i].executions > 0) {
            tms_judge_add_function(judge, (uint32_t)i, &t->functions[i]);
        }
    }
    tms_release(judge->memory, t->functions, t->function_capacity, sizeof(*t->functions));
    t->functions = NULL;
    t->function_capacity = 0;
}

void tms_judge_release_thread(struct tms_judge *judge, struct tms_judge_thread *t)
{
    struct tms_memory *memory = judge->memory;

    sum_up(judge, t);
    tms_release(memory, t->open, t->open_capacity, sizeof(*t->open));
    tms_release(memory, t->held, t->held_capacity, sizeof(*t->held));
    tms_release(memory, t->holds, t->hold_capacity, sizeof(*t->holds));
    tms_release(memory, t->uses.at, t->uses.capacity, sizeof(*t->uses.at));
    tms_hashtable_clear(&t->use_index, memory);
}

/* Others read only `cleared` without the lock, and it stays unchanged. */
void tms_judge_end_thread(struct tms_judge *judge, struct tms_judge_thread *t, uint64_t event)
{
    tms_judge_close_all(judge, t, event);
    tms_judge_rendezvous(judge, t, event);
    tms_judge_guard(judge, true);
    tms_judge_release_thread(judge, t);
    assert(tms_judge_thread_at(&judge->threads, t->id) == t && t->open_count == 0);
    tms_judge_threads_remove(&judge->threads, judge->memory, t->id);
    t->next = judge->ended;
    judge->ended = t;
    tms_judge_guard(judge, false);
}

/* ---- functions ------------------------------------------------------------------------------ */

static uint32_t ask_function(struct tms_judge *judge, uint32_t label)
{
    if (!TMS_RESERVE(judge->memory, &judge->function_of, &judge->label_capacity, (size_t)label + 1,
                     64)) {
        judge->failed = true;
        return 0;
    }
    if (judge->function_of[label] == 0) {
        judge->function_of[label] = judge->port.function_of(judge->port.user, label);
    }
    return judge->function_of[label];
}

/* The counts of the thread for the function of a label; NULL if out of memory. */
static struct tms_judge_function *counts_of(struct tms_judge *judge, struct tms_judge_thread *t,
                                            uint32_t label, uint32_t *function)
{
    *function = judge->port.function_of != NULL ? ask_function(judge, label) : label;
    if (judge->failed || !TMS_RESERVE(judge->memory, &t->functions, &t->function_capacity,
                                      (size_t)*function + 1, 64)) {
        judge->failed = true;
        return NULL;
    }
    struct tms_judge_function *counts = &t->functions[*function];
    counts->label = counts->label == 0 ? label : counts->label;
    return counts;
}

bool tms_judge_add_function(struct tms_judge *judge, uint32_t function,
                            const struct tms_judge_function *counts)
{
    if (!TMS_RESERVE(judge->memory, &judge->functions, &judge->function_capacity,
                     (size_t)function + 1, 64)) {
        judge->failed = true;
        return false;
    }
    if (function >= judge->function_count) {
        judge->function_count = (size_t)function + 1;
    }
    struct tms_judge_function *sum = &judge->functions[function];
    sum->executions += counts->executions;
    sum->same += counts->same;
    sum->busy += counts->busy;
    sum->ended += counts->ended;
    sum->counted += counts->counted;
    sum->counted_cut += counts->counted_cut;
    sum->label = sum->label == 0 ? counts->label : sum->label;
    assert(judge->function_count <= judge->function_capacity);
    return true;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static uint32_t make_node(struct tms_judge *judge, const struct tms_judge_thread *t, size_t at)
{
    struct tms_judge_open *open = &t->open[at];

    assert(at < t->open_count && open->node == 0);
    if (judge->node_live >= judge->node_limit) {
        tms_judge_sweep(judge);
    }
    uint32_t number = judge->failed ? 0 : tms_judge_take_node(judge);
    if (number == 0) {
        return 0;
    }
    judge->node_live++;
    judge->nodes.at[number] = (struct tms_judge_node){.begin = open->begin,
                                                      .label = open->label,
                                                      .location = open->location,
                                                      .thread = t->id,
                                                      .function = open->function,
                                                      .parent = at > 0 ? t->open[at - 1].node : 0,
                                                      .used = true};
    open->node = number;
    return number;
}

/*
 * The node of the activation at an index of the stack; makes it and those of the enclosing
 * activations.
 */
static uint32_t node_at(struct tms_judge *judge, struct tms_judge_thread *t, size_t at)
{
    size_t from = at + 1;

    assert(at < t->open_count);
    while (from > 0 && t->open[from - 1].node == 0) {
        from--;
    }
    for (; from <= at; from++) {
        if (make_node(judge, t, from) == 0) {
            return 0;
        }
    }
    return t->open[at].node;
}

uint32_t tms_judge_block(struct tms_judge *judge, struct tms_judge_thread *t, uint64_t event)
{
    for (size_t at = t->open_count; at > 0; at--) {
        if (t->open[at - 1].begin < event) {
            return node_at(judge, t, at - 1);
        }
    }
    return 0;
}

/* ---- blocks --------------------------------------------------------------------------------- */

void tms_judge_open(struct tms_judge *judge, struct tms_judge_thread *t, uint32_t label,
                    uint8_t source, uint64_t event, uint32_t location)
{
    uint32_t function;
    struct tms_judge_function *counts = counts_of(judge, t, label, &function);

    if (counts == NULL ||
        !TMS_RESERVE(judge->memory, &t->open, &t->open_capacity, t->open_count + 1, 8)) {
        judge->failed = true;
        return;
    }
    assert(t->open_count == 0 || t->open[t->open_count - 1].begin <= event);
    if (t->open_count == t->settled) {
        atomic_store_explicit(&t->cleared, event, memory_order_relaxed);
        t->updates_from = t->open_count == 0 ? event : t->updates_from;
    }
    t->open[t->open_count++] = (struct tms_judge_open){.begin = event,
                                                       .label = label,
                                                       .location = location,
                                                       .function = function,
                                                       .acquires = t->acquires,
                                                       .synchronised = t->synchronised,
                                                       .source = source};
    counts->executions++;
    tms_judge_end_stretch(t, event);
    tms_judge_check_thread(judge, t);
}

/* It acquired many locks, and did most of the synchronisation of its thread. */
static bool is_most(const struct tms_judge_thread *t, const struct tms_judge_open *open)
{
    uint64_t synchronised = t->synchronised - open->synchronised;

    return t->acquires - open->acquires > TMS_JUDGE_ACQUIRES_MOST &&
           2 * synchronised > t->synchronised;
}

static void end_node(struct tms_judge *judge, const struct tms_judge_open *open, uint64_t event)
{
    tms_judge_guard(judge, true);
    struct tms_judge_node *node = &judge->nodes.at[open->node];
    assert(node->used && node->end == 0 && node->begin <= event);
    node->end = event;
    node->delayed = open->delayed;
    if (node->cuts != 0 && !open->delayed) {
        const struct tms_judge_function cut = {.counted_cut = 1};
        tms_judge_add_function(judge, node->function, &cut);
    }
    tms_judge_guard(judge, false);
}

static void close_at(struct tms_judge *judge, struct tms_judge_thread *t, size_t at, uint64_t event)
{
    const struct tms_judge_open *open = &t->open[at];
    struct tms_judge_function *function = &t->functions[open->function];

    assert(at < t->open_count && open->function < t->function_capacity);
    assert(function->ended < function->executions);
    if (open->node != 0) {
        end_node(judge, open, event);
    }
    function->ended++;
    function->same += at < t->busy;
    function->busy += at < t->busy || is_most(t, open);
    function->counted += !open->delayed;
    t->busy -= at < t->busy;
    t->settled -= at < t->settled;
    t->open_count--;
    if (at < t->open_count) {
        memmove(&t->open[at], &t->open[at + 1], (t->open_count - at) * sizeof(*t->open));
    }
    tms_judge_end_stretch(t, event);
    if (t->open_count == 0) { /* no block is left that could be interleaved */
        tms_judge_rendezvous(judge, t, event);
    } else if (t->open_count == t->settled) {
        tms_judge_clear_steps(judge, t, TMS_JUDGE_NOTHING_KEPT);
    }
    tms_judge_check_thread(judge, t);
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

void tms_judge_close(struct tms_judge *judge, struct tms_judge_thread *t, uint8_t source,
                     uint64_t event)
{
    size_t at = innermost(t, source);

    if (at > 0) {
        close_at(judge, t, at - 1, event);
    }
}

void tms_judge_close_begun(struct tms_judge *judge, struct tms_judge_thread *t, uint64_t begin,
                           uint64_t event)
{
    size_t at = t->open_count;

    while (at > 0 && t->open[at - 1].begin != begin) {
        at--;
    }
    if (at > 0) {
        close_at(judge, t, at - 1, event);
    }
}

void tms_judge_change(struct tms_judge_thread *t, uint8_t source, uint8_t other)
{
    size_t at = innermost(t, source);

    if (at > 0) {
        t->open[at - 1].source = other;
    }
}

void tms_judge_close_all(struct tms_judge *judge, struct tms_judge_thread *t, uint64_t event)
{
    while (t->open_count > 0) {
        close_at(judge, t, t->open_count - 1, event);
    }
}

void tms_judge_delay(struct tms_judge_thread *t)
{
    for (size_t i = 0; i < t->open_count; i++) {
        t->open[i].delayed = true;
    }
}

uint32_t tms_judge_common(const struct tms_judge *judge, const struct tms_judge_foreign *first,
                          const struct tms_judge_foreign *second)
{
    uint32_t number = first->node;

    assert(first->thread == second->thread && first->event < second->event);
    while (number != 0) {
        const struct tms_judge_node *node = &judge->nodes.at[number];
        if (node->end == 0 || node->end > second->event) {
            return number;
        }
        number = node->parent;
    }
    return 0;
}

/* ---- busy activations ----------------------------------------------------------------------- */

static struct tms_judge_use *add_use(struct tms_judge *judge, struct tms_judge_thread *t,
                                     uint64_t key, bool lock)
{
    size_t number = t->uses.count + 1;

    if (!TMS_RESERVE(judge->memory, &t->uses.at, &t->uses.capacity, number + 1, 16) ||
        !tms_hashtable_add(&t->use_index, judge->memory, tms_mix(lock, key), (uint32_t)number)) {
        judge->failed = true;
        return NULL;
    }
    t->uses.at[++t->uses.count] = (struct tms_judge_use){.key = key, .lock = lock};
    assert(number < t->uses.capacity && number == t->use_index.count);
    return &t->uses.at[number];
}

static bool is_use_of(const struct tms_judge_thread *t, uint32_t number, uint64_t key, bool lock)
{
    return t->uses.at[number].key == key && t->uses.at[number].lock == lock;
}

struct tms_judge_use *tms_judge_find_use(struct tms_judge *judge, struct tms_judge_thread *t,
                                         uint64_t key, bool lock)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&t->use_index, tms_mix(lock, key), &walk);

    while (found != 0 && !is_use_of(t, found, key, lock)) {
        found = tms_hash_next(&walk);
    }
    return found != 0 ? &t->uses.at[found] : add_use(judge, t, key, lock);
}

/*
 * Activations that acquire the same lock again and again expect other threads in between: all
 * findings in them are notes. After a while they are no longer judged, so that shared accesses are
 * followed only inside a nested block.
 */
static void settle_busy(struct tms_judge *judge, struct tms_judge_thread *t)
{
    size_t at = t->settled;

    assert(t->settled <= t->busy && t->busy <= t->open_count);
    while (at < t->busy && t->synchronised - t->open[at].synchronised > judge->enough) {
        at++;
    }
    if (at == t->settled) {
        return;
    }
    t->settled = at;
    uint64_t begin = at < t->open_count ? t->open[at].begin : TMS_JUDGE_NOTHING_KEPT;
    if (begin > atomic_load_explicit(&t->cleared, memory_order_relaxed)) {
        tms_judge_clear_steps(judge, t, begin);
    }
}

/* Activations that began before the first of the last five uses have used it too often. */
struct tms_judge_use *tms_judge_count_use(struct tms_judge *judge, struct tms_judge_thread *t,
                                          uint64_t target, bool lock, uint64_t event)
{
    const unsigned ring = TMS_JUDGE_SAME_MOST + 1;
    struct tms_judge_use *use = tms_judge_find_use(judge, t, target, lock);

    if (use == NULL) {
        return NULL;
    }
    use->last[use->count++ % ring] = event;
    if (use->count < ring) {
        return use;
    }
    assert(use->count >= ring && use->lock == lock && use->key == target);
    uint64_t first = use->last[use->count % ring];
    while (t->busy < t->open_count && t->open[t->busy].begin < first) {
        t->busy++;
    }
    use->count = ring + use->count % ring; /* so that it never overflows */
    settle_busy(judge, t);
    return use;
}

bool tms_judge_is_busy(const struct tms_judge *judge, uint32_t function)
{
    const struct tms_judge_function *counts = &judge->functions[function];

    assert(function < judge->function_count && counts->busy <= counts->ended);
    return 2 * counts->busy > counts->ended;
}

bool tms_judge_counts_as_interleaved(const struct tms_judge *judge, uint32_t function)
{
    const struct tms_judge_function *counts = &judge->functions[function];

    assert(function < judge->function_count && counts->counted <= counts->ended);
    return 2 * counts->same > counts->ended || counts->counted < TMS_JUDGE_COUNTED_LEAST ||
           2 * counts->counted_cut >= counts->counted;
}

/* ---- sweeping ------------------------------------------------------------------------------- */

/* Keeps the enclosing nodes as well. */
static void mark(struct tms_judge *judge, uint32_t node)
{
    while (node != 0 && !judge->nodes.at[node].marked) {
        assert(node <= judge->nodes.count && judge->nodes.at[node].used);
        judge->nodes.at[node].marked = true;
        node = judge->nodes.at[node].parent;
    }
}

static void mark_cases(struct tms_judge *judge, uint32_t number)
{
    for (; number != 0; number = judge->cases.at[number].next) {
        const struct tms_judge_case *open = &judge->cases.at[number];
        mark(judge, open->block);
        mark(judge, open->foreign[0].node);
    }
}

static void mark_record(struct tms_judge *judge, const struct tms_judge_record *record)
{
    mark(judge, record->first_read.node);
    mark(judge, record->first_write.node);
    mark(judge, record->its_reader.node);
    for (uint32_t at = record->reads; at != 0; at = judge->reads.at[at].next) {
        mark(judge, judge->reads.at[at].access.node);
    }
    mark_cases(judge, record->open);
}

static void mark_all(struct tms_judge *judge)
{
    for (size_t i = 1; i <= judge->records.count; i++) {
        mark_record(judge, &judge->records.at[i]);
    }
    for (uint32_t i = 1; i <= judge->nodes.count; i++) {
        if (judge->nodes.at[i].used && judge->nodes.at[i].end == 0) {
            mark(judge, i);
        }
    }
}

static void free_node(struct tms_judge *judge, uint32_t number)
{
    uint32_t next;

    assert(judge->node_live > 0 && judge->nodes.at[number].end != 0);
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
    assert(judge->node_live <= judge->nodes.count);
    mark_all(judge);
    for (uint32_t i = 1; i <= judge->nodes.count; i++) {
        struct tms_judge_node *node = &judge->nodes.at[i];
        if (node->used && !node->marked) {
            free_node(judge, i);
        }
        node->marked = false;
    }
    judge->node_limit = 2 * judge->node_live + NODES_LEAST;
}
