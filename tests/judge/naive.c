/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of the second implementation: activations, locks held, clearing, steps. naive.h says
 * what it is for; the sections of docs/user/judge.md are named where they are followed.
 */
#include "judge/naive.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *naive_array(size_t count, size_t size)
{
    void *array = calloc(count + 1, size);

    if (array == NULL) {
        fprintf(stderr, "judge: out of memory\n");
        exit(2);
    }
    return array;
}

/* ---- events ------------------------------------------------------------------------------ */

static bool is_synchronisation(const struct naive *naive, uint32_t variable)
{
    const char *name = tms_name(naive->context, TMS_CLASS_VARIABLE, variable, NULL);

    return strncmp(name, "semaphore:", 10) == 0 || strncmp(name, "once:", 5) == 0;
}

static bool accesses(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_READ || event->kind == TMS_EVENT_WRITE ||
           event->kind == TMS_EVENT_UPDATE;
}

/* How often the thread has taken the lock and not given it back, before the event. */
static size_t depth_before(const struct naive *naive, size_t event)
{
    const struct tms_event *lock = &naive->events[event];
    size_t depth = 0;

    for (size_t k = 0; k < event; k++) {
        const struct tms_event *other = &naive->events[k];
        if (other->thread == lock->thread && other->target == lock->target) {
            depth += naive_is_acquire(other) ? 1 : 0;
            depth -= naive_is_release(other) ? 1 : 0;
        }
    }
    return depth;
}

/* The inside of a re-entrant lock is no event. */
static bool is_inner(const struct naive *naive, size_t event)
{
    return (naive_is_acquire(&naive->events[event]) && depth_before(naive, event) > 0) ||
           (naive_is_release(&naive->events[event]) && depth_before(naive, event) > 1);
}

size_t naive_held_since(const struct naive *naive, uint32_t thread, uint32_t lock, size_t event)
{
    size_t since = NAIVE_NONE;

    for (size_t k = 0; k < event; k++) {
        const struct tms_event *other = &naive->events[k];
        if (other->thread != thread || other->target != lock || naive->facts[k].inner) {
            continue;
        }
        since = naive_is_acquire(other) ? k : naive_is_release(other) ? NAIVE_NONE : since;
    }
    return since;
}

/* Looks for a lock that is held at `event` and was acquired before `from`. */
static bool holds_since(const struct naive *naive, size_t from, size_t event)
{
    uint32_t thread = naive->events[event].thread;

    for (size_t k = 0; k < from; k++) {
        const struct tms_event *other = &naive->events[k];
        if (other->thread == thread && naive_is_acquire(other) && !naive->facts[k].inner &&
            naive_held_since(naive, thread, other->target, event) == k) {
            return true;
        }
    }
    return false;
}

bool naive_holds_any(const struct naive *naive, size_t event)
{
    return holds_since(naive, event, event);
}

bool naive_in_section(const struct naive *naive, size_t from, size_t to)
{
    return holds_since(naive, from, to);
}

/* ---- Completed updates --------------------------------------------------------------------- */

/* Which threads hold locks, before and after each event. */
static void find_holding(struct naive *naive)
{
    for (size_t k = 0; k < naive->count; k++) {
        const struct tms_event *event = &naive->events[k];
        int held = 0;
        for (size_t i = 0; i <= k; i++) {
            const struct tms_event *other = &naive->events[i];
            naive->facts[k].was_holding = held > 0;
            if (other->thread == event->thread && !naive->facts[i].inner) {
                held += naive_is_acquire(other);
                held -= naive_is_release(other);
            }
        }
        naive->facts[k].holding = held > 0;
    }
}

/* Does event k make its thread hold no lock any more, or begin to hold one? */
static bool ends_stretch(const struct naive *naive, size_t k)
{
    return naive->facts[k].was_holding && !naive->facts[k].holding;
}

static bool begins_stretch(const struct naive *naive, size_t k)
{
    return !naive->facts[k].was_holding && naive->facts[k].holding;
}

