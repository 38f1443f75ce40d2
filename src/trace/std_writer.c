/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The std format, out. Nothing is lost: a name that this format can't carry (a blank or a bar
 * in it) is refused instead of changed. Each name is looked at once, when it is first written.
 */
#include "trace/std_writer.h"

#include <string.h>

#define LEAST_WORDS 64

/* What a line has besides its names: "|", the operation, "(", ")|" and the line end. */
#define LINE_EXTRA 32

static bool is_fit(enum tms_class cls, const char *text)
{
    if (cls == TMS_CLASS_LOCATION) {
        size_t length = strlen(text);
        return strpbrk(text, "|\n") == NULL && text[length - 1] != '\r';
    }
    for (const char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at <= ' ' || *at == '|') {
            return false;
        }
    }
    return cls != TMS_CLASS_THREAD || text[0] != '#';
}

/* The first look at a name: marks it as fit, or refuses it. */
static int examine(struct tms_writer *writer, enum tms_class cls, uint32_t id)
{
    struct tms_std_writer *std = writer->state;
    struct tms_std_fit *fit = &std->fit[cls];
    const struct tms_text *name = &writer->context->names[cls].texts[id];

    if (!is_fit(cls, name->text) || strlen(name->text) != name->length) {
        return tms_fail(writer->context, TMS_ERR_FORMAT,
                        "%s: the %s name \"%s\" can't be written as std, which has no blanks, "
                        "bars and control characters in names; write tms instead",
                        writer->path, tms_class_text(cls), name->text);
    }
    if (id / 64 >= fit->words) {
        size_t words = tms_capacity(fit->words, id / 64 + 1, LEAST_WORDS);
        uint64_t *bits =
            tms_resize(&writer->context->memory, fit->bits, fit->words, words, sizeof(*bits));
        if (bits == NULL) {
            return tms_fail_memory(writer->context);
        }
        fit->bits = bits;
        fit->words = words;
    }
    fit->bits[id / 64] |= UINT64_C(1) << (id % 64);
    return TMS_OK;
}

static inline int check(struct tms_writer *writer, enum tms_class cls, uint32_t id)
{
    const struct tms_std_writer *std = writer->state;
    const struct tms_std_fit *fit = &std->fit[cls];

    if (id / 64 < fit->words && (fit->bits[id / 64] >> (id % 64) & 1) != 0) {
        return TMS_OK;
    }
    return examine(writer, cls, id);
}

static inline char *put(char *to, const struct tms_text *text)
{
    memcpy(to, text->text, text->length);
    return to + text->length;
}

static inline char *put_op(char *to, enum tms_event_kind kind)
{
    static const struct {
        char text[8];
        uint8_t length;
    } ops[] = {
#define X(name, text, cls) {text, sizeof(text) - 1},
        TMS_EVENT_KINDS(X)
#undef X
    };
    memcpy(to, ops[kind].text, sizeof(ops[kind].text));
    return to + ops[kind].length;
}

static inline char *put_number(char *to, uint32_t number)
{
    char digits[10];
    unsigned count = 0;

    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0) {
        *to++ = digits[--count];
    }
    return to;
}

static int flush(struct tms_writer *writer)
{
    struct tms_std_writer *std = writer->state;
    size_t used = std->used;

    std->used = 0;
    return tms_output_write(writer->output, std->buffer, used);
}

/* The names of an event, as they are written; an absent one has no length. */
struct parts {
    struct tms_text thread, target, location;
};

static inline int find_parts(struct tms_writer *writer, const struct tms_event *event,
                             struct parts *parts)
{
    const struct tms_names *names = writer->context->names;
    enum tms_class cls = tms_event_class(event->kind);
    int code = check(writer, TMS_CLASS_THREAD, event->thread);

    parts->thread = names[TMS_CLASS_THREAD].texts[event->thread];
    parts->target = names[cls].texts[event->target];
    parts->location = (struct tms_text){"", 0};
    if (code == TMS_OK && event->target != 0) {
        code = check(writer, cls, event->target);
    }
    if (code == TMS_OK && event->location != 0 && event->location < TMS_LOCATION_NUMBER) {
        parts->location = names[TMS_CLASS_LOCATION].texts[event->location];
        code = check(writer, TMS_CLASS_LOCATION, event->location);
    }
    return code;
}

static inline char *put_line(char *to, const struct tms_event *event, const struct parts *parts)
{
    to = put(to, &parts->thread);
    *to++ = '|';
    to = put_op(to, event->kind);
    if (event->target != 0) {
        *to++ = '(';
        to = put(to, &parts->target);
        *to++ = ')';
    }
    if (event->location != 0) {
        *to++ = '|';
        to = event->location >= TMS_LOCATION_NUMBER
                 ? put_number(to, event->location - TMS_LOCATION_NUMBER)
                 : put(to, &parts->location);
    }
    *to++ = '\n';
    return to;
}

/* A line that is larger than the buffer. */
static int write_long_line(struct tms_writer *writer, const struct tms_event *event,
                           const struct parts *parts, size_t size)
{
    char *line = tms_resize(&writer->context->memory, NULL, 0, size, 1);

    if (line == NULL) {
        return tms_fail_memory(writer->context);
    }
    size_t length = (size_t)(put_line(line, event, parts) - line);
    int code = tms_output_write(writer->output, line, length);
    tms_release(&writer->context->memory, line, size, 1);
    return code;
}

static inline int write_event(struct tms_writer *writer, const struct tms_event *event)
{
    struct tms_std_writer *std = writer->state;
    struct parts parts;
    int code = find_parts(writer, event, &parts);
    size_t size =
        (size_t)parts.thread.length + parts.target.length + parts.location.length + LINE_EXTRA;

    if (code == TMS_OK && size > sizeof(std->buffer) - std->used) {
        code = flush(writer);
    }
    if (code != TMS_OK) {
        return code;
    }
    if (size > sizeof(std->buffer)) {
        return write_long_line(writer, event, &parts, size);
    }
    char *to = std->buffer + std->used;
    std->used += (size_t)(put_line(to, event, &parts) - to);
    return TMS_OK;
}

int tms_std_write(struct tms_writer *writer, const struct tms_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int code = write_event(writer, &events[i]);
        if (code != TMS_OK) {
            return code;
        }
    }
    return TMS_OK;
}

void tms_std_destroy(struct tms_writer *writer)
{
    struct tms_std_writer *std = writer->state;

    for (int cls = 0; cls < TMS_CLASS_COUNT; cls++) {
        tms_release(&writer->context->memory, std->fit[cls].bits, std->fit[cls].words,
                    sizeof(*std->fit[cls].bits));
    }
}

/* A comment to everybody else. */
int tms_std_finish(struct tms_writer *writer)
{
    static const char mark[] = TMS_STD_LOSS, end[] = "\n";
    int code = flush(writer);

    if (writer->loss[0] == '\0' || code != TMS_OK) {
        return code;
    }
    code = tms_output_write(writer->output, mark, sizeof(mark) - 1);
    if (code == TMS_OK) {
        code = tms_output_write(writer->output, writer->loss, strlen(writer->loss));
    }
    return code == TMS_OK ? tms_output_write(writer->output, end, 1) : code;
}
