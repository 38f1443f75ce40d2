/* SPDX-License-Identifier: Apache-2.0 */
/* One process of a watched run; see process_result.h. */
#include "cli/process_result.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool make_title(struct tms_remains *remains, const struct tms_watched *watched)
{
    const struct tms_spool_header *header = &remains->spool.header;
    const char *slash = strrchr(header->program, '/');

    remains->child = header->pid != watched->pid;
    if (!remains->child) {
        remains->title = strdup(watched->command);
        return remains->title != NULL;
    }
    return asprintf(&remains->title, "%s, process %d", slash != NULL ? slash + 1 : header->program,
                    header->pid) >= 0;
}

static bool fail(const char *what)
{
    tms_say("%s", what);
    return false;
}

/* In an interim report, processes that have ended are read as usual. */
static bool open_spool(struct tms_remains *remains, const struct tms_watched *watched,
                       const char *path, char reason[TMS_SPOOL_REASON])
{
    struct tms_spool_header header;
    bool running = watched->running && tms_spool_read_header(path, &header) &&
                   (header.pid == watched->pid ? header.state == TMS_SPOOL_RUNNING
                                               : tms_watched_runs(watched, &header));

    return running ? tms_spool_open_running(&remains->spool, path, reason)
                   : tms_spool_open(&remains->spool, path, reason);
}

bool tms_remains_open(struct tms_remains *remains, const struct tms_watched *watched, size_t index)
{
    char reason[TMS_SPOOL_REASON];

    *remains = (struct tms_remains){0};
    remains->context = tms_context_new(tms_console_complain, NULL);
    if (remains->context == NULL) {
        return fail("out of memory");
    }
    if (!open_spool(remains, watched, watched->spools[index], reason)) {
        return fail(reason);
    }
    if (index == 0 && watched->unwatched) {
        remains->spool.header.lost |= TMS_SPOOL_LOST_PROCESS;
    }
    if (!make_title(remains, watched)) {
        remains->title = NULL;
        return fail("out of memory");
    }
    if (!remains->spool.running && tms_watched_runs(watched, &remains->spool.header)) {
        tms_say("%s still runs, and is not reported", remains->title);
        return false;
    }
    if (tms_spool_names_open(&remains->names, &remains->spool, remains->context) != TMS_OK) {
        return fail("out of memory");
    }
    return true;
}

void tms_remains_close(struct tms_remains *remains)
{
    tms_spool_names_close(&remains->names);
    tms_spool_close(&remains->spool);
    tms_context_free(remains->context);
    free(remains->title);
}

struct tms_remains *tms_remains_new(const struct tms_watched *watched, size_t index)
{
    struct tms_remains *remains = calloc(1, sizeof(*remains));

    if (remains == NULL) {
        tms_say("out of memory");
        return NULL;
    }
    if (!tms_remains_open(remains, watched, index)) {
        tms_remains_free(remains);
        return NULL;
    }
    return remains;
}

void tms_remains_free(struct tms_remains *remains)
{
    if (remains != NULL) {
        tms_remains_close(remains);
    }
    free(remains);
}

/* A child has its own clock. */
double tms_remains_seconds(const struct tms_remains *remains, const struct tms_watched *watched)
{
    const struct tms_spool_header *header = &remains->spool.header;
    struct timespec now;

    if (!remains->child || header->started == 0) {
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

void tms_remains_warn(const struct tms_remains *remains)
{
    const struct tms_spool_list *modules = &remains->spool.lists[TMS_SPOOL_MODULE];
    const struct tms_spool_list *list = &remains->spool.lists[TMS_SPOOL_WARNING];

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

void tms_remains_bad(const struct tms_remains *remains, int code)
{
    const char *why = tms_error(remains->context);

    tms_say("%s: %s", remains->title, *why != '\0' ? why : tms_strerror(code));
}

void tms_remains_advise(const struct tms_watched *watched)
{
    tms_say(
        "no block that is meant to be atomic was seen, so this says nothing about %s: mark blocks "
        "with TMESIS_ATOMIC (tmesis/annotate.h), name functions with --atomic=PATTERN, or include "
        "thread start functions with --atomic=@threads",
        watched->command);
}
