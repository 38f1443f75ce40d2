/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All schedules of a short trace, one by one: what an engine predicts must be among them.
 *
 * A schedule is a reordering of the events, or of some of them, that keeps what no scheduler can
 * change: the order of each thread; a lock has one holder, or several shared ones; nothing of a
 * thread comes before its fork, and no join before all that its thread did; no departure from a
 * barrier before the arrivals that it was seen behind; and after a wait, the lock is taken back
 * only when the sections are over that were seen in between, since the signal may be due to any of
 * them.
 *
 * A state is the set of events that have happened, as bits. Whether an event may come next depends
 * on that set alone, so all schedules are all ways through at most 2^TMS_SCHEDULE_MOST states.
 */
#ifndef TMS_PREDICT_SCHEDULES_H
#define TMS_PREDICT_SCHEDULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmesis/tmesis.h"

#define TMS_SCHEDULE_MOST 16 /* events */

struct tms_schedules;

/* NULL when memory is short. The events are well-formed, no lock is taken twice at a time. */
struct tms_schedules *tms_schedules_new(const struct tms_event *events, size_t count);
void tms_schedules_free(struct tms_schedules *schedules);

/* Events by their numbers: `culprit` between `first` and `second`, which are of one thread. */
struct tms_cut {
    uint64_t first, culprit, second;
};

struct tms_search {
    bool cut;   /* there is a schedule with the three in that order: `schedule` */
    bool stuck; /* there is one that ends, for ever, between the first and the second */
    struct tms_event schedule[TMS_SCHEDULE_MOST]; /* up to the second */
    size_t length;
};

void tms_schedules_search(struct tms_schedules *schedules, const struct tms_cut *cut,
                          struct tms_search *out);

/*
 * Is a schedule serializable? Blocks, split at waits and departures, and events outside of them are
 * its transactions, and their conflicts must have no cycle.
 */
bool tms_schedule_serializable(const struct tms_event *events, size_t count);

#endif
