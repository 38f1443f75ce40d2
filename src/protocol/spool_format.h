/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool: the file in which a watched process records what it saw, in its own terms (addresses).
 * When the process has ended, the command reads it, names the addresses, and makes a report or a
 * trace of it. Both sides are built together: the version must agree, there is no other
 * compatibility, and numbers are in the byte order of the machine.
 *
 * The file is mapped and shared, so its contents survive however the process ends. It is a header
 * page, followed by chunks of at most TMS_SPOOL_CHUNK bytes, one after the other. A chunk belongs
 * to one thread and holds either its events or records; `used` is stored last, so a reader never
 * sees a partial entry. When a thread ends, the rest of its chunk becomes a chunk of another thread
 * that has none yet: the chunks of a thread are in the order of the file. It is sparse, and longer
 * than its used part.
 *
 * Events carry numbers: they rise within a thread, and of two events that conflict the earlier has
 * the smaller one, and so have two events that were seen under the engine's lock. Sorted by number
 * (and, where equal, by thread, in any order) the events make a trace of the execution.
 */
#ifndef TMS_PROTOCOL_SPOOL_FORMAT_H
#define TMS_PROTOCOL_SPOOL_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#define TMS_SPOOL_MAGIC   "tmspool5"
#define TMS_SPOOL_HEADER  4096u
#define TMS_SPOOL_CHUNK   65536u
#define TMS_SPOOL_MESSAGE 256

/* How far it came; the process sets them as it goes. */
enum tms_spool_state {
    TMS_SPOOL_RUNNING, /* still runs, or ended without a chance to say so (SIGKILL) */
    TMS_SPOOL_DONE,
};

enum tms_spool_loss {
    TMS_SPOOL_LOST_THREADS = 1,       /* more threads at a time than can be distinguished */
    TMS_SPOOL_LOST_MEMORY = 2,        /* no memory */
    TMS_SPOOL_LOST_ROOM = 512,        /* no room for the file: the disk is full, or a limit */
    TMS_SPOOL_LOST_NUMBERS = 1024,    /* more events than there are numbers */
    TMS_SPOOL_LOST_JUDGED = 2048,     /* more memory was shared at a time than `judge` follows */
    TMS_SPOOL_LOST_SIZE = 4,          /* --max-size was reached: later events are missing */
    TMS_SPOOL_LOST_ALONG = 8,         /* --max-size, of what is recorded along; the check goes on */
    TMS_SPOOL_LOST_ALONG_ROOM = 4096, /* the same without room for the file */
    TMS_SPOOL_LOST_PREDICTIONS = 256, /* no memory for them, or more than are kept */
    TMS_SPOOL_LOST_STACKS = 16,       /* return addresses can't be replaced any more (preload/) */
    TMS_SPOOL_LOST_CLONE = 32,        /* threads made by clone in the same memory */
    TMS_SPOOL_LOST_SANDBOX = 64,      /* the process entered a seccomp sandbox */
    TMS_SPOOL_LOST_PROCESS = 128, /* a process that it started left nothing: set by the command */
};

struct tms_spool_header {
    char magic[8];
    uint32_t header_size; /* sizeof(struct tms_spool_header) */
    uint32_t event_size;  /* sizeof(struct tms_spool_event) */
    int32_t pid, parent;
    uint32_t state;  /* enum tms_spool_state */
    uint32_t lost;   /* enum tms_spool_loss */
    uint32_t mode;   /* enum tms_spool_mode (config.h) */
    uint32_t image;  /* 1; 2 and more: what the process became by exec */
    uint32_t forked; /* 1: the process was made by fork, and its parent counted it in `forks` */
    uint32_t forks;  /* child processes that this one made by fork */
    uint32_t strays; /* programs that were started without the variables of config.h: EXEC */
    uint64_t end;    /* bytes in use, the header included */
    uint64_t events; /* recorded, that is, past the filter */
    uint64_t transactions; /* outermost blocks */
    uint64_t blocks;       /* blocks of any depth */
    uint64_t edges;
    uint64_t threads;
    uint64_t first_violation; /* number of the event that closed the first cycle, 0: none */
    uint64_t violations;      /* transactions into which a cycle was closed, or blamed */
    uint64_t closing_edges;
    uint64_t acquires, windows, dropped; /* counted by prediction (src/predict/lock_windows.h) */
    uint64_t memory;                     /* most that the runtime held, shadow memory aside */
    uint64_t started, ended; /* nanoseconds of the monotonic clock; ended 0: without a word */
    uint64_t cut; /* if events were lost: those from this number on are missing; 0: none is */
    char how[TMS_SPOOL_MESSAGE];          /* how it ended: "exit", "signal 6", … */
    char program[TMS_SPOOL_MESSAGE];      /* /proc/self/exe */
    char block_source[TMS_SPOOL_MESSAGE]; /* what was taken to be atomic, a sentence */
    uint64_t races;                       /* pairs of accesses that nothing orders */
};

