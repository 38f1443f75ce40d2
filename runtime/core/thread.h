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

/* engine_online.c */

/* The engine's lock is held by the caller. */
extern struct tms_rt_mutex tms_rt_engine_lock;
extern struct tms_frontier tms_rt_engine;

/* Gives the thread its slot with its first event, whatever that is. */
bool tms_rt_first(struct tms_rt_thread *thread, struct tms_op *op);
/* The next number, for an event that meets no other thread. */
static inline uint64_t tms_rt_next_number(struct tms_rt_thread *thread)
{
    thread->events_seen++;
    return ++thread->number;
}
/*
 * The next number for an event after those up to `source`, under the engine's lock: beyond all
 * numbers given out under the lock so far.
 */
uint64_t tms_rt_next_global_number(struct tms_rt_thread *thread, uint64_t source);
/* More than one thread at a time may operate on the lock. */
void tms_rt_lock_is_shared(uint32_t id);
/* The number of the last operation on a lock, if it was an exclusive one. */
uint64_t tms_rt_lock_used(uint32_t id);
/* The latest number given out under the lock, and by tms_rt_advance_clock. */
uint64_t tms_rt_now(void);
/* Lets others run. */
void tms_rt_yield(void);
/* Memory is reused: later accesses to it are ordered after earlier ones. */
void tms_rt_advance_clock(struct tms_rt_thread *thread);
/* The engine's stretch has changed, maybe. */
void tms_rt_refresh_filter(struct tms_rt_thread *thread);
/*
 * transaction_ring.c: transactions. The thread's runs from this event on, as those see it who find
 * what it did before; 0: none does.
 */
void tms_rt_publish_begin(struct tms_rt_thread *thread, uint64_t begin);
/* For the engine's port (frontier/frontier_port.h). */
bool tms_rt_ring_begin(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op);
void tms_rt_ring_end(struct tms_frontier_thread *t, uint64_t event);
struct tms_transaction tms_rt_ring_find(const struct tms_frontier_thread *t, uint64_t event,
                                        uint32_t place);
/* Like BEGIN and END, but known only to the thread itself until an edge needs the transaction. */
void tms_rt_begin_locally(struct tms_rt_thread *thread, uint32_t label, uint32_t site);
/*
 * False if the engine knows of the transaction by now: then the end must pass through the engine.
 */
bool tms_rt_end_locally(struct tms_rt_thread *thread, uint32_t label, uint32_t site);
/* The thread in a slot, NULL if it is over. */
#define TMS_RT_SLOTS_MOST 1024u
extern struct tms_rt_thread *tms_rt_by_slot[TMS_RT_SLOTS_MOST + 1];
static inline struct tms_rt_thread *tms_rt_thread_of_slot(uint32_t slot)
{
    return __atomic_load_n(&tms_rt_by_slot[slot], __ATOMIC_ACQUIRE);
}
/*
 * Is an edge from this moment irrelevant, because no running transaction reaches it? Not under the
 * lock: later events can't reach a moment of the past.
 */
bool tms_rt_edge_is_irrelevant(uint64_t moment);
/* Edges that are dull come in from moments up to this number: that of the event they come into. */
static inline uint64_t tms_rt_next_number_after(struct tms_rt_thread *thread, uint64_t source)
{
    thread->number = source > thread->number ? source : thread->number;
    return tms_rt_next_number(thread);
}
/* The thread of an index, as long as the engine knows it; under the lock. */
struct tms_rt_thread *tms_rt_thread_of_index(uint32_t index);
/* The thread is over: its slot is free, or has another thread already, which stays there. */
void tms_rt_forget_slot(struct tms_rt_thread *thread);
/* The thread's log is full. */
void tms_rt_rotate_log(struct tms_rt_thread *thread);
/* Room for what the thread does, for witnesses; it counts when it is filled in and _noted. */
static inline struct tms_op *tms_rt_next_note(struct tms_rt_thread *thread)
{
    struct tms_frontier_log *log = &thread->engine->log;

    if (__builtin_expect(log->next == log->stop, 0)) {
        tms_rt_rotate_log(thread);
    }
    return log->next;
}
static inline void tms_rt_noted(struct tms_rt_thread *thread)
{
    atomic_signal_fence(memory_order_release);
    thread->engine->log.next++;
}
/*
 * Field by field, which only atomics make sure of: a copy in larger pieces of what was just put
 * together waits until the small ones have arrived.
 */
