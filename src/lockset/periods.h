/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread periods (Wang and Stoller, section 4): a thread's run is cut where it starts or joins
 * another thread and where it passes a barrier, and of two periods of different threads either one
 * must have ended before the other began, or they may happen in parallel. Locks and accesses order
 * nothing here: what they order in this run may come the other way round in another.
 *
 * Representation: vector clocks. A period is its place (slot, number) in a *line* of periods that
 * follow each other, and what it knows: of each other line, how many periods ended before it began.
 * A line is a thread, and after its join may continue with a thread whose creator knows of that
 * end: so there are no more lines than threads that could run at the same time, and clocks stay
 * short in programs that start threads all the time. Periods get their number, and keep their
 * clock, only on request.
 *
 * Barriers: all threads that arrive before the first of them departs are one *gathering*, and each
 * departure comes after all arrivals of its gathering. A trace does not say how many threads a
 * barrier waits for; a thread that arrives for the next round before the first departure is taken
 * to belong to this one.
 *
 * With settings.periods off a thread has one period, parallel to those of all other threads. Two
 * periods of one thread are never parallel.
 *
 * When memory is short the host is notified, and the result is period 0, which belongs to no thread
 * and is not parallel to any.
 */
#ifndef TMS_LOCKSET_PERIODS_H
#define TMS_LOCKSET_PERIODS_H

#include "clock/vector_clock.h"
#include "engine_api/engine.h"

struct tms_period {
    uint32_t line; /* 0: none */
    uint32_t thread;
    uint64_t number;         /* in its line, from 1 on */
    struct tms_vector knows; /* by line, but for its own */
};

struct tms_period_thread {
    uint32_t line;           /* 0: it did nothing yet */
    uint32_t current;        /* period; 0: not requested yet */
    uint32_t gathering;      /* 1 + that in which it arrived; 0: none */
    struct tms_vector knows; /* by line, but for its own */
};

struct tms_gathering {
    struct tms_vector knows;
    uint32_t waiting; /* who arrived and has not departed */
    uint32_t spare;   /* of those that are over: 1 + the next, or 0 */
    bool leaving;     /* a thread departed: later arrivals belong to the next gathering */
    bool replaced;    /* it is not the last of its barrier any more */
};

struct tms_periods {
    struct tms_host *host;
    bool off;
    struct tms_period *periods; /* by number; 0: none */
    size_t period_count, period_capacity;
    struct tms_period_thread *threads; /* by id */
    size_t thread_capacity;
    uint64_t *lines; /* by line: the number of its last period so far */
    size_t line_count, line_capacity;
    uint32_t *ended; /* lines of joined threads */
    size_t ended_count, ended_capacity;
    struct tms_gathering *gatherings;
    size_t gathering_count, gathering_capacity;
    uint32_t spare;     /* 1 + a gathering that is over, or 0 */
    uint32_t *barriers; /* by id: 1 + its last gathering, or 0 */
    size_t barrier_capacity;
};

/* Always works; all zero is cleared. */
void tms_periods_init(struct tms_periods *periods, struct tms_host *host);
void tms_periods_clear(struct tms_periods *periods);

/* At FORK, JOIN, ARRIVE and DEPART; afterwards the thread is in another period. */
void tms_periods_follow(struct tms_periods *periods, const struct tms_op *op);

/* The present period of a thread. */
uint32_t tms_period_make(struct tms_periods *periods, uint32_t thread);
static inline uint32_t tms_period_of(struct tms_periods *periods, uint32_t thread)
{
    uint32_t current = thread < periods->thread_capacity ? periods->threads[thread].current : 0;

    return current != 0 ? current : tms_period_make(periods, thread);
}

/* Must the first have ended before the second begins? For periods of different threads. */
bool tms_periods_before(const struct tms_periods *periods, uint32_t first, uint32_t second);

/* May these two happen in parallel? */
bool tms_periods_parallel(const struct tms_periods *periods, uint32_t a, uint32_t b);

static inline uint32_t tms_period_thread(const struct tms_periods *periods, uint32_t period)
{
    return periods->periods[period].thread;
}

#endif
