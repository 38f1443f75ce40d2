/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The examples of Wang and Stoller's section 6, what it claims too much, and small traces for what
 * sets of transactions don't have: threads that start and end, escape, blocks in blocks.
 */
#include <stdio.h>
#include <string.h>

#include "blocks_subject.h"

#define ANY UINT64_MAX

/* ---- sets ---------------------------------------------------------------------------------- */

/* Transactions of one thread each: r0 w0 u0 are accesses to x0, (1 takes l1, )1 gives it back. */
struct golden {
    const char *title;
    enum tms_blocks blocks;
    const char *transactions[TMS_VIEW_THREADS];
    bool found;       /* by the engine */
    bool atomic;      /* by trying all traces */
    uint64_t windows; /* pairs on one variable, ANY */
    uint64_t twos;    /* pairs on two variables, ANY */
};

#define EXAMPLE_1 "(1 r0 (2 w0 r0 )2 )1"
#define EXAMPLE_5 "r0 w1 w0 w1 r0"

static const struct golden goldens[] = {
    {"example 1 has two 1v-blocks, which a write between refutes",
     TMS_BLOCKS_1V,
     {EXAMPLE_1, "w0"},
     true,
     false,
     2,
     0},
    {"example 2: a read between does not", TMS_BLOCKS_1V, {EXAMPLE_1, "r0"}, false, true, 2, 0},
    {"example 4 has one 1v-block", TMS_BLOCKS_1V, {"w0 r0 r0 r0", "r0"}, false, true, 1, 0},
    {"example 5: final writes and initial reads make two 2v-blocks",
     TMS_BLOCKS_2V,
     {EXAMPLE_5, "r0 r1"},
     true,
     false,
     ANY,
     3},
    {"example 6, by pairs of transactions",
     TMS_BLOCKS_2V,
     {"w0 w1", "r0 w2", "r2 r1"},
     false,
     false,
     0,
     ANY},
    {"example 6, by longer cycles",
     TMS_BLOCKS_FULL,
     {"w0 w1", "r0 w2", "r2 r1"},
     true,
     false,
     0,
     ANY},
    {"… when one must give a lock back before the next can go on",
     TMS_BLOCKS_FULL,
     {"r0 (1 r1 )1", "(1 w0 w2 )1", "r2 (1 w1 )1"},
     true,
     false,
     0,
     ANY},
    {"… when one can't go on, because the first holds the lock",
     TMS_BLOCKS_FULL,
     {"(1 r0 r1 )1", "(3 w0 )3", "(3 r0 (1 w1 )1 )3"},
     false,
     true,
     0,
     ANY},
    {"figure 4, t1 to t3",
     TMS_BLOCKS_FULL,
     {"(1 r0 )1", "(2 r0 )2", "(1 (2 w0 w0 )2 )1"},
     false,
     true,
     ANY,
     0},
    {"figure 4, t2 to t4",
     TMS_BLOCKS_FULL,
     {"(1 r0 )1", "(2 r0 )2", "r0 (1 (2 w0 )2 )1"},
     false,
     true,
     ANY,
     0},
    {"theorem 3 claims too much: two transactions of three",
     TMS_BLOCKS_1V,
     {"(1 r0 w0 )1", "w0"},
     true,
     false,
     1,
     0},
    {"… and with the third every trace can be serialized",
     TMS_BLOCKS_1V,
     {"(1 r0 w0 )1", "w0", "(1 w0 )1"},
     true,
     true,
     1,
     0},
    {"lemma 2 claims too much: a read of its own write between two writes",
     TMS_BLOCKS_1V,
     {"(1 w0 r0 )1", "(1 w0 )1 (1 w0 )1"},
     false,
     true,
     2,
     0},
    {"a write that is not final may come between a read and a write",
     TMS_BLOCKS_1V,
     {"(1 r0 )1 (2 (1 w0 )1 )2", "(2 (1 w0 )1 (1 w0 )1 )2"},
     true,
     false,
     ANY,
     0},
    {"two counters under one lock, read one after the other",
     TMS_BLOCKS_2V,
     {"(1 r0 )1 (1 r1 )1", "(1 w0 w1 )1"},
     true,
     false,
     0,
     2},
    {"… and read under the lock", TMS_BLOCKS_2V, {"(1 r0 r1 )1", "(1 w0 w1 )1"}, false, true, 0, 0},
    {"… and written one after the other",
     TMS_BLOCKS_2V,
     {"(1 r0 r1 )1", "(1 w0 )1 (1 w1 )1"},
     true,
     false,
     0,
     2},
};

