/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The differential test: seeded random traces through `reference` and every other exact engine, by
 * the public interface. Each result is checked by the oracle (checker.h) and compared with that of
 * `reference`: verdict, first event and blame as far as the engine promises them; and again without
 * blame. The first trace with a difference is shrunk and printed.
 *
 *     differential [--seed S] [--count N] [--engines a,b] [--verbose]
 *
 * --verbose prints a TAP line per trace. Trace i of a run is made from the seed S + i, so a single
 * one is `--seed S+i --count 1`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checker.h"
#include "trace.h"

/* What a trace turned out to be. */
#define OUTCOMES(X)                                                                                \
    X(SERIALIZABLE, "serializable")                                                                \
    X(BLAMED, "with blame")                                                                        \
    X(UNBLAMED, "without blame")                                                                   \
    X(REFUSED, "refused as not well-formed")                                                       \
    X(MISMATCH, "mismatched")

enum outcome {
#define X(name, text) name,
    OUTCOMES(X)
#undef X
        OUTCOME_COUNT
};

static const char *const outcome_texts[] = {
#define X(name, text) text,
    OUTCOMES(X)
#undef X
};

struct test {
    struct tms_context *context;
    struct tms_vocabulary *vocabulary;
    char engines[256]; /* "reference" first */
    uint64_t seed, count;
    bool verbose;
    uint64_t findings;
    char message[1024]; /* the last fault */
};

/* ---- one trace ------------------------------------------------------------------------ */

static int feed(struct tms_analysis *analysis, const struct tms_trace *trace)
{
    /* Pieces of different sizes: an engine must not care where a batch ends. */
    size_t piece = 1 + trace->count % 13 * 8;

    for (size_t at = 0; at < trace->count; at += piece) {
        size_t rest = trace->count - at;
        int code =
            tms_analysis_feed(analysis, &trace->events[at], rest < piece ? rest : piece, NULL);
        if (code < 0) {
            return code;
        }
    }
    return tms_analysis_finish(analysis);
}

static int analyse(struct test *test, const char *engines, const struct tms_trace *trace,
                   bool blame, struct tms_analysis **out)
{
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = engines;
    settings.blame = blame;
    settings.all = true;
    settings.split = trace->split;
    int code = tms_analysis_new(test->context, &settings, out);
    return code == TMS_OK ? feed(*out, trace) : code;
}

static bool blames(const struct tms_result *result, const struct tms_transaction *transaction)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct tms_finding *finding = &result->findings[i];
        if (finding->not_atomic && finding->transaction.thread == transaction->thread &&
            finding->transaction.begin_event == transaction->begin_event) {
            return true;
        }
    }
    return false;
}

/* Are all blocks that `a` blames also blamed by `b`? */
static bool blame_within(const struct tms_result *a, const struct tms_result *b)
{
    for (size_t i = 0; i < a->finding_count; i++) {
        if (a->findings[i].not_atomic && !blames(b, &a->findings[i].transaction)) {
            return false;
        }
    }
    return true;
}

/* The difference from `reference`; NULL if everything that the engine promises agrees. */
static const char *difference(const struct tms_result *reference, const struct tms_result *result)
{
    bool at_event = (result->engine->flags & TMS_ENGINE_AT_EVENT) != 0;
    bool blames_all = (result->engine->flags & TMS_ENGINE_BLAMES) != 0;
    bool exact = (result->engine->flags & TMS_ENGINE_EXACT) != 0;

    if (exact && result->verdict != reference->verdict) {
        return "another verdict than reference";
    }
    if (at_event && result->first_violation_event != reference->first_violation_event) {
        return "another first event than reference";
    }
    if (exact && result->first_violation_event < reference->first_violation_event) {
        return "an earlier first event than reference";
    }
    if (result->blamed && reference->blamed && !blame_within(result, reference)) {
        return "blames a block that reference does not blame";
    }
    if (result->blamed && blames_all && !blame_within(reference, result)) {
        return "does not blame everybody whom reference blames";
    }
    return NULL;
}