static inline void tms_rt_note(struct tms_rt_thread *thread, const struct tms_op *op)
{
    struct tms_op *note = tms_rt_next_note(thread);

#define COPY(field) __atomic_store_n(&note->field, op->field, __ATOMIC_RELAXED)
    COPY(event);
    COPY(thread);
    COPY(target);
    COPY(location);
    COPY(event_kind);
    COPY(kind);
    COPY(flags);
    COPY(spared);
#undef COPY
    tms_rt_noted(thread);
}
/* An edge that is not implied, under the lock. */
/* Also keeps what was refused in mind. */
void tms_rt_add_edge(struct tms_rt_thread *thread, const struct tms_op *op,
                     struct tms_frontier_source source);
/* Has all that an edge from this moment into the thread would say been said? */
static inline bool tms_rt_edge_is_redundant(const struct tms_rt_thread *thread, uint64_t moment)
{
    const struct tms_rt_refused *refused = &thread->refused[moment_slot(moment) % TMS_RT_REFUSED];

    return implied(thread->engine, moment) ||
           (refused->begin == thread->running_from && refused->begin != 0 &&
            refused->first <= moment && moment <= refused->last);
}

/* Locks and barriers have cells in the engine, which never move. */
#define TMS_RT_IDS_MOST (1u << 22)
/*
 * The fast path of lock operations: the lock's cell belongs to this thread, and incoming edges, if
 * any, are irrelevant. False in any other case, and then nothing has happened.
 */
bool tms_rt_lock_fast_path(struct tms_rt_thread *thread, struct tms_op *op);
/* An operation without a cell in shadow memory goes to the engine. Takes the lock. */
void tms_rt_operate(struct tms_rt_thread *thread, struct tms_op *op, uint64_t source);
/* Threads with an index from `from` on and below `to` are over. */
#define TMS_RT_THREADS_EVER (1u << 26)
void tms_rt_forget_threads(uint32_t from, uint32_t to);
/* Empties the engine; false when there is no memory for it. */
bool tms_rt_engine_start(bool blame);
/* Hands over the violations of transactions that still run, and the counts. */
void tms_rt_engine_settle(void);
/* The counts alone. */
void tms_rt_engine_count(void);
/* The engine can't go on, or something else was lost. */
void tms_rt_record_loss(unsigned loss);

/* open_blocks.c */
void tms_rt_blocks_start(const char *sources, const char *split);
/* Ends and begins the transaction again, inside its blocks. */
void tms_rt_split(struct tms_rt_thread *thread, unsigned what, uintptr_t pc);
bool tms_rt_splits_at(unsigned what); /* enum tms_split: do such events split blocks? */
void tms_rt_section_begins(struct tms_rt_thread *thread, const void *lock, uintptr_t pc);
void tms_rt_section_ends(struct tms_rt_thread *thread, uintptr_t pc);
/* A fork has ended the transaction, and this is the next event: it begins another. */
void tms_rt_split_due(struct tms_rt_thread *thread, uint32_t site);
/* The thread waits inside the functions on its stack: they are not atomic by default. */
void tms_rt_functions_wait(struct tms_rt_thread *thread);
/* It ends: so do its blocks. */
void tms_rt_close_all(struct tms_rt_thread *thread);
/* Writes down the begins and calls that were put off, of what began before a number. */
void tms_rt_record_begins(struct tms_rt_thread *thread, uint64_t before);
static inline bool tms_rt_in_block(const struct tms_rt_thread *thread)
{
    return thread->open_count > 0;
}

/* judge_events.c */

