/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows between two locks (sidetrack's pairs) in random short traces. Every prediction must be
 * found among all schedules (schedules.h), with the four acquires in that order, and not be
 * serializable; or, with the caveat, one of the schedules must be stuck there. Four acquires that
 * no schedule has in the order of a pair must not be predicted; and every kind of trace in which
 * something may order the threads contains such cases. Finally, the predictions must equal those of
 * a second, naive implementation of the rule (pairs_naive.h).
 *
 *   predict-pairs [REPORTS]
 *
 * REPORTS is how many traces with a report are wanted of each kind.
 */
#include <stdlib.h>
#include <string.h>

#include "pairs_make.h"
#include "pairs_naive.h"
#include "schedules.h"
#include "tap.h"

static const char *const order_texts[] = {
#define X(name, text) text,
    PAIR_ORDERS(X)
#undef X
};

struct test {
    struct tms_context *context;
    char fault[256];
};

struct tally {
    unsigned traces, reported, impossible, rough, compared;
};

/* NULL if the trace is not taken. */
static struct tms_analysis *analyse(struct test *test, const struct tms_trace *trace)
{
    struct tms_settings settings;
    struct tms_analysis *analysis = NULL;

    tms_settings_init(&settings);
    settings.engines = "sidetrack";
    settings.all = true;
    settings.split = trace->split;
    int code = tms_analysis_new(test->context, &settings, &analysis);
    code = code == TMS_OK ? tms_analysis_feed(analysis, trace->events, trace->count, NULL) : code;
    code = code == TMS_OK ? tms_analysis_finish(analysis) : code;
    if (code != TMS_OK) {
        tms_analysis_free(analysis);
        return NULL;
    }
    return analysis;
}

/* The pairs among the findings. */
static size_t find_pairs(const struct tms_result *result, const struct tms_finding **pairs,
                         size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < result->finding_count && count < most; i++) {
        if (strcmp(result->findings[i].kind, "pair") == 0) {
            pairs[count++] = &result->findings[i];
        }
    }
    return count;
}

static struct tms_cut cut_of(const struct tms_finding *finding)
{
    const struct tms_turn *turns = finding->schedule;

    return (struct tms_cut){.first = turns[0].event,
                            .through = turns[1].event,
                            .culprit = turns[2].event,
                            .second = turns[3].event};
}

static bool fault(struct test *test, const char *what, const struct tms_cut *cut)
{
    snprintf(test->fault, sizeof(test->fault), "%s: %u, %u, %u, %u", what, (unsigned)cut->first,
             (unsigned)cut->through, (unsigned)cut->culprit, (unsigned)cut->second);
    return false;
}

/* ---- among all schedules -------------------------------------------------------------------- */

static bool confirm(struct test *test, struct tms_schedules *schedules,
                    const struct tms_finding *finding, struct tally *tally)
{
    const struct tms_cut cut = cut_of(finding);
    bool rough = finding->caveat != NULL && strstr(finding->caveat, "deadlock") != NULL;
    struct tms_search search;

    tms_schedules_search(schedules, &cut, &search);
    tally->rough += rough;
    if (search.cut) {
        return !tms_schedule_serializable(search.schedule, search.length) ||
               fault(test, "its schedule is serializable", &cut);
    }
    return (search.stuck && rough) || fault(test, "no schedule has it", &cut);
}

/* Is the pair, which the trace has in its order, in some schedule? */
static bool is_possible(struct tms_schedules *schedules, const struct tms_cut *cut)
{
    struct tms_search search;

    tms_schedules_search(schedules, cut, &search);
    return search.cut || search.stuck;
}

static bool has_impossible(const struct tms_trace *trace, struct tms_schedules *schedules)
{
    struct tms_cut cuts[PAIRS_MOST];
    size_t count = pairs_ordered(trace, cuts);

    for (size_t i = 0; i < count; i++) {
        if (!is_possible(schedules, &cuts[i])) {
            return true;
        }
    }
    return false;
}

/* ---- the naive implementation --------------------------------------------------------------- */

static bool is_among(const struct tms_cut *cut, const struct tms_cut *cuts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (memcmp(cut, &cuts[i], sizeof(*cut)) == 0) {
            return true;
        }
    }
    return false;
}

