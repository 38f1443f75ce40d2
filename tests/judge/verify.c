/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges trace files and holds each observed finding against the events themselves:
 *
 *     judge-verify TRACE…
 *
 * The events that a finding names exist and are what it says; the block is the innermost one open
 * at both own steps, the outer ones were open too; the lock was held at the first step and released
 * before the second; the block was executed as often as stated, and cut at least once and not more
 * often. A trace is read twice, first by the engine and then for the events it named, so that size
 * is no limit: memory depends on the findings, threads and open blocks. Speaks TAP, a test for each
 * trace.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/naive.h"
#include "judge/verify_threads.h"

/* The role of an event in a finding. */
enum role { BLOCK, OWN_FIRST, OWN_SECOND, FOREIGN, GIVEN_UP, CULPRIT };

static const char *const role_texts[] = {"block",          "first own step", "second own step",
                                         "foreign access", "release",        "culprit's block"};

struct mention {
    uint64_t event;
    const struct tms_finding *finding;
    const struct tms_turn *turn;               /* of a step, an access or a release */
    const struct tms_transaction *transaction; /* of a block */
    enum role role;
};

struct check {
    const char *path;
    struct tms_context *context;
    struct tms_analysis *analysis;
    const struct tms_result *result;
    struct mention *mentions; /* by event */
    size_t mention_count, mentions_met;
    struct threads threads;
    uint64_t events, faults;
};

__attribute__((format(printf, 3, 4))) static void
fault(struct check *check, const struct tms_finding *finding, const char *format, ...)
{
    va_list arguments;

    printf("# %s: %s: ", check->path, finding->id);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    check->faults++;
}

/* ---- what findings name ------------------------------------------------------------------ */

static void mention(struct check *check, const struct mention *what)
{
    check->mentions[check->mention_count++] = *what;
}

static size_t mentions_of(const struct tms_finding *finding)
{
    return 3 + finding->judgement->own_count + finding->judgement->foreign_count;
}

static void collect_turns(struct check *check, const struct tms_finding *finding)
{
    const struct tms_judgement *judgement = finding->judgement;

    for (size_t i = 0; i < judgement->own_count; i++) {
        const struct tms_turn *turn = &judgement->own[i];
        mention(check, &(struct mention){turn->event, finding, turn, NULL,
                                         i == 0 ? OWN_FIRST : OWN_SECOND});
    }
    for (size_t i = 0; i < judgement->foreign_count; i++) {
        const struct tms_turn *turn = &judgement->foreign[i];
        mention(check, &(struct mention){turn->event, finding, turn, NULL, FOREIGN});
    }
    if (judgement->lock != 0 && judgement->given_up.event != 0) {
        mention(check, &(struct mention){judgement->given_up.event, finding, &judgement->given_up,
                                         NULL, GIVEN_UP});
    }
}

static void collect(struct check *check, const struct tms_finding *finding)
{
    const struct tms_judgement *judgement = finding->judgement;

    mention(check, &(struct mention){finding->transaction.begin_event, finding, NULL,
                                     &finding->transaction, BLOCK});
    if (!judgement->culprit.unary) {
        mention(check, &(struct mention){judgement->culprit.begin_event, finding, NULL,
                                         &judgement->culprit, CULPRIT});
    }
    collect_turns(check, finding);
}

static int by_event(const void *one, const void *other)
{
    uint64_t a = ((const struct mention *)one)->event, b = ((const struct mention *)other)->event;

    return (a > b) - (a < b);
}

/* Findings about data, and the events they name. */
static void collect_all(struct check *check)
{
    size_t room = 0;

    for (size_t i = 0; i < check->result->finding_count; i++) {
        room += mentions_of(&check->result->findings[i]);
    }
    check->mentions = naive_array(room, sizeof(*check->mentions));
    for (size_t i = 0; i < check->result->finding_count; i++) {
        if (check->result->findings[i].judgement->variable != 0) {
            collect(check, &check->result->findings[i]);
        }
    }
    qsort(check->mentions, check->mention_count, sizeof(*check->mentions), by_event);
}

