/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of two acquires, and the acquires that could interleave with them; see lock_windows.h. */
#include <assert.h>
#include <string.h>

#include "predict/lock_pairs.h"
#include "predict/lock_windows_take.h"

#define LEAST_TAKEN 8u
#define LEAST_HELD  8u

/* The acquire that the rules are being applied to. */
struct taking {
    struct tms_predictor *p;
    struct tms_predict_thread *t;
    struct tms_predict_lock *lock;
    const struct tms_predict_op *op;
};

static void fail(const struct tms_predictor *p)
{
    p->port.fail(p->port.user);
}

static struct tms_predict_acquire *last_of(struct tms_predict_lock *lock, int kind)
{
    return &lock->last[kind][lock->newest[kind]];
}

static bool is_spent(const struct tms_predict_window *window)
{
    return window->second.slot == 0;
}

static void spend(struct tms_predict_window *window)
{
    window->second.slot = 0;
    window->second.thread = 0; /* no block belongs to this window */
}

/* ---- R ---------------------------------------------------------------------------------- */

/* C := C ⊔ R */
static void learn(const struct taking *taking)
{
    struct tms_predict_thread *t = taking->t;
    struct tms_predict_lock *lock = taking->lock;
    bool room = true;

    if (!tms_order_knows(&t->order, lock->releaser, lock->released_at)) {
        room = tms_order_learn_clock(&t->order, &lock->released);
    }
    if (taking->op->kind == TMS_TAKE_EXCLUSIVE && lock->shared_since) {
        room = room && tms_order_learn_clock(&t->order, &lock->released_shared);
        lock->shared_since = false;
    }
    if (!room) {
        fail(taking->p);
    }
}

/* R := C. If the thread has learnt nothing since it last set R, only one component changes. */
static bool teach(struct tms_predict_thread *t, struct tms_predict_lock *lock, uint64_t number)
{
    const struct tms_thread_order *order = &t->order;

    if (lock->released_age != order->age) {
        if (!tms_vector_copy(&lock->memory, &lock->released, &order->clock)) {
            return false;
        }
        lock->releaser = order->slot;
        lock->released_age = order->age;
    }
    lock->released.at[order->slot] = number;
    lock->released_at = number;
    return true;
}

static bool teach_shared(struct tms_predict_thread *t, struct tms_predict_lock *lock,
                         uint64_t number)
{
    lock->shared_since = true;
    return tms_vector_join(&lock->memory, &lock->released_shared, &t->order.clock) &&
           tms_vector_set(&lock->memory, &lock->released_shared, t->order.slot, number);
}

/* A spin lock among shared holders; an exclusive holder needs none. */
static void enter(struct tms_predict_lock *lock, int kind)
{
    while (kind == TMS_TAKE_SHARED &&
           atomic_exchange_explicit(&lock->busy, true, memory_order_acquire)) {
        __builtin_ia32_pause();
    }
}

static void leave(struct tms_predict_lock *lock, int kind)
{
    if (kind == TMS_TAKE_SHARED) {
        atomic_store_explicit(&lock->busy, false, memory_order_release);
    }
}

/* ---- waiting with locks ------------------------------------------------------------------- */

/* The thread may wait: marks the locks that it holds meanwhile, and their sections. */
static void wait_held(struct tms_predictor *p, struct tms_predict_thread *t, uint64_t number,
                      uint8_t section)
{
    for (size_t i = t->held_count; i > 0 && !t->held[i - 1].inner; i--) {
        t->held[i - 1].inner = true;
        atomic_store_explicit(&t->held[i - 1].lock->inner, true, memory_order_relaxed);
    }
    uint64_t newest = t->held[t->held_count - 1].acquire.place.number;
    t->cramped = newest > t->cramped ? newest : t->cramped;
    if (section == TMS_SECTION_NESTED) {
        t->nested = number;
    } else if (section == TMS_SECTION_WAITS) {
        t->stuck = number;
        atomic_store_explicit(&p->waits_held, true, memory_order_relaxed);
    }
}

