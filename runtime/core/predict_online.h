/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predictions inside the program: operations of the runtime as calls of src/predict, whose findings
 * go to the spool. docs/internals/prediction-online.md says what is kept, by whom, and why a lock
 * operation takes no lock of the runtime here.
 *
 * Its own lock orders what is rare: new locks and threads, fork, join, barriers, semaphores, new
 * patterns. It is the innermost of the runtime's locks but for those of memory, heap and spool.
 */
#ifndef TMS_RUNTIME_PREDICT_ONLINE_H
#define TMS_RUNTIME_PREDICT_ONLINE_H

#include "runtime/core/thread.h"

/* Is anything predicted? Then `t->predicting` is there. */
extern bool tms_rt_predicts;

/* `what` are bits of enum tms_predict and enum tms_rt_predict. False when memory is short. */
bool tms_rt_predict_start(unsigned what);
/* In the child of a fork, which has one thread: all state is reset. */
bool tms_rt_predict_restart(void);
/* The first thread. */
bool tms_rt_predict_first(struct tms_rt_thread *thread);

/* An operation of sync_objects.c with its number: on a lock or barrier, or a wait. */
void tms_rt_predict_now(struct tms_rt_thread *thread, const struct tms_op *op);
static inline void tms_rt_predict(struct tms_rt_thread *thread, const struct tms_op *op)
{
    if (tms_rt_predicts) {
        tms_rt_predict_now(thread, op);
    }
}

/* The thread comes after who used the object, which others will come after. */
void tms_rt_predict_pass(struct tms_rt_thread *thread, enum tms_rt_sync what, uint32_t id);
/* The lock is one that threads release for each other; and the thread does not hold it. */
void tms_rt_predict_unowned(uint32_t lock);
void tms_rt_predict_drop(struct tms_rt_thread *thread, uint32_t lock);
/* The object is gone. */
void tms_rt_predict_gone(enum tms_rt_sync what, uint32_t id);

/* Right after the events, which are the thread's last. */
void tms_rt_predict_fork(struct tms_rt_thread *thread, struct tms_rt_thread *child);
void tms_rt_predict_join(struct tms_rt_thread *thread, struct tms_rt_thread *child, uint32_t site);
/* Its descriptor is not needed any more. */
void tms_rt_predict_end(struct tms_rt_thread *thread);

/* Adds what was counted by threads that are over, and by one that lives. */
struct tms_rt_predict_counts {
    uint64_t acquires, windows, dropped;
};
void tms_rt_predict_settle(struct tms_rt_predict_counts *counts);
void tms_rt_predict_count(struct tms_rt_predict_counts *counts, const struct tms_rt_thread *thread);

#endif
