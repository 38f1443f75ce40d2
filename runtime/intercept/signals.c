/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that end the process: the spool is settled, then the process ends by the same signal, so
 * that its parent sees the usual status.
 *
 * Our handler is installed only where the program has the default action, and is invisible to the
 * program: sigaction and signal install it in place of SIG_DFL, and return SIG_DFL where it was. In
 * the same way they wrap the program's own handlers (signal_handlers.c). Signals that the program
 * ignores stay ignored. The signal of --report-on is handled likewise, except that it requests a
 * report and ends nothing. A stack overflow leaves no room for the handler unless the program has
 * set up an alternate stack; the process then ends at once, as without us.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/kernel_channels.h"
#include "runtime/core/live_counts.h"
#include "runtime/intercept/interpose.h"

/* All have the default action of ending the process. */
#define FATAL_SIGNALS(X)                                                                           \
    X(SIGHUP)                                                                                      \
    X(SIGINT)                                                                                      \
    X(SIGQUIT)                                                                                     \
    X(SIGILL)                                                                                      \
    X(SIGTRAP)                                                                                     \
    X(SIGABRT)                                                                                     \
    X(SIGBUS)                                                                                      \
    X(SIGFPE)                                                                                      \
    X(SIGUSR1)                                                                                     \
    X(SIGSEGV)                                                                                     \
    X(SIGUSR2)                                                                                     \
    X(SIGPIPE)                                                                                     \
    X(SIGALRM)                                                                                     \
    X(SIGTERM)                                                                                     \
    X(SIGXCPU)                                                                                     \
    X(SIGXFSZ)                                                                                     \
    X(SIGVTALRM)                                                                                   \
    X(SIGPROF)                                                                                     \
    X(SIGSYS)

static const bool fatal[_NSIG] = {
#define X(name) [name] = true,
    FATAL_SIGNALS(X)
#undef X
};

static _Atomic bool watching;

typedef tms_rt_handler_function handler_function;

TMS_RT_REAL(int, sigaction, (int, const struct sigaction *, struct sigaction *))

static void announce_end(int number)
{
    char how[] = "signal \0\0";
    char *digit = how + sizeof "signal " - 1;
    if (number >= 10) {
        *digit++ = (char)('0' + number / 10);
    }
    *digit = (char)('0' + number % 10);
    tms_rt_finish(how);
}

/* The signal is blocked while it is handled, and arrives again as soon as this returns. */
static void end_by_signal(int number)
{
    int saved_errno = errno;
    announce_end(number);
    real_sigaction()(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    syscall(SYS_tgkill, getpid(), gettid(), number);
    errno = saved_errno;
}

/* With --report-on. If a thread is inside the runtime, the counts are slightly out of date. */
static void ask_by_signal(int number)
{
    TMS_RT_REPORT(tms_rt_publish());
    tms_rt_ask_report();
}

static bool is_ours(int number)
{
    return number > 0 && number < _NSIG && (fatal[number] || number == tms_rt_report_signal) &&
           atomic_load(&watching);
}

/* Our handler, installed in place of the default action. */
static struct sigaction ours(int number)
{
    bool asks = number == tms_rt_report_signal;
    struct sigaction action = {.sa_handler = asks ? ask_by_signal : end_by_signal,
                               .sa_flags = asks ? SA_ONSTACK | SA_RESTART : SA_ONSTACK};
    sigfillset(&action.sa_mask);
    return action;
}

static bool replaces_default(handler_function *handler)
{
    return handler == end_by_signal || handler == ask_by_signal;
}

/* ---- what the program calls ------------------------------------------------------------- */

/* The handler that is installed in place of the one the program asks for. */
static handler_function *in_place_of(int number, handler_function *handler)
{
    if (!atomic_load(&watching)) {
        return handler;
    }
    return is_ours(number) && handler == SIG_DFL ? ours(number).sa_handler
                                                 : tms_rt_wrap_handler(number, handler);
}

/* The handler that the program had set; `before` is the one that a wrapper replaced. */
static handler_function *hide_ours(handler_function *handler, handler_function *before)
{
    return replaces_default(handler) ? SIG_DFL : tms_rt_is_wrapped(handler) ? before : handler;
}

/* The handler is ordered after this, whatever thread it runs in. */
static void sets_handler(int number)
{
    if (number > 0 && number < _NSIG) {
        TMS_RT_REPORT(tms_rt_signal_sends(thread, number));
    }
}

TMS_RT_INTERPOSE int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    handler_function *before = tms_rt_handler_of(number);
    struct sigaction in_place;
    if (action != NULL) {
        sets_handler(number);
        in_place = *action;
        in_place.sa_handler = in_place_of(number, action->sa_handler);
        if (replaces_default(in_place.sa_handler)) {
            in_place = ours(number);
        }
        action = &in_place;
    }
    int result = real_sigaction()(number, action, old);
    if (result == 0 && old != NULL && replaces_default(old->sa_handler)) {
        *old = (struct sigaction){.sa_handler = SIG_DFL};
    } else if (result == 0 && old != NULL) {
        old->sa_handler = hide_ours(old->sa_handler, before);
    }
    return result;
}

#define SETS_HANDLER(name)                                                                         \
    TMS_RT_REAL(handler_function *, name, (int, handler_function *))                               \
    TMS_RT_INTERPOSE handler_function *name(int, handler_function *);                              \
    TMS_RT_INTERPOSE handler_function *name(int number, handler_function *handler)                 \
    {                                                                                              \
        handler_function *before = tms_rt_handler_of(number);                                      \
        sets_handler(number);                                                                      \
        handler_function *old = real_##name()(number, in_place_of(number, handler));               \
        return hide_ours(old, before);                                                             \
    }

SETS_HANDLER(signal)
SETS_HANDLER(bsd_signal)
SETS_HANDLER(sysv_signal)
SETS_HANDLER(__sysv_signal)
SETS_HANDLER(sigset)

/* ---- start ------------------------------------------------------------------------------ */

/* Only if the default action applies, set by the program or inherited. */
static void watch(int number)
{
    struct sigaction action;
    if (real_sigaction()(number, NULL, &action) != 0 || action.sa_handler != SIG_DFL) {
        return;
    }
    action = ours(number);
    real_sigaction()(number, &action, NULL);
}

static void watch_all(void)
{
    for (int number = 1; number < _NSIG; number++) {
        if (fatal[number] || number == tms_rt_report_signal) {
            watch(number);
        }
    }
    atomic_store(&watching, true);
}

__attribute__((constructor(101))) static void watch_signals(void)
{
    tms_rt_start();
    TMS_RT_REPORT(watch_all());
}
