/* SPDX-License-Identifier: Apache-2.0 */
/* Thread periods; see periods.h. */
#include "lockset/periods.h"

#include <assert.h>

#define LEAST_ITEMS 16

static bool check(struct tms_periods *p, bool done)
{
    if (!done) {
        tms_host_fail(p->host, TMS_ERR_MEMORY);
    }
    return done;
}

#define RESERVE(p, array, capacity, wanted)                                                        \
    check(p, TMS_RESERVE(&(p)->host->memory, array, capacity, (size_t)(wanted), LEAST_ITEMS))

void tms_periods_init(struct tms_periods *periods, struct tms_host *host)
{
    *periods = (struct tms_periods){
        .host = host, .off = !host->settings->periods, .period_count = 1, .line_count = 1};
}

void tms_periods_clear(struct tms_periods *p)
{
    if (p->host == NULL) {
        return;
    }
    struct tms_memory *memory = &p->host->memory;
    for (size_t i = 0; i < p->period_capacity; i++) {
        tms_vector_clear(memory, &p->periods[i].knows);
    }
    for (size_t i = 0; i < p->thread_capacity; i++) {
        tms_vector_clear(memory, &p->threads[i].knows);
    }
    for (size_t i = 0; i < p->gathering_capacity; i++) {
        tms_vector_clear(memory, &p->gatherings[i].knows);
    }
    tms_release(memory, p->periods, p->period_capacity, sizeof(*p->periods));
    tms_release(memory, p->threads, p->thread_capacity, sizeof(*p->threads));
    tms_release(memory, p->lines, p->line_capacity, sizeof(*p->lines));
    tms_release(memory, p->ended, p->ended_capacity, sizeof(*p->ended));
    tms_release(memory, p->gatherings, p->gathering_capacity, sizeof(*p->gatherings));
    tms_release(memory, p->barriers, p->barrier_capacity, sizeof(*p->barriers));
    *p = (struct tms_periods){0};
}

/* ---- lines ------------------------------------------------------------------------------ */

/* A line that ended, as the thread knows: what is in it comes before all that the thread forks. */
static uint32_t take_ended(struct tms_periods *p, const struct tms_vector *knows)
{
    for (size_t i = p->ended_count; i > 0; i--) {
        uint32_t line = p->ended[i - 1];
        if (tms_vector_get(knows, line) == p->lines[line]) {
            p->ended[i - 1] = p->ended[--p->ended_count];
            p->lines[line]++;
            return line;
        }
    }
    return 0;
}

static uint32_t take_line(struct tms_periods *p, const struct tms_vector *knows)
{
    uint32_t line = take_ended(p, knows);

    if (line != 0) {
        return line;
    }
    if (!RESERVE(p, &p->lines, &p->line_capacity, p->line_count + 1)) {
        return 0;
    }
    p->lines[p->line_count] = 1;
    return (uint32_t)p->line_count++;
}

/* The thread, with a line; NULL when memory is short. */
static struct tms_period_thread *find_thread(struct tms_periods *p, uint32_t id)
{
    static const struct tms_vector nothing = {0};

    if (!RESERVE(p, &p->threads, &p->thread_capacity, id + UINT64_C(1))) {
        return NULL;
    }
    struct tms_period_thread *thread = &p->threads[id];
    if (thread->line == 0) {
        thread->line = take_line(p, &nothing);
    }
    return thread->line != 0 ? thread : NULL;
}

/* From here on the thread is in its next period. */
static void step(struct tms_periods *p, struct tms_period_thread *thread)
{
    p->lines[thread->line]++;
    thread->current = 0;
}

/* into learns that all of the thread up to now has ended, and what the thread knew. */
static bool learn(struct tms_periods *p, struct tms_vector *into,
                  const struct tms_period_thread *thread)
{
    struct tms_memory *memory = &p->host->memory;

    return check(p, tms_vector_join(memory, into, &thread->knows) &&
                        tms_vector_set(memory, into, thread->line, p->lines[thread->line]));
}

/* ---- what cuts a period ----------------------------------------------------------------- */

static void follow_fork(struct tms_periods *p, const struct tms_op *op)
{
    if (!RESERVE(p, &p->threads, &p->thread_capacity, op->target + UINT64_C(1)) ||
        find_thread(p, op->thread) == NULL) {
        return;
    }
    struct tms_period_thread *parent = &p->threads[op->thread];
    struct tms_period_thread *child = &p->threads[op->target];
    if (child->line != 0) {
        return; /* its name is known already: nothing that came before can be taken back */
    }
    child->line = take_line(p, &parent->knows);
    if (child->line != 0 && learn(p, &child->knows, parent)) {
        step(p, parent);
    }
}

static void follow_join(struct tms_periods *p, const struct tms_op *op)
{
    if (find_thread(p, op->thread) == NULL || find_thread(p, op->target) == NULL) {
        return;
    }
    assert(op->thread != op->target);
    struct tms_period_thread *parent = &p->threads[op->thread];
    const struct tms_period_thread *child = &p->threads[op->target];
    if (RESERVE(p, &p->ended, &p->ended_capacity, p->ended_count + 1) &&
        learn(p, &parent->knows, child)) {
        p->ended[p->ended_count++] = child->line;
        step(p, parent);
    }
}

