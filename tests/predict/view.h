/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definition that block theorems are compared with: all traces that a few short transactions
 * can have, and for each whether some serial order gives every read the same write and every
 * variable the same last write. By exhaustive search.
 *
 * Transactions of one thread come in their order, in traces and in serial orders; nothing of a
 * thread comes before its fork, and its join comes after all of it. The initial value of a variable
 * counts as a write before everything. A trace may not give a lock to two threads at a time, unless
 * both hold it shared; nothing else orders them.
 */
#ifndef TMS_PREDICT_VIEW_H
#define TMS_PREDICT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmesis/tmesis.h"

#define TMS_VIEW_THREADS      4
#define TMS_VIEW_BLOCKS       4 /* transactions that are not a fork or a join */
#define TMS_VIEW_TRANSACTIONS 8
#define TMS_VIEW_ACTIONS      10 /* of one transaction */
#define TMS_VIEW_TARGETS      6  /* variables, and as many locks */

/* An access, a lock operation; or a fork or a join, then the only action of its transaction. */
struct tms_view_action {
    enum tms_event_kind kind;
    unsigned target; /* variable, lock or thread, from 0 on */
};

struct tms_view_transaction {
    unsigned thread; /* from 0 on */
    size_t count;
    struct tms_view_action action[TMS_VIEW_ACTIONS];
};

/* In an order in which they can run one after the other. A thread is forked and joined once. */
struct tms_view_set {
    size_t count;
    struct tms_view_transaction transaction[TMS_VIEW_TRANSACTIONS];
};

static inline bool tms_view_is_thread_action(const struct tms_view_action *action)
{
    return action->kind == TMS_EVENT_FORK || action->kind == TMS_EVENT_JOIN;
}

/* Is this transaction a fork or a join? */
static inline bool tms_view_orders_threads(const struct tms_view_transaction *transaction)
{
    return transaction->count == 1 && tms_view_is_thread_action(&transaction->action[0]);
}

/* An action is known by its number: those of the first transaction, then those of the next, … */
#define TMS_VIEW_NUMBERS (TMS_VIEW_TRANSACTIONS * TMS_VIEW_ACTIONS)
unsigned tms_view_number(const struct tms_view_set *set, size_t transaction, size_t action);

/* Can the threads reach a state in which none can continue? */
bool tms_view_deadlocks(const struct tms_view_set *set);

/* Is every trace equivalent to a serial one? The set must not deadlock. */
bool tms_view_atomic(const struct tms_view_set *set);

/* Is there a trace with these actions in this order; and one that is not equivalent to a serial
 * one? */
bool tms_view_allows(const struct tms_view_set *set, const unsigned *numbers, size_t count);
bool tms_view_refutes(const struct tms_view_set *set, const unsigned *numbers, size_t count);

#endif
