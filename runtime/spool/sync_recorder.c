/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records synchronisation along with a check, for engines that need nothing else. To them a block
 * matters only if it contains two acquires, and most have one: a locked getter, a locked setter. So
 * the begin of a block, its first acquire and the release are deferred until the second acquire; if
 * the block ends before that, they are recorded without the block.
 *
 * Events that are still deferred when the process is killed are lost: an acquire, or an acquire
 * with its release. The trace stays well-formed without them.
 */
#include "runtime/spool/sync_recorder.h"
#include "runtime/core/open_blocks.h"
#include "runtime/core/thread.h"
#include "runtime/spool/spool_writer.h"

static bool takes(const struct tms_spool_event *event)
{
    return event->kind == TMS_EVENT_ACQUIRE || event->kind == TMS_EVENT_SHARED_ACQUIRE;
}

static bool gives(const struct tms_spool_event *event)
{
    return event->kind == TMS_EVENT_RELEASE || event->kind == TMS_EVENT_SHARED_RELEASE;
}

/* Is the event the first of its kind in the block, so that it can be deferred? */
static bool can_wait(const struct tms_rt_thread *t, const struct tms_spool_event *event)
{
    if (t->deferred_begins == 0) {
        return false;
    }
    return t->waiting_count == 0
               ? takes(event)
               : t->waiting_count == 1 && gives(event) && event->target == t->waiting[0].target;
}

void tms_rt_record_sync_flush(struct tms_rt_thread *t)
{
    uint32_t count = t->waiting_count;

    t->waiting_count = 0;
    if (count > 0) {
        tms_rt_record_begins(t, t->waiting[0].number);
    }
    for (uint32_t i = 0; i < count; i++) {
        tms_rt_spool_write(t, &t->waiting[i]);
    }
}

void tms_rt_record_sync(struct tms_rt_thread *t, const struct tms_spool_event *event)
{
    if (can_wait(t, event)) {
        t->waiting[t->waiting_count++] = *event;
        return;
    }
    tms_rt_record_sync_flush(t);
    if (takes(event) && t->deferred_begins > 0) {
        t->waiting[t->waiting_count++] = *event; /* the first in blocks that began since */
        return;
    }
    if (event->kind != TMS_EVENT_END) {
        tms_rt_record_begins(t, UINT64_MAX);
    }
    tms_rt_spool_write(t, event);
}
