/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SideTrack's rules applied online: which acquire could interleave with a block of another thread.
 * docs/research/engines/sidetrack.md has the rules and their names (A, R, V, H, I), sidetrack.c
 * implements them for traces. This module knows neither traces nor the runtime: it is called at
 * each operation, asks a port which blocks are open, and passes predictions to it.
 *
 * Threads may call concurrently. A thread owns its state, and the holder of a lock owns the state
 * of the lock: call tms_predict_acquire after the real acquire, and tms_predict_release before the
 * real release. Shared holders exclude each other internally.
 *
 * Bounds: no state grows with the run. A lock has two acquires of each kind and three windows, a
 * thread the locks of its transaction, up to TMS_PREDICT_TAKEN, and its last sections. Beyond a
 * bound a window, a culprit or the name of a block is dropped, but never an ordering.
 *
 * Cost of an operation on a lock that the thread used last: no clock is joined or copied, nothing
 * is allocated, and two or three cache lines of the lock are touched.
 */
#ifndef TMS_PREDICT_LOCK_WINDOWS_H
#define TMS_PREDICT_LOCK_WINDOWS_H

#include <stdatomic.h>

#include "predict/predict_order.h"

#define TMS_PREDICT_BLOCKS 8u    /* named blocks of a window */
#define TMS_PREDICT_TAKEN  2048u /* tracked locks of a transaction */
#define TMS_PREDICT_CUTS   16u   /* windows that the holds of a thread could interleave with */
#define TMS_PREDICT_RECENT 8u    /* sections that a thread remembers; a power of two */
#define TMS_PREDICT_FIRSTS 4u    /* … and those in a window between two locks */

/* How a lock is acquired. For windows SHARED means acquires of any kind. */
enum { TMS_TAKE_SHARED, TMS_TAKE_EXCLUSIVE, TMS_TAKE_KINDS };

enum tms_predict_error { TMS_ERROR_BEFORE, TMS_ERROR_IN, TMS_ERROR_AFTER, TMS_ERROR_PAIR };

/* What happened inside a section of a lock, as a mask. */
enum {
    TMS_SECTION_NESTED = 1, /* acquired a lock that is held during waits, or updated an atomic */
    TMS_SECTION_WAITS = 2,  /* waited for something other than a lock */
};

struct tms_predict_block {
    uint64_t begin; /* number of the event */
    uint32_t label, site;
};

/* An operation on a lock and the position of its thread. */
struct tms_predict_op {
    uint64_t number;
    uint64_t activation; /* for the port */
    uint64_t innermost;  /* begin of the innermost open block, and number of open blocks: */
    uint32_t depth;      /* only show whether blocks are the same as before */
    uint32_t site;
    struct tms_predict_block block; /* the transaction; begin 0: none */
    uint8_t kind;                   /* TMS_TAKE_* */
};

/* An event that a prediction names. */
struct tms_predict_place {
    uint64_t number; /* 0: none */
    uint64_t activation;
    uint32_t site;
    uint8_t kind;
};

/* An acquire, with the clock of the thread before it: A of the lock. */
struct tms_predict_acquire {
    struct tms_predict_place place;
    struct tms_predict_block block; /* unary: itself, without a label */
    uint32_t slot;                  /* 0: none */
    uint32_t thread;
    uint16_t seen_slot; /* its thread in the caller's clocks; 0: none */
    uint8_t section;    /* when it has ended: TMS_SECTION_* */
    bool unary;
    bool fixed; /* cannot be reordered after a later acquire of another thread */
};

/* Two acquires of a lock in one block: V of the lock is that of the second. */
struct tms_predict_window {
    struct tms_predict_acquire second; /* slot 0: no window, or already reported */
    struct tms_predict_place first;
    uint64_t innermost; /* of the second */
    uint32_t depth;
    uint32_t block_count; /* 0: only the transaction */
    struct tms_predict_block blocks[TMS_PREDICT_BLOCKS];
};

/* A recent section of a thread. */
struct tms_predict_recent {
    struct tms_predict_place place; /* number 0: none */
    struct tms_predict_block block; /* unary: itself, without a label */
    uint32_t lock;                  /* the caller's number */
    bool unary;
};

/* V over two locks: an acquire in a transaction that has had sections of other locks. */
struct tms_predict_pair {
    struct tms_predict_window window; /* without a first one; `blocks` are all open at the second */
    struct tms_predict_recent first[TMS_PREDICT_FIRSTS]; /* the latest first */
    uint32_t first_count;
};

struct tms_predict_lock {
    struct tms_vector released; /* R of the last exclusive release */
    uint64_t released_at;       /* its number, 0: there was none … */
    uint64_t released_age;      /* … the age of its thread then … */
    uint32_t releaser;          /* … and the slot */
    uint32_t id;                /* the caller's number */
    bool shared_since;          /* shared releases since the last exclusive acquire */
    bool shared;                /* was ever taken so */
    _Atomic bool inner;         /* was held by a thread that waited for something */
    _Atomic bool busy;          /* spin lock of the shared holders */
    uint8_t newest[TMS_TAKE_KINDS];
    struct tms_predict_acquire last[TMS_TAKE_KINDS][2];
    struct tms_predict_window window[TMS_TAKE_KINDS];
    struct tms_predict_pair *pair; /* NULL: there never was one */
    struct tms_vector released_shared;
    struct tms_memory memory; /* counts its clocks; owned by the holder, as they are */
};

