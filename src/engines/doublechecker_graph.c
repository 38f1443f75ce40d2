/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The imprecise graph of doublechecker: nodes and edges, strongly connected components, collection.
 * doublechecker.h has the layout.
 *
 * The search is Tarjan's, from the node that ended, over nodes that have ended. A component without
 * that node was found when the last of its own members ended, and is one node since; so what the
 * search leaves on its stack is the one new component, and all other nodes are singletons.
 */
#include <assert.h>

#include "engines/doublechecker.h"

#define RECENT 8 /* edges looked at before one is inserted again */

/* ---- nodes and edges ------------------------------------------------------------------- */

uint32_t tms_dc_owner(struct tms_dc *c, uint32_t node)
{
    struct tms_dc_node *nodes = c->nodes;

    while (nodes[node].owner != node) {
        nodes[node].owner = nodes[nodes[node].owner].owner;
        node = nodes[node].owner;
    }
    assert(node != NONE);
    return node;
}

static uint32_t take_node(struct tms_dc *c)
{
    uint32_t node = c->free_nodes;

    if (node != NONE) {
        assert(c->nodes[node].owner == NONE);
        c->free_nodes = c->nodes[node].next_member;
        return node;
    }
    bool room = RESERVE(c, &c->nodes, &c->node_capacity, c->node_count + 1);
    return room ? (uint32_t)c->node_count++ : NONE;
}

static uint32_t take_edge(struct tms_dc *c)
{
    uint32_t edge = c->free_edges;

    if (edge != NONE) {
        c->free_edges = c->edges[edge].next;
        return edge;
    }
    bool room = RESERVE(c, &c->edges, &c->edge_capacity, c->edge_count + 1);
    return room ? (uint32_t)c->edge_count++ : NONE;
}

static bool recently_added(const struct tms_dc *c, const struct tms_dc_node *from, uint32_t to)
{
    uint32_t edge = from->edges;

    assert((from->edges == NONE) == (from->last_edge == NONE));
    for (int i = 0; i < RECENT && edge != NONE; i++, edge = c->edges[edge].next) {
        if (c->edges[edge].to == to) {
            return true;
        }
    }
    return false;
}

bool tms_dc_add_edge(struct tms_dc *c, uint32_t from, uint32_t to)
{
    struct tms_dc_node *source = &c->nodes[tms_dc_owner(c, from)];

    assert(from != to && c->nodes[to].owner == to && c->nodes[to].next_member == to);
    if (recently_added(c, source, to)) {
        return false;
    }
    uint32_t edge = take_edge(c);
    if (edge == NONE) {
        return false;
    }
    c->edges[edge] = (struct tms_dc_edge){.to = to, .next = source->edges};
    source->edges = edge;
    if (source->last_edge == NONE) {
        source->last_edge = edge;
    }
    return true;
}

/* The edge after `edge`, or the first; edges inside the component are removed on the way. */
static uint32_t next_edge(struct tms_dc *c, uint32_t owner, uint32_t edge)
{
    struct tms_dc_node *node = &c->nodes[owner];
    uint32_t *link = edge == NONE ? &node->edges : &c->edges[edge].next;

    assert(c->nodes[owner].owner == owner);
    while (*link != NONE && tms_dc_owner(c, c->edges[*link].to) == owner) {
        uint32_t inner = *link;
        *link = c->edges[inner].next;
        if (node->last_edge == inner) {
            node->last_edge = edge;
        }
        c->edges[inner].next = c->free_edges;
        c->free_edges = inner;
    }
    return *link;
}

static bool list_source(struct tms_dc *c, uint32_t thread)
{
    assert(c->source_count <= c->thread_capacity);
    if (c->threads[thread].listed) {
        return true;
    }
    if (!RESERVE(c, &c->sources, &c->source_capacity, c->source_count + 1)) {
        return false;
    }
    c->sources[c->source_count++] = thread;
    c->threads[thread].listed = true;
    return true;
}

uint32_t tms_dc_start(struct tms_dc *c, const struct tms_op *op, bool unary)
{
    struct tms_dc_thread *thread = &c->threads[op->thread];
    uint32_t node = list_source(c, op->thread) ? take_node(c) : NONE;

    if (node == NONE) {
        return NONE;
    }
    c->nodes[node] = (struct tms_dc_node){
        .name = {op->event, op->thread, unary ? 0 : op->target, op->location, unary},
        .ended = unary,
        .owner = node,
        .next_member = node,
    };
    assert(thread->node == NONE || c->nodes[thread->node].ended);
    if (thread->node != NONE) {
        tms_dc_add_edge(c, thread->node, node);
    }
    thread->node = node;
    c->seen.nodes++;
    uint64_t kept = c->seen.nodes - c->seen.dropped;
    c->seen.kept_most = kept > c->seen.kept_most ? kept : c->seen.kept_most;
    return c->host->failed ? NONE : node;
}

