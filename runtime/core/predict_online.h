/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prediction inside the program: turns operations of the runtime into calls of src/predict, whose
 * findings go to the spool. docs/internals/prediction-online.md describes the state, its owners,
 * and why a lock operation takes no lock of the runtime here.
 *
 * Rare operations take one of two locks, never both: new locks and threads, fork, join, barriers
 * and semaphores that of predict_online.c, inside which only memory is locked; new patterns and
 * nestings that of predict_spool.c, inside which the runtime's stacks, heap blocks, the spool and
 * memory are.
 */
#ifndef TMS_RUNTIME_PREDICT_ONLINE_H
#define TMS_RUNTIME_PREDICT_ONLINE_H

#include "runtime/core/thread.h"

/* Is anything predicted? Then `t->predicting` is not NULL. */
extern bool tms_rt_predicts;

/* `what`: bits of enum tms_predict and enum tms_rt_predict. False if memory is short. */
bool tms_rt_predict_start(unsigned what);
/* In the child of a fork, which has one thread: all state is reset. */
bool tms_rt_predict_restart(void);
/* The first thread. */
bool tms_rt_predict_first(struct tms_rt_thread *thread);

/* An operation of sync_objects.c, with its number: on a lock or barrier, or a wait. */
void tms_rt_predict_now(struct tms_rt_thread *thread, const struct tms_op *op);
static inline void tms_rt_predict(struct tms_rt_thread *thread, const struct tms_op *op)
{
    if (tms_rt_predicts) {
        tms_rt_predict_now(thread, op);
    }
}

/* Orders the thread after earlier users of the object, and later users after the thread. */
void tms_rt_predict_pass(struct tms_rt_thread *thread, enum tms_rt_sync what, uint32_t id);
/* Threads release this lock for each other (_unowned); the thread does not hold it (_drop). */
void tms_rt_predict_unowned(uint32_t lock);
void tms_rt_predict_drop(struct tms_rt_thread *thread, uint32_t lock);
/* The object is gone. */
void tms_rt_predict_gone(enum tms_rt_sync what, uint32_t id);

/* Called right after the event, which is the thread's last one. */
void tms_rt_predict_fork(struct tms_rt_thread *thread, struct tms_rt_thread *child);
void tms_rt_predict_join(struct tms_rt_thread *thread, struct tms_rt_thread *child, uint32_t site);
/* The thread's descriptor is no longer needed. */
void tms_rt_predict_end(struct tms_rt_thread *thread);

/* Add the counts of threads that have ended, and of one that runs. */
struct tms_rt_predict_counts {
    uint64_t acquires, windows, dropped;
};
void tms_rt_predict_settle(struct tms_rt_predict_counts *counts);
void tms_rt_predict_count(struct tms_rt_predict_counts *counts, const struct tms_rt_thread *thread);

#endif