struct tms_predict_hold {
    struct tms_predict_lock *lock;
    struct tms_predict_acquire acquire; /* place, block, thread */
    uint32_t cut;                       /* 1 + the index of its entry in `cuts`; 0: none */
    uint32_t pair;                      /* the same for a window between two locks */
    bool inner;                         /* lock->inner is set for this hold and all before it */
};

/*
 * A window that was moved from its lock to an acquire that could interleave with it, until the
 * release.
 */
struct tms_predict_cut {
    bool used;
    struct tms_predict_window window;
    struct tms_predict_acquire culprit;
    struct tms_predict_recent first,
        through; /* pair: the sections of its first lock, and the culprit's; number 0: not a pair */
};

/* A lock that was taken in the running transaction: H. */
struct tms_predict_taken {
    uint64_t block; /* the begin of the transaction; any other: the entry is free */
    const struct tms_predict_lock *lock;
    struct tms_predict_place last[TMS_TAKE_KINDS]; /* of any kind; exclusive */
    uint64_t since[TMS_TAKE_KINDS];                /* the first of them */
    uint64_t before[TMS_TAKE_KINDS]; /* I: the acquire that could also come after it, or 0 */
    uint8_t section;                 /* TMS_SECTION_* of all its sections in the transaction */
};

struct tms_predict_thread {
    void *user; /* for the port */
    struct tms_memory memory;
    struct tms_thread_order order; /* counted by this memory */
    /*
     * Happens-before clocks of the caller, indexed by its own slots, whose ordering counts as well.
     * They may contain ordering that is not reported to this module: `seen` by atomics, `wider`
     * through the kernel.
     */
    const uint64_t *seen; /* NULL: none */
    const uint64_t *wider;
    uint32_t wider_count; /* slots */
    uint16_t seen_slot;
    bool woken;     /* waited for a condition: the next acquire reacquires the lock */
    uint64_t block; /* the transaction of `taken` */
    struct tms_predict_taken *taken;
    size_t taken_size, taken_count; /* open-addressed, a power of two; those of the transaction */
    struct tms_predict_hold *held;  /* in the order in which they were taken */
    size_t held_count, held_capacity;
    struct tms_predict_cut *cuts; /* NULL, or TMS_PREDICT_CUTS of them */
    uint64_t cramped;             /* the latest acquire that was held during a wait */
    uint64_t nested, stuck; /* its last events that make a section TMS_SECTION_NESTED, _WAITS */
    uint64_t completed;     /* the last transaction that has had a whole section */
    uint32_t recent_at;     /* the last one written */
    struct tms_predict_recent recent[TMS_PREDICT_RECENT]; /* a ring */
    uint64_t acquires, windows, dropped, reports;
    struct tms_predict_block scratch[TMS_PREDICT_BLOCKS]; /* not on a stack that may be small */
};

struct tms_prediction {
    enum tms_predict_error error;
    bool rough; /* the predicted schedule may deadlock */
    const struct tms_predict_lock *lock;
    const struct tms_predict_place *first, *second, *culprit;
    uint32_t thread; /* of the block */
    struct tms_predict_block block;
    const struct tms_predict_block *blocks; /* open at both acquires, the transaction first; … */
    uint32_t block_count;                   /* … 0: only the transaction */
    const struct tms_predict_acquire *culprit_in;
    /* Pair, else NULL: the section of the first lock, and the culprit's section of that lock. */
    const struct tms_predict_recent *first_in, *through;
    uint32_t shows; /* the thread whose event reveals it */
};

struct tms_predict_port {
    void *user;
    /*
     * Returns the number of blocks that are open now and were open at event `since`, 0 if that is
     * only the transaction. Lists the transaction first; of more than TMS_PREDICT_BLOCKS, the
     * innermost.
     */
    uint32_t (*blocks)(void *thread, uint64_t since,
                       struct tms_predict_block blocks[TMS_PREDICT_BLOCKS]);
    /* Called in the thread whose event reveals it. */
    void (*predict)(void *user, const struct tms_prediction *prediction);
    /* Out of memory: later predictions are unreliable. Called once or more. */
    void (*fail)(void *user);
};

struct tms_predictor {
    struct tms_predict_port port;
    uint32_t taken_most; /* TMS_PREDICT_TAKEN; tests have less */
    bool pairs;          /* also windows between two locks */
    _Atomic bool
        waits_held; /* some thread waited for something other than a lock while holding one */
};

void tms_predict_acquire(struct tms_predictor *predict, struct tms_predict_thread *thread,
                         struct tms_predict_lock *lock, const struct tms_predict_op *op);
void tms_predict_release(struct tms_predictor *predict, struct tms_predict_thread *thread,
                         struct tms_predict_lock *lock, const struct tms_predict_op *op);
/*
 * The thread waits at this event for something other than a lock: a join, a barrier or a condition;
 * after the last, the next acquire reacquires the lock.
 */
void tms_predict_wait(struct tms_predictor *predict, struct tms_predict_thread *thread,
                      uint64_t number, bool condition);

/*
 * Marks a lock as held, for requests only: no rule uses it, and it orders nothing. The second marks
 * it as no longer held, for whatever reason.
 */
void tms_predict_hold(struct tms_predictor *predict, struct tms_predict_thread *thread,
                      struct tms_predict_lock *lock, const struct tms_predict_op *op);
void tms_predict_drop(struct tms_predict_thread *thread, const struct tms_predict_lock *lock);

void tms_predict_lock_clear(struct tms_predict_lock *lock);
/* Frees the state of a thread except its order, which retires separately. */
void tms_predict_thread_clear(struct tms_predict_thread *thread);

#endif
