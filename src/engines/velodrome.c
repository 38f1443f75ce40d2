/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Velodrome: the transaction graph, kept and searched as the events come.
 *
 * C. Flanagan, S. N. Freund, J. Yi: Velodrome, a sound and complete dynamic atomicity checker for
 * multithreaded programs, PLDI 2008. Edges with positions, one for two nodes, and the increasing
 * cycle are implemented as the RegionTrack paper retells them (TOSEM, section 3), collection as
 * the AeroDrome paper does (ASPLOS 2020, section 5).
 *
 * Every transaction is a node (velodrome_graph.h). Kept are, as steps, that is, as events in their
 * nodes: the last event of each thread, L(t); the last write of each variable, W(x), and the last
 * read of each thread since, R(x, t); of each lock the last exclusive operation, U(m), and the
 * last shared one of each thread since; the last arrival of each thread at a barrier; and the fork
 * of a thread that has no event yet. An event takes edges from those of them that it conflicts
 * with. The rest follows: what is ordered before a kept step of a thread reaches it.
 *
 * Only the first edge between two nodes is kept. A new edge from S into the running transaction T
 * closes a cycle iff T reaches S, which is searched for from T on; then it is reported and left
 * out. The cycle is increasing if at every node between, the event of the edge that enters is not
 * after that of the edge that leaves. Then each event on it happens before the next, T's later
 * event depends on the earlier one through another thread, and T is blamed. Since later edges
 * between the same nodes are dropped, some blame is missed, and none is wrong.
 *
 * A finished node that no edge enters is dropped, and this cascades; steps in it become none. An
 * event outside blocks whose predecessors are all none is none itself. It joins the last node of
 * its thread if that has an edge from each of its other predecessors already, and becomes a node
 * of its own if not, so that no edge ever enters a node that is over. It could as well join a node
 * of another thread that comes after all its predecessors; but while every node is a stretch of one
 * thread, the way from where an edge enters it to where the next one leaves is program order, and
 * can be shown.
 */
#include <assert.h>

#include "engine_api/engine.h"
#include "engine_api/nesting.h"
#include "engines/velodrome_cells.h"

#define LEAST 64

/* How an operation touches its target: with what it conflicts, and what it leaves there; 0: not at
 * all. */
enum {
    AFTER_WRITE = 1,
    AFTER_READS = 2,
    READS = 4,
    WRITES = 8,
};

static const uint8_t touches[TMS_OP_COUNT] = {
    [TMS_OP_READ] = AFTER_WRITE | READS,
    [TMS_OP_WRITE] = AFTER_WRITE | AFTER_READS | WRITES,
    [TMS_OP_UPDATE] = AFTER_WRITE | AFTER_READS | WRITES,
    [TMS_OP_ACQUIRE] = AFTER_WRITE | AFTER_READS | WRITES,
    [TMS_OP_RELEASE] = AFTER_WRITE | AFTER_READS | WRITES,
    [TMS_OP_SHARED_ACQUIRE] = AFTER_WRITE | READS,
    [TMS_OP_SHARED_RELEASE] = AFTER_WRITE | READS,
    [TMS_OP_ARRIVE] = READS,
    [TMS_OP_DEPART] = AFTER_READS,
};

/* The violation of a running transaction, handed over when it ends. */
struct pending {
    struct tms_violation violation;
    struct tms_velodrome_cycle cycle;
    struct tms_refuted refuted;
    bool open;
};

struct thread {
    struct tms_velodrome_step last; /* L(t) */
    struct tms_velodrome_step fork; /* until its first event */
    bool in_block;
    bool running;                /* in_block, and the transaction has its node: that of `last` */
    struct tms_transaction name; /* of the block it is in */
    struct tms_velodrome_sources sources; /* of the node of `last` */
    struct tms_nesting nesting;
    struct pending pending;
};

/* Why an event comes after a step. */
struct predecessor {
    struct tms_velodrome_step step;
    uint8_t kind; /* enum tms_edge_kind */
    uint8_t on_class;
    uint32_t on;
};

struct velodrome {
    struct tms_host *host;
    struct tms_velodrome_graph graph;
    struct thread *threads; /* by id */
    size_t thread_capacity;
    struct tms_velodrome_cells cells[TMS_PLACES];
    struct tms_velodrome_readers readers;
    struct predecessor *predecessors; /* of the current event: steps that live, of other threads */
    size_t predecessor_capacity, predecessor_count;
    uint64_t joined; /* unary events that became part of a node */
};

