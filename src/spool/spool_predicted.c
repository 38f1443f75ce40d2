/* SPDX-License-Identifier: Apache-2.0 */
/* Reads predictions and lock requests from a spool; see spool_predicted.h. */
#include "spool/spool_predicted.h"

#include <stdlib.h>

#include "spool/spool_names.h"

struct work {
    struct tms_spool_names *names;
    const struct tms_lock_names *locks;
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

static bool take_locks(struct work *work)
{
    work->locks = tms_lock_names(work->names);
    if (work->locks != NULL) {
        work->all.lock_names = work->locks->names;
        work->all.lock_aliases = work->locks->aliases;
        work->all.lock_count = work->locks->count;
    }
    return work->locks != NULL;
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
    uint32_t lock = tms_lock_record(work->names, from->lock);
    uint32_t first = pair ? tms_lock_record(work->names, from->first_lock) : lock;

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
        .on = work->locks->names[lock],
        .on_alias = work->locks->aliases[lock],
        .first = acquire_of(names, &from->first),
        .culprit = acquire_of(names, &from->culprit),
        .second = acquire_of(names, &from->second),
        .first_on = work->locks->names[first],
        .first_alias = work->locks->aliases[first],
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
        held[i] = (struct tms_lock_hold){.lock = tms_lock_record(work->names, hold->lock),
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
    uint32_t wanted = join ? tms_spool_thread(work->names, from->wanted)
                           : tms_lock_record(work->names, from->wanted);

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

    bool room = take_locks(&work) && take_predictions(&work) && take_requests(&work);
    int code = room && !names->failed ? tms_analysis_predict(analysis, &work.all) : TMS_ERR_MEMORY;

    free(work.predicted);
    free(work.refuted);
    free(work.requests);
    free(work.held);
    return code;
}
