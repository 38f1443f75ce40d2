/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread registry: descriptors, from fork to join. A descriptor is reused only after the thread
 * has ended and can no longer be joined; its index is never reused.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/engine_online.h"
#include "runtime/core/functions.h"
#include "runtime/core/judge_online.h"
#include "runtime/core/live_counts.h"
#include "runtime/core/open_blocks.h"
#include "runtime/core/predict_online.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/sites.h"
#include "runtime/core/sync_objects.h"
#include "runtime/core/thread_invariants.h"
#include "runtime/core/thread_registry.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/shadow_clear.h"
#include "runtime/spool/spool_writer.h"

#define FRAMES       4096u /* deeper frames are not distinguished */
#define FORGET_EVERY 4096u
#define FORGET_LEAST 1024u /* consecutive indices that are worth a system call */
#define LIVING_MOST  2048u
#define DESCRIBED    4096u /* later threads get a record only while events are recorded */

TMS_RT_TLS struct tms_rt_thread *tms_rt_self, *tms_rt_watched;

void tms_rt_set_self(struct tms_rt_thread *t)
{
    assert(t == NULL || atomic_load(&t->uses) > 0);
    tms_rt_self = t;
    tms_rt_watched = tms_rt_mode.memory ? t : NULL;
}

static struct tms_memory memory = TMS_RT_MEMORY;
static struct {
    struct tms_rt_mutex lock;
    struct tms_rt_thread *free, *all;
    uint64_t events, transactions, blocks; /* of threads that have ended */
    uint32_t count;
    uint32_t over; /* threads that have ended */
} threads;

struct tms_rt_thread *tms_rt_enter(void)
{
    return tms_rt_enter_fast();
}

void tms_rt_leave(struct tms_rt_thread *t)
{
    tms_rt_check_thread(t);
    tms_rt_answer();
    tms_rt_leave_fast(t);
}

/* ---- descriptors ------------------------------------------------------------------------ */

/* Fields that survive the reuse of a descriptor: its list and its scratch memory. */
#define KEPT(X)                                                                                    \
    X(next)                                                                                        \
    X(frames)                                                                                      \
    X(frames_end)                                                                                  \
    X(open)                                                                                        \
    X(open_capacity)                                                                               \
    X(calls)                                                                                       \
    X(call_capacity)                                                                               \
    X(held)                                                                                        \
    X(held_capacity)                                                                               \
    X(entries)                                                                                     \
    X(entry_capacity)                                                                              \
    X(predicting)                                                                                  \
    X(spare_node)                                                                                  \
    X(deep_stack)

/* Not through a copy of the descriptor, which would not fit the stacks of some threads. */
static void clean(struct tms_rt_thread *t)
{
#define X(field) __typeof__(t->field) field = t->field;
    KEPT(X)
#undef X
    memset(t, 0, sizeof(*t));
#define X(field) t->field = field;
    KEPT(X)
#undef X
    assert(t->frames < t->frames_end && t->frames->frame == UINTPTR_MAX);
    t->top = t->frames;
    tms_rt_forget_called(t);
}

static bool make_frames(struct tms_rt_thread *t)
{
    if (t->frames != NULL) {
        return true;
    }
    t->frames = tms_rt_map(FRAMES * sizeof(*t->frames));
    if (t->frames == NULL) {
        return false;
    }
    t->frames_end = t->frames + FRAMES;
    t->frames->frame = UINTPTR_MAX;
    t->frames->block = TMS_RT_FRAME_BLOCK; /* forces exits into the slow path */
    return true;
}

/* The caller holds the lock. */
static struct tms_rt_thread *take_descriptor(void)
{
    struct tms_rt_thread *t = threads.free;

    assert(tms_rt_mutex_is_mine(&threads.lock));
    if (t != NULL) {
        assert(atomic_load(&t->uses) == 0 && t->engine == NULL);
        threads.free = t->next_free;
        return t;
    }
    t = tms_resize(&memory, NULL, 0, 1, sizeof(*t));
    if (t != NULL) {
        t->next = threads.all;
        threads.all = t;
    }
    return t;
}

/* A thread is live as soon as it has an index; otherwise it would be taken for an ended one. */
static struct tms_rt_thread *new_thread(struct tms_rt_thread *parent)
{
    tms_rt_mutex_lock(&threads.lock);
    struct tms_rt_thread *t = take_descriptor();
    bool good = t != NULL && make_frames(t);
    if (good) {
        clean(t);
        t->index = ++threads.count;
        t->parent = parent == NULL ? 0 : parent->index;
        atomic_store(&t->uses, 2);
    }
    tms_rt_mutex_unlock(&threads.lock);
    return good ? t : NULL;
}

