/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The precise phase of doublechecker: the logs of one component, replayed as if they were the
 * whole trace. The members' events in order, every unary event a transaction of its own, the
 * last accesses of each variable, lock and barrier, program order, fork and join make the true
 * graph of the component: a conflict of two of its events is an edge or a path of it. An edge
 * that closes a cycle is kept out of the graph. If it is the first into its transaction, or
 * earlier than one that an earlier replay saw, it becomes the transaction's violation.
 */
#include "engines/doublechecker_replay.h"

#include <assert.h>
#include <stdlib.h>

#define RECENT 8 /* edges looked at before one is searched for and inserted again */

/* ---- the graph ------------------------------------------------------------------------- */

/* Breadth-first, so that `via` is a shortest path. */
static bool reaches(struct tms_dc *c, uint32_t start, uint32_t goal)
{
    struct tms_dc_replay *r = c->replay;
    size_t count = 0;

    if (r->transactions[start].edges == NONE ||
        !RESERVE(c, &r->queue, &r->queue_capacity, r->transaction_count)) {
        return false;
    }
    r->transactions[start].reached = ++r->searches;
    r->queue[count++] = start;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t at = r->transactions[r->queue[i]].edges; at != NONE; at = r->links[at].next) {
            uint32_t number = r->items[r->links[at].second].transaction;
            struct tms_dc_transaction *to = &r->transactions[number];
            if (to->reached == r->searches) {
                continue;
            }
            to->reached = r->searches;
            to->via = at;
            if (number == goal) {
                return true;
            }
            r->queue[count++] = number;
        }
    }
    return false;
}

static bool recently_added(const struct tms_dc_replay *r, uint32_t from, uint32_t to)
{
    uint32_t at = r->transactions[from].edges;

    for (int i = 0; i < RECENT && at != NONE; i++, at = r->links[at].next) {
        if (r->items[r->links[at].second].transaction == to) {
            return true;
        }
    }
    return false;
}

static void insert_edge(struct tms_dc *c, uint32_t first, uint32_t second)
{
    struct tms_dc_replay *r = c->replay;
    struct tms_dc_transaction *from = &r->transactions[r->items[first].transaction];

    if (RESERVE(c, &r->links, &r->link_capacity, r->link_count + 1)) {
        r->links[r->link_count] =
            (struct tms_dc_link){.first = first, .second = second, .next = from->edges};
        from->edges = (uint32_t)r->link_count++;
        c->seen.precise_edges++;
    }
}

/* The item `second` comes after `first`, if there is one. */
static void add_edge(struct tms_dc *c, uint32_t first, uint32_t second)
{
    struct tms_dc_replay *r = c->replay;
    uint32_t from = r->items[first].transaction, to = r->items[second].transaction;

    if (first == NONE || from == to || recently_added(r, from, to)) {
        return;
    }
    bool refused = r->transactions[to].refused == from;
    if (!refused && !reaches(c, to, from)) {
        insert_edge(c, first, second);
        return;
    }
    struct tms_dc_node *node = &c->nodes[r->items[second].node];
    assert(!node->name.unary); /* a single event has no edge out yet */
    node->closing++;
    c->host->closing_edges++;
    if (!refused) {
        r->transactions[to].refused = from;
        tms_dc_violate(c, first, second);
    }
}

/* ---- one item -------------------------------------------------------------------------- */

static bool enter_transaction(struct tms_dc *c, uint32_t number)
{
    struct tms_dc_replay *r = c->replay;
    struct tms_dc_item *item = &r->items[number];
    struct tms_dc_node *node = &c->nodes[item->node];

    assert(number > 0 && number < r->item_count);
    if (node->replay == NONE || node->name.unary) {
        if (!RESERVE(c, &r->transactions, &r->transaction_capacity, r->transaction_count + 1)) {
            return false;
        }
        r->transactions[r->transaction_count] = (struct tms_dc_transaction){0};
        node->replay = (uint32_t)r->transaction_count++;
    }
    item->transaction = node->replay;
    item->previous = r->transactions[item->transaction].last;
    r->transactions[item->transaction].last = number;
    return true;
}

