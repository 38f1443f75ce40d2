/* SPDX-License-Identifier: Apache-2.0 */
/* Reports while a program runs; see live_report.h. */
#include "cli/live_report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/watched_run.h"

#define PROCESSES_MOST 1024 /* of a run; further ones are in the report, but are not asked */
#define SECOND         INT64_C(1000000000)

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static uint32_t load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* ---- processes -------------------------------------------------------------------------- */

/* The page that a spool starts with; of another user's process it can't be written. */
static void map_page(struct tms_on_demand_process *process)
{
    struct tms_spool_header header;
    int fd = open(process->path, O_RDWR | O_CLOEXEC);

    process->writable = fd >= 0;
    if (fd < 0) {
        fd = open(process->path, O_RDONLY | O_CLOEXEC);
    }
    if (fd < 0) {
        return;
    }
    void *page = mmap(NULL, TMS_SPOOL_HEADER, PROT_READ | (process->writable ? PROT_WRITE : 0),
                      MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED) {
        return;
    }
    if (tms_spool_read_header(process->path, &header)) {
        process->live = (void *)((char *)page + TMS_SPOOL_LIVE);
    } else {
        munmap(page, TMS_SPOOL_HEADER);
    }
}

static void unmap_page(struct tms_on_demand_process *process)
{
    if (process->live != NULL) {
        munmap((char *)process->live - TMS_SPOOL_LIVE, TMS_SPOOL_HEADER);
    }
    free(process->path);
}

static bool is_known(const struct tms_on_demand *demand, const char *path)
{
    for (size_t i = 0; i < demand->count; i++) {
        if (strcmp(demand->processes[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

/* A file that is being made is taken at the next look. */
static void add_process(struct tms_on_demand *demand, const char *name)
{
    struct tms_on_demand_process process = {0}, *grown;

    if (demand->count == PROCESSES_MOST ||
        asprintf(&process.path, "%s/%s", demand->directory, name) < 0) {
        return;
    }
    if (!is_known(demand, process.path)) {
        map_page(&process);
    }
    size_t size = (demand->count + 1) * sizeof(*grown);
    grown = process.live != NULL ? realloc(demand->processes, size) : NULL;
    if (grown == NULL) {
        unmap_page(&process);
        return;
    }
    demand->processes = grown;
    grown[demand->count++] = process;
}

static bool is_spool(const char *name)
{
    size_t length = strlen(name), ending = strlen(TMS_WATCH_SPOOL_ENDING);

    return length > ending && strcmp(name + length - ending, TMS_WATCH_SPOOL_ENDING) == 0;
}

/* Only if something was added: a run may have very many processes. */
static void find_processes(struct tms_on_demand *demand)
{
    struct timespec time;
    struct stat status;

    clock_gettime(CLOCK_REALTIME, &time);
    if (stat(demand->directory, &status) != 0) {
        return;
    }
    int64_t changed = status.st_mtim.tv_sec * SECOND + status.st_mtim.tv_nsec;
    bool settled = time.tv_sec * SECOND + time.tv_nsec - changed > SECOND;
    if (changed == demand->seen) {
        return;
    }
    demand->seen = settled ? changed : 0; /* clocks of file systems are coarse */
    DIR *directory = opendir(demand->directory);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (is_spool(entry->d_name)) {
            add_process(demand, entry->d_name);
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
}

/* A process that has not answered is not asked again. */
static void ask_for_counts(const struct tms_on_demand_process *process)
{
    struct tms_spool_live *live = process->live;

    if (process->writable && load(&live->published) == load(&live->wanted)) {
        __atomic_fetch_add(&live->wanted, 1, __ATOMIC_RELEASE);
    }
}

static bool has_answered(const struct tms_on_demand_process *process)
{
    return !process->writable || load(&process->live->published) == load(&process->live->wanted);
}

/* ---- reports ---------------------------------------------------------------------------- */

/* Threads that wait do not answer, and then the counts are those of an earlier look. */
static void wait_for_answers(const struct tms_on_demand *demand)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    double end = now() + TMS_ON_DEMAND_ANSWER;

    for (size_t i = 0; i < demand->count && now() < end; i++) {
        while (!has_answered(&demand->processes[i]) && now() < end) {
            nanosleep(&moment, NULL);
        }
    }
}

static void write_report(struct tms_on_demand *demand)
{
    fflush(NULL);
    for (size_t i = 0; i < demand->count; i++) {
        ask_for_counts(&demand->processes[i]);
    }
    pid_t writer = fork();
    if (writer == 0) {
        wait_for_answers(demand);
        demand->report(demand->user, now() - demand->started, demand->late);
        fflush(NULL);
        _exit(0);
    }
    demand->wanted = demand->late = false;
    if (writer < 0) {
        tms_say("can't write a report now: %s", strerror(errno));
        return;
    }
    demand->writer = writer;
    demand->reports++;
}

static void note_wishes(struct tms_on_demand *demand, struct tms_on_demand_process *process)
{
    uint32_t asked = load(&process->live->asked), terminated = load(&process->live->terminated);

    if (asked != process->asked) {
        process->asked = asked;
        demand->wanted = true;
    }
    if (terminated != process->terminated) {
        process->terminated = terminated;
        tms_on_demand_terminated(demand);
    }
}

void tms_on_demand_look(struct tms_on_demand *demand)
{
    find_processes(demand);
    for (size_t i = 0; i < demand->count; i++) {
        note_wishes(demand, &demand->processes[i]);
        ask_for_counts(&demand->processes[i]);
    }
    if (demand->due != 0 && now() >= demand->due) {
        demand->due = 0;
        demand->wanted = demand->late = true;
    }
    if (demand->writer != 0 && waitpid(demand->writer, NULL, WNOHANG) == demand->writer) {
        demand->writer = 0;
    }
    if (demand->wanted && demand->writer == 0) {
        write_report(demand);
    }
}

void tms_on_demand_ask(struct tms_on_demand *demand)
{
    demand->wanted = true;
}

void tms_on_demand_terminated(struct tms_on_demand *demand)
{
    if (demand->due == 0) {
        demand->due = now() + TMS_ON_DEMAND_GRACE;
    }
}

void tms_on_demand_finish(struct tms_on_demand *demand)
{
    if (demand->writer != 0) {
        while (waitpid(demand->writer, NULL, 0) < 0 && errno == EINTR) {
        }
        demand->writer = 0;
    }
    for (size_t i = 0; i < demand->count; i++) {
        unmap_page(&demand->processes[i]);
    }
    free(demand->processes);
    demand->processes = NULL;
    demand->count = 0;
}
