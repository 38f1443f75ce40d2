/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Return hooks prove that a function has not returned: its return address on the stack is replaced
 * by ours (trampoline.S). As long as it is there the activation is the same one, because every call
 * overwrites the slot; and when the function returns, the trampoline runs. The real addresses are
 * kept here, per thread, outermost first.
 *
 * A function that ends with a tail call passes its return address on. In the source that is an
 * ordinary call, so the callee counts as inside the caller, and gets a hook of its own for the same
 * slot, at the next level.
 *
 * Invariants: slots do not increase from one hook to the next; a hook is in the list before its
 * slot is changed, so that a return finds it. Hooks of functions that were left by a jump stay in
 * the list until the next stack walk finds them dead.
 */
#ifndef TMS_PRELOAD_RETURN_HOOK_H
#define TMS_PRELOAD_RETURN_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/core/rt.h"

struct tms_rt_return_hook {
    uintptr_t *slot;
    uintptr_t real;     /* the original return address */
    uintptr_t function; /* its first instruction */
    uintptr_t level;    /* 0: it was called; else tail-called from the level below */
    uint32_t number;    /* of the activation */
};

#define TMS_RT_RETURN_HOOKS_MOST (1u << 18)
#define TMS_RT_LEVELS            7u /* less than the bytes of a slot, see stack_sync.c */

struct tms_rt_return_hooks {
    struct tms_rt_return_hook *hooks; /* TMS_RT_RETURN_HOOKS_MOST of them, reserved */
    size_t count;
    uint32_t numbers;                      /* activations so far */
    uint64_t activation;                   /* see tms_rt_activation */
    struct tms_rt_return_hooks *next;      /* list of all threads */
    struct tms_rt_return_hooks *next_free; /* free list, of threads that have ended */
};

/* This thread's hooks; NULL before its first stack walk and if memory is short. */
struct tms_rt_return_hooks *tms_rt_return_hooks(void);
/* The same, created if necessary. */
struct tms_rt_return_hooks *tms_rt_need_return_hooks(void);
/* In the child of a fork. */
void tms_rt_return_hooks_restart(void);
/* The thread has ended. */
void tms_rt_drop_return_hooks(void);

bool tms_rt_is_return_hook(const uintptr_t *slot);
void tms_rt_install_return_hook(struct tms_rt_return_hook *hook);

/* Restores all real return addresses of the thread for good. */
void tms_rt_remove_return_hooks(void);
/* The same temporarily, so that other code can walk the stack; then puts the hooks back. */
void tms_rt_suspend_return_hooks(void);
void tms_rt_resume_return_hooks(void);

#endif
