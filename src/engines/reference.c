/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definition, as plainly as it can be run. It is the oracle that the fast engines are
 * compared with, so nothing here is clever: every event is kept, a new event is held against
 * every earlier one, and every question about the graph is answered by searching it.
 *
 * An earlier event a and a later event b conflict when they are of one thread; when a forks
 * the thread of b or b joins the thread of a; when both access one variable and not both only
 * read it; when both operate on one lock and not both share it; when a arrives at the barrier
 * from which b departs. T -> T' is an edge when they are different transactions and an event of
 * T conflicts with a later event of T'. The trace is serializable iff this graph is acyclic.
 *
 * Two graphs are kept: `all` has every edge, `kept` leaves out those that would have closed a
 * cycle in it, so that it stays acyclic and the rest of the trace is still checked. An edge
 * into T closes a cycle when T reaches its source in `kept`. Witnesses are shortest paths in
 * `all`: its edges are as real, and no two-step cycle is missed because a step was refused.
 *
 * Blame: tx is not atomic iff tx.begin -> x -> m for an event x of another thread and an event
 * m of tx, -> being happens-before, the transitive closure of conflict. The last edge on the
 * way into the first such m comes from another thread (one from the same thread would come
 * from an event of tx that shows it already), so its source will do for x. `past` holds for
 * every event all that happened before it, over every edge, refused or not.
 *
 * Refuted blocks: those open at m that had begun when the proof left tx; that is by the first
 * event of the cycle if this one goes forward only, and else by the last event of tx that
 * happened before such a source.
 *
 * Cost: n^2/2 conflict tests and, per event that brings a new edge, a search over n^2 bits of
 * graph. Hence the bound on the length of a trace: that many events take seconds.
 */
#include <assert.h>
#include <string.h>

#include "engine_api/engine.h"
#include "engine_api/nesting.h"

#define MOST_EVENTS 10000 /* also in the info below */
#define LEAST_ITEMS 64
#define NONE        UINT32_MAX
#define NO_CONFLICT (-1)
#define ROW_WORDS   ((MOST_EVENTS + 63) / 64)

/* A set of events or of transactions: ROW_WORDS words, a bit for each. */
typedef uint64_t row;

struct event {
    struct tms_op op;
    uint32_t incarnation; /* of the variable: FORGET makes a new one */
    uint32_t transaction;
    row *past; /* the events that happened before it */
};

enum graph { ALL, KEPT };

/* The relation of a transaction to the current event. */
enum mark {
    SOURCE = 1,  /* an event of it conflicts with the event */
    CLOSING = 2, /* the edge from it closes a cycle in `kept` */
    BLAMING = 4, /* the edge from it shows that the event's transaction is not atomic */
};

struct transaction {
    struct tms_transaction name;
    uint32_t first; /* its first event; NONE while it has none */
    row *edges[2];  /* by enum graph: where its edges lead */
    bool violated, not_atomic;
    uint64_t violation_event;
    struct tms_step *cycle;
    size_t cycle_length;
    struct tms_refuted refuted;
    unsigned marks;
    uint32_t came_from; /* of the search, if it was reached */
};

/* Numbers by id, zero at first. */
struct table {
    uint32_t *items;
    size_t count;
};

struct reference {
    struct tms_host *host;
    struct event *events; /* room for MOST_EVENTS; so the next two */
    struct transaction *transactions;
    uint32_t *queue; /* of the search: what was reached, nearest first */
    row *reached;    /* the same as a set */
    uint32_t event_count, transaction_count, queue_count;
    struct table open;            /* by thread: 1 + its active transaction, or 0 */
    struct table incarnations;    /* by variable */
    struct tms_nesting *nestings; /* by thread */
    size_t nesting_count;
    uint64_t edges;
};

/* ---- rows and tables ------------------------------------------------------------------ */

static bool has(const row *set, size_t index)
{
    return (set[index / 64] >> (index % 64) & 1) != 0;
}

static void add(row *set, size_t index)
{
    assert(index < ROW_WORDS * 64);
    set[index / 64] |= UINT64_C(1) << (index % 64);
}

static void add_all(row *set, const row *more, size_t count)
{
    for (size_t i = 0; i < (count + 63) / 64; i++) {
        set[i] |= more[i];
    }
}

static row *new_row(struct reference *r)
{
    row *set = tms_resize(&r->host->memory, NULL, 0, ROW_WORDS, sizeof(*set));

    if (set == NULL) {
        tms_host_fail(r->host, TMS_ERR_MEMORY);
    }
    return set;
}