static struct tms_dc_course *course_of(struct tms_dc *c, uint32_t thread)
{
    struct tms_dc_replay *r = c->replay;

    if (!RESERVE(c, &r->courses, &r->course_capacity, (size_t)thread + 1)) {
        return NULL;
    }
    struct tms_dc_course *course = &r->courses[thread];
    if (course->replay != r->number) {
        *course = (struct tms_dc_course){.replay = r->number};
    }
    assert(course->last < r->item_count && course->fork < r->item_count);
    return course;
}

static void follow_thread(struct tms_dc *c, uint32_t number)
{
    const struct tms_dc_item *item = &c->replay->items[number];
    struct tms_dc_course *course = course_of(c, thread_of(c, item));

    if (course != NULL) {
        uint32_t before = course->last != NONE ? course->last : course->fork;
        course->last = number;
        add_edge(c, before, number);
    }
}

static void fork_or_join(struct tms_dc *c, uint32_t number)
{
    const struct tms_dc_entry *entry = c->replay->items[number].entry;
    struct tms_dc_course *child = course_of(c, entry->target);

    if (child == NULL) {
        return;
    }
    if (entry->kind == TMS_OP_FORK) {
        child->fork = number;
    } else {
        add_edge(c, child->last, number);
    }
}

static struct tms_dc_cell *cell_of(struct tms_dc *c, const struct tms_dc_item *item)
{
    struct tms_dc_replay *r = c->replay;
    struct tms_dc_cells *cells = &r->cells[traits_of(item)->place];
    const struct tms_dc_entry *entry = item->entry;

    if (!RESERVE(c, &cells->cell, &cells->capacity, (size_t)entry->target + 1)) {
        return NULL;
    }
    struct tms_dc_cell *cell = &cells->cell[entry->target];
    if (cell->replay != r->number || cell->incarnation != entry->incarnation) {
        *cell = (struct tms_dc_cell){.replay = r->number, .incarnation = entry->incarnation};
    }
    return cell;
}

/* The item takes the place of an earlier one of its thread, which it comes after. */
static void add_sharer(struct tms_dc *c, struct tms_dc_cell *cell, uint32_t number)
{
    struct tms_dc_replay *r = c->replay;
    uint32_t thread = thread_of(c, &r->items[number]);

    assert(tms_op_shares(r->items[number].entry->kind));
    for (uint32_t at = cell->sharers; at != NONE; at = r->sharers[at].next) {
        if (thread_of(c, &r->items[r->sharers[at].item]) == thread) {
            r->sharers[at].item = number;
            return;
        }
    }
    if (RESERVE(c, &r->sharers, &r->sharer_capacity, r->sharer_count + 1)) {
        r->sharers[r->sharer_count] = (struct tms_dc_sharer){.item = number, .next = cell->sharers};
        cell->sharers = (uint32_t)r->sharer_count++;
    }
}

static void touch(struct tms_dc *c, uint32_t number)
{
    const struct tms_dc_replay *r = c->replay;
    const struct tms_dc_item *item = &r->items[number];
    struct tms_dc_cell *cell = cell_of(c, item);

    if (cell == NULL) {
        return;
    }
    add_edge(c, cell->write, number);
    if (tms_op_shares(item->entry->kind)) {
        add_sharer(c, cell, number);
        return;
    }
    for (uint32_t at = cell->sharers; at != NONE && !c->host->failed; at = r->sharers[at].next) {
        add_edge(c, r->sharers[at].item, number);
    }
    if (item->entry->kind != TMS_OP_DEPART) { /* arrivals stay, and departures leave no trace */
        cell->sharers = NONE;
        cell->write = number;
    }
}

