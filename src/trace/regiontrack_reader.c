/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes the RegionTrack binary format: three big-endian 32-bit integers per event,
 * thread, opcode and operand. A number becomes the name that is its decimal text, and such a name
 * becomes its number again, so reading and writing gives the same bytes. Other names get the lowest
 * numbers from 1 on that no name of their class has as text.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"

#define RECORD       12
#define CACHE_SLOTS  4096
#define DETECT_TRIES 64
#define LEAST        64
#define NUMBER_SIZE  12 /* "-2147483648" and its end */

/* X(opcode, event kind) */
#define OPCODES(X)                                                                                 \
    X(20, BEGIN)                                                                                   \
    X(21, END)                                                                                     \
    X(22, READ)                                                                                    \
    X(23, WRITE)                                                                                   \
    X(24, ACQUIRE)                                                                                 \
    X(25, RELEASE)

#define OPCODE_FIRST 20
#define OPCODE_LAST  25

static const enum tms_event_kind kind_of[] = {
#define X(opcode, kind) [opcode - OPCODE_FIRST] = TMS_EVENT_##kind,
    OPCODES(X)
#undef X
};

static const uint8_t opcode_of[TMS_EVENT_COUNT] = {
#define X(opcode, kind) [TMS_EVENT_##kind] = opcode,
    OPCODES(X)
#undef X
        /* Without their orders, with a warning. */
        [TMS_EVENT_ATOMIC_READ] = 22,
    [TMS_EVENT_ATOMIC_WRITE] = 23,
};

static uint32_t load(const char *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof(word));
    return __builtin_bswap32(word);
}

static void store(char *at, uint32_t word)
{
    word = __builtin_bswap32(word);
    memcpy(at, &word, sizeof(word));
}

/* ---- in ---------------------------------------------------------------------------------- */

/* A cache of recent numbers, so that most need no conversion to text. */
struct cached {
    uint32_t number;
    uint32_t cls;
    uint32_t id; /* 0: free */
};

struct rt_reader {
    struct cached cache[CACHE_SLOTS];
    uint64_t record; /* the next one, 1-based */
};

static int64_t id_of(struct tms_reader *reader, enum tms_class cls, uint32_t number)
{
    struct rt_reader *rt = reader->state;
    struct cached *cached = &rt->cache[(number * 8 + cls) % CACHE_SLOTS];

    if (cached->id == 0 || cached->number != number || cached->cls != cls) {
        char text[NUMBER_SIZE];
        int length = snprintf(text, sizeof(text), "%d", (int32_t)number);
        int64_t id = tms_intern(reader->context, cls, text, (size_t)length);
        if (id < 0) {
            return id;
        }
        *cached = (struct cached){number, cls, (uint32_t)id};
    }
    return cached->id;
}

/* One record: 1 with the event set, 0 after a complaint, or a code. */
static int64_t read_record(struct tms_reader *reader, const char *at, struct tms_event *event)
{
    struct rt_reader *rt = reader->state;
    uint32_t opcode = load(at + 4);
    uint64_t number = rt->record++;

    if (opcode - OPCODE_FIRST > OPCODE_LAST - OPCODE_FIRST) {
        return tms_reader_skip(reader, number, "unknown opcode %d; expected %d to %d",
                               (int32_t)opcode, OPCODE_FIRST, OPCODE_LAST);
    }
    enum tms_event_kind kind = kind_of[opcode - OPCODE_FIRST];
    int64_t thread = id_of(reader, TMS_CLASS_THREAD, load(at));
    int64_t target = id_of(reader, tms_event_class(kind), load(at + 8));
    *event = (struct tms_event){
        .thread = (uint32_t)thread, .target = (uint32_t)target, .kind = (uint8_t)kind};
    return thread < 0 ? thread : target < 0 ? target : 1;
}

