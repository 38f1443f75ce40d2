/* SPDX-License-Identifier: Apache-2.0 */
/* A trace through the core as a running program feeds it; see online_model.h. */
#include "judge/online_model.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/import_judgement.h"
#include "judge/online_shadow.h"
#include "spec/identity.h"
#include "spec/lower.h"

/* A block on the stack of its thread. */
struct frame {
    uint64_t begin;
    uint32_t label, location;
    uint8_t source; /* how it is closed */
    bool candidate;
};

struct actor {
    struct tms_judge_thread *judge;
    struct frame stack[TRACE_MOST];
    size_t depth, in_core; /* in_core: outermost candidates that are open in the core */
    uint64_t epoch;
    struct tms_judge_function silent[LABELS + 2]; /* executions that never were */
};

struct model {
    struct tms_context *context;
    const struct naive *naive;
    struct tms_memory memory;
    struct tms_judge_online online;
    struct shadow shadow;
    struct actor actors[THREADS + 2]; /* by id */
};

/* ---- the port ---------------------------------------------------------------------------- */

static uint32_t traced(const struct model *model, uint32_t variable)
{
    const struct tms_judge_memory *memory = &model->online.memory[variable];

    return variable != 0 ? shadow_variable(memory->address, memory->bytes) : 0;
}

/* The first variable of the trace that belongs to the same object. */
static uint32_t object_of(void *user, uint32_t variable)
{
    const struct model *model = user;
    uint32_t own = traced(model, variable);
    char text[NAIVE_TEXT], other[NAIVE_TEXT];

    naive_object(tms_name(model->context, TMS_CLASS_VARIABLE, own, NULL), text, sizeof(text));
    for (uint32_t i = 1; i < own; i++) {
        naive_object(tms_name(model->context, TMS_CLASS_VARIABLE, i, NULL), other, sizeof(other));
        if (strcmp(text, other) == 0) {
            return i;
        }
    }
    return own;
}

static uint64_t name_of(void *user, uint32_t variable)
{
    return traced(user, variable);
}

static struct tms_judge_detail detail_of(void *user, const struct tms_judge_word *word,
                                         uint64_t address)
{
    struct model *model = user;
    const struct shadow_cell *cell =
        shadow_cell(&model->shadow, shadow_variable(address, word->bytes));

    return cell->details[word - cell->words];
}

/* ---- blocks ------------------------------------------------------------------------------ */

static bool is_candidate(const struct naive *naive, size_t k)
{
    for (size_t i = 0; i < naive->activation_count; i++) {
        if (naive->activations[i].begin == k) {
            return true;
        }
    }
    return false;
}

/* Opens the candidates in the core that are not open there yet. */
static void open_deferred(struct model *model, struct actor *actor)
{
    size_t candidates = 0;

    for (size_t i = 0; i < actor->depth; i++) {
        const struct frame *frame = &actor->stack[i];
        if (frame->candidate && ++candidates > actor->in_core) {
            tms_judge_open(&model->online.core, actor->judge, frame->label, 0, frame->begin,
                           frame->location);
        }
    }
    actor->in_core = candidates;
}

static void open_block(struct model *model, struct actor *actor, size_t k)
{
    const struct tms_event *event = &model->naive->events[k];
    struct frame *frame = &actor->stack[actor->depth++];

    *frame = (struct frame){k + 1, event->target, event->location, tms_block_source(event),
                            is_candidate(model->naive, k)};
    if (frame->candidate) {
        actor->epoch = k + 1;
    }
    if (actor->in_core ==
        actor->judge->settled) { /* the outermost that is judged: others look at it */
        open_deferred(model, actor);
    }
}

static void close_block(struct model *model, struct actor *actor, size_t at, uint64_t event)
{
    const struct frame frame = actor->stack[at];
    size_t place = 0; /* among the candidates, from 1 on */

    if (at + 1 < actor->depth) { /* those inside stay open, and must be in the core then */
        open_deferred(model, actor);
    }
    for (size_t i = 0; i <= at; i++) {
        place += actor->stack[i].candidate;
    }
    memmove(&actor->stack[at], &actor->stack[at + 1], (--actor->depth - at) * sizeof(frame));
    if (!frame.candidate) {
        return;
    }
    actor->epoch = event;
    if (place <= actor->in_core) {
        tms_judge_close_begun(&model->online.core, actor->judge, frame.begin, event);
        actor->in_core--;
    } else {
        struct tms_judge_function *silent = &actor->silent[frame.label];
        silent->executions++;
        silent->ended++;
        silent->counted++;
    }
}

