/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the std format, one event per line: THREAD|OPERATION(OPERAND)|LOCATION.
 * docs/user/formats.md has the grammar.
 *
 * The fast path parses a typical line of up to 63 bytes directly in the window: it finds the
 * delimiters by bit masks (std_scan.h), the thread in a small cache, and the operation by a hash of
 * its name. Everything else (long lines, comments, backslashes, blanks in locations, the end of the
 * window, every error) takes the slow path, which implements the whole grammar and reports errors.
 * Both produce the same events.
 */
#include <assert.h>
#include <stdio.h>

#include "base/hash_mix.h"
#include "trace/lines.h"
#include "trace/std_escape.h"
#include "trace/std_scan.h"
#include "trace/std_writer.h"

#define OP_BITS        7
#define OP_SLOTS       (1 << OP_BITS)
#define OP_LENGTH_MOST 7
#define THREAD_SLOTS   64
#define LEAST_NAME     256
#define ORDER_LENGTH   7 /* of each of them, by chance */

/* Lines whose operands are looked up together, so that prefetches of table entries overlap. */
#define GROUP 64

struct op_slot {
    uint64_t word; /* the name, zero-padded; 0: free */
    uint8_t kind;
    uint8_t cls;
    bool optional; /* the operand may be missing */
    bool ordered;  /* a memory order is the last in the parentheses */
};

struct thread_slot {
    uint64_t word;
    uint32_t id;
};

/* An operand whose id is still to be found. */
struct lookup {
    struct tms_name_key key;
    const char *name;
    uint32_t length;
    uint16_t event; /* index in the batch */
    uint16_t cls;
};

struct std_reader {
    struct op_slot ops[OP_SLOTS];
    uint64_t factor; /* that gives each operation a slot of its own */
    struct thread_slot threads[THREAD_SLOTS];
    struct lookup lookups[GROUP];
    size_t lookup_count;
    uint64_t line;   /* the next one, 1-based */
    char *unescaped; /* the current name */
    size_t unescaped_capacity;
};

static inline size_t slot_of(uint64_t word, uint64_t factor)
{
    return (size_t)((word * factor) >> 58);
}

static inline size_t op_slot_of(uint64_t word, uint64_t factor)
{
    return (size_t)((word * factor) >> (64 - OP_BITS));
}

static inline const struct op_slot *find_op(const struct std_reader *std, uint64_t word)
{
    const struct op_slot *op = &std->ops[op_slot_of(word, std->factor)];

    return op->word == word ? op : NULL;
}

static uint64_t op_word(enum tms_event_kind kind)
{
    const char *text = tms_event_text(kind);
    uint64_t word = 0;

    assert(strlen(text) <= OP_LENGTH_MOST);
    memcpy(&word, text, strlen(text));
    return word;
}

/* Places every operation in the slot computed with a factor; false on a collision. */
static bool place_ops(struct std_reader *std, uint64_t factor)
{
    memset(std->ops, 0, sizeof(std->ops));
    std->factor = factor;
    for (enum tms_event_kind kind = 0; kind < TMS_EVENT_COUNT; kind++) {
        uint64_t word = op_word(kind);
        bool ordered = tms_is_ordered(kind);
        struct op_slot *op = &std->ops[op_slot_of(word, factor)];
        if (op->word != 0) {
            return false;
        }
        *op = (struct op_slot){word, (uint8_t)kind, (uint8_t)tms_event_class(kind),
                               tms_operand_is_optional(kind) && !ordered, ordered};
    }
    return true;
}

/* ---- orders ------------------------------------------------------------------------------ */

/* The order named by a text of ORDER_LENGTH bytes; TMS_ORDER_NONE if the kind cannot have it. */
static enum tms_order find_order(const char *text, enum tms_event_kind kind)
{
    enum tms_order found = memcmp(text, "consume", ORDER_LENGTH) == 0 ? TMS_ORDER_ACQUIRE : 0;

