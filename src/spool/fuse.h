/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses of one line of the source, put together. What one instruction does to neighbouring bytes
 * is one event already (runtime/runs.c), but the compiler makes several instructions of one loop.
 * The process says which events may be joined to those before them; here it is known which of these
 * are of the same line, so that nothing is lost that a report would tell.
 */
#ifndef TMS_SPOOL_FUSE_H
#define TMS_SPOOL_FUSE_H

#include "spool/names.h"

#define TMS_FUSE_KNOWN 4096u

/*
 * Whether two sites are of one line, for those that were asked about lately. The answer is no until
 * they were asked about for some time: to find a line may mean to read the debug information of a
 * library, and only loops are worth that.
 */
struct tms_fuse {
    struct tms_spool_names *names;
    struct {
        uint32_t one, other;
        uint32_t times;
        bool same;
    } known[TMS_FUSE_KNOWN];
};

/* The event at `event`, with those up to `end` that are to be joined to it: the first behind them.
 * They get marked, and are part of it for tms_event_whole from then on. */
const struct tms_spool_event *tms_fuse_event(struct tms_fuse *fuse,
                                             const struct tms_spool_event *event,
                                             const struct tms_spool_event *end,
                                             struct tms_spool_event *whole);

#endif
