/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of the runtime, the command's configuration, warnings. */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "protocol/config.h"
#include "runtime/core/coverage.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/functions.h"
#include "runtime/core/heap_blocks.h"
#include "runtime/core/judge_online.h"
#include "runtime/core/kernel_channels.h"
#include "runtime/core/live_counts.h"
#include "runtime/core/open_blocks.h"
#include "runtime/core/predict_online.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/sites.h"
#include "runtime/core/sync_objects.h"
#include "runtime/core/thread_registry.h"
#include "runtime/core/violations.h"
#include "runtime/core/window_learning.h"
#include "runtime/shadow/races.h"
#include "runtime/shadow/shadow.h"
#include "runtime/spool/spool_writer.h"

#define WARNINGS 64

extern void *__libc_stack_end;

static struct tms_rt_config config;
static _Atomic int started; /* 0: no, 1: starting, 2: yes */
static _Atomic int finished;

/* ---- warnings --------------------------------------------------------------------------- */

static struct {
    struct tms_rt_mutex lock;
    uint64_t hash[WARNINGS];
    unsigned count;
} warnings;

struct warning {
    const char *format;
    va_list arguments;
};

static void warn(void *argument)
{
    struct warning *warning = argument;
    char text[TMS_SPOOL_MESSAGE];
    uint64_t hash = 1;

    vsnprintf(text, sizeof(text), warning->format, warning->arguments);
    for (const char *c = text; *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    }
    tms_rt_mutex_lock(&warnings.lock);
    assert(warnings.count <= WARNINGS);
    bool known = warnings.count == WARNINGS;
    for (unsigned i = 0; i < warnings.count; i++) {
        known = known || warnings.hash[i] == hash;
    }
    if (!known) {
        warnings.hash[warnings.count++] = hash;
    }
    tms_rt_mutex_unlock(&warnings.lock);
    size_t length = strlen(text) + 1;
    struct tms_spool_warning *record =
        known ? NULL : tms_rt_spool_record(TMS_SPOOL_WARNING, sizeof(*record) + length);
    if (record != NULL) {
        memcpy(record->text, text, length);
    }
}

void tms_rt_warn(const char *format, ...)
{
    struct warning warning = {.format = format};

    va_start(warning.arguments, format);
    tms_rt_call_deep(warn, &warning);
    va_end(warning.arguments);
}

/* ---- start ------------------------------------------------------------------------------ */

/* A set-user-ID program ignores the environment. */
static void read_config(void)
{
    if (getauxval(AT_SECURE) != 0) {
        return;
    }
#define X(field, name, meaning) config.field = getenv("TMESIS_RT_" name);
    TMS_RT_CONFIG(X)
#undef X
}

static uint64_t number(const char *text)
{
    return text == NULL ? 0 : strtoull(text, NULL, 10);
}

/* The bounds of the first thread's stack, which can grow up to the limit. */
static void find_stack(struct tms_rt_thread *t)
{
    struct rlimit limit;
    uintptr_t high = ((uintptr_t)__libc_stack_end | 4095) + 1;
    uint64_t most = UINT64_C(1) << 30;

    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < most) {
        most = limit.rlim_cur;
    }
    t->stack_low = high - most;
    t->stack_high = high;
}

static bool has_source(const char *word)
{
    return config.atomic != NULL && strstr(config.atomic, word) != NULL;
}

static bool functions_are_blocks(void)
{
    return config.atomic == NULL || has_source("@functions") || has_source("@threads");
}

static void describe_blocks(void)
{
    char *text = tms_rt_spool_header()->block_source;

    const char *what =
        tms_rt_rules_name_blocks() ? "Assumed atomic: the blocks that the specification names"
        : has_source("@threads")
            ? "Assumed atomic: every function, also thread start functions, except main, functions "
              "that wait, and functions that return holding different locks than on entry"
        : functions_are_blocks()
            ? "Assumed atomic: every function except main, thread start functions, functions that "
              "wait, and functions that return holding different locks than on entry"
        : has_source("@locks") ? "Assumed atomic: critical sections and annotated blocks"
                               : "Assumed atomic: annotated blocks";
    snprintf(text, TMS_SPOOL_MESSAGE, "%s%s", what,
             config.spec != NULL && !tms_rt_rules_name_blocks()
                 ? "; the specification excludes some"
                 : "");
}

