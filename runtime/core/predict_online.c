/* SPDX-License-Identifier: Apache-2.0 */
/* Prediction inside the program; see predict_online.h. predict_spool.c writes the findings. */
#include "runtime/core/predict_online.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "predict/lock_requests.h"
#include "predict/lock_windows_take.h"
#include "protocol/config.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/predict_spool.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/spool/spool_writer.h"

/* Prediction state of a thread. */
struct tms_rt_predicting {
    struct tms_predict_thread windows;
    struct tms_requests_thread requests;
};

/* Kinds of objects that order threads besides locks. */
enum { BARRIERS, SEMAPHORES, ONCE_CONTROLS, ORDERING };

struct lock_state {
    struct tms_predict_lock lock;
    struct tms_order_object order; /* of an unowned lock */
    _Atomic bool unowned;
    struct lock_state *next_free;
};

bool tms_rt_predicts;

static struct tms_memory memory = TMS_RT_MEMORY;

static struct {
    struct tms_rt_mutex lock;
    unsigned what;
    struct tms_predictor windows;
    struct tms_requests_port requests;
    struct tms_order_slots slots;
    struct lock_state *_Atomic *locks; /* by id, reserved at full size */
    struct lock_state *free;
    struct tms_order_object **objects[ORDERING]; /* by id, reserved at full size */
    uint64_t acquires, windows_seen, dropped;    /* of threads that have ended */
} online;

/* ---- the ports ---------------------------------------------------------------------------- */

static void fail(void *user)
{
    struct tms_spool_header *header = tms_rt_spool_header();

    (void)user;
    tms_rt_predicts = false; /* order is missing from now on */
    if (header != NULL) {
        __atomic_fetch_or(&header->lost, TMS_SPOOL_LOST_PREDICTIONS, __ATOMIC_RELAXED);
    }
}

/* A lock that is gone has no name: pairs with it are dropped. */
static void predicted(void *user, const struct tms_prediction *p)
{
    bool gone = p->first_in != NULL && atomic_load_explicit(&online.locks[p->first_in->lock],
                                                            memory_order_relaxed) == NULL;

    if (!gone) {
        tms_rt_spool_prediction(user, p);
    }
}

static struct tms_predict_block transaction_of(const struct tms_rt_thread *t)
{
    return t->open_count == 0
               ? (struct tms_predict_block){0}
               : (struct tms_predict_block){t->running_from, t->open[0].label, t->open[0].site};
}

/* Innermost last; blocks between the transaction and these may be missing. */
static uint32_t blocks_since(void *user, uint64_t since,
                             struct tms_predict_block blocks[TMS_PREDICT_BLOCKS])
{
    const struct tms_rt_thread *t = user;
    uint32_t inside = 1, count = 1;

    while (inside < t->open_count && t->open[inside].number <= since) {
        inside++;
    }
    uint32_t from = inside > TMS_PREDICT_BLOCKS ? inside - TMS_PREDICT_BLOCKS + 1 : 1;
    blocks[0] = transaction_of(t);
    for (uint32_t i = from; i < inside; i++) {
        const struct tms_rt_open *open = &t->open[i];
        blocks[count++] = (struct tms_predict_block){open->number, open->label, open->site};
    }
    assert(count <= TMS_PREDICT_BLOCKS);
    return count > 1 ? count : 0;
}

static struct tms_predict_op op_of(const struct tms_rt_thread *t, uint64_t number, uint32_t site,
                                   uint8_t kind)
{
    return (struct tms_predict_op){
        .number = number,
        .activation = TMS_RT_ACTIVATION(),
        .innermost = t->open_count > 0 ? t->open[t->open_count - 1].number : 0,
        .depth = t->open_count,
        .site = site,
        .block = transaction_of(t),
        .kind = kind,
    };
}

/* ---- locks -------------------------------------------------------------------------------- */

/* Under online.lock. */
static struct lock_state *new_lock(uint32_t id)
{
    struct lock_state *state = online.free;