    for (enum tms_order order = TMS_ORDER_RELAXED; order < TMS_ORDER_COUNT; order++) {
        assert(strlen(tms_order_text(order)) == ORDER_LENGTH);
        found = memcmp(text, tms_order_text(order), ORDER_LENGTH) == 0 ? order : found;
    }
    return tms_event_orders(kind) >> found & 1 ? found : TMS_ORDER_NONE;
}

/*
 * Strips the order from the end of the text in the parentheses, and the comma before it if there is
 * an operand. TMS_ORDER_NONE: there is none.
 */
static enum tms_order cut_order(const struct op_slot *op, struct tms_span *inside)
{
    size_t comma = op->cls == TMS_CLASS_NONE ? 0 : 1;

    if (inside->length < comma + ORDER_LENGTH || (comma == 0 && inside->length != ORDER_LENGTH)) {
        return TMS_ORDER_NONE;
    }
    const char *text = inside->at + inside->length - ORDER_LENGTH;
    if (comma != 0 && text[-1] != ',') {
        return TMS_ORDER_NONE;
    }
    inside->length -= comma + ORDER_LENGTH;
    return find_order(text, op->kind);
}

/* ---- the fast path ----------------------------------------------------------------------- */

static inline int64_t quick_thread(struct tms_context *context, struct std_reader *std,
                                   const char *at, unsigned length)
{
    struct tms_names *names = &context->names[TMS_CLASS_THREAD];

    if (length > sizeof(uint64_t)) {
        return tms_names_intern_padded(names, at, length);
    }
    uint64_t word = tms_std_word(at, length);
    struct thread_slot *slot = &std->threads[slot_of(word, TMS_HASH_FACTOR)];
    if (slot->word != word) {
        int64_t id = tms_names_intern_padded(names, at, length);
        if (id < 0) {
            return id;
        }
        *slot = (struct thread_slot){word, (uint32_t)id};
    }
    return slot->id;
}

/* The offsets of the fields of a usual line from its start. */
struct shape {
    unsigned name;      /* the operation's name, one past the first bar */
    unsigned name_end;  /* its "(", or the end of the field */
    unsigned field_end; /* the second bar, or the end of the text */
    unsigned stop;      /* the end of the text */
    unsigned length;    /* with the line end */
};

/* False if the line has to take the slow path: unusual, incomplete, or wrong. */
static inline bool find_shape(const char *at, struct shape *shape)
{
    struct tms_std_marks marks = tms_std_scan(at);

    if (marks.controls == 0 || at[0] == '#') {
        return false;
    }
    unsigned stop = (unsigned)__builtin_ctzll(marks.controls);
    unsigned line_end = at[stop] == '\n' ? 1 : 2;
    if (line_end == 2 && (at[stop] != '\r' || at[stop + 1] != '\n')) {
        return false;
    }
    uint64_t bars = marks.bars & ((UINT64_C(1) << stop) - 1);
    uint64_t later = bars & (bars - 1);
    if (bars == 0 || (bars & 1) != 0 || (later & (later - 1)) != 0) {
        return false;
    }
    shape->stop = stop;
    shape->length = stop + line_end;
    shape->name = (unsigned)__builtin_ctzll(bars) + 1;
    shape->field_end = later != 0 ? (unsigned)__builtin_ctzll(later) : stop;
    if (at[shape->name - 1] == '\\' || at[shape->field_end] == '\\') {
        return false;
    }
    uint64_t field = ((UINT64_C(1) << shape->field_end) - 1) >> shape->name << shape->name;
    uint64_t opens = marks.opens & field;
    shape->name_end = opens != 0 ? (unsigned)__builtin_ctzll(opens) : shape->field_end;
    return shape->name_end - shape->name - 1 < OP_LENGTH_MOST; /* and not empty */
}