/* The number of an id, or NULL when memory is short. */
static uint32_t *item(struct reference *r, struct table *table, uint32_t id)
{
    if (!TMS_RESERVE(&r->host->memory, &table->items, &table->count, (size_t)id + 1, LEAST_ITEMS)) {
        tms_host_fail(r->host, TMS_ERR_MEMORY);
        return NULL;
    }
    return &table->items[id];
}

/* ---- conflict ------------------------------------------------------------------------- */

/* How operations touch their targets. Two touches of one thing conflict unless both share. */
static const struct touch {
    enum tms_class cls;
    bool shares;
} touches[TMS_OP_COUNT] = {
    [TMS_OP_READ] = {TMS_CLASS_VARIABLE, true},
    [TMS_OP_WRITE] = {TMS_CLASS_VARIABLE, false},
    [TMS_OP_UPDATE] = {TMS_CLASS_VARIABLE, false},
    [TMS_OP_ACQUIRE] = {TMS_CLASS_LOCK, false},
    [TMS_OP_RELEASE] = {TMS_CLASS_LOCK, false},
    [TMS_OP_SHARED_ACQUIRE] = {TMS_CLASS_LOCK, true},
    [TMS_OP_SHARED_RELEASE] = {TMS_CLASS_LOCK, true},
};

/* Why two touches of one target conflict, or NO_CONFLICT. */
static int touch_conflict(const struct touch *a, const struct touch *b)
{
    if (a->cls == TMS_CLASS_NONE || a->cls != b->cls || (a->shares && b->shares)) {
        return NO_CONFLICT;
    }
    if (a->cls == TMS_CLASS_LOCK) {
        return TMS_EDGE_LOCK;
    }
    if (a->shares) {
        return TMS_EDGE_READ_WRITE;
    }
    return b->shares ? TMS_EDGE_WRITE_READ : TMS_EDGE_WRITE_WRITE;
}

/* Why an earlier event `a` conflicts with a later `b`: an enum tms_edge_kind, or NO_CONFLICT. */
static int conflict(const struct event *a, const struct event *b)
{
    if (a->op.thread == b->op.thread) {
        return TMS_EDGE_PROGRAM_ORDER;
    }
    if (a->op.kind == TMS_OP_FORK && a->op.target == b->op.thread) {
        return TMS_EDGE_FORK;
    }
    if (b->op.kind == TMS_OP_JOIN && b->op.target == a->op.thread) {
        return TMS_EDGE_JOIN;
    }
    if (a->op.target != b->op.target || a->incarnation != b->incarnation) {
        return NO_CONFLICT;
    }
    if (a->op.kind == TMS_OP_ARRIVE && b->op.kind == TMS_OP_DEPART) {
        return TMS_EDGE_BARRIER;
    }
    return touch_conflict(&touches[a->op.kind], &touches[b->op.kind]);
}

/* ---- the graph ------------------------------------------------------------------------ */

static void reach(struct reference *r, uint32_t transaction, uint32_t from)
{
    assert(transaction < r->transaction_count && r->queue_count < r->transaction_count);
    add(r->reached, transaction);
    r->transactions[transaction].came_from = from;
    r->queue[r->queue_count++] = transaction;
}

/* Breadth first: afterwards `queue`, `reached` and `came_from` tell what `start` reaches. */
static void search(struct reference *r, enum graph graph, uint32_t start)
{
    memset(r->reached, 0, ROW_WORDS * sizeof(*r->reached));
    r->queue_count = 0;
    reach(r, start, start);
    for (uint32_t i = 0; i < r->queue_count; i++) {
        const row *next = r->transactions[r->queue[i]].edges[graph];
        for (uint32_t word = 0; word <= r->transaction_count / 64; word++) {
            for (uint64_t left; (left = next[word] & ~r->reached[word]) != 0;) {
                reach(r, word * 64 + (uint32_t)__builtin_ctzll(left), r->queue[i]);
            }
        }
    }
}

/* ---- witnesses ------------------------------------------------------------------------ */

