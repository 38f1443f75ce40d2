/* SPDX-License-Identifier: Apache-2.0 */
/* Events that are not where they belong; see again.h. */
#include "spool/again.h"

#include <stdlib.h>

#include "spool/grow.h"

struct tms_spool_event tms_again_in_place(const struct tms_spool_event *event)
{
    struct tms_spool_event again = *event;

    again.kind = event->what;
    again.what = again.joins = 0;
    again.number = event->extra & ((UINT64_C(1) << TMS_SPOOL_MOMENT) - 1);
    return again;
}

bool tms_again_add(struct tms_again *again, const struct tms_spool_event *event)
{
    if (!TMS_GROW(&again->events, &again->capacity, again->count)) {
        return false;
    }
    again->events[again->count++] = *event;
    return true;
}

/* The moment has the thread above the number. */
static int by_moment(const void *a, const void *b)
{
    const struct tms_spool_event *x = a, *y = b;

    return (x->extra > y->extra) - (x->extra < y->extra);
}

void tms_again_sort(struct tms_again *again)
{
    if (again->count > 0) {
        qsort(again->events, again->count, sizeof(*again->events), by_moment);
    }
}

void tms_again_free(struct tms_again *again)
{
    free(again->events);
}
