/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runtime knows of a thread. Its own thread alone reads and writes it, but where it
 * says otherwise; the engine's view of the thread is under the engine's lock, except its `in`,
 * its log and its stretch, which only the thread itself changes.
 */
#ifndef TMS_RUNTIME_THREAD_H
#define TMS_RUNTIME_THREAD_H

#include <stdatomic.h>

#include "frontier/frontier.h"
#include "protocol/spool_format.h"
#include "runtime/core/rt.h"
#include "runtime/core/thread_clocks.h"

/* A frame of the program's stack, as far as its functions announce themselves. */
struct tms_rt_frame {
    uintptr_t address; /* inside the function */
    uintptr_t caller;  /* where it returns to; TMS_RT_INLINED: where the function around it does */
    uintptr_t frame;   /* near its stack pointer: smaller is further in */
    uint32_t site;     /* of the call, 0 until it is needed */
    uint16_t held;     /* locks that the thread held when it came in */
    uint8_t block;     /* enum tms_rt_frame_kind */
    bool real;         /* it, or one further out, is what a programmer wrote, not plumbing */
};

/* In `caller`: the function was inlined (profile_hooks.c). No address has it. */
#define TMS_RT_INLINED ((uintptr_t)1 << 63)

/* No block; an atomic block; called, which a recording mentions (judge_events.c). */
enum tms_rt_frame_kind { TMS_RT_FRAME_PLAIN, TMS_RT_FRAME_BLOCK, TMS_RT_FRAME_CALL };

/* What a thread has called lately, by address: see call_stack.h. */
#define TMS_RT_FUNCTION_CACHE 512u
struct tms_rt_called {
    uintptr_t plain[TMS_RT_FUNCTION_CACHE]; /* 2 · address, or one more: it is plumbing */
    struct tms_rt_function *function[TMS_RT_FUNCTION_CACHE]; /* all; never NULL */
};

struct tms_rt_function;

/* A block that is open: by annotation, by function, or a critical section; or a call. */
struct tms_rt_open {
    uint32_t label;
    uint32_t site;
    uint8_t source;                   /* enum tms_rt_source */
    bool epoch;                       /* an epoch starts with its begin and its end */
    uint64_t number;                  /* of its begin */
    struct tms_rt_function *function; /* NULL: it is none */
};

enum tms_rt_source { TMS_RT_ANNOTATED, TMS_RT_FUNCTION, TMS_RT_SECTION, TMS_RT_CALL };

/* A lock that the thread holds. */
struct tms_rt_held {
    const void *lock;
    uint64_t since; /* the event that took it */
    uint32_t depth;
    uint32_t site; /* where it was taken, if there is a schedule */
    bool shared;
    bool inherited; /* taken before the fork that made this process */
};

#define TMS_RT_SITE_CACHE 1024
struct tms_rt_site_entry {
    uintptr_t pc;
    uint32_t parent, id;
};

/* The names of annotated blocks that a thread began lately, by the address of the text. */
#define TMS_RT_LABEL_CACHE 16u
struct tms_rt_label {
    const char *name; /* a copy */
    uint32_t id;      /* 0: not meant to be atomic */
};

/* What a site has in the spool, as long as it may become longer: see access_coalesce.c. */
#define TMS_RT_RUNS 64u
struct tms_rt_run {
    struct tms_spool_event *event; /* NULL: nothing */
    uint64_t block;                /* the begin of the innermost block then, 0: none */
    uint64_t coalesce_epoch;
};

#define TMS_RT_OBJECT_CACHE 64
struct tms_rt_object_entry {
    const void *object;
    uint32_t what; /* enum tms_rt_sync */
    uint32_t age;  /* of what sync_objects.c knew */
    uint32_t id;
};

/*
 * Edges that closed a cycle, into the transaction that began at `begin`, from one thread: another
 * one from these moments, or from between, closes it again and is redundant. A thread remembers a
 * few.
 */
#define TMS_RT_REFUSED 8u
struct tms_rt_refused {
    uint64_t begin;
    uint64_t first, last;
};

/* The last acquires of a thread, where windows are found by locks (window_learning.h). */
#define TMS_RT_ACQUIRES 8u
struct tms_rt_acquires {
    const void *lock[TMS_RT_ACQUIRES];
    uint64_t event[TMS_RT_ACQUIRES];
    uint32_t site[TMS_RT_ACQUIRES];
    uint32_t next;
};

