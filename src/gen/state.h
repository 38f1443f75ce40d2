/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal state of the generator, and the events that one thread can emit.
 *
 * A thread is idle, or busy: inside a block, holding a lock, or both. What every busy thread still
 * has to close, the joins that are due and the script of the planted violation are kept as one
 * number, the debt; an event that adds to it is made only if the rest of the trace can pay. So
 * the trace has exactly the wanted number of events and ends with all blocks closed, all locks
 * free and all threads joined.
 */
#ifndef TMS_GEN_STATE_H
#define TMS_GEN_STATE_H

#include <assert.h>

#include "gen/planted_bug.h"
#include "gen/random.h"
#include "gen/shared_state.h"
#include "gen/trace_generator.h"

/* X(class, what its names begin with) */
#define TMS_POOLS(X)                                                                               \
    X(VARIABLE, "V")                                                                               \
    X(LOCK, "L")                                                                                   \
    X(LABEL, "work")                                                                               \
    X(LOCATION, "gen.c:")

enum tms_pool {
#define X(cls, prefix) TMS_POOL_##cls,
    TMS_POOLS(X)
#undef X
        TMS_POOL_COUNT
};

/* A thread of the trace. */
struct tms_actor {
    uint32_t id;
    uint64_t slot;    /* its index among the current threads */
    uint64_t lock;    /* TMS_NO_LOCK: none */
    uint64_t section; /* accesses still to make under the lock */
    uint64_t depth;   /* open blocks */
    uint64_t left;    /* events of the outermost block still to come, its end among them */
    uint64_t rank;    /* of the block, see shared_state.h; 0: none yet */
    uint64_t line;    /* its current source line */
    uint32_t *labels; /* of the open blocks */
};

struct tms_planted {
    const struct tms_script *script; /* NULL: none */
    size_t at;                       /* next line */
    bool playing;                    /* its threads execute only the script */
    uint64_t number;                 /* of this one among all, from 0 */
    uint64_t wanted;                 /* the event at which it should close */
    uint64_t closed;                 /* the event at which the first one did */
    uint64_t first_cut;              /* of the labels that are cut, by index */
    struct tms_actor *actor[2];
    uint32_t label[2], variable, lock;
};

struct tms_gen {
    struct tms_context *context;
    struct tms_shape shape;
    struct tms_random random;
    struct tms_shared_state store;
    uint32_t *ids[TMS_POOL_COUNT]; /* of the names used so far, by index */
    struct tms_actor *actors;
    uint32_t *labels; /* those of all actors */
    struct tms_actor *current;
    struct tms_planted planted;
    uint64_t block_chance; /* that an idle thread begins a block, of 2^32 */
    uint64_t named;        /* threads that got a name */
    uint64_t forked, joined, replaced;
    struct tms_actor *retiring; /* about to be replaced; NULL: none */
    uint64_t emitted, debt;
    struct tms_event *out; /* the next event goes here */
    int failed;
};

/* The chance that a thread without a lock acquires one, in millionths of its steps. */
#define TMS_ACQUIRE_CHANCE 125000
/* The most accesses under a lock; at least 1. */
#define TMS_SECTION_MOST 4

/* The id of the index-th name of a pool, or of any name; 0 with gen->failed set. */
uint32_t tms_gen_id(struct tms_gen *gen, enum tms_pool pool, uint64_t index);
uint32_t tms_gen_intern(struct tms_gen *gen, enum tms_class cls, const char *name);

/* Turns the actor into a new thread. */
void tms_actor_name(struct tms_gen *gen, struct tms_actor *actor);

/* Emits one event; the caller updates the debt. */
void tms_actor_emit(struct tms_gen *gen, struct tms_actor *actor, uint8_t kind, uint32_t target);

/* Emits the next event of the thread; requires slack. */
void tms_actor_step(struct tms_gen *gen, struct tms_actor *actor);

/*
 * Emits one read or write. False, without an event, if its rank may access nothing; never when
 * idle.
 */
bool tms_actor_touch(struct tms_gen *gen, struct tms_actor *actor);

/* Emits one event that brings a busy thread closer to idle. */
void tms_actor_close_one(struct tms_gen *gen, struct tms_actor *actor);

static inline uint64_t tms_actor_debt(const struct tms_actor *actor)
{
    return actor->depth + (actor->lock != TMS_NO_LOCK);
}

static inline bool tms_actor_busy(const struct tms_actor *actor)
{
    return tms_actor_debt(actor) > 0;
}

/* Events that can be emitted beyond the mandatory ones. */
static inline uint64_t tms_gen_slack(const struct tms_gen *gen)
{
    assert(gen->emitted + gen->debt <= gen->shape.events);
    return gen->shape.events - gen->emitted - gen->debt;
}

#endif