static enum tms_event_kind kind_of(char letter)
{
    static const char letters[] = "rwu()";
    static const enum tms_event_kind kinds[] = {TMS_EVENT_READ, TMS_EVENT_WRITE, TMS_EVENT_UPDATE,
                                                TMS_EVENT_ACQUIRE, TMS_EVENT_RELEASE};

    return kinds[strchr(letters, letter) - letters];
}

static void parse(const char *const *texts, struct tms_view_set *set)
{
    for (set->count = 0; set->count < TMS_VIEW_THREADS && texts[set->count] != NULL; set->count++) {
        struct tms_view_transaction *t = &set->transaction[set->count];
        t->thread = (unsigned)set->count;
        t->count = 0;
        for (const char *at = texts[set->count]; *at != '\0'; at += 2 + (at[2] == ' ')) {
            t->action[t->count++] =
                (struct tms_view_action){kind_of(at[0]), (unsigned)(at[1] - '0')};
        }
    }
}

static uint64_t counter(const struct tms_subject *subject, const char *name)
{
    for (size_t i = 0; i < subject->result->counter_count; i++) {
        if (strcmp(subject->result->counters[i].name, name) == 0) {
            return subject->result->counters[i].value;
        }
    }
    return ANY;
}

static void run_golden(const struct golden *golden)
{
    struct tms_view_set set;

    parse(golden->transactions, &set);
    struct tms_subject subject = tms_subject_of_set(&set, "blocks", golden->blocks);
    uint64_t windows = counter(&subject, "windows"), twos = counter(&subject, "two_blocks");
    bool atomic = tms_view_atomic(&set);
    bool good = tms_subject_found(&subject) == golden->found && atomic == golden->atomic &&
                (golden->windows == ANY || golden->windows == windows) &&
                (golden->twos == ANY || golden->twos == twos);
    tms_tap(good, "%s", golden->title);
    if (!good) {
        printf("# %s, %s, %llu windows, %llu 2v-blocks\n",
               tms_verdict_text(subject.result->verdict), atomic ? "atomic" : "not atomic",
               (unsigned long long)windows, (unsigned long long)twos);
    }
    tms_subject_clear(&subject);
}

/* The false alarm of the reduction-based algorithm that section 6.5 describes. */
static void figure_4_by_reduction(void)
{
    const char *const t2_to_t4[] = {"(1 r0 )1", "(2 r0 )2", "r0 (1 (2 w0 )2 )1", NULL};
    struct tms_view_set set;

    parse(t2_to_t4, &set);
    struct tms_subject subject = tms_subject_of_set(&set, "blocks,reduction", TMS_BLOCKS_2V);
    tms_tap(!tms_subject_found(&subject) &&
                tms_analysis_result(subject.analysis, 1)->verdict == TMS_VERDICT_POTENTIAL,
            "figure 4, t2 to t4: reduction has an alarm where blocks has none");
    tms_subject_clear(&subject);
}

/* Impossible, because it deadlocks first: the pattern is reported with its caveat. */
static void example_3(void)
{
    const char *const texts[] = {"(1 (2 )2 w0 )1", "(2 (1 )1 r0 r0 )2", NULL};
    struct tms_view_set set;
    size_t deadlocks = 0, patterns = 0;

    parse(texts, &set);
    struct tms_subject subject = tms_subject_of_set(&set, "blocks", TMS_BLOCKS_1V);
    for (size_t i = 0; i < subject.result->finding_count; i++) {
        const struct tms_finding *finding = &subject.result->findings[i];
        deadlocks += strcmp(finding->kind, "deadlock") == 0;
        patterns += strcmp(finding->kind, "pattern") == 0 && finding->caveat != NULL;
    }
    tms_tap(tms_view_deadlocks(&set) && deadlocks == 1 && patterns == 1 &&
                subject.result->finding_count == 2,
            "example 3: the potential deadlock is found, and the pattern has a caveat");
    tms_subject_clear(&subject);
}

