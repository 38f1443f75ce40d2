/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The behaviour of one thread of a synthetic trace: blocks, nested blocks, critical sections and
 * accesses. shared_state.c decides which variables and locks it may use.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/state.h"

/* In a block, in millionths of the steps taken there. */
#define NEST_CHANCE   60000
#define UNNEST_CHANCE 125000

/* With atomics, the share of accesses that are replaced by a fence, in millionths. */
#define FENCE_CHANCE 10000

static const struct {
    enum tms_class cls;
    const char *prefix;
} pools[TMS_POOL_COUNT] = {
#define X(cls, prefix) {TMS_CLASS_##cls, prefix},
    TMS_POOLS(X)
#undef X
};

uint32_t tms_gen_intern(struct tms_gen *gen, enum tms_class cls, const char *name)
{
    int64_t id = tms_intern(gen->context, cls, name, strlen(name));
    if (id < 0) {
        gen->failed = (int)id;
        return 0;
    }
    return (uint32_t)id;
}

static uint32_t intern_numbered(struct tms_gen *gen, enum tms_class cls, const char *prefix,
                                uint64_t number)
{
    char name[32];
    snprintf(name, sizeof name, "%s%" PRIu64, prefix, number);
    return tms_gen_intern(gen, cls, name);
}

uint32_t tms_gen_id(struct tms_gen *gen, enum tms_pool pool, uint64_t index)
{
    uint32_t *id = &gen->ids[pool][index];
    if (*id == 0) {
        uint64_t first = pool == TMS_POOL_LOCATION; /* there is no line 0 */
        *id = intern_numbered(gen, pools[pool].cls, pools[pool].prefix, first + index);
    }
    return *id;
}

void tms_actor_name(struct tms_gen *gen, struct tms_actor *actor)
{
    actor->id = intern_numbered(gen, TMS_CLASS_THREAD, "T", gen->named++);
}

static uint32_t next_location(struct tms_gen *gen, struct tms_actor *actor)
{
    if (gen->shape.locations == 0) {
        return 0;
    }
    actor->line = (actor->line + 1) % gen->shape.locations;
    return tms_gen_id(gen, TMS_POOL_LOCATION, actor->line);
}

void tms_actor_emit(struct tms_gen *gen, struct tms_actor *actor, uint8_t kind, uint32_t target)
{
    assert(gen->emitted < gen->shape.events);
    *gen->out++ = (struct tms_event){
        .thread = actor->id, .target = target, .location = next_location(gen, actor), .kind = kind};
    gen->emitted++;
    if (actor->left > 0) {
        actor->left--;
    }
}

/* The rank of the thread's next event; outside blocks each event is a transaction of its own. */
static uint64_t *rank(struct tms_actor *actor, uint64_t *unary)
{
    *unary = 0;
    return actor->depth > 0 ? &actor->rank : unary;
}

/* Uniform around the mean, but no shorter than begin, one access, end if the mean allows. */
static uint64_t draw_length(struct tms_gen *gen)
{
    uint64_t length = gen->shape.length / TMS_MILLION;
    length += tms_chance(&gen->random, (uint32_t)(gen->shape.length % TMS_MILLION));
    return length <= 3 ? length : 3 + tms_random_below(&gen->random, 2 * (length - 3) + 1);
}

static void begin(struct tms_gen *gen, struct tms_actor *actor)
{
    uint32_t label = 0;
    if (gen->shape.labels > 0) {
        uint64_t index = tms_random_below(&gen->random, gen->shape.labels);
        label = tms_gen_id(gen, TMS_POOL_LABEL, index);
        actor->line = index * 7; /* each label has its own range of lines */
    }
    if (actor->depth == 0) {
        actor->left = draw_length(gen);
        actor->rank = 0;
    }
    tms_actor_emit(gen, actor, TMS_EVENT_BEGIN, label);
    actor->labels[actor->depth++] = label;
    gen->debt++;
}

static void end(struct tms_gen *gen, struct tms_actor *actor)
{
    tms_actor_emit(gen, actor, TMS_EVENT_END, actor->labels[--actor->depth]);
    gen->debt--;
}

static bool acquire(struct tms_gen *gen, struct tms_actor *actor)
{
    uint64_t lock, unary;
    if (!tms_shared_state_lock(&gen->store, &gen->random, rank(actor, &unary), &lock)) {
        return false;
    }
    tms_actor_emit(gen, actor, TMS_EVENT_ACQUIRE, tms_gen_id(gen, TMS_POOL_LOCK, lock));
    actor->lock = lock;
    actor->section = 1 + tms_random_below(&gen->random, TMS_SECTION_MOST);
    gen->debt++;
    return true;
}

