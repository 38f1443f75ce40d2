/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines of reduction on small traces with known answers (movers_goldens.c), the columns of
 * the paper's table 2, blame of nested blocks, and transactions that are long or many. Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "movers.h"
#include "tap.h"

#define EVENTS_MOST 256
#define NAME_SIZE   32

static void give_up(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(2);
}

/* ---- traces out of text ----------------------------------------------------------------- */

static uint32_t intern(struct tms_context *context, enum tms_class cls, const char *name)
{
    int64_t id = tms_intern(context, cls, name, strlen(name));

    if (id <= 0) {
        give_up(tms_error(context));
    }
    return (uint32_t)id;
}

static enum tms_event_kind kind_of(const char *text)
{
    for (int kind = 0; kind < TMS_EVENT_COUNT; kind++) {
        if (strcmp(tms_event_text((enum tms_event_kind)kind), text) == 0) {
            return (enum tms_event_kind)kind;
        }
    }
    give_up(text);
    return TMS_EVENT_COUNT;
}

static size_t parse(struct tms_context *context, const char *text, struct tms_event *events)
{
    char thread[NAME_SIZE], operation[NAME_SIZE], operand[NAME_SIZE];
    size_t count = 0;
    int read;

    while (*text != '\0') {
        int found = sscanf(text, " %31[^ ;] %31[^ ;]%n %31[^ ;]%n", thread, operation, &read,
                           operand, &read);
        if (found < 2 || count == EVENTS_MOST) {
            give_up(text);
        }
        enum tms_event_kind kind = kind_of(operation);
        events[count++] = (struct tms_event){
            .thread = intern(context, TMS_CLASS_THREAD, thread),
            .target = found == 3 ? intern(context, tms_event_class(kind), operand) : 0,
            .kind = (uint8_t)kind,
        };
        text += read;
        text += strspn(text, "; ");
    }
    return count;
}

struct check {
    struct tms_context *context;
    struct tms_analysis *analysis;
    const struct tms_result *result;
};

static struct check start(const struct tms_settings *settings)
{
    struct check check = {.context = tms_context_new(NULL, NULL)};

    if (tms_analysis_new(check.context, settings, &check.analysis) != TMS_OK) {
        give_up(tms_error(check.context));
    }
    return check;
}

static void feed(struct check *check, const char *text)
{
    struct tms_event events[EVENTS_MOST];
    size_t count = parse(check->context, text, events);

    if (tms_analysis_feed(check->analysis, events, count, NULL) != 0) {
        give_up(tms_error(check->context));
    }
}

static void finish(struct check *check)
{
    if (tms_analysis_finish(check->analysis) != TMS_OK) {
        give_up(tms_error(check->context));
    }
    check->result = tms_analysis_result(check->analysis, 0);
}

static void let_go(struct check *check)
{
    tms_analysis_free(check->analysis);
    tms_context_free(check->context);
}

static uint64_t counter(const struct check *check, const char *wanted)
{
    for (size_t i = 0; i < check->result->counter_count; i++) {
        if (strcmp(check->result->counters[i].name, wanted) == 0) {
            return check->result->counters[i].value;
        }
    }
    give_up(wanted);
    return 0;
}

/* ---- answers ---------------------------------------------------------------------------- */

static struct tms_settings settings_of(const struct switches *switches)
{
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = switches->engine != NULL ? switches->engine : "reduction";
    settings.race_test = switches->race_test;
    settings.escape = switches->escape;
    settings.periods = !switches->no_periods;
    settings.acq_rel = !switches->no_acq_rel;
    settings.all = true;
    return settings;
}

