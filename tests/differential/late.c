/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random traces in which cycles close late. In ordinary random traces some short cycle closes soon,
 * when an engine has little state. Here an access that would close a cycle is left out until three
 * quarters of the trace are over, and from then on only such accesses are made: by then the order
 * spans many threads and transactions that ended long ago, and an engine that has lost some of it
 * shows a difference.
 *
 * Even threads have long blocks, odd ones short blocks and events outside of any.
 */
#include <assert.h>
#include <string.h>

#include "trace.h"
#include "vocabulary.h"

#define MOST_ACCESSES 4 /* to one variable: old ones must stay worth being read */

struct access {
    unsigned variable, transaction;
    bool write;
};

struct late {
    const struct tms_vocabulary *words;
    struct tms_trace *trace;
    uint64_t random;
    unsigned length;
    struct access accesses[TMS_TRACE_MOST];
    unsigned access_count, transaction_count;
    unsigned last[TMS_THREADS]; /* 1 + the last transaction of the thread, or 0 */
    bool inside[TMS_THREADS];
    bool reaches[TMS_TRACE_MOST][TMS_TRACE_MOST]; /* among transactions, each reaching itself */
};

static void emit(struct late *late, unsigned t, enum tms_event_kind kind, uint32_t target)
{
    struct tms_trace *trace = late->trace;

    assert(trace->count < TMS_TRACE_MOST);
    trace->events[trace->count++] = (struct tms_event){
        .thread = late->words->threads[t],
        .target = target,
        .location = TMS_LOCATION_NUMBER + (uint32_t)trace->count,
        .kind = (uint8_t)kind,
    };
}

/* Whatever reaches `from` reaches what `to` reaches. */
static void connect(struct late *late, unsigned from, unsigned to)
{
    for (unsigned s = 0; s < late->transaction_count; s++) {
        for (unsigned t = 0; late->reaches[s][from] && t < late->transaction_count; t++) {
            late->reaches[s][t] |= late->reaches[to][t];
        }
    }
}

static void begin_transaction(struct late *late, unsigned t)
{
    unsigned transaction = late->transaction_count++;

    late->reaches[transaction][transaction] = true;
    if (late->last[t] != 0) {
        connect(late, late->last[t] - 1, transaction);
    }
    late->last[t] = transaction + 1;
}

/* Does an access conflict with an earlier one of a transaction that `transaction` reaches? */
static bool closes_cycle(const struct late *late, unsigned transaction, unsigned variable,
                         bool write)
{
    for (unsigned i = 0; i < late->access_count; i++) {
        const struct access *earlier = &late->accesses[i];
        if (earlier->variable == variable && (earlier->write || write) &&
            earlier->transaction != transaction &&
            late->reaches[transaction][earlier->transaction]) {
            return true;
        }
    }
    return false;
}

static void record(struct late *late, unsigned transaction, unsigned variable, bool write)
{
    for (unsigned i = 0; i < late->access_count; i++) {
        const struct access *earlier = &late->accesses[i];
        if (earlier->variable == variable && (earlier->write || write)) {
            connect(late, earlier->transaction, transaction);
        }
    }
    late->accesses[late->access_count++] = (struct access){variable, transaction, write};
}

static unsigned accesses_to(const struct late *late, unsigned variable)
{
    unsigned count = 0;

    for (unsigned i = 0; i < late->access_count; i++) {
        count += late->accesses[i].variable == variable ? 1 : 0;
    }
    return count;
}

static bool is_early(const struct late *late)
{
    return late->trace->count * 4 < late->length * 3;
}

/* Early on nothing that closes a cycle; later nothing else. */
static bool welcome(const struct late *late, unsigned t, unsigned variable, bool write)
{
    bool closes = late->inside[t] && closes_cycle(late, late->last[t] - 1, variable, write);

    return is_early(late) ? !closes && accesses_to(late, variable) < MOST_ACCESSES : closes;
}

static void access_variable(struct late *late, unsigned t)
{
    static const enum tms_event_kind kinds[] = {TMS_EVENT_READ,  TMS_EVENT_READ,  TMS_EVENT_READ,
                                                TMS_EVENT_WRITE, TMS_EVENT_WRITE, TMS_EVENT_UPDATE};
    unsigned variable = tms_random_below(&late->random, TMS_VARIABLES);
    enum tms_event_kind kind = kinds[tms_random_below(&late->random, 6)];

    if (!welcome(late, t, variable, kind != TMS_EVENT_READ)) {
        return;
    }
    if (!late->inside[t]) {
        begin_transaction(late, t);
    }
    record(late, late->last[t] - 1, variable, kind != TMS_EVENT_READ);
    emit(late, t, kind, late->words->variables[variable]);
}

static void act(struct late *late, unsigned t)
{
    unsigned pick = tms_random_below(&late->random, t % 2 == 0 ? 24 : 8);

    if (pick > 1 || !is_early(late)) {
        access_variable(late, t);
    } else if (late->inside[t]) {
        late->inside[t] = false;
        emit(late, t, TMS_EVENT_END, 0);
    } else {
        begin_transaction(late, t);
        late->inside[t] = true;
        emit(late, t, TMS_EVENT_BEGIN, late->words->labels[1 + t % 3]);
    }
}

void tms_trace_make_late(const struct tms_vocabulary *vocabulary, uint64_t random, unsigned threads,
                         unsigned length, struct tms_trace *trace)
{
    struct late late = {.words = vocabulary, .trace = trace, .random = random, .length = length};

    for (unsigned t = 0; t < threads && t < length; t += 2) {
        begin_transaction(&late, t);
        late.inside[t] = true;
        emit(&late, t, TMS_EVENT_BEGIN, vocabulary->labels[1 + t % 3]);
    }
    for (unsigned tries = 20 * length; tries > 0 && trace->count < length; tries--) {
        act(&late, tms_random_below(&late.random, threads));
    }
}
