/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core of `judge`: detects what happened to the data of blocks (defined in docs/user/judge.md).
 *
 * It has few entry points, one for each kind of event, and knows neither traces nor names:
 * functions and objects are numbers assigned by its port. So it serves both traces and running
 * programs (docs/internals/judge-online.md).
 *
 * Representation. Each variable has a cell with the last step of the thread that accessed it last,
 * its owner, and the last write. When another thread accesses it, the step of the former owner
 * moves to a record of (thread, variable), which then collects the foreign accesses that follow:
 * that happens only for shared variables. The owner's next access finds the record, and with it the
 * pattern.
 *
 * Activations are entries of a stack of their thread. One that a foreign access in a record or a
 * finding refers to gets a node, which outlives it; unreferenced nodes are swept from time to time.
 * So memory is bounded by the variables (times the threads that share them) and the open blocks.
 *
 * In a running program the thread owns its struct tms_judge_thread and uses it without a lock,
 * except the list of steps that were taken over; other threads also read `cleared`. Variables,
 * records, nodes and findings are protected by the lock of the caller (`guard` of the port).
 *
 * Event numbers rise within a thread, and an access has a larger one than all earlier accesses to
 * the variable. No function fails: if out of memory, `failed` is set and further calls have no
 * effect on results.
 */
#ifndef TMS_JUDGE_JUDGE_H
#define TMS_JUDGE_JUDGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashtable.h"
#include "judge/judge_threads.h"
#include "tmesis/tmesis.h"

#define TMS_JUDGE_TAKEN_OVER 16 /* variables of a thread that were taken over, at most */

/*
 * An activation is busy if it acquires one lock, or writes one atomic, more often than SAME_MOST;
 * or if it acquires locks more often than ACQUIRES_MOST and does more than half of its thread's
 * synchronisation.
 */
#define TMS_JUDGE_SAME_MOST     4
#define TMS_JUDGE_ACQUIRES_MOST 16
#define TMS_JUDGE_SETTLED_AFTER 250 /* synchronisations: then a busy one is judged no more */
#define TMS_JUDGE_COUNTED_LEAST 4   /* executions: with fewer a driver is usually interleaved */

#define TMS_JUDGE_RECENT      16  /* reads of a thread before a wait whose place is remembered */
#define TMS_JUDGE_LEARN       100 /* executions of a section in which its accesses are noted, … */
#define TMS_JUDGE_LEARN_SITES 64  /* … for the first sections, … */
#define TMS_JUDGE_LEARN_LATER 10  /* … and for the others */

enum tms_judge_kind { TMS_JUDGE_NONE, TMS_JUDGE_R, TMS_JUDGE_W, TMS_JUDGE_U };

/*
 * Maps numbers to program entities; `user` is the port's. Members that may be NULL are marked so.
 */
struct tms_judge_port {
    /* Called once for each label; from 1 on. NULL: a label is the number of its function. */
    uint32_t (*function_of)(void *user, uint32_t label);
    /* Called when something is found on a variable: identifies it for good. NULL: by its number. */
    uint64_t (*name_of)(void *user, uint32_t variable);
    /* … and the object that it belongs to, from 1. */
    uint32_t (*object_of)(void *user, uint32_t variable);
    /* Called once for each variable of a trace; false: synchronisation. NULL: all is data. */
    bool (*is_data)(void *user, uint32_t variable);
    /* The place of a location; a place may have several locations. NULL: the location itself. */
    uint32_t (*place_of)(void *user, uint32_t location);
    /*
     * Called at each occurrence of a pattern with the number of the evidence; `first`: its `first`
     * has changed. NULL: not called.
     */
    void (*found)(void *user, uint32_t evidence, bool first);
    /*
     * Called at the first access to a variable in a section; returns what its members keep as
     * `learnt_at`. NULL: not called.
     */
    uint32_t (*learnt)(void *user, uint64_t variable);
    /* Acquires (true) or releases the lock of shared state. NULL: there is only one thread. */
    void (*guard)(void *user, bool enter);
    void *user;
};

