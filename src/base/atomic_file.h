/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is written whole or not at all, for the library and the command: the bytes go to a
 * temporary file beside the target, "PATH.PID~", which is renamed at the end. Until then a file
 * that has the name already stays as it is, and after a failure for good.
 *
 * A path that names an open descriptor (/dev/stdout, /dev/fd/3, /proc/self/fd/3) or no regular file
 * (a FIFO, a device) is written as it is: nothing there can be replaced. Symbolic links are
 * followed. A file whose directory takes no new ones is refused: it could only be overwritten.
 */
#ifndef TMS_BASE_ATOMIC_FILE_H
#define TMS_BASE_ATOMIC_FILE_H

#include <limits.h>
#include <stdbool.h>

#define TMS_REPLACE_REASON 256

struct tms_replace {
    int fd;
    char target[PATH_MAX];    /* the path with its links resolved */
    char temporary[PATH_MAX]; /* "": written in place */
};

/* False with the reason, the end of the sentence "PATH can't be written: …". */
bool tms_replace_open(struct tms_replace *replace, const char *path,
                      char reason[TMS_REPLACE_REASON]);

/* Whether tms_replace_open would do, with nothing opened: a FIFO's reader would see an end. */
bool tms_replace_possible(const char *path, char reason[TMS_REPLACE_REASON]);

/* Closes it and gives it its name. False with errno, and then nothing is left of it. */
bool tms_replace_keep(struct tms_replace *replace);

/* Closes it and takes it away. */
void tms_replace_drop(struct tms_replace *replace);

#endif
