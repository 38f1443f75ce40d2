/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enumerates all schedules of a short trace: every prediction of an engine must be among them.
 *
 * A schedule is a reordering of the events, or of some of them, that keeps what no scheduler can
 * change: the order of each thread; a lock has one holder, or several shared ones; no event of a
 * thread comes before its fork, and no join before the thread's last event; no departure from a
 * barrier before the arrivals that it was seen after; after a wait, the lock is taken back only
 * when the sections are over that were seen in between, since the signal may be due to any of them;
 * and an atomic load (`ar`) reads from the store or update that it was seen to read from, an atomic
 * update (`au`) from the same store or an update of its value: with another one the thread may take
 * another path. Stores are not restricted.
 *
 * A state is the set of events that have happened, as bits, with the last event that wrote each
 * atomic variable. Whether an event may come next depends on these alone, so all schedules are all
 * paths through such states.
 */
#ifndef TMS_PREDICT_SCHEDULES_H
#define TMS_PREDICT_SCHEDULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmesis/tmesis.h"

#define TMS_SCHEDULE_MOST 24 /* events */

struct tms_schedules;

/* NULL when memory is short. The events are well-formed, no lock is taken twice at a time. */
struct tms_schedules *tms_schedules_new(const struct tms_event *events, size_t count);
void tms_schedules_free(struct tms_schedules *schedules);

/*
 * Events by their numbers: `culprit` between `first` and `second`, which are of one thread. With a
 * `through`, which is the culprit's as well, that comes after `first` and before `culprit`.
 */
struct tms_cut {
    uint64_t first, culprit, second;
    uint64_t through; /* 0: none */
};

struct tms_search {
    bool cut;   /* there is a schedule with all in that order: `schedule` */
    bool stuck; /* there is a schedule that is stuck between the first and the second */
    struct tms_event schedule[TMS_SCHEDULE_MOST]; /* up to the second */
    size_t length;
};

/*
 * From the culprit on, its thread may load other values than it was seen to; so may the culprit and
 * `second` themselves, unless `same_values` is set, which holds for all searches to come.
 */
void tms_schedules_search(struct tms_schedules *schedules, const struct tms_cut *cut,
                          struct tms_search *out);
void tms_schedules_same_values(struct tms_schedules *schedules, bool same_values);

/*
 * Is a schedule serializable? Blocks, split at waits and departures, and events outside of them are
 * its transactions, and their conflicts must have no cycle.
 */
bool tms_schedule_serializable(const struct tms_event *events, size_t count);

#endif
