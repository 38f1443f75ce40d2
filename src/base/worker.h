/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of the library's own, in a program that is not. */
#ifndef TMS_BASE_WORKER_H
#define TMS_BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>

/*
 * Starts it with all signals blocked: they are for the threads of the program. False if it can't be
 * had; otherwise it is to be joined.
 */
bool tms_worker_start(pthread_t *thread, void *(*work)(void *), void *user);

#endif
