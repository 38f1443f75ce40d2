/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches for cycles of requests.
 *
 * First, requests that can't be part of one are pruned: a lock that is wanted but never held ends a
 * chain, and so does one that only pruned requests hold. In a program that takes its locks in a
 * fixed order nothing is left, at a cost that is linear in the requests.
 *
 * Among the rest, chains are grown from each request, by requests of later threads only, so that
 * each cycle is found once, from its first thread. A new link must be of another thread than all
 * before it and hold nothing that excludes what they hold; whether the periods fit is checked when
 * the chain closes, as there may be many moments of a request and one that fits is enough. A chain
 * that closes does not grow on.
 *
 * Chains of two links come first, then those of three, and so on until none is long enough to
 * continue. The search ends after TRIES_MOST steps, about a second, and says so: what it has not
 * reached then are long cycles.
 */
#include <assert.h>

#include "engines/goodlock.h"

#define TRIES_MOST  (UINT64_C(1) << 23)
#define REPORT_COST 16 /* a report counts as so many tries, which is about what it takes */

/* For each resource a list of requests: list[start[r]] to list[start[r + 1] - 1]. */
struct lists {
    size_t *start;
    uint32_t *list;
    size_t resources, entries;
};

struct search {
    struct tms_goodlock *g;
    struct lists holders, wanters;
    uint32_t *left; /* by resource: holders that are not dropped */
    bool *dropped;  /* by request */
    uint32_t *queue;
    struct tms_goodlock_link *chain;
    size_t thread_count; /* as long as a chain can get */
    size_t wanted;       /* the length of the cycles that are looked for now */
    bool longer;         /* some chain of that length did not close */
};

/* ---- lists ------------------------------------------------------------------------------ */

typedef void visit(struct lists *lists, uint32_t resource, uint32_t request);

/* All that a request holds: its locks, and the end of its thread. */
static void visit_held(const struct tms_goodlock *g, uint32_t number, struct lists *lists,
                       visit *visitor)
{
    const struct tms_goodlock_request *request = &g->requests[number];
    size_t count;
    const uint32_t *locks = tms_lockset_locks(&g->sets, request->held.any, &count);

    for (size_t i = 0; i < count; i++) {
        visitor(lists, resource_of_lock(locks[i]), number);
    }
    visitor(lists, resource_of_end(request->thread), number);
}

static void visit_wanted(const struct tms_goodlock *g, uint32_t number, struct lists *lists,
                         visit *visitor)
{
    visitor(lists, g->requests[number].wanted, number);
}

static void count_entry(struct lists *lists, uint32_t resource, uint32_t request)
{
    assert(resource < lists->resources);
    (void)request;
    lists->start[resource]++;
    lists->entries++;
}

/* Filled from the end, so that finally start[] is where each list starts. */
static void put_entry(struct lists *lists, uint32_t resource, uint32_t request)
{
    assert(resource < lists->resources && lists->start[resource] > 0);
    lists->list[--lists->start[resource]] = request;
}

typedef void visit_all(const struct tms_goodlock *g, uint32_t number, struct lists *lists,
                       visit *visitor);

static bool make_lists(const struct tms_goodlock *g, struct lists *lists, size_t resources,
                       visit_all *visit_each)
{
    struct tms_memory *memory = &g->host->memory;

    lists->resources = resources;
    lists->start = tms_resize(memory, NULL, 0, resources + 1, sizeof(*lists->start));
    if (lists->start == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < g->request_count; i++) {
        visit_each(g, i, lists, count_entry);
    }
    for (size_t i = 1; i <= resources; i++) {
        lists->start[i] += lists->start[i - 1];
    }
    lists->list = tms_resize(memory, NULL, 0, lists->entries, sizeof(*lists->list));
    if (lists->list == NULL) {
        return false;
    }
    for (uint32_t i = (uint32_t)g->request_count; i-- > 0;) {
        visit_each(g, i, lists, put_entry);
    }
    return true;
}