/* A function begins that is no block by default. False when there is no memory for it. */
bool tms_rt_open_call(struct tms_rt_thread *thread, const struct tms_rt_function *function);
/* The innermost call returns. */
void tms_rt_close_call(struct tms_rt_thread *thread);
/* A block has ended, with a begin that is in the spool, and its function goes on. */
bool tms_rt_block_becomes_call(struct tms_rt_thread *thread, const struct tms_rt_open *block);
/* The thread is in something that `judge` may report. */
static inline bool tms_rt_is_judged(const struct tms_rt_thread *thread)
{
    return thread->open_count > 0 || thread->call_count > 0;
}
/* The tool has delayed the thread. */
void tms_rt_was_delayed(struct tms_rt_thread *thread);

/* sync_recorder.c: an event that is recorded along; and what has been held back, now. */
void tms_rt_record_sync(struct tms_rt_thread *thread, const struct tms_spool_event *event);
void tms_rt_record_sync_flush(struct tms_rt_thread *thread);

/* sync_objects.c */
uintptr_t tms_rt_object_address(enum tms_rt_sync what, uint32_t id);
/* In memory that the thread is about to clear; clearing is ordered after their use. */
void tms_rt_objects_gone(struct tms_rt_thread *thread, uintptr_t address, size_t size);
void tms_rt_objects_restart(void);
/* The thread ends with locks that it holds: a robust mutex can be taken by others then. */
void tms_rt_drop_locks(struct tms_rt_thread *thread);

/* heap_blocks.c: the block of the heap that holds an address; false if it is in none. */
struct tms_rt_heap_block {
    uintptr_t start;
    size_t size;
    uint32_t site; /* of the allocation */
};
bool tms_rt_heap_find(uintptr_t address, struct tms_rt_heap_block *found);
/* The same, but true only once as long as the block is allocated. */
bool tms_rt_heap_learn(uintptr_t address, struct tms_rt_heap_block *found);
void tms_rt_heap_restart(void);

/* violations.c */
void tms_rt_violations_restart(void);
/* For the engine's port (frontier/frontier_port.h). */
int tms_rt_take_violation(struct tms_frontier *f, const struct tms_violation *violation);
/* Writes down what is known of the thread's running transaction, if that changed. Under the lock.
 */
void tms_rt_spool_pending(struct tms_rt_thread *thread);
struct tms_spool_transaction tms_rt_spooled(const struct tms_transaction *transaction);
/* For the reader of a violation or race: the blocks of the heap that the steps conflict in. */
void tms_rt_spool_heap(const struct tms_spool_step *steps, size_t count);
/* … one block; `object` is a lock in it since the event `number`, or 0. */
void tms_rt_spool_block(const struct tms_rt_heap_block *block, uintptr_t object, uint64_t number);

/* sites.c */
void tms_rt_sites_restart(void);

/* thread_registry.c */
struct tms_rt_thread *tms_rt_registry_start(void);
void tms_rt_registry_restart(struct tms_rt_thread *only);
/* Adds up what the threads have counted so far. */
void tms_rt_registry_count(struct tms_spool_header *header);
/* Calls a function for every thread that lives. */
void tms_rt_registry_each(void (*function)(struct tms_rt_thread *thread));
/* Has there been no thread but the first? */
bool tms_rt_is_alone(void);
/* There is at least one block, however the process ends. */
void tms_rt_block_seen(void);

/* shadow.c */
void tms_rt_page_has_object(uintptr_t address);
/* Asked about whole pages, so the answer is "maybe". */
bool tms_rt_may_hold_objects(uintptr_t address, uintptr_t end);
/* As tms_rt_clear_history, for a thread that may be no longer watched. */
void tms_rt_clear_history_by(struct tms_rt_thread *thread, uintptr_t address, size_t size);
/* All that was known is forgotten, in the child of a fork. */
void tms_rt_shadow_restart(void);
/* atomic_locks.c */
#define TMS_RT_STRIPES 1024
uint32_t tms_rt_stripe(uintptr_t address);
void tms_rt_stripe_lock(uint32_t stripe);
void tms_rt_stripe_unlock(uint32_t stripe);
#ifndef NDEBUG
bool tms_rt_stripe_is_mine(uint32_t stripe); /* for assertions: does the caller hold it? */
#endif
void tms_rt_stripes_restart(void);

