/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's signal handlers. A handler may interrupt the runtime while it holds a cell or one
 * of its locks, and leave by siglongjmp for good: the next thread that wants the cell would wait
 * forever. So such a jump is deferred. The handler is called from here, and a jump out of it
 * returns here instead; the interrupted runtime continues until it is left (tms_rt_leave_fast), and
 * the program jumps from there.
 *
 * The kernel passes the interrupted context to every handler, whether it was requested or not, so
 * flags need no change and the program reads back the ones it has set.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "runtime/core/kernel_channels.h"
#include "runtime/core/live_counts.h"
#include "runtime/core/raw_system_call.h"
#include "runtime/intercept/interpose.h"

#define KERNEL_SET     8     /* bytes of a signal set */
#define FAR            65536 /* assumed extent of a handler's frames on an unknown stack */
#define BUILTIN_BUFFER 5

typedef void program_handler(int, siginfo_t *, void *);

/* A handler that has interrupted the runtime. */
struct tms_rt_handler {
    struct tms_rt_handler *outer;
    uintptr_t low, high; /* bounds of its frames */
    uintptr_t away_from; /* see runtime_stack.c */
    void *back[BUILTIN_BUFFER];
};

static program_handler *_Atomic handlers[_NSIG];

/* ---- running one ------------------------------------------------------------------------ */

static void find_frames(struct tms_rt_handler *handler, const struct tms_rt_thread *t,
                        const stack_t *other)
{
    uintptr_t start = (uintptr_t)other->ss_sp, here = (uintptr_t)handler;
    bool apart = here - start < other->ss_size;

    if (!apart && tms_rt_away_from != 0) {
        here = tms_rt_away_from;
    }
    bool own = t->stack_low <= here && here < t->stack_high;
    handler->high = here;
    handler->low = apart ? start : own ? t->stack_low : here - FAR;
}

/* The jump was deferred: it will use the signal mask that it would have used here. */
static void keep_mask(ucontext_t *context)
{
    tms_rt_raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&context->uc_sigmask, KERNEL_SET, 0, 0);
}

struct signal {
    program_handler *handler;
    int number;
    siginfo_t *info;
    ucontext_t *context;
};

static void handle(void *argument)
{
    const struct signal *signal = argument;

    signal->handler(signal->number, signal->info, signal->context);
}

/*
 * On the alternate signal stack, or on the program's, because the handler may scan the stack. A
 * signal that arrives just before the thread switches to a stack of the runtime's, or just after it
 * has switched back, is handled in place: further down, it would overwrite its own frame.
 */
static void run_handler(struct signal *signal)
{
    const stack_t *other = &signal->context->uc_stack;
    uintptr_t away_from = tms_rt_away_from, here = (uintptr_t)__builtin_frame_address(0);
    bool apart = here - (uintptr_t)other->ss_sp < other->ss_size;
    bool own = tms_rt_self->stack_low <= here && here < tms_rt_self->stack_high;

    tms_rt_away_from = 0;
    if (away_from == 0 || apart || own) {
        handle(signal);
    } else {
        tms_rt_call_back(away_from, handle, signal);
    }
    tms_rt_away_from = away_from;
}

static __attribute__((noinline)) void interrupt(struct signal *signal)
{
    struct tms_rt_handler here = {.outer = tms_rt_self->handlers, .away_from = tms_rt_away_from};

    find_frames(&here, tms_rt_self, &signal->context->uc_stack);
    tms_rt_self->handlers = &here;
    if (__builtin_setjmp(here.back) == 0) {
        run_handler(signal);
    } else {
        keep_mask(signal->context);
        tms_rt_away_from = tms_rt_self->handlers->away_from;
    }
    tms_rt_self->handlers = tms_rt_self->handlers->outer;
}

static void deliver(int number, siginfo_t *info, void *context)
{
    struct tms_rt_thread *t = tms_rt_self;
    program_handler *handler = atomic_load_explicit(&handlers[number], memory_order_relaxed);

    tms_rt_heard_signal(number);
    if (t != NULL && t->inside != 0) {
        tms_rt_signal_interrupts(t, number);
        interrupt(&(struct signal){handler, number, info, context});
    } else {
        TMS_RT_REPORT(tms_rt_signal_receives(thread, number));
        handler(number, info, context);
    }
}

/* ---- leaving one ------------------------------------------------------------------------ */

/* Drops the handlers that a jump leaves; true if it leaves all of them. */
static bool leaves_all(struct tms_rt_thread *t, uintptr_t target, struct tms_rt_handler **last)
{
    for (struct tms_rt_handler *at = t->handlers; at != NULL; at = at->outer) {
        if (at->low <= target && target < at->high) {
            t->handlers = at;
            return false;
        }
        *last = at;
    }
    return true;
}

void tms_rt_leave_later(uintptr_t target, tms_rt_way_out *way_out, void *argument, int value)
{
    struct tms_rt_thread *t = tms_rt_self;
    struct tms_rt_handler *last = NULL;

    if (t != NULL && t->inside != 0 && leaves_all(t, target, &last) && last != NULL) {
        t->way_out_argument = argument;
        t->way_out_value = value;
        t->way_out = way_out;
        t->handlers = last;
        __builtin_longjmp(last->back, 1);
    }
}

void tms_rt_leave_now(struct tms_rt_thread *t)
{
    tms_rt_way_out *way_out = t->way_out;

    t->way_out = NULL;
    way_out(t->way_out_argument, t->way_out_value);
}

/* ---- setting one ------------------------------------------------------------------------ */

static bool is_function(tms_rt_handler_function *handler)
{
    return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_HOLD && handler != SIG_ERR;
}

tms_rt_handler_function *tms_rt_handler_of(int number)
{
    bool known = number > 0 && number < _NSIG;

    return known ? (tms_rt_handler_function *)(uintptr_t)atomic_load(&handlers[number]) : NULL;
}

tms_rt_handler_function *tms_rt_wrap_handler(int number, tms_rt_handler_function *handler)
{
    if (number <= 0 || number >= _NSIG || !is_function(handler)) {
        return handler;
    }
    atomic_store(&handlers[number], (program_handler *)(uintptr_t)handler);
    return (tms_rt_handler_function *)(uintptr_t)deliver;
}

bool tms_rt_is_wrapped(tms_rt_handler_function *handler)
{
    return (uintptr_t)handler == (uintptr_t)deliver;
}
