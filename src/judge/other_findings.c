/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the findings of other engines: violations in which no data was affected, and predictions.
 */
#include "judge/judge_entries.h"
#include "spec/identity.h"

/* The innermost block that is interleaved. */
static const struct tms_transaction *block_of(const struct tms_finding *finding)
{
    return finding->refuted_count > 0 ? &finding->refuted[finding->refuted_count - 1]
                                      : &finding->transaction;
}

static uint32_t function_of(const struct tms_judge_work *work, const struct tms_transaction *block)
{
    return tms_judge_function_id(work->engine, tms_judge_name(work, TMS_CLASS_LABEL, block->label));
}

/* The data found for a function; NULL: none. */
static const struct tms_judge_entry *entry_of(const struct tms_judge_work *work, uint32_t function)
{
    uint32_t known = function < work->function_capacity ? work->most_severe[function] : 0;

    return known != 0 ? &work->entries[known - 1] : NULL;
}

/* The data found for one of the blocks of a finding, the innermost first; NULL: none. */
static const struct tms_judge_entry *data_of(const struct tms_judge_work *work,
                                             const struct tms_finding *finding)
{
    const struct tms_judge_entry *entry = NULL;

    for (size_t i = finding->refuted_count; i > 0 && entry == NULL; i--) {
        entry = entry_of(work, function_of(work, &finding->refuted[i - 1]));
    }
    return entry != NULL ? entry : entry_of(work, function_of(work, &finding->transaction));
}

static bool is_data_edge(uint8_t kind)
{
    return kind <= TMS_EDGE_WRITE_WRITE;
}

static uint8_t kind_of_event(uint8_t kind)
{
    return kind == TMS_EVENT_READ    ? TMS_JUDGE_R
           : kind == TMS_EVENT_WRITE ? TMS_JUDGE_W
                                     : TMS_JUDGE_U;
}

/* Are all its steps accesses or program order? */
static bool is_data(const struct tms_finding *finding)
{
    bool data = finding->cycle_length > 0;

    for (size_t i = 0; i < finding->cycle_length; i++) {
        uint8_t kind = finding->cycle[i].kind;
        data = data && (is_data_edge(kind) || kind == TMS_EDGE_PROGRAM_ORDER) &&
               finding->cycle[i].on_class == TMS_CLASS_VARIABLE;
    }
    return data;
}

/* Does a thread that was started, or joined, in the block come in between? */
static bool is_own_thread(const struct tms_finding *finding)
{
    bool own = false;

    for (size_t i = 0; i < finding->cycle_length; i++) {
        uint8_t kind = finding->cycle[i].kind;
        own = own || kind == TMS_EDGE_FORK || kind == TMS_EDGE_JOIN;
    }
    return own;
}

/* The pattern of a cycle for which the core found none. */
static enum tms_pattern pattern_of_cycle(const struct tms_judge_work *work,
                                         const struct tms_finding *finding)
{
    bool own = is_own_thread(finding);

    if (!tms_judge_saw_memory(work->engine)) {
        return own ? TMS_PATTERN_OWN_THREAD : TMS_PATTERN_UNWATCHED;
    }
    if (is_data(finding) && finding->cycle_length == 2) {
        return TMS_PATTERN_EXCHANGE; /* a rendezvous came between, or it would be a pattern */
    }
    if (is_data(finding)) {
        const struct tms_step *first = &finding->cycle[0];
        const struct tms_step *last = &finding->cycle[finding->cycle_length - 1];
        return tms_judge_pair_pattern(
            kind_of_event(first->first_kind), kind_of_event(last->second_kind),
            kind_of_event(first->second_kind), kind_of_event(last->first_kind));
    }
    return own ? TMS_PATTERN_OWN_THREAD : TMS_PATTERN_ORDER_ONLY;
}

/* Sets the variable or lock of the first step of a cycle. */
static void set_target(struct tms_judge_work *work, struct tms_judgement *judgement,
                       const struct tms_finding *finding)
{
    const struct tms_step *first = finding->cycle_length > 0 ? &finding->cycle[0] : NULL;

    judgement->object = "";
    if (first == NULL || first->on == 0) {
        return;
    }
    if (first->on_class == TMS_CLASS_VARIABLE) {
        judgement->variable = first->on;
    } else if (first->on_class == TMS_CLASS_LOCK) {
        judgement->lock = first->on;
    }
    uint32_t name = first->on_alias != 0 ? first->on_alias : first->on;
    judgement->object = tms_judge_object_text(work, (enum tms_class)first->on_class, name);
}

static struct tms_turn turn_of(const struct tms_step *step, bool second)
{
    return (struct tms_turn){
        .event = second ? step->second_event : step->first_event,
        .thread = second ? step->to.thread : step->from.thread,
        .target = step->on,
        .location = second ? step->second_location : step->first_location,
        .stack = second ? step->second_stack : step->first_stack,
        .kind = second ? step->second_kind : step->first_kind,
    };
}

/* The steps of a cycle that begin and end in the block, and those that answer them. */
static void set_turns_of_cycle(struct tms_judge_work *work, struct tms_judgement *judgement,
                               const struct tms_finding *finding)
{
    if (finding->cycle_length < 2) {
        return;
    }
    const struct tms_step *first = &finding->cycle[0];
    const struct tms_step *last = &finding->cycle[finding->cycle_length - 1];
    const struct tms_turn own[] = {turn_of(first, false), turn_of(last, true)};
    const struct tms_turn foreign[] = {turn_of(first, true), turn_of(last, false)};

    judgement->culprit = first->to;
    judgement->own = tms_judge_copy(work, own, sizeof(own));
    judgement->foreign = tms_judge_copy(work, foreign, sizeof(foreign));
    judgement->own_count = judgement->foreign_count = 2;
}

