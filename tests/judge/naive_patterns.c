/* SPDX-License-Identifier: Apache-2.0 */
/* The two tables of docs/user/judge.md: one variable, two variables. */
#include <stdlib.h>
#include <string.h>

#include "judge/naive.h"

#define TAKEN_OVER 16

/* ---- One variable ------------------------------------------------------------------------ */

/*
 * What a row may require of p or q, and of F; S: a U, or an R that becomes one later; C: a counter.
 */
enum { R = 1, W = 2, U = 4, S = 8, C = 16 };

struct row {
    unsigned p, foreign, q;
    enum tms_pattern pattern;
    enum tms_level level;
};

static const struct row single_rows[] = {
    {R, W, W, TMS_PATTERN_LOST_UPDATE, TMS_LEVEL_ERROR},
    {R, W, R | U, TMS_PATTERN_CHANGED_BETWEEN_READS, TMS_LEVEL_WARNING},
    {U, W, S, TMS_PATTERN_INTERLEAVED_UPDATES, TMS_LEVEL_NOTE},
    {C, R, C, TMS_PATTERN_INTERLEAVED_UPDATES, TMS_LEVEL_NOTE},
    {W | U, W, R | U, TMS_PATTERN_FOREIGN_VALUE_READ_BACK, TMS_LEVEL_WARNING},
    {W | U, R, W | U, TMS_PATTERN_INTERMEDIATE_VALUE_SEEN, TMS_LEVEL_NOTE},
    {W | U, W, W, TMS_PATTERN_OVERWRITTEN, TMS_LEVEL_NOTE},
};
#define SINGLE_ROWS (sizeof(single_rows) / sizeof(single_rows[0]))

/* The kinds of foreign accesses to the variable of `own` between the two events. */
static unsigned foreign_between(const struct naive *naive, size_t own, size_t from, size_t to)
{
    const struct tms_event *access = &naive->events[own];
    unsigned found = 0;

    for (size_t k = from + 1; k < to; k++) {
        if (naive_is_foreign(naive, k, access->thread, access->target)) {
            found |= naive_is_read(&naive->events[k]) ? R : 0;
            found |= naive_is_write(&naive->events[k]) ? W : 0;
        }
    }
    return found;
}

static unsigned letter(const struct naive *naive, const struct naive_step *step)
{
    bool counter = step->kind == NAIVE_U &&
                   (step->first == step->last || naive->facts[step->last].previous == step->first);

    return (step->kind == NAIVE_R ? R : step->kind == NAIVE_W ? W : U) | (counter ? C : 0);
}

static bool same_variable(const struct naive *naive, size_t one, size_t other)
{
    return naive->facts[one].access && naive->events[one].thread == naive->events[other].thread &&
           naive->events[one].target == naive->events[other].target;
}

/* Is the read followed by a write that updates, with nothing but own reads between? */
static bool updates_after(const struct naive *naive, size_t read)
{
    const struct tms_event *event = &naive->events[read];

    for (size_t k = read + 1; k < naive->count; k++) {
        if (naive_clears(naive, k, event->thread, event->target) ||
            naive_is_foreign(naive, k, event->thread, event->target)) {
            return false;
        }
        if (same_variable(naive, k, read) && naive->events[k].kind != TMS_EVENT_READ) {
            return naive->events[k].kind == TMS_EVENT_WRITE && naive_makes_update(naive, read, k);
        }
    }
    return false;
}

static unsigned letters_of_second(const struct naive *naive, const struct naive_step *q)
{
    bool section = q->kind == NAIVE_U || (q->kind == NAIVE_R && updates_after(naive, q->first));

    return letter(naive, q) | (section ? S : 0);
}

static const struct row *match(const struct naive *naive, const struct naive_step *p,
                               unsigned foreign, const struct naive_step *q)
{
    unsigned first = letter(naive, p), second = letters_of_second(naive, q);

    for (size_t i = 0; i < SINGLE_ROWS; i++) {
        const struct row *row = &single_rows[i];
        if ((row->p & first) != 0 && (row->foreign & foreign) != 0 && (row->q & second) != 0) {
            return row;
        }
    }
    return NULL;
}

