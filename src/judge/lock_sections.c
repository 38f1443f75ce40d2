/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of threads, and the accesses while they are held. These are recorded for the first hundred
 * acquires at each place, so that predictions can be judged by them.
 */
#include <assert.h>
#include <string.h>

#include "judge/judge_pools.h"

/* ---- places ---------------------------------------------------------------------------------- */

#define SITES_MOST 16384 /* limit: many objects may have a lock each */

/* Includes the lock, because a wrapper may acquire all locks of a program in one place. */
static uint64_t site_key(uint32_t location, uint64_t lock)
{
    return tms_mix(lock, location);
}

/* The number of the site, 0: there is none. */
static uint32_t find_site(const struct tms_judge *judge, uint32_t location, uint64_t lock)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&judge->site_index, site_key(location, lock), &walk);

    while (found != 0 &&
           (judge->sites.at[found].location != location || judge->sites.at[found].lock != lock)) {
        found = tms_hash_next(&walk);
    }
    return found;
}

/* Made if there is none. 0: there are too many, or out of memory. */
static uint32_t site_at(struct tms_judge *judge, uint32_t location, uint64_t lock)
{
    uint32_t site = find_site(judge, location, lock);

    if (site != 0 || judge->sites.count == SITES_MOST) {
        return site;
    }
    site = (uint32_t)judge->sites.count + 1;
    if (!TMS_RESERVE(judge->memory, &judge->sites.at, &judge->sites.capacity, (size_t)site + 1,
                     16) ||
        !tms_hashtable_add(&judge->site_index, judge->memory, site_key(location, lock), site)) {
        judge->failed = true;
        return 0;
    }
    judge->sites.at[++judge->sites.count] =
        (struct tms_judge_site){.location = location, .lock = lock};
    assert(site <= SITES_MOST && judge->sites.count == judge->site_index.count);
    return site;
}

struct tms_judge_site *tms_judge_site_of(struct tms_judge *judge, uint32_t location, uint64_t lock)
{
    uint32_t number = find_site(judge, location, lock);

    return number != 0 ? &judge->sites.at[number] : NULL;
}

/* ---- accesses in sections ------------------------------------------------------------- */

/* True if it was not among them. */
static bool add_member(struct tms_judge_site *site, uint64_t variable, unsigned kinds)
{
    uint32_t i = 0;

    while (i < site->member_count && site->member[i].variable != variable) {
        i++;
    }
    if (i == TMS_JUDGE_MEMBERS) {
        return false;
    }
    bool added = i == site->member_count;
    if (added) {
        site->member[site->member_count++] = (struct tms_judge_member){.variable = variable};
    }
    assert(site->member_count <= TMS_JUDGE_MEMBERS && kinds < 1u << (TMS_JUDGE_U + 1));
    site->member[i].kinds |= (uint8_t)kinds;
    return added;
}

void tms_judge_add_member(struct tms_judge *judge, uint32_t location, uint64_t lock,
                          uint64_t variable, unsigned kinds)
{
    uint32_t site = site_at(judge, location, lock);

    if (site != 0) {
        add_member(&judge->sites.at[site], variable, kinds);
    }
}

/* The members of a variable that were just added, which are the last ones of their sites. */
static void set_learnt_at(struct tms_judge *judge, const struct tms_judge_thread *thread,
                          uint64_t variable, uint32_t learnt_at)
{
    for (size_t i = 0; i < thread->held_count; i++) {
        struct tms_judge_site *site = &judge->sites.at[thread->held[i].site];
        if (thread->held[i].site == 0) {
            continue;
        }
        assert(site->member_count > 0);
        struct tms_judge_member *last = &site->member[site->member_count - 1];
        if (last->variable == variable && last->learnt_at == 0) {
            last->learnt_at = learnt_at;
        }
    }
}

void tms_judge_learn(struct tms_judge *judge, const struct tms_judge_thread *thread,
                     uint64_t variable, unsigned kinds)
{
    bool added = false;

    tms_judge_guard(judge, true);
    for (size_t i = 0; i < thread->held_count; i++) {
        if (thread->held[i].site != 0) {
            added |= add_member(&judge->sites.at[thread->held[i].site], variable, kinds);
        }
    }
    if (added && judge->port.learnt != NULL) {
        set_learnt_at(judge, thread, variable, judge->port.learnt(judge->port.user, variable));
    }
    tms_judge_guard(judge, false);
}

/* ---- locks ---------------------------------------------------------------------------- */

