/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theorem 5: cycles of more than two transactions. Serial orders keep what no trace can change:
 * one transaction *comes before* another if it is an earlier one of the same thread, or if its
 * period ends before that of the other begins. All traces of the initial reads and final writes
 * are too many; but in one that no serial order explains, conflicts and that order make a cycle.
 * Such a cycle is a ring of links: it enters a transaction at an operation, and leaves by one of
 * the same transaction, or of another that it comes before:
 *
 *   a … b         two operations of the cut transaction, on different variables
 *   a → in, out → in, …, out → b      conflicts, from link to link
 *
 * Of the cycles of a trace take one with the fewest conflicts. No transaction of one link comes
 * before one of another link: going there directly would save a conflict. So transactions of
 * different links are in parallel periods, and no start or end of a thread keeps their steps apart.
 * In one transaction at least the cycle leaves before it enters, and at that transaction, the one
 * that is cut, the search starts.
 *
 * Shorter cycles are looked for first. For a cycle that conflicts allow, the search continues with
 * a schedule: every way to walk through its transactions, step by step, such that no two threads
 * hold locks that exclude each other and each conflict comes in its order.
 *
 * That is more than the theorem asks for: a cycle may still be explained by a serial order if a
 * transaction overwrites what it did not read. Nor does the schedule have the transactions that
 * run between the two of a link, which may need locks that are held then. So nothing is missed, and
 * alarms may be false.
 *
 * Blocks with a label for which there is a finding already are not looked at again.
 */
#include <assert.h>
#include <string.h>

#include "lockset/blocks.h"

#define STEPS_MOST  ((uint64_t)1 << 26) /* beyond it the search gives up: some seconds */
#define STATES_MOST ((size_t)1 << 16)   /* tried for one schedule … */
#define WALK_MOST   ((size_t)1 << 14)   /* … and steps of it: the walk is recursive */

/* An access on a contended cell. */
struct visit {
    uint32_t flow;
    uint32_t item;
    uint32_t next; /* on the same cell */
};

/* In at one flow, out at it or at one that it comes before; the first link is out first. */
struct link {
    uint32_t in_flow, in_item;
    uint32_t out_flow, out_item;
};

/*
 * The locks held in a link, step by step; nothing is held before, after and between two flows.
 * Steps that change nothing are left out.
 */
struct lane {
    size_t start; /* in `held` */
    uint32_t length;
    uint32_t in, out; /* the steps at which it is in, and out */
};

/* Where the links are. */
struct state {
    uint32_t at[TMS_BLOCKS_LINKS];
};

struct full {
    struct tms_blocks_engine *b;
    struct visit *visits; /* flow by flow; [0] is not used */
    size_t visit_count, visit_capacity;
    uint32_t *of_cell; /* by cell: its first visit */
    size_t cell_capacity;
    struct link links[TMS_BLOCKS_LINKS];
    size_t link_count;
    size_t wanted, deepest;  /* links of the cycles looked for now, and how far it came */
    struct tms_held through; /* held all the way between the operations of the cut one */
    struct lane lanes[TMS_BLOCKS_LINKS];
    struct tms_held *held;
    size_t held_count, held_capacity;
    struct state now;
    struct tms_intern_table seen;                        /* states of the schedule */
    struct tms_blocks_operation order[TMS_BLOCKS_TURNS]; /* of the schedule */
    size_t order_count;
    uint64_t steps;
    bool too_much; /* threads in a cycle, or states of a schedule */
};

static bool gave_up(const struct full *f)
{
    return f->too_much || f->steps > STEPS_MOST || f->b->host->failed != TMS_OK;
}

static const struct tms_blocks_flow *flow_of(const struct full *f, uint32_t number)
{
    assert(number > 0);
    return tms_blocks_flow(f->b, number);
}