/* A step W, or a U that does more than to count. */
static bool completes(const struct naive *naive, size_t k, uint32_t t)
{
    const struct naive_fact *fact = &naive->facts[k];

    return naive->events[k].thread == t && fact->access &&
           naive->events[k].kind == TMS_EVENT_WRITE &&
           (fact->mate == NAIVE_NONE || fact->mate != fact->previous);
}

/* The acquire of the lock that was acquired last of those that are held at the event. */
static size_t last_acquire(const struct naive *naive, size_t event)
{
    uint32_t t = naive->events[event].thread;

    for (size_t k = event; k-- > 0;) {
        const struct tms_event *other = &naive->events[k];
        if (other->thread == t && naive_is_acquire(other) && !naive->facts[k].inner &&
            naive_held_since(naive, t, other->target, event) == k) {
            return k;
        }
    }
    return NAIVE_NONE;
}

bool naive_is_completed(const struct naive *naive, size_t read, size_t later)
{
    uint32_t t = naive->events[read].thread;
    size_t begin = last_acquire(naive, read);
    bool wrote = false;

    if (begin == NAIVE_NONE) {
        return false;
    }
    for (size_t k = begin; k < later; k++) {
        const struct tms_event *event = &naive->events[k];
        if (event->thread == t && naive_is_release(event) && !naive->facts[k].inner && k > read &&
            event->target == naive->events[begin].target) {
            return wrote;
        }
        wrote = wrote || completes(naive, k, t);
    }
    return false;
}

/* ---- Records ----------------------------------------------------------------------------- */

bool naive_renews(const struct naive *naive, size_t k, uint32_t variable)
{
    const struct tms_event *event = &naive->events[k];

    if (event->kind != TMS_EVENT_ALLOC && event->kind != TMS_EVENT_FREE) {
        return false;
    }
    const char *object = tms_name(naive->context, TMS_CLASS_OBJECT, event->target, NULL);
    const char *name = tms_name(naive->context, TMS_CLASS_VARIABLE, variable, NULL);
    size_t length = strlen(object);
    return strncmp(name, object, length) == 0 &&
           (name[length] == '\0' || name[length] == '.' || name[length] == '[');
}

static bool is_rendezvous(const struct naive *naive, const struct tms_event *event)
{
    return event->kind == TMS_EVENT_WAIT || event->kind == TMS_EVENT_ARRIVE ||
           event->kind == TMS_EVENT_DEPART || event->kind == TMS_EVENT_JOIN ||
           event->kind == TMS_EVENT_CLEAR ||
           (event->kind == TMS_EVENT_FORK && (naive->split & TMS_SPLIT_FORK) != 0);
}

bool naive_clears(const struct naive *naive, size_t k, uint32_t t, uint32_t x)
{
    const struct tms_event *event = &naive->events[k];

    if (naive_renews(naive, k, x)) {
        return true;
    }
    if (event->thread != t) {
        return false;
    }
    return is_rendezvous(naive, event) || naive->facts[k].poll || naive->facts[k].outermost ||
           (event->kind == TMS_EVENT_RETRY && event->target == x);
}

/* Does it count in the search for a thread's previous event? */
static bool is_counted(const struct naive *naive, size_t k)
{
    switch (naive->events[k].kind) {
    case TMS_EVENT_BEGIN:
    case TMS_EVENT_END:
    case TMS_EVENT_ENTER:
    case TMS_EVENT_EXIT:
    case TMS_EVENT_CALL:
    case TMS_EVENT_RETURN:
    case TMS_EVENT_DEMOTE:
    case TMS_EVENT_CLEAR:
    case TMS_EVENT_RETRY:
    case TMS_EVENT_DELAY:
    case TMS_EVENT_FENCE:
    case TMS_EVENT_SEND:
    case TMS_EVENT_RECEIVE:
        return false;
    default:
        return !naive->facts[k].inner && (naive->facts[k].access || !accesses(&naive->events[k]));
    }
}

/* ---- Repeated accesses -------------------------------------------------------------------- */

