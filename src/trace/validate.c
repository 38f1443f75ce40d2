/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of well-formed traces, one function per kind of event that has a rule. A broken rule
 * leaves the state unchanged, so that a lenient run can continue after it.
 */
#include "trace/validate.h"

#include <stdarg.h>
#include <stdio.h>

#define ALL UINT64_MAX
#define NEVER_PLAIN                                                                                \
    {                                                                                              \
        .held = ALL                                                                                \
    }

const struct tms_plain_kind tms_plain_kinds[TMS_EVENT_COUNT] = {
    [TMS_EVENT_BEGIN] = NEVER_PLAIN,
    [TMS_EVENT_END] = NEVER_PLAIN,
    [TMS_EVENT_READ] = {0},
    [TMS_EVENT_WRITE] = {.exclusive = ALL},
    [TMS_EVENT_UPDATE] = {.exclusive = ALL},
    [TMS_EVENT_ACQUIRE] = {UINT32_MAX, 0, ALL, ALL},
    [TMS_EVENT_RELEASE] = {UINT32_MAX, ALL, ALL, ALL},
    [TMS_EVENT_SHARED_ACQUIRE] = NEVER_PLAIN,
    [TMS_EVENT_SHARED_RELEASE] = NEVER_PLAIN,
    [TMS_EVENT_FORK] = NEVER_PLAIN,
    [TMS_EVENT_JOIN] = NEVER_PLAIN,
    [TMS_EVENT_WAIT] = NEVER_PLAIN,
    [TMS_EVENT_ARRIVE] = NEVER_PLAIN,
    [TMS_EVENT_DEPART] = NEVER_PLAIN,
    [TMS_EVENT_ESCAPE] = NEVER_PLAIN,
    [TMS_EVENT_ALLOC] = NEVER_PLAIN,
    [TMS_EVENT_FREE] = NEVER_PLAIN,
    [TMS_EVENT_CALL] = NEVER_PLAIN,
    [TMS_EVENT_RETURN] = NEVER_PLAIN,
    [TMS_EVENT_DEMOTE] = NEVER_PLAIN,
    [TMS_EVENT_CLEAR] = NEVER_PLAIN,
    [TMS_EVENT_RETRY] = NEVER_PLAIN,
    [TMS_EVENT_DELAY] = NEVER_PLAIN,
    [TMS_EVENT_ATOMIC_READ] = NEVER_PLAIN,
    [TMS_EVENT_ATOMIC_WRITE] = NEVER_PLAIN,
    [TMS_EVENT_ATOMIC_UPDATE] = NEVER_PLAIN,
    [TMS_EVENT_FENCE] = NEVER_PLAIN,
    [TMS_EVENT_SEND] = NEVER_PLAIN,
    [TMS_EVENT_RECEIVE] = NEVER_PLAIN,
    [TMS_EVENT_ENTER] = NEVER_PLAIN,
    [TMS_EVENT_EXIT] = NEVER_PLAIN,
};

void tms_validator_init(struct tms_validator *validator, struct tms_context *context)
{
    *validator = (struct tms_validator){.context = context};
}

void tms_validator_clear(struct tms_validator *v)
{
    for (size_t i = 0; i < v->lock_capacity; i++) {
        tms_release(&v->memory, v->locks[i].shared, v->locks[i].capacity, sizeof(struct tms_hold));
    }
    tms_release(&v->memory, v->locks, v->lock_capacity, sizeof(*v->locks));
    tms_release(&v->memory, v->threads, v->thread_capacity, sizeof(*v->threads));
    *v = (struct tms_validator){0};
}

const char *tms_validator_reason(const struct tms_validator *validator)
{
    return validator->reason;
}

__attribute__((format(printf, 2, 3))) static int invalid(struct tms_validator *v,
                                                         const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(v->reason, sizeof(v->reason), format, arguments);
    va_end(arguments);
    return TMS_INVALID;
}

static const char *name(const struct tms_validator *v, enum tms_class cls, uint32_t id)
{
    return tms_name(v->context, cls, id, NULL);
}

int tms_validator_reserve(struct tms_validator *v)
{
    size_t threads = (size_t)tms_name_count(v->context, TMS_CLASS_THREAD) + 1;
    size_t locks = (size_t)tms_name_count(v->context, TMS_CLASS_LOCK) + 1;
    bool room = TMS_RESERVE(&v->memory, &v->threads, &v->thread_capacity, threads, 16) &&
                TMS_RESERVE(&v->memory, &v->locks, &v->lock_capacity, locks, 16);

    return room ? TMS_OK : TMS_ERR_MEMORY;
}

static struct tms_hold *hold_of(const struct tms_valid_lock *lock, uint32_t thread)
{
    for (size_t i = 0; i < lock->sharing; i++) {
        if (lock->shared[i].thread == thread) {
            return &lock->shared[i];
        }
    }
    return NULL;
}

