/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator keeps its promises: well-formed traces of exactly the wanted length, serializable
 * if so asked, and with the planted violation closing at the stated event and nowhere else. What
 * is well-formed and what is serializable is decided here by the definition, with nothing taken
 * from the library but names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/presets.h"
#include "gen/random.h"
#include "gen/trace_generator.h"

#define MOST    600 /* events of a trace that is checked by brute force */
#define WORDS   ((MOST + 63) / 64)
#define IDS     700
#define MILLION 1000000u

struct trace {
    struct tms_event *events;
    uint64_t count;
    uint64_t violation; /* as the generator states it */
    uint32_t cut[8];    /* labels, as the generator states them */
};

static struct trace generate(const struct tms_shape *shape)
{
    char why[TMS_SHAPE_SENTENCE] = "";
    if (!tms_shape_check(shape, why)) {
        fail_msg("%s", why);
    }
    struct tms_context *context = tms_context_new(NULL, NULL);
    struct tms_gen *gen = NULL;
    assert_int_equal(tms_gen_new(context, shape, &gen), TMS_OK);
    struct trace trace = {.events = calloc(shape->events + 1, sizeof *trace.events)};
    int64_t got;
    while ((got = tms_gen_next(gen, trace.events + trace.count, 97)) > 0) {
        trace.count += (uint64_t)got;
        assert_true(trace.count <= shape->events);
    }
    assert_int_equal(got, 0);
    trace.violation = tms_gen_violation(gen);
    for (uint64_t i = 0; i < shape->cut; i++) {
        trace.cut[i] = tms_gen_cut_label(gen, i);
    }
    tms_gen_free(gen);
    tms_context_free(context);
    return trace;
}

static uint64_t hash(const struct trace *trace)
{
    uint64_t h = 14695981039346656037u;
    for (uint64_t i = 0; i < trace->count; i++) {
        const struct tms_event *e = &trace->events[i];
        const uint32_t words[] = {e->thread, e->target, e->location, e->kind};
        for (int w = 0; w < 4; w++) {
            h = (h ^ words[w]) * 1099511628211u;
        }
    }
    return h;
}

/* ---- well-formed, by the rules ------------------------------------------------------------ */

struct rules {
    uint32_t owner[IDS]; /* by lock */
    uint32_t held[IDS];  /* by thread */
    uint32_t depth[IDS];
    uint32_t blocks[IDS][64];
    bool seen[IDS], forked[IDS], joined[IDS];
};

static void check_block(struct rules *rules, const struct tms_event *e)
{
    if (e->kind == TMS_EVENT_BEGIN) {
        rules->blocks[e->thread][rules->depth[e->thread]++] = e->target;
    } else if (e->kind == TMS_EVENT_END) {
        assert_true(rules->depth[e->thread] > 0);
        assert_int_equal(rules->blocks[e->thread][--rules->depth[e->thread]], e->target);
    }
}

static void check_lock(struct rules *rules, const struct tms_event *e)
{
    if (e->kind == TMS_EVENT_ACQUIRE) {
        assert_int_equal(rules->owner[e->target], 0);
        rules->owner[e->target] = e->thread;
        rules->held[e->thread]++;
    } else if (e->kind == TMS_EVENT_RELEASE) {
        assert_int_equal(rules->owner[e->target], e->thread);
        rules->owner[e->target] = 0;
        rules->held[e->thread]--;
    }
}

static void check_thread(struct rules *rules, const struct tms_event *e, bool fork_join)
{
    assert_false(rules->joined[e->thread]);
    assert_true(!fork_join || e->thread == 1 || rules->forked[e->thread]);
    rules->seen[e->thread] = true;
    if (e->kind == TMS_EVENT_FORK) {
        assert_true(e->target != e->thread && !rules->seen[e->target]);
        assert_false(rules->forked[e->target]);
        rules->forked[e->target] = true;
    } else if (e->kind == TMS_EVENT_JOIN) {
        assert_true(rules->forked[e->target] && !rules->joined[e->target]);
        assert_int_equal(rules->depth[e->target] + rules->held[e->target], 0);
        rules->joined[e->target] = true;
    }
}

