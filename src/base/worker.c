/* SPDX-License-Identifier: Apache-2.0 */
#include "base/worker.h"

#include <signal.h>

bool tms_worker_start(pthread_t *thread, void *(*work)(void *), void *user)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool started = pthread_create(thread, NULL, work, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