static void count_learning(struct tms_judge_thread *t)
{
    t->learning = 0;
    for (size_t i = 0; i < t->held_count; i++) {
        t->learning += t->held[i].site != 0;
    }
}

/* Fewer for later sites: if many objects have a lock each, a few executions per lock suffice. */
static uint32_t executions_to_learn(uint32_t site)
{
    return site <= TMS_JUDGE_LEARN_SITES ? TMS_JUDGE_LEARN : TMS_JUDGE_LEARN_LATER;
}

/* The section that begins, if its accesses are still to be noted; else 0. */
static uint32_t begin_learning(struct tms_judge *judge, struct tms_judge_use *use, uint64_t lock,
                               uint32_t location)
{
    if (use == NULL || (use->learnt && use->learnt_location == location)) {
        return 0;
    }
    tms_judge_guard(judge, true);
    uint32_t site = site_at(judge, location, lock);
    bool learnt = site == 0 || ++judge->sites.at[site].executions > executions_to_learn(site);
    tms_judge_guard(judge, false);
    use->learnt = learnt;
    use->learnt_location = location;
    return learnt ? 0 : site;
}

static bool begin_hold(struct tms_judge *judge, struct tms_judge_thread *t, uint64_t lock,
                       uint64_t event)
{
    size_t wanted = t->hold_count + 1;

    if (wanted > TMS_JUDGE_HOLDS) {
        wanted = TMS_JUDGE_HOLDS;
    }
    if (!TMS_RESERVE(judge->memory, &t->holds, &t->hold_capacity, wanted, 8)) {
        return false;
    }
    assert(wanted <= t->hold_capacity);
    t->holds[t->hold_count++ % TMS_JUDGE_HOLDS] =
        (struct tms_judge_hold){.lock = lock, .begin = event};
    return true;
}

/* NULL: no longer remembered. */
static struct tms_judge_hold *find_hold(const struct tms_judge_thread *t, uint64_t number)
{
    assert(number < t->hold_count);
    return number + TMS_JUDGE_HOLDS >= t->hold_count ? &t->holds[number % TMS_JUDGE_HOLDS] : NULL;
}

/* `end` has how it ends. */
static void end_hold(const struct tms_judge_thread *t, uint64_t number,
                     const struct tms_judge_hold *end)
{
    struct tms_judge_hold *hold = find_hold(t, number);

    if (hold != NULL) {
        assert(hold->end == 0 && hold->begin <= end->end);
        hold->end = end->end;
        hold->released_at = end->released_at;
        hold->shared = end->shared;
        hold->wrote = t->wrote > hold->begin;
    }
}

/* The last remembered hold that contains the event. */
static const struct tms_judge_hold *hold_at(const struct tms_judge_thread *t, uint64_t event)
{
    const struct tms_judge_hold *hold;

    for (uint64_t i = t->hold_count; i > 0 && (hold = find_hold(t, i - 1)) != NULL; i--) {
        if (hold->begin < event && (hold->end == 0 || hold->end > event)) {
            return hold;
        }
    }
    return NULL;
}

bool tms_judge_is_completed(const struct tms_judge_thread *thread, uint64_t read, uint64_t later)
{
    const struct tms_judge_hold *hold = hold_at(thread, read);

    return hold != NULL && hold->wrote && hold->end != 0 && hold->end < later;
}

bool tms_judge_is_locked(const struct tms_judge_thread *thread, uint64_t event)
{
    return (thread->held_count > 0 && thread->held[0].since < event) ||
           hold_at(thread, event) != NULL;
}

/* ---- waiting places ------------------------------------------------------------------- */

bool tms_judge_is_waiting_place(const struct tms_judge *judge, uint32_t location)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&judge->waiting, tms_hash(location), &walk);

    while (found != 0 && found != location) {
        found = tms_hash_next(&walk);
    }
    return found != 0;
}

void tms_judge_add_place(struct tms_judge *judge, uint32_t location)
{
    assert(location != 0); /* no row */
    if (!tms_judge_is_waiting_place(judge, location) &&
        !tms_hashtable_add(&judge->waiting, judge->memory, tms_hash(location), location)) {
        judge->failed = true;
    }
}

void tms_judge_wait(struct tms_judge_thread *t)
{
    t->awaited_count = t->recent_count < TMS_JUDGE_RECENT ? t->recent_count : TMS_JUDGE_RECENT;
    assert(t->awaited_count <= TMS_JUDGE_RECENT);
    memcpy(t->awaited, t->recent, t->awaited_count * sizeof(*t->awaited));
}

