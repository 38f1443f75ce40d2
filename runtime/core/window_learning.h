/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows that a run with a schedule has seen: two accesses of a thread to the same memory inside
 * one activation of a block, where other threads use that memory too; or, if memory is not watched,
 * two acquires of the same lock. They are written to the spool as they are seen, so that later runs
 * can hold a thread there (docs/user/schedules.md).
 *
 * A table of bounded size has one row per block, pair of instructions and place to hold. A window
 * whose memory no other thread has used yet stays there until one does, or the process ends.
 */
#ifndef TMS_RUNTIME_WINDOW_LEARNING_H
#define TMS_RUNTIME_WINDOW_LEARNING_H

#include "runtime/core/thread.h"

/* The second of two accesses or acquires. */
struct tms_rt_window_end {
    uintptr_t object; /* the first byte, or the lock */
    uint8_t bytes;    /* which of the 8 aligned bytes around it; 0: it is a lock */
    bool writes;      /* the second access writes */
    uint8_t used;     /* how threads use it: enum tms_rt_sharing */
    uint32_t site;
    uint32_t open;  /* site of the first; 0: look it up in the thread's log */
    uint64_t event; /* of the first */
};

/*
 * The thread is at the second of two. Takes a lock of its own, and a deep stack for a new window.
 * Otherwise it costs a search in the thread's log, and only at one in 16 visits of a frequent
 * place.
 */
void tms_rt_note_window(struct tms_rt_thread *thread, const struct tms_rt_window_end *end);

/* The thread has acquired a lock at this site, for windows between two acquires. */
void tms_rt_note_acquire(struct tms_rt_thread *thread, const void *lock, uint32_t site);

/* The process ends: also writes windows whose memory has become shared since. */
void tms_rt_windows_finish(void);

/* In the child of a fork: empties the table. */
void tms_rt_windows_restart(void);

#endif
