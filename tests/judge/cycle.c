/* SPDX-License-Identifier: Apache-2.0 */
/* The brute-force test of cycles; see cycle.h. */
#include "judge/cycle.h"

static const struct tms_event *at(const struct tms_event *events, uint64_t number)
{
    return &events[number - 1];
}

static bool is_access(const struct tms_event *event)
{
    return tms_event_class(event->kind) == TMS_CLASS_VARIABLE && event->kind != TMS_EVENT_RETRY;
}

static bool conflict(const struct tms_event *one, const struct tms_event *other)
{
    return is_access(one) && is_access(other) && one->target == other->target &&
           one->thread != other->thread &&
           (one->kind != TMS_EVENT_READ || other->kind != TMS_EVENT_READ);
}

/* Which events end a block, by what opened it. */
static bool ends(uint8_t opened, uint8_t kind)
{
    return (opened == TMS_EVENT_BEGIN && (kind == TMS_EVENT_END || kind == TMS_EVENT_DEMOTE)) ||
           (opened == TMS_EVENT_ENTER && kind == TMS_EVENT_EXIT);
}

/*
 * Is a block opened by begin or enter still open before `number`? Blocks of one kind are closed in
 * the reverse order of their begins, so counting is enough; after a demotion, and for calls, which
 * are closed together with demoted blocks, the answer is always yes.
 */
static bool is_open(const struct tms_event *events, uint64_t begin, uint64_t number)
{
    const struct tms_event *open = at(events, begin);
    unsigned inside = 1;

    for (uint64_t k = begin + 1; k < number && inside > 0; k++) {
        const struct tms_event *event = at(events, k);
        if (event->thread != open->thread) {
            continue;
        }
        inside += event->kind == open->kind;
        inside -= ends(open->kind, event->kind);
        if (inside == 0 && event->kind == TMS_EVENT_DEMOTE) {
            return true;
        }
    }
    return inside > 0;
}

/* The write of an update that consists of a read and a write, if it is inside the block as well. */
static uint64_t write_of(const struct tms_event *events, size_t count, const struct cycle *cycle)
{
    uint64_t read = cycle->own[1];
    const struct tms_event *own = at(events, read);

    for (uint64_t number = read + 1; own->kind == TMS_EVENT_READ && number <= count; number++) {
        const struct tms_event *event = at(events, number);
        if (is_access(event) && event->target == own->target && event->kind != TMS_EVENT_READ) {
            bool write = event->thread == own->thread && event->kind == TMS_EVENT_WRITE;
            return write && is_open(events, cycle->begin, number) ? number : read;
        }
    }
    return read;
}

static bool opens(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_BEGIN || event->kind == TMS_EVENT_ENTER ||
           event->kind == TMS_EVENT_CALL;
}

/* Checks the position of every event, before the edges. */
static const char *order_fault(const struct tms_event *events, size_t count,
                               const struct cycle *cycle)
{
    uint64_t before = cycle->own[0];
    const struct tms_event *own = at(events, cycle->own[0]);

    if (cycle->begin == 0 || cycle->begin >= cycle->own[0] || cycle->own[1] > count ||
        !opens(at(events, cycle->begin)) || at(events, cycle->begin)->thread != own->thread ||
        at(events, cycle->own[1])->thread != own->thread) {
        return "the block and its steps are not of one thread, in this order";
    }
    for (size_t i = 0; i < cycle->foreign_count; i++) {
        if (cycle->foreign[i] <= before || cycle->foreign[i] >= cycle->own[1] ||
            at(events, cycle->foreign[i])->thread == own->thread) {
            return "a foreign access is not foreign, or not in its place";
        }
        before = cycle->foreign[i];
    }
    return is_open(events, cycle->begin, cycle->own[1]) ? NULL
                                                        : "the block was closed before the end";
}

static const char *pair_fault(const struct tms_event *events, size_t count,
                              const struct cycle *cycle)
{
    const struct tms_event *first = at(events, cycle->foreign[0]);
    const struct tms_event *second = at(events, cycle->foreign[1]);
    uint64_t last = write_of(events, count, cycle);

    if (!conflict(at(events, cycle->own[0]), first)) {
        return "the first own step and the first foreign access do not conflict";
    }
    if (first->thread != second->thread) {
        return "the foreign accesses are not of one thread";
    }
    return conflict(second, at(events, cycle->own[1])) || conflict(second, at(events, last))
               ? NULL
               : "the second foreign access and the second own step do not conflict";
}

static const char *single_fault(const struct tms_event *events, size_t count,
                                const struct cycle *cycle)
{
    uint64_t last = write_of(events, count, cycle);

    for (size_t i = 0; i < cycle->foreign_count; i++) {
        const struct tms_event *foreign = at(events, cycle->foreign[i]);
        if (conflict(at(events, cycle->own[0]), foreign) &&
            (conflict(foreign, at(events, cycle->own[1])) || conflict(foreign, at(events, last)))) {
            return NULL;
        }
    }
    return "no foreign access conflicts with both own steps";
}

const char *cycle_fault(const struct tms_event *events, size_t count, const struct cycle *cycle)
{
    const char *fault = order_fault(events, count, cycle);

    if (fault != NULL) {
        return fault;
    }
    if (cycle->pair && cycle->foreign_count != 2) {
        return "two variables, but not two foreign accesses";
    }
    return cycle->pair ? pair_fault(events, count, cycle) : single_fault(events, count, cycle);
}
