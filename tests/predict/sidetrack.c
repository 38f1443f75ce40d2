/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No false alarms: every prediction of sidetrack on a random short trace is searched for among all
 * its schedules (schedules.h). One of them must have the culprit between the two acquires, and not
 * be serializable. If none has, then one must be stuck in that window forever, the finding must say
 * that it may be, and goodlock must have predicted that deadlock. The blocks that a finding refutes
 * must be those that are open at both acquires in the trace.
 *
 *   predict-sidetrack DIRECTORY [REPORTS]
 *
 * DIRECTORY has PREDICTED.tsv, what is predicted of known traces; REPORTS is how many random traces
 * with a report are wanted of the plain profile, and a fifth of it of each of the others.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedules.h"
#include "sidetrack_make.h"

struct test {
    struct tms_context *context;
    bool goodlock; /* it is there */
    unsigned number, failed;
    char fault[512]; /* of the current trace, "" while there is none */
};

/* Results on the traces of a profile. */
struct tally {
    unsigned traces, reported, before, in, after, pairs, rough, stuck, accesses;
    unsigned paired; /* traces with a pair */
};

__attribute__((format(printf, 2, 3))) static bool fault(struct test *test, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(test->fault, sizeof(test->fault), format, arguments);
    va_end(arguments);
    return false;
}

__attribute__((format(printf, 3, 4))) static void tap(struct test *test, bool good,
                                                      const char *format, ...)
{
    va_list arguments;

    printf("%s %u - ", good ? "ok" : "not ok", ++test->number);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    if (!good) {
        test->failed++;
        printf("# %s\n", test->fault);
    }
    test->fault[0] = '\0';
}

/* ---- running -------------------------------------------------------------------------------- */

/* NULL if the trace is not taken. */
static struct tms_analysis *analyse(struct test *test, const struct tms_trace *trace,
                                    const char *engines)
{
    struct tms_settings settings;
    struct tms_analysis *analysis = NULL;

    tms_settings_init(&settings);
    settings.engines = engines;
    settings.all = true;
    settings.split = trace->split;
    settings.predict |= TMS_PREDICT_VARIABLE;
    int code = tms_analysis_new(test->context, &settings, &analysis);
    if (code == TMS_OK) {
        code = tms_analysis_feed(analysis, trace->events, trace->count, NULL);
    }
    if (code == TMS_OK) {
        code = tms_analysis_finish(analysis);
    }
    if (code != TMS_OK) {
        tms_analysis_free(analysis);
        return NULL;
    }
    return analysis;
}

static bool has_goodlock(void)
{
    const struct tms_engine_info *info;

    for (size_t i = 0; (info = tms_engine_info(i)) != NULL; i++) {
        if (strcmp(info->name, "goodlock") == 0) {
            return true;
        }
    }
    return false;
}

/* ---- one finding ---------------------------------------------------------------------------- */

static const struct tms_event *event_at(const struct tms_trace *trace, uint64_t number)
{
    return &trace->events[number - 1];
}

/* Is the block that begins at an event still open at a later one of its thread? */
static bool is_open(const struct tms_trace *trace, uint64_t begin, uint64_t until)
{
    unsigned depth = 1;

    for (uint64_t i = begin + 1; i <= until; i++) {
        if (event_at(trace, i)->thread == event_at(trace, begin)->thread) {
            depth += event_at(trace, i)->kind == TMS_EVENT_BEGIN;
            depth -= event_at(trace, i)->kind == TMS_EVENT_END;
        }
        if (depth == 0) {
            return false;
        }
    }
    return true;
}

/* Atomic or not, but no update, which may be an acquire. */
static bool is_plain_access(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_READ || event->kind == TMS_EVENT_WRITE ||
           event->kind == TMS_EVENT_ATOMIC_READ || event->kind == TMS_EVENT_ATOMIC_WRITE;
}

