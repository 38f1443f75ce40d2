/* SPDX-License-Identifier: Apache-2.0 */
/* Reads predictions and lock requests from a spool; see spool_predicted.h. */
#include "spool/spool_predicted.h"

#include <stdlib.h>

#include "spool/object_names.h"

struct work {
    struct tms_spool_names *names;
    uint32_t *lock_names, *lock_aliases, *heap_numbers; /* parallel to the spool's list of locks */
    struct tms_predicted *predicted;
    struct tms_transaction *refuted; /* of all predictions */
    struct tms_lock_request *requests;
    struct tms_lock_hold *held; /* of all requests */
    struct tms_predictions all;
};

static const struct tms_spool_list *list_of(const struct work *work, enum tms_spool_type type)
{
    return &work->names->spool->lists[type];
}

/* ---- locks -------------------------------------------------------------------------------- */

/* The last record of each lock counts. UINT32_MAX: it is not known. */
static uint32_t find_lock(const struct work *work, uint32_t id)
{
    const struct tms_spool_entry *entry = tms_spool_find(work->names->spool, TMS_SPOOL_LOCK, id);

    return entry == NULL ? UINT32_MAX : (uint32_t)(entry - list_of(work, TMS_SPOOL_LOCK)->entries);
}

static const struct tms_spool_lock *lock_at(const struct work *work, size_t index)
{
    return (const void *)list_of(work, TMS_SPOOL_LOCK)->entries[index].record;
}

struct heap_block {
    const struct tms_spool_lock *lock;
    uint32_t index;
};

