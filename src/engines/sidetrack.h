/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the sidetrack engine; sidetrack.c has the algorithm.
 *
 * Clocks are vectors of a number for each thread slot, and only those that are joined into others
 * are kept whole: C of each thread, R of each lock. A and V are clocks of a thread at one of its
 * own acquires, and such a clock is within another iff its own component is, so that one component
 * is all that is kept of them.
 *
 * A slot whose thread was joined is reused for a thread whose creator knows all that the old one
 * did: nothing is lost by that. Only when there are SIDETRACK_SLOTS of them is any such slot taken.
 * The new thread then seems to come after the old one, and a superfluous order hides predictions,
 * but makes none.
 */
#ifndef TMS_ENGINES_SIDETRACK_H
#define TMS_ENGINES_SIDETRACK_H

#include <assert.h>

#include "base/arena.h"
#include "base/hash_mix.h"
#include "clock/vector_clock.h"
#include "engine_api/engine.h"
#include "engine_api/nesting.h"

#define SIDETRACK_SLOTS 1024

/* How a lock is taken. Of windows, SHARED means acquires of any kind. */
enum { SHARED, EXCLUSIVE, KINDS };

enum tms_sidetrack_error { ERROR_BEFORE, ERROR_IN, ERROR_AFTER, ERROR_PAIR, ERROR_KINDS };

/* What went on inside a section of a lock. */
enum {
    SECTION_NESTED = 1, /* took a lock that is held over other waiting, updated an atomic, or was
                           the first to learn something by loading one */
    SECTION_WAITS = 2,  /* waited for something that is no lock */
};

/* An event that a report may name. */
struct tms_sidetrack_place {
    uint64_t event; /* 0: none */
    uint32_t location;
    uint8_t kind; /* enum tms_event_kind */
};

/* An acquire and the clock of its thread before it: A of the lock. */
struct tms_sidetrack_acquire {
    uint64_t count; /* the thread's own component */
    uint32_t slot;
    uint8_t section; /* when it has ended: SECTION_* */
    bool fixed;      /* can't be moved after a later acquire of another thread */
    struct tms_sidetrack_place place;
    struct tms_transaction in;
};

/* Two acquires of a lock in one block: V of the lock is the clock of the second. */
struct tms_sidetrack_window {
    struct tms_sidetrack_acquire
        second; /* its slot 0: no window, or one that is reported already */
    struct tms_sidetrack_place first;
    struct tms_refuted refuted;
};

/*
 * Sections that a thread remembers for pairs, and those before an acquire that its window has: a
 * block with more sections than these still has windows between neighbours.
 */
#define SIDETRACK_RECENT 8 /* a power of two */
#define SIDETRACK_FIRSTS 4

/* A section that a thread began lately. */
struct tms_sidetrack_recent {
    struct tms_sidetrack_place place; /* event 0: none */
    struct tms_transaction in;
    uint32_t lock;
};

/* V over two locks: an acquire in a block that has had sections of other locks before. */
struct tms_sidetrack_pair {
    struct tms_sidetrack_window
        window; /* without a first one; `refuted` are all blocks open at the second */
    struct tms_sidetrack_recent
        first[SIDETRACK_FIRSTS]; /* the latest first, each of another lock */
    size_t first_count;
};

/* The last store to an atomic variable, and the last of all other threads. */
struct tms_sidetrack_source {
    uint64_t event; /* 0: none */
    uint64_t other;
    uint32_t thread;
};

/* Is the variable of an atomic a semaphore? Its name is asked for once. */
enum tms_sidetrack_semaphore { SEMAPHORE_UNKNOWN, SEMAPHORE_NO, SEMAPHORE_YES };

/*
 * Where there are thousands of locks, none of them is at hand when it is taken. What an exclusive
 * acquire always needs, up to the clock of V, is in one cache line, and each A in another.
 */
struct tms_sidetrack_lock {
    struct tms_vector released; /* R of the last exclusive release */
    uint64_t released_at;       /* the own component of its thread in R, 0: there was none … */
    uint64_t released_age;      /* … the age of that thread then … */
    uint32_t releaser;          /* … and its slot */
    bool shared_since;          /* shared releases since the last exclusive acquire */
    bool shared;                /* was ever taken so */
    bool inner;                 /* was held by a thread that waited for something */
    uint8_t semaphore;          /* of an atomic: enum tms_sidetrack_semaphore */
    uint8_t newest[KINDS];      /* which of the two last ones is A */
    bool paired;                /* `pair` is there */
    struct tms_sidetrack_window window[KINDS]; /* V */
    struct tms_vector released_shared;         /* R of all shared releases */
    struct tms_sidetrack_pair *pair;
    struct {
        _Alignas(TMS_LINE) struct tms_sidetrack_acquire acquire;
    } last[KINDS][2];
    struct tms_sidetrack_source stored,
        written; /* of an atomic variable: the last store; store or update */
};
_Static_assert(offsetof(struct tms_sidetrack_lock, window[SHARED].second.section) <= TMS_LINE,
               "the clock of V is in the first line");

