/* SPDX-License-Identifier: Apache-2.0 */
/* Checks findings against the oracle; see checker.h. */
#include "checker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static const char *wrong(struct tms_oracle *oracle,
                                                               const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(oracle->message, sizeof(oracle->message), format, arguments);
    va_end(arguments);
    return oracle->message;
}

static bool promises(const struct tms_result *result, enum tms_engine_flag flag)
{
    return (result->engine->flags & flag) != 0;
}

/* A published graph engine shows the cycle that it found, which need not be the shortest. */
static bool shows_short_cycles(const struct tms_result *result)
{
    return promises(result, TMS_ENGINE_WITNESS) && strcmp(result->engine->name, "velodrome") != 0;
}

static bool same(const struct tms_transaction *a, const struct tms_transaction *b)
{
    return a->begin_event == b->begin_event && a->thread == b->thread && a->label == b->label &&
           a->location == b->location && a->unary == b->unary;
}

static const struct tms_oracle_transaction *find(const struct tms_oracle *oracle,
                                                 const struct tms_transaction *name)
{
    for (size_t i = 0; i < oracle->transaction_count; i++) {
        if (same(&oracle->transactions[i].name, name)) {
            return &oracle->transactions[i];
        }
    }
    return NULL;
}

/* As findings name it: an atomic access is a plain one to these engines. */
static uint8_t named_kind(const struct tms_event *event)
{
    static const uint8_t plain[TMS_EVENT_COUNT] = {
        [TMS_EVENT_ATOMIC_READ] = TMS_EVENT_READ,
        [TMS_EVENT_ATOMIC_WRITE] = TMS_EVENT_WRITE,
        [TMS_EVENT_ATOMIC_UPDATE] = TMS_EVENT_UPDATE,
    };

    return plain[event->kind] != 0 ? plain[event->kind] : event->kind;
}

/* Does event `number` exist, and is it as the step describes it? */
static bool event_is(const struct tms_oracle *oracle, uint64_t number, uint8_t kind,
                     uint32_t location, const struct tms_transaction *transaction)
{
    if (number == 0 || number > oracle->count || !tms_oracle_is_event(oracle, number - 1)) {
        return false;
    }
    const struct tms_event *event = &oracle->events[number - 1];
    uint32_t own = oracle->readings[number - 1].transaction;
    return named_kind(event) == kind && event->location == location &&
           same(&oracle->transactions[own].name, transaction);
}

static bool names_reason(const struct tms_oracle *oracle, const struct tms_step *step)
{
    const struct tms_event *a = &oracle->events[step->first_event - 1];
    const struct tms_event *b = &oracle->events[step->second_event - 1];

    if (step->kind == TMS_EDGE_PROGRAM_ORDER) {
        return step->on == 0;
    }
    const struct tms_event *named = step->kind == TMS_EDGE_JOIN ? b : a;
    return a->thread != b->thread && step->on == named->target &&
           step->on_class == tms_event_class(named->kind);
}

static const char *check_step(struct tms_oracle *oracle, const struct tms_step *step)
{
    unsigned long long first = step->first_event, second = step->second_event;

    if (!event_is(oracle, first, step->first_kind, step->first_location, &step->from)) {
        return wrong(oracle, "event %llu is not as its step says, or not of `from`", first);
    }
    if (!event_is(oracle, second, step->second_kind, step->second_location, &step->to)) {
        return wrong(oracle, "event %llu is not as its step says, or not of `to`", second);
    }
    if (first >= second || same(&step->from, &step->to) ||
        !tms_oracle_conflict_by(oracle, first - 1, second - 1, step->kind)) {
        return wrong(oracle, "events %llu and %llu make no %s edge", first, second,
                     tms_edge_text(step->kind));
    }
    if (!names_reason(oracle, step)) {
        return wrong(oracle, "events %llu and %llu don't conflict on what the step names", first,
                     second);
    }
    return NULL;
}

/* Do events of `from` and `to` conflict in this order, up to event number `last`? */
static bool edge_until(const struct tms_oracle *oracle, const struct tms_transaction *from,
                       const struct tms_transaction *to, uint64_t last)
{
    for (size_t b = 0; b < last; b++) {
        for (size_t a = 0; a < b; a++) {
            if (tms_oracle_conflict(oracle, a, b) &&
                same(&oracle->transactions[oracle->readings[a].transaction].name, from) &&
                same(&oracle->transactions[oracle->readings[b].transaction].name, to)) {
                return true;
            }
        }
    }
    return false;
}

/* The steps must follow each other, from the transaction back to it, without a detour. */
static const char *check_links(struct tms_oracle *oracle, const struct tms_finding *finding)
{
    const struct tms_step *cycle = finding->cycle;
    size_t length = finding->cycle_length;

    if (!same(&cycle[0].from, &finding->transaction)) {
        return wrong(oracle, "the cycle does not start at its transaction");
    }
    for (size_t i = 0; i < length; i++) {
        if (!same(&cycle[i].to, &cycle[(i + 1) % length].from)) {
            return wrong(oracle, "the cycle is broken after step %zu", i + 1);
        }
        for (size_t j = 0; j < i; j++) {
            if (same(&cycle[i].from, &cycle[j].from)) {
                return wrong(oracle, "the cycle passes a transaction twice");
            }
        }
    }
    return NULL;
}