    assert(tms_rt_mutex_is_mine(&online.lock) && id > 0 && id < TMS_RT_IDS_MOST);
    if (state != NULL) {
        online.free = state->next_free;
        state->next_free = NULL;
    } else {
        state = tms_resize(&memory, NULL, 0, 1, sizeof(*state));
    }
    if (state != NULL) {
        state->lock.memory = (struct tms_memory)TMS_RT_MEMORY;
        state->lock.id = id;
        atomic_store_explicit(&online.locks[id], state, memory_order_release);
    }
    return state;
}

/* NULL when memory is short. */
static struct lock_state *lock_of(uint32_t id)
{
    struct lock_state *state = atomic_load_explicit(&online.locks[id], memory_order_acquire);

    if (__builtin_expect(state == NULL, 0)) {
        tms_rt_mutex_lock(&online.lock);
        state = atomic_load_explicit(&online.locks[id], memory_order_relaxed);
        state = state != NULL ? state : new_lock(id);
        tms_rt_mutex_unlock(&online.lock);
        if (state == NULL) {
            fail(NULL);
        }
    }
    assert(state == NULL || state->lock.id == id);
    return state;
}

/* The thread learns the order that the object has, and adds its own. False: memory is short. */
static bool exchange_order(struct tms_rt_thread *t, struct tms_order_object *object, bool must)
{
    struct tms_predict_thread *windows = &t->predicting->windows;

    assert(tms_rt_mutex_is_mine(&online.lock));
    return object != NULL && tms_order_learn(&windows->order, object) &&
           tms_order_teach(&memory, &windows->order, t->number, object, must);
}

/* A lock that another thread may release orders as a semaphore does. */
static void pass_lock(struct tms_rt_thread *t, struct lock_state *state)
{
    tms_predict_wait(&online.windows, &t->predicting->windows, t->number, false);
    tms_rt_mutex_lock(&online.lock);
    bool room = exchange_order(t, &state->order, false);
    tms_rt_mutex_unlock(&online.lock);
    if (!room) {
        fail(NULL);
    }
}

static bool is_followed(uint8_t kind)
{
    return (online.what & TMS_RT_PREDICT_WINDOWS) != 0 &&
           (kind == TMS_TAKE_EXCLUSIVE || (online.what & TMS_PREDICT_SHARED) != 0);
}

static void acquire(struct tms_rt_thread *t, const struct tms_op *op, uint8_t kind)
{
    struct lock_state *state = lock_of(op->target);
    struct tms_rt_predicting *own = t->predicting;

    if (state == NULL) {
        return;
    }
    if (atomic_load_explicit(&state->unowned, memory_order_relaxed)) {
        pass_lock(t, state);
        return;
    }
    struct tms_predict_op taken = op_of(t, op->event, op->location, kind);
    if ((online.what & TMS_RT_PREDICT_NESTING) != 0) {
        tms_requests_acquire(&online.requests, &own->requests, &own->windows, &state->lock, &taken);
    }
    if (is_followed(kind)) {
        tms_predict_take(&online.windows, &own->windows, &state->lock, &taken);
    } else {
        tms_predict_hold(&online.windows, &own->windows, &state->lock, &taken);
    }
}

static void release(struct tms_rt_thread *t, const struct tms_op *op, uint8_t kind)
{
    struct lock_state *state = lock_of(op->target);

    if (state == NULL) {
        return;
    }
    if (atomic_load_explicit(&state->unowned, memory_order_relaxed)) {
        pass_lock(t, state);
    } else if (is_followed(kind)) {
        struct tms_predict_op given = op_of(t, op->event, op->location, kind);
        tms_predict_give(&online.windows, &t->predicting->windows, &state->lock, &given);
    } else {
        tms_predict_drop(&t->predicting->windows, &state->lock);
    }
}

