/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One input for one trace reader (FUZZ_FORMAT), as a libFuzzer target.
 *
 * The bytes are read and checked with the frontier engine strictly, with all engines leniently, and
 * with the format left to be guessed; the results must make sense and all reports must be writable.
 * What could be read without loss must survive being written as a native trace and as text.
 * Native traces are tried once more with their checksums put right, or no change would ever
 * get past them. Whatever is wrong aborts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "fuzz/target.h"
#include "tmesis/tmesis.h"
#include "trace/tms_format.h"

#define require(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A file without a name: the public interface wants paths. */
struct scratch {
    int descriptor;
    char path[32];
};

static struct scratch scratch_make(void)
{
    struct scratch scratch = {.descriptor = memfd_create("fuzz", MFD_CLOEXEC)};

    require(scratch.descriptor >= 0);
    snprintf(scratch.path, sizeof(scratch.path), "/proc/self/fd/%d", scratch.descriptor);
    return scratch;
}

static bool discard(void *user, const char *text, size_t length)
{
    uint64_t *total = user;

    require(length == 0 || text != NULL);
    *total += length;
    return true;
}

static void complain(void *user, const char *message)
{
    (void)user;
    require(message[0] != '\0' && strchr(message, '\n') == NULL);
}

static struct tms_context *new_context(void)
{
    struct tms_context *context = tms_context_new(complain, NULL);

    require(context != NULL);
    return context;
}

/* Bad input is one of these and comes with a sentence; ERR_ARGUMENT would be our own fault. */
static void require_reason(const struct tms_context *context, int code)
{
    require(code < 0 && code >= TMS_ERR_LIMIT && code != TMS_ERR_ARGUMENT);
    require(tms_error(context)[0] != '\0');
}

static void require_cycle(const struct tms_finding *finding)
{
    const struct tms_step *cycle = finding->cycle;

    require(cycle != NULL && finding->cycle_length >= 2);
    for (size_t i = 0; i < finding->cycle_length; i++) {
        const struct tms_step *next = &cycle[(i + 1) % finding->cycle_length];
        require(cycle[i].first_event < cycle[i].second_event);
        require(cycle[i].second_event <= finding->event);
        require(cycle[i].to.begin_event == next->from.begin_event);
        require(cycle[i].to.thread == next->from.thread);
    }
    require(cycle[0].from.begin_event == finding->transaction.begin_event);
}

/* The first result is that of frontier. */
static void require_exact(const struct tms_result *result)
{
    require((result->verdict == TMS_VERDICT_VIOLATION) == (result->first_violation_event != 0));
    for (size_t i = 0; i < result->finding_count; i++) {
        require_cycle(&result->findings[i]);
    }
}

/* A finding of another engine that equals one must refer to one that is listed itself. */
static bool is_listed(const struct tms_analysis *analysis, const char *id)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        for (size_t j = 0; j < result->finding_count; j++) {
            if (strcmp(result->findings[j].id, id) == 0 && result->findings[j].same_as == NULL) {
                return true;
            }
        }
    }
    return false;
}

static void require_any(const struct tms_analysis *analysis, const struct tms_result *result)
{
    struct tms_trace_summary summary;
    bool found =
        result->verdict == result->engine->found || result->verdict == TMS_VERDICT_POTENTIAL;

    tms_analysis_summary(analysis, &summary);
    require(result->first_violation_event <= summary.events);
    require(result->complete == (result->loss == NULL));
    require(found ||
            result->verdict == (result->complete ? result->engine->clean : TMS_VERDICT_INCOMPLETE));
    /* Notes of `judge` are findings, but no violations. */
    require((result->finding_count != 0) == (result->violations != 0) ||
            (result->engine->found == TMS_VERDICT_AFFECTED && result->violations == 0));
    for (size_t i = 0; i < result->finding_count; i++) {
        const char *same = result->findings[i].same_as;
        require(same == NULL || is_listed(analysis, same));
    }
}

static void require_results(const struct tms_analysis *analysis)
{
    const struct tms_result *result = tms_analysis_result(analysis, 0);

    require(result != NULL);
    require_exact(result);
    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        require_any(analysis, result);
    }
}

static void require_reports(const struct tms_analysis *analysis)
{
    struct tms_report_settings settings;
    uint64_t total = 0;

    tms_report_settings_init(&settings);
    settings.path = "fuzz";
    settings.format = FUZZ_FORMAT;
    require(tms_report(analysis, "text", &settings, discard, &total) == TMS_OK);
    require(tms_report(analysis, "json", &settings, discard, &total) == TMS_OK);
    require(tms_report(analysis, "table", &settings, discard, &total) == TMS_OK);
    require(total > 0);
}

static void check(const char *path, const char *format, const char *engines, bool lenient)
{
    struct tms_context *context = new_context();
    struct tms_reader_settings reading;
    struct tms_settings checking;
    struct tms_reader *reader = NULL;
    struct tms_analysis *analysis = NULL;

    tms_reader_settings_init(&reading);
    reading.format = format;
    reading.lenient = lenient;
    tms_settings_init(&checking);
    checking.lenient = lenient;
    checking.engines = engines;

    int code = tms_reader_open(context, path, &reading, &reader);
    if (code == TMS_OK) {
        require(tms_analysis_new(context, &checking, &analysis) == TMS_OK);
        code = tms_analysis_read(analysis, reader);
    }
    if (code == TMS_OK) {
        require_results(analysis);
        require_reports(analysis);
    } else {
        require_reason(context, code);
    }
    tms_analysis_free(analysis);
    tms_reader_close(reader);
    tms_context_free(context);
}

