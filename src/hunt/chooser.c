/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the schedule of the next run; see chooser.h. */
#include "hunt/chooser.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "hunt/example.h"

#define HEADER "tmesis-schedule 1\n"
#define WINDOWS_AT_ONCE                                                                            \
    3 /* in a directed run: suspended threads keep each other from reaching other windows */
#define WINDOWS_OF_ONE 16   /* of one finding, to reproduce it */
#define WINDOWS_MOST   4096 /* that are kept */
#define GUARDED        3    /* tries by which a window inside a critical section is postponed */
#define BOUND_FIRST                                                                                \
    50                 /* milliseconds for which a thread is held at most: doubled with each try,  \
                        */
#define BOUND_MOST 400 /* … up to this */
#define DEPTH      2   /* of pct: most such bugs need only one priority change */
#define POINTS     50  /* of pct, if no run has reported a number */

const char *tms_hunt_strategy_word(size_t index)
{
    static const char *const words[] = {
#define X(name, word) word,
        TMS_HUNT_STRATEGIES(X)
#undef X
    };

    return index < TMS_HUNT_STRATEGY_COUNT ? words[index] : NULL;
}

static void free_window(struct tms_hunt_window *window)
{
    free(window->id);
    free(window->close);
    free(window->open);
    free(window->foreign);
    free(window->until);
}

void tms_chooser_clear(struct tms_chooser *chooser)
{
    for (size_t i = 0; i < chooser->count; i++) {
        free_window(&chooser->windows[i]);
    }
    free(chooser->windows);
    chooser->windows = NULL;
    chooser->count = chooser->capacity = 0;
    for (size_t i = 0; i < chooser->given_count; i++) {
        free(chooser->given[i].text);
    }
    free(chooser->given);
    chooser->given = NULL;
    chooser->given_count = 0;
}

/* ---- windows -------------------------------------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static struct tms_hunt_window *find(const struct tms_chooser *chooser,
                                    const struct tms_hunt_window *window)
{
    for (size_t i = 0; i < chooser->count; i++) {
        struct tms_hunt_window *known = &chooser->windows[i];
        if (is_same_text(known->id, window->id) && is_same_text(known->close, window->close) &&
            is_same_text(known->open, window->open) &&
            is_same_text(known->foreign, window->foreign) &&
            is_same_text(known->until, window->until)) {
            return known;
        }
    }
    return NULL;
}

static char *copy(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

/*
 * Adds a window if it is new; the caller owns its texts. Ignores windows without a site to suspend
 * a thread at.
 */
static bool add_window(struct tms_chooser *chooser, const struct tms_hunt_window *window)
{
    if (window->id == NULL || window->close == NULL || chooser->count == WINDOWS_MOST) {
        return true;
    }
    struct tms_hunt_window *known = find(chooser, window);
    if (known != NULL) {
        known->predicted = known->predicted || window->predicted;
        return true;
    }
    if (!TMS_RESERVE(NULL, &chooser->windows, &chooser->capacity, chooser->count + 1, 16)) {
        return false;
    }
    struct tms_hunt_window *own = &chooser->windows[chooser->count++];
    *own = (struct tms_hunt_window){.id = copy(window->id),
                                    .close = copy(window->close),
                                    .open = copy(window->open),
                                    .foreign = copy(window->foreign),
                                    .until = copy(window->until),
                                    .two_locks = window->two_locks,
                                    .predicted = window->predicted,
                                    .guarded = window->guarded};
    return own->id != NULL && own->close != NULL && (own->open != NULL) == (window->open != NULL) &&
           (own->foreign != NULL) == (window->foreign != NULL) &&
           (own->until != NULL) == (window->until != NULL);
}

/* The site of a location, NULL: it has none. */
static char *site_of(const json_t *location)
{
    const char *site = json_string_value(json_object_get(location, "site"));

    return site != NULL && site[strcspn(site, " \t\n#")] == '\0' ? (char *)(uintptr_t)site : NULL;
}

/* That of an event. */
static char *turn_site(const json_t *turns, size_t index)
{
    return site_of(json_object_get(json_array_get(turns, index), "at"));
}

static char *text_of(const json_t *object, const char *key)
{
    return (char *)(uintptr_t)json_string_value(json_object_get(object, key));
}

static const json_t *turn_lock(const json_t *turns, size_t index)
{
    const json_t *turn = json_array_get(turns, index);
    const char *kind = text_of(turn, "kind");

    return kind != NULL && strstr(kind, "acq") != NULL ? json_object_get(turn, "on") : NULL;
}

static bool has_two_locks(const json_t *own)
{
    const json_t *first = turn_lock(own, 0), *last = turn_lock(own, json_array_size(own) - 1);

    return first != NULL && last != NULL && !json_equal(first, last);
}

