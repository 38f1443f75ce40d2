/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extracts the cycle of a violation of the frontier engine.
 *
 * Shortest first: if the running transaction already conflicts directly with the one that the
 * closing edge comes from, two steps suffice. That is looked up in the logs of the two threads,
 * which hold every access that was not a repetition, so each conflict between the two transactions
 * shows there; a log reaches LOG_MOST entries back.
 *
 * Otherwise the matrix has a path. Each entry has the last edge of a path from the running
 * transaction to the column's thread; where that edge starts, the row has an entry again. Walking
 * back ends at the running transaction, because every hop goes back in an acyclic graph (`graph`)
 * or in time (`order`). Where an edge ends in an earlier transaction of a thread than the next one
 * starts from, the step between them is program order.
 *
 * Cost: one log entry per recorded access; per reported transaction, the length of the two
 * transactions, or k steps.
 */
#include <assert.h>
#include <string.h>

#include "frontier/frontier.h"
#include "frontier/frontier_invariants.h"

/* ---- two steps -------------------------------------------------------------------------- */

/* An object that the running transaction accessed: the first access and the first exclusive one. */
struct tms_frontier_touch {
    uint64_t key; /* class << 32 | id */
    const struct tms_op *any, *exclusive;
};

static uint64_t touch_key(const struct tms_op *entry)
{
    return (uint64_t)tms_event_class(entry->event_kind) << 32 | entry->target;
}

/*
 * Can it be the earlier of two that conflict? A departure conflicts with no later event, a fork
 * with all of the new thread (find_fork).
 */
static bool can_lead(const struct tms_op *entry)
{
    return entry->kind == TMS_OP_FORK ||
           (tms_op_conflicts(entry->kind) && entry->kind != TMS_OP_DEPART);
}

static bool is_exclusive(const struct tms_op *entry)
{
    return tms_op_traits[entry->kind].conflict == TMS_CONFLICT_EXCLUSIVE;
}

/* NULL if the running transaction has not touched it. */
static struct tms_frontier_touch *touch_find(const struct tms_frontier *f, uint64_t key)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&f->touched_index, tms_hash(key), &walk);

    while (found != 0 && f->touched[found - 1].key != key) {
        found = tms_hash_next(&walk);
    }
    return found != 0 ? &f->touched[found - 1] : NULL;
}

static struct tms_frontier_touch *touch_make(struct tms_frontier *f, uint64_t key)
{
    struct tms_frontier_touch *touch = touch_find(f, key);
    size_t next = f->touched_count + 1;

    if (touch != NULL) {
        return touch;
    }
    if (!TMS_RESERVE(f->memory, &f->touched, &f->touched_capacity, next, 16) ||
        !tms_hashtable_add(&f->touched_index, f->memory, tms_hash(key), (uint32_t)next)) {
        return NULL;
    }
    touch = &f->touched[f->touched_count++];
    *touch = (struct tms_frontier_touch){.key = key};
    return touch;
}

/* Indexes the accesses of t's running transaction. False if out of memory. */
static bool touch_all(struct tms_frontier *f, const struct tms_frontier_thread *t)
{
    uint64_t first = tms_log_find(&t->log, t->begin);

    f->touched_count = 0;
    tms_hashtable_empty(&f->touched_index);
    for (uint64_t i = first; i < log_written(&t->log); i++) {
        const struct tms_op *entry = log_at(&t->log, i);
        if (!can_lead(entry)) {
            continue;
        }
        struct tms_frontier_touch *touch = touch_make(f, touch_key(entry));
        if (touch == NULL) {
            return false;
        }
        touch->any = touch->any != NULL ? touch->any : entry;
        if (is_exclusive(entry) && touch->exclusive == NULL) {
            touch->exclusive = entry;
        }
    }
    return true;
}

static bool conflicts(const struct tms_op *first, const struct tms_op *second)
{
    return first->event < second->event && (is_exclusive(first) || is_exclusive(second));
}

/* The last such access of t's running transaction before `second`: the shortest witness. */
static const struct tms_op *last_conflict(const struct tms_frontier *f,
                                          const struct tms_frontier_thread *t,
                                          const struct tms_op *second)
{
    uint64_t first = tms_log_find(&t->log, t->begin);

    for (uint64_t i = tms_log_find(&t->log, second->event); i-- > first;) {
        const struct tms_op *entry = log_at(&t->log, i);
        bool meets = (entry->spared | second->spared) != TMS_OP_SPARES_ALL;
        if (meets && can_lead(entry) && touch_key(entry) == touch_key(second) &&
            conflicts(entry, second)) {
            return f->port->renewed(f, entry, second) ? NULL : entry;
        }
    }
    return NULL;
}

