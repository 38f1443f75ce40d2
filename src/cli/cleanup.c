/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removal of temporary files; see cleanup.h. What the handler does is async-signal-safe: no memory
 * is allocated, and directories are read by the system call itself.
 */
#include "cli/cleanup.h"
#include "base/array_length.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATHS_MOST 8

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2};

static struct {
    char path[PATH_MAX];
    volatile sig_atomic_t used; /* set after the path, cleared before it changes */
} kept[PATHS_MOST];

static volatile sig_atomic_t held;
static volatile sig_atomic_t waiting; /* the signal that came while held */
static volatile pid_t owner;          /* a forked child has the table too, but not the files */

/* ---- removal ---------------------------------------------------------------------------- */

/* Removes what the directory holds; true if something was there and went. */
static bool empty_once(int directory)
{
    _Alignas(struct dirent64) char buffer[4096];
    bool removed = false;
    long size;

    lseek(directory, 0, SEEK_SET);
    while ((size = syscall(SYS_getdents64, directory, buffer, sizeof(buffer))) > 0) {
        for (long at = 0; at < size;) {
            const struct dirent64 *entry = (const void *)(buffer + at);
            removed = unlinkat(directory, entry->d_name, 0) == 0 || removed;
            at += entry->d_reclen;
        }
    }
    return removed;
}

static void remove_path(const char *path)
{
    if (unlink(path) == 0 || errno != EISDIR) {
        return;
    }
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory >= 0) {
        while (empty_once(directory)) { /* entries may be passed over while others go */
        }
        close(directory);
    }
    rmdir(path);
}

/* ---- signals ---------------------------------------------------------------------------- */

static void on_signal(int number)
{
    int error = errno;

    if (held > 0) {
        waiting = number;
    } else {
        for (size_t i = 0; i < PATHS_MOST && getpid() == owner; i++) {
            if (kept[i].used) {
                remove_path(kept[i].path);
            }
        }
        signal(number, SIG_DFL);
        raise(number); /* is delivered when this returns */
    }
    errno = error;
}

/* Its being there is enough: a write beyond the limit then fails instead of ending us. */
static void on_limit(int number)
{
    (void)number;
}

/* What the parent ignores (nohup) stays ignored. */
static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}, before;

    sigfillset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
        sigaction(number, &action, NULL);
    }
}

void tms_cleanup_start(void)
{
    owner = getpid();
    for (size_t i = 0; i < TMS_LENGTH(deadly); i++) {
        handle(deadly[i], on_signal);
    }
    handle(SIGXFSZ, on_limit);
}

void tms_cleanup_hold(void)
{
    held++;
}

void tms_cleanup_release(void)
{
    assert(held > 0);
    held--;
    if (held == 0 && waiting != 0) {
        raise(waiting);
    }
}

/* ---- the table -------------------------------------------------------------------------- */

void tms_cleanup_add(const char *path)
{
    size_t i = 0;

    while (i < PATHS_MOST && kept[i].used) {
        i++;
    }
    assert(i < PATHS_MOST && strlen(path) < sizeof(kept[i].path));
    snprintf(kept[i].path, sizeof(kept[i].path), "%s", path);
    kept[i].used = 1;
}

bool tms_cleanup_make_directory(char *template)
{
    tms_cleanup_hold();
    bool made = mkdtemp(template) != NULL;
    if (made) {
        tms_cleanup_add(template);
    }
    int error = errno;
    tms_cleanup_release();
    errno = error;
    return made;
}

void tms_cleanup_forget(const char *path)
{
    for (size_t i = 0; i < PATHS_MOST; i++) {
        if (kept[i].used && strcmp(kept[i].path, path) == 0) {
            kept[i].used = 0;
        }
    }
}

void tms_cleanup_remove(const char *path)
{
    remove_path(path);
    tms_cleanup_forget(path);
}