/*
 * A lock that a thread holds. A thread can hold any number of them, so nothing walks over all: what
 * happened inside a section follows from the thread's last events of each kind.
 */
struct tms_sidetrack_hold {
    struct tms_sidetrack_lock *lock; /* NULL: it was released and leaves a gap in the list */
    uint64_t event;
    uint32_t id;
    uint32_t cut;  /* 1 + the index of the window that its acquire could cut; 0: none */
    uint32_t pair; /* likewise of a window between two locks */
    uint8_t kind;  /* SHARED or EXCLUSIVE */
    bool inner;    /* lock->inner is set for this hold and for all before it */
};

/* Two accesses to a variable in one block, each the first one in a section of the same lock. */
struct tms_sidetrack_access_window {
    struct tms_sidetrack_place first, second;
    uint64_t section; /* the acquire that the second section began with; 0: no window */
    uint32_t variable;
};

/* A variable, as long as all its accesses are under one and the same lock. */
struct tms_sidetrack_guarded {
    uint32_t lock;    /* 0: not accessed under a lock so far … */
    uint32_t owner;   /* … but by this thread alone, which had no need of one */
    bool open;        /* it was accessed without that lock: nothing more is said about it */
    uint32_t thread;  /* of the last first access in a section, … */
    uint64_t block;   /* … its block, … */
    uint64_t section; /* … and its section, by the acquire */
    struct tms_sidetrack_place last;
    struct tms_sidetrack_access_window window;
};

/* A window taken away from its lock by an acquire that could cut it, until the lock is released. */
struct tms_sidetrack_cut {
    uint32_t next_free; /* of an unused one: 1 + the index of the next, 0: none */
    struct tms_sidetrack_window window;
    struct tms_sidetrack_acquire culprit;
    struct tms_sidetrack_access_window
        accesses;                      /* the first of these that it could cut as well, … */
    struct tms_sidetrack_place access; /* … and by what; event 0: none */
    struct tms_sidetrack_recent first,
        through; /* of a pair: sections of its first lock, also the culprit's */
};

/*
 * A lock that was taken in the running block: H. In a table of its own, not a base/hashtable.h: it
 * is searched at every acquire, and the entry is what is needed next.
 */
struct tms_sidetrack_taken {
    uint64_t block; /* the number of the block it belongs to; another: the place is free */
    uint64_t key;
    struct tms_sidetrack_place last[KINDS]; /* of any kind; exclusive */
    uint64_t since[KINDS];                  /* the first of them */
    uint64_t before[KINDS]; /* I: the event of an acquire that could come after it as well, or 0 */
    uint8_t section;        /* SECTION_* of all its sections in the block */
};

struct tms_sidetrack_thread {
    uint32_t id, slot;       /* slot 0: none yet */
    bool woken;              /* waited for a condition: the next acquire takes the lock back */
    bool gone;               /* joined */
    struct tms_vector clock; /* C */
    uint64_t age; /* a new number whenever it learnt something of another; no two have the same */
    struct tms_transaction name; /* of the block it is in, or was in last */
    struct tms_nesting nesting;
    uint64_t block; /* transactions begun, synthetic ones too */
    struct tms_sidetrack_taken *taken;
    size_t taken_size, taken_count; /* open-addressed, a power of two; those of the block */
    struct tms_sidetrack_hold
        *held; /* in the order in which they were taken; the last one is not a gap */
    size_t held_count, held_capacity, gap_count;
    struct tms_sidetrack_cut *cuts;
    size_t cut_count, cut_capacity; /* unused ones included */
    uint32_t free_cut;              /* 1 + the index of an unused one, 0: none */
    uint64_t cramped; /* of the times it waited in this block: the latest acquire held then */
    uint64_t nested; /* the last event, while holding a lock, that makes a section SECTION_NESTED */
    uint64_t stuck;  /* likewise SECTION_WAITS: it waited for something that is no lock */
    uint64_t sourced;   /* in this block: the latest store of others to an atomic that it loaded */
    uint64_t accessed;  /* the last access to a variable; followed with TMS_PREDICT_VARIABLE only */
    uint64_t completed; /* the last block that has had a whole section of a lock */
    uint32_t recent_at; /* the last one written */
    struct tms_sidetrack_recent
        recent[SIDETRACK_RECENT]; /* a ring; followed with TMS_PREDICT_PAIR only */
};