/* A window that a thread is in, and what that is about (schedule_directed.c). */
#define TMS_RT_OPENED 8u
struct tms_rt_opened {
    uint32_t window;  /* its number, from 1 on; 0: none */
    uint8_t bytes;    /* of the 8 at the address; 0: it is a lock */
    bool writes;      /* the thread has written them */
    uintptr_t object; /* the address */
    uint64_t event;   /* the number of the thread then */
};

/* What schedule_pct.c knows of a thread, under its lock. */
struct tms_rt_turn {
    int64_t priority; /* 0: it does not take part */
    unsigned state;
    uint32_t same;          /* points in a row at … */
    uintptr_t pc;           /* … this place */
    uintptr_t wanted;       /* the lock that it waits for */
    _Atomic uint32_t calls; /* to run: what it waits on */
};

struct tms_rt_predicting;

struct tms_rt_thread {
    /* Looked at by every hook. */
    uint64_t epoch, epoch_span; /* its words of the current epoch, see shadow.h */
    uint32_t inside;            /* in the runtime: nothing is watched */
    tms_rt_way_out *way_out;    /* to be called when it is left, see signal_handlers.c */
    /* Asked not to watch its reads, writes, updates, so often over; by enum tms_rt_access. */
    uint32_t ignored[TMS_RT_UPDATE + 1];
    /* Of functions, see call_stack.h. The first of the frames is none, and further out than all. */
    struct tms_rt_frame *top, *frames_end, *frames;
    uint32_t too_deep; /* frames for which there was no room */
    uint32_t held_count;

    uint64_t number;                /* of its last event; read by others under the engine's lock */
    uint64_t word_base;             /* its slot, as words have it */
    uint64_t stretch, stretch_span; /* its words of the current stretch, see frontier.h */
    struct tms_frontier_thread *engine; /* NULL before its first event */
    /*
     * The begin of a transaction that the engine does not know of yet, 0: none. A thread that makes
     * it known under the engine's lock, and the owner when it ends it, exchange it for 0.
     */
    _Atomic uint64_t unopened;
    /* The begin of its transaction, known to the engine or not; 0 outside. Read by others. */
    _Atomic uint64_t running;
    uint64_t running_from;                         /* the same, for the thread itself */
    struct tms_rt_refused refused[TMS_RT_REFUSED]; /* by slot */
    uint32_t index;                                /* from 1 on, never used again */
    uint32_t parent;

    struct tms_rt_open *open;
    uint32_t open_count, open_capacity;
    uint32_t deferred_begins;  /* the innermost of them, whose begins are not in the spool yet */
    uint64_t spooled;          /* the number of what is the last there */
    struct tms_rt_open *calls; /* of judge_events.c */
    uint32_t call_count, call_capacity;
    uint32_t deferred_calls; /* the innermost of them, which are not in the spool yet */
    uint8_t mark;            /* of the access that it records now, see enum tms_spool_mark */
    uint8_t order;           /* … and enum tms_order of an atomic one, 0: none is known */
    struct tms_spool_event waiting[2]; /* of sync_recorder.c */
    uint32_t waiting_count;
    bool split_due;     /* with the next event: it forked */
    uint64_t annotated; /* the annotated blocks, innermost last: a bit says if it is meant */
    struct tms_rt_held *held;
    uint32_t held_capacity;
    struct tms_rt_predicting *predicting; /* of predict_online.c, NULL: nothing is predicted */
    uint32_t
        unowned_seen; /* of sync_objects.c: how many unowned locks there were when it last looked */

    uint64_t closing_held[TMS_SPOOL_HELD]; /* locks held when its pending violation was found */
    uint32_t closing_count;
    bool closing;
    struct tms_spool_violation *shown; /* its record for the block that runs, see violations.c */
    uint64_t shown_state;
    uint32_t cover_looks; /* of coverage.h: how often it might have looked */
    uint64_t *entries;    /* scratch of shadow.c */
    uint32_t entry_capacity;
    uint32_t spare_node; /* of cells.c, 0: none */

    /* Of judge_online.c. */
    struct tms_judge_thread *judge; /* NULL: nothing is judged */
    uint32_t judged_blocks,
        judged_calls;  /* of `open` and `calls`, so many outer ones are in the core */
    uint64_t *runs_of; /* executions, by label */
    size_t run_capacity;

