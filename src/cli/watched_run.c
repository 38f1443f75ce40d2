/* SPDX-License-Identifier: Apache-2.0 */
/* Programs watched; see watched_run.h. */
#include "cli/watched_run.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cleanup.h"
#include "cli/elf_probe.h"
#include "cli/launch.h"
#include "cli/live_report.h"
#include "cli/subprocess.h"
#include "hunt/shard.h"
#include "protocol/config.h"

#define SPOOL_ENDING TMS_WATCH_SPOOL_ENDING
#define SPEC_FILE    "specification"
#define SCHEDULE     "schedule"
#define MEMORY_FILES "/dev/shm"
#define ALONG_MOST   (UINT64_C(1) << 28) /* bytes of a recording that the user did not ask for */

/* ---- the directory ----------------------------------------------------------------------- */

/* Is there enough /dev/shm for all but recordings? Containers may have as little as 64 MB. */
static bool has_memory_files(void)
{
    struct statvfs status;

    return access(MEMORY_FILES, W_OK) == 0 && statvfs(MEMORY_FILES, &status) == 0 &&
           (uint64_t)status.f_bavail * status.f_frsize >= 2 * ALONG_MOST;
}

/* Verdicts, and what is recorded along, take little room and fit into memory; recordings may not.
 */
const char *tms_watch_base(const char *mode)
{
    const char *given = getenv(TMS_WATCH_DIRECTORY);
    const char *base = given != NULL ? given : getenv("TMPDIR");

    if (base != NULL && *base != '\0') {
        return base;
    }
    return strcmp(mode, "record") != 0 && has_memory_files() ? MEMORY_FILES : "/tmp";
}

static int make_directory(struct tms_watched *watched, const char *mode)
{
    int length = snprintf(watched->directory, sizeof(watched->directory) - 64, "%s/tmesis-XXXXXX",
                          tms_watch_base(mode));

    if (length < 0 || (size_t)length >= sizeof(watched->directory) - 64 ||
        !tms_cleanup_make_directory(watched->directory)) {
        tms_say("can't create a directory in %s: %s; set TMPDIR to another one",
                tms_watch_base(mode), strerror(errno));
        watched->directory[0] = '\0';
        return TMS_EXIT_WATCH_BAD;
    }
    return TMS_EXIT_OK;
}

static void path_in(const struct tms_watched *watched, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/%.255s", PATH_MAX - 300, watched->directory, name);
}

/* First by name, which also works when no more files can be opened to list them. */
static void remove_directory(const struct tms_watched *watched)
{
    char path[PATH_MAX];

    if (watched->directory[0] == '\0') {
        return;
    }
    for (size_t i = 0; i < watched->spool_count; i++) {
        unlink(watched->spools[i]);
    }
    path_in(watched, SPEC_FILE, path);
    unlink(path);
    path_in(watched, SCHEDULE, path);
    unlink(path);
    tms_cleanup_remove(watched->directory);
}

void tms_watched_free(struct tms_watched *watched)
{
    remove_directory(watched);
    for (size_t i = 0; i < watched->spool_count; i++) {
        free(watched->spools[i]);
    }
    free(watched->spools);
    free(watched->command);
    if (watched->failures >= 0) {
        close(watched->failures);
    }
}

/* ---- what is atomic ---------------------------------------------------------------------- */

static const char *const sources[] = {"@functions", "@threads", "@locks", "@annotations"};