/* function_names.c */

/* The name of the function at an address, "" if it has none. */
#define TMS_RT_NAME_MOST 1000u
void tms_rt_find_name(uintptr_t address, char name[TMS_RT_NAME_MOST]);
/* The code of the function at an address, as the symbol table has it; false if it does not. */
bool tms_rt_find_code(uintptr_t address, uintptr_t *start, uintptr_t *end);
/* Files that were loaded since are known from now on, and written down. */
void tms_rt_note_modules(void);
void tms_rt_names_restart(void);

/* functions.c */

/* What is known of a function. */
struct tms_rt_function {
    uintptr_t address;      /* inside it, where its hook returns to */
    uintptr_t start, end;   /* of its code; everywhere if that is not known */
    _Atomic uint32_t label; /* if it is an atomic block, 0 if not; then it never will be */
    uint32_t name;          /* its label, in any case */
    uint32_t site;          /* of its begin, wherever it was called from */
    bool assumed;           /* by default, not by a rule */
    bool plumbing;          /* of the standard library: not what the programmer means */
    bool called;            /* when it is no block, a recording has calls of it */
    bool raced;             /* it made an access that raced */
    bool releases;          /* it has released what it had not acquired itself */
    uint32_t runs;          /* up to TMS_RT_RUNS_EXACT, roughly */
    _Atomic uint8_t cover;  /* enum tms_rt_cover (coverage.h) */
};
#define TMS_RT_RUNS_EXACT 1000u

/*
 * Does each execution start an epoch? Functions that have run seldom, or raced, are exact even
 * where threads race (docs/internals/runtime.md); and for those that release what others acquired
 * the innermost block of an access would be unknown.
 */
static inline bool tms_rt_starts_epoch(struct tms_rt_function *function)
{
    if (function->runs < TMS_RT_RUNS_EXACT) {
        function->runs++;
        return true;
    }
    return function->raced | function->releases | tms_rt_mode.exact_races;
}
/* The innermost function of the thread has made an access that raced. */
void tms_rt_function_raced(struct tms_rt_thread *thread);
/* The thread releases what it has acquired at this event, 0: never; so do the functions it is in.
 */
void tms_rt_function_releases(struct tms_rt_thread *thread, uint64_t acquired);
struct tms_rt_function *tms_rt_function(uintptr_t address);
/* Is a return address in its code? A call may be the last instruction. */
static inline bool tms_rt_has_code(const struct tms_rt_function *function, uintptr_t pc)
{
    return function->start < pc && pc <= function->end;
}
/* The variable at an address, as the symbol table has it; false if it does not. */
bool tms_rt_find_data(uintptr_t address, uintptr_t *start, uintptr_t *end);
/* The thread has called nothing so far. */
void tms_rt_forget_called(struct tms_rt_thread *thread);
/* From now on it is not atomic, if that was only assumed. */
void tms_rt_function_unfit(struct tms_rt_function *function);
/* … because a thread was started with it, unless such functions are meant as well. */
void tms_rt_function_starts(struct tms_rt_function *function);
/* `functions` are blocks without a rule; `threads`: also those that threads are started with. */
bool tms_rt_functions_start(const char *spec, bool functions, bool threads);
/* Does a rule say what is atomic, and not only what is not? */
bool tms_rt_rules_name_blocks(void);
/* How many functions have these bits of `cover`. */
uint32_t tms_rt_functions_covered(uint8_t bits);
/* Patterns that matched nothing are warned about, and modules written down. */
void tms_rt_functions_finish(void);
bool tms_rt_functions_restart(void);
/* The label of an annotation; 0: it is not meant to be atomic. */
uint32_t tms_rt_text_label(struct tms_rt_thread *thread, const char *name);

