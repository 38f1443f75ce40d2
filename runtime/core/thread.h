/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptor of a thread. Only the thread itself reads and writes its descriptor, except where
 * a comment below says otherwise. `engine`, the frontier engine's state of the thread, is under the
 * engine's lock, except for its `in`, log and stretch, which only the thread itself changes.
 */
#ifndef TMS_RUNTIME_THREAD_H
#define TMS_RUNTIME_THREAD_H

#include <stdatomic.h>

#include "frontier/frontier.h"
#include "protocol/spool_format.h"
#include "runtime/core/rt.h"
#include "runtime/core/thread_clocks.h"

/* A frame of the program's call stack, as far as its functions have hooks. */
struct tms_rt_frame {
    uintptr_t address; /* inside the function */
    uintptr_t caller;  /* return address; with TMS_RT_INLINED, that of the enclosing function */
    uintptr_t frame;   /* near its stack pointer: smaller is further in */
    uint32_t site;     /* of the call; 0 until it is needed */
    uint16_t held;     /* number of locks that the thread held on entry */
    uint8_t block;     /* enum tms_rt_frame_kind */
    bool real;         /* the function or one of its callers is user code, not plumbing */
};

/* Flag in `caller`: the function was inlined (profile_hooks.c). No user address has this bit. */
#define TMS_RT_INLINED ((uintptr_t)1 << 63)

/* Not a block; an atomic block; a call that a recording mentions (judge_events.c). */
enum tms_rt_frame_kind { TMS_RT_FRAME_PLAIN, TMS_RT_FRAME_BLOCK, TMS_RT_FRAME_CALL };

/* Cache of the functions that a thread called recently, by address: see call_stack.h. */
#define TMS_RT_FUNCTION_CACHE 512u
struct tms_rt_called {
    uintptr_t plain[TMS_RT_FUNCTION_CACHE]; /* 2 · address, plus 1 if it is plumbing */
    struct tms_rt_function *function[TMS_RT_FUNCTION_CACHE]; /* never NULL */
};

struct tms_rt_function;

/* An open block (annotated, function, or critical section) or call. */
struct tms_rt_open {
    uint32_t label;
    uint32_t site;
    uint8_t source;                   /* enum tms_rt_source */
    bool epoch;                       /* its begin and its end each start an epoch */
    uint64_t number;                  /* of its begin */
    struct tms_rt_function *function; /* NULL: not a function */
};

enum tms_rt_source { TMS_RT_ANNOTATED, TMS_RT_FUNCTION, TMS_RT_SECTION, TMS_RT_CALL };

/* A lock that the thread holds. */
struct tms_rt_held {
    const void *lock;
    uint64_t since; /* the event that took it */
    uint32_t depth;
    uint32_t site; /* where it was taken; only with a schedule */
    bool shared;
    bool inherited; /* taken before the fork that made this process */
};

#define TMS_RT_SITE_CACHE 1024
struct tms_rt_site_entry {
    uintptr_t pc;
    uint32_t parent, id;
};

/* Cache of annotated blocks' names, by the address of the string. */
#define TMS_RT_LABEL_CACHE 16u
struct tms_rt_label {
    const char *name; /* a copy */
    uint32_t id;      /* 0: not meant to be atomic */
};

/*
 * The last event of a site in the spool, which a later access may still extend (access_coalesce.c).
 */
#define TMS_RT_RUNS 64u
struct tms_rt_run {
    struct tms_spool_event *event; /* NULL: none */
    uint64_t block;                /* begin of the innermost block at that time; 0: none */
    uint64_t coalesce_epoch;
};

#define TMS_RT_OBJECT_CACHE 64
struct tms_rt_object_entry {
    const void *object;
    uint32_t what; /* enum tms_rt_sync */
    uint32_t age;  /* `age` of sync_objects.c when the entry was made */
    uint32_t id;
};

/*
 * Edges from one thread that closed a cycle with the transaction that began at `begin`. A further
 * edge from a moment between `first` and `last` would close the same cycle and is redundant.
 */
#define TMS_RT_REFUSED 8u
struct tms_rt_refused {
    uint64_t begin;
    uint64_t first, last;
};

/* The last acquires of a thread, for windows between two acquires of a lock (window_learning.h). */
#define TMS_RT_ACQUIRES 8u
struct tms_rt_acquires {
    const void *lock[TMS_RT_ACQUIRES];
    uint64_t event[TMS_RT_ACQUIRES];
    uint32_t site[TMS_RT_ACQUIRES];
    uint32_t next;
};

/* A window that a thread is inside, and the object of the window (schedule_directed.c). */
#define TMS_RT_OPENED 8u
struct tms_rt_opened {
    uint32_t window;  /* its number, from 1 on; 0: none */
    uint8_t bytes;    /* which of the 8 bytes at `object`; 0: it is a lock */
    bool writes;      /* the thread has written them */
    uintptr_t object; /* the address */
    uint64_t event;   /* number of the thread's last event when the window opened */
};

