/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To every engine except fasttrack, sidetrack and judge an atomic access is a plain one, and a
 * fence is not an event: random traces with memory orders, and twins of them without, in which each
 * event keeps its number. The output on both must be identical.
 *
 *   twins [TRACES]
 */
#include <stdlib.h>
#include <string.h>

#include "predict/tap.h"
#include "trace.h"

#define PER_TEST 100

/* Engines that are asked at once; the last `apart` of them may say something else. */
struct company {
    char engines[256];
    size_t apart;
};

struct test {
    struct tap tap;
    struct tms_context *context;
    struct tms_vocabulary *vocabulary;
    uint32_t unused; /* a variable that no trace has */
    struct company companies[2];
    unsigned findings; /* compared so far */
};

/* The output of an analysis, as text. */
struct words {
    char *text;
    size_t length;
};

static bool differs(const char *engine)
{
    return strcmp(engine, "fasttrack") == 0 || strcmp(engine, "sidetrack") == 0 ||
           strcmp(engine, "judge") == 0;
}

/* All engines that must say the same; and one of them beside others that want the rest. */
static void choose_companies(struct test *test)
{
    char *all = test->companies[0].engines;
    const struct tms_engine_info *info;
    size_t used = 0, size = sizeof(test->companies[0].engines);

    for (size_t i = 0; (info = tms_engine_info(i)) != NULL; i++) {
        if (!differs(info->name)) {
            used +=
                (size_t)snprintf(all + used, size - used, "%s%s", used > 0 ? "," : "", info->name);
        }
    }
    test->companies[1] = (struct company){"frontier,fasttrack,judge", 2};
}

/* A fence or a channel operation becomes another event that these engines ignore. */
static void make_twin(const struct test *test, const struct tms_trace *trace,
                      struct tms_trace *twin)
{
    *twin = *trace;
    for (size_t i = 0; i < twin->count; i++) {
        struct tms_event *event = &twin->events[i];
        if (event->kind >= TMS_EVENT_FENCE && event->kind <= TMS_EVENT_RECEIVE) {
            event->kind = TMS_EVENT_RETRY;
            event->target = test->unused;
        } else if (event->order != TMS_ORDER_NONE) {
            event->kind = (uint8_t)(event->kind - TMS_EVENT_ATOMIC_READ + TMS_EVENT_READ);
        }
        event->order = TMS_ORDER_NONE;
    }
}

static bool add(void *user, const char *text, size_t length)
{
    return fwrite(text, 1, length, user) == length;
}

static void tell(struct test *test, const struct tms_analysis *analysis,
                 const struct company *company, FILE *out)
{
    const struct tms_result *result;
    struct tms_report_settings settings;

    tms_report_settings_init(&settings);
    for (size_t i = 0; tms_analysis_result(analysis, i + company->apart) != NULL; i++) {
        result = tms_analysis_result(analysis, i);
        fprintf(out, "%s: %s, event %llu, %llu violations, %llu edges\n", result->engine->name,
                tms_verdict_text(result->verdict),
                (unsigned long long)result->first_violation_event,
                (unsigned long long)result->violations, (unsigned long long)result->closing_edges);
        for (size_t k = 0; k < result->finding_count; k++) {
            tms_report_finding(test->context, result, k, &settings, add, out);
            test->findings++;
        }
    }
}

static struct words hear(struct test *test, const struct tms_trace *trace,
                         const struct company *company)
{
    struct words words = {NULL, 0};
    FILE *out = open_memstream(&words.text, &words.length);
    struct tms_analysis *analysis = NULL;
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = company->engines;
    settings.split = trace->split;
    int code = out == NULL ? TMS_ERR_MEMORY : tms_analysis_new(test->context, &settings, &analysis);
    code = code == TMS_OK ? tms_analysis_feed(analysis, trace->events, trace->count, NULL) : code;
    code = code == TMS_OK ? tms_analysis_finish(analysis) : code;
    if (code == TMS_OK) {
        tell(test, analysis, company, out);
    }
    tms_analysis_free(analysis);
    if (out != NULL) {
        fprintf(out, "%s\n", code == TMS_OK ? "" : tms_error(test->context));
        fclose(out);
    }
    return words;
}

static bool agree(struct test *test, const struct tms_trace *trace, bool show)
{
    struct tms_trace twin;
    bool good = true;

    make_twin(test, trace, &twin);
    for (size_t i = 0; i < sizeof(test->companies) / sizeof(*test->companies) && good; i++) {
        struct words one = hear(test, trace, &test->companies[i]);
        struct words other = hear(test, &twin, &test->companies[i]);
        good = one.text != NULL && other.text != NULL && strcmp(one.text, other.text) == 0;
        if (!good && show) {
            printf("# with orders:\n%s# without:\n%s", one.text, other.text);
        }
        free(one.text);
        free(other.text);
    }
    return good;
}

static bool disagrees(void *user, const struct tms_trace *trace)
{
    return !agree(user, trace, false);
}

static bool has_orders(const struct tms_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->events[i].order != TMS_ORDER_NONE) {
            return true;
        }
    }
    return false;
}

/* Compares the next `wanted` traces with orders; returns the seed to continue with. */
static uint64_t compare(struct test *test, uint64_t seed, unsigned wanted)
{
    struct tms_trace trace;
    bool good = true;
    uint64_t first = seed;

    for (unsigned made = 0; made < wanted && good; seed++) {
        tms_trace_make(test->vocabulary, seed, &trace);
        if (has_orders(&trace)) {
            good = agree(test, &trace, false);
            made++;
        }
    }
    ok(&test->tap, good, "seeds %llu to %llu", (unsigned long long)first,
       (unsigned long long)seed - 1);
    if (!good) {
        tms_trace_shrink(&trace, disagrees, test);
        tms_trace_print(&trace, test->context, stdout);
        agree(test, &trace, true);
    }
    return seed;
}

int main(int argc, char **argv)
{
    static struct test test;
    unsigned traces = argc > 1 ? (unsigned)atoi(argv[1]) : 500;
    uint64_t seed = 1;

    test.context = tms_context_new(NULL, NULL);
    test.vocabulary = test.context != NULL ? tms_vocabulary_new(test.context) : NULL;
    if (test.vocabulary == NULL) {
        fprintf(stderr, "twins: out of memory\n");
        return 2;
    }
    test.unused = (uint32_t)tms_intern(test.context, TMS_CLASS_VARIABLE, "unused", 6);
    choose_companies(&test);
    for (unsigned made = 0; made < traces && !test.tap.failed; made += PER_TEST) {
        seed = compare(&test, seed, PER_TEST);
    }
    ok(&test.tap, test.findings > traces, "%u findings were compared", test.findings);
    tms_vocabulary_free(test.vocabulary);
    tms_context_free(test.context);
    return done(&test.tap);
}