struct tms_sidetrack {
    struct tms_host *host;
    struct tms_memory *memory;
    unsigned predict;                     /* enum tms_predict */
    struct tms_sidetrack_thread *threads; /* by id */
    size_t thread_capacity;
    uint64_t *slots; /* where the count of its next thread begins */
    size_t slot_capacity;
    uint32_t slot_count;
    uint32_t *retired; /* slots of joined threads */
    size_t retired_count, retired_capacity;
    struct tms_arena arena;            /* locks, and R of each */
    struct tms_sidetrack_lock **locks; /* by id; NULL: not used so far */
    size_t lock_capacity;
    struct tms_sidetrack_lock **atomics; /* by variable */
    size_t atomic_capacity;
    struct tms_vector *barriers; /* by id: what arrivals know */
    size_t barrier_capacity;
    struct tms_vector *channels; /* by id: what senders know */
    size_t channel_capacity;
    struct tms_sidetrack_guarded *variables; /* by id */
    size_t variable_capacity;
    bool waits_held; /* a thread waited for something that is no lock, while holding one */
    struct tms_refuted refuted;          /* of the current report */
    uint64_t age;                        /* the last one given out */
    uint64_t acquires, windows, dropped; /* for stats */
    uint64_t reports[ERROR_KINDS];
};

/* ---- sidetrack_state.c ------------------------------------------------------------------ */

/* These return NULL or false when memory is short, after reporting that to the host. */

struct tms_sidetrack_thread *tms_sidetrack_new_thread(struct tms_sidetrack *s, uint32_t id);
bool tms_sidetrack_fork(struct tms_sidetrack *s, uint32_t parent, uint32_t child);
bool tms_sidetrack_join(struct tms_sidetrack *s, uint32_t parent, uint32_t child);

/* Of locks or atomics, by id; they stay where they are. */
struct tms_sidetrack_lock *tms_sidetrack_new_lock(struct tms_sidetrack *s,
                                                  struct tms_sidetrack_lock ***table,
                                                  size_t *capacity, uint32_t id);

bool tms_sidetrack_grow_taken(struct tms_sidetrack *s, struct tms_sidetrack_thread *t);

void tms_sidetrack_clear(struct tms_sidetrack *s);

static inline struct tms_sidetrack_acquire *sidetrack_last(struct tms_sidetrack_lock *lock,
                                                           int kind)
{
    return &lock->last[kind][lock->newest[kind]].acquire;
}

static inline bool sidetrack_is_spent(const struct tms_sidetrack_window *window)
{
    return window->second.slot == 0;
}

static inline void sidetrack_spend(struct tms_sidetrack_window *window)
{
    window->second.slot = 0;
}

static inline uint64_t sidetrack_own(const struct tms_sidetrack_thread *t)
{
    assert(t->slot != 0 && t->slot < t->clock.capacity);
    return t->clock.at[t->slot];
}

/* Does the thread come after that acquire? */
static inline bool sidetrack_knows(const struct tms_sidetrack_thread *t,
                                   const struct tms_sidetrack_acquire *acquire)
{
    return acquire->count <= tms_vector_get(&t->clock, acquire->slot);
}

static inline bool sidetrack_out_of_memory(struct tms_sidetrack *s)
{
    tms_host_fail(s->host, TMS_ERR_MEMORY);
    return false;
}

static inline struct tms_sidetrack_thread *sidetrack_thread(struct tms_sidetrack *s, uint32_t id)
{
    if (__builtin_expect(id < s->thread_capacity && s->threads[id].slot != 0, 1)) {
        return &s->threads[id];
    }
    return tms_sidetrack_new_thread(s, id);
}

static inline struct tms_sidetrack_lock *sidetrack_lock(struct tms_sidetrack *s, uint32_t id)
{
    if (__builtin_expect(id < s->lock_capacity && s->locks[id] != NULL, 1)) {
        return s->locks[id];
    }
    return tms_sidetrack_new_lock(s, &s->locks, &s->lock_capacity, id);
}

/* Where the key is, or a free place for it. There always is one: the table is never full. */
static inline struct tms_sidetrack_taken *
sidetrack_find_taken(struct tms_sidetrack_taken *table, size_t size, uint64_t block, uint64_t key)
{
    size_t at = (tms_hash(key) >> 32) & (size - 1);

    assert(size > 0 && (size & (size - 1)) == 0);
    while (table[at].block == block && table[at].key != key) {
        at = (at + 1) & (size - 1);
    }
    return &table[at];
}