void tms_predict_wait(struct tms_predictor *p, struct tms_predict_thread *t, uint64_t number,
                      bool condition)
{
    if (t->held_count > 0) {
        wait_held(p, t, number, TMS_SECTION_WAITS);
    }
    t->woken = t->woken || condition;
}

static uint8_t section_of(const struct tms_predict_thread *t, const struct tms_predict_hold *hold)
{
    uint64_t since = hold->acquire.place.number;

    return (uint8_t)((t->nested > since ? TMS_SECTION_NESTED : 0) |
                     (t->stuck > since ? TMS_SECTION_WAITS : 0));
}

/* ---- predictions -------------------------------------------------------------------------- */

static void report_here(const struct taking *taking, enum tms_predict_error error,
                        const struct tms_predict_place *first,
                        const struct tms_predict_acquire *culprit, bool rough)
{
    struct tms_predict_block *blocks = taking->t->scratch;
    const struct tms_predict_port *port = &taking->p->port;
    const struct tms_predict_place second = tms_predict_place_of(taking->op);
    struct tms_prediction prediction = {
        .error = error,
        .rough = rough,
        .lock = taking->lock,
        .first = first,
        .second = &second,
        .culprit = &culprit->place,
        .thread = taking->t->order.thread,
        .block = taking->op->block,
        .blocks = blocks,
        .culprit_in = culprit,
        .shows = taking->t->order.thread,
    };

    prediction.block_count = port->blocks(taking->t->user, first->number, blocks);
    taking->t->reports++;
    port->predict(port->user, &prediction);
}

static bool is_pair(const struct tms_predict_cut *cut)
{
    return cut->through.place.number != 0;
}

static void report_cut(const struct tms_predictor *p, struct tms_predict_thread *t,
                       const struct tms_predict_lock *lock, const struct tms_predict_cut *cut)
{
    const struct tms_predict_window *window = &cut->window;
    struct tms_prediction prediction = {
        .error = TMS_ERROR_AFTER,
        .rough = (cut->culprit.section & TMS_SECTION_NESTED) != 0,
        .lock = lock,
        .first = &window->first,
        .second = &window->second.place,
        .culprit = &cut->culprit.place,
        .thread = window->second.thread,
        .block = window->second.block,
        .blocks = window->blocks,
        .block_count = window->block_count,
        .culprit_in = &cut->culprit,
        .shows = t->order.thread,
    };

    if (is_pair(cut)) {
        prediction.error = TMS_ERROR_PAIR;
        prediction.first = &cut->first.place;
        prediction.first_in = &cut->first;
        prediction.through = &cut->through;
        prediction.block_count = tms_predict_blocks_since(window, cut->first.place.number);
    }
    t->reports++;
    p->port.predict(p->port.user, &prediction);
}

/* ---- H and I ------------------------------------------------------------------------------ */

/* The entry of the lock, or a free one for it; the table is never full. */
static struct tms_predict_taken *find_taken(struct tms_predict_taken *table, size_t size,
                                            uint64_t block, const struct tms_predict_lock *lock)
{
    size_t at = tms_predict_taken_at(lock, size);

    while (table[at & (size - 1)].block == block && table[at & (size - 1)].lock != lock) {
        at++;
    }
    return &table[at & (size - 1)];
}

static bool grow_taken(struct tms_predict_thread *t)
{
    size_t size = t->taken_size == 0 ? LEAST_TAKEN : 2 * t->taken_size;
    struct tms_predict_taken *table = tms_resize(&t->memory, NULL, 0, size, sizeof(*table));

    if (table == NULL) {
        return false;
    }
    for (size_t i = 0; i < t->taken_size; i++) {
        if (t->taken[i].block == t->block) {
            *find_taken(table, size, t->block, t->taken[i].lock) = t->taken[i];
        }
    }
    tms_release(&t->memory, t->taken, t->taken_size, sizeof(*table));
    t->taken = table;
    t->taken_size = size;
    return true;
}

