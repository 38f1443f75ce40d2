/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads RoadRunner's text log, as its print tool writes it: "@ Rd(0,@05.x_I) shadow A.java:3:7".
 * Lines without the "@" are other output of the program or the tool and are skipped; a file without
 * any "@" line is not such a log.
 *
 * RoadRunner prints Start, Join and Wait twice, before and after the operation, in the same
 * words; other tools print them once. A thread is silent between the two, so a line that
 * repeats the previous one of its thread is the second half. The fork happens at the first
 * Start, the join at the second Join (at the first, until a second Start has shown that this
 * log has both), a wait gives the monitor up at the first Wait and has it back at the second.
 *
 * Thread numbers are used again. A number that is started again is another thread: "1", then
 * "1#2", "1#3" and so on.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "trace/lines.h"

#define EVENTS_PER_LINE 3 /* at most: what was held back, release, wait */
#define THREADS_LEAST   64
#define TID_MOST        64

/* The thread that a number currently denotes; indexed by the id of the number's name. */
struct rr_thread {
    uint32_t current; /* thread id; 0: the number itself */
    uint32_t starts;
    uint32_t half_target;     /* of the line that may be repeated */
    const struct rr_op *half; /* NULL: the next line is not a second half */
    bool join_held;
    bool joined;
};

struct rr_reader {
    struct rr_thread *threads;
    size_t capacity;
    uint64_t line;
    size_t count;  /* events in the batch */
    bool has_call; /* some line was an operation, known or not */
    bool twice;    /* a Start was repeated: so are joins */
};

/* A parsed line. */
struct rr_line {
    uint64_t number;
    const struct rr_op *op;
    struct tms_span operand;
    struct tms_span side; /* of a barrier, after the second comma */
    uint32_t self;        /* id of the thread's number */
    uint32_t target;      /* id of the operand: a thread's number, the monitor of a wait, … */
    uint32_t location;
    bool second; /* repeats the thread's previous line */
};

struct rr_op {
    const char *name;
    enum tms_event_kind kind;
    bool halves; /* may be printed before and after */
    /* Adds the line's events to the batch; NULL: the line has none. */
    int (*take)(struct tms_reader *reader, const struct rr_line *line);
};

static int take_plain(struct tms_reader *reader, const struct rr_line *line);
static int take_start(struct tms_reader *reader, const struct rr_line *line);
static int take_join(struct tms_reader *reader, const struct rr_line *line);
static int take_wait(struct tms_reader *reader, const struct rr_line *line);
static int take_barrier(struct tms_reader *reader, const struct rr_line *line);

static const struct rr_op rr_ops[] = {
    {"Rd", TMS_EVENT_READ, false, take_plain},
    {"Wr", TMS_EVENT_WRITE, false, take_plain},
    {"ARd", TMS_EVENT_READ, false, take_plain}, /* arrays */
    {"AWr", TMS_EVENT_WRITE, false, take_plain},
    {"VRd", TMS_EVENT_READ, false, take_plain}, /* volatiles */
    {"VWr", TMS_EVENT_WRITE, false, take_plain},
    {"Acquire", TMS_EVENT_ACQUIRE, false, take_plain},
    {"Release", TMS_EVENT_RELEASE, false, take_plain},
    {"Enter", TMS_EVENT_ENTER, false, take_plain},
    {"Exit", TMS_EVENT_EXIT, false, take_plain},
    {"Start", TMS_EVENT_FORK, true, take_start},
    {"Join", TMS_EVENT_JOIN, true, take_join},
    {"Wait", TMS_EVENT_WAIT, true, take_wait},
    {"Barrier", TMS_EVENT_ARRIVE, false, take_barrier},
    {"Notify", TMS_EVENT_COUNT, false, NULL},
    {"Sleep", TMS_EVENT_COUNT, false, NULL},
    {"Interrupt", TMS_EVENT_COUNT, false, NULL},
    {"Interrupted", TMS_EVENT_COUNT, false, NULL},
    {"ClassInited", TMS_EVENT_COUNT, false, NULL},
    {"ClassAccssed", TMS_EVENT_COUNT, false, NULL}, /* as RoadRunner spells it */
};
#define RR_OPS (sizeof(rr_ops) / sizeof(rr_ops[0]))