void tms_rt_predict_unowned(uint32_t id)
{
    struct lock_state *state = tms_rt_predicts ? lock_of(id) : NULL;

    if (state != NULL) {
        atomic_store_explicit(&state->unowned, true, memory_order_relaxed);
    }
}

void tms_rt_predict_drop(struct tms_rt_thread *t, uint32_t id)
{
    struct lock_state *state = tms_rt_predicts ? lock_of(id) : NULL;

    if (state != NULL) {
        tms_predict_drop(&t->predicting->windows, &state->lock);
    }
}

/* ---- other objects ------------------------------------------------------------------------ */

static int ordering(enum tms_rt_sync what)
{
    return what == TMS_RT_BARRIER     ? BARRIERS
           : what == TMS_RT_SEMAPHORE ? SEMAPHORES
                                      : ONCE_CONTROLS;
}

/* Under online.lock. NULL when memory is short. */
static struct tms_order_object *object_of(int kind, uint32_t id)
{
    assert(tms_rt_mutex_is_mine(&online.lock));
    assert(kind >= 0 && kind < ORDERING && id < TMS_RT_IDS_MOST);
    if (online.objects[kind] == NULL) {
        online.objects[kind] = tms_rt_map(TMS_RT_IDS_MOST * sizeof(*online.objects[kind]));
    }
    if (online.objects[kind] == NULL) {
        return NULL;
    }
    struct tms_order_object **object = &online.objects[kind][id];
    if (*object == NULL) {
        *object = tms_resize(&memory, NULL, 0, 1, sizeof(**object));
    }
    return *object;
}

static void arrive(struct tms_rt_thread *t, const struct tms_op *op)
{
    struct tms_rt_predicting *own = t->predicting;

    tms_rt_mutex_lock(&online.lock);
    struct tms_order_object *barrier = object_of(BARRIERS, op->target);
    bool room =
        barrier != NULL && tms_order_teach(&memory, &own->windows.order, op->event, barrier, true);
    tms_rt_mutex_unlock(&online.lock);
    tms_requests_period(&own->requests);
    if (!room) {
        fail(NULL);
    }
}

static void depart(struct tms_rt_thread *t, const struct tms_op *op)
{
    struct tms_rt_predicting *own = t->predicting;

    tms_predict_wait(&online.windows, &own->windows, op->event, false);
    tms_rt_mutex_lock(&online.lock);
    struct tms_order_object *barrier = object_of(BARRIERS, op->target);
    bool room = barrier != NULL && tms_order_learn(&own->windows.order, barrier);
    tms_rt_mutex_unlock(&online.lock);
    tms_requests_period(&own->requests);
    if (!room) {
        fail(NULL);
    }
}

void tms_rt_predict_pass(struct tms_rt_thread *t, enum tms_rt_sync what, uint32_t id)
{
    if (!tms_rt_predicts || id == 0) {
        return;
    }
    tms_predict_wait(&online.windows, &t->predicting->windows, t->number, false);
    tms_rt_mutex_lock(&online.lock);
    bool room = exchange_order(t, object_of(ordering(what), id), what == TMS_RT_ONCE);
    tms_rt_mutex_unlock(&online.lock);
    if (!room) {
        fail(NULL);
    }
}

static void forget_lock(uint32_t id)
{
    struct lock_state *state = atomic_exchange(&online.locks[id], NULL);

    assert(tms_rt_mutex_is_mine(&online.lock));
    if (state != NULL) {
        tms_predict_lock_clear(&state->lock);
        tms_order_object_clear(&memory, &state->order);
        atomic_store(&state->unowned, false);
        state->next_free = online.free;
        online.free = state;
    }
}

void tms_rt_predict_gone(enum tms_rt_sync what, uint32_t id)
{
    if (!tms_rt_predicts || id == 0 || what == TMS_RT_CONDITION) {
        return;
    }
    tms_rt_mutex_lock(&online.lock);
    if (what == TMS_RT_LOCK) {
        forget_lock(id);
    } else if (online.objects[ordering(what)] != NULL) {
        struct tms_order_object **object = &online.objects[ordering(what)][id];
        if (*object != NULL) {
            tms_order_object_clear(&memory, *object);
            tms_release(&memory, *object, 1, sizeof(**object));
            *object = NULL;
        }
    }
    tms_rt_mutex_unlock(&online.lock);
}

