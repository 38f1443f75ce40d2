/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an edge does in the RegionTrack engines: it shows a violation, or it orders events and
 * transactions. join() of Algorithms 2 and 4, with checkHB() and, of Algorithm 3, updateTVC().
 *
 * The paper takes the edge in and then checks. Here the check comes first, and an edge that
 * closes a cycle is not taken into the graph; the answer is the same, since the edge changes
 * neither the entry that is looked at nor the clock of its source. Blame follows every edge.
 */
#include <assert.h>

#include "engines/regiontrack.h"

/* ---- violations ------------------------------------------------------------------------- */

static void violate(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                    const struct tms_op *op)
{
    assert(t->begin != 0 && t->violation_event <= op->event);
    tms_host_first(rt->host, op->event);
    if (t->violation_event == 0) {
        t->violation_event = op->event;
    }
}

void tms_regiontrack_hand_over(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t)
{
    assert(t->blame_event == 0 ||
           (t->violation_event != 0 && t->violation_event <= t->blame_event));
    if (t->violation_event != 0) {
        tms_host_violation(rt->host, &(struct tms_violation){
                                         .kind = "cycle",
                                         .evidence = TMS_EVIDENCE_OBSERVED,
                                         .event = t->violation_event,
                                         .thread = t->id,
                                         .not_atomic = t->blame_event != 0,
                                         .transaction = t->transaction,
                                         .refuted = t->refuted.block,
                                         .refuted_count = t->refuted.count,
                                     });
    }
    t->violation_event = 0;
    t->blame_event = 0;
    t->refuted.count = 0;
}

/* ---- the order of events: Algorithm 2 --------------------------------------------------- */

/* Of several edges into the first event that shows it, the one that refutes most counts. */
static void blame(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                  const struct tms_op *op, uint64_t own)
{
    assert(own >= t->begin && own < op->event);
    violate(rt, t, op);
    if (t->blame_event != 0 && (t->blame_event != op->event || t->left >= own)) {
        return;
    }
    t->blame_event = op->event;
    t->left = own;
    if (!tms_nesting_refute(&t->nesting, rt->memory, &t->transaction, own, &t->refuted)) {
        tms_host_fail(rt->host, TMS_ERR_MEMORY);
    }
}

/*
 * Events with the clock `past` come before this one; `own` is the last block of t whose begin
 * comes before an event of another thread among them.
 */
static void follow(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                   const struct tms_op *op, const struct tms_vector *past, uint64_t own)
{
    if (t->begin != 0 && own >= t->begin) { /* line 50; Algorithm 4, line 7 */
        assert(!rt->graph || rt->host->first_violation_event != 0);
        blame(rt, t, op, own);
    }
    if (!tms_vector_within(past, &t->clock)) {
        if (!tms_vector_join(rt->memory, &t->clock, past)) { /* line 46 */
            tms_host_fail(rt->host, TMS_ERR_MEMORY);
        }
        t->moved = true;
    }
}

/* ---- the order of transactions: Algorithms 3 and 4 -------------------------------------- */

/* A running transaction has its first edge out (Algorithm 3, lines 9 to 12). */
static bool become_source(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t)
{
    assert(t->begin != 0 && t->begin == t->number);
    forget_clock(&t->sinks);
    t->is_source = true;
    return tms_vector_set(rt->memory, &t->sinks, t->slot, NEVER - t->begin);
}

/* p reaches t's transaction from now on, and all that this one reaches (forwardPropagate). */
static bool reach(struct tms_regiontrack *rt, struct tms_regiontrack_thread *p,
                  const struct tms_regiontrack_thread *t)
{
    assert(p->is_source && p->begin != 0);
    return t->is_source ? tms_vector_join(rt->memory, &p->sinks, &t->sinks)
                        : tms_vector_set(rt->memory, &p->sinks, t->slot, NEVER - t->number);
}

/*
 * updateTVC: all that reach transaction `source` of thread u, itself included, now reach that of
 * t (backPropagate). Those that reach it already know what it reaches: clocks are closed.
 */
static bool update_tvc(struct tms_regiontrack *rt, uint32_t u, uint64_t source,
                       const struct tms_regiontrack_thread *t)
{
    struct tms_regiontrack_thread *from = &rt->threads[u];

    assert(u < rt->thread_count && u != t->slot);
    bool runs = from->begin != 0 && from->begin <= source;
    if (runs && !from->is_source && !become_source(rt, from)) {
        return false;
    }
    for (uint32_t slot = 0; slot < rt->thread_count; slot++) {
        struct tms_regiontrack_thread *p = &rt->threads[slot];
        bool learns =
            p->is_source && first_sink(p, u) <= source && first_sink(p, t->slot) > t->number;
        if (learns && !reach(rt, p, t)) {
            return false;
        }
    }
    return true;
}

/*
 * Transaction `source` of thread u has an event that comes before this one. The edge is implied
 * if one from that transaction of u, or a later one, was taken in before. Outside blocks each
 * other edge makes a new transaction; without one, an event is as good as its predecessor, since
 * no path leads to it but through that.
 */
static void edge(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                 const struct tms_op *op, uint32_t u, uint64_t source)
{
    assert(u < rt->thread_count && source > 0 && source <= op->event);
    if (u == t->slot || tms_vector_get(&t->in, u) >= source) {
        return;
    }
    rt->edges_seen++;
    if (t->begin == 0) {
        tms_regiontrack_advance(rt, t, op->event);
    } else if (t->is_source && first_sink(t, u) <= source) { /* Algorithm 4, line 9 */
        rt->host->closing_edges++;
        violate(rt, t, op);
        return;
    }
    rt->edges_taken++;
    if (!tms_vector_set(rt->memory, &t->in, u, source) || !update_tvc(rt, u, source, t)) {
        tms_host_fail(rt->host, TMS_ERR_MEMORY);
    }
}

/* ---- both ------------------------------------------------------------------------------- */

void tms_regiontrack_join(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                          const struct tms_op *op, uint32_t region)
{
    const struct tms_regiontrack_region *r = region_at(rt, region);

    assert(region > 0 && region <= rt->regions.count && r->references > 0);
    if (r->slot == t->slot) {
        return;
    }
    if (rt->graph) {
        edge(rt, t, op, r->slot, r->number);
    }
    if (rt->order) {
        follow(rt, t, op, &r->clock, tms_vector_get(&r->clock, t->slot));
    }
}

/*
 * Reduced clocks don't say who read. But whose transaction n is in the joined clock has an event
 * before some read, and no reader is missing: so these are edges of the closed graph, and they
 * imply all that there are.
 */
static void join_clocks(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                        const struct tms_op *op, const struct tms_regiontrack_read_clocks *clocks)
{
    for (uint32_t u = 0; rt->graph && u < clocks->joined.capacity; u++) {
        if (clocks->joined.at[u] != 0) {
            edge(rt, t, op, u, clocks->joined.at[u]);
        }
    }
    if (rt->order) {
        follow(rt, t, op, &clocks->joined, tms_vector_get(&clocks->check, t->slot));
    }
}

void tms_regiontrack_join_reads(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                                const struct tms_op *op, const struct tms_regiontrack_cell *cell)
{
    assert(cell->reads <= rt->reads.count);
    if (cell->reads != 0 && rt->reduced) {
        join_clocks(rt, t, op, &rt->reads.clocks[cell->reads]);
        return;
    }
    for (uint32_t i = cell->reads; i != 0; i = rt->reads.node[i].next) {
        tms_regiontrack_join(rt, t, op, rt->reads.node[i].region);
    }
}