static int by_block(const void *a, const void *b)
{
    const struct heap_block *x = a, *y = b;
    const struct tms_spool_lock *l = x->lock, *r = y->lock;

    if (l->heap_address != r->heap_address) {
        return l->heap_address < r->heap_address ? -1 : 1;
    }
    if (l->heap_site != r->heap_site) {
        return l->heap_site < r->heap_site ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

/* Blocks of the heap have numbers from 1 on, in the order in which locks in them were first used.
 */
static bool number_blocks(struct work *work)
{
    size_t count = list_of(work, TMS_SPOOL_LOCK)->count;
    struct heap_block *blocks = calloc(count + 1, sizeof(*blocks));

    if (blocks == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        blocks[i] = (struct heap_block){lock_at(work, i), i};
    }
    qsort(blocks, count, sizeof(*blocks), by_block);
    uint32_t first = 0;
    for (size_t i = 0; i < count; i++) {
        bool same = i > 0 && blocks[i].lock->heap_address == blocks[i - 1].lock->heap_address &&
                    blocks[i].lock->heap_site == blocks[i - 1].lock->heap_site;
        first = same ? first : blocks[i].index + 1;
        work->heap_numbers[blocks[i].index] = first;
    }
    free(blocks);
    return true;
}

static void name_lock(struct work *work, uint32_t index)
{
    const struct tms_spool_lock *lock = lock_at(work, index);
    struct tms_thing_heap heap = {lock->heap_address, lock->heap_size, lock->heap_site,
                                  work->heap_numbers[index]};

    if (lock->address - lock->heap_address >= lock->heap_size) {
        heap.size = 0;
    }
    work->lock_names[index] = tms_spool_name_thing(work->names, TMS_CLASS_LOCK, lock->address,
                                                   &heap, TMS_NAME_AS_RECORDED);
    work->lock_aliases[index] =
        tms_spool_name_thing(work->names, TMS_CLASS_LOCK, lock->address, &heap, TMS_NAME_AS_ALIAS);
}

static bool name_locks(struct work *work)
{
    size_t count = list_of(work, TMS_SPOOL_LOCK)->count;

    work->lock_names = calloc(count + 1, sizeof(*work->lock_names));
    work->lock_aliases = calloc(count + 1, sizeof(*work->lock_aliases));
    work->heap_numbers = calloc(count + 1, sizeof(*work->heap_numbers));
    if (work->lock_names == NULL || work->lock_aliases == NULL || work->heap_numbers == NULL ||
        !number_blocks(work)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        name_lock(work, i);
    }
    work->all.lock_names = work->lock_names;
    work->all.lock_aliases = work->lock_aliases;
    work->all.lock_count = count;
    return true;
}

/* ---- events ------------------------------------------------------------------------------- */

static struct tms_predicted_event event_of(struct tms_spool_names *names,
                                           const struct tms_spool_acquire *from, uint8_t kind)
{
    return (struct tms_predicted_event){
        .event = from->number,
        .location = tms_spool_event_location(names, from->site, kind),
        .stack = tms_spool_stack(names, from->site),
        .kind = kind,
        .in = tms_spool_name_transaction(names, &from->in),
    };
}

static uint8_t kind_of(const struct tms_spool_acquire *from)
{
    return from->shared ? TMS_EVENT_SHARED_ACQUIRE : TMS_EVENT_ACQUIRE;
}

static struct tms_predicted_event acquire_of(struct tms_spool_names *names,
                                             const struct tms_spool_acquire *from)
{
    return event_of(names, from, kind_of(from));
}

/* ---- predictions -------------------------------------------------------------------------- */

static const struct tms_spool_prediction *prediction_at(const struct work *work, size_t index)
{
    return (const void *)list_of(work, TMS_SPOOL_PREDICTION)->entries[index].record;
}

/* `refuted` has room for the labels after the record. */
static void take_prediction(struct work *work, const struct tms_spool_prediction *from,
                            struct tms_transaction *refuted)
{
    struct tms_spool_names *names = work->names;
    bool pair = from->kind == TMS_PREDICTED_PAIR;
    uint32_t lock = find_lock(work, from->lock);
    uint32_t first = pair ? find_lock(work, from->first_lock) : lock;

    if (from->count == 0 || from->kind >= TMS_PREDICTED_KINDS || lock == UINT32_MAX ||
        first == UINT32_MAX) {
        return; /* the process died while it wrote it */
    }
    for (uint32_t i = 0; i < from->refuted; i++) {
        refuted[i] = tms_spool_name_transaction(names, &tms_spool_predicted_refuted(from)[i]);
    }
    work->predicted[work->all.predicted_count++] = (struct tms_predicted){
        .kind = from->kind,
        .rough = from->rough != 0,
        .count = from->count,
        .on = work->lock_names[lock],
        .on_alias = work->lock_aliases[lock],
        .first = acquire_of(names, &from->first),
        .culprit = acquire_of(names, &from->culprit),
        .second = acquire_of(names, &from->second),
        .first_on = work->lock_names[first],
        .first_alias = work->lock_aliases[first],
        .through = pair ? acquire_of(names, &from->through) : (struct tms_predicted_event){0},
        .refuted = refuted,
        .refuted_count = from->refuted,
    };
}

static bool take_predictions(struct work *work)
{
    size_t count = list_of(work, TMS_SPOOL_PREDICTION)->count, blocks = 0;

    for (size_t i = 0; i < count; i++) {
        blocks += prediction_at(work, i)->refuted;
    }
    work->predicted = calloc(count + 1, sizeof(*work->predicted));
    work->refuted = calloc(blocks + 1, sizeof(*work->refuted));
    if (work->predicted == NULL || work->refuted == NULL) {
        return false;
    }
    blocks = 0;
    for (size_t i = 0; i < count; i++) {
        take_prediction(work, prediction_at(work, i), &work->refuted[blocks]);
        blocks += prediction_at(work, i)->refuted;
    }
    work->all.predicted = work->predicted;
    return true;
}

/* ---- requests ----------------------------------------------------------------------------- */

static const struct tms_spool_request *request_at(const struct work *work, size_t index)
{
    return (const void *)list_of(work, TMS_SPOOL_REQUEST)->entries[index].record;
}

static bool take_holds(struct work *work, const struct tms_spool_request *from,
                       struct tms_lock_hold *held)
{
    for (uint32_t i = 0; i < from->held; i++) {
        const struct tms_spool_hold *hold = &tms_spool_holds(from)[i];
        held[i] = (struct tms_lock_hold){.lock = find_lock(work, hold->lock),
                                         .shared = hold->taken.shared != 0,
                                         .taken = acquire_of(work->names, &hold->taken)};
        if (held[i].lock == UINT32_MAX) {
            return false;
        }
    }
    return true;
}

static void take_request(struct work *work, const struct tms_spool_request *from,
                         struct tms_lock_hold *held)
{
    bool join = from->join != 0;
    uint32_t wanted =
        join ? tms_spool_thread(work->names, from->wanted) : find_lock(work, from->wanted);

    if (from->complete == 0 || wanted == UINT32_MAX || from->slot == 0 ||
        !take_holds(work, from, held)) {
        return;
    }
    work->requests[work->all.request_count++] = (struct tms_lock_request){
        .wants = event_of(work->names, &from->wants, join ? TMS_EVENT_JOIN : kind_of(&from->wants)),
        .join = join,
        .shared = !join && from->wants.shared != 0,
        .wanted = wanted,
        .held = held,
        .held_count = from->held,
        .line = from->slot,
        .knows = (const void *)(tms_spool_holds(from) + from->held),
        .knows_count = from->knows,
    };
}

static bool take_requests(struct work *work)
{
    size_t count = list_of(work, TMS_SPOOL_REQUEST)->count, holds = 0;

    for (size_t i = 0; i < count; i++) {
        holds += request_at(work, i)->held;
    }
    work->requests = calloc(count + 1, sizeof(*work->requests));
    work->held = calloc(holds + 1, sizeof(*work->held));
    if (work->requests == NULL || work->held == NULL) {
        return false;
    }
    holds = 0;
    for (size_t i = 0; i < count; i++) {
        take_request(work, request_at(work, i), &work->held[holds]);
        holds += request_at(work, i)->held;
    }
    work->all.requests = work->requests;
    return true;
}

/* ---- the whole ---------------------------------------------------------------------------- */

int tms_spool_predict(struct tms_spool_names *names, struct tms_analysis *analysis)
{
    const struct tms_spool_header *header = &names->spool->header;
    struct work work = {.names = names,
                        .all = {.acquires = header->acquires,
                                .windows = header->windows,
                                .dropped = header->dropped}};
    bool room = name_locks(&work) && take_predictions(&work) && take_requests(&work);
    int code = room && !names->failed ? tms_analysis_predict(analysis, &work.all) : TMS_ERR_MEMORY;

    free(work.lock_names);
    free(work.lock_aliases);
    free(work.heap_numbers);
    free(work.predicted);
    free(work.refuted);
    free(work.requests);
    free(work.held);
    return code;
}
