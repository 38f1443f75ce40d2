/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goodlock against a search of all schedules (lock_runs.h). A state in which no thread can continue
 * and some thread has not finished is a deadlock. Where there is one, goodlock must have a finding
 * among the threads that are stuck in it. The other way round false alarms are allowed; their
 * number is printed, and limited. Every finding must be accurate: locks taken and held where it
 * says so, and nothing that excludes its threads from each other.
 *
 *   predict-goodlock [TRACES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock_runs.h"

struct test {
    struct tms_context *context;
    uint32_t threads[TMS_RUN_THREADS], locks[TMS_RUN_LOCKS];
    const struct tms_run *run;
    const struct tms_result *result;
    const char *message;
    unsigned number, alarms, real, stuck, silent;
    bool failed;
};

static void say(struct test *test, bool good, const char *what)
{
    test->failed |= !good;
    printf("%s %u - %s\n", good ? "ok" : "not ok", ++test->number, what);
}

/* ---- comparison ------------------------------------------------------------------------- */

static unsigned thread_of(const struct test *test, uint32_t id)
{
    unsigned t = 0;

    while (t < TMS_RUN_THREADS && test->threads[t] != id) {
        t++;
    }
    return t;
}

/* Does the next step of the thread make this event? */
static bool is_before(const struct tms_run *run, const struct tms_run_state *state, unsigned thread,
                      uint64_t event)
{
    return !tms_run_is_through(run, state, thread) &&
           run->step[thread][state->at[thread]] + 1 == event;
}

static bool is_among(const struct test *test, const struct tms_finding *finding,
                     const struct tms_run_state *state)
{
    for (size_t i = 0; i < finding->cycle_length; i++) {
        unsigned t = thread_of(test, finding->cycle[i].to.thread);
        if (tms_run_is_through(test->run, state, t) || !tms_run_was_forked(test->run, state, t)) {
            return false;
        }
    }
    return true;
}

static void check_stuck(void *user, const struct tms_run_state *state, bool stuck)
{
    struct test *test = user;
    bool through = true, found = false;

    for (unsigned t = 0; t < TMS_RUN_THREADS; t++) {
        through &=
            tms_run_is_through(test->run, state, t) || !tms_run_was_forked(test->run, state, t);
    }
    if (!stuck || through) {
        return;
    }
    test->stuck++;
    for (size_t i = 0; i < test->result->finding_count && !found; i++) {
        found = is_among(test, &test->result->findings[i], state);
    }
    if (!found) {
        test->message = "a deadlock was not foreseen";
    }
}

/* A finding, and whether some state shows it. */
struct confirmation {
    const struct test *test;
    const struct tms_finding *finding;
    bool shown;
};

static void confirm(void *user, const struct tms_run_state *state, bool stuck)
{
    struct confirmation *confirmation = user;
    const struct test *test = confirmation->test;
    const struct tms_finding *finding = confirmation->finding;

    (void)stuck; /* others may still run */
    for (size_t i = 0; i < finding->cycle_length; i++) {
        unsigned t = thread_of(test, finding->cycle[i].to.thread);
        if (!is_before(test->run, state, t, finding->cycle[i].second_event) ||
            tms_run_can_step(test->run, state, t)) {
            return;
        }
    }
    confirmation->shown = true;
}

static bool is_acquire(enum tms_event_kind kind)
{
    return kind == TMS_EVENT_ACQUIRE || kind == TMS_EVENT_SHARED_ACQUIRE;
}

/* How many of its steps the thread has made when this event is next. */
static size_t steps_before(const struct tms_run *run, unsigned thread, uint64_t event)
{
    size_t steps = 0;

    while (steps < run->length[thread] && run->step[thread][steps] + 1 < event) {
        steps++;
    }
    return steps;
}

static bool check_step(const struct test *test, const struct tms_step *step)
{
    const struct tms_run *run = test->run;
    size_t a = step->first_event - 1, b = step->second_event - 1;

    if (a >= run->count || b >= run->count || test->threads[run->thread[a]] != step->from.thread ||
        test->threads[run->thread[b]] != step->to.thread || run->kind[a] != step->first_kind ||
        run->kind[b] != step->second_kind || run->thread[a] == run->thread[b]) {
        return false;
    }
    if (step->kind == TMS_EDGE_JOIN) {
        return run->kind[b] == TMS_EVENT_JOIN && run->target[b] == run->thread[a];
    }
    return step->kind == TMS_EDGE_LOCK && is_acquire(run->kind[a]) && is_acquire(run->kind[b]) &&
           run->target[a] == run->target[b] && test->locks[run->target[b]] == step->on &&
           !(run->kind[a] == TMS_EVENT_SHARED_ACQUIRE && run->kind[b] == TMS_EVENT_SHARED_ACQUIRE);
}

/*
 * Where each thread waits, it still holds the locks of the finding, and no two exclude each other.
 */
static bool check_holds(const struct test *test, const struct tms_finding *finding)
{
    const struct tms_run *run = test->run;
    enum tms_run_hold most[TMS_RUN_LOCKS] = {TMS_RUN_FREE};

    for (size_t i = 0; i < finding->cycle_length; i++) {
        const struct tms_step *wants = &finding->cycle[i];
        const struct tms_step *holds = &finding->cycle[(i + 1) % finding->cycle_length];
        unsigned t = thread_of(test, wants->to.thread);
        size_t at = steps_before(run, t, wants->second_event);
        for (unsigned lock = 0; lock < TMS_RUN_LOCKS; lock++) {
            enum tms_run_hold hold = tms_run_hold_at(run, t, at, lock);
            if ((hold == TMS_RUN_EXCLUSIVE && most[lock] != TMS_RUN_FREE) ||
                (hold == TMS_RUN_SHARED && most[lock] == TMS_RUN_EXCLUSIVE)) {
                return false;
            }
            most[lock] = hold != TMS_RUN_FREE ? hold : most[lock];
        }
        if (holds->from.thread != wants->to.thread) {
            return false;
        }
        if (holds->kind == TMS_EDGE_LOCK &&
            (tms_run_hold_at(run, t, at, run->target[holds->first_event - 1]) == TMS_RUN_FREE ||
             steps_before(run, t, holds->first_event) >= at)) {
            return false;
        }
    }
    return true;
}

static bool check_finding(const struct test *test, const struct tms_finding *finding)
{
    if (finding->cycle_length < 2 || strcmp(finding->kind, "deadlock") != 0 ||
        finding->evidence != TMS_EVIDENCE_POTENTIAL ||
        finding->event != finding->cycle[finding->cycle_length - 1].second_event ||
        finding->schedule_length < finding->cycle_length) {
        return false;
    }
    for (size_t i = 0; i < finding->cycle_length; i++) {
        if (!check_step(test, &finding->cycle[i])) {
            return false;
        }
    }
    return check_holds(test, finding);
}

static int analyse(struct test *test, const struct tms_run *run, struct tms_analysis **analysis)
{
    struct tms_settings settings;
    struct tms_event events[TMS_RUN_EVENTS];

    for (size_t i = 0; i < run->count; i++) {
        bool locks = tms_event_class(run->kind[i]) == TMS_CLASS_LOCK;
        events[i] = (struct tms_event){
            .thread = test->threads[run->thread[i]],
            .target = locks ? test->locks[run->target[i]] : test->threads[run->target[i]],
            .kind = (uint8_t)run->kind[i],
        };
    }
    tms_settings_init(&settings);
    settings.engines = "goodlock";
    settings.all = true;
    int code = tms_analysis_new(test->context, &settings, analysis);
    code = code == TMS_OK ? tms_analysis_feed(*analysis, events, run->count, NULL) : code;
    return code == TMS_OK ? tms_analysis_finish(*analysis) : code;
}

static void check_findings(struct test *test)
{
    for (size_t i = 0; i < test->result->finding_count && test->message == NULL; i++) {
        struct confirmation confirmation = {.test = test, .finding = &test->result->findings[i]};
        if (!check_finding(test, confirmation.finding)) {
            test->message = "a finding is not what it says";
        }
        tms_run_explore(test->run, confirm, &confirmation);
        test->alarms++;
        test->real += confirmation.shown;
    }
}

static void compare(struct test *test, const struct tms_run *run)
{
    struct tms_analysis *analysis = NULL;

    test->run = run;
    test->message = NULL;
    if (analyse(test, run, &analysis) == TMS_OK) {
        test->result = tms_analysis_result(analysis, 0);
        test->silent += test->result->finding_count == 0;
        if (test->result->verdict != (test->result->finding_count == 0 ? TMS_VERDICT_NONE_POTENTIAL
                                                                       : TMS_VERDICT_POTENTIAL)) {
            test->message = "a verdict that does not go with the findings";
        }
        tms_run_explore(run, check_stuck, test);
        check_findings(test);
    } else {
        test->message = tms_error(test->context);
    }
    tms_analysis_free(analysis);
}

static void show(const struct test *test, uint64_t seed)
{
    printf("# seed %llu: %s\n", (unsigned long long)seed, test->message);
    for (size_t i = 0; i < test->run->count; i++) {
        bool locks = tms_event_class(test->run->kind[i]) == TMS_CLASS_LOCK;
        printf("T%u|%s(%c%u)\n", test->run->thread[i], tms_event_text(test->run->kind[i]),
               locks ? 'm' : 'T', test->run->target[i]);
    }
}

#define PER_TEST 100

static void compare_some(struct test *test, uint64_t from)
{
    char what[64];
    bool good = true;

    for (uint64_t seed = from; seed < from + PER_TEST && good; seed++) {
        struct tms_run run;
        tms_run_make(seed, &run);
        compare(test, &run);
        good = test->message == NULL;
        if (!good) {
            show(test, seed);
        }
    }
    snprintf(what, sizeof(what), "seeds %llu to %llu", (unsigned long long)from,
             (unsigned long long)from + PER_TEST - 1);
    say(test, good, what);
}

/* ---- traces by hand --------------------------------------------------------------------- */

/* Events as "thread operation operand", separated by commas. */
static const struct golden {
    const char *name, *text;
    size_t threads; /* of the one deadlock that is found; 0: none */
} goldens[] = {
    {"two threads, two locks, opposite orders",
     "A acq m,A acq n,A rel n,A rel m,B acq n,B acq m,B rel m,B rel n", 2},
    {"the same order", "A acq m,A acq n,A rel n,A rel m,B acq m,B acq n,B rel n,B rel m", 0},
    {"not nested", "A acq m,A rel m,A acq n,A rel n,B acq n,B rel n,B acq m,B rel m", 0},
    {"not nested any more, with another lock held on",
     "A acq k,A acq m,A rel m,A acq n,A rel n,A rel k,B acq n,B acq m,B rel m,B rel n", 0},
    {"a gate lock",
     "A acq g,A acq m,A acq n,A rel n,A rel m,A rel g,"
     "B acq g,B acq n,B acq m,B rel m,B rel n,B rel g",
     0},
    {"a gate that only one of them takes",
     "A acq g,A acq m,A acq n,A rel n,A rel m,A rel g,B acq n,B acq m,B rel m,B rel n", 2},
    {"a gate that one of them leaves too early",
     "A acq g,A acq m,A rel g,A acq n,A rel n,A rel m,"
     "B acq g,B acq n,B acq m,B rel m,B rel n,B rel g",
     2},
    {"a shared gate is none",
     "A racq g,A acq m,A acq n,A rel n,A rel m,A rrel g,"
     "B racq g,B acq n,B acq m,B rel m,B rel n,B rrel g",
     2},
    {"a gate shared by one of them",
     "A racq g,A acq m,A acq n,A rel n,A rel m,A rrel g,"
     "B acq g,B acq n,B acq m,B rel m,B rel n,B rel g",
     0},
    {"both orders in one thread", "A acq m,A acq n,A rel n,A rel m,A acq n,A acq m,A rel m,A rel n",
     0},
    {"before the other thread is there",
     "A acq m,A acq n,A rel n,A rel m,A fork B,B acq n,B acq m,B rel m,B rel n", 0},
    {"after it has ended",
     "A fork B,B acq n,B acq m,B rel m,B rel n,A join B,A acq m,A acq n,A rel n,A rel m", 0},
    {"while it is there",
     "A fork B,A acq m,A acq n,A rel n,A rel m,B acq n,B acq m,B rel m,B rel n,A join B", 2},
    {"one after the other, by a third",
     "A fork B,B acq n,B acq m,B rel m,B rel n,A join B,A fork C,C acq m,C acq n,C rel n,C rel m",
     0},
    {"with a barrier between",
     "A acq m,A acq n,A rel n,A rel m,A arrive b,B arrive b,A depart b,B depart b,"
     "B acq n,B acq m,B rel m,B rel n",
     0},
    {"in one of several periods",
     "A acq m,A acq n,A rel n,A rel m,A fork B,A acq m,A acq n,A rel n,A rel m,"
     "B acq n,B acq m,B rel m,B rel n",
     2},
    {"the lock was taken before the fork, and the other is wanted after it",
     "A acq m,A fork B,A acq n,A rel n,A rel m,B acq n,B acq m,B rel m,B rel n", 2},
    {"three threads",
     "A acq m,A acq n,A rel n,A rel m,B acq n,B acq k,B rel k,B rel n,"
     "C acq k,C acq m,C rel m,C rel k",
     3},
    {"three threads, two of them never at the same time",
     "A fork B,B acq n,B acq k,B rel k,B rel n,A join B,A fork C,C acq k,C acq m,C rel m,C rel k,"
     "D acq m,D acq n,D rel n,D rel m",
     0},
    {"three threads, and a gate for two of them",
     "A acq g,A acq m,A acq n,A rel n,A rel m,A rel g,B acq g,B acq n,B acq k,B rel k,B rel n,"
     "B rel g,C acq k,C acq m,C rel m,C rel k",
     0},
    {"shared holds don't wait for each other",
     "A racq m,A racq n,A rrel n,A rrel m,B racq n,B racq m,B rrel m,B rrel n", 0},
    {"… but for exclusive ones",
     "A racq m,A acq n,A rel n,A rrel m,B racq n,B acq m,B rel m,B rrel n", 2},
    {"a join with a lock that the other thread wants",
     "A fork B,B acq m,B rel m,A acq m,A join B,A rel m", 2},
    {"a join with a lock that it does not want",
     "A fork B,B acq n,B rel n,A acq m,A join B,A rel m", 0},
    {"a join of a thread that joins the one that wants the lock",
     "A fork B,B fork C,C acq m,C rel m,B join C,A acq m,A join B,A rel m", 3},
    {"taken again after a wait, with another lock held",
     "A acq n,A acq m,A rel m,A wait c,A acq m,A rel m,A rel n,B acq m,B acq n,B rel n,B rel m", 2},
    {"re-entrant: no order of a lock with itself",
     "A acq m,A acq n,A acq m,A rel m,A rel n,A rel m,B acq m,B acq n,B rel n,B rel m", 0},
};

struct feeder {
    struct test *test;
    struct tms_analysis *analysis;
    bool good;
};

static struct feeder start(struct test *test)
{
    struct feeder feeder = {.test = test};
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = "goodlock";
    settings.all = true;
    feeder.good = tms_analysis_new(test->context, &settings, &feeder.analysis) == TMS_OK;
    return feeder;
}

static void feed(struct feeder *feeder, const char *thread, const char *operation,
                 const char *target)
{
    struct tms_context *context = feeder->test->context;
    unsigned kind = 0;

    while (kind < TMS_EVENT_COUNT && strcmp(tms_event_text(kind), operation) != 0) {
        kind++;
    }
    int64_t actor = tms_intern(context, TMS_CLASS_THREAD, thread, strlen(thread));
    int64_t on = tms_intern(context, tms_event_class(kind), target, strlen(target));
    const struct tms_event event = {
        .thread = (uint32_t)actor, .target = (uint32_t)on, .kind = (uint8_t)kind};
    feeder->good &=
        actor > 0 && on > 0 && tms_analysis_feed(feeder->analysis, &event, 1, NULL) == TMS_OK;
}

static const struct tms_result *end(struct feeder *feeder)
{
    feeder->good = feeder->good && tms_analysis_finish(feeder->analysis) == TMS_OK;
    return tms_analysis_result(feeder->analysis, 0);
}

static void check_golden(struct test *test, const struct golden *golden)
{
    struct feeder feeder = start(test);
    char thread[8], operation[8], target[8];

    for (const char *at = golden->text; at != NULL && feeder.good; at = strchr(at, ',')) {
        at += *at == ',';
        feeder.good = sscanf(at, "%7[^ ] %7[^ ] %7[^,]", thread, operation, target) == 3;
        feed(&feeder, thread, operation, target);
    }
    const struct tms_result *result = end(&feeder);
    bool good = feeder.good && result->complete &&
                result->finding_count == (golden->threads == 0 ? 0 : 1) &&
                (golden->threads == 0 || result->findings[0].cycle_length == golden->threads);
    say(test, good, golden->name);
    tms_analysis_free(feeder.analysis);
}

/* Each takes the fork of his own number and then the next; the last one may be left-handed. */
static void check_philosophers(struct test *test, unsigned count, bool fixed)
{
    struct feeder feeder = start(test);

    for (unsigned i = 0; i < count; i++) {
        char thread[16], one[16], other[16];
        bool swapped = fixed && i + 1 == count;
        snprintf(thread, sizeof(thread), "philosopher%u", i);
        snprintf(one, sizeof(one), "fork%u", swapped ? (i + 1) % count : i);
        snprintf(other, sizeof(other), "fork%u", swapped ? i : (i + 1) % count);
        feed(&feeder, thread, "acq", one);
        feed(&feeder, thread, "acq", other);
        feed(&feeder, thread, "rel", other);
        feed(&feeder, thread, "rel", one);
    }
    const struct tms_result *result = end(&feeder);
    bool good = feeder.good && result->complete && result->finding_count == !fixed &&
                (fixed || result->findings[0].cycle_length == count);
    say(test, good, fixed ? "dining philosophers, one left-handed" : "dining philosophers");
    tms_analysis_free(feeder.analysis);
}

/* A long list, locked hand over hand by two threads: nothing to search. */
static void check_chain(struct test *test)
{
    struct feeder feeder = start(test);
    char name[2][16] = {"", "node0"};

    for (unsigned t = 0; t < 2; t++) {
        const char *thread = t == 0 ? "A" : "B";
        snprintf(name[1], sizeof(name[1]), "node0");
        feed(&feeder, thread, "acq", name[1]);
        for (unsigned i = 1; i < 20000; i++) {
            memcpy(name[0], name[1], sizeof(name[0]));
            snprintf(name[1], sizeof(name[1]), "node%u", i);
            feed(&feeder, thread, "acq", name[1]);
            feed(&feeder, thread, "rel", name[0]);
        }
        feed(&feeder, thread, "rel", name[1]);
    }
    const struct tms_result *result = end(&feeder);
    say(test, feeder.good && result->verdict == TMS_VERDICT_NONE_POTENTIAL,
        "a chain of 20,000 locks, hand over hand");
    tms_analysis_free(feeder.analysis);
}

#define CROWD 10
#define MANY  30

/* The thread takes two locks at a time, in all ways that are in order, or in all the others. */
static void take_pairs(struct feeder *feeder, const char *thread, bool forward, bool gated)
{
    char one[16], other[16];

    for (unsigned pair = 0; pair < MANY * MANY; pair++) {
        unsigned low = pair / MANY, high = pair % MANY;
        if (low >= high) {
            continue;
        }
        snprintf(one, sizeof(one), "lock%u", forward ? low : high);
        snprintf(other, sizeof(other), "lock%u", forward ? high : low);
        if (gated) {
            feed(feeder, thread, "acq", "gate");
        }
        feed(feeder, thread, "acq", one);
        feed(feeder, thread, "acq", other);
        feed(feeder, thread, "rel", other);
        feed(feeder, thread, "rel", one);
        if (gated) {
            feed(feeder, thread, "rel", "gate");
        }
    }
}

/*
 * The first thread takes the locks in one order; a crowd that it forks before or after that takes
 * them in the other order: no cycle, far too many, or none but a large search.
 */
static void check_crowd(struct test *test, bool before, bool gated, enum tms_verdict verdict,
                        bool complete, const char *what)
{
    struct feeder feeder = start(test);
    char worker[16];

    if (!before) {
        take_pairs(&feeder, "first", false, gated);
    }
    for (unsigned t = 0; t < CROWD; t++) {
        snprintf(worker, sizeof(worker), "worker%u", t);
        feed(&feeder, "first", "fork", worker);
    }
    if (before) {
        take_pairs(&feeder, "first", false, gated);
    }
    for (unsigned t = 0; t < CROWD; t++) {
        snprintf(worker, sizeof(worker), "worker%u", t);
        take_pairs(&feeder, worker, true, gated);
    }
    const struct tms_result *result = end(&feeder);
    say(test,
        feeder.good && result->verdict == verdict && result->complete == complete &&
            (result->loss != NULL) == !complete,
        what);
    tms_analysis_free(feeder.analysis);
}

int main(int argc, char **argv)
{
    static const char *const threads[TMS_RUN_THREADS] = {"T0", "T1", "T2", "T3"};
    static const char *const locks[TMS_RUN_LOCKS] = {"m0", "m1", "m2"};
    struct test test = {.context = tms_context_new(NULL, NULL)};
    uint64_t traces = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;

    if (test.context == NULL) {
        return 2;
    }
    for (unsigned i = 0; i < TMS_RUN_THREADS; i++) {
        test.threads[i] = (uint32_t)tms_intern(test.context, TMS_CLASS_THREAD, threads[i], 2);
    }
    for (unsigned i = 0; i < TMS_RUN_LOCKS; i++) {
        test.locks[i] = (uint32_t)tms_intern(test.context, TMS_CLASS_LOCK, locks[i], 2);
    }
    for (uint64_t seed = 1; seed <= traces; seed += PER_TEST) {
        compare_some(&test, seed);
    }
    say(&test, test.silent * 10 >= traces && test.silent * 10 <= traces * 9,
        "goodlock is silent on at least a tenth of the traces, and speaks on a tenth");
    say(&test, test.real * 10 >= test.alarms * 7, "at least seven findings in ten really deadlock");
    for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
        check_golden(&test, &goldens[i]);
    }
    check_philosophers(&test, 5, false);
    check_philosophers(&test, 5, true);
    check_chain(&test);
    check_crowd(&test, true, true, TMS_VERDICT_NONE_POTENTIAL, true, "a crowd with a gate lock");
    check_crowd(&test, true, false, TMS_VERDICT_POTENTIAL, false, "too much to find all");
    check_crowd(&test, false, false, TMS_VERDICT_INCOMPLETE, false, "too much to be sure");
    printf(
        "1..%u\n# %u of %llu traces silent; %u findings, %u of them real; %u deadlocked states\n",
        test.number, test.silent, (unsigned long long)traces, test.alarms, test.real, test.stuck);
    tms_context_free(test.context);
    return test.failed;
}
