/* SPDX-License-Identifier: Apache-2.0 */
/* Taking locks and giving them back: the updates of figure 6; see sidetrack.c. */
#include <assert.h>
#include <string.h>

#include "engines/sidetrack.h"

#define STRIDE 4 /* clocks grow by doubling, from as many components */

/* Many operations are on locks, and most of these are exclusive: so it is all written into one. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* ---- order ------------------------------------------------------------------------------ */

/* Clocks have spare capacity: only slots in use are looked at. The rest is zero. */
static inline size_t width_of(const struct tms_sidetrack *s, const struct tms_vector *clock)
{
    return clock->capacity < s->slot_count ? clock->capacity : s->slot_count;
}

/* C := C ⊔ clock */
ALWAYS_INLINE void learn(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                         const struct tms_vector *clock)
{
    size_t width = width_of(s, clock);

    if (!TMS_RESERVE(s->memory, &t->clock.at, &t->clock.capacity, width, STRIDE)) {
        sidetrack_out_of_memory(s);
        return;
    }
    uint64_t *restrict mine = t->clock.at;
    const uint64_t *restrict theirs = clock->at;
    for (size_t i = 0; i < width; i += STRIDE) {
        for (size_t j = i; j < i + STRIDE; j++) {
            mine[j] = theirs[j] > mine[j] ? theirs[j] : mine[j];
        }
    }
    t->age = ++s->age;
}

void tms_sidetrack_learn(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                         const struct tms_vector *clock)
{
    learn(s, t, clock);
}

/* A larger clock for a lock, all zero. What it had goes back with the lock. */
static bool renew_clock(struct tms_sidetrack *s, struct tms_vector *clock, size_t wanted)
{
    size_t capacity = tms_capacity(clock->capacity, wanted, TMS_LINE / sizeof(*clock->at));
    uint64_t *at = tms_arena_take_line(&s->arena, s->memory, capacity * sizeof(*at));

    if (at != NULL) {
        *clock = (struct tms_vector){at, capacity};
    }
    return at != NULL;
}

static inline bool copy_clock(struct tms_sidetrack *s, struct tms_vector *into,
                              const struct tms_vector *from)
{
    size_t width = width_of(s, from);

    if (into->capacity < from->capacity && !renew_clock(s, into, from->capacity)) {
        return false;
    }
    assert(from->capacity % STRIDE == 0 && into->capacity % STRIDE == 0);
    uint64_t *restrict to = into->at;
    const uint64_t *restrict of = from->at;
    for (size_t i = 0; i < width; i += STRIDE) {
        memcpy(&to[i], &of[i], STRIDE * sizeof(*to));
    }
    for (size_t i = width; i < into->capacity && i < s->slot_count; i++) {
        to[i] = 0;
    }
    return true;
}

/* C := C ⊔ R */
ALWAYS_INLINE void learn_lock(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                              struct tms_sidetrack_lock *lock, int kind)
{
    if (lock->released_at > tms_vector_get(&t->clock, lock->releaser)) {
        learn(s, t, &lock->released);
    }
    if (kind == EXCLUSIVE && lock->shared_since) {
        tms_sidetrack_learn(s, t, &lock->released_shared);
        lock->shared_since = false;
    }
}

/* R := C, and a tick. If the thread has learnt nothing since its last time, R is right but for one
 * component. */
ALWAYS_INLINE void teach_lock(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                              struct tms_sidetrack_lock *lock, int kind)
{
    uint64_t *own = &t->clock.at[t->slot];
    bool room = true;

    if (kind == SHARED) {
        room = tms_vector_join(s->memory, &lock->released_shared, &t->clock);
        lock->shared_since = true;
    } else if (lock->released_age == t->age) {
        lock->released.at[t->slot] = *own;
        lock->released_at = *own;
    } else {
        room = copy_clock(s, &lock->released, &t->clock);
        lock->releaser = t->slot;
        lock->released_at = *own;
        lock->released_age = t->age;
    }
    if (!room) {
        sidetrack_out_of_memory(s);
    }
    ++*own;
}

/* The thread may have to wait here: its locks are held that long, their sections are no plain ones.
 */
