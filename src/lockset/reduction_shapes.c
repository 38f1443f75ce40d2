/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinct transactions of the engine reduction, and how they are judged (reduction.h).
 *
 * When a transaction ends it is judged by what is known so far. A failure is reported at once: no
 * later event can change it. If it would pass even if every variable raced and every lock ordered
 * something, it is dropped. Of the remaining ones each shape is kept once, and judged again at the
 * end.
 */
#include <assert.h>
#include <string.h>

#include "lockset/reduction.h"

void tms_rd_clear_shapes(struct tms_reduction *r)
{
    struct tms_memory *memory = &r->host->memory;

    tms_release(memory, r->shapes, r->shape_capacity, sizeof(*r->shapes));
    tms_hashtable_clear(&r->index, memory);
    tms_release(memory, r->tokens, r->token_capacity, sizeof(*r->tokens));
    tms_release(memory, r->nested, r->nested_capacity, sizeof(*r->nested));
    tms_release(memory, r->refuted, r->refuted_capacity, sizeof(*r->refuted));
}

/* ---- judging ---------------------------------------------------------------------------- */

static bool has_contact(const struct tms_reduction *r, uint32_t content)
{
    size_t count = 0;

    if (content == BUSY) {
        return true;
    }
    const uint32_t *variables = tms_lockset_locks(&r->contents, content, &count);
    for (size_t i = 0; i < count; i++) {
        if (tms_races_contact(&r->movers.races, variables[i])) {
            return true;
        }
    }
    return false;
}

static enum tms_mover mover_of(const struct tms_reduction *r,
                               const struct tms_reduction_token *token)
{
    if (token->content == ACCESS) {
        return tms_races_racy(&r->movers.races, token->target) ? TMS_MOVES_NOT : TMS_MOVES_BOTH;
    }
    if (!tms_lock_orders(&r->movers.locks, token->target) || !has_contact(r, token->content)) {
        return TMS_MOVES_BOTH;
    }
    return token->spot.which == RELEASED ? TMS_MOVES_LEFT : TMS_MOVES_RIGHT;
}

/* The worst that it may turn out to be. A section without accesses stays what it is. */
static enum tms_mover worst_of(const struct tms_reduction_token *token)
{
    if (token->content == ACCESS) {
        return TMS_MOVES_NOT;
    }
    if (token->content == TMS_LOCKSET_EMPTY) {
        return TMS_MOVES_BOTH;
    }
    return token->spot.which == RELEASED ? TMS_MOVES_LEFT : TMS_MOVES_RIGHT;
}

/* A transaction whose tokens are in order; `commit` and `late` are set if it fails. */
struct judged {
    const struct tms_transaction *name;
    const struct tms_reduction_token *tokens;
    size_t token_count;
    const struct tms_reduction_nested *nested;
    size_t nested_count;
    const struct tms_reduction_token *commit, *late;
};

static bool fails(const struct tms_reduction *r, struct judged *judged, bool worst)
{
    judged->commit = NULL;
    for (size_t i = 0; i < judged->token_count; i++) {
        const struct tms_reduction_token *token = &judged->tokens[i];
        enum tms_mover mover = worst ? worst_of(token) : mover_of(r, token);
        if (judged->commit != NULL && (mover == TMS_MOVES_RIGHT || mover == TMS_MOVES_NOT)) {
            judged->late = token;
            return true;
        }
        if (judged->commit == NULL && (mover == TMS_MOVES_LEFT || mover == TMS_MOVES_NOT)) {
            judged->commit = token;
        }
    }
    return false;
}

/*
 * ---- reports ----------------------------------------------------------------------------
 */

static struct tms_turn turn_of(const struct judged *judged, const struct tms_reduction_token *token,
                               const char *role)
{
    return (struct tms_turn){.event = token->spot.event,
                             .thread = judged->name->thread,
                             .target = token->target,
                             .location = token->spot.location,
                             .kind = token->spot.event_kind,
                             .role = role};
}

/* The transaction, and the blocks in it that hold both the commit point and the late operation. */
static size_t list_refuted(struct tms_reduction *r, const struct judged *judged)
{
    size_t count = 0;

    assert(judged->commit->spot.event < judged->late->spot.event);
    if (!RESERVE(r, &r->refuted, &r->refuted_capacity, judged->nested_count + 1)) {
        return 0;
    }
    r->refuted[count++] = *judged->name;
    for (size_t i = 0; i < judged->nested_count; i++) {
        const struct tms_reduction_nested *nested = &judged->nested[i];
        if (nested->block.begin_event < judged->commit->spot.event &&
            nested->end > judged->late->spot.event) {
            r->refuted[count++] = nested->block;
        }
    }
    return count;
}

static void tell(struct tms_reduction *r, const struct judged *judged, uint64_t repeats)
{
    const struct tms_turn schedule[] = {
        turn_of(judged, judged->commit, "commit point"),
        turn_of(judged, judged->late, "comes too late"),
    };
    size_t refuted_count = list_refuted(r, judged);

    tms_host_violation(r->host, &(struct tms_violation){
                                    .kind = "reduction",
                                    .evidence = TMS_EVIDENCE_POTENTIAL,
                                    .event = judged->late->spot.event,
                                    .repeats = repeats,
                                    .thread = judged->name->thread,
                                    .not_atomic = true,
                                    .transaction = *judged->name,
                                    .refuted = r->refuted,
                                    .refuted_count = refuted_count,
                                    .schedule = schedule,
                                    .schedule_length = 2,
                                });
}

