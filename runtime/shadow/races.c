/* SPDX-License-Identifier: Apache-2.0 */
/* Data races: a set of pairs of places, and a record in the spool for each. See races.h. */
#include "runtime/shadow/races.h"

#include <string.h>

#include "runtime/core/thread.h"

#define PAIRS      4096u /* that are told apart; a power of two */
#define PAIRS_MOST (PAIRS / 2)

static struct {
    uint64_t pair[PAIRS]; /* 0: free */
    uint32_t count;
} seen;

void tms_rt_races_restart(void)
{
    memset(&seen, 0, sizeof(seen));
}

static uint64_t mix(uint64_t value)
{
    value *= UINT64_C(0x9e3779b97f4a7c15);
    return value ^ value >> 32;
}

/* The two instructions, in any order, and what they do. */
static uint64_t pair_of(const struct tms_rt_race *race)
{
    uint64_t one = mix(tms_rt_site_pc(race->first.site) << 8 | race->first.kind);
    uint64_t two = mix(tms_rt_site_pc(race->second.site) << 8 | race->second.kind);

    return (one + two) | 1;
}

/* Is the pair new? Beyond the limit none is. */
static bool remember(uint64_t pair)
{
    uint32_t at = (uint32_t)(pair >> 20) & (PAIRS - 1);

    while (seen.pair[at] != 0 && seen.pair[at] != pair) {
        at = (at + 1) & (PAIRS - 1);
    }
    if (seen.pair[at] == pair || seen.count == PAIRS_MOST) {
        return false;
    }
    seen.pair[at] = pair;
    seen.count++;
    return true;
}

static struct tms_spool_access to_record(const struct tms_rt_race_access *access)
{
    return (struct tms_spool_access){.event = access->event,
                                     .thread = access->thread,
                                     .site = access->site,
                                     .kind = access->kind,
                                     .atomic = access->atomic};
}

void tms_rt_race(const struct tms_rt_race *race)
{
    struct tms_spool_header *header = tms_rt_spool_header();

    if (header != NULL) {
        header->races++;
    }
    if (!remember(pair_of(race))) {
        return;
    }
    struct tms_spool_race *record = tms_rt_spool_record(TMS_SPOOL_RACE, sizeof(*record));
    if (record != NULL) {
        record->first = to_record(&race->first);
        record->second = to_record(&race->second);
        record->bytes = race->bytes;
        record->address = race->address & ~UINT64_C(7);
    }
}