/* The variants of changed-between-reads. */
static void refine(const struct naive *naive, struct naive_occurrence *occurrence)
{
    const struct tms_event *p = &naive->events[occurrence->own[0]];
    const struct tms_event *q = &naive->events[occurrence->own[1]];

    if (occurrence->pattern != TMS_PATTERN_CHANGED_BETWEEN_READS) {
        return;
    }
    if (p->location != 0 && p->location == q->location) {
        occurrence->pattern = TMS_PATTERN_POLLED;
        occurrence->level = TMS_LEVEL_NOTE;
    } else if (!naive_holds_any(naive, occurrence->own[0]) &&
               naive_holds_any(naive, occurrence->own[1])) {
        occurrence->pattern = TMS_PATTERN_RECHECKED;
        occurrence->level = TMS_LEVEL_NOTE;
    }
}

static void found_single(struct naive *naive, const struct row *row, const struct naive_step *p,
                         const struct naive_step *q, size_t until)
{
    size_t last = row->foreign == R ? q->last : q->first; /* what conflicts with the reads of F */
    struct naive_occurrence occurrence = {.pattern = row->pattern,
                                          .level = row->level,
                                          .own = {p->last, q->first},
                                          .until = until,
                                          .variable = naive->events[q->first].target,
                                          .activation = naive_innermost(naive, p->last, last),
                                          .culprit = NAIVE_NONE};

    if (occurrence.activation != NAIVE_NONE) {
        refine(naive, &occurrence);
        if (occurrence.pattern == TMS_PATTERN_CHANGED_BETWEEN_READS &&
            naive_is_completed(naive, p->last, q->first)) {
            occurrence.level = TMS_LEVEL_NOTE;
        }
        occurrence.initial = p->kind == NAIVE_W && naive_is_initial(naive, p->last);
        naive_add(naive, &occurrence);
    }
}

/*
 * Own reads between F and q are skipped: back over them to a step that writes, for the rows for F
 * with a read.
 */
static void skip_reads(struct naive *naive, const struct naive_step *q)
{
    size_t at = naive_previous_own(naive, q->first), next = NAIVE_NONE;

    while (at != NAIVE_NONE && naive_step_of(naive, at).kind == NAIVE_R) {
        next = at;
        at = naive_previous_own(naive, at);
    }
    if (at == NAIVE_NONE || next == NAIVE_NONE || q->kind == NAIVE_R) {
        return;
    }
    struct naive_step p = naive_step_of(naive, at);
    unsigned foreign = foreign_between(naive, p.last, p.last, next);
    if (foreign != R || (foreign_between(naive, next, next, q->first) & W) != 0) {
        return;
    }
    const struct row *row = match(naive, &p, foreign, q);
    if (row != NULL) {
        found_single(naive, row, &p, q, next);
    }
}

static void find_single_at(struct naive *naive, const struct naive_step *q)
{
    size_t before = naive_previous_own(naive, q->first);

    if (before == NAIVE_NONE) {
        return;
    }
    struct naive_step p = naive_step_of(naive, before);
    unsigned foreign = foreign_between(naive, p.last, p.last, q->first);
    const struct row *row = match(naive, &p, foreign, q);
    if (row != NULL) {
        found_single(naive, row, &p, q, q->first);
    } else {
        skip_reads(naive, q);
    }
}

void naive_find_single(struct naive *naive)
{
    for (size_t k = 0; k < naive->count; k++) {
        struct naive_step step = naive_step_of(naive, k);
        if (naive->facts[k].access && step.first == k) {
            find_single_at(naive, &step);
        }
    }
}

/* ---- Two variables ----------------------------------------------------------------------- */

struct taken_over {
    uint32_t variable[TAKEN_OVER + 1]; /* the one taken over first at the start */
    size_t count;
};

static size_t find(const struct taken_over *list, uint32_t variable)
{
    size_t at = 0;

    while (at < list->count && list->variable[at] != variable) {
        at++;
    }
    return at;
}

static void drop(struct taken_over *list, size_t at)
{
    if (at < list->count) {
        memmove(&list->variable[at], &list->variable[at + 1],
                (--list->count - at) * sizeof(list->variable[0]));
    }
}