/* ---- a finding by itself ----------------------------------------------------------------- */

static void check_order(struct check *check, const struct tms_finding *finding)
{
    const struct tms_judgement *judgement = finding->judgement;
    const struct tms_turn *own = judgement->own;

    if (judgement->own_count != 2 || judgement->foreign_count == 0 ||
        own[0].event >= own[1].event || own[0].thread != own[1].thread) {
        fault(check, finding, "expected two own steps of a thread and a foreign one");
        return;
    }
    for (size_t i = 0; i < judgement->foreign_count; i++) {
        const struct tms_turn *foreign = &judgement->foreign[i];
        if (foreign->event <= own[0].event || foreign->event >= own[1].event ||
            foreign->thread == own[0].thread) {
            fault(check, finding, "event %" PRIu64 " is not foreign, or not in between",
                  foreign->event);
        }
    }
    uint64_t release = judgement->given_up.event;
    if (judgement->lock != 0 && release != 0 &&
        (release <= own[0].event || release >= own[1].event)) {
        fault(check, finding, "the release at event %" PRIu64 " is not in between", release);
    }
    if (judgement->variable != own[0].target ||
        (judgement->other != 0 ? judgement->other : judgement->variable) != own[1].target) {
        fault(check, finding, "the steps are on other variables");
    }
}

static void check_counts(struct check *check, const struct tms_finding *finding)
{
    const struct tms_judgement *judgement = finding->judgement;
    uint64_t executions =
        threads_executions(&check->threads, check->context, finding->transaction.label);

    if (judgement->executions != executions) {
        fault(check, finding, "%" PRIu64 " executions; counted %" PRIu64, judgement->executions,
              executions);
    }
    if (judgement->cut < 1 || judgement->cut > judgement->executions) {
        fault(check, finding, "cut in %" PRIu64 " of %" PRIu64, judgement->cut,
              judgement->executions);
    }
}

/* ---- at an event ------------------------------------------------------------------------- */

/* Findings say r, w and u of atomic accesses as well. */
static uint8_t plain_kind(uint8_t kind)
{
    bool ordered = kind >= TMS_EVENT_ATOMIC_READ && kind <= TMS_EVENT_ATOMIC_UPDATE;

    return ordered ? (uint8_t)(kind - TMS_EVENT_ATOMIC_READ + TMS_EVENT_READ) : kind;
}

static void check_turn(struct check *check, const struct mention *m, const struct tms_event *event)
{
    if (event->thread != m->turn->thread || event->target != m->turn->target ||
        plain_kind(event->kind) != m->turn->kind || event->location != m->turn->location) {
        fault(check, m->finding, "event %" PRIu64 " (%s) is another one", m->event,
              role_texts[m->role]);
    }
}

static void check_transaction(struct check *check, const struct mention *m,
                              const struct tms_event *event)
{
    if (!threads_opens(event) || event->thread != m->transaction->thread ||
        event->target != m->transaction->label || event->location != m->transaction->location) {
        fault(check, m->finding, "event %" PRIu64 " does not begin the %s", m->event,
              role_texts[m->role]);
    }
}

/* At the second own step: which blocks were open at both? */
static void check_blocks(struct check *check, const struct tms_finding *finding)
{
    const struct tms_judgement *judgement = finding->judgement;
    uint32_t thread = judgement->own[0].thread;
    uint64_t before = judgement->own[0].event;
    uint64_t block = threads_innermost(&check->threads, thread, before);

    if (block != finding->transaction.begin_event) {
        fault(check, finding, "the innermost block began at event %" PRIu64 ", not at %" PRIu64,
              block, finding->transaction.begin_event);
        return;
    }
    for (size_t i = 0; i < judgement->outer_count; i++) {
        block = threads_innermost(&check->threads, thread, block);
        if (block == 0 || block != judgement->outer[i].begin_event) {
            fault(check, finding, "outer block %zu began at event %" PRIu64 ", not at %" PRIu64,
                  i + 1, block, judgement->outer[i].begin_event);
            return;
        }
    }
}

