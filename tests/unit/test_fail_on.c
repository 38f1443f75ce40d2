/* SPDX-License-Identifier: Apache-2.0 */
/* Which findings count for the exit status, on hand-made results: one row for each case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/fail_on.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct tms_engine_info frontier = {.name = "frontier", .found = TMS_VERDICT_VIOLATION};
static const struct tms_engine_info judge = {.name = "judge", .found = TMS_VERDICT_AFFECTED};
static const struct tms_engine_info sidetrack = {.name = "sidetrack",
                                                 .found = TMS_VERDICT_PREDICTED};
static const struct tms_engine_info blocks = {.name = "blocks", .found = TMS_VERDICT_POTENTIAL};
static const struct tms_engine_info fasttrack = {.name = "fasttrack", .found = TMS_VERDICT_RACE};

static const struct tms_judgement levels[] = {
    {.level = TMS_LEVEL_NOTE}, {.level = TMS_LEVEL_WARNING}, {.level = TMS_LEVEL_ERROR}};

#define NOTE    &levels[TMS_LEVEL_NOTE]
#define WARNING &levels[TMS_LEVEL_WARNING]
#define ERROR   &levels[TMS_LEVEL_ERROR]

/* A result with one finding, or with none, or that is incomplete. */
struct made {
    const struct tms_engine_info *engine; /* NULL: there is no such result */
    enum tms_evidence evidence;
    const struct tms_judgement *judgement;
    enum { FOUND, CLEAN, INCOMPLETE, SUPPRESSED, SUPPRESSED_INCOMPLETE } how;
};

static enum tms_verdict verdict_of(const struct made *made)
{
    bool affected = made->judgement != NULL && made->judgement->level > TMS_LEVEL_NOTE;

    if (made->how == INCOMPLETE) {
        return TMS_VERDICT_INCOMPLETE;
    }
    if (made->engine == &judge) {
        return affected && made->how != CLEAN ? TMS_VERDICT_AFFECTED : TMS_VERDICT_UNAFFECTED;
    }
    return made->how == CLEAN ? TMS_VERDICT_SERIALIZABLE : (enum tms_verdict)made->engine->found;
}

struct row {
    const char *fail_on;
    enum tms_level level; /* if fail_on has none */
    struct made results[3];
    bool fails, doubts;
};

#define BY_DEFINITION TMS_LEVEL_NOTE
#define BY_DATA       TMS_LEVEL_WARNING
#define OBSERVED      TMS_EVIDENCE_OBSERVED
#define PREDICTED     TMS_EVIDENCE_PREDICTED
#define POTENTIAL     TMS_EVIDENCE_POTENTIAL

#define BY(by, with, what)                                                                         \
    {                                                                                              \
        .engine = &(by), .evidence = (with), .how = (what)                                         \
    }
#define JUDGED(with, as)                                                                           \
    {                                                                                              \
        .engine = &judge, .evidence = (with), .judgement = (as)                                    \
    }

