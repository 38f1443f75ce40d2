/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic replacement of a file, for the library and the command: the data is written to a temporary
 * file in the same directory, "PATH.PID~", which is renamed at the end. An existing file is
 * unchanged until then, and after a failure.
 *
 * A path that names an open descriptor (/dev/stdout, /dev/fd/3, /proc/self/fd/3) or is not a
 * regular file (a FIFO, a device) is written directly, as it cannot be replaced. Symbolic links are
 * followed. A file in a directory that is not writable is refused, as it could only be overwritten.
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

/*
 * Would tms_replace_open succeed? Opens nothing, since the reader of a FIFO would see an end of
 * file.
 */
bool tms_replace_possible(const char *path, char reason[TMS_REPLACE_REASON]);

/*
 * Closes the file and renames it to its target. False with errno, and then nothing is left of it.
 */
bool tms_replace_keep(struct tms_replace *replace);

/* Closes the file and removes it. */
void tms_replace_drop(struct tms_replace *replace);

#endif