void tms_sidetrack_wait(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                        const struct tms_op *op, uint8_t section)
{
    if (t->held_count == 0) {
        return;
    }
    for (size_t i = t->held_count; i > 0 && !t->held[i - 1].inner; i--) {
        t->held[i - 1].inner = true;
        if (t->held[i - 1].lock != NULL) {
            t->held[i - 1].lock->inner = true;
        }
    }
    uint64_t newest = t->held[t->held_count - 1].event;
    t->cramped = newest > t->cramped ? newest : t->cramped;
    if (section == SECTION_NESTED) {
        t->nested = op->event;
    } else if (section == SECTION_WAITS) {
        t->stuck = op->event;
        s->waits_held = true;
    }
}

/* ---- taking and giving back --------------------------------------------------------------- */

/*
 * The acquire is the first of its form in the block. Is there an earlier one that could come after
 * it?
 */
ALWAYS_INLINE void start_form(const struct tms_sidetrack_taking *taking,
                              struct tms_sidetrack_taken *taken, int form)
{
    taken->since[form] = taking->op->event;
    taken->before[form] = 0;
    if (form == SHARED || taking->lock->shared) {
        const struct tms_sidetrack_acquire *culprit = sidetrack_last(taking->lock, !form);
        bool fixed = culprit->fixed | sidetrack_knows(taking->t, culprit);
        taken->before[form] = culprit->place.event * !fixed; /* no branch: who could guess it? */
    }
}

ALWAYS_INLINE void follow_form(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking,
                               struct tms_sidetrack_taken *taken, int form)
{
    if (taken->last[form].event == 0) {
        start_form(taking, taken, form);
    } else {
        tms_sidetrack_close(s, taking, taken, form);
    }
    taken->last[form] = sidetrack_place(taking->op);
}

/* The consequences of an acquire in a block, and the windows that it makes with earlier ones. */
ALWAYS_INLINE void follow(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking)
{
    struct tms_sidetrack_taken *taken =
        sidetrack_taken(s, taking->t, sidetrack_key(taking->op, taking->on_class));

    if (taken == NULL) {
        return;
    }
    follow_form(s, taking, taken, SHARED);
    if (taking->kind == EXCLUSIVE) {
        follow_form(s, taking, taken, EXCLUSIVE);
    }
}

/* [OUTSIDE ACQUIRE], [FIRST ACQUIRE] and [SECOND ACQUIRE], but for what the acquire could cut. */
ALWAYS_INLINE void finish_taking(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking)
{
    struct tms_sidetrack_thread *t = taking->t;
    struct tms_sidetrack_lock *lock = taking->lock;
    int kind = taking->kind;

    s->acquires++;
    if (taking->op->flags & TMS_OP_IN_BLOCK) {
        follow(s, taking);
    }
    lock->newest[kind] ^= 1;
    sidetrack_write_acquire(t, taking->op, sidetrack_last(lock, kind));
    learn_lock(s, t, lock, kind);
}

/* Two sections of different locks in a block are a window as well. */
ALWAYS_INLINE void follow_pairs(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking)
{
    struct tms_sidetrack_thread *t = taking->t;

    if ((taking->op->flags & TMS_OP_IN_BLOCK) != 0 && t->completed == t->block) {
        tms_sidetrack_set_pair(s, taking);
    }
    sidetrack_remember(t, sidetrack_last(taking->lock, taking->kind), taking->op->target);
}

/* The signal that woke the thread may be due to anything that was done under the lock since. */
static void wake(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking)
{
    learn_lock(s, taking->t, taking->lock, taking->kind);
    taking->t->woken = false;
}

ALWAYS_INLINE void take(struct tms_sidetrack *s, const struct tms_op *op, int kind)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);
    struct tms_sidetrack_lock *lock = sidetrack_lock(s, op->target);

    if (t == NULL || lock == NULL) {
        return;
    }
    struct tms_sidetrack_taking taking = {
        .t = t, .lock = lock, .op = op, .kind = kind, .on_class = TMS_CLASS_LOCK};
    if (t->held_count != 0) {
        tms_sidetrack_wait(s, t, op, lock->inner ? SECTION_NESTED : 0);
    }
    if (t->woken) {
        wake(s, &taking);
    }
    lock->shared = lock->shared || kind == SHARED;
    uint32_t cut = sidetrack_cuts(&taking) ? tms_sidetrack_put_off(s, &taking) : 0;
    uint32_t pair = lock->paired ? tms_sidetrack_put_pair_off(s, &taking) : 0;
    finish_taking(s, &taking);
    if (s->predict & TMS_PREDICT_PAIR) {
        follow_pairs(s, &taking);
    }
    if (!TMS_RESERVE(s->memory, &t->held, &t->held_capacity, t->held_count + 1, 4)) {
        sidetrack_out_of_memory(s);
        return;
    }
    t->held[t->held_count++] = (struct tms_sidetrack_hold){.lock = lock,
                                                           .event = op->event,
                                                           .id = op->target,
                                                           .cut = cut,
                                                           .pair = pair,
                                                           .kind = (uint8_t)kind};
}