static void clear_lists(struct tms_memory *memory, struct lists *lists)
{
    tms_release(memory, lists->start, lists->resources + 1, sizeof(*lists->start));
    tms_release(memory, lists->list, lists->entries, sizeof(*lists->list));
}

/* ---- what leads nowhere ----------------------------------------------------------------- */

/* The resource has no holder left: requests for it are pruned. */
static size_t drop_requests(struct search *s, uint32_t resource, size_t queued)
{
    const struct lists *wanters = &s->wanters;

    for (size_t i = wanters->start[resource]; i < wanters->start[resource + 1]; i++) {
        uint32_t request = wanters->list[i];
        if (!s->dropped[request]) {
            s->dropped[request] = true;
            assert(queued < s->g->request_count);
            s->queue[queued++] = request;
        }
    }
    return queued;
}

static size_t drop_holder(struct search *s, uint32_t resource, size_t queued)
{
    assert(s->left[resource] > 0);
    return --s->left[resource] == 0 ? drop_requests(s, resource, queued) : queued;
}

static void drop_unreachable(struct search *s)
{
    const struct tms_goodlock *g = s->g;
    size_t queued = 0;

    for (uint32_t resource = 0; resource < s->holders.resources; resource++) {
        s->left[resource] = (uint32_t)(s->holders.start[resource + 1] - s->holders.start[resource]);
        queued = s->left[resource] == 0 ? drop_requests(s, resource, queued) : queued;
    }
    for (size_t done = 0; done < queued; done++) {
        const struct tms_goodlock_request *request = &g->requests[s->queue[done]];
        size_t count;
        const uint32_t *locks = tms_lockset_locks(&g->sets, request->held.any, &count);
        for (size_t i = 0; i < count; i++) {
            queued = drop_holder(s, resource_of_lock(locks[i]), queued);
        }
        queued = drop_holder(s, resource_of_end(request->thread), queued);
    }
    assert(queued <= g->request_count);
    s->g->cyclic = g->request_count - queued;
}

/* ---- chains ----------------------------------------------------------------------------- */

/* Does the one have to wait for the other? */
static bool waits_for(const struct tms_goodlock *g, const struct tms_goodlock_request *a,
                      const struct tms_goodlock_request *b)
{
    if (is_end(a->wanted)) {
        return a->wanted == resource_of_end(b->thread);
    }
    return tms_lockset_has(&g->sets, a->shared ? b->held.exclusive : b->held.any, a->wanted >> 1);
}

static bool fits(struct search *s, size_t length, const struct tms_goodlock_request *next)
{
    for (size_t i = 0; i < length; i++) {
        const struct tms_goodlock_request *request = s->chain[i].request;
        if (request->thread == next->thread ||
            tms_held_exclude(&s->g->sets, request->held, next->held)) {
            return false;
        }
    }
    return true;
}

static bool try_on(struct tms_goodlock *g)
{
    g->gave_up = g->gave_up || g->tried >= TRIES_MOST;
    g->tried++;
    return !g->gave_up && g->host->failed == TMS_OK;
}

static bool is_parallel(const struct search *s, size_t length, uint32_t period)
{
    for (size_t i = 0; i < length; i++) {
        if (!tms_periods_parallel(&s->g->periods, s->chain[i].moment->period, period)) {
            return false;
        }
    }
    return true;
}

/* Chooses moments for the links from `at` on, all pairwise parallel. */
static bool choose_moments(struct search *s, size_t at, size_t length)
{
    const struct tms_goodlock *g = s->g;

    assert(at <= length && length <= s->thread_count);
    if (at == length) {
        return true;
    }
    for (uint32_t i = s->chain[at].request->first; i != NONE; i = g->moments[i].next) {
        if (!try_on(s->g)) {
            return false;
        }
        s->chain[at].moment = &g->moments[i];
        if (is_parallel(s, at, g->moments[i].period) && choose_moments(s, at + 1, length)) {
            return true;
        }
    }
    return false;
}

