/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions are entered and left. Most of them are no blocks, and then a frame is pushed or popped
 * and nothing else happens: no name, no call stack, no lock. What is wanted of the function later
 * is found by its address, and the site of a frame when an event is (sites.c).
 *
 * Every thread remembers what it has called lately. An entry never gets old: rows in functions.c
 * stay where they are, and a function that is no block never becomes one.
 */
#ifndef TMS_RUNTIME_CALLS_H
#define TMS_RUNTIME_CALLS_H

#include "thread.h"

static inline struct tms_rt_function_entry *tms_rt_called(struct tms_rt_thread *thread,
                                                          uintptr_t address)
{
    return &thread->called[(address ^ address >> 8) % TMS_RT_FUNCTION_CACHE];
}

/* What is known of a function, inside the runtime. */
static inline struct tms_rt_function *tms_rt_function_of(struct tms_rt_thread *thread,
                                                         uintptr_t address)
{
    struct tms_rt_function_entry *entry = tms_rt_called(thread, address);

    if (entry->address != address) {
        *entry = (struct tms_rt_function_entry){address, tms_rt_function(address)};
    }
    return entry->function;
}

static inline void tms_rt_push_frame(struct tms_rt_thread *thread, uintptr_t address,
                                     uintptr_t caller, uintptr_t frame, bool real)
{
    struct tms_rt_frame *top = thread->top;

    top[1] = (struct tms_rt_frame){.address = address,
                                   .caller = caller,
                                   .frame = frame,
                                   .held = (uint16_t)thread->held_count,
                                   .real = top->real || real};
    thread->top = top + 1;
}

/* Does what tms_rt_function_enter would, if that is little; false if not, and then nothing. */
static inline bool tms_rt_enter_plain(struct tms_rt_thread *thread, uintptr_t address,
                                      uintptr_t caller, uintptr_t frame)
{
    const struct tms_rt_frame *top = thread->top;
    const struct tms_rt_function_entry *entry = tms_rt_called(thread, address);

    if (frame >= top->frame || entry->address != address || top + 1 >= thread->frames_end ||
        atomic_load_explicit(&entry->function->label, memory_order_relaxed) != 0) {
        return false;
    }
    tms_rt_push_frame(thread, address, caller, frame, !entry->function->plumbing);
    return true;
}

/* The same for tms_rt_function_exit. A signal in between leaves `top` as it was. */
static inline bool tms_rt_exit_plain(struct tms_rt_thread *thread, uintptr_t frame)
{
    struct tms_rt_frame *top = thread->top;

    if (top->block || top[-1].frame < frame || top->held != (uint16_t)thread->held_count ||
        thread->too_deep != 0) {
        return false;
    }
    thread->top = top - 1;
    return true;
}

#endif
