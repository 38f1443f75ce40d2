/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the evidence of the core of `judge` into findings. */
#include <assert.h>

#include "judge/import_judgement.h"
#include "judge/judge_entries.h"
#include "judge/pattern_levels.h"
#include "spec/identity.h"

static uint8_t kind_of_own(const struct tms_judge_step *step, bool second)
{
    static const uint8_t kinds[] = {[TMS_JUDGE_R] = TMS_EVENT_READ,
                                    [TMS_JUDGE_W] = TMS_EVENT_WRITE,
                                    [TMS_JUDGE_U] = TMS_EVENT_UPDATE};

    if (step->kind == TMS_JUDGE_U && !step->atomic) {
        return second ? TMS_EVENT_READ : TMS_EVENT_WRITE;
    }
    return kinds[step->kind];
}

static uint8_t kind_of_foreign(const struct tms_judge_foreign *access)
{
    return access->kind == TMS_JUDGE_R                           ? TMS_EVENT_READ
           : access->kind == TMS_JUDGE_W || access->plain_update ? TMS_EVENT_WRITE
                                                                 : TMS_EVENT_UPDATE;
}

static struct tms_turn own_turn(const struct tms_judge_engine *engine,
                                const struct tms_judge_case *found, size_t index)
{
    const struct tms_judge_step *step = &found->own[index];

    assert(index < 2 && step->kind <= TMS_JUDGE_U);
    return (struct tms_turn){
        .stack = tms_judge_loaded_stack(engine, step->event, found->thread),
        .event = step->event,
        .thread = found->thread,
        .target = (uint32_t)(index == 1 && found->other != 0 ? found->other : found->variable),
        .location = step->location,
        .kind = kind_of_own(step, index == 1),
    };
}

static struct tms_turn foreign_turn(const struct tms_judge_engine *engine,
                                    const struct tms_judge_case *found, size_t index)
{
    const struct tms_judge_foreign *access = &found->foreign[index];

    return (struct tms_turn){
        .stack = tms_judge_loaded_stack(engine, access->event, access->thread),
        .event = access->event,
        .thread = access->thread,
        .target = (uint32_t)(index == 1 ? found->other : found->variable),
        .location = access->location,
        .kind = kind_of_foreign(access),
    };
}

static void set_turns(struct tms_judge_work *work, struct tms_judgement *judgement,
                      const struct tms_judge_case *found)
{
    const struct tms_judge_engine *engine = work->engine;
    const struct tms_turn own[] = {own_turn(engine, found, 0), own_turn(engine, found, 1)};
    const struct tms_turn foreign[] = {foreign_turn(engine, found, 0),
                                       foreign_turn(engine, found, 1)};

    judgement->own_count = 2;
    judgement->own = tms_judge_copy(work, own, sizeof(own));
    judgement->foreign_count = found->other != 0 ? 2 : 1;
    judgement->foreign = tms_judge_copy(work, foreign, judgement->foreign_count * sizeof(*foreign));
    judgement->lock = (uint32_t)found->lock;
    if (found->lock != 0) {
        judgement->given_up = (struct tms_turn){
            .event = found->released,
            .thread = found->thread,
            .stack = tms_judge_loaded_stack(engine, found->released, found->thread),
            .target = (uint32_t)found->lock,
            .location = found->released_location,
            .kind = found->released_shared ? TMS_EVENT_SHARED_RELEASE : TMS_EVENT_RELEASE};
    }
}

static enum tms_edge_kind edge_of(uint8_t first, uint8_t second)
{
    if (first == TMS_EVENT_READ) {
        return TMS_EDGE_READ_WRITE;
    }
    return second == TMS_EVENT_READ ? TMS_EDGE_WRITE_READ : TMS_EDGE_WRITE_WRITE;
}

static struct tms_step step_between(const struct tms_transaction *from,
                                    const struct tms_turn *first, const struct tms_transaction *to,
                                    const struct tms_turn *second)
{
    return (struct tms_step){.from = *from,
                             .to = *to,
                             .first_event = first->event,
                             .second_event = second->event,
                             .first_location = first->location,
                             .second_location = second->location,
                             .first_stack = first->stack,
                             .second_stack = second->stack,
                             .on = first->target,
                             .on_class = TMS_CLASS_VARIABLE,
                             .kind = (uint8_t)edge_of(first->kind, second->kind),
                             .first_kind = first->kind,
                             .second_kind = second->kind};
}