/* 1 + the number of a gathering that is over, or of a new one; 0 when memory is short. */
static uint32_t take_gathering(struct tms_periods *p)
{
    uint32_t spare = p->spare;

    if (spare != 0) {
        assert(spare <= p->gathering_count && p->gatherings[spare - 1].waiting == 0);
        p->spare = p->gatherings[spare - 1].spare;
        return spare;
    }
    bool room = RESERVE(p, &p->gatherings, &p->gathering_capacity, p->gathering_count + 1);
    return room ? (uint32_t)++p->gathering_count : 0;
}

static void give_up(struct tms_periods *p, uint32_t number)
{
    struct tms_gathering *gathering = &p->gatherings[number - 1];

    assert(number > 0 && number <= p->gathering_count);
    if (gathering->replaced && gathering->waiting == 0) {
        for (size_t i = 0; i < gathering->knows.capacity; i++) {
            gathering->knows.at[i] = 0;
        }
        *gathering = (struct tms_gathering){.knows = gathering->knows, .spare = p->spare};
        p->spare = number;
    }
}

/* 1 + the gathering that threads arriving now belong to; 0 when memory is short. */
static uint32_t find_gathering(struct tms_periods *p, uint32_t barrier)
{
    if (!RESERVE(p, &p->barriers, &p->barrier_capacity, barrier + UINT64_C(1))) {
        return 0;
    }
    assert(p->barriers[barrier] <= p->gathering_count);
    uint32_t last = p->barriers[barrier];
    if (last != 0 && !p->gatherings[last - 1].leaving) {
        return last;
    }
    if (last != 0) {
        p->gatherings[last - 1].replaced = true;
        give_up(p, last);
    }
    return p->barriers[barrier] = take_gathering(p);
}

static void follow_arrive(struct tms_periods *p, const struct tms_op *op)
{
    struct tms_period_thread *thread = find_thread(p, op->thread);
    uint32_t number = thread == NULL ? 0 : find_gathering(p, op->target);

    if (number != 0 && learn(p, &p->gatherings[number - 1].knows, thread)) {
        assert(!p->gatherings[number - 1].leaving);
        p->gatherings[number - 1].waiting++;
        thread->gathering = number;
        step(p, thread);
    }
}

static void follow_depart(struct tms_periods *p, const struct tms_op *op)
{
    struct tms_period_thread *thread = find_thread(p, op->thread);

    if (thread == NULL || thread->gathering == 0) {
        return;
    }
    struct tms_gathering *gathering = &p->gatherings[thread->gathering - 1];
    if (check(p, tms_vector_join(&p->host->memory, &thread->knows, &gathering->knows))) {
        step(p, thread);
    }
    assert(gathering->waiting > 0);
    gathering->leaving = true;
    gathering->waiting--;
    give_up(p, thread->gathering);
    thread->gathering = 0;
}

void tms_periods_follow(struct tms_periods *periods, const struct tms_op *op)
{
    static void (*const follow[TMS_OP_COUNT])(struct tms_periods *, const struct tms_op *) = {
        [TMS_OP_FORK] = follow_fork,
        [TMS_OP_JOIN] = follow_join,
        [TMS_OP_ARRIVE] = follow_arrive,
        [TMS_OP_DEPART] = follow_depart,
    };

    assert(follow[op->kind] != NULL);
    if (!periods->off) {
        follow[op->kind](periods, op);
    }
}

/* ---- questions -------------------------------------------------------------------------- */

uint32_t tms_period_make(struct tms_periods *p, uint32_t id)
{
    struct tms_period_thread *thread = find_thread(p, id);

    if (thread == NULL || !RESERVE(p, &p->periods, &p->period_capacity, p->period_count + 1)) {
        return 0;
    }
    struct tms_period *period = &p->periods[p->period_count];
    *period =
        (struct tms_period){.line = thread->line, .thread = id, .number = p->lines[thread->line]};
    if (!check(p, tms_vector_copy(&p->host->memory, &period->knows, &thread->knows))) {
        return 0;
    }
    assert(thread->line != 0 && period->number > 0);
    thread->current = (uint32_t)p->period_count++;
    return thread->current;
}

bool tms_periods_before(const struct tms_periods *periods, uint32_t first, uint32_t second)
{
    const struct tms_period *x = &periods->periods[first];
    const struct tms_period *y = &periods->periods[second];

    assert(first < periods->period_count && second < periods->period_count);
    return first != 0 && second != 0 && x->number <= tms_vector_get(&y->knows, x->line);
}

bool tms_periods_parallel(const struct tms_periods *periods, uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0 || periods->periods[a].line == periods->periods[b].line) {
        return false;
    }
    return !tms_periods_before(periods, a, b) && !tms_periods_before(periods, b, a);
}
