/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of two acquires, and who could cut them: the checks of figure 6; see sidetrack.c. */
#include <assert.h>

#include "engines/sidetrack.h"

bool tms_sidetrack_refute(struct tms_sidetrack *s, const struct tms_sidetrack_thread *t,
                          uint64_t event, struct tms_refuted *refuted)
{
    refuted->count = 0;
    if (t->nesting.depth != 0 &&
        !tms_nesting_refute(&t->nesting, s->memory, &t->name, event, refuted)) {
        return sidetrack_out_of_memory(s);
    }
    return true;
}

static void report_here(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking,
                        enum tms_sidetrack_error error, const struct tms_sidetrack_place *first,
                        const struct tms_sidetrack_acquire *culprit, bool rough)
{
    const struct tms_sidetrack_place second = sidetrack_place(taking->op);
    const struct tms_sidetrack_prediction prediction = {
        .error = error,
        .rough = rough,
        .unproven = taking->on_class == TMS_CLASS_VARIABLE,
        .on_class = taking->on_class,
        .on = taking->op->target,
        .first = first,
        .second = &second,
        .block = &taking->t->name,
        .refuted = &s->refuted,
        .culprit = &culprit->place,
        .culprit_in = &culprit->in,
        .shows = taking->t->id,
    };

    assert(first->event < second.event && culprit->in.thread != taking->t->id);
    if (tms_sidetrack_refute(s, taking->t, first->event, &s->refuted)) {
        tms_sidetrack_report(s, &prediction);
    }
}

/* The acquire with that event, if it is still known. */
static const struct tms_sidetrack_acquire *find_acquire(const struct tms_sidetrack_lock *lock,
                                                        int kind, uint64_t event)
{
    assert(event != 0 && (kind == SHARED || kind == EXCLUSIVE));
    for (int i = 0; i < 2; i++) {
        if (lock->last[kind][i].acquire.place.event == event) {
            return &lock->last[kind][i].acquire;
        }
    }
    return NULL;
}

/*
 * The culprit ran before the block's first acquire, and could run after it. Everything that the
 * block's thread does from there to the second must then proceed without it. Beyond the second,
 * that can't be claimed; nor if the block has loaded an atomic whose value was stored since.
 */
static void check_before(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking,
                         struct tms_sidetrack_taken *taken, int form)
{
    const struct tms_sidetrack_thread *t = taking->t;
    const struct tms_sidetrack_acquire *culprit =
        find_acquire(taking->lock, !form, taken->before[form]);

    taken->before[form] = 0;
    if (culprit == NULL) {
        return;
    }
    assert(culprit->place.event < taken->since[form]);
    uint64_t since = taken->since[form];
    bool rough = ((taken->section | culprit->section) & SECTION_NESTED) != 0 || t->cramped > since;
    bool waits = t->stuck > since || (culprit->section & SECTION_WAITS) != 0 ||
                 t->sourced >= culprit->place.event;
    if (waits || (rough && s->waits_held)) {
        s->dropped++;
    } else {
        report_here(s, taking, ERROR_BEFORE, &taken->last[form], culprit, rough);
    }
}

static void set_window(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking,
                       const struct tms_sidetrack_place *first, struct tms_sidetrack_window *window)
{
    assert(first->event >= taking->t->name.begin_event && first->event < taking->op->event);
    s->windows++;
    window->first = *first;
    sidetrack_write_acquire(taking->t, taking->op, &window->second);
    if (!tms_sidetrack_refute(s, taking->t, first->event, &window->refuted)) {
        sidetrack_spend(window);
    }
}

void tms_sidetrack_close(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking,
                         struct tms_sidetrack_taken *taken, int form)
{
    const struct tms_sidetrack_acquire *culprit = sidetrack_last(taking->lock, !form);
    const struct tms_sidetrack_place *first = &taken->last[form];

    assert(taken->block == taking->t->block && first->event != 0);
    if (culprit->place.event > first->event && culprit->in.thread != taking->t->id) {
        report_here(s, taking, ERROR_IN, first, culprit, false);
    }
    if (taken->before[form] != 0) {
        check_before(s, taking, taken, form);
    }
    set_window(s, taking, first, &taking->lock->window[form]);
}

static struct tms_sidetrack_prediction after_error(const struct tms_sidetrack_thread *t,
                                                   const struct tms_sidetrack_window *window,
                                                   const struct tms_sidetrack_acquire *culprit)
{
    assert(window->first.event < window->second.place.event);
    return (struct tms_sidetrack_prediction){
        .error = ERROR_AFTER,
        .rough = (culprit->section & SECTION_NESTED) != 0,
        .first = &window->first,
        .second = &window->second.place,
        .block = &window->second.in,
        .refuted = &window->refuted,
        .culprit = &culprit->place,
        .culprit_in = &culprit->in,
        .shows = t->id,
    };
}

/* Would the culprit's thread have to wait for something that is no lock, before it is done? */
static bool is_doubtful(const struct tms_sidetrack *s, uint8_t section)
{
    return (section & SECTION_WAITS) != 0 || ((section & SECTION_NESTED) != 0 && s->waits_held);
}

uint32_t tms_sidetrack_take_cut(struct tms_sidetrack *s, struct tms_sidetrack_thread *t)
{
    uint32_t number = t->free_cut;

    if (number != 0) {
        t->free_cut = t->cuts[number - 1].next_free;
        return number;
    }
    if (!TMS_RESERVE(s->memory, &t->cuts, &t->cut_capacity, t->cut_count + 1, 1)) {
        sidetrack_out_of_memory(s);
        return 0;
    }
    return (uint32_t)++t->cut_count;
}

