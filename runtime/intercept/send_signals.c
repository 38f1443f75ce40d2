/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that the program sends: the handler, or the thread that waits for the signal, is ordered
 * after the send (kernel_channels.h). The target is not looked at: a signal to another process also
 * orders later handlers of its number in this one, which can hide a race but invents none. Handlers
 * may send signals, so the functions are looked up at the start.
 */
#include <pthread.h>
#include <signal.h>

#include "runtime/core/kernel_channels.h"
#include "runtime/intercept/interpose.h"

/* One of the parameters must be named `number`. */
#define SENDS(name, parameters, arguments)                                                         \
    TMS_RT_REAL(int, name, parameters)                                                             \
    TMS_RT_INTERPOSE int name parameters                                                           \
    {                                                                                              \
        if (number > 0 && number < _NSIG) {                                                        \
            TMS_RT_REPORT(tms_rt_signal_sends(thread, number));                                    \
        }                                                                                          \
        return real_##name() arguments;                                                            \
    }

SENDS(kill, (pid_t process, int number), (process, number))
SENDS(killpg, (pid_t group, int number), (group, number))
SENDS(raise, (int number), (number))
SENDS(sigqueue, (pid_t process, int number, const union sigval value), (process, number, value))
SENDS(tgkill, (pid_t process, pid_t thread_id, int number), (process, thread_id, number))
SENDS(pthread_kill, (pthread_t id, int number), (id, number))
SENDS(pthread_sigqueue, (pthread_t id, int number, const union sigval value), (id, number, value))

__attribute__((constructor)) static void look_up(void)
{
    real_kill();
    real_killpg();
    real_raise();
    real_sigqueue();
    real_tgkill();
    real_pthread_kill();
    real_pthread_sigqueue();
}
