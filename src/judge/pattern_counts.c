/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings, by block and object. Occurrences are counted; for each pattern the first one is
 * kept, with the blocks that were open then.
 */
#include <assert.h>
#include <string.h>

#include "judge/judge_pools.h"

TMS_JUDGE_DEFINE_POOL(cut, cuts, next)

/* ---- findings ------------------------------------------------------------------------- */

static uint32_t object_of(struct tms_judge *judge, uint32_t variable)
{
    if (variable == 0) {
        return 0;
    }
    if (judge->defers) { /* numbers of variables are used again */
        return judge->port.object_of(judge->port.user, variable);
    }
    if (!TMS_RESERVE(judge->memory, &judge->objects, &judge->object_capacity, (size_t)variable + 1,
                     1024)) {
        judge->failed = true;
        return 0;
    }
    if (judge->objects[variable] == 0) {
        judge->objects[variable] = judge->port.object_of(judge->port.user, variable);
    }
    return judge->objects[variable];
}

static uint64_t name_of(const struct tms_judge *judge, uint32_t variable)
{
    return variable != 0 && judge->port.name_of != NULL
               ? judge->port.name_of(judge->port.user, variable)
               : variable;
}

void tms_judge_on_variables(struct tms_judge *judge, struct tms_judge_case *found,
                            uint32_t variable, uint32_t other)
{
    found->variable = name_of(judge, variable);
    found->other = name_of(judge, other);
    found->objects[0] = object_of(judge, variable);
    found->objects[1] = object_of(judge, other);
}

static uint64_t hash_parts(uint32_t function, uint32_t object, uint32_t other)
{
    return tms_mix(tms_mix(function, object), other);
}

static bool is_finding(const struct tms_judge_finding *finding, uint32_t function, uint32_t object,
                       uint32_t other)
{
    return finding->function == function && finding->object == object && finding->other == other;
}

uint32_t tms_judge_finding(struct tms_judge *judge, uint32_t function, uint32_t object,
                           uint32_t other)
{
    if (other == object) {
        other = 0;
    } else if (other != 0 && other < object) {
        uint32_t swapped = object;
        object = other;
        other = swapped;
    }

    assert(judge->failed || (object != 0 && (other == 0 || object < other)));
    if (judge->failed) {
        return 0;
    }
    uint64_t hash = hash_parts(function, object, other);
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&judge->finding_index, hash, &walk);
    while (found != 0 && !is_finding(&judge->findings.at[found], function, object, other)) {
        found = tms_hash_next(&walk);
    }
    if (found == 0) {
        found = (uint32_t)judge->findings.count + 1;
        if (!TMS_RESERVE(judge->memory, &judge->findings.at, &judge->findings.capacity,
                         (size_t)found + 1, 16) ||
            !tms_hashtable_add(&judge->finding_index, judge->memory, hash, found)) {
            judge->failed = true;
            return 0;
        }
        judge->findings.at[++judge->findings.count] =
            (struct tms_judge_finding){.function = function, .object = object, .other = other};
    }
    assert(judge->findings.count == judge->finding_index.count);
    return found;
}

/* ---- activations that were cut -------------------------------------------------------- */

/* An activation counts once for each finding. */
static void count_cut(struct tms_judge *judge, uint32_t number, uint32_t finding)
{
    struct tms_judge_node *node = &judge->nodes.at[number];

    assert(node->used && finding <= judge->findings.count);
    for (uint32_t at = node->cuts; at != 0; at = judge->cuts.at[at].next) {
        if (judge->cuts.at[at].finding == finding) {
            return;
        }
    }
    uint32_t cut = tms_judge_take_cut(judge);
    if (cut == 0) {
        return;
    }
    if (node->cuts == 0 && node->end != 0 && !node->delayed) {
        const struct tms_judge_function late = {.counted_cut = 1}; /* it is known only now */
        tms_judge_add_function(judge, node->function, &late);
    }
    judge->cuts.at[cut] = (struct tms_judge_cut){finding, node->cuts};
    node->cuts = cut;
    judge->findings.at[finding].cut++;
}

/* ---- patterns ------------------------------------------------------------------------- */

