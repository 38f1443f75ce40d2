/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `judge` against its definition, on random traces:
 *
 *     judge-compare [--seed S] [--count N] [--verbose]
 *
 * Each trace goes through the engine alone, through the engine beside `frontier` (where events take
 * another way), through the core as a running program uses it (online_model.h), and through the
 * second implementation of naive.h. All findings must be equal: id,
 * level, patterns, counts, driver, and the events shown. Every pattern must be a cycle over data
 * by cycle.h. A trace that shows a difference is shrunk and printed, with both answers. A run of
 * at least 5,000 traces must have met everything that docs/user/judge.md speaks of.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/answer.h"
#include "judge/online_model.h"
#include "judge/trace.h"

#define MOST_MESSAGE  512
#define SETTLED_SOON  5 /* synchronisations of a busy activation */
#define ENOUGH        5000
#define FEW_VARIABLES 3

struct test {
    struct tms_context *context;
    struct words words;
    uint64_t seed, count;
    bool verbose;
    struct coverage coverage;
    char message[MOST_MESSAGE]; /* the last fault */
};

enum outcome { SAME, DIFFERENT, REFUSED };

/* ---- one trace --------------------------------------------------------------------------- */

static struct tms_spec *new_spec(const struct test *test, const struct trace *trace)
{
    struct tms_spec *spec = NULL;
    size_t count;
    const struct naive_rule *rules = trace_rules(trace, &count);

    if (count > 0 && tms_spec_new(test->context, &spec) != TMS_OK) {
        exit(2);
    }
    for (size_t i = 0; i < count; i++) {
        tms_spec_add(spec, rules[i].atomic, rules[i].pattern);
    }
    return spec;
}

/* Pieces of different sizes: an engine must not care where a batch ends. */
static int feed(struct tms_analysis *analysis, const struct trace *trace)
{
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

static const struct tms_result *result_of_judge(const struct tms_analysis *analysis)
{
    const struct tms_result *result = NULL;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        if (strcmp(result->engine->name, "judge") == 0) {
            return result;
        }
    }
    return NULL;
}

/* Runs the engines and compares the findings of `judge`. */
static enum outcome run_engines(struct test *test, const struct trace *trace,
                                const struct naive *naive, const char *engines)
{
    struct tms_analysis *analysis = NULL;
    struct tms_settings settings;
    enum outcome outcome = SAME;

    tms_settings_init(&settings);
    settings.engines = engines;
    settings.split = trace->split;
    settings.max_violations = 0;
    settings.spec = new_spec(test, trace);
    int code = tms_analysis_new(test->context, &settings, &analysis);
    code = code == TMS_OK ? feed(analysis, trace) : code;
    if (code != TMS_OK) {
        snprintf(test->message, sizeof(test->message), "%s: %s", engines, tms_error(test->context));
        outcome = code == TMS_ERR_MALFORMED ? REFUSED : DIFFERENT;
    } else {
        bool alone = strcmp(engines, "judge") == 0;
        const char *fault = answer_difference(naive, result_of_judge(analysis), alone);
        if (fault != NULL) {
            snprintf(test->message, sizeof(test->message), "%s: %s", engines, fault);
            outcome = DIFFERENT;
        }
    }
    tms_analysis_free(analysis);
    tms_spec_free(settings.spec);
    return outcome;
}

/* The same as inside a running program. With room for few variables, useless ones make way. */
static enum outcome run_online(struct test *test, const struct naive *naive, uint32_t variables)
{
    struct tms_analysis *analysis =
        online_judge(test->context, naive, ONLINE_NEVER_SETTLED, variables);
    enum outcome outcome = SAME;

    if (analysis != NULL) {
        const char *fault = answer_difference(naive, result_of_judge(analysis), true);
        if (fault != NULL) {
            snprintf(test->message, sizeof(test->message), "online, %" PRIu32 " variables: %s",
                     variables, fault);
            outcome = DIFFERENT;
        }
        tms_analysis_free(analysis);
    }
    return outcome;
}

/*
 * Activations that are not settled are judged as usual; a full list may have forgotten some
 * findings.
 */
static enum outcome run_settling(struct test *test, const struct naive *naive)
{
    struct tms_analysis *analysis =
        naive->forgotten == 0 ? online_judge(test->context, naive, SETTLED_SOON, ONLINE_VARIABLES)
                              : NULL;
    enum outcome outcome = SAME;

    if (analysis != NULL) {
        const char *fault = answer_settled_difference(naive, result_of_judge(analysis),
                                                      SETTLED_SOON, &test->coverage.settled);
        if (fault != NULL) {
            snprintf(test->message, sizeof(test->message), "settling: %s", fault);
            outcome = DIFFERENT;
        }
        tms_analysis_free(analysis);
    }
    return outcome;
}

static struct naive new_naive(const struct test *test, const struct trace *trace)
{
    struct naive naive = {.context = test->context,
                          .events = trace->events,
                          .count = trace->count,
                          .split = trace->split};

