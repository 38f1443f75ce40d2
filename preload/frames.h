/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps from a stack frame to its caller by the call frame information that compilers emit in
 * .eh_frame, whether a program throws exceptions or not.
 *
 * Only the stack pointer and the frame pointer are followed, which suffices for compiled code;
 * rules that need other registers count as unknown. The rule of a return address is decoded once
 * and cached, so that a step costs a few loads.
 */
#ifndef TMS_PRELOAD_FRAMES_H
#define TMS_PRELOAD_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* The state after a call returns: its return address and registers. */
struct tms_rt_cursor {
    uintptr_t pc, sp, bp;
    uintptr_t low, high; /* bounds of the stack: nothing outside is read */
};

enum tms_rt_step {
    TMS_RT_STEPPED, /* the cursor is at the caller now */
    TMS_RT_OUTERMOST,
    TMS_RT_UNKNOWN,  /* no information, an unsupported rule, or a signal frame */
    TMS_RT_UNWINDER, /* code that walks the stack itself, and must not see hooks */
};

/*
 * *slot is where the frame's return address is stored, `function` the start of its code. The cursor
 * moves to the caller except for its pc, which the caller of this sets: *slot may be hooked.
 */
enum tms_rt_step tms_rt_step(struct tms_rt_cursor *cursor, uintptr_t **slot, uintptr_t *function);

/* In the child of a fork. */
void tms_rt_frames_restart(void);

/* Code may have been unloaded: empties the cache. */
void tms_rt_forget_frames(void);

#endif
