/* SPDX-License-Identifier: Apache-2.0 */
/* Windows between two locks; see lock_pairs.h. */
#include "predict/lock_pairs.h"

#include "predict/lock_windows_take.h"

/* The section `back` places before the last; NULL: no longer remembered. */
static const struct tms_predict_recent *recent_at(const struct tms_predict_thread *t, uint32_t back)
{
    const struct tms_predict_recent *recent =
        &t->recent[(t->recent_at + TMS_PREDICT_RECENT - back) % TMS_PREDICT_RECENT];

    return back < TMS_PREDICT_RECENT && recent->place.number != 0 ? recent : NULL;
}

static bool is_in_block(const struct tms_predict_recent *recent, const struct tms_predict_op *op)
{
    return !recent->unary && recent->block.begin == op->block.begin;
}

static bool conflict(uint8_t a, uint8_t b)
{
    return a == TMS_TAKE_EXCLUSIVE || b == TMS_TAKE_EXCLUSIVE;
}

/* ---- the window --------------------------------------------------------------------------- */

static bool is_held(const struct tms_predict_thread *t, const struct tms_predict_recent *recent)
{
    for (size_t i = t->held_count; i > 0; i--) {
        uint64_t since = t->held[i - 1].acquire.place.number;
        if (since <= recent->place.number) {
            return since == recent->place.number;
        }
    }
    return false;
}

static bool has_lock(const struct tms_predict_recent *const *first, uint32_t count, uint32_t lock)
{
    for (uint32_t i = 0; i < count; i++) {
        if (first[i]->lock == lock) {
            return true;
        }
    }
    return false;
}

/* Finds the last completed sections of other locks in the transaction; returns their number. */
static uint32_t find_firsts(const struct tms_predict_thread *t, uint32_t lock,
                            const struct tms_predict_op *op,
                            const struct tms_predict_recent **first)
{
    const struct tms_predict_recent *recent = recent_at(t, 0);
    uint32_t count = 0;

    for (uint32_t i = 1; recent != NULL && is_in_block(recent, op) && count < TMS_PREDICT_FIRSTS;
         i++) {
        if (recent->lock != lock && !has_lock(first, count, recent->lock) && !is_held(t, recent)) {
            first[count++] = recent;
        }
        recent = recent_at(t, i);
    }
    return count;
}

/* Sets all open blocks; copies the list only if it differs from that of the previous window. */
static void set_blocks(const struct tms_predictor *p, struct tms_predict_thread *t,
                       const struct tms_predict_op *op, struct tms_predict_window *window)
{
    bool same = window->second.thread == t->order.thread &&
                window->second.block.begin == op->block.begin &&
                window->innermost == op->innermost && window->depth == op->depth;

    if (!same) {
        window->innermost = op->innermost;
        window->depth = op->depth;
        window->block_count =
            op->depth > 1 ? p->port.blocks(t->user, op->number, window->blocks) : 0;
    }
}

uint32_t tms_predict_blocks_since(const struct tms_predict_window *window, uint64_t first)
{
    uint32_t count = window->block_count;

    while (count > 0 && window->blocks[count - 1].begin > first) {
        count--;
    }
    return count > 1 ? count : 0;
}

static struct tms_predict_pair *pair_of(const struct tms_predictor *p,
                                        struct tms_predict_lock *lock)
{
    if (lock->pair == NULL) {
        lock->pair = tms_resize(&lock->memory, NULL, 0, 1, sizeof(*lock->pair));
        if (lock->pair == NULL) {
            p->port.fail(p->port.user);
        }
    }
    return lock->pair;
}

void tms_predict_follow_pairs(const struct tms_predictor *p, struct tms_predict_thread *t,
                              struct tms_predict_lock *lock, const struct tms_predict_op *op)
{
    const struct tms_predict_recent *first[TMS_PREDICT_FIRSTS];

    if (op->block.begin == 0 || t->completed != op->block.begin) {
        return;
    }
    uint32_t count = find_firsts(t, lock->id, op, first);
    struct tms_predict_pair *pair = count > 0 ? pair_of(p, lock) : NULL;
    if (pair == NULL) {
        return;
    }
    t->windows++;
    for (uint32_t i = 0; i < count; i++) {
        pair->first[i] = *first[i];
    }
    pair->first_count = count;
    set_blocks(p, t, op, &pair->window);
    tms_predict_write_acquire(t, op, &pair->window.second);
}

/* ---- culprits ----------------------------------------------------------------------------- */

/* The thread's last section of the lock, if it came after the first one of the window. */
static const struct tms_predict_recent *find_through(const struct tms_predict_thread *t,
                                                     const struct tms_predict_recent *first)
{
    const struct tms_predict_recent *recent;
    uint32_t back = 0;

    while ((recent = recent_at(t, back)) != NULL && recent->lock != first->lock) {
        back++;
    }
    bool after = recent != NULL && recent->place.number > first->place.number &&
                 conflict(recent->place.kind, first->place.kind);
    return after ? recent : NULL;
}

/* Prefers sections in the transaction of the acquire; otherwise takes the last ones. */
bool tms_predict_find_way(const struct tms_predict_thread *t, const struct tms_predict_pair *pair,
                          const struct tms_predict_op *op, struct tms_predict_way *way)
{
    bool found = false, best = false;

    if (!conflict(pair->window.second.place.kind, op->kind)) {
        return false;
    }
    for (uint32_t i = 0; i < pair->first_count && !best; i++) {
        const struct tms_predict_recent *through = find_through(t, &pair->first[i]);
        best = through != NULL && is_in_block(through, op);
        if (through != NULL && (best || !found)) {
            *way = (struct tms_predict_way){&pair->first[i], through};
            found = true;
        }
    }
    return found;
}

void tms_predict_find_culprit(const struct tms_predictor *p, struct tms_predict_thread *t,
                              const struct tms_predict_op *op, struct tms_predict_cut *cut)
{
    if (op->depth < 2 || !is_in_block(&cut->through, op)) {
        return;
    }
    uint32_t count = p->port.blocks(t->user, cut->through.place.number, t->scratch);
    if (count > 0) {
        cut->culprit.block = cut->through.block = t->scratch[count - 1];
    }
}
