/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function entry and exit. Most functions are not blocks: for these a frame is pushed or popped and
 * nothing else happens, without a name, a call stack or a lock. The function is looked up by its
 * address when it is needed, and the site of a frame with the first event (sites.c).
 *
 * Every thread caches the functions that it called recently. Entries never become stale: rows in
 * functions.c do not move, and a function that is not a block never becomes one. Functions whose
 * calls are recorded are not cached as plain.
 */
#ifndef TMS_RUNTIME_CALL_STACK_H
#define TMS_RUNTIME_CALL_STACK_H

#include <assert.h>

#include "runtime/core/functions.h"
#include "runtime/core/thread.h"

/* The row of a function. */
static inline struct tms_rt_function *tms_rt_function_of(struct tms_rt_thread *thread,
                                                         uintptr_t address)
{
    struct tms_rt_function **called = &thread->called.function[tms_rt_call_hash(address)];

    if ((*called)->address != address) {
        *called = tms_rt_function(address);
    }
    return *called;
}

/* Field by field, because this runs at every call. The site is looked up later. */
static inline void tms_rt_push_frame(struct tms_rt_thread *thread, uintptr_t address,
                                     uintptr_t caller, uintptr_t frame, bool real)
{
    struct tms_rt_frame *top = thread->top;

    assert(top + 1 < thread->frames_end);
    top[1].address = address;
    top[1].caller = caller;
    top[1].frame = frame;
    top[1].site = 0;
    top[1].held = (uint16_t)thread->held_count;
    top[1].block = TMS_RT_FRAME_PLAIN;
    top[1].real = top->real | real;
    thread->top = top + 1;
}

/* Is the frame further in than the top one, and is there room for it? */
static inline bool tms_rt_fits(const struct tms_rt_thread *thread, uintptr_t frame)
{
    return frame < thread->top->frame && thread->top + 1 < thread->frames_end;
}

/*
 * The fast path of function entry. False: the slow path is needed, and nothing has happened. A
 * signal finds the thread either unchanged or inside the runtime.
 */
static inline bool tms_rt_enter_plain(struct tms_rt_thread *thread, uintptr_t address,
                                      uintptr_t caller, uintptr_t frame)
{
    uintptr_t plain = thread->called.plain[tms_rt_call_hash(address)];

    if (plain >> 1 != address || !tms_rt_fits(thread, frame)) {
        return false;
    }
    thread->inside = 1;
    atomic_signal_fence(memory_order_seq_cst);
    tms_rt_push_frame(thread, address, caller, frame, (plain & 1) == 0);
    atomic_signal_fence(memory_order_seq_cst);
    tms_rt_leave_fast(thread);
    return true;
}

/* Lets the fast path handle further calls of the function. */
static inline void tms_rt_is_plain(struct tms_rt_thread *thread,
                                   const struct tms_rt_function *function)
{
    assert(function->address >> 63 == 0 && !function->called);
    thread->called.plain[tms_rt_call_hash(function->address)] =
        function->address << 1 | function->plumbing;
}

/* The fast path of function exit. */
static inline bool tms_rt_exit_plain(struct tms_rt_thread *thread, uintptr_t frame)
{
    struct tms_rt_frame *top = thread->top;

    if (top->block || top[-1].frame < frame || top->held != (uint16_t)thread->held_count ||
        thread->too_deep != 0) {
        return false;
    }
    assert(top > thread->frames);
    thread->top = top - 1;
    return true;
}

#endif