/* The contents of a trace, independent of the ids of its names. */
struct digest {
    uint64_t events;
    uint64_t hash;
};

static void digest_text(struct digest *digest, const char *text)
{
    do {
        digest->hash = (digest->hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    } while (*text++ != '\0');
}

static void digest_event(struct digest *digest, const struct tms_context *context,
                         const struct tms_event *event)
{
    enum tms_event_kind kind = (enum tms_event_kind)event->kind;
    char number[TMS_NUMBER_SIZE];

    digest->events++;
    digest_text(digest, tms_event_text(kind));
    digest_text(digest, tms_name(context, TMS_CLASS_THREAD, event->thread, NULL));
    digest_text(digest, tms_name(context, tms_event_class(kind), event->target, NULL));
    digest_text(digest, tms_name(context, TMS_CLASS_LOCATION, event->location, number));
}

/* Reads a trace, into `writer` too if there is one. False if it can't be read without loss. */
static bool read_all(struct tms_context *context, const char *path, const char *format,
                     struct tms_writer *writer, struct digest *digest, int *written)
{
    struct tms_reader_settings settings;
    struct tms_reader *reader = NULL;
    const struct tms_event *events;
    int64_t count = 0;

    tms_reader_settings_init(&settings);
    settings.format = format;
    if (tms_reader_open(context, path, &settings, &reader) != TMS_OK) {
        return false;
    }
    while ((count = tms_reader_next(reader, &events)) > 0) {
        for (int64_t i = 0; i < count; i++) {
            digest_event(digest, context, &events[i]);
        }
        if (writer != NULL && *written == TMS_OK) {
            *written = tms_writer_write(writer, events, (size_t)count);
        }
    }
    bool whole = count == 0 && tms_reader_loss(reader) == NULL;
    tms_reader_close(reader);
    return whole;
}

static void require_same(const char *path, const char *format, const struct digest *before)
{
    struct tms_context *context = new_context();
    struct digest after = {0};

    require(read_all(context, path, format, NULL, &after, NULL));
    require(after.events == before->events && after.hash == before->hash);
    tms_context_free(context);
}

static void round_trip(const char *path, const char *other)
{
    struct tms_context *context = new_context();
    struct scratch copy = scratch_make();
    struct tms_writer_settings settings;
    struct tms_writer *writer = NULL;
    struct digest before = {0};
    int written = TMS_OK;

    tms_writer_settings_init(&settings);
    settings.format = other;
    settings.compression = "none";
    require(tms_writer_open(context, copy.path, &settings, &writer) == TMS_OK);
    bool whole = read_all(context, path, FUZZ_FORMAT, writer, &before, &written);
    int closed = tms_writer_close(writer);
    if (written == TMS_OK) {
        written = closed;
    }
    if (written != TMS_OK) {
        require(written == TMS_ERR_FORMAT || written == TMS_ERR_LIMIT);
    } else if (whole) {
        require_same(copy.path, other, &before);
    }
    close(copy.descriptor);
    tms_context_free(context);
}

static void try_bytes(const uint8_t *data, size_t size)
{
    struct scratch input = scratch_make();

    require(write(input.descriptor, data, size) == (ssize_t)size);
    check(input.path, FUZZ_FORMAT, "frontier", false);
    check(input.path, FUZZ_FORMAT, "all", true);
    check(input.path, NULL, "frontier", false);
    round_trip(input.path, "tms");
    round_trip(input.path, "std");
    close(input.descriptor);
}

/* Puts the checksum of every section right; false if there was nothing to do. */
static bool repair(uint8_t *data, size_t size)
{
    bool changed = false;
    size_t at = TMS_FILE_START_SIZE;

    while (at + TMS_SECTION_SIZE <= size) {
        uint8_t *section = data + at;
        size_t length = tms_get32(section + TMS_SECTION_AT_LENGTH);
        if (length > size - at - TMS_SECTION_SIZE) {
            break;
        }
        uint64_t sum = XXH3_64bits(section + TMS_SECTION_AT_TAG,
                                   TMS_SECTION_SIZE - TMS_SECTION_AT_TAG + length);
        changed = changed || tms_get64(section + TMS_SECTION_AT_CHECKSUM) != sum;
        tms_put64(section + TMS_SECTION_AT_CHECKSUM, sum);
        at += TMS_SECTION_SIZE + length;
    }
    return changed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    if (size > TMS_FILE_MAGIC_SIZE && memcmp(data, TMS_FILE_MAGIC, TMS_FILE_MAGIC_SIZE) == 0) {
        uint8_t *copy = malloc(size);
        require(copy != NULL);
        memcpy(copy, data, size);
        if (repair(copy, size)) {
            try_bytes(copy, size);
        }
        free(copy);
    }
    return 0;
}
