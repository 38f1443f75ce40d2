/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory accesses as scheduling points (runtime/core/scheduler.h). Most memory is used by one
 * thread only, or by several that do not change it, and interrupting a thread there has no effect.
 * So each 8 bytes of the program have a byte that records how threads were seen to use them; it is
 * written when that changes, and mapped as it is written.
 *
 * Contended memory is no longer filtered by epoch: each access to it is a scheduling point, because
 * the second of two reads may be the place to let another thread in.
 */
#ifndef TMS_RUNTIME_SHARED_USE_H
#define TMS_RUNTIME_SHARED_USE_H

#include "runtime/shadow/access.h"

enum tms_rt_sharing {
    TMS_RT_SHARED = 1,    /* several threads have accessed the same bytes */
    TMS_RT_CONTENDED = 2, /* … and one has written them after another one's access */
};

/* False when there is no memory for it. */
bool tms_rt_steering_start(void);

/* The thread is about to make an access, and holds no lock of the runtime. */
void tms_rt_steer_access(struct tms_rt_thread *thread, const struct tms_rt_cell *cell,
                         struct tms_rt_word_access *access);

/* How the 8 bytes of an id are used: enum tms_rt_sharing. */
uint8_t tms_rt_sharing_of(uint32_t id);

#endif
