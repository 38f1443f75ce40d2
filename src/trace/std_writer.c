/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the std format without loss: bytes that a name cannot contain are escaped (std_escape.h).
 * Most names have none; each name is checked once, when it is first written.
 */
#include "trace/std_writer.h"

#include <string.h>

#include "trace/lines.h"
#include "trace/std_escape.h"

#define LEAST_WORDS 64

/* What a line has besides its names: "|", the operation, "(", ",", the order, ")|", a number as
 * location, and the line end. */
#define LINE_EXTRA 40

/* Marks the name as plain, so that it is not checked again. False if out of memory. */
static bool mark_plain(struct tms_writer *writer, struct tms_std_plain *plain, uint32_t id)
{
    if (!TMS_RESERVE(&writer->context->memory, &plain->bits, &plain->words, (size_t)id / 64 + 1,
                     LEAST_WORDS)) {
        return false;
    }
    plain->bits[id / 64] |= UINT64_C(1) << (id % 64);
    return true;
}

/* A name of an event, as it is written. */
struct part {
    struct tms_text text;
    enum tms_class cls;
    bool escaped;
};

/* A name that is not known to be plain. */
static int examine(struct tms_writer *writer, uint32_t id, struct part *part)
{
    struct tms_std_writer *std = writer->state;
    const struct tms_text *name = &part->text;

    if (memchr(name->text, '\0', name->length) != NULL) {
        return tms_fail(writer->context, TMS_ERR_FORMAT,
                        "%s: the %s name \"%s\" can't be written as std, as it has a zero byte; "
                        "write tms instead",
                        writer->path, tms_class_text(part->cls), name->text);
    }
    part->escaped = !tms_std_is_plain(part->cls, name->text, name->length);
    if (!part->escaped && !mark_plain(writer, &std->plain[part->cls], id)) {
        return tms_fail_memory(writer->context);
    }
    return TMS_OK;
}

static inline int find_part(struct tms_writer *writer, enum tms_class cls, uint32_t id,
                            struct part *part)
{
    const struct tms_std_writer *std = writer->state;
    const struct tms_std_plain *plain = &std->plain[cls];

    *part = (struct part){.text = writer->context->names[cls].texts[id], .cls = cls};
    if (id / 64 < plain->words && (plain->bits[id / 64] >> (id % 64) & 1) != 0) {
        return TMS_OK;
    }
    return examine(writer, id, part);
}

static inline size_t room_for(const struct part *part)
{
    return part->escaped ? (size_t)part->text.length * TMS_STD_ESCAPE_SIZE : part->text.length;
}

static inline char *put(char *to, const struct part *part)
{
    if (part->escaped) {
        return tms_std_escape(part->cls, part->text.text, part->text.length, to);
    }
    memcpy(to, part->text.text, part->text.length);
    return to + part->text.length;
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

/* The names of an event; an absent one has no length. */
struct parts {
    struct part thread, target, location;
};

static inline int find_parts(struct tms_writer *writer, const struct tms_event *event,
                             struct parts *parts)
{
    int code = find_part(writer, TMS_CLASS_THREAD, event->thread, &parts->thread);

    parts->target = parts->location = (struct part){.text = {"", 0}};
    if (code == TMS_OK && event->target != 0) {
        code = find_part(writer, tms_event_class(event->kind), event->target, &parts->target);
    }
    if (code == TMS_OK && event->location != 0 && event->location < TMS_LOCATION_NUMBER) {
        code = find_part(writer, TMS_CLASS_LOCATION, event->location, &parts->location);
    }
    return code;
}

/* "(target)", "(target,order)" or "(order)". */
static inline char *put_operand(char *to, const struct tms_event *event, const struct part *target)
{
    *to++ = '(';
    to = put(to, target);
    if (event->order != TMS_ORDER_NONE) {
        const char *order = tms_order_text(event->order);
        size_t length = strlen(order);
        *to = ',';
        to += event->target != 0;
        memcpy(to, order, length);
        to += length;
    }
    *to++ = ')';
    return to;
}

static inline char *put_line(char *to, const struct tms_event *event, const struct parts *parts)
{
    to = put(to, &parts->thread);
    *to++ = '|';
    to = put_op(to, event->kind);
    if (event->target != 0 || event->order != TMS_ORDER_NONE) {
        to = put_operand(to, event, &parts->target);
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
    int code = TMS_OK;
    if (length - 1 > TMS_LINE_MOST) {
        code = tms_fail(writer->context, TMS_ERR_FORMAT,
                        "%s: the names of an event make a line longer than 1 MiB, which std does "
                        "not have; write tms instead",
                        writer->path);
    } else {
        code = tms_output_write(writer->output, line, length);
    }
    tms_release(&writer->context->memory, line, size, 1);
    return code;
}

static inline int write_event(struct tms_writer *writer, const struct tms_event *event)
{
    struct tms_std_writer *std = writer->state;
    struct parts parts;
    int code = find_parts(writer, event, &parts);
    size_t size =
        room_for(&parts.thread) + room_for(&parts.target) + room_for(&parts.location) + LINE_EXTRA;

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
        tms_release(&writer->context->memory, std->plain[cls].bits, std->plain[cls].words,
                    sizeof(*std->plain[cls].bits));
    }
}

/* Other programs read the line as a comment. */
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