/* Can a pair be more than a note, if the culprit is not a driver? */
static bool is_firm(const struct tms_judge_case *found)
{
    if (found->pattern != TMS_PATTERN_INTERLEAVED_WRITES) {
        return found->pattern == TMS_PATTERN_INCONSISTENT_READS ||
               found->pattern == TMS_PATTERN_STALE_DECISION;
    }
    return found->own[0].kind == TMS_JUDGE_W && found->own[1].kind == TMS_JUDGE_W &&
           found->foreign[0].kind == TMS_JUDGE_W && found->foreign[1].kind == TMS_JUDGE_W;
}

void tms_judge_decide_places(struct tms_judge_case *found, bool *mild)
{
    bool same = found->own[0].location != 0 && found->own[0].location == found->own[1].location;

    assert(found->pattern < TMS_PATTERN_COUNT);
    if (same && (found->pattern == TMS_PATTERN_CHANGED_BETWEEN_READS ||
                 found->pattern == TMS_PATTERN_RECHECKED)) {
        found->pattern = TMS_PATTERN_POLLED;
        *mild = false;
    }
    *mild = *mild || (same && found->pattern == TMS_PATTERN_INTERMEDIATE_VALUE_SEEN);
}

/* The update with the first value was completed, or the value is the variable's initial one. */
static bool is_mild(const struct tms_judge_case *found)
{
    if (found->other == 0 && found->own[0].initial) {
        return true;
    }
    bool anew = found->pattern == TMS_PATTERN_CHANGED_BETWEEN_READS ||
                found->pattern == TMS_PATTERN_INCONSISTENT_READS ||
                found->pattern == TMS_PATTERN_STALE_DECISION;

    return anew && found->completed;
}

/*
 * The place where the second step reads with a lock held, which may turn out to be a waiting place.
 */
static uint32_t waiting_place(const struct tms_judge *judge, const struct tms_judge_case *found)
{
    const struct tms_judge_step *second = &found->own[1];
    bool may_wait = second->kind != TMS_JUDGE_W && found->locked && second->location != 0;

    return may_wait ? tms_judge_place_of(judge, second->location) : 0;
}

/* Does the pattern depend on the places of both steps? */
static bool depends_on_places(const struct tms_judge_case *found)
{
    return found->own[0].location != 0 && found->own[1].location != 0 &&
           (found->pattern == TMS_PATTERN_CHANGED_BETWEEN_READS ||
            found->pattern == TMS_PATTERN_RECHECKED ||
            found->pattern == TMS_PATTERN_INTERMEDIATE_VALUE_SEEN);
}

static bool are_alike(const struct tms_judge_evidence *one, const struct tms_judge_evidence *other)
{
    return one->pattern == other->pattern && one->firm == other->firm &&
           one->culprit == other->culprit && one->mild == other->mild &&
           one->place == other->place && one->places[0] == other->places[0] &&
           one->places[1] == other->places[1];
}

static uint32_t evidence_of(struct tms_judge *judge, uint32_t finding,
                            const struct tms_judge_evidence *wanted)
{
    uint32_t number = judge->findings.at[finding].evidence;

    for (; number != 0; number = judge->evidence.at[number].next) {
        if (are_alike(&judge->evidence.at[number], wanted)) {
            return number;
        }
    }
    if (!TMS_RESERVE(judge->memory, &judge->evidence.at, &judge->evidence.capacity,
                     judge->evidence.count + 2, 16)) {
        judge->failed = true;
        return 0;
    }
    assert(judge->evidence.count + 1 < judge->evidence.capacity);
    number = (uint32_t)++judge->evidence.count;
    judge->evidence.at[number] = *wanted;
    judge->evidence.at[number].finding = finding;
    judge->evidence.at[number].next = judge->findings.at[finding].evidence;
    judge->findings.at[finding].evidence = number;
    return number;
}

static struct tms_transaction transaction_of(const struct tms_judge *judge, uint32_t number)
{
    const struct tms_judge_node *node = &judge->nodes.at[number];

    assert(number > 0 && node->used);
    return (struct tms_transaction){.begin_event = node->begin,
                                    .thread = node->thread,
                                    .label = node->label,
                                    .location = node->location};
}

