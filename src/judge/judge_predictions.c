/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges predictions by data: by what the two sections of the block and the section of the culprit
 * (with two locks, one section of each) read and write, as learnt for the places where their locks
 * are acquired.
 */
#include <assert.h>
#include <string.h>

#include "base/context.h"
#include "judge/judge_entries.h"
#include "judge/pattern_levels.h"

enum { R = 1 << TMS_JUDGE_R, W = 1 << TMS_JUDGE_W, U = 1 << TMS_JUDGE_U };

static bool reads(unsigned kinds)
{
    return (kinds & (R | U)) != 0;
}

static bool writes(unsigned kinds)
{
    return (kinds & (W | U)) != 0;
}

/* What three sections do to one variable, by the table of docs/user/judge.md; COUNT: nothing. */
static enum tms_pattern one_variable(unsigned first, unsigned between, unsigned second)
{
    bool update = reads(first) && writes(first);

    if (!writes(first)) {
        return !writes(between) ? TMS_PATTERN_COUNT
               : reads(second)  ? TMS_PATTERN_CHANGED_BETWEEN_READS
                                : TMS_PATTERN_LOST_UPDATE;
    }
    if (update && writes(between) && reads(second) && writes(second)) {
        return TMS_PATTERN_INTERLEAVED_UPDATES;
    }
    if ((first & U) && reads(between) && (second & U)) {
        return TMS_PATTERN_INTERLEAVED_UPDATES;
    }
    if (writes(between) && reads(second)) {
        return TMS_PATTERN_FOREIGN_VALUE_READ_BACK;
    }
    if (reads(between) && writes(second)) {
        return TMS_PATTERN_INTERMEDIATE_VALUE_SEEN;
    }
    return writes(between) && writes(second) ? TMS_PATTERN_OVERWRITTEN : TMS_PATTERN_COUNT;
}

/* ---- sections ------------------------------------------------------------------------- */

/* The sections of a prediction, and what is best so far. */
struct sections {
    struct tms_judge_engine *engine;
    struct tms_judge_site *first, *second;
    struct tms_judge_site *between[2]; /* after `first` and before `second`; mostly the same */
    uint32_t function, culprit;
    bool completes;                    /* `first` is a complete update by itself */
    uint32_t locks[2];                 /* of the block: at `first` and at `second` */
    bool several_blocks;               /* of the heap are accessed, beside those of the locks */
    unsigned later[TMS_JUDGE_MEMBERS]; /* what between[1] does to each member of `second` */
    uint8_t levels[TMS_PATTERN_COUNT]; /* of each pattern, one more; 0: not asked yet */
    struct tms_judge_predicted best;
};

/* Cached, because it is looked up often. */
static uint32_t member_of(struct tms_judge_engine *engine, struct tms_judge_member *member)
{
    if (member->id == 0) {
        const char *name =
            tms_name(engine->host->context, TMS_CLASS_VARIABLE, member->variable, NULL);
        member->id = tms_judge_member_id(engine, name);
    }
    return member->id;
}

/* What a section does to the member, 0: nothing. */
static unsigned kinds_in(struct tms_judge_engine *engine, struct tms_judge_site *site,
                         uint32_t member)
{
    unsigned kinds = 0;

    for (uint32_t i = 0; i < site->member_count; i++) {
        if (member_of(engine, &site->member[i]) == member) {
            kinds |= site->member[i].kinds;
        }
    }
    return kinds;
}