/* What the events of a step conflict on. */
static const enum tms_class edge_classes[] = {
    [TMS_EDGE_READ_WRITE] = TMS_CLASS_VARIABLE,  [TMS_EDGE_WRITE_READ] = TMS_CLASS_VARIABLE,
    [TMS_EDGE_WRITE_WRITE] = TMS_CLASS_VARIABLE, [TMS_EDGE_LOCK] = TMS_CLASS_LOCK,
    [TMS_EDGE_FORK] = TMS_CLASS_THREAD,          [TMS_EDGE_JOIN] = TMS_CLASS_THREAD,
    [TMS_EDGE_BARRIER] = TMS_CLASS_BARRIER,      [TMS_EDGE_PROGRAM_ORDER] = TMS_CLASS_NONE,
};

static uint32_t conflicts_on(int kind, const struct event *a, const struct event *b)
{
    assert(kind != NO_CONFLICT);
    if (kind == TMS_EDGE_PROGRAM_ORDER) {
        return 0;
    }
    return kind == TMS_EDGE_JOIN ? b->op.target : a->op.target;
}

static void fill_step(const struct reference *r, struct tms_step *step, uint32_t first,
                      uint32_t second)
{
    const struct event *a = &r->events[first], *b = &r->events[second];
    int kind = conflict(a, b);

    assert(kind != NO_CONFLICT);
    assert(first < second && second < r->event_count);
    *step = (struct tms_step){
        .from = r->transactions[a->transaction].name,
        .to = r->transactions[b->transaction].name,
        .first_event = a->op.event,
        .second_event = b->op.event,
        .first_location = a->op.location,
        .second_location = b->op.location,
        .on = conflicts_on(kind, a, b),
        .on_class = (uint8_t)edge_classes[kind],
        .kind = (uint8_t)kind,
        .first_kind = a->op.event_kind,
        .second_kind = b->op.event_kind,
    };
}

/* The last event of a transaction before `second` that conflicts with it, or NONE. */
static uint32_t last_conflict(const struct reference *r, uint32_t transaction, uint32_t second)
{
    for (uint32_t first = second; first-- > r->transactions[transaction].first;) {
        if (r->events[first].transaction == transaction &&
            conflict(&r->events[first], &r->events[second]) != NO_CONFLICT) {
            return first;
        }
    }
    return NONE;
}

/* The earliest pair of events that makes the edge. */
static void fill_edge(const struct reference *r, struct tms_step *step, uint32_t from, uint32_t to)
{
    for (uint32_t second = r->transactions[to].first; second < r->event_count; second++) {
        if (r->events[second].transaction != to) {
            continue;
        }
        uint32_t first = last_conflict(r, from, second);
        if (first != NONE) {
            fill_step(r, step, first, second);
            return;
        }
    }
    assert(!"an edge has two events");
}

static uint32_t nearest(const struct reference *r, enum mark mark)
{
    for (uint32_t i = 0; i < r->queue_count; i++) {
        if ((r->transactions[r->queue[i]].marks & mark) != 0) {
            return r->queue[i];
        }
    }
    return NONE;
}

static size_t path_length(const struct reference *r, uint32_t start, uint32_t end)
{
    size_t length = 0;

    for (uint32_t at = end; at != start; at = r->transactions[at].came_from) {
        assert(length < r->transaction_count);
        length++;
    }
    return length;
}

/* A violation of the event's transaction; the edge that closes it comes from a marked one. */
static void violate(struct reference *r, uint32_t event, enum mark mark)
{
    uint32_t start = r->events[event].transaction;
    struct transaction *transaction = &r->transactions[start];

    search(r, ALL, start);
    uint32_t end = nearest(r, mark);
    assert(end != NONE && end != start);
    size_t length = path_length(r, start, end) + 1;
    struct tms_step *cycle = tms_resize(&r->host->memory, NULL, 0, length, sizeof(*cycle));
    if (cycle == NULL) {
        tms_host_fail(r->host, TMS_ERR_MEMORY);
        return;
    }
    assert(!transaction->violated && length >= 2);
    transaction->violated = true;
    transaction->violation_event = r->events[event].op.event;
    transaction->cycle = cycle;
    transaction->cycle_length = length;
    fill_step(r, &cycle[length - 1], last_conflict(r, end, event), event);
    for (uint32_t at = end; at != start; at = r->transactions[at].came_from) {
        fill_edge(r, &cycle[--length - 1], r->transactions[at].came_from, at);
    }
}

/* ---- nested blocks -------------------------------------------------------------------- */

/* NULL when memory is short, and also if it was before: then blocks may be missing. */
static struct tms_nesting *nesting_of(struct reference *r, uint32_t thread)
{
    if (!r->host->failed && !TMS_RESERVE(&r->host->memory, &r->nestings, &r->nesting_count,
                                         (size_t)thread + 1, LEAST_ITEMS)) {
        tms_host_fail(r->host, TMS_ERR_MEMORY);
    }
    return r->host->failed ? NULL : &r->nestings[thread];
}