/*
 * Also in the header page, from TMS_SPOOL_LIVE on: what command and process say to each other while
 * the process runs. Each word has one writer, and only ever rises. The command asks with `wanted`;
 * the process brings its counts up to date and answers with `published`, but a process in which
 * every thread waits does not answer, so nothing depends on it: findings are written as they are
 * made. `asked` and `terminated` are noticed by the command, which looks now and then.
 */
#define TMS_SPOOL_LIVE 2048u

struct tms_spool_live {
    _Alignas(64) uint32_t wanted;    /* by the command: how often it has asked for counts */
    _Alignas(64) uint32_t published; /* the counts are at least as new as this request */
    uint32_t asked;                  /* how often a report was asked for inside the process */
    uint32_t terminated;             /* SIGTERM was delivered to a handler so often */
    uint32_t has_coverage;           /* 1: the two numbers below are there: memory is watched */
    uint32_t functions_shared;       /* docs/user/runtime.md, "What a run covers" */
    uint32_t functions_met;
};

_Static_assert(sizeof(struct tms_spool_header) <= TMS_SPOOL_LIVE, "the two do not overlap");

enum tms_spool_chunk_kind { TMS_SPOOL_EVENTS = 1, TMS_SPOOL_RECORDS };

struct tms_spool_chunk {
    uint32_t kind; /* enum tms_spool_chunk_kind; 0: given out but nothing written */
    uint32_t thread;
    uint32_t used; /* bytes, this header included */
    uint32_t size; /* bytes from this chunk to the next */
};

#define TMS_SPOOL_RUN_MOST (UINT64_C(1) << 20)

/* An event. Kinds are those of the public header, so that they become those of the trace. */
struct tms_spool_event {
    uint64_t number;
    uint64_t target; /* address of the variable, lock, condition, barrier, object; thread index
                        of a child; label id of a block */
    uint64_t extra;  /* alloc and free: so many bytes from `target` on are new variables; free with
                        0: the object at `target` is gone, see `what`; locks: in which call
                        of a function of a program that was not built for it, 0: unknown;
                        accesses without a `size`: how many bytes, up to TMS_SPOOL_RUN_MOST */
    uint32_t site;   /* where it happened: a SITE record */
    uint8_t kind;    /* enum tms_event_kind */
    uint8_t size;    /* accesses: 1 to 16 bytes from the address on, or 0: see `extra` */
    uint8_t what;    /* enum tms_rt_sync for locks and the like: one address may be several;
                        enum tms_spool_mark for accesses; of atomic accesses of known order and of
                        fences, see tms_spool_what */
    uint8_t joins; /* 1: an access that is beside the event before it, of the same kind, and may as
                      well have happened with it */
};

/*
 * One kind is not of the public header. IDLE: blocks without an event in them, so many as `extra`
 * says, up to TMS_SPOOL_RUN_MOST, one after the other.
 */
enum { TMS_SPOOL_IDLE = UINT8_MAX - 1 };

/*
 * Accesses with an additional meaning: the read of a compare-and-swap that failed; operations on
 * semaphores and once controls, which are represented by their memory. No value of enum
 * tms_rt_sync, but the latter in the lowest bits.
 */
enum tms_spool_mark {
    TMS_SPOOL_RETRY = 8,
    TMS_SPOOL_ON_SEMAPHORE = TMS_SPOOL_RETRY | 3,
    TMS_SPOOL_ON_ONCE = TMS_SPOOL_RETRY | 4,
};

