/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects lock requests during a run: which thread, holding which locks, requested which lock, in
 * which period (docs/research/engines/goodlock.md). The search for lock-order cycles runs later, on
 * the requests that the port has kept.
 *
 * A request is unique by thread, set of locks held, lock wanted and period. A thread remembers its
 * requests by hash, so that the port sees each once, or a few times; a hash collision hides a
 * request.
 *
 * A request with no lock held (bare) is part of a cycle only if a thread that holds a lock joins
 * its thread. So the thread keeps these: a join with a lock held passes them to the port, a join
 * without one takes them over. At most TMS_REQUESTS_BARE are kept.
 */
#ifndef TMS_PREDICT_LOCK_REQUESTS_H
#define TMS_PREDICT_LOCK_REQUESTS_H

#include "predict/lock_windows.h"

#define TMS_REQUESTS_NOTED 256u
#define TMS_REQUESTS_BARE  64u
#define TMS_REQUESTS_HELD  64u /* requests with more locks held are dropped */

struct tms_request {
    uint32_t thread, slot;
    bool join;       /* joins a thread, … */
    uint32_t wanted; /* … this one; otherwise the caller's number of the lock */
    struct tms_predict_acquire at;
    uint32_t period; /* of the thread; only distinguishes periods */
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
    /* `must` is the clock of the thread at that time, over every reordering of the same steps. */
    void (*request)(void *user, const struct tms_request *request,
                    const struct tms_predict_hold *held, size_t held_count,
                    const struct tms_vector *must, uint64_t hash);
    void (*fail)(void *user);
};

/* Before tms_predict_acquire of the same operation. */
void tms_requests_acquire(const struct tms_requests_port *port, struct tms_requests_thread *r,
                          struct tms_predict_thread *thread, const struct tms_predict_lock *lock,
                          const struct tms_predict_op *op);
/* Call it before the thread learns from the child, which has ended. */
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