/* ---- locks ------------------------------------------------------------------------------ */

static uint32_t holder_of(const struct tms_valid_lock *lock)
{
    return lock->hold == TMS_LOCK_SHARED ? 0 : (uint32_t)lock->hold;
}

static int acquire(struct tms_validator *v, const struct tms_event *event)
{
    struct tms_valid_lock *lock = &v->locks[event->target];

    if (holder_of(lock) == event->thread) {
        lock->hold += TMS_LOCK_AGAIN;
        return TMS_VALID_INNER;
    }
    if (hold_of(lock, event->thread) != NULL) {
        return invalid(
            v, "%s acquires lock %s, of which it has a shared hold: a lock can't be upgraded",
            name(v, TMS_CLASS_THREAD, event->thread), name(v, TMS_CLASS_LOCK, event->target));
    }
    if (lock->hold != 0) {
        bool shared = lock->hold == TMS_LOCK_SHARED;
        return invalid(v, "%s acquires lock %s while %s still %s it",
                       name(v, TMS_CLASS_THREAD, event->thread),
                       name(v, TMS_CLASS_LOCK, event->target),
                       name(v, TMS_CLASS_THREAD, shared ? lock->shared[0].thread : holder_of(lock)),
                       shared ? "has a shared hold of" : "holds");
    }
    lock->hold = event->thread;
    return TMS_VALID;
}

static int release(struct tms_validator *v, const struct tms_event *event)
{
    struct tms_valid_lock *lock = &v->locks[event->target];

    if (holder_of(lock) != event->thread) {
        bool shared = hold_of(lock, event->thread) != NULL;
        return invalid(v, "%s releases lock %s, %s", name(v, TMS_CLASS_THREAD, event->thread),
                       name(v, TMS_CLASS_LOCK, event->target),
                       shared ? "of which it has a shared hold: that ends with rrel"
                              : "which it does not hold");
    }
    if (lock->hold != event->thread) {
        lock->hold -= TMS_LOCK_AGAIN;
        return TMS_VALID_INNER;
    }
    lock->hold = 0;
    return TMS_VALID;
}

static int add_hold(struct tms_validator *v, struct tms_valid_lock *lock, uint32_t thread)
{
    if (!TMS_RESERVE(&v->memory, &lock->shared, &lock->capacity, lock->sharing + 1, 4)) {
        return TMS_ERR_MEMORY;
    }
    lock->shared[lock->sharing++] = (struct tms_hold){thread, 1};
    lock->hold = TMS_LOCK_SHARED;
    return TMS_VALID;
}

static int acquire_shared(struct tms_validator *v, const struct tms_event *event)
{
    struct tms_valid_lock *lock = &v->locks[event->target];

    if (holder_of(lock) != 0) {
        return invalid(
            v, "%s takes a shared hold of lock %s while %s holds it exclusively",
            name(v, TMS_CLASS_THREAD, event->thread), name(v, TMS_CLASS_LOCK, event->target),
            holder_of(lock) == event->thread ? "it" : name(v, TMS_CLASS_THREAD, holder_of(lock)));
    }
    struct tms_hold *hold = hold_of(lock, event->thread);
    if (hold != NULL) {
        hold->depth++;
        return TMS_VALID_INNER;
    }
    return add_hold(v, lock, event->thread);
}

static int release_shared(struct tms_validator *v, const struct tms_event *event)
{
    struct tms_valid_lock *lock = &v->locks[event->target];
    struct tms_hold *hold = hold_of(lock, event->thread);

    if (hold == NULL) {
        return invalid(
            v, "%s gives up a shared hold of lock %s, %s", name(v, TMS_CLASS_THREAD, event->thread),
            name(v, TMS_CLASS_LOCK, event->target),
            holder_of(lock) == event->thread ? "which it holds exclusively: that ends with rel"
                                             : "of which it has none");
    }
    if (--hold->depth > 0) {
        return TMS_VALID_INNER;
    }
    *hold = lock->shared[--lock->sharing];
    lock->hold = lock->sharing > 0 ? TMS_LOCK_SHARED : 0;
    return TMS_VALID;
}

/* ---- threads ---------------------------------------------------------------------------- */

static int fork_thread(struct tms_validator *v, const struct tms_event *event)
{
    struct tms_valid_thread *child = &v->threads[event->target];

    const char *why = event->target == event->thread ? "which is itself"
                      : child->joined                ? "which was joined before"
                      : child->forked                ? "which was forked before"
                      : child->seen || child->fenced ? "which already has events"
                                                     : NULL;
    if (why != NULL) {
        return invalid(v, "%s forks %s, %s", name(v, TMS_CLASS_THREAD, event->thread),
                       name(v, TMS_CLASS_THREAD, event->target), why);
    }
    child->forked = true;
    return TMS_VALID;
}