static const struct row rows[] = {
    /* The defaults: check and --strict go by the definition, run by what was judged. */
    {NULL, BY_DEFINITION, {BY(frontier, OBSERVED, FOUND), JUDGED(OBSERVED, NOTE)}, true, false},
    {NULL, BY_DEFINITION, {BY(frontier, OBSERVED, CLEAN), JUDGED(OBSERVED, ERROR)}, false, false},
    {NULL, BY_DATA, {BY(frontier, OBSERVED, FOUND), JUDGED(OBSERVED, NOTE)}, false, false},
    {NULL, BY_DATA, {BY(frontier, OBSERVED, FOUND), JUDGED(OBSERVED, WARNING)}, true, false},
    {NULL, BY_DATA, {BY(frontier, OBSERVED, FOUND), JUDGED(OBSERVED, ERROR)}, true, false},
    {NULL, BY_DATA, {BY(frontier, OBSERVED, FOUND), JUDGED(PREDICTED, ERROR)}, false, false},
    {NULL,
     BY_DATA,
     {BY(frontier, OBSERVED, FOUND), BY(sidetrack, PREDICTED, FOUND)},
     true,
     false}, /* nothing was judged */
    {NULL, BY_DATA, {BY(frontier, OBSERVED, CLEAN), BY(sidetrack, PREDICTED, FOUND)}, false, false},
    /* A bare level is observed. */
    {"note", BY_DATA, {BY(frontier, OBSERVED, FOUND), BY(judge, OBSERVED, CLEAN)}, true, false},
    {"warning",
     BY_DEFINITION,
     {BY(frontier, OBSERVED, FOUND), JUDGED(OBSERVED, NOTE)},
     false,
     false},
    {"warning",
     BY_DEFINITION,
     {BY(frontier, OBSERVED, FOUND), JUDGED(OBSERVED, WARNING)},
     true,
     false},
    {"error",
     BY_DEFINITION,
     {BY(frontier, OBSERVED, FOUND), JUDGED(OBSERVED, WARNING)},
     false,
     false},
    {"error", BY_DEFINITION, {BY(frontier, OBSERVED, FOUND), JUDGED(OBSERVED, ERROR)}, true, false},
    {"error",
     BY_DEFINITION,
     {BY(frontier, OBSERVED, FOUND), JUDGED(PREDICTED, ERROR)},
     false,
     false},
    /* Levels with evidence. */
    {"error,predicted",
     BY_DEFINITION,
     {BY(frontier, OBSERVED, FOUND), JUDGED(PREDICTED, ERROR)},
     true,
     false},
    {"predicted,error",
     BY_DEFINITION,
     {BY(frontier, OBSERVED, FOUND), JUDGED(PREDICTED, ERROR)},
     true,
     false},
    {"error,predicted",
     BY_DEFINITION,
     {JUDGED(PREDICTED, WARNING), BY(sidetrack, PREDICTED, FOUND)},
     false,
     false},
    {"error,predicted", BY_DEFINITION, {JUDGED(POTENTIAL, ERROR)}, false, false},
    {"error,potential", BY_DEFINITION, {JUDGED(POTENTIAL, ERROR)}, true, false},
    {"note,predicted",
     BY_DATA,
     {BY(judge, OBSERVED, CLEAN), BY(sidetrack, PREDICTED, FOUND)},
     true,
     false},
    /* A bare evidence word, as ever. */
    {"observed", BY_DATA, {BY(frontier, OBSERVED, FOUND), JUDGED(OBSERVED, NOTE)}, true, false},
    {"observed",
     BY_DATA,
     {BY(frontier, OBSERVED, CLEAN), BY(sidetrack, PREDICTED, FOUND)},
     false,
     false},
    {"predicted",
     BY_DATA,
     {BY(frontier, OBSERVED, CLEAN), BY(sidetrack, PREDICTED, FOUND)},
     true,
     false},
    {"predicted",
     BY_DATA,
     {BY(frontier, OBSERVED, CLEAN), BY(blocks, POTENTIAL, FOUND)},
     false,
     false},
    {"potential",
     BY_DATA,
     {BY(frontier, OBSERVED, CLEAN), BY(blocks, POTENTIAL, FOUND)},
     true,
     false},
    {"predicted", BY_DATA, {BY(fasttrack, OBSERVED, FOUND)}, true, false},
    {"observed", BY_DATA, {BY(fasttrack, OBSERVED, FOUND)}, false, false},
    /* Races otherwise only if they are asked for. */
    {"note,predicted", BY_DATA, {BY(fasttrack, OBSERVED, FOUND)}, false, false},
    {"warning,potential",
     BY_DATA,
     {BY(fasttrack, OBSERVED, FOUND), BY(judge, OBSERVED, CLEAN)},
     false,
     false},
    {"race", BY_DATA, {BY(fasttrack, OBSERVED, FOUND), BY(judge, OBSERVED, CLEAN)}, true, false},
    {"warning,race",
     BY_DATA,
     {BY(fasttrack, OBSERVED, FOUND), BY(judge, OBSERVED, CLEAN)},
     true,
     false},
    {"race", BY_DATA, {BY(fasttrack, OBSERVED, CLEAN), JUDGED(OBSERVED, ERROR)}, true, false},
    {"race", BY_DATA, {BY(fasttrack, OBSERVED, SUPPRESSED)}, false, false},
    /* `judge` alone: its findings are the definition's. */
    {NULL, BY_DEFINITION, {JUDGED(OBSERVED, NOTE)}, true, false},
    {NULL,
     BY_DEFINITION,
     {JUDGED(PREDICTED, ERROR), BY(sidetrack, PREDICTED, FOUND)},
     false,
     false},
    /* Suppressed findings do not count. */
    {NULL, BY_DEFINITION, {BY(frontier, OBSERVED, SUPPRESSED)}, false, false},
    {NULL,
     BY_DATA,
     {{.engine = &judge, .evidence = OBSERVED, .judgement = ERROR, .how = SUPPRESSED}},
     false,
     false},
    {"predicted", BY_DATA, {BY(sidetrack, PREDICTED, SUPPRESSED)}, false, false},
    {NULL, BY_DEFINITION, {BY(frontier, OBSERVED, SUPPRESSED_INCOMPLETE)}, false, true},
    /* Incomplete: only if the answer depends on it. */
    {NULL, BY_DEFINITION, {BY(frontier, OBSERVED, INCOMPLETE)}, false, true},
    {NULL,
     BY_DEFINITION,
     {BY(frontier, OBSERVED, CLEAN), BY(judge, OBSERVED, INCOMPLETE)},
     false,
     false},
    {NULL, BY_DATA, {BY(frontier, OBSERVED, INCOMPLETE), BY(judge, OBSERVED, CLEAN)}, false, false},
    {NULL, BY_DATA, {BY(frontier, OBSERVED, FOUND), BY(judge, OBSERVED, INCOMPLETE)}, false, true},
    {"observed",
     BY_DATA,
     {BY(frontier, OBSERVED, CLEAN), BY(sidetrack, PREDICTED, INCOMPLETE)},
     false,
     false},
    {"observed", BY_DATA, {BY(sidetrack, PREDICTED, INCOMPLETE)}, false, true},
};

