/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that a running program collected (src/predict/lock_requests.h), as those of goodlock.c:
 * its locks have numbers of their own, and periods come with their clocks.
 */
#include <string.h>

#include "engines/goodlock.h"
#include "engines/online_predictions.h"

static struct tms_goodlock_taking taking_of(const struct tms_predicted_event *event,
                                            uint32_t target)
{
    return (struct tms_goodlock_taking){
        .event = event->event,
        .transaction = event->in,
        .target = target,
        .location = event->location,
        .stack = event->stack,
        .kind = event->kind,
    };
}

static bool take_names(struct tms_goodlock *g, const struct tms_predictions *predictions)
{
    size_t count = predictions->lock_count;

    if (count == 0) {
        return true;
    }
    g->names = tms_resize(&g->host->memory, NULL, 0, count, sizeof(*g->names));
    g->aliases = tms_resize(&g->host->memory, NULL, 0, count, sizeof(*g->aliases));
    if (g->names == NULL || g->aliases == NULL) {
        return false;
    }
    g->name_count = count;
    memcpy(g->names, predictions->lock_names, count * sizeof(*g->names));
    if (predictions->lock_aliases != NULL) {
        memcpy(g->aliases, predictions->lock_aliases, count * sizeof(*g->aliases));
    }
    return true;
}

/* Periods off: a thread has one, parallel to those of all others. 0 when memory is short. */
static uint32_t add_period(struct tms_goodlock *g, const struct tms_lock_request *from)
{
    struct tms_memory *memory = &g->host->memory;
    struct tms_periods *p = &g->periods;

    if (!TMS_RESERVE(memory, &p->periods, &p->period_capacity, p->period_count + 1, 16)) {
        return 0;
    }
    struct tms_period *period = &p->periods[p->period_count];
    *period = (struct tms_period){
        .line = p->off ? from->wants.in.thread : from->line,
        .thread = from->wants.in.thread,
        .number = from->wants.event,
    };
    for (size_t i = 0; i < from->knows_count && !p->off; i++) {
        if (!tms_vector_set(memory, &period->knows, (uint32_t)i, from->knows[i])) {
            return 0;
        }
    }
    return (uint32_t)p->period_count++;
}

/* Takes the locks of the request, as the thread did. */
static bool hold_all(struct tms_goodlock *g, struct tms_goodlock_thread *t,
                     const struct tms_lock_request *from)
{
    struct tms_memory *memory = &g->host->memory;

    t->hold_count = 0;
    t->held = (struct tms_held){0};
    if (!TMS_RESERVE(memory, &t->holds, &t->hold_capacity, from->held_count, 4)) {
        return false;
    }
    for (size_t i = 0; i < from->held_count; i++) {
        const struct tms_lock_hold *hold = &from->held[i];
        const struct tms_op op = {.target = hold->lock,
                                  .kind = hold->shared ? TMS_OP_SHARED_ACQUIRE : TMS_OP_ACQUIRE};
        t->holds[t->hold_count++] = taking_of(&hold->taken, hold->lock);
        tms_held_follow(&g->sets, &t->held, &op);
    }
    return true;
}

static bool take_request(struct tms_goodlock *g, const struct tms_lock_request *from)
{
    uint32_t id = from->wants.in.thread;
    uint32_t period = add_period(g, from);
    struct tms_goodlock_thread *t = tms_goodlock_thread(g, id);

    if (period == 0 || t == NULL || !hold_all(g, t, from)) {
        return false;
    }
    const struct tms_goodlock_request like = {
        .thread = id,
        .held = t->held,
        .wanted = from->join ? resource_of_end(from->wanted) : resource_of_lock(from->wanted),
        .shared = from->shared,
        .first = NONE,
        .last = NONE,
    };
    const struct tms_goodlock_taking wants = taking_of(&from->wants, from->wanted);
    tms_goodlock_note(g, &like, t, &wants, period);
    t->hold_count = 0;
    t->held = (struct tms_held){0};
    return true;
}

void tms_goodlock_requested(void *state, const struct tms_predictions *predictions)
{
    struct tms_goodlock *g = state;
    bool good = take_names(g, predictions);

    for (size_t i = 0; i < predictions->request_count && good; i++) {
        good = take_request(g, &predictions->requests[i]);
    }
    if (!good) {
        tms_host_fail(g->host, TMS_ERR_MEMORY);
    }
}