static size_t innermost(const struct actor *actor, uint8_t source)
{
    size_t at = actor->depth;

    while (at > 0 && actor->stack[at - 1].source != source) {
        at--;
    }
    return at - 1;
}

static void close_all(struct model *model, struct actor *actor, uint64_t event)
{
    while (actor->depth > 0) {
        close_block(model, actor, actor->depth - 1, event);
    }
}

/* ---- accesses ---------------------------------------------------------------------------- */

static bool is_data(const struct model *model, const struct tms_event *event)
{
    return tms_is_data(tms_name(model->context, TMS_CLASS_VARIABLE, event->target, NULL));
}

static void count_atomic_write(struct model *model, struct actor *actor, uint32_t variable,
                               uint64_t event)
{
    open_deferred(model, actor);
    tms_judge_count_use(&model->online.core, actor->judge, variable, false, event);
    actor->judge->synchronised++;
}

static void access(struct model *model, struct actor *actor, size_t k, bool retry)
{
    const struct tms_event *event = &model->naive->events[k];
    struct shadow_cell *cell = shadow_cell(&model->shadow, event->target);
    uint8_t kind = (uint8_t)(event->kind - TMS_EVENT_READ + TMS_JUDGE_R);

    bool atomic = model->naive->facts[k].atomic;

    if (!atomic && shadow_is_repeated(cell, actor->judge, actor->epoch, event->target, kind)) {
        return;
    }
    struct tms_judge_met met = {.address = shadow_address(event->target),
                                .bytes = shadow_bytes(event->target),
                                .step = {.event = k + 1,
                                         .location = event->location,
                                         .kind = kind,
                                         .cleared = retry,
                                         .atomic = atomic},
                                .words = cell->words,
                                .count = cell->count,
                                .variable = cell->variable};
    uint64_t read = shadow_own_read(cell, actor->judge, event->target);
    if (kind == TMS_JUDGE_W && !atomic && read > actor->judge->updates_from) {
        met.step.kind = TMS_JUDGE_U;
        met.step.read = read;
    }
    met.step.counter = met.step.kind == TMS_JUDGE_U && (atomic || read == actor->judge->previous);
    uint64_t stretch = actor->judge->stretch;
    open_deferred(model, actor);
    cell->variable = tms_judge_online_access(&model->online, actor->judge, &met);
    shadow_claim(cell, actor->judge, event->target, &met.step);
    if (atomic || retry) {
        actor->epoch = k + 1;
    } else if (actor->judge->stretch != stretch) { /* a poll, or a wait that did not wait */
        actor->epoch = k;
    }
}

static void renew(struct model *model, size_t k)
{
    for (uint32_t id = 1; id <= tms_name_count(model->context, TMS_CLASS_VARIABLE); id++) {
        if (naive_renews(model->naive, k, id)) {
            struct shadow_cell *cell = shadow_cell(&model->shadow, id);
            shadow_renew(cell, id);
            cell->variable = tms_judge_online_clear_bytes(&model->online, shadow_address(id),
                                                          shadow_bytes(id), cell->variable);
        }
    }
}

/* ---- events ------------------------------------------------------------------------------ */

/* Does it say that the read is one of a compare-and-swap that failed? */
static bool is_retry(const struct tms_event *event, const struct tms_event *read)
{
    return event->kind == TMS_EVENT_RETRY && event->thread == read->thread &&
           event->target == read->target;
}

static void take_access(struct model *model, struct actor *actor, size_t k)
{
    const struct tms_event *event = &model->naive->events[k];
    bool retry = event->kind == TMS_EVENT_READ && k > 0 && k + 1 < model->naive->count &&
                 is_retry(&event[-1], event) && is_retry(&event[1], event);

    if (event->kind == TMS_EVENT_UPDATE ||
        (event->kind == TMS_EVENT_WRITE && model->naive->facts[k].atomic)) {
        count_atomic_write(model, actor, event->target, k + 1);
    }
    if (is_data(model, event)) {
        access(model, actor, k, retry);
    } else {
        tms_judge_end_updates(actor->judge, k + 1);
        actor->epoch = k + 1;
    }
}