/* An access of a thread to a variable, as a step. */
struct tms_judge_step {
    uint64_t event; /* for a U, that of its write */
    uint64_t read;  /* for a U that is a read and a write: its read; else 0 */
    uint32_t location;
    uint8_t kind;     /* enum tms_judge_kind */
    bool cleared : 1; /* by retry: no own step any more */
    bool atomic : 1;  /* an atomic access; a U that is not atomic is a read and a write */
    bool counter : 1; /* a U that is atomic, or whose read was the event before it */
    bool initial : 1; /* the very first access to the variable, and a write */
};

/* An access of another thread. */
struct tms_judge_foreign {
    uint64_t event; /* 0: none */
    uint32_t thread;
    uint32_t location;
    uint32_t node;     /* the innermost activation, 0: none; known in records only */
    uint8_t kind;      /* enum tms_judge_kind */
    bool plain_update; /* the kind is U, of a plain read and a plain write: this is its write */
};

/* A variable. */
struct tms_judge_cell {
    struct tms_judge_step last; /* of the owner */
    uint32_t owner;             /* the thread that accessed it last; 0: none yet */
    uint32_t records;           /* the first of its records; 0: none */
    uint64_t write_event;       /* of the last write, 0: none */
    uint32_t write_thread, write_location;
    uint8_t write_kind; /* enum tms_judge_kind */
    uint8_t flags;      /* enum tms_judge_flag */
};
_Static_assert(sizeof(struct tms_judge_cell) <= 64, "a line of the cache");

enum tms_judge_flag {
    TMS_JUDGE_ASKED = 1,      /* the port was asked for its object */
    TMS_JUDGE_IGNORED = 2,    /* it is synchronisation */
    TMS_JUDGE_SHOWN_READ = 4, /* the owner has read it since it took over, and records show it; … */
    TMS_JUDGE_SHOWN_WRITE = 8,   /* … has written it */
    TMS_JUDGE_EXTRA = 16,        /* the owner's record has something open: `read_write` or `open` */
    TMS_JUDGE_PLAIN_UPDATE = 32, /* the last write is that of a U which is not atomic */
};

/* A pattern that was found, or a candidate that depends on what follows its read. */
struct tms_judge_case {
    uint64_t variable, other; /* their names; other is 0 for a single variable */
    uint32_t objects[2];      /* what they belong to; the second may be 0 */
    uint32_t thread;
    uint32_t block;    /* node */
    uint32_t next;     /* next open case with the same read */
    uint64_t lock;     /* released between the steps, 0: none */
    uint64_t released; /* … at this event, 0: unknown */
    uint32_t released_location;
    bool released_shared; /* it was a shared hold */
    bool completed;       /* own[0] belongs to an update that was completed before own[1] */
    bool locked;          /* the thread holds a lock at own[1] */
    uint8_t pattern;      /* enum tms_pattern, TMS_PATTERN_COUNT: none */
    uint8_t if_update;    /* for an open case: the pattern if the read belongs to a U, … */
    uint8_t if_later;     /* … with further reads in between; values as `pattern` */
    struct tms_judge_step own[2];
    struct tms_judge_foreign foreign[2]; /* the second may be none */
};

/* A thread other than the owner that uses the variable. */
struct tms_judge_record {
    uint32_t thread, variable;
    uint32_t next;       /* of the variable; or the next free one */
    bool away;           /* another thread is the owner: `step` and what follows it are valid */
    bool taken_over;     /* it is in the thread's list of variables that were taken over */
    bool read, write;    /* foreign accesses so far include these kinds */
    bool has_read_write; /* `read_write` and `its_reader` are valid */
    uint32_t open;       /* the first open case; 0: none */
    uint32_t reads;      /* the first reads of others after a write, each thread's first; 0: none */
    struct tms_judge_step step;
    struct tms_judge_foreign first_read, first_write;
    struct tms_judge_step read_write;    /* own write that others read; only own reads since */
    struct tms_judge_foreign its_reader; /* … and the first of these reads */
};

