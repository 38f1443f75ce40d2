/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `judge` a second time: docs/user/judge.md taken literally, over a short trace in memory. Every
 * question ("was there a foreign write between these two?") is answered by walking through the
 * events, so a trace of n events takes time in the order of n² and more. Shares no code with the
 * engine, except names, and the hash function of ids.
 *
 * Events are indices from 0 here; their numbers are one more.
 */
#ifndef TMS_JUDGE_NAIVE_H
#define TMS_JUDGE_NAIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmesis/tmesis.h"

#define NAIVE_NONE SIZE_MAX
#define NAIVE_TEXT 96 /* bytes of a function or object, the zero included */

/* A pattern is a label, or its beginning and a `*`. */
struct naive_rule {
    bool atomic;
    const char *pattern;
};

struct naive_activation {
    uint32_t thread, label;
    size_t begin, end; /* events; the end is the join or the count if it was not closed */
    size_t block;      /* index of its function */
    bool busy, delayed;
    bool busy_by_share;  /* only because of its share of the thread's synchronisation */
    bool cut;            /* by any finding */
    size_t synchronised; /* how often, from its begin to its end */
};

/* All executions of one function. */
struct naive_block {
    char function[NAIVE_TEXT];
    uint64_t executions, busy;
    uint64_t same; /* busy, and not only for its share of synchronisation */
    bool driver, interleaved;
};

enum naive_step_kind { NAIVE_R, NAIVE_W, NAIVE_U };

struct naive_step {
    enum naive_step_kind kind;
    size_t first, last; /* of U: read and write; else the same event */
};

/* A finding at one place of the trace. */
struct naive_occurrence {
    enum tms_pattern pattern;
    enum tms_level level;     /* as the tables say, before blocks were looked at */
    bool initial;             /* of one variable: p gives it its initial value */
    size_t own[2];            /* p and q, or a and b */
    size_t foreign[2];        /* of two variables: f1 and f2 */
    size_t until;             /* of one variable: F comes after own[0] and before this */
    uint32_t variable, other; /* of one variable, `other` is 0 */
    size_t activation;
    size_t culprit; /* of two variables: innermost activation of f1 and f2, or NAIVE_NONE */
    size_t finding;
};

struct naive_finding {
    size_t block;
    char objects[2][NAIVE_TEXT]; /* in the order of their bytes; [1] is "" if there is one */
    uint64_t hash;
    enum tms_level level;
    unsigned patterns;
    enum tms_level levels[TMS_PATTERN_COUNT]; /* of each pattern that it has */
    uint64_t cut;
};

/* Facts about one event. */
struct naive_fact {
    bool atomic;      /* an access with a memory order, or u */
    bool inner;       /* of a re-entrant lock: no event */
    bool access;      /* r, w or u, not of a synchronisation variable, and not repeated */
    bool opens;       /* an activation begins or ends here, of its thread */
    bool outermost;   /* … and no other is open */
    bool poll;        /* clears all records of its thread before it is judged */
    size_t previous;  /* event of its thread, as polls count them */
    bool holding;     /* its thread holds a lock after it */
    bool was_holding; /* … and before it */
    size_t mate;      /* of a r and a w that are one step U: the other one */
};

struct naive {
    const struct tms_context *context;
    const struct tms_event *events;
    size_t count;
    struct tms_event *plain; /* the same events, with atomic accesses as plain ones */
    unsigned split;
    const struct naive_rule *rules;
    size_t rule_count;
    struct naive_fact *facts;
    struct naive_activation *activations;
    size_t activation_count;
    struct naive_block *blocks;
    size_t block_count;
    struct naive_occurrence *occurrences;
    size_t occurrence_count, occurrence_capacity;
    struct naive_finding *findings;
    size_t finding_count;
    uint64_t forgotten; /* times that a seventeenth variable was taken over */
};

/*
 * Judges a well-formed trace. The caller sets the fields from `context` to `rule_count` except
 * `plain`; the rest is zero. Afterwards `events` is `plain`. Ends the program if memory is short.
 */
void naive_judge(struct naive *naive);
void naive_clear(struct naive *naive);

/* ---- the parts, in the order in which they work ------------------------------------------ */

void naive_find_activations(struct naive *naive);
void naive_find_steps(struct naive *naive);
void naive_find_single(struct naive *naive); /* patterns of one variable */
void naive_find_pairs(struct naive *naive);  /* … and of two */
void naive_conclude(struct naive *naive);    /* blocks, levels and ids */

void *naive_array(size_t count, size_t size);

/* Is the access, while its thread holds a lock, at a place where threads wait? */
bool naive_at_waiting_place(const struct naive *naive, size_t event);

/* Is there no access to the variable before this one, since it became new? */
bool naive_is_initial(const struct naive *naive, size_t event);

/* Does the read belong to an update that its thread completed before the later event? */
bool naive_is_completed(const struct naive *naive, size_t read, size_t later);

/* The activation of the events' thread that began last among those open at both. */
size_t naive_innermost(const struct naive *naive, size_t one, size_t other);

/* Does event k clear the record of x for t? For a poll: before the read is judged. */
bool naive_clears(const struct naive *naive, size_t k, uint32_t t, uint32_t x);

/* The last access to the event's variable by its thread before it that was not cleared. */
size_t naive_previous_own(const struct naive *naive, size_t event);

struct naive_step naive_step_of(const struct naive *naive, size_t access);

/* The event since which `thread` holds the lock at `event`, NAIVE_NONE if it does not. */
size_t naive_held_since(const struct naive *naive, uint32_t thread, uint32_t lock, size_t event);
bool naive_holds_any(const struct naive *naive, size_t event);
bool naive_in_section(const struct naive *naive, size_t from, size_t to);

bool naive_makes_update(const struct naive *naive, size_t read, size_t write);

/* Does the variable become new memory at event k? */
bool naive_renews(const struct naive *naive, size_t k, uint32_t variable);

static inline bool naive_is_read(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_READ || event->kind == TMS_EVENT_UPDATE;
}

static inline bool naive_is_write(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_WRITE || event->kind == TMS_EVENT_UPDATE;
}

static inline bool naive_is_acquire(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_ACQUIRE || event->kind == TMS_EVENT_SHARED_ACQUIRE;
}

static inline bool naive_is_release(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_RELEASE || event->kind == TMS_EVENT_SHARED_RELEASE;
}

/* An access to x by a thread other than t? */
static inline bool naive_is_foreign(const struct naive *naive, size_t k, uint32_t t, uint32_t x)
{
    return naive->facts[k].access && naive->events[k].target == x && naive->events[k].thread != t;
}

void naive_add(struct naive *naive, const struct naive_occurrence *occurrence);

/* ---- names ------------------------------------------------------------------------------- */

/* Truncates what does not fit. */
void naive_object(const char *variable, char *object, size_t size);
void naive_function(const char *label, char *function, size_t size);
uint64_t naive_hash(const char *function, const char *object, const char *other);

#endif
