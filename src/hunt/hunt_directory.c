/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a hunt; see hunt_directory.h. */
#include "hunt/hunt_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/parent_directories.h"
#include "hunt/merged_json.h"
#include "hunt/run_record.h"

#define RESULT "result.json"
#define RUNS   "runs.jsonl"

__attribute__((format(printf, 2, 3))) static bool fail(char reason[TMS_HUNT_REASON],
                                                       const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason, TMS_HUNT_REASON, format, arguments);
    va_end(arguments);
    return false;
}

static bool fail_memory(char reason[TMS_HUNT_REASON])
{
    return fail(reason, "out of memory");
}

static bool join(char path[PATH_MAX], const char *directory, const char *name)
{
    int length = snprintf(path, PATH_MAX, "%s/%s", directory, name);

    return length > 0 && length < PATH_MAX;
}

/* ---- directories -------------------------------------------------------------------------- */

static bool make_parts(const char *path)
{
    static const char *const parts[] = {"schedules", "logs"};
    char part[PATH_MAX];
    bool good = true;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        good = good && join(part, path, parts[i]) && (mkdir(part, 0777) == 0 || errno == EEXIST);
    }
    return good;
}

/* Locks the directory, and opens runs.jsonl. */
static bool open_parts(struct tms_hunt_directory *directory, char reason[TMS_HUNT_REASON])
{
    char path[PATH_MAX];

    directory->lock = open(directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory->lock < 0) {
        return fail(reason, "%s can't be opened: %s", directory->path, strerror(errno));
    }
    if (flock(directory->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return fail(reason, "%s is being written by another process", directory->path);
    }
    directory->runs = join(path, directory->path, RUNS)
                          ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                          : -1;
    if (directory->runs < 0 || !make_parts(directory->path)) {
        return fail(reason, "%s can't be written: %s", directory->path, strerror(errno));
    }
    return true;
}

bool tms_hunt_directory_create(struct tms_hunt_directory *directory, const char *path,
                               char reason[TMS_HUNT_REASON])
{
    char failed[PATH_MAX];

    *directory = (struct tms_hunt_directory){.runs = -1, .lock = -1};
    if (!tms_make_parent_directories(path, failed)) {
        return fail(reason, "the directory %.300s can't be made: %s", failed, strerror(errno));
    }
    if (strlen(path) + 64 >= PATH_MAX || mkdir(path, 0777) != 0) {
        return fail(reason, "the directory %.300s can't be made: %s", path,
                    errno == EEXIST ? "it is there already" : strerror(errno));
    }
    snprintf(directory->path, sizeof(directory->path), "%s", path);
    return open_parts(directory, reason);
}

bool tms_hunt_directory_open(struct tms_hunt_directory *directory, const char *path,
                             char reason[TMS_HUNT_REASON])
{
    *directory = (struct tms_hunt_directory){.runs = -1, .lock = -1};
    snprintf(directory->path, sizeof(directory->path), "%s", path);
    return open_parts(directory, reason);
}

void tms_hunt_directory_close(struct tms_hunt_directory *directory)
{
    if (directory->runs >= 0) {
        close(directory->runs);
    }
    if (directory->lock >= 0) {
        close(directory->lock);
    }
    *directory = (struct tms_hunt_directory){.runs = -1, .lock = -1};
}

/* ---- writing ------------------------------------------------------------------------------ */

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static bool replace_file(const char *path, const char *bytes, size_t length,
                         char reason[TMS_HUNT_REASON])
{
    struct tms_replace replace;
    char why[TMS_REPLACE_REASON];

    if (!tms_replace_open(&replace, path, why)) {
        return fail(reason, "%.200s can't be written: %s", path, why);
    }
    if (!write_all(replace.fd, bytes, length)) {
        int error = errno;
        tms_replace_drop(&replace);
        return fail(reason, "%.200s could not be written: %s", path, strerror(error));
    }
    return tms_replace_keep(&replace) ||
           fail(reason, "%.200s could not be written: %s", path, strerror(errno));
}

bool tms_hunt_directory_write(const struct tms_hunt_directory *directory, const char *name,
                              const char *bytes, size_t length, char reason[TMS_HUNT_REASON])
{
    char path[PATH_MAX];

    return join(path, directory->path, name) ? replace_file(path, bytes, length, reason)
                                             : fail(reason, "%.200s is too long", directory->path);
}

/* The text of an object and a line end; NULL if out of memory. */
char *tms_json_line(const json_t *object)
{
    char *text = object != NULL ? json_dumps(object, JSON_REAL_PRECISION(9)) : NULL;
    size_t length = text != NULL ? strlen(text) : 0;
    char *line = text != NULL ? realloc(text, length + 2) : NULL;

    if (line == NULL) {
        free(text);
        return NULL;
    }
    memcpy(line + length, "\n", 2);
    return line;
}

bool tms_json_write(const char *path, const json_t *object, char reason[TMS_HUNT_REASON])
{
    char *line = tms_json_line(object);
    bool good = line != NULL ? replace_file(path, line, strlen(line), reason) : fail_memory(reason);

    free(line);
    return good;
}

bool tms_hunt_directory_write_json(const struct tms_hunt_directory *directory, const char *name,
                                   const json_t *object, char reason[TMS_HUNT_REASON])
{
    char path[PATH_MAX];

    return join(path, directory->path, name) ? tms_json_write(path, object, reason)
                                             : fail(reason, "%.200s is too long", directory->path);
}

/* Truncates the file after a partial write, so that it contains only whole lines. */
bool tms_hunt_directory_add_run(struct tms_hunt_directory *directory, const json_t *record,
                                char reason[TMS_HUNT_REASON])
{
    char *line = tms_json_line(record);
    off_t before = lseek(directory->runs, 0, SEEK_END);

    if (line == NULL) {
        return fail_memory(reason);
    }
    bool good = write_all(directory->runs, line, strlen(line));
    int error = errno;
    if (!good && before >= 0 && ftruncate(directory->runs, before) != 0) {
        error = errno;
    }
    free(line);
    return good || fail(reason, "%.200s/" RUNS " could not be written: %s", directory->path,
                        strerror(error));
}

bool tms_hunt_directory_add_log(struct tms_hunt_directory *directory, uint64_t index,
                                const char *bytes, size_t length, char reason[TMS_HUNT_REASON])
{
    char name[64];

    if (directory->logs >= TMS_HUNT_LOGS || length == 0) {
        return true;
    }
    directory->logs++;
    snprintf(name, sizeof(name), "logs/run-%llu.txt", (unsigned long long)index);
    return tms_hunt_directory_write(directory, name, bytes, length, reason);
}

/* Validates an id, which comes from a file and becomes a file name. */
static bool is_id(const char *id)
{
    return id != NULL && strncmp(id, "AV-", 3) == 0 &&
           id[3 + strspn(id + 3, "0123456789abcdef")] == '\0' && strlen(id) < 40;
}

static bool write_schedules(const struct tms_hunt_directory *directory, const struct tms_hunt *hunt,
                            char reason[TMS_HUNT_REASON])
{
    json_t *firsts = tms_hunt_firsts(hunt), *record;
    const char *id;
    bool good = firsts != NULL || fail_memory(reason);

    json_object_foreach(firsts, id, record)
    {
        const char *schedule = json_string_value(json_object_get(record, "schedule"));
        char name[64];
        if (good && is_id(id)) {
            snprintf(name, sizeof(name), "schedules/%s", id);
            good = tms_hunt_directory_write(directory, name, schedule, strlen(schedule), reason);
        }
    }
    json_decref(firsts);
    return good;
}

bool tms_hunt_directory_write_result(const struct tms_hunt_directory *directory,
                                     const struct tms_hunt *hunt, bool partial,
                                     char reason[TMS_HUNT_REASON])
{
    bool good = partial || write_schedules(directory, hunt, reason);
    json_t *result = good ? tms_hunt_json(hunt, partial) : NULL;

    good =
        good && (result != NULL ? tms_hunt_directory_write_json(directory, RESULT, result, reason)
                                : fail_memory(reason));
    json_decref(result);
    return good;
}

/* ---- reading ------------------------------------------------------------------------------ */

void tms_hunt_directory_json_path(const char *path, char json[PATH_MAX])
{
    struct stat status;
    bool is_directory = stat(path, &status) == 0 && S_ISDIR(status.st_mode);

    if (!is_directory || !join(json, path, RESULT)) {
        snprintf(json, PATH_MAX, "%s", path);
    }
}

bool tms_hunt_directory_runs_path(const char *json, char runs[PATH_MAX])
{
    const char *slash = strrchr(json, '/');
    size_t at = slash != NULL ? (size_t)(slash + 1 - json) : 0;

    if (at + sizeof(RUNS) > PATH_MAX) {
        return false;
    }
    memcpy(runs, json, at);
    memcpy(runs + at, RUNS, sizeof(RUNS));
    return true;
}

/* One line of runs.jsonl; `last`: it has no line end, and may be cut off. */
static bool take_line(struct tms_hunt *hunt, const char *line, size_t length, bool last,
                      const char *path, size_t number, char reason[TMS_HUNT_REASON])
{
    json_error_t error;
    json_t *record = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);

    if (record == NULL || !tms_record_is_sound(record)) {
        json_decref(record);
        return last || fail(reason, "%.200s: line %zu is not the record of a run", path, number);
    }
    return tms_hunt_add(hunt, record, NULL) != TMS_NEWS_FAILED || fail_memory(reason);
}