/* Does a stretch of its thread end with the event? */
static bool ends_run(const struct naive *naive, size_t k)
{
    switch (naive->events[k].kind) {
    case TMS_EVENT_READ:
    case TMS_EVENT_WRITE:
        return naive->facts[k].atomic || is_synchronisation(naive, naive->events[k].target);
    case TMS_EVENT_ALLOC:
    case TMS_EVENT_FREE:
    case TMS_EVENT_ESCAPE:
    case TMS_EVENT_SEND:
    case TMS_EVENT_RECEIVE:
    case TMS_EVENT_DELAY:
    case TMS_EVENT_DEMOTE:
        return false;
    case TMS_EVENT_BEGIN:
    case TMS_EVENT_END:
    case TMS_EVENT_ENTER:
    case TMS_EVENT_EXIT:
    case TMS_EVENT_CALL:
    case TMS_EVENT_RETURN:
        return naive->facts[k].opens;
    default:
        return !naive->facts[k].inner;
    }
}

/*
 * Back from the access: did its thread do as much in its stretch, with no foreign write between, or
 * of a w, no foreign access?
 */
static bool is_repeated(const struct naive *naive, size_t event)
{
    const struct tms_event *access = &naive->events[event];
    bool write = access->kind == TMS_EVENT_WRITE;

    for (size_t k = event; !naive->facts[event].atomic && k-- > 0;) {
        const struct tms_event *other = &naive->events[k];
        bool own = other->thread == access->thread;
        if ((own && ends_run(naive, k)) || naive_renews(naive, k, access->target)) {
            return false;
        }
        if (naive->facts[k].access && other->target == access->target) {
            if (own && (!write || naive_is_write(other))) {
                return true;
            }
            if (!own && (write || naive_is_write(other))) {
                return false;
            }
        }
        if (own && naive->facts[k].poll) {
            return false;
        }
    }
    return false;
}

static size_t previous_counted(const struct naive *naive, size_t event)
{
    for (size_t k = event; k-- > 0;) {
        if (naive->events[k].thread == naive->events[event].thread && is_counted(naive, k)) {
            return k;
        }
    }
    return NAIVE_NONE;
}

static bool is_poll(const struct naive *naive, size_t event)
{
    const struct tms_event *read = &naive->events[event];
    size_t before = naive->facts[event].previous;
    bool written = false;

    if (!naive->facts[event].access || read->kind != TMS_EVENT_READ || before == NAIVE_NONE) {
        return false;
    }
    const struct tms_event *first = &naive->events[before];
    if (first->kind != TMS_EVENT_READ || first->target != read->target ||
        first->location != read->location) {
        return false;
    }
    for (size_t k = before + 1; k < event; k++) {
        written = (written && !naive_renews(naive, k, read->target)) ||
                  (naive_is_foreign(naive, k, read->thread, read->target) &&
                   naive_is_write(&naive->events[k]));
    }
    return written;
}

/* ---- waiting places ------------------------------------------------------------------------ */

#define RECENT 16

/* A read with a location, while its thread holds a lock. */
static bool is_read_in_stretch(const struct naive *naive, size_t k)
{
    return naive->facts[k].access && naive->events[k].kind == TMS_EVENT_READ &&
           naive->events[k].location != 0 && naive->facts[k].holding;
}

/* Was there one of the last reads before the wait, since the thread last began to hold locks? */
static bool was_read_before(const struct naive *naive, size_t wait, size_t event, uint32_t location)
{
    uint32_t t = naive->events[wait].thread;
    size_t seen = 0;

    for (size_t k = wait; k-- > 0 && seen < RECENT;) {
        if (naive->events[k].thread != t) {
            continue;
        }
        if (begins_stretch(naive, k)) {
            return false;
        }
        if (is_read_in_stretch(naive, k)) {
            seen++;
            if (naive->events[k].target == naive->events[event].target &&
                (naive->events[k].location == location ||
                 naive->events[event].location == location)) {
                return true;
            }
        }
    }
    return false;
}