/* Queues the operand for lookup; false if the line has to take the slow path. */
static inline bool note_operand(struct tms_context *context, struct std_reader *std,
                                const struct op_slot *op, const char *at, const struct shape *shape,
                                size_t index, struct tms_event *event)
{
    struct lookup *lookup = &std->lookups[std->lookup_count];
    unsigned length = shape->field_end - shape->name_end;

    if (length == 0) {
        return op->optional;
    }
    if (at[shape->field_end - 1] != ')' || length <= 2 || op->cls == TMS_CLASS_NONE) {
        return false;
    }
    struct tms_span name = {at + shape->name_end + 1, length - 2};
    if (op->ordered) {
        event->order = (uint8_t)cut_order(op, &name);
        if (event->order == TMS_ORDER_NONE || name.length == 0) {
            return false;
        }
    }
    lookup->name = name.at;
    lookup->length = (uint32_t)name.length;
    lookup->event = (uint16_t)index;
    lookup->cls = op->cls;
    lookup->key = tms_names_key_padded(lookup->name, lookup->length);
    tms_names_prefetch(&context->names[op->cls], &lookup->key);
    std->lookup_count++;
    return true;
}

static inline int64_t quick_location(struct tms_context *context, const char *at,
                                     const struct shape *shape)
{
    const char *text = at + shape->field_end + 1;
    unsigned length = shape->stop - shape->field_end; /* with the bar */

    if (length <= 1) {
        return 0;
    }
    length--;
    uint32_t number = length <= 8 ? tms_std_number(text, length, TMS_LOCATION_NUMBER)
                                  : tms_location_number(text, length);
    return number != 0 ? number
                       : tms_names_intern_padded(&context->names[TMS_CLASS_LOCATION], text, length);
}

/*
 * Parses one line at `at`: returns the number of its bytes with all of the event set but its
 * target, or 0 if it has to take the slow path. 64 bytes at `at` are readable; the zero bytes after
 * the window stop every usual line.
 */
static inline size_t fast_line(struct tms_reader *reader, const char *at, size_t index)
{
    struct tms_context *context = reader->context;
    struct std_reader *std = reader->state;
    struct tms_event *event = &reader->events[index];
    struct shape shape;

    if (!find_shape(at, &shape)) {
        return 0;
    }
    const struct op_slot *op =
        find_op(std, tms_std_word(at + shape.name, shape.name_end - shape.name));
    if (op == NULL) {
        return 0;
    }
    int64_t thread = quick_thread(context, std, at, shape.name - 1);
    int64_t location = quick_location(context, at, &shape);
    event->order = TMS_ORDER_NONE;
    if ((location | thread) < 0 || !note_operand(context, std, op, at, &shape, index, event)) {
        return 0;
    }
    event->thread = (uint32_t)thread;
    event->target = 0;
    event->location = (uint32_t)location;
    event->kind = op->kind;
    return shape.length;
}

/* Finds the ids of the operands noted so far. */
static int resolve(struct tms_reader *reader)
{
    struct std_reader *std = reader->state;

    for (size_t i = 0; i < std->lookup_count; i++) {
        const struct lookup *lookup = &std->lookups[i];
        struct tms_names *names = &reader->context->names[lookup->cls];
        int64_t id = tms_names_intern_key(names, &lookup->key, lookup->name, lookup->length);
        if (id < 0) { /* retried for its error message */
            id = tms_intern(reader->context, lookup->cls, lookup->name, lookup->length);
        }
        if (id < 0) {
            return (int)id;
        }
        reader->events[lookup->event].target = (uint32_t)id;
    }
    std->lookup_count = 0;
    return TMS_OK;
}

/*
 * Reads up to a group of typical lines into the batch from `count` on; returns the new count, or a
 * code.
 */
static int64_t fast_lines(struct tms_reader *reader, size_t count)
{
    struct std_reader *std = reader->state;
    struct tms_input *input = &reader->input;
    size_t limit = count + GROUP < TMS_BATCH ? count + GROUP : TMS_BATCH;
    size_t length = 1;

    while (count < limit && input->at < input->end && length > 0) {
        length = fast_line(reader, input->at, count);
        reader->line_offset[count] = (uint32_t)(std->line - reader->first_line);
        input->at += length;
        std->line += length > 0;
        count += length > 0;
    }
    int code = resolve(reader);
    return code == TMS_OK ? (int64_t)count : code;
}