static void retire(struct tms_rt_thread *t)
{
    if (t->engine != NULL) {
        tms_rt_mutex_lock(&tms_rt_engine_lock);
        assert(t->engine->id == t->index);
        tms_rt_clock_end(t);
        tms_frontier_retire(&tms_rt_engine, t->engine->slot);
        tms_rt_forget_slot(t);
        tms_rt_mutex_unlock(&tms_rt_engine_lock);
        t->engine = NULL;
    }
}

/*
 * The indices of live threads in ascending order, followed by the next one to be given out: all
 * threads between two of them have ended. 0: too many. The caller holds the lock.
 */
static unsigned list_living(uint32_t living[LIVING_MOST])
{
    unsigned count = 0;

    assert(tms_rt_mutex_is_mine(&threads.lock));
    living[count++] = threads.count + 1;
    for (const struct tms_rt_thread *t = threads.all; t != NULL; t = t->next) {
        if (atomic_load(&t->uses) == 0) {
            continue;
        }
        if (count == LIVING_MOST) {
            return 0;
        }
        unsigned at = count++;
        for (; at > 0 && living[at - 1] > t->index; at--) {
            living[at] = living[at - 1];
        }
        living[at] = t->index;
    }
    assert(count > 0 && living[count - 1] == threads.count + 1);
    return count;
}

/* Releases the engine's data of threads that have ended. */
static void forget_threads(void)
{
    static uint32_t living[LIVING_MOST];

    tms_rt_mutex_lock(&threads.lock);
    unsigned count = list_living(living);
    for (unsigned i = 1; i < count; i++) {
        assert(living[i - 1] < living[i]);
        if (living[i] - living[i - 1] >= FORGET_LEAST) {
            tms_rt_forget_threads(living[i - 1] + 1, living[i]);
        }
    }
    tms_rt_mutex_unlock(&threads.lock);
}

/* Drops one of the two references to the descriptor, that of the thread or of its joiner. */
static void drop_reference(struct tms_rt_thread *t)
{
    assert(atomic_load(&t->uses) > 0 && t->index > 0);
    if (atomic_fetch_sub(&t->uses, 1) == 1) {
        retire(t); /* a join has done so already */
        tms_rt_predict_end(t);
        tms_rt_mutex_lock(&threads.lock);
        threads.events += t->events_seen;
        threads.transactions += t->transactions_seen;
        threads.blocks += t->blocks_seen;
        t->events_seen = t->transactions_seen = t->blocks_seen = 0;
        tms_rt_clock_forget(t);
        t->next_free = threads.free;
        threads.free = t;
        bool due = ++threads.over % FORGET_EVERY == 0;
        tms_rt_mutex_unlock(&threads.lock);
        if (due) {
            forget_threads();
        }
    }
}

static void spool_thread(const struct tms_rt_thread *t, const char *name)
{
    size_t length = strlen(name) + 1;
    struct tms_spool_thread *record =
        tms_rt_spool_record(TMS_SPOOL_THREAD, sizeof(*record) + length);

    if (record != NULL) {
        record->parent = t->parent;
        record->tid = t->tid;
        record->entry = t->entry;
        record->stack_start = t->stack_low;
        record->stack_end = t->stack_high;
        memcpy(record->name, name, length);
        record->index = t->index;
    }
}

void tms_rt_name_thread(struct tms_rt_thread *t, const char *name)
{
    spool_thread(t, name);
}

void tms_rt_registry_count(struct tms_spool_header *header)
{
    tms_rt_mutex_lock(&threads.lock);
    uint64_t events = threads.events, transactions = threads.transactions, blocks = threads.blocks;
    struct tms_rt_predict_counts counts = {0};
    tms_rt_predict_settle(&counts);
    for (const struct tms_rt_thread *t = threads.all; t != NULL; t = t->next) {
        events += t->events_seen;
        transactions += t->transactions_seen;
        blocks += t->blocks_seen;
        tms_rt_predict_count(&counts, t);
    }
    tms_rt_mutex_unlock(&threads.lock);
    header->events = events; /* at once: the command may be reading */
    header->transactions = transactions;
    header->blocks = blocks;
    header->acquires = counts.acquires;
    header->windows = counts.windows;
    header->dropped = counts.dropped;
}

