/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted and potential findings as text; see predicted.h. */
#include "report/predicted.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "report/interleaving_table.h"
#include "report/observed.h"
#include "report/phrase.h"
#include "report/stack_frames.h"

#define INDENT 4

/* How a kind of finding is described; each function writes a paragraph. */
struct manner {
    const char *kind;
    const char *above, *above_end; /* the table of events, around "can"; without the end, all */
    void (*headline)(const struct tms_page *page, FILE *note, const struct tms_finding *finding);
    void (*reason)(const struct tms_page *page, FILE *note, const struct tms_finding *finding);
    bool steps; /* the cycle shows how a block is cut apart */
    bool seen;  /* the events are shown in the order of the run */
};

static const char *can(const struct tms_finding *finding)
{
    return finding->evidence == TMS_EVIDENCE_PREDICTED ? "can" : "may";
}

static void phrase_location(const struct tms_page *page, FILE *note, uint32_t location)
{
    if (location != 0) {
        fputs(", ", note);
        tms_phrase_thing(page, note, TMS_CLASS_LOCATION, location);
    }
}

/* "m"; the finding has a cycle. */
static void phrase_on(const struct tms_page *page, FILE *note, const struct tms_finding *finding)
{
    const struct tms_step *step = finding->cycle;

    tms_phrase_thing(page, note, (enum tms_class)step->on_class, step->on);
}

/* ---- a window of two acquires, or of two accesses --------------------------------------- */

static bool is_window(const struct tms_finding *finding)
{
    return finding->cycle_length == 2;
}

static void window_headline(const struct tms_page *page, FILE *note,
                            const struct tms_finding *finding)
{
    tms_phrase_transaction(page, note, finding, &finding->transaction);
    fprintf(note, " %s be cut apart", can(finding));
    if (is_window(finding)) {
        bool lock = finding->cycle[0].on_class == TMS_CLASS_LOCK;
        fputs(" by ", note);
        tms_phrase_others(page, note, finding);
        fprintf(note, ", between two %s", lock ? "acquires of " : "accesses to ");
        phrase_on(page, note, finding);
        fprintf(note, " (events %" PRIu64 " and %" PRIu64 ")", finding->cycle[0].first_event,
                finding->cycle[1].second_event);
    }
    fputc('.', note);
}

/* "m", or "one lock" where the window is one of accesses. */
static void phrase_guard(const struct tms_page *page, FILE *note, const struct tms_finding *finding)
{
    if (finding->cycle[0].on_class == TMS_CLASS_LOCK) {
        phrase_on(page, note, finding);
    } else {
        fputs("one lock", note);
    }
}

#define ONLY_TIMING                                                                                \
    "Only timing caused that order; no fork, join or lock held throughout enforces it. "

/*
 * Where the other thread was in this run, and that only timing put it there. That is not known of a
 * thread that came between the two: the block may have started it, and waited for it.
 */
static void window_reason(const struct tms_page *page, FILE *note,
                          const struct tms_finding *finding)
{
    static const struct {
        const char *kind, *place;
    } places[] = {{"before", "before the first one"},
                  {"in", "between the two"},
                  {"after", "after the second one"}};
    const char *place = "elsewhere";

    if (!is_window(finding)) {
        return;
    }
    uint32_t other = finding->cycle[1].from.thread;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        place = strcmp(places[i].kind, finding->kind) == 0 ? places[i].place : place;
    }
    bool between = strcmp(finding->kind, "in") == 0;
    bool lock = finding->cycle[0].on_class == TMS_CLASS_LOCK;
    fputs("In this run ", note);
    tms_phrase_thing(page, note, TMS_CLASS_THREAD, other);
    fprintf(note, "'s %s came %s (event %" PRIu64 "). ", lock ? "acquire" : "access", place,
            finding->cycle[1].first_event);
    fputs(between ? "" : ONLY_TIMING, note);
    fputs("Holding ", note);
    phrase_guard(page, note, finding);
    fprintf(note, " across both %s would prevent it", lock ? "acquires" : "accesses");
    if (between) {
        fputs(", unless the block waits for ", note);
        tms_phrase_thing(page, note, TMS_CLASS_THREAD, other);
        fputs(" in between", note);
    }
    fputc('.', note);
}

/* ---- a window between two locks --------------------------------------------------------- */

static const struct tms_step *last_step(const struct tms_finding *finding)
{
    return &finding->cycle[finding->cycle_length - 1];
}

/* "m" or "n": what the first and the last step of the cycle are on. */
static void phrase_lock(const struct tms_page *page, FILE *note, const struct tms_step *step)
{
    tms_phrase_thing(page, note, (enum tms_class)step->on_class, step->on);
}

static void pair_headline(const struct tms_page *page, FILE *note,
                          const struct tms_finding *finding)
{
    tms_phrase_transaction(page, note, finding, &finding->transaction);
    fprintf(note, " %s be cut apart", can(finding));
    if (finding->cycle_length > 1) {
        fputs(" by ", note);
        tms_phrase_others(page, note, finding);
        fputs(", between its acquires of ", note);
        phrase_lock(page, note, finding->cycle);
        fputs(" and ", note);
        phrase_lock(page, note, last_step(finding));
        fprintf(note, " (events %" PRIu64 " and %" PRIu64 ")", finding->cycle[0].first_event,
                last_step(finding)->second_event);
    }
    fputc('.', note);
}

