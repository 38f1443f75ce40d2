/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fasttrack against a brute-force search: the order of all events by closure over the graph of
 * synchronisation, and then every pair of accesses. Compared are the verdict, the first event,
 * which variables have a race, and the event of the first race on each; every race that is reported
 * must be one, with its kinds, locations and transactions as the trace has them.
 *
 * Order through atomics is taken from the text of C11 (7.17.3, 7.17.4): which store a load takes
 * its value from, the release sequences of that store, and the fences before and after.
 *
 *   predict-fasttrack [TRACES]
 */
#include <stdlib.h>
#include <string.h>

#include "differential/oracle.h"
#include "differential/trace.h"
#include "differential/vocabulary.h"

#define PER_TEST 100

struct test {
    struct tms_context *context;
    struct tms_vocabulary *vocabulary;
    const struct tms_trace *trace;
    unsigned version[TMS_TRACE_MOST];            /* of the variable accessed */
    bool syncs[TMS_TRACE_MOST][TMS_TRACE_MOST];  /* [b][a]: atomic a synchronizes with b */
    bool before[TMS_TRACE_MOST][TMS_TRACE_MOST]; /* [b][a]: a happened before b */
    bool races[TMS_TRACE_MOST][TMS_TRACE_MOST];  /* [b][a]: a < b are a race */
    uint64_t first;                              /* number of the first second access, or 0 */
    char message[256];
    unsigned number; /* of the last TAP line */
    unsigned racy;
    bool failed;
};

static const struct tms_event *at(const struct test *test, size_t index)
{
    return &test->trace->events[index];
}

/* ---- brute force ------------------------------------------------------------------------ */

static bool is_access(const struct tms_event *event)
{
    return tms_event_class(event->kind) == TMS_CLASS_VARIABLE;
}

/* Does the variable belong to the object: o itself, o.field, o[index]? */
static bool is_part(const struct test *test, uint32_t variable, uint32_t object)
{
    const char *name = tms_name(test->context, TMS_CLASS_VARIABLE, variable, NULL);
    const char *whole = tms_name(test->context, TMS_CLASS_OBJECT, object, NULL);
    size_t length = strlen(whole);

    return strncmp(name, whole, length) == 0 && strchr(".[", name[length]) != NULL;
}

/* How often the variable of an access had become a new one before. */
static unsigned version_of(const struct test *test, size_t index)
{
    unsigned version = 0;

    for (size_t i = 0; i < index; i++) {
        bool renews = at(test, i)->kind == TMS_EVENT_ALLOC || at(test, i)->kind == TMS_EVENT_FREE;
        version += renews && is_part(test, at(test, index)->target, at(test, i)->target);
    }
    return version;
}

static bool is_shared(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_SHARED_ACQUIRE || event->kind == TMS_EVENT_SHARED_RELEASE;
}

static bool same_variable(const struct test *test, size_t a, size_t b)
{
    return is_access(at(test, a)) && is_access(at(test, b)) &&
           at(test, a)->target == at(test, b)->target && test->version[a] == test->version[b];
}

/*
 * ---- synchronizes-with, as C11 defines it -----------------------------------------------
 */

static bool is_atomic(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_UPDATE || (is_access(event) && event->order != TMS_ORDER_NONE);
}

static bool is_atomic_load(const struct tms_event *event)
{
    return is_atomic(event) && event->kind != TMS_EVENT_ATOMIC_WRITE;
}

static bool is_atomic_store(const struct tms_event *event)
{
    return is_atomic(event) && event->kind != TMS_EVENT_ATOMIC_READ;
}

static bool is_release(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_UPDATE || event->order == TMS_ORDER_RELEASE ||
           event->order == TMS_ORDER_ACQ_REL || event->order == TMS_ORDER_SEQ_CST;
}

static bool is_acquire(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_UPDATE || event->order == TMS_ORDER_ACQUIRE ||
           event->order == TMS_ORDER_ACQ_REL || event->order == TMS_ORDER_SEQ_CST;
}