/* ---- traces -------------------------------------------------------------------------------- */

struct trace {
    const char *title;
    enum tms_escape escape;
    enum tms_blocks blocks;
    bool no_periods;
    const char *text;
    const char *schedule; /* of the findings, as THREAD:KIND TARGET@LOCATION; NULL: none */
    const char *refuted;  /* labels, from the outermost */
};

#define FORKED "M|begin(init) M|w(x) M|w(x) M|end M|fork(A) A|begin(f) A|r(x) A|end M|join(A) "
#define NESTED                                                                                     \
    "A|begin(f) A|r(y) A|begin(g) A|acq(m) A|r(x)|a.c:1 A|rel(m) A|acq(m) A|w(x)|a.c:2 A|rel(m) "  \
    "A|end A|end B|begin(h) B|acq(m) B|w(x)|b.c:3 B|rel(m) B|end"

#define BEFORE_START "A|begin(f) A|w(x) A|w(y) A|fork(C) B|r(y) C|begin(g) C|w(y) C|w(x)"

static const struct trace traces[] = {
    {"what comes before a fork is not parallel", TMS_ESCAPE_OFF, TMS_BLOCKS_2V, false, FORKED, NULL,
     NULL},
    {"… unless periods are off", TMS_ESCAPE_OFF, TMS_BLOCKS_2V, true, FORKED, "M:w x A:r x M:w x",
     "init"},
    {"a block is cut by intent where it joins", TMS_ESCAPE_OFF, TMS_BLOCKS_2V, false,
     "M|fork(A) M|begin(f) M|r(x) M|join(A) M|r(x) M|end B|w(x)", NULL, NULL},
    {"… but not where it does nothing of the kind", TMS_ESCAPE_OFF, TMS_BLOCKS_2V, false,
     "M|begin(f) M|r(x) M|r(x) M|end B|w(x)", "M:r x B:w x M:r x", "f"},
    {"what has not escaped is left out", TMS_ESCAPE_AUTO, TMS_BLOCKS_2V, false,
     "A|begin(f) A|r(x) A|w(x) A|end B|w(x)", NULL, NULL},
    {"what has escaped is not", TMS_ESCAPE_AUTO, TMS_BLOCKS_2V, false,
     "B|w(x) A|begin(f) A|r(x) A|w(x) A|end B|w(x)", "A:r x B:w x A:w x", "f"},
    {"only events make it escape", TMS_ESCAPE_EVENTS, TMS_BLOCKS_2V, false,
     "B|w(x) A|begin(f) A|r(x) A|w(x) A|end B|w(x)", NULL, NULL},
    {"the Vector of figure 7, in the shape of figure 7", TMS_ESCAPE_OFF, TMS_BLOCKS_1V, false,
     "T1|begin(Vector) T1|acq(v1) T1|r(elementCount)|Vector.java:267 T1|rel(v1) T1|acq(v1) "
     "T1|r(elementCount)|Vector.java:690 T1|rel(v1) T1|end "
     "T2|begin(removeAllElements) T2|acq(v1) T2|w(elementCount)|Vector.java:631 T2|rel(v1) T2|end",
     "T1:r elementCount@Vector.java:267 T2:w elementCount@Vector.java:631 "
     "T1:r elementCount@Vector.java:690",
     "Vector"},
    {"blocks inside that have both operations are refuted too", TMS_ESCAPE_OFF, TMS_BLOCKS_1V,
     false, NESTED, "A:r x@a.c:1 B:w x@b.c:3 A:w x@a.c:2", "f g"},
    {"… and with two variables only those that have both", TMS_ESCAPE_OFF, TMS_BLOCKS_2V, false,
     "A|begin(f) A|r(y) A|begin(g) A|r(x) A|end A|end B|begin(h) B|w(y) B|w(x) B|end",
     "A:r y B:w y B:w x A:r x B:w y A:r y A:r x B:w x", "f h"},
    {"… wherever they lie", TMS_ESCAPE_OFF, TMS_BLOCKS_2V, false,
     "A|begin(f) A|begin(g) A|end A|begin(i) A|r(y) A|r(x) A|end A|end "
     "B|begin(h) B|w(y) B|w(x) B|end",
     "A:r y B:w y B:w x A:r x B:w y A:r y A:r x B:w x", "f i h"},
    {"a lock that is taken on the way keeps both operations from coming between", TMS_ESCAPE_OFF,
     TMS_BLOCKS_2V, false,
     "A|begin(f) A|acq(m) A|r(x) A|r(y) A|rel(m) A|end "
     "B|begin(g) B|w(x) B|acq(m) B|rel(m) B|w(y) B|end",
     "B:w x A:r x A:r y B:w y", "g"},
    {"the operation that must wait comes last", TMS_ESCAPE_OFF, TMS_BLOCKS_2V, false,
     "A|begin(f) A|acq(m) A|r(x) A|r(y) A|rel(m) A|end "
     "B|begin(g) B|w(y) B|acq(m) B|w(x) B|rel(m) B|end",
     "A:r x B:w y A:r y B:w x B:w y A:r x A:r y B:w x", "f g"},
    {"what readers without the lock can see between two writes under it", TMS_ESCAPE_OFF,
     TMS_BLOCKS_2V, false,
     "A|begin(f) A|acq(m) A|w(x) A|w(y) A|rel(m) A|end B|begin(g) B|r(x) B|r(y) B|end",
     "A:w x B:r x B:r y A:w y B:r x A:w x A:w y B:r y", "f g"},
    {"a new object at an old name is another variable", TMS_ESCAPE_OFF, TMS_BLOCKS_2V, false,
     "A|begin(f) A|r(o) A|r(o) A|end B|free(o) B|alloc(o) B|w(o)", NULL, NULL},
    {"readers of a shared lock keep writers out, not each other", TMS_ESCAPE_OFF, TMS_BLOCKS_2V,
     false,
     "A|begin(f) A|racq(m) A|r(x) A|r(x) A|rrel(m) A|end B|begin(g) B|acq(m) B|w(x) B|rel(m) B|end "
     "C|begin(h) C|racq(n) C|r(y) C|r(y) C|rrel(n) C|end D|begin(i) D|racq(n) D|w(y) D|rrel(n) "
     "D|end",
     "C:r y D:w y C:r y", "h"},
    {"a transaction between two others of one thread", TMS_ESCAPE_OFF, TMS_BLOCKS_FULL, false,
     "A|begin(f) A|r(x) A|r(y) A|end B|begin(g) B|w(x) B|end B|begin(h) B|w(y) B|end",
     "A:r x B:w x B:w y A:r y", "f"},
    {"… or between one and another of a thread that it starts", TMS_ESCAPE_OFF, TMS_BLOCKS_FULL,
     false, "A|begin(f) A|w(x) A|w(y) A|end B|w(x) B|fork(C) C|w(y)", "A:w x B:w x C:w y A:w y",
     "f"},
    {"… that it waits for", TMS_ESCAPE_OFF, TMS_BLOCKS_FULL, false,
     "A|begin(f) A|w(x) A|w(y) A|end B|w(x) C|join(B) C|w(y)", "A:w x B:w x C:w y A:w y", "f"},
    {"… that it meets at a barrier", TMS_ESCAPE_OFF, TMS_BLOCKS_FULL, false,
     "A|begin(f) A|w(x) A|w(y) A|end B|w(x) B|arrive(b) C|arrive(b) C|depart(b) C|w(y)",
     "A:w x B:w x C:w y A:w y", "f"},
    {"… but not without periods", TMS_ESCAPE_OFF, TMS_BLOCKS_FULL, true,
     "A|begin(f) A|w(x) A|w(y) A|end B|w(x) B|fork(C) C|w(y)", NULL, NULL},
    {"no cycle has a thread before its start", TMS_ESCAPE_OFF, TMS_BLOCKS_FULL, false, BEFORE_START,
     NULL, NULL},
    {"… unless periods are off", TMS_ESCAPE_OFF, TMS_BLOCKS_FULL, true, BEFORE_START,
     "A:w x C:w y C:w x A:w y C:w y A:w x A:w y C:w x", "f g"},
};