/* A read of another thread: in a list of a record. */
struct tms_judge_read {
    struct tms_judge_foreign access;
    uint32_t next;
};

/* One execution of a block. */
struct tms_judge_node {
    uint64_t begin, end; /* end 0: open */
    uint32_t label, location, thread;
    uint32_t function;
    uint32_t parent; /* the enclosing activation, 0: none; in a free node, the next free one */
    uint32_t cuts;   /* the findings that occurred in it: a list; 0: none */
    bool used;       /* not free */
    bool marked;     /* while sweeping: something refers to it */
    bool delayed;    /* tmesis delayed the thread in it; set at its end */
};

struct tms_judge_cut {
    uint32_t finding, next;
};

/* An activation that is open. */
struct tms_judge_open {
    uint64_t begin;
    uint32_t label, location;
    uint32_t function;
    uint32_t node;                   /* 0: it needed none so far */
    uint64_t acquires, synchronised; /* of the thread, at its begin */
    uint8_t source;                  /* the source that closes it, as given to tms_judge_open */
    bool delayed;                    /* tmesis delayed the thread in it */
};

struct tms_judge_held {
    uint64_t lock;
    uint32_t site; /* index of a struct tms_judge_site */
    uint64_t since;
    uint64_t hold; /* the number of its struct tms_judge_hold */
};

/* A hold: from the acquire of a lock to its release. */
struct tms_judge_hold {
    uint64_t lock;
    uint64_t begin, end;  /* end 0: not yet */
    uint32_t released_at; /* location of the release, … */
    bool shared;          /* … and its kind */
    bool wrote;           /* the thread has completed an update meanwhile */
};
#define TMS_JUDGE_HOLDS 256 /* remembered per thread */

/* How often a thread used a lock, or updated a variable. */
struct tms_judge_use {
    uint64_t key;
    uint64_t last[TMS_JUDGE_SAME_MOST + 1]; /* events, as a ring */
    bool lock;
    bool learnt; /* accesses while it is held are known, if acquired here: … */
    uint32_t learnt_location;
    uint32_t count;
};

#define TMS_JUDGE_POOL(type)                                                                       \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, capacity;                                                                    \
        uint32_t free; /* the first free one, 0: none */                                           \
    }

/* Which variable was read, and where. */
struct tms_judge_place {
    uint64_t key;
    uint32_t location;
};

/* The counts of a function, by its number. */
struct tms_judge_function {
    uint64_t executions;
    uint64_t same; /* … that used the same lock or variable too often */
    uint64_t busy; /* … that were busy, of those that have ended */
    uint64_t ended;
    uint64_t counted;     /* … that have ended and were not delayed, … */
    uint64_t counted_cut; /* … and of these, those with a finding */
    uint32_t label;       /* the first that was seen */
};

#define TMS_JUDGE_NOTHING_KEPT UINT64_MAX

struct tms_judge_thread {
    uint32_t id;
    struct tms_judge_thread *next; /* of those that have ended */
    /*
     * Steps up to this event no longer count as own steps; TMS_JUDGE_NOTHING_KEPT while no
     * unsettled activation is open. Written by the thread, read by all.
     */
    _Atomic uint64_t cleared;
    uint64_t stretch; /* its last event other than a plain access; later accesses are checked for
                         repetition */
    uint64_t updates_from;        /* a read up to here does not form an update with a later write */
    uint64_t wrote;               /* its last step that completes an update, 0: none */
    struct tms_judge_hold *holds; /* a ring, in the order of acquisition */
    size_t hold_count, hold_capacity;
    struct tms_judge_open *open; /* the outermost first */
    size_t open_count, open_capacity;
    size_t busy;    /* the number of outer ones that have taken a lock too often, … */
    size_t settled; /* … and of these, those that are no longer judged */
    struct tms_judge_held *held; /* in the order of acquisition */
    size_t held_count, held_capacity;
    size_t learning; /* its current sections whose accesses are recorded */
    struct tms_judge_place recent[TMS_JUDGE_RECENT]; /* its reads since it began to hold locks */
    size_t recent_count;
    struct tms_judge_place awaited[TMS_JUDGE_RECENT]; /* … at its last wait, until it holds none */
    size_t awaited_count;
    uint64_t previous;     /* its last event and, if that is a read, … */
    uint64_t previous_key; /* … of which variable; else 0, and … */
    uint32_t previous_location;
    uint64_t acquires, synchronised;
    TMS_JUDGE_POOL(struct tms_judge_use) uses; /* all from 1 on */
    struct tms_hashtable use_index;
    struct tms_judge_function *functions; /* by number; counted_cut is in the judge */
    size_t function_capacity;
    /* Records, in the order in which they were taken over. */
    uint32_t taken_over[TMS_JUDGE_TAKEN_OVER];
    size_t taken_over_count;
};