/* The entry of a lock in the transaction, initially not taken. NULL: too many. */
static struct tms_predict_taken *taken_of(const struct tms_predictor *p,
                                          struct tms_predict_thread *t,
                                          const struct tms_predict_lock *lock, uint64_t block)
{
    if (t->block != block) {
        t->block = block;
        t->taken_count = 0;
    }
    if (2 * (t->taken_count + 1) > t->taken_size && t->taken_size < 2u * p->taken_most &&
        !grow_taken(t)) {
        fail(p);
        return NULL;
    }
    struct tms_predict_taken *taken = find_taken(t->taken, t->taken_size, block, lock);
    if (taken->block == block) {
        return taken;
    }
    if (t->taken_count >= p->taken_most) {
        return NULL;
    }
    *taken = (struct tms_predict_taken){.block = block, .lock = lock};
    t->taken_count++;
    return taken;
}

/*
 * The acquire is the first of its kind in the transaction. Is there an earlier acquire that could
 * come after it?
 */
static void start_form(const struct taking *taking, struct tms_predict_taken *taken, int form)
{
    taken->since[form] = taking->op->number;
    taken->before[form] = 0;
    if (form == TMS_TAKE_SHARED || taking->lock->shared) {
        const struct tms_predict_acquire *culprit = last_of(taking->lock, !form);
        if (culprit->slot != 0 && !culprit->fixed && !tms_predict_knows(taking->t, culprit)) {
            taken->before[form] = culprit->place.number;
        }
    }
}

/* The acquire with that number, if it is still remembered. */
static const struct tms_predict_acquire *find_acquire(const struct tms_predict_lock *lock, int kind,
                                                      uint64_t number)
{
    for (int i = 0; i < 2; i++) {
        if (lock->last[kind][i].place.number == number) {
            return &lock->last[kind][i];
        }
    }
    return NULL;
}

/* The culprit came before the block's first acquire, and could come after it. */
static void check_before(const struct taking *taking, struct tms_predict_taken *taken, int form)
{
    struct tms_predict_thread *t = taking->t;
    const struct tms_predict_acquire *culprit =
        find_acquire(taking->lock, !form, taken->before[form]);

    taken->before[form] = 0;
    if (culprit == NULL) {
        return;
    }
    uint64_t since = taken->since[form];
    bool rough =
        ((taken->section | culprit->section) & TMS_SECTION_NESTED) != 0 || t->cramped > since;
    bool waits = t->stuck > since || (culprit->section & TMS_SECTION_WAITS) != 0;
    if (waits || (rough && atomic_load_explicit(&taking->p->waits_held, memory_order_relaxed))) {
        t->dropped++;
    } else {
        report_here(taking, TMS_ERROR_BEFORE, &taken->last[form], culprit, rough);
    }
}

/* Are all open blocks those of the previous window, and all open since the first acquire? */
static bool has_blocks(const struct taking *taking, const struct tms_predict_window *window,
                       const struct tms_predict_place *first)
{
    const struct tms_predict_op *op = taking->op;

    return window->second.thread == taking->t->order.thread &&
           window->second.block.begin == op->block.begin && window->innermost == op->innermost &&
           window->depth == op->depth && window->first.number > op->innermost &&
           first->number > op->innermost;
}

static void set_window(const struct taking *taking, const struct tms_predict_place *first,
                       struct tms_predict_window *window)
{
    bool same = has_blocks(taking, window, first);

    taking->t->windows++;
    window->first = *first;
    tms_predict_write_acquire(taking->t, taking->op, &window->second);
    if (!same) {
        window->innermost = taking->op->innermost;
        window->depth = taking->op->depth;
        window->block_count =
            window->depth > 1
                ? taking->p->port.blocks(taking->t->user, first->number, window->blocks)
                : 0;
    }
}

/* The acquire follows one of its kind in the same transaction: it closes a window. */
static void close_form(const struct taking *taking, struct tms_predict_taken *taken, int form)
{
    const struct tms_predict_acquire *culprit = last_of(taking->lock, !form);
    const struct tms_predict_place *first = &taken->last[form];

    if (culprit->place.number > first->number && culprit->thread != taking->t->order.thread) {
        report_here(taking, TMS_ERROR_IN, first, culprit, false);
    }
    if (taken->before[form] != 0) {
        check_before(taking, taken, form);
    }
    set_window(taking, first, &taking->lock->window[form]);
}

