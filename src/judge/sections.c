/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of threads, and what is accessed while they are held: noted for each place where a lock is
 * acquired, the first hundred times, so that predictions can be judged by it.
 */
#include <string.h>

#include "judge/pools.h"

/* ---- places ---------------------------------------------------------------------------------- */

#define SITES_MOST 16384 /* so many are learnt: many objects may have a lock each */

/* The lock, too: a wrapper takes all locks of a program in one place. */
static uint64_t site_key(uint32_t location, uint32_t lock)
{
    return (uint64_t)lock << 32 | location;
}

static uint64_t site_hash(const struct tms_judge *judge, uint32_t number)
{
    const struct tms_judge_site *site = &judge->sites.at[number];

    return tms_mix(0, site_key(site->location, site->lock));
}

/* Where the site is in the index, or would be. */
static size_t find_site(const struct tms_judge *judge, uint32_t location, uint32_t lock)
{
    const struct tms_judge_index *index = &judge->site_index;
    uint64_t key = site_key(location, lock);
    size_t at = tms_judge_index_start(index, tms_mix(0, key));

    while (index->slot[at] != 0) {
        const struct tms_judge_site *site = &judge->sites.at[index->slot[at]];
        if (site_key(site->location, site->lock) == key) {
            break;
        }
        at = (at + 1) & (index->size - 1);
    }
    return at;
}

/* 0: there are too many, or memory is short. */
static uint32_t site_at(struct tms_judge *judge, uint32_t location, uint32_t lock)
{
    struct tms_judge_index *index = &judge->site_index;

    if (!tms_judge_index_room(judge, index, site_hash)) {
        return 0;
    }
    size_t at = find_site(judge, location, lock);
    if (index->slot[at] == 0 && judge->sites.count == SITES_MOST) {
        return 0;
    }
    if (index->slot[at] == 0) {
        if (!TMS_RESERVE(judge->memory, &judge->sites.at, &judge->sites.capacity,
                         judge->sites.count + 2, 16)) {
            judge->failed = true;
            return 0;
        }
        index->slot[at] = (uint32_t)++judge->sites.count;
        index->count++;
        struct tms_judge_site *site = &judge->sites.at[index->slot[at]];
        memset(site, 0, sizeof(*site));
        site->location = location;
        site->lock = lock;
    }
    return index->slot[at];
}

struct tms_judge_site *tms_judge_site_of(struct tms_judge *judge, uint32_t location, uint32_t lock)
{
    if (judge->site_index.size == 0) {
        return NULL;
    }
    uint32_t number = judge->site_index.slot[find_site(judge, location, lock)];
    return number != 0 ? &judge->sites.at[number] : NULL;
}

/* ---- accesses in sections ----------------------------------------------------------------------
 */

static void add_member(struct tms_judge_site *site, uint32_t variable, unsigned kinds)
{
    uint32_t i = 0;

    while (i < site->member_count && site->member[i].variable != variable) {
        i++;
    }
    if (i == TMS_JUDGE_MEMBERS) {
        return;
    }
    if (i == site->member_count) {
        site->member[site->member_count++] = (struct tms_judge_member){.variable = variable};
    }
    site->member[i].kinds |= (uint8_t)kinds;
}

static bool is_learning(const struct tms_judge *judge, const struct tms_judge_held *held)
{
    return held->site != 0 && judge->sites.at[held->site].executions <= TMS_JUDGE_LEARN;
}

void tms_judge_learn(struct tms_judge *judge, const struct tms_judge_thread *thread,
                     uint32_t variable, unsigned kinds)
{
    for (size_t i = 0; i < thread->held_count; i++) {
        if (is_learning(judge, &thread->held[i])) {
            add_member(&judge->sites.at[thread->held[i].site], variable, kinds);
        }
    }
}

/* ---- locks -------------------------------------------------------------------------------------
 */

static void count_learning(const struct tms_judge *judge, struct tms_judge_thread *t)
{
    t->learning = 0;
    for (size_t i = 0; i < t->held_count; i++) {
        t->learning += is_learning(judge, &t->held[i]);
    }
}

static bool begin_hold(struct tms_judge *judge, struct tms_judge_thread *t, uint64_t event)
{
    size_t wanted = t->hold_count + 1;

    if (wanted > TMS_JUDGE_HOLDS) {
        wanted = TMS_JUDGE_HOLDS;
    }
    if (!TMS_RESERVE(judge->memory, &t->holds, &t->hold_capacity, wanted, 8)) {
        return false;
    }
    t->holds[t->hold_count++ % TMS_JUDGE_HOLDS] = (struct tms_judge_hold){.begin = event};
    return true;
}

/* NULL: it is too long ago. */
static struct tms_judge_hold *find_hold(const struct tms_judge_thread *t, uint64_t number)
{
    return number + TMS_JUDGE_HOLDS >= t->hold_count ? &t->holds[number % TMS_JUDGE_HOLDS] : NULL;
}

static void end_hold(const struct tms_judge_thread *t, uint64_t number, uint64_t event)
{
    struct tms_judge_hold *hold = find_hold(t, number);

    if (hold != NULL) {
        hold->end = event;
    }
}

void tms_judge_wrote(struct tms_judge_thread *thread)
{
    for (size_t i = 0; i < thread->held_count; i++) {
        struct tms_judge_hold *hold = find_hold(thread, thread->held[i].hold);
        if (hold != NULL) {
            hold->wrote = true;
        }
    }
}

