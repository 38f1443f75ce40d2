/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which transaction an event belongs to, as the engine asks (engine/frontier.h): here a ring per
 * thread. The thread writes to it without a lock; others read under the engine's, and an entry
 * counts only if it is whole: `end` is written last, and the ring is so long that who still reads
 * an entry that is overwritten meanwhile has slept for thousands of transactions.
 */
#include "memory.h"
#include "thread.h"

#define RING 65536u /* transactions; mapped as they are used */

static struct past *entry(const struct history *history, uint64_t number)
{
    return &history->past[number % RING];
}

bool tms_history_begin(struct frontier *f, struct thread *t, const struct tms_op *op)
{
    struct history *history = &t->history;

    (void)f;
    if (history->past == NULL) {
        history->past = tms_rt_map(RING * sizeof(*history->past));
        if (history->past == NULL) {
            return false;
        }
    }
    *entry(history, history->count) = (struct past){
        .begin = op->event, .end = TMS_NEVER, .label = op->target, .location = op->location};
    __atomic_store_n(&history->count, history->count + 1, __ATOMIC_RELEASE);
    return true;
}

void tms_history_end(struct thread *t, uint64_t event)
{
    entry(&t->history, t->history.count - 1)->end = event;
}

/* The last transaction that begins at or before the event, if it holds it. */
static const struct past *find(const struct history *history, uint64_t event, bool *forgotten)
{
    uint64_t count = __atomic_load_n(&history->count, __ATOMIC_ACQUIRE);
    uint64_t oldest = count > RING ? count - RING + 1 : 0;
    uint64_t low = oldest, high = count;

    *forgotten = false;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (entry(history, middle)->begin <= event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == oldest) {
        *forgotten = oldest > 0;
        return NULL;
    }
    const struct past *past = entry(history, low - 1);
    return event <= past->end ? past : NULL;
}

struct tms_transaction tms_history_find(const struct thread *t, uint64_t event, uint32_t place)
{
    bool forgotten;
    const struct past *past = find(&t->history, event, &forgotten);

    if (past == NULL) {
        return (struct tms_transaction){
            .begin_event = event, .thread = t->id, .location = place, .unary = !forgotten};
    }
    return (struct tms_transaction){.begin_event = past->begin,
                                    .thread = t->id,
                                    .label = past->label,
                                    .location = past->location};
}
