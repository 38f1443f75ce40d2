/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are there whole or not at all; see new_file.h. */
#include "cli/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/console.h"

/* The names that it has before and after; false if it must be written in place. */
static bool choose_names(struct tms_new_file *file, mode_t *mode)
{
    struct stat status;

    *mode = 0;
    if (strlen(file->path) >= sizeof(file->target)) {
        return false;
    }
    if (stat(file->path, &status) != 0) {
        snprintf(file->target, sizeof(file->target), "%s", file->path);
    } else if (!S_ISREG(status.st_mode) || access(file->path, W_OK) != 0 ||
               realpath(file->path, file->target) == NULL) {
        return false;
    } else {
        *mode = status.st_mode & 0777;
    }
    snprintf(file->temporary, sizeof(file->temporary), "%s.%ld~", file->target, (long)getpid());
    return true;
}

static FILE *open_temporary(struct tms_new_file *file)
{
    mode_t mode;

    if (!choose_names(file, &mode)) {
        return NULL;
    }
    int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        return NULL;
    }
    FILE *out = mode == 0 || fchmod(fd, mode) == 0 ? fdopen(fd, "w") : NULL;
    if (out == NULL) {
        close(fd);
        unlink(file->temporary);
    }
    return out;
}

int tms_new_file_open(struct tms_new_file *file, const char *path)
{
    *file = (struct tms_new_file){.path = path};
    if (path == NULL || strcmp(path, "-") == 0) {
        file->path = "standard output";
        file->out = stdout;
        return TMS_EXIT_OK;
    }
    file->out = open_temporary(file);
    if (file->out == NULL) {
        file->temporary[0] = '\0';
        file->out = fopen(path, "w");
    }
    return file->out != NULL ? TMS_EXIT_OK
                             : tms_bad("%s can't be written: %s", path, strerror(errno));
}

int tms_new_file_close(struct tms_new_file *file)
{
    int status = tms_console_flush(file->out, file->path);

    if (file->out == stdout || status != TMS_EXIT_OK) {
        tms_new_file_abandon(file);
        return status;
    }
    bool closed = fclose(file->out) == 0;
    file->out = NULL;
    if (closed && (file->temporary[0] == '\0' || rename(file->temporary, file->target) == 0)) {
        return TMS_EXIT_OK;
    }
    status = tms_bad("%s could not be written: %s", file->path, strerror(errno));
    if (file->temporary[0] != '\0') {
        unlink(file->temporary);
    }
    return status;
}

void tms_new_file_abandon(struct tms_new_file *file)
{
    if (file->out != NULL && file->out != stdout) {
        fclose(file->out);
        if (file->temporary[0] != '\0') {
            unlink(file->temporary);
        }
    }
    file->out = NULL;
}

bool tms_same_file(const char *a, const char *b)
{
    struct stat one, two;

    return stat(a, &one) == 0 && stat(b, &two) == 0 && S_ISREG(one.st_mode) &&
           one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}