/* An access of t's running transaction that conflicts with the later `second`, or NULL. */
static const struct tms_op *find_conflict(const struct tms_frontier *f,
                                          const struct tms_frontier_thread *t,
                                          const struct tms_op *second)
{
    if (!tms_op_conflicts(second->kind)) {
        return NULL;
    }
    const struct tms_frontier_touch *touch = touch_find(f, touch_key(second));
    const struct tms_op *first = touch == NULL          ? NULL
                                 : is_exclusive(second) ? touch->any
                                                        : touch->exclusive;
    bool some = first != NULL && conflicts(first, second);
    return some ? last_conflict(f, t, second) : NULL;
}

static uint8_t edge_kind(const struct tms_op *first, const struct tms_op *second)
{
    return first->kind == TMS_OP_FORK ? TMS_EDGE_FORK
                                      : (uint8_t)tms_conflict_edge(tms_op_traits[first->kind].place,
                                                                   tms_op_shares(first->kind),
                                                                   tms_op_shares(second->kind));
}

/* The step from the running transaction (closing->to) to the source of the closing edge. */
static struct tms_step direct_step(const struct tms_step *closing, const struct tms_op *first,
                                   const struct tms_op *second)
{
    return (struct tms_step){
        .from = closing->to,
        .to = closing->from,
        .first_event = first->event,
        .second_event = second->event,
        .first_location = first->location,
        .second_location = second->location,
        .on = first->target,
        .on_class = (uint8_t)tms_event_class(first->event_kind),
        .kind = edge_kind(first, second),
        .first_kind = first->event_kind,
        .second_kind = second->event_kind,
    };
}

/* The running transaction forked the other thread: any event of that one conflicts with it. */
static bool find_fork(const struct tms_frontier *f, const struct tms_step *closing,
                      struct tms_step *out)
{
    uint64_t key = (uint64_t)TMS_CLASS_THREAD << 32 | closing->from.thread;
    const struct tms_frontier_touch *touch = touch_find(f, key);

    if (touch == NULL) {
        return false;
    }
    struct tms_op second = {
        .event = closing->first_event,
        .location = closing->first_location,
        .event_kind = closing->first_kind,
        .kind = TMS_OP_STEP,
    };
    *out = direct_step(closing, touch->any, &second);
    return true;
}

static bool is_mark(const struct tms_op *entry)
{
    return entry->kind == TMS_OP_BEGIN || entry->kind == TMS_OP_END;
}

/* The entries of the transaction that the closing edge comes from. */
static void find_entries(const struct tms_frontier_log *log,
                         const struct tms_transaction *transaction, uint64_t *from, uint64_t *to)
{
    uint64_t i = tms_log_find(log, transaction->begin_event);

    if (transaction->unary) {
        *from = i;
        *to = i + (i < log_written(log) && log_at(log, i)->event == transaction->begin_event);
        return;
    }
    *from = *to = i + 1;
    if (i >= log_written(log) || log_at(log, i)->kind != TMS_OP_BEGIN ||
        log_at(log, i)->event != transaction->begin_event) {
        return; /* overwritten in the log */
    }
    while (*to < log_written(log) && !is_mark(log_at(log, *to))) {
        ++*to;
    }
}

/* A conflict that leads from the running transaction of t straight to the source of `closing`. */
static bool find_direct(struct tms_frontier *f, const struct tms_frontier_thread *t,
                        const struct tms_frontier_thread *u, const struct tms_step *closing,
                        struct tms_step *out)
{
    uint64_t i, end;

    if (!touch_all(f, t)) {
        return false;
    }
    if (find_fork(f, closing, out)) {
        return true;
    }
    find_entries(&u->log, &closing->from, &i, &end);
    for (; i < end; i++) {
        const struct tms_op *second = log_at(&u->log, i);
        const struct tms_op *first = find_conflict(f, t, second);
        if (first != NULL) {
            *out = direct_step(closing, first, second);
            return true;
        }
    }
    return false;
}

/* ---- paths through a matrix ------------------------------------------------------------- */