/* The store, if it releases, and each release fence before it synchronize with b. */
static void sync_with_store(struct test *test, size_t store, size_t b)
{
    test->syncs[b][store] |= is_release(at(test, store));
    for (size_t i = 0; i < store; i++) {
        if (at(test, i)->kind == TMS_EVENT_FENCE && is_release(at(test, i)) &&
            at(test, i)->thread == at(test, store)->thread) {
            test->syncs[b][i] = true;
        }
    }
}

/*
 * The value of the load comes from the last store. That belongs to its own release sequence, and if
 * it is a read-modify-write, also to those of the store before it.
 */
static void sync_by_load(struct test *test, size_t load, size_t b)
{
    for (size_t i = load; i-- > 0;) {
        if (same_variable(test, i, load) && is_atomic_store(at(test, i))) {
            sync_with_store(test, i, b);
            if (at(test, i)->kind == TMS_EVENT_ATOMIC_WRITE) {
                return;
            }
        }
    }
}

/*
 * The loads that synchronize with b: an acquiring load, or for an acquire fence all loads before
 * it.
 */
static void synchronize(struct test *test, size_t b)
{
    const struct tms_event *y = at(test, b);

    if (is_atomic_load(y) && is_acquire(y)) {
        sync_by_load(test, b, b);
    }
    for (size_t i = 0; i < b && y->kind == TMS_EVENT_FENCE && is_acquire(y); i++) {
        if (is_atomic_load(at(test, i)) && at(test, i)->thread == y->thread) {
            sync_by_load(test, i, b);
        }
    }
}

/* ---- happens-before, and races ---------------------------------------------------------- */

/* Is a, directly, before b? */
static bool orders(const struct test *test, size_t a, size_t b)
{
    const struct tms_event *x = at(test, a), *y = at(test, b);

    if (x->thread == y->thread || (x->kind == TMS_EVENT_FORK && x->target == y->thread) ||
        (y->kind == TMS_EVENT_JOIN && y->target == x->thread)) {
        return true;
    }
    if (x->kind == TMS_EVENT_FORK && y->kind == TMS_EVENT_JOIN) {
        return x->target == y->target;
    }
    if (x->kind == TMS_EVENT_ARRIVE && y->kind == TMS_EVENT_DEPART) {
        return x->target == y->target;
    }
    if (x->kind == TMS_EVENT_SEND && y->kind == TMS_EVENT_RECEIVE) {
        return x->target == y->target;
    }
    if (test->syncs[b][a]) {
        return true;
    }
    bool locks = tms_event_class(x->kind) == TMS_CLASS_LOCK &&
                 tms_event_class(y->kind) == TMS_CLASS_LOCK && x->target == y->target;
    return locks && !(is_shared(x) && is_shared(y));
}

static bool is_read(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_READ || event->kind == TMS_EVENT_ATOMIC_READ;
}

static bool is_race(const struct test *test, size_t a, size_t b)
{
    const struct tms_event *x = at(test, a), *y = at(test, b);

    return same_variable(test, a, b) && !test->before[b][a] && !(is_read(x) && is_read(y)) &&
           !(is_atomic(x) && is_atomic(y));
}

static void close_order(struct test *test, size_t b)
{
    for (size_t a = 0; a < b; a++) {
        if (orders(test, a, b)) {
            test->before[b][a] = true;
            for (size_t i = 0; i < a; i++) {
                test->before[b][i] |= test->before[a][i];
            }
        }
    }
}

static void search(struct test *test, const struct tms_trace *trace)
{
    test->trace = trace;
    test->first = 0;
    memset(test->syncs, 0, sizeof(test->syncs));
    memset(test->before, 0, sizeof(test->before));
    for (size_t b = 0; b < trace->count; b++) {
        test->version[b] = is_access(at(test, b)) ? version_of(test, b) : 0;
        synchronize(test, b);
        close_order(test, b);
        for (size_t a = 0; a < b; a++) {
            test->races[b][a] = is_race(test, a, b);
            if (test->races[b][a] && test->first == 0) {
                test->first = b + 1;
            }
        }
    }
}

