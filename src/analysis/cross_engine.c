/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the results of engines; see cross_engine.h.
 *
 * Two findings are the same if they are about blocks of one label, and either conflict on the same
 * object or are interleaved with blocks of one label. Either condition is needed: a lock-based
 * engine sees the conflict on the lock, an access-based one on the variable that it protects, and a
 * block that releases its lock half-way is one bug, whichever thread runs in between. An engine
 * that keeps no cycle names the block alone, so the label decides. Observed cycles are the same
 * only if their ids are: they are facts, and two of them are two. Predictions of one engine are the
 * same if all variables, locks and nested blocks are, whichever thread comes in between and on
 * which side that was in this run. Races and deadlocks are the same if their ids are.
 *
 * Each finding is entered into a hash table under each of these features; later ones look theirs
 * up. So the cost is linear in the number of findings.
 */
#include "analysis/cross_engine.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/hash_mix.h"

/* What two findings can have in common. */
enum feature {
    FEATURE_ID,    /* all of it */
    FEATURE_THING, /* label, and what it conflicts on */
    FEATURE_OTHER, /* label, and that of the other block */
    FEATURE_LABEL, /* the label; registered by all, looked up by those without a cycle */
    FEATURE_PLACE, /* label, things and blocks inside, for those of one engine */
};

struct key {
    uint64_t hash;
    const char *id;            /* of the first finding that has it; NULL: free */
    const struct tms_run *run; /* … and its run */
};

struct index {
    struct tms_memory *memory;
    struct key *keys; /* open-addressed */
    size_t size, count;
    bool apart;  /* violations are listed individually */
    bool shared; /* has features that findings of another run may have */
};

/* ---- the index -------------------------------------------------------------------------- */

static struct key *find_key(const struct index *index, uint64_t hash)
{
    size_t at = hash & (index->size - 1);

    while (index->keys[at].id != NULL && index->keys[at].hash != hash) {
        at = (at + 1) & (index->size - 1);
    }
    return &index->keys[at];
}

static bool grow(struct index *index)
{
    struct index larger = {.memory = index->memory,
                           .size = index->size == 0 ? 256 : index->size * 2};

    larger.keys = tms_table(index->memory, larger.size, sizeof(*larger.keys));
    if (larger.keys == NULL) {
        return false;
    }
    for (size_t i = 0; i < index->size; i++) {
        if (index->keys[i].id != NULL) {
            *find_key(&larger, index->keys[i].hash) = index->keys[i];
        }
    }
    tms_release(index->memory, index->keys, index->size, sizeof(*index->keys));
    index->keys = larger.keys;
    index->size = larger.size;
    return true;
}

static int put(struct index *index, uint64_t hash, const char *id, const struct tms_run *run)
{
    if (index->count * 2 >= index->size && !grow(index)) {
        return TMS_ERR_MEMORY;
    }
    struct key *key = find_key(index, hash);
    if (key->id == NULL) {
        *key = (struct key){hash, id, run};
        index->count++;
    }
    return TMS_OK;
}

/* ---- features --------------------------------------------------------------------------- */

/* Called for each feature; a result other than 0 ends the walk. */
struct walk {
    struct index *index;
    const struct tms_run *run; /* the run of the finding */
    const struct tms_finding *finding;
    const char *id; /* the id found, or the id to be entered */
    int (*step)(struct walk *walk, uint64_t hash);
};

static const char *look_up(const struct index *index, uint64_t hash, const struct tms_run *not_of)
{
    const struct key *key = index->size > 0 ? find_key(index, hash) : NULL;

    return key != NULL && key->run != not_of ? key->id : NULL;
}

static int seek(struct walk *walk, uint64_t hash)
{
    walk->id = look_up(walk->index, hash, walk->run);
    return walk->id != NULL;
}

static int enter(struct walk *walk, uint64_t hash)
{
    return put(walk->index, hash, walk->id, walk->run);
}

/* Blocks without label are distinguished by where they begin. */
static uint64_t hash_of(const struct tms_finding *finding, enum feature feature, unsigned cls,
                        uint32_t id)
{
    const struct tms_transaction *block = &finding->transaction;
    uint64_t hash = tms_mix(0, (uint64_t)id << 32 | cls << 8 | feature);

    hash = tms_mix(hash, (uint64_t)block->label << 32 | (block->label == 0 ? block->location : 0));
    return block->label == 0 && block->location == 0 ? tms_mix(hash, block->begin_event) : hash;
}

static int walk_cycle(struct walk *walk)
{
    const struct tms_finding *finding = walk->finding;
    int code = 0;

    for (size_t i = 0; i < finding->cycle_length && code == 0; i++) {
        const struct tms_step *step = &finding->cycle[i];
        if (step->kind != TMS_EDGE_PROGRAM_ORDER && step->on_class != TMS_CLASS_THREAD) {
            uint32_t on = step->on_alias != 0 ? step->on_alias : step->on;
            code = walk->step(walk, hash_of(finding, FEATURE_THING, step->on_class, on));
        }
        if (code == 0 && i > 0 && step->from.label != 0) {
            code = walk->step(walk,
                              hash_of(finding, FEATURE_OTHER, TMS_CLASS_LABEL, step->from.label));
        }
    }
    return code;
}