static int join_thread(struct tms_validator *v, const struct tms_event *event)
{
    struct tms_valid_thread *child = &v->threads[event->target];

    if (event->target == event->thread || child->joined) {
        return invalid(v, "%s joins %s, %s", name(v, TMS_CLASS_THREAD, event->thread),
                       name(v, TMS_CLASS_THREAD, event->target),
                       child->joined ? "which was joined before" : "which is itself");
    }
    child->joined = true;
    return TMS_VALID;
}

/* ---- blocks ----------------------------------------------------------------------------- */

static int open_block(struct tms_validator *v, const struct tms_event *event)
{
    v->threads[event->thread].open[TMS_OPEN_BLOCKS]++;
    return TMS_VALID;
}

static int close_block(struct tms_validator *v, const struct tms_event *event)
{
    if (v->threads[event->thread].open[TMS_OPEN_BLOCKS] == 0) {
        return invalid(v, "%s ends a block but none is open: there is an end without begin",
                       name(v, TMS_CLASS_THREAD, event->thread));
    }
    v->threads[event->thread].open[TMS_OPEN_BLOCKS]--;
    return TMS_VALID;
}

static int open_function(struct tms_validator *v, const struct tms_event *event)
{
    v->threads[event->thread].open[TMS_OPEN_FUNCTIONS]++;
    return TMS_VALID;
}

static int close_function(struct tms_validator *v, const struct tms_event *event)
{
    if (v->threads[event->thread].open[TMS_OPEN_FUNCTIONS] == 0) {
        return invalid(v, "%s leaves %s but is in no function: there is an exit without enter",
                       name(v, TMS_CLASS_THREAD, event->thread),
                       name(v, TMS_CLASS_LABEL, event->target));
    }
    v->threads[event->thread].open[TMS_OPEN_FUNCTIONS]--;
    return TMS_VALID;
}

static int open_call(struct tms_validator *v, const struct tms_event *event)
{
    v->threads[event->thread].open[TMS_OPEN_CALLS]++;
    return TMS_VALID;
}

static int close_call(struct tms_validator *v, const struct tms_event *event)
{
    if (v->threads[event->thread].open[TMS_OPEN_CALLS] == 0) {
        return invalid(v, "%s returns from %s but was not called: there is a return without call",
                       name(v, TMS_CLASS_THREAD, event->thread),
                       name(v, TMS_CLASS_LABEL, event->target));
    }
    v->threads[event->thread].open[TMS_OPEN_CALLS]--;
    return TMS_VALID;
}

static int demote_block(struct tms_validator *v, const struct tms_event *event)
{
    int validity = close_block(v, event);

    if (validity == TMS_VALID) {
        open_call(v, event);
    }
    return validity;
}

/* ---- fences and channels ---------------------------------------------------------------- */

/* Most engines ignore it; to the others it is an event. */
static int fence(struct tms_validator *v, const struct tms_event *event)
{
    v->threads[event->thread].fenced = true;
    return TMS_VALID;
}

typedef int rule(struct tms_validator *v, const struct tms_event *event);

static rule *const rules[TMS_EVENT_COUNT] = {
    [TMS_EVENT_BEGIN] = open_block,
    [TMS_EVENT_END] = close_block,
    [TMS_EVENT_ACQUIRE] = acquire,
    [TMS_EVENT_RELEASE] = release,
    [TMS_EVENT_SHARED_ACQUIRE] = acquire_shared,
    [TMS_EVENT_SHARED_RELEASE] = release_shared,
    [TMS_EVENT_FORK] = fork_thread,
    [TMS_EVENT_JOIN] = join_thread,
    [TMS_EVENT_CALL] = open_call,
    [TMS_EVENT_RETURN] = close_call,
    [TMS_EVENT_DEMOTE] = demote_block,
    [TMS_EVENT_FENCE] = fence,
    [TMS_EVENT_SEND] = fence,
    [TMS_EVENT_RECEIVE] = fence,
    [TMS_EVENT_ENTER] = open_function,
    [TMS_EVENT_EXIT] = close_function,
};

int tms_validate(struct tms_validator *v, const struct tms_event *event)
{
    struct tms_valid_thread *thread = &v->threads[event->thread];

    if (thread->joined) {
        return invalid(v, "%s does something after it was joined",
                       name(v, TMS_CLASS_THREAD, event->thread));
    }
    bool first = !thread->seen;
    int validity = rules[event->kind] != NULL ? rules[event->kind](v, event) : TMS_VALID;
    if (validity == TMS_INVALID || tms_is_unchecked(event->kind)) {
        return validity;
    }
    v->threads[event->thread].seen = true;
    return validity == TMS_VALID && first ? TMS_VALID_FIRST : validity;
}