/* A variable that is accessed while a lock is held, and the site where the lock is acquired. */
struct tms_judge_member {
    uint64_t variable;  /* its name */
    uint32_t id;        /* of its object and field, 0: not asked yet */
    uint32_t learnt_at; /* a number of the port's; 0: none */
    uint8_t kinds;      /* 1 << enum tms_judge_kind */
};
#define TMS_JUDGE_MEMBERS 64
struct tms_judge_site {
    uint64_t lock;
    uint32_t location; /* 0: unknown */
    uint32_t executions;
    uint32_t member_count;
    struct tms_judge_member member[TMS_JUDGE_MEMBERS];
};

/* All occurrences of one pattern; separate by `culprit` only where the level depends on it. */
struct tms_judge_evidence {
    uint8_t pattern;
    bool mild;          /* a note: an initial value, a completed update, or the same line twice */
    uint32_t place;     /* of the second step if it reads with a lock held, else 0 */
    bool firm;          /* two variables: the level may be above a note, if `culprit` is … */
    uint32_t culprit;   /* … no driver: a function, 0: there is none */
    uint32_t places[2]; /* of the steps, if a deferred decision depends on them */
    uint32_t next;      /* of the same finding */
    uint32_t finding;
    uint64_t count;
    struct tms_judge_case first;
    struct tms_transaction block, foreign; /* of the first */
    struct tms_transaction *outer;
    size_t outer_count, outer_capacity;
};

struct tms_judge_finding {
    uint32_t function;
    uint32_t object, other; /* other 0: one object; else object < other */
    uint32_t evidence;      /* the first; 0: none */
    uint64_t cut;           /* activations */
};

struct tms_judge {
    struct tms_memory *memory;
    struct tms_judge_port port;
    bool failed;
    bool splits_at_fork; /* a fork is a rendezvous */
    bool filters;        /* the input contains repeated accesses */
    bool learns;         /* records what sections access, for predictions */
    bool defers;         /* decisions that need lines are made later: see import_judgement.h */
    uint32_t enough;     /* TMS_JUDGE_SETTLED_AFTER, fewer in tests */
    struct tms_judge_cell *cells; /* by variable */
    uint32_t *objects;            /* by variable, 0: not asked */
    size_t cell_capacity, object_capacity;
    struct tms_judge_threads threads;
    struct tms_judge_thread *ended; /* for reuse; not freed, as others may still read `cleared` */
    uint32_t *function_of;          /* by label + 1: 0: not asked */
    size_t label_capacity;
    TMS_JUDGE_POOL(struct tms_judge_record) records; /* all from 1 on */
    TMS_JUDGE_POOL(struct tms_judge_read) reads;
    TMS_JUDGE_POOL(struct tms_judge_case) cases;
    TMS_JUDGE_POOL(struct tms_judge_node) nodes;
    TMS_JUDGE_POOL(struct tms_judge_cut) cuts;
    size_t node_live, node_limit; /* nodes in use, and when to sweep */
    struct tms_hashtable waiting; /* locations of waiting places, each its own row */
    TMS_JUDGE_POOL(struct tms_judge_site) sites;
    struct tms_hashtable site_index;
    struct tms_judge_function *functions; /* by number; complete after the finish */
    size_t function_capacity, function_count;
    TMS_JUDGE_POOL(struct tms_judge_finding) findings;
    struct tms_hashtable finding_index;
    TMS_JUDGE_POOL(struct tms_judge_evidence) evidence;
    uint64_t accesses, met, occurrences; /* for statistics */
};