static int64_t read_batch(struct tms_reader *reader)
{
    struct tms_input *input = &reader->input;
    int64_t count = 0;

    while (count < TMS_BATCH) {
        if (input->end - input->at >= RECORD) {
            int64_t good = read_record(reader, input->at, &reader->events[count]);
            if (good < 0) {
                return good;
            }
            input->at += RECORD;
            count += good;
            continue;
        }
        int more = tms_input_more(input);
        if (more < 0) {
            return more;
        }
        if (more == 0) {
            break;
        }
    }
    if (count == 0 && input->at < input->end) {
        const struct rt_reader *rt = reader->state;
        tms_reader_cut(reader,
                       "the file ends in the middle of record %llu; the records before it "
                       "were read",
                       (unsigned long long)rt->record);
        input->at = input->end;
    }
    return count;
}

static int open_reader(struct tms_reader *reader)
{
    struct rt_reader *rt = reader->state;

    rt->record = 1;
    return TMS_OK;
}

static bool detect(const char *head, size_t length)
{
    size_t records = length / RECORD;

    for (size_t i = 0; i < records && i < DETECT_TRIES; i++) {
        if (load(head + i * RECORD + 4) - OPCODE_FIRST > OPCODE_LAST - OPCODE_FIRST) {
            return false;
        }
    }
    return records > 0;
}

/* ---- out --------------------------------------------------------------------------------- */

/* The numbers of one class's names. */
struct numbering {
    int64_t *number; /* by id, one more than the number so that 0 is "none yet" */
    size_t capacity;
    int32_t *given; /* to names that are not numbers, in ascending order */
    size_t given_count, given_capacity;
    int32_t next; /* the lowest that may be given */
};

struct rt_writer {
    struct numbering classes[TMS_CLASS_COUNT];
    bool location_lost, order_lost;
};

/* Is it the decimal text of a 32-bit number, just as it would be printed? */
static bool is_number(const char *text, int32_t *number)
{
    char printed[NUMBER_SIZE];
    long long value = strtoll(text, NULL, 10);

    *number = (int32_t)value;
    snprintf(printed, sizeof(printed), "%d", *number);
    return strcmp(printed, text) == 0;
}