/* ---- components ------------------------------------------------------------------------ */

static bool push(struct tms_dc *c, uint32_t node)
{
    if (!RESERVE(c, &c->stack, &c->stack_capacity, c->stack_count + 1)) {
        return false;
    }
    c->stack[c->stack_count++] = node;
    return true;
}

static bool visit(struct tms_dc *c, uint32_t node)
{
    assert(c->nodes[node].owner == node);
    if (!push(c, node) || !RESERVE(c, &c->frames, &c->frame_capacity, c->frame_count + 1)) {
        return false;
    }
    c->frames[c->frame_count++] = (struct tms_dc_frame){.node = node};
    c->nodes[node].order = c->nodes[node].low = ++c->visits;
    c->nodes[node].on_stack = true;
    return true;
}

static void lower(struct tms_dc_node *node, uint64_t low)
{
    if (low < node->low) {
        node->low = low;
    }
}

/* All edges of the topmost node were followed. What is left under the first is its component. */
static void leave(struct tms_dc *c)
{
    struct tms_dc_node *node = &c->nodes[c->frames[--c->frame_count].node];

    assert(c->frame_count < c->stack_count);
    if (c->frame_count == 0) {
        return;
    }
    if (node->low == node->order) {
        assert(&c->nodes[c->stack[c->stack_count - 1]] == node);
        node->on_stack = false;
        c->stack_count--;
    }
    lower(&c->nodes[c->frames[c->frame_count - 1].node], node->low);
}

/* Afterwards the stack holds the component of the node, itself first. */
static bool search(struct tms_dc *c, uint32_t start)
{
    uint64_t before = c->visits;

    c->frame_count = c->stack_count = 0;
    bool room = visit(c, start);
    while (room && c->frame_count > 0) {
        struct tms_dc_frame *frame = &c->frames[c->frame_count - 1];
        uint32_t edge = next_edge(c, frame->node, frame->edge);
        if (edge == NONE) {
            leave(c);
            continue;
        }
        frame->edge = edge;
        uint32_t to = tms_dc_owner(c, c->edges[edge].to);
        const struct tms_dc_node *node = &c->nodes[to];
        if (node->ended && node->order <= before) {
            room = visit(c, to);
        } else if (node->ended && node->on_stack) {
            lower(&c->nodes[frame->node], node->order);
        }
    }
    return room;
}

static void absorb(struct tms_dc *c, uint32_t owner, uint32_t other)
{
    struct tms_dc_node *a = &c->nodes[owner], *b = &c->nodes[other];
    uint32_t next = a->next_member;

    assert(owner != other && b->owner == other && b->ended);
    c->seen.members += b->next_member == other;
    b->owner = owner;
    a->next_member = b->next_member;
    b->next_member = next;
    if (b->edges != NONE) {
        c->edges[b->last_edge].next = a->edges;
        a->edges = b->edges;
        a->last_edge = a->last_edge == NONE ? b->last_edge : a->last_edge;
    }
    b->edges = b->last_edge = NONE;
    a->logged += b->logged;
    a->replayed = b->replayed > a->replayed ? b->replayed : a->replayed;
}

/* A component that is replayed each time that it grows would make the work quadratic. */
static void replay_if_due(struct tms_dc *c, uint32_t owner)
{
    if (c->nodes[owner].logged >= 2 * c->nodes[owner].replayed) {
        tms_dc_replay(c, owner);
    }
}

void tms_dc_end(struct tms_dc *c, uint32_t node)
{
    assert(!c->nodes[node].ended && c->nodes[node].next_member == node);
    c->nodes[node].ended = true;
    if (!search(c, node) || c->stack_count == 1) {
        return;
    }
    c->seen.components++;
    c->seen.members++;
    for (size_t i = 1; i < c->stack_count; i++) {
        absorb(c, node, c->stack[i]);
    }
    replay_if_due(c, node);
}

/* ---- collection ------------------------------------------------------------------------ */

static void hand_over(struct tms_dc *c, struct tms_dc_node *node)
{
    if (node->steps == NULL) {
        return;
    }
    assert(node->step_count >= 2 && !node->name.unary);
    tms_host_violation(c->host, &(struct tms_violation){
                                    .kind = "cycle",
                                    .evidence = TMS_EVIDENCE_OBSERVED,
                                    .event = node->steps[node->step_count - 1].second_event,
                                    .thread = node->name.thread,
                                    .transaction = node->name,
                                    .cycle = node->steps,
                                    .cycle_length = node->step_count,
                                });
    tms_release(c->memory, node->steps, node->step_count, sizeof(*node->steps));
    node->steps = NULL;
}

