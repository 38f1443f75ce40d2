/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the goodlock engine; goodlock.c has the algorithm in words.
 *
 * What a thread waits for is a *resource*: a lock, or the end of a thread. A *request* says that
 * some thread, while it held these locks, wanted that resource; a request is kept once for each
 * thread, set of locks and resource, and has a *moment* for each period of the thread in which it
 * was made. So memory follows the different ways in which the program nests its locks, and the
 * length of the trace only as far as it has periods.
 */
#ifndef TMS_ENGINES_GOODLOCK_H
#define TMS_ENGINES_GOODLOCK_H

#include "base/hashtable.h"
#include "engine_api/engine.h"
#include "lockset/lockset.h"
#include "lockset/periods.h"

#define NONE UINT32_MAX

static inline uint32_t resource_of_lock(uint32_t lock)
{
    return lock << 1;
}

static inline uint32_t resource_of_end(uint32_t thread)
{
    return thread << 1 | 1;
}

static inline bool is_end(uint32_t resource)
{
    return (resource & 1) != 0;
}

/* An event that took a lock, or that wants something. */
struct tms_goodlock_taking {
    uint64_t event;
    struct tms_transaction transaction;
    uint32_t target, location;
    uint32_t stack; /* of what was decided elsewhere, else 0 */
    uint8_t kind;   /* enum tms_event_kind */
};

struct tms_goodlock_moment {
    struct tms_goodlock_taking wants;
    uint32_t period;
    uint32_t next; /* of the same request, NONE after the last */
    size_t holds;  /* in `holds`: where the locks held were taken */
    uint32_t held; /* how many */
};

struct tms_goodlock_request {
    uint32_t thread;
    struct tms_held held;
    uint32_t wanted;      /* resource */
    bool shared;          /* other shared holders are no hindrance */
    uint32_t first, last; /* moments */
};

struct tms_goodlock_thread {
    struct tms_held held;
    struct tms_goodlock_taking *holds; /* in the order in which they were taken */
    size_t hold_count, hold_capacity;
    struct tms_transaction block;
    bool in_block;
};

struct tms_goodlock {
    struct tms_host *host;
    struct tms_locksets sets;
    struct tms_periods periods;
    struct tms_goodlock_thread *threads; /* by id */
    size_t thread_capacity;
    struct tms_goodlock_request *requests;
    size_t request_count, request_capacity;
    struct tms_hashtable index; /* of the requests, by all that tells them apart: 1 + place */
    struct tms_goodlock_moment *moments;
    size_t moment_count, moment_capacity;
    struct tms_goodlock_taking *holds;
    size_t hold_count, hold_capacity;
    /* Of requests from elsewhere: what their locks are called; NULL: by their ids. */
    uint32_t *names, *aliases;
    size_t name_count;
    /* of the search */
    uint64_t cyclic, tried, found;
    bool gave_up;
};

/* A thread of a cycle: its request, and the moment of it that fits the others. */
struct tms_goodlock_link {
    const struct tms_goodlock_request *request;
    const struct tms_goodlock_moment *moment;
};

static inline uint32_t goodlock_name(const struct tms_goodlock *g, uint32_t lock)
{
    return g->names != NULL ? g->names[lock] : lock;
}

/* goodlock.c: these tell the host when memory is short. NULL then. */
struct tms_goodlock_thread *tms_goodlock_thread(struct tms_goodlock *g, uint32_t id);
/* The thread, with what it holds, makes a request like that in this period. */
void tms_goodlock_note(struct tms_goodlock *g, const struct tms_goodlock_request *like,
                       const struct tms_goodlock_thread *t, const struct tms_goodlock_taking *wants,
                       uint32_t period);

/* goodlock_search.c: looks for all cycles and reports each. The host knows if memory is short. */
void tms_goodlock_search(struct tms_goodlock *g);

/* goodlock_report.c: each link wants what the next one holds, and the last what the first does. */
void tms_goodlock_report(struct tms_goodlock *g, const struct tms_goodlock_link *links,
                         size_t count);

#endif