static void follow_form(const struct taking *taking, struct tms_predict_taken *taken, int form)
{
    if (taken->last[form].number == 0) {
        start_form(taking, taken, form);
    } else {
        close_form(taking, taken, form);
    }
    taken->last[form] = tms_predict_place_of(taking->op);
}

static void follow(const struct taking *taking)
{
    struct tms_predict_taken *taken =
        taken_of(taking->p, taking->t, taking->lock, taking->op->block.begin);

    if (taken == NULL) {
        return;
    }
    follow_form(taking, taken, TMS_TAKE_SHARED);
    if (taking->op->kind == TMS_TAKE_EXCLUSIVE) {
        follow_form(taking, taken, TMS_TAKE_EXCLUSIVE);
    }
}

/* ---- cuts --------------------------------------------------------------------------------- */

static bool cuts(const struct taking *taking)
{
    const struct tms_predict_window *window = &taking->lock->window[!taking->op->kind];

    return !is_spent(window) && !tms_predict_knows(taking->t, &window->second);
}

/* 1 + the index of an unused one; 0: there is none. */
static uint32_t take_cut(const struct taking *taking)
{
    struct tms_predict_thread *t = taking->t;

    if (t->cuts == NULL) {
        t->cuts = tms_resize(&t->memory, NULL, 0, TMS_PREDICT_CUTS, sizeof(*t->cuts));
        if (t->cuts == NULL) {
            fail(taking->p);
            return 0;
        }
    }
    for (uint32_t i = 0; i < TMS_PREDICT_CUTS; i++) {
        if (!t->cuts[i].used) {
            return i + 1;
        }
    }
    return 0;
}

/*
 * Moves the window that the acquire could interleave with to the thread, until its section has
 * ended.
 */
static uint32_t put_off(const struct taking *taking)
{
    struct tms_predict_window *window = &taking->lock->window[!taking->op->kind];
    uint32_t number = take_cut(taking);

    if (number == 0) {
        return 0;
    }
    struct tms_predict_cut *cut = &taking->t->cuts[number - 1];
    cut->used = true;
    cut->window = *window;
    cut->through.place.number = 0;
    tms_predict_write_acquire(taking->t, taking->op, &cut->culprit);
    spend(window);
    return number;
}

/* The same for the window between two locks. Rare, so not inlined. */
static __attribute__((noinline)) uint32_t put_pair_off(const struct taking *taking)
{
    struct tms_predict_pair *pair = taking->lock->pair;
    struct tms_predict_way way;
    uint32_t number = 0;

    if (tms_predict_cuts_none(taking->t, &pair->window.second) ||
        !tms_predict_find_way(taking->t, pair, taking->op, &way) ||
        (number = take_cut(taking)) == 0) {
        return 0;
    }
    struct tms_predict_cut *cut = &taking->t->cuts[number - 1];
    cut->used = true;
    cut->window = pair->window;
    cut->first = *way.first;
    cut->through = *way.through;
    tms_predict_write_acquire(taking->t, taking->op, &cut->culprit);
    tms_predict_find_culprit(taking->p, taking->t, taking->op, cut);
    spend(&pair->window);
    return number;
}

static void put_back(struct tms_predict_lock *lock, const struct tms_predict_cut *cut,
                     struct tms_predict_window *place)
{
    *place = cut->window;
    if (is_pair(cut)) {
        lock->pair->first[0] = cut->first; /* the others may have been overwritten */
        lock->pair->first_count = 1;
    }
}

static void settle(struct tms_predictor *p, struct tms_predict_thread *t,
                   const struct tms_predict_hold *hold, uint32_t number,
                   struct tms_predict_window *place)
{
    struct tms_predict_cut *cut = &t->cuts[number - 1];
    uint8_t section = section_of(t, hold);
    bool waits = (section & TMS_SECTION_WAITS) != 0 ||
                 ((section & TMS_SECTION_NESTED) != 0 &&
                  atomic_load_explicit(&p->waits_held, memory_order_relaxed));