/* Is `a` of another thread than `b`, with an event `before` in its past, and before `b`? */
static bool cuts(const struct reference *r, uint32_t before, uint32_t a, uint32_t b)
{
    assert(before < a && a < b);
    return r->events[a].op.thread != r->events[b].op.thread && has(r->events[a].past, before) &&
           has(r->events[b].past, a);
}

/* The event by which the proof that the event's transaction is not atomic leaves it. */
static uint64_t left_by(const struct reference *r, uint32_t event)
{
    uint32_t own = r->events[event].transaction;
    const struct transaction *transaction = &r->transactions[own];

    if (transaction->violation_event == r->events[event].op.event &&
        tms_cycle_proves(transaction->cycle, transaction->cycle_length)) {
        return transaction->cycle[0].first_event;
    }
    for (uint32_t before = event; before-- > transaction->first;) {
        for (uint32_t a = before + 1; r->events[before].transaction == own && a < event; a++) {
            if (cuts(r, before, a, event)) {
                return r->events[before].op.event;
            }
        }
    }
    assert(!"its first event at least is cut off");
    return 0;
}

static void refute(struct reference *r, uint32_t event)
{
    struct transaction *transaction = &r->transactions[r->events[event].transaction];
    struct tms_nesting *nesting = nesting_of(r, transaction->name.thread);

    assert(r->host->settings->blame);
    if (nesting != NULL && !tms_nesting_refute(nesting, &r->host->memory, &transaction->name,
                                               left_by(r, event), &transaction->refuted)) {
        tms_host_fail(r->host, TMS_ERR_MEMORY);
    }
}

/* ---- one event ------------------------------------------------------------------------ */

/*
 * Holds a new event against every earlier one; the latest first, as their pasts include much.
 * Without blame the pasts stay empty, and so nothing is ever BLAMING.
 */
static void gather(struct reference *r, uint32_t event)
{
    struct event *b = &r->events[event];
    const struct transaction *own = &r->transactions[b->transaction];

    assert(event < r->event_count);
    for (uint32_t i = 0; i < r->transaction_count; i++) {
        r->transactions[i].marks = 0;
    }
    for (uint32_t i = event; i-- > 0;) {
        const struct event *a = &r->events[i];
        if (conflict(a, b) == NO_CONFLICT) {
            continue;
        }
        if (r->host->settings->blame && !has(b->past, i)) {
            add_all(b->past, a->past, i);
            add(b->past, i);
        }
        if (a->transaction != b->transaction) {
            bool blaming = a->op.thread != b->op.thread && has(a->past, own->first);
            r->transactions[a->transaction].marks |= blaming ? SOURCE | BLAMING : SOURCE;
        }
    }
}

/* Adds the edges into the event's transaction; true if some would have closed a cycle. */
static bool add_edges(struct reference *r, uint32_t to)
{
    bool searched = false, closed = false;

    for (uint32_t from = 0; from < r->transaction_count; from++) {
        struct transaction *source = &r->transactions[from];
        if ((source->marks & SOURCE) == 0 || has(source->edges[KEPT], to)) {
            continue;
        }
        if (!searched) {
            search(r, KEPT, to);
            searched = true;
        }
        add(source->edges[ALL], to);
        if (has(r->reached, from)) {
            source->marks |= CLOSING;
            r->host->closing_edges++;
            closed = true;
        } else {
            add(source->edges[KEPT], to);
            r->edges++;
        }
    }
    return closed;
}

static bool blamed(const struct reference *r)
{
    for (uint32_t i = 0; i < r->transaction_count; i++) {
        if ((r->transactions[i].marks & BLAMING) != 0) {
            return true;
        }
    }
    return false;
}

static void judge(struct reference *r, uint32_t event)
{
    struct transaction *transaction = &r->transactions[r->events[event].transaction];
    bool closed = add_edges(r, r->events[event].transaction);

    if (closed) {
        tms_host_first(r->host, r->events[event].op.event);
    }
    bool blames = !transaction->not_atomic && blamed(r);
    assert(!blames || r->host->first_violation_event != 0);
    transaction->not_atomic |= blames;
    if ((closed || blames) && !transaction->violated) {
        violate(r, event, closed ? CLOSING : BLAMING);
    }
    if (blames) {
        refute(r, event);
    }
}