/* Does the read make the location a waiting place: its own, or where it was read before? */
static bool makes_waiting_place(const struct naive *naive, size_t event, uint32_t location)
{
    uint32_t t = naive->events[event].thread;

    if (!is_read_in_stretch(naive, event)) {
        return false;
    }
    for (size_t k = event; k-- > 0;) {
        if (naive->events[k].thread != t) {
            continue;
        }
        if (naive->events[k].kind == TMS_EVENT_WAIT) {
            return was_read_before(naive, k, event, location);
        }
        if (ends_stretch(naive, k)) {
            return false;
        }
    }
    return false;
}

bool naive_is_initial(const struct naive *naive, size_t event)
{
    uint32_t x = naive->events[event].target;

    for (size_t k = event; k-- > 0;) {
        if (naive_renews(naive, k, x)) {
            return true;
        }
        if (naive->facts[k].access && naive->events[k].target == x) {
            return false;
        }
    }
    return true;
}

bool naive_at_waiting_place(const struct naive *naive, size_t event)
{
    const struct tms_event *step = &naive->events[event];
    bool found = false;

    for (size_t k = 0; k < naive->count && !found; k++) {
        found = makes_waiting_place(naive, k, step->location);
    }
    return found && step->location != 0 && step->kind != TMS_EVENT_WRITE &&
           naive->facts[event].holding;
}

/* The last write to the variable since it was new is foreign. */
static bool is_from_others(const struct naive *naive, size_t event)
{
    const struct tms_event *read = &naive->events[event];

    for (size_t k = event; k-- > 0;) {
        if (naive_renews(naive, k, read->target)) {
            return false;
        }
        if (naive->facts[k].access && naive->events[k].target == read->target &&
            naive_is_write(&naive->events[k])) {
            return naive->events[k].thread != read->thread;
        }
    }
    return false;
}

static bool is_waited_for(const struct naive *naive, size_t event)
{
    if (!is_read_in_stretch(naive, event) || !is_from_others(naive, event)) {
        return false;
    }
    for (size_t k = 0; k < event; k++) {
        if (makes_waiting_place(naive, k, naive->events[event].location)) {
            return true;
        }
    }
    return false;
}

/* ---- Steps ------------------------------------------------------------------------------- */

size_t naive_previous_own(const struct naive *naive, size_t event)
{
    const struct tms_event *access = &naive->events[event];

    for (size_t k = event; !naive_clears(naive, k, access->thread, access->target) && k-- > 0;) {
        const struct tms_event *other = &naive->events[k];
        if (naive->facts[k].access && other->thread == access->thread &&
            other->target == access->target) {
            return k;
        }
    }
    return NAIVE_NONE;
}

static bool foreign_between(const struct naive *naive, size_t from, size_t to)
{
    for (size_t k = from + 1; k < to; k++) {
        if (naive_is_foreign(naive, k, naive->events[from].thread, naive->events[from].target)) {
            return true;
        }
    }
    return false;
}

/* Can others be ordered after what the thread did before the event? */
static bool lets_others(const struct naive *naive, size_t k)
{
    const struct tms_event *event = &naive->events[k];

    if (accesses(event)) {
        return is_synchronisation(naive, event->target) ||
               (naive->facts[k].atomic && event->kind != TMS_EVENT_READ);
    }
    return (naive_is_release(event) && !naive->facts[k].inner) || event->kind == TMS_EVENT_WAIT ||
           event->kind == TMS_EVENT_ARRIVE || event->kind == TMS_EVENT_FORK ||
           event->kind == TMS_EVENT_JOIN || event->kind == TMS_EVENT_FENCE;
}

/* Can no other thread have come between the read and the write, if there is no race? */
bool naive_makes_update(const struct naive *naive, size_t read, size_t write)
{
    bool let = false;

    if (naive->facts[read].atomic || naive->facts[write].atomic) {
        return false;
    }
    for (size_t k = read + 1; k < write; k++) {
        let =
            let || (naive->events[k].thread == naive->events[read].thread && lets_others(naive, k));
    }
    return !let || naive_in_section(naive, read, write);
}

