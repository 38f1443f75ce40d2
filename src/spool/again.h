/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads did again (TMS_SPOOL_AGAIN): written down by whoever met it, and often long after it
 * happened. It is gathered here in the first pass over the events and put into order, so that it
 * can be merged with the rest like the events of one more thread, of the same name.
 *
 * There is little of it: one for each word that is met. Cost: that of sorting.
 */
#ifndef TMS_SPOOL_AGAIN_H
#define TMS_SPOOL_AGAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol/spool.h"

struct tms_again {
    struct tms_spool_event *events; /* as if written in their place */
    size_t count, capacity;
};

/* What the thread did, as if written where it happened; but for `extra`, which stays. */
struct tms_spool_event tms_again_in_place(const struct tms_spool_event *event);

/* Such an event. False: memory is short. */
bool tms_again_add(struct tms_again *again, const struct tms_spool_event *event);

/* By thread, and of each by number. */
void tms_again_sort(struct tms_again *again);

static inline uint32_t tms_again_thread(const struct tms_spool_event *event)
{
    return (uint32_t)(event->extra >> TMS_SPOOL_MOMENT);
}

void tms_again_free(struct tms_again *again);

#endif
