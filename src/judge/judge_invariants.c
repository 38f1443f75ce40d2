/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of a judge's structures; see judge_invariants.h. */
#include "judge/judge_invariants.h"

#include <assert.h>

#ifndef NDEBUG

/* Activations that are open, the outermost first, and their nodes. */
static void check_open(const struct tms_judge *judge, const struct tms_judge_thread *t)
{
    for (size_t i = 0; i < t->open_count; i++) {
        const struct tms_judge_open *open = &t->open[i];
        assert(i == 0 || t->open[i - 1].begin <= open->begin);
        assert(open->function < t->function_capacity);
        assert(open->acquires <= t->acquires && open->synchronised <= t->synchronised);
        assert(open->node <= judge->nodes.count);
        if (open->node != 0) {
            const struct tms_judge_node *node = &judge->nodes.at[open->node];
            assert(node->used && node->end == 0);
            assert(node->thread == t->id && node->begin == open->begin);
        }
    }
}

static void check_held(const struct tms_judge_thread *t)
{
    size_t learning = 0;

    for (size_t i = 0; i < t->held_count; i++) {
        assert(i == 0 || t->held[i - 1].since <= t->held[i].since);
        assert(t->held[i].hold < t->hold_count);
        learning += t->held[i].site != 0;
    }
    assert(learning == t->learning);
}

static void check_taken(const struct tms_judge *judge, const struct tms_judge_thread *t)
{
    for (size_t i = 0; i < t->taken_over_count; i++) {
        assert(t->taken_over[i] > 0 && t->taken_over[i] <= judge->records.count);
        assert(judge->records.at[t->taken_over[i]].taken_over);
        assert(judge->records.at[t->taken_over[i]].thread == t->id);
    }
}

void tms_judge_check_thread(const struct tms_judge *judge, const struct tms_judge_thread *t)
{
    assert(t->settled <= t->busy && t->busy <= t->open_count);
    assert(t->open_count <= t->open_capacity);
    if (judge->port.guard != NULL || judge->failed) {
        return;
    }
    assert(t->held_count <= t->held_capacity && t->taken_over_count <= TMS_JUDGE_TAKEN_OVER);
    assert(t->awaited_count <= TMS_JUDGE_RECENT && t->uses.count == t->use_index.count);
    check_open(judge, t);
    check_held(t);
    check_taken(judge, t);
}

/* A thread has one record at most, and its step is there as long as another one is the owner. */
static void check_record(const struct tms_judge *judge, const struct tms_judge_cell *cell,
                         const struct tms_judge_record *record)
{
    assert(record->thread != 0 && record->away == (record->thread != cell->owner));
    assert(!record->taken_over || record->away);
    assert(record->open <= judge->cases.count && record->reads <= judge->reads.count);
    assert(record->away || (cell->flags & TMS_JUDGE_EXTRA) != 0 ||
           (record->open == 0 && !record->has_read_write));
    for (uint32_t at = record->next; at != 0; at = judge->records.at[at].next) {
        assert(judge->records.at[at].thread != record->thread);
    }
}

void tms_judge_check_variable(const struct tms_judge *judge, uint32_t variable)
{
    const struct tms_judge_cell *cell = &judge->cells[variable];

    if (judge->failed) {
        return;
    }
    assert(variable < judge->cell_capacity && cell->owner != 0);
    assert(cell->last.kind <= TMS_JUDGE_U && cell->write_kind <= TMS_JUDGE_U);
    assert(cell->write_event == 0 || cell->last.kind == TMS_JUDGE_R ||
           cell->write_event == cell->last.event);
    for (uint32_t at = cell->records; at != 0; at = judge->records.at[at].next) {
        assert(at <= judge->records.count && judge->records.at[at].variable == variable);
        check_record(judge, cell, &judge->records.at[at]);
    }
}

#endif