/* The read that this write updates, or NAIVE_NONE. */
static size_t read_of_update(const struct naive *naive, size_t write)
{
    size_t read = naive_previous_own(naive, write);

    if (read == NAIVE_NONE || naive->events[read].kind != TMS_EVENT_READ ||
        foreign_between(naive, read, write) || !naive_makes_update(naive, read, write)) {
        return NAIVE_NONE;
    }
    return read;
}

struct naive_step naive_step_of(const struct naive *naive, size_t access)
{
    size_t mate = naive->facts[access].mate;
    uint8_t kind = naive->events[access].kind;

    if (mate != NAIVE_NONE) {
        return (struct naive_step){NAIVE_U, mate < access ? mate : access,
                                   mate < access ? access : mate};
    }
    return (struct naive_step){kind == TMS_EVENT_UPDATE  ? NAIVE_U
                               : kind == TMS_EVENT_WRITE ? NAIVE_W
                                                         : NAIVE_R,
                               access, access};
}

void naive_find_steps(struct naive *naive)
{
    for (size_t k = 0; k < naive->count; k++) {
        const struct tms_event *event = &naive->events[k];
        if (!naive->facts[k].access || event->kind != TMS_EVENT_WRITE) {
            continue;
        }
        size_t read = read_of_update(naive, k);
        if (read != NAIVE_NONE) {
            naive->facts[k].mate = read;
            naive->facts[read].mate = k;
        }
    }
}

/* ---- all of it --------------------------------------------------------------------------- */

static void find_locks(struct naive *naive)
{
    naive->facts = naive_array(naive->count, sizeof(*naive->facts));
    naive->plain = naive_array(naive->count, sizeof(*naive->plain));
    for (size_t k = 0; k < naive->count; k++) {
        naive->plain[k] = naive->events[k];
        uint8_t *kind = &naive->plain[k].kind;
        bool ordered = *kind >= TMS_EVENT_ATOMIC_READ && *kind <= TMS_EVENT_ATOMIC_UPDATE;
        *kind = ordered ? (uint8_t)(*kind - TMS_EVENT_ATOMIC_READ + TMS_EVENT_READ) : *kind;
        naive->facts[k].atomic = ordered || *kind == TMS_EVENT_UPDATE;
    }
    naive->events = naive->plain;
    for (size_t k = 0; k < naive->count; k++) {
        naive->facts[k].mate = NAIVE_NONE;
        naive->facts[k].inner = is_inner(naive, k);
    }
    find_holding(naive);
}

/* In the order of the trace: each fact depends on those of earlier events. */
static void find_facts(struct naive *naive)
{
    for (size_t k = 0; k < naive->count; k++) {
        const struct tms_event *event = &naive->events[k];
        naive->facts[k].access =
            accesses(event) && !is_synchronisation(naive, event->target) && !is_repeated(naive, k);
        naive->facts[k].previous = previous_counted(naive, k);
        naive->facts[k].poll = is_poll(naive, k) || is_waited_for(naive, k);
    }
}

void naive_add(struct naive *naive, const struct naive_occurrence *occurrence)
{
    if (naive->occurrence_count == naive->occurrence_capacity) {
        naive->occurrence_capacity = 2 * naive->occurrence_capacity + 64;
        struct naive_occurrence *more =
            naive_array(naive->occurrence_capacity, sizeof(*naive->occurrences));
        if (naive->occurrence_count > 0) {
            memcpy(more, naive->occurrences, naive->occurrence_count * sizeof(*more));
        }
        free(naive->occurrences);
        naive->occurrences = more;
    }
    naive->occurrences[naive->occurrence_count++] = *occurrence;
}

void naive_judge(struct naive *naive)
{
    find_locks(naive);
    naive_find_activations(naive);
    find_facts(naive);
    naive_find_steps(naive);
    naive_find_single(naive);
    naive_find_pairs(naive);
    naive_conclude(naive);
}

void naive_clear(struct naive *naive)
{
    free(naive->facts);
    free(naive->plain);
    free(naive->activations);
    free(naive->blocks);
    free(naive->occurrences);
    free(naive->findings);
}