static bool is_awaited(const struct tms_judge_thread *t, uint64_t key)
{
    for (size_t i = 0; i < t->awaited_count; i++) {
        if (t->awaited[i].key == key) {
            return true;
        }
    }
    return false;
}

/* What was read before the wait is read again: both places test what is waited for. */
static void learn_places(struct tms_judge *judge, const struct tms_judge_thread *t, uint64_t key,
                         uint32_t place)
{
    for (size_t i = 0; i < t->awaited_count; i++) {
        if (t->awaited[i].key == key) {
            tms_judge_add_place(judge, tms_judge_place_of(judge, t->awaited[i].location));
            tms_judge_add_place(judge, place);
        }
    }
}

bool tms_judge_waits_at(struct tms_judge *judge, struct tms_judge_thread *thread, uint64_t key,
                        uint32_t location, bool written)
{
    bool asked = written && judge->waiting.count > 0, known = false;

    if (asked || is_awaited(thread, key)) {
        tms_judge_guard(judge, true);
        uint32_t place = tms_judge_place_of(judge, location);
        known = asked && tms_judge_is_waiting_place(judge, place);
        learn_places(judge, thread, key, place);
        tms_judge_guard(judge, false);
    }
    thread->recent[thread->recent_count++ % TMS_JUDGE_RECENT] =
        (struct tms_judge_place){key, location};
    return known;
}

void tms_judge_acquire(struct tms_judge *judge, struct tms_judge_thread *t, uint64_t lock,
                       uint64_t event, uint32_t location)
{
    struct tms_judge_use *use = tms_judge_count_use(judge, t, lock, true, event);
    uint32_t site = judge->learns ? begin_learning(judge, use, lock, location) : 0;

    if (judge->failed ||
        !TMS_RESERVE(judge->memory, &t->held, &t->held_capacity, t->held_count + 1, 8) ||
        !begin_hold(judge, t, lock, event)) {
        judge->failed = true;
        return;
    }
    if (t->held_count == 0) {
        t->recent_count = 0;
    }
    t->held[t->held_count++] = (struct tms_judge_held){lock, site, event, t->hold_count - 1};
    t->acquires++;
    t->learning += site != 0;
    tms_judge_other(t, event);
    tms_judge_end_stretch(t, event);
    t->synchronised++;
    tms_judge_check_thread(judge, t);
}

static void drop_held(struct tms_judge_thread *t, uint64_t lock, const struct tms_judge_hold *end)
{
    for (size_t at = t->held_count; at > 0; at--) {
        if (t->held[at - 1].lock == lock) {
            end_hold(t, t->held[at - 1].hold, end);
            if (at < t->held_count--) {
                memmove(&t->held[at - 1], &t->held[at],
                        (t->held_count - (at - 1)) * sizeof(*t->held));
            }
            break;
        }
    }
    if (t->held_count == 0) {
        t->awaited_count = 0;
    }
}

void tms_judge_release(struct tms_judge *judge, struct tms_judge_thread *t, uint64_t lock,
                       uint64_t event, uint32_t location, bool shared)
{
    drop_held(t, lock,
              &(struct tms_judge_hold){.end = event, .released_at = location, .shared = shared});
    count_learning(t);
    tms_judge_other(t, event);
    tms_judge_end_updates(t, event);
    tms_judge_check_thread(judge, t);
}

void tms_judge_other(struct tms_judge_thread *t, uint64_t event)
{
    t->previous = event;
    t->previous_key = 0;
}

void tms_judge_synchronise(struct tms_judge_thread *t, uint64_t event)
{
    tms_judge_other(t, event);
    tms_judge_end_updates(t, event);
    t->synchronised++;
}

/* The lock that was held at the first step, if it was released before the second. */
static void give_up(const struct tms_judge_thread *t, struct tms_judge_case *found)
{
    const struct tms_judge_hold *hold = hold_at(t, found->own[0].event);

    if (hold != NULL && hold->end != 0 && hold->end < found->own[1].event) {
        found->lock = hold->lock;
        found->released = hold->end;
        found->released_location = hold->released_at;
        found->released_shared = hold->shared;
    }
}

void tms_judge_look_at_locks(struct tms_judge *judge, struct tms_judge_case *found)
{
    struct tms_judge_thread *t = tms_judge_thread_at(&judge->threads, found->thread);

    assert(t != NULL && found->own[0].event < found->own[1].event);
    found->locked = tms_judge_is_locked(t, found->own[1].event);
    found->completed = tms_judge_is_completed(t, found->own[0].event, found->own[1].event);
    give_up(t, found);
}