static void replay_item(struct tms_dc *c, uint32_t number)
{
    const struct tms_dc_item *item = &c->replay->items[number];

    if (!enter_transaction(c, number)) {
        return;
    }
    follow_thread(c, number);
    if (tms_op_conflicts(item->entry->kind)) {
        touch(c, number);
    } else if (item->entry->kind == TMS_OP_FORK || item->entry->kind == TMS_OP_JOIN) {
        fork_or_join(c, number);
    }
}

/* ---- a component ----------------------------------------------------------------------- */

static void gather_log(struct tms_dc_replay *r, const struct tms_dc_node *node, uint32_t number)
{
    const struct tms_dc_chunk *chunk = node->log;
    uint32_t at = node->log_at;

    for (uint64_t i = 0; i < node->count; i++, at++) {
        assert(chunk != NULL && at <= CHUNK_ENTRIES);
        if (at == CHUNK_ENTRIES) {
            chunk = chunk->next;
            at = 0;
        }
        r->items[r->item_count++] =
            (struct tms_dc_item){.entry = &chunk->entry[at], .node = number};
    }
}

/* All entries of the members, in no order yet; and the members made ready. */
static bool gather(struct tms_dc *c, uint32_t owner)
{
    struct tms_dc_replay *r = c->replay;
    uint64_t wanted = c->nodes[owner].logged + 1;
    uint32_t member = owner;

    if (!RESERVE(c, &r->items, &r->item_capacity, wanted)) {
        return false;
    }
    r->item_count = 1;
    do {
        struct tms_dc_node *node = &c->nodes[member];
        node->replay = NONE;
        c->host->closing_edges -= node->closing; /* they are counted again */
        node->closing = 0;
        gather_log(r, node, member);
        member = node->next_member;
    } while (member != owner);
    assert(r->item_count == wanted);
    return true;
}

static int by_event(const void *a, const void *b)
{
    const struct tms_dc_item *one = a, *other = b;

    assert(one == other || one->entry->event != other->entry->event);
    return one->entry->event < other->entry->event ? -1 : 1;
}

void tms_dc_replay(struct tms_dc *c, uint32_t owner)
{
    struct tms_dc_replay *r = c->replay;

    assert(c->nodes[owner].owner == owner);
    if (!gather(c, owner)) {
        return;
    }
    qsort(&r->items[1], r->item_count - 1, sizeof(*r->items), by_event);
    r->number++;
    r->transaction_count = r->link_count = r->sharer_count = 1;
    for (uint32_t i = 1; i < r->item_count && !c->host->failed; i++) {
        replay_item(c, i);
    }
    c->nodes[owner].replayed = c->nodes[owner].logged;
    c->seen.replays++;
    c->seen.replayed += r->item_count - 1;
}

bool tms_dc_create_replay(struct tms_dc *c)
{
    c->replay = tms_resize(c->memory, NULL, 0, 1, sizeof(*c->replay));
    return c->replay != NULL;
}

void tms_dc_clear_replay(struct tms_dc *c)
{
    struct tms_dc_replay *r = c->replay;

    if (r == NULL) {
        return;
    }
    tms_release(c->memory, r->items, r->item_capacity, sizeof(*r->items));
    tms_release(c->memory, r->transactions, r->transaction_capacity, sizeof(*r->transactions));
    tms_release(c->memory, r->links, r->link_capacity, sizeof(*r->links));
    tms_release(c->memory, r->sharers, r->sharer_capacity, sizeof(*r->sharers));
    tms_release(c->memory, r->queue, r->queue_capacity, sizeof(*r->queue));
    tms_release(c->memory, r->touched, r->touched_capacity, sizeof(*r->touched));
    tms_release(c->memory, r->courses, r->course_capacity, sizeof(*r->courses));
    for (int i = 0; i < TMS_PLACES; i++) {
        tms_release(c->memory, r->cells[i].cell, r->cells[i].capacity, sizeof(struct tms_dc_cell));
    }
    tms_release(c->memory, r, 1, sizeof(*r));
}
