/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for locks; see lock_requests.h. */
#include "predict/lock_requests.h"

#include <string.h>

#include "base/hash_mix.h"

#define SEED TMS_HASH_FACTOR /* beyond all numbers of locks */

static bool make_tables(struct tms_requests_thread *r, struct tms_memory *memory)
{
    if (r->noted == NULL) {
        r->noted = tms_resize(memory, NULL, 0, TMS_REQUESTS_NOTED, sizeof(*r->noted));
    }
    if (r->bare == NULL) {
        r->bare = tms_resize(memory, NULL, 0, TMS_REQUESTS_BARE, sizeof(*r->bare));
    }
    return r->noted != NULL && r->bare != NULL;
}

/* Hashes the set of held locks, independently of their order. */
static uint64_t hash_held(const struct tms_predict_thread *t)
{
    uint64_t hash = SEED;

    for (size_t i = 0; i < t->held_count; i++) {
        const struct tms_predict_hold *hold = &t->held[i];
        hash += tms_mix(SEED, (uint64_t)hold->lock->id << 1 | hold->acquire.place.kind);
    }
    return hash;
}

/* Hashes the wanted lock, the thread and its held locks. Never 0. */
static uint64_t hash_of(const struct tms_requests_thread *r, const struct tms_predict_thread *t,
                        bool join, uint32_t wanted, uint8_t kind)
{
    uint64_t hash = tms_mix(hash_held(t), (uint64_t)t->order.thread << 32 | r->period);

    hash = tms_mix(hash, (uint64_t)wanted << 2 | (uint64_t)join << 1 | kind);
    return hash != 0 ? hash : 1;
}

/* Was it recorded before? Records it. */
static bool was_noted(struct tms_requests_thread *r, uint64_t hash)
{
    uint64_t *place = &r->noted[hash % TMS_REQUESTS_NOTED];

    if (*place == hash) {
        return true;
    }
    *place = hash;
    return false;
}

static struct tms_request request_of(const struct tms_requests_thread *r,
                                     const struct tms_predict_thread *t, bool join, uint32_t wanted,
                                     const struct tms_predict_op *op)
{
    bool unary = op->block.begin == 0;

    return (struct tms_request){
        .thread = t->order.thread,
        .slot = t->order.slot,
        .join = join,
        .wanted = wanted,
        .period = r->period,
        .at = {.place = {op->number, op->activation, op->site, op->kind},
               .block = unary ? (struct tms_predict_block){op->number, 0, op->site} : op->block,
               .slot = t->order.slot,
               .thread = t->order.thread,
               .unary = unary},
    };
}

static bool is_same(const struct tms_request *a, const struct tms_request *b)
{
    return a->thread == b->thread && a->join == b->join && a->wanted == b->wanted &&
           a->at.place.kind == b->at.place.kind && a->period == b->period;
}

static bool keep_bare(struct tms_requests_thread *r, const struct tms_predict_thread *t,
                      struct tms_memory *memory, const struct tms_request *request)
{
    for (uint32_t i = 0; i < r->bare_count; i++) {
        if (is_same(&r->bare[i].request, request)) {
            return true;
        }
    }
    if (r->bare_count == TMS_REQUESTS_BARE) {
        return true;
    }
    struct tms_bare_request *bare = &r->bare[r->bare_count];
    bare->request = *request;
    bare->must = (struct tms_vector){0};
    if (!tms_vector_copy(memory, &bare->must, &t->order.must)) {
        return false;
    }
    r->bare_count++;
    return true;
}

/* Records what the thread requests now, with or without locks held. */
static void note(const struct tms_requests_port *port, struct tms_requests_thread *r,
                 struct tms_predict_thread *t, bool join, uint32_t wanted,
                 const struct tms_predict_op *op)
{
    if (t->held_count > TMS_REQUESTS_HELD) {
        return;
    }
    if ((r->noted == NULL || r->bare == NULL) && !make_tables(r, &t->memory)) {
        port->fail(port->user);
        return;
    }
    uint64_t hash = hash_of(r, t, join, wanted, op->kind);
    if (was_noted(r, hash)) {
        return;
    }
    struct tms_request request = request_of(r, t, join, wanted, op);
    if (t->held_count > 0) {
        port->request(port->user, &request, t->held, t->held_count, &t->order.must, hash);
    } else if (!keep_bare(r, t, &t->memory, &request)) {
        port->fail(port->user);
    }
}

void tms_requests_acquire(const struct tms_requests_port *port, struct tms_requests_thread *r,
                          struct tms_predict_thread *t, const struct tms_predict_lock *lock,
                          const struct tms_predict_op *op)
{
    note(port, r, t, false, lock->id, op);
}

/* A thread that holds a lock joins their thread: passes its bare requests to the port. */
static void make_bare(const struct tms_requests_port *port, const struct tms_requests_thread *child)
{
    for (uint32_t i = 0; i < child->bare_count; i++) {
        const struct tms_bare_request *bare = &child->bare[i];
        const struct tms_request *request = &bare->request;
        uint64_t hash = tms_mix(tms_mix(SEED, (uint64_t)request->thread << 32 | request->period),
                                (uint64_t)request->wanted << 2 | (uint64_t)request->join << 1 |
                                    request->at.place.kind);
        port->request(port->user, request, NULL, 0, &bare->must, hash | 1);
    }
}

static void inherit_requests(struct tms_requests_thread *r, struct tms_memory *memory,
                             struct tms_requests_thread *child, struct tms_memory *child_memory)
{
    uint32_t room = TMS_REQUESTS_BARE - r->bare_count;
    uint32_t count = child->bare_count < room ? child->bare_count : room;

    for (uint32_t i = 0; i < count; i++) {
        const struct tms_vector *must = &child->bare[i].must;
        tms_hand_over(child_memory, memory, must->capacity, sizeof(*must->at));
    }
    memcpy(&r->bare[r->bare_count], child->bare, count * sizeof(*child->bare));
    memset(child->bare, 0, count * sizeof(*child->bare));
    r->bare_count += count;
}

void tms_requests_join(const struct tms_requests_port *port, struct tms_requests_thread *r,
                       struct tms_predict_thread *t, struct tms_requests_thread *child,
                       struct tms_memory *child_memory, uint32_t child_id,
                       const struct tms_predict_op *op)
{
    note(port, r, t, true, child_id, op);
    if (child->bare_count > 0 && t->held_count > 0) {
        make_bare(port, child);
    } else if (child->bare_count > 0 && r->bare != NULL) {
        inherit_requests(r, &t->memory, child, child_memory);
    }
    tms_requests_clear(child, child_memory);
}

void tms_requests_clear(struct tms_requests_thread *r, struct tms_memory *memory)
{
    for (uint32_t i = 0; i < TMS_REQUESTS_BARE && r->bare != NULL; i++) {
        tms_vector_clear(memory, &r->bare[i].must);
    }
    tms_release(memory, r->bare, r->bare != NULL ? TMS_REQUESTS_BARE : 0, sizeof(*r->bare));
    tms_release(memory, r->noted, r->noted != NULL ? TMS_REQUESTS_NOTED : 0, sizeof(*r->noted));
    r->bare = NULL;
    r->noted = NULL;
    r->bare_count = 0;
}
