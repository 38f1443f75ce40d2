/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator: chooses the next thread. One call of next_event makes one event.
 *
 * A planted violation closes exactly at the wanted event, or as soon after it as possible: shortly
 * before it the two threads become idle, then execute the script while others continue, and at the
 * latest possible moment only they run. With cut labels one script follows the other, each with its
 * own threads.
 */
#include "gen/trace_generator.h"

#include <stdlib.h>

#include "gen/state.h"

/* The chance that an optional event goes to the planted script, in millionths. */
#define SCRIPT_CHANCE 250000
/* Events before a planted violation at which its threads start to become idle. */
#define SCRIPT_AHEAD 64

/* ---- planted violations ----------------------------------------------------------------- */

static struct tms_actor *some_thread(struct tms_gen *gen)
{
    return &gen->actors[tms_random_below(&gen->random, gen->shape.threads)];
}

static struct tms_actor *following(const struct tms_gen *gen, const struct tms_actor *actor)
{
    uint64_t slot = actor->slot + 1;
    return &gen->actors[slot == gen->shape.threads ? 0 : slot];
}

static uint64_t wanted_event(struct tms_gen *gen)
{
    const struct tms_shape *shape = &gen->shape;
    if (shape->cut > 0) {
        return tms_part(shape->events, gen->planted.number + 1, tms_shape_cuts(shape) + 1);
    }
    switch (shape->planting) {
    case TMS_PLANT_AT:
        return shape->violation_at;
    case TMS_PLANT_SHARE:
        return tms_part(shape->events, shape->violation_at, TMS_MILLION);
    default:
        return 1 + tms_random_next(&gen->random) % shape->events;
    }
}

/* Threads that are still to be replaced take two events each. */
static uint64_t replacements_left(const struct tms_gen *gen)
{
    return gen->shape.churn - gen->replaced;
}

/* Leaves room for the rest of this script, for later ones, for forks and joins. */
static uint64_t latest_event(const struct tms_gen *gen)
{
    const struct tms_script *script = gen->planted.script;
    uint64_t scripts = tms_shape_cuts(&gen->shape) - gen->planted.number;
    uint64_t joins = gen->shape.fork_join ? gen->shape.threads - 1 : 0;
    return gen->shape.events - joins - 2 * replacements_left(gen) - scripts * script->length +
           script->closing + 1;
}

/* Sets the label that is cut, and that of the interfering block. */
static void label_script(struct tms_gen *gen)
{
    struct tms_planted *planted = &gen->planted;
    const struct tms_shape *shape = &gen->shape;
    if (shape->cut == 0) {
        planted->label[0] = planted->label[1] = tms_gen_intern(gen, TMS_CLASS_LABEL, "deposit");
        return;
    }
    uint64_t other = tms_random_below(&gen->random, shape->labels);
    planted->label[0] = tms_gen_cut_label(gen, planted->number % shape->cut);
    planted->label[1] = tms_gen_id(gen, TMS_POOL_LABEL, other);
}

static void next_script(struct tms_gen *gen)
{
    struct tms_planted *planted = &gen->planted;
    uint64_t wanted = wanted_event(gen), latest = latest_event(gen);
    planted->at = 0;
    planted->wanted = wanted < latest ? wanted : latest;
    planted->actor[0] = some_thread(gen);
    planted->actor[1] = following(gen, planted->actor[0]);
    label_script(gen);
}

static bool planted_left(const struct tms_planted *planted)
{
    return planted->script != NULL && planted->at < planted->script->length;
}

/* Events that fit in before the closing one, and those of its threads that must come there. */
static uint64_t planted_time(const struct tms_gen *gen)
{
    uint64_t next = gen->emitted + 1;
    return gen->planted.wanted > next ? gen->planted.wanted - next : 0;
}

static uint64_t planted_need(const struct tms_planted *planted)
{
    return tms_actor_debt(planted->actor[0]) + tms_actor_debt(planted->actor[1]) +
           planted->script->closing - planted->at;
}

/* Is the next event one of the script's threads? */
static bool planted_turn(struct tms_gen *gen)
{
    struct tms_planted *planted = &gen->planted;
    if (!planted_left(planted)) {
        return false;
    }
    bool alone = gen->shape.threads == 2;
    if (planted->at > planted->script->closing) {
        return alone || tms_chance(&gen->random, SCRIPT_CHANCE);
    }
    uint64_t time = planted_time(gen);
    uint64_t need = planted_need(planted);
    /* A step takes one event of the time and adds at most one to the need: 2 is never too late. */
    planted->playing = planted->playing || time <= need + (alone ? 2 : SCRIPT_AHEAD);
    if (!planted->playing) {
        return false;
    }
    return alone || time <= need ||
           (planted->at < planted->script->closing && tms_chance(&gen->random, SCRIPT_CHANCE));
}

static uint32_t script_target(const struct tms_planted *planted, uint8_t actor, uint8_t kind)
{
    enum tms_class cls = tms_event_class(kind);
    return cls == TMS_CLASS_LABEL  ? planted->label[actor]
           : cls == TMS_CLASS_LOCK ? planted->lock
                                   : planted->variable;
}

