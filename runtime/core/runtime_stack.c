/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of the runtime's own. A hook runs on whatever stack the program uses: a thread's of 16
 * KiB, or one of 8 KiB for signal handlers, of which nearly all may be in use. So a hook uses no
 * more than 1 KiB of it, and everything that needs more (the engine, symbol tables, demangling, the
 * dynamic linker, formatting) is called on a stack from here.
 *
 * A signal that arrives meanwhile is handled on the program's stack (signal_handlers.c). If that is
 * not the thread's own stack it may be the alternate signal stack: the kernel assumes that a thread
 * whose stack pointer is elsewhere does not use it, and would overwrite it from the top. Then
 * signals are blocked. They are also blocked if the runtime is not entered, because a handler could
 * leave for good. A thread that is not watched stays on its stack.
 */
#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/core/raw_system_call.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/thread.h"

#define SIZE       (1u << 20) /* demanglers recurse; untouched pages cost nothing */
#define GUARD      4096u
#define KERNEL_SET 8     /* bytes of a signal set */
#define BELOW      1024u /* below the frame that called us, possibly in use */

/* The header at the top of a free stack. */
struct stack {
    struct stack *next;
    uint64_t unused; /* keeps what is below aligned */
};

static struct {
    struct tms_rt_mutex lock;
    struct stack *free;
} stacks;

TMS_RT_TLS uintptr_t tms_rt_away_from;

static struct stack *new_stack(void)
{
    char *memory = tms_rt_map(GUARD + SIZE);

    if (memory == NULL) {
        return NULL;
    }
    tms_rt_raw(SYS_mprotect, (long)memory, GUARD, PROT_NONE, 0, 0, 0);
    return (struct stack *)(memory + GUARD + SIZE) - 1;
}

static struct stack *take_stack(void)
{
    tms_rt_mutex_lock(&stacks.lock);
    struct stack *stack = stacks.free;
    if (stack != NULL) {
        stacks.free = stack->next;
    }
    tms_rt_mutex_unlock(&stacks.lock);
    return stack != NULL ? stack : new_stack();
}

static void give_stack(struct stack *stack)
{
    assert(((uintptr_t)stack + sizeof(*stack)) % GUARD == 0);
    tms_rt_mutex_lock(&stacks.lock);
    stack->next = stacks.free;
    stacks.free = stack;
    tms_rt_mutex_unlock(&stacks.lock);
}

static __attribute__((noinline)) void call_on(void *top, tms_rt_deep *function, void *argument)
{
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "callq *%[function]\n\t"
                     "movq %%rbx, %%rsp"
                     : "+D"(argument)
                     : [top] "r"(top), [function] "r"(function)
                     : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
                       "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                       "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
}

/* The thread's own, unless an interrupted call uses it; then one of the shared ones. */
static struct stack *stack_for(struct tms_rt_thread *t)
{
    struct stack *own = t->deep_stack;

    if (own == NULL) {
        return take_stack();
    }
    t->deep_stack = NULL;
    return own;
}

static void put_back(struct tms_rt_thread *t, struct stack *stack)
{
    assert(t->deep_stack != stack);
    if (t->deep_stack == NULL) {
        t->deep_stack = stack;
    } else {
        give_stack(stack);
    }
}

static void call(tms_rt_deep *function, void *argument, uintptr_t here)
{
    struct tms_rt_thread *t = tms_rt_self;
    struct stack *stack = stack_for(t);

    if (stack == NULL) {
        function(argument);
        return;
    }
    assert(tms_rt_away_from == 0);
    assert((uintptr_t)stack % 16 == 0);
    tms_rt_away_from = here;
    call_on(stack, function, argument);
    tms_rt_away_from = 0;
    put_back(t, stack);
}

static void set_mask(const uint64_t *mask, uint64_t *old)
{
    tms_rt_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)mask, (long)old, KERNEL_SET, 0, 0);
}

void tms_rt_call_deep(tms_rt_deep *function, void *argument)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const struct tms_rt_thread *t = tms_rt_self;
    uint64_t all = UINT64_MAX, mask;

    if (t == NULL || tms_rt_away_from != 0) {
        function(argument);
    } else if (t->inside != 0 && t->stack_low <= here && here < t->stack_high) {
        call(function, argument, here);
    } else {
        set_mask(&all, &mask);
        call(function, argument, here);
        set_mask(&mask, NULL);
    }
}

void tms_rt_call_back(uintptr_t here, tms_rt_deep *function, void *argument)
{
    assert(here != 0 && here == tms_rt_away_from);
    call_on((void *)((here - BELOW) & ~(uintptr_t)15), function, argument);
}

/* Other threads may have been in the middle of an operation. */
void tms_rt_stacks_restart(void)
{
    tms_rt_mutex_restart(&stacks.lock);
    stacks.free = NULL;
}