/*
 * The site where the other thread waits until one is in the window. NULL if both run the same code:
 * each would wait for the other.
 */
static char *foreign_site(const json_t *foreign, const struct tms_hunt_window *window)
{
    char *site = turn_site(foreign, 0);

    return is_same_text(site, window->open) || is_same_text(site, window->close) ? NULL : site;
}

/* For two variables the other thread accesses both while the first thread is suspended. */
static char *until_site(const json_t *finding, const json_t *foreign)
{
    const json_t *variable = json_object_get(finding, "variable");
    size_t count = json_array_size(foreign);

    return json_is_object(json_object_get(variable, "other")) && count >= 2
               ? turn_site(foreign, count - 1)
               : NULL;
}

/*
 * Adds the window between the two steps of the block: the thread is suspended before the second
 * until the other thread has acted.
 */
static bool add_finding(struct tms_chooser *chooser, const json_t *finding)
{
    const json_t *own = json_object_get(finding, "own"),
                 *foreign = json_object_get(finding, "foreign");
    size_t count = json_array_size(own);
    const char *evidence = text_of(finding, "evidence");
    struct tms_hunt_window window = {
        .id = text_of(finding, "id"),
        .close = count >= 2 ? turn_site(own, count - 1) : NULL,
        .open = count >= 2 ? turn_site(own, 0) : NULL,
        .until = until_site(finding, foreign),
        .two_locks = count >= 2 && has_two_locks(own),
        .predicted = evidence != NULL && strcmp(evidence, "predicted") == 0,
    };

    window.foreign = foreign_site(foreign, &window);
    return add_window(chooser, &window);
}

static bool add_learned(struct tms_chooser *chooser, const json_t *windows)
{
    bool good = true;

    for (size_t i = 0; good && i < json_array_size(windows); i++) {
        const json_t *learned = json_array_get(windows, i);
        struct tms_hunt_window window = {
            .id = text_of(learned, "id"),
            .close = site_of(json_object_get(learned, "close")),
            .open = site_of(json_object_get(learned, "open")),
            .guarded = json_is_true(json_object_get(learned, "guarded")),
        };
        good = add_window(chooser, &window);
    }
    return good;
}

/* Is it a predicted error or warning that is neither suppressed nor known? */
static bool is_worth_it(const json_t *finding)
{
    const char *level = text_of(finding, "level"), *evidence = text_of(finding, "evidence");

    return level != NULL && evidence != NULL && strcmp(level, "note") != 0 &&
           strcmp(evidence, "predicted") == 0 &&
           !json_is_true(json_object_get(finding, "suppressed")) &&
           !json_is_false(json_object_get(finding, "new"));
}

static bool is_target(const struct tms_chooser *chooser, const char *id)
{
    bool target = chooser->targets == NULL;

    for (size_t i = 0; i < chooser->target_count; i++) {
        target = target || strcmp(chooser->targets[i], id) == 0;
    }
    return target;
}

/* Observed findings have their windows among the learned ones, if any. */
static bool is_wanted(const struct tms_chooser *chooser, const json_t *finding)
{
    const char *id = text_of(finding, "id");
    bool target = chooser->targets != NULL && id != NULL && text_of(finding, "level") != NULL &&
                  is_target(chooser, id) && tms_chooser_windows(chooser, id) == 0;

    return target || is_worth_it(finding);
}

static void learn_points(struct tms_chooser *chooser, const json_t *schedule)
{
    json_int_t points = json_integer_value(json_object_get(schedule, "points"));
    const char *strategy = text_of(schedule, "strategy");
    bool pct = strategy != NULL && (strcmp(strategy, "pct") == 0 || strcmp(strategy, "learn") == 0);
    uint64_t *most = pct ? &chooser->pct_points : &chooser->points;

    if (points > 0 && (uint64_t)points > *most) {
        *most = (uint64_t)points;
    }
}

bool tms_chooser_learn(struct tms_chooser *chooser, const json_t *result)
{
    const json_t *results = json_object_get(result, "results");
    bool good = add_learned(chooser, json_object_get(result, "windows"));

    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *list = json_object_get(json_array_get(results, i), "violations");
        for (size_t j = 0; good && j < json_array_size(list); j++) {
            const json_t *finding = json_array_get(list, j);
            good = !is_wanted(chooser, finding) || add_finding(chooser, finding);
        }
    }
    learn_points(chooser, json_object_get(result, "schedule"));
    return good;
}

/* ---- choices -------------------------------------------------------------------------------- */

#define NOTE 2 /* as a place of levels */

bool tms_hunt_observed(const struct tms_hunt *hunt, const char *id)
{
    const json_t *finding = tms_examples_judged(hunt->examples, id);

    return finding != NULL && tms_evidence_place(finding) == 0 && tms_level_place(finding) < NOTE;
}

