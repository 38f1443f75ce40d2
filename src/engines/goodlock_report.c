/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cycle of requests as a finding. A step leads from the thread that holds a lock to the one that
 * wants it: its events are where the one took it and where the other requests it. So a step goes
 * against the direction of waiting, and the steps follow each other as in any cycle: each must go
 * on before the next can. The step of a join leads from where the joined thread waits, short of its
 * end.
 *
 * The schedule: every thread takes what it holds in the cycle; then each waits.
 *
 * A cycle has no beginning. For an id that does not depend on which thread came first, it is
 * reported from the lock with the smallest name.
 */
#include <assert.h>
#include <string.h>

#include "engines/goodlock.h"

static const struct tms_goodlock_taking *
where_taken(const struct tms_goodlock *g, const struct tms_goodlock_moment *moment, uint32_t lock)
{
    const struct tms_goodlock_taking *hold = &g->holds[moment->holds];

    for (uint32_t i = 0; i < moment->held; i++, hold++) {
        if (hold->target == lock) {
            return hold;
        }
    }
    assert(!"a thread of the cycle holds what the one before wants");
    return NULL;
}

/* `to` wants what `from` holds. */
static struct tms_step step_of(const struct tms_goodlock *g, const struct tms_goodlock_link *from,
                               const struct tms_goodlock_link *to)
{
    bool end = is_end(to->request->wanted);
    const struct tms_goodlock_taking *second = &to->moment->wants;
    const struct tms_goodlock_taking *first =
        end ? &from->moment->wants : where_taken(g, from->moment, second->target);

    return (struct tms_step){
        .from = first->transaction,
        .to = second->transaction,
        .first_event = first->event,
        .second_event = second->event,
        .first_location = first->location,
        .second_location = second->location,
        .first_stack = first->stack,
        .second_stack = second->stack,
        .on = end ? second->target : goodlock_name(g, second->target),
        .on_alias = end || g->aliases == NULL ? 0 : g->aliases[second->target],
        .on_class = end ? TMS_CLASS_THREAD : TMS_CLASS_LOCK,
        .kind = end ? TMS_EDGE_JOIN : TMS_EDGE_LOCK,
        .first_kind = first->kind,
        .second_kind = second->kind,
    };
}

/* The link that wants the lock with the smallest name; not every thread joins, so there is one. */
static size_t choose_last(const struct tms_goodlock *g, const struct tms_goodlock_link *links,
                          size_t count)
{
    const char *least = NULL;
    size_t chosen = 0;

    for (size_t i = 0; i < count; i++) {
        if (is_end(links[i].request->wanted)) {
            continue;
        }
        uint32_t lock = goodlock_name(g, links[i].moment->wants.target);
        const char *name = tms_name(g->host->context, TMS_CLASS_LOCK, lock, NULL);
        if (least == NULL || strcmp(name, least) < 0) {
            least = name;
            chosen = i;
        }
    }
    assert(least != NULL);
    return chosen;
}

static struct tms_turn turn_of_holder(const struct tms_step *step)
{
    return (struct tms_turn){.event = step->first_event,
                             .thread = step->from.thread,
                             .target = step->on,
                             .location = step->first_location,
                             .stack = step->first_stack,
                             .kind = step->first_kind,
                             .role = "takes and holds"};
}

static struct tms_turn turn_of_waiter(const struct tms_step *step)
{
    return (struct tms_turn){.event = step->second_event,
                             .thread = step->to.thread,
                             .target = step->on,
                             .location = step->second_location,
                             .stack = step->second_stack,
                             .kind = step->second_kind,
                             .role = "waits for ever"};
}

/* As many turns as there are; at most two for each step. */
static size_t write_schedule(const struct tms_step *steps, size_t count, struct tms_turn *turns)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        if (steps[i].kind == TMS_EDGE_LOCK) {
            turns[used++] = turn_of_holder(&steps[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        turns[used++] = turn_of_waiter(&steps[i]);
    }
    return used;
}

static void report(struct tms_goodlock *g, const struct tms_step *steps, size_t count,
                   struct tms_turn *turns)
{
    const struct tms_violation violation = {
        .kind = "deadlock",
        .evidence = TMS_EVIDENCE_POTENTIAL,
        .event = steps[count - 1].second_event,
        .thread = steps[count - 1].to.thread,
        .transaction = steps[0].from,
        .cycle = steps,
        .cycle_length = count,
        .schedule = turns,
        .schedule_length = write_schedule(steps, count, turns),
    };

    tms_host_violation(g->host, &violation);
}

void tms_goodlock_report(struct tms_goodlock *g, const struct tms_goodlock_link *links,
                         size_t count)
{
    struct tms_memory *memory = &g->host->memory;
    struct tms_step *steps = tms_resize(memory, NULL, 0, count, sizeof(*steps));
    struct tms_turn *turns = tms_resize(memory, NULL, 0, 2 * count, sizeof(*turns));
    size_t last = choose_last(g, links, count);

    assert(count >= 2);
    if (steps != NULL && turns != NULL) {
        for (size_t i = 0; i < count; i++) {
            size_t to = (last + count - i) % count;
            steps[i] = step_of(g, &links[(to + 1) % count], &links[to]);
        }
        report(g, steps, count, turns);
    } else {
        tms_host_fail(g->host, TMS_ERR_MEMORY);
    }
    tms_release(memory, steps, count, sizeof(*steps));
    tms_release(memory, turns, 2 * count, sizeof(*turns));
}
