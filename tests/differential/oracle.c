/* SPDX-License-Identifier: Apache-2.0 */
/* How the oracle reads a trace; see oracle.h. */
#include "oracle.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE SIZE_MAX

struct thread {
    uint32_t transaction; /* of its last event */
    bool forked;          /* cut by a fork: the next event begins a new transaction */
};

/* ---- reading the trace ---------------------------------------------------------------- */

/* Is this the inside of a lock that its thread already holds? Keeps the count of holds. */
static bool inner_hold(unsigned *holds, const struct tms_event *event)
{
    switch (event->kind) {
    case TMS_EVENT_ACQUIRE:
    case TMS_EVENT_SHARED_ACQUIRE:
        return (*holds)++ > 0;
    case TMS_EVENT_RELEASE:
    case TMS_EVENT_SHARED_RELEASE:
        return --*holds > 0;
    default:
        return false;
    }
}

static bool opens(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_BEGIN || event->kind == TMS_EVENT_ENTER;
}

static bool closes(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_END || event->kind == TMS_EVENT_EXIT;
}

/* Is the block that this event opened atomic? */
static bool atomic(const struct tms_oracle *oracle, size_t index)
{
    const struct tms_event *event = &oracle->events[index];

    return event->kind == TMS_EVENT_BEGIN ||
           strcmp(tms_name(oracle->context, TMS_CLASS_LABEL, event->target, NULL), "main") != 0;
}

/* The event that opened the outermost atomic block in which the thread still is, or NOWHERE. */
static size_t outermost(const struct tms_oracle *oracle, uint32_t thread)
{
    for (size_t i = 0; i < oracle->count; i++) {
        if (oracle->events[i].thread == thread && oracle->readings[i].open && atomic(oracle, i)) {
            return i;
        }
    }
    return NOWHERE;
}

/* An end closes the innermost begin, an exit the innermost enter, whatever their labels. */
static void close_block(struct tms_oracle *oracle, size_t index)
{
    const struct tms_event *event = &oracle->events[index];
    uint8_t opener = event->kind == TMS_EVENT_END ? TMS_EVENT_BEGIN : TMS_EVENT_ENTER;

    for (size_t i = index; i-- > 0;) {
        if (oracle->events[i].thread == event->thread && oracle->events[i].kind == opener &&
            oracle->readings[i].open) {
            oracle->readings[i].open = false;
            oracle->readings[i].closed_by = index;
            return;
        }
    }
    assert(!"the trace is well-formed");
}

/* Does the event itself begin a new transaction inside the block? */
static bool splits(const struct tms_oracle *oracle, const struct tms_event *event)
{
    return (event->kind == TMS_EVENT_WAIT && (oracle->split & TMS_SPLIT_WAIT) != 0) ||
           (event->kind == TMS_EVENT_DEPART && (oracle->split & TMS_SPLIT_BARRIER) != 0) ||
           (event->kind == TMS_EVENT_JOIN && (oracle->split & TMS_SPLIT_JOIN) != 0);
}

/* A transaction named after the block that event `block` opened, or of the event alone. */
static uint32_t begin_transaction(struct tms_oracle *oracle, size_t index, size_t block)
{
    bool unary = block == NOWHERE;
    uint32_t label = unary ? 0 : oracle->events[block].target;

    oracle->transactions[oracle->transaction_count] = (struct tms_oracle_transaction){
        .name = {index + 1, oracle->events[index].thread, label, oracle->events[index].location,
                 unary},
        .first = index,
        .block = block,
    };
    return (uint32_t)oracle->transaction_count++;
}

/* The transaction of an event; `thread` is the state of its thread. */
static uint32_t place(struct tms_oracle *oracle, struct thread *thread, size_t index)
{
    const struct tms_event *event = &oracle->events[index];
    size_t outer = outermost(oracle, event->thread);

    oracle->readings[index].open = opens(event);
    if (closes(event)) {
        close_block(oracle, index);
    }
    if (outer == NOWHERE) {
        bool begins = opens(event) && atomic(oracle, index);
        thread->transaction = begin_transaction(oracle, index, begins ? index : NOWHERE);
    } else if (splits(oracle, event) ||
               (thread->forked && outermost(oracle, event->thread) != NOWHERE)) {
        thread->transaction = begin_transaction(oracle, index, outer);
    }
    thread->forked = event->kind == TMS_EVENT_FORK && (oracle->split & TMS_SPLIT_FORK) != 0;
    return thread->transaction;
}