static void check_well_formed(const struct trace *trace, const struct tms_shape *shape)
{
    struct rules *rules = calloc(1, sizeof *rules);
    assert_int_equal(trace->count, shape->events);
    for (uint64_t i = 0; i < trace->count; i++) {
        const struct tms_event *e = &trace->events[i];
        assert_true(e->kind < TMS_EVENT_COUNT && e->thread > 0 && e->thread < IDS);
        assert_true(e->target < IDS);
        bool labelled = shape->labels > 0 || tms_event_class(e->kind) != TMS_CLASS_LABEL;
        assert_true(e->target > 0 || !labelled || e->kind == TMS_EVENT_FENCE);
        assert_true(tms_event_orders(e->kind) >> e->order & 1);
        assert_int_equal(e->location > 0, shape->locations > 0);
        check_thread(rules, e, shape->fork_join);
        check_block(rules, e);
        check_lock(rules, e);
    }
    for (int id = 0; id < IDS; id++) {
        assert_int_equal(rules->depth[id] + rules->owner[id] + rules->held[id], 0);
        assert_int_equal(rules->forked[id], rules->joined[id]);
    }
    free(rules);
}

/* ---- serializable, by the definition ------------------------------------------------------ */

struct graph {
    uint32_t of[MOST];           /* transaction of each event */
    uint64_t reach[MOST][WORDS]; /* sets of transactions, by transaction */
    uint32_t open[IDS];          /* by thread: transaction + 1 */
    uint32_t depth[IDS];
    uint32_t count;
    uint64_t first;    /* event that closed a cycle */
    uint32_t from, to; /* the edge that closed it */
    uint64_t other;    /* closing edges between other transactions */
    uint64_t crossing; /* edges between two transactions of different threads, both open */
};

static bool is_read(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_READ || event->kind == TMS_EVENT_ATOMIC_READ;
}

static bool conflict(const struct tms_event *a, const struct tms_event *b)
{
    if (a->thread == b->thread || (a->kind == TMS_EVENT_FORK && a->target == b->thread) ||
        (b->kind == TMS_EVENT_JOIN && b->target == a->thread)) {
        return true;
    }
    enum tms_class cls = tms_event_class(a->kind);
    if (a->target != b->target || cls != tms_event_class(b->kind)) {
        return false;
    }
    return cls == TMS_CLASS_LOCK || (cls == TMS_CLASS_VARIABLE && (!is_read(a) || !is_read(b)));
}

static uint32_t transaction_of(struct graph *graph, const struct tms_event *e)
{
    uint32_t thread = e->thread;
    if (graph->depth[thread] == 0) {
        graph->open[thread] = ++graph->count;
    }
    graph->depth[thread] += e->kind == TMS_EVENT_BEGIN;
    graph->depth[thread] -= e->kind == TMS_EVENT_END;
    return graph->open[thread] - 1;
}

static bool reaches(const struct graph *graph, uint32_t from, uint32_t to)
{
    return graph->reach[from][to / 64] >> to % 64 & 1;
}

static void add_edge(struct graph *graph, uint32_t from, uint32_t to, uint64_t event)
{
    if (from == to || reaches(graph, from, to)) {
        return;
    }
    if (reaches(graph, to, from)) {
        if (graph->first == 0) {
            graph->first = event;
            graph->from = from;
            graph->to = to;
        }
        graph->other += from != graph->from || to != graph->to;
        return;
    }
    graph->reach[from][to / 64] |= (uint64_t)1 << to % 64;
    for (uint32_t a = 0; a < graph->count; a++) {
        for (int w = 0; w < WORDS && (a == from || reaches(graph, a, from)); w++) {
            graph->reach[a][w] |= graph->reach[from][w] | graph->reach[to][w];
        }
    }
}