    cut->culprit.section = section;
    cut->used = false;
    if (!waits) {
        report_cut(p, t, hold->lock, cut);
        return;
    }
    t->dropped++;
    if (is_spent(place)) {
        put_back(hold->lock, cut, place);
    }
}

/*
 * The culprit's section has ended: reports the windows that it could interleave with, or returns
 * them to their locks.
 */
static void settle_all(struct tms_predictor *p, struct tms_predict_thread *t,
                       const struct tms_predict_hold *hold)
{
    if (hold->cut != 0) {
        settle(p, t, hold, hold->cut, &hold->lock->window[!hold->acquire.place.kind]);
    }
    if (hold->pair != 0) {
        settle(p, t, hold, hold->pair, &hold->lock->pair->window);
    }
}

/* ---- taking and giving back --------------------------------------------------------------- */

static void push_hold(const struct taking *taking, const struct tms_predict_acquire *acquire,
                      uint32_t cut, uint32_t pair)
{
    struct tms_predict_thread *t = taking->t;

    if (!TMS_RESERVE(&t->memory, &t->held, &t->held_capacity, t->held_count + 1, LEAST_HELD)) {
        fail(taking->p);
        return;
    }
    t->held[t->held_count++] = (struct tms_predict_hold){
        .lock = taking->lock, .acquire = *acquire, .cut = cut, .pair = pair};
}

void tms_predict_hold(struct tms_predictor *p, struct tms_predict_thread *t,
                      struct tms_predict_lock *lock, const struct tms_predict_op *op)
{
    const struct taking taking = {.p = p, .t = t, .lock = lock, .op = op};
    struct tms_predict_acquire acquire;

    tms_predict_write_acquire(t, op, &acquire);
    push_hold(&taking, &acquire, 0, 0);
}

void tms_predict_acquire(struct tms_predictor *p, struct tms_predict_thread *t,
                         struct tms_predict_lock *lock, const struct tms_predict_op *op)
{
    const struct taking taking = {.p = p, .t = t, .lock = lock, .op = op};
    int kind = op->kind;

    if (t->held_count > 0) {
        bool inner = atomic_load_explicit(&lock->inner, memory_order_relaxed);
        wait_held(p, t, op->number, inner ? TMS_SECTION_NESTED : 0);
    }
    enter(lock, kind);
    if (t->woken) {
        learn(&taking); /* the signal may follow from anything done under the lock since */
        t->woken = false;
    }
    lock->shared = lock->shared || kind == TMS_TAKE_SHARED;
    uint32_t cut = cuts(&taking) ? put_off(&taking) : 0;
    uint32_t pair = lock->pair != NULL ? put_pair_off(&taking) : 0;
    t->acquires++;
    if (op->block.begin != 0) {
        follow(&taking);
    }
    lock->newest[kind] ^= 1;
    struct tms_predict_acquire *last = last_of(lock, kind);
    tms_predict_write_acquire(t, op, last);
    if (p->pairs) {
        tms_predict_follow_pairs(p, t, lock, op);
        tms_predict_remember(t, lock->id, last);
    }
    learn(&taking);
    push_hold(&taking, last, cut, pair);
    leave(lock, kind);
}

/*
 * Records what the section did, for before-errors in which its thread is the culprit or runs the
 * block.
 */
static void note_section(const struct tms_predictor *p, struct tms_predict_thread *t,
                         const struct tms_predict_hold *hold, uint64_t block, uint8_t section)
{
    struct tms_predict_acquire *last = last_of(hold->lock, hold->acquire.place.kind);

    if (last->place.number == hold->acquire.place.number && last->slot == t->order.slot) {
        last->section = section;
    }
    if (block != 0 && hold->acquire.place.number > block) {
        struct tms_predict_taken *taken = taken_of(p, t, hold->lock, block);
        if (taken != NULL) {
            taken->section |= section;
        }
    }
}