/* Did the section that ends here begin in the same block? */
static inline bool is_within_block(const struct tms_sidetrack_thread *t,
                                   const struct tms_sidetrack_hold *hold, const struct tms_op *op)
{
    return (op->flags & TMS_OP_IN_BLOCK) != 0 && hold->event > t->name.begin_event;
}

/* How the section went, for before-errors in which its thread is the culprit, or the block's. */
static void note_section(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                         const struct tms_sidetrack_hold *hold, const struct tms_op *op,
                         uint8_t section)
{
    struct tms_sidetrack_acquire *last = sidetrack_last(hold->lock, hold->kind);

    assert(section != 0 && hold->lock != NULL);
    if (last->place.event == hold->event) {
        last->section = section;
    }
    if (is_within_block(t, hold, op)) {
        struct tms_sidetrack_taken *taken =
            sidetrack_taken(s, t, sidetrack_key(op, TMS_CLASS_LOCK));
        if (taken != NULL) {
            taken->section |= section;
        }
    }
}

static void bind_window(const struct tms_sidetrack_thread *t, struct tms_sidetrack_window *window)
{
    if (window->second.place.kind == TMS_EVENT_SHARED_ACQUIRE &&
        window->second.in.thread != t->id && sidetrack_knows(t, &window->second)) {
        sidetrack_spend(window);
    }
}

/*
 * A shared section that others overlap. What is known here must come before the lock is free: so no
 * culprit comes before an acquire that this thread knows of, and a shared acquire that it knows of
 * is not put off.
 */
static void bind_shared(const struct tms_sidetrack_thread *t, struct tms_sidetrack_lock *lock)
{
    struct tms_sidetrack_acquire *last = sidetrack_last(lock, SHARED);

    bind_window(t, &lock->window[SHARED]);
    if (lock->paired) {
        bind_window(t, &lock->pair->window);
    }
    if (last->in.thread != t->id && sidetrack_knows(t, last)) {
        last->fixed = true;
    }
}

ALWAYS_INLINE void give_back(struct tms_sidetrack *s, const struct tms_op *op, int kind)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);
    struct tms_sidetrack_lock *lock = sidetrack_lock(s, op->target);

    if (t == NULL || lock == NULL) {
        return;
    }
    struct tms_sidetrack_hold *hold = sidetrack_find_hold(t, lock);
    assert(hold != NULL);
    uint8_t section = sidetrack_section(t, hold);
    if (section != 0) {
        note_section(s, t, hold, op, section);
    }
    if (hold->cut != 0 || hold->pair != 0) {
        tms_sidetrack_settle(s, t, hold);
    }
    t->completed = is_within_block(t, hold, op) ? t->block : t->completed;
    sidetrack_unhold(t, hold);
    if (kind == SHARED) {
        bind_shared(t, lock);
    }
    teach_lock(s, t, lock, kind);
}

void tms_sidetrack_acquire(struct tms_sidetrack *s, const struct tms_op *op)
{
    take(s, op, EXCLUSIVE);
}

void tms_sidetrack_acquire_shared(struct tms_sidetrack *s, const struct tms_op *op)
{
    take(s, op, SHARED);
}

void tms_sidetrack_release(struct tms_sidetrack *s, const struct tms_op *op)
{
    give_back(s, op, EXCLUSIVE);
}

void tms_sidetrack_release_shared(struct tms_sidetrack *s, const struct tms_op *op)
{
    give_back(s, op, SHARED);
}

/* ---- atomics ------------------------------------------------------------------------------ */

static inline struct tms_sidetrack_lock *atomic_of(struct tms_sidetrack *s, uint32_t variable)
{
    if (__builtin_expect(variable < s->atomic_capacity && s->atomics[variable] != NULL, 1)) {
        return s->atomics[variable];
    }
    return tms_sidetrack_new_lock(s, &s->atomics, &s->atomic_capacity, variable);
}