/* `judge` is zeroed. */
void tms_judge_init(struct tms_judge *judge, struct tms_memory *memory,
                    const struct tms_judge_port *port);
void tms_judge_clear(struct tms_judge *judge);

/* The state of a thread, created on first use; NULL if out of memory. It never moves. */
struct tms_judge_thread *tms_judge_thread(struct tms_judge *judge, uint32_t id);

/* ---- what happens, in order; of each thread by the thread itself ---------------------- */

/* kind is TMS_JUDGE_R, _W, or _U for an atomic read-modify-write. */
void tms_judge_access(struct tms_judge *judge, struct tms_judge_thread *thread, uint32_t variable,
                      uint8_t kind, bool atomic, uint64_t event, uint32_t location);
void tms_judge_clear_variable(struct tms_judge *judge, uint32_t variable);
void tms_judge_retry(struct tms_judge *judge, struct tms_judge_thread *thread, uint32_t variable,
                     uint64_t event);

/* A rendezvous. */
void tms_judge_rendezvous(struct tms_judge *judge, struct tms_judge_thread *thread, uint64_t event);

/* An activation; `source` is any number, and close ends the innermost that has it. */
void tms_judge_open(struct tms_judge *judge, struct tms_judge_thread *thread, uint32_t label,
                    uint8_t source, uint64_t event, uint32_t location);
void tms_judge_close(struct tms_judge *judge, struct tms_judge_thread *thread, uint8_t source,
                     uint64_t event);
/* … and this, the one that began there. */
void tms_judge_close_begun(struct tms_judge *judge, struct tms_judge_thread *thread, uint64_t begin,
                           uint64_t event);
void tms_judge_change(struct tms_judge_thread *thread, uint8_t source, uint8_t other);
void tms_judge_close_all(struct tms_judge *judge, struct tms_judge_thread *thread, uint64_t event);
void tms_judge_delay(struct tms_judge_thread *thread);

void tms_judge_acquire(struct tms_judge *judge, struct tms_judge_thread *thread, uint64_t lock,
                       uint64_t event, uint32_t location);
void tms_judge_release(struct tms_judge *judge, struct tms_judge_thread *thread, uint64_t lock,
                       uint64_t event, uint32_t location, bool shared);

/* A wait for a condition: what is read both before and after it is what the thread waits for. */
void tms_judge_wait(struct tms_judge_thread *thread);

/* Other synchronisation: wait, arrive, fork, join; and all other events. */
void tms_judge_synchronise(struct tms_judge_thread *thread, uint64_t event);
void tms_judge_other(struct tms_judge_thread *thread, uint64_t event);

/* Ends the input: closes open activations and decides open cases. */
void tms_judge_finish(struct tms_judge *judge, uint64_t event);

/*
 * The same while threads may still run: the first decides open cases; the second, called for a copy
 * of each thread with copies of its `open` and `functions`, closes the open activations of the copy
 * and adds its counts. Returns false if the copy is inconsistent, as it may be when the thread was
 * running. To repair it is to leave out what contradicts the rest: a few activations, which changes
 * counts by as many.
 */
void tms_judge_decide_open(struct tms_judge *judge);
void tms_judge_repair_copy(const struct tms_judge *judge, struct tms_judge_thread *copy);
bool tms_judge_finish_copy(struct tms_judge *judge, struct tms_judge_thread *copy, uint64_t event);

/* The thread has ended. Recycles its state. */
void tms_judge_end_thread(struct tms_judge *judge, struct tms_judge_thread *thread, uint64_t event);