/*
 * `what` of an atomic access (TMS_EVENT_ATOMIC_…) or a fence: its memory order, enum tms_order, in
 * the upper half, and in the lower half what it would be otherwise: enum tms_spool_mark, or 0.
 */
#define TMS_SPOOL_ORDER_UNIT 16u

static inline uint8_t tms_spool_what(unsigned order, unsigned mark)
{
    return (uint8_t)(order * TMS_SPOOL_ORDER_UNIT + mark);
}

static inline unsigned tms_spool_order(const struct tms_spool_event *event)
{
    return event->what / TMS_SPOOL_ORDER_UNIT;
}

static inline unsigned tms_spool_mark(const struct tms_spool_event *event)
{
    return event->what % TMS_SPOOL_ORDER_UNIT;
}

/* How many bytes an access is to. */
static inline uint64_t tms_event_bytes(const struct tms_spool_event *event)
{
    return event->size != 0 ? event->size : event->extra;
}

/* Is one access of the same kind as another, adjacent to it, and short enough to be joined? */
static inline bool tms_event_is_beside(const struct tms_spool_event *event,
                                       const struct tms_spool_event *other)
{
    uint64_t bytes = tms_event_bytes(event), more = tms_event_bytes(other);

    return event->kind == other->kind && bytes + more <= TMS_SPOOL_RUN_MOST &&
           (event->target == other->target + more || event->target + bytes == other->target);
}

/* One of two that are beside each other becomes both. */
static inline void tms_event_lengthen(struct tms_spool_event *event,
                                      const struct tms_spool_event *by)
{
    event->extra = tms_event_bytes(event) + tms_event_bytes(by);
    event->target = by->target < event->target ? by->target : event->target;
    event->size = 0;
}

/* ---- records ---------------------------------------------------------------------------- */

/* X(name, struct) */
#define TMS_SPOOL_RECORD_TYPES(X)                                                                  \
    X(MODULE, tms_spool_module)                                                                    \
    X(SITE, tms_spool_site)                                                                        \
    X(LABEL, tms_spool_label)                                                                      \
    X(THREAD, tms_spool_thread)                                                                    \
    X(NAME, tms_spool_name)                                                                        \
    X(HEAP, tms_spool_heap)                                                                        \
    X(VIOLATION, tms_spool_violation)                                                              \
    X(EXEC, tms_spool_exec)                                                                        \
    X(WARNING, tms_spool_warning)                                                                  \
    X(UNOWNED, tms_spool_unowned)                                                                  \
    X(JUDGED, tms_spool_judged)                                                                    \
    X(COUNTS, tms_spool_counts)                                                                    \
    X(SECTION, tms_spool_section)                                                                  \
    X(PLACE, tms_spool_place)                                                                      \
    X(RACE, tms_spool_race)                                                                        \
    X(LOCK, tms_spool_lock)                                                                        \
    X(PREDICTION, tms_spool_prediction)                                                            \
    X(REQUEST, tms_spool_request)                                                                  \
    X(SCHEDULE, tms_spool_schedule)                                                                \
    X(WINDOW, tms_spool_window)

enum tms_spool_type {
    TMS_SPOOL_NONE,
#define X(name, type) TMS_SPOOL_##name,
    TMS_SPOOL_RECORD_TYPES(X)
#undef X
        TMS_SPOOL_TYPES
};

/* Every record starts with this; the next one follows at a multiple of 8 bytes. */
struct tms_spool_record {
    uint32_t type;   /* enum tms_spool_type */
    uint32_t length; /* with this header, before rounding up */
};

/* A loaded file; code at pc is at pc - bias in it. */
struct tms_spool_module {
    struct tms_spool_record record;
    uint64_t start, end, bias;
    char path[]; /* ends with a zero, like all texts here */
};

/*
 * A place in the program with its call stack: `pc` is where the event happened (return address of
 * the hook, so one past the call), or, of an outer frame, the return address; `parent` the site of
 * the call, 0 at the start of the thread.
 */
struct tms_spool_site {
    struct tms_spool_record record;
    uint32_t id, parent;
    uint64_t pc;
};

struct tms_spool_label {
    struct tms_spool_record record;
    uint32_t id;
    uint32_t function; /* 1: `address` is inside the function; 0: `text` is the name */
    uint64_t address;
    char text[]; /* the name; of a function, as far as the process could tell, may be empty */
};