static void take_lock(struct model *model, struct actor *actor, size_t k)
{
    const struct tms_event *event = &model->naive->events[k];
    struct tms_judge *core = &model->online.core;

    if (model->naive->facts[k].inner) {
        return;
    }
    open_deferred(model, actor);
    if (naive_is_acquire(event)) {
        tms_judge_acquire(core, actor->judge, event->target, k + 1, event->location);
    } else {
        tms_judge_release(core, actor->judge, event->target, k + 1, event->location,
                          event->kind == TMS_EVENT_SHARED_RELEASE);
    }
    actor->epoch = k + 1;
}

static void take_synchronisation(struct model *model, struct actor *actor, size_t k)
{
    const struct tms_event *event = &model->naive->events[k];
    struct tms_judge *core = &model->online.core;
    bool fork = event->kind == TMS_EVENT_FORK;

    open_deferred(model, actor);
    if (event->kind == TMS_EVENT_WAIT) {
        tms_judge_wait(actor->judge);
    }
    if (event->kind == TMS_EVENT_DEPART) {
        tms_judge_other(actor->judge, k + 1);
    } else if (event->kind != TMS_EVENT_CLEAR) {
        tms_judge_synchronise(actor->judge, k + 1);
    }
    if (!fork || (model->naive->split & TMS_SPLIT_FORK) != 0) {
        tms_judge_rendezvous(core, actor->judge, k + 1);
    }
    if (event->kind == TMS_EVENT_JOIN && model->actors[event->target].judge != NULL) {
        close_all(model, &model->actors[event->target], k + 1);
    }
    actor->epoch = k + 1;
}

static void take_block(struct model *model, struct actor *actor, size_t k)
{
    const struct tms_event *event = &model->naive->events[k];

    if (event->kind == TMS_EVENT_DEMOTE) {
        actor->stack[innermost(actor, TMS_FROM_BEGIN)].source = TMS_FROM_CALL;
    } else if (tms_opens_block(event) || event->kind == TMS_EVENT_CALL) {
        open_block(model, actor, k);
    } else {
        close_block(model, actor, innermost(actor, tms_block_source(event)), k + 1);
    }
}

static void take_other(struct model *model, struct actor *actor, size_t k)
{
    uint8_t kind = model->naive->events[k].kind;

    if (kind == TMS_EVENT_SEND || kind == TMS_EVENT_RECEIVE) {
        return; /* no event */
    }
    if (kind == TMS_EVENT_DELAY) {
        open_deferred(model, actor);
        tms_judge_delay(actor->judge);
    } else if (kind == TMS_EVENT_FENCE) {
        tms_judge_end_updates(actor->judge, k + 1);
        actor->epoch = k + 1;
    } else if (kind == TMS_EVENT_RETRY) {
        actor->epoch = k + 1;
    } else {
        tms_judge_other(actor->judge, k + 1);
        renew(model, k);
    }
}

static void (*const takers[TMS_EVENT_COUNT])(struct model *model, struct actor *actor, size_t k) = {
    [TMS_EVENT_READ] = take_access,
    [TMS_EVENT_WRITE] = take_access,
    [TMS_EVENT_UPDATE] = take_access,
    [TMS_EVENT_ACQUIRE] = take_lock,
    [TMS_EVENT_RELEASE] = take_lock,
    [TMS_EVENT_SHARED_ACQUIRE] = take_lock,
    [TMS_EVENT_SHARED_RELEASE] = take_lock,
    [TMS_EVENT_FORK] = take_synchronisation,
    [TMS_EVENT_JOIN] = take_synchronisation,
    [TMS_EVENT_WAIT] = take_synchronisation,
    [TMS_EVENT_ARRIVE] = take_synchronisation,
    [TMS_EVENT_DEPART] = take_synchronisation,
    [TMS_EVENT_CLEAR] = take_synchronisation,
    [TMS_EVENT_BEGIN] = take_block,
    [TMS_EVENT_END] = take_block,
    [TMS_EVENT_ENTER] = take_block,
    [TMS_EVENT_EXIT] = take_block,
    [TMS_EVENT_CALL] = take_block,
    [TMS_EVENT_RETURN] = take_block,
    [TMS_EVENT_DEMOTE] = take_block,
    [TMS_EVENT_ESCAPE] = take_other,
    [TMS_EVENT_ALLOC] = take_other,
    [TMS_EVENT_FREE] = take_other,
    [TMS_EVENT_RETRY] = take_other,
    [TMS_EVENT_DELAY] = take_other,
    [TMS_EVENT_FENCE] = take_other,
    [TMS_EVENT_SEND] = take_other,
    [TMS_EVENT_RECEIVE] = take_other,
};