static const struct tms_blocks_item *item_of(const struct full *f, uint32_t flow, uint32_t item)
{
    assert(item < flow_of(f, flow)->count);
    return &f->b->items[flow_of(f, flow)->items + item];
}

static const struct tms_transaction *transaction_of(const struct full *f, uint32_t flow)
{
    return &f->b->transactions[flow_of(f, flow)->transaction];
}

static struct tms_blocks_operation operation_of(const struct full *f, uint32_t flow, uint32_t item)
{
    const struct tms_blocks_item *at = item_of(f, flow, item);

    return (struct tms_blocks_operation){flow_of(f, flow)->transaction, at->target, &at->at};
}

/* ---- where cells are touched --------------------------------------------------------------- */

static bool is_contended(const struct full *f, const struct tms_blocks_item *item)
{
    return tms_blocks_is_access(item) && tms_blocks_contended(f->b, item->target);
}

static void index_flow(struct full *f, uint32_t flow)
{
    for (uint32_t i = 0; i < flow_of(f, flow)->count; i++) {
        const struct tms_blocks_item *item = item_of(f, flow, i);
        if (!is_contended(f, item)) {
            continue;
        }
        if (!RESERVE(f->b, &f->visits, &f->visit_capacity, f->visit_count + 1)) {
            return;
        }
        assert(item->target < f->b->cell_count);
        f->visits[f->visit_count] = (struct visit){flow, i, f->of_cell[item->target]};
        f->of_cell[item->target] = (uint32_t)f->visit_count++;
    }
}

static void index_flows(struct full *f)
{
    size_t count = tms_intern_table_count(&f->b->flows);

    f->visit_count = 1;
    if (RESERVE(f->b, &f->of_cell, &f->cell_capacity, f->b->cell_count)) {
        for (size_t i = 1; i <= count && !gave_up(f); i++) {
            index_flow(f, (uint32_t)i);
        }
    }
}

/* ---- the schedule ------------------------------------------------------------------------- */

static bool same_held(struct tms_held x, struct tms_held y)
{
    return x.any == y.any && x.exclusive == y.exclusive;
}

/* Adds the items up to `last`, and then a step with nothing held. */
static void add_steps(struct full *f, struct lane *lane, const struct link *link, uint32_t flow,
                      uint32_t last)
{
    assert(f->held_count > lane->start && last < flow_of(f, flow)->count);
    for (uint32_t i = 0; i <= last; i++) {
        struct tms_held held = item_of(f, flow, i)->held;
        uint32_t step = (uint32_t)(f->held_count - lane->start);
        bool in = flow == link->in_flow && i == link->in_item;
        bool out = flow == link->out_flow && i == link->out_item;
        if (in || out || !same_held(held, f->held[f->held_count - 1])) {
            f->held[f->held_count++] = held;
        }
        lane->in = in ? step : lane->in;
        lane->out = out ? step : lane->out;
    }
    f->held[f->held_count++] = (struct tms_held){0};
}

static bool make_lane(struct full *f, const struct link *link, struct lane *lane)
{
    uint32_t in_count = flow_of(f, link->in_flow)->count;
    size_t most = f->held_count + in_count + flow_of(f, link->out_flow)->count + 3;

    if (!RESERVE(f->b, &f->held, &f->held_capacity, most)) {
        return false;
    }
    *lane = (struct lane){.start = f->held_count};
    f->held[f->held_count++] = (struct tms_held){0};
    if (link->in_flow == link->out_flow) {
        bool in_last = link->in_item > link->out_item;
        add_steps(f, lane, link, link->in_flow, in_last ? link->in_item : link->out_item);
    } else {
        add_steps(f, lane, link, link->in_flow, in_count - 1);
        add_steps(f, lane, link, link->out_flow, link->out_item);
    }
    assert(f->held_count <= most && lane->in > 0 && lane->out > 0);
    lane->length = (uint32_t)(f->held_count - lane->start);
    return true;
}