/* ---- operations --------------------------------------------------------------------------- */

void tms_rt_predict_now(struct tms_rt_thread *t, const struct tms_op *op)
{
    struct tms_predict_thread *windows = &t->predicting->windows;

    assert(op->event <= t->number && t == tms_rt_self);
    if (windows->seen_slot == 0 && t->engine != NULL) {
        windows->seen = (online.what & TMS_PREDICT_ATOMIC) != 0 ? t->seen : NULL;
        windows->seen_slot = (uint16_t)t->engine->slot;
    }
    assert(windows->seen_slot == 0 || t->engine == NULL || windows->seen_slot == t->engine->slot);
    if (t->wider != NULL) {
        windows->wider = tms_rt_clock_wider(t, &windows->wider_count);
    }
    switch (op->kind) {
    case TMS_OP_ACQUIRE:
        acquire(t, op, TMS_TAKE_EXCLUSIVE);
        break;
    case TMS_OP_SHARED_ACQUIRE:
        acquire(t, op, TMS_TAKE_SHARED);
        break;
    case TMS_OP_RELEASE:
        release(t, op, TMS_TAKE_EXCLUSIVE);
        break;
    case TMS_OP_SHARED_RELEASE:
        release(t, op, TMS_TAKE_SHARED);
        break;
    case TMS_OP_ARRIVE:
        if ((online.what & TMS_PREDICT_BARRIER) != 0) {
            arrive(t, op);
        }
        break;
    case TMS_OP_DEPART:
        if ((online.what & TMS_PREDICT_BARRIER) != 0) {
            depart(t, op);
        }
        break;
    default:
        if (op->event_kind == TMS_EVENT_WAIT && (online.what & TMS_PREDICT_WAIT) != 0) {
            tms_predict_wait(&online.windows, windows, op->event, true);
        }
    }
}

/* ---- threads ------------------------------------------------------------------------------ */

static bool make_predicting(struct tms_rt_thread *t)
{
    if (t->predicting == NULL) {
        t->predicting = tms_resize(&memory, NULL, 0, 1, sizeof(*t->predicting));
    }
    if (t->predicting != NULL) {
        memset(t->predicting, 0, sizeof(*t->predicting));
        t->predicting->windows.user = t;
        t->predicting->windows.memory = (struct tms_memory)TMS_RT_MEMORY;
        t->predicting->windows.order.memory = &t->predicting->windows.memory;
    }
    return t->predicting != NULL;
}

static bool start_thread(struct tms_rt_thread *t, const struct tms_thread_order *parent,
                         uint64_t number)
{
    tms_rt_mutex_lock(&online.lock);
    bool good = make_predicting(t) && tms_order_start(&online.slots, &t->predicting->windows.order,
                                                      t->index, parent, number);
    tms_rt_mutex_unlock(&online.lock);
    return good;
}

bool tms_rt_predict_first(struct tms_rt_thread *t)
{
    return !tms_rt_predicts || start_thread(t, NULL, 0);
}

void tms_rt_predict_fork(struct tms_rt_thread *t, struct tms_rt_thread *child)
{
    if (!tms_rt_predicts) {
        return;
    }
    if (!start_thread(child, &t->predicting->windows.order, t->number)) {
        fail(NULL);
    }
    tms_requests_period(&t->predicting->requests);
}

/* Takes over the thread's counts and frees its slot, under the prediction lock. */
static void retire(struct tms_rt_thread *t)
{
    struct tms_predict_thread *windows = &t->predicting->windows;

    assert(tms_rt_mutex_is_mine(&online.lock));
    if (windows->order.slot != 0) {
        tms_order_retire(&online.slots, &windows->order, t->number);
        online.acquires += windows->acquires;
        online.windows_seen += windows->windows;
        online.dropped += windows->dropped;
        windows->acquires = windows->windows = windows->dropped = 0;
    }
}

