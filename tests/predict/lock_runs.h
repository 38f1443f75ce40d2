/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small random runs of threads that take locks, share them, fork and join, and all the states that
 * other orders of the same steps reach. A state is how many of its steps each thread has made; who
 * holds what follows from that.
 */
#ifndef TMS_PREDICT_LOCK_RUNS_H
#define TMS_PREDICT_LOCK_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmesis/tmesis.h"

#define TMS_RUN_THREADS 4
#define TMS_RUN_LOCKS   3
#define TMS_RUN_STEPS   8 /* of a thread, at most, before it lets go of its locks */
#define TMS_RUN_EVENTS  (TMS_RUN_THREADS * (TMS_RUN_STEPS + TMS_RUN_LOCKS + 2))

/* Events are indices from 0; threads and locks small numbers. */
struct tms_run {
    unsigned thread[TMS_RUN_EVENTS], target[TMS_RUN_EVENTS]; /* target: a lock or a thread */
    enum tms_event_kind kind[TMS_RUN_EVENTS];
    size_t count;
    size_t step[TMS_RUN_THREADS][TMS_RUN_EVENTS]; /* the events of each thread */
    size_t length[TMS_RUN_THREADS];
    bool forked[TMS_RUN_THREADS]; /* it has a fork; the others are there from the start */
};

enum tms_run_hold { TMS_RUN_FREE, TMS_RUN_SHARED, TMS_RUN_EXCLUSIVE };

struct tms_run_state {
    size_t at[TMS_RUN_THREADS]; /* how many steps each has made */
};

/*
 * The run of a seed: always the same. No lock is held at the end, and a forked thread is joined by
 * the thread that forked it, or not at all.
 */
void tms_run_make(uint64_t seed, struct tms_run *run);

/* How the thread holds a lock after `at` steps. */
enum tms_run_hold tms_run_hold_at(const struct tms_run *run, unsigned thread, size_t at,
                                  unsigned lock);

bool tms_run_was_forked(const struct tms_run *run, const struct tms_run_state *state,
                        unsigned thread);
bool tms_run_is_through(const struct tms_run *run, const struct tms_run_state *state,
                        unsigned thread);
bool tms_run_can_step(const struct tms_run *run, const struct tms_run_state *state,
                      unsigned thread);

/* Called once for every reachable state; `stuck`: no thread can continue. */
typedef void tms_run_visit(void *user, const struct tms_run_state *state, bool stuck);
void tms_run_explore(const struct tms_run *run, tms_run_visit *visit, void *user);

#endif