/* Does the section write something that is more than a counter? */
static bool completes(const struct tms_judge_site *site)
{
    for (uint32_t i = 0; i < site->member_count; i++) {
        if ((site->member[i].kinds & W) != 0 && (site->member[i].kinds & U) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * Is it a note by the additional rules of docs/user/judge.md? `kinds` are those of all four steps.
 */
static bool is_mild(const struct sections *s, enum tms_pattern pattern, unsigned kinds)
{
    bool reads_first = pattern == TMS_PATTERN_CHANGED_BETWEEN_READS ||
                       pattern == TMS_PATTERN_INCONSISTENT_READS ||
                       pattern == TMS_PATTERN_STALE_DECISION;

    return (reads_first && s->completes) ||
           (pattern == TMS_PATTERN_INTERLEAVED_WRITES && (kinds & U) != 0);
}

/* ---- one heap block or several ------------------------------------------------------------ */

static const char *variable_name(const struct sections *s, const struct tms_judge_member *member)
{
    return tms_name(s->engine->host->context, TMS_CLASS_VARIABLE, (uint32_t)member->variable, NULL);
}

/* The length of "heap:new_account:account#2" in a name that begins so; 0: not in a heap block. */
static size_t block_length(const char *name)
{
    size_t number = strncmp(name, "heap:", 5) == 0 ? strcspn(name, "#") : strlen(name);

    return name[number] == '#' ? number + 1 + strspn(&name[number + 1], "0123456789") : 0;
}

static bool has_same_block(const char *name, const char *other)
{
    size_t length = block_length(name);

    return length > 0 && block_length(other) == length && memcmp(name, other, length) == 0;
}

/* Is it in a block of the heap that contains none of the locks? */
static bool is_in_other_block(const struct sections *s, const char *name)
{
    const struct tms_context *context = s->engine->host->context;

    return block_length(name) > 0 &&
           !has_same_block(name, tms_name(context, TMS_CLASS_LOCK, s->locks[0], NULL)) &&
           !has_same_block(name, tms_name(context, TMS_CLASS_LOCK, s->locks[1], NULL));
}

/* Looks for two different blocks among the members of a site and the one found so far. */
static bool finds_second_block(const struct sections *s, const struct tms_judge_site *site,
                               const char **first)
{
    for (uint32_t i = 0; i < site->member_count; i++) {
        const char *name = variable_name(s, &site->member[i]);
        if (!is_in_other_block(s, name)) {
            continue;
        }
        if (*first != NULL && !has_same_block(name, *first)) {
            return true;
        }
        *first = name;
    }
    return false;
}

static bool accesses_several_blocks(const struct sections *s)
{
    const char *first = NULL;

    return finds_second_block(s, s->first, &first) ||
           finds_second_block(s, s->between[0], &first) ||
           finds_second_block(s, s->between[1], &first) || finds_second_block(s, s->second, &first);
}

/*
 * Is the variable in one of several heap blocks that these sections access, one at a time? Then
 * nothing says that those of one window access the same one.
 */
static bool is_one_of_several(const struct sections *s, const struct tms_judge_member *own)
{
    return s->several_blocks && is_in_other_block(s, variable_name(s, own));
}

/* ---- candidates ----------------------------------------------------------------------- */

/* Is it better than the best candidate, if it has that level? */
static bool is_better(const struct sections *s, enum tms_pattern pattern, enum tms_level level)
{
    return s->best.variable == 0 || level > s->best.level ||
           (level == s->best.level && pattern < s->best.pattern);
}

static void consider(struct sections *s, enum tms_pattern pattern, unsigned kinds,
                     const struct tms_judge_member *own, const struct tms_judge_member *second)
{
    if (pattern == TMS_PATTERN_COUNT) {
        return;
    }
    assert(pattern < TMS_PATTERN_COUNT && own->variable != 0);
    if (s->levels[pattern] == 0) {
        s->levels[pattern] =
            (uint8_t)(1 + tms_judge_level(s->engine, pattern, s->function, 0, s->culprit));
    }
    enum tms_level level =
        is_mild(s, pattern, kinds) ? TMS_LEVEL_NOTE : (enum tms_level)(s->levels[pattern] - 1);
    if (!is_better(s, pattern, level)) {
        return;
    }
    bool several = is_one_of_several(s, own) || (second != NULL && is_one_of_several(s, second));
    level = several ? TMS_LEVEL_NOTE : level;
    if (is_better(s, pattern, level)) {
        s->best =
            (struct tms_judge_predicted){pattern, level, (uint32_t)own->variable,
                                         second != NULL ? (uint32_t)second->variable : 0, several};
    }
}

/* Considers pairs of a step on x and a step on y where the culprit's sections access both. */
static void consider_pairs(struct sections *s, struct tms_judge_member *own, unsigned between)
{
    struct tms_judge_engine *engine = s->engine;
    uint32_t member = member_of(engine, own);
    unsigned first = own->kinds;

    for (uint32_t i = 0; i < s->second->member_count; i++) {
        struct tms_judge_member *second = &s->second->member[i];
        unsigned later = member_of(engine, second) != member ? s->later[i] : 0;
        bool conflict = later != 0 && (writes(later) || writes(second->kinds));
        if (conflict) {
            consider(s,
                     tms_judge_pair_pattern(writes(first) ? TMS_JUDGE_W : TMS_JUDGE_R,
                                            writes(second->kinds) ? TMS_JUDGE_W : TMS_JUDGE_R,
                                            writes(between) ? TMS_JUDGE_W : TMS_JUDGE_R,
                                            writes(later) ? TMS_JUDGE_W : TMS_JUDGE_R),
                     first | second->kinds | between | later, own, second);
        }
    }
}

static void compare(struct sections *s)
{
    assert(s->second->member_count <= TMS_JUDGE_MEMBERS);
    s->completes = completes(s->first);
    s->several_blocks = accesses_several_blocks(s);
    for (uint32_t i = 0; i < s->second->member_count; i++) {
        s->later[i] =
            kinds_in(s->engine, s->between[1], member_of(s->engine, &s->second->member[i]));
    }
    for (uint32_t i = 0; i < s->first->member_count && s->best.level < TMS_LEVEL_ERROR; i++) {
        struct tms_judge_member *first = &s->first->member[i];
        uint32_t member = member_of(s->engine, first);
        unsigned between = kinds_in(s->engine, s->between[0], member);
        unsigned later = kinds_in(s->engine, s->between[1], member);
        unsigned second = kinds_in(s->engine, s->second, member);
        if ((between | later) != 0 && second != 0) {
            consider(s, one_variable(first->kinds, between | later, second), 0, first, NULL);
        }
        if (between != 0 && (writes(between) || writes(first->kinds))) {
            consider_pairs(s, first, between);
        }
    }
}

/* The id of a lock's name without the "@4" that recordings add to renewed memory; 0: none. */
static uint32_t without_renewal(struct tms_context *context, uint32_t lock)
{
    const char *name = tms_name(context, TMS_CLASS_LOCK, lock, NULL);
    const char *renewal = strrchr(name, '@');
    bool renewed = renewal != NULL && renewal[1] != '\0' &&
                   renewal[1 + strspn(renewal + 1, "0123456789")] == '\0';

    return renewed ? tms_names_find(&context->names[TMS_CLASS_LOCK], name, (size_t)(renewal - name))
                   : 0;
}

/* A running program learns sections by the memory of their locks. */
static struct tms_judge_site *site_of(struct tms_judge_engine *engine, const struct tms_turn *turn)
{
    struct tms_judge_site *site = tms_judge_site_of(&engine->core, turn->location, turn->target);
    uint32_t lock = site == NULL && engine->elsewhere
                        ? without_renewal(engine->host->context, turn->target)
                        : 0;

    return lock != 0 ? tms_judge_site_of(&engine->core, turn->location, lock) : site;
}

/* The block of the culprit; 0: there is none, or there are two. */
static uint32_t culprit_of(struct tms_judge_engine *engine, const struct tms_finding *finding)
{
    const struct tms_transaction *culprit = &finding->cycle[0].to;

    assert(finding->cycle_length > 0);
    return culprit->unary || finding->cycle_length != 2
               ? 0
               : tms_judge_function_id(engine, tms_name(engine->host->context, TMS_CLASS_LABEL,
                                                        culprit->label, NULL));
}

struct tms_judge_predicted tms_judge_predict(struct tms_judge_engine *engine,
                                             const struct tms_finding *finding, uint32_t function)
{
    struct sections s = {
        .engine = engine,
        .function = function,
        .best = {.pattern =
                     tms_judge_saw_memory(engine) ? TMS_PATTERN_ORDER_ONLY : TMS_PATTERN_UNWATCHED,
                 .level = TMS_LEVEL_NOTE},
    };

    size_t turns = finding->schedule_length;
    if ((turns == 3 || turns == 4) && finding->cycle_length > 0 &&
        finding->cycle[0].on_class == TMS_CLASS_LOCK) {
        s.first = site_of(engine, &finding->schedule[0]);
        s.between[0] = site_of(engine, &finding->schedule[1]);
        s.between[1] = site_of(engine, &finding->schedule[turns - 2]);
        s.second = site_of(engine, &finding->schedule[turns - 1]);
        s.culprit = culprit_of(engine, finding);
        s.locks[0] = finding->schedule[0].target;
        s.locks[1] = finding->schedule[turns - 1].target;
    }
    if (s.first != NULL && s.between[0] != NULL && s.between[1] != NULL && s.second != NULL) {
        compare(&s);
    }
    return s.best;
}