/* ---- keeping ---------------------------------------------------------------------------- */

static uint64_t hash_of(const struct judged *judged)
{
    uint64_t hash = tms_mix(judged->token_count, judged->name->label);

    for (size_t i = 0; i < judged->token_count; i++) {
        const struct tms_reduction_token *token = &judged->tokens[i];
        hash = tms_mix(hash, (uint64_t)token->content << 32 | token->target);
        hash = tms_mix(hash, token->spot.which);
    }
    for (size_t i = 0; i < judged->nested_count; i++) {
        const struct tms_reduction_nested *nested = &judged->nested[i];
        hash = tms_mix(hash, (uint64_t)nested->from << 32 | nested->to);
        hash = tms_mix(hash, nested->block.label);
    }
    return hash;
}

static bool same_tokens(const struct tms_reduction_token *a, const struct tms_reduction_token *b,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a[i].target != b[i].target || a[i].content != b[i].content ||
            a[i].spot.which != b[i].spot.which) {
            return false;
        }
    }
    return true;
}

static bool same_nested(const struct tms_reduction_nested *a, const struct tms_reduction_nested *b,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a[i].block.label != b[i].block.label || a[i].from != b[i].from || a[i].to != b[i].to) {
            return false;
        }
    }
    return true;
}

static bool has_shape(const struct tms_reduction *r, const struct tms_reduction_shape *shape,
                      const struct judged *judged)
{
    assert(shape->token_start + shape->token_count <= r->token_count);
    return shape->name.label == judged->name->label && shape->token_count == judged->token_count &&
           shape->nested_count == judged->nested_count &&
           same_tokens(&r->tokens[shape->token_start], judged->tokens, judged->token_count) &&
           (judged->nested_count == 0 ||
            same_nested(&r->nested[shape->nested_start], judged->nested, judged->nested_count));
}

/* 1 + the place of the shape, 0: it is new. */
static uint32_t find_shape(const struct tms_reduction *r, const struct judged *judged,
                           uint64_t hash)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&r->index, hash, &walk);

    assert(r->shape_count == r->index.count);
    while (found != 0 && !has_shape(r, &r->shapes[found - 1], judged)) {
        found = tms_hash_next(&walk);
    }
    return found;
}

static void add_shape(struct tms_reduction *r, const struct judged *judged, uint64_t hash)
{
    if (!RESERVE(r, &r->shapes, &r->shape_capacity, r->shape_count + 1) ||
        !RESERVE(r, &r->tokens, &r->token_capacity, r->token_count + judged->token_count) ||
        !RESERVE(r, &r->nested, &r->nested_capacity, r->nested_count + judged->nested_count) ||
        !tms_rd_check(r, tms_hashtable_add(&r->index, &r->host->memory, hash,
                                           (uint32_t)r->shape_count + 1))) {
        return;
    }
    assert(judged->token_count > 1);
    r->shapes[r->shape_count++] = (struct tms_reduction_shape){
        .name = *judged->name,
        .token_start = r->token_count,
        .nested_start = r->nested_count,
        .token_count = (uint32_t)judged->token_count,
        .nested_count = (uint32_t)judged->nested_count,
    };
    memcpy(&r->tokens[r->token_count], judged->tokens,
           judged->token_count * sizeof(*judged->tokens));
    r->token_count += judged->token_count;
    if (judged->nested_count > 0) {
        memcpy(&r->nested[r->nested_count], judged->nested,
               judged->nested_count * sizeof(*judged->nested));
        r->nested_count += judged->nested_count;
    }
}

static void keep(struct tms_reduction *r, const struct judged *judged)
{
    uint64_t hash = hash_of(judged);
    uint32_t found = find_shape(r, judged, hash);

    if (found != 0) {
        r->shapes[found - 1].repeats++;
    } else {
        add_shape(r, judged, hash);
    }
}

void tms_rd_judge(struct tms_reduction *r, struct tms_reduction_running *running)
{
    struct judged judged = {&running->name,        r->word, r->word_count, running->nested,
                            running->nested_count, NULL,    NULL};

    if (fails(r, &judged, false)) {
        tell(r, &judged, 0);
    } else if (fails(r, &judged, true)) {
        keep(r, &judged);
    }
}

void tms_rd_judge_kept(struct tms_reduction *r)
{
    for (size_t i = 0; i < r->shape_count && r->host->failed == TMS_OK; i++) {
        const struct tms_reduction_shape *shape = &r->shapes[i];
        struct judged judged = {&shape->name,
                                &r->tokens[shape->token_start],
                                shape->token_count,
                                shape->nested_count > 0 ? &r->nested[shape->nested_start] : NULL,
                                shape->nested_count,
                                NULL,
                                NULL};
        if (fails(r, &judged, false)) {
            tell(r, &judged, shape->repeats);
        }
    }
}
