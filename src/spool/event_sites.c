/* SPDX-License-Identifier: Apache-2.0 */
/* Sites by event number; see event_sites.h. */
#include "spool/event_sites.h"

#include <stdlib.h>

#include "base/memory.h"

void tms_event_sites_init(struct tms_event_sites *sites)
{
    *sites = (struct tms_event_sites){0};
}

void tms_event_sites_free(struct tms_event_sites *sites)
{
    free(sites->site);
    tms_event_sites_init(sites);
}

bool tms_event_sites_note(struct tms_event_sites *sites, uint32_t site)
{
    if (!TMS_RESERVE(NULL, &sites->site, &sites->capacity, sites->count + 1, 64)) {
        return false;
    }
    sites->site[sites->count++] = site;
    return true;
}

void tms_event_sites_truncate(struct tms_event_sites *sites, size_t count)
{
    sites->count = count < sites->count ? count : sites->count;
}

uint32_t tms_event_sites_find(const struct tms_event_sites *sites, uint64_t event)
{
    return event >= 1 && event <= sites->count ? sites->site[event - 1] : 0;
}