static void release(struct tms_gen *gen, struct tms_actor *actor)
{
    uint64_t unary;
    tms_shared_state_unlock(&gen->store, actor->lock, rank(actor, &unary));
    tms_actor_emit(gen, actor, TMS_EVENT_RELEASE, tms_gen_id(gen, TMS_POOL_LOCK, actor->lock));
    actor->lock = TMS_NO_LOCK;
    gen->debt--;
}

/* The event has a memory order: any that its kind can have. */
static void emit_ordered(struct tms_gen *gen, struct tms_actor *actor, uint8_t kind,
                         uint32_t target)
{
    tms_actor_emit(gen, actor, kind, target);
    do {
        gen->out[-1].order = (uint8_t)tms_random_below(&gen->random, TMS_ORDER_COUNT);
    } while ((tms_event_orders(kind) >> gen->out[-1].order & 1) == 0);
}

static void access_atomic(struct tms_gen *gen, struct tms_actor *actor, bool write, uint32_t target)
{
    uint8_t stores = tms_chance(&gen->random, TMS_MILLION / 2) ? TMS_EVENT_ATOMIC_WRITE
                                                               : TMS_EVENT_ATOMIC_UPDATE;

    emit_ordered(gen, actor, write ? stores : TMS_EVENT_ATOMIC_READ, target);
}

bool tms_actor_touch(struct tms_gen *gen, struct tms_actor *actor)
{
    if (gen->store.atomic > 0 && tms_chance(&gen->random, FENCE_CHANCE)) {
        emit_ordered(gen, actor, TMS_EVENT_FENCE, 0);
        return true;
    }
    bool write = !tms_chance(&gen->random, gen->shape.reads);
    uint64_t variable, unary;
    if (!tms_shared_state_access(&gen->store, &gen->random, actor->slot, actor->lock, write,
                                 rank(actor, &unary), &variable)) {
        return false;
    }
    uint32_t target = tms_gen_id(gen, TMS_POOL_VARIABLE, variable);
    if (tms_shared_state_is_atomic(&gen->store, variable)) {
        access_atomic(gen, actor, write, target);
    } else {
        tms_actor_emit(gen, actor, write ? TMS_EVENT_WRITE : TMS_EVENT_READ, target);
    }
    return true;
}

void tms_actor_close_one(struct tms_gen *gen, struct tms_actor *actor)
{
    assert(tms_actor_busy(actor));
    if (actor->lock != TMS_NO_LOCK) {
        release(gen, actor);
    } else {
        end(gen, actor);
    }
}

static void step_idle(struct tms_gen *gen, struct tms_actor *actor)
{
    bool room = tms_gen_slack(gen) >= 2;
    if (room && tms_random_next(&gen->random) >> 32 < gen->block_chance) {
        begin(gen, actor);
    } else if (!room || !tms_chance(&gen->random, TMS_ACQUIRE_CHANCE) || !acquire(gen, actor)) {
        bool done = tms_actor_touch(gen, actor);
        assert(done); /* a new rank may touch anything */
        (void)done;
    }
}

static void step_locked(struct tms_gen *gen, struct tms_actor *actor)
{
    if (actor->section == 0 || !tms_actor_touch(gen, actor)) {
        release(gen, actor);
    } else {
        actor->section--;
    }
}

static void step_block(struct tms_gen *gen, struct tms_actor *actor)
{
    bool room = tms_gen_slack(gen) >= 2 && actor->left >= tms_actor_debt(actor) + 2;
    if (room && actor->depth < gen->shape.nesting && tms_chance(&gen->random, NEST_CHANCE)) {
        begin(gen, actor);
    } else if (actor->depth > 1 && tms_chance(&gen->random, UNNEST_CHANCE)) {
        end(gen, actor);
    } else if (room && tms_chance(&gen->random, TMS_ACQUIRE_CHANCE) && acquire(gen, actor)) {
        return;
    } else if (!tms_actor_touch(gen, actor) && !(room && acquire(gen, actor))) {
        actor->left = 0; /* its rank may access nothing any more: it ends early */
        end(gen, actor);
    }
}

void tms_actor_step(struct tms_gen *gen, struct tms_actor *actor)
{
    assert(tms_gen_slack(gen) > 0);
    if (!tms_actor_busy(actor)) {
        step_idle(gen, actor);
    } else if (actor->depth > 0 && actor->left <= tms_actor_debt(actor)) {
        tms_actor_close_one(gen, actor);
    } else if (actor->lock != TMS_NO_LOCK) {
        step_locked(gen, actor);
    } else {
        step_block(gen, actor);
    }
}