/* May this link take its next step: in order, and with nothing that another holds? */
static bool may_step(struct full *f, size_t number)
{
    const struct lane *lane = &f->lanes[number];
    size_t before = (number + f->link_count - 1) % f->link_count;
    uint32_t to = f->now.at[number] + 1;

    assert(number < f->link_count && f->now.at[number] < lane->length);
    if (to == lane->length || (to == lane->in && f->now.at[before] < f->lanes[before].out)) {
        return false;
    }
    for (size_t i = 0; i < f->link_count; i++) {
        struct tms_held held = f->held[f->lanes[i].start + f->now.at[i]];
        if (i != number && tms_blocks_apart(f->b, f->held[lane->start + to], held)) {
            return false;
        }
    }
    return true;
}

static void take_step(struct full *f, size_t number)
{
    const struct link *link = &f->links[number];
    uint32_t at = ++f->now.at[number];

    assert(at < f->lanes[number].length);
    assert(f->order_count < TMS_BLOCKS_TURNS ||
           (at != f->lanes[number].in && at != f->lanes[number].out));
    if (at == f->lanes[number].in) {
        f->order[f->order_count++] = operation_of(f, link->in_flow, link->in_item);
    } else if (at == f->lanes[number].out) {
        f->order[f->order_count++] = operation_of(f, link->out_flow, link->out_item);
    }
}

static bool is_over(const struct full *f)
{
    for (size_t i = 0; i < f->link_count; i++) {
        if (f->now.at[i] < f->lanes[i].in || f->now.at[i] < f->lanes[i].out) {
            return false;
        }
    }
    return true;
}

/* The first time that the links are where they are now? */
static bool is_new_state(struct full *f)
{
    bool is_new;

    if (tms_intern_table_add(&f->seen, &f->now, &is_new) == 0) {
        tms_host_fail(f->b->host, TMS_ERR_MEMORY);
    }
    f->too_much |= tms_intern_table_count(&f->seen) > STATES_MOST;
    return is_new;
}

/* Does the schedule go on from here until the cycle is closed? */
static bool walk(struct full *f)
{
    if (is_over(f)) {
        return true;
    }
    if (!is_new_state(f) || gave_up(f)) {
        return false;
    }
    for (size_t i = 0; i < f->link_count; i++) {
        f->steps++;
        if (may_step(f, i)) {
            size_t noted = f->order_count;
            take_step(f, i);
            if (walk(f)) {
                return true;
            }
            f->now.at[i]--;
            f->order_count = noted;
        }
    }
    return false;
}

static bool has_schedule(struct full *f)
{
    assert(f->link_count >= 2 && f->link_count <= TMS_BLOCKS_LINKS);
    f->held_count = f->order_count = 0;
    for (size_t i = 0; i < f->link_count; i++) {
        if (!make_lane(f, &f->links[i], &f->lanes[i])) {
            return false;
        }
    }
    if (f->held_count > WALK_MOST) {
        f->too_much = true;
        return false;
    }
    memset(&f->now, 0, sizeof(f->now));
    tms_intern_table_empty(&f->seen);
    return walk(f);
}

/* ---- cycles ------------------------------------------------------------------------------- */

static bool conflict(const struct tms_blocks_item *x, const struct tms_blocks_item *y)
{
    assert(tms_blocks_is_access(x) && tms_blocks_is_access(y));
    return x->target == y->target && (x->kind == ITEM_WRITE || y->kind == ITEM_WRITE);
}

/* Does every trace and serial order have the one before the other? */
static bool comes_before(const struct full *f, uint32_t flow, uint32_t later)
{
    const struct tms_blocks_flow *x = flow_of(f, flow), *y = flow_of(f, later);

    if (transaction_of(f, flow)->thread == transaction_of(f, later)->thread) {
        return x->first_event < y->last_event;
    }
    return tms_periods_before(&f->b->periods, x->period, y->period);
}

