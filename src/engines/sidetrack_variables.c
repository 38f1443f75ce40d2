/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of a variable, for sidetrack with TMS_PREDICT_VARIABLE.
 *
 * Where all accesses to a variable are under one lock, two of them in different sections of a block
 * are a window in the sections' window: a thread that takes the lock in between, and accesses the
 * variable in conflict with both, cuts the block by more than the lock itself. The claim is what
 * after-errors of the lock prove: that the sections of the culprit and of the block come in that
 * order. That the accesses come with them is certain only if nothing was read in the section
 * before, as then nothing that the other did first can lead elsewhere: so each must be the first
 * access in its section.
 */
#include "engines/sidetrack.h"

#define LEAST_VARIABLES 64

static struct tms_sidetrack_guarded *guarded_of(struct tms_sidetrack *s, uint32_t variable)
{
    if (!TMS_RESERVE(s->memory, &s->variables, &s->variable_capacity, (size_t)variable + 1,
                     LEAST_VARIABLES)) {
        sidetrack_out_of_memory(s);
        return NULL;
    }
    return &s->variables[variable];
}

/* The hold of the lock that guards the variable: at first, of the lock taken last. */
static const struct tms_sidetrack_hold *guard_of(const struct tms_sidetrack *s,
                                                 struct tms_sidetrack_thread *t,
                                                 struct tms_sidetrack_guarded *variable,
                                                 const struct tms_op *op)
{
    if (t->held_count == 0) {
        return NULL;
    }
    if (variable->lock == 0) {
        variable->lock = t->held[t->held_count - 1].id;
    }
    const struct tms_sidetrack_hold *hold = sidetrack_find_hold(t, s->locks[variable->lock]);
    bool enough = hold != NULL && (hold->kind == EXCLUSIVE || op->kind == TMS_OP_READ);
    return enough ? hold : NULL;
}

static bool conflicts(const struct tms_sidetrack_access_window *window, const struct tms_op *op)
{
    return op->kind != TMS_OP_READ ||
           (window->first.kind != TMS_EVENT_READ && window->second.kind != TMS_EVENT_READ);
}

/* The section could be put between two others: does the access cut the variable's window? */
static void cut_accesses(struct tms_sidetrack_thread *t, const struct tms_sidetrack_hold *hold,
                         const struct tms_sidetrack_guarded *variable, const struct tms_op *op)
{
    struct tms_sidetrack_cut *cut = &t->cuts[hold->cut - 1];

    if (cut->access.event == 0 && cut->window.second.place.event == variable->window.section &&
        conflicts(&variable->window, op)) {
        cut->accesses = variable->window;
        cut->access = (struct tms_sidetrack_place){op->event, op->location, op->event_kind};
    }
}

/* The first access of the section. */
static void follow_section(struct tms_sidetrack_thread *t, const struct tms_sidetrack_hold *hold,
                           struct tms_sidetrack_guarded *variable, const struct tms_op *op)
{
    const struct tms_sidetrack_place here = {op->event, op->location, op->event_kind};
    bool in_block = (op->flags & TMS_OP_IN_BLOCK) != 0 && hold->event > t->name.begin_event;

    if (hold->cut != 0) {
        cut_accesses(t, hold, variable, op);
    }
    if (in_block && variable->thread == t->id && variable->block == t->block) {
        variable->window =
            (struct tms_sidetrack_access_window){variable->last, here, hold->event, op->target};
    }
    variable->thread = in_block ? t->id : 0;
    variable->block = t->block;
    variable->section = hold->event;
    variable->last = here;
}

void tms_sidetrack_access(struct tms_sidetrack *s, const struct tms_op *op)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);
    struct tms_sidetrack_guarded *variable = guarded_of(s, op->target);

    if (t == NULL || variable == NULL) {
        return;
    }
    const struct tms_sidetrack_hold *hold = variable->open ? NULL : guard_of(s, t, variable, op);
    if (hold == NULL) {
        bool alone = variable->owner == 0 || variable->owner == t->id;
        variable->open = variable->open || variable->lock != 0 || !alone;
        variable->owner = t->id;
    } else if (t->accessed < hold->event && variable->section != hold->event) {
        follow_section(t, hold, variable, op);
    }
    t->accessed = op->event;
}
