/* SPDX-License-Identifier: Apache-2.0 */
/* Results into the history; see result_import.h. */
#include "store/result_import.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash_mix.h"

#define DIGEST_SIZE  33
#define OUTCOME_SIZE 64
#define DAY          10 /* characters of "2026-11-18" */

struct file {
    char *bytes;
    size_t size;
};

/* The whole file, with a zero byte after it. */
static bool read_file(struct tms_history *history, const char *path, struct file *file)
{
    FILE *in = fopen(path, "rb");
    size_t capacity = 1 << 16, got = 1;

    file->size = 0;
    file->bytes = in != NULL ? malloc(capacity + 1) : NULL;
    while (file->bytes != NULL && got > 0 && file->size <= TMS_SAVED_MOST) {
        got = fread(file->bytes + file->size, 1, capacity - file->size, in);
        file->size += got;
        if (file->size == capacity) {
            capacity *= 2;
            char *more = realloc(file->bytes, capacity + 1);
            if (more == NULL) {
                free(file->bytes);
            }
            file->bytes = more;
        }
    }
    bool failed = in == NULL || ferror(in);
    if (failed || file->bytes == NULL) {
        snprintf(history->reason, TMS_HISTORY_REASON, "%.300s can't be read: %s", path,
                 failed ? strerror(errno) : "out of memory");
    } else {
        file->bytes[file->size] = '\0';
    }
    if (in != NULL) {
        fclose(in);
    }
    return !failed && file->bytes != NULL;
}

/* 128 bits, two hashes with different beginnings. */
static void write_digest(const struct file *file, char text[DIGEST_SIZE])
{
    uint64_t one = file->size, two = ~(uint64_t)file->size;

    for (size_t i = 0; i < file->size; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        size_t left = file->size - i;
        memcpy(&word, file->bytes + i, left < sizeof(word) ? left : sizeof(word));
        one = tms_mix(one, word);
        two = tms_mix(two, word + i);
    }
    snprintf(text, DIGEST_SIZE, "%016" PRIx64 "%016" PRIx64, one, two);
}

/* The object that speaks for the whole: the merged one, or else the first. */
static json_t *find_whole(const struct file *file)
{
    json_t *whole = NULL;
    size_t at = 0;

    while (at < file->size) {
        json_error_t error;
        json_t *object =
            json_loadb(file->bytes + at, file->size - at, JSON_DISABLE_EOF_CHECK, &error);
        if (object == NULL) {
            break;
        }
        at += (size_t)error.position;
        if (whole == NULL || json_is_true(json_object_get(object, "merged"))) {
            json_decref(whole);
            whole = json_incref(object);
        }
        json_decref(object);
    }
    return whole;
}

static void write_outcome(const json_t *object, char text[OUTCOME_SIZE])
{
    const json_t *hunt = json_object_get(object, "hunt"), *end = json_object_get(object, "exit");
    const json_t *signal = json_object_get(end, "signal"), *status = json_object_get(end, "status");

    text[0] = '\0';
    if (hunt != NULL) {
        snprintf(text, OUTCOME_SIZE, "failed in %lld of %lld runs",
                 (long long)json_integer_value(json_object_get(hunt, "failed")),
                 (long long)json_integer_value(json_object_get(hunt, "runs")));
    } else if (json_is_integer(signal)) {
        snprintf(text, OUTCOME_SIZE, "signal %lld", (long long)json_integer_value(signal));
    } else if (json_is_integer(status)) {
        snprintf(text, OUTCOME_SIZE, "status %lld", (long long)json_integer_value(status));
    }
}

/* The day of "2026-11-18T05:38:27Z", or today. */
static void write_day(const char *started, char day[DAY + 1])
{
    time_t now = time(NULL);
    struct tm parts;

    gmtime_r(&now, &parts);
    strftime(day, DAY + 1, "%Y-%m-%d", &parts);
    if (started != NULL && strlen(started) > DAY && started[DAY] == 'T') {
        memcpy(day, started, DAY);
    }
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool import_rows(struct tms_history *history, const struct file *file, const char *label,
                        const char *revision, const struct tms_finding_rows *rows, bool *added)
{
    char digest[DIGEST_SIZE], outcome[OUTCOME_SIZE], day[DAY + 1];
    json_t *whole = find_whole(file);
    const json_t *hunt = json_object_get(whole, "hunt");
    const char *started = text_of(whole, "started");

    write_digest(file, digest);
    write_outcome(whole, outcome);
    write_day(started, day);
    const struct tms_history_run run = {
        .digest = digest,
        .label = label != NULL      ? label
                 : revision != NULL ? revision
                                    : day,
        .revision = revision,
        .command = text_of(whole, "command"),
        .host = text_of(whole, "host"),
        .started = started,
        .outcome = outcome[0] != '\0' ? outcome : NULL,
        .seconds = json_number_value(json_object_get(whole, "seconds")),
        .seed = (uint64_t)json_integer_value(json_object_get(whole, "seed")),
        .runs = hunt != NULL ? (uint64_t)json_integer_value(json_object_get(hunt, "runs")) : 1,
    };
    bool good = tms_history_import(history, &run, rows, added);
    json_decref(whole);
    return good;
}

bool tms_result_import(struct tms_history *history, const char *path, const char *label,
                       const char *revision, bool *added)
{
    struct tms_finding_rows rows = {0};
    struct tms_saved saved;
    struct file file;
    bool good = false;

    *added = false;
    if (read_file(history, path, &file)) {
        good = tms_saved_parse(&saved, path, file.bytes, file.size, history->reason);
        if (good && !tms_finding_rows_load(&rows, &saved)) {
            snprintf(history->reason, TMS_HISTORY_REASON, "out of memory");
            good = false;
        }
        tms_saved_close(&saved);
    }
    good = good && import_rows(history, &file, label, revision, &rows, added);
    tms_finding_rows_clear(&rows);
    free(file.bytes);
    return good;
}