/* ---- parts of an access, called by tms_judge_access or judge_shadow.c ----------------- */

/*
 * Updates the state of the thread for a read or write that is not repeated, whether or not it has a
 * variable; `key` identifies the memory. `write` is the last write to it if another thread made it,
 * else 0.
 */
void tms_judge_note(struct tms_judge *judge, struct tms_judge_thread *thread, uint64_t key,
                    const struct tms_judge_step *step, uint64_t write);

/*
 * Does the step of the thread still matter, so that foreign accesses to its variable must be
 * tracked?
 */
static inline bool tms_judge_keeps(const struct tms_judge_thread *thread, uint64_t event)
{
    return event > atomic_load_explicit(&thread->cleared, memory_order_relaxed);
}

/* Initialises a new variable with its owner's last step and its last write. */
void tms_judge_adopt(struct tms_judge *judge, uint32_t variable, uint32_t owner,
                     const struct tms_judge_step *last, const struct tms_judge_foreign *write);

/* … and with a read of another thread that no write followed. */
void tms_judge_adopt_read(struct tms_judge *judge, uint32_t variable, uint32_t thread,
                          const struct tms_judge_step *read);

/* After tms_judge_note: processes the step for its variable. Its kind may be U. */
void tms_judge_process(struct tms_judge *judge, struct tms_judge_thread *thread, uint32_t variable,
                       const struct tms_judge_step *step);

static inline void tms_judge_guard(const struct tms_judge *judge, bool enter)
{
    if (judge->port.guard != NULL) {
        judge->port.guard(judge->port.user, enter);
    }
}

/* ---- inside --------------------------------------------------------------------------------- */

/* The node of the innermost activation of the thread that was open at the event as well; 0: none.
 */
uint32_t tms_judge_block(struct tms_judge *judge, struct tms_judge_thread *thread, uint64_t event);

/* The thread does something that is no plain access. */
static inline void tms_judge_end_stretch(struct tms_judge_thread *thread, uint64_t event)
{
    thread->stretch = event;
}

/*
 * … and may let other threads in: a read before the event forms no update (a step U) with a write
 * after it, unless the two are in one section, that is, a lock has been held since before the read.
 */
static inline void tms_judge_end_updates(struct tms_judge_thread *thread, uint64_t event)
{
    uint64_t limit = thread->held_count > 0 ? thread->held[0].since : event;

    thread->stretch = event;
    thread->updates_from = limit > thread->updates_from ? limit : thread->updates_from;
}

/* The innermost activation that was open at both accesses, of one thread; 0: none. */
uint32_t tms_judge_common(const struct tms_judge *judge, const struct tms_judge_foreign *first,
                          const struct tms_judge_foreign *second);

/* Frees all memory of the thread except its struct; adds its counts to the functions. */
void tms_judge_release_thread(struct tms_judge *judge, struct tms_judge_thread *thread);

/* Adds counts to those of a function; false if out of memory. */
bool tms_judge_add_function(struct tms_judge *judge, uint32_t function,
                            const struct tms_judge_function *counts);

/* A thread acquired a lock or wrote an atomic (`lock` false): marks busy activations. */
struct tms_judge_use *tms_judge_count_use(struct tms_judge *judge, struct tms_judge_thread *thread,
                                          uint64_t target, bool lock, uint64_t event);
struct tms_judge_use *tms_judge_find_use(struct tms_judge *judge, struct tms_judge_thread *thread,
                                         uint64_t target, bool lock);

/* Steps of the thread up to the event no longer count as own steps. */
void tms_judge_clear_steps(struct tms_judge *judge, struct tms_judge_thread *thread,
                           uint64_t event);

/* Did the thread hold a lock at the event? By the locks that it still holds and latest holds. */
bool tms_judge_is_locked(const struct tms_judge_thread *thread, uint64_t event);

/*
 * The thread reads at a location and holds a lock: may it have waited there for what another thread
 * has written meanwhile?
 */
bool tms_judge_waits_at(struct tms_judge *judge, struct tms_judge_thread *thread, uint64_t key,
                        uint32_t location, bool written);