struct tms_spool_thread {
    struct tms_spool_record record;
    uint32_t index;  /* from 1 on; 1 is the first thread */
    uint32_t parent; /* index, 0 for the first */
    int64_t tid;
    uint64_t entry;                  /* its start function, 0 if unknown */
    uint64_t stack_start, stack_end; /* addresses of its stack; both 0: unknown */
    char name[];                     /* may be empty; a later record with the same index renames */
};

/* What the programmer called an object at an address. */
struct tms_spool_name {
    struct tms_spool_record record;
    uint64_t address;
    char text[];
};

/*
 * A block of the heap: it holds an address of the finding in one of the next records, at the time
 * it was found; or memory that is accessed in a section (tms_spool_member); or, where allocations
 * are not recorded, a lock or other object at its first use.
 */
struct tms_spool_heap {
    struct tms_spool_record record;
    uint64_t address, size;
    uint64_t object; /* the address of the lock; 0: it is about memory */
    uint64_t number; /* and of the event since which it is there */
    uint32_t site;   /* of the allocation */
    uint32_t reserved;
};

struct tms_spool_transaction {
    uint64_t begin; /* number of its begin, or of the event if unary */
    uint32_t thread;
    uint32_t label; /* LABEL record, 0: none */
    uint32_t site;
    uint32_t unary;
};

struct tms_spool_step {
    struct tms_spool_transaction from, to;
    uint64_t first, second; /* numbers of the two events */
    uint64_t on;            /* address, or index of a thread */
    uint32_t first_site, second_site;
    uint8_t size;     /* bytes that both touched, from `on` on; 0 if it is no memory */
    uint8_t on_class; /* enum tms_class */
    uint8_t kind;     /* enum tms_edge_kind */
    uint8_t first_kind, second_kind;
    uint8_t reserved[3];
};

#define TMS_SPOOL_HELD 8

/*
 * One static pattern; `count` is raised in place. A record with `open` is about a block that still
 * runs, as far as it got: it counts once as long as its process has not said how it ended, and is
 * replaced by another when the block goes on.
 */
struct tms_spool_violation {
    struct tms_spool_record record;
    uint64_t count; /* 0: not written to the end, or `open` */
    uint64_t event; /* number of the closing event */
    uint32_t thread;
    uint32_t not_atomic;
    struct tms_spool_transaction transaction;
    uint32_t steps, refuted; /* lengths of what follows */
    uint32_t held_count;
    uint32_t open;
    uint64_t held[TMS_SPOOL_HELD]; /* locks that the closing thread held */
    /* struct tms_spool_step step[steps]; struct tms_spool_transaction refuted[refuted]; */
};

/* A program that was started without the configuration of a spool, so it writes none. */
struct tms_spool_exec {
    struct tms_spool_record record;
    char path[];
};

struct tms_spool_warning {
    struct tms_spool_record record;
    char text[];
};

/* The first data race of two places; `count` is raised in place. A site is 0 if it is not known any
 * more. */
struct tms_spool_race {
    struct tms_spool_record record;
    uint64_t count;
    struct tms_spool_step step;
};

/* A lock that predictions and requests speak of, and the block of the heap that it was in. */
struct tms_spool_lock {
    struct tms_spool_record record;
    uint32_t id;
    uint32_t heap_site; /* of the allocation */
    uint64_t address;
    uint64_t heap_address, heap_size; /* 0: in none */
};

/* An acquire, and what its thread was in. */
struct tms_spool_acquire {
    uint64_t number;
    uint64_t activation; /* as `extra` of an event */
    uint32_t site;
    uint32_t shared;
    struct tms_spool_transaction in;
};

/* One static pattern; `count` is raised in place. */
struct tms_spool_prediction {
    struct tms_spool_record record;
    uint64_t count;
    uint32_t lock;
    uint8_t kind;  /* enum tms_predicted_kind */
    uint8_t rough; /* the threads may wait for each other in that schedule */
    uint8_t reserved[2];
    struct tms_spool_acquire first, culprit, second;
    struct tms_spool_acquire through; /* of a pair: the culprit's of the first lock, … */
    uint32_t first_lock;              /* … which is this one; the other kinds have neither */
    uint32_t refuted;                 /* 0: the transaction alone */
    /* struct tms_spool_transaction refuted[refuted]; */
};