void tms_rt_registry_each(void (*function)(struct tms_rt_thread *thread))
{
    tms_rt_mutex_lock(&threads.lock);
    for (struct tms_rt_thread *t = threads.all; t != NULL; t = t->next) {
        function(t);
    }
    tms_rt_mutex_unlock(&threads.lock);
}

bool tms_rt_find_stack(uintptr_t address, struct tms_rt_stack *stack)
{
    bool found = false;

    tms_rt_mutex_lock(&threads.lock);
    for (const struct tms_rt_thread *t = threads.all; t != NULL && !found; t = t->next) {
        found = atomic_load(&t->uses) > 0 && t->stack_low <= address && address < t->stack_high;
        if (found) {
            *stack = (struct tms_rt_stack){t->stack_low, t->stack_high, t->entry};
        }
    }
    tms_rt_mutex_unlock(&threads.lock);
    return found;
}

bool tms_rt_is_alone(void)
{
    return __atomic_load_n(&threads.count, __ATOMIC_RELAXED) <= 1;
}

void tms_rt_block_seen(void)
{
    struct tms_spool_header *header = tms_rt_spool_header();

    if (header != NULL && header->blocks == 0) {
        header->blocks = header->transactions = 1;
    }
}

/* ---- fork and join ---------------------------------------------------------------------- */

static void operate(struct tms_rt_thread *t, uint8_t kind, uint8_t event, uint32_t child,
                    uint64_t source, uintptr_t pc)
{
    struct tms_op op = {.target = child,
                        .location = tms_rt_site(t, pc),
                        .event_kind = event,
                        .kind = kind,
                        .flags = tms_rt_in_block(t) ? TMS_OP_IN_BLOCK : 0};

    assert(child > 0 && child != t->index);
    tms_rt_split_due(t, op.location);
    tms_rt_operate(t, &op, source);
    if (tms_rt_mode.records_sync) {
        struct tms_spool_event record = {
            .number = op.event, .target = child, .site = op.location, .kind = event};
        tms_rt_spool_event(t, &record);
    }
}

struct tms_rt_thread *tms_rt_fork_thread(struct tms_rt_thread *t, uintptr_t pc)
{
    struct tms_rt_thread *child = tms_rt_mode.checks ? new_thread(t) : NULL;

    if (child == NULL) {
        if (tms_rt_mode.checks) {
            tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
        }
        return NULL;
    }
    if (tms_rt_mode.scheduled) {
        tms_rt_steer_thread(child, true);
    }
    operate(t, TMS_OP_FORK, TMS_EVENT_FORK, child->index, 0, pc);
    tms_rt_judge_synchronised(t);
    if (tms_rt_splits_at(TMS_SPLIT_FORK)) {
        tms_rt_judge_rendezvous(t);
    }
    if (t->engine != NULL) {
        tms_rt_clock_release(t, &child->forked);
        tms_rt_function_releases(t, 0);
    }
    tms_rt_predict_fork(t, child);
    tms_rt_split(t, TMS_SPLIT_FORK, pc);
    return child;
}

void tms_rt_fork_failed(struct tms_rt_thread *child)
{
    if (tms_rt_mode.scheduled) {
        tms_rt_steer_thread(child, false);
    }
    drop_reference(child);
    drop_reference(child);
}

void tms_rt_thread_start(struct tms_rt_thread *child, uintptr_t entry, uintptr_t low,
                         uintptr_t high)
{
    assert(tms_rt_self == NULL && child->tid == 0 && child->engine == NULL);
    assert((low == 0 && high == 0) || low < high);
    child->entry = entry;
    child->tid = syscall(SYS_gettid);
    child->stack_low = low;
    child->stack_high = high;
    if ((tms_rt_mode.records_sync && !tms_rt_spool_is_out_of_room()) || child->index <= DESCRIBED) {
        spool_thread(child, "");
    }
    struct tms_spool_header *header = tms_rt_spool_header();
    if (header != NULL) {
        __atomic_fetch_add(&header->threads, 1, __ATOMIC_RELAXED);
    }
    tms_rt_judge_thread_starts(child);
    tms_rt_set_self(child);
}

void tms_rt_thread_end(struct tms_rt_thread *t)
{
    assert(t == tms_rt_self);
    tms_rt_check_thread(t);
    tms_rt_drop_locks(t);
    if (tms_rt_mode.scheduled) {
        tms_rt_steer_thread(t, false);
    }
    tms_rt_close_all(t);
    assert(t->top == t->frames && t->open_count == 0);
    assert(t->held_count == 0 || !tms_rt_mode.checks);
    tms_rt_judge_thread_ends(t);
    tms_rt_set_self(NULL);
    /* The stack is in use until the thread is gone, but is no longer watched. */
    if (t->stack_high > t->stack_low) {
        tms_rt_clear_history_by(t, t->stack_low, t->stack_high - t->stack_low);
    }
    tms_rt_spool_thread_ends(t);
    drop_reference(t);
}

