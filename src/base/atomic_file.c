/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces files atomically; see atomic_file.h. */
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MOST 40  /* as the kernel follows */
#define TRIES_MOST 100 /* names of temporary files */
#define NAME_SHOWN 200 /* bytes of the target's name in that of the temporary file */

/* The descriptor that a path names, -1: none. Opening that path would truncate the file. */
static int descriptor_of(const char *path)
{
    static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t length = strlen(prefixes[i]);
        const char *number = path + length;
        if (strncmp(path, prefixes[i], length) == 0 && *number != '\0' && strlen(number) < 8 &&
            number[strspn(number, "0123456789")] == '\0') {
            return (int)strtol(number, NULL, 10);
        }
    }
    return -1;
}

/* Replaces a symbolic link by its target; a relative target starts at its directory. */
static bool follow_once(char target[PATH_MAX])
{
    char link[PATH_MAX], joined[PATH_MAX];
    ssize_t length = readlink(target, link, sizeof(link) - 1);
    const char *slash = strrchr(target, '/');
    int directory = slash != NULL ? (int)(slash - target) + 1 : 0;

    if (length < 0) {
        return false;
    }
    link[length] = '\0';
    int written =
        snprintf(joined, sizeof(joined), "%.*s%s", link[0] == '/' ? 0 : directory, target, link);
    if (written < 0 || (size_t)written >= sizeof(joined)) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(target, joined, sizeof(joined));
    return true;
}

/* Resolves the links of the path's last component, which need not exist. False with errno. */
static bool follow(const char *path, char target[PATH_MAX])
{
    struct stat status;

    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(target, PATH_MAX, "%s", path);
    for (int i = 0; i < LINKS_MOST; i++) {
        if (descriptor_of(target) >= 0 || lstat(target, &status) != 0 || !S_ISLNK(status.st_mode)) {
            return true;
        }
        if (!follow_once(target)) {
            return false;
        }
    }
    errno = ELOOP;
    return false;
}

static bool name_temporary(struct tms_replace *replace, int try)
{
    const char *slash = strrchr(replace->target, '/');
    const char *name = slash != NULL ? slash + 1 : replace->target;
    char again[16] = "";

    if (try > 0) {
        snprintf(again, sizeof(again), ".%d", try);
    }
    int length = snprintf(replace->temporary, sizeof(replace->temporary), "%.*s%.*s.%ld%s~",
                          (int)(name - replace->target), replace->target, NAME_SHOWN, name,
                          (long)getpid(), again);
    errno = ENAMETOOLONG;
    return length > 0 && (size_t)length < sizeof(replace->temporary);
}

/*
 * Gives the file the permissions of the old one and, if permitted, its owner or at least its group.
 */
static bool adopt(int fd, const struct stat *old)
{
    bool owned =
        fchown(fd, old->st_uid, old->st_gid) == 0 || fchown(fd, (uid_t)-1, old->st_gid) == 0;

    return fchmod(fd, old->st_mode & (owned ? 0777 : 0707)) == 0;
}

/* `old` is what is replaced, NULL: nothing. */
static bool open_temporary(struct tms_replace *replace, const struct stat *old)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    mode_t mode = old != NULL ? old->st_mode & 0777 : 0666;

    errno = EEXIST;
    for (int i = 0; i < TRIES_MOST && replace->fd < 0 && errno == EEXIST; i++) {
        replace->fd = name_temporary(replace, i) ? open(replace->temporary, flags, mode) : -1;
    }
    if (replace->fd < 0) {
        replace->temporary[0] = '\0';
        return false;
    }
    if (old != NULL && !adopt(replace->fd, old)) {
        tms_replace_drop(replace);
        return false;
    }
    return true;
}

static bool refuse(char reason[TMS_REPLACE_REASON], const char *why)
{
    snprintf(reason, TMS_REPLACE_REASON, "%s%s", why, strerror(errno));
    return false;
}

static bool open_regular(struct tms_replace *replace, const struct stat *old,
                         char reason[TMS_REPLACE_REASON])
{
    if (old != NULL && access(replace->target, W_OK) != 0) {
        return refuse(reason, "");
    }
    if (!open_temporary(replace, old)) {
        return refuse(reason, old != NULL ? "no new file can be created beside it: " : "");
    }
    return true;
}

bool tms_replace_open(struct tms_replace *replace, const char *path,
                      char reason[TMS_REPLACE_REASON])
{
    struct stat status;

    *replace = (struct tms_replace){.fd = -1};
    if (!follow(path, replace->target)) {
        return refuse(reason, "");
    }
    int descriptor = descriptor_of(replace->target);
    if (descriptor >= 0) {
        replace->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    } else if (stat(replace->target, &status) != 0) {
        return errno == ENOENT ? open_regular(replace, NULL, reason) : refuse(reason, "");
    } else if (S_ISREG(status.st_mode)) {
        return open_regular(replace, &status, reason);
    } else {
        replace->fd = open(replace->target, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    }
    return replace->fd >= 0 || refuse(reason, "");
}

bool tms_replace_possible(const char *path, char reason[TMS_REPLACE_REASON])
{
    struct tms_replace replace;
    struct stat status;

    if (stat(path, &status) == 0 && S_ISFIFO(status.st_mode)) {
        return access(path, W_OK) == 0 || refuse(reason, "");
    }
    if (!tms_replace_open(&replace, path, reason)) {
        return false;
    }
    tms_replace_drop(&replace);
    return true;
}

bool tms_replace_keep(struct tms_replace *replace)
{
    bool good = close(replace->fd) == 0;

    if (replace->temporary[0] != '\0') {
        good = good && rename(replace->temporary, replace->target) == 0;
        if (!good) {
            int error = errno;
            unlink(replace->temporary);
            errno = error;
        }
    }
    replace->fd = -1;
    return good;
}

void tms_replace_drop(struct tms_replace *replace)
{
    if (replace->fd >= 0) {
        close(replace->fd);
        replace->fd = -1;
    }
    if (replace->temporary[0] != '\0') {
        unlink(replace->temporary);
        replace->temporary[0] = '\0';
    }
}