static void drop_cleared(const struct naive *naive, struct taken_over *list, uint32_t thread,
                         size_t event)
{
    for (size_t i = list->count; i-- > 0;) {
        if (naive_clears(naive, event, thread, list->variable[i])) {
            drop(list, i);
        }
    }
}

/* The step of the thread's last access to the variable before event k, unless it was cleared. */
static bool last_own(const struct naive *naive, uint32_t thread, uint32_t variable, size_t k,
                     struct naive_step *step)
{
    while (k-- > 0) {
        if (naive->facts[k].access && naive->events[k].thread == thread &&
            naive->events[k].target == variable) {
            *step = naive_step_of(naive, k);
            return true;
        }
        if (naive_clears(naive, k, thread, variable)) {
            return false;
        }
    }
    return false;
}

/* Is the foreign access at event k the first one that conflicts with the thread's last step? */
static bool takes_over(const struct naive *naive, uint32_t thread, size_t k)
{
    uint32_t variable = naive->events[k].target;
    struct naive_step step;

    if (!last_own(naive, thread, variable, k, &step) ||
        naive_innermost(naive, step.last, step.last) == NAIVE_NONE) {
        return false;
    }
    unsigned conflicting = step.kind == NAIVE_R ? W : W | R;
    return (foreign_between(naive, step.last, step.last, k) & conflicting) == 0 &&
           (foreign_between(naive, step.last, k - 1, k + 1) & conflicting) != 0;
}

/* What the thread of `event` remembers when it reaches the event. */
static struct taken_over remembered(struct naive *naive, size_t event)
{
    uint32_t thread = naive->events[event].thread;
    struct taken_over list = {.count = 0};

    for (size_t k = 0; k < event; k++) {
        uint32_t variable = naive->events[k].target;
        drop_cleared(naive, &list, thread, k);
        if (!naive->facts[k].access) {
            continue;
        }
        if (naive->events[k].thread == thread) {
            drop(&list, find(&list, variable));
        } else if (takes_over(naive, thread, k)) {
            list.variable[list.count++] = variable;
            naive->forgotten += list.count > TAKEN_OVER;
            drop(&list, list.count > TAKEN_OVER ? 0 : list.count);
        }
    }
    drop_cleared(naive, &list, thread, event);
    return list;
}

/* The step of the last own access to the variable before the event. */
static struct naive_step last_step(const struct naive *naive, uint32_t variable, size_t event)
{
    size_t k = event;

    do {
        k--;
    } while (!naive->facts[k].access || naive->events[k].thread != naive->events[event].thread ||
             naive->events[k].target != variable);
    return naive_step_of(naive, k);
}

/* The first foreign write after a; NAIVE_NONE if it is not by u, or not before f2. */
static size_t first_write(const struct naive *naive, const struct naive_step *a, uint32_t u,
                          size_t f2)
{
    for (size_t k = a->last + 1; k < f2; k++) {
        if (naive_is_foreign(naive, k, naive->events[a->last].thread,
                             naive->events[a->last].target) &&
            naive_is_write(&naive->events[k])) {
            return naive->events[k].thread == u ? k : NAIVE_NONE;
        }
    }
    return NAIVE_NONE;
}

/* The first read by u after a, unless there is a write before it. */
static size_t first_read(const struct naive *naive, const struct naive_step *a, uint32_t u,
                         size_t f2)
{
    for (size_t k = a->last + 1; k < f2; k++) {
        if (!naive_is_foreign(naive, k, naive->events[a->last].thread,
                              naive->events[a->last].target)) {
            continue;
        }
        if (naive_is_write(&naive->events[k])) {
            return NAIVE_NONE;
        }
        if (naive->events[k].thread == u) {
            return k;
        }
    }
    return NAIVE_NONE;
}

static size_t first_foreign(const struct naive *naive, const struct naive_step *a, size_t f2)
{
    uint32_t u = naive->events[f2].thread;
    size_t write = first_write(naive, a, u, f2);

    return write != NAIVE_NONE || a->kind == NAIVE_R ? write : first_read(naive, a, u, f2);
}

