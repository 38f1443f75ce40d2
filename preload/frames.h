/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one frame of the stack to the one that called it, by the call frame information that
 * compilers leave in .eh_frame. Programs have it whether they throw exceptions or not.
 *
 * Only the stack pointer and the frame pointer are followed, which is all that compiled code
 * needs; whatever else a function asks for counts as unknown. What a return address asks for is
 * worked out once and kept in a table, so that a step costs a few loads.
 */
#ifndef TMS_PRELOAD_FRAMES_H
#define TMS_PRELOAD_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* The state after a call: where it will return to, and with which registers. */
struct tms_rt_cursor {
    uintptr_t pc, sp, bp;
    uintptr_t low, high; /* the stack: nothing outside of it is read */
};

enum tms_rt_step {
    TMS_RT_STEPPED, /* the cursor is the caller's now */
    TMS_RT_OUTERMOST,
    TMS_RT_UNKNOWN,  /* no information, or a kind that is not followed; a signal handler, too */
    TMS_RT_UNWINDER, /* code that walks the stack itself, and must not meet us */
};

/*
 * The return address of the frame is in *slot, and `function` is where its code begins. The
 * cursor has moved but for its pc, which is for the caller to find out: *slot may be hooked.
 */
enum tms_rt_step tms_rt_step(struct tms_rt_cursor *cursor, uintptr_t **slot, uintptr_t *function);

/* In the child of a fork. */
void tms_rt_frames_restart(void);

/* Code may have gone: what is known of it is forgotten. */
void tms_rt_forget_frames(void);

#endif