static bool need_steps(struct tms_frontier *f, struct tms_frontier_pending *pending, size_t count)
{
    if (TMS_RESERVE(f->memory, &pending->steps, &pending->capacity, count, 8)) {
        return true;
    }
    tms_frontier_fail(f, TMS_ERR_MEMORY);
    return false;
}

static bool same_transaction(const struct tms_transaction *a, const struct tms_transaction *b)
{
    return a->thread == b->thread && a->begin_event == b->begin_event;
}

/*
 * The program order step from the end of one step to the start of the next, two transactions of one
 * thread.
 */
static struct tms_step program_order(const struct tms_step *before, const struct tms_step *after)
{
    return (struct tms_step){
        .from = before->to,
        .to = after->from,
        .first_event = before->second_event,
        .second_event = after->first_event,
        .first_location = before->second_location,
        .second_location = after->first_location,
        .kind = TMS_EDGE_PROGRAM_ORDER,
        .first_kind = before->second_kind,
        .second_kind = after->first_kind,
    };
}

/* Writes the steps of the path backwards, the closing one first; their number, or 0. */
static size_t walk_back(struct tms_frontier *f, struct tms_frontier_thread *t,
                        const struct tms_reach *reach, const struct tms_step *closing,
                        uint32_t from)
{
    struct tms_frontier_pending *pending = &t->pending;
    size_t count = 0;

    if (!need_steps(f, pending, 1)) {
        return 0;
    }
    pending->steps[count++] = *closing;
    while (from != t->slot) {
        const struct tms_edge *edge = &f->edges.edge[tms_reach_edge(reach, t->row, from)];
        assert(tms_reach_edge(reach, t->row, from) != 0);
        if (!need_steps(f, pending, count + 2)) {
            return 0;
        }
        if (!same_transaction(&edge->step.to, &pending->steps[count - 1].from)) {
            pending->steps[count] = program_order(&edge->step, &pending->steps[count - 1]);
            count++;
        }
        pending->steps[count++] = edge->step;
        assert(edge->from != from && count <= 2u * f->slot_count);
        from = edge->from;
    }
    return count;
}

/* Cuts out the steps between two visits to one transaction; returns the new length. */
static size_t cut_loops(struct tms_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t last = i;
        for (size_t j = i + 1; j < count; j++) {
            if (same_transaction(&steps[j].from, &steps[i].from)) {
                last = j;
            }
        }
        if (last > i) {
            memmove(&steps[i], &steps[last], (count - last) * sizeof(*steps));
            count -= last - i;
        }
    }
    return count;
}

static void reverse(struct tms_step *steps, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct tms_step step = steps[i];
        steps[i] = steps[count - 1 - i];
        steps[count - 1 - i] = step;
    }
}

/* ---- violations ------------------------------------------------------------------------- */

static size_t short_cycle(struct tms_frontier *f, struct tms_frontier_thread *t,
                          const struct tms_step *closing, uint32_t from)
{
    struct tms_step direct;

    if (!find_direct(f, t, f->threads[from], closing, &direct) || !need_steps(f, &t->pending, 2)) {
        return 0;
    }
    t->pending.steps[0] = direct;
    t->pending.steps[1] = *closing;
    return 2;
}

/* A path on which events only go forward explains blame best, so `order` is tried first. */
static size_t any_cycle(struct tms_frontier *f, struct tms_frontier_thread *t,
                        const struct tms_step *closing, uint32_t from, bool blamed)
{
    size_t count = walk_back(f, t, blamed ? &f->order : &f->graph, closing, from);

    reverse(t->pending.steps, count);
    assert(tms_cycle_holds(t->pending.steps, count));
    return cut_loops(t->pending.steps, count);
}

/*
 * The event by which t's transaction leads to the source of an edge that blames: one in the
 * innermost block that does. Without rows for blocks (frontier_nested.c) one of those that do.
 */
static uint64_t left_by(const struct tms_frontier *f, const struct tms_frontier_thread *t,
                        const struct tms_step *closing, uint32_t from)
{
    uint64_t begin = tms_frontier_nested_to(f, t, from, closing->first_event);
    const struct tms_edge *edge;

    if (begin != 0) {
        return begin;
    }
    do {
        edge = &f->edges.edge[tms_reach_edge(&f->order, t->row, from)];
        from = edge->from;
    } while (from != t->slot);
    return edge->step.first_event;
}