static void add(char *text, size_t size, const char *part)
{
    size_t length = strlen(text);

    snprintf(text + length, size - length, "%s%s", length > 0 ? " " : "", part);
}

static void write_turn(const struct tms_subject *subject, const struct tms_turn *turn, char *text,
                       size_t size)
{
    const struct tms_context *context = subject->context;
    char number[TMS_NUMBER_SIZE], part[128];
    const char *location = tms_name(context, TMS_CLASS_LOCATION, turn->location, number);

    snprintf(part, sizeof(part), "%s:%s %s%s%s",
             tms_name(context, TMS_CLASS_THREAD, turn->thread, NULL), tms_event_text(turn->kind),
             tms_name(context, TMS_CLASS_VARIABLE, turn->target, NULL), *location ? "@" : "",
             location);
    add(text, size, part);
}

static void run_trace(const struct trace *trace)
{
    char schedule[512] = "", refuted[128] = "";
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = "blocks";
    settings.escape = trace->escape;
    settings.blocks = trace->blocks;
    settings.periods = !trace->no_periods;
    struct tms_subject subject = tms_subject_of_text(trace->text, &settings);
    for (size_t i = 0; i < subject.result->finding_count; i++) {
        const struct tms_finding *finding = &subject.result->findings[i];
        for (size_t j = 0; j < finding->schedule_length; j++) {
            write_turn(&subject, &finding->schedule[j], schedule, sizeof(schedule));
        }
        for (size_t j = 0; j < finding->refuted_count; j++) {
            add(refuted, sizeof(refuted),
                tms_name(subject.context, TMS_CLASS_LABEL, finding->refuted[j].label, NULL));
        }
    }
    bool good = tms_subject_found(&subject) == (trace->schedule != NULL) &&
                strcmp(schedule, trace->schedule != NULL ? trace->schedule : "") == 0 &&
                strcmp(refuted, trace->refuted != NULL ? trace->refuted : "") == 0;
    tms_tap(good, "%s", trace->title);
    if (!good) {
        printf("# %s: %s (%s)\n", tms_verdict_text(subject.result->verdict), schedule, refuted);
    }
    tms_subject_clear(&subject);
}