static struct graph *build_graph(const struct trace *trace)
{
    struct graph *graph = calloc(1, sizeof *graph);
    assert_true(trace->count <= MOST);
    for (uint64_t j = 0; j < trace->count; j++) {
        const struct tms_event *b = &trace->events[j];
        graph->of[j] = transaction_of(graph, b);
        for (uint64_t i = 0; i < j; i++) {
            const struct tms_event *a = &trace->events[i];
            if (conflict(a, b)) {
                bool open = graph->depth[a->thread] > 0 && graph->depth[b->thread] > 0 &&
                            graph->open[a->thread] - 1 == graph->of[i];
                graph->crossing += open && a->thread != b->thread;
                add_edge(graph, graph->of[i], graph->of[j], j + 1);
            }
        }
    }
    return graph;
}

/* ---- shapes of all kinds ------------------------------------------------------------------ */

static uint32_t some_share(struct tms_random *random)
{
    static const uint32_t usual[] = {0, MILLION, MILLION / 2};
    uint64_t pick = tms_random_below(random, 6);
    return pick < 3 ? usual[pick] : (uint32_t)tms_random_below(random, MILLION + 1);
}

static struct tms_shape random_shape(struct tms_random *random)
{
    struct tms_shape shape;
    tms_shape_init(&shape);
    shape.seed = tms_random_next(random);
    shape.threads = 2 + tms_random_below(random, 8);
    shape.locks = tms_random_below(random, 5);
    shape.variables = 2 + tms_random_below(random, 40);
    shape.length = 2 * MILLION + tms_random_below(random, 20 * MILLION);
    shape.reads = some_share(random);
    shape.unary = some_share(random);
    shape.overlap = some_share(random);
    shape.sharing = some_share(random);
    shape.guarded = some_share(random);
    shape.atomics = some_share(random);
    shape.nesting = 1 + tms_random_below(random, 4);
    shape.labels = tms_random_below(random, 4);
    shape.locations = tms_random_below(random, 20);
    shape.fork_join = tms_random_below(random, 2) == 1;
    shape.churn = shape.fork_join ? tms_random_below(random, 5) : 0;
    shape.events = 2 * shape.threads + 14 + 2 * shape.churn + tms_random_below(random, 200);
    return shape;
}

static void none_is_serializable(void **state)
{
    struct tms_random random;
    uint64_t crossing = 0;
    (void)state;
    tms_random_seed(&random, 1);
    for (int i = 0; i < 400; i++) {
        struct tms_shape shape = random_shape(&random);
        struct trace trace = generate(&shape);
        check_well_formed(&trace, &shape);
        struct graph *graph = build_graph(&trace);
        assert_int_equal(graph->first, 0);
        assert_int_equal(trace.violation, 0);
        crossing += graph->crossing;
        free(graph);
        free(trace.events);
    }
    assert_true(crossing > 400); /* not by keeping open transactions apart */
}

static void any_is_well_formed_and_mostly_violates(void **state)
{
    struct tms_random random;
    int violations = 0;
    (void)state;
    tms_random_seed(&random, 2);
    for (int i = 0; i < 150; i++) {
        struct tms_shape shape = random_shape(&random);
        shape.planting = TMS_PLANT_ANY;
        shape.sharing = MILLION;
        shape.unary = 0;
        shape.overlap = MILLION;
        struct trace trace = generate(&shape);
        check_well_formed(&trace, &shape);
        struct graph *graph = build_graph(&trace);
        violations += graph->first > 0;
        free(graph);
        free(trace.events);
    }
    assert_true(violations > 75);
}

/* Positions that leave room for forks and script before, and for all the rest after. */
static bool reachable(const struct tms_shape *shape, uint64_t position)
{
    uint64_t workers = shape->fork_join ? shape->threads - 1 : 0;
    uint64_t after = 3 + workers + 2 * shape->churn;
    return position >= workers + 11 && position + after <= shape->events;
}