static void close_chain(struct search *s)
{
    assert(s->wanted >= 2);
    if (choose_moments(s, 0, s->wanted)) {
        s->g->found++;
        s->g->tried += REPORT_COST;
        tms_goodlock_report(s->g, s->chain, s->wanted);
    }
}

static void grow_chain(struct search *s, size_t length)
{
    struct tms_goodlock *g = s->g;
    const struct tms_goodlock_request *first = s->chain[0].request,
                                      *last = s->chain[length - 1].request;
    bool closes = length > 1 && waits_for(g, last, first);

    assert(length > 0 && length <= s->wanted && s->wanted <= s->thread_count);
    if (closes || length == s->wanted) {
        s->longer |= !closes;
        if (closes && length == s->wanted) { /* shorter ones have been seen to */
            close_chain(s);
        }
        return;
    }
    size_t end = s->holders.start[last->wanted + 1];
    for (size_t i = s->holders.start[last->wanted]; i < end && try_on(g); i++) {
        const struct tms_goodlock_request *next = &g->requests[s->holders.list[i]];
        if (!s->dropped[s->holders.list[i]] && next->thread > first->thread &&
            waits_for(g, last, next) && fits(s, length, next)) {
            assert(next->thread != last->thread);
            s->chain[length].request = next;
            grow_chain(s, length + 1);
        }
    }
}

static void find_cycles(struct search *s)
{
    s->longer = true;
    for (s->wanted = 2; s->wanted <= s->thread_count && s->longer; s->wanted++) {
        s->longer = false;
        for (size_t i = 0; i < s->g->request_count && !s->g->gave_up; i++) {
            if (!s->dropped[i]) {
                s->chain[0].request = &s->g->requests[i];
                grow_chain(s, 1);
            }
        }
    }
}

/* ---- the search ------------------------------------------------------------------------- */

static bool prepare(struct search *s, size_t resources)
{
    struct tms_memory *memory = &s->g->host->memory;
    size_t requests = s->g->request_count;

    if (!make_lists(s->g, &s->holders, resources, visit_held) ||
        !make_lists(s->g, &s->wanters, resources, visit_wanted)) {
        return false;
    }
    s->left = tms_resize(memory, NULL, 0, resources, sizeof(*s->left));
    s->dropped = tms_resize(memory, NULL, 0, requests, sizeof(*s->dropped));
    s->queue = tms_resize(memory, NULL, 0, requests, sizeof(*s->queue));
    s->chain = tms_resize(memory, NULL, 0, s->thread_count, sizeof(*s->chain));
    return s->left != NULL && s->dropped != NULL && s->queue != NULL && s->chain != NULL;
}

static void clean_up(struct search *s, size_t resources)
{
    struct tms_memory *memory = &s->g->host->memory;
    size_t requests = s->g->request_count;

    tms_release(memory, s->left, resources, sizeof(*s->left));
    tms_release(memory, s->dropped, requests, sizeof(*s->dropped));
    tms_release(memory, s->queue, requests, sizeof(*s->queue));
    tms_release(memory, s->chain, s->thread_count, sizeof(*s->chain));
    clear_lists(memory, &s->holders);
    clear_lists(memory, &s->wanters);
}

void tms_goodlock_search(struct tms_goodlock *g)
{
    struct search s = {.g = g, .thread_count = g->thread_capacity};
    size_t locks =
        g->names != NULL ? g->name_count : tms_name_count(g->host->context, TMS_CLASS_LOCK);
    size_t threads = tms_name_count(g->host->context, TMS_CLASS_THREAD);
    size_t resources = 2 * ((locks > threads ? locks : threads) + 1);

    if (g->request_count == 0) {
        return;
    }
    if (prepare(&s, resources)) {
        drop_unreachable(&s);
        find_cycles(&s);
    } else {
        tms_host_fail(g->host, TMS_ERR_MEMORY);
    }
    clean_up(&s, resources);
}
