/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of formats, and the public readers and writers that dispatch to them. */
#include "trace/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* The bytes that detection examines. It waits for no more than DETECT_LEAST bytes from a pipe. */
#define DETECT_LEAST 4096
#define DETECT_MOST  65536

#define COMPLAINTS_SHOWN 10

/*
 * In the order of detection: std takes any text, so it is the last of those that can be read.
 */
static const struct tms_format *const formats[] = {
    &tms_format_tms, &tms_format_regiontrack, &tms_format_rr, &tms_format_std, &tms_format_perfetto,
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct tms_format_info *tms_format_info(size_t index)
{
    return index < FORMATS ? &formats[index]->info : NULL;
}

/* "tms, regiontrack, rr, std": what can be read, or what can be written with its extension. */
static const char *format_list(bool writable, char *buffer, size_t size)
{
    size_t used = 0;

    buffer[0] = '\0';
    for (size_t i = 0; i < FORMATS && used < size; i++) {
        const struct tms_format_info *info = &formats[i]->info;
        if (writable ? info->writes : info->reads) {
            int length = snprintf(buffer + used, size - used, "%s%s%s%s%s", used > 0 ? ", " : "",
                                  info->name, writable ? " (" : "", writable ? info->extension : "",
                                  writable ? ")" : "");
            used += (size_t)length;
        }
    }
    return buffer;
}

static const struct tms_format *find_format(struct tms_context *context, const char *name)
{
    char list[128];

    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i]->info.name, name) == 0) {
            return formats[i];
        }
    }
    tms_fail(context, TMS_ERR_FORMAT, "unknown format \"%s\": there are %s", name,
             format_list(false, list, sizeof(list)));
    return NULL;
}

static char *copy_path(struct tms_context *context, const char *path)
{
    size_t size = strlen(path) + 1;
    char *copy = tms_resize(&context->memory, NULL, 0, size, 1);

    return copy == NULL ? NULL : memcpy(copy, path, size);
}

static void free_path(struct tms_context *context, char *path)
{
    if (path != NULL) {
        tms_release(&context->memory, path, strlen(path) + 1, 1);
    }
}

/* ---- readers -------------------------------------------------------------------------- */

void tms_reader_settings_init(struct tms_reader_settings *settings)
{
    *settings = (struct tms_reader_settings){0};
}

static int unknown_content(struct tms_reader *reader, size_t length)
{
    const unsigned char *head = (const unsigned char *)reader->input.at;
    char bytes[32] = "";
    char list[128];

    if (length >= 4 && memcmp(head, "\177ELF", 4) == 0) {
        return tms_fail(reader->context, TMS_ERR_FORMAT,
                        "%s: is a program, not a trace; tmesis run checks it, and tmesis record "
                        "makes a trace of it",
                        tms_input_name(reader->path));
    }
    for (size_t i = 0; i < 8 && i < length; i++) {
        snprintf(bytes + 3 * i, sizeof(bytes) - 3 * i, " %02x", head[i]);
    }
    return tms_fail(reader->context, TMS_ERR_FORMAT,
                    "%s: is binary and of no known format (starts with%s); expected one of %s",
                    tms_input_name(reader->path), bytes, format_list(false, list, sizeof(list)));
}

static int detect(struct tms_reader *reader)
{
    const struct tms_input *input = &reader->input;
    int more;

    do {
        more = tms_input_more(&reader->input);
        if (more < 0) {
            return more;
        }
    } while (more > 0 && input->end - input->at < DETECT_LEAST);
    size_t length = (size_t)(input->end - input->at);
    length = length < DETECT_MOST ? length : DETECT_MOST;
    for (size_t i = 0; i < FORMATS && reader->format == NULL; i++) {
        bool fits = formats[i]->info.reads && formats[i]->detect(input->at, length);
        reader->format = fits ? formats[i] : NULL;
    }
    return reader->format != NULL ? TMS_OK : unknown_content(reader, length);
}