static uint32_t mode(void)
{
    return (tms_rt_mode.records ? TMS_RT_RECORD : TMS_RT_CHECK) |
           (tms_rt_mode.full ? TMS_RT_FULL : 0) |
           (tms_rt_mode.records_sync && !tms_rt_mode.records ? TMS_RT_RECORD_SYNC : 0) |
           (TMS_RT_NAMELESS      ? TMS_RT_LOCKS_ONLY
            : tms_rt_mode.memory ? 0
                                 : TMS_RT_NO_MEMORY);
}

static bool watch(void)
{
    bool along = config.mode != NULL && strcmp(config.mode, "along") == 0;
    bool record = config.mode != NULL && strcmp(config.mode, "record") == 0;
    bool blame = config.blame == NULL || strcmp(config.blame, "0") != 0;

    tms_rt_mode.memory = config.memory == NULL || strcmp(config.memory, "0") != 0;
    if (!tms_rt_spool_open(config.spool, number(config.max_size)) || !tms_rt_shadow_start() ||
        !tms_rt_clocks_start() || !tms_rt_engine_start(blame) ||
        !tms_rt_predict_start((unsigned)number(config.predict))) {
        return false;
    }
    tms_rt_mode.records = record;
    tms_rt_mode.records_sync = record || along;
    tms_rt_mode.exact_races = config.exact_races != NULL && strcmp(config.exact_races, "0") != 0;
    tms_rt_mode.full = config.full != NULL && strcmp(config.full, "0") != 0;
    tms_rt_mode.judges = config.judge != NULL && strcmp(config.judge, "0") != 0;
    if (tms_rt_mode.judges) {
        tms_rt_judge_start();
    }
    if (!tms_rt_schedule_start(config.schedule, config.perturb)) {
        return false;
    }
    tms_rt_mode.special = tms_rt_mode.full || tms_rt_mode.scheduled;
    tms_rt_spool_header()->mode = mode();
    tms_rt_report_signal = (int)number(config.report_on);
    if (!tms_rt_functions_start(config.spec, functions_are_blocks(), has_source("@threads"))) {
        return false;
    }
    tms_rt_blocks_start(config.atomic, config.split);
    describe_blocks();
    struct tms_rt_thread *t = tms_rt_registry_start();
    if (t == NULL || !tms_rt_predict_first(t)) {
        return false;
    }
    find_stack(t);
    tms_rt_name_thread(t, "main");
    tms_rt_mode.checks = true;
    tms_rt_set_self(t);
    return true;
}

/* Tells the command, if it still runs, that this process is not watched. */
static void give_up(int error)
{
    struct sockaddr_un address;
    char why[TMS_SPOOL_MESSAGE];
    socklen_t length = tms_rt_failure_address(config.spool, &address);
    int line = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY); /* if there is a file already */
    snprintf(why, sizeof(why), "process %d could not be watched: %s", (int)getpid(),
             error != 0 ? strerrordesc_np(error)
                        : "no address space is left for the runtime's memory");
    if (line >= 0) {
        sendto(line, why, strlen(why), 0, (const struct sockaddr *)&address, length);
        close(line);
    }
}

static void start(void *unused)
{
    (void)unused;
    read_config();
    errno = 0;
    if (config.spool != NULL && !TMS_RT_SUPERFLUOUS() && !watch()) {
        give_up(errno);
    }
}

void tms_rt_start(void)
{
    int not_yet = 0;

    if (atomic_compare_exchange_strong(&started, &not_yet, 1)) {
        tms_rt_call_deep(start, NULL);
        atomic_store(&started, 2);
    }
}

/* ---- end -------------------------------------------------------------------------------- */

static void settle_deep(void *argument)
{
    struct tms_spool_header *header = tms_rt_spool_header();
    const char *how = argument;

    assert(header != NULL);
    if (strncmp(how, "signal", 6) == 0) {
        tms_rt_dying = true; /* locks may never be released again */
    } else {
        tms_rt_functions_finish();
    }
    tms_rt_engine_settle();
    tms_rt_windows_finish();
    tms_rt_judge_finish();
    tms_rt_registry_count(header);
    tms_rt_coverage_count((void *)((char *)header + TMS_SPOOL_LIVE));
    snprintf(header->how, sizeof(header->how), "%s", how);
    header->ended = tms_rt_monotonic_time();
    __atomic_store_n(&header->state, TMS_SPOOL_DONE, __ATOMIC_RELEASE);
}

