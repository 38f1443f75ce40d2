/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SideTrack's rules, for a run that goes on: which acquire could cut a block of another thread.
 * docs/research/engines/sidetrack.md has the rules and their names (A, R, V, H, I), sidetrack.c the
 * same for traces. This knows neither traces nor the runtime: it is called at each operation, asks
 * a port which blocks are open, and hands predictions to it.
 *
 * Threads may call at the same time. The state of a thread is its own; that of a lock belongs to
 * the thread that holds the lock: call tms_predict_acquire after the real acquire, and
 * tms_predict_release before the real release. Those who share a lock keep each other out here.
 *
 * Bounds: no state grows with the run. A lock has two acquires of each kind and three windows, a
 * thread the locks of its transaction, up to TMS_PREDICT_TAKEN, and its last sections. What is
 * beyond a bound is left out: a window, a culprit or the name of a block, but never an order.
 *
 * Cost of an operation on a lock that the thread used last: no clock is joined or copied, nothing
 * is allocated, and two or three cache lines of the lock are touched.
 */
#ifndef TMS_PREDICT_LOCK_WINDOWS_H
#define TMS_PREDICT_LOCK_WINDOWS_H

#include <stdatomic.h>

#include "predict/predict_order.h"

#define TMS_PREDICT_BLOCKS 8u    /* blocks of a window with names */
#define TMS_PREDICT_TAKEN  2048u /* locks of a transaction that are followed */
#define TMS_PREDICT_CUTS   16u   /* windows that the locks a thread holds could cut */
#define TMS_PREDICT_RECENT 8u    /* sections that a thread remembers; a power of two */
#define TMS_PREDICT_FIRSTS 4u    /* … and of them, those that a window between two locks has */

/* How a lock is taken. Of windows, SHARED means acquires of any kind. */
enum { TMS_TAKE_SHARED, TMS_TAKE_EXCLUSIVE, TMS_TAKE_KINDS };

enum tms_predict_error { TMS_ERROR_BEFORE, TMS_ERROR_IN, TMS_ERROR_AFTER, TMS_ERROR_PAIR };

/* What went on inside a section of a lock. */
enum {
    TMS_SECTION_NESTED = 1, /* took a lock that is held over other waiting, or updated an atomic */
    TMS_SECTION_WAITS = 2,  /* waited for something that is no lock */
};

struct tms_predict_block {
    uint64_t begin; /* number of the event */
    uint32_t label, site;
};