static void play_line(struct tms_gen *gen)
{
    struct tms_planted *planted = &gen->planted;
    struct tms_script_line line = planted->script->lines[planted->at];
    tms_actor_emit(gen, planted->actor[line.actor], line.kind,
                   script_target(planted, line.actor, line.kind));
    gen->debt--;
    if (planted->at == planted->script->closing && planted->number == 0) {
        planted->closed = gen->emitted;
    }
    planted->at++;
    planted->playing = planted_left(planted);
    if (!planted->playing && planted->number + 1 < tms_shape_cuts(&gen->shape)) {
        planted->number++;
        next_script(gen);
    }
}

static void planted_step(struct tms_gen *gen)
{
    struct tms_planted *planted = &gen->planted;
    for (int i = 0; i < 2; i++) {
        if (planted->at == 0 && tms_actor_busy(planted->actor[i])) {
            tms_actor_close_one(gen, planted->actor[i]);
            return;
        }
    }
    /*
     * With no other thread to fill the time, the script waits until it can run without
     * interruption.
     */
    if (planted->at == 0 && gen->shape.threads == 2 && planted_time(gen) > planted_need(planted)) {
        tms_actor_touch(gen, planted->actor[0]);
    } else {
        play_line(gen);
    }
}

/* ---- forks and joins -------------------------------------------------------------------- */

static void fork_thread(struct tms_gen *gen, struct tms_actor *actor)
{
    tms_actor_name(gen, actor);
    tms_actor_emit(gen, &gen->actors[0], TMS_EVENT_FORK, actor->id);
}

/* Not shortly before the planted violation, which must not be delayed. */
static bool replacement_due(const struct tms_gen *gen)
{
    const struct tms_shape *shape = &gen->shape;
    if (replacements_left(gen) == 0) {
        return false;
    }
    const struct tms_planted *planted = &gen->planted;
    if (planted_left(planted) &&
        (planted->playing ||
         planted_time(gen) < planted_need(planted) + SCRIPT_AHEAD + 2 * (shape->nesting + 4))) {
        return false;
    }
    uint64_t spacing = shape->events / (shape->churn + 1);
    return gen->emitted >= (gen->replaced + 1) * spacing;
}

static void replacement_step(struct tms_gen *gen)
{
    struct tms_actor *first = &gen->actors[0];
    if (tms_actor_busy(first) || tms_actor_busy(gen->retiring)) {
        tms_actor_close_one(gen, tms_actor_busy(first) ? first : gen->retiring);
    } else if (gen->retiring->id != 0) {
        tms_actor_emit(gen, first, TMS_EVENT_JOIN, gen->retiring->id);
        gen->retiring->id = 0;
        gen->debt--;
    } else {
        fork_thread(gen, gen->retiring);
        gen->debt--;
        gen->replaced++;
        gen->retiring = NULL;
    }
}

static void begin_replacement(struct tms_gen *gen)
{
    uint64_t workers = gen->shape.threads - 1;
    gen->retiring = &gen->actors[1 + tms_random_below(&gen->random, workers)];
}

/* ---- the next thread -------------------------------------------------------------------- */

static bool reserved(const struct tms_gen *gen, const struct tms_actor *actor)
{
    const struct tms_planted *planted = &gen->planted;
    return planted->playing && (actor == planted->actor[0] || actor == planted->actor[1]);
}

static struct tms_actor *choose(struct tms_gen *gen)
{
    struct tms_actor *actor = gen->current;
    if (!tms_actor_busy(actor) || tms_chance(&gen->random, gen->shape.overlap)) {
        actor = some_thread(gen);
    }
    while (reserved(gen, actor)) {
        actor = following(gen, actor);
    }
    return gen->current = actor;
}

/* No slack is left: closes blocks, replaces threads, executes the script, joins threads. */
static void wind_down(struct tms_gen *gen)
{
    struct tms_actor *start = gen->current;
    struct tms_actor *actor = start;
    do {
        actor = following(gen, actor);
        if (tms_actor_busy(actor) && !reserved(gen, actor)) {
            tms_actor_close_one(gen, actor);
            gen->current = actor;
            return;
        }
    } while (actor != start);
    if (replacements_left(gen) > 0 && !gen->planted.playing) {
        begin_replacement(gen);
        replacement_step(gen);
    } else if (planted_left(&gen->planted)) {
        gen->planted.playing = true;
        planted_step(gen);
    } else {
        assert(gen->shape.fork_join);
        tms_actor_emit(gen, &gen->actors[0], TMS_EVENT_JOIN, gen->actors[++gen->joined].id);
        gen->debt--;
    }
}

static void next_event(struct tms_gen *gen)
{
    if (gen->forked + 1 < gen->shape.threads) {
        fork_thread(gen, &gen->actors[++gen->forked]);
        gen->debt--;
    } else if (gen->retiring != NULL) {
        replacement_step(gen);
    } else if (planted_turn(gen)) {
        planted_step(gen);
    } else if (tms_gen_slack(gen) == 0) {
        wind_down(gen);
    } else if (replacement_due(gen)) {
        begin_replacement(gen);
        replacement_step(gen);
    } else {
        tms_actor_step(gen, choose(gen));
    }
}