static struct tms_transaction foreign_block(const struct tms_judge *judge,
                                            const struct tms_judge_foreign *access)
{
    if (access->node != 0) {
        return transaction_of(judge, access->node);
    }
    return (struct tms_transaction){.begin_event = access->event,
                                    .thread = access->thread,
                                    .location = access->location,
                                    .unary = true};
}

/* The activations around the block that were open at the second step. */
static size_t outer_of(const struct tms_judge *judge, const struct tms_judge_case *found,
                       struct tms_transaction *outer)
{
    uint32_t number = judge->nodes.at[found->block].parent;
    size_t count = 0;

    for (; number != 0; number = judge->nodes.at[number].parent) {
        const struct tms_judge_node *node = &judge->nodes.at[number];
        if (node->end == 0 || node->end > found->own[1].event) {
            if (outer != NULL) {
                outer[count] = transaction_of(judge, number);
            }
            count++;
        }
    }
    return count;
}

static void keep_first(struct tms_judge *judge, struct tms_judge_evidence *evidence,
                       const struct tms_judge_case *found)
{
    size_t count = outer_of(judge, found, NULL);
    struct tms_transaction *outer =
        tms_resize(judge->memory, evidence->outer, evidence->outer_capacity, count + 1,
                   sizeof(*evidence->outer));

    if (outer == NULL) {
        judge->failed = true;
        return;
    }
    evidence->outer = outer;
    evidence->outer_capacity = count + 1;
    evidence->outer_count = count;
    assert(evidence->outer_count < evidence->outer_capacity);
    outer_of(judge, found, outer);
    evidence->first = *found;
    evidence->block = transaction_of(judge, found->block);
    evidence->foreign = foreign_block(judge, &found->foreign[0]);
}

/* Needed because cases are decided late, and not in the order of events. */
static bool is_earlier(const struct tms_judge_case *a, const struct tms_judge_case *b)
{
    return a->own[1].event < b->own[1].event;
}

uint32_t tms_judge_count(struct tms_judge *judge, uint32_t finding,
                         const struct tms_judge_evidence *wanted,
                         const struct tms_judge_case *found, uint64_t count, bool *first)
{
    uint32_t number = finding != 0 ? evidence_of(judge, finding, wanted) : 0;

    if (number != 0) {
        struct tms_judge_evidence *evidence = &judge->evidence.at[number];
        *first = evidence->count == 0 || is_earlier(found, &evidence->first);
        evidence->count += count;
        judge->occurrences += count;
    }
    return number;
}

static struct tms_judge_evidence evidence_for(const struct tms_judge *judge,
                                              struct tms_judge_case *found)
{
    bool firm = found->other != 0 && is_firm(found);
    uint32_t common = firm ? tms_judge_common(judge, &found->foreign[0], &found->foreign[1]) : 0;
    struct tms_judge_evidence wanted = {.mild = is_mild(found), .firm = common != 0};

    if (common != 0) {
        wanted.culprit = judge->nodes.at[common].function;
    }
    if (!judge->defers) {
        tms_judge_decide_places(found, &wanted.mild);
    } else if (depends_on_places(found)) {
        wanted.places[0] = tms_judge_place_of(judge, found->own[0].location);
        wanted.places[1] = tms_judge_place_of(judge, found->own[1].location);
    }
    wanted.pattern = found->pattern;
    wanted.place = waiting_place(judge, found);
    return wanted;
}

void tms_judge_found(struct tms_judge *judge, const struct tms_judge_case *open)
{
    struct tms_judge_case found = *open;
    struct tms_judge_evidence wanted = evidence_for(judge, &found);
    uint32_t finding = tms_judge_finding(judge, judge->nodes.at[found.block].function,
                                         found.objects[0], found.objects[1]);
    bool first;
    uint32_t number = tms_judge_count(judge, finding, &wanted, &found, 1, &first);

    assert(open->pattern < TMS_PATTERN_COUNT && open->block != 0);
    assert(open->own[0].event < open->own[1].event);
    if (number == 0) {
        return;
    }
    count_cut(judge, found.block, finding);
    if (first) {
        keep_first(judge, &judge->evidence.at[number], &found);
    }
    if (judge->port.found != NULL) {
        judge->port.found(judge->port.user, number, first);
    }
}
