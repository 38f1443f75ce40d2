/* SPDX-License-Identifier: Apache-2.0 */
/* Data races: a set of pairs of places, and a record in the spool for each. See races.h. */
#include "runtime/shadow/races.h"

#include <assert.h>
#include <string.h>

#include "base/hashtable.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/sites.h"
#include "runtime/core/thread.h"
#include "runtime/core/transaction_ring.h"
#include "runtime/core/violations.h"
#include "runtime/spool/spool_writer.h"

#define PAIRS      4096u /* pairs that are distinguished; a power of two */
#define PAIRS_MOST (PAIRS / 2)

struct pair {
    uint64_t hash;                 /* 0: free */
    struct tms_spool_race *record; /* NULL: there was no room for it */
};

static struct {
    struct pair pair[PAIRS];
    uint32_t count;
} seen;

void tms_rt_races_restart(void)
{
    memset(&seen, 0, sizeof(seen));
}

/* The two instructions, in any order, and what they do. */
static uint64_t hash_of(const struct tms_rt_race *race)
{
    uint64_t one = tms_hash(tms_rt_site_pc(race->first.site) << 8 | race->first.kind);
    uint64_t two = tms_hash(tms_rt_site_pc(race->second.site) << 8 | race->second.kind);

    return (one + two) | 1;
}

static struct pair *find_pair(uint64_t hash)
{
    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock) && seen.count <= PAIRS_MOST);
    return TMS_HASH_SLOT_OF(seen.pair, PAIRS, hash);
}

/* ---- records ------------------------------------------------------------------------------ */

/* The event kind in a trace, which has separate kinds for atomic accesses. */
static uint8_t kind_of(const struct tms_rt_race_access *access)
{
    const unsigned atomic = TMS_EVENT_ATOMIC_READ - TMS_EVENT_READ;

    return (uint8_t)(access->kind + (access->atomic ? atomic : 0));
}

static uint8_t edge_of(const struct tms_rt_race *race)
{
    if (race->first.kind == TMS_EVENT_READ) {
        return TMS_EDGE_READ_WRITE;
    }
    return race->second.kind == TMS_EVENT_READ ? TMS_EDGE_WRITE_READ : TMS_EDGE_WRITE_WRITE;
}

static struct tms_spool_transaction transaction_of(const struct tms_rt_race_access *access)
{
    const struct tms_frontier_thread *thread = tms_rt_engine.by_id[access->thread];
    struct tms_transaction found = {.begin_event = access->event,
                                    .thread = access->thread,
                                    .location = access->site,
                                    .unary = true};

    if (thread != NULL) { /* NULL: it ended too long ago */
        found = tms_rt_ring_find(thread, access->event, access->site);
    }
    return tms_rt_spooled(&found);
}

static struct tms_spool_step step_of(const struct tms_rt_race *race)
{
    return (struct tms_spool_step){
        .from = transaction_of(&race->first),
        .to = transaction_of(&race->second),
        .first = race->first.event,
        .second = race->second.event,
        .on = (race->address & ~UINT64_C(7)) + (unsigned)__builtin_ctz(race->bytes),
        .first_site = race->first.site,
        .second_site = race->second.site,
        .size = (uint8_t)__builtin_popcount(race->bytes),
        .on_class = TMS_CLASS_VARIABLE,
        .kind = edge_of(race),
        .first_kind = kind_of(&race->first),
        .second_kind = kind_of(&race->second),
    };
}

static struct tms_spool_race *spool(const struct tms_rt_race *race)
{
    struct tms_spool_race *record = tms_rt_spool_record(TMS_SPOOL_RACE, sizeof(*record));

    if (record != NULL) {
        record->step = step_of(race);
        tms_rt_spool_heap(&record->step, 1);
        __atomic_store_n(&record->count, 1, __ATOMIC_RELEASE);
    }
    return record;
}

void tms_rt_race(const struct tms_rt_race *race)
{
    struct tms_spool_header *header = tms_rt_spool_header();
    uint64_t hash = hash_of(race);
    struct pair *pair = find_pair(hash);

    assert(race->bytes != 0 && race->first.thread != race->second.thread);
    assert(race->first.event < race->second.event);
    if (header != NULL) {
        header->races++;
    }
    if (pair->hash == hash) {
        if (pair->record != NULL) {
            __atomic_fetch_add(&pair->record->count, 1, __ATOMIC_RELAXED);
        }
    } else if (seen.count < PAIRS_MOST) {
        seen.count++;
        *pair = (struct pair){hash, spool(race)};
    }
}