static void settle(const char *how)
{
    if (tms_rt_spool_header() != NULL) {
        tms_rt_call_deep(settle_deep, (void *)(uintptr_t)how);
    }
}

void tms_rt_finish(const char *how)
{
    struct tms_rt_thread *t = tms_rt_enter();

    if (atomic_exchange(&finished, 1) == 0) {
        settle(how);
        tms_rt_set_self(NULL); /* the thread is no longer watched */
    }
    if (t != NULL) {
        tms_rt_leave(t);
    }
}

/* Runs after everything that the program does at exit. */
__attribute__((destructor(101))) static void at_exit(void)
{
    tms_rt_finish("exit");
}

static bool has_config(char *const *environment)
{
    static const char name[] = "TMESIS_RT_SPOOL=";

    for (; environment != NULL && *environment != NULL; environment++) {
        if (strncmp(*environment, name, sizeof(name) - 1) == 0) {
            return true;
        }
    }
    return false;
}

void tms_rt_exec_notes(const char *path, char *const *environment)
{
    struct tms_spool_header *header = tms_rt_spool_header();

    if (header == NULL || path == NULL || has_config(environment)) {
        return;
    }
    size_t length = strlen(path) + 1;
    struct tms_spool_exec *record = tms_rt_spool_record(TMS_SPOOL_EXEC, sizeof(*record) + length);
    if (record != NULL) {
        memcpy(record->path, path, length);
    }
    __atomic_fetch_add(&header->strays, 1, __ATOMIC_RELAXED);
}

void tms_rt_exec_begins(void)
{
    settle("exec");
}

void tms_rt_exec_failed(void)
{
    struct tms_spool_header *header = tms_rt_spool_header();

    if (header != NULL) {
        __atomic_store_n(&header->state, TMS_SPOOL_RUNNING, __ATOMIC_RELEASE);
    }
}

void tms_rt_fork_begins(void)
{
    struct tms_spool_header *header = tms_rt_spool_header();

    if (header != NULL) {
        __atomic_fetch_add(&header->forks, 1, __ATOMIC_RELAXED);
    }
}

void tms_rt_fork_fails(void)
{
    struct tms_spool_header *header = tms_rt_spool_header();

    if (header != NULL) {
        __atomic_fetch_sub(&header->forks, 1, __ATOMIC_RELAXED);
    }
}

static void restart(void *argument)
{
    struct tms_rt_thread *t = argument;
    bool blame = config.blame == NULL || strcmp(config.blame, "0") != 0;
    assert(config.spool != NULL && t == tms_rt_self);
    tms_rt_mutex_restart(&warnings.lock);
    warnings.count = 0;
    tms_rt_shadow_restart();
    tms_rt_clocks_restart();
    tms_rt_channels_restart();
    tms_rt_races_restart();
    tms_rt_objects_restart();
    tms_rt_heap_restart();
    tms_rt_violations_restart();
    tms_rt_sites_restart();
    if (tms_rt_mode.judges) {
        tms_rt_judge_start();
    }
    errno = 0;
    if (!tms_rt_spool_open(config.spool, number(config.max_size)) || !tms_rt_engine_start(blame) ||
        !tms_rt_predict_restart() || !tms_rt_functions_restart()) {
        give_up(errno);
        return;
    }
    tms_rt_spool_header()->mode = mode();
    tms_rt_schedule_restart();
    describe_blocks();
    tms_rt_registry_restart(t);
}

void tms_rt_forked(struct tms_rt_thread *t)
{
    assert(t == NULL || t->inside == 1);
    tms_rt_memory_restart();
    tms_rt_stacks_restart();
    TMS_RT_RESTART_STACKS();
    if (t == NULL || !tms_rt_mode.checks) {
        tms_rt_mode.checks = false;
    } else {
        tms_rt_call_deep(restart, t);
    }
}

void tms_rt_stop_watching(unsigned loss)
{
    if (tms_rt_mode.checks) {
        tms_rt_record_loss(loss);
    }
}