/* ---- comparison ------------------------------------------------------------------------- */

static bool wrong(struct test *test, const char *what, uint64_t event)
{
    snprintf(test->message, sizeof(test->message), "%s (event %llu)", what,
             (unsigned long long)event);
    return false;
}

static bool same_transaction(const struct tms_oracle *oracle, size_t index,
                             const struct tms_transaction *named)
{
    const struct tms_transaction *own =
        &oracle->transactions[oracle->readings[index].transaction].name;

    return own->begin_event == named->begin_event && own->thread == named->thread &&
           own->label == named->label && own->location == named->location &&
           own->unary == named->unary;
}

static uint8_t edge_kind(const struct tms_event *first, const struct tms_event *second)
{
    if (is_read(first)) {
        return TMS_EDGE_READ_WRITE;
    }
    return is_read(second) ? TMS_EDGE_WRITE_READ : TMS_EDGE_WRITE_WRITE;
}

static bool check_finding(struct test *test, const struct tms_oracle *oracle,
                          const struct tms_finding *finding)
{
    const struct tms_step *step = finding->cycle;

    if (finding->cycle_length != 1 || finding->event != step->second_event ||
        strcmp(finding->kind, "race") != 0 || finding->evidence != TMS_EVIDENCE_PREDICTED ||
        step->first_event == 0 || step->first_event >= step->second_event) {
        return wrong(test, "a finding that is not shaped like a race", finding->event);
    }
    size_t a = step->first_event - 1, b = step->second_event - 1;
    if (!test->races[b][a]) {
        return wrong(test, "reported, and not a race", finding->event);
    }
    if (step->on != at(test, b)->target || step->first_location != at(test, a)->location ||
        step->second_location != at(test, b)->location || step->first_kind != at(test, a)->kind ||
        step->second_kind != at(test, b)->kind ||
        step->kind != edge_kind(at(test, a), at(test, b)) || finding->schedule_length != 2 ||
        finding->schedule[0].event != step->first_event ||
        finding->schedule[1].event != step->second_event) {
        return wrong(test, "a race whose accesses are not as the trace has them", finding->event);
    }
    return same_transaction(oracle, a, &step->from) && same_transaction(oracle, b, &step->to)
               ? true
               : wrong(test, "a race in the wrong transactions", finding->event);
}

/* Is b the second access of the first race on its variable? */
static bool is_first(const struct test *test, size_t b)
{
    bool races = false;

    for (size_t a = 0; a < b; a++) {
        races |= test->races[b][a];
        for (size_t earlier = 0; earlier < a; earlier++) {
            if (test->races[a][earlier] && same_variable(test, a, b)) {
                return false;
            }
        }
    }
    return races;
}

static bool is_listed(const struct tms_result *result, uint64_t event)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        if (result->findings[i].event == event) {
            return true;
        }
    }
    return false;
}

/* With `all`, so that every race found is listed by itself. */
static bool check_result(struct test *test, const struct tms_oracle *oracle,
                         const struct tms_result *result)
{
    enum tms_verdict wanted = test->first != 0 ? TMS_VERDICT_RACE : TMS_VERDICT_NO_RACE;

    if (result->verdict != wanted || result->first_violation_event != test->first) {
        return wrong(test, "another verdict or first race", result->first_violation_event);
    }
    for (size_t i = 0; i < result->finding_count; i++) {
        if (!check_finding(test, oracle, &result->findings[i])) {
            return false;
        }
    }
    for (size_t b = 0; b < test->trace->count; b++) {
        if (is_first(test, b) && !is_listed(result, b + 1)) {
            return wrong(test, "the first race on its variable was missed", b + 1);
        }
    }
    return true;
}

/* Without `all`: the same variables, each with the kind of its first race. */
static bool check_grouped(struct test *test, const struct tms_result *result)
{
    for (size_t b = 0; b < test->trace->count; b++) {
        bool found = !is_first(test, b);
        for (size_t i = 0; i < result->finding_count; i++) {
            found |= result->findings[i].cycle->on == at(test, b)->target;
        }
        if (!found) {
            return wrong(test, "a racy variable is not among the grouped findings", b + 1);
        }
    }
    return true;
}

