/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An independent oracle. It reads the raw events of a trace by itself: what is an event, which
 * transaction it belongs to, what conflicts, what happens before what. It shares no code with the
 * library and works by other means than the `reference` engine: closures of whole relations instead
 * of searches. It computes the verdict, the first violation event and the blocks to blame.
 */
#ifndef TMS_DIFFERENTIAL_ORACLE_H
#define TMS_DIFFERENTIAL_ORACLE_H

#include "tmesis/tmesis.h"

#define TMS_NOT_AN_EVENT UINT32_MAX

/* One event as the oracle reads it. */
struct tms_oracle_reading {
    uint32_t transaction; /* TMS_NOT_AN_EVENT for the inside of a re-entrant lock */
    uint32_t version;     /* of the variable accessed */
    bool open;            /* it opened a block that is not closed yet */
    size_t closed_by;     /* the event that closed the block that it opened, if one did */
};

struct tms_oracle_transaction {
    struct tms_transaction name;
    size_t first; /* its first event */
    size_t block; /* the event that opened the block it is named after */
    bool not_atomic;
    size_t cut; /* if so: its first event that shows it */
};

/* Events are indices here, counted from 0; numbers, as findings use them, count from 1. */
struct tms_oracle {
    const struct tms_context *context;
    const struct tms_event *events;
    size_t count;
    unsigned split;
    struct tms_oracle_reading *readings;
    struct tms_oracle_transaction *transactions;
    size_t transaction_count;
    bool *past;           /* [b * count + a]: event a happened before b */
    bool *reaches;        /* [s * count + t]: transaction s reaches t over edges of any kind */
    uint64_t first_event; /* number of the first violation event, 0: serializable */
    size_t blamed;        /* transactions that are not atomic */
    char message[512];    /* of the checker */
};

/* For a well-formed trace, which must outlive it. NULL when memory is short. */
struct tms_oracle *tms_oracle_new(const struct tms_context *context, const struct tms_event *events,
                                  size_t count, unsigned split);
void tms_oracle_free(struct tms_oracle *oracle);

bool tms_oracle_is_event(const struct tms_oracle *oracle, size_t index);

/* Do the events conflict, first before second, for this very reason? For any reason? */
bool tms_oracle_conflict_by(const struct tms_oracle *oracle, size_t first, size_t second,
                            enum tms_edge_kind kind);
bool tms_oracle_conflict(const struct tms_oracle *oracle, size_t first, size_t second);

/* Did event `block` open a block inside the transaction that is still open at its event `at`? */
bool tms_oracle_inside(const struct tms_oracle *oracle,
                       const struct tms_oracle_transaction *transaction, size_t block, size_t at);

/* Is there an event x of another thread with begin -> x -> m? */
bool tms_oracle_cut(const struct tms_oracle *oracle, size_t begin, size_t m);

#endif