static void pair_reason(const struct tms_page *page, FILE *note, const struct tms_finding *finding)
{
    if (finding->cycle_length < 2) {
        return;
    }
    const struct tms_step *last = last_step(finding);
    fputs("In this run ", note);
    tms_phrase_thing(page, note, TMS_CLASS_THREAD, last->from.thread);
    fputs(" took ", note);
    phrase_lock(page, note, last);
    fprintf(note, " after the block had (event %" PRIu64 "). " ONLY_TIMING "Holding ",
            last->first_event);
    phrase_lock(page, note, finding->cycle);
    fputs(" until ", note);
    phrase_lock(page, note, last);
    fputs(" is acquired would prevent it.", note);
}

/* ---- a pattern of accesses -------------------------------------------------------------- */

static void pattern_headline(const struct tms_page *page, FILE *note,
                             const struct tms_finding *finding)
{
    tms_phrase_transaction(page, note, finding, &finding->transaction);
    fprintf(note, " %s be cut apart", can(finding));
    if (finding->cycle_length > 1) {
        fputs(" by ", note);
        tms_phrase_others(page, note, finding);
        fputs(", on ", note);
        phrase_on(page, note, finding);
    }
    fputc('.', note);
}

static void pattern_reason(const struct tms_page *page, FILE *note,
                           const struct tms_finding *finding)
{
    (void)page;
    (void)finding;
    fputs(
        "The locks held allow these accesses in this order; something other than locks may prevent "
        "it.",
        note);
}

/* ---- events that do not commute ------------------------------------------------------- */

static void reduction_headline(const struct tms_page *page, FILE *note,
                               const struct tms_finding *finding)
{
    const struct tms_turn *last =
        finding->schedule_length > 0 ? &finding->schedule[finding->schedule_length - 1] : NULL;

    tms_phrase_transaction(page, note, finding, &finding->transaction);
    fprintf(note, " %s be cut apart before event %" PRIu64, can(finding), finding->event);
    if (last != NULL && last->event == finding->event) {
        phrase_location(page, note, last->location);
    }
    fputc('.', note);
}

static void reduction_reason(const struct tms_page *page, FILE *note,
                             const struct tms_finding *finding)
{
    (void)page;
    (void)finding;
    fputs(
        "A block is atomic if all its events can move to one point: acquires later (right "
        "movers), releases earlier (left movers), race-free accesses either way (both movers). The "
        "last event here can't move there.",
        note);
}

/* ---- races ------------------------------------------------------------------------------ */

static void race_headline(const struct tms_page *page, FILE *note,
                          const struct tms_finding *finding)
{
    if (finding->cycle_length == 0) {
        fprintf(note, "data race at event %" PRIu64 "; its two accesses are not known.",
                finding->event);
        return;
    }
    fputs("data race on ", note);
    phrase_on(page, note, finding);
    fputs(": ", note);
    tms_phrase_step(page, note, finding->cycle, true);
    fputs(", and nothing orders the two.", note);
}

static void race_reason(const struct tms_page *page, FILE *note, const struct tms_finding *finding)
{
    (void)page;
    (void)finding;
    fputs("No lock, atomic operation, fork, join or barrier orders them: they can happen in the "
          "other order, or at the same time.",
          note);
}

/* ---- deadlocks -------------------------------------------------------------------------- */

static void deadlock_headline(const struct tms_page *page, FILE *note,
                              const struct tms_finding *finding)
{
    size_t count = finding->cycle_length;

    fputs(count > 0 ? "deadlock: " : "deadlock: threads", note);
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? "" : i + 1 == count ? " and " : ", ", note);
        tms_phrase_thing(page, note, TMS_CLASS_THREAD, finding->cycle[i].from.thread);
    }
    fputs(" may wait for each other forever.", note);
}

/* Which thread holds each lock, and which one waits for it. */
static void deadlock_reason(const struct tms_page *page, FILE *note,
                            const struct tms_finding *finding)
{
    for (size_t i = 0; i < finding->cycle_length; i++) {
        const struct tms_step *step = &finding->cycle[i];
        tms_phrase_thing(page, note, TMS_CLASS_THREAD, step->from.thread);
        fputs(" holds ", note);
        tms_phrase_thing(page, note, (enum tms_class)step->on_class, step->on);
        fprintf(note, " (since event %" PRIu64, step->first_event);
        phrase_location(page, note, step->first_location);
        fputs("), and ", note);
        tms_phrase_thing(page, note, TMS_CLASS_THREAD, step->to.thread);
        fprintf(note, " wants it (event %" PRIu64, step->second_event);
        phrase_location(page, note, step->second_location);
        fputs("). ", note);
    }
    fputs("No common lock held around these acquires prevents it.", note);
}

