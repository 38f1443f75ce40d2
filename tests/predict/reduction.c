/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines reduction and atomizer, and their foundations: race tests, thread periods, escape,
 * locks that order nothing. Prints TAP.
 *
 *   predict-reduction [TRACES [SETS [SEED]]]
 *
 * TRACES random traces are judged by the definitions (naive.h), with all settings in turn: the
 * number of variables that race and of transactions that fail must be the same, and a finding must
 * show a commit point and an operation too late for it. SETS random sets of transactions that can't
 * deadlock are compared with all their traces (theorem.h): if nothing is found, each is equivalent
 * to a serial one. The rest are small traces with known answers.
 */
#include <stdlib.h>
#include <string.h>

#include "differential/trace.h"
#include "naive.h"
#include "small_make.h"
#include "tap.h"
#include "theorem.h"

/* ---- against the definitions ------------------------------------------------------------ */

/* All settings, in turn. */
static void choose_settings(uint64_t seed, struct tms_settings *settings)
{
    static const enum tms_race_test tests[] = {TMS_RACE_MULTILOCKSET, TMS_RACE_DEFAULT,
                                               TMS_RACE_ERASER, TMS_RACE_PRAUN_GROSS,
                                               TMS_RACE_ATOMIZER};
    static const enum tms_escape escapes[] = {TMS_ESCAPE_OFF, TMS_ESCAPE_AUTO, TMS_ESCAPE_EVENTS};

    tms_settings_init(settings);
    settings->engines = "reduction";
    settings->all = true;
    settings->race_test = tests[seed % 5];
    settings->escape = escapes[seed / 5 % 3];
    settings->periods = seed / 15 % 2 == 0;
    settings->acq_rel = seed / 30 % 2 == 0;
    settings->split = seed / 60 % 2 == 0 ? 0 : settings->split;
}

static const char *check_finding(const struct naive *naive, const struct tms_finding *finding)
{
    size_t commit, late;

    if (finding->schedule_length != 2 || finding->evidence != TMS_EVIDENCE_POTENTIAL) {
        return "a finding without commit point";
    }
    commit = finding->schedule[0].event - 1;
    late = finding->schedule[1].event - 1;
    if (finding->event != late + 1 || commit >= late || naive->piece[commit] == 0 ||
        naive->piece[commit] != naive->piece[late]) {
        return "a finding that is not in one transaction";
    }
    return naive->not_right[commit] && naive->not_left[late]
               ? NULL
               : "a finding with a wrong commit point";
}

static const char *compare(const struct small_check *check, const struct naive *naive)
{
    const struct tms_result *result = check->result;
    uint64_t racy = 0;

    for (size_t i = 0; i < SMALL_TARGETS; i++) {
        racy += naive->racy[i];
    }
    if (!result->complete || small_counter(check, "races") != racy) {
        return "other races";
    }
    for (size_t i = 0; i < result->finding_count; i++) {
        const char *fault = check_finding(naive, &result->findings[i]);
        if (fault != NULL) {
            return fault;
        }
    }
    return result->violations == naive->failing ? NULL : "other transactions that fail";
}

#define PER_TEST 200

static const char *check_trace(uint64_t seed, unsigned *failing)
{
    struct small_trace trace;
    struct tms_settings settings;
    struct naive naive;

    small_make(seed * UINT64_C(0x9e3779b97f4a7c15), &trace);
    choose_settings(seed, &settings);
    naive_judge(&trace, &settings, &naive);
    struct small_check check = small_check(&trace, &settings);
    const char *fault = compare(&check, &naive);
    if (fault != NULL) {
        small_print(&trace, stdout);
        printf("# seed %llu: %u should fail\n", (unsigned long long)seed, naive.failing);
    }
    *failing += naive.failing;
    small_done(&check);
    return fault;
}

static void test_traces(struct tap *tap, uint64_t seed, uint64_t count)
{
    for (uint64_t done = 0; done < count; done += PER_TEST) {
        unsigned failing = 0;
        const char *fault = NULL;
        for (uint64_t i = done; i < done + PER_TEST && fault == NULL; i++) {
            fault = check_trace(seed + i, &failing);
        }
        ok(tap, fault == NULL, "as the definitions have it: %u transactions fail%s%s", failing,
           fault != NULL ? ": " : "", fault != NULL ? fault : "");
    }
}

