/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses of one line of the source, put together. What one instruction does to neighbouring bytes
 * is one event already (runtime/spool/access_coalesce.c), but the compiler makes several
 * instructions of one loop. The process says which events may be joined to those before them; here
 * it is known which of these are of the same line, so that nothing is lost that a report would
 * tell.
 */
#ifndef TMS_SPOOL_COALESCE_LINES_H
#define TMS_SPOOL_COALESCE_LINES_H

#include "spool/spool_names.h"

#define TMS_COALESCE_KNOWN 4096u

/*
 * Whether two sites are of one line, for those that were asked about lately. The answer is no until
 * they were asked about for some time: to find a line may mean to read the debug information of a
 * library, and only loops are worth that.
 */
struct tms_coalesce {
    struct tms_spool_names *names;
    struct {
        uint32_t one, other;
        uint32_t times;
        bool same;
    } known[TMS_COALESCE_KNOWN];
};

/* Is `event`, which may be joined to the one before it, to be? Then it is marked. */
bool tms_coalesce_joins(struct tms_coalesce *coalesce, const struct tms_spool_event *before,
                        const struct tms_spool_event *event);

/*
 * The event at *at, joined in `whole` with those up to `end` that belong to it; *at is advanced
 * past them. tms_merge_next returns the same from then on.
 */
static inline const struct tms_spool_event *tms_coalesce_next(struct tms_coalesce *coalesce,
                                                              const struct tms_spool_event **at,
                                                              const struct tms_spool_event *end,
                                                              struct tms_spool_event *whole)
{
    const struct tms_spool_event *event = (*at)++;

    while (*at < end && (*at)->joins != 0 && tms_coalesce_joins(coalesce, event, *at)) {
        *whole = *event;
        tms_event_lengthen(whole, (*at)++);
        event = whole;
    }
    return event;
}

#endif