static void test_golden(struct tap *tap, const struct golden *golden)
{
    struct tms_settings settings = settings_of(&golden->switches);
    struct check check = start(&settings);

    feed(&check, golden->trace);
    finish(&check);
    const struct tms_result *result = check.result;
    const struct tms_finding *first = result->finding_count > 0 ? &result->findings[0] : NULL;
    const uint64_t answer[4] = {
        counter(&check, "races"),
        result->violations,
        first != NULL ? first->schedule[0].event : 0,
        first != NULL ? first->event : 0,
    };
    bool good = memcmp(answer, golden->answer, sizeof(answer)) == 0 &&
                result->verdict ==
                    (result->violations > 0 ? TMS_VERDICT_POTENTIAL : TMS_VERDICT_NONE_POTENTIAL);
    ok(tap, good, "%s", golden->title);
    if (!good) {
        printf("# came: %u races, %u fail, commit point %u, too late %u\n", (unsigned)answer[0],
               (unsigned)answer[1], (unsigned)answer[2], (unsigned)answer[3]);
    }
    let_go(&check);
}

/* ---- the columns of table 2 ------------------------------------------------------------- */

enum { COLUMNS = 5 };
static const struct switches columns[COLUMNS] = {
    {NULL, TMS_RACE_PRAUN_GROSS, TMS_ESCAPE_OFF, true, true},       /* none */
    {NULL, TMS_RACE_ERASER, TMS_ESCAPE_EVENTS, true, true},         /* escape */
    {NULL, TMS_RACE_ERASER, TMS_ESCAPE_EVENTS, false, true},        /* happen-before */
    {NULL, TMS_RACE_MULTILOCKSET, TMS_ESCAPE_EVENTS, false, true},  /* multilockset */
    {NULL, TMS_RACE_MULTILOCKSET, TMS_ESCAPE_EVENTS, false, false}, /* AcqA*Rel */
};

/* In each column: races, and transactions that fail. */
static const struct {
    const char *title, *trace;
    unsigned races[COLUMNS], violations[COLUMNS];
} rows[] = {
    {"escape removes a false alarm",
     "a begin; a w x; a w x; a end; b r y; b begin; b w x; b w x; b end; a begin; a w x; a w x; "
     "a end; b escape x; b acq m; b w x; b rel m; a acq m; a w x; a rel m",
     {1, 0, 0, 0, 0},
     {3, 0, 0, 0, 0}},
    {"escape finds what ownership hides",
     "a escape x; " INCREMENT("a") INCREMENT("b"),
     {0, 1, 1, 1, 1},
     {0, 2, 2, 2, 2}},
    {"happen-before removes a false alarm",
     "a escape x; a w x; a fork b; " INCREMENT("b") "a join b; " INCREMENT("a"),
     {1, 1, 0, 0, 0},
     {2, 2, 0, 0, 0}},
    {"multilockset removes a false alarm",
     "a escape x; t0 acq o1; t0 acq o2; t0 r x; t0 rel o2; t0 rel o1; t5 acq o1; t5 acq o2; "
     "t5 r x; t5 rel o2; t5 rel o1; " T3 T2 T1,
     {1, 1, 1, 0, 0},
     {1, 1, 1, 0, 0}},
    {"multilockset finds a race",
     "a escape x; " INCREMENT("a") "b acq m; b w x; b rel m; a acq m; a w x; a rel m",
     {0, 0, 0, 1, 1},
     {0, 0, 0, 1, 1}},
    {"AcqA*Rel removes a false alarm",
     "a escape x; b escape y; " LOCAL("a", "x") LOCAL("b", "y"),
     {0, 0, 0, 0, 0},
     {2, 2, 2, 2, 0}},
};

static void test_table(struct tap *tap)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool good = true;
        for (int column = 0; column < COLUMNS; column++) {
            struct tms_settings settings = settings_of(&columns[column]);
            struct check check = start(&settings);
            feed(&check, rows[i].trace);
            finish(&check);
            uint64_t races = counter(&check, "races");
            if (races != rows[i].races[column] ||
                check.result->violations != rows[i].violations[column]) {
                printf("# column %d: %u races, %u fail\n", column, (unsigned)races,
                       (unsigned)check.result->violations);
                good = false;
            }
            let_go(&check);
        }
        ok(tap, good, "table 2: %s", rows[i].title);
    }
}

/* ---- blocks in blocks ------------------------------------------------------------------- */