static bool compare(struct test *test, const struct tms_trace *trace,
                    const struct tms_finding *const *pairs, size_t pair_count, struct tally *tally)
{
    struct tms_cut naive[PAIRS_MOST], found[PAIRS_MOST];
    size_t count = pairs_naive(trace, naive);

    if (count == PAIRS_UNSURE) {
        return true;
    }
    for (size_t i = 0; i < pair_count; i++) {
        found[i] = cut_of(pairs[i]);
        if (!is_among(&found[i], naive, count)) {
            return fault(test, "not by the naive implementation", &found[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_among(&naive[i], found, pair_count)) {
            return fault(test, "only by the naive implementation", &naive[i]);
        }
    }
    tally->compared += count > 0;
    return true;
}

/* ---- traces --------------------------------------------------------------------------------- */

static bool check_pairs(struct test *test, const struct tms_trace *trace,
                        const struct tms_result *result, struct tally *tally)
{
    const struct tms_finding *pairs[PAIRS_MOST];
    size_t count = find_pairs(result, pairs, PAIRS_MOST);
    struct tms_schedules *schedules = tms_schedules_new(trace->events, trace->count);
    bool good = schedules != NULL;

    tally->impossible += good && has_impossible(trace, schedules);
    for (size_t i = 0; i < count && good; i++) {
        good = confirm(test, schedules, pairs[i], tally);
    }
    tms_schedules_free(schedules);
    tally->reported += count > 0;
    return good && compare(test, trace, pairs, count, tally);
}

static bool check_trace(struct test *test, const struct tms_trace *trace, struct tally *tally)
{
    struct tms_analysis *analysis = analyse(test, trace);

    if (analysis == NULL) {
        snprintf(test->fault, sizeof(test->fault), "%s", tms_error(test->context));
        return false;
    }
    tally->traces++;
    bool good = check_pairs(test, trace, tms_analysis_result(analysis, 0), tally);
    tms_analysis_free(analysis);
    return good;
}

/* For shrinking: still well-formed, and still wrong. */
static bool is_wrong(void *user, const struct tms_trace *trace)
{
    struct test *test = user;
    struct tally tally = {0};
    struct tms_analysis *analysis = analyse(test, trace);

    if (analysis == NULL) {
        return false;
    }
    tms_analysis_free(analysis);
    return !check_trace(test, trace, &tally);
}

static bool check_order(struct test *test, enum pair_order order, unsigned wanted,
                        struct tally *tally)
{
    struct tms_trace trace;

    for (uint64_t seed = 1; tally->reported < wanted; seed++) {
        if (seed > 100ULL * wanted || !pairs_make(test->context, order, seed, &trace)) {
            snprintf(test->fault, sizeof(test->fault), "too few traces have a report");
            return false;
        }
        if (!check_trace(test, &trace, tally)) {
            tms_trace_shrink(&trace, is_wrong, test);
            is_wrong(test, &trace);
            printf("# seed %llu, shrunk:\n", (unsigned long long)seed);
            tms_trace_print(&trace, test->context, stdout);
            return false;
        }
    }
    if (tally->compared < wanted / 2) {
        snprintf(test->fault, sizeof(test->fault), "only %u are compared", tally->compared);
        return false;
    }
    if (order != PAIR_NOTHING && order != PAIR_SHARED && tally->impossible < wanted / 10) {
        snprintf(test->fault, sizeof(test->fault), "it hardly ever orders anything");
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct test test = {.context = tms_context_new(NULL, NULL)};
    unsigned wanted = argc > 1 ? (unsigned)atoi(argv[1]) : 200;
    struct tap tap = {0};

    if (test.context == NULL || wanted == 0) {
        fprintf(stderr, "usage: predict-pairs [REPORTS]\n");
        return 2;
    }
    for (enum pair_order order = 0; order < PAIR_ORDER_COUNT; order++) {
        struct tally tally = {0};
        bool good = check_order(&test, order, wanted, &tally);
        ok(&tap, good,
           "%s: %u of %u traces with a report, all confirmed (%u rough), %u as by the naive one; "
           "%u with one that no schedule has",
           order_texts[order], tally.reported, tally.traces, tally.rough, tally.compared,
           tally.impossible);
        if (!good) {
            printf("# %s\n", test.fault);
        }
    }
    tms_context_free(test.context);
    return done(&tap);
}