static bool is_parallel(const struct full *f, uint32_t x, uint32_t y)
{
    return tms_periods_parallel(&f->b->periods, flow_of(f, x)->period, flow_of(f, y)->period);
}

/* Is the flow parallel to all flows of the first so many links? */
static bool fits_in(const struct full *f, uint32_t flow, size_t links)
{
    for (size_t i = 0; i < links; i++) {
        const struct link *link = &f->links[i];
        if (!is_parallel(f, flow, link->in_flow) ||
            (link->out_flow != link->in_flow && !is_parallel(f, flow, link->out_flow))) {
            return false;
        }
    }
    return true;
}

/* Can the last link, which is in, be out at this flow? */
static bool leads_to(const struct full *f, uint32_t flow)
{
    uint32_t in = f->links[f->link_count - 1].in_flow;

    return flow == in || (comes_before(f, in, flow) && fits_in(f, flow, f->link_count - 1));
}

static bool go_on(struct full *f);

/* The last link is out at this visit: is that the cycle, or can it become one? */
static bool leave_by(struct full *f, const struct visit *out)
{
    struct link *last = &f->links[f->link_count - 1];

    last->out_flow = out->flow;
    last->out_item = out->item;
    if (f->link_count < f->wanted) {
        return go_on(f);
    }
    bool two = f->link_count == 2 && last->in_flow == last->out_flow; /* blocks_2v.c saw it */
    return !two && has_schedule(f);
}

/* All ways out of the transaction that the last link came into, or out of later ones. */
static bool leave(struct full *f)
{
    const struct tms_blocks_item *goal = item_of(f, f->links[0].in_flow, f->links[0].in_item);
    bool closing = f->link_count == f->wanted;

    for (uint32_t i = closing ? f->of_cell[goal->target] : 1;
         i != 0 && i < f->visit_count && !gave_up(f); i = closing ? f->visits[i].next : i + 1) {
        const struct visit *visit = &f->visits[i];
        f->steps++;
        if ((!closing || conflict(item_of(f, visit->flow, visit->item), goal)) &&
            leads_to(f, visit->flow) && leave_by(f, visit)) {
            return true;
        }
    }
    return false;
}

/*
 * Does the second link come in while the first is cut? In a cycle that happens there is one after
 * whose out, and before whose in, the next comes in: else each would come in later than the one
 * before it, all around. The search starts there.
 */
static bool comes_in(struct full *f, const struct tms_blocks_item *item)
{
    return f->link_count > 1 || !tms_blocks_apart(f->b, f->through, item->held);
}

/* All ways from where the last link is out into another link. */
static bool go_on(struct full *f)
{
    const struct link last = f->links[f->link_count - 1];
    const struct tms_blocks_item *out = item_of(f, last.out_flow, last.out_item);

    for (uint32_t i = f->of_cell[out->target]; i != 0 && !gave_up(f); i = f->visits[i].next) {
        const struct visit *visit = &f->visits[i];
        const struct tms_blocks_item *in = item_of(f, visit->flow, visit->item);
        f->steps++;
        if (!conflict(out, in) || !fits_in(f, visit->flow, f->link_count) || !comes_in(f, in)) {
            continue;
        }
        assert(f->link_count < f->wanted && f->wanted <= TMS_BLOCKS_LINKS);
        f->links[f->link_count++] = (struct link){.in_flow = visit->flow, .in_item = visit->item};
        f->deepest = f->link_count > f->deepest ? f->link_count : f->deepest;
        if (leave(f)) {
            return true;
        }
        f->link_count--;
    }
    return false;
}

/* ---- where to start ------------------------------------------------------------------------ */