/* What the running block of the thread knows of a lock: at first, that it was not taken. */
static inline struct tms_sidetrack_taken *
sidetrack_taken(struct tms_sidetrack *s, struct tms_sidetrack_thread *t, uint64_t key)
{
    if (2 * (t->taken_count + 1) > t->taken_size && !tms_sidetrack_grow_taken(s, t)) {
        return NULL;
    }
    struct tms_sidetrack_taken *taken =
        sidetrack_find_taken(t->taken, t->taken_size, t->block, key);
    if (taken->block != t->block) {
        taken->block = t->block;
        taken->key = key;
        taken->last[SHARED].event = taken->last[EXCLUSIVE].event = 0;
        taken->section = 0;
        t->taken_count++;
    }
    return taken;
}

/* ---- sidetrack_holds.c ------------------------------------------------------------------ */

/* The thread's hold of a lock that is not the one it took last; NULL: it does not hold it. */
struct tms_sidetrack_hold *tms_sidetrack_search_hold(struct tms_sidetrack_thread *t,
                                                     struct tms_sidetrack_lock *lock);

/* Removes a hold from the list and leaves a gap. */
void tms_sidetrack_leave_gap(struct tms_sidetrack_thread *t, struct tms_sidetrack_hold *hold);

static inline void sidetrack_unhold(struct tms_sidetrack_thread *t, struct tms_sidetrack_hold *hold)
{
    assert(t->gap_count < t->held_count && hold < t->held + t->held_count);
    if (t->gap_count == 0 && hold == &t->held[t->held_count - 1]) {
        t->held_count--;
    } else {
        tms_sidetrack_leave_gap(t, hold);
    }
}

static inline struct tms_sidetrack_hold *sidetrack_find_hold(struct tms_sidetrack_thread *t,
                                                             struct tms_sidetrack_lock *lock)
{
    if (t->held_count == 0) {
        return NULL;
    }
    struct tms_sidetrack_hold *last = &t->held[t->held_count - 1];
    return last->lock == lock ? last : tms_sidetrack_search_hold(t, lock);
}

/* What has gone on inside the section so far: SECTION_*. */
static inline uint8_t sidetrack_section(const struct tms_sidetrack_thread *t,
                                        const struct tms_sidetrack_hold *hold)
{
    return (uint8_t)((t->nested > hold->event ? SECTION_NESTED : 0) |
                     (t->stuck > hold->event ? SECTION_WAITS : 0));
}

/* ---- sidetrack_locks.c ------------------------------------------------------------------ */

/* C := C ⊔ clock */
void tms_sidetrack_learn(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                         const struct tms_vector *clock);

/* The thread may have to wait: its locks are held that long, and their sections are of that kind.
 */
void tms_sidetrack_wait(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                        const struct tms_op *op, uint8_t section);

void tms_sidetrack_acquire(struct tms_sidetrack *s, const struct tms_op *op);
void tms_sidetrack_release(struct tms_sidetrack *s, const struct tms_op *op);
void tms_sidetrack_acquire_shared(struct tms_sidetrack *s, const struct tms_op *op);
void tms_sidetrack_release_shared(struct tms_sidetrack *s, const struct tms_op *op);

/* A read-modify-write: a section that ends where it begins, if it does not wait as a semaphore. */
void tms_sidetrack_update(struct tms_sidetrack *s, const struct tms_op *op);

/* An atomic load and an atomic store, of any order. */
void tms_sidetrack_load(struct tms_sidetrack *s, const struct tms_op *op);
void tms_sidetrack_store(struct tms_sidetrack *s, const struct tms_op *op);

/* ---- sidetrack_windows.c ---------------------------------------------------------------- */

/* What one acquire needs on its way through the rules. */
struct tms_sidetrack_taking {
    struct tms_sidetrack_thread *t;
    struct tms_sidetrack_lock *lock;
    const struct tms_op *op;
    int kind; /* SHARED or EXCLUSIVE */
    uint8_t on_class;
};

static inline struct tms_sidetrack_place sidetrack_place(const struct tms_op *op)
{
    return (struct tms_sidetrack_place){op->event, op->location, op->event_kind};
}