    /* Of thread_clocks.c. */
    uint64_t *seen; /* by slot: events up to this number happen before what it does now */
    struct tms_rt_snapshot *snapshot; /* of `seen`, … */
    bool seen_more;                   /* … which has grown since, or `wider` has */
    struct tms_rt_snapshot *wider;    /* what it knows through the kernel; NULL: nothing */
    _Atomic uint64_t signalled; /* signals that interrupted the runtime; see kernel_channels.h */
    struct tms_rt_clock forked; /* what its creator had released; of the creator's making */
    struct tms_rt_clock fenced; /* released by its last release fence */
    struct tms_rt_clock loaded; /* what its relaxed loads got, for an acquire fence */
    struct tms_rt_called called;
    const struct tms_rt_label *labels[TMS_RT_LABEL_CACHE]; /* NULL: none yet */
    struct tms_rt_site_entry sites[TMS_RT_SITE_CACHE];
    struct tms_rt_object_entry objects[TMS_RT_OBJECT_CACHE];
    struct tms_spool_chunk *events; /* where its next event goes */
    bool events_cut;                /* … or that there is no room for it */
    struct tms_spool_event *last_event;
    uint64_t coalesce_epoch; /* another one when something comes in, or the thread does more than
                                access */
    struct tms_rt_run runs[TMS_RT_RUNS];
    struct tms_rt_run last_run; /* of the last access that was written */

    void *deep_stack; /* of runtime_stack.c; NULL: none, or in use */
    void *way_out_argument;
    int way_out_value;
    struct tms_rt_handler *handlers; /* that have interrupted the runtime, innermost first */

    uintptr_t stack_low, stack_high;
    uintptr_t entry;
    int64_t tid;
    uint64_t random; /* of its schedule */
    struct tms_rt_acquires acquires;
    struct tms_rt_opened opened[TMS_RT_OPENED];
    uint32_t points_passed; /* read by others */
    struct tms_rt_turn turn;
    _Atomic bool steered;   /* it waits because the schedule says so; read by others */
    bool from_outside;      /* it was not in the runtime when it came to its point */
    uint32_t places_passed; /* points that synchronise: the first ones only are counted */
    _Atomic uint32_t uses;  /* the thread itself, and threads that may join it */
    uint64_t events_seen;   /* past the filter */
    uint64_t transactions_seen, blocks_seen;
    struct tms_rt_thread *next, *next_free;
};

/* What tms_rt_enter and tms_rt_leave do, for the hooks that the compiler puts everywhere. */
static inline struct tms_rt_thread *tms_rt_enter_fast(void)
{
    struct tms_rt_thread *thread = tms_rt_self;

    if (thread == NULL || thread->inside != 0) {
        return NULL;
    }
    thread->inside = 1;
    return thread;
}

/* signal_handlers.c: a handler was left while the thread was inside. Does not return. */
void tms_rt_leave_now(struct tms_rt_thread *thread);

/* In this order: a handler that comes in between finds the thread outside. */
static inline void tms_rt_leave_fast(struct tms_rt_thread *thread)
{
    thread->inside = 0;
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(thread->way_out != NULL, 0)) {
        tms_rt_leave_now(thread);
    }
}

/* What is watched, and what is written down. Set at the start; `checks` ends with a loss. */
struct tms_rt_mode {
    bool checks;       /* anything is watched at all */
    bool memory;       /* plain accesses are */
    bool records;      /* the spool gets events: those that pass the filter, … */
    bool full;         /* … or all */
    bool records_sync; /* the spool gets synchronisation and blocks, at least */
    bool judges;       /* what happens to the data of blocks is judged */
    bool exact_races;  /* epochs start with every block: exact for programs that race, too */
    bool scheduled;    /* threads are steered along a schedule */
    bool special;      /* `full` or `scheduled`: each begin of a block is looked at */
};
extern struct tms_rt_mode tms_rt_mode;

/* A word of shadow memory holds slot and event number: see shadow.h. */
#define WORD_EVENT      12
#define WORD_EVENT_MOST ((UINT64_C(1) << 38) - 1)
#define WORD_SLOT       50
#define WORD_SLOT_MOST  0xfffu

/* The thread's accesses from this event on are of a new epoch. */
static inline void tms_rt_start_epoch_at(struct tms_rt_thread *thread, uint64_t event)
{
    uint64_t end = thread->word_base + (UINT64_C(1) << WORD_SLOT);

    thread->epoch = thread->word_base + (event << WORD_EVENT);
    thread->epoch_span = tms_rt_mode.full ? 0 : end - thread->epoch;
}

/* … from the next one on. */
static inline void tms_rt_start_epoch(struct tms_rt_thread *thread)
{
    tms_rt_start_epoch_at(thread, thread->number + 1);
}

#endif