/* Checks all results of an analysis; false with the message set if one is wrong. */
static bool check_results(struct test *test, struct tms_oracle *oracle,
                          const struct tms_result *reference, const struct tms_analysis *analysis,
                          bool blame)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        if (result->engine->flags & TMS_ENGINE_PREDICTIVE) {
            continue;
        }
        unsigned blaming = TMS_ENGINE_BLAMES | TMS_ENGINE_BLAMES_SOME;
        bool promised = blame && (result->engine->flags & blaming) != 0;
        const char *fault = tms_check_result(oracle, result);
        if (fault == NULL) {
            fault = difference(reference, result);
        }
        if (fault == NULL && result->blamed != promised) {
            fault = "blame was promised and not given, or given unasked";
        }
        if (fault != NULL) {
            bool beside = tms_analysis_result(analysis, 0) == reference;
            snprintf(test->message, sizeof(test->message), "%s%s%s: %s", result->engine->name,
                     beside ? "" : " by itself", blame ? "" : " without blame", fault);
            return false;
        }
        test->findings += result->finding_count;
    }
    return true;
}

static struct tms_oracle *new_oracle(const struct test *test, const struct tms_trace *trace)
{
    struct tms_oracle *oracle =
        tms_oracle_new(test->context, trace->events, trace->count, trace->split);

    if (oracle == NULL) {
        fprintf(stderr, "differential: out of memory\n");
        exit(2);
    }
    return oracle;
}

/* frontier by itself takes the fused lane; with the other engines it took the general one. */
static bool check_fused_lane(struct test *test, const struct tms_trace *trace, bool blame,
                             struct tms_oracle *oracle, const struct tms_result *reference)
{
    struct tms_analysis *analysis = NULL;
    bool well = analyse(test, "frontier", trace, blame, &analysis) == TMS_OK;

    if (!well) {
        snprintf(test->message, sizeof(test->message), "frontier by itself: %s",
                 tms_error(test->context));
    } else {
        well = check_results(test, oracle, reference, analysis, blame);
    }
    tms_analysis_free(analysis);
    return well;
}

static enum outcome run_once(struct test *test, const struct tms_trace *trace, bool blame,
                             struct tms_oracle **oracle)
{
    struct tms_analysis *analysis = NULL;
    int code = analyse(test, test->engines, trace, blame, &analysis);
    enum outcome outcome = SERIALIZABLE;

    if (code != TMS_OK) {
        snprintf(test->message, sizeof(test->message), "%s", tms_error(test->context));
        tms_analysis_free(analysis);
        return code == TMS_ERR_MALFORMED ? REFUSED : MISMATCH;
    }
    *oracle = *oracle == NULL ? new_oracle(test, trace) : *oracle;
    const struct tms_result *reference = tms_analysis_result(analysis, 0);
    if (!check_results(test, *oracle, reference, analysis, blame) ||
        !check_fused_lane(test, trace, blame, *oracle, reference)) {
        outcome = MISMATCH;
    } else if ((*oracle)->first_event != 0) {
        outcome = (*oracle)->blamed != 0 ? BLAMED : UNBLAMED;
    }
    tms_analysis_free(analysis);
    return outcome;
}

static enum outcome run(struct test *test, const struct tms_trace *trace)
{
    struct tms_oracle *oracle = NULL;
    enum outcome outcome = run_once(test, trace, true, &oracle);

    if (outcome != MISMATCH && outcome != REFUSED) {
        outcome = run_once(test, trace, false, &oracle);
    }
    tms_oracle_free(oracle);
    return outcome;
}

/* ---- mismatches ----------------------------------------------------------------------- */

static bool mismatches(void *user, const struct tms_trace *trace)
{
    return run(user, trace) == MISMATCH;
}

static void show(struct test *test, uint64_t seed, struct tms_trace *trace, enum outcome outcome)
{
    size_t length = trace->count;

    printf("seed %llu (%s), %zu events: %s\n", (unsigned long long)seed, tms_trace_profile(seed),
           length, test->message);
    if (outcome == MISMATCH) {
        tms_trace_shrink(trace, mismatches, test);
        run(test, trace);
        printf("shrunk to %zu events: %s\n", trace->count, test->message);
    }
    tms_trace_print(trace, test->context, stdout);
}

/* ---- the run -------------------------------------------------------------------------- */