/* ---- all of them ------------------------------------------------------------------------ */

#define IN_ORDER "(not the order of this run; event numbers are those of the trace)"

static const struct manner manners[] = {
    {"before", "What ", " happen, in this order " IN_ORDER ":", window_headline, window_reason,
     true, false},
    {"in", "What ", " happen, in this order:", window_headline, window_reason, true, false},
    {"after", "What ", " happen, in this order " IN_ORDER ":", window_headline, window_reason, true,
     false},
    {"pair", "What ", " happen, in this order " IN_ORDER ":", pair_headline, pair_reason, true,
     false},
    {"pattern", "What ", " happen, in this order " IN_ORDER ":", pattern_headline, pattern_reason,
     true, false},
    {"reduction", "The events of the block in question:", NULL, reduction_headline,
     reduction_reason, false, false},
    {"race", "The two accesses, in the order of this run:", NULL, race_headline, race_reason, false,
     true},
    {"deadlock", "What ",
     " happen, in this order " IN_ORDER ", after which these threads wait forever:",
     deadlock_headline, deadlock_reason, false, false},
};

static const struct manner *manner_of(const struct tms_finding *finding)
{
    size_t last = sizeof(manners) / sizeof(manners[0]) - 1, i = 0;

    while (i < last && strcmp(manners[i].kind, finding->kind) != 0) {
        i++;
    }
    assert(strcmp(manners[i].kind, finding->kind) == 0);
    return &manners[i];
}

void tms_unseen_headline(const struct tms_page *page, FILE *note, const struct tms_finding *finding)
{
    manner_of(finding)->headline(page, note, finding);
    if (finding->count > 1) {
        fprintf(note, " Found %" PRIu64 " times; this is the first.", finding->count);
    }
}

void tms_unseen_why(const struct tms_page *page, FILE *note, const struct tms_finding *finding)
{
    manner_of(finding)->reason(page, note, finding);
}

static void flow(struct tms_page *page)
{
    tms_page_blank(page->out, INDENT);
    tms_page_flow(page, INDENT, INDENT);
}

/* The events, under a heading which says that they did not happen like that. */
static int write_events(struct tms_page *page, const struct tms_finding *finding)
{
    const struct manner *manner = manner_of(finding);
    bool schedule = finding->schedule_length > 0 && !manner->seen;
    FILE *note = tms_page_note(page);

    if (!schedule && finding->cycle_length == 0) {
        return TMS_OK;
    }
    fprintf(note, "%s%s%s", manner->above, manner->above_end != NULL ? can(finding) : "",
            manner->above_end != NULL ? manner->above_end : "");
    tms_page_ink(page, TMS_INK_BOLD);
    flow(page);
    tms_page_ink(page, TMS_INK_PLAIN);
    int code = tms_columns_write(page, finding, schedule);
    fputc('\n', page->out);
    return code;
}

static void write_steps(struct tms_page *page, const struct tms_finding *finding)
{
    if (!manner_of(finding)->steps || finding->cycle_length < 2) {
        for (size_t i = 0; i < finding->cycle_length; i++) {
            tms_stacks_write(page, finding, i, INDENT + 2);
        }
        return;
    }
    for (size_t i = 0; i < finding->cycle_length; i++) {
        tms_finding_step(page, finding, i);
    }
    fputc('\n', page->out);
    tms_finding_conclusion(page, finding);
}

static void write_refuted(struct tms_page *page, const struct tms_finding *finding)
{
    FILE *note = tms_page_note(page);

    if (finding->refuted_count > 1) {
        tms_phrase_transaction(page, note, finding, &finding->transaction);
        fputs(" is then not atomic.", note);
        tms_phrase_refuted(page, note, finding);
        flow(page);
    }
}

static void write_caveat(struct tms_page *page, const struct tms_finding *finding)
{
    size_t length = finding->caveat != NULL ? strlen(finding->caveat) : 0;

    if (length > 0) {
        fprintf(tms_page_note(page), "But: %s%s", finding->caveat,
                finding->caveat[length - 1] == '.' ? "" : ".");
        flow(page);
    }
}

int tms_unseen_write(struct tms_page *page, const struct tms_finding *finding)
{
    int code = write_events(page, finding);

    write_steps(page, finding);
    tms_unseen_why(page, tms_page_note(page), finding);
    flow(page);
    write_refuted(page, finding);
    write_caveat(page, finding);
    return code;
}

void tms_unseen_introduce(struct tms_page *page, enum tms_evidence evidence)
{
    static const char *const sentences[] = {
        [TMS_EVIDENCE_OBSERVED] = "",
        [TMS_EVIDENCE_PREDICTED] = "Predicted: did not happen in this run, but can with another "
                                   "timing.",
        [TMS_EVIDENCE_POTENTIAL] = "Potential: the locks held do not rule this out. It may be a "
                                   "false alarm.",
    };

    fputs(sentences[evidence], tms_page_note(page));
    tms_page_flow(page, 0, 4);
    fputc('\n', page->out);
}