/* The blocks open at both acquires are the refuted ones; a split restarts the first of them. */
static bool check_refuted(struct test *test, const struct tms_trace *trace,
                          const struct tms_finding *finding, const struct tms_cut *cut)
{
    size_t found = 0;

    if (is_plain_access(event_at(trace, cut->first))) {
        return true; /* blamed is what its sections cut, which has a finding of its own */
    }
    for (uint64_t i = 1; i < cut->first; i++) {
        if (event_at(trace, i)->kind != TMS_EVENT_BEGIN ||
            event_at(trace, i)->thread != event_at(trace, cut->first)->thread ||
            !is_open(trace, i, cut->second)) {
            continue;
        }
        if (found == finding->refuted_count) {
            return fault(test, "the block of event %u is not refuted", (unsigned)i);
        }
        const struct tms_transaction *refuted = &finding->refuted[found++];
        if (refuted->label != event_at(trace, i)->target ||
            (found > 1 && refuted->begin_event != i)) {
            return fault(test, "refuted is another block than that of event %u", (unsigned)i);
        }
    }
    return found == finding->refuted_count ||
           fault(test, "%zu blocks are refuted, and should be %zu", finding->refuted_count, found);
}

static bool is_turn(const struct tms_event *event, const struct tms_step *step)
{
    enum tms_class cls = tms_event_class(event->kind);
    bool takes = event->kind == TMS_EVENT_ACQUIRE || event->kind == TMS_EVENT_SHARED_ACQUIRE ||
                 cls == TMS_CLASS_VARIABLE;

    return takes && cls == step->on_class && event->target == step->on;
}

static bool is_pair(const struct tms_finding *finding)
{
    return strcmp(finding->kind, "pair") == 0;
}

/* Four acquires: the block's of two locks, and those of another thread, later in the trace. */
static bool check_pair(struct test *test, const struct tms_trace *trace,
                       const struct tms_finding *finding, struct tms_cut *cut)
{
    size_t length = finding->cycle_length;

    if (length < 2 || length > 3 || finding->schedule_length != 4) {
        return fault(test, "it has %zu steps and %zu turns", length, finding->schedule_length);
    }
    const struct tms_step *out = &finding->cycle[0], *back = &finding->cycle[length - 1];
    *cut = (struct tms_cut){out->first_event, back->first_event, back->second_event,
                            out->second_event};
    const uint64_t turns[] = {cut->first, cut->through, cut->culprit, cut->second};
    for (size_t i = 0; i < 4; i++) {
        const struct tms_event *event = event_at(trace, turns[i]);
        bool own = i == 0 || i == 3;
        if (finding->schedule[i].event != turns[i] ||
            finding->schedule[i].thread != event->thread ||
            own != (event->thread == finding->transaction.thread) ||
            event->thread != event_at(trace, turns[own ? 0 : 1])->thread ||
            !is_turn(event, i < 2 ? out : back)) {
            return fault(test, "turn %zu of a pair is no such event", i + 1);
        }
    }
    bool between = length == 3 && finding->cycle[1].kind == TMS_EDGE_PROGRAM_ORDER;
    bool ordered = cut->first < cut->second && cut->first < cut->through &&
                   cut->through < cut->culprit && cut->second < cut->culprit;
    return (out->on != back->on && ordered && between == (length == 3)) ||
           fault(test, "pair %u, %u, %u, %u is no such pair", (unsigned)cut->first,
                 (unsigned)cut->through, (unsigned)cut->culprit, (unsigned)cut->second);
}

/* The finding is consistent, and its events are of the kinds that it says. */
static bool check_shape(struct test *test, const struct tms_trace *trace,
                        const struct tms_finding *finding, struct tms_cut *cut)
{
    if (is_pair(finding)) {
        return check_pair(test, trace, finding, cut);
    }
    if (finding->cycle_length != 2 || finding->schedule_length != 3) {
        return fault(test, "it has %zu steps and %zu turns", finding->cycle_length,
                     finding->schedule_length);
    }
    const struct tms_step *out = &finding->cycle[0], *back = &finding->cycle[1];
    *cut = (struct tms_cut){out->first_event, out->second_event, back->second_event, 0};
    const struct tms_event *first = event_at(trace, cut->first);
    const struct tms_event *culprit = event_at(trace, cut->culprit);
    const struct tms_event *second = event_at(trace, cut->second);
    const uint64_t turns[] = {cut->first, cut->culprit, cut->second};
    for (size_t i = 0; i < 3; i++) {
        if (finding->schedule[i].event != turns[i] ||
            finding->schedule[i].thread != event_at(trace, turns[i])->thread) {
            return fault(test, "turn %zu is another event than in the cycle", i + 1);
        }
    }
    if (!is_turn(first, out) || !is_turn(culprit, out) || !is_turn(second, back) ||
        back->first_event != cut->culprit || first->thread != second->thread ||
        culprit->thread == first->thread || cut->first >= cut->second ||
        finding->transaction.thread != first->thread) {
        return fault(test, "%s-error: first %u, culprit %u, second %u are no such events",
                     finding->kind, (unsigned)cut->first, (unsigned)cut->culprit,
                     (unsigned)cut->second);
    }
    const char *kind = cut->culprit < cut->first    ? "before"
                       : cut->culprit < cut->second ? "in"
                                                    : "after";
    return strcmp(kind, finding->kind) == 0 ||
           fault(test, "it is called %s, and is %s", finding->kind, kind);
}