int64_t tms_gen_next(struct tms_gen *gen, struct tms_event *events, size_t room)
{
    uint64_t before = gen->emitted;
    gen->out = events;
    while (gen->emitted < gen->shape.events && gen->emitted - before < room && !gen->failed) {
        next_event(gen);
    }
    assert(gen->emitted < gen->shape.events || gen->debt == 0 || gen->failed);
    return gen->failed ? gen->failed : (int64_t)(gen->emitted - before);
}

uint64_t tms_gen_violation(const struct tms_gen *gen)
{
    return gen->planted.closed;
}

uint32_t tms_gen_cut_label(struct tms_gen *gen, uint64_t index)
{
    const struct tms_shape *shape = &gen->shape;
    assert(index < shape->cut);
    uint64_t apart = tms_part(shape->labels, index, shape->cut);
    return tms_gen_id(gen, TMS_POOL_LABEL, (gen->planted.first_cut + apart) % shape->labels);
}

/* ---- setting up ------------------------------------------------------------------------- */

/*
 * Blocks get their share of the events if they begin with this chance: an idle thread makes
 * either a block of the mean length, or an access or a short section under a lock.
 */
static uint64_t block_chance(const struct tms_shape *shape)
{
    const uint64_t section = 2 + (TMS_SECTION_MOST + 1) / 2;
    uint64_t unary_length =
        TMS_MILLION + (shape->locks > 0 ? TMS_ACQUIRE_CHANCE * (section - 1) : 0);
    uint64_t in_blocks = TMS_MILLION - shape->unary;
    tms_wide blocks = (tms_wide)in_blocks * unary_length;
    tms_wide all = blocks + (tms_wide)shape->unary * shape->length;
    return (uint64_t)((blocks << 32) / all);
}

static void set_up_planted(struct tms_gen *gen)
{
    struct tms_planted *planted = &gen->planted;
    const struct tms_script *script = tms_script(gen->shape.locks);
    planted->script = script;
    if (gen->shape.cut > 0) {
        planted->first_cut = tms_random_below(&gen->random, gen->shape.labels);
    }
    next_script(gen);
    planted->variable = tms_gen_intern(gen, TMS_CLASS_VARIABLE, "balance");
    planted->lock = script->locks > 0 ? tms_gen_intern(gen, TMS_CLASS_LOCK, "account") : 0;
}

static bool set_up_threads(struct tms_gen *gen)
{
    const struct tms_shape *shape = &gen->shape;
    gen->actors = calloc(shape->threads, sizeof *gen->actors);
    gen->labels = calloc(shape->threads * shape->nesting, sizeof *gen->labels);
    if (gen->actors == NULL || gen->labels == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < shape->threads; i++) {
        gen->actors[i].slot = i;
        gen->actors[i].lock = TMS_NO_LOCK;
        gen->actors[i].labels = &gen->labels[i * shape->nesting];
        if (i == 0 || !shape->fork_join) {
            tms_actor_name(gen, &gen->actors[i]);
        }
    }
    gen->current = gen->actors;
    gen->forked = shape->fork_join ? 0 : shape->threads;
    return true;
}

static bool set_up(struct tms_gen *gen)
{
    const struct tms_shape *shape = &gen->shape;
    const uint64_t counts[TMS_POOL_COUNT] = {[TMS_POOL_VARIABLE] = shape->variables,
                                             [TMS_POOL_LOCK] = shape->locks,
                                             [TMS_POOL_LABEL] = shape->labels,
                                             [TMS_POOL_LOCATION] = shape->locations};
    for (int i = 0; i < TMS_POOL_COUNT; i++) {
        gen->ids[i] = calloc(counts[i] + 1, sizeof *gen->ids[i]);
        if (gen->ids[i] == NULL) {
            return false;
        }
    }
    if (!set_up_threads(gen)) {
        return false;
    }
    gen->debt = tms_shape_least_events(shape);
    gen->block_chance = block_chance(shape);
    bool plant = tms_shape_planted(shape) > 0;
    if (plant) {
        set_up_planted(gen);
    }
    uint64_t locks = shape->locks - (plant ? gen->planted.script->locks : 0);
    return tms_shared_state_init(&gen->store, shape, shape->variables - plant, locks);
}

int tms_gen_new(struct tms_context *context, const struct tms_shape *shape, struct tms_gen **out)
{
    struct tms_gen *gen = calloc(1, sizeof *gen);
    if (gen == NULL) {
        return TMS_ERR_MEMORY;
    }
    gen->context = context;
    gen->shape = *shape;
    tms_random_seed(&gen->random, shape->seed);
    if (!set_up(gen)) {
        tms_gen_free(gen);
        return TMS_ERR_MEMORY;
    }
    *out = gen;
    return TMS_OK;
}

void tms_gen_free(struct tms_gen *gen)
{
    if (gen == NULL) {
        return;
    }
    for (int i = 0; i < TMS_POOL_COUNT; i++) {
        free(gen->ids[i]);
    }
    tms_shared_state_clear(&gen->store);
    free(gen->actors);
    free(gen->labels);
    free(gen);
}