static bool refutes(const struct check *check, size_t index, const char *labels)
{
    const struct tms_finding *finding = &check->result->findings[index];
    char text[64] = "";

    if (index >= check->result->finding_count) {
        return false;
    }
    for (size_t i = 0; i < finding->refuted_count; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, "%s%s", length > 0 ? " " : "",
                 tms_name(check->context, TMS_CLASS_LABEL, finding->refuted[i].label, NULL));
    }
    if (strcmp(text, labels) != 0) {
        printf("# refuted: %s\n", text);
    }
    return strcmp(text, labels) == 0;
}

static void test_nesting(struct tap *tap)
{
    static const struct {
        const char *title, *trace, *refuted;
    } cases[] = {
        {"the block that holds both is refuted too", WHOLE("b") "a begin o; " CUT("a") "a end",
         "o cut"},
        {"blocks that hold one each are not",
         WHOLE("b") "a begin o; " WHOLE("a") WHOLE("a") "a end", "o"},
        {"of those in a row the middle one",
         WHOLE("b") "a begin o; a begin p; " CUT("a") "a end; a end", "o p cut"},
        {"a block that began after the commit point",
         WHOLE("b") "a begin o; a acq m; a w x; a rel m; " WHOLE("a") "a end", "o"},
        {"a block open at a fork goes on",
         WHOLE("b") "a begin o; a begin p; a fork c; " CUT("a") "a end; a end", "o p cut"},
        {"functions and blocks interleaved: the outermost closed first",
         WHOLE("b") "a begin o; a enter f; a end; " CUT("a") "a exit f", "o f cut"},
    };
    static const char *const engines[] = {"reduction", "atomizer"};

    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        struct switches switches = {.engine = engines[i % 2], ALL};
        struct tms_settings settings = settings_of(&switches);
        struct check check = start(&settings);
        feed(&check, cases[i / 2].trace);
        finish(&check);
        ok(tap, refutes(&check, 0, cases[i / 2].refuted), "%s: %s", engines[i % 2],
           cases[i / 2].title);
        let_go(&check);
    }
}

/* ---- long transactions ------------------------------------------------------------------ */

#define ROUNDS 20000

/* A loop inside a block: its record does not grow, and its first round is reported. */
static void test_loop(struct tap *tap)
{
    struct switches switches = {ALL};
    struct tms_settings settings = settings_of(&switches);
    struct check check = start(&settings);

    feed(&check, "a begin loop; a acq big; ");
    for (int i = 0; i < ROUNDS; i++) {
        feed(&check, CUT("a") "a acq n; a r y; a r z; a rel n; ");
    }
    feed(&check, "a rel big; a end; " WHOLE("b"));
    finish(&check);
    ok(tap, refutes(&check, 0, "loop cut") && check.result->findings[0].event == 7,
       "a loop of %d rounds fails in its first", ROUNDS);
    ok(tap, counter(&check, "tokens") < 40 && check.result->memory_bytes < 300000,
       "of a loop of %d rounds %u operations are kept, in %u bytes at most", ROUNDS,
       (unsigned)counter(&check, "tokens"), (unsigned)check.result->memory_bytes);
    let_go(&check);
}

/* The same block again and again is one shape. */
static void test_repeats(struct tap *tap)
{
    struct switches switches = {ALL};
    struct tms_settings settings = settings_of(&switches);
    struct check check = start(&settings);

    for (int i = 0; i < ROUNDS; i++) {
        feed(&check, CUT("a"));
    }
    feed(&check, WHOLE("b"));
    finish(&check);
    ok(tap,
       counter(&check, "shapes") == 2 && check.result->violations == ROUNDS &&
           check.result->finding_count == 1 && check.result->findings[0].count == ROUNDS,
       "%d transactions of one shape are kept once and counted, and one of another", ROUNDS);
    let_go(&check);
}

int main(void)
{
    struct tap tap = {0};

    for (size_t i = 0; i < golden_count; i++) {
        test_golden(&tap, &goldens[i]);
    }
    test_table(&tap);
    test_nesting(&tap);
    test_loop(&tap);
    test_repeats(&tap);
    return done(&tap);
}
