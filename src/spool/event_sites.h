/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool site of every event of a trace that is made from a spool, by the number of the event:
 * with it the call stack of an event is found when a report needs it. An array of 4 bytes for each
 * event, filled in the order of the trace. A lookup takes constant time.
 */
#ifndef TMS_SPOOL_EVENT_SITES_H
#define TMS_SPOOL_EVENT_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tms_event_sites {
    uint32_t *site; /* of event number i + 1; 0: unknown */
    size_t count, capacity;
};

/* Initialises an empty array. Call tms_event_sites_free in the end. */
void tms_event_sites_init(struct tms_event_sites *sites);
void tms_event_sites_free(struct tms_event_sites *sites);

/* Adds the site of the next event. False if out of memory: nothing has changed. */
bool tms_event_sites_note(struct tms_event_sites *sites, uint32_t site);

/* Forgets the events after the first `count`. */
void tms_event_sites_truncate(struct tms_event_sites *sites, size_t count);

/* The site of an event, counted from 1; 0 if it is unknown. */
uint32_t tms_event_sites_find(const struct tms_event_sites *sites, uint64_t event);

#endif