/* ---- the slow path ----------------------------------------------------------------------- */

/* The text before the next bar; the text after it stays in *rest, NULL if there was none. */
static struct tms_span next_field(struct tms_span *rest)
{
    const char *bar = memchr(rest->at, '|', rest->length);
    struct tms_span field = {rest->at, bar == NULL ? rest->length : (size_t)(bar - rest->at)};

    *rest = bar == NULL ? (struct tms_span){NULL, 0}
                        : (struct tms_span){bar + 1, rest->length - field.length - 1};
    return field;
}

/* The id of a text whose escapes are still to be undone, or a negative code. */
static int64_t intern_text(struct tms_reader *reader, enum tms_class cls, struct tms_span text)
{
    struct std_reader *std = reader->state;

    if (memchr(text.at, '\\', text.length) == NULL) {
        return tms_intern(reader->context, cls, text.at, text.length);
    }
    if (!TMS_RESERVE(&reader->context->memory, &std->unescaped, &std->unescaped_capacity,
                     text.length, LEAST_NAME)) {
        return tms_fail_memory(reader->context);
    }
    size_t length = tms_std_unescape(text.at, text.length, std->unescaped);
    return tms_intern(reader->context, cls, std->unescaped, length);
}

/* Checks and interns a name: its id, 0 if it was complained about, or a negative code. */
static int64_t plain_name(struct tms_reader *reader, uint64_t line, enum tms_class cls,
                          struct tms_span name)
{
    char quoted[TMS_QUOTE_SIZE];

    if (name.length == 0) {
        return tms_reader_skip(reader, line, "the name of the %s is empty", tms_class_text(cls));
    }
    if (tms_lines_has_blank(name)) {
        return tms_reader_skip(reader, line,
                               "expected a %s name without blanks, found \"%s\"; a blank in a "
                               "name is written \\x20",
                               tms_class_text(cls), tms_lines_quote(name, quoted));
    }
    return intern_text(reader, cls, name);
}

static const char *op_list(char *buffer, size_t size)
{
    size_t used = 0;

    for (int kind = 0; kind < TMS_EVENT_COUNT && used < size; kind++) {
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", kind > 0 ? " " : "",
                                 tms_event_text((enum tms_event_kind)kind));
    }
    return buffer;
}

static const struct op_slot *plain_op(const struct std_reader *std, struct tms_span name)
{
    uint64_t word = 0;

    if (name.length == 0 || name.length > OP_LENGTH_MOST) {
        return NULL;
    }
    memcpy(&word, name.at, name.length);
    return find_op(std, word);
}

static int64_t refuse_order(struct tms_reader *reader, uint64_t line, const struct op_slot *op,
                            struct tms_span field)
{
    char quoted[TMS_QUOTE_SIZE], list[64];
    size_t used = 0;

    for (enum tms_order order = TMS_ORDER_RELAXED; order < TMS_ORDER_COUNT; order++) {
        if (tms_event_orders(op->kind) >> order & 1) {
            used +=
                (size_t)snprintf(list + used, sizeof(list) - used, " %s", tms_order_text(order));
        }
    }
    return tms_reader_skip(reader, line,
                           "expected \"%s(%sORDER)\" with one of the orders%s, found \"%s\"",
                           tms_event_text(op->kind), op->cls == TMS_CLASS_NONE ? "" : "variable,",
                           list, tms_lines_quote(field, quoted));
}

/* Parses the text in the parentheses: 1, 0 after a complaint, or a code. */
static int64_t plain_operand(struct tms_reader *reader, uint64_t line, const struct op_slot *op,
                             struct tms_span field, struct tms_event *event)
{
    const char *open = memchr(field.at, '(', field.length);
    struct tms_span operand = {open + 1, field.length - (size_t)(open - field.at) - 2};
    char quoted[TMS_QUOTE_SIZE];