/* ---- theorem 2 --------------------------------------------------------------------------- */

static bool finds(const struct small_trace *trace, bool acq_rel)
{
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = "reduction";
    settings.escape = TMS_ESCAPE_OFF;
    settings.acq_rel = acq_rel;
    struct small_check check = small_check(trace, &settings);
    bool found = check.result->verdict == TMS_VERDICT_POTENTIAL;
    small_done(&check);
    return found;
}

struct tally {
    unsigned sets, clean, clean_by_improvement, alarms, false_alarms;
};

/* Every 16th alarm is checked as well, so that not all sets are atomic. */
static const char *check_set(const struct theorem_set *set, uint64_t *random, struct tally *tally)
{
    struct small_trace trace, other;

    theorem_schedule(set, random, &trace);
    theorem_schedule(set, random, &other);
    bool found = finds(&trace, true);
    bool found_without = finds(&trace, false);
    if (finds(&other, true) != found) {
        return "another trace of the same set is judged otherwise";
    }
    if (found && !found_without) {
        return "the improvement adds a finding";
    }
    tally->sets++;
    tally->clean += !found;
    tally->clean_by_improvement += !found && found_without;
    if (!found) {
        return theorem_atomic(set) ? NULL : "nothing found, but a trace is not serializable";
    }
    if (tally->alarms++ % 16 == 0) {
        tally->false_alarms += theorem_atomic(set);
    }
    return NULL;
}

static void test_theorem(struct tap *tap, uint64_t seed, uint64_t count)
{
    struct tally tally = {0};
    uint64_t random = seed;
    const char *fault = NULL;

    while (tally.sets < count && fault == NULL) {
        struct theorem_set set;
        theorem_make(&random, &set);
        if (!theorem_deadlocks(&set)) {
            fault = check_set(&set, &random, &tally);
            if (fault != NULL) {
                struct small_trace trace;
                theorem_schedule(&set, &random, &trace);
                small_print(&trace, stdout);
            }
        }
    }
    ok(tap, fault == NULL, "theorem 2: %u sets, %u without a finding%s%s", tally.sets, tally.clean,
       fault != NULL ? ": " : "", fault != NULL ? fault : "");
    ok(tap, tally.clean >= count / 10 && tally.clean_by_improvement >= count / 200,
       "theorem 2: %u of these by AcqA*Rel", tally.clean_by_improvement);
    ok(tap, tally.false_alarms < (tally.alarms + 15) / 16 && tally.alarms > count / 10,
       "theorem 2: %u findings, of each 16th %u of %u are false alarms", tally.alarms,
       tally.false_alarms, (tally.alarms + 15) / 16);
}

/* ---- memory ------------------------------------------------------------------------------ */

#define SHORT_TRACES 40

/* One more allocation succeeds each time, until all do: it reports the failure, or is right. */
static void test_memory(struct tap *tap, const char *engine, uint64_t seed)
{
    unsigned refused = 0;
    bool good = true;

    for (uint64_t i = 0; i < SHORT_TRACES && good; i++) {
        struct small_trace trace;
        struct tms_settings settings;
        bool complete = false;
        small_make((seed + i) * UINT64_C(0x9e3779b97f4a7c15), &trace);
        choose_settings(seed + i, &settings);
        settings.engines = engine;
        for (uint64_t room = 1; !complete; room++) {
            struct small_check check = small_check_short(&trace, &settings, room);
            complete = check.result->complete;
            good = good && (complete || check.result->loss != NULL);
            refused += !complete;
            small_done(&check);
        }
    }
    ok(tap, good && refused > SHORT_TRACES, "%s: memory runs out at %u places", engine, refused);
}

int main(int argc, char **argv)
{
    uint64_t traces = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;
    uint64_t sets = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    struct tap tap = {0};

    test_traces(&tap, seed, traces);
    test_theorem(&tap, seed, sets);
    test_memory(&tap, "reduction", seed);
    test_memory(&tap, "atomizer", seed);
    return done(&tap);
}