static bool is_source(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        if (strlen(sources[i]) == length && memcmp(sources[i], name, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool names_source(const struct tms_given_value *value)
{
    return value->text[0] == '@' && strcmp(value->option->name, "atomic") == 0;
}

/* Puts "@functions,@locks" together from all --atomic=@…; false after a sentence. */
static bool gather_sources(const struct tms_given *given, char *list, size_t size)
{
    list[0] = '\0';
    for (size_t i = 0; i < given->count; i++) {
        if (!names_source(&given->values[i])) {
            continue;
        }
        for (const char *at = given->values[i].text; *at != '\0';) {
            size_t length = strcspn(at, ",");
            if (!is_source(at, length) || strlen(list) + length + 2 > size) {
                tms_say("--atomic takes a pattern, or @functions, @threads, @locks or "
                        "@annotations, not \"%s\"",
                        given->values[i].text);
                return false;
            }
            snprintf(list + strlen(list), size - strlen(list), "%s%.*s", *list != '\0' ? "," : "",
                     (int)length, at);
            at += length + (at[length] == ',');
        }
    }
    return true;
}

/* A line for the pattern: "#" after a blank would start a comment, and outer blanks would be cut.
 */
static void write_rule(FILE *out, bool atomic, const char *pattern)
{
    size_t length = strlen(pattern);

    fputs(atomic ? "atomic " : "not-atomic ", out);
    for (size_t i = 0; i < length; i++) {
        bool blank = pattern[i] == ' ' && (i == 0 || i + 1 == length);
        bool comment = pattern[i] == '#' && (i == 0 || pattern[i - 1] == ' ');
        fputs(blank || comment ? "\\" : "", out);
        fputc((unsigned char)pattern[i] < ' ' ? '?' : pattern[i], out);
    }
    fputc('\n', out);
}

static int write_rules(const struct tms_rules *rules, const char *path)
{
    FILE *out = rules->spec != NULL ? fopen(path, "we") : NULL;
    const char *pattern;
    bool atomic;

    if (rules->spec == NULL) {
        return TMS_EXIT_OK;
    }
    for (size_t i = 0; out != NULL && (pattern = tms_spec_rule(rules->spec, i, &atomic)) != NULL;
         i++) {
        write_rule(out, atomic, pattern);
    }
    if (out == NULL || fclose(out) != 0) {
        tms_say("%s can't be written: %s", path, strerror(errno));
        return TMS_EXIT_WATCH_BAD;
    }
    return TMS_EXIT_OK;
}

/* The rules that are patterns, read and written out again as one file for the runtime. */
static int pass_rules(const struct tms_given *given, const char *path, bool *written)
{
    struct tms_given_value *values = calloc(given->count + 1, sizeof(*values));
    struct tms_given patterns = {.values = values};
    struct tms_rules rules = {0};

    if (values == NULL) {
        tms_say("out of memory");
        return TMS_EXIT_WATCH_BAD;
    }
    for (size_t i = 0; i < given->count; i++) {
        if (!names_source(&given->values[i])) {
            values[patterns.count++] = given->values[i];
        }
    }
    int status = tms_rules_open(&rules, &patterns);
    status = status == TMS_EXIT_OK ? write_rules(&rules, path) : TMS_EXIT_WATCH_BAD;
    *written = rules.spec != NULL;
    tms_rules_close(&rules);
    free(values);
    return status;
}

const char *tms_word_memory(size_t index)
{
    static const char *const words[] = {"on", "off"};

    return index < 2 ? words[index] : NULL;
}

/* ---- the configuration of the runtime ------------------------------------------------- */

/* The variables of src/protocol/config.h, and the storage of their texts. */
struct runtime_config {
    struct tms_rt_config config;
    char spool[PATH_MAX], spec[PATH_MAX], schedule[PATH_MAX], atomic[128], size[24], seed[24],
        report_on[12], predict[24];
};

bool tms_watch_seed(const struct tms_maybe *perturb, uint64_t *seed)
{
    struct timespec time;
    char *end = NULL;

    if (perturb->value == NULL) {
        clock_gettime(CLOCK_REALTIME, &time);
        *seed = ((uint64_t)time.tv_nsec ^ ((uint64_t)getpid() << 20)) % 1000000;
        return true;
    }
    errno = 0;
    *seed = strtoull(perturb->value, &end, 10);
    if (*end != '\0' || errno != 0 || strspn(perturb->value, "0123456789") == 0 ||
        *seed > TMS_SEED_MOST) {
        tms_say("--perturb takes a whole number up to %llu, not \"%s\"",
                (unsigned long long)TMS_SEED_MOST, perturb->value);
        return false;
    }
    return true;
}

/* A program may go to another directory before it starts a child: the schedule is copied. */
static int configure_schedule(struct runtime_config *runtime, struct tms_watched *watched,
                              const struct tms_watching *watching)
{
    if (watching->perturb.given) {
        if (!tms_watch_seed(&watching->perturb, &watched->seed)) {
            return TMS_EXIT_WATCH_BAD;
        }
        snprintf(runtime->seed, sizeof(runtime->seed), "%llu", (unsigned long long)watched->seed);
        runtime->config.perturb = runtime->seed;
    }
    if (watching->schedule != NULL) {
        watched->seed = watching->schedule->schedule.seed;
        path_in(watched, SCHEDULE, runtime->schedule);
        runtime->config.schedule = runtime->schedule;
        return tms_chosen_schedule_write(watching->schedule, runtime->schedule)
                   ? TMS_EXIT_OK
                   : TMS_EXIT_WATCH_BAD;
    }
    return TMS_EXIT_OK;
}

static int configure(struct runtime_config *runtime, struct tms_watched *watched,
                     const struct tms_watching *watching, const struct tms_manner *manner)
{
    bool along = strcmp(manner->mode, "along") == 0;
    uint64_t size = watching->max_size != 0 ? watching->max_size : along ? ALONG_MOST : 0;
    bool has_spec;

    path_in(watched, "%p" SPOOL_ENDING, runtime->spool);
    path_in(watched, SPEC_FILE, runtime->spec);
    runtime->config.spool = runtime->spool;
    runtime->config.split = watching->split;
    runtime->config.full = watching->full ? "1" : NULL;
    runtime->config.exact_races = watching->exact_races ? "1" : NULL;
    runtime->config.memory =
        watching->memory != NULL && strcmp(watching->memory, "off") == 0 ? "0" : NULL;
    if (!gather_sources(&watching->rules, runtime->atomic, sizeof(runtime->atomic)) ||
        pass_rules(&watching->rules, runtime->spec, &has_spec) != TMS_EXIT_OK) {
        return TMS_EXIT_WATCH_BAD;
    }
    runtime->config.spec = has_spec ? runtime->spec : NULL;
    runtime->config.atomic = runtime->atomic[0] != '\0' ? runtime->atomic : NULL;
    if (size != 0) {
        snprintf(runtime->size, sizeof(runtime->size), "%llu", (unsigned long long)size);
        runtime->config.max_size = runtime->size;
    }
    if (manner->predict != 0) {
        snprintf(runtime->predict, sizeof(runtime->predict), "%u", manner->predict);
        runtime->config.predict = runtime->predict;
    }
    if (manner->report_inside) {
        snprintf(runtime->report_on, sizeof(runtime->report_on), "%d", manner->report_signal);
        runtime->config.report_on = runtime->report_on;
    }
    return configure_schedule(runtime, watched, watching);
}

/* ---- spools ------------------------------------------------------------------------------- */

static long process_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strtol(slash != NULL ? slash + 1 : path, NULL, 10);
}

/* Programs of one process in the order of exec: N.spool, N.2.spool, … N.10.spool. */
static int by_process(const void *a, const void *b)
{
    const char *one = *(char *const *)a, *two = *(char *const *)b;
    long x = process_of(one), y = process_of(two);
    size_t length = strlen(one), other = strlen(two);

    return x != y            ? (x > y) - (x < y)
           : length != other ? (length > other) - (length < other)
                             : strcmp(one, two);
}

static bool add_spool(struct tms_watched *watched, const char *name)
{
    char path[PATH_MAX];
    char **grown = realloc(watched->spools, (watched->spool_count + 1) * sizeof(*grown));

    if (grown == NULL) {
        return false;
    }
    watched->spools = grown;
    path_in(watched, name, path);
    grown[watched->spool_count] = strdup(path);
    watched->spool_count += grown[watched->spool_count] != NULL;
    return true;
}

/* The program's own spool comes first, whatever its number. */
static void put_own_first(struct tms_watched *watched)
{
    for (size_t i = 1; i < watched->spool_count; i++) {
        if (process_of(watched->spools[i]) == watched->pid &&
            process_of(watched->spools[0]) != watched->pid) {
            char *own = watched->spools[i];
            memmove(&watched->spools[1], &watched->spools[0], i * sizeof(*watched->spools));
            watched->spools[0] = own;
        }
    }
}

static int find_spools(struct tms_watched *watched)
{
    DIR *directory = opendir(watched->directory);
    const struct dirent *entry;
    size_t ending = strlen(SPOOL_ENDING);
    bool good = directory != NULL;

    while (good && (entry = readdir(directory)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length > ending && strcmp(entry->d_name + length - ending, SPOOL_ENDING) == 0) {
            good = add_spool(watched, entry->d_name);
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    if (!good) {
        tms_say("%s can't be read: %s", watched->directory, strerror(errno));
        return TMS_EXIT_WATCH_BAD;
    }
    if (watched->spool_count > 0) {
        qsort(watched->spools, watched->spool_count, sizeof(*watched->spools), by_process);
        put_own_first(watched);
    }
    return TMS_EXIT_OK;
}

/* ---- processes that left none ---------------------------------------------------------------- */

/* Without it a program runs as well, but a process that can't be watched may go unnoticed. */
static void open_failures(struct tms_watched *watched, const char *spool)
{
    struct sockaddr_un address;
    socklen_t length = tms_rt_failure_address(spool, &address);

    watched->failures = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (watched->failures >= 0 &&
        bind(watched->failures, (const struct sockaddr *)&address, length) != 0) {
        close(watched->failures);
        watched->failures = -1;
    }
}

static void read_failures(struct tms_watched *watched)
{
    char why[TMS_SPOOL_MESSAGE];
    ssize_t length;

    while (watched->failures >= 0 &&
           (length = recv(watched->failures, why, sizeof(why) - 1, 0)) >= 0) {
        why[length] = '\0';
        tms_say_begin();
        tms_console_name(stderr, why);
        fputc('\n', stderr);
        watched->unwatched = true;
    }
}

bool tms_watched_runs(const struct tms_watched *watched, const struct tms_spool_header *header)
{
    return header->pid != watched->pid && header->state == TMS_SPOOL_RUNNING && header->pid > 0 &&
           (kill(header->pid, 0) == 0 || errno == EPERM);
}

/*
 * A program that was started without our variables runs unwatched; that matters only if it is one
 * that could have been watched.
 */
static void look_at_strays(struct tms_watched *watched, const char *path)
{
    struct tms_spool spool;
    char reason[TMS_SPOOL_REASON];
    const struct tms_spool_list *list = &spool.lists[TMS_SPOOL_EXEC];

    if (tms_spool_open(&spool, path, reason)) {
        for (size_t i = 0; i < list->count; i++) {
            const struct tms_spool_exec *record = (const void *)list->entries[i].record;
            if (tms_binary_kind(record->path) == TMS_BINARY_WATCHED) {
                tms_say_begin();
                tms_console_name(stderr, record->path);
                fputs(" was started with an environment that lacks the variables of tmesis, so it "
                      "was not watched\n",
                      stderr);
                watched->unwatched = true;
            }
        }
    }
    tms_spool_close(&spool);
}

/*
 * A child of fork whose spool is missing could not make one, or has not come so far; what one that
 * still runs will do is not known either.
 */
static void count_processes(struct tms_watched *watched)
{
    uint64_t made = 0, found = 0;
    bool running = false;

    for (size_t i = 0; i < watched->spool_count; i++) {
        struct tms_spool_header header;
        if (tms_spool_read_header(watched->spools[i], &header)) {
            made += header.forks;
            found += header.forked != 0;
            if (header.strays > 0) {
                look_at_strays(watched, watched->spools[i]);
            }
            running = running || tms_watched_runs(watched, &header);
        }
    }
    if (found < made && !watched->unwatched) {
        tms_say("%llu of %llu child processes left no recording, so nothing is known about them",
                (unsigned long long)(made - found), (unsigned long long)made);
        watched->unwatched = true;
    }
    watched->unwatched = watched->unwatched || running; /* reported in its turn */
}

/* ---- all of it ---------------------------------------------------------------------------- */

static int no_spool(const char *program)
{
    tms_say("%s was not built with tmesis cc, so there was nothing to watch: build it with "
            "`tmesis cc` or `tmesis c++` instead of the compiler, and see tmesis doctor if "
            "it was; or check only its locks with tmesis run --engine sidetrack",
            program);
    return TMS_EXIT_WATCH_BAD;
}

static bool write_command(struct tms_watched *watched, const struct tms_operands *operands)
{
    size_t size;
    FILE *out = open_memstream(&watched->command, &size);

    if (out != NULL) {
        tms_words_write(out, operands->text, operands->count);
    }
    if (out == NULL || fclose(out) != 0) {
        tms_say("out of memory");
        return false;
    }
    return true;
}

static int no_privileges(const char *program)
{
    tms_say("%s is set-user-ID or set-group-ID, and such a program ignores the environment "
            "variables that configure the runtime: watch a copy without these bits, or run tmesis "
            "as its owner",
            program);
    return TMS_EXIT_WATCH_BAD;
}

/* A report that is asked for while the program runs. */
struct interim {
    struct tms_watched *watched;
    const struct tms_manner *manner;
};

static void report_interim(void *user, double seconds, bool late)
{
    const struct interim *interim = user;
    struct tms_watched *watched = interim->watched;

    watched->running = true;
    watched->late = late;
    watched->seconds = seconds;
    if (find_spools(watched) == TMS_EXIT_OK && watched->spool_count > 0) {
        interim->manner->report(interim->manner->user);
    } else {
        tms_say("there is nothing to report yet");
    }
}

static int start(struct tms_watched *watched, const struct tms_rt_config *config,
                 const struct tms_manner *manner, const struct tms_operands *operands)
{
    struct interim interim = {watched, manner};
    struct tms_on_demand demand = {.directory = watched->directory,
                                   .signal = manner->report_signal,
                                   .report = report_interim,
                                   .user = &interim};
    struct tms_launch launch = {.config = config,
                                .preload = manner->preload,
                                .demand = manner->report != NULL ? &demand : NULL};
    int status;

    if (tms_binary_kind(operands->text[0]) == TMS_BINARY_PRIVILEGED) {
        return no_privileges(operands->text[0]);
    }
    if (!tms_launch(operands, &launch, &watched->pid, &status, &watched->seconds)) {
        return TMS_EXIT_WATCH_BAD;
    }
    watched->reports = demand.reports;
    watched->signalled = WIFSIGNALED(status);
    watched->status = watched->signalled ? TMS_EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
    read_failures(watched);
    int found = find_spools(watched);
    if (found != TMS_EXIT_OK || watched->spool_count > 0) {
        count_processes(watched);
        return found;
    }
    return watched->unwatched ? TMS_EXIT_WATCH_BAD : no_spool(operands->text[0]);
}

int tms_watch(struct tms_watched *watched, const struct tms_watching *watching,
              const struct tms_manner *manner, const struct tms_operands *operands)
{
    struct runtime_config *runtime = calloc(1, sizeof(*runtime));

    *watched = (struct tms_watched){.failures = -1};
    if (runtime == NULL) {
        tms_say("out of memory");
        return TMS_EXIT_WATCH_BAD;
    }
    int status = write_command(watched, operands) ? make_directory(watched, manner->mode)
                                                  : TMS_EXIT_WATCH_BAD;
    if (status == TMS_EXIT_OK) {
        runtime->config.mode = manner->mode;
        runtime->config.blame = manner->blame ? NULL : "0";
        runtime->config.judge = manner->judges ? "1" : NULL;
        status = configure(runtime, watched, watching, manner);
    }
    if (status == TMS_EXIT_OK) {
        open_failures(watched, runtime->spool);
        status = start(watched, &runtime->config, manner, operands);
    }
    free(runtime);
    return status;
}