static void blame(struct tms_frontier *f, struct tms_frontier_thread *t,
                  const struct tms_step *closing, uint32_t from)
{
    struct tms_frontier_pending *pending = &t->pending;
    uint64_t left = left_by(f, t, closing, from);

    assert(!pending->violation.not_atomic || pending->blamed_at == closing->second_event);
    pending->violation.not_atomic = true;
    pending->blamed_at = closing->second_event;
    pending->left = left > pending->left ? left : pending->left;
}

/* The current event shows blame. A cycle that is a proof has the step by which it leaves. */
static void refute(struct tms_frontier *f, struct tms_frontier_thread *t)
{
    struct tms_frontier_pending *pending = &t->pending;
    const struct tms_violation *violation = &pending->violation;
    bool proves = violation->event == pending->blamed_at &&
                  tms_cycle_proves(pending->steps, violation->cycle_length);

    if (!tms_nesting_refute(&t->nesting, f->memory, &violation->transaction,
                            proves ? pending->steps[0].first_event : pending->left,
                            &pending->refuted)) {
        tms_frontier_fail(f, TMS_ERR_MEMORY);
    }
}

static void show_cycle(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_step *closing, uint32_t from, bool blamed)
{
    struct tms_violation *violation = &t->pending.violation;

    /* Of several edges that close a cycle at one event, prefer one that needs only two steps. */
    if (violation->event != closing->second_event || violation->cycle_length == 2) {
        return;
    }
    size_t count = short_cycle(f, t, closing, from);
    if (count == 0 && violation->cycle_length == 0) {
        count = any_cycle(f, t, closing, from, blamed);
    }
    if (count != 0) {
        violation->cycle_length = count;
    }
}

void tms_frontier_violation(struct tms_frontier *f, struct tms_frontier_thread *t,
                            const struct tms_step *closing, uint32_t from, bool cycle, bool blamed)
{
    struct tms_violation *violation = &t->pending.violation;

    if (cycle) {
        f->closing_edges++;
        if (f->first_violation == 0) {
            f->first_violation = closing->second_event;
        }
    }
    if (!t->pending.open) {
        *violation = (struct tms_violation){
            .kind = "cycle",
            .evidence = TMS_EVIDENCE_OBSERVED,
            .event = closing->second_event,
            .thread = t->id,
            .transaction = closing->to,
        };
        t->pending.open = true;
        t->pending.blamed_at = t->pending.left = 0;
    }
    show_cycle(f, t, closing, from, blamed);
    if (blamed && (!violation->not_atomic || t->pending.blamed_at == closing->second_event)) {
        blame(f, t, closing, from);
    }
    if (t->pending.blamed_at == closing->second_event) {
        refute(f, t);
    }
}

const struct tms_violation *tms_frontier_pending(struct tms_frontier_thread *t)
{
    struct tms_violation *violation = &t->pending.violation;

    if (!t->pending.open) {
        return NULL;
    }
    violation->cycle = t->pending.steps;
    if (violation->not_atomic) {
        violation->refuted = t->pending.refuted.block;
        violation->refuted_count = t->pending.refuted.count;
    }
    return violation;
}

void tms_frontier_settle(struct tms_frontier *f, struct tms_frontier_thread *t)
{
    const struct tms_violation *violation = tms_frontier_pending(t);

    if (violation != NULL) {
        assert(tms_cycle_holds(violation->cycle, violation->cycle_length));
        int code = f->port->violation(f, violation);
        t->pending.open = false;
        if (code != TMS_OK) {
            tms_frontier_fail(f, code);
        }
    }
}

void tms_witness_clear(struct tms_frontier *f)
{
    for (uint32_t slot = FIRST_SLOT; slot < f->slot_count; slot++) {
        struct tms_frontier_thread *t = f->threads[slot];
        tms_release(f->memory, t->log.entry, t->log.capacity, sizeof(*t->log.entry));
        tms_release(f->memory, t->pending.steps, t->pending.capacity, sizeof(*t->pending.steps));
        tms_refuted_clear(&t->pending.refuted, f->memory);
        tms_nesting_clear(&t->nesting, f->memory);
    }
    tms_release(f->memory, f->forgotten.entry, f->forgotten.capacity, sizeof(struct tms_op));
    tms_release(f->memory, f->touched, f->touched_capacity, sizeof(*f->touched));
    tms_hashtable_clear(&f->touched_index, f->memory);
}
