/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predictions as `judge` judges them, against a second copy of the tables of docs/user/judge.md:
 * random accesses in the sections of one window, within one lock or between two, whose block and
 * culprit ran one after the other; variables and locks are in heap blocks or are not. Pattern and
 * level must be those of the worst matching row, for any variable or any two.
 *
 *   judge-predicted [TRACES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differential/trace.h"
#include "predict/tap.h"

#define VARIABLES 3
#define ACCESSES  4 /* in a section, at most */
#define BLOCKS    3 /* of the heap */

enum { FIRST, THROUGH, CULPRIT, SECOND, SECTIONS };

/* What a section does to a variable. */
enum { READ = 1, WRITE = 2, UPDATE = 4 };

/* What a trace was made of. Within one lock THROUGH and CULPRIT are the same. */
struct scene {
    bool two_locks, in_block; /* the culprit's acquires are in a block */
    unsigned does[SECTIONS][VARIABLES];
    unsigned variable_block[VARIABLES], lock_block[2]; /* of the heap; 0: in none */
};

struct verdict {
    enum tms_pattern pattern;
    enum tms_level level;
};

/* ---- making ------------------------------------------------------------------------------- */

struct maker {
    struct tms_context *context;
    struct tms_trace *trace;
    const struct scene *scene;
    uint64_t random;
    bool short_of_memory;
};

static unsigned block_of(const struct scene *scene, enum tms_class cls, unsigned number)
{
    return cls == TMS_CLASS_LOCK       ? scene->lock_block[number]
           : cls == TMS_CLASS_VARIABLE ? scene->variable_block[number]
                                       : 0;
}

static void emit(struct maker *m, unsigned thread, enum tms_event_kind kind, char letter,
                 unsigned number)
{
    char who[2] = {'T', (char)('0' + thread)}, what[32];
    enum tms_class cls = tms_event_class(kind);
    unsigned block = block_of(m->scene, cls, number);
    int length = block != 0
                     ? snprintf(what, sizeof(what), "heap:f:t#%u.%c%u", block, letter, number)
                     : snprintf(what, sizeof(what), "%c%u", letter, number);
    int64_t t = tms_intern(m->context, TMS_CLASS_THREAD, who, sizeof(who));
    int64_t on = tms_intern(m->context, cls, what, (size_t)length);
    struct tms_trace *trace = m->trace;

    m->short_of_memory = m->short_of_memory || t < 0 || on < 0;
    trace->events[trace->count] = (struct tms_event){
        .thread = (uint32_t)t,
        .target = (uint32_t)on,
        .location = TMS_LOCATION_NUMBER + 1 + (uint32_t)trace->count,
        .kind = (uint8_t)kind,
    };
    trace->count++;
}

/* Accesses after a write are skipped, and a write after a read is an update. */
static unsigned after(unsigned does, unsigned more)
{
    if ((does & WRITE) != 0) {
        return does;
    }
    return does | more | ((does & READ) != 0 && more == WRITE ? UPDATE : 0u);
}

static void emit_section(struct maker *m, unsigned thread, unsigned lock, unsigned *does)
{
    unsigned count = tms_random_below(&m->random, ACCESSES + 1);

    emit(m, thread, TMS_EVENT_ACQUIRE, 'm', lock);
    for (unsigned i = 0; i < count; i++) {
        unsigned variable = tms_random_below(&m->random, VARIABLES);
        bool write = tms_random_below(&m->random, 2) != 0;
        emit(m, thread, write ? TMS_EVENT_WRITE : TMS_EVENT_READ, 'x', variable);
        does[variable] = after(does[variable], write ? WRITE : READ);
    }
    emit(m, thread, TMS_EVENT_RELEASE, 'm', lock);
}

/* In half of the traces. */
static void put_into_blocks(struct maker *m, struct scene *scene)
{
    bool heap = tms_random_below(&m->random, 2) != 0;

    for (unsigned i = 0; i < VARIABLES; i++) {
        scene->variable_block[i] = heap ? tms_random_below(&m->random, BLOCKS + 1) : 0;
    }
    for (unsigned i = 0; i < 2; i++) {
        scene->lock_block[i] = heap ? tms_random_below(&m->random, BLOCKS + 1) : 0;
    }
}

static bool make(struct tms_context *context, uint64_t seed, struct tms_trace *trace,
                 struct scene *scene)
{
    struct maker m = {.context = context, .trace = trace, .scene = scene, .random = seed};
    unsigned second = 0;

    *trace = (struct tms_trace){.split = TMS_SPLIT_WAIT | TMS_SPLIT_BARRIER};
    *scene = (struct scene){.two_locks = tms_random_below(&m.random, 3) != 0,
                            .in_block = tms_random_below(&m.random, 4) != 0};
    second = scene->two_locks;
    put_into_blocks(&m, scene);
    emit(&m, 0, TMS_EVENT_BEGIN, 'f', 0);
    emit_section(&m, 0, 0, scene->does[FIRST]);
    emit_section(&m, 0, second, scene->does[SECOND]);
    emit(&m, 0, TMS_EVENT_END, 'f', 0);
    if (scene->in_block) {
        emit(&m, 1, TMS_EVENT_BEGIN, 'f', 1);
    }
    emit_section(&m, 1, 0, scene->does[THROUGH]);
    if (scene->two_locks) {
        emit_section(&m, 1, 1, scene->does[CULPRIT]);
    } else {
        memcpy(scene->does[CULPRIT], scene->does[THROUGH], sizeof(scene->does[CULPRIT]));
    }
    if (scene->in_block) {
        emit(&m, 1, TMS_EVENT_END, 'f', 1);
    }
    return !m.short_of_memory;
}

/* ---- the tables --------------------------------------------------------------------------- */

static bool reads(unsigned does)
{
    return (does & READ) != 0;
}

static bool writes(unsigned does)
{
    return (does & WRITE) != 0;
}

static bool conflict(unsigned a, unsigned b)
{
    return a != 0 && b != 0 && (writes(a) || writes(b));
}

/* The first section wrote a variable that is not a counter: what it had read is used up. */
static bool is_completed(const struct scene *scene)
{
    for (unsigned x = 0; x < VARIABLES; x++) {
        if (scene->does[FIRST][x] == WRITE) {
            return true;
        }
    }
    return false;
}

/* Is the variable in a block of the heap without the locks of the window? */
static bool is_elsewhere(const struct scene *scene, unsigned x)
{
    unsigned block = scene->variable_block[x];

    return block != 0 && block != scene->lock_block[0] &&
           block != scene->lock_block[scene->two_locks];
}

static bool is_accessed(const struct scene *scene, unsigned x)
{
    return (scene->does[FIRST][x] | scene->does[THROUGH][x] | scene->does[CULPRIT][x] |
            scene->does[SECOND][x]) != 0;
}

/* Is it in one of several such blocks that the sections access? */
static bool is_one_of_several(const struct scene *scene, unsigned x)
{
    bool several = false;

    for (unsigned y = 0; y < VARIABLES; y++) {
        several = several || (is_elsewhere(scene, y) && is_accessed(scene, y) &&
                              scene->variable_block[y] != scene->variable_block[x]);
    }
    return several && is_elsewhere(scene, x);
}

#define NOTHING ((struct verdict){TMS_PATTERN_ORDER_ONLY, TMS_LEVEL_NOTE})

/* "One variable", row by row; p, F and q are sections here, and one that does both is a U. */
static struct verdict one_variable(const struct scene *scene, unsigned x)
{
    unsigned p = scene->does[FIRST][x], q = scene->does[SECOND][x];
    unsigned f = scene->does[THROUGH][x] | scene->does[CULPRIT][x];
    enum tms_level unless_completed = is_completed(scene) ? TMS_LEVEL_NOTE : TMS_LEVEL_WARNING;
    bool only_reads = p != 0 && !writes(p), both = reads(p) && writes(p) && reads(q) && writes(q);

    if (p == 0 || q == 0 || f == 0) {
        return NOTHING;
    }
    if (only_reads && writes(f) && !reads(q)) {
        return (struct verdict){TMS_PATTERN_LOST_UPDATE, TMS_LEVEL_ERROR};
    }
    if (only_reads && writes(f)) {
        return (struct verdict){TMS_PATTERN_CHANGED_BETWEEN_READS, unless_completed};
    }
    if (only_reads) {
        return NOTHING;
    }
    if ((both && writes(f)) || ((p & q & UPDATE) != 0 && reads(f))) {
        return (struct verdict){TMS_PATTERN_INTERLEAVED_UPDATES, TMS_LEVEL_NOTE};
    }
    if (writes(f) && reads(q)) {
        return (struct verdict){TMS_PATTERN_FOREIGN_VALUE_READ_BACK, TMS_LEVEL_WARNING};
    }
    if (reads(f) && writes(q)) {
        return (struct verdict){TMS_PATTERN_INTERMEDIATE_VALUE_SEEN, TMS_LEVEL_NOTE};
    }
    return writes(f) && writes(q) ? (struct verdict){TMS_PATTERN_OVERWRITTEN, TMS_LEVEL_NOTE}
                                  : NOTHING;
}

/* "Two variables": a on x, b on y, f₁ on x, f₂ on y. */
static struct verdict two_variables(const struct scene *scene, unsigned x, unsigned y)
{
    unsigned a = scene->does[FIRST][x], b = scene->does[SECOND][y];
    unsigned f1 = scene->does[THROUGH][x], f2 = scene->does[CULPRIT][y];
    bool any_update = ((a | b | f1 | f2) & UPDATE) != 0;
    struct verdict verdict = {TMS_PATTERN_EXCHANGE, TMS_LEVEL_NOTE};

    if (!conflict(a, f1) || !conflict(b, f2)) {
        return NOTHING;
    }
    if (!writes(a) && !writes(b)) {
        verdict = (struct verdict){TMS_PATTERN_INCONSISTENT_READS, TMS_LEVEL_ERROR};
    } else if (!writes(a)) {
        verdict = (struct verdict){TMS_PATTERN_STALE_DECISION, TMS_LEVEL_WARNING};
    } else if (writes(b) && writes(f1) && writes(f2)) {
        verdict = (struct verdict){TMS_PATTERN_INTERLEAVED_WRITES,
                                   any_update ? TMS_LEVEL_NOTE : TMS_LEVEL_WARNING};
    } else if (writes(b)) {
        verdict.pattern = TMS_PATTERN_HALF_UPDATE_SEEN;
    }
    if (!scene->in_block || (!writes(a) && is_completed(scene))) {
        verdict.level = TMS_LEVEL_NOTE;
    }
    return verdict;
}

/* Findings with data first, then by level, then by the order of patterns. */
static bool is_worse(const struct verdict *a, const struct verdict *b)
{
    bool data_a = a->pattern != TMS_PATTERN_ORDER_ONLY,
         data_b = b->pattern != TMS_PATTERN_ORDER_ONLY;

    return data_a != data_b       ? data_a
           : a->level != b->level ? a->level > b->level
                                  : a->pattern < b->pattern;
}

/* Any of several errors may be the one that is reported: `errors` has a bit for each pattern. */
static struct verdict judge(const struct scene *scene, unsigned *errors)
{
    struct verdict worst = NOTHING;

    *errors = 0;
    for (unsigned x = 0; x < VARIABLES; x++) {
        for (unsigned y = 0; y < VARIABLES; y++) {
            struct verdict verdict = x == y ? one_variable(scene, x) : two_variables(scene, x, y);
            if (is_one_of_several(scene, x) || is_one_of_several(scene, y)) {
                verdict.level = TMS_LEVEL_NOTE;
            }
            worst = is_worse(&verdict, &worst) ? verdict : worst;
            *errors |= verdict.level == TMS_LEVEL_ERROR ? 1u << verdict.pattern : 0;
        }
    }
    return worst;
}

/* ---- comparing ---------------------------------------------------------------------------- */

/* NULL if the trace is not taken. */
static struct tms_analysis *analyse(struct tms_context *context, const struct tms_trace *trace)
{
    struct tms_settings settings;
    struct tms_analysis *analysis = NULL;

    tms_settings_init(&settings);
    settings.engines = "judge,sidetrack";
    settings.split = trace->split;
    int code = tms_analysis_new(context, &settings, &analysis);
    code = code == TMS_OK ? tms_analysis_feed(analysis, trace->events, trace->count, NULL) : code;
    code = code == TMS_OK ? tms_analysis_finish(analysis) : code;
    if (code != TMS_OK) {
        tms_analysis_free(analysis);
        return NULL;
    }
    return analysis;
}

static bool saw_data(const struct scene *scene)
{
    unsigned any = 0;

    for (unsigned i = 0; i < SECTIONS; i++) {
        for (unsigned x = 0; x < VARIABLES; x++) {
            any |= scene->does[i][x];
        }
    }
    return any != 0;
}

static bool check(struct tms_context *context, const struct tms_trace *trace,
                  const struct scene *scene, unsigned *seen)
{
    struct tms_analysis *analysis = analyse(context, trace);
    const struct tms_result *result = analysis != NULL ? tms_analysis_result(analysis, 0) : NULL;
    unsigned errors;
    struct verdict verdict = judge(scene, &errors);
    bool good = false;

    if (!saw_data(scene)) {
        verdict.pattern = TMS_PATTERN_UNWATCHED;
    }
    if (result == NULL) {
        printf("# %s\n", tms_error(context));
    } else if (result->finding_count != 1) {
        printf("# %zu findings\n", result->finding_count);
    } else {
        const struct tms_judgement *judgement = result->findings[0].judgement;
        good = judgement->level == verdict.level &&
               (judgement->pattern == verdict.pattern || (errors >> judgement->pattern & 1) != 0);
        seen[verdict.pattern]++;
        if (!good) {
            printf("# %s (level %d), and should be %s (level %d)\n",
                   tms_pattern_text(judgement->pattern), judgement->level,
                   tms_pattern_text(verdict.pattern), verdict.level);
        }
    }
    tms_analysis_free(analysis);
    return good;
}

int main(int argc, char **argv)
{
    static const enum tms_pattern wanted[] = {
        TMS_PATTERN_LOST_UPDATE,
        TMS_PATTERN_INCONSISTENT_READS,
        TMS_PATTERN_CHANGED_BETWEEN_READS,
        TMS_PATTERN_STALE_DECISION,
        TMS_PATTERN_FOREIGN_VALUE_READ_BACK,
        TMS_PATTERN_INTERLEAVED_WRITES,
        TMS_PATTERN_INTERMEDIATE_VALUE_SEEN,
        TMS_PATTERN_HALF_UPDATE_SEEN,
        TMS_PATTERN_EXCHANGE,
        TMS_PATTERN_INTERLEAVED_UPDATES,
        TMS_PATTERN_OVERWRITTEN,
        TMS_PATTERN_ORDER_ONLY,
    };
    struct tms_context *context = tms_context_new(NULL, NULL);
    uint64_t traces = argc > 1 ? (uint64_t)atoll(argv[1]) : 20000, seed = 1;
    unsigned seen[TMS_PATTERN_COUNT] = {0};
    struct tap tap = {0};
    struct tms_trace trace;
    struct scene scene;
    bool good = context != NULL && traces > 0;

    for (; good && seed <= traces; seed++) {
        good = make(context, seed, &trace, &scene) && check(context, &trace, &scene, seen);
    }
    ok(&tap, good, "predictions are judged by the tables, in %llu traces",
       (unsigned long long)(seed - 1));
    if (!good && context != NULL) {
        printf("# seed %llu:\n", (unsigned long long)(seed - 1));
        tms_trace_print(&trace, context, stdout);
    }
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        ok(&tap, seen[wanted[i]] > 0, "%s is among them", tms_pattern_text(wanted[i]));
    }
    tms_context_free(context);
    return done(&tap);
}