static void summarize(const struct test *test, const uint64_t *outcomes, uint64_t done)
{
    printf("engines %s, seeds %llu to %llu:", test->engines, (unsigned long long)test->seed,
           (unsigned long long)(test->seed + done - 1));
    for (int i = 0; i < REFUSED; i++) {
        printf(" %llu %s (%.0f %%),", (unsigned long long)outcomes[i], outcome_texts[i],
               100.0 * (double)outcomes[i] / (double)done);
    }
    printf(" %llu witnesses checked\n", (unsigned long long)test->findings);
}

/* Stops at the first trace that fails: one shrunk trace is more useful than many. */
static bool run_all(struct test *test)
{
    uint64_t outcomes[OUTCOME_COUNT] = {0}, done = 0, failed = 0;

    while (done < test->count && failed == 0) {
        struct tms_trace trace;
        uint64_t seed = test->seed + done++;
        tms_trace_make(test->vocabulary, seed, &trace);
        enum outcome outcome = run(test, &trace);
        outcomes[outcome]++;
        bool good = outcome != REFUSED && outcome != MISMATCH;
        if (test->verbose) {
            printf("%s %llu - seed %llu, %s, %zu events, %s\n", good ? "ok" : "not ok",
                   (unsigned long long)done, (unsigned long long)seed, tms_trace_profile(seed),
                   trace.count, outcome_texts[outcome]);
        }
        if (!good) {
            failed++;
            show(test, seed, &trace, outcome);
        }
    }
    if (test->verbose) {
        printf("1..%llu\n", (unsigned long long)done);
    }
    summarize(test, outcomes, done);
    printf("%llu passed, %llu failed\n", (unsigned long long)(done - failed),
           (unsigned long long)failed);
    return failed == 0;
}

/*
 * "reference", and then all other engines that judge the trace as it is, or those asked for. This
 * oracle does not cover engines that predict other schedules.
 */
static bool choose_engines(struct test *test, const char *wanted)
{
    const struct tms_engine_info *info;
    size_t used = (size_t)snprintf(test->engines, sizeof(test->engines), "reference");

    if (wanted != NULL && strcmp(wanted, "reference") == 0) {
        return true;
    }
    if (wanted != NULL) {
        used += (size_t)snprintf(test->engines + used, sizeof(test->engines) - used, ",%s", wanted);
        return used < sizeof(test->engines);
    }
    for (size_t i = 0; (info = tms_engine_info(i)) != NULL && used < sizeof(test->engines); i++) {
        unsigned compared = TMS_ENGINE_EXACT | TMS_ENGINE_BLAMES;
        if (info->found == TMS_VERDICT_VIOLATION && (info->flags & compared) != 0 &&
            strcmp(info->name, "reference") != 0) {
            used += (size_t)snprintf(test->engines + used, sizeof(test->engines) - used, ",%s",
                                     info->name);
        }
    }
    return used < sizeof(test->engines);
}

static bool parse_number(const char *text, uint64_t *number)
{
    char *end;

    *number = strtoull(text, &end, 10);
    return end != text && *end == '\0';
}

static bool parse(struct test *test, int argc, char **argv)
{
    const char *engines = NULL;

    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--verbose") == 0) {
            test->verbose = true;
            continue;
        }
        if (strcmp(argv[i], "--engines") == 0) {
            engines = value;
        } else if (!(strcmp(argv[i], "--seed") == 0 && parse_number(value, &test->seed)) &&
                   !(strcmp(argv[i], "--count") == 0 && parse_number(value, &test->count))) {
            return false;
        }
        i++;
    }
    return test->count > 0 && choose_engines(test, engines);
}

int main(int argc, char **argv)
{
    struct test test = {.seed = 1, .count = 5000};
    bool passed = false;

    if (!parse(&test, argc, argv)) {
        fprintf(stderr, "usage: differential [--seed S] [--count N] [--engines a,b] [--verbose]\n");
        return 2;
    }
    test.context = tms_context_new(NULL, NULL);
    test.vocabulary = test.context != NULL ? tms_vocabulary_new(test.context) : NULL;
    if (test.vocabulary != NULL) {
        passed = run_all(&test);
    } else {
        fprintf(stderr, "differential: out of memory\n");
    }
    tms_vocabulary_free(test.vocabulary);
    tms_context_free(test.context);
    return passed ? 0 : 1;
}