/* Is it a known waiting place? */
bool tms_judge_is_waiting_place(const struct tms_judge *judge, uint32_t location);

/* Does the thread's read belong to an update that was completed before the later event? */
bool tms_judge_is_completed(const struct tms_judge_thread *thread, uint64_t read, uint64_t later);

/* Counts a pattern that is certain. */
void tms_judge_found(struct tms_judge *judge, const struct tms_judge_case *found);

/* Records the names of its variables while these exist. */
void tms_judge_on_variables(struct tms_judge *judge, struct tms_judge_case *found,
                            uint32_t variable, uint32_t other);

/* The finding of a block and one or two objects, made if it is new; 0 if out of memory. */
uint32_t tms_judge_finding(struct tms_judge *judge, uint32_t function, uint32_t object,
                           uint32_t other);

/*
 * Finds or creates the evidence of a finding that equals `wanted`, and counts an occurrence. Sets
 * *first if this occurrence is now the first: then the caller fills it in.
 */
uint32_t tms_judge_count(struct tms_judge *judge, uint32_t finding,
                         const struct tms_judge_evidence *wanted,
                         const struct tms_judge_case *found, uint64_t count, bool *first);

/* Decides what depends on lines: `polled`, and two steps on one line, which make it mild. */
void tms_judge_decide_places(struct tms_judge_case *found, bool *mild);

/* A place where threads wait for others. */
void tms_judge_add_place(struct tms_judge *judge, uint32_t place);

static inline uint32_t tms_judge_place_of(const struct tms_judge *judge, uint32_t location)
{
    return judge->port.place_of != NULL ? judge->port.place_of(judge->port.user, location)
                                        : location;
}

/* Looks up the locks of the steps: the lock of own[0] that was released; own[1] happens now. */
void tms_judge_look_at_locks(struct tms_judge *judge, struct tms_judge_case *found);

/*
 * Finds the pairs that end with the step of a thread on a variable that others have accessed
 * (`written`: written) since its last access. If the step is an R, they stay open in its record.
 */
void tms_judge_pairs(struct tms_judge *judge, struct tms_judge_thread *thread, uint32_t variable,
                     const struct tms_judge_step *step, bool written);

/* The pattern of two variables by the kinds of the accesses, each an enum tms_judge_kind. */
enum tms_pattern tms_judge_pair_pattern(uint8_t first, uint8_t second, uint8_t foreign,
                                        uint8_t later);

/* Records an access in the current sections of the thread. */
void tms_judge_learn(struct tms_judge *judge, const struct tms_judge_thread *thread,
                     uint64_t variable, unsigned kinds);

/* Records an access in the section of a lock that begins at a place; for import_judgement.h. */
void tms_judge_add_member(struct tms_judge *judge, uint32_t location, uint64_t lock,
                          uint64_t variable, unsigned kinds);

/* The site where a lock is acquired at a location; NULL: it never was. */
struct tms_judge_site *tms_judge_site_of(struct tms_judge *judge, uint32_t location, uint64_t lock);

/* The record of a thread, made if it is new; 0 if out of memory. */
uint32_t tms_judge_record(struct tms_judge *judge, uint32_t thread, uint32_t variable);

/* Adds a case to those of its thread that depend on what follows the read own[1]. */
void tms_judge_keep_open(struct tms_judge *judge, uint32_t variable,
                         const struct tms_judge_case *found);

/* Frees the nodes that no step refers to. */
void tms_judge_sweep(struct tms_judge *judge);

/* ---- levels: after the finish ---------------------------------------------------------------- */

/* More than half of its executions were busy. (Drivers are these functions, and main.) */
bool tms_judge_is_busy(const struct tms_judge *judge, uint32_t function);

/*
 * More than half of its executions used the same lock or atomic too often, at least half of the
 * counted ones were interleaved, or too few count.
 */
bool tms_judge_counts_as_interleaved(const struct tms_judge *judge, uint32_t function);

#endif
