/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jumps to other stacks or frames. The functions that longjmp skips never report their exit, so the
 * runtime is given the frame that becomes the top; a jump out of a handler may have to wait
 * (signal_handlers.c). glibc mangles the saved stack pointer (rotated and xored with a secret of
 * the thread control block, against attackers), which is undone here.
 */
#include <setjmp.h>
#include <stdatomic.h>
#include <ucontext.h>

#include "runtime/intercept/interpose.h"

#if !defined(__x86_64__) || !defined(__GLIBC__)
#error "longjmp: where does this C library keep the stack pointer in a jmp_buf?"
#endif

#define SAVED_STACK_POINTER 6
#define SECRET_TURNS        17

static uintptr_t saved_stack_pointer(const struct __jmp_buf_tag *buffer)
{
    uintptr_t hidden = (uintptr_t)buffer->__jmpbuf[SAVED_STACK_POINTER], secret;
    __asm__("movq %%fs:0x30, %0" : "=r"(secret));
    return (hidden >> SECRET_TURNS | hidden << (64 - SECRET_TURNS)) ^ secret;
}

#define JUMPS(name)                                                                                \
    TMS_RT_REAL(void, name, (struct __jmp_buf_tag *, int))                                         \
    TMS_RT_INTERPOSE _Noreturn void name(struct __jmp_buf_tag buffer[1], int value);               \
    static void again_##name(void *buffer, int value)                                              \
    {                                                                                              \
        name(buffer, value);                                                                       \
    }                                                                                              \
    TMS_RT_INTERPOSE _Noreturn void name(struct __jmp_buf_tag buffer[1], int value)                \
    {                                                                                              \
        uintptr_t target = saved_stack_pointer(buffer);                                            \
        tms_rt_leave_later(target, again_##name, buffer, value);                                   \
        TMS_RT_REPORT(tms_rt_unwind(thread, target));                                              \
        real_##name()(buffer, value);                                                              \
        __builtin_unreachable();                                                                   \
    }

/*
 * Fibres: several stacks take turns on one thread. The runtime does not distinguish the functions
 * on them, so a block that is left in the middle seems to continue in the next fibre.
 */
static void warn_of_fibres(void)
{
    static _Atomic bool warned;
    if (!atomic_exchange(&warned, true)) {
        tms_rt_warn("the program changes stacks by swapcontext: blocks of several fibres of one "
                    "thread are not distinguished, and findings about them may be wrong");
    }
}

TMS_RT_REAL(int, swapcontext, (ucontext_t *, const ucontext_t *))
TMS_RT_INTERPOSE int swapcontext(ucontext_t *from, const ucontext_t *to)
{
    TMS_RT_REPORT(((void)thread, warn_of_fibres()));
    return real_swapcontext()(from, to);
}

JUMPS(longjmp)
JUMPS(_longjmp)
JUMPS(siglongjmp)
JUMPS(__longjmp_chk)