static bool run(struct test *test, const struct tms_trace *trace, bool all)
{
    struct tms_settings settings;
    struct tms_analysis *analysis = NULL;

    tms_settings_init(&settings);
    settings.engines = "fasttrack";
    settings.all = all;
    settings.split = trace->split;
    int code = tms_analysis_new(test->context, &settings, &analysis);
    code = code == TMS_OK ? tms_analysis_feed(analysis, trace->events, trace->count, NULL) : code;
    code = code == TMS_OK ? tms_analysis_finish(analysis) : code;
    bool good = code == TMS_ERR_MALFORMED; /* while shrinking */
    if (code == TMS_OK) {
        struct tms_oracle *oracle =
            tms_oracle_new(test->context, trace->events, trace->count, trace->split);
        const struct tms_result *result = tms_analysis_result(analysis, 0);
        search(test, trace);
        good = all ? check_result(test, oracle, result) : check_grouped(test, result);
        tms_oracle_free(oracle);
    } else if (!good) {
        wrong(test, tms_error(test->context), 0);
    }
    tms_analysis_free(analysis);
    return good;
}

static bool fails(void *user, const struct tms_trace *trace)
{
    return !run(user, trace, true) || !run(user, trace, false);
}

/* ---- the tests -------------------------------------------------------------------------- */

static void say(struct test *test, bool good, const char *what)
{
    test->failed |= !good;
    printf("%s %u - %s\n", good ? "ok" : "not ok", ++test->number, what);
}

static void show(struct test *test, uint64_t seed, struct tms_trace *trace)
{
    tms_trace_shrink(trace, fails, test);
    fails(test, trace);
    printf("# seed %llu (%s), shrunk to %zu events: %s\n", (unsigned long long)seed,
           tms_trace_profile(seed), trace->count, test->message);
    tms_trace_print(trace, test->context, stdout);
}

static void compare(struct test *test, uint64_t from, uint64_t to)
{
    char what[64];
    bool good = true;

    for (uint64_t seed = from; seed < to && good; seed++) {
        struct tms_trace trace;
        tms_trace_make(test->vocabulary, seed, &trace);
        good = !fails(test, &trace);
        test->racy += test->first != 0;
        if (!good) {
            show(test, seed, &trace);
        }
    }
    snprintf(what, sizeof(what), "seeds %llu to %llu", (unsigned long long)from,
             (unsigned long long)to - 1);
    say(test, good, what);
}

/* Fences, and half of the atomic accesses, become operations on one of two channels. */
static void use_channels(const struct test *test, struct tms_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        struct tms_event *event = &trace->events[i];
        if (event->kind == TMS_EVENT_FENCE || (is_atomic(event) && event->location % 2 == 0)) {
            event->kind = is_release(event) ? TMS_EVENT_SEND : TMS_EVENT_RECEIVE;
            event->target = test->vocabulary->channels[event->location / 2 % TMS_CHANNELS];
            event->order = TMS_ORDER_NONE;
        }
    }
}

/* So many traces more, of those with memory orders alone; every other one with channels. */
static void compare_orders(struct test *test, unsigned traces)
{
    unsigned racy = 0, made = 0;
    bool good = true;

    for (uint64_t seed = 1; made < traces && good; seed++) {
        struct tms_trace trace;
        if (strcmp(tms_trace_profile(seed), "atomics") != 0 &&
            strcmp(tms_trace_profile(seed), "orders") != 0) {
            continue;
        }
        tms_trace_make(test->vocabulary, seed, &trace);
        if (made % 2 == 1) {
            use_channels(test, &trace);
        }
        good = !fails(test, &trace);
        racy += test->first != 0;
        made++;
        if (!good) {
            show(test, seed, &trace);
        }
    }
    say(test, good, "traces with memory orders, and with channels");
    say(test, racy * 10 >= traces && racy * 10 <= traces * 9,
        "at least a tenth of these has races, and a tenth has none");
    printf("# %u of %u traces with memory orders had races\n", racy, made);
}