/* The possible gain from a window, highest first. */
enum gain { OPEN, MERELY_NOTED, OBSERVED };

static enum gain gain_of(const struct tms_hunt *hunt, const struct tms_hunt_window *window)
{
    const json_t *finding = tms_examples_judged(hunt->examples, window->id);

    if (finding == NULL || tms_evidence_place(finding) != 0) {
        return OPEN;
    }
    return tms_level_place(finding) < NOTE ? OBSERVED : window->predicted ? OPEN : MERELY_NOTED;
}

/* Is the first the better one to try? Equal ones are tried in the order of discovery. */
static bool is_better(const struct tms_hunt *hunt, const struct tms_hunt_window *a,
                      const struct tms_hunt_window *b)
{
    enum gain first = gain_of(hunt, a), second = gain_of(hunt, b);

    if (first != second) {
        return first < second;
    }
    uint64_t one = a->tries + (a->guarded ? GUARDED : 0);
    uint64_t two = b->tries + (b->guarded ? GUARDED : 0);
    if (one != two) {
        return one < two;
    }
    return a->predicted && !b->predicted;
}

/* The best window that this run does not have yet. */
static struct tms_hunt_window *next_window(const struct tms_chooser *chooser,
                                           const struct tms_hunt *hunt,
                                           const struct tms_hunt_window *const *chosen,
                                           size_t count)
{
    struct tms_hunt_window *best = NULL;

    for (size_t i = 0; i < chooser->count; i++) {
        struct tms_hunt_window *window = &chooser->windows[i];
        bool taken = !is_target(chooser, window->id);
        for (size_t j = 0; j < count; j++) {
            taken = taken || chosen[j] == window;
        }
        if (!taken && (best == NULL || is_better(hunt, window, best))) {
            best = window;
        }
    }
    return best;
}

static void write_window(FILE *out, const struct tms_hunt_window *window)
{
    fprintf(out, "window close=%s", window->close);
    if (window->open != NULL) {
        fprintf(out, " open=%s", window->open);
    }
    if (window->foreign != NULL) {
        fprintf(out, " foreign=%s", window->foreign);
    }
    if (window->until != NULL) {
        fprintf(out, " until=%s", window->until);
    }
    if (window->two_locks) {
        fputs(" two-locks", out);
    }
    fputc('\n', out);
}

/* Short holds are tried first, as holds are useless in windows that no other thread reaches. */
static int bound_of(const struct tms_hunt_window *window)
{
    int bound = BOUND_FIRST;

    for (uint64_t i = 0; i < window->tries && bound < BOUND_MOST; i++) {
        bound *= 2;
    }
    return bound;
}

/*
 * Writes the windows for one run: several of findings that were not observed, or a single one of
 * others.
 */
static void write_directed(FILE *out, struct tms_chooser *chooser, const struct tms_hunt *hunt)
{
    const struct tms_hunt_window *chosen[WINDOWS_AT_ONCE];
    size_t count = 0;

    while (count < WINDOWS_AT_ONCE) {
        struct tms_hunt_window *window = next_window(chooser, hunt, chosen, count);
        if (window == NULL || (count > 0 && tms_hunt_observed(hunt, window->id))) {
            break;
        }
        if (count == 0) {
            fprintf(out, "bound %d\n", bound_of(window));
        }
        chosen[count++] = window;
        window->tries++;
        write_window(out, window);
    }
}

/* Of six runs three are directed, two have noise, and one has random priorities. */
static enum tms_hunt_strategy mix(const struct tms_chooser *chooser, const struct tms_hunt *hunt,
                                  uint64_t number)
{
    static const enum tms_hunt_strategy turns[] = {TMS_HUNT_DIRECTED, TMS_HUNT_DIRECTED,
                                                   TMS_HUNT_NOISE,    TMS_HUNT_DIRECTED,
                                                   TMS_HUNT_NOISE,    TMS_HUNT_PCT};
    enum tms_hunt_strategy turn = turns[(number - 1) % (sizeof(turns) / sizeof(turns[0]))];
    bool left = false;

    for (size_t i = 0; i < chooser->count; i++) {
        enum gain gain = gain_of(hunt, &chooser->windows[i]);
        left = left || gain == OPEN || (gain == MERELY_NOTED && chooser->windows[i].tries == 0);
    }
    return turn == TMS_HUNT_DIRECTED && !left ? TMS_HUNT_NOISE : turn;
}

static enum tms_hunt_strategy strategy_for(const struct tms_chooser *chooser,
                                           const struct tms_hunt *hunt, uint64_t number)
{
    bool first = number == 0;

    switch (chooser->strategy) {
    case TMS_HUNT_AUTO:
        return first ? TMS_HUNT_LEARN : mix(chooser, hunt, number);
    case TMS_HUNT_DIRECTED:
        return next_window(chooser, hunt, NULL, 0) != NULL ? TMS_HUNT_DIRECTED
               : first                                     ? TMS_HUNT_LEARN
                                                           : TMS_HUNT_NOISE;
    default:
        return chooser->strategy;
    }
}