    if (op->ordered) {
        event->order = (uint8_t)cut_order(op, &operand);
        if (event->order == TMS_ORDER_NONE || op->cls == TMS_CLASS_NONE) {
            return event->order != TMS_ORDER_NONE ? 1 : refuse_order(reader, line, op, field);
        }
    }
    if (op->cls == TMS_CLASS_NONE) {
        return tms_reader_skip(reader, line, "expected \"%s\" without operand, found \"%s\"",
                               tms_event_text(op->kind), tms_lines_quote(field, quoted));
    }
    int64_t target = plain_name(reader, line, op->cls, operand);
    event->target = (uint32_t)target;
    return target > 0 ? 1 : target;
}

/* Reads the middle field into the event: 1, 0 if it was complained about, or a code. */
static int64_t plain_operation(struct tms_reader *reader, uint64_t line, struct tms_span field,
                               struct tms_event *event)
{
    const char *open = memchr(field.at, '(', field.length);
    struct tms_span name = {field.at, open == NULL ? field.length : (size_t)(open - field.at)};
    const struct op_slot *op = plain_op(reader->state, name);
    char quoted[TMS_QUOTE_SIZE], list[256];

    if (op == NULL) {
        return tms_reader_skip(reader, line, "unknown operation \"%s\"; expected one of: %s",
                               tms_lines_quote(name, quoted), op_list(list, sizeof(list)));
    }
    event->kind = op->kind;
    if (open == NULL && op->optional) {
        return 1;
    }
    if (open == NULL && op->ordered) {
        return refuse_order(reader, line, op, field);
    }
    if (open == NULL) {
        return tms_reader_skip(reader, line, "expected \"%s(%s)\", found \"%s\" without operand",
                               tms_event_text(op->kind), tms_class_text(op->cls),
                               tms_lines_quote(field, quoted));
    }
    if (field.at[field.length - 1] != ')') {
        return tms_reader_skip(reader, line, "expected \")\" at the end of the operation \"%s\"",
                               tms_lines_quote(field, quoted));
    }
    return plain_operand(reader, line, op, field, event);
}

static int64_t plain_location(struct tms_reader *reader, struct tms_span location)
{
    if (location.length == 0) {
        return 0;
    }
    return intern_text(reader, TMS_CLASS_LOCATION, location);
}

/* Rejects fields and bytes that no line may have: true, with *code set, after a complaint. */
static bool misshapen(struct tms_reader *reader, uint64_t line, struct tms_span text, int *code)
{
    char quoted[TMS_QUOTE_SIZE];
    int bars = 0;

    for (size_t i = 0; i < text.length; i++) {
        bars += text.at[i] == '|';
    }
    *code = TMS_OK;
    if (memchr(text.at, '\0', text.length) != NULL) {
        *code = tms_reader_skip(reader, line, "a zero byte; expected text, so the file is damaged");
    } else if (bars == 0) {
        *code = tms_reader_skip(reader, line, "expected THREAD|OPERATION|LOCATION, found \"%s\"",
                                tms_lines_quote(text, quoted));
    } else if (bars > 2) {
        *code = tms_reader_skip(reader, line,
                                "too many fields: expected THREAD|OPERATION|LOCATION, found "
                                "\"%s\"; a bar in a name or location is written \\x7c",
                                tms_lines_quote(text, quoted));
    } else {
        return false;
    }
    return true;
}

static void read_comment(struct tms_reader *reader, struct tms_span text)
{
    static const char mark[] = TMS_STD_LOSS;
    const size_t length = sizeof(mark) - 1;

    if (text.length > length && memcmp(text.at, mark, length) == 0) {
        tms_reader_marked_lost(reader, text.at + length, text.length - length);
    }
}

/* One line without its end: 1 with the event set, 0 if there is none in it, or a code. */
static int64_t slow_line(struct tms_reader *reader, uint64_t line, struct tms_span text,
                         struct tms_event *event)
{
    struct tms_span blank = text;
    int code;