/* ---- traces by hand --------------------------------------------------------------------- */

/* Events as "thread operation operand", separated by commas; "ar:acquire" has an order. */
static const struct golden {
    const char *name, *text;
    uint64_t first, races; /* event of the first race; how many are reported */
} goldens[] = {
    {"a lock orders", "A acq m,A w x,A rel m,B acq m,B w x,B rel m", 0, 0},
    {"different locks don't", "A acq m,A w x,A rel m,B acq n,B w x,B rel n", 5, 1},
    {"knowledge goes on through a lock that was released before it was there",
     "B acq m,B rel m,A w x,A acq n,A rel n,B acq n,B rel n,B acq m,B rel m,C acq m,C r x", 0, 0},
    {"a silent thread is between its fork and its join", "A w x,A fork S,B join S,B w x", 0, 0},
    {"siblings are not ordered", "A fork B,A fork C,B w x,C r x", 4, 1},
    {"a slot is reused only by a thread ordered after the join",
     "A fork B,A fork C,B w x,A join B,C fork D,D w x", 6, 1},
    {"shared holds don't order each other", "A racq m,A w x,A rrel m,B racq m,B r x,B rrel m", 5,
     1},
    {"… but with exclusive ones, both ways",
     "A racq m,A r x,A rrel m,B acq m,B w x,B rel m,C racq m,C r x,C rrel m", 0, 0},
    {"a barrier", "A w x,B w y,A arrive b,B arrive b,A depart b,B depart b,A r y,B r x", 0, 0},
    {"a channel, from all that sent before",
     "A w x,B w y,A send p,B send p,C receive p,C r x,C r y", 0, 0},
    {"… not to who sends", "A w x,A send p,B send p,B r x", 4, 1},
    {"… not from what comes after it was sent", "A w x,A send p,A w x,B receive p,B r x", 5, 1},
    {"… nor from who sends later", "A w x,B receive p,A send p,B r x", 4, 1},
    {"different channels don't order", "A w x,A send p,B receive q,B r x", 4, 1},
    {"what came through a channel goes on through a lock",
     "A w x,A send p,B receive p,B acq m,B rel m,C acq m,C r x,C rel m", 0, 0},
    {"a thread that does nothing but receive and send",
     "A w x,A send p,B receive p,B send q,C receive q,C r x", 0, 0},
    {"atomic updates don't race, and order", "A w y,A u x,B u x,B r y", 0, 0},
    {"… but do race with a plain access", "A u x,B r x,C u x,C w x", 2, 2},
    {"an atomic variable that became a new one orders nothing",
     "A alloc o,A w y,A u o.f,B alloc o,B u o.f,B w y", 6, 1},
    {"each life of a variable has its own races",
     "A w o.f,B w o.f,B free o,A alloc o,A w o.f,B w o.f", 2, 2},
    {"a release store, and an acquire load of it", "A w y,A aw:release x,B ar:acquire x,B r y", 0,
     0},
    {"… seq_cst too", "A w y,A aw:seq_cst x,B ar:seq_cst x,B r y", 0, 0},
    {"a relaxed store passes nothing on", "A w y,A aw:relaxed x,B ar:acquire x,B r y", 4, 1},
    {"a relaxed load learns nothing", "A w y,A aw:release x,B ar:relaxed x,B r y", 4, 1},
    {"a relaxed store ends what was released",
     "A w y,A aw:release x,C aw:relaxed x,B ar:acquire x,B r y", 5, 1},
    {"… also one of the same thread", "A w y,A aw:release x,A aw:relaxed x,B ar:acquire x,B r y", 5,
     1},
    {"another release store replaces it",
     "A w y,A aw:release x,C w z,C aw:release x,B ar:acquire x,B r z,B r y", 7, 1},
    {"a relaxed update continues a release sequence",
     "A w y,A aw:release x,C au:relaxed x,B ar:acquire x,B r y", 0, 0},
    {"… and learns nothing itself", "A w y,A aw:release x,C au:relaxed x,C r y", 4, 1},
    {"an update that releases adds its own",
     "A w y,A aw:release x,C w z,C au:release x,B ar:acquire x,B r z,B r y", 0, 0},
    {"an update that acquires", "A w y,A aw:release x,B au:acquire x,B r y", 0, 0},
    {"atomic accesses don't race with each other",
     "A aw:relaxed x,B au:relaxed x,C ar:relaxed x,D u x", 0, 0},
    {"… but with plain ones", "A aw:relaxed x,B r x,C w x", 2, 3},
    {"a plain write, and atomic stores after it",
     "A w x,A acq m,A rel m,B acq m,B aw:relaxed x,"
     "B u x,C ar:relaxed x",
     7, 1},
    {"a plain read, and an atomic store that is not after it", "A r x,B aw:relaxed x", 2, 1},
    {"a plain read, and an atomic load", "A r x,B ar:relaxed x", 0, 0},
    {"a release fence before a relaxed store",
     "A w y,A fence:release -,A aw:relaxed x,B ar:acquire x,B r y", 0, 0},
    {"… not after it", "A w y,A aw:relaxed x,A fence:release -,B ar:acquire x,B r y", 5, 1},
    {"… passes on what was before the fence only",
     "A fence:release -,A w y,A aw:relaxed x,B ar:acquire x,B r y", 5, 1},
    {"… also by a relaxed update", "A w y,A fence:acq_rel -,A au:relaxed x,B ar:acquire x,B r y", 0,
     0},
    {"a relaxed load before an acquire fence",
     "A w y,A aw:release x,B ar:relaxed x,B fence:acquire -,B r y", 0, 0},
    {"… not after it", "A w y,A aw:release x,B fence:acquire -,B ar:relaxed x,B r y", 5, 1},
    {"two fences", "A w y,A fence:seq_cst -,A aw:relaxed x,B ar:relaxed x,B fence:seq_cst -,B r y",
     0, 0},
    {"a relaxed fence does nothing", "A w y,A fence:relaxed -,A aw:relaxed x,B ar:acquire x,B r y",
     5, 1},
    {"a fence does not order fences", "A w y,A fence:seq_cst -,B fence:seq_cst -,B r y", 4, 1},
    {"a thread that begins with a fence",
     "A w y,A fork B,B fence:release -,B aw:relaxed x,C ar:acquire x,C r y", 0, 0},
    {"what was accessed again after a fence is not passed on",
     "A w y,A fence:release -,A w y,A aw:relaxed x,B ar:acquire x,B w y", 6, 1},
    {"a slot that goes on takes no fence along",
     "A fork B,B w y,B fence:release -,A join B,A fork C,C aw:relaxed x,D ar:acquire x,D r y", 8,
     1},
    {"an atomic variable that became a new one has nothing to pass on",
     "A w y,A aw:release o.f,B alloc o,B ar:acquire o.f,B r y", 5, 1},
    {"concurrent reads, and a write after all but one of them",
     "A r x,A acq m,A rel m,B r x,C r x,C acq m,C rel m,D acq m,D w x", 9, 1},
};