/* ---- schedules that are given --------------------------------------------------------- */

bool tms_chooser_give(struct tms_chooser *chooser, const char *text, uint64_t tries, uint64_t shown)
{
    size_t size = (chooser->given_count + 1) * sizeof(*chooser->given);
    struct tms_given_schedule *given = realloc(chooser->given, size);
    char *own = strdup(text);

    if (given != NULL) {
        chooser->given = given;
    }
    if (given == NULL || own == NULL) {
        free(own);
        return false;
    }
    given[chooser->given_count++] =
        (struct tms_given_schedule){.text = own, .tries = tries, .shown = shown};
    return true;
}

void tms_chooser_feedback(struct tms_chooser *chooser, const char *text, bool shown)
{
    for (size_t i = 0; i < chooser->given_count; i++) {
        if (strcmp(chooser->given[i].text, text) == 0) {
            chooser->given[i].tries++;
            chooser->given[i].shown += shown;
        }
    }
}

/* The estimated probability that it shows the target, by the rule of succession. */
static double prospect(const struct tms_given_schedule *given)
{
    return given->surest && given->shown == given->tries
               ? 1
               : ((double)given->shown + 1) / ((double)given->tries + 2);
}

static const struct tms_given_schedule *best_given(const struct tms_chooser *chooser)
{
    const struct tms_given_schedule *best = &chooser->given[0];

    for (size_t i = 1; i < chooser->given_count; i++) {
        best = prospect(&chooser->given[i]) > prospect(best) ? &chooser->given[i] : best;
    }
    return best;
}

/* The number k of the guarantee of pct. */
static uint64_t points_of(const struct tms_chooser *chooser)
{
    uint64_t points = chooser->pct_points > 0 ? chooser->pct_points : chooser->points;

    return points > 0 ? points : POINTS;
}

/* ---- the choice ----------------------------------------------------------------------- */

struct tms_choice tms_choose(struct tms_chooser *chooser, const struct tms_hunt *hunt,
                             uint64_t number, uint64_t seed)
{
    enum tms_hunt_strategy strategy = strategy_for(chooser, hunt, number);
    struct tms_choice choice = {.strategy = tms_hunt_strategy_word(strategy)};
    size_t size;

    if (chooser->given != NULL) {
        return (struct tms_choice){"given", strdup(best_given(chooser)->text)};
    }
    FILE *out = open_memstream(&choice.text, &size);
    if (out == NULL) {
        return choice;
    }
    fprintf(out, HEADER "strategy %s\nseed %" PRIu64 "\n", choice.strategy, seed);
    if (strategy == TMS_HUNT_NOISE) {
        fprintf(out, "strength %" PRIu64 "\n", chooser->strength);
    } else if (strategy == TMS_HUNT_PCT) {
        fprintf(out, "depth %d\npoints %" PRIu64 "\n", DEPTH, points_of(chooser));
    } else if (strategy == TMS_HUNT_DIRECTED) {
        write_directed(out, chooser, hunt);
    }
    if (fclose(out) != 0) {
        free(choice.text);
        choice.text = NULL;
    }
    return choice;
}

size_t tms_chooser_windows(const struct tms_chooser *chooser, const char *id)
{
    size_t count = 0;

    for (size_t i = 0; i < chooser->count; i++) {
        count += strcmp(chooser->windows[i].id, id) == 0;
    }
    return count;
}

/* Does the schedule hold threads in a window of this finding? */
bool tms_chooser_is_about(const struct tms_chooser *chooser, const char *schedule, const char *id)
{
    bool about = false;

    for (size_t i = 0; !about && i < chooser->count; i++) {
        const struct tms_hunt_window *window = &chooser->windows[i];
        const char *at = strcmp(window->id, id) == 0 ? strstr(schedule, window->close) : NULL;
        size_t length = strlen(window->close);
        about = at != NULL && (at[length] == ' ' || at[length] == '\n');
    }
    return about;
}

char *tms_chooser_text(const struct tms_chooser *chooser, const char *id, uint64_t seed)
{
    char *text = NULL;
    size_t size, count = 0;
    FILE *out = tms_chooser_windows(chooser, id) > 0 ? open_memstream(&text, &size) : NULL;

    if (out == NULL) {
        return NULL;
    }
    fprintf(out, HEADER "strategy directed\nseed %" PRIu64 "\nbound %d\n", seed, BOUND_MOST);
    for (size_t i = 0; i < chooser->count && count < WINDOWS_OF_ONE; i++) {
        if (strcmp(chooser->windows[i].id, id) == 0) {
            write_window(out, &chooser->windows[i]);
            count++;
        }
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