static bool says_deadlock(const struct tms_finding *finding)
{
    return finding->caveat != NULL && strstr(finding->caveat, "deadlock") != NULL;
}

static bool confirm(struct test *test, const struct tms_trace *trace,
                    struct tms_schedules *schedules, const struct tms_finding *finding,
                    bool deadlock, struct tally *tally)
{
    struct tms_cut cut;
    struct tms_search search;

    if (!check_shape(test, trace, finding, &cut) || !check_refuted(test, trace, finding, &cut)) {
        return false;
    }
    /* Of updates themselves, not of accesses that a lock guards. */
    tms_schedules_same_values(schedules, finding->evidence == TMS_EVIDENCE_POTENTIAL);
    tms_schedules_search(schedules, &cut, &search);
    tally->before += finding->kind[0] == 'b';
    tally->in += finding->kind[0] == 'i';
    tally->after += finding->kind[0] == 'a';
    tally->pairs += is_pair(finding);
    tally->rough += says_deadlock(finding);
    tally->accesses += is_plain_access(event_at(trace, cut.first));
    if (search.cut) {
        return !tms_schedule_serializable(search.schedule, search.length) ||
               fault(test, "the schedule with the %s-error at event %u is serializable",
                     finding->kind, (unsigned)finding->event);
    }
    tally->stuck++;
    if (!search.stuck) {
        return fault(test, "no schedule has the %s-error at event %u, and none is stuck there",
                     finding->kind, (unsigned)finding->event);
    }
    if (!says_deadlock(finding)) {
        return fault(test, "the schedule of the %s-error at event %u is stuck, with no caveat",
                     finding->kind, (unsigned)finding->event);
    }
    return !test->goodlock || deadlock ||
           fault(test, "the %s-error at event %u is stuck, and goodlock is silent", finding->kind,
                 (unsigned)finding->event);
}

/* ---- one trace ------------------------------------------------------------------------------ */

static bool check_findings(struct test *test, const struct tms_trace *trace,
                           const struct tms_analysis *analysis, struct tally *tally)
{
    const struct tms_result *result = tms_analysis_result(analysis, 0);
    const struct tms_result *goodlock = tms_analysis_result(analysis, 1);
    bool deadlock = goodlock != NULL && goodlock->finding_count > 0;
    struct tms_schedules *schedules = tms_schedules_new(trace->events, trace->count);

    if (schedules == NULL) {
        return fault(test, "out of memory");
    }
    unsigned pairs = tally->pairs;
    bool good = true;
    for (size_t i = 0; i < result->finding_count && good; i++) {
        good = confirm(test, trace, schedules, &result->findings[i], deadlock, tally);
    }
    tally->paired += tally->pairs > pairs;
    tms_schedules_free(schedules);
    return good;
}

static bool check_trace(struct test *test, const struct tms_trace *trace, struct tally *tally)
{
    struct tms_analysis *analysis =
        analyse(test, trace, test->goodlock ? "sidetrack,goodlock" : "sidetrack");

    if (analysis == NULL) {
        return fault(test, "%s", tms_error(test->context));
    }
    const struct tms_result *result = tms_analysis_result(analysis, 0);
    tally->traces++;
    tally->reported += result->finding_count > 0;
    bool good = result->finding_count == 0 || check_findings(test, trace, analysis, tally);
    tms_analysis_free(analysis);
    return good;
}

/* For shrinking: still well-formed, and still wrong. */
static bool is_wrong(void *user, const struct tms_trace *trace)
{
    struct test *test = user;
    struct tally tally = {0};
    struct tms_analysis *analysis = analyse(test, trace, "sidetrack");

    if (analysis == NULL) {
        return false;
    }
    tms_analysis_free(analysis);
    return !check_trace(test, trace, &tally);
}

