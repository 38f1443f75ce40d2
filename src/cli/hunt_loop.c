/* SPDX-License-Identifier: Apache-2.0 */
/* Many runs of a program; see hunt_loop.h. */
#include "cli/hunt_loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/hunt_environment.h"
#include "cli/hunt_progress.h"
#include "cli/hunt_trial.h"
#include "cli/watched_run.h"
#include "hunt/failure_text.h"
#include "hunt/run_json.h"
#include "hunt/run_record.h"

#define RUN_LIMIT_FIRST                                                                            \
    60.0                     /* seconds of the first run, if there is no --timeout and no --time   \
                              */
#define RUN_LIMIT_LEAST 10.0 /* of the others: seconds, or a multiple of the first */
#define RUN_LIMIT_TIMES 10.0
#define TICK            250000000L /* nanoseconds between looks at the clock */

/* A run that is going on. */
struct slot {
    struct tms_trial trial; /* .supervisor 0: none */
    struct tms_words words;
    char directory[PATH_MAX], json[PATH_MAX], schedule[PATH_MAX], spools[PATH_MAX];
    uint64_t index, seed;
    struct tms_choice choice; /* its schedule */
};

struct loop {
    struct tms_hunting *hunting;
    struct slot *slots;
    sigset_t blocked, before;
    struct tms_hunt_progress progress;
    uint64_t started, ended; /* runs */
    uint64_t quiet;          /* runs since the last that showed something new */
    double first;            /* seconds that the first run took; 0: none has ended */
    double began;
    bool ending; /* no more runs are to start */
    bool failed; /* memory is short, or processes can't be started */
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool say_unless(bool good, const char *reason)
{
    if (!good) {
        tms_say("%s", reason);
    }
    return good;
}

/* ---- preparation ----------------------------------------------------------------------- */

static json_t *list_of(const char *const *words, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; list != NULL && i < count; i++) {
        if (json_array_append_new(list, tms_json_text_of(words[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

/* How this hunt is made, as the result says it. */
static json_t *describe(const struct tms_hunting_plan *plan)
{
    char directory[PATH_MAX];
    const char *here = getcwd(directory, sizeof(directory)) != NULL ? directory : ".";
    bool whole = plan->runs > 0 && plan->quiet_runs == 0 && !plan->until_observed;
    json_t *planned = whole ? json_integer((json_int_t)plan->runs) : json_null();

    return json_pack("{s:o, s:o, s:s, s:I, s:s, s:I, s:o, s:I}", "program",
                     list_of(plan->program->text, plan->program->count), "options",
                     list_of((const char *const *)plan->options->text, plan->options->count),
                     "directory", here, "seed", (json_int_t)plan->seed, "strategy",
                     tms_hunt_strategy_word(plan->strategy), "strength", (json_int_t)plan->strength,
                     "planned", planned, "shards", (json_int_t)plan->shard.count);
}

/* Schedules that are not to be chosen. */
static bool take_given(struct tms_hunting *hunting)
{
    const struct tms_chooser *given = hunting->plan->given;
    bool good = true;

    for (size_t i = 0; good && given != NULL && i < given->given_count; i++) {
        const struct tms_given_schedule *one = &given->given[i];
        good = tms_chooser_give(&hunting->chooser, one->text, one->tries, one->shown);
    }
    return good;
}

static bool make_hunt(struct tms_hunting *hunting)
{
    json_t *entry = describe(hunting->plan);

    hunting->key = entry != NULL ? tms_hunt_key(entry) : NULL;
    if (!tms_hunt_init(&hunting->hunt) || hunting->key == NULL ||
        !tms_chooser_learn(&hunting->chooser, hunting->plan->source) || !take_given(hunting) ||
        !tms_hunt_made(&hunting->hunt, hunting->key, entry)) {
        tms_say("out of memory");
        return false;
    }
    return true;
}

static bool make_work(struct tms_hunting *hunting)
{
    const char *base = tms_watch_base("check");
    int length = snprintf(hunting->work, sizeof(hunting->work) - 64, "%s/tmesis-hunt-XXXXXX", base);

    if (length < 0 || (size_t)length >= sizeof(hunting->work) - 64 ||
        mkdtemp(hunting->work) == NULL) {
        tms_say("can't create a directory in %s: %s; set TMPDIR to another one", base,
                strerror(errno));
        hunting->work[0] = '\0';
        return false;
    }
    return true;
}

/* ".tmesis/hunt-20261118-021503-4711", or what was asked for. */
static bool make_store(struct tms_hunting *hunting)
{
    const struct tms_hunting_plan *plan = hunting->plan;
    char path[PATH_MAX], reason[TMS_HUNT_REASON];
    struct tm parts;
    time_t seconds = time(NULL);

    if (!plan->keep) {
        snprintf(path, sizeof(path), "%.*s/result", PATH_MAX - 64, hunting->work);
    } else if (plan->output != NULL) {
        snprintf(path, sizeof(path), "%s", plan->output);
    } else {
        char day[32] = "";
        if (gmtime_r(&seconds, &parts) != NULL) {
            strftime(day, sizeof(day), "%Y%m%d-%H%M%S", &parts);
        }
        snprintf(path, sizeof(path), ".tmesis/hunt-%s-%ld", day, (long)getpid());
    }
    return say_unless(tms_hunt_directory_create(&hunting->directory, path, reason), reason);
}

/* False after a sentence. */
static bool save(const struct tms_hunting *hunting, bool partial)
{
    char reason[TMS_HUNT_REASON];

    return say_unless(
        tms_hunt_directory_write_result(&hunting->directory, &hunting->hunt, partial, reason),
        reason);
}

/* From the start there is a result that can be merged, if it has no runs yet. */
static bool save_environment(struct tms_hunting *hunting)
{
    char reason[TMS_HUNT_REASON];
    json_t *environment = tms_hunt_environment();
    bool good =
        tms_hunt_directory_write_json(&hunting->directory, "environment.json", environment, reason);

    json_decref(environment);
    return say_unless(good, reason) && save(hunting, true);
}

/* ---- starting a run ------------------------------------------------------------------------- */

static void add_format(struct tms_words *words, const char *format, const char *text)
{
    char word[PATH_MAX + 64];

    snprintf(word, sizeof(word), format, text);
    tms_words_add(words, word);
}

static bool make_words(const struct loop *loop, struct slot *slot)
{
    const struct tms_hunting_plan *plan = loop->hunting->plan;
    char self[PATH_MAX];

    if (!tms_program_self(self, sizeof(self))) {
        tms_say("/proc/self/exe can't be read: %s", strerror(errno));
        return false;
    }
    tms_words_add(&slot->words, self);
    tms_words_add(&slot->words, "run");
    tms_words_add(&slot->words, "--quiet");
    add_format(&slot->words, "--json=%s", slot->json);
    add_format(&slot->words, "--schedule=%s", slot->schedule);
    for (size_t i = 0; i < plan->options->count; i++) {
        tms_words_add(&slot->words, plan->options->text[i]);
    }
    tms_words_add(&slot->words, "--");
    for (size_t i = 0; i < plan->program->count; i++) {
        tms_words_add(&slot->words, plan->program->text[i]);
    }
    return say_unless(!slot->words.failed, "out of memory");
}

static bool write_text(const char *path, const char *text)
{
    FILE *out = fopen(path, "we");

    if (out != NULL) {
        fputs(text, out);
    }
    return out != NULL && fclose(out) == 0;
}

static bool make_slot(const struct loop *loop, struct slot *slot, uint64_t index)
{
    const char *work = loop->hunting->work;

    slot->index = index;
    slot->seed = tms_run_seed(loop->hunting->plan->seed, index);
    snprintf(slot->directory, sizeof(slot->directory), "%.*s/%llu", PATH_MAX - 64, work,
             (unsigned long long)index);
    snprintf(slot->json, sizeof(slot->json), "%.*s/json", PATH_MAX - 16, slot->directory);
    snprintf(slot->spools, sizeof(slot->spools), "%.*s/spools", PATH_MAX - 16, slot->directory);
    snprintf(slot->schedule, sizeof(slot->schedule), "%.*s/schedule", PATH_MAX - 16,
             slot->directory);
    slot->choice =
        tms_choose(&loop->hunting->chooser, &loop->hunting->hunt, loop->started, slot->seed);
    if (slot->choice.text == NULL) {
        tms_say("out of memory");
        return false;
    }
    if (mkdir(slot->directory, 0700) != 0 || mkdir(slot->spools, 0700) != 0 ||
        !write_text(slot->schedule, slot->choice.text)) {
        tms_say("%s can't be written: %s", slot->directory, strerror(errno));
        return false;
    }
    return make_words(loop, slot);
}

/* Seconds that a run may take. */
static double limit_of(const struct loop *loop)
{
    const struct tms_hunting_plan *plan = loop->hunting->plan;

    if (plan->run_limit > 0) {
        return plan->run_limit;
    }
    if (loop->first > 0) {
        double limit = loop->first * RUN_LIMIT_TIMES;
        return limit > RUN_LIMIT_LEAST ? limit : RUN_LIMIT_LEAST;
    }
    return plan->seconds > 0 ? plan->seconds / 2 : RUN_LIMIT_FIRST;
}

static bool start_run(struct loop *loop, struct slot *slot)
{
    uint64_t index = tms_shard_run(&loop->hunting->plan->shard, loop->started);
    bool good = make_slot(loop, slot, index);
    struct tms_trial_plan plan = {.words = &slot->words,
                                  .input = loop->hunting->input,
                                  .directory = slot->spools,
                                  .limit = limit_of(loop)};

    good = good && tms_trial_start(&slot->trial, &plan, &loop->before);
    loop->started++;
    return good;
}

static void free_slot(struct slot *slot)
{
    tms_trial_free(&slot->trial);
    tms_words_free(&slot->words);
    free(slot->choice.text);
    if (slot->directory[0] != '\0') {
        tms_remove_tree(slot->directory);
    }
    *slot = (struct slot){0};
}

/* ---- the end of a run ------------------------------------------------------------------------ */

/* How the program ended: as its own result says, or else as `tmesis run` did. */
static struct tms_outcome outcome_of(const struct tms_trial_outcome *trial, const json_t *result)
{
    const json_t *end = json_object_get(result, "exit");
    struct tms_outcome outcome = {
        .kind = TMS_OUTCOME_UNWATCHED,
        .status = (int)json_integer_value(json_object_get(end, "status")),
        .signal = (int)json_integer_value(json_object_get(end, "signal")),
        .seconds = trial->seconds,
    };

    if (trial->timed_out) {
        outcome.kind = TMS_OUTCOME_TIMEOUT;
    } else if (end != NULL) {
        outcome.kind = outcome.signal != 0   ? TMS_OUTCOME_SIGNAL
                       : outcome.status != 0 ? TMS_OUTCOME_STATUS
                                             : TMS_OUTCOME_OK;
    } else if (trial->started &&
               WIFSIGNALED(trial->status)) { /* the program sent it to its group */
        outcome.kind = TMS_OUTCOME_SIGNAL;
        outcome.signal = WTERMSIG(trial->status);
    }
    return outcome;
}

/* The error message of a `tmesis run` that wrote no result. */
static void say_unwatched(const char *said, size_t length)
{
    static const char prefix[] = "tmesis: ";

    if (length == 0) {
        tms_say("the program could not be run and watched");
    }
    for (const char *line = said; line < said + length;) {
        size_t size = strcspn(line, "\n");
        bool ours = size > strlen(prefix) && strncmp(line, prefix, strlen(prefix)) == 0;
        char text[512];
        snprintf(text, sizeof(text), "%.*s", (int)(ours ? size - strlen(prefix) : size),
                 ours ? line + strlen(prefix) : line);
        tms_say("%s", text);
        line += size + 1;
    }
}

/* Says once that the result could not be kept. */
static void note_saved(struct tms_hunting *hunting, bool good, const char *reason)
{
    if (!good && !hunting->unsaved) {
        tms_say("%s; the hunt goes on without it", reason);
        hunting->unsaved = true;
    }
}

static void keep_run(struct loop *loop, const struct slot *slot, const json_t *record,
                     const char *said, size_t length)
{
    struct tms_hunting *hunting = loop->hunting;
    char reason[TMS_HUNT_REASON];

    note_saved(hunting, tms_hunt_directory_add_run(&hunting->directory, record, reason), reason);
    if (tms_record_failed(record)) {
        bool good =
            tms_hunt_directory_add_log(&hunting->directory, slot->index, said, length, reason);
        note_saved(hunting, good, reason);
    }
}

/* Takes the record over. */
static void take_record(struct loop *loop, json_t *record, const json_t *result)
{
    struct tms_hunting *hunting = loop->hunting;
    char reason[TMS_HUNT_REASON];
    enum tms_news news = tms_hunt_add(&hunting->hunt, record, result);

    loop->ended++;
    loop->quiet = news == TMS_NEWS_SOME ? 0 : loop->quiet + 1;
    loop->failed =
        loop->failed || news == TMS_NEWS_FAILED || !tms_chooser_learn(&hunting->chooser, result);
    if (news == TMS_NEWS_SOME) {
        bool good =
            tms_hunt_directory_write_result(&hunting->directory, &hunting->hunt, true, reason);
        note_saved(hunting, good, reason);
    }
}

/* How the schedule did, if it is one of several that are given. */
static void give_feedback(struct loop *loop, const struct slot *slot, const json_t *record)
{
    const struct tms_hunting_plan *plan = loop->hunting->plan;

    if (plan->target_count > 0) {
        tms_chooser_feedback(&loop->hunting->chooser, slot->choice.text,
                             tms_record_shows(record, plan->targets[0]));
    }
}

/* A run that was stopped says nothing. */
static void take_outcome(struct loop *loop, const struct slot *slot)
{
    const struct tms_trial_outcome *trial = slot->trial.outcome;
    json_t *result = tms_run_json(slot->json);
    struct tms_outcome outcome = outcome_of(trial, result);
    char *said = calloc(1, TMS_TRIAL_SAID + 1), text[TMS_FAILURE_TEXT] = "";
    size_t length = said != NULL ? tms_trial_said(&slot->trial, said) : 0;
    struct tms_run_origin origin = {.hunt = loop->hunting->key,
                                    .index = slot->index,
                                    .seed = slot->seed,
                                    .strategy = slot->choice.strategy,
                                    .schedule = slot->choice.text};

    if (loop->ended == 0 && outcome.kind == TMS_OUTCOME_UNWATCHED) {
        say_unwatched(said != NULL ? said : "", length);
        loop->hunting->unusable = loop->ending = true;
    } else if (said != NULL) {
        if (outcome.kind != TMS_OUTCOME_OK) {
            tms_failure_text(said, length, text);
            outcome.text = text;
        }
        loop->first = loop->first > 0 ? loop->first : trial->seconds;
        json_t *record = tms_run_record(&origin, &outcome, result);
        loop->failed = loop->failed || record == NULL;
        if (record != NULL) {
            keep_run(loop, slot, record, said, length);
            give_feedback(loop, slot, record);
            take_record(loop, record, result);
        }
    }
    free(said);
    json_decref(result);
}

/* ---- the loop ------------------------------------------------------------------------------ */

static bool is_done(const struct loop *loop)
{
    const struct tms_hunting_plan *plan = loop->hunting->plan;
    bool done = plan->until_observed;

    for (size_t i = 0; i < plan->target_count; i++) {
        done = done && tms_hunt_observed(&loop->hunting->hunt, plan->targets[i]);
    }
    return done;
}

/* Is there a run left that may be started? */
static bool may_start(const struct loop *loop)
{
    const struct tms_hunting_plan *plan = loop->hunting->plan;

    return !loop->ending && !loop->failed && !is_done(loop) &&
           (plan->runs == 0 || loop->started < tms_shard_share(&plan->shard, plan->runs)) &&
           (plan->quiet_runs == 0 || loop->quiet < plan->quiet_runs) &&
           (loop->ended > 0 ||
            loop->started == 0); /* the first one says whether it can be watched */
}

static void start_runs(struct loop *loop)
{
    for (uint64_t i = 0; i < loop->hunting->plan->jobs && may_start(loop); i++) {
        if (loop->slots[i].trial.supervisor == 0 && !start_run(loop, &loop->slots[i])) {
            loop->failed = true;
            free_slot(&loop->slots[i]);
        }
    }
}

static bool is_running(const struct loop *loop)
{
    for (uint64_t i = 0; i < loop->hunting->plan->jobs; i++) {
        if (loop->slots[i].trial.supervisor != 0) {
            return true;
        }
    }
    return false;
}

static void reap(struct loop *loop)
{
    pid_t child;

    while ((child = waitpid(-1, NULL, WNOHANG)) > 0) {
        for (uint64_t i = 0; i < loop->hunting->plan->jobs; i++) {
            struct slot *slot = &loop->slots[i];
            if (slot->trial.supervisor == child) {
                if (!slot->trial.outcome->stopped) {
                    take_outcome(loop, slot);
                }
                free_slot(slot);
            }
        }
    }
}

static void stop_runs(struct loop *loop)
{
    loop->ending = true;
    for (uint64_t i = 0; i < loop->hunting->plan->jobs; i++) {
        tms_trial_stop(&loop->slots[i].trial);
    }
}

/* Waits for something to happen, but not long. */
static void wait_a_while(struct loop *loop)
{
    static const struct timespec tick = {.tv_nsec = TICK};
    const struct tms_hunting_plan *plan = loop->hunting->plan;
    int number = sigtimedwait(&loop->blocked, NULL, &tick);
    bool over = plan->seconds > 0 && now() - loop->began >= plan->seconds;

    if (number > 0 && number != SIGCHLD) {
        loop->hunting->interrupted = true;
        stop_runs(loop);
    } else if (over && !loop->ending) {
        stop_runs(loop);
    }
}

static void show_progress(struct loop *loop)
{
    const struct tms_hunting_plan *plan = loop->hunting->plan;
    struct tms_hunt_counts counts = tms_hunt_count(&loop->hunting->hunt);

    tms_hunt_progress_step(&loop->progress, &counts, tms_shard_share(&plan->shard, plan->runs),
                           plan->seconds);
}

static void hunt(struct loop *loop)
{
    loop->began = now();
    tms_hunt_progress_start(&loop->progress, loop->hunting->plan->common);
    while (may_start(loop) || is_running(loop)) {
        start_runs(loop);
        if (is_running(loop)) {
            wait_a_while(loop);
        }
        reap(loop);
        show_progress(loop);
    }
    tms_hunt_progress_hide(&loop->progress);
    loop->hunting->seconds = now() - loop->began;
}

/* What came meanwhile has been taken note of, or comes too late. */
static void release_signals(struct loop *loop)
{
    static const struct timespec at_once = {0};

    while (sigtimedwait(&loop->blocked, NULL, &at_once) > 0) {
    }
    sigprocmask(SIG_SETMASK, &loop->before, NULL);
}

static void block_signals(struct loop *loop)
{
    static const int numbers[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};

    sigemptyset(&loop->blocked);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        sigaddset(&loop->blocked, numbers[i]);
    }
    signal(SIGCHLD, SIG_DFL); /* an inherited SIG_IGN would lose the end of runs */
    sigprocmask(SIG_BLOCK, &loop->blocked, &loop->before);
}

/* Nothing was run: there is no result to keep. */
static void drop_store(struct tms_hunting *hunting)
{
    if (hunting->directory.path[0] != '\0') {
        tms_remove_tree(hunting->directory.path);
    }
}

int tms_hunting_run(struct tms_hunting *hunting, const struct tms_hunting_plan *plan)
{
    struct loop loop = {.hunting = hunting, .slots = calloc(plan->jobs, sizeof(*loop.slots))};

    *hunting = (struct tms_hunting){
        .plan = plan,
        .directory = {.runs = -1, .lock = -1},
        .chooser = {.strategy = plan->strategy,
                    .strength = plan->strength,
                    .targets = plan->targets,
                    .target_count = plan->target_count},
    };
    block_signals(&loop);
    bool good = say_unless(loop.slots != NULL, "out of memory") && make_hunt(hunting) &&
                make_work(hunting) && make_store(hunting) && save_environment(hunting) &&
                tms_hunt_input(plan->input, hunting->directory.path, &loop.blocked, hunting->input);
    if (good) {
        hunt(&loop);
        if (loop.failed) {
            tms_say("the hunt ends early");
        }
    }
    if (good && loop.ended > 0) {
        hunting->unsaved = !save(hunting, false) || hunting->unsaved;
    } else {
        drop_store(hunting);
    }
    release_signals(&loop);
    free(loop.slots);
    return good && !hunting->unusable ? TMS_EXIT_OK : TMS_EXIT_BAD;
}

void tms_hunting_free(struct tms_hunting *hunting)
{
    if (hunting->work[0] != '\0') {
        tms_remove_tree(hunting->work);
    }
    tms_hunt_directory_close(&hunting->directory);
    tms_chooser_clear(&hunting->chooser);
    tms_hunt_clear(&hunting->hunt);
    free(hunting->key);
}