static bool is_given(const struct numbering *numbering, int32_t number)
{
    size_t low = 0, high = numbering->given_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (numbering->given[middle] < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < numbering->given_count && numbering->given[low] == number;
}

/* Finds a number that is neither the text of a name nor assigned yet. */
static int give(struct tms_writer *writer, enum tms_class cls, int32_t *number)
{
    struct rt_writer *rt = writer->state;
    struct numbering *numbering = &rt->classes[cls];
    struct tms_memory *memory = &writer->context->memory;
    char text[NUMBER_SIZE];

    if (numbering->given_count == numbering->given_capacity) {
        size_t capacity =
            tms_capacity(numbering->given_capacity, numbering->given_count + 1, LEAST);
        int32_t *given = tms_resize(memory, numbering->given, numbering->given_capacity, capacity,
                                    sizeof(*given));
        if (given == NULL) {
            return tms_fail_memory(writer->context);
        }
        numbering->given = given;
        numbering->given_capacity = capacity;
    }
    do {
        if (numbering->next == INT32_MAX) {
            return tms_fail(writer->context, TMS_ERR_LIMIT,
                            "%s: more names than regiontrack has numbers; write tms instead",
                            writer->path);
        }
        snprintf(text, sizeof(text), "%d", ++numbering->next);
    } while (tms_names_find(&writer->context->names[cls], text, strlen(text)) != 0);
    *number = numbering->given[numbering->given_count++] = numbering->next;
    return TMS_OK;
}

/* The first time that a name is written. */
static int assign(struct tms_writer *writer, enum tms_class cls, uint32_t id)
{
    struct rt_writer *rt = writer->state;
    struct numbering *numbering = &rt->classes[cls];
    int32_t number;

    if (id >= numbering->capacity) {
        size_t capacity = tms_capacity(numbering->capacity, (size_t)id + 1, LEAST);
        int64_t *numbers = tms_resize(&writer->context->memory, numbering->number,
                                      numbering->capacity, capacity, sizeof(*numbers));
        if (numbers == NULL) {
            return tms_fail_memory(writer->context);
        }
        numbering->number = numbers;
        numbering->capacity = capacity;
    }
    if (!is_number(tms_name(writer->context, cls, id, NULL), &number) ||
        is_given(numbering, number)) {
        int code = give(writer, cls, &number);
        if (code != TMS_OK) {
            return code;
        }
    }
    numbering->number[id] = (int64_t)(uint32_t)number + 1;
    return TMS_OK;
}

/* The number to write for a name; 0 for a block without a label. */
static int number_of(struct tms_writer *writer, enum tms_class cls, uint32_t id, uint32_t *number)
{
    const struct rt_writer *rt = writer->state;
    const struct numbering *numbering = &rt->classes[cls];

    *number = 0;
    if (id == 0) {
        return TMS_OK;
    }
    if (id >= numbering->capacity || numbering->number[id] == 0) {
        int code = assign(writer, cls, id);
        if (code != TMS_OK) {
            return code;
        }
    }
    *number = (uint32_t)(numbering->number[id] - 1);
    return TMS_OK;
}

static void warn_of_loss(struct tms_writer *writer, const struct tms_event *event)
{
    struct rt_writer *rt = writer->state;

    if (event->location != 0 && !rt->location_lost) {
        rt->location_lost = true;
        tms_warn(writer->context, "%s: regiontrack has no locations; they are left out",
                 writer->path);
    }
    if (event->order != TMS_ORDER_NONE && !rt->order_lost) {
        rt->order_lost = true;
        tms_warn(writer->context,
                 "%s: regiontrack has no atomic accesses; they are written as plain ones",
                 writer->path);
    }
}

static int write_event(struct tms_writer *writer, const struct tms_event *event, uint64_t number,
                       char *record)
{
    enum tms_class cls = tms_event_class(event->kind);
    uint32_t thread, target;

    if (opcode_of[event->kind] == 0) {
        return tms_fail(writer->context, TMS_ERR_FORMAT,
                        "%s: event %llu, %s(%s), can't be written as regiontrack, which has begin, "
                        "end, r, w, acq and rel only; write tms or std instead",
                        writer->path, (unsigned long long)number, tms_event_text(event->kind),
                        tms_name(writer->context, cls, event->target, NULL));
    }
    int code = number_of(writer, TMS_CLASS_THREAD, event->thread, &thread);
    code = code == TMS_OK ? number_of(writer, cls, event->target, &target) : code;
    if (code != TMS_OK) {
        return code;
    }
    warn_of_loss(writer, event);
    store(record, thread);
    store(record + 4, opcode_of[event->kind]);
    store(record + 8, target);
    return TMS_OK;
}

static int write_events(struct tms_writer *writer, const struct tms_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char record[RECORD];
        int code = write_event(writer, &events[i], writer->events + i + 1, record);
        code = code == TMS_OK ? tms_output_write(writer->output, record, RECORD) : code;
        if (code != TMS_OK) {
            return code;
        }
    }
    return TMS_OK;
}

/* The format cannot mark a loss, so an incomplete record is written, which every reader detects. */
static int finish_writer(struct tms_writer *writer)
{
    return writer->loss[0] == '\0' ? TMS_OK : tms_output_write(writer->output, "", 1);
}

static void destroy_writer(struct tms_writer *writer)
{
    struct rt_writer *rt = writer->state;
    struct tms_memory *memory = &writer->context->memory;

    for (int cls = 0; cls < TMS_CLASS_COUNT; cls++) {
        struct numbering *numbering = &rt->classes[cls];
        tms_release(memory, numbering->number, numbering->capacity, sizeof(*numbering->number));
        tms_release(memory, numbering->given, numbering->given_capacity, sizeof(*numbering->given));
    }
}

const struct tms_format tms_format_regiontrack = {
    .info = {.name = "regiontrack",
             .extension = ".rt",
             .summary = "RegionTrack's binary records: thread, opcode, operand",
             .reads = true,
             .writes = true},
    .detect = detect,
    .reader_size = sizeof(struct rt_reader),
    .open = open_reader,
    .read = read_batch,
    .writer_size = sizeof(struct rt_writer),
    .write = write_events,
    .finish = finish_writer,
    .destroy = destroy_writer,
};