/* Only now: whether a transaction is atomic is known when it is over. */
static void hand_over(const struct reference *r)
{
    for (uint32_t i = 0; i < r->transaction_count; i++) {
        const struct transaction *transaction = &r->transactions[i];
        if (transaction->violated) {
            tms_host_violation(r->host, &(struct tms_violation){
                                            .kind = "cycle",
                                            .evidence = TMS_EVIDENCE_OBSERVED,
                                            .event = transaction->violation_event,
                                            .thread = transaction->name.thread,
                                            .not_atomic = transaction->not_atomic,
                                            .transaction = transaction->name,
                                            .cycle = transaction->cycle,
                                            .cycle_length = transaction->cycle_length,
                                            .refuted = transaction->refuted.block,
                                            .refuted_count = transaction->refuted.count,
                                        });
        }
    }
}

/* True if there is room for one more event; if not, what was found so far still counts. */
static bool has_room(struct reference *r)
{
    if (r->event_count < MOST_EVENTS && r->transaction_count < MOST_EVENTS) {
        return !r->host->failed;
    }
    hand_over(r);
    tms_host_fail(r->host, TMS_ERR_LIMIT);
    return false;
}

static struct transaction *add_transaction(struct reference *r, const struct tms_op *op, bool unary)
{
    struct transaction *transaction = &r->transactions[r->transaction_count++];

    *transaction = (struct transaction){
        .name = {op->event, op->thread, unary ? 0 : op->target, op->location, unary},
        .first = NONE,
        .edges = {new_row(r), new_row(r)},
    };
    return transaction;
}

static void add_event(struct reference *r, const struct tms_op *op, uint32_t incarnation)
{
    const uint32_t *open = item(r, &r->open, op->thread);

    if (open == NULL || !has_room(r)) {
        return;
    }
    assert((*open != 0) == ((op->flags & TMS_OP_IN_BLOCK) != 0));
    struct transaction *transaction =
        *open != 0 ? &r->transactions[*open - 1] : add_transaction(r, op, true);
    uint32_t index = r->event_count++;
    r->events[index] = (struct event){
        .op = *op,
        .incarnation = incarnation,
        .transaction = (uint32_t)(transaction - r->transactions),
        .past = new_row(r),
    };
    if (transaction->first == NONE) {
        transaction->first = index;
    }
    if (!r->host->failed) {
        gather(r, index);
        judge(r, index);
    }
}

/* ---- operations ----------------------------------------------------------------------- */

static void on_event(void *state, const struct tms_op *op)
{
    add_event(state, op, 0);
}

static void on_access(void *state, const struct tms_op *op)
{
    struct reference *r = state;
    const uint32_t *incarnation = item(r, &r->incarnations, op->target);

    if (incarnation != NULL) {
        add_event(r, op, *incarnation);
    }
}

/* A synthetic begin or end is no event: the events around a split are there by themselves. */
static void on_begin(void *state, const struct tms_op *op)
{
    struct reference *r = state;
    uint32_t *open = item(r, &r->open, op->thread);

    if (open == NULL || !has_room(r)) {
        return;
    }
    add_transaction(r, op, false);
    *open = r->transaction_count;
    if ((op->flags & TMS_OP_SYNTHETIC) == 0) {
        add_event(r, op, 0);
    }
}

static void on_end(void *state, const struct tms_op *op)
{
    struct reference *r = state;

    if ((op->flags & TMS_OP_SYNTHETIC) == 0) {
        add_event(r, op, 0);
    }
    uint32_t *open = item(r, &r->open, op->thread);
    struct tms_nesting *nesting = nesting_of(r, op->thread);
    if (open != NULL && nesting != NULL) {
        *open = 0;
        tms_nesting_end(nesting, op);
    }
}

static void on_nested(void *state, const struct tms_op *op)
{
    struct reference *r = state;
    struct tms_nesting *nesting = nesting_of(r, op->thread);

    if (nesting != NULL && !tms_nesting_follow(nesting, &r->host->memory, op)) {
        tms_host_fail(r->host, TMS_ERR_MEMORY);
    }
    add_event(r, op, 0);
}

static void on_forget(void *state, const struct tms_op *op)
{
    struct reference *r = state;
    uint32_t *incarnation = item(r, &r->incarnations, op->target);

    if (incarnation != NULL) {
        ++*incarnation;
    }
}

