/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The failure handler of assert() in the runtime, for builds without NDEBUG. The C library's
 * allocates memory and calls abort(), which the program may have replaced. The name is local to the
 * runtime (pack, preload.map): assertions of the program still use the C library's.
 */
#include <assert.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/raw_system_call.h"

#ifndef NDEBUG

#define KERNEL_SET 8 /* bytes of a signal set */

static void say(const char *text)
{
    tms_rt_raw(SYS_write, STDERR_FILENO, (long)text, (long)strlen(text), 0, 0, 0);
}

static void say_number(unsigned number)
{
    char digits[12], *at = &digits[sizeof(digits) - 1];

    *at = '\0';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    say(at);
}

/* Ends the process even if the program handles or blocks the signal. */
static void end_by_abort(void)
{
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } by_default = {.handler = SIG_DFL};
    uint64_t none = 0;

    tms_rt_raw(SYS_rt_sigaction, SIGABRT, (long)&by_default, 0, KERNEL_SET, 0, 0);
    tms_rt_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, KERNEL_SET, 0, 0);
    tms_rt_raw(SYS_tgkill, tms_rt_raw(SYS_getpid, 0, 0, 0, 0, 0, 0),
               tms_rt_raw(SYS_gettid, 0, 0, 0, 0, 0, 0), SIGABRT, 0, 0, 0);
}

void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
    say("tmesis: internal error in the runtime: ");
    say(file);
    say(":");
    say_number(line);
    say(": ");
    say(function);
    say(": assertion failed: ");
    say(assertion);
    say("\n");
    end_by_abort();
    __builtin_trap();
}

#endif