/* For a finding without a cycle: the objects of the events in its schedule. */
static int walk_schedule(struct walk *walk)
{
    const struct tms_finding *finding = walk->finding;
    int code = 0;

    for (size_t i = 0; i < finding->schedule_length && code == 0; i++) {
        const struct tms_turn *turn = &finding->schedule[i];
        enum tms_class cls = tms_event_class((enum tms_event_kind)turn->kind);
        if (cls == TMS_CLASS_LOCK || cls == TMS_CLASS_VARIABLE) {
            code = walk->step(walk, hash_of(finding, FEATURE_THING, cls, turn->target));
        }
    }
    return code;
}

static bool has_cycle(const struct tms_finding *finding)
{
    return finding->cycle_length > 1;
}

/* A finding that knows only its label matches any other with that label. */
static int walk_features(struct walk *walk)
{
    bool cycle = has_cycle(walk->finding);
    int code = cycle ? walk_cycle(walk) : walk_schedule(walk);

    if (code == 0 && (!cycle || walk->step == enter)) {
        code = walk->step(walk, hash_of(walk->finding, FEATURE_LABEL, 0, 0));
    }
    return code;
}

/* ---- findings --------------------------------------------------------------------------- */

/* The first letter decides nearly always. */
static inline bool is_of_kind(const struct tms_finding *finding, const char *kind)
{
    return finding->kind[0] == kind[0] && strcmp(finding->kind, kind) == 0;
}

static bool cuts_block(const struct tms_finding *finding)
{
    return !is_of_kind(finding, "race") && !is_of_kind(finding, "deadlock");
}

static uint64_t hash_of_id(const struct tms_finding *finding)
{
    return XXH3_64bits_withSeed(finding->id, strlen(finding->id), FEATURE_ID);
}

/* Is it compared by features? Observed findings, races and deadlocks are compared by id. */
static bool has_features(const struct tms_finding *finding)
{
    bool happened = finding->evidence == TMS_EVIDENCE_OBSERVED && has_cycle(finding);

    return cuts_block(finding) && !happened;
}

/* Is there an entry with that label? If not, no other feature has one. */
static bool knows_label(const struct index *index, const struct tms_finding *finding)
{
    return find_key(index, hash_of(finding, FEATURE_LABEL, 0, 0))->id != NULL;
}

static const char *find_same(struct index *index, const struct tms_run *run,
                             const struct tms_finding *finding)
{
    struct walk walk = {.index = index, .run = run, .finding = finding, .step = seek};

    if (!index->shared) {
        return NULL;
    }
    if (!has_features(finding)) {
        return look_up(index, hash_of_id(finding), run);
    }
    return knows_label(index, finding) && walk_features(&walk) != 0 ? walk.id : NULL;
}

/* A finding that is the same as an earlier one adds its features to that one. */
static int register_finding(struct index *index, const struct tms_run *run,
                            const struct tms_finding *finding)
{
    struct walk walk = {.index = index, .run = run, .finding = finding, .step = enter};

    index->shared = true;
    walk.id = finding->same_as != NULL ? finding->same_as : finding->id;
    int code = cuts_block(finding) ? walk_features(&walk) : TMS_OK;
    return code == TMS_OK ? put(index, hash_of_id(finding), walk.id, run) : code;
}

static int mark_same(struct index *index, struct tms_run *run, size_t at)
{
    const struct tms_finding *finding = &run->result.findings[at];
    uint64_t place =
        tms_mix(hash_of(finding, FEATURE_PLACE, 0, 0), tms_findings_place(run->host.findings, at));
    const char *same = find_same(index, run, finding);

    if (same == NULL && !index->apart && has_features(finding) &&
        finding->evidence != TMS_EVIDENCE_OBSERVED) {
        same = look_up(index, place, NULL);
    }
    tms_findings_same(run->host.findings, at, same);
    return put(index, place, same != NULL ? same : finding->id, run);
}

/*
 * The order of comparison: stronger evidence first, then findings with more detail and without a
 * caveat.
 */
static unsigned turn_of(const struct tms_finding *finding)
{
    return 4u * finding->evidence + 2u * !has_cycle(finding) + (finding->caveat != NULL);
}

#define TURN_COUNT (4u * (TMS_EVIDENCE_POTENTIAL + 1))

/* Computes the turn of every finding once, so that each pass only compares a byte. */
static bool take_turns(struct tms_memory *memory, struct tms_run *run)
{
    size_t count = run->result.finding_count;

    run->turns = 0;
    run->turn_of = tms_resize(memory, NULL, 0, count, sizeof(*run->turn_of));
    for (size_t i = 0; i < count && run->turn_of != NULL; i++) {
        run->turn_of[i] = (uint8_t)turn_of(&run->result.findings[i]);
        run->turns |= 1u << run->turn_of[i];
    }
    return run->turn_of != NULL || count == 0;
}