static bool is(struct tms_span text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

static const struct rr_op *find_op(struct tms_span name)
{
    for (size_t i = 0; i < RR_OPS; i++) {
        if (is(name, rr_ops[i].name)) {
            return &rr_ops[i];
        }
    }
    return NULL;
}

/* ---- threads ----------------------------------------------------------------------------- */

static int grow_threads(struct tms_reader *reader, uint32_t id)
{
    struct rr_reader *rr = reader->state;
    struct tms_memory *memory = &reader->context->memory;
    size_t capacity = tms_capacity(rr->capacity, (size_t)id + 1, THREADS_LEAST);

    if (capacity == rr->capacity) {
        return TMS_OK;
    }
    struct rr_thread *threads =
        tms_resize(memory, rr->threads, rr->capacity, capacity, sizeof(*threads));
    if (threads == NULL) {
        return tms_fail_memory(reader->context);
    }
    rr->threads = threads;
    rr->capacity = capacity;
    return TMS_OK;
}

/* The id of a thread number: 0 after a complaint, or a code. */
static int64_t number_of(struct tms_reader *reader, uint64_t line, struct tms_span name)
{
    char quoted[TMS_QUOTE_SIZE];

    if (name.length == 0 || name.length > TID_MOST || name.at[0] == '-') {
        return tms_reader_skip(reader, line, "expected a thread number, found \"%s\"",
                               tms_lines_quote(name, quoted));
    }
    int64_t id = tms_intern(reader->context, TMS_CLASS_THREAD, name.at, name.length);
    int code = id > 0 ? grow_threads(reader, (uint32_t)id) : (int)id;
    return code == TMS_OK ? id : code;
}

static struct rr_thread *thread_at(struct tms_reader *reader, uint32_t number)
{
    struct rr_reader *rr = reader->state;

    assert(number < rr->capacity);
    return &rr->threads[number];
}

static uint32_t current_of(struct tms_reader *reader, uint32_t number)
{
    uint32_t current = thread_at(reader, number)->current;

    return current != 0 ? current : number;
}

/* A number that is started for the second time denotes a new thread from now on. */
static int start_again(struct tms_reader *reader, uint32_t number)
{
    char name[TID_MOST + 16];
    struct rr_thread *thread = thread_at(reader, number);

    snprintf(name, sizeof(name), "%s#%u", tms_name(reader->context, TMS_CLASS_THREAD, number, NULL),
             thread->starts + 1);
    int64_t id = tms_intern(reader->context, TMS_CLASS_THREAD, name, strlen(name));
    if (id < 0) {
        return (int)id;
    }
    thread->current = (uint32_t)id;
    thread->joined = false;
    return TMS_OK;
}

/* ---- events ------------------------------------------------------------------------------ */

static void add(struct tms_reader *reader, uint32_t number, enum tms_event_kind kind,
                uint32_t target, uint32_t location)
{
    struct rr_reader *rr = reader->state;

    assert(rr->count < TMS_BATCH && target != 0);
    reader->events[rr->count] = (struct tms_event){.thread = current_of(reader, number),
                                                   .target = target,
                                                   .location = location,
                                                   .kind = (uint8_t)kind};
    reader->line_offset[rr->count++] = (uint32_t)(rr->line - reader->first_line);
}

static int take_plain(struct tms_reader *reader, const struct rr_line *line)
{
    add(reader, line->self, line->op->kind, line->target, line->location);
    return TMS_OK;
}

static int take_start(struct tms_reader *reader, const struct rr_line *line)
{
    struct rr_reader *rr = reader->state;
    struct rr_thread *child = thread_at(reader, line->target);

    if (line->second) {
        rr->twice = true;
        return TMS_OK;
    }
    int code = child->starts > 0 || child->joined ? start_again(reader, line->target) : TMS_OK;
    if (code == TMS_OK) {
        child->starts++;
        add(reader, line->self, TMS_EVENT_FORK, current_of(reader, line->target), line->location);
    }
    return code;
}

static void finish_join(struct tms_reader *reader, uint32_t number, uint32_t child)
{
    thread_at(reader, number)->join_held = false;
    thread_at(reader, child)->joined = true;
    add(reader, number, TMS_EVENT_JOIN, current_of(reader, child), 0);
}

static int take_join(struct tms_reader *reader, const struct rr_line *line)
{
    const struct rr_reader *rr = reader->state;
    struct rr_thread *self = thread_at(reader, line->self);

    if (rr->twice && !line->second) {
        self->join_held = true;
    } else if (self->join_held || !line->second) {
        finish_join(reader, line->self, line->target);
    }
    return TMS_OK;
}

static int take_wait(struct tms_reader *reader, const struct rr_line *line)
{
    if (line->second) {
        add(reader, line->self, TMS_EVENT_ACQUIRE, line->target, line->location);
        return TMS_OK;
    }
    int64_t condition =
        tms_intern(reader->context, TMS_CLASS_CONDITION, line->operand.at, line->operand.length);
    if (condition < 0) {
        return (int)condition;
    }
    add(reader, line->self, TMS_EVENT_RELEASE, line->target, line->location);
    add(reader, line->self, TMS_EVENT_WAIT, (uint32_t)condition, line->location);
    return TMS_OK;
}

static int take_barrier(struct tms_reader *reader, const struct rr_line *line)
{
    bool enter = is(line->side, "Enter");

    if (!enter && !is(line->side, "Exit")) {
        return tms_reader_skip(reader, line->number,
                               "expected \"Barrier(THREAD,NAME,Enter)\" or \"…,Exit)\"");
    }
    add(reader, line->self, enter ? TMS_EVENT_ARRIVE : TMS_EVENT_DEPART, line->target,
        line->location);
    return TMS_OK;
}

/* The thread has another line: completes the operation that its previous line left open. */
static void settle(struct tms_reader *reader, struct rr_line *line)
{
    struct rr_thread *self = thread_at(reader, line->self);
    const struct rr_op *half = self->half;
    uint32_t target = self->half_target;

    line->second = half != NULL && half == line->op && target == line->target;
    self->half = line->op->halves && !line->second ? line->op : NULL;
    self->half_target = line->target;
    if (half == NULL || line->second) {
        return;
    }
    if (self->join_held) {
        finish_join(reader, line->self, target);
    } else if (half->kind == TMS_EVENT_WAIT) {
        add(reader, line->self, TMS_EVENT_ACQUIRE, target, 0);
    }
}

/* ---- lines ------------------------------------------------------------------------------- */

static struct tms_span skip_blanks(struct tms_span text)
{
    while (text.length > 0 && (text.at[0] == ' ' || text.at[0] == '\t')) {
        text.at++;
        text.length--;
    }
    return text;
}

static struct tms_span skip(struct tms_span text, size_t count)
{
    return (struct tms_span){text.at + count, text.length - count};
}

/* The letters at the front. */
static struct tms_span word_of(struct tms_span text)
{
    size_t length = 0;

    while (length < text.length && (unsigned)((text.at[length] | 0x20) - 'a') < 26) {
        length++;
    }
    return (struct tms_span){text.at, length};
}

/* The bytes up to the ")" that closes a "(" before them; descriptors have parentheses, too. */
static bool enclosed(struct tms_span text, struct tms_span *inside)
{
    int depth = 1;

    for (size_t i = 0; i < text.length && (unsigned char)text.at[i] > ' '; i++) {
        depth += (text.at[i] == '(') - (text.at[i] == ')');
        if (depth == 0) {
            *inside = (struct tms_span){text.at, i};
            return true;
        }
    }
    return false;
}

/* The last word of a text, if it looks like "A.java:3" or "A.java:3:7". */
static struct tms_span location_in(struct tms_span text)
{
    size_t start = text.length, digits = 0;

    while (start > 0 && (unsigned char)text.at[start - 1] > ' ') {
        start--;
    }
    struct tms_span word = skip(text, start);
    while (digits < word.length && (unsigned)(word.at[word.length - 1 - digits] - '0') < 10) {
        digits++;
    }
    bool shaped = digits > 0 && word.length > digits + 1 &&
                  word.at[word.length - digits - 1] == ':' &&
                  memchr(word.at, '(', word.length) == NULL;
    return shaped ? word : (struct tms_span){NULL, 0};
}

static int unknown_op(struct tms_reader *reader, struct tms_span name)
{
    const struct rr_reader *rr = reader->state;
    char quoted[TMS_QUOTE_SIZE], list[256];
    size_t used = 0;

    for (size_t i = 0; i < RR_OPS && used < sizeof(list); i++) {
        used += (size_t)snprintf(list + used, sizeof(list) - used, " %s", rr_ops[i].name);
    }
    return tms_reader_skip(reader, rr->line, "unknown operation \"%s\"; expected one of:%s",
                           tms_lines_quote(name, quoted), list);
}

/* The id of the line's operand: 0 after a complaint, or a code. */
static int64_t find_target(struct tms_reader *reader, const struct rr_line *line)
{
    enum tms_event_kind kind = line->op->kind;
    enum tms_class cls = kind == TMS_EVENT_WAIT ? TMS_CLASS_LOCK : tms_event_class(kind);

    if (line->operand.length == 0) {
        return tms_reader_skip(reader, line->number, "%s: the name of the %s is empty",
                               line->op->name, tms_class_text(cls));
    }
    if (cls == TMS_CLASS_THREAD) {
        return number_of(reader, line->number, line->operand);
    }
    return tms_intern(reader->context, cls, line->operand.at, line->operand.length);
}

/* The operation's two parts: 1, 0 after a complaint, or a code. */
static int64_t find_names(struct tms_reader *reader, struct tms_span inside, struct rr_line *line)
{
    const char *comma = memchr(inside.at, ',', inside.length);
    char quoted[TMS_QUOTE_SIZE];

    if (comma == NULL) {
        return tms_reader_skip(reader, line->number, "%s: expected THREAD,NAME, found \"%s\"",
                               line->op->name, tms_lines_quote(inside, quoted));
    }
    struct tms_span number = {inside.at, (size_t)(comma - inside.at)};
    line->operand = skip(inside, number.length + 1);
    comma = memchr(line->operand.at, ',', line->operand.length);
    if ((comma != NULL) != (line->op->take == take_barrier)) {
        return tms_reader_skip(reader, line->number, "%s: expected %s names, found \"%s\"",
                               line->op->name, comma != NULL ? "two" : "three",
                               tms_lines_quote(inside, quoted));
    }
    if (comma != NULL) {
        size_t length = (size_t)(comma - line->operand.at);
        line->side = skip(line->operand, length + 1);
        line->operand.length = length;
    }
    int64_t self = number_of(reader, line->number, number);
    int64_t target = self > 0 ? find_target(reader, line) : self;
    line->self = (uint32_t)self;
    line->target = (uint32_t)target;
    return target > 0 ? 1 : target;
}

/* Parses an event line after its operation: 1, 0 after a complaint, or a code. */
static int64_t parse(struct tms_reader *reader, struct tms_span rest, struct rr_line *line)
{
    struct tms_span inside;

    if (rest.length == 0 || rest.at[0] != '(' || !enclosed(skip(rest, 1), &inside)) {
        return tms_reader_skip(reader, line->number, "expected \"%s(THREAD,NAME)\" without blanks",
                               line->op->name);
    }
    int64_t good = find_names(reader, inside, line);
    struct tms_span location = location_in(skip(rest, inside.length + 2));
    if (good <= 0 || location.length == 0) {
        return good;
    }
    int64_t id = tms_intern(reader->context, TMS_CLASS_LOCATION, location.at, location.length);
    line->location = (uint32_t)id;
    return id < 0 ? id : 1;
}

static int read_line(struct tms_reader *reader, struct tms_span text)
{
    struct rr_reader *rr = reader->state;
    struct rr_line line = {.number = rr->line};

    if (text.length < 2 || text.at[0] != '@' || (text.at[1] != ' ' && text.at[1] != '\t')) {
        return TMS_OK;
    }
    if (memchr(text.at, '\0', text.length) != NULL) {
        return tms_reader_skip(reader, rr->line,
                               "a zero byte; expected text, so the file is damaged");
    }
    struct tms_span rest = skip_blanks(skip(text, 1));
    struct tms_span name = word_of(rest);
    line.op = find_op(name);
    rest = skip(rest, name.length);
    /* A "(" marks an event; other lines are messages: "@ 1 started by 0". */
    bool call = name.length > 0 && rest.length > 0 && rest.at[0] == '(';
    rr->has_call = rr->has_call || call || line.op != NULL;
    if (line.op == NULL) {
        return call ? unknown_op(reader, name) : TMS_OK;
    }
    if (line.op->take == NULL) {
        return TMS_OK;
    }
    int64_t good = parse(reader, rest, &line);
    if (good <= 0) {
        return (int)good;
    }
    settle(reader, &line);
    return line.op->take(reader, &line);
}

/*
 * A log without any operation is not a RoadRunner log, unless it is empty or truncated at the
 * start.
 */
static int at_end(const struct tms_reader *reader)
{
    const struct rr_reader *rr = reader->state;

    if (rr->has_call || rr->line == 1 || reader->complaints > 0 || tms_input_cut(&reader->input)) {
        return TMS_OK;
    }
    return tms_fail(reader->context, TMS_ERR_SYNTAX,
                    "%s: no line is an event; expected lines such as \"@ Rd(0,x)\", so it is no "
                    "RoadRunner log; omit the format to have it detected",
                    tms_input_name(reader->path));
}

static int64_t read_rr(struct tms_reader *reader)
{
    struct rr_reader *rr = reader->state;
    struct tms_span text;
    int more = 1;

    rr->count = 0;
    reader->first_line = rr->line;
    while (rr->count + EVENTS_PER_LINE <= TMS_BATCH) {
        if (rr->count == 0) {
            reader->first_line = rr->line;
        }
        more = tms_lines_next(reader, rr->line, &text);
        int code = more > 0 ? read_line(reader, text) : more < 0 ? more : at_end(reader);
        if (code < 0) {
            return code;
        }
        if (more == 0) {
            break; /* a join still held back had not returned when the log ended */
        }
        rr->line++;
    }
    return (int64_t)rr->count;
}

static int open_rr(struct tms_reader *reader)
{
    struct rr_reader *rr = reader->state;

    rr->line = 1;
    return TMS_OK;
}

static void close_rr(struct tms_reader *reader)
{
    struct rr_reader *rr = reader->state;

    tms_release(&reader->context->memory, rr->threads, rr->capacity, sizeof(*rr->threads));
}

/* Is there a line that is an event? Much else may precede it. */
static bool detect_rr(const char *head, size_t length)
{
    struct tms_span rest = {head, length};

    while (rest.length > 0) {
        const char *end = memchr(rest.at, '\n', rest.length);
        struct tms_span line = {rest.at, end != NULL ? (size_t)(end - rest.at) : rest.length};
        if (line.length > 2 && line.at[0] == '@' && (line.at[1] == ' ' || line.at[1] == '\t')) {
            struct tms_span call = skip_blanks(skip(line, 1));
            struct tms_span name = word_of(call);
            if (find_op(name) != NULL && name.length < call.length && call.at[name.length] == '(') {
                return true;
            }
        }
        rest = skip(rest, line.length + (end != NULL));
    }
    return false;
}

const struct tms_format tms_format_rr = {
    .info = {.name = "rr",
             .extension = ".rr",
             .summary = "text log of RoadRunner's print tool: @ OPERATION(THREAD,NAME)",
             .reads = true,
             .writes = false},
    .counts_lines = true,
    .detect = detect_rr,
    .reader_size = sizeof(struct rr_reader),
    .open = open_rr,
    .read = read_rr,
    .close = close_rr,
};
