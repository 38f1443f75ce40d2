/* SPDX-License-Identifier: Apache-2.0 */
/* Results into the history; see result_import.h. */
#include "store/result_import.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash_mix.h"

#define DIGEST_SIZE  33
#define OUTCOME_SIZE 64
#define DAY          10 /* characters of "2026-11-18" */

/* The bytes of a result. */
struct file {
    const char *bytes;
    size_t size;
};

static bool fail_memory(struct tms_history *history)
{
    snprintf(history->reason, TMS_HISTORY_REASON, "out of memory");
    return false;
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

static bool import_rows(struct tms_history *history, const struct file *file,
                        const struct tms_result_origin *origin, const struct tms_finding_rows *rows,
                        bool *added)
{
    char digest[DIGEST_SIZE], outcome[OUTCOME_SIZE], day[DAY + 1];
    json_t *whole = find_whole(file);
    const json_t *hunt = json_object_get(whole, "hunt");
    const char *started = text_of(whole, "started");
    struct tms_document document = {0};

    write_digest(file, digest);
    write_outcome(whole, outcome);
    write_day(started, day);
    const struct tms_history_run run = {
        .digest = digest,
        .label = origin->label != NULL      ? origin->label
                 : origin->revision != NULL ? origin->revision
                                            : day,
        .revision = origin->revision,
        .command = text_of(whole, "command"),
        .host = text_of(whole, "host"),
        .started = started,
        .outcome = outcome[0] != '\0' ? outcome : NULL,
        .seconds = json_number_value(json_object_get(whole, "seconds")),
        .seed = (uint64_t)json_integer_value(json_object_get(whole, "seed")),
        .runs = hunt != NULL ? (uint64_t)json_integer_value(json_object_get(hunt, "runs")) : 1,
        .document = &document,
    };
    bool good = tms_document_pack(&document, file->bytes, file->size)
                    ? tms_history_import(history, &run, rows, added)
                    : fail_memory(history);
    tms_document_free(&document);
    json_decref(whole);
    return good;
}

bool tms_result_import_bytes(struct tms_history *history, const char *name, const char *bytes,
                             size_t size, const struct tms_result_origin *origin, bool *added)
{
    const struct file file = {bytes, size};
    struct tms_finding_rows rows = {0};
    struct tms_saved saved;

    *added = false;
    bool good = tms_saved_parse(&saved, name, bytes, size, history->reason);
    if (good && !tms_finding_rows_load(&rows, &saved)) {
        good = fail_memory(history);
    }
    tms_saved_close(&saved);
    good = good && import_rows(history, &file, origin, &rows, added);
    tms_finding_rows_clear(&rows);
    return good;
}

bool tms_result_import(struct tms_history *history, const char *path,
                       const struct tms_result_origin *origin, bool *added)
{
    _Static_assert(TMS_HISTORY_REASON >= TMS_SAVED_REASON, "one sentence fits into the other");
    size_t size;
    char *bytes = tms_saved_read(path, &size, history->reason);
    bool good = bytes != NULL && tms_result_import_bytes(history, path, bytes, size, origin, added);

    free(bytes);
    return good;
}