static int start_reader(struct tms_reader *reader, const char *path,
                        const struct tms_reader_settings *settings)
{
    struct tms_context *context = reader->context;
    char list[128];

    if (settings->format != NULL) {
        reader->format = find_format(context, settings->format);
        if (reader->format == NULL) {
            return TMS_ERR_FORMAT;
        }
        if (!reader->format->info.reads) {
            return tms_fail(
                context, TMS_ERR_FORMAT, "%s: the format \"%s\" can be written only; there are %s",
                tms_input_name(path), settings->format, format_list(false, list, sizeof(list)));
        }
    }
    reader->lenient = settings->lenient;
    reader->path = copy_path(context, path);
    if (reader->path == NULL) {
        return tms_fail_memory(context);
    }
    int code = tms_input_open(context, reader->path, &reader->input);
    if (code == TMS_OK && reader->format == NULL) {
        code = detect(reader);
    }
    if (code != TMS_OK || reader->format->reader_size == 0) {
        return code;
    }
    reader->state = tms_resize(&context->memory, NULL, 0, 1, reader->format->reader_size);
    return reader->state != NULL ? TMS_OK : tms_fail_memory(context);
}

int tms_reader_open(struct tms_context *context, const char *path,
                    const struct tms_reader_settings *settings, struct tms_reader **out)
{
    struct tms_reader_settings defaults;
    struct tms_reader *reader = tms_resize(&context->memory, NULL, 0, 1, sizeof(*reader));

    *out = NULL;
    if (reader == NULL) {
        return tms_fail_memory(context);
    }
    tms_reader_settings_init(&defaults);
    reader->context = context;
    reader->first_line = 1;
    reader->first_event = 1;
    int code = start_reader(reader, path, settings != NULL ? settings : &defaults);
    if (code == TMS_OK && reader->format->open != NULL) {
        code = reader->format->open(reader);
    }
    if (code != TMS_OK) {
        tms_reader_close(reader);
        return code;
    }
    *out = reader;
    return TMS_OK;
}

/* "1 line was left out because it could not be read" */
static void count_loss(const struct tms_reader *reader, char *buffer, size_t size)
{
    bool one = reader->complaints == 1;

    snprintf(buffer, size, "%llu %s%s left out because %s could not be read",
             (unsigned long long)reader->complaints,
             reader->format->counts_lines ? "line" : "record", one ? " was" : "s were",
             one ? "it" : "they");
}

static void at_end(struct tms_reader *reader)
{
    char left_out[128];

    if (!reader->cut && tms_input_cut(&reader->input)) {
        tms_reader_cut(reader, "the compressed data is cut off; the events before that were read");
    }
    if (reader->complaints > COMPLAINTS_SHOWN) {
        count_loss(reader, left_out, sizeof(left_out));
        tms_warn(reader->context, "%s: further complaints are counted, not shown: %s",
                 tms_input_name(reader->path), left_out);
    }
}

int64_t tms_reader_next(struct tms_reader *reader, const struct tms_event **events)
{
    reader->first_event += reader->count;
    reader->count = 0;
    if (reader->failed != TMS_OK || reader->ended) {
        return reader->failed;
    }
    int64_t count = reader->format->read(reader);
    if (count < 0) {
        reader->failed = (int)count;
        return count;
    }
    reader->count = (size_t)count;
    reader->ended = count == 0;
    if (reader->ended) {
        at_end(reader);
    }
    *events = reader->events;
    return count;
}

const char *tms_reader_where(struct tms_reader *reader, size_t index)
{
    const char *name = tms_input_name(reader->path);

    if (reader->format->counts_lines && index < reader->count) {
        snprintf(reader->where, sizeof(reader->where), "%s:%llu", name,
                 (unsigned long long)(reader->first_line + reader->line_offset[index]));
    } else {
        snprintf(reader->where, sizeof(reader->where), "%s, event %llu", name,
                 (unsigned long long)(reader->first_event + index));
    }
    return reader->where;
}

const char *tms_reader_path(const struct tms_reader *reader)
{
    return reader->path;
}

const char *tms_reader_format(const struct tms_reader *reader)
{
    return reader->format->info.name;
}

uint64_t tms_reader_position(const struct tms_reader *reader, uint64_t *size)
{
    return tms_input_position(&reader->input, size);
}

