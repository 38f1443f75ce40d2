/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows between two locks, for lock_windows.c: a transaction has a section of one lock and later
 * one of another, and a thread that acquires both could run in between (sidetrack_pairs.c explains
 * why). A lock has one such window, which only its holder accesses; a thread compares it with its
 * own last sections, so no thread reads the state of another.
 */
#ifndef TMS_PREDICT_LOCK_PAIRS_H
#define TMS_PREDICT_LOCK_PAIRS_H

#include "predict/lock_windows.h"

/* How a culprit gets into a window: after a first section, by its own section of that lock. */
struct tms_predict_way {
    const struct tms_predict_recent *first, *through;
};

/*
 * Is there a way into the window for the acquire in which all sections conflict? The acquire must
 * not know of the second acquire.
 */
bool tms_predict_find_way(const struct tms_predict_thread *thread,
                          const struct tms_predict_pair *pair, const struct tms_predict_op *op,
                          struct tms_predict_way *way);

/* If a block of the culprit has both acquires, the innermost of these becomes the culprit. */
void tms_predict_find_culprit(const struct tms_predictor *predict,
                              struct tms_predict_thread *thread, const struct tms_predict_op *op,
                              struct tms_predict_cut *cut);

/*
 * Called at each acquire by the holder: records the window that it forms with earlier sections, if
 * any.
 */
void tms_predict_follow_pairs(const struct tms_predictor *predict,
                              struct tms_predict_thread *thread, struct tms_predict_lock *lock,
                              const struct tms_predict_op *op);

/*
 * The number of blocks of a window between two locks that were open at the first section; 0: only
 * the transaction.
 */
uint32_t tms_predict_blocks_since(const struct tms_predict_window *window, uint64_t first);

#endif