static void set_outer(struct tms_judge_work *work, struct tms_judgement *judgement,
                      const struct tms_finding *finding)
{
    size_t count = finding->refuted_count > 0 ? finding->refuted_count - 1 : 0;
    struct tms_transaction *outer =
        tms_judge_copy(work, finding->refuted, count * sizeof(*finding->refuted));

    for (size_t i = 0; outer != NULL && i < count; i++) {
        outer[i] = finding->refuted[count - 1 - i];
    }
    judgement->outer = outer;
    judgement->outer_count = outer != NULL ? count : 0;
}

#define SEVERAL                                                                                    \
    "while they hold the lock, these lines access several such objects, one at a time, and it is " \
    "not known whether all accesses can be to the same one"

/* An entry for a finding of another engine; the first represents all equal ones. */
static void add_other(struct tms_judge_work *work, struct tms_run *run, size_t index,
                      const struct tms_judge_predicted *judged)
{
    const struct tms_finding *from = &run->result.findings[index];
    const struct tms_transaction *block = block_of(from);
    uint32_t function = function_of(work, block);
    struct tms_judge_entry *entry = tms_judge_add_entry(work);

    if (entry == NULL) {
        return;
    }
    struct tms_judgement *judgement = entry->judgement;
    judgement->level = judged->level;
    judgement->pattern = judged->pattern;
    judgement->patterns = 1u << judged->pattern;
    tms_judge_set_block(work, judgement, function);
    tms_judge_add_cut(judgement, from->evidence == TMS_EVIDENCE_OBSERVED ? from->count : 0);
    set_target(work, judgement, from);
    if (judged->variable != 0) {
        judgement->variable = judged->variable;
        judgement->other = judged->other;
        judgement->object = tms_judge_object_text(work, TMS_CLASS_VARIABLE, judged->variable);
        judgement->other_object =
            judged->other != 0 ? tms_judge_object_text(work, TMS_CLASS_VARIABLE, judged->other)
                               : NULL;
    }
    set_turns_of_cycle(work, judgement, from);
    set_outer(work, judgement, from);
    entry->finding.evidence = from->evidence;
    entry->finding.count = from->count;
    entry->finding.event = from->event;
    entry->finding.thread = from->thread;
    entry->finding.transaction = *block;
    entry->finding.cycle = from->cycle;
    entry->finding.cycle_length = from->cycle_length;
    entry->finding.schedule = from->schedule;
    entry->finding.schedule_length = from->schedule_length;
    entry->finding.caveat = judged->several && from->caveat == NULL ? SEVERAL : from->caveat;
    entry->hash = tms_judged_hash(tms_judge_function_text(work->engine, function),
                                  judgement->object, judgement->other_object);
    tms_judge_link(work, run, index, entry->hash);
}

/* ---- all of them ---------------------------------------------------------------------- */

static void add_observed(struct tms_judge_work *work, struct tms_run *run, size_t index)
{
    const struct tms_finding *finding = &run->result.findings[index];
    const struct tms_judge_entry *known = data_of(work, finding);

    if (finding->transaction.unary) {
        return; /* no block is interleaved */
    }
    if (known != NULL) {
        tms_judge_link(work, run, index, known->hash);
        return;
    }
    struct tms_judge_predicted judged = {.pattern = pattern_of_cycle(work, finding),
                                         .level = TMS_LEVEL_NOTE};
    if (finding->cycle_length > 2 && is_data(finding)) {
        judged.variable = finding->cycle[0].on;
        judged.other = finding->cycle[finding->cycle_length - 1].on;
    }
    add_other(work, run, index, &judged);
}

#define PREDICTIONS_MOST 4096 /* judged per engine; further ones are notes */

/*
 * First the predictions with a pattern of data, then the others, unless there is an entry about
 * data of their block.
 */
static void add_predicted(struct tms_judge_work *work, struct tms_run *run, size_t index, bool data)
{
    const struct tms_finding *finding = &run->result.findings[index];
    uint32_t function = function_of(work, block_of(finding));
    struct tms_judge_predicted judged = {.pattern = TMS_PATTERN_ORDER_ONLY,
                                         .level = TMS_LEVEL_NOTE};
    const struct tms_judge_entry *known = entry_of(work, function);

    if (index < PREDICTIONS_MOST) {
        judged = tms_judge_predict(work->engine, finding, function);
    }
    if ((judged.variable != 0) != data) {
        return;
    }
    if (data) {
        add_other(work, run, index, &judged);
        tms_judge_note_severity(work, function, work->count - 1);
    } else if (known != NULL) {
        tms_judge_link(work, run, index, known->hash);
    } else if (finding->same_as == NULL) {
        add_other(work, run, index, &judged);
    }
}

/* The first of the engines that check the observed run. */
static struct tms_run *run_that_finds(const struct tms_judge_work *work, enum tms_verdict found)
{
    for (size_t i = 0; i < work->analysis->run_count; i++) {
        struct tms_run *run = tms_analysis_run(work->analysis, i);
        if (run->result.engine->found == found) {
            return run;
        }
    }
    return NULL;
}

void tms_judge_add_others(struct tms_judge_work *work)
{
    struct tms_run *observing = run_that_finds(work, TMS_VERDICT_VIOLATION);
    struct tms_run *predicting = run_that_finds(work, TMS_VERDICT_PREDICTED);

    for (size_t i = 0; observing != NULL && i < observing->result.finding_count; i++) {
        add_observed(work, observing, i);
    }
    for (int data = 1; predicting != NULL && data >= 0; data--) {
        for (size_t i = 0; i < predicting->result.finding_count && !work->failed; i++) {
            add_predicted(work, predicting, i, data != 0);
        }
    }
}