static struct tms_sidetrack_cut give_cut_back(struct tms_sidetrack_thread *t, uint32_t number)
{
    struct tms_sidetrack_cut cut = t->cuts[number - 1];

    t->cuts[number - 1] = (struct tms_sidetrack_cut){.next_free = t->free_cut};
    t->free_cut = number;
    return cut;
}

/* What the acquire could cut goes with the thread until it is known how the section went. */
uint32_t tms_sidetrack_put_off(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking)
{
    struct tms_sidetrack_thread *t = taking->t;
    struct tms_sidetrack_window *window = &taking->lock->window[!taking->kind];
    uint32_t number = tms_sidetrack_take_cut(s, t);

    if (number == 0) {
        return 0;
    }
    struct tms_sidetrack_cut *cut = &t->cuts[number - 1];
    cut->window = *window;
    cut->access.event = cut->through.place.event = 0;
    sidetrack_write_acquire(t, taking->op, &cut->culprit);
    *window = (struct tms_sidetrack_window){0};
    return number;
}

static bool is_pair(const struct tms_sidetrack_cut *cut)
{
    return cut->through.place.event != 0;
}

/* Of the blocks open at the second acquire, those that were open at the first. */
static struct tms_refuted refuted_since(const struct tms_refuted *open, uint64_t first)
{
    struct tms_refuted refuted = *open;

    while (refuted.count > 0 && refuted.block[refuted.count - 1].begin_event > first) {
        refuted.count--;
    }
    refuted.count = refuted.count > 1 ? refuted.count : 0; /* only the transaction: nothing else */
    return refuted;
}

static void tell_pair(struct tms_sidetrack *s, const struct tms_sidetrack_thread *t,
                      const struct tms_sidetrack_cut *cut, uint32_t lock)
{
    struct tms_sidetrack_prediction prediction = after_error(t, &cut->window, &cut->culprit);
    const struct tms_refuted refuted = refuted_since(&cut->window.refuted, cut->first.place.event);

    prediction.error = ERROR_PAIR;
    prediction.on_class = TMS_CLASS_LOCK;
    prediction.on = lock;
    prediction.refuted = &refuted;
    prediction.first = &cut->first.place;
    prediction.first_on = cut->first.lock;
    prediction.through = &cut->through.place;
    prediction.through_in = &cut->through.in;
    tms_sidetrack_report(s, &prediction);
}

/* The window of acquires, and then the accesses to a variable in the same sections. */
static void tell_cut(struct tms_sidetrack *s, const struct tms_sidetrack_thread *t,
                     const struct tms_sidetrack_cut *cut, uint32_t lock)
{
    struct tms_sidetrack_prediction prediction = after_error(t, &cut->window, &cut->culprit);

    prediction.on_class = TMS_CLASS_LOCK;
    prediction.on = lock;
    tms_sidetrack_report(s, &prediction);
    if (cut->access.event != 0) {
        prediction.on_class = TMS_CLASS_VARIABLE;
        prediction.on = cut->accesses.variable;
        prediction.first = &cut->accesses.first;
        prediction.second = &cut->accesses.second;
        prediction.culprit = &cut->access;
        tms_sidetrack_report(s, &prediction);
    }
}

static void settle(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                   const struct tms_sidetrack_hold *hold, uint32_t number,
                   struct tms_sidetrack_window *place)
{
    struct tms_sidetrack_cut cut = give_cut_back(t, number);

    cut.culprit.section = sidetrack_section(t, hold);
    bool reported = !is_doubtful(s, cut.culprit.section);
    if (reported) {
        (is_pair(&cut) ? tell_pair : tell_cut)(s, t, &cut, hold->id);
    } else {
        s->dropped++;
    }
    if (sidetrack_is_spent(place) && place->refuted.block == NULL) {
        *place = cut.window;
        if (is_pair(&cut)) {
            hold->lock->pair->first[0] = cut.first; /* others may be of another window by now */
            hold->lock->pair->first_count = 1;
        }
        if (reported) {
            sidetrack_spend(place); /* it still brings its memory back */
        }
    } else {
        tms_refuted_clear(&cut.window.refuted, s->memory);
    }
}

/*
 * The culprit's section is over: the cuts it could make are reported, or, if that is not possible,
 * put back.
 */
void tms_sidetrack_settle(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                          const struct tms_sidetrack_hold *hold)
{
    if (hold->cut != 0) {
        settle(s, t, hold, hold->cut, &hold->lock->window[!hold->kind]);
    }
    if (hold->pair != 0) {
        settle(s, t, hold, hold->pair, &hold->lock->pair->window);
    }
}

/* The read-modify-write could cut the window of two others. */
void tms_sidetrack_cut_updates(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking)
{
    struct tms_sidetrack_window *window = &taking->lock->window[SHARED];
    struct tms_sidetrack_acquire now;

    sidetrack_write_acquire(taking->t, taking->op, &now);
    struct tms_sidetrack_prediction prediction = after_error(taking->t, window, &now);
    prediction.unproven = true; /* it is unknown whether a semaphore had to wait here */
    prediction.on_class = TMS_CLASS_VARIABLE;
    prediction.on = taking->op->target;
    tms_sidetrack_report(s, &prediction);
    sidetrack_spend(window);
}
