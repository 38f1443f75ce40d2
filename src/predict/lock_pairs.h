/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows between two locks, for lock_windows.c: a transaction has a section of one lock, and later
 * one of another, between which a thread that takes both could come (sidetrack_pairs.c says why). A
 * lock has one such window, which only its holder touches; what a thread compares with it are its
 * own last sections, so that no thread looks at another one's state.
 */
#ifndef TMS_PREDICT_LOCK_PAIRS_H
#define TMS_PREDICT_LOCK_PAIRS_H

#include "predict/lock_windows.h"

/* How a culprit comes into a window: after a first section, by its own section of that lock. */
struct tms_predict_way {
    const struct tms_predict_recent *first, *through;
};

/* Is there a way for the acquire, in which all conflict? It does not know the second acquire. */
bool tms_predict_find_way(const struct tms_predict_thread *thread,
                          const struct tms_predict_pair *pair, const struct tms_predict_op *op,
                          struct tms_predict_way *way);

/* If a block of the culprit has both acquires, the innermost of these becomes the culprit. */
void tms_predict_find_culprit(const struct tms_predictor *predict,
                              struct tms_predict_thread *thread, const struct tms_predict_op *op,
                              struct tms_predict_cut *cut);

/* At each acquire, by its holder: the window that it makes with sections before it, if any. */
void tms_predict_follow_pairs(const struct tms_predictor *predict,
                              struct tms_predict_thread *thread, struct tms_predict_lock *lock,
                              const struct tms_predict_op *op);

/* Of the blocks of a window between two locks, how many were open at the first; 0: only the
 * transaction. */
uint32_t tms_predict_blocks_since(const struct tms_predict_window *window, uint64_t first);

#endif