/* Will findings of another run be compared, now or later? */
static bool others_follow(const struct tms_analysis *analysis, const struct tms_run *run,
                          unsigned turn)
{
    bool follow = false;

    for (size_t i = 0; i < analysis->run_count; i++) {
        const struct tms_run *other = &analysis->runs[i];
        follow = follow || (other != run && other->turns >> turn != 0);
    }
    return follow;
}

static int compare(struct tms_analysis *analysis, struct index *index, struct tms_run *run,
                   unsigned turn)
{
    const struct tms_result *result = &run->result;
    bool others = others_follow(analysis, run, turn);
    int code = TMS_OK;

    for (size_t i = 0; i < result->finding_count && code == TMS_OK; i++) {
        if (run->turn_of[i] != turn) {
            continue;
        }
        code = mark_same(index, run, i);
        if (others && code == TMS_OK) {
            code = register_finding(index, run, &result->findings[i]);
        }
    }
    return code;
}

static int compare_all(struct tms_analysis *analysis)
{
    struct index index = {.memory = &analysis->memory, .apart = analysis->settings.all};
    int code = TMS_OK;

    for (size_t i = 0; i < analysis->run_count; i++) {
        if (!take_turns(&analysis->memory, &analysis->runs[i])) {
            code = TMS_ERR_MEMORY;
        }
    }
    for (unsigned turn = 0; turn < TURN_COUNT; turn++) {
        for (size_t i = 0; i < analysis->run_count && code == TMS_OK; i++) {
            struct tms_run *run = tms_analysis_run(analysis, i);
            if (run->turns >> turn & 1) {
                code = compare(analysis, &index, run, turn);
            }
        }
    }
    for (size_t i = 0; i < analysis->run_count; i++) {
        struct tms_run *run = &analysis->runs[i];
        tms_release(&analysis->memory, run->turn_of, run->result.finding_count,
                    sizeof(*run->turn_of));
        run->turn_of = NULL;
    }
    tms_release(index.memory, index.keys, index.size, sizeof(*index.keys));
    return code;
}

/* ---- assumptions ------------------------------------------------------------------------ */

/* The engines whose assumptions another engine can check; `blocks` detects deadlocks itself. */
#define PREDICTS  "sidetrack"
#define RACES     "fasttrack"
#define DEADLOCKS "goodlock"

static const struct tms_result *result_of(const struct tms_analysis *analysis, const char *engine)
{
    for (size_t i = 0; i < analysis->run_count; i++) {
        if (strcmp(analysis->runs[i].engine->info.name, engine) == 0) {
            return &analysis->runs[i].result;
        }
    }
    return NULL;
}

/* " Races: fasttrack found none." or " Races were not checked; …". */
static void write_check(FILE *out, const char *what, const char *engine,
                        const struct tms_result *result)
{
    bool found = result != NULL && result->verdict == result->engine->found;

    if (result == NULL) {
        fprintf(out, " %s were not checked; add %s to --engine.", what, engine);
    } else if (!found) {
        fprintf(out, " %s: %s found none%s.", what, engine,
                result->complete ? " in this run" : ", but did not see everything");
    } else {
        fprintf(out, " %s: %s found %" PRIu64, what, engine, result->violations);
        if (result->first_violation_event != 0) {
            fprintf(out, ", the first at event %" PRIu64, result->first_violation_event);
        }
        fputs(", so this may not hold.", out);
    }
}

/*
 * Could accesses have been checked for races? A watched program checks its accesses itself, and
 * passes them on only if an engine needs them, so imported results count too.
 */
static bool has_accesses(const struct tms_analysis *analysis)
{
    return tms_name_count(analysis->context, TMS_CLASS_VARIABLE) > 0 || analysis->observed > 0;
}

static void assume(const struct tms_analysis *analysis, struct tms_run *run)
{
    FILE *out = fmemopen(run->assumption, sizeof(run->assumption), "w");

    if (out == NULL) {
        return; /* the sentence is a courtesy */
    }
    fputs("A predicted schedule can happen if the program is free of data races and deadlocks.",
          out);
    if (has_accesses(analysis)) {
        write_check(out, "Races", RACES, result_of(analysis, RACES));
    } else {
        fputs(" Races were not checked, because no reads and writes were recorded.", out);
    }
    write_check(out, "Deadlocks", DEADLOCKS, result_of(analysis, DEADLOCKS));
    fclose(out);
    run->result.assumption = run->assumption;
}

static void assume_all(struct tms_analysis *analysis)
{
    for (size_t i = 0; i < analysis->run_count; i++) {
        struct tms_run *run = &analysis->runs[i];
        if (strcmp(run->engine->info.name, PREDICTS) == 0 && run->result.violations > 0) {
            assume(analysis, run);
        }
    }
}

int tms_cross_engine_link(struct tms_analysis *analysis)
{
    assume_all(analysis);
    return compare_all(analysis);
}