/* An operation on a lock, and where its thread is. */
struct tms_predict_op {
    uint64_t number;
    uint64_t activation; /* for the port */
    uint64_t innermost;  /* the begin of the innermost open block, and how many are open: only */
    uint32_t depth;      /* to see whether blocks are the same as before */
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

/* An acquire, with the thread's moment before it: A of the lock. */
struct tms_predict_acquire {
    struct tms_predict_place place;
    struct tms_predict_block block; /* of a unary one: itself, without a label */
    uint32_t slot;                  /* 0: none */
    uint32_t thread;
    uint16_t seen_slot; /* its thread in the clocks that the caller keeps; 0: none */
    uint8_t section;    /* when it has ended: TMS_SECTION_* */
    bool unary;
    bool fixed; /* can't be put after a later acquire of another thread */
};

/* Two acquires of a lock in one block: V of the lock is that of the second. */
struct tms_predict_window {
    struct tms_predict_acquire second; /* its slot 0: no window, or one that is reported */
    struct tms_predict_place first;
    uint64_t innermost; /* of the second */
    uint32_t depth;
    uint32_t block_count; /* 0: only the transaction */
    struct tms_predict_block blocks[TMS_PREDICT_BLOCKS];
};

/* A section that a thread began lately. */
struct tms_predict_recent {
    struct tms_predict_place place; /* number 0: none */
    struct tms_predict_block block; /* of a unary one: itself, without a label */
    uint32_t lock;                  /* what the caller calls it */
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
    uint32_t id;                /* what the caller calls it */
    bool shared_since;          /* shared releases since the last exclusive acquire */
    bool shared;                /* was ever taken so */
    _Atomic bool inner;         /* was held by a thread that waited for something */
    _Atomic bool busy;          /* one of those who share it is at work here */
    uint8_t newest[TMS_TAKE_KINDS];
    struct tms_predict_acquire last[TMS_TAKE_KINDS][2];
    struct tms_predict_window window[TMS_TAKE_KINDS];
    struct tms_predict_pair *pair; /* NULL: there never was one */
    struct tms_vector released_shared;
    struct tms_memory memory; /* counts its clocks, in the hands of its holder as they are */
};

struct tms_predict_hold {
    struct tms_predict_lock *lock;
    struct tms_predict_acquire acquire; /* place, block, thread */
    uint32_t cut;                       /* 1 + the index of what its acquire could cut; 0: none */
    uint32_t pair;                      /* likewise of a window between two locks */
    bool inner;                         /* lock->inner is set for this hold and all before it */
};

/* A window taken away from its lock by an acquire that could cut it, until the release. */
struct tms_predict_cut {
    bool used;
    struct tms_predict_window window;
    struct tms_predict_acquire culprit;
    struct tms_predict_recent first, through; /* of a pair: sections of its first lock, also the
                                                 culprit's; number 0: it is none */
};

/* A lock that was taken in the running transaction: H. */
struct tms_predict_taken {
    uint64_t block; /* the begin of the transaction; another: the place is free */
    const struct tms_predict_lock *lock;
    struct tms_predict_place last[TMS_TAKE_KINDS]; /* of any kind; exclusive */
    uint64_t since[TMS_TAKE_KINDS];                /* the first of them */
    uint64_t before[TMS_TAKE_KINDS]; /* I: the acquire that could come after it as well, or 0 */
    uint8_t section;                 /* TMS_SECTION_* of all its sections in the transaction */
};

struct tms_predict_thread {
    void *user; /* for the port */
    struct tms_memory memory;
    struct tms_thread_order order; /* counted by this memory */
    /*
     * Happens-before clocks that the caller keeps, by slots of its own: their order counts as well.
     * They may have order that no call here reports: `seen` by atomics, `wider` through the kernel.
     */
    const uint64_t *seen;  /* NULL: none */
    const uint64_t *wider; /* so many slots of it */
    uint32_t wider_count;
    uint16_t seen_slot;
    bool woken;     /* waited for a condition: the next acquire takes the lock back */
    uint64_t block; /* the transaction that `taken` is about */
    struct tms_predict_taken *taken;
    size_t taken_size, taken_count; /* open-addressed, a power of two; those of the transaction */
    struct tms_predict_hold *held;  /* in the order in which they were taken */
    size_t held_count, held_capacity;
    struct tms_predict_cut *cuts; /* NULL, or TMS_PREDICT_CUTS of them */
    uint64_t cramped;       /* of the times it waited with locks: the latest acquire held then */
    uint64_t nested, stuck; /* its last events that make a section TMS_SECTION_NESTED, _WAITS */
    uint64_t completed;     /* the last transaction that has had a whole section */
    uint32_t recent_at;     /* the last one written */
    struct tms_predict_recent recent[TMS_PREDICT_RECENT]; /* a ring */
    uint64_t acquires, windows, dropped, reports;
    struct tms_predict_block scratch[TMS_PREDICT_BLOCKS]; /* not on a stack that may be small */
};

struct tms_prediction {
    enum tms_predict_error error;
    bool rough; /* threads may wait for each other in that schedule */
    const struct tms_predict_lock *lock;
    const struct tms_predict_place *first, *second, *culprit;
    uint32_t thread; /* of the block */
    struct tms_predict_block block;
    const struct tms_predict_block *blocks; /* open at both acquires, the transaction first; … */
    uint32_t block_count;                   /* … 0: only the transaction */
    const struct tms_predict_acquire *culprit_in;
    /* Of a pair, else NULL: the section of the first lock, and the culprit's of the same. */
    const struct tms_predict_recent *first_in, *through;
    uint32_t shows; /* the thread of the event that shows it */
};

struct tms_predict_port {
    void *user;
    /*
     * Blocks that are open now and were at event `since`: the transaction first, and of more than
     * TMS_PREDICT_BLOCKS the innermost. How many; 0 if there is only the transaction.
     */
    uint32_t (*blocks)(void *thread, uint64_t since,
                       struct tms_predict_block blocks[TMS_PREDICT_BLOCKS]);
    /* In the thread that shows it. */
    void (*predict)(void *user, const struct tms_prediction *prediction);
    /* No memory: nothing that is said from now on can be trusted. Called once or more. */
    void (*fail)(void *user);
};

struct tms_predictor {
    struct tms_predict_port port;
    uint32_t taken_most;     /* TMS_PREDICT_TAKEN; tests have less */
    bool pairs;              /* windows between two locks, too */
    _Atomic bool waits_held; /* some thread waited for what is no lock, while holding one */
};

void tms_predict_acquire(struct tms_predictor *predict, struct tms_predict_thread *thread,
                         struct tms_predict_lock *lock, const struct tms_predict_op *op);
void tms_predict_release(struct tms_predictor *predict, struct tms_predict_thread *thread,
                         struct tms_predict_lock *lock, const struct tms_predict_op *op);
/*
 * The thread waits at this event for something that is no lock: a join, a barrier, a condition; for
 * the last, the next acquire takes the lock back.
 */
void tms_predict_wait(struct tms_predictor *predict, struct tms_predict_thread *thread,
                      uint64_t number, bool condition);

/*
 * A lock that is only to be known as held, for requests: no rule looks at it, and it orders
 * nothing. And one that the thread no longer holds, however that came about.
 */
void tms_predict_hold(struct tms_predictor *predict, struct tms_predict_thread *thread,
                      struct tms_predict_lock *lock, const struct tms_predict_op *op);
void tms_predict_drop(struct tms_predict_thread *thread, const struct tms_predict_lock *lock);

void tms_predict_lock_clear(struct tms_predict_lock *lock);
/* What a thread holds besides its order, which retires on its own. */
void tms_predict_thread_clear(struct tms_predict_thread *thread);

#endif
