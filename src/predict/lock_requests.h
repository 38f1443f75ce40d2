/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the parts of lock-order cycles during a run: which thread, holding which locks, wanted
 * which one, in which period (docs/research/engines/goodlock.md). The search for cycles comes
 * later, from the requests that the port has kept.
 *
 * A request is made once for each thread, set of locks held, lock wanted and period. A thread
 * remembers which ones it has made, by hash, so that the port sees each once, or a few times; a
 * hash collision hides a request.
 *
 * A request with no lock held is part of a cycle only if a thread that holds a lock waits for the
 * end of its thread. So these stay with the thread: a join with a lock held makes them, a join
 * without one takes them over. At most TMS_REQUESTS_BARE are kept.
 */
#ifndef TMS_PREDICT_LOCK_REQUESTS_H
#define TMS_PREDICT_LOCK_REQUESTS_H

#include "predict/lock_windows.h"

#define TMS_REQUESTS_NOTED 256u
#define TMS_REQUESTS_BARE  64u
#define TMS_REQUESTS_HELD  64u /* with more locks held, a request is left out */

struct tms_request {
    uint32_t thread, slot;
    bool join;       /* wants the end of a thread, … */
    uint32_t wanted; /* … this one; or the lock that the caller calls so */
    struct tms_predict_acquire at;
    uint32_t period; /* of the thread; only to tell them apart */
};

/* With no lock held. */
struct tms_bare_request {
    struct tms_request request;
    struct tms_vector must;
};

struct tms_requests_thread {
    uint32_t period;
    uint32_t bare_count;
    uint64_t *noted;               /* TMS_REQUESTS_NOTED of them, or NULL */
    struct tms_bare_request *bare; /* TMS_REQUESTS_BARE of them, or NULL */
};

struct tms_requests_port {
    void *user;
    /* `must` is what the thread knew then, of every order of the same steps. */
    void (*request)(void *user, const struct tms_request *request,
                    const struct tms_predict_hold *held, size_t held_count,
                    const struct tms_vector *must, uint64_t hash);
    void (*fail)(void *user);
};

/* Before tms_predict_acquire of the same operation. */
void tms_requests_acquire(const struct tms_requests_port *port, struct tms_requests_thread *r,
                          struct tms_predict_thread *thread, const struct tms_predict_lock *lock,
                          const struct tms_predict_op *op);
/* Before the thread learns of the end of the child. The child is over. */
void tms_requests_join(const struct tms_requests_port *port, struct tms_requests_thread *r,
                       struct tms_predict_thread *thread, struct tms_requests_thread *child,
                       struct tms_memory *child_memory, uint32_t child_id,
                       const struct tms_predict_op *op);
/* After a fork or a join by the thread, and at a barrier. */
static inline void tms_requests_period(struct tms_requests_thread *r)
{
    r->period++;
}
void tms_requests_clear(struct tms_requests_thread *r, struct tms_memory *memory);

#endif