static bool check_profile(struct test *test, const struct sidetrack_profile *profile,
                          unsigned atomic, unsigned wanted, struct tally *tally)
{
    struct tms_trace trace;

    for (uint64_t seed = 1; tally->reported < wanted; seed++) {
        if (seed > 400ULL * wanted ||
            !sidetrack_make_atomic(test->context, profile, atomic, seed, &trace)) {
            return fault(test, "only %u of %u traces have a report", tally->reported,
                         tally->traces);
        }
        if (!check_trace(test, &trace, tally)) {
            tms_trace_shrink(&trace, is_wrong, test);
            is_wrong(test, &trace);
            printf("# seed %llu, shrunk:\n", (unsigned long long)seed);
            tms_trace_print(&trace, test->context, stdout);
            return false;
        }
    }
    return true;
}

static const struct {
    struct sidetrack_profile profile;
    unsigned atomic;
} profiles[] = {
    /* events, threads, locks; weights of shared, update, wait, arrive, fork, access; atomic */
    {{"locks, fork and join", 14, 3, 2, 0, 0, 0, 0, 3, 0}, 0},
    {{"locks alone", 14, 3, 3, 0, 0, 0, 0, 0, 0}, 0},
    {{"shared locks", 14, 3, 2, 12, 0, 0, 0, 2, 0}, 0},
    {{"waits", 14, 3, 2, 0, 0, 6, 0, 1, 0}, 0},
    {{"barriers", 14, 3, 2, 0, 0, 0, 4, 1, 0}, 0},
    {{"atomics", 12, 3, 2, 0, 10, 0, 0, 2, 0}, 0},
    {{"variables", 15, 2, 1, 0, 0, 0, 0, 0, 14}, 0},
    {{"everything", 14, 3, 2, 4, 3, 3, 2, 2, 3}, 0},
    {{"atomic loads and stores", 14, 3, 2, 0, 0, 0, 0, 1, 0}, 9},
    {{"loads and stores beside all else", 15, 3, 2, 3, 2, 2, 1, 2, 3}, 6},
};

static void check_random(struct test *test, unsigned wanted)
{
    for (size_t i = 0; i < sizeof(profiles) / sizeof(*profiles); i++) {
        struct tally tally = {0};
        bool good = check_profile(test, &profiles[i].profile, profiles[i].atomic,
                                  i == 0 ? wanted : wanted / 5, &tally);
        tap(test, good,
            "%s: %u of %u traces with a report (%u before, %u in, %u after, %u pairs in %u traces; "
            "%u of accesses, %u rough, %u stuck)",
            profiles[i].profile.name, tally.reported, tally.traces, tally.before, tally.in,
            tally.after, tally.pairs, tally.paired, tally.accesses, tally.rough, tally.stuck);
    }
}

/* ---- a bounded buffer ------------------------------------------------------------------------ */

static void check_buffer(struct test *test, unsigned runs)
{
    struct tms_trace trace;
    unsigned waits = 0;
    bool good = true;

    for (unsigned seed = 1; seed <= runs && good; seed++) {
        good = sidetrack_make_buffer(test->context, seed, &trace);
        struct tms_analysis *analysis = good ? analyse(test, &trace, "sidetrack") : NULL;
        const struct tms_result *result =
            analysis == NULL ? NULL : tms_analysis_result(analysis, 0);
        if (result == NULL || result->verdict != TMS_VERDICT_NONE_PREDICTED) {
            good = fault(test, "run %u: %s", seed,
                         result == NULL ? tms_error(test->context)
                                        : tms_verdict_text(result->verdict));
        }
        for (size_t i = 0; i < trace.count; i++) {
            waits += trace.events[i].kind == TMS_EVENT_WAIT;
        }
        tms_analysis_free(analysis);
    }
    good = good && (waits >= runs || fault(test, "there were only %u waits", waits));
    tap(test, good, "a bounded buffer is never predicted: %u runs, %u waits", runs, waits);
}

/* ---- known traces ---------------------------------------------------------------------------- */

#define FIELDS 4