static bool load_runs(struct tms_hunt *hunt, const char *path, char reason[TMS_HUNT_REASON])
{
    FILE *in = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    bool good = true;

    if (in == NULL) {
        return fail(reason,
                    "%.200s can't be read: %s; expected the directory of a hunt, which has a "
                    "record of every run",
                    path, strerror(errno));
    }
    for (size_t number = 1; good && (length = getline(&line, &size, in)) > 0; number++) {
        bool last = line[length - 1] != '\n';
        good = take_line(hunt, line, (size_t)length, last, path, number, reason);
    }
    free(line);
    fclose(in);
    return good;
}

static bool load_result(struct tms_hunt *hunt, const char *path, char reason[TMS_HUNT_REASON])
{
    json_error_t error;
    json_t *result = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    if (result == NULL && json_error_code(&error) == json_error_cannot_open_file) {
        return fail(reason, "%.200s can't be read: %.100s", path, strerror(errno));
    }
    if (result == NULL) {
        return fail(reason, "%.200s: line %d is not JSON (%.160s); expected the result of a hunt",
                    path, error.line, error.text);
    }
    bool ours = json_is_object(json_object_get(result, "hunt"));
    bool good = ours && tms_hunt_from_json(hunt, result);
    json_decref(result);
    if (!ours) {
        return fail(reason,
                    "%.200s is not the result of a hunt; other results are joined by tmesis "
                    "history import",
                    path);
    }
    return good || fail_memory(reason);
}

bool tms_hunt_directory_load(struct tms_hunt *hunt, const char *path, char reason[TMS_HUNT_REASON])
{
    char json[PATH_MAX], runs[PATH_MAX];

    tms_hunt_directory_json_path(path, json);
    if (!tms_hunt_directory_runs_path(json, runs)) {
        return fail(reason, "%.200s is too long", path);
    }
    return load_result(hunt, json, reason) && load_runs(hunt, runs, reason);
}