/* State of a thread in schedule_pct.c, under the lock of that file. */
struct tms_rt_turn {
    int64_t priority; /* 0: not scheduled */
    unsigned state;
    uint32_t same; /* consecutive points at `pc` */
    uintptr_t pc;
    uintptr_t wanted;       /* the lock that it waits for */
    _Atomic uint32_t calls; /* futex that the thread waits on for its turn */
};

struct tms_rt_predicting;

struct tms_rt_thread {
    /*
     * Read by every hook, so these come first and share cache lines. `held_count` is the length of
     * `held` (sync_objects.c), `way_out` belongs to signal_handlers.c, the frames to call_stack.h.
     */
    uint64_t epoch, epoch_span; /* shadow words of the current epoch (shadow.h) */
    uint32_t inside;            /* nonzero: inside the runtime, so nothing is watched */
    tms_rt_way_out *way_out;    /* called when the thread leaves the runtime; NULL: none */
    /* Nesting depth of requests to ignore reads, writes, updates; by enum tms_rt_access. */
    uint32_t ignored[TMS_RT_UPDATE + 1];
    /* The call stack. frames[0] is a sentinel: further out than any real frame. */
    struct tms_rt_frame *top, *frames_end, *frames;
    uint32_t too_deep; /* frames that did not fit */
    uint32_t held_count;

    /*
     * engine_online.c and transaction_ring.c. Other threads read `number` and `engine` under the
     * engine's lock, and `running` without a lock; `index` and `parent` never change.
     */
    uint64_t number;                    /* of its last event */
    uint64_t word_base;                 /* its slot, shifted as in a shadow word */
    uint64_t stretch, stretch_span;     /* shadow words of the current stretch (frontier.h) */
    struct tms_frontier_thread *engine; /* NULL before its first event */
    /*
     * Begin of a transaction that the engine does not know of yet; 0: none. The thread that opens
     * its row, under the engine's lock, and the owner that ends it both exchange it for 0.
     */
    _Atomic uint64_t unopened;
    /* Begin of the running transaction, whether the engine knows of it or not; 0: none runs. */
    _Atomic uint64_t running;
    uint64_t running_from;                         /* the owner's plain copy of `running` */
    struct tms_rt_refused refused[TMS_RT_REFUSED]; /* by slot */
    uint32_t index;                                /* from 1 on, never reused */
    uint32_t parent;

    /* open_blocks.c, judge_events.c and sync_recorder.c: open blocks, and events to be spooled. */
    struct tms_rt_open *open;
    uint32_t open_count, open_capacity;
    uint32_t deferred_begins;  /* innermost blocks whose begins are not in the spool yet */
    uint64_t spooled;          /* number of the last event in the spool */
    struct tms_rt_open *calls; /* judge_events.c */
    uint32_t call_count, call_capacity;
    uint32_t deferred_calls;           /* innermost calls that are not in the spool yet */
    uint8_t mark;                      /* enum tms_spool_mark of the access being recorded */
    uint8_t order;                     /* its enum tms_order if atomic; 0: unknown */
    struct tms_spool_event waiting[2]; /* sync_recorder.c */
    uint32_t waiting_count;
    bool split_due;     /* after a fork: split the transaction at the next event */
    uint64_t annotated; /* stack of annotated blocks, innermost in bit 0; 1: meant to be atomic */

    /* sync_objects.c and predict_online.c. */
    struct tms_rt_held *held;
    uint32_t held_capacity;
    struct tms_rt_predicting *predicting; /* predict_online.c; NULL: nothing is predicted */
    uint32_t unowned_seen;                /* `unowned` of sync_objects.c at the last check */

    /* engine_online.c and violations.c: the pending violation. Under the engine's lock. */
    uint64_t closing_held[TMS_SPOOL_HELD]; /* locks held when the violation was found */
    uint32_t closing_count;
    bool closing;
    struct tms_spool_violation *shown; /* its record in the spool */
    uint64_t shown_state;

    /* The slow path of an access: coverage.h and cells.c. */
    uint32_t coverage_candidates; /* accesses that coverage might check */
    uint64_t *entries;            /* scratch: the words of a cell that has nodes */
    uint32_t entry_capacity;
    uint32_t spare_node; /* 0: none */

    /*
     * judge_online.c. Other threads read the `judge` of a thread that accessed the same memory,
     * and all of these when the process ends.
     */
    struct tms_judge_thread *judge; /* NULL: nothing is judged */
    uint32_t judged_blocks;         /* outermost entries of `open` that are open in the core */
    uint32_t judged_calls;          /* … and of `calls` */
    uint64_t *runs_of;              /* executions, by label */
    size_t run_capacity;

    /* thread_clocks.c. The creator fills `forked` in before the thread runs. */
    uint64_t *seen; /* by slot: events up to this number happen before what it does now */
    struct tms_rt_snapshot *snapshot; /* copy of `seen` and `wider`; … */
    bool seen_more;                   /* … out of date, for one of them has grown */
    struct tms_rt_snapshot *wider;    /* order that came through the kernel; NULL: none */
    _Atomic uint64_t signalled; /* signals that interrupted the runtime; see kernel_channels.h */
    struct tms_rt_clock forked; /* what its creator had released at the fork */
    struct tms_rt_clock fenced; /* released by its last release fence */
    struct tms_rt_clock loaded; /* read by relaxed loads, for the next acquire fence */