static bool is_update(const struct naive *naive, size_t event)
{
    return naive->events[event].kind == TMS_EVENT_UPDATE ||
           (naive->events[event].kind == TMS_EVENT_WRITE && naive->facts[event].mate != NAIVE_NONE);
}

static void classify_pair(const struct naive *naive, const struct naive_step *a,
                          const struct naive_step *b, struct naive_occurrence *occurrence)
{
    const size_t *f = occurrence->foreign;
    bool both_write = naive_is_write(&naive->events[f[0]]) && naive_is_write(&naive->events[f[1]]);
    bool updates = a->kind == NAIVE_U || b->kind == NAIVE_U || is_update(naive, f[0]) ||
                   is_update(naive, f[1]);

    occurrence->level = TMS_LEVEL_NOTE;
    if (a->kind == NAIVE_R && b->kind == NAIVE_R) {
        occurrence->pattern = TMS_PATTERN_INCONSISTENT_READS;
        occurrence->level = TMS_LEVEL_ERROR;
    } else if (a->kind == NAIVE_R) {
        occurrence->pattern = TMS_PATTERN_STALE_DECISION;
        occurrence->level = TMS_LEVEL_WARNING;
    } else if (b->kind == NAIVE_R) {
        occurrence->pattern = TMS_PATTERN_EXCHANGE;
    } else if (both_write) {
        occurrence->pattern = TMS_PATTERN_INTERLEAVED_WRITES;
        occurrence->level = updates ? TMS_LEVEL_NOTE : TMS_LEVEL_WARNING;
    } else {
        occurrence->pattern = TMS_PATTERN_HALF_UPDATE_SEEN;
    }
    if (a->kind == NAIVE_R && naive_is_completed(naive, a->last, b->first)) {
        occurrence->level = TMS_LEVEL_NOTE;
    }
}

static void find_pair(struct naive *naive, const struct taken_over *list,
                      const struct naive_step *b, size_t f2)
{
    uint32_t y = naive->events[b->first].target;
    struct naive_step latest = {0};
    size_t f1 = NAIVE_NONE;

    for (size_t i = 0; i < list->count; i++) {
        if (list->variable[i] == y) {
            continue;
        }
        struct naive_step a = last_step(naive, list->variable[i], b->first);
        size_t first = first_foreign(naive, &a, f2);
        if (first != NAIVE_NONE && (f1 == NAIVE_NONE || a.last > latest.last)) {
            latest = a;
            f1 = first;
        }
    }
    if (f1 == NAIVE_NONE) {
        return;
    }
    struct naive_occurrence occurrence = {.own = {latest.last, b->first},
                                          .foreign = {f1, f2},
                                          .variable = naive->events[latest.last].target,
                                          .other = y,
                                          .activation =
                                              naive_innermost(naive, latest.last, b->first),
                                          .culprit = naive_innermost(naive, f1, f2)};
    if (occurrence.activation != NAIVE_NONE) {
        classify_pair(naive, &latest, b, &occurrence);
        naive_add(naive, &occurrence);
    }
}

/*
 * Each f2 of b, backwards: the last access if it is a read and b a w or u, and the last write; not
 * beyond an own access, or a time when y was not yet.
 */
static void find_pairs_at(struct naive *naive, const struct naive_step *b)
{
    const struct tms_event *step = &naive->events[b->first];
    struct taken_over list = remembered(naive, b->first);
    bool last = true, done = false;

    for (size_t k = b->first; !done && k-- > 0 && !naive_renews(naive, k, step->target);) {
        const struct tms_event *event = &naive->events[k];
        if (!naive->facts[k].access || event->target != step->target) {
            continue;
        }
        bool write = naive_is_write(event);
        done = write || event->thread == step->thread;
        if (event->thread != step->thread && (write || (last && step->kind != TMS_EVENT_READ))) {
            find_pair(naive, &list, b, k);
        }
        last = false;
    }
}

void naive_find_pairs(struct naive *naive)
{
    for (size_t k = 0; k < naive->count; k++) {
        struct naive_step step = naive_step_of(naive, k);
        if (naive->facts[k].access && step.first == k) {
            find_pairs_at(naive, &step);
        }
    }
}