struct tms_spool_hold {
    uint32_t lock;
    uint32_t reserved;
    struct tms_spool_acquire taken;
};

/* A thread wants a lock while it holds others, or the end of a thread
 * (src/predict/lock_requests.h). */
struct tms_spool_request {
    struct tms_spool_record record;
    struct tms_spool_acquire wants;
    uint32_t join, wanted; /* a thread, or a lock */
    uint32_t slot;
    uint32_t held, knows; /* lengths of what follows */
    uint32_t complete;    /* 1: it was written to its end */
    /* struct tms_spool_hold hold[held]; uint64_t knows[knows]; */
};

/* The lock at an address is released by threads that have not taken it: a semaphore. */
struct tms_spool_unowned {
    struct tms_spool_record record;
    uint64_t address;
};

/* How the threads were steered; the counts are raised in place. */
struct tms_spool_schedule {
    struct tms_spool_record record;
    uint32_t strategy; /* enum tms_strategy (schedule.h) */
    uint32_t reserved;
    uint64_t seed;
    uint64_t points; /* scheduling points that threads came to */
    uint64_t delays; /* of threads, holds included */
    uint64_t holds, met, released;
};

/*
 * Two accesses or acquires of a block between which a thread can be held; `seen` is raised in
 * place.
 */
struct tms_spool_window {
    struct tms_spool_record record;
    uint64_t seen;   /* how often, as far as was looked */
    uint64_t object; /* address << 8, and of memory how many bytes */
    uint32_t label, block_site;
    uint32_t open, close, at; /* sites: of the first, where to hold the thread, of the second */
    uint8_t on_lock;          /* 1: two acquires of the lock at the address */
    uint8_t guarded;          /* 1: a lock is held from before the first to the second */
    uint8_t writes, waits; /* of the runtime: the second writes; no other thread has used it yet */
};

/* ---- of `judge` (judge/judge.h) ---------------------------------------------------------- */

/* A step or an access of another thread. */
struct tms_spool_turn {
    uint64_t event; /* 0: none */
    uint32_t thread;
    uint32_t site;
    uint8_t kind;   /* enum tms_judge_kind */
    uint8_t atomic; /* 0: a U is a read and a write */
    uint8_t reserved[6];
};

#define TMS_SPOOL_OUTER 64

/* Evidence, and its first occurrence; `count` and `cut` are raised in place. */
struct tms_spool_judged {
    struct tms_spool_record record;
    uint64_t count;
    uint64_t cut;     /* activations, of the finding */
    uint32_t finding; /* the same number: the same block and objects */
    uint32_t thread;
    uint8_t pattern; /* enum tms_pattern; what depends on lines is not decided */
    uint8_t mild, firm, released_shared;
    uint32_t culprit;     /* label, if firm */
    uint32_t place;       /* site where the second step reads with a lock held, 0: it does not */
    uint32_t outer_count; /* of `outer` */
    uint64_t variable[2]; /* address << 8, and how many bytes; the second may be 0 */
    uint64_t lock;        /* given up between, 0: none */
    uint64_t released;
    uint32_t released_site;
    uint32_t reserved;
    struct tms_spool_transaction block, foreign;
    struct tms_spool_turn own[2], others[2];
    struct tms_spool_transaction outer[];
};

/* What a function was seen to do. */
struct tms_spool_counts {
    struct tms_spool_record record;
    uint32_t label, reserved;
    uint64_t executions, same, busy, ended, counted, counted_cut;
};

/* What is accessed while a lock is held that was acquired there. */
struct tms_spool_member {
    uint64_t variable;  /* as above */
    uint32_t kinds;     /* bits: 1 << enum tms_judge_kind */
    uint32_t learnt_at; /* number of its heap block's record, from 1 on; 0: none */
};
struct tms_spool_section {
    struct tms_spool_record record;
    uint64_t lock;
    uint32_t site;
    uint32_t member_count;
    struct tms_spool_member member[];
};

/* Threads wait there. */
struct tms_spool_place {
    struct tms_spool_record record;
    uint32_t site, reserved;
};

#endif