/* A of the lock, or V: the clock of the thread before it has learnt from the lock. */
static inline void sidetrack_write_acquire(const struct tms_sidetrack_thread *t,
                                           const struct tms_op *op,
                                           struct tms_sidetrack_acquire *acquire)
{
    acquire->place = sidetrack_place(op);
    acquire->count = sidetrack_own(t);
    acquire->slot = t->slot;
    acquire->section = 0;
    acquire->fixed = false;
    if (op->flags & TMS_OP_IN_BLOCK) {
        acquire->in = t->name;
    } else {
        acquire->in = (struct tms_transaction){op->event, t->id, 0, op->location, true};
    }
}

static inline uint64_t sidetrack_key(const struct tms_op *op, uint8_t on_class)
{
    return (uint64_t)on_class << 32 | op->target;
}

/*
 * The acquire follows one of its form in the same block: makes the window of the two, with its
 * consequences. Forms are SHARED, of any two acquires, which an exclusive culprit cuts, and
 * EXCLUSIVE, of exclusive ones, which a shared culprit cuts as well.
 */
void tms_sidetrack_close(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking,
                         struct tms_sidetrack_taken *taken, int form);

/* Writes down the blocks open now that were so at the event; false when memory is short. */
bool tms_sidetrack_refute(struct tms_sidetrack *s, const struct tms_sidetrack_thread *t,
                          uint64_t event, struct tms_refuted *refuted);

/* 1 + the index of an unused cut of the thread; 0: no memory. */
uint32_t tms_sidetrack_take_cut(struct tms_sidetrack *s, struct tms_sidetrack_thread *t);

/* Is there a window that this acquire could cut? */
static inline bool sidetrack_cuts(const struct tms_sidetrack_taking *taking)
{
    const struct tms_sidetrack_window *window = &taking->lock->window[!taking->kind];

    return !sidetrack_is_spent(window) && !sidetrack_knows(taking->t, &window->second);
}

/*
 * Then it goes with the thread, until the release shows how the section went: 1 + the index of the
 * cut; 0: no memory.
 */
uint32_t tms_sidetrack_put_off(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking);
void tms_sidetrack_settle(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                          const struct tms_sidetrack_hold *hold);

/* And if it is a read-modify-write, it is reported at once. */
void tms_sidetrack_cut_updates(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking);

/* ---- sidetrack_pairs.c ------------------------------------------------------------------ */

/* The window between two locks that this acquire could cut, as above; 0: there is none. */
uint32_t tms_sidetrack_put_pair_off(struct tms_sidetrack *s,
                                    const struct tms_sidetrack_taking *taking);

/* The window that the acquire makes with sections of other locks before it in the block. */
void tms_sidetrack_set_pair(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking);

/* The acquire begins a section that others may follow. */
static inline void sidetrack_remember(struct tms_sidetrack_thread *t,
                                      const struct tms_sidetrack_acquire *acquire, uint32_t lock)
{
    bool again = t->recent[t->recent_at].lock == lock;

    t->recent_at = (t->recent_at + !again) % SIDETRACK_RECENT;
    t->recent[t->recent_at] = (struct tms_sidetrack_recent){acquire->place, acquire->in, lock};
}

/* ---- sidetrack_variables.c -------------------------------------------------------------- */

/* READ, WRITE and UPDATE of a variable, with TMS_PREDICT_VARIABLE. */
void tms_sidetrack_access(struct tms_sidetrack *s, const struct tms_op *op);

/* ---- sidetrack_report.c ----------------------------------------------------------------- */

/* What a report is made of: the window, and who cuts it. */
struct tms_sidetrack_prediction {
    enum tms_sidetrack_error error;
    bool rough;    /* threads may wait for each other in that schedule */
    bool unproven; /* the culprit may itself be what has to wait */
    uint8_t on_class;
    uint32_t on;
    const struct tms_sidetrack_place *first, *second;
    const struct tms_transaction *block;
    const struct tms_refuted *refuted;
    const struct tms_sidetrack_place *culprit;
    const struct tms_transaction *culprit_in;
    /* Of a pair: the first lock, and the culprit's acquire of it, which comes before `culprit`. */
    uint32_t first_on, first_alias;
    const struct tms_sidetrack_place *through;
    const struct tms_transaction *through_in;
    uint32_t shows; /* the thread of the event that shows it */
    /* Of what was decided elsewhere: */
    uint32_t on_alias;      /* see struct tms_step; 0: none */
    uint64_t repeats;       /* so many more of the same */
    const uint32_t *stacks; /* of first, through, culprit and second; NULL: none */
};
void tms_sidetrack_report(struct tms_sidetrack *s,
                          const struct tms_sidetrack_prediction *prediction);

#endif
