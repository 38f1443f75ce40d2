/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the cycles that the precise phase of doublechecker finds, step by step: the shortest path
 * back in the graph of the replay, or a single step where the two transactions at the closing edge
 * conflict directly, which last accesses alone may not show.
 */
#include <assert.h>
#include <stdlib.h>

#include "engines/doublechecker_replay.h"

/* Why the earlier of two items comes before the later, given that it does. */
static enum tms_edge_kind reason(const struct tms_dc *c, const struct tms_dc_item *a,
                                 const struct tms_dc_item *b)
{
    if (thread_of(c, a) == thread_of(c, b)) {
        return TMS_EDGE_PROGRAM_ORDER;
    }
    if (a->entry->kind == TMS_OP_FORK && a->entry->target == thread_of(c, b)) {
        return TMS_EDGE_FORK;
    }
    if (b->entry->kind == TMS_OP_JOIN && b->entry->target == thread_of(c, a)) {
        return TMS_EDGE_JOIN;
    }
    assert(traits_of(a)->place == traits_of(b)->place && a->entry->target == b->entry->target);
    return tms_conflict_edge(traits_of(a)->place, tms_op_shares(a->entry->kind),
                             tms_op_shares(b->entry->kind));
}

/* ---- the cycle ------------------------------------------------------------------------- */

static struct tms_transaction name_of(const struct tms_dc *c, const struct tms_dc_item *item)
{
    const struct tms_transaction *name = &c->nodes[item->node].name;

    if (!name->unary) {
        return *name;
    }
    return (struct tms_transaction){.begin_event = item->entry->event,
                                    .thread = name->thread,
                                    .location = item->entry->location,
                                    .unary = true};
}

static struct tms_step make_step(const struct tms_dc *c, uint32_t first, uint32_t second)
{
    const struct tms_dc_item *a = &c->replay->items[first], *b = &c->replay->items[second];
    enum tms_edge_kind kind = reason(c, a, b);
    struct tms_step step = {
        .from = name_of(c, a),
        .to = name_of(c, b),
        .first_event = a->entry->event,
        .second_event = b->entry->event,
        .first_location = a->entry->location,
        .second_location = b->entry->location,
        .kind = (uint8_t)kind,
        .first_kind = a->entry->event_kind,
        .second_kind = b->entry->event_kind,
    };

    if (kind == TMS_EDGE_FORK || kind == TMS_EDGE_JOIN) {
        step.on_class = TMS_CLASS_THREAD;
        step.on = kind == TMS_EDGE_FORK ? a->entry->target : b->entry->target;
    } else if (kind != TMS_EDGE_PROGRAM_ORDER) {
        step.on_class = tms_place_class[traits_of(a)->place];
        step.on = a->entry->target;
    }
    return step;
}

/* The transaction's items that touch something, for touch_each_other. */
static bool gather_touches(struct tms_dc *c, uint32_t transaction)
{
    struct tms_dc_replay *r = c->replay;

    for (uint32_t at = r->transactions[transaction].last; at != NONE; at = r->items[at].previous) {
        const struct tms_dc_entry *entry = r->items[at].entry;
        if (!tms_op_conflicts(entry->kind)) {
            continue;
        }
        if (!RESERVE(c, &r->touched, &r->touched_capacity, r->touched_count + 1)) {
            return false;
        }
        r->touched[r->touched_count++] = (struct tms_dc_touched){
            tms_op_traits[entry->kind].place, entry->target, entry->incarnation, at};
    }
    return true;
}

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_targets(const struct tms_dc_touched *a, const struct tms_dc_touched *b)
{
    int by_place = compare(a->place, b->place), by_target = compare(a->target, b->target);

    if (by_place != 0 || by_target != 0) {
        return by_place != 0 ? by_place : by_target;
    }
    return compare(a->incarnation, b->incarnation);
}

static int by_target(const void *a, const void *b)
{
    const struct tms_dc_touched *one = a, *other = b;
    int order = compare_targets(one, other);

    return order != 0 ? order : compare(one->item, other->item);
}