static void check_planted(const struct tms_shape *shape)
{
    struct trace trace = generate(shape);
    check_well_formed(&trace, shape);
    struct graph *graph = build_graph(&trace);
    assert_true(trace.violation > 0);
    assert_int_equal(graph->first, trace.violation);
    assert_int_equal(graph->other, 0);
    if (shape->planting == TMS_PLANT_AT && reachable(shape, shape->violation_at)) {
        assert_int_equal(trace.violation, shape->violation_at);
    }
    if (shape->planting == TMS_PLANT_SHARE && shape->violation_at == 0) {
        assert_true(trace.violation <= shape->threads + 11);
    }
    free(graph);
    free(trace.events);
}

static void planted_closes_at_the_stated_event(void **state)
{
    static const enum tms_planting ways[] = {TMS_PLANT_AT, TMS_PLANT_AT, TMS_PLANT_SHARE,
                                             TMS_PLANT_RANDOM};
    struct tms_random random;
    (void)state;
    tms_random_seed(&random, 3);
    for (int i = 0; i < 500; i++) {
        struct tms_shape shape = random_shape(&random);
        shape.planting = ways[i % 4];
        uint64_t limit = shape.planting == TMS_PLANT_AT ? shape.events : MILLION;
        shape.violation_at = shape.planting == TMS_PLANT_AT ? 1 + tms_random_below(&random, limit)
                                                            : (i % 3) * (MILLION / 2);
        check_planted(&shape);
    }
}

static void planted_at_every_event(void **state)
{
    struct tms_shape shape;
    (void)state;
    tms_shape_init(&shape);
    shape.events = 120;
    shape.planting = TMS_PLANT_AT;
    for (shape.threads = 2; shape.threads <= 4; shape.threads++) {
        for (shape.violation_at = 1; shape.violation_at <= shape.events; shape.violation_at++) {
            check_planted(&shape);
        }
    }
}

/* ---- labels that are cut ------------------------------------------------------------------- */

/* Happens-before on events, by the definition. */
struct order {
    uint64_t after[MOST][WORDS]; /* sets of events, by event */
};

static struct order *happens_before(const struct trace *trace)
{
    struct order *order = calloc(1, sizeof *order);
    for (uint64_t i = trace->count; i-- > 0;) {
        for (uint64_t j = i + 1; j < trace->count; j++) {
            if (conflict(&trace->events[i], &trace->events[j])) {
                order->after[i][j / 64] |= (uint64_t)1 << j % 64;
                for (int w = 0; w < WORDS; w++) {
                    order->after[i][w] |= order->after[j][w];
                }
            }
        }
    }
    return order;
}

static bool comes_after(const struct order *order, uint64_t i, uint64_t j)
{
    return order->after[i][j / 64] >> j % 64 & 1;
}

/* Does something of another thread come after `begin` and before a later event of its block? */
static bool is_cut(const struct trace *trace, const struct graph *graph, const struct order *order,
                   uint64_t begin)
{
    for (uint64_t m = begin + 1; m < trace->count; m++) {
        for (uint64_t x = begin + 1; graph->of[m] == graph->of[begin] && x < m; x++) {
            if (trace->events[x].thread != trace->events[m].thread &&
                comes_after(order, begin, x) && comes_after(order, x, m)) {
                return true;
            }
        }
    }
    return false;
}

/* The labels of all transactions that are not atomic, as a set of ids below 64. */
static uint64_t cut_labels(const struct trace *trace)
{
    struct graph *graph = build_graph(trace);
    struct order *order = happens_before(trace);
    uint64_t labels = 0;
    for (uint64_t i = 0; i < trace->count; i++) {
        bool outermost = trace->events[i].kind == TMS_EVENT_BEGIN;
        for (uint64_t j = 0; j < i && outermost; j++) {
            outermost = graph->of[j] != graph->of[i];
        }
        if (outermost && is_cut(trace, graph, order, i)) {
            labels |= (uint64_t)1 << trace->events[i].target;
        }
    }
    free(order);
    free(graph);
    return labels;
}