static void report(struct full *f)
{
    struct tms_step cycle[TMS_BLOCKS_TURNS];
    struct tms_blocks_operation out = operation_of(f, f->links[0].out_flow, f->links[0].out_item);
    struct tms_blocks_operation goal = operation_of(f, f->links[0].in_flow, f->links[0].in_item);
    size_t count = 0;

    for (size_t i = 1; i < f->link_count; i++) {
        const struct link *link = &f->links[i];
        struct tms_blocks_operation in = operation_of(f, link->in_flow, link->in_item);
        cycle[count++] = tms_blocks_step(f->b, &out, &in);
        out = operation_of(f, link->out_flow, link->out_item);
        if (link->in_flow != link->out_flow) {
            cycle[count++] = tms_blocks_step_on(f->b, &in, &out);
        }
    }
    cycle[count++] = tms_blocks_step(f->b, &out, &goal);
    assert(count >= 2 && count <= TMS_BLOCKS_TURNS);
    tms_blocks_report_cycle(f->b, cycle, count,
                            tms_blocks_refuted(f->b, flow_of(f, f->links[0].out_flow),
                                               f->links[0].out_item, f->links[0].in_item),
                            f->order, f->order_count);
}

/* The cycles in which the flow is cut after this item. */
static bool cut_after(struct full *f, uint32_t flow, uint32_t first)
{
    const struct tms_blocks_item *out = item_of(f, flow, first);

    f->through = out->held;
    for (uint32_t i = first + 1; i < flow_of(f, flow)->count && !gave_up(f); i++) {
        const struct tms_blocks_item *item = item_of(f, flow, i);
        f->steps++;
        if (!tms_blocks_is_access(item)) {
            f->through = tms_held_both(&f->b->locksets, f->through, item->held);
        } else if (item->target != out->target && is_contended(f, item)) {
            f->links[0] = (struct link){flow, i, flow, first};
            f->link_count = 1;
            if (go_on(f)) {
                return true;
            }
        }
    }
    return false;
}

static void cut(struct full *f, uint32_t flow)
{
    for (uint32_t i = 0; i < flow_of(f, flow)->count && !gave_up(f); i++) {
        if (is_contended(f, item_of(f, flow, i)) && cut_after(f, flow, i)) {
            report(f);
            tms_blocks_flow(f->b, flow)->cut = true;
            return;
        }
    }
}

/* Has a finding named this block already? */
static bool is_settled(const struct full *f, uint32_t flow)
{
    uint32_t label = transaction_of(f, flow)->label;

    return flow_of(f, flow)->cut || (label < f->b->blamed_capacity && f->b->blamed[label]);
}

/* One round for cycles of that length; is there a transaction left that longer ones could cut? */
static bool search_round(struct full *f)
{
    size_t flows = tms_intern_table_count(&f->b->flows);
    bool left = false;

    for (size_t i = 1; i <= flows && !gave_up(f); i++) {
        if (!is_settled(f, (uint32_t)i) && flow_of(f, (uint32_t)i)->count > 1) {
            cut(f, (uint32_t)i);
            left |= !is_settled(f, (uint32_t)i);
        }
    }
    return left && f->deepest >= f->wanted; /* no chain of conflicts grows once it has stopped */
}

static void search(struct full *f)
{
    for (f->wanted = 2; search_round(f) && !gave_up(f); f->wanted++) {
        f->too_much = f->wanted == TMS_BLOCKS_LINKS;
    }
}

void tms_blocks_compare_full(struct tms_blocks_engine *b)
{
    struct full f = {.b = b};

    tms_intern_table_init(&f.seen, b->memory, sizeof(struct state), sizeof(struct state));
    index_flows(&f);
    search(&f);
    if (gave_up(&f)) {
        b->host->loss = TMS_BLOCKS_GAVE_UP_CYCLES;
    }
    b->seen.cycle_steps = f.steps;
    tms_release(b->memory, f.visits, f.visit_capacity, sizeof(*f.visits));
    tms_release(b->memory, f.of_cell, f.cell_capacity, sizeof(*f.of_cell));
    tms_release(b->memory, f.held, f.held_capacity, sizeof(*f.held));
    tms_intern_table_clear(&f.seen);
}