/* Its earlier steps can no longer be part of a pattern, so others may ignore them. */
void tms_rt_joining(struct tms_rt_thread *t)
{
    tms_rt_judge_rendezvous(t);
}

/* A child without events makes no edge: joining it orders nothing. */
void tms_rt_join_thread(struct tms_rt_thread *t, struct tms_rt_thread *child, uintptr_t pc)
{
    assert(t != child && atomic_load(&child->uses) > 0);
    if (tms_rt_mode.checks) {
        tms_rt_functions_wait(t);
        tms_rt_split(t, TMS_SPLIT_JOIN, pc);
        if (child->engine != NULL) {
            tms_rt_clock_end(child);
        }
        operate(t, TMS_OP_JOIN, TMS_EVENT_JOIN, child->index, child->number, pc);
        tms_rt_judge_synchronised(t);
        tms_rt_judge_rendezvous(t);
        if (t->engine != NULL) {
            tms_rt_clock_join(t, child);
        }
        tms_rt_predict_join(t, child, tms_rt_site(t, pc));
        if (child->engine != NULL) {
            tms_rt_forget_slot(child);
            child->engine = NULL; /* the engine has retired it */
        }
    }
    drop_reference(child);
}

void tms_rt_detach_thread(struct tms_rt_thread *child)
{
    drop_reference(child);
}

/* ---- the first thread ------------------------------------------------------------------- */

struct tms_rt_thread *tms_rt_registry_start(void)
{
    struct tms_rt_thread *t = new_thread(NULL);

    if (t != NULL) {
        t->tid = getpid();
        tms_rt_judge_thread_starts(t);
        tms_rt_spool_header()->threads = 1;
    }
    return t;
}

/* The state that a thread keeps when fork makes it the only one of a new process. */
struct fork_state {
    const struct tms_rt_frame *top;
    uintptr_t stack_low, stack_high, entry;
    uint64_t annotated;
    uint32_t too_deep;
    uint32_t held_count;
    uint32_t ignored[TMS_RT_UPDATE + 1];
};

static struct fork_state get_fork_state(const struct tms_rt_thread *t)
{
    struct fork_state kept = {.top = t->top,
                              .stack_low = t->stack_low,
                              .stack_high = t->stack_high,
                              .entry = t->entry,
                              .annotated = t->annotated,
                              .too_deep = t->too_deep,
                              .held_count = t->held_count};

    memcpy(kept.ignored, t->ignored, sizeof(kept.ignored));
    return kept;
}

static void set_fork_state(struct tms_rt_thread *t, const struct fork_state *kept)
{
    assert(kept->top < t->frames_end && kept->held_count <= t->held_capacity);
    t->stack_low = kept->stack_low;
    t->stack_high = kept->stack_high;
    t->entry = kept->entry;
    t->annotated = kept->annotated;
    t->too_deep = kept->too_deep;
    memcpy(t->ignored, kept->ignored, sizeof(t->ignored));
    while (t->top < kept->top) {
        t->top++;
        t->top->site = 0;
        t->top->block = TMS_RT_FRAME_PLAIN;
    }
    for (; t->held_count < kept->held_count; t->held_count++) {
        t->held[t->held_count].inherited = true;
    }
}

void tms_rt_registry_restart(struct tms_rt_thread *only)
{
    const struct fork_state kept = get_fork_state(only);

    tms_rt_mutex_restart(&threads.lock);
    threads.free = NULL;
    threads.all = only;
    only->next = NULL;
    threads.events = threads.transactions = threads.blocks = 0;
    threads.count = 1;
    threads.over = 0;
    only->spare_node = 0; /* the shadow is empty, and so are its nodes */
    tms_rt_clock_forget(only);
    only->predicting = NULL;
    clean(only);
    set_fork_state(only, &kept);
    only->inside = 1;
    only->index = 1;
    only->tid = getpid();
    atomic_store(&only->uses, 2);
    if (!tms_rt_predict_first(only)) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
    }
    tms_rt_judge_thread_starts(only);
    spool_thread(only, "main");
    tms_rt_spool_header()->threads = 1;
}