/* The lock is held at the first step; at the second one it is not, or was acquired again. */
static void check_lock(struct check *check, const struct mention *m)
{
    const struct tms_judgement *judgement = m->finding->judgement;
    uint64_t since = threads_held_since(&check->threads, judgement->own[0].thread, judgement->lock);

    if (judgement->lock == 0) {
        return;
    }
    if (m->role == OWN_FIRST && since == 0) {
        fault(check, m->finding, "the lock was not held at the first step");
    }
    if (m->role == OWN_SECOND && since != 0 && since < judgement->own[0].event) {
        fault(check, m->finding, "the lock was not given up before the second step");
    }
}

static void check_mention(struct check *check, const struct mention *m,
                          const struct tms_event *event)
{
    check->mentions_met++;
    if (m->transaction != NULL) {
        check_transaction(check, m, event);
        return;
    }
    check_turn(check, m, event);
    if (m->role == OWN_SECOND) {
        check_blocks(check, m->finding);
    }
    if (m->role == OWN_FIRST || m->role == OWN_SECOND) {
        check_lock(check, m);
    }
    if (m->role == GIVEN_UP &&
        (!naive_is_release(event) || event->target != m->finding->judgement->lock)) {
        fault(check, m->finding, "event %" PRIu64 " does not release the lock", m->event);
    }
}

/* ---- a trace ----------------------------------------------------------------------------- */

static int judge(struct check *check, struct tms_reader *reader)
{
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = "judge";
    settings.max_violations = 0;
    int code = tms_analysis_new(check->context, &settings, &check->analysis);
    code = code == TMS_OK ? tms_analysis_read(check->analysis, reader) : code;
    check->result = code == TMS_OK ? tms_analysis_result(check->analysis, 0) : NULL;
    return code;
}

static int look(struct check *check, struct tms_reader *reader)
{
    const struct tms_event *events;
    int64_t got;
    size_t next = 0;

    collect_all(check);
    while ((got = tms_reader_next(reader, &events)) > 0) {
        for (int64_t i = 0; i < got; i++) {
            check->events++;
            for (; next < check->mention_count && check->mentions[next].event == check->events;
                 next++) {
                check_mention(check, &check->mentions[next], &events[i]);
            }
            threads_follow(&check->threads, &events[i], check->events);
        }
    }
    return (int)got;
}

/* The reader is opened for each pass; ids stay the same in one context. */
static int pass(struct check *check, int (*take)(struct check *, struct tms_reader *))
{
    struct tms_reader *reader = NULL;
    int code = tms_reader_open(check->context, check->path, NULL, &reader);

    code = code == TMS_OK ? take(check, reader) : code;
    tms_reader_close(reader);
    return code;
}

static bool verify(const char *path, int number)
{
    struct check check = {.path = path, .context = tms_context_new(NULL, NULL)};
    int code = check.context == NULL ? TMS_ERR_MEMORY : pass(&check, judge);

    code = code == TMS_OK ? pass(&check, look) : code;
    for (size_t i = 0; code == TMS_OK && i < check.result->finding_count; i++) {
        if (check.result->findings[i].judgement->variable != 0) {
            check_order(&check, &check.result->findings[i]);
            check_counts(&check, &check.result->findings[i]);
        }
    }
    bool good = code == TMS_OK && check.faults == 0 && check.mentions_met == check.mention_count;
    printf("%sok %d - %s: %" PRIu64 " events", good ? "" : "not ", number, path, check.events);
    if (code != TMS_OK) {
        printf(", %s\n", check.context != NULL ? tms_error(check.context) : tms_strerror(code));
    } else {
        printf(", %zu findings, %zu of %zu events named\n", check.result->finding_count,
               check.mentions_met, check.mention_count);
    }
    threads_clear(&check.threads);
    free(check.mentions);
    tms_analysis_free(check.analysis);
    tms_context_free(check.context);
    return good;
}

int main(int argc, char **argv)
{
    bool good = argc > 1;

    if (argc < 2) {
        fprintf(stderr, "usage: judge-verify TRACE...\n");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        good = verify(argv[i], i) && good;
    }
    printf("1..%d\n", argc - 1);
    return good ? 0 : 1;
}