/* Does `from` touch something before `to` does, in conflict? Then *step is it. */
static bool touch_each_other(struct tms_dc *c, uint32_t from, uint32_t to, struct tms_dc_link *step)
{
    struct tms_dc_replay *r = c->replay;
    uint32_t last = NONE, last_exclusive = NONE; /* of `from`, on this target */

    r->touched_count = 0;
    if (!gather_touches(c, from) || !gather_touches(c, to) || r->touched_count == 0) {
        return false;
    }
    qsort(r->touched, r->touched_count, sizeof(*r->touched), by_target);
    for (size_t i = 0; i < r->touched_count; i++) {
        uint32_t at = r->touched[i].item;
        bool shares = tms_op_shares(r->items[at].entry->kind);
        if (i > 0 && compare_targets(&r->touched[i - 1], &r->touched[i]) != 0) {
            last = last_exclusive = NONE;
        }
        if (r->items[at].transaction == to) {
            *step = (struct tms_dc_link){.first = shares ? last_exclusive : last, .second = at};
            if (step->first != NONE) {
                return true;
            }
        } else if (r->items[at].entry->kind != TMS_OP_DEPART) {
            last = at;
            last_exclusive = shares ? last_exclusive : at;
        }
    }
    return false;
}

/* An edge from `from` to `to` by the definition: last accesses may show a longer way only. */
static bool find_direct(struct tms_dc *c, uint32_t from, uint32_t to, struct tms_dc_link *step)
{
    const struct tms_dc_replay *r = c->replay;
    uint32_t last = r->transactions[to].last;

    for (uint32_t at = r->transactions[from].last; at != NONE; at = r->items[at].previous) {
        if (r->items[at].entry->kind == TMS_OP_FORK &&
            r->items[at].entry->target == thread_of(c, &r->items[last])) {
            *step = (struct tms_dc_link){.first = at, .second = last};
            return true;
        }
    }
    /* `from` runs, so its thread was not joined: no need to check that. */
    return touch_each_other(c, from, to, step);
}

static uint32_t source_of(const struct tms_dc_replay *r, uint32_t link)
{
    return r->items[r->links[link].first].transaction;
}

static size_t path_length(const struct tms_dc_replay *r, uint32_t start, uint32_t end)
{
    size_t length = 0;

    for (uint32_t at = end; at != start; at = source_of(r, r->transactions[at].via)) {
        length++;
    }
    return length;
}

static void keep_cycle(struct tms_dc *c, struct tms_dc_node *node, struct tms_step *steps,
                       size_t count)
{
    struct tms_host *host = c->host;
    uint64_t event = steps[count - 1].second_event;

    c->seen.cycles += node->steps == NULL;
    tms_release(c->memory, node->steps, node->step_count, sizeof(*steps));
    node->steps = steps;
    node->step_count = count;
    /* A later replay may see an earlier cycle: not tms_host_first. */
    if (host->first_violation_event == 0 || event < host->first_violation_event) {
        host->first_violation_event = event;
    }
}

void tms_dc_violate(struct tms_dc *c, uint32_t first, uint32_t second)
{
    const struct tms_dc_replay *r = c->replay;
    struct tms_dc_node *node = &c->nodes[r->items[second].node];
    uint32_t end = r->items[first].transaction, start = r->items[second].transaction;
    struct tms_dc_link direct = {0};

    if (node->steps != NULL &&
        node->steps[node->step_count - 1].second_event <= r->items[second].entry->event) {
        return;
    }
    size_t length = path_length(r, start, end) + 1;
    bool shorter = length > 2 && find_direct(c, start, end, &direct);
    length = shorter ? 2 : length;
    struct tms_step *steps = tms_resize(c->memory, NULL, 0, length, sizeof(*steps));
    if (steps == NULL) {
        tms_host_fail(c->host, TMS_ERR_MEMORY);
        return;
    }
    steps[length - 1] = make_step(c, first, second);
    if (shorter) {
        steps[0] = make_step(c, direct.first, direct.second);
    } else {
        size_t at = length - 1;
        for (uint32_t to = end; to != start; to = source_of(r, r->transactions[to].via)) {
            const struct tms_dc_link *link = &r->links[r->transactions[to].via];
            steps[--at] = make_step(c, link->first, link->second);
        }
    }
    keep_cycle(c, node, steps, length);
}