struct feeder {
    struct test *test;
    struct tms_analysis *analysis;
    bool good;
};

static struct feeder start(struct test *test)
{
    struct feeder feeder = {.test = test};
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = "fasttrack";
    feeder.good = tms_analysis_new(test->context, &settings, &feeder.analysis) == TMS_OK;
    return feeder;
}

static uint32_t name(struct feeder *feeder, enum tms_class cls, const char *text)
{
    int64_t id = text[0] == '\0' ? 0 : tms_intern(feeder->test->context, cls, text, strlen(text));

    feeder->good &= id >= 0;
    return (uint32_t)id;
}

static void feed(struct feeder *feeder, const char *thread, const char *operation,
                 const char *target)
{
    size_t length = strcspn(operation, ":");
    const char *order_text = operation + length + (operation[length] == ':');
    unsigned kind = 0, order = 0;

    while (kind < TMS_EVENT_COUNT && (strncmp(tms_event_text(kind), operation, length) != 0 ||
                                      tms_event_text(kind)[length] != '\0')) {
        kind++;
    }
    while (order < TMS_ORDER_COUNT && strcmp(tms_order_text(order), order_text) != 0) {
        order++;
    }
    feeder->good &= kind < TMS_EVENT_COUNT && order < TMS_ORDER_COUNT;
    const struct tms_event event = {
        .thread = name(feeder, TMS_CLASS_THREAD, thread),
        .target = kind == TMS_EVENT_FENCE ? 0 : name(feeder, tms_event_class(kind), target),
        .kind = (uint8_t)kind,
        .order = (uint8_t)order,
    };
    feeder->good &= tms_analysis_feed(feeder->analysis, &event, 1, NULL) == TMS_OK;
}