/* alloc(o) and free(o) make new variables of o, o.* and o[*. */
static void renew(const struct tms_oracle *oracle, uint32_t *versions, uint32_t object)
{
    const char *name = tms_name(oracle->context, TMS_CLASS_OBJECT, object, NULL);
    size_t length = strlen(name);

    for (uint32_t id = 1; id <= tms_name_count(oracle->context, TMS_CLASS_VARIABLE); id++) {
        const char *variable = tms_name(oracle->context, TMS_CLASS_VARIABLE, id, NULL);
        if (strncmp(variable, name, length) == 0 &&
            (variable[length] == '\0' || variable[length] == '.' || variable[length] == '[')) {
            versions[id]++;
        }
    }
}

static void read_event(struct tms_oracle *oracle, struct thread *threads, unsigned *holds,
                       uint32_t *versions, size_t index)
{
    const struct tms_event *event = &oracle->events[index];
    struct tms_oracle_reading *reading = &oracle->readings[index];
    size_t locks = tms_name_count(oracle->context, TMS_CLASS_LOCK) + (size_t)1;
    bool on_lock = tms_event_class(event->kind) == TMS_CLASS_LOCK;

    if ((event->kind >= TMS_EVENT_FENCE && event->kind <= TMS_EVENT_RECEIVE) ||
        (on_lock && inner_hold(&holds[event->thread * locks + event->target], event))) {
        reading->transaction = TMS_NOT_AN_EVENT;
        return;
    }
    reading->transaction = place(oracle, &threads[event->thread], index);
    if (tms_event_class(event->kind) == TMS_CLASS_VARIABLE) {
        reading->version = versions[event->target];
    }
    if (event->kind == TMS_EVENT_ALLOC || event->kind == TMS_EVENT_FREE) {
        renew(oracle, versions, event->target);
    }
}

static bool read_trace(struct tms_oracle *oracle)
{
    size_t thread_count = tms_name_count(oracle->context, TMS_CLASS_THREAD) + (size_t)1;
    size_t locks = tms_name_count(oracle->context, TMS_CLASS_LOCK) + (size_t)1;
    size_t variables = tms_name_count(oracle->context, TMS_CLASS_VARIABLE) + (size_t)1;
    struct thread *threads = calloc(thread_count, sizeof(*threads));
    unsigned *holds = calloc(thread_count * locks, sizeof(*holds));
    uint32_t *versions = calloc(variables, sizeof(*versions));
    bool done = threads != NULL && holds != NULL && versions != NULL;

    for (size_t i = 0; done && i < oracle->count; i++) {
        read_event(oracle, threads, holds, versions, i);
    }
    free(threads);
    free(holds);
    free(versions);
    return done;
}

/* ---- conflict, event by event --------------------------------------------------------- */

static bool writes(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_WRITE || event->kind == TMS_EVENT_UPDATE ||
           event->kind == TMS_EVENT_ATOMIC_WRITE || event->kind == TMS_EVENT_ATOMIC_UPDATE;
}

static bool shares(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_SHARED_ACQUIRE || event->kind == TMS_EVENT_SHARED_RELEASE;
}

static bool same_target(const struct tms_oracle *oracle, size_t first, size_t second,
                        enum tms_class cls)
{
    const struct tms_event *a = &oracle->events[first], *b = &oracle->events[second];

    return tms_event_class(a->kind) == cls && tms_event_class(b->kind) == cls &&
           a->target == b->target &&
           oracle->readings[first].version == oracle->readings[second].version;
}

bool tms_oracle_conflict_by(const struct tms_oracle *oracle, size_t first, size_t second,
                            enum tms_edge_kind kind)
{
    const struct tms_event *a = &oracle->events[first], *b = &oracle->events[second];

    switch (kind) {
    case TMS_EDGE_PROGRAM_ORDER:
        return a->thread == b->thread;
    case TMS_EDGE_FORK:
        return a->kind == TMS_EVENT_FORK && a->target == b->thread;
    case TMS_EDGE_JOIN:
        return b->kind == TMS_EVENT_JOIN && b->target == a->thread;
    case TMS_EDGE_BARRIER:
        return same_target(oracle, first, second, TMS_CLASS_BARRIER) &&
               a->kind == TMS_EVENT_ARRIVE && b->kind == TMS_EVENT_DEPART;
    case TMS_EDGE_LOCK:
        return same_target(oracle, first, second, TMS_CLASS_LOCK) && !(shares(a) && shares(b));
    case TMS_EDGE_READ_WRITE:
        return same_target(oracle, first, second, TMS_CLASS_VARIABLE) && !writes(a) && writes(b);
    case TMS_EDGE_WRITE_READ:
        return same_target(oracle, first, second, TMS_CLASS_VARIABLE) && writes(a) && !writes(b);
    case TMS_EDGE_WRITE_WRITE:
        return same_target(oracle, first, second, TMS_CLASS_VARIABLE) && writes(a) && writes(b);
    }
    return false;
}

bool tms_oracle_is_event(const struct tms_oracle *oracle, size_t index)
{
    return oracle->readings[index].transaction != TMS_NOT_AN_EVENT;
}