const char *tms_reader_loss(const struct tms_reader *reader)
{
    return reader->cut || reader->complaints > 0 ? reader->loss : NULL;
}

void tms_reader_close(struct tms_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    struct tms_memory *memory = &reader->context->memory;
    if (reader->state != NULL) {
        if (reader->format->close != NULL) {
            reader->format->close(reader);
        }
        tms_release(memory, reader->state, 1, reader->format->reader_size);
    }
    tms_input_close(&reader->input);
    free_path(reader->context, reader->path);
    tms_release(memory, reader, 1, sizeof(*reader));
}

int tms_reader_skip(struct tms_reader *reader, uint64_t line, const char *format, ...)
{
    char sentence[TMS_MESSAGE_SIZE / 2];
    const char *name = tms_input_name(reader->path);
    const char *at = reader->format->counts_lines ? ":" : ", event ";
    unsigned long long number = line;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    if (!reader->lenient) {
        return tms_fail(reader->context, TMS_ERR_SYNTAX, "%s%s%llu: %s", name, at, number,
                        sentence);
    }
    reader->complaints++;
    count_loss(reader, reader->loss, sizeof(reader->loss));
    if (reader->complaints <= COMPLAINTS_SHOWN) {
        tms_warn(reader->context, "%s%s%llu: %s; left out", name, at, number, sentence);
    }
    return TMS_OK;
}

void tms_reader_cut(struct tms_reader *reader, const char *format, ...)
{
    char sentence[TMS_MESSAGE_SIZE / 2];
    char left_out[128] = "";
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    if (reader->complaints > 0) {
        count_loss(reader, left_out, sizeof(left_out));
    }
    reader->cut = true;
    snprintf(reader->loss, sizeof(reader->loss), "%s%s%s", sentence,
             reader->complaints > 0 ? "; " : "", left_out);
    tms_utf8_clean(reader->loss);
    tms_warn(reader->context, "%s: %s", tms_input_name(reader->path), sentence);
}

void tms_reader_marked_lost(struct tms_reader *reader, const char *loss, size_t length)
{
    tms_reader_cut(reader, "%.*s",
                   (int)(length < TMS_MESSAGE_SIZE / 4 ? length : TMS_MESSAGE_SIZE / 4), loss);
}

/* ---- writers -------------------------------------------------------------------------- */

void tms_writer_settings_init(struct tms_writer_settings *settings)
{
    *settings = (struct tms_writer_settings){0};
}

static bool ends_with(const char *path, size_t length, const char *ending)
{
    size_t size = strlen(ending);

    return length > size && memcmp(path + length - size, ending, size) == 0;
}

/* The compression that a path names, with *length cut by its extension. */
static const char *compression_of(const char *path, size_t *length)
{
    static const char *const endings[] = {".gz", ".zst"};

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (ends_with(path, *length, endings[i])) {
            *length -= strlen(endings[i]);
            return endings[i] + 1;
        }
    }
    return "none";
}

static const struct tms_format *format_of(struct tms_context *context, const char *path,
                                          size_t length)
{
    char list[128];

    for (size_t i = 0; i < FORMATS; i++) {
        if (ends_with(path, length, formats[i]->info.extension)) {
            return formats[i];
        }
    }
    bool standard = strcmp(path, "-") == 0;
    tms_fail(context, TMS_ERR_FORMAT, "%s: %s which format to write; there are %s",
             standard ? "standard output" : path,
             standard ? "nothing says" : "the extension does not say",
             format_list(true, list, sizeof(list)));
    return NULL;
}