static void check_row(size_t index)
{
    const struct row *row = &rows[index];
    struct tms_finding findings[LENGTH(row->results)] = {0};
    struct tms_result results[LENGTH(row->results)] = {0};
    const struct tms_result *list[LENGTH(row->results)];
    struct tms_fail_on fail_on;
    size_t count = 0;

    for (const struct made *made = row->results; made->engine != NULL; made++, count++) {
        bool suppressed = made->how >= SUPPRESSED;
        findings[count] = (struct tms_finding){
            .evidence = made->evidence, .judgement = made->judgement, .suppressed = suppressed};
        results[count] = (struct tms_result){.engine = made->engine,
                                             .verdict = verdict_of(made),
                                             .findings = &findings[count],
                                             .finding_count = made->how == FOUND,
                                             .complete = made->how != INCOMPLETE &&
                                                         made->how != SUPPRESSED_INCOMPLETE,
                                             .suppressed = suppressed};
        list[count] = &results[count];
    }
    assert_true(tms_fail_on_parse(&fail_on, row->fail_on, row->level));
    bool fails = tms_fail_on_fails(&fail_on, list, count);
    bool doubts = tms_fail_on_doubts(&fail_on, list, count);
    if (fails != row->fails || doubts != row->doubts) {
        fail_msg("row %zu (--fail-on=%s): fails %d, doubts %d", index,
                 row->fail_on != NULL ? row->fail_on : "(default)", fails, doubts);
    }
}

static void table(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        check_row(i);
    }
}

/* One finding of two is left. */
static void partly_suppressed(void **state)
{
    const struct tms_fail_on fail_on = {.evidence = TMS_EVIDENCE_PREDICTED};
    struct tms_finding findings[2] = {{.evidence = PREDICTED},
                                      {.evidence = PREDICTED, .suppressed = true}};
    struct tms_result result = {.engine = &sidetrack,
                                .verdict = TMS_VERDICT_PREDICTED,
                                .findings = findings,
                                .finding_count = 1,
                                .suppressed = 1};
    const struct tms_result *list = &result;

    (void)state;
    assert_true(tms_fail_on_fails(&fail_on, &list, 1));
    findings[0].evidence = POTENTIAL; /* the evidence that is left is too weak */
    assert_false(tms_fail_on_fails(&fail_on, &list, 1));
    result.unlisted = 1; /* of an unknown kind */
    assert_true(tms_fail_on_fails(&fail_on, &list, 1));
}

static void contradictions(void **state)
{
    struct tms_fail_on fail_on;

    (void)state;
    assert_false(tms_fail_on_parse(&fail_on, "note,error", TMS_LEVEL_NOTE));
    assert_false(tms_fail_on_parse(&fail_on, "observed,potential", TMS_LEVEL_NOTE));
    assert_true(tms_fail_on_parse(&fail_on, "error,error,race,observed", TMS_LEVEL_NOTE));
    assert_int_equal(fail_on.level, TMS_LEVEL_ERROR);
    assert_true(fail_on.races && fail_on.level_given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(partly_suppressed),
        cmocka_unit_test(contradictions),
    };
    return cmocka_run_group_tests_name("fail_on", tests, NULL, NULL);
}