static const char *check_cycle(struct tms_oracle *oracle, const struct tms_result *result,
                               const struct tms_finding *finding)
{
    size_t length = finding->cycle_length;

    if (finding->cycle == NULL || length < 2) {
        return promises(result, TMS_ENGINE_WITNESS) || length != 0
                   ? wrong(oracle, "there is no cycle")
                   : NULL;
    }
    for (size_t i = 0; i < length; i++) {
        const char *fault = check_step(oracle, &finding->cycle[i]);
        if (fault != NULL) {
            return fault;
        }
        if (finding->cycle[i].second_event > finding->event) {
            return wrong(oracle, "step %zu is after the violation", i + 1);
        }
    }
    const struct tms_step *last = &finding->cycle[length - 1];
    if (promises(result, TMS_ENGINE_AT_EVENT) && last->second_event != finding->event) {
        return wrong(oracle, "the last step does not end at the violation event");
    }
    if (length > 2 && shows_short_cycles(result) &&
        edge_until(oracle, &last->to, &last->from, finding->event)) {
        return wrong(oracle, "%zu steps, where two would do", length);
    }
    return check_links(oracle, finding);
}

/* Is the blame of a finding right, as far as it was promised? */
static bool blames_rightly(const struct tms_result *result, const struct tms_finding *finding,
                           const struct tms_oracle_transaction *transaction)
{
    if (promises(result, TMS_ENGINE_BLAMES)) {
        return finding->not_atomic == transaction->not_atomic;
    }
    return transaction->not_atomic || !finding->not_atomic;
}

/* Also without a witness: a violation is of a transaction on some cycle of the whole trace. */
static bool on_cycle(const struct tms_oracle *oracle,
                     const struct tms_oracle_transaction *transaction)
{
    size_t index = (size_t)(transaction - oracle->transactions);

    return oracle->reaches[index * oracle->count + index];
}

/* ---- refuted blocks ------------------------------------------------------------------- */

/* Does the cycle only go forward in time? Then it proves by itself that its transaction is cut. */
static bool goes_forward(const struct tms_finding *finding)
{
    for (size_t i = 1; i < finding->cycle_length; i++) {
        if (finding->cycle[i - 1].second_event > finding->cycle[i].first_event) {
            return false;
        }
    }
    return finding->cycle_length > 0;
}

/* Is the block cut by another thread, before some event of the transaction inside it? */
static bool is_cut(const struct tms_oracle *oracle,
                   const struct tms_oracle_transaction *transaction, size_t block)
{
    size_t own = (size_t)(transaction - oracle->transactions);

    for (size_t m = transaction->first; m < oracle->count; m++) {
        if (oracle->readings[m].transaction == own &&
            tms_oracle_inside(oracle, transaction, block, m) && tms_oracle_cut(oracle, block, m)) {
            return true;
        }
    }
    return false;
}

/* Must the block be named? If a cycle shows it by itself, those that have both its ends, … */
static bool is_due(const struct tms_oracle *oracle,
                   const struct tms_oracle_transaction *transaction,
                   const struct tms_finding *finding, size_t block)
{
    if (goes_forward(finding)) {
        size_t last = finding->cycle[finding->cycle_length - 1].second_event - 1;
        return block < finding->cycle[0].first_event &&
               tms_oracle_inside(oracle, transaction, block, last);
    }
    /* … and else those of which the event that shows it of the transaction shows it too. */
    return tms_oracle_inside(oracle, transaction, block, transaction->cut) &&
           tms_oracle_cut(oracle, block, transaction->cut);
}

static const char *check_refuted(struct tms_oracle *oracle, const struct tms_result *result,
                                 const struct tms_finding *finding,
                                 const struct tms_oracle_transaction *transaction)
{
    /* An engine that blames only some may do so at a later event than the first that shows it. */
    bool all = goes_forward(finding) || promises(result, TMS_ENGINE_BLAMES);
    size_t next = 1;

    if (!finding->not_atomic) {
        return finding->refuted_count == 0 ? NULL : wrong(oracle, "it refutes, but does not blame");
    }
    if (finding->refuted_count == 0 || !same(&finding->refuted[0], &finding->transaction)) {
        return wrong(oracle, "the first block refuted is not the transaction");
    }
    for (size_t i = transaction->block + 1; i < oracle->count; i++) {
        const struct tms_event *event = &oracle->events[i];
        const struct tms_transaction block = {i + 1, event->thread, event->target, event->location,
                                              false};
        bool named = next < finding->refuted_count && same(&finding->refuted[next], &block);
        next += named;
        if (named && !is_cut(oracle, transaction, i)) {
            return wrong(oracle, "the block begun at event %zu is not refuted", i + 1);
        }
        if (all && named != is_due(oracle, transaction, finding, i)) {
            return wrong(oracle, "the block begun at event %zu %s be named", i + 1,
                         named ? "should not" : "should");
        }
    }
    return next == finding->refuted_count
               ? NULL
               : wrong(oracle, "refuted block %zu is none, or out of order", next + 1);
}