static bool fail_memory(struct velodrome *v)
{
    tms_host_fail(v->host, TMS_ERR_MEMORY);
    return false;
}

/* ---- violations ----------------------------------------------------------------------- */

/* Is the running transaction to blame, by the cycle that the search just found? */
static void blame(struct velodrome *v, struct thread *t, const struct tms_velodrome_edge *closing)
{
    struct pending *pending = &t->pending;
    uint64_t left = tms_velodrome_is_increasing(&v->graph, closing);

    assert(t->running);
    pending->violation.not_atomic = left != 0;
    if (left != 0 &&
        !tms_nesting_refute(&t->nesting, &v->host->memory, &t->name, left, &pending->refuted)) {
        fail_memory(v);
    }
}

/* The edge closes a cycle, and the search just found how. */
static void violate(struct velodrome *v, struct thread *t, const struct tms_velodrome_edge *closing)
{
    struct pending *pending = &t->pending;

    assert(t->running && closing->to == t->last.node && closing->first < closing->second);
    v->host->closing_edges++;
    tms_host_first(v->host, closing->second);
    if (!pending->open) {
        pending->violation = (struct tms_violation){
            .kind = "cycle",
            .evidence = TMS_EVIDENCE_OBSERVED,
            .event = closing->second,
            .thread = t->name.thread,
            .transaction = t->name,
        };
        pending->open = tms_velodrome_write_cycle(&v->graph, closing, &pending->cycle);
        if (!pending->open) {
            fail_memory(v);
        }
    }
    if (v->host->settings->blame && !pending->violation.not_atomic) {
        blame(v, t, closing);
    }
}

static void settle(struct velodrome *v, struct thread *t)
{
    struct pending *pending = &t->pending;

    if (pending->open) {
        pending->open = false;
        pending->violation.cycle = pending->cycle.step;
        pending->violation.cycle_length = pending->cycle.length;
        if (pending->violation.not_atomic) {
            pending->violation.refuted = pending->refuted.block;
            pending->violation.refuted_count = pending->refuted.count;
        }
        tms_host_violation(v->host, &pending->violation);
    }
}

/* ---- edges ---------------------------------------------------------------------------- */

/* The current event, of the thread's node, comes after this: an edge, if it is the first. */
static void connect(struct velodrome *v, struct thread *t, const struct tms_op *op,
                    const struct predecessor *predecessor)
{
    struct tms_velodrome_graph *graph = &v->graph;
    const struct tms_velodrome_step *step = &predecessor->step;
    struct tms_velodrome_source *source =
        tms_velodrome_source(graph->memory, &t->sources, graph->node[step->node].birth);
    const struct tms_velodrome_edge edge = {
        .first = step->event,
        .second = op->event,
        .from = step->node,
        .to = t->last.node,
        .first_location = step->location,
        .second_location = op->location,
        .on = predecessor->on,
        .on_class = predecessor->on_class,
        .kind = predecessor->kind,
        .first_kind = step->kind,
        .second_kind = op->event_kind,
    };

    assert(step->event < op->event && step->node != t->last.node);
    if (source == NULL) {
        fail_memory(v);
    } else if (source->state != SOURCE_NEW) {
        return;
    } else if (t->running && tms_velodrome_reaches(graph, edge.to, edge.from)) {
        source->state = SOURCE_REFUSED;
        violate(v, t, &edge);
    } else if (tms_velodrome_add_edge(graph, &edge)) {
        source->state = SOURCE_EDGE;
    } else {
        fail_memory(v);
    }
}

/* The current event becomes a node, after the last one of its thread. */
static bool start_node(struct velodrome *v, struct thread *t, const struct tms_op *op)
{
    const struct tms_transaction unary = {op->event, op->thread, 0, op->location, true};
    const struct predecessor before = {t->last, TMS_EDGE_PROGRAM_ORDER, TMS_CLASS_NONE, 0};
    uint32_t node = tms_velodrome_add_node(&v->graph, t->in_block ? &t->name : &unary, op->event);

    if (node == NO_NODE) {
        return fail_memory(v);
    }
    t->last.node = node;
    tms_velodrome_empty_sources(&t->sources);
    if (step_lives(&v->graph, &before.step)) {
        connect(v, t, op, &before);
    }
    assert(!t->running);
    t->running = t->in_block;
    return true;
}