/* Where a thread keeps what it knows of a function. */
static inline size_t tms_rt_call_hash(uintptr_t address)
{
    return (address >> 4 ^ address >> 13) % TMS_RT_FUNCTION_CACHE;
}

/* sites.c */

/* The way through the frames; the outermost first, and none is asked twice. */
uint32_t tms_rt_find_frames(struct tms_rt_thread *thread);
static inline uint32_t tms_rt_frame_site(struct tms_rt_thread *thread)
{
    /* The first of the frames is not one, and has no site. */
    return thread->top->site != 0 || thread->top == thread->frames ? thread->top->site
                                                                   : tms_rt_find_frames(thread);
}
/* The site below another that is not in the thread's cache; enters it there. */
uint32_t tms_rt_remember_site(struct tms_rt_site_entry *entry, uint32_t parent, uintptr_t pc);
static inline uint32_t tms_rt_next_site(struct tms_rt_thread *thread, uint32_t parent, uintptr_t pc)
{
    size_t at = (pc ^ pc >> 9) + parent * UINT64_C(9);
    struct tms_rt_site_entry *entry = &thread->sites[at % TMS_RT_SITE_CACHE];

    return entry->pc == pc && entry->parent == parent && entry->id != 0
               ? entry->id
               : tms_rt_remember_site(entry, parent, pc);
}
/* The site that an event belongs to if it is not in the code of the function on top. */
uint32_t tms_rt_find_parent(struct tms_rt_thread *thread, uint32_t parent, uintptr_t pc);
/* The place of an event at pc: the way through the frames and pc. */
static inline uint32_t tms_rt_site(struct tms_rt_thread *thread, uintptr_t pc)
{
    const struct tms_rt_function *function =
        thread->called.function[tms_rt_call_hash(thread->top->address)];
    uint32_t parent = tms_rt_frame_site(thread);

    if (function->address != thread->top->address || !tms_rt_has_code(function, pc)) {
        parent = tms_rt_find_parent(thread, parent, pc);
    }
    return tms_rt_next_site(thread, parent, pc);
}
/* The same without a thread. */
uint32_t tms_rt_child_site(uint32_t parent, uintptr_t pc);
uintptr_t tms_rt_site_pc(uint32_t site);
/* pc alone, without the way to it. */
uint32_t tms_rt_bare_site(uintptr_t pc);

/* access_coalesce.c: an access that is something new is written down. */
void tms_rt_spool_access(struct tms_rt_thread *thread, struct tms_spool_event *access);

/* spool_writer.c */
/*
 * Makes the spool of this process; in the child of a fork, in place of the parent's. False, with
 * errno set, if there is no room for it.
 */
bool tms_rt_spool_open(const char *pattern, uint64_t max_size);
/* NULL: there is none, or it is that of another process. */
struct tms_spool_header *tms_rt_spool_header(void);
/* There is no room for more events; records go on. */
bool tms_rt_spool_is_full(void);
/* The thread writes no more: what is left of its chunk is for others. */
void tms_rt_spool_thread_ends(struct tms_rt_thread *thread);
/* Nanoseconds of the monotonic clock. */
uint64_t tms_rt_clock(void);
void tms_rt_spool_event(struct tms_rt_thread *thread, const struct tms_spool_event *event);
/* A transaction, just over, in which there was none. */
void tms_rt_spool_empty_transaction(struct tms_rt_thread *thread, uint32_t label, uint32_t site);
/* An event that does not cause the blocks around it to be recorded. */
void tms_rt_spool_without_blocks(struct tms_rt_thread *thread, const struct tms_spool_event *event);
/* As it is. */
void tms_rt_spool_write(struct tms_rt_thread *thread, const struct tms_spool_event *event);
/* So many bytes are new: `kind` is alloc or free. */
void tms_rt_spool_renewal(struct tms_rt_thread *thread, uint8_t kind, uintptr_t address,
                          size_t size, uint32_t site);
/* Room for a record of so many bytes, with its header filled in; NULL: none. */
void *tms_rt_spool_record(enum tms_spool_type type, size_t bytes);
#endif