/* Its last replay, if it grew since. */
static void replay_rest(struct tms_dc *c, uint32_t owner)
{
    if (c->nodes[owner].next_member != owner && c->nodes[owner].logged > c->nodes[owner].replayed) {
        tms_dc_replay(c, owner);
    }
}

static bool mark(struct tms_dc *c, uint32_t node)
{
    assert(c->nodes[node].owner == node);
    if (c->nodes[node].marked) {
        return true;
    }
    c->nodes[node].marked = true;
    return push(c, node);
}

/* Marks all that running transactions reach; false when memory is short. */
static bool mark_reached(struct tms_dc *c)
{
    bool room = true;

    c->stack_count = 0;
    for (size_t i = 0; i < c->source_count && room; i++) {
        uint32_t node = c->threads[c->sources[i]].node;
        room = node == NONE || c->nodes[node].ended || mark(c, node);
    }
    while (room && c->stack_count > 0) {
        uint32_t node = c->stack[--c->stack_count];
        for (uint32_t edge = NONE; room && (edge = next_edge(c, node, edge)) != NONE;) {
            room = mark(c, tms_dc_owner(c, c->edges[edge].to));
        }
    }
    return room;
}

static void forget_unmarked(struct tms_dc *c, uint32_t *node)
{
    if (*node != NONE && !c->nodes[tms_dc_owner(c, *node)].marked) {
        *node = NONE;
    }
}

static void forget_all_unmarked(struct tms_dc *c)
{
    size_t kept = 0;

    forget_unmarked(c, &c->shared_last);
    for (size_t i = 0; i < c->thread_capacity; i++) {
        forget_unmarked(c, &c->threads[i].node);
        forget_unmarked(c, &c->threads[i].forked_by);
    }
    for (size_t i = 0; i < c->source_count; i++) {
        struct tms_dc_thread *thread = &c->threads[c->sources[i]];
        thread->listed = thread->node != NONE;
        if (thread->listed) {
            c->sources[kept++] = c->sources[i];
        }
    }
    c->source_count = kept;
}

static void drop_edges(struct tms_dc *c, const struct tms_dc_node *owner)
{
    if (owner->edges != NONE) {
        assert(c->edges[owner->last_edge].next == NONE);
        c->edges[owner->last_edge].next = c->free_edges;
        c->free_edges = owner->edges;
    }
}

static void drop(struct tms_dc *c, uint32_t owner)
{
    uint32_t member = owner;

    assert(c->nodes[owner].owner == owner && !c->nodes[owner].marked);
    replay_rest(c, owner);
    drop_edges(c, &c->nodes[owner]);
    do {
        struct tms_dc_node *node = &c->nodes[member];
        uint32_t next = node->next_member;
        hand_over(c, node);
        tms_dc_release_log(c, node);
        node->owner = NONE;
        node->next_member = c->free_nodes;
        c->free_nodes = member;
        c->seen.dropped++;
        member = next;
    } while (member != owner);
}

void tms_dc_collect(struct tms_dc *c)
{
    if (!mark_reached(c)) {
        return;
    }
    forget_all_unmarked(c);
    for (uint32_t i = 1; i < c->node_count && !c->host->failed; i++) {
        if (c->nodes[i].owner == i && !c->nodes[i].marked) {
            drop(c, i);
        }
        c->nodes[i].marked = false;
    }
    /* Not before there is as much to drop as it takes to look at everything. */
    uint64_t most = c->held > c->node_count ? c->held : c->node_count;
    c->limit = c->held + (most > c->thread_capacity ? most : c->thread_capacity);
}

void tms_dc_finish(struct tms_dc *c)
{
    assert(c->seen.dropped <= c->seen.nodes);
    for (uint32_t i = 1; i < c->node_count && !c->host->failed; i++) {
        if (c->nodes[i].owner == i) {
            replay_rest(c, i);
        }
    }
    for (uint32_t i = 1; i < c->node_count && !c->host->failed; i++) {
        hand_over(c, &c->nodes[i]);
    }
}

void tms_dc_clear_graph(struct tms_dc *c)
{
    for (size_t i = 1; i < c->node_count; i++) {
        tms_release(c->memory, c->nodes[i].steps, c->nodes[i].step_count, sizeof(struct tms_step));
    }
    tms_release(c->memory, c->nodes, c->node_capacity, sizeof(*c->nodes));
    tms_release(c->memory, c->edges, c->edge_capacity, sizeof(*c->edges));
    tms_release(c->memory, c->frames, c->frame_capacity, sizeof(*c->frames));
    tms_release(c->memory, c->stack, c->stack_capacity, sizeof(*c->stack));
}