bool tms_oracle_conflict(const struct tms_oracle *oracle, size_t first, size_t second)
{
    if (first >= second || !tms_oracle_is_event(oracle, first) ||
        !tms_oracle_is_event(oracle, second)) {
        return false;
    }
#define X(name, text)                                                                              \
    if (tms_oracle_conflict_by(oracle, first, second, TMS_EDGE_##name)) {                          \
        return true;                                                                               \
    }
    TMS_EDGE_KINDS(X)
#undef X
    return false;
}

/* ---- closures ------------------------------------------------------------------------- */

/* What happened before `first` happened before `second` too. */
static void order(struct tms_oracle *oracle, size_t first, size_t second)
{
    bool *past = &oracle->past[second * oracle->count];

    for (size_t i = 0; i < first; i++) {
        past[i] |= oracle->past[first * oracle->count + i];
    }
    past[first] = true;
}

/* Whatever reaches `from` now reaches `to` and all that `to` reaches. */
static void connect(struct tms_oracle *oracle, uint32_t from, uint32_t to)
{
    size_t side = oracle->count;

    if (from == to || oracle->reaches[from * side + to]) {
        return;
    }
    for (size_t s = 0; s < oracle->transaction_count; s++) {
        if (s != from && !oracle->reaches[s * side + from]) {
            continue;
        }
        oracle->reaches[s * side + to] = true;
        for (size_t t = 0; t < oracle->transaction_count; t++) {
            oracle->reaches[s * side + t] |= oracle->reaches[to * side + t];
        }
    }
}

static void close_relations(struct tms_oracle *oracle)
{
    for (size_t second = 0; second < oracle->count; second++) {
        uint32_t to = oracle->readings[second].transaction;
        for (size_t first = 0; first < second; first++) {
            if (tms_oracle_conflict(oracle, first, second)) {
                order(oracle, first, second);
                connect(oracle, oracle->readings[first].transaction, to);
            }
        }
        if (to != TMS_NOT_AN_EVENT && oracle->first_event == 0 &&
            oracle->reaches[to * oracle->count + to]) {
            oracle->first_event = second + 1;
        }
    }
}

bool tms_oracle_cut(const struct tms_oracle *oracle, size_t begin, size_t m)
{
    for (size_t x = begin + 1; x < m; x++) {
        if (oracle->events[x].thread != oracle->events[m].thread &&
            oracle->past[x * oracle->count + begin] && oracle->past[m * oracle->count + x]) {
            return true;
        }
    }
    return false;
}

static void blame(struct tms_oracle *oracle)
{
    for (size_t m = 0; m < oracle->count; m++) {
        if (!tms_oracle_is_event(oracle, m)) {
            continue;
        }
        struct tms_oracle_transaction *own = &oracle->transactions[oracle->readings[m].transaction];
        if (!own->not_atomic && tms_oracle_cut(oracle, own->first, m)) {
            own->not_atomic = true;
            own->cut = m;
            oracle->blamed++;
        }
    }
}

bool tms_oracle_inside(const struct tms_oracle *oracle,
                       const struct tms_oracle_transaction *transaction, size_t block, size_t at)
{
    const struct tms_oracle_reading *reading = &oracle->readings[block];

    return oracle->events[block].thread == transaction->name.thread &&
           opens(&oracle->events[block]) && atomic(oracle, block) && block > transaction->block &&
           block <= at && (reading->open || at < reading->closed_by);
}

/* ---- the oracle ----------------------------------------------------------------------- */

struct tms_oracle *tms_oracle_new(const struct tms_context *context, const struct tms_event *events,
                                  size_t count, unsigned split)
{
    struct tms_oracle *oracle = calloc(1, sizeof(*oracle));
    size_t room = count == 0 ? 1 : count;

    if (oracle == NULL) {
        return NULL;
    }
    *oracle = (struct tms_oracle){
        .context = context,
        .events = events,
        .count = count,
        .split = split,
        .readings = calloc(room, sizeof(*oracle->readings)),
        .transactions = calloc(room, sizeof(*oracle->transactions)),
        .past = calloc(room * room, sizeof(*oracle->past)),
        .reaches = calloc(room * room, sizeof(*oracle->reaches)),
    };
    if (oracle->readings == NULL || oracle->transactions == NULL || oracle->past == NULL ||
        oracle->reaches == NULL || !read_trace(oracle)) {
        tms_oracle_free(oracle);
        return NULL;
    }
    close_relations(oracle);
    blame(oracle);
    return oracle;
}

void tms_oracle_free(struct tms_oracle *oracle)
{
    if (oracle != NULL) {
        free(oracle->readings);
        free(oracle->transactions);
        free(oracle->past);
        free(oracle->reaches);
        free(oracle);
    }
}