static void the_cut_labels_are_not_atomic_and_no_others(void **state)
{
    struct tms_random random;
    (void)state;
    tms_random_seed(&random, 4);
    for (int i = 0; i < 100; i++) {
        struct tms_shape shape = random_shape(&random);
        shape.labels = 1 + tms_random_below(&random, 10);
        shape.cut = 1 + tms_random_below(&random, shape.labels < 8 ? shape.labels : 8);
        shape.events = tms_shape_least_events(&shape) + tms_random_below(&random, 300);
        struct trace trace = generate(&shape);
        uint64_t wanted = 0;
        for (uint64_t c = 0; c < shape.cut; c++) {
            wanted |= (uint64_t)1 << trace.cut[c];
        }
        check_well_formed(&trace, &shape);
        assert_int_equal(__builtin_popcountll(wanted), shape.cut);
        assert_int_equal(cut_labels(&trace), wanted);
        free(trace.events);
    }
}

static void cut_labels_are_cut_all_along(void **state)
{
    struct tms_shape shape;
    (void)state;
    tms_shape_init(&shape);
    shape.cut = 3;
    shape.events = 100;
    assert_int_equal(tms_shape_cuts(&shape), 3);
    shape.events = 100000;
    assert_int_equal(tms_shape_cuts(&shape), 99);
    struct trace trace = generate(&shape);
    assert_true(trace.violation > 500 && trace.violation < 1500);
    free(trace.events);
}

/* ---- the wanted shape --------------------------------------------------------------------- */

struct census {
    uint64_t kind[TMS_EVENT_COUNT];
    uint64_t unary, blocks, together; /* together: events while two blocks or more are open */
    uint64_t threads, depth;
    bool seen[IDS];
    uint64_t open[IDS];
};

static struct census *take_census(const struct trace *trace)
{
    struct census *census = calloc(1, sizeof *census);
    uint64_t open = 0;
    for (uint64_t i = 0; i < trace->count; i++) {
        const struct tms_event *e = &trace->events[i];
        uint64_t *depth = &census->open[e->thread];
        census->kind[e->kind]++;
        census->threads += !census->seen[e->thread];
        census->seen[e->thread] = true;
        census->unary += *depth == 0 && e->kind != TMS_EVENT_BEGIN;
        census->blocks += *depth == 0 && e->kind == TMS_EVENT_BEGIN;
        open += *depth == 0 && e->kind == TMS_EVENT_BEGIN;
        *depth += e->kind == TMS_EVENT_BEGIN;
        *depth -= e->kind == TMS_EVENT_END;
        open -= *depth == 0 && e->kind == TMS_EVENT_END;
        census->depth = *depth > census->depth ? *depth : census->depth;
        census->together += open > 1;
    }
    return census;
}

static struct census *census_of(const struct tms_shape *shape)
{
    struct trace trace = generate(shape);
    struct census *census = take_census(&trace);
    free(trace.events);
    return census;
}

static void assert_near(double value, double wanted, double tolerance)
{
    if (value < wanted * (1 - tolerance) || value > wanted * (1 + tolerance)) {
        fail_msg("%f is not within %.0f%% of %f", value, tolerance * 100, wanted);
    }
}

static void shares_and_lengths_are_as_asked(void **state)
{
    struct tms_shape shape;
    (void)state;
    tms_preset_shape("bench", 200000, &shape);
    shape.reads = 600000;
    shape.unary = 300000;
    shape.length = 15500000;
    struct census *c = census_of(&shape);
    double accesses = (double)(c->kind[TMS_EVENT_READ] + c->kind[TMS_EVENT_WRITE]);
    assert_near((double)c->kind[TMS_EVENT_READ] / accesses, 0.6, 0.02);
    assert_near((double)c->unary / (double)shape.events, 0.3, 0.05);
    assert_near((double)(shape.events - c->unary) / (double)c->blocks, 15.5, 0.05);
    assert_int_equal(c->threads, 8);
    assert_int_equal(c->depth, shape.nesting);
    assert_true(c->kind[TMS_EVENT_ACQUIRE] > shape.events / 50);
    free(c);
}

