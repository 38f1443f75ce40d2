/* SPDX-License-Identifier: Apache-2.0 */
/* Copies findings from one context to another; see copy_finding.h. */
#include "analysis/copy_finding.h"

#include <string.h>

static void *take(struct tms_copying *copying, size_t bytes)
{
    void *room = copying->failed ? NULL : tms_arena_take(copying->arena, copying->memory, bytes);

    copying->failed = copying->failed || room == NULL;
    return room;
}

const char *tms_copy_text(struct tms_copying *copying, const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    char *copy = size > 0 ? take(copying, size) : NULL;

    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

static uint32_t name(struct tms_copying *copying, enum tms_class cls, uint32_t id)
{
    if (id == 0 || cls == TMS_CLASS_NONE ||
        (cls == TMS_CLASS_LOCATION && id >= TMS_LOCATION_NUMBER)) {
        return id;
    }
    const char *text = tms_name(copying->from, cls, id, NULL);
    int64_t copy = *text != '\0' ? tms_intern(copying->into, cls, text, strlen(text)) : 0;
    copying->failed = copying->failed || copy < 0;
    return copy < 0 ? 0 : (uint32_t)copy;
}

static struct tms_transaction copy_transaction(struct tms_copying *copying,
                                               struct tms_transaction transaction)
{
    transaction.thread = name(copying, TMS_CLASS_THREAD, transaction.thread);
    transaction.label = name(copying, TMS_CLASS_LABEL, transaction.label);
    transaction.location = name(copying, TMS_CLASS_LOCATION, transaction.location);
    return transaction;
}

static struct tms_step copy_step(struct tms_copying *copying, struct tms_step step)
{
    enum tms_class cls = (enum tms_class)step.on_class;

    step.from = copy_transaction(copying, step.from);
    step.to = copy_transaction(copying, step.to);
    step.first_location = name(copying, TMS_CLASS_LOCATION, step.first_location);
    step.second_location = name(copying, TMS_CLASS_LOCATION, step.second_location);
    step.first_stack = name(copying, TMS_CLASS_STACK, step.first_stack);
    step.second_stack = name(copying, TMS_CLASS_STACK, step.second_stack);
    step.on = name(copying, cls, step.on);
    step.on_alias = name(copying, cls, step.on_alias);
    return step;
}

/* Roles are string constants, as engines give them. */
static struct tms_turn copy_turn(struct tms_copying *copying, struct tms_turn turn)
{
    enum tms_class cls = tms_event_class((enum tms_event_kind)turn.kind);

    turn.thread = name(copying, TMS_CLASS_THREAD, turn.thread);
    turn.target = name(copying, cls, turn.target);
    turn.location = name(copying, TMS_CLASS_LOCATION, turn.location);
    turn.stack = name(copying, TMS_CLASS_STACK, turn.stack);
    return turn;
}

static uint32_t copy_lock(struct tms_copying *copying, uint32_t lock)
{
    return name(copying, TMS_CLASS_LOCK, lock);
}

/* copy_transactions(), …: a list of `type`, each copied by `copy_one`; NULL if it is empty. */
#define LIST_COPY(function, type, copy_one)                                                        \
    static const type *function(struct tms_copying *copying, const type *list, size_t count)       \
    {                                                                                              \
        type *copy = count > 0 ? take(copying, count * sizeof(*copy)) : NULL;                      \
        for (size_t i = 0; copy != NULL && i < count; i++) {                                       \
            copy[i] = copy_one(copying, list[i]);                                                  \
        }                                                                                          \
        return copy;                                                                               \
    }
LIST_COPY(copy_transactions, struct tms_transaction, copy_transaction)
LIST_COPY(copy_steps, struct tms_step, copy_step)
LIST_COPY(copy_turns, struct tms_turn, copy_turn)
LIST_COPY(copy_locks, uint32_t, copy_lock)

static const struct tms_judgement *copy_judgement(struct tms_copying *copying,
                                                  const struct tms_judgement *judgement)
{
    struct tms_judgement *copy = judgement != NULL ? take(copying, sizeof(*copy)) : NULL;

    if (copy == NULL) {
        return NULL;
    }
    *copy = *judgement;
    copy->variable = name(copying, TMS_CLASS_VARIABLE, copy->variable);
    copy->other = name(copying, TMS_CLASS_VARIABLE, copy->other);
    copy->object = tms_copy_text(copying, copy->object);
    copy->other_object = tms_copy_text(copying, copy->other_object);
    copy->own = copy_turns(copying, copy->own, copy->own_count);
    copy->foreign = copy_turns(copying, copy->foreign, copy->foreign_count);
    copy->culprit = copy_transaction(copying, copy->culprit);
    copy->outer = copy_transactions(copying, copy->outer, copy->outer_count);
    copy->lock = name(copying, TMS_CLASS_LOCK, copy->lock);
    copy->given_up = copy_turn(copying, copy->given_up);
    return copy;
}

/* `kind` and roles are string constants. */
struct tms_finding tms_copy_finding(struct tms_copying *copying, const struct tms_finding *finding)
{
    struct tms_finding copy = *finding;

    copy.id = tms_copy_text(copying, copy.id);
    copy.caveat = tms_copy_text(copying, copy.caveat);
    copy.same_as = tms_copy_text(copying, copy.same_as);
    copy.judged = tms_copy_text(copying, copy.judged);
    copy.thread = name(copying, TMS_CLASS_THREAD, copy.thread);
    copy.transaction = copy_transaction(copying, copy.transaction);
    copy.cycle = copy_steps(copying, copy.cycle, copy.cycle_length);
    copy.refuted = copy_transactions(copying, copy.refuted, copy.refuted_count);
    copy.held = copy_locks(copying, copy.held, copy.held_count);
    copy.schedule = copy_turns(copying, copy.schedule, copy.schedule_length);
    copy.judgement = copy_judgement(copying, copy.judgement);
    return copy;
}
