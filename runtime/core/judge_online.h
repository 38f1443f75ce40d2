/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `judge` inside the program: docs/internals/judge-online.md. Each thread reports its own
 * operations; its `judge` is NULL if nothing is judged. All functions are called inside the
 * runtime, without the engine's lock.
 */
#ifndef TMS_RUNTIME_JUDGE_ONLINE_H
#define TMS_RUNTIME_JUDGE_ONLINE_H

#include "judge/judge_shadow.h"
#include "runtime/core/thread.h"
#include "runtime/shadow/cells.h"

/* At the start, if `judge` is wanted; and in the child of a fork, with empty state. */
void tms_rt_judge_start(void);

void tms_rt_judge_thread_starts(struct tms_rt_thread *thread);
void tms_rt_judge_thread_ends(struct tms_rt_thread *thread);

/* At the end of the program: writes the counts. */
void tms_rt_judge_finish(void);

/* ---- blocks ------------------------------------------------------------------------------- */

/* Opens the blocks and calls in the core that are not open there yet. */
void tms_rt_judge_open_deferred(struct tms_rt_thread *thread);
/* Makes room for a label. False if memory is short. */
bool tms_rt_judge_more_labels(struct tms_rt_thread *thread, uint32_t label);

/*
 * A block or call has been opened. The outermost judged one is opened in the core at once, because
 * other threads depend on it.
 */
static inline void tms_rt_judge_opened(struct tms_rt_thread *thread, uint32_t label)
{
    if (thread->judge == NULL) {
        return;
    }
    if (label >= thread->run_capacity && !tms_rt_judge_more_labels(thread, label)) {
        return;
    }
    thread->runs_of[label]++;
    if (thread->open_count + thread->call_count == thread->judge->settled + 1) {
        tms_rt_judge_open_deferred(thread);
    }
}

/* The block or call at that index of its stack is about to be closed. */
void tms_rt_judge_close(struct tms_rt_thread *thread, uint64_t begin, bool call, bool inner);
static inline void tms_rt_judge_closing_block(struct tms_rt_thread *thread, uint32_t at)
{
    if (at < thread->judged_blocks) {
        tms_rt_judge_close(thread, thread->open[at].number, false, at + 1 == thread->open_count);
    }
}
static inline void tms_rt_judge_closing_call(struct tms_rt_thread *thread)
{
    if (thread->call_count <= thread->judged_calls) {
        tms_rt_judge_close(thread, thread->calls[thread->call_count - 1].number, true, true);
    }
}

/* A block has become a call; both stacks are already updated. */
void tms_rt_judge_demoted(struct tms_rt_thread *thread, bool recorded);

/* ---- synchronisation: after the event ------------------------------------------------------ */

void tms_rt_judge_acquired(struct tms_rt_thread *thread, const void *lock, uint32_t site);
void tms_rt_judge_released(struct tms_rt_thread *thread, const void *lock, uint32_t site,
                           bool shared);
/* An operation on an object that threads wait for without holding it, such as a semaphore. */
void tms_rt_judge_updated(struct tms_rt_thread *thread, uintptr_t object);
void tms_rt_judge_waits(struct tms_rt_thread *thread);
void tms_rt_judge_synchronised(struct tms_rt_thread *thread);
void tms_rt_judge_rendezvous(struct tms_rt_thread *thread);
void tms_rt_judge_delayed(struct tms_rt_thread *thread);
void tms_rt_judge_fence(struct tms_rt_thread *thread);

/* ---- memory -------------------------------------------------------------------------------- */

/* An access that passes the filter. */
struct tms_rt_judged {
    uintptr_t address;
    uint64_t bytes, kind; /* as in shadow words */
    uint64_t event;
    uint32_t site;
};

/*
 * The access, if no step of another thread on these bytes matters any more and the core has no
 * variable there. `own_read`: the word of the thread's own read of the bytes, if that was the last
 * access; `write`: the word of the last write, if another thread made it. 0: none.
 */
void tms_rt_judge_private_access(struct tms_rt_thread *thread, const struct tms_rt_judged *access,
                                 uint64_t own_read, uint64_t write);

/* All other accesses. The cell is locked, and its bytes are not claimed yet. */
void tms_rt_judge_shared_access(struct tms_rt_thread *thread, struct tms_rt_unpacked *cell,
                                const struct tms_rt_judged *access);

/* Some bytes of a locked cell are new memory. */
void tms_rt_judge_clear_bytes(struct tms_rt_unpacked *cell, uintptr_t address, uint64_t bytes);

#endif