/* A variable is atomic or not, all along the trace. */
static void atomics_are_as_asked(void **state)
{
    struct tms_shape shape;
    bool atomic[IDS] = {false}, plain[IDS] = {false};
    uint64_t orders[TMS_ORDER_COUNT] = {0};
    (void)state;
    tms_shape_init(&shape);
    shape.events = MOST;
    shape.sharing = MILLION;
    shape.guarded = 0;
    shape.atomics = MILLION / 2;
    struct trace trace = generate(&shape);
    struct census *c = take_census(&trace);
    for (uint64_t i = 0; i < trace.count; i++) {
        const struct tms_event *e = &trace.events[i];
        orders[e->order]++;
        if (tms_event_class(e->kind) == TMS_CLASS_VARIABLE) {
            (e->order != TMS_ORDER_NONE ? atomic : plain)[e->target] = true;
        }
    }
    for (int id = 0; id < IDS; id++) {
        assert_false(atomic[id] && plain[id]);
    }
    assert_true(c->kind[TMS_EVENT_ATOMIC_READ] > c->kind[TMS_EVENT_READ] / 2);
    assert_true(c->kind[TMS_EVENT_ATOMIC_WRITE] > 0 && c->kind[TMS_EVENT_ATOMIC_UPDATE] > 0);
    assert_true(c->kind[TMS_EVENT_READ] > 0 && c->kind[TMS_EVENT_FENCE] > 0);
    for (enum tms_order order = 0; order < TMS_ORDER_COUNT; order++) {
        assert_true(orders[order] > 0);
    }
    free(c);
    free(trace.events);
}

static void overlap_is_as_asked(void **state)
{
    struct tms_shape shape;
    (void)state;
    tms_preset_shape("bench", 50000, &shape);
    shape.overlap = 0;
    struct census *serial = census_of(&shape);
    shape.overlap = 100000;
    struct census *some = census_of(&shape);
    shape.overlap = MILLION;
    struct census *most = census_of(&shape);
    assert_int_equal(serial->together, 0);
    assert_true(some->together > 0);
    assert_true(most->together > shape.events / 10 * 9);
    free(serial);
    free(some);
    free(most);
}

static void threads_come_and_go(void **state)
{
    struct tms_shape shape;
    (void)state;
    tms_shape_init(&shape);
    shape.fork_join = true;
    shape.churn = 25;
    struct census *c = census_of(&shape);
    assert_int_equal(c->kind[TMS_EVENT_FORK], shape.threads - 1 + shape.churn);
    assert_int_equal(c->kind[TMS_EVENT_JOIN], shape.threads - 1 + shape.churn);
    free(c);
}

/* However short the trace is, no replacement is left out; shorter ones are refused. */
static void all_threads_are_replaced(void **state)
{
    struct tms_random random;
    char why[TMS_SHAPE_SENTENCE];
    (void)state;
    tms_random_seed(&random, 7);
    for (int i = 0; i < 500; i++) {
        struct tms_shape shape = random_shape(&random);
        shape.fork_join = true;
        shape.churn = tms_random_below(&random, 30);
        shape.planting = i % 2 ? TMS_PLANT_RANDOM : TMS_PLANT_NONE;
        shape.events = tms_shape_least_events(&shape) + tms_random_below(&random, 100) * (i % 3);
        assert_true(tms_shape_check(&shape, why));
        struct census *c = census_of(&shape);
        assert_int_equal(c->kind[TMS_EVENT_FORK], shape.threads - 1 + shape.churn);
        assert_int_equal(c->kind[TMS_EVENT_JOIN], shape.threads - 1 + shape.churn);
        free(c);
        shape.events = tms_shape_least_events(&shape) - 1;
        assert_false(tms_shape_check(&shape, why));
    }
}

/* If this fails, old commands make other traces than they did: say so in NEWS. */
static void the_same_everywhere(void **state)
{
    struct tms_shape shape;
    (void)state;
    tms_preset_shape("bench", 20000, &shape);
    shape.locations = 50;
    struct trace one = generate(&shape);
    struct trace again = generate(&shape);
    shape.seed++;
    struct trace other = generate(&shape);
    assert_int_equal(hash(&one), hash(&again));
    assert_int_not_equal(hash(&one), hash(&other));
    assert_int_equal(hash(&one), UINT64_C(0xa7680884c0da492));
    free(one.events);
    free(again.events);
    free(other.events);
}