static int start_writer(struct tms_writer *writer, const char *path,
                        const struct tms_writer_settings *settings)
{
    struct tms_context *context = writer->context;
    size_t length = strlen(path);
    const char *compression = compression_of(path, &length);
    char list[128];

    writer->format = settings->format != NULL ? find_format(context, settings->format)
                                              : format_of(context, path, length);
    if (writer->format == NULL) {
        return TMS_ERR_FORMAT;
    }
    if (!writer->format->info.writes) {
        return tms_fail(context, TMS_ERR_FORMAT,
                        "%s: the format \"%s\" can be read only; write one of %s", path,
                        writer->format->info.name, format_list(true, list, sizeof(list)));
    }
    compression = settings->compression != NULL ? settings->compression : compression;
    bool packed = strcmp(compression, "none") != 0;
    if (writer->format->own_compression && packed) {
        return tms_fail(context, TMS_ERR_FORMAT,
                        "%s: the format \"%s\" is compressed by itself; leave \"%s\" out, or take "
                        "another format",
                        path, writer->format->info.name, compression);
    }
    if (settings->no_accesses && !writer->format->omits_accesses) {
        return tms_fail(context, TMS_ERR_FORMAT,
                        "%s: the format \"%s\" is not written without accesses; only perfetto is",
                        path, writer->format->info.name);
    }
    writer->no_accesses = settings->no_accesses;
    writer->level = settings->level;
    writer->path = copy_path(context, path);
    if (writer->path == NULL) {
        return tms_fail_memory(context);
    }
    return tms_output_open(context, writer->path, compression,
                           writer->format->own_compression ? 0 : settings->level,
                           settings->descriptor, &writer->output);
}

static int create_state(struct tms_writer *writer)
{
    const struct tms_format *format = writer->format;

    if (format->writer_size > 0) {
        writer->state = tms_resize(&writer->context->memory, NULL, 0, 1, format->writer_size);
        if (writer->state == NULL) {
            return tms_fail_memory(writer->context);
        }
    }
    return format->create != NULL ? format->create(writer) : TMS_OK;
}

static void free_writer(struct tms_writer *writer)
{
    struct tms_memory *memory = &writer->context->memory;

    if (writer->state != NULL) {
        if (writer->format->destroy != NULL) {
            writer->format->destroy(writer);
        }
        tms_release(memory, writer->state, 1, writer->format->writer_size);
    }
    free_path(writer->context, writer->path);
    tms_release(memory, writer, 1, sizeof(*writer));
}

int tms_writer_open(struct tms_context *context, const char *path,
                    const struct tms_writer_settings *settings, struct tms_writer **out)
{
    struct tms_writer_settings defaults;
    struct tms_writer *writer = tms_resize(&context->memory, NULL, 0, 1, sizeof(*writer));

    *out = NULL;
    if (writer == NULL) {
        return tms_fail_memory(context);
    }
    tms_writer_settings_init(&defaults);
    writer->context = context;
    int code = start_writer(writer, path, settings != NULL ? settings : &defaults);
    if (code == TMS_OK) {
        code = create_state(writer);
        if (code != TMS_OK) {
            tms_output_abandon(writer->output);
        }
    }
    if (code != TMS_OK) {
        free_writer(writer);
        return code;
    }
    *out = writer;
    return TMS_OK;
}

int tms_writer_write(struct tms_writer *writer, const struct tms_event *events, size_t count)
{
    if (writer->failed != TMS_OK) {
        return writer->failed;
    }
    size_t known = tms_events_known(writer->context, events, count);
    if (known < count) {
        return tms_fail(
            writer->context, TMS_ERR_ARGUMENT,
            "event %llu to be written is invalid: unknown kind or name, memory order not "
            "allowed for its kind, or reserved bytes not 0",
            (unsigned long long)(writer->events + known + 1));
    }
    writer->failed = writer->format->write(writer, events, count);
    writer->events += count;
    return writer->failed;
}

/* Replaces control characters, as text formats write the loss as one line. */
void tms_writer_lost(struct tms_writer *writer, const char *loss)
{
    snprintf(writer->loss, sizeof(writer->loss), "%s", *loss != '\0' ? loss : "its end is missing");
    for (char *at = writer->loss; *at != '\0'; at++) {
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
    }
}

int tms_writer_close(struct tms_writer *writer)
{
    int code = writer->failed;

    if (code == TMS_OK && writer->format->finish != NULL) {
        code = writer->format->finish(writer);
    }
    if (code == TMS_OK) {
        code = tms_output_close(writer->output);
    } else {
        tms_output_abandon(writer->output);
    }
    free_writer(writer);
    return code;
}

void tms_writer_abandon(struct tms_writer *writer)
{
    tms_output_abandon(writer->output);
    free_writer(writer);
}
