/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns: how a test makes its threads take their steps in one certain order.
 *
 *     in_turn (1) {
 *         pthread_mutex_lock(&lock);
 *     }
 *
 * waits for turn 1 and then makes it turn 2; the first turn is 1. tmesis must not notice: this is
 * implemented by a futex, in an object that is compiled without -fsanitize=thread, and calls
 * nothing that the runtime interposes.
 */
#ifndef TMS_WEAVE_TURN_H
#define TMS_WEAVE_TURN_H

#ifdef __cplusplus
extern "C" {
#endif

/* Waits until it is turn `turn`. */
void turn_take(unsigned turn);
/* Makes it turn `turn`. */
void turn_pass(unsigned turn);

#define in_turn(turn)                                                                              \
    for (int in_turn_ = (turn_take(turn), 1); in_turn_ != 0; in_turn_ = (turn_pass((turn) + 1), 0))

/* Waits until this thread of the process (gettid) is gone, without joining it. */
void turn_after_thread(int thread);

#ifdef __cplusplus
}
#endif

#endif