static void check_golden(struct test *test, const struct golden *golden)
{
    struct feeder feeder = start(test);
    char thread[8], operation[16], target[8];

    for (const char *at = golden->text; at != NULL && feeder.good; at = strchr(at, ',')) {
        at += *at == ',';
        feeder.good = sscanf(at, "%7[^ ] %15[^ ] %7[^,]", thread, operation, target) == 3;
        feed(&feeder, thread, operation, target);
    }
    feeder.good = feeder.good && tms_analysis_finish(feeder.analysis) == TMS_OK;
    const struct tms_result *result = tms_analysis_result(feeder.analysis, 0);
    say(test,
        feeder.good && result->first_violation_event == golden->first &&
            result->violations == golden->races,
        golden->name);
    tms_analysis_free(feeder.analysis);
}

/* A race with an access so long ago that the blocks since then have been swept away. */
static void remember(struct test *test)
{
    struct feeder feeder = start(test);

    feed(&feeder, "A", "begin", "early");
    feed(&feeder, "A", "w", "x");
    feed(&feeder, "A", "end", "");
    for (unsigned i = 0; i < 60000; i++) {
        feed(&feeder, "A", "begin", "later");
        feed(&feeder, "A", "w", "y");
        feed(&feeder, "A", "end", "");
    }
    feed(&feeder, "B", "r", "x");
    feeder.good = feeder.good && tms_analysis_finish(feeder.analysis) == TMS_OK;
    const struct tms_result *result = tms_analysis_result(feeder.analysis, 0);
    bool found = feeder.good && result->finding_count == 1;
    const struct tms_transaction *from = found ? &result->findings[0].cycle->from : NULL;
    say(test,
        found && from->begin_event == 1 && !from->unary && result->memory_bytes < 2 << 20 &&
            from->label == name(&feeder, TMS_CLASS_LABEL, "early"),
        "the block of an access far back, in little memory");
    tms_analysis_free(feeder.analysis);
}

int main(int argc, char **argv)
{
    static struct test test;
    uint64_t traces = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;

    test.context = tms_context_new(NULL, NULL);
    test.vocabulary = test.context != NULL ? tms_vocabulary_new(test.context) : NULL;
    if (test.vocabulary == NULL) {
        fprintf(stderr, "predict-fasttrack: out of memory\n");
        return 2;
    }
    for (uint64_t seed = 1; seed <= traces; seed += PER_TEST) {
        compare(&test, seed, seed + PER_TEST);
    }
    say(&test, test.racy * 10 >= traces && test.racy * 10 <= traces * 9,
        "at least a tenth of the traces has races, and a tenth has none");
    compare_orders(&test, (unsigned)traces);
    remember(&test);
    for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
        check_golden(&test, &goldens[i]);
    }
    printf("1..%u\n# %u of %llu traces had races\n", test.number, test.racy,
           (unsigned long long)traces);
    tms_vocabulary_free(test.vocabulary);
    tms_context_free(test.context);
    return test.failed;
}