    while (blank.length > 0 && (blank.at[0] == ' ' || blank.at[0] == '\t')) {
        blank.at++;
        blank.length--;
    }
    if (blank.length == 0 || text.at[0] == '#') {
        read_comment(reader, text);
        return 0;
    }
    if (misshapen(reader, line, text, &code)) {
        return code;
    }
    struct tms_span thread_field = next_field(&text);
    struct tms_span op_field = next_field(&text);
    *event = (struct tms_event){0};
    int64_t thread = plain_name(reader, line, TMS_CLASS_THREAD, thread_field);
    int64_t good = thread > 0 ? plain_operation(reader, line, op_field, event) : thread;
    int64_t location = good > 0 ? plain_location(reader, text) : 0;
    event->thread = (uint32_t)thread;
    event->location = (uint32_t)location;
    return location < 0 ? location : good;
}

/* ---- batches ----------------------------------------------------------------------------- */

/* Reads the next line into the batch at `count`; returns the new count, or a code. */
static int64_t plain_step(struct tms_reader *reader, size_t count, bool *ended)
{
    struct std_reader *std = reader->state;
    struct tms_span text;
    int64_t good = tms_lines_next(reader, std->line, &text);

    *ended = good == 0;
    if (good <= 0) {
        return good < 0 ? good : (int64_t)count;
    }
    if (count == 0) {
        reader->first_line = std->line; /* so that offsets stay small after long comments */
    }
    good = slow_line(reader, std->line, text, &reader->events[count]);
    reader->line_offset[count] = (uint32_t)(std->line - reader->first_line);
    std->line++;
    return good < 0 ? good : (int64_t)count + good;
}

static int64_t read_batch(struct tms_reader *reader)
{
    struct std_reader *std = reader->state;
    int64_t count = 0;
    bool ended = false;

    reader->first_line = std->line;
    while (count >= 0 && count < TMS_BATCH && !ended) {
        int64_t before = count;
        count = fast_lines(reader, (size_t)count);
        if (count == before) {
            count = plain_step(reader, (size_t)count, &ended);
        }
    }
    return count;
}

static int open_std(struct tms_reader *reader)
{
    struct std_reader *std = reader->state;
    struct tms_input *input = &reader->input;

    for (uint64_t factor = TMS_HASH_FACTOR; !place_ops(std, factor);) {
        factor += 2 * TMS_HASH_FACTOR;
    }
    std->line = 1;
    while (input->end - input->at < 3) {
        int more = tms_input_more(input);
        if (more <= 0) {
            return more;
        }
    }
    if (memcmp(input->at, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        input->at += 3;
    }
    return TMS_OK;
}

static void close_std(struct tms_reader *reader)
{
    struct std_reader *std = reader->state;

    tms_release(&reader->context->memory, std->unescaped, std->unescaped_capacity, 1);
}

/* Accepts any text without control characters in its first line. */
static bool detect_std(const char *head, size_t length)
{
    size_t odd = 0;
    bool first_line = true;

    for (size_t i = 0; i < length && i < 64; i++) {
        unsigned char byte = (unsigned char)head[i];
        bool text = byte >= ' ' || byte == '\t' || byte == '\r' || byte == '\n';
        first_line = first_line && byte != '\n';
        odd += !text;
        if (!text && first_line) {
            return false;
        }
    }
    return odd < 4;
}

const struct tms_format tms_format_std = {
    .info = {.name = "std",
             .extension = ".std",
             .summary = "text, a line per event: THREAD|OPERATION|LOCATION",
             .reads = true,
             .writes = true},
    .counts_lines = true,
    .detect = detect_std,
    .reader_size = sizeof(struct std_reader),
    .open = open_std,
    .read = read_batch,
    .close = close_std,
    .writer_size = sizeof(struct tms_std_writer),
    .write = tms_std_write,
    .finish = tms_std_finish,
    .destroy = tms_std_destroy,
};