/* ---- predecessors --------------------------------------------------------------------- */

/* An event of the same thread comes before by program order, which is seen to elsewhere. */
static void add_predecessor(struct velodrome *v, const struct tms_op *op,
                            const struct tms_velodrome_step *step, struct predecessor why)
{
    if (!step_lives(&v->graph, step) || v->graph.node[step->node].name.thread == op->thread) {
        return;
    }
    if (!TMS_RESERVE(&v->host->memory, &v->predecessors, &v->predecessor_capacity,
                     v->predecessor_count + 1, LEAST)) {
        fail_memory(v);
        return;
    }
    why.step = *step;
    assert(step->event < op->event && step->node != NO_NODE);
    v->predecessors[v->predecessor_count++] = why;
}

static void gather_touched(struct velodrome *v, const struct tms_op *op, uint8_t touch,
                           const struct tms_velodrome_cell *cell)
{
    uint8_t place = tms_op_traits[op->kind].place;
    struct predecessor why = {.on_class = tms_place_class[place], .on = op->target};

    if ((touch & AFTER_WRITE) != 0) {
        why.kind = (uint8_t)tms_conflict_edge(place, false, (touch & READS) != 0);
        add_predecessor(v, op, &cell->write, why);
    }
    if ((touch & AFTER_READS) != 0) {
        why.kind = (uint8_t)tms_conflict_edge(place, true, false);
        for (uint32_t at = cell->readers; at != 0; at = v->readers.reader[at].next) {
            add_predecessor(v, op, &v->readers.reader[at].step, why);
        }
    }
}

/* Does the last node of the thread come after all predecessors of the current event? */
static bool comes_after_all(const struct velodrome *v, const struct thread *t)
{
    bool lives = step_lives(&v->graph, &t->last);

    for (size_t i = 0; i < v->predecessor_count; i++) {
        uint32_t node = v->predecessors[i].step.node;
        if (!lives || !tms_velodrome_has_source(&t->sources, v->graph.node[node].birth)) {
            return false;
        }
    }
    return true;
}

/* ---- one event ------------------------------------------------------------------------ */

/* Puts the current event into the graph; L(t) is that event afterwards. */
static void place_event(struct velodrome *v, struct thread *t, const struct tms_op *op)
{
    bool joins = t->in_block ? t->running : comes_after_all(v, t);

    assert(t->in_block == ((op->flags & TMS_OP_IN_BLOCK) != 0));
    if (!joins && !start_node(v, t, op)) {
        return;
    }
    v->joined += joins && !t->in_block;
    assert(t->last.node != NO_NODE || v->predecessor_count == 0);
    for (size_t i = 0; i < v->predecessor_count; i++) {
        connect(v, t, op, &v->predecessors[i]);
    }
    bool none = joins && !step_lives(&v->graph, &t->last);
    uint32_t node = none ? NO_NODE : t->last.node;
    t->last = (struct tms_velodrome_step){op->event, node, op->location, op->event_kind};
    if (!joins && !t->in_block) {
        tms_velodrome_finish_node(&v->graph, node, op->event);
    }
}

/* The thread with this id; NULL when memory is short, or was: the rest of the batch is skipped. */
static struct thread *thread_of(struct velodrome *v, uint32_t id)
{
    if (v->host->failed != TMS_OK) {
        return NULL;
    }
    if (!TMS_RESERVE(&v->host->memory, &v->threads, &v->thread_capacity, (size_t)id + 1, LEAST)) {
        fail_memory(v);
        return NULL;
    }
    return &v->threads[id];
}

static struct tms_velodrome_cell *cell_of(struct velodrome *v, const struct tms_op *op)
{
    struct tms_velodrome_cell *cell =
        tms_velodrome_cell(&v->host->memory, &v->cells[tms_op_traits[op->kind].place], op->target);

    if (cell == NULL) {
        fail_memory(v);
    }
    return cell;
}

/* The first event of a thread comes after its fork. */
static void gather_fork(struct velodrome *v, struct thread *t, const struct tms_op *op)
{
    const struct predecessor why = {
        .kind = TMS_EDGE_FORK, .on_class = TMS_CLASS_THREAD, .on = op->thread};

    add_predecessor(v, op, &t->fork, why);
    t->fork = (struct tms_velodrome_step){0};
}