/* ---- rings --------------------------------------------------------------------------------- */

#define RING_TEXT 112

/* Each thread reads what the previous one writes: a cycle through all of them, and no other. */
static struct tms_subject check_ring(unsigned threads)
{
    char text[32 * RING_TEXT] = "";
    struct tms_settings settings;

    for (unsigned i = 0; i < threads; i++) {
        char part[RING_TEXT];
        snprintf(part, sizeof(part), "T%u|begin(f) T%u|r(x%u) T%u|w(x%u) T%u|end", i, i, i, i,
                 (i + 1) % threads, i);
        add(text, sizeof(text), part);
    }
    tms_settings_init(&settings);
    settings.engines = "blocks";
    settings.escape = TMS_ESCAPE_OFF;
    settings.blocks = TMS_BLOCKS_FULL;
    return tms_subject_of_text(text, &settings);
}

static void rings(void)
{
    struct tms_subject subject = check_ring(16);

    tms_tap(tms_subject_found(&subject) && subject.result->complete &&
                subject.result->findings[0].cycle_length == 16,
            "a cycle of 16 threads is found");
    tms_subject_clear(&subject);
    subject = check_ring(17);
    tms_tap(subject.result->verdict == TMS_VERDICT_INCOMPLETE && subject.result->loss != NULL &&
                counter(&subject, "gave_up") == 1,
            "one of 17 is given up, and that is said");
    tms_subject_clear(&subject);
}

void tms_blocks_goldens(void)
{
    for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
        run_golden(&goldens[i]);
    }
    figure_4_by_reduction();
    example_3();
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
        run_trace(&traces[i]);
    }
    rings();
}
