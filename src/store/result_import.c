/* SPDX-License-Identifier: Apache-2.0 */
/* Imports results into the history; see result_import.h. */
#include "store/result_import.h"

#include <inttypes.h>
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

/* Are its objects all traces that could not be read? */
static bool is_unread(const struct tms_saved *saved)
{
    bool unread = saved->object_count > 0;

    for (size_t i = 0; i < saved->object_count; i++) {
        unread = unread && saved->objects[i].unread != NULL;
    }
    return unread;
}

/* Taken as a result without findings, it would make those of other labels look gone. */
static bool fail_unread(struct tms_history *history, const char *name)
{
    snprintf(history->reason, TMS_HISTORY_REASON,
             "%s has no result to store: none of its traces could be read", name);
    return false;
}

/* 128 bits: two hashes with different seeds. */
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

static void write_outcome(const struct tms_saved_object *whole, char text[OUTCOME_SIZE])
{
    text[0] = '\0';
    if (whole->runs > 0) {
        snprintf(text, OUTCOME_SIZE, "failed in %" PRIu64 " of %" PRIu64 " runs",
                 whole->failed_runs, whole->runs);
    } else if (whole->exit_signal >= 0) {
        snprintf(text, OUTCOME_SIZE, "signal %" PRIi64, whole->exit_signal);
    } else if (whole->exit_status >= 0) {
        snprintf(text, OUTCOME_SIZE, "status %" PRIi64, whole->exit_status);
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

static bool import_rows(struct tms_history *history, const struct file *file,
                        const struct tms_result_origin *origin,
                        const struct tms_saved_object *whole, const struct tms_finding_rows *rows,
                        bool *added)
{
    char digest[DIGEST_SIZE], outcome[OUTCOME_SIZE], day[DAY + 1];
    struct tms_document document = {0};

    write_digest(file, digest);
    write_outcome(whole, outcome);
    write_day(whole->started_text, day);
    const struct tms_history_run run = {
        .digest = digest,
        .label = origin->label != NULL      ? origin->label
                 : origin->revision != NULL ? origin->revision
                                            : day,
        .revision = origin->revision,
        .command = whole->command,
        .host = whole->host,
        .started = whole->started_text,
        .outcome = outcome[0] != '\0' ? outcome : NULL,
        .seconds = whole->seconds,
        .seed = whole->seed,
        .runs = whole->runs > 0 ? whole->runs : 1,
        .document = &document,
    };
    bool good = tms_document_pack(&document, file->bytes, file->size)
                    ? tms_history_import(history, &run, rows, added)
                    : fail_memory(history);
    tms_document_free(&document);
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
    if (good && is_unread(&saved)) {
        good = fail_unread(history, name);
    }
    if (good && !tms_finding_rows_load(&rows, &saved)) {
        good = fail_memory(history);
    }
    good = good && import_rows(history, &file, origin, &saved.whole, &rows, added);
    tms_finding_rows_clear(&rows);
    tms_saved_close(&saved);
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
