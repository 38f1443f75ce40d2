/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory that a hunt leaves (docs/user/hunting.md):
 *
 *     result.json        the merged result (merged_json.h)
 *     runs.jsonl         a record for each run, a line each (run_record.h)
 *     schedules/ID       the schedule of the first run that showed the finding
 *     logs/run-INDEX.txt what a program that failed said last on standard error
 *     environment.json   where it was made
 *     input              a copy of standard input, if it was a file or a pipe
 *
 * Files are replaced atomically (base/atomic_file.h), except runs.jsonl: lines are appended to it,
 * and a truncated last line is skipped. One writer creates a directory; a process that changes an
 * existing one holds its lock.
 */
#ifndef TMS_HUNT_HUNT_DIRECTORY_H
#define TMS_HUNT_HUNT_DIRECTORY_H

#include <limits.h>

#include "hunt/hunt_result.h"

#define TMS_HUNT_REASON 512

struct tms_hunt_directory {
    char path[PATH_MAX]; /* "": not open */
    int runs;            /* descriptor of runs.jsonl, -1: none */
    int lock;            /* descriptor of the directory, -1: none */
    unsigned logs;       /* that were written */
};

/* The most logs that are kept. */
#define TMS_HUNT_LOGS 50

/*
 * Creates the directory, which must not exist, and its parents. False with a sentence; call
 * tms_hunt_directory_close in both cases.
 */
bool tms_hunt_directory_create(struct tms_hunt_directory *directory, const char *path,
                               char reason[TMS_HUNT_REASON]);

/*
 * Opens an existing one, to add to it. False with a sentence, also if another process has it open.
 */
bool tms_hunt_directory_open(struct tms_hunt_directory *directory, const char *path,
                             char reason[TMS_HUNT_REASON]);

void tms_hunt_directory_close(struct tms_hunt_directory *directory);

/* Appends a record. On failure returns false with a sentence, and the file is unchanged. */
bool tms_hunt_directory_add_run(struct tms_hunt_directory *directory, const json_t *record,
                                char reason[TMS_HUNT_REASON]);
bool tms_hunt_directory_write_json(const struct tms_hunt_directory *directory, const char *name,
                                   const json_t *object, char reason[TMS_HUNT_REASON]);
bool tms_hunt_directory_write(const struct tms_hunt_directory *directory, const char *name,
                              const char *bytes, size_t length, char reason[TMS_HUNT_REASON]);

/* Writes result.json and, unless it is partial, the schedules of judged findings. */
bool tms_hunt_directory_write_result(const struct tms_hunt_directory *directory,
                                     const struct tms_hunt *hunt, bool partial,
                                     char reason[TMS_HUNT_REASON]);

/* Writes the last output of a failed program; does nothing once there are enough logs. */
bool tms_hunt_directory_add_log(struct tms_hunt_directory *directory, uint64_t index,
                                const char *bytes, size_t length, char reason[TMS_HUNT_REASON]);

/* An object as one line of text, which the caller frees. NULL for NULL and if out of memory. */
char *tms_json_line(const json_t *object);

/* Writes a JSON file anywhere. */
bool tms_json_write(const char *path, const json_t *object, char reason[TMS_HUNT_REASON]);

/*
 * Reads a result into an empty hunt: a directory, or the path of its result.json. False with a
 * sentence.
 */
bool tms_hunt_directory_load(struct tms_hunt *hunt, const char *path, char reason[TMS_HUNT_REASON]);

/* The path of the JSON file of a result: of a directory its result.json, else the path itself. */
void tms_hunt_directory_json_path(const char *path, char json[PATH_MAX]);

/* The path of the runs.jsonl beside such a JSON file, there or not; false: it is too long. */
bool tms_hunt_directory_runs_path(const char *json, char runs[PATH_MAX]);

#endif