static int create(void *state, struct tms_host *host)
{
    struct reference *r = state;

    r->host = host;
    r->events = tms_resize(&host->memory, NULL, 0, MOST_EVENTS, sizeof(*r->events));
    r->transactions = tms_resize(&host->memory, NULL, 0, MOST_EVENTS, sizeof(*r->transactions));
    r->queue = tms_resize(&host->memory, NULL, 0, MOST_EVENTS, sizeof(*r->queue));
    r->reached = new_row(r);
    bool room = r->events != NULL && r->transactions != NULL && r->queue != NULL;
    return room && r->reached != NULL ? TMS_OK : tms_fail_memory(host->context);
}

static void finish(void *state)
{
    hand_over(state);
}

static void stats(const void *state, struct tms_counters *counters)
{
    const struct reference *r = state;
    const struct tms_counter kept[] = {
        {"transactions", "nodes of the graph, unary ones included", r->transaction_count},
        {"edges", "edges of the graph, without those refused", r->edges},
    };

    TMS_COUNTERS_PUT(counters, kept);
}

static void release_row(struct reference *r, row *set)
{
    tms_release(&r->host->memory, set, ROW_WORDS, sizeof(*set));
}

static void destroy(void *state)
{
    struct reference *r = state;
    struct tms_memory *memory = &r->host->memory;

    for (uint32_t i = 0; i < r->event_count; i++) {
        release_row(r, r->events[i].past);
    }
    for (uint32_t i = 0; i < r->transaction_count; i++) {
        struct transaction *transaction = &r->transactions[i];
        release_row(r, transaction->edges[ALL]);
        release_row(r, transaction->edges[KEPT]);
        tms_release(memory, transaction->cycle, transaction->cycle_length,
                    sizeof(*transaction->cycle));
        tms_refuted_clear(&transaction->refuted, memory);
    }
    for (size_t i = 0; i < r->nesting_count; i++) {
        tms_nesting_clear(&r->nestings[i], memory);
    }
    tms_release(memory, r->nestings, r->nesting_count, sizeof(*r->nestings));
    tms_release(memory, r->events, MOST_EVENTS, sizeof(*r->events));
    tms_release(memory, r->transactions, MOST_EVENTS, sizeof(*r->transactions));
    release_row(r, r->reached);
    tms_release(memory, r->queue, MOST_EVENTS, sizeof(*r->queue));
    tms_release(memory, r->open.items, r->open.count, sizeof(*r->open.items));
    tms_release(memory, r->incarnations.items, r->incarnations.count,
                sizeof(*r->incarnations.items));
}

const struct tms_engine tms_engine_reference = {
    .info =
        {
            .name = "reference",
            .summary = "the definition, executed literally; for short traces and tests",
            .paper = "docs/research/semantics.md",
            .guarantee = "exact. A violation is reported if and only if this run was not "
                         "serializable.",
            .reports = "at the event",
            .time = "O(n^2) conflict tests, and O(n^2) per search",
            .memory = "O(n^2) bits; accepts at most 10000 events",
            .flags = TMS_ENGINE_EXACT | TMS_ENGINE_AT_EVENT | TMS_ENGINE_BLAMES |
                     TMS_ENGINE_WITNESS | TMS_ENGINE_SMALL,
            .found = TMS_VERDICT_VIOLATION,
            .clean = TMS_VERDICT_SERIALIZABLE,
        },
    .state_size = sizeof(struct reference),
    .create = create,
    .on =
        {
            [TMS_OP_BEGIN] = on_begin,
            [TMS_OP_END] = on_end,
            [TMS_OP_NEST] = on_nested,
            [TMS_OP_UNNEST] = on_nested,
            [TMS_OP_READ] = on_access,
            [TMS_OP_WRITE] = on_access,
            [TMS_OP_UPDATE] = on_access,
            [TMS_OP_ACQUIRE] = on_event,
            [TMS_OP_RELEASE] = on_event,
            [TMS_OP_SHARED_ACQUIRE] = on_event,
            [TMS_OP_SHARED_RELEASE] = on_event,
            [TMS_OP_FORK] = on_event,
            [TMS_OP_JOIN] = on_event,
            [TMS_OP_ARRIVE] = on_event,
            [TMS_OP_DEPART] = on_event,
            [TMS_OP_STEP] = on_event,
            [TMS_OP_ESCAPE] = on_event,
            [TMS_OP_FORGET] = on_forget,
        },
    .finish = finish,
    .stats = stats,
    .destroy = destroy,
};