static void presets_make_traces(void **state)
{
    (void)state;
    for (size_t i = 0; tms_preset_name(i) != NULL; i++) {
        struct tms_shape shape;
        char why[TMS_SHAPE_SENTENCE];
        tms_preset_shape(tms_preset_name(i), 60, &shape);
        free(census_of(&shape));
        tms_preset_shape(tms_preset_name(i), 20000, &shape);
        struct census *c = census_of(&shape);
        assert_int_equal(c->threads, shape.threads);
        assert_int_equal(c->blocks == 0, strcmp(tms_preset_name(i), "philo") == 0);
        tms_preset_shape(tms_preset_name(i), 0, &shape);
        assert_true(tms_shape_check(&shape, why));
        assert_in_range(shape.events, 613, MILLION);
        free(c);
    }
}

static void presets_have_the_published_numbers(void **state)
{
    struct tms_shape shape;
    (void)state;
    tms_preset_shape("sunflow", 16800000, &shape);
    assert_int_equal(shape.threads, 16);
    assert_int_equal(shape.locks, 9);
    assert_int_equal(shape.variables, 1200000);
    assert_int_equal(shape.planting, TMS_PLANT_SHARE);
    tms_preset_shape("elevator", 280000, &shape);
    assert_int_equal(shape.planting, TMS_PLANT_NONE);
    struct census *c = census_of(&shape);
    assert_near((double)c->blocks, 22600, 0.05);
    free(c);
}

static void impossible_shapes_are_refused(void **state)
{
    const struct {
        const char *word;
        struct tms_shape shape;
    } cases[] = {
        {"threads", {.threads = 0}},
        {"variables", {.threads = 1, .variables = 0}},
        {"two threads", {.threads = 1, .variables = 5, .planting = TMS_PLANT_RANDOM}},
        {"variable", {.threads = 2, .variables = 1, .planting = TMS_PLANT_RANDOM}},
        {"too few", {.threads = 90, .variables = 5, .fork_join = true}},
        {"--fork-join", {.threads = 2, .variables = 5, .churn = 1}},
        {"labels that are cut", {.threads = 2, .variables = 5, .labels = 2, .cut = 3}},
        {"can't be combined",
         {.threads = 2, .variables = 5, .labels = 2, .cut = 1, .planting = TMS_PLANT_ANY}},
        {"two threads", {.threads = 1, .variables = 5, .labels = 2, .cut = 1}},
        {"place it earlier",
         {.threads = 2, .variables = 5, .planting = TMS_PLANT_AT, .violation_at = 101}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tms_shape shape = cases[i].shape;
        char why[TMS_SHAPE_SENTENCE] = "";
        shape.events = 100;
        shape.length = 10 * (uint64_t)MILLION;
        shape.nesting = 1;
        assert_false(tms_shape_check(&shape, why));
        assert_non_null(strstr(why, cases[i].word));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_is_serializable),
        cmocka_unit_test(any_is_well_formed_and_mostly_violates),
        cmocka_unit_test(planted_closes_at_the_stated_event),
        cmocka_unit_test(planted_at_every_event),
        cmocka_unit_test(the_cut_labels_are_not_atomic_and_no_others),
        cmocka_unit_test(cut_labels_are_cut_all_along),
        cmocka_unit_test(shares_and_lengths_are_as_asked),
        cmocka_unit_test(atomics_are_as_asked),
        cmocka_unit_test(overlap_is_as_asked),
        cmocka_unit_test(threads_come_and_go),
        cmocka_unit_test(all_threads_are_replaced),
        cmocka_unit_test(the_same_everywhere),
        cmocka_unit_test(presets_make_traces),
        cmocka_unit_test(presets_have_the_published_numbers),
        cmocka_unit_test(impossible_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
