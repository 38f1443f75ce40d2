/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coalesces accesses on their way into the spool. A loop that walks memory byte by byte, or element
 * by element, needs one event as long as nothing interferes: an access extends the last recorded
 * one of the same site if the two are adjacent and
 *
 * - the thread had no incoming edge in between, and did nothing to locks, threads or the heap;
 * - both are outside of blocks, or have the same innermost block;
 * - neither is marked as more than an access.
 *
 * Then both can be taken to have happened at once, at the time of the first: see
 * docs/internals/runtime-process.md.
 */
#include "runtime/spool/access_coalesce.h"
#include "runtime/core/thread.h"
#include "runtime/spool/spool_writer.h"

static struct tms_rt_run *run_of(struct tms_rt_thread *t, uint32_t site)
{
    return &t->runs[site % TMS_RT_RUNS];
}

/* The begin of the innermost block; 0: none. */
static uint64_t block_of(const struct tms_rt_thread *t)
{
    return t->open_count > 0 ? t->open[t->open_count - 1].number : 0;
}

/* Is the access adjacent to the recorded one, and can it be coalesced with it? */
static bool is_beside(const struct tms_rt_thread *t, const struct tms_rt_run *run,
                      const struct tms_spool_event *access)
{
    return run->event != NULL && run->coalesce_epoch == t->coalesce_epoch &&
           run->block == block_of(t) && run->event->what == 0 && access->what == 0 &&
           tms_event_is_beside(run->event, access);
}

void tms_rt_spool_access(struct tms_rt_thread *t, struct tms_spool_event *access)
{
    struct tms_rt_run *run = run_of(t, access->site);

    if (is_beside(t, run, access) && run->event->site == access->site) {
        tms_event_lengthen(run->event, access);
        return;
    }
    access->joins = t->last_run.event == t->last_event && is_beside(t, &t->last_run, access);
    tms_rt_spool_event(t, access);
    *run = (struct tms_rt_run){.event = tms_rt_mode.full ? NULL : t->last_event,
                               .block = block_of(t),
                               .coalesce_epoch = t->coalesce_epoch};
    t->last_run = *run;
}
