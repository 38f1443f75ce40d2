/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The damaged spool of a watched process, as a libFuzzer target. A spool is mostly zeros, so an
 * input is a list of its other parts: an offset (32 bits), a length (16 bits), and as many bytes
 * (pack-spool makes one of a spool).
 *
 * The spool is read as `tmesis run` does, for the findings and predictions of the process and for
 * engines on its recording, and as `tmesis record` does. It is tried once more with a corrected
 * identification in its header, or few changes of the header would get past that. A refusal comes
 * with a sentence; reports must be writable; any error aborts.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/target.h"
#include "spool/spool_findings.h"
#include "spool/spool_judged.h"
#include "spool/spool_predicted.h"
#include "spool/spool_trace.h"

#define IMAGE_MOST  (TMS_SPOOL_HEADER + 16 * TMS_SPOOL_CHUNK)
#define EVENTS_MOST 20000 /* one damaged event may represent a million, which is no error */

#define require(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* ---- the file ----------------------------------------------------------------------------- */

static size_t unpack(const uint8_t *data, size_t size, uint8_t *image)
{
    size_t end = 0;

    while (size >= 6) {
        uint32_t offset;
        uint16_t length;
        memcpy(&offset, data, sizeof(offset));
        memcpy(&length, data + sizeof(offset), sizeof(length));
        data += 6;
        size -= 6;
        length = length < size ? length : (uint16_t)size;
        if (offset <= IMAGE_MOST && length <= IMAGE_MOST - offset) {
            memcpy(image + offset, data, length);
            end = offset + length > end ? offset + length : end;
        }
        data += length;
        size -= length;
    }
    return end;
}

static void identify(uint8_t *image, size_t size)
{
    struct tms_spool_header *header = (void *)image;

    memcpy(header->magic, TMS_SPOOL_MAGIC, sizeof(header->magic));
    header->header_size = sizeof(*header);
    header->event_size = sizeof(struct tms_spool_event);
    header->end = header->end >= TMS_SPOOL_HEADER ? header->end : size;
}

/* ---- its readers -------------------------------------------------------------------------- */

struct reading {
    struct tms_context *context;
    struct tms_spool spool;
    struct tms_spool_names names;
    struct tms_analysis *analysis;
    struct tms_writer *writer;
    size_t events;
};

static bool discard(void *user, const char *text, size_t length)
{
    (void)user;
    require(length == 0 || text != NULL);
    return true;
}

static bool open_reading(struct reading *reading, const char *path)
{
    char reason[TMS_SPOOL_REASON] = "";

    *reading = (struct reading){.context = tms_context_new(NULL, NULL)};
    require(reading->context != NULL);
    if (!tms_spool_open(&reading->spool, path, reason)) {
        require(reason[0] != '\0' && strchr(reason, '\n') == NULL);
        return false;
    }
    require(tms_spool_names_open(&reading->names, &reading->spool, reading->context) == TMS_OK);
    return true;
}

static void close_reading(struct reading *reading)
{
    tms_analysis_free(reading->analysis);
    tms_spool_names_close(&reading->names);
    tms_spool_close(&reading->spool);
    tms_context_free(reading->context);
}

static void require_reports(const struct reading *reading)
{
    struct tms_report_settings settings;

    tms_report_settings_init(&settings);
    settings.path = "fuzz";
    settings.format = TMS_FORMAT_LIVE;
    settings.blocks = reading->spool.header.block_source;
    require(tms_report(reading->analysis, "text", &settings, discard, NULL) == TMS_OK);
    require(tms_report(reading->analysis, "json", &settings, discard, NULL) == TMS_OK);
}

static void finish(struct reading *reading, int code)
{
    if (code == TMS_OK) {
        code = tms_analysis_finish(reading->analysis);
    }
    if (code == TMS_OK) {
        require_reports(reading);
    } else {
        require(code != TMS_ERR_ARGUMENT);
    }
}

static int feed(void *user, const struct tms_event *events, size_t count)
{
    struct reading *reading = user;

    reading->events += count;
    if (reading->events > EVENTS_MOST) {
        return TMS_ERR_LIMIT;
    }
    int code = tms_analysis_feed(reading->analysis, events, count, NULL);
    return code < 0 ? code : TMS_OK;
}

/* The findings of the process, and those of other engines on its recording. */
static void try_run(const char *path)
{
    struct tms_trace_outcome outcome;
    struct tms_settings settings;
    struct reading reading;
    char loss[TMS_SPOOL_REASON];

    if (open_reading(&reading, path)) {
        tms_settings_init(&settings);
        settings.engines = "sidetrack";
        require(tms_analysis_new(reading.context, &settings, &reading.analysis) == TMS_OK);
        int code = tms_spool_trace(&reading.names, feed, &reading, &outcome, NULL);
        if (code == TMS_OK) {
            bool lost = tms_spool_loss_sync(&reading.spool, loss);
            tms_analysis_lost(reading.analysis, lost ? loss : NULL);
            code = tms_spool_observe(&reading.names, 1, reading.analysis);
        }
        finish(&reading, code);
    }
    close_reading(&reading);
}

/* What the process found and predicted itself. */
static int import(struct reading *reading)
{
    char loss[TMS_SPOOL_REASON];

    require(tms_analysis_judge_elsewhere(reading->analysis) == TMS_OK);
    int code = tms_spool_predict(&reading->names, reading->analysis);
    if (code == TMS_OK) {
        bool lost = tms_spool_loss_sync(&reading->spool, loss);
        tms_analysis_lost(reading->analysis, lost ? loss : NULL);
        code = tms_spool_observe(&reading->names, 1, reading->analysis);
    }
    code = code == TMS_OK ? tms_spool_observe_races(&reading->names, 1, reading->analysis) : code;
    return code == TMS_OK ? tms_spool_judged(&reading->names, reading->analysis) : code;
}

static void try_import(const char *path)
{
    struct tms_settings settings;
    struct reading reading;

    if (open_reading(&reading, path)) {
        tms_settings_init(&settings);
        settings.engines = "sidetrack,goodlock,judge";
        require(tms_analysis_new(reading.context, &settings, &reading.analysis) == TMS_OK);
        finish(&reading, import(&reading));
    }
    close_reading(&reading);
}

static int write_events(void *user, const struct tms_event *events, size_t count)
{
    struct reading *reading = user;

    reading->events += count;
    return reading->events > EVENTS_MOST ? TMS_ERR_LIMIT
                                         : tms_writer_write(reading->writer, events, count);
}

static void try_record(const char *path)
{
    struct tms_trace_outcome outcome;
    struct tms_writer_settings settings;
    struct reading reading;

    if (open_reading(&reading, path)) {
        tms_writer_settings_init(&settings);
        settings.format = "tms";
        require(tms_writer_open(reading.context, "/dev/null", &settings, &reading.writer) ==
                TMS_OK);
        reading.names.inlined = true;
        int code = tms_spool_trace(&reading.names, write_events, &reading, &outcome, NULL);
        require(code != TMS_ERR_ARGUMENT);
        tms_writer_close(reading.writer);
    }
    close_reading(&reading);
}

static void try_image(const uint8_t *image, size_t size)
{
    int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
    char path[32];

    require(descriptor >= 0 && write(descriptor, image, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    try_import(path);
    try_run(path);
    try_record(path);
    close(descriptor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *image = calloc(1, IMAGE_MOST);

    require(image != NULL);
    size_t end = unpack(data, size, image);
    try_image(image, end);
    end = end > TMS_SPOOL_HEADER ? end : TMS_SPOOL_HEADER;
    identify(image, end);
    try_image(image, end);
    free(image);
    return 0;
}