    /* Caches: of call_stack.h, functions.c, sites.h and sync_objects.c. */
    struct tms_rt_called called;
    const struct tms_rt_label *labels[TMS_RT_LABEL_CACHE]; /* NULL: empty */
    struct tms_rt_site_entry sites[TMS_RT_SITE_CACHE];
    struct tms_rt_object_entry objects[TMS_RT_OBJECT_CACHE];

    /* spool_writer.c and access_coalesce.c. */
    struct tms_spool_chunk *events; /* where its next event goes */
    bool events_cut;                /* the spool has no room for its events any more */
    struct tms_spool_event *last_event;
    uint64_t coalesce_epoch; /* advanced by incoming edges and by anything but an access */
    struct tms_rt_run runs[TMS_RT_RUNS];
    struct tms_rt_run last_run; /* of the last access that was written */

    /* runtime_stack.c and signal_handlers.c. */
    void *deep_stack; /* NULL: none, or in use */
    void *way_out_argument;
    int way_out_value;
    struct tms_rt_handler *handlers; /* that have interrupted the runtime, innermost first */

    /* thread_registry.c: set when the thread starts. Other threads read `tid`. */
    uintptr_t stack_low, stack_high;
    uintptr_t entry;
    int64_t tid;

    /*
     * scheduler.c and its strategies, window_learning.c. Other threads read `points_passed`,
     * `steered` and `held_until` without a lock; `turn` is under the lock of schedule_pct.c.
     */
    uint64_t random; /* state of its random stream */
    struct tms_rt_acquires acquires;
    struct tms_rt_opened opened[TMS_RT_OPENED];
    uint32_t points_passed;
    struct tms_rt_turn turn;
    _Atomic bool steered;                       /* schedule_pct.c makes it wait */
    const _Atomic uint32_t *_Atomic held_until; /* directed: it waits until this is not 0 */
    bool from_outside;     /* it was outside the runtime when it reached its point */
    uint32_t syncs_passed; /* points that synchronise, counted up to EARLY (schedule_noise.c) */

    /* thread_registry.c. The lists are under its lock, and so are reads of the counts by others. */
    _Atomic uint32_t uses; /* references: the thread itself, and threads that may join it */
    uint64_t events_seen;  /* past the filter */
    uint64_t transactions_seen, blocks_seen;
    struct tms_rt_thread *next, *next_free;
};

/* Inline tms_rt_enter and tms_rt_leave, for the hooks that the compiler inserts everywhere. */
static inline struct tms_rt_thread *tms_rt_enter_fast(void)
{
    struct tms_rt_thread *thread = tms_rt_self;

    if (thread == NULL || thread->inside != 0) {
        return NULL;
    }
    thread->inside = 1;
    return thread;
}

/* A jump out of a signal handler was deferred until now (signal_handlers.c). Does not return. */
void tms_rt_leave_now(struct tms_rt_thread *thread);

/* In this order: a signal that arrives between the two stores finds the thread outside. */
static inline void tms_rt_leave_fast(struct tms_rt_thread *thread)
{
    thread->inside = 0;
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(thread->way_out != NULL, 0)) {
        tms_rt_leave_now(thread);
    }
}

/* What is watched and what is recorded. Set at the start; `checks` is cleared by a loss. */
struct tms_rt_mode {
    bool checks;       /* anything is watched at all */
    bool memory;       /* … including plain accesses */
    bool records;      /* events go to the spool: those that pass the filter, … */
    bool full;         /* … or all of them */
    bool records_sync; /* at least synchronisation and blocks go to the spool */
    bool judges;       /* `judge` runs inside the program */
    bool exact_races;  /* every block starts an epoch: exact even for programs with races */
    bool scheduled;    /* threads are steered along a schedule */
    bool special;      /* `full` or `scheduled`: block begins take the slow path */
};
extern struct tms_rt_mode tms_rt_mode;

/* Layout of slot and event number in a shadow word: see shadow.h. */
#define WORD_EVENT      12
#define WORD_EVENT_MOST ((UINT64_C(1) << 38) - 1)
#define WORD_SLOT       50
#define WORD_SLOT_MOST  0xfffu

/* Starts a new epoch of the thread at this event, … */
static inline void tms_rt_start_epoch_at(struct tms_rt_thread *thread, uint64_t event)
{
    uint64_t end = thread->word_base + (UINT64_C(1) << WORD_SLOT);

    thread->epoch = thread->word_base + (event << WORD_EVENT);
    thread->epoch_span = tms_rt_mode.full ? 0 : end - thread->epoch;
}

/* … or at its next event. */
static inline void tms_rt_start_epoch(struct tms_rt_thread *thread)
{
    tms_rt_start_epoch_at(thread, thread->number + 1);
}

#endif
