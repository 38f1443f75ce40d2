/* SPDX-License-Identifier: Apache-2.0 */
/* The files that commands write; see output_file.h. */
#include "cli/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cleanup.h"
#include "cli/spec_options.h"

static bool is_standard_output(const char *path)
{
    return path == NULL || strcmp(path, "-") == 0;
}

static int cannot(const char *path, const char *reason)
{
    return tms_bad("%s can't be written: %s", path, reason);
}

/* ---- writing ---------------------------------------------------------------------------- */

int tms_new_file_open(struct tms_new_file *file, const char *path)
{
    char reason[TMS_REPLACE_REASON];

    *file = (struct tms_new_file){.replace.fd = -1};
    if (is_standard_output(path)) {
        file->path = "standard output";
        file->fd = STDOUT_FILENO;
        return TMS_EXIT_OK;
    }
    tms_cleanup_hold();
    bool good = tms_replace_open(&file->replace, path, reason);
    if (good && file->replace.temporary[0] != '\0') {
        tms_cleanup_add(file->replace.temporary);
    }
    tms_cleanup_release();
    file->path = good ? path : NULL;
    file->fd = file->replace.fd;
    return good ? TMS_EXIT_OK : cannot(path, reason);
}

int tms_new_file_open_text(struct tms_new_file *file, const char *path)
{
    int status = tms_new_file_open(file, path);

    if (status == TMS_EXIT_OK && file->fd == STDOUT_FILENO) {
        file->stream.out = stdout;
    } else if (status == TMS_EXIT_OK && !tms_stream_open(&file->stream, file->fd)) {
        tms_new_file_abandon(file);
        status = tms_bad("out of memory");
    }
    return status;
}

int tms_new_file_possible(const char *path)
{
    char reason[TMS_REPLACE_REASON];

    if (is_standard_output(path)) {
        return TMS_EXIT_OK;
    }
    tms_cleanup_hold();
    bool good = tms_replace_possible(path, reason);
    tms_cleanup_release();
    return good ? TMS_EXIT_OK : cannot(path, reason);
}

int tms_new_file_close(struct tms_new_file *file)
{
    if (file->fd == STDOUT_FILENO) {
        file->path = NULL;
        return tms_console_flush();
    }
    if (file->stream.out != NULL && tms_stream_close(&file->stream, file->path) != TMS_EXIT_OK) {
        tms_new_file_abandon(file);
        return TMS_EXIT_BAD;
    }
    bool good = tms_replace_keep(&file->replace);
    int error = errno;
    tms_cleanup_forget(file->replace.temporary);
    const char *path = file->path;
    file->path = NULL;
    return good ? TMS_EXIT_OK : tms_bad("%s could not be written: %s", path, strerror(error));
}

void tms_new_file_abandon(struct tms_new_file *file)
{
    char temporary[PATH_MAX];

    if (file->path == NULL) {
        return;
    }
    file->path = NULL;
    if (file->stream.out != NULL && file->stream.out != stdout) {
        fclose(file->stream.out);
    }
    memcpy(temporary, file->replace.temporary, sizeof(temporary));
    tms_replace_drop(&file->replace);
    tms_cleanup_forget(temporary);
}

/* ---- what must not be replaced ---------------------------------------------------------- */

/* What a path names: a regular file, or the place in a directory where one would be created. */
struct place {
    dev_t device;
    ino_t inode;
    const char *name; /* NULL: the file is there */
};

/* False if there is nothing to lose: a pipe, a device, no such directory. */
static bool find_place(const char *path, int standard, struct place *place)
{
    const char *slash = strrchr(path, '/');
    struct stat status;
    bool there = strcmp(path, "-") == 0 ? fstat(standard, &status) == 0 : stat(path, &status) == 0;

    place->name = NULL;
    if (!there) {
        char directory[PATH_MAX] = ".";
        int length = slash != NULL ? (int)(slash - path) + 1 : 0;
        if (length > 0) {
            snprintf(directory, sizeof(directory), "%.*s", length, path);
        }
        place->name = slash != NULL ? slash + 1 : path;
        there = stat(directory, &status) == 0;
    } else if (!S_ISREG(status.st_mode)) {
        return false;
    }
    place->device = status.st_dev;
    place->inode = status.st_ino;
    return there;
}

static bool is_same(const struct place *a, const struct place *b)
{
    bool names =
        a->name == NULL || b->name == NULL ? a->name == b->name : strcmp(a->name, b->name) == 0;

    return names && a->device == b->device && a->inode == b->inode;
}

static bool spares(const char *output, const char *input)
{
    struct place to, from;

    if (!find_place(output, STDOUT_FILENO, &to) || !find_place(input, STDIN_FILENO, &from) ||
        !is_same(&to, &from)) {
        return true;
    }
    tms_say("%s and %s are the same file; write to another one",
            strcmp(input, "-") == 0 ? "standard input" : input,
            strcmp(output, "-") == 0 ? "standard output" : output);
    return false;
}

bool tms_new_file_spares(const char *output, const struct tms_operands *inputs,
                         const struct tms_given *rules)
{
    const char *to = output != NULL ? output : "-";
    bool good = true;

    for (size_t i = 0; inputs != NULL && i < inputs->count && good; i++) {
        good = spares(to, inputs->text[i]);
    }
    for (size_t i = 0; rules != NULL && i < rules->count && good; i++) {
        good = !tms_given_file(&rules->values[i]) || spares(to, rules->values[i].text);
    }
    return good;
}

bool tms_new_file_twice(const char *a, const char *b)
{
    struct place one, two;

    if (is_standard_output(a) || is_standard_output(b)) {
        return is_standard_output(a) && is_standard_output(b);
    }
    return find_place(a, STDOUT_FILENO, &one) && find_place(b, STDOUT_FILENO, &two) &&
           is_same(&one, &two);
}