/* "after 4,9,6 T1@3/4 !", as PREDICTED.tsv explains it. */
static size_t finding_text(const struct test *test, const struct tms_finding *finding, char *text,
                           size_t size)
{
    const struct tms_transaction *block = &finding->transaction;
    size_t used = (size_t)snprintf(text, size, "%s ", finding->kind);

    for (size_t i = 0; i < finding->schedule_length; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%u", i == 0 ? "" : ",",
                                 (unsigned)finding->schedule[i].event);
    }
    used += (size_t)snprintf(text + used, size - used, " %s@%u",
                             tms_name(test->context, TMS_CLASS_THREAD, block->thread, NULL),
                             (unsigned)block->begin_event);
    for (size_t i = 1; i < finding->refuted_count; i++) {
        used += (size_t)snprintf(text + used, size - used, "/%u",
                                 (unsigned)finding->refuted[i].begin_event);
    }
    return used +
           (size_t)snprintf(text + used, size - used, "%s", says_deadlock(finding) ? " !" : "");
}

static void findings_text(const struct test *test, const struct tms_result *result, char *text,
                          size_t size)
{
    size_t used = 0;

    snprintf(text, size, "-");
    for (size_t i = 0; i < result->finding_count && used + 100 < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s", i == 0 ? "" : "; ");
        used += finding_text(test, &result->findings[i], text + used, size - used);
    }
}

static unsigned without(const char *names)
{
    static const struct {
        const char *name;
        unsigned bit;
    } known[] = {
#define X(name, value, text) {text, value},
        TMS_PREDICTS(X)
#undef X
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (strcmp(names, known[i].name) == 0) {
            return known[i].bit;
        }
    }
    return 0;
}

static int analyse_file(struct test *test, const char *path, const char *off,
                        struct tms_analysis **analysis)
{
    struct tms_settings settings;
    struct tms_reader *reader = NULL;

    tms_settings_init(&settings);
    settings.engines = "sidetrack";
    settings.all = true;
    settings.predict |= TMS_PREDICT_VARIABLE;
    settings.predict &= ~without(off);
    int code = tms_analysis_new(test->context, &settings, analysis);
    code = code == TMS_OK ? tms_reader_open(test->context, path, NULL, &reader) : code;
    code = code == TMS_OK ? tms_analysis_read(*analysis, reader) : code;
    tms_reader_close(reader);
    return code;
}

static void check_row(struct test *test, const char *directory, char *const *fields)
{
    struct tms_analysis *analysis = NULL;
    char path[512], found[512];

    snprintf(path, sizeof(path), "%s/%s", directory, fields[0]);
    int code = analyse_file(test, path, fields[1], &analysis);
    const struct tms_result *result = code == TMS_OK ? tms_analysis_result(analysis, 0) : NULL;
    bool good = false;
    if (result == NULL) {
        fault(test, "%s", tms_error(test->context));
    } else {
        findings_text(test, result, found, sizeof(found));
        good = (strcmp(fields[2], tms_verdict_text(result->verdict)) == 0 &&
                strcmp(fields[3], found) == 0) ||
               fault(test, "%s: %s, and should be %s: %s", tms_verdict_text(result->verdict), found,
                     fields[2], fields[3]);
    }
    tap(test, good, "%s, without %s", fields[0], fields[1]);
    tms_analysis_free(analysis);
}

static bool check_table(struct test *test, const char *directory)
{
    char path[512], line[512];

    snprintf(path, sizeof(path), "%s/PREDICTED.tsv", directory);
    FILE *table = fopen(path, "r");
    while (table != NULL && fgets(line, sizeof(line), table) != NULL) {
        char *fields[FIELDS] = {NULL}, *rest = line;
        size_t count = 0;
        line[strcspn(line, "\n")] = '\0';
        while (line[0] != '#' && count < FIELDS && (fields[count] = strsep(&rest, "\t")) != NULL) {
            count++;
        }
        if (count == FIELDS) {
            check_row(test, directory, fields);
        }
    }
    return table != NULL && fclose(table) == 0;
}

int main(int argc, char **argv)
{
    struct test test = {.context = tms_context_new(NULL, NULL), .goodlock = has_goodlock()};
    unsigned wanted = argc > 2 ? (unsigned)atoi(argv[2]) : 500;

    if (argc < 2 || test.context == NULL || wanted == 0) {
        fprintf(stderr, "usage: predict-sidetrack DIRECTORY [REPORTS]\n");
        return 2;
    }
    bool read = check_table(&test, argv[1]);
    check_random(&test, wanted);
    check_buffer(&test, wanted / 5);
    printf("1..%u\n", test.number);
    tms_context_free(test.context);
    return read && test.failed == 0 ? 0 : 1;
}