/* ---- operations ----------------------------------------------------------------------- */

static void on_touch(void *state, const struct tms_op *op)
{
    struct velodrome *v = state;
    uint8_t touch = touches[op->kind];
    struct thread *t = thread_of(v, op->thread);
    struct tms_velodrome_cell *cell = cell_of(v, op);

    assert(touch != 0);
    if (t == NULL || cell == NULL) {
        return;
    }
    v->predecessor_count = 0;
    gather_fork(v, t, op);
    gather_touched(v, op, touch, cell);
    place_event(v, t, op);
    if ((touch & WRITES) != 0) {
        tms_velodrome_write(&v->readers, cell, t->last);
    }
    if ((touch & READS) != 0 &&
        !tms_velodrome_read(&v->graph, &v->readers, cell, op->thread, t->last)) {
        fail_memory(v);
    }
}

static void on_event(void *state, const struct tms_op *op)
{
    struct velodrome *v = state;
    struct thread *t = thread_of(v, op->thread);

    if (t != NULL) {
        v->predecessor_count = 0;
        gather_fork(v, t, op);
        place_event(v, t, op);
    }
}

static void on_fork(void *state, const struct tms_op *op)
{
    struct velodrome *v = state;
    struct thread *child = thread_of(v, op->target);

    if (child != NULL) {
        on_event(v, op);
        v->threads[op->target].fork = v->threads[op->thread].last;
    }
}

/* A child without events is none, and so makes no edge. */
static void on_join(void *state, const struct tms_op *op)
{
    const struct predecessor why = {
        .kind = TMS_EDGE_JOIN, .on_class = TMS_CLASS_THREAD, .on = op->target};
    struct velodrome *v = state;
    struct thread *t = thread_of(v, op->thread);

    if (t == NULL || thread_of(v, op->target) == NULL) {
        return;
    }
    t = &v->threads[op->thread];
    assert(op->thread != op->target);
    v->predecessor_count = 0;
    gather_fork(v, t, op);
    add_predecessor(v, op, &v->threads[op->target].last, why);
    place_event(v, t, op);
}

/* A transaction gets its node with its first event, which a synthetic begin is not. */
static void on_begin(void *state, const struct tms_op *op)
{
    struct velodrome *v = state;
    struct thread *t = thread_of(v, op->thread);

    if (t == NULL) {
        return;
    }
    assert(!t->in_block && !t->pending.open);
    t->in_block = true;
    t->running = false;
    t->name = (struct tms_transaction){op->event, op->thread, op->target, op->location, false};
    if ((op->flags & TMS_OP_SYNTHETIC) == 0) {
        on_event(v, op);
    }
}

static void on_end(void *state, const struct tms_op *op)
{
    struct velodrome *v = state;
    struct thread *t = thread_of(v, op->thread);

    if (t != NULL && (op->flags & TMS_OP_SYNTHETIC) == 0) {
        on_event(v, op);
    }
    if (t == NULL || v->host->failed != TMS_OK) {
        return;
    }
    assert(t->in_block);
    settle(v, t);
    if (t->running) {
        tms_velodrome_finish_node(&v->graph, t->last.node, t->last.event);
    }
    t->in_block = t->running = false;
    tms_nesting_end(&t->nesting, op);
}

static void on_nested(void *state, const struct tms_op *op)
{
    struct velodrome *v = state;
    struct thread *t = thread_of(v, op->thread);

    if (t != NULL && !tms_nesting_follow(&t->nesting, &v->host->memory, op)) {
        fail_memory(v);
    }
    on_event(v, op);
}

static void on_forget(void *state, const struct tms_op *op)
{
    struct velodrome *v = state;
    struct tms_velodrome_cell *cell = cell_of(v, op);

    if (cell != NULL) {
        tms_velodrome_write(&v->readers, cell, (struct tms_velodrome_step){0});
    }
}

/* ---- the engine ----------------------------------------------------------------------- */

static int create(void *state, struct tms_host *host)
{
    struct velodrome *v = state;

    v->host = host;
    return tms_velodrome_graph_init(&v->graph, &host->memory) ? TMS_OK
                                                              : tms_fail_memory(host->context);
}

