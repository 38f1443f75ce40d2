/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validates that a trace is well-formed. The rules are in docs/research/semantics.md ("Well-formed
 * traces"). Always on.
 */
#ifndef TMS_TRACE_VALIDATE_H
#define TMS_TRACE_VALIDATE_H

#include "base/context.h"

enum tms_validity {
    TMS_VALID = 0,   /* a proper event */
    TMS_VALID_FIRST, /* proper, and the first of its thread */
    TMS_VALID_INNER, /* fine, but the inside of a re-entrant lock: not an event */
    TMS_INVALID,     /* not well-formed: tms_validator_reason says why; state is unchanged */
};

enum { TMS_OPEN_BLOCKS, TMS_OPEN_FUNCTIONS, TMS_OPEN_CALLS, TMS_OPEN_KINDS };

struct tms_valid_thread {
    bool seen, forked, joined, fenced;
    uint32_t open[TMS_OPEN_KINDS]; /* TMS_OPEN_…: how many begins, enters, calls */
};

/* A shared hold of a lock by one thread, with its recursion count. */
struct tms_hold {
    uint32_t thread;
    uint32_t depth;
};

struct tms_valid_lock {
    /*
     * Held by a thread: recursion << 32 | thread; free: 0; shared: TMS_LOCK_SHARED. Held once, as
     * nearly always, it is the thread's id, so validating an acquire or a release takes one
     * comparison.
     */
    uint64_t hold;
    struct tms_hold *shared;
    size_t sharing, capacity;
};
#define TMS_LOCK_SHARED UINT64_MAX /* no thread has such an id */
#define TMS_LOCK_AGAIN  (UINT64_C(1) << 32)

struct tms_validator {
    struct tms_context *context;
    struct tms_memory memory;
    struct tms_valid_thread *threads; /* by id */
    size_t thread_capacity;
    struct tms_valid_lock *locks; /* by id; 0 is none, and always free */
    size_t lock_capacity;
    char reason[TMS_MESSAGE_SIZE];
};

void tms_validator_init(struct tms_validator *validator, struct tms_context *context);
void tms_validator_clear(struct tms_validator *validator);

/* Makes room for the threads and locks that have names: before any event that uses them. */
int tms_validator_reserve(struct tms_validator *validator);

/*
 * An enum tms_validity, or a negative code. Kind and ids of the event must be in range. Called for
 * everything except plain accesses (see spec/lower.h), which have no rule.
 */
int tms_validate(struct tms_validator *validator, const struct tms_event *event);

/*
 * What makes an event plain, by its kind, as masks: the next kind is unpredictable, so the check is
 * branch-free. Every event checks the state of a lock:
 *   an access checks lock 0, which does not exist, and expects it free;
 *   an acquire expects its lock free, a release expects it held, once, by its own thread;
 *   everything else expects lock 0 held by its thread, so is never plain.
 */
struct tms_plain_kind {
    uint32_t lock;      /* checks its target */
    uint64_t held;      /* expects it held by its thread */
    uint64_t changes;   /* acquires or releases the lock */
    uint64_t exclusive; /* conflicts with all on its target, not only with what is exclusive */
};
extern const struct tms_plain_kind tms_plain_kinds[TMS_EVENT_COUNT];

/*
 * Fast path: is the event an access, which has no rule, or a plain acquire or release? If so, it is
 * validated and the state updated. `plain` is false if its thread has not begun or has ended.
 * `locks` are the validator's, `kind` is the event's.
 */
static inline bool tms_validate_plain(struct tms_valid_lock *locks, const struct tms_event *event,
                                      const struct tms_plain_kind *kind, bool plain)
{
    uint64_t *hold = &locks[event->target & kind->lock].hold;

    if (!plain || *hold != (event->thread & kind->held)) {
        return false;
    }
    *hold ^= event->thread & kind->changes; /* from free to held by the thread, or back */
    return true;
}

/* Opens a block or function of a thread that has begun, or closes an open one. */
static inline void tms_validate_block(struct tms_validator *validator,
                                      const struct tms_event *event, bool opens)
{
    struct tms_valid_thread *thread = &validator->threads[event->thread];

    thread->open[event->kind >= TMS_EVENT_ENTER ? TMS_OPEN_FUNCTIONS : TMS_OPEN_BLOCKS] +=
        opens ? 1 : UINT32_MAX;
}

/* Why the last event was invalid: a clause that follows "FILE:LINE: ". */
const char *tms_validator_reason(const struct tms_validator *validator);

#endif