static const char *check_finding(struct tms_oracle *oracle, const struct tms_result *result,
                                 const struct tms_finding *finding)
{
    const struct tms_oracle_transaction *transaction = find(oracle, &finding->transaction);

    if (transaction == NULL) {
        return wrong(oracle, "there is no transaction of that thread, label and begin");
    }
    if (strcmp(finding->kind, "cycle") != 0 || finding->evidence != TMS_EVIDENCE_OBSERVED ||
        finding->count != 1) {
        return wrong(oracle, "it is not one observed cycle");
    }
    if (finding->event == 0 || finding->event > oracle->count ||
        finding->thread != oracle->events[finding->event - 1].thread) {
        return wrong(oracle, "the event is not of the named thread");
    }
    if (finding->event < oracle->first_event || !on_cycle(oracle, transaction)) {
        return wrong(oracle, "the transaction is on no cycle, or on none so early");
    }
    if (result->blamed && !blames_rightly(result, finding, transaction)) {
        return wrong(oracle, "not_atomic should be %s", transaction->not_atomic ? "set" : "clear");
    }
    const char *fault = check_cycle(oracle, result, finding);
    return fault == NULL ? check_refuted(oracle, result, finding, transaction) : fault;
}

static const char *check_findings(struct tms_oracle *oracle, const struct tms_result *result)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct tms_finding *finding = &result->findings[i];
        const char *fault = check_finding(oracle, result, finding);
        if (fault != NULL) {
            char copy[sizeof(oracle->message) / 2];
            snprintf(copy, sizeof(copy), "%s", fault);
            return wrong(
                oracle, "finding %zu (%s@%llu, at event %llu): %s", i + 1,
                tms_name(oracle->context, TMS_CLASS_THREAD, finding->transaction.thread, NULL),
                (unsigned long long)finding->transaction.begin_event,
                (unsigned long long)finding->event, copy);
        }
        for (size_t j = 0; j < i; j++) {
            if (same(&result->findings[j].transaction, &finding->transaction)) {
                return wrong(oracle, "findings %zu and %zu are of one transaction", j + 1, i + 1);
            }
            if (result->findings[j].event > finding->event) {
                return wrong(oracle, "findings %zu and %zu are out of order", j + 1, i + 1);
            }
        }
    }
    return NULL;
}

/* All blocks to blame must have been blamed; check_finding rejects any other blame. */
static const char *check_blame(struct tms_oracle *oracle, const struct tms_result *result)
{
    size_t blamed = 0;

    for (size_t i = 0; i < result->finding_count; i++) {
        blamed += result->findings[i].not_atomic ? 1 : 0;
    }
    if (blamed != oracle->blamed) {
        return wrong(oracle, "%zu transactions blamed, %zu are not atomic", blamed, oracle->blamed);
    }
    return NULL;
}

static const char *check_verdict(struct tms_oracle *oracle, const struct tms_result *result)
{
    enum tms_verdict verdict =
        oracle->first_event == 0 ? TMS_VERDICT_SERIALIZABLE : TMS_VERDICT_VIOLATION;

    if (result->verdict != verdict) {
        return wrong(oracle, "verdict %s, should be %s", tms_verdict_text(result->verdict),
                     tms_verdict_text(verdict));
    }
    if (promises(result, TMS_ENGINE_AT_EVENT)
            ? result->first_violation_event != oracle->first_event
            : result->first_violation_event < oracle->first_event) {
        return wrong(oracle, "first violation event %llu, should be %llu%s",
                     (unsigned long long)result->first_violation_event,
                     (unsigned long long)oracle->first_event,
                     promises(result, TMS_ENGINE_AT_EVENT) ? "" : " or later");
    }
    if (!result->complete || result->unlisted != 0 || result->violations != result->finding_count ||
        (result->finding_count != 0) != (result->first_violation_event != 0)) {
        return wrong(oracle, "the counts of the result don't agree with its findings");
    }
    return NULL;
}

const char *tms_check_result(struct tms_oracle *oracle, const struct tms_result *result)
{
    if (result->engine->found != TMS_VERDICT_VIOLATION) {
        return wrong(oracle, "it speaks of other schedules, which the oracle knows nothing of");
    }
    const char *fault = promises(result, TMS_ENGINE_EXACT) ? check_verdict(oracle, result) : NULL;

    if (fault == NULL) {
        fault = check_findings(oracle, result);
    }
    if (fault == NULL && result->blamed && promises(result, TMS_ENGINE_BLAMES)) {
        fault = check_blame(oracle, result);
    }
    return fault;
}