/* A program has a retry only around the read of a compare-and-swap. */
static bool is_possible(const struct naive *naive)
{
    for (size_t k = 0; k < naive->count; k++) {
        const struct tms_event *event = &naive->events[k];
        if (event->kind != TMS_EVENT_RETRY) {
            continue;
        }
        if (k + 2 >= naive->count || event[1].kind != TMS_EVENT_READ ||
            event[2].kind != TMS_EVENT_RETRY || event[1].target != event->target ||
            event[2].target != event->target || event[1].thread != event->thread ||
            event[2].thread != event->thread) {
            return false;
        }
        k += 2;
    }
    return true;
}

/* ---- the end ----------------------------------------------------------------------------- */

static void load_counts(struct model *model, struct tms_judge_engine *engine)
{
    const struct tms_judge *core = &model->online.core;

    for (uint32_t label = 0; label < core->function_count; label++) {
        tms_judge_load_function(engine, label, &core->functions[label]);
    }
    for (size_t i = 0; i < sizeof(model->actors) / sizeof(model->actors[0]); i++) {
        for (uint32_t label = 0; label < LABELS + 2; label++) {
            if (model->actors[i].silent[label].executions > 0) {
                tms_judge_load_function(engine, label, &model->actors[i].silent[label]);
            }
        }
    }
    for (size_t i = 0; i < core->waiting.size; i++) {
        tms_judge_load_place(engine, tms_hashtable_row_at(&core->waiting, i));
    }
}

static void load(struct model *model, struct tms_judge_engine *engine)
{
    const struct tms_judge *core = &model->online.core;

    load_counts(model, engine);
    for (uint32_t i = 1; i <= core->evidence.count; i++) {
        tms_judge_load_evidence(engine, &core->evidence.at[i]);
    }
    for (uint32_t i = 1; i <= core->findings.count; i++) {
        const struct tms_judge_finding *finding = &core->findings.at[i];
        const struct tms_judge_evidence *shown = &core->evidence.at[finding->evidence];
        tms_judge_load_cut(engine, shown->block.label, (uint32_t)shown->first.variable,
                           (uint32_t)shown->first.other, finding->cut);
    }
}

static struct tms_analysis *conclude(struct model *model)
{
    struct tms_analysis *analysis = NULL;
    struct tms_settings settings;

    tms_judge_finish(&model->online.core, model->naive->count);
    tms_settings_init(&settings);
    settings.engines = "judge";
    if (tms_analysis_new(model->context, &settings, &analysis) != TMS_OK) {
        exit(2);
    }
    load(model, tms_judge_of(analysis));
    if (tms_analysis_finish(analysis) != TMS_OK) {
        exit(2);
    }
    return analysis;
}

static void run(struct model *model)
{
    for (size_t k = 0; k < model->naive->count; k++) {
        const struct tms_event *event = &model->naive->events[k];
        struct actor *actor = &model->actors[event->thread];
        if (actor->judge == NULL) {
            actor->judge = tms_judge_thread(&model->online.core, event->thread);
        }
        takers[event->kind](model, actor, k);
    }
    for (size_t i = 0; i < sizeof(model->actors) / sizeof(model->actors[0]); i++) {
        close_all(model, &model->actors[i], model->naive->count + 1);
    }
}

struct tms_analysis *online_judge(struct tms_context *context, const struct naive *naive,
                                  uint32_t enough, uint32_t variables)
{
    static struct model model;
    const struct tms_judge_port port = {.name_of = name_of, .object_of = object_of, .user = &model};

    if (!is_possible(naive)) {
        return NULL;
    }
    memset(&model, 0, sizeof(model));
    model.context = context;
    model.naive = naive;
    tms_judge_online_init(&model.online, &model.memory, &port, variables);
    model.online.detail_of = detail_of;
    model.online.core.enough = enough;
    run(&model);
    struct tms_analysis *analysis = model.online.dropped == 0 ? conclude(&model) : NULL;
    tms_judge_online_clear(&model.online);
    return analysis;
}