    naive.rules = trace_rules(trace, &naive.rule_count);
    return naive;
}

/* The definition does not cover malformed traces. */
static bool is_refused(struct test *test, const struct trace *trace)
{
    struct tms_analysis *analysis = NULL;
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = "";
    bool refused = tms_analysis_new(test->context, &settings, &analysis) != TMS_OK ||
                   feed(analysis, trace) != TMS_OK;
    snprintf(test->message, sizeof(test->message), "%s", tms_error(test->context));
    tms_analysis_free(analysis);
    return refused;
}

static enum outcome run(struct test *test, const struct trace *trace, struct coverage *coverage)
{
    if (is_refused(test, trace)) {
        return REFUSED;
    }
    struct naive naive = new_naive(test, trace);
    naive_judge(&naive);
    const char *fault = answer_fault(&naive);
    enum outcome outcome = fault == NULL ? SAME : DIFFERENT;
    if (fault != NULL) {
        snprintf(test->message, sizeof(test->message), "naive: %s", fault);
    }
    outcome = outcome == SAME ? run_engines(test, trace, &naive, "judge") : outcome;
    outcome = outcome == SAME ? run_engines(test, trace, &naive, "frontier,judge") : outcome;
    outcome = outcome == SAME ? run_online(test, &naive, ONLINE_VARIABLES) : outcome;
    for (uint32_t few = 1; few <= FEW_VARIABLES; few++) {
        outcome = outcome == SAME ? run_online(test, &naive, few) : outcome;
    }
    outcome = outcome == SAME ? run_settling(test, &naive) : outcome;
    coverage_add(coverage, &naive);
    naive_clear(&naive);
    return outcome;
}

/* ---- mismatches -------------------------------------------------------------------------- */

static bool differs(void *user, const struct trace *trace)
{
    struct coverage ignored = {0};

    return run(user, trace, &ignored) == DIFFERENT;
}

static void show(struct test *test, uint64_t seed, struct trace *trace, enum outcome outcome)
{
    struct coverage ignored = {0};

    printf("# seed %" PRIu64 " (%s), %zu events: %s\n", seed, trace_profile(seed), trace->count,
           test->message);
    if (outcome == DIFFERENT) {
        trace_shrink(trace, differs, test);
        run(test, trace, &ignored);
        printf("# shrunk to %zu events: %s\n", trace->count, test->message);
        struct naive naive = new_naive(test, trace);
        naive_judge(&naive);
        printf("# expected:\n");
        answer_print(&naive, stdout);
        naive_clear(&naive);
    }
    trace_print(trace, test->context, stdout);
}

/* ---- the run ----------------------------------------------------------------------------- */

/* Stops at the first trace that fails: one shrunk trace is more useful than many. */
static bool run_all(struct test *test)
{
    uint64_t done = 0;
    bool good = true;

    while (done < test->count && good) {
        static struct trace trace;
        uint64_t seed = test->seed + done++;
        trace_make(&test->words, seed, &trace);
        enum outcome outcome = run(test, &trace, &test->coverage);
        good = outcome == SAME;
        if (test->verbose || !good) {
            printf("%s %" PRIu64 " - seed %" PRIu64 ", %s, %zu events\n", good ? "ok" : "not ok",
                   done, seed, trace_profile(seed), trace.count);
        }
        if (!good) {
            show(test, seed, &trace, outcome);
        }
    }
    if (good && test->count >= ENOUGH) {
        const char *missing = coverage_missing(&test->coverage);
        good = missing == NULL;
        printf("%s %" PRIu64 " - everything was met%s%s\n", good ? "ok" : "not ok", ++done,
               good ? "" : ", but not: ", good ? "" : missing);
    }
    printf("1..%" PRIu64 "\n", done);
    coverage_print(&test->coverage, stdout);
    return good;
}

static bool parse_number(const char *text, uint64_t *number)
{
    char *end;

    *number = strtoull(text, &end, 10);
    return end != text && *end == '\0';
}

static bool parse(struct test *test, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--verbose") == 0) {
            test->verbose = true;
        } else if ((strcmp(argv[i], "--seed") == 0 && parse_number(value, &test->seed)) ||
                   (strcmp(argv[i], "--count") == 0 && parse_number(value, &test->count))) {
            i++;
        } else {
            return false;
        }
    }
    return test->count > 0;
}

int main(int argc, char **argv)
{
    struct test test = {.seed = 1, .count = ENOUGH};

    if (!parse(&test, argc, argv)) {
        fprintf(stderr, "usage: judge-compare [--seed S] [--count N] [--verbose]\n");
        return 2;
    }
    test.context = tms_context_new(NULL, NULL);
    if (test.context == NULL || !words_init(&test.words, test.context)) {
        fprintf(stderr, "judge-compare: out of memory\n");
        return 2;
    }
    bool good = run_all(&test);
    tms_context_free(test.context);
    return good ? 0 : 1;
}