static void set_cycle(struct tms_judge_work *work, struct tms_finding *finding,
                      const struct tms_judgement *judgement)
{
    if (work->failed) {
        return;
    }
    const struct tms_turn *own = judgement->own, *foreign = judgement->foreign;
    const struct tms_turn *last = &foreign[judgement->foreign_count - 1];
    assert(judgement->own_count == 2 && judgement->foreign_count >= 1);
    const struct tms_step cycle[] = {
        step_between(&finding->transaction, &own[0], &judgement->culprit, &foreign[0]),
        step_between(&judgement->culprit, last, &finding->transaction, &own[1]),
    };

    finding->cycle = tms_judge_copy(work, cycle, sizeof(cycle));
    finding->cycle_length = finding->cycle != NULL ? 2 : 0;
}

/* It looks harmful, but the second step starts over, or may have waited for the foreign access. */
static bool is_mild(const struct tms_judge *core, const struct tms_judge_evidence *evidence)
{
    return evidence->mild ||
           (evidence->place != 0 && tms_judge_is_waiting_place(core, evidence->place));
}

/* The evidence to show: the highest level, then the first pattern, then the earliest event. */
static const struct tms_judge_evidence *strongest(const struct tms_judge_work *work,
                                                  const struct tms_judge_finding *found,
                                                  struct tms_judgement *judgement, uint64_t *count)
{
    const struct tms_judge *core = &work->engine->core;
    const struct tms_judge_evidence *best = NULL;

    *count = 0;
    for (uint32_t at = found->evidence; at != 0; at = core->evidence.at[at].next) {
        const struct tms_judge_evidence *evidence = &core->evidence.at[at];
        enum tms_level level =
            is_mild(core, evidence)
                ? TMS_LEVEL_NOTE
                : tms_judge_level(work->engine, evidence->pattern, found->function, found->cut,
                                  evidence->firm ? evidence->culprit : 0);
        bool better = best == NULL || level > judgement->level ||
                      (level == judgement->level &&
                       (evidence->pattern < best->pattern ||
                        (evidence->pattern == best->pattern &&
                         evidence->first.own[1].event < best->first.own[1].event)));
        if (better) {
            best = evidence;
            judgement->level = level;
        }
        judgement->patterns |= 1u << evidence->pattern;
        *count += evidence->count;
    }
    return best;
}

static void add_found(struct tms_judge_work *work, const struct tms_judge_finding *found)
{
    struct tms_judge_entry *entry = tms_judge_add_entry(work);

    if (entry == NULL) {
        return;
    }
    struct tms_judgement *judgement = entry->judgement;
    struct tms_finding *finding = &entry->finding;
    const struct tms_judge_evidence *shown = strongest(work, found, judgement, &finding->count);
    const struct tms_judge_case *first = &shown->first;

    assert(shown != NULL && finding->count > 0);
    judgement->pattern = (enum tms_pattern)shown->pattern;
    judgement->variable = (uint32_t)first->variable;
    judgement->other = (uint32_t)first->other;
    judgement->object = tms_judge_object_text(work, TMS_CLASS_VARIABLE, judgement->variable);
    judgement->other_object =
        first->other != 0 ? tms_judge_object_text(work, TMS_CLASS_VARIABLE, judgement->other)
                          : NULL;
    judgement->cut = found->cut;
    judgement->culprit = shown->foreign;
    judgement->outer =
        tms_judge_copy(work, shown->outer, shown->outer_count * sizeof(*shown->outer));
    judgement->outer_count = shown->outer_count;
    tms_judge_set_block(work, judgement, found->function);
    set_turns(work, judgement, first);
    finding->event = first->own[1].event;
    finding->thread = first->thread;
    finding->transaction = shown->block;
    set_cycle(work, finding, judgement);
    entry->hash = tms_judged_hash(
        tms_judge_function_text(work->engine, found->function),
        tms_names_text(&work->engine->objects, found->object),
        found->other != 0 ? tms_names_text(&work->engine->objects, found->other) : NULL);
}

void tms_judge_add_data(struct tms_judge_work *work)
{
    const struct tms_judge *core = &work->engine->core;

    for (size_t i = 1; i <= core->findings.count && !work->failed; i++) {
        add_found(work, &core->findings.at[i]);
        if (!work->failed) {
            tms_judge_note_severity(work, core->findings.at[i].function, work->count - 1);
        }
    }
}
