/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coalesces accesses of one source line. The runtime already joins the accesses of one instruction
 * to neighbouring bytes (runtime/spool/access_coalesce.c), but a loop may be compiled to several
 * instructions. The process marks the events that may be joined to their predecessors; this module
 * joins those of the same line, so that reports lose nothing.
 */
#ifndef TMS_SPOOL_COALESCE_LINES_H
#define TMS_SPOOL_COALESCE_LINES_H

#include "spool/spool_names.h"

#define TMS_COALESCE_KNOWN 4096u

/*
 * Caches whether two sites are of one line, for recent queries. The answer is no until a pair was
 * queried several times: finding a line may require reading the debug information of a library,
 * which pays only for loops.
 */
struct tms_coalesce {
    struct tms_spool_names *names;
    struct {
        uint32_t one, other;
        uint32_t times;
        bool same;
    } known[TMS_COALESCE_KNOWN];
};

/* Decides whether `event`, which may be joined to its predecessor, is joined; marks it if so. */
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
