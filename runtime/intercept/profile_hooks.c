/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks of -finstrument-functions. C++ is compiled with these instead of the entry hooks of
 * -fsanitize=thread: they are inserted before inlining, so an inlined function keeps its entry and
 * exit, and functions of system headers have none.
 *
 * An inlined function shares the stack frame, and so the return address, of the function that it
 * was inlined into. In the list of frames it is one byte further in, so that the rest of the
 * runtime can still order frames by address; its caller is marked, because debug information
 * expands the call of an inlined function from any address inside it.
 *
 * An exit is matched by function. gcc calls the exit hook for exceptions as well; clang does not,
 * and then exceptions.c announces the unwinding.
 */
#include "runtime/core/call_stack.h"
#include "runtime/intercept/exceptions.h"

TMS_RT_EXPORT void __cyg_profile_func_enter(void *function, void *caller) __attribute__((weak));
TMS_RT_EXPORT void __cyg_profile_func_exit(void *function, void *caller) __attribute__((weak));

/*
 * Stack pointers at calls are aligned to this, which leaves room for that many inlined functions.
 */
#define ALIGNMENT ((uintptr_t)16)

/* A function is identified like a return address inside it: the byte before it counts. */
static uintptr_t inside_of(const void *function)
{
    return (uintptr_t)function + 1;
}

static uintptr_t round_up(uintptr_t frame)
{
    return (frame + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

/*
 * Was a function with this stack pointer and return address inlined into the top one? Always false
 * if exceptions are not intercepted, because one may have left the top function:
 * tms_rt_function_enter then pops its frame. If none has, its block ends too early.
 */
static bool is_inlined(const struct tms_rt_frame *top, uintptr_t caller, uintptr_t frame)
{
    return round_up(top->frame) == frame && (top->caller & ~TMS_RT_INLINED) == caller &&
           tms_rt_sees_exceptions();
}

static __attribute__((noinline)) void enter(struct tms_rt_thread *thread, uintptr_t address,
                                            uintptr_t caller, uintptr_t frame)
{
    thread->inside = 1;
    tms_rt_function_enter(thread, address, caller, frame);
    tms_rt_leave_fast(thread);
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    struct tms_rt_thread *thread = tms_rt_self;
    uintptr_t frame = (uintptr_t)__builtin_dwarf_cfa() & ~(ALIGNMENT - 1);
    uintptr_t address = inside_of(function), from = (uintptr_t)caller;

    if (thread == NULL || thread->inside != 0) {
        return;
    }
    if (is_inlined(thread->top, from, frame)) {
        frame = thread->top->frame - 1;
        from |= TMS_RT_INLINED;
        if (frame % ALIGNMENT == 0) {
            return; /* inlined too deep: counts as part of the enclosing one */
        }
    }
    if (!tms_rt_enter_plain(thread, address, from, frame)) {
        enter(thread, address, from, frame);
    }
}

/*
 * The frame of the function whose exit hook runs. Skips frames deeper in the stack than that of the
 * hook's caller, which were left without an exit hook. NULL: its entry was not seen.
 */
static const struct tms_rt_frame *find_frame(const struct tms_rt_thread *thread, uintptr_t address,
                                             uintptr_t frame)
{
    const struct tms_rt_frame *at = thread->top;

    while (at > thread->frames && at->address != address && at->frame <= frame) {
        at--;
    }
    return at > thread->frames && at->address == address ? at : NULL;
}

static __attribute__((noinline)) void leave(struct tms_rt_thread *thread, uintptr_t address,
                                            uintptr_t frame)
{
    const struct tms_rt_frame *left = find_frame(thread, address, frame);

    thread->inside = 1;
    if (left != NULL) {
        tms_rt_function_exit(thread, left->frame + 1);
    }
    tms_rt_leave_fast(thread);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    struct tms_rt_thread *thread = tms_rt_self;
    uintptr_t frame = (uintptr_t)__builtin_dwarf_cfa();
    uintptr_t address = inside_of(function);

    (void)caller;
    if (thread == NULL || thread->inside != 0) {
        return;
    }
    if (thread->top->address != address || !tms_rt_exit_plain(thread, thread->top->frame + 1)) {
        leave(thread, address, frame);
    }
}