static void set_source(struct tms_sidetrack_source *source, const struct tms_sidetrack_thread *t,
                       const struct tms_op *op)
{
    assert(source->event < op->event && source->other <= source->event);
    source->other = source->thread == t->id ? source->other : source->event;
    source->event = op->event;
    source->thread = t->id;
}

/*
 * The thread goes on with a value. Stores of others count even if it has stored since: in another
 * schedule they may come between.
 */
static void note_source(struct tms_sidetrack_thread *t, const struct tms_sidetrack_source *source)
{
    uint64_t foreign = source->thread == t->id ? source->other : source->event;

    assert(source->thread != t->id || source->other <= source->event);
    t->sourced = foreign > t->sourced ? foreign : t->sourced;
}

/* Recordings of programs name semaphores like this. */
#define SEMAPHORE_PREFIX "semaphore:"

static bool is_semaphore(const struct tms_sidetrack *s, struct tms_sidetrack_lock *atomic,
                         uint32_t variable)
{
    if (atomic->semaphore == SEMAPHORE_UNKNOWN) {
        struct tms_names *names = &s->host->context->names[TMS_CLASS_VARIABLE];
        const char *name = tms_names_text_concurrent(names, variable);
        bool yes = strncmp(name, SEMAPHORE_PREFIX, strlen(SEMAPHORE_PREFIX)) == 0;
        atomic->semaphore = yes ? SEMAPHORE_YES : SEMAPHORE_NO;
    }
    return atomic->semaphore == SEMAPHORE_YES;
}

/*
 * A read-modify-write: a section that ends where it begins. An operation of a semaphore orders as
 * one, but is no window: a wait can't be put before the post that it waited for. It may wait for
 * more than a lock.
 */
void tms_sidetrack_update(struct tms_sidetrack *s, const struct tms_op *op)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);
    struct tms_sidetrack_lock *atomic = atomic_of(s, op->target);

    if (t == NULL || atomic == NULL) {
        return;
    }
    struct tms_sidetrack_taking taking = {
        .t = t, .lock = atomic, .op = op, .kind = EXCLUSIVE, .on_class = TMS_CLASS_VARIABLE};
    if (is_semaphore(s, atomic, op->target)) {
        tms_sidetrack_wait(s, t, op, SECTION_WAITS);
        learn_lock(s, t, atomic, EXCLUSIVE);
        teach_lock(s, t, atomic, EXCLUSIVE);
        return;
    }
    tms_sidetrack_wait(s, t, op, SECTION_NESTED);
    note_source(t, &atomic->stored);
    if (sidetrack_cuts(&taking)) {
        tms_sidetrack_cut_updates(s, &taking);
    }
    finish_taking(s, &taking);
    teach_lock(s, t, atomic, EXCLUSIVE);
    set_source(&atomic->written, t, op);
}

/*
 * The load stays after the store, or update, that it has its value from: with another value the
 * thread could go another way. That holds for every order, relaxed too. If that is the first it
 * hears of what the other thread did, it may have waited for it.
 */
void tms_sidetrack_load(struct tms_sidetrack *s, const struct tms_op *op)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);
    struct tms_sidetrack_lock *atomic = atomic_of(s, op->target);

    if (t == NULL || atomic == NULL) {
        return;
    }
    if (atomic->released_at > tms_vector_get(&t->clock, atomic->releaser)) {
        tms_sidetrack_wait(s, t, op, SECTION_NESTED);
        tms_sidetrack_learn(s, t, &atomic->released);
    }
    note_source(t, &atomic->written);
}

/* Updates before it and after it do not change places: they would read another value. */
void tms_sidetrack_store(struct tms_sidetrack *s, const struct tms_op *op)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);
    struct tms_sidetrack_lock *atomic = atomic_of(s, op->target);

    if (t == NULL || atomic == NULL) {
        return;
    }
    teach_lock(s, t, atomic, EXCLUSIVE);
    for (int kind = 0; kind < KINDS; kind++) {
        sidetrack_spend(&atomic->window[kind]);
        sidetrack_last(atomic, kind)->fixed = true;
    }
    set_source(&atomic->stored, t, op);
    set_source(&atomic->written, t, op);
}