static void bind_window(const struct tms_predict_thread *t, struct tms_predict_window *window)
{
    if (window->second.place.kind == TMS_TAKE_SHARED && window->second.thread != t->order.thread &&
        tms_predict_knows(t, &window->second)) {
        spend(window);
    }
}

/*
 * Handles a shared section that others overlap. Everything that this thread knows of must happen
 * before the lock is free: so no culprit precedes an acquire that it knows of, and a shared acquire
 * that it knows of is not deferred.
 */
static void bind_shared(const struct tms_predict_thread *t, struct tms_predict_lock *lock)
{
    struct tms_predict_acquire *last = last_of(lock, TMS_TAKE_SHARED);

    bind_window(t, &lock->window[TMS_TAKE_SHARED]);
    if (lock->pair != NULL) {
        bind_window(t, &lock->pair->window);
    }
    if (last->thread != t->order.thread && tms_predict_knows(t, last)) {
        last->fixed = true;
    }
}

static struct tms_predict_hold *find_hold(struct tms_predict_thread *t,
                                          const struct tms_predict_lock *lock)
{
    size_t at = t->held_count;

    while (at > 0 && t->held[at - 1].lock != lock) {
        at--;
    }
    return at > 0 ? &t->held[at - 1] : NULL;
}

static void unhold(struct tms_predict_thread *t, const struct tms_predict_hold *hold)
{
    size_t at = (size_t)(hold - t->held);

    t->held_count--;
    if (at < t->held_count) {
        memmove(&t->held[at], &t->held[at + 1], (t->held_count - at) * sizeof(*t->held));
    }
}

static void drop_cut(struct tms_predict_thread *t, uint32_t number)
{
    if (number != 0) {
        t->cuts[number - 1].used = false;
    }
}

void tms_predict_drop(struct tms_predict_thread *t, const struct tms_predict_lock *lock)
{
    const struct tms_predict_hold *hold = find_hold(t, lock);

    if (hold != NULL) {
        drop_cut(t, hold->cut);
        drop_cut(t, hold->pair);
        unhold(t, hold);
    }
}

void tms_predict_release(struct tms_predictor *p, struct tms_predict_thread *t,
                         struct tms_predict_lock *lock, const struct tms_predict_op *op)
{
    struct tms_predict_hold *hold = find_hold(t, lock);
    bool room;

    if (hold == NULL) {
        return; /* acquired before watching began */
    }
    int kind = hold->acquire.place.kind;
    uint8_t section = section_of(t, hold);
    enter(lock, kind);
    if (section != 0) {
        note_section(p, t, hold, op->block.begin, section);
    }
    settle_all(p, t, hold);
    tms_predict_complete(t, hold, op);
    unhold(t, hold);
    if (kind == TMS_TAKE_SHARED) {
        bind_shared(t, lock);
        room = teach_shared(t, lock, op->number);
    } else {
        room = teach(t, lock, op->number);
    }
    leave(lock, kind);
    if (!room) {
        fail(p);
    }
}

void tms_predict_lock_clear(struct tms_predict_lock *lock)
{
    tms_vector_clear(&lock->memory, &lock->released);
    tms_vector_clear(&lock->memory, &lock->released_shared);
    tms_release(&lock->memory, lock->pair, lock->pair != NULL, sizeof(*lock->pair));
    assert(lock->memory.bytes == 0);
    memset(lock, 0, sizeof(*lock));
}

void tms_predict_thread_clear(struct tms_predict_thread *t)
{
    struct tms_memory *memory = &t->memory;

    tms_release(memory, t->taken, t->taken_size, sizeof(*t->taken));
    tms_release(memory, t->held, t->held_capacity, sizeof(*t->held));
    tms_release(memory, t->cuts, t->cuts != NULL ? TMS_PREDICT_CUTS : 0, sizeof(*t->cuts));
    t->taken = NULL;
    t->held = NULL;
    t->cuts = NULL;
    t->taken_size = t->taken_count = t->held_capacity = t->held_count = 0;
}
