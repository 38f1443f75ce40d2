/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of two variables: an own step on one variable that another thread took over, and now a
 * step on a second variable that the same other thread accessed after that.
 */
#include <assert.h>
#include <string.h>

#include "judge/step_records.h"

/* The later own step and its thread. */
struct search {
    struct tms_judge *judge;
    struct tms_judge_thread *t;
    uint32_t variable;
    const struct tms_judge_step *step;
};

static bool writes(uint8_t kind)
{
    return kind != TMS_JUDGE_R;
}

enum tms_pattern tms_judge_pair_pattern(uint8_t first, uint8_t second, uint8_t foreign,
                                        uint8_t later)
{
    if (!writes(first)) {
        return writes(second) ? TMS_PATTERN_STALE_DECISION : TMS_PATTERN_INCONSISTENT_READS;
    }
    if (!writes(second)) {
        return TMS_PATTERN_EXCHANGE;
    }
    return writes(foreign) && writes(later) ? TMS_PATTERN_INTERLEAVED_WRITES
                                            : TMS_PATTERN_HALF_UPDATE_SEEN;
}

/*
 * The access of the thread of `later` that followed the record's step and preceded `later`; or
 * NULL.
 */
static const struct tms_judge_foreign *follower(const struct tms_judge *judge,
                                                const struct tms_judge_record *record,
                                                const struct tms_judge_foreign *later)
{
    const struct tms_judge_foreign *write = &record->first_write;

    assert(later->thread != record->thread && later->event > 0);
    if (write->event != 0 && write->thread == later->thread && write->event < later->event) {
        return write;
    }
    const struct tms_judge_foreign *read = tms_judge_read_of(judge, record, later->thread);
    return read != NULL && read->event < later->event ? read : NULL;
}

/* The taken-over variable with the latest own step. */
static const struct tms_judge_record *find_first(const struct search *search,
                                                 const struct tms_judge_foreign *later,
                                                 struct tms_judge_foreign *foreign)
{
    const struct tms_judge *judge = search->judge;
    const struct tms_judge_thread *t = search->t;
    const struct tms_judge_record *best = NULL;

    for (size_t i = 0; i < t->taken_over_count; i++) {
        const struct tms_judge_record *record = &judge->records.at[t->taken_over[i]];
        if (record->variable == search->variable || !tms_judge_is_own(t, &record->step) ||
            (best != NULL && record->step.event < best->step.event)) {
            continue;
        }
        const struct tms_judge_foreign *found = follower(judge, record, later);
        if (found != NULL) {
            best = record;
            *foreign = *found;
        }
    }
    return best;
}

static void try_pair(const struct search *search, const struct tms_judge_foreign *later)
{
    struct tms_judge *judge = search->judge;
    struct tms_judge_case found = {.thread = search->t->id};
    const struct tms_judge_record *first = find_first(search, later, &found.foreign[0]);

    if (first == NULL) {
        return;
    }
    assert(first->variable != search->variable && found.foreign[0].thread == later->thread);
    assert(found.foreign[0].event < later->event);
    uint8_t kind = first->step.kind, foreign = found.foreign[0].kind;
    found.block = tms_judge_block(judge, search->t, first->step.event);
    found.own[0] = first->step;
    found.own[1] = *search->step;
    found.foreign[1] = *later;
    found.if_later = TMS_PATTERN_COUNT;
    found.if_update = (uint8_t)tms_judge_pair_pattern(kind, TMS_JUDGE_U, foreign, later->kind);
    found.pattern = (uint8_t)tms_judge_pair_pattern(kind, search->step->kind, foreign, later->kind);
    if (found.block == 0) {
        return;
    }
    tms_judge_on_variables(judge, &found, first->variable, search->variable);
    tms_judge_look_at_locks(judge, &found);
    if (search->step->kind == TMS_JUDGE_R) {
        tms_judge_keep_open(judge, search->variable, &found);
    } else {
        tms_judge_found(judge, &found);
    }
}

void tms_judge_pairs(struct tms_judge *judge, struct tms_judge_thread *t, uint32_t variable,
                     const struct tms_judge_step *step, bool written)
{
    struct search search = {judge, t, variable, step};
    const struct tms_judge_cell *cell = &judge->cells[variable];

    assert(cell->owner != t->id);
    if (t->taken_over_count == 0) {
        return;
    }
    if (cell->write_thread != 0 && cell->write_thread != t->id && written) {
        struct tms_judge_foreign later = {
            .event = cell->write_event,
            .thread = cell->write_thread,
            .location = cell->write_location,
            .kind = cell->write_kind,
            .plain_update = (cell->flags & TMS_JUDGE_PLAIN_UPDATE) != 0,
        };
        try_pair(&search, &later);
    }
    if (cell->last.kind == TMS_JUDGE_R && writes(step->kind)) {
        struct tms_judge_foreign later = {.event = cell->last.event,
                                          .thread = cell->owner,
                                          .location = cell->last.location,
                                          .kind = TMS_JUDGE_R};
        try_pair(&search, &later);
    }
}
