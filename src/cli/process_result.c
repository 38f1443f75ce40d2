/* SPDX-License-Identifier: Apache-2.0 */
/* One process of a watched run; see process_result.h. */
#include "cli/process_result.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool make_title(struct tms_process_result *process, const struct tms_watched *watched)
{
    const struct tms_spool_header *header = &process->spool.header;
    const char *slash = strrchr(header->program, '/');

    process->child = header->pid != watched->pid;
    if (!process->child) {
        process->title = strdup(watched->command);
        return process->title != NULL;
    }
    return asprintf(&process->title, "%s, process %d", slash != NULL ? slash + 1 : header->program,
                    header->pid) >= 0;
}

static bool fail(const char *what)
{
    tms_say("%s", what);
    return false;
}

/* In an interim report, processes that have ended are read as usual. */
static bool open_spool(struct tms_process_result *process, const struct tms_watched *watched,
                       const char *path, char reason[TMS_SPOOL_REASON])
{
    struct tms_spool_header header;
    bool running = watched->running && tms_spool_read_header(path, &header) &&
                   (header.pid == watched->pid ? header.state == TMS_SPOOL_RUNNING
                                               : tms_watched_runs(watched, &header));

    return running ? tms_spool_open_running(&process->spool, path, reason)
                   : tms_spool_open(&process->spool, path, reason);
}

bool tms_process_result_open(struct tms_process_result *process, const struct tms_watched *watched,
                             size_t index)
{
    char reason[TMS_SPOOL_REASON];

    *process = (struct tms_process_result){0};
    process->context = tms_context_new(tms_console_complain, NULL);
    if (process->context == NULL) {
        return fail("out of memory");
    }
    if (!open_spool(process, watched, watched->spools[index], reason)) {
        return fail(reason);
    }
    if (index == 0 && watched->unwatched) {
        process->spool.header.lost |= TMS_SPOOL_LOST_PROCESS;
    }
    if (!make_title(process, watched)) {
        process->title = NULL;
        return fail("out of memory");
    }
    if (!process->spool.running && tms_watched_runs(watched, &process->spool.header)) {
        tms_say("%s still runs, and is not reported", process->title);
        return false;
    }
    if (tms_spool_names_open(&process->names, &process->spool, process->context) != TMS_OK) {
        return fail("out of memory");
    }
    return true;
}

void tms_process_result_close(struct tms_process_result *process)
{
    tms_spool_names_close(&process->names);
    tms_spool_close(&process->spool);
    tms_context_free(process->context);
    free(process->title);
}

struct tms_process_result *tms_process_result_new(const struct tms_watched *watched, size_t index)
{
    struct tms_process_result *process = calloc(1, sizeof(*process));

    if (process == NULL) {
        tms_say("out of memory");
        return NULL;
    }
    if (!tms_process_result_open(process, watched, index)) {
        tms_process_result_free(process);
        return NULL;
    }
    return process;
}

void tms_process_result_free(struct tms_process_result *process)
{
    if (process != NULL) {
        tms_process_result_close(process);
    }
    free(process);
}

/* A child has its own clock. */
double tms_process_result_seconds(const struct tms_process_result *process,
                                  const struct tms_watched *watched)
{
    const struct tms_spool_header *header = &process->spool.header;
    struct timespec now;

    if (!process->child || header->started == 0) {
        return watched->seconds;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t end = header->ended != 0 ? header->ended
                                      : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return end > header->started ? (double)(end - header->started) * 1e-9 : 0;
}

/* Libraries with locks of their own, by the start of their names, and what is not seen of them. */
static const struct own_locks {
    const char *library, *what;
} own_locks[] = {
    {"libgomp.so", "the locks, barriers and tasks of OpenMP"},
    {"libomp.so", "the locks, barriers and tasks of OpenMP"},
    {"libiomp5.so", "the locks, barriers and tasks of OpenMP"},
    {"libglib-2.0.so", "the mutexes and conditions of GLib"},
    {"libQt5Core.so", "the mutexes and conditions of Qt"},
    {"libQt6Core.so", "the mutexes and conditions of Qt"},
};

static void warn_of_library(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;

    for (size_t i = 0; i < sizeof(own_locks) / sizeof(own_locks[0]); i++) {
        if (strncmp(name, own_locks[i].library, strlen(own_locks[i].library)) == 0) {
            tms_say_begin();
            tms_console_name(stderr, name);
            fprintf(stderr,
                    " is loaded: %s are not seen, so a prediction that contradicts their "
                    "order can't happen\n",
                    own_locks[i].what);
        }
    }
}

void tms_process_result_warn(const struct tms_process_result *process)
{
    const struct tms_spool_list *modules = &process->spool.lists[TMS_SPOOL_MODULE];
    const struct tms_spool_list *list = &process->spool.lists[TMS_SPOOL_WARNING];

    for (size_t i = 0; i < list->count; i++) {
        const struct tms_spool_warning *warning = (const void *)list->entries[i].record;
        tms_say_begin();
        tms_console_name(stderr, warning->text);
        fputc('\n', stderr);
    }
    for (size_t i = 0; i < modules->count; i++) {
        const struct tms_spool_module *module = (const void *)modules->entries[i].record;
        warn_of_library(module->path);
    }
}

void tms_process_result_bad(const struct tms_process_result *process, int code)
{
    const char *why = tms_error(process->context);

    tms_say("%s: %s", process->title, *why != '\0' ? why : tms_strerror(code));
}

void tms_process_result_advise(const struct tms_watched *watched)
{
    tms_say(
        "no block that is meant to be atomic was seen, so this says nothing about %s: mark blocks "
        "with TMESIS_ATOMIC (tmesis/annotate.h), name functions with --atomic=PATTERN, or include "
        "thread start functions with --atomic=@threads",
        watched->command);
}
