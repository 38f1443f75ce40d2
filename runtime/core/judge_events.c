/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that a recording with accesses has for `judge` only (docs/user/judge.md): the calls of
 * functions that are not blocks by default, the points where a thread waited for another one, and
 * those where the tool itself delayed it. The engine in the process does not see them, and checks
 * and recordings without accesses do not record them.
 *
 * These events have the number of the thread's last event. They conflict with nothing, so only
 * their position among the thread's own events matters.
 *
 * Calls are kept apart from open blocks: a stack per thread, in the order of their begins. The
 * innermost `deferred_calls` of them are not in the spool yet; like begins (open_blocks.c), they
 * are written with the first event inside them.
 */
#include <assert.h>
#include <string.h>

#include "runtime/core/engine_online.h"
#include "runtime/core/functions.h"
#include "runtime/core/judge_events.h"
#include "runtime/core/judge_online.h"
#include "runtime/core/kernel_channels.h"
#include "runtime/core/open_blocks.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/sites.h"
#include "runtime/core/thread_registry.h"
#include "runtime/spool/spool_writer.h"

static struct tms_memory memory = TMS_RT_MEMORY;

static void spool(struct tms_rt_thread *t, uint8_t kind, uint32_t label, uint32_t site)
{
    struct tms_spool_event event = {
        .number = t->number, .target = label, .site = site, .kind = kind};

    tms_rt_spool_event(t, &event);
}

/* ---- calls ------------------------------------------------------------------------------ */

static bool make_room(struct tms_rt_thread *t)
{
    size_t capacity = t->call_capacity;

    if (!TMS_RESERVE(&memory, &t->calls, &capacity, t->call_count + 1u, 16)) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
        return false;
    }
    t->call_capacity = (uint32_t)capacity;
    return true;
}

/* Accesses are not coalesced across a call. A new thread's number may still be that of its fork. */
bool tms_rt_open_call(struct tms_rt_thread *t, const struct tms_rt_function *function)
{
    if (t->call_count == t->call_capacity && !make_room(t)) {
        return false;
    }
    if (t->engine == NULL) {
        tms_rt_advance_clock(t);
    }
    assert(t->call_count == 0 || t->calls[t->call_count - 1].number <= t->number);
    t->calls[t->call_count++] = (struct tms_rt_open){.label = function->name,
                                                     .site = function->site,
                                                     .source = TMS_RT_CALL,
                                                     .number = t->number};
    t->deferred_calls++;
    t->coalesce_epoch++;
    tms_rt_judge_opened(t, function->name);
    if (tms_rt_mode.full) {
        tms_rt_record_begins(t, UINT64_MAX);
    }
    return true;
}

void tms_rt_close_call(struct tms_rt_thread *t)
{
    if (t->call_count == 0) {
        return;
    }
    tms_rt_judge_closing_call(t);
    assert(t->deferred_calls <= t->call_count);
    const struct tms_rt_open *call = &t->calls[--t->call_count];
    t->coalesce_epoch++;
    if (t->deferred_calls > 0) {
        t->deferred_calls--;
    } else if (tms_rt_mode.records) {
        spool(t, TMS_EVENT_RETURN, call->label, call->site);
    }
}

/* Calls that began inside the block have at least its number, those around it a smaller one. */
bool tms_rt_block_becomes_call(struct tms_rt_thread *t, const struct tms_rt_open *block)
{
    uint32_t at = t->call_count;

    if (t->call_count == t->call_capacity && !make_room(t)) {
        return false;
    }
    while (at > 0 && t->calls[at - 1].number >= block->number) {
        at--;
    }
    assert(at == 0 || t->calls[at - 1].number < block->number);
    assert(block->source == TMS_RT_FUNCTION);
    memmove(&t->calls[at + 1], &t->calls[at], (t->call_count - at) * sizeof(*t->calls));
    t->calls[at] = *block;
    t->calls[at].source = TMS_RT_CALL;
    t->call_count++;
    return true;
}

/* ---- waiting ---------------------------------------------------------------------------- */

/* Not if nothing is open, or nothing has happened since the last one. */
static bool is_worth_recording(const struct tms_rt_thread *t)
{
    bool again = t->last_event != NULL && t->last_event->kind == TMS_EVENT_CLEAR;

    return tms_rt_mode.records && tms_rt_mode.checks && tms_rt_is_judged(t) && !again;
}

/* Empty blocks need not be recorded for this, because they have no events. */
void tms_rt_rendezvous(struct tms_rt_thread *t, uintptr_t pc)
{
    tms_rt_judge_rendezvous(t);
    if (!is_worth_recording(t)) {
        return;
    }
    struct tms_spool_event event = {
        .number = t->number, .site = tms_rt_site(t, pc), .kind = TMS_EVENT_CLEAR};
    tms_rt_spool_without_blocks(t, &event);
}

void tms_rt_received(struct tms_rt_thread *t, int file, uintptr_t pc)
{
    bool recorded = is_worth_recording(t) || t->judge != NULL;

    assert(t->inside == 1);
    if ((recorded || !tms_rt_is_alone()) && tms_rt_file_receives(t, file) && recorded) {
        tms_rt_rendezvous(t, pc);
    }
}

void tms_rt_was_delayed(struct tms_rt_thread *t)
{
    tms_rt_judge_delayed(t);
    if (tms_rt_mode.records && tms_rt_mode.checks) {
        spool(t, TMS_EVENT_DELAY, 0, 0);
    }
}