/* Blocks that are open at the end count. */
static void finish(void *state)
{
    struct velodrome *v = state;

    for (size_t i = 0; i < v->thread_capacity; i++) {
        assert(!v->threads[i].running || v->threads[i].in_block);
        settle(v, &v->threads[i]);
    }
}

static void stats(const void *state, struct tms_counters *counters)
{
    const struct velodrome *v = state;
    const struct tms_velodrome_graph *graph = &v->graph;
    const struct tms_counter kept[] = {
        {"alive", "nodes of the graph at the end of the trace", graph->alive},
        {"most_alive", "most nodes of the graph at a time", graph->most_alive},
        {"nodes", "transactions, and unary events that joined no node", graph->made},
        {"collected", "nodes dropped because nothing could lead back to them",
         graph->made - graph->alive},
        {"edges", "edges put into the graph, at most one for two nodes", graph->edges_made},
        {"unary_joined", "unary events that took no node of their own", v->joined},
        {"searches", "new edges for which the graph was searched", graph->searches},
        {"visited", "nodes that the searches came to", graph->visited},
    };

    TMS_COUNTERS_PUT(counters, kept);
}

static void destroy(void *state)
{
    struct velodrome *v = state;
    struct tms_memory *memory = &v->host->memory;

    for (size_t i = 0; i < v->thread_capacity; i++) {
        struct thread *t = &v->threads[i];
        tms_velodrome_clear_sources(memory, &t->sources);
        tms_release(memory, t->pending.cycle.step, t->pending.cycle.capacity,
                    sizeof(struct tms_step));
        tms_refuted_clear(&t->pending.refuted, memory);
        tms_nesting_clear(&t->nesting, memory);
    }
    for (size_t i = 0; i < TMS_PLACES; i++) {
        tms_release(memory, v->cells[i].cell, v->cells[i].capacity,
                    sizeof(struct tms_velodrome_cell));
    }
    tms_release(memory, v->threads, v->thread_capacity, sizeof(*v->threads));
    tms_release(memory, v->readers.reader, v->readers.capacity, sizeof(*v->readers.reader));
    tms_release(memory, v->predecessors, v->predecessor_capacity, sizeof(*v->predecessors));
    tms_velodrome_graph_clear(&v->graph);
}

const struct tms_engine tms_engine_velodrome = {
    .info =
        {
            .name = "velodrome",
            .summary = "the transaction graph, searched at every new edge, with garbage collection",
            .paper = "Flanagan, Freund, Yi: Velodrome, PLDI 2008",
            .guarantee = "exact. A violation is reported if and only if this run was not "
                         "serializable. Blamed blocks are not atomic, but not all blocks that are "
                         "not atomic are blamed.",
            .reports = "at the event",
            .time = "O(graph) per new edge",
            .memory = "O(V + L + T), and the transactions reachable from running ones",
            .flags = TMS_ENGINE_EXACT | TMS_ENGINE_AT_EVENT | TMS_ENGINE_WITNESS |
                     TMS_ENGINE_BLAMES_SOME,
            .found = TMS_VERDICT_VIOLATION,
            .clean = TMS_VERDICT_SERIALIZABLE,
        },
    .state_size = sizeof(struct velodrome),
    .create = create,
    .on =
        {
            [TMS_OP_BEGIN] = on_begin,
            [TMS_OP_END] = on_end,
            [TMS_OP_NEST] = on_nested,
            [TMS_OP_UNNEST] = on_nested,
            [TMS_OP_READ] = on_touch,
            [TMS_OP_WRITE] = on_touch,
            [TMS_OP_UPDATE] = on_touch,
            [TMS_OP_ACQUIRE] = on_touch,
            [TMS_OP_RELEASE] = on_touch,
            [TMS_OP_SHARED_ACQUIRE] = on_touch,
            [TMS_OP_SHARED_RELEASE] = on_touch,
            [TMS_OP_FORK] = on_fork,
            [TMS_OP_JOIN] = on_join,
            [TMS_OP_ARRIVE] = on_touch,
            [TMS_OP_DEPART] = on_touch,
            [TMS_OP_STEP] = on_event,
            [TMS_OP_ESCAPE] = on_event,
            [TMS_OP_FORGET] = on_forget,
        },
    .finish = finish,
    .stats = stats,
    .destroy = destroy,
};