void tms_rt_predict_join(struct tms_rt_thread *t, struct tms_rt_thread *child, uint32_t site)
{
    if (!tms_rt_predicts || child->predicting == NULL) {
        return;
    }
    struct tms_rt_predicting *own = t->predicting, *others = child->predicting;
    if ((online.what & TMS_RT_PREDICT_NESTING) != 0) {
        struct tms_predict_op op = op_of(t, t->number, site, TMS_TAKE_EXCLUSIVE);
        tms_requests_join(&online.requests, &own->requests, &own->windows, &others->requests,
                          &others->windows.memory, child->index, &op);
    }
    tms_predict_wait(&online.windows, &own->windows, t->number, false);
    tms_rt_mutex_lock(&online.lock);
    bool room = tms_order_join(&own->windows.order, &others->windows.order, child->number);
    retire(child);
    tms_rt_mutex_unlock(&online.lock);
    tms_requests_period(&own->requests);
    if (!room) {
        fail(NULL);
    }
}

void tms_rt_predict_end(struct tms_rt_thread *t)
{
    if (t->predicting == NULL) {
        return;
    }
    tms_rt_mutex_lock(&online.lock);
    retire(t);
    tms_rt_mutex_unlock(&online.lock);
    tms_requests_clear(&t->predicting->requests, &t->predicting->windows.memory);
    tms_predict_thread_clear(&t->predicting->windows);
}

/* ---- start and end ------------------------------------------------------------------------ */

static bool start(void)
{
    online.slots.memory = &memory;
    online.windows =
        (struct tms_predictor){.port = {.blocks = blocks_since, .predict = predicted, .fail = fail},
                               .taken_most = TMS_PREDICT_TAKEN,
                               .pairs = (online.what & TMS_PREDICT_PAIR) != 0};
    online.requests = (struct tms_requests_port){.request = tms_rt_spool_request, .fail = fail};
    if (online.locks == NULL) {
        online.locks = tms_rt_map(TMS_RT_IDS_MOST * sizeof(*online.locks));
    }
    return online.locks != NULL;
}

bool tms_rt_predict_start(unsigned what)
{
    online.what = what;
    tms_rt_predicts = (what & (TMS_RT_PREDICT_WINDOWS | TMS_RT_PREDICT_NESTING)) != 0;
    return !tms_rt_predicts || start();
}

/* The parent's state stays where it is: the child of a fork mostly does little before it execs. */
bool tms_rt_predict_restart(void)
{
    const size_t pointers = TMS_RT_IDS_MOST * sizeof(void *);

    tms_rt_mutex_restart(&online.lock);
    tms_rt_predict_patterns_restart();
    if (!tms_rt_predicts) {
        return true;
    }
    memset(&online.slots, 0, sizeof(online.slots));
    online.free = NULL;
    online.acquires = online.windows_seen = online.dropped = 0;
    madvise((void *)(uintptr_t)online.locks, pointers, MADV_DONTNEED);
    for (int kind = 0; kind < ORDERING; kind++) {
        if (online.objects[kind] != NULL) {
            madvise(online.objects[kind], pointers, MADV_DONTNEED);
        }
    }
    return start();
}

void tms_rt_predict_settle(struct tms_rt_predict_counts *counts)
{
    counts->acquires += online.acquires;
    counts->windows += online.windows_seen;
    counts->dropped += online.dropped;
}

void tms_rt_predict_count(struct tms_rt_predict_counts *counts, const struct tms_rt_thread *t)
{
    if (t->predicting != NULL) {
        counts->acquires += t->predicting->windows.acquires;
        counts->windows += t->predicting->windows.windows;
        counts->dropped += t->predicting->windows.dropped;
    }
}
