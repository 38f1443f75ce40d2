/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring buffer of the latest operations of a thread, for the witnesses of the frontier engine. It
 * grows with use up to LOG_EASY entries, and in a long transaction up to LOG_MOST.
 */
#include "frontier/frontier.h"
#include "frontier/frontier_invariants.h"

bool tms_log_start(struct tms_frontier *f, struct tms_frontier_log *log)
{
    if (log->capacity == 0) {
        log->entry = tms_resize(f->memory, NULL, 0, LOG_LEAST, sizeof(*log->entry));
        if (log->entry == NULL) {
            return false;
        }
        log->capacity = LOG_LEAST;
    }
    log->next = log->entry;
    log->stop = log->entry + log->capacity;
    log->rounds = 0;
    log->first = 0;
    log->begun = TMS_NEVER;
    assert(tms_log_holds(log));
    return true;
}

/*
 * Doubles the ring and moves the entries of the last round to the front. If out of memory, leaves
 * it unchanged.
 */
static bool double_log(struct tms_frontier *f, struct tms_frontier_log *log)
{
    size_t capacity = (size_t)log->capacity * 2;
    struct tms_op *grown =
        tms_resize(f->memory, log->entry, log->capacity, capacity, sizeof(*grown));

    if (grown == NULL) {
        return false;
    }
    log->entry = grown;
    log->next = grown + log->capacity;
    log->stop = grown + capacity;
    log->capacity = (uint32_t)capacity;
    log->first = log->rounds;
    return true;
}

/*
 * Called at the end of a round. Doubles a short ring, and any ring more than half of which the
 * running transaction takes. Only here are the entries in the order of writing, so that the ring
 * can grow.
 */
void tms_log_rotate(struct tms_frontier *f, struct tms_frontier_log *log)
{
    assert(log->next == log->stop && tms_log_holds(log));
    bool crowded = log->begun != TMS_NEVER && log_written(log) - log->begun > log->capacity / 2;
    uint32_t most = crowded ? LOG_MOST : LOG_EASY;

    if (log->capacity < most && double_log(f, log)) {
        return;
    }
    log->rounds += log->capacity;
    log->next = log->entry;
}

uint64_t tms_log_first(const struct tms_frontier_log *log)
{
    uint64_t written = log_written(log);
    uint64_t kept = written > log->capacity ? written - log->capacity : 0;

    return kept > log->first ? kept : log->first;
}

uint64_t tms_log_find(const struct tms_frontier_log *log, uint64_t event)
{
    uint64_t high = log_written(log);
    uint64_t low = tms_log_first(log);

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (log_at(log, middle)->event < event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    assert(low == tms_log_first(log) || log_at(log, low - 1)->event < event);
    return low;
}