bool tms_judge_is_completed(const struct tms_judge_thread *thread, uint64_t read, uint64_t later)
{
    const struct tms_judge_hold *hold;

    for (uint64_t i = thread->hold_count; i > 0 && (hold = find_hold(thread, i - 1)) != NULL; i--) {
        if (hold->begin < read && (hold->end == 0 || hold->end > read)) {
            return hold->wrote && hold->end != 0 && hold->end < later;
        }
    }
    return false;
}

/* ---- waiting places ---------------------------------------------------------------------------
 */

static uint64_t place_hash(const struct tms_judge *judge, uint32_t location)
{
    (void)judge;
    return tms_mix(0, location);
}

/* Where the location is in the index, or would be. */
static size_t find_place(const struct tms_judge_index *index, uint32_t location)
{
    size_t at = tms_judge_index_start(index, tms_mix(0, location));

    while (index->slot[at] != 0 && index->slot[at] != location) {
        at = (at + 1) & (index->size - 1);
    }
    return at;
}

static void add_place(struct tms_judge *judge, uint32_t location)
{
    if (tms_judge_index_room(judge, &judge->waiting, place_hash)) {
        size_t at = find_place(&judge->waiting, location);
        judge->waiting.count += judge->waiting.slot[at] == 0;
        judge->waiting.slot[at] = location;
    }
}

void tms_judge_wait(struct tms_judge *judge, uint32_t thread)
{
    struct tms_judge_thread *t = tms_judge_thread(judge, thread);

    if (t != NULL) {
        t->awaited_count = t->recent_count < TMS_JUDGE_RECENT ? t->recent_count : TMS_JUDGE_RECENT;
        memcpy(t->awaited, t->recent, t->awaited_count * sizeof(*t->awaited));
    }
}

bool tms_judge_is_waiting_place(const struct tms_judge *judge, uint32_t location)
{
    const struct tms_judge_index *waiting = &judge->waiting;

    return waiting->count > 0 && waiting->slot[find_place(waiting, location)] == location;
}

bool tms_judge_waits_at(struct tms_judge *judge, struct tms_judge_thread *thread, uint32_t location)
{
    bool known = tms_judge_is_waiting_place(judge, location);

    for (size_t i = 0; i < thread->awaited_count; i++) {
        if (thread->awaited[i] == location) {
            add_place(judge, location);
        }
    }
    thread->recent[thread->recent_count++ % TMS_JUDGE_RECENT] = location;
    return known;
}

void tms_judge_acquire(struct tms_judge *judge, uint32_t thread, uint32_t lock, uint64_t event,
                       uint32_t location)
{
    struct tms_judge_thread *t = tms_judge_thread(judge, thread);
    uint32_t site = site_at(judge, location, lock);

    if (t == NULL || judge->failed ||
        !TMS_RESERVE(judge->memory, &t->held, &t->held_capacity, t->held_count + 1, 8)) {
        judge->failed = true;
        return;
    }
    if (!begin_hold(judge, t, event)) {
        judge->failed = true;
        return;
    }
    if (t->held_count == 0) {
        t->recent_count = 0;
    }
    if (site != 0) {
        judge->sites.at[site].executions += judge->sites.at[site].executions <= TMS_JUDGE_LEARN;
    }
    t->held[t->held_count++] = (struct tms_judge_held){lock, site, event, t->hold_count - 1};
    t->acquires++;
    count_learning(judge, t);
    tms_judge_used(judge, thread, lock, true, event);
    tms_judge_synchronise(judge, thread, event);
}

void tms_judge_release(struct tms_judge *judge, uint32_t thread, uint32_t lock, uint64_t event,
                       uint32_t location, bool shared)
{
    struct tms_judge_thread *t = tms_judge_thread(judge, thread);
    struct tms_judge_use *use = t != NULL ? tms_judge_use(judge, thread, lock, true) : NULL;

    if (use == NULL) {
        return;
    }
    use->released = event;
    use->released_location = location;
    use->released_shared = shared;
    for (size_t at = t->held_count; at > 0; at--) {
        if (t->held[at - 1].lock == lock) {
            end_hold(t, t->held[at - 1].hold, event);
            t->held_count--;
            memmove(&t->held[at - 1], &t->held[at], (t->held_count - (at - 1)) * sizeof(*t->held));
            break;
        }
    }
    if (t->held_count == 0) {
        t->awaited_count = 0;
    }
    count_learning(judge, t);
    tms_judge_other(judge, thread, event);
}

void tms_judge_other(struct tms_judge *judge, uint32_t thread, uint64_t event)
{
    struct tms_judge_thread *t = tms_judge_thread(judge, thread);

    if (t != NULL) {
        t->previous = event;
        t->previous_variable = 0;
    }
}

void tms_judge_synchronise(struct tms_judge *judge, uint32_t thread, uint64_t event)
{
    tms_judge_other(judge, thread, event);
    if (!judge->failed) {
        judge->threads[thread].synchronised++;
    }
}

/* The last lock that own[0] held, if it was released since. */
void tms_judge_given_up(struct tms_judge *judge, struct tms_judge_case *found)
{
    const struct tms_judge_thread *t = &judge->threads[found->thread];
    uint32_t lock = found->own[0].lock;

    for (size_t i = 0; i < t->held_count; i++) {
        if (t->held[i].lock == lock && t->held[i].since < found->own[0].event) {
            return;
        }
    }
    const struct tms_judge_use *use =
        lock != 0 ? tms_judge_use(judge, found->thread, lock, true) : NULL;
    if (use != NULL && use->released < found->own[1].event) { /* a U happened at its read */
        found->lock = lock;
        found->released = use->released;
        found->released_location = use->released_location;
        found->released_shared = use->released_shared;
    }
}
