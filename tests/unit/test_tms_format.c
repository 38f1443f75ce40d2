/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native format: a round trip loses nothing, a file that is truncated or damaged anywhere is
 * reported and never yields a wrong event, and no content makes the reader crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka.h needs those above */
#include <cmocka.h>
#include <xxhash.h>

#include "trace/format.h"
#include "trace/tms_format.h"
#include "trace/tms_writer.h"

/* ---- random traces -------------------------------------------------------------------- */

static uint32_t pick(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*seed >> 33) % below);
}

enum location_style { NO_LOCATIONS, NAMED, NUMBERED, MIXED };

struct shape {
    uint32_t names[TMS_CLASS_COUNT]; /* how many there are to choose from */
    enum location_style style;
    size_t events, block;
};

#define FEW                                                                                        \
    {                                                                                              \
        0, 3, 9, 4, 5, 2, 2, 6, 3, 7                                                               \
    }

static uint32_t intern(struct tms_context *context, enum tms_class cls, uint32_t number)
{
    char text[64];
    /* Some names are short, some long, one of each class is of one byte. */
    int length = number == 0 ? snprintf(text, sizeof(text), "%c", 'a' + (int)cls)
                             : snprintf(text, sizeof(text), "%s%u.c:%u",
                                        number % 3 ? "x" : "longer", number, number * 7);
    int64_t id = tms_intern(context, cls, text, (size_t)length);

    assert_true(id > 0);
    return (uint32_t)id;
}

static uint32_t random_location(struct tms_context *context, const struct shape *shape,
                                uint64_t *seed, size_t index)
{
    switch (shape->style) {
    case NAMED:
        return intern(context, TMS_CLASS_LOCATION, pick(seed, shape->names[TMS_CLASS_LOCATION]));
    case NUMBERED:
        return TMS_LOCATION_NUMBER + (uint32_t)index + 1;
    case MIXED:
        return (const uint32_t[]){
            0,
            TMS_LOCATION_NUMBER,
            UINT32_MAX,
            TMS_LOCATION_NUMBER + pick(seed, 1u << 30),
            intern(context, TMS_CLASS_LOCATION, pick(seed, shape->names[TMS_CLASS_LOCATION])),
        }[pick(seed, 5)];
    default:
        return 0;
    }
}

static struct tms_event *random_events(struct tms_context *context, const struct shape *shape,
                                       uint64_t seed)
{
    struct tms_event *events = calloc(shape->events, sizeof(*events));

    assert_non_null(events);
    for (size_t i = 0; i < shape->events; i++) {
        struct tms_event *event = &events[i];
        event->kind = (uint8_t)pick(&seed, TMS_EVENT_COUNT);
        enum tms_class cls = tms_event_class(event->kind);
        bool bare = (event->kind <= TMS_EVENT_END && pick(&seed, 2) == 0) || cls == TMS_CLASS_NONE;
        event->thread =
            intern(context, TMS_CLASS_THREAD, pick(&seed, shape->names[TMS_CLASS_THREAD]));
        event->target = bare ? 0 : intern(context, cls, pick(&seed, shape->names[cls]));
        event->location = random_location(context, shape, &seed, i);
        do {
            event->order = (uint8_t)pick(&seed, TMS_ORDER_COUNT);
        } while ((tms_event_orders(event->kind) >> event->order & 1) == 0);
    }
    return events;
}

/* ---- files ---------------------------------------------------------------------------- */

struct image {
    uint8_t *bytes;
    size_t length;
};

/* The file under test is in memory, with a path that can be opened repeatedly. */
static char path[64];
static int memory;

static int make_path(void **state)
{
    memory = memfd_create("trace", 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
    return memory < 0 ? -1 : 0;
}

static int write_trace(struct tms_context *context, const struct tms_event *events, size_t count,
                       size_t block)
{
    struct tms_writer_settings settings;
    struct tms_writer *writer;

    tms_writer_settings_init(&settings);
    settings.format = "tms";
    /* A descriptor is written at its position, and nothing in it is replaced. */
    assert_int_equal(ftruncate(memory, 0), 0);
    assert_int_equal(lseek(memory, 0, SEEK_SET), 0);
    int code = tms_writer_open(context, path, &settings, &writer);
    if (code != TMS_OK) {
        return code;
    }
    tms_file_set_block(writer, block);
    /* In uneven pieces, so that they don't fall together with blocks. */
    for (size_t at = 0, piece = 1; at < count && code == TMS_OK;
         at += piece, piece = piece * 2 + 1) {
        piece = piece < count - at ? piece : count - at;
        code = tms_writer_write(writer, events + at, piece);
    }
    int closed = tms_writer_close(writer);
    return code != TMS_OK ? code : closed;
}

static struct image load(void)
{
    struct image image;
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    image.length = (size_t)ftell(file);
    image.bytes = malloc(image.length + 1);
    assert_non_null(image.bytes);
    rewind(file);
    assert_int_equal(fread(image.bytes, 1, image.length, file), image.length);
    fclose(file);
    return image;
}

static void store(const uint8_t *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* The section that begins at `offset`: where it ends. */
static size_t section_end(const struct image *image, size_t offset)
{
    return offset + TMS_SECTION_SIZE + tms_get32(image->bytes + offset + TMS_SECTION_AT_LENGTH);
}

static uint32_t section_tag(const struct image *image, size_t offset)
{
    return tms_get32(image->bytes + offset + TMS_SECTION_AT_TAG);
}

static void mend_checksum(struct image *image, size_t offset)
{
    uint8_t *start = image->bytes + offset;
    size_t length = section_end(image, offset) - offset - TMS_SECTION_AT_TAG;

    tms_put64(start, XXH3_64bits(start + TMS_SECTION_AT_TAG, length));
}

/* ---- reading back --------------------------------------------------------------------- */

struct outcome {
    int code;
    size_t count; /* events that were read, all of them the expected ones */
    bool loss;
    char text[TMS_MESSAGE_SIZE]; /* the error or the loss */
};

static bool same_event(const struct tms_context *one, const struct tms_event *a,
                       const struct tms_context *other, const struct tms_event *b)
{
    char numbers[2][TMS_NUMBER_SIZE];
    enum tms_class cls = tms_event_class(a->kind);

    return a->kind == b->kind && a->order == b->order && (a->target == 0) == (b->target == 0) &&
           (a->location == 0) == (b->location == 0) &&
           (a->location < TMS_LOCATION_NUMBER) == (b->location < TMS_LOCATION_NUMBER) &&
           strcmp(tms_name(one, TMS_CLASS_THREAD, a->thread, NULL),
                  tms_name(other, TMS_CLASS_THREAD, b->thread, NULL)) == 0 &&
           strcmp(tms_name(one, cls, a->target, NULL), tms_name(other, cls, b->target, NULL)) ==
               0 &&
           strcmp(tms_name(one, TMS_CLASS_LOCATION, a->location, numbers[0]),
                  tms_name(other, TMS_CLASS_LOCATION, b->location, numbers[1])) == 0;
}

/* Reads the file at `from` into `into` and compares; `expected` NULL: only look at the ids. */
static struct outcome read_into(struct tms_context *into, const char *from, bool lenient,
                                const struct tms_context *context, const struct tms_event *expected,
                                size_t most)
{
    struct outcome outcome = {0};
    struct tms_reader_settings settings = {.format = "tms", .lenient = lenient};
    struct tms_reader *reader;
    const struct tms_event *events;
    int64_t count;

    outcome.code = tms_reader_open(into, from, &settings, &reader);
    if (outcome.code != TMS_OK) {
        snprintf(outcome.text, sizeof(outcome.text), "%s", tms_error(into));
        return outcome;
    }
    while ((count = tms_reader_next(reader, &events)) > 0) {
        assert_true(count <= TMS_BATCH &&
                    (expected == NULL || outcome.count + (size_t)count <= most));
        for (int64_t i = 0; i < count; i++, outcome.count++) {
            const struct tms_event *event = &events[i];
            assert_true(event->kind < TMS_EVENT_COUNT);
            assert_true(tms_event_orders(event->kind) >> event->order & 1);
            assert_in_range(event->thread, 1, tms_name_count(into, TMS_CLASS_THREAD));
            assert_true(event->target <= tms_name_count(into, tms_event_class(event->kind)));
            assert_true(expected == NULL ||
                        same_event(context, &expected[outcome.count], into, event));
        }
    }
    outcome.code = (int)count;
    outcome.loss = tms_reader_loss(reader) != NULL;
    snprintf(outcome.text, sizeof(outcome.text), "%s",
             count < 0      ? tms_error(into)
             : outcome.loss ? tms_reader_loss(reader)
                            : "");
    tms_reader_close(reader);
    return outcome;
}

static struct outcome read_back(bool lenient, const struct tms_context *context,
                                const struct tms_event *expected, size_t most)
{
    struct tms_context *into = tms_context_new(NULL, NULL);

    assert_non_null(into);
    struct outcome outcome = read_into(into, path, lenient, context, expected, most);
    assert_int_equal(outcome.code < 0, outcome.code != TMS_OK);
    tms_context_free(into);
    return outcome;
}

/* A small file of several blocks, and its contents. */
struct sample {
    struct tms_context *context;
    struct shape shape;
    struct tms_event *events;
    struct image image;
};

static struct sample make_sample(void)
{
    struct sample sample = {.shape = {FEW, MIXED, 50, 12}};

    sample.context = tms_context_new(NULL, NULL);
    assert_non_null(sample.context);
    sample.events = random_events(sample.context, &sample.shape, 17);
    assert_int_equal(
        write_trace(sample.context, sample.events, sample.shape.events, sample.shape.block),
        TMS_OK);
    sample.image = load();
    return sample;
}

static struct outcome read_sample(const struct sample *sample, bool lenient)
{
    return read_back(lenient, sample->context, sample->events, sample->shape.events);
}

static void free_sample(struct sample *sample)
{
    free(sample->image.bytes);
    free(sample->events);
    tms_context_free(sample->context);
}

/* How many events are in whole blocks within the first `length` bytes. */
static size_t whole_events(const struct image *image, size_t length)
{
    size_t offset = TMS_FILE_START_SIZE, count = 0;

    while (offset + TMS_SECTION_SIZE <= image->length && section_end(image, offset) <= length) {
        if (section_tag(image, offset) == TMS_TAG_EVENTS) {
            count += tms_get32(image->bytes + offset + TMS_SECTION_SIZE + TMS_BLOCK_AT_EVENTS);
        }
        offset = section_end(image, offset);
    }
    return count;
}

/* The offset of section `number`, 0 being the head. */
static size_t section_at(const struct image *image, size_t number)
{
    size_t offset = TMS_FILE_START_SIZE;

    while (number-- > 0) {
        offset = section_end(image, offset);
    }
    return offset;
}

/* ---- tests ---------------------------------------------------------------------------- */

static void check_round_trip(const struct shape *shape, uint64_t seed)
{
    struct tms_context *context = tms_context_new(NULL, NULL);
    struct tms_event *events = random_events(context, shape, seed);

    assert_int_equal(write_trace(context, events, shape->events, shape->block), TMS_OK);
    struct outcome outcome = read_back(false, context, events, shape->events);
    assert_int_equal(outcome.code, TMS_OK);
    assert_int_equal(outcome.count, shape->events);
    assert_false(outcome.loss);

    /* Into a context where every name has another id, and where some are there already. */
    struct tms_context *busy = tms_context_new(NULL, NULL);
    for (int cls = TMS_CLASS_THREAD; cls < TMS_CLASS_COUNT; cls++) {
        assert_true(tms_intern(busy, cls, "something else", 14) > 0);
        intern(busy, cls, shape->names[cls] - 1);
    }
    outcome = read_into(busy, path, false, context, events, shape->events);
    assert_int_equal(outcome.code, TMS_OK);
    assert_int_equal(outcome.count, shape->events);
    assert_false(outcome.loss);
    tms_context_free(busy);
    tms_context_free(context);
    free(events);
}

static void test_round_trip(void **state)
{
    static const struct shape shapes[] = {
        {FEW, NO_LOCATIONS, 1, TMS_BLOCK_EVENTS},
        {FEW, NAMED, 3000, 1},
        {FEW, MIXED, 3000, 7},
        {FEW, NUMBERED, 3000, 1025},
        {FEW, NAMED, 140000, TMS_BLOCK_EVENTS},
        {{0, 1, 1, 1, 1, 1, 1, 1, 1, 1}, NAMED, 70000, TMS_BLOCK_EVENTS},
        {{0, 8, 10000, 20, 10, 1, 1, 1, 1, 40}, MIXED, 70000, TMS_BLOCK_EVENTS},
        {{0, 256, 70000, 300, 10, 1, 1, 1, 1, 5000}, NAMED, 90000, TMS_BLOCK_EVENTS},
        {{0, 257, 256, 300, 10, 1, 1, 1, 1, 5000}, NUMBERED, 70000, TMS_BLOCK_EVENTS},
        {{0, 30000, 255, 257, 10, 1, 1, 1, 1, 5}, NAMED, 70000, TMS_BLOCK_EVENTS},
        {{0, 30000, 255, 257, 10, 1, 1, 1, 1, 500}, NAMED, 70000, TMS_BLOCK_EVENTS},
    };

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        check_round_trip(&shapes[i], i + 1);
    }
}

static void test_no_events(void **state)
{
    struct tms_context *context = tms_context_new(NULL, NULL);

    assert_int_equal(write_trace(context, NULL, 0, 1), TMS_OK);
    struct outcome outcome = read_back(false, context, NULL, 0);
    assert_int_equal(outcome.code, TMS_OK);
    assert_int_equal(outcome.count, 0);
    assert_false(outcome.loss);
    tms_context_free(context);
}

/* The file holds the names it uses, not all that the context knows. */
static void test_only_used_names(void **state)
{
    struct tms_context *context = tms_context_new(NULL, NULL), *into = tms_context_new(NULL, NULL);

    for (uint32_t i = 0; i < 1000; i++) {
        intern(context, TMS_CLASS_VARIABLE, i);
    }
    struct tms_event event = {.kind = TMS_EVENT_READ,
                              .thread = intern(context, TMS_CLASS_THREAD, 5),
                              .target = intern(context, TMS_CLASS_VARIABLE, 999)};
    assert_int_equal(write_trace(context, &event, 1, 1), TMS_OK);
    assert_int_equal(read_into(into, path, false, context, &event, 1).count, 1);
    assert_int_equal(tms_name_count(into, TMS_CLASS_VARIABLE), 1);
    assert_int_equal(tms_name_count(into, TMS_CLASS_LOCK), 0);
    tms_context_free(into);
    tms_context_free(context);
}

/* Long names end a block early, and names beyond the limit are refused. */
static void test_long_names(void **state)
{
    struct tms_context *context = tms_context_new(NULL, NULL);
    enum { COUNT = 5, LENGTH = 700000 };
    struct tms_event events[COUNT + 1] = {{0}};
    char *text = malloc(TMS_NAME_BYTES + 1);

    assert_non_null(text);
    memset(text, 'n', TMS_NAME_BYTES + 1);
    for (int i = 0; i < COUNT; i++) {
        text[0] = (char)('a' + i);
        events[i] = (struct tms_event){.kind = TMS_EVENT_WRITE,
                                       .thread = intern(context, TMS_CLASS_THREAD, 0)};
        events[i].target = (uint32_t)tms_intern(context, TMS_CLASS_VARIABLE, text,
                                                i == 0 ? TMS_NAME_BYTES : (size_t)LENGTH);
    }
    assert_int_equal(write_trace(context, events, COUNT, TMS_BLOCK_EVENTS), TMS_OK);
    struct image image = load();
    assert_int_equal(
        tms_get32(image.bytes + section_at(&image, 1) + TMS_SECTION_SIZE + TMS_BLOCK_AT_EVENTS), 1);
    assert_int_equal(read_back(false, context, events, COUNT).count, COUNT);
    free(image.bytes);

    events[COUNT] = events[0];
    events[COUNT].target =
        (uint32_t)tms_intern(context, TMS_CLASS_VARIABLE, text, TMS_NAME_BYTES + 1);
    assert_int_equal(write_trace(context, events, COUNT + 1, TMS_BLOCK_EVENTS), TMS_ERR_LIMIT);
    free(text);
    tms_context_free(context);
}

static void test_cut_anywhere(void **state)
{
    struct sample sample = make_sample();

    for (size_t length = 0; length <= sample.image.length; length++) {
        bool whole = length == sample.image.length;
        store(sample.image.bytes, length);
        for (int lenient = 0; lenient < 2; lenient++) {
            struct outcome outcome = read_sample(&sample, lenient);
            assert_int_equal(outcome.code, TMS_OK);
            assert_int_equal(outcome.count, whole_events(&sample.image, length));
            assert_int_equal(outcome.loss, !whole);
            assert_int_equal(strstr(outcome.text, "cut off") != NULL, !whole);
        }
        assert_int_equal(tms_format_tms.detect((char *)sample.image.bytes, length), length > 0);
    }
    free_sample(&sample);
}

/* Only the minor version may change unnoticed: it means nothing to this reader. */
static void test_flip_anywhere(void **state)
{
    static const uint8_t masks[] = {0x01, 0xa0};
    struct sample sample = make_sample();

    for (size_t i = 0; i < sample.image.length * sizeof(masks); i++) {
        size_t at = i / sizeof(masks);
        bool harmless = at == TMS_FILE_AT_MINOR || at == TMS_FILE_AT_MINOR + 1;
        sample.image.bytes[at] ^= masks[i % sizeof(masks)];
        store(sample.image.bytes, sample.image.length);
        struct outcome strict = read_sample(&sample, false), lenient = read_sample(&sample, true);
        assert_int_equal(strict.code < 0 || strict.loss, !harmless);
        assert_int_equal(lenient.code < 0 || lenient.loss, !harmless);
        assert_true(lenient.count == strict.count && strict.count % sample.shape.block <= 2);
        sample.image.bytes[at] ^= masks[i % sizeof(masks)];
    }
    free_sample(&sample);
}

static void test_damaged_block(void **state)
{
    struct sample sample = make_sample();
    size_t offset = section_at(&sample.image, 3);
    char where[64];

    sample.image.bytes[offset + TMS_SECTION_SIZE + 20] ^= 4;
    store(sample.image.bytes, sample.image.length);
    struct outcome strict = read_sample(&sample, false), lenient = read_sample(&sample, true);
    assert_int_equal(strict.code, TMS_ERR_SYNTAX);
    snprintf(where, sizeof(where), "damaged at byte %zu", offset);
    assert_non_null(strstr(strict.text, where));
    assert_int_equal(lenient.code, TMS_OK);
    assert_int_equal(lenient.count, 24);
    assert_non_null(strstr(lenient.text, where));
    assert_non_null(strstr(lenient.text, "the 24 events before"));
    free_sample(&sample);
}

/* A block taken out, checksums right: its number of events before doesn't fit. */
static void test_missing_block(void **state)
{
    struct sample sample = make_sample();
    size_t from = section_at(&sample.image, 2), to = section_at(&sample.image, 3);

    memmove(sample.image.bytes + from, sample.image.bytes + to, sample.image.length - to);
    store(sample.image.bytes, sample.image.length - (to - from));
    struct outcome outcome = read_sample(&sample, false);
    assert_int_equal(outcome.code, TMS_ERR_SYNTAX);
    assert_non_null(strstr(outcome.text, "missing"));
    free_sample(&sample);
}

static void test_something_behind(void **state)
{
    struct sample sample = make_sample();

    sample.image.bytes[sample.image.length] = '\n';
    store(sample.image.bytes, sample.image.length + 1);
    struct outcome strict = read_sample(&sample, false), lenient = read_sample(&sample, true);
    assert_int_equal(strict.code, TMS_ERR_SYNTAX);
    assert_non_null(strstr(strict.text, "follows the end"));
    assert_int_equal(lenient.count, sample.shape.events);
    assert_true(lenient.loss);
    free_sample(&sample);
}

static void test_newer_version(void **state)
{
    struct sample sample = make_sample();

    tms_put16(sample.image.bytes + TMS_FILE_AT_MINOR, TMS_FILE_MINOR + 1);
    store(sample.image.bytes, sample.image.length);
    assert_int_equal(read_sample(&sample, false).count, sample.shape.events);
    tms_put16(sample.image.bytes + TMS_FILE_AT_MAJOR, TMS_FILE_MAJOR + 1);
    store(sample.image.bytes, sample.image.length);
    struct outcome outcome = read_sample(&sample, true);
    assert_int_equal(outcome.code, TMS_ERR_FORMAT);
    assert_non_null(strstr(outcome.text, "version 2.5"));
    free_sample(&sample);
}

static void test_other_content(void **state)
{
    struct outcome outcome;

    store((const uint8_t *)"T0|r(x)|1\n", 10);
    outcome = read_back(false, NULL, NULL, 0);
    assert_int_equal(outcome.code, TMS_ERR_SYNTAX);
    assert_non_null(strstr(outcome.text, "not a tms trace"));
}

/* Writes one event of `kind`, calls that kind something else in the head, and reads. */
static struct outcome read_renamed(enum tms_event_kind kind, const char *text, const char *other)
{
    struct tms_context *context = tms_context_new(NULL, NULL);
    enum tms_class cls = tms_event_class(kind);
    bool ordered = (tms_event_orders(kind) & 1u << TMS_ORDER_NONE) == 0;
    struct tms_event event = {.kind = (uint8_t)kind,
                              .order = ordered ? TMS_ORDER_RELAXED : TMS_ORDER_NONE,
                              .thread = intern(context, TMS_CLASS_THREAD, 0),
                              .target = intern(context, cls, 0)};

    assert_int_equal(write_trace(context, &event, 1, 1), TMS_OK);
    struct image image = load();
    uint8_t *at = memmem(image.bytes, image.length, text, strlen(text));
    assert_non_null(at);
    memcpy(at, other, strlen(other));
    mend_checksum(&image, TMS_FILE_START_SIZE);
    store(image.bytes, image.length);
    struct outcome outcome = read_back(true, context, &event, 1);
    free(image.bytes);
    tms_context_free(context);
    return outcome;
}

static void test_unknown_kind(void **state)
{
    struct outcome outcome = read_renamed(TMS_EVENT_ESCAPE, "escape", "beyond");

    assert_int_equal(outcome.code, TMS_ERR_FORMAT);
    assert_non_null(strstr(outcome.text, "kind \"beyond\""));
    /* In the table but in no event: no harm. */
    outcome = read_renamed(TMS_EVENT_READ, "escape", "beyond");
    assert_int_equal(outcome.code, TMS_OK);
    assert_int_equal(outcome.count, 1);
    /* An operand of another class is another kind. */
    outcome = read_renamed(TMS_EVENT_WAIT, "condition", "confusion");
    assert_int_equal(outcome.code, TMS_ERR_FORMAT);
    assert_non_null(strstr(outcome.text, "kind \"wait\""));
}

/* An order that is not known, or that the kind can't have, makes another kind. */
static void test_unknown_order(void **state)
{
    struct outcome outcome = read_renamed(TMS_EVENT_ATOMIC_READ, "ar,relaxed", "ar,related");

    assert_int_equal(outcome.code, TMS_ERR_FORMAT);
    assert_non_null(strstr(outcome.text, "kind \"ar,related\""));
    outcome = read_renamed(TMS_EVENT_ATOMIC_READ, "ar,relaxed", "ar,release");
    assert_int_equal(outcome.code, TMS_ERR_FORMAT);
    outcome = read_renamed(TMS_EVENT_READ, "ar,relaxed", "ar,related");
    assert_int_equal(outcome.code, TMS_OK);
}

/* Puts an empty section with this tag before section `number`. */
static void insert_section(struct image *image, size_t number, uint32_t tag)
{
    size_t at = section_at(image, number);
    uint8_t *bytes = malloc(image->length + TMS_SECTION_SIZE);

    assert_non_null(bytes);
    memcpy(bytes, image->bytes, at);
    memcpy(bytes + at + TMS_SECTION_SIZE, image->bytes + at, image->length - at);
    free(image->bytes);
    *image = (struct image){bytes, image->length + TMS_SECTION_SIZE};
    tms_put32(bytes + at + TMS_SECTION_AT_TAG, tag);
    tms_put32(bytes + at + TMS_SECTION_AT_LENGTH, 0);
    mend_checksum(image, at);
    uint8_t *own = bytes + image->length - TMS_INDEX_END_SIZE;
    size_t index = tms_get64(own) + TMS_SECTION_SIZE;
    tms_put64(own, index);
    mend_checksum(image, index);
}

static void test_unknown_section(void **state)
{
    struct sample sample = make_sample();

    insert_section(&sample.image, 2, TMS_TAG('n', 'O', 'T', 'E'));
    store(sample.image.bytes, sample.image.length);
    struct outcome outcome = read_sample(&sample, false);
    assert_int_equal(outcome.count, sample.shape.events);
    assert_false(outcome.loss);
    insert_section(&sample.image, 2, TMS_TAG('M', 'U', 'S', 'T'));
    store(sample.image.bytes, sample.image.length);
    outcome = read_sample(&sample, false);
    assert_int_equal(outcome.code, TMS_ERR_FORMAT);
    assert_non_null(strstr(outcome.text, "section \"MUST\""));
    free_sample(&sample);
}

/* Checksums are right, content is not: anything but a crash, and ids that exist. */
static void test_hostile_content(void **state)
{
    struct sample sample = make_sample();
    uint64_t seed = 99;
    size_t refused = 0, runs = 4000;
    uint8_t *copy = malloc(sample.image.length);

    assert_non_null(copy);
    memcpy(copy, sample.image.bytes, sample.image.length);
    for (size_t run = 0; run < runs; run++) {
        size_t offset = section_at(&sample.image, pick(&seed, 7));
        size_t size = section_end(&sample.image, offset) - offset - TMS_SECTION_SIZE;
        for (uint32_t i = 0; i <= run % 3; i++) {
            /* The first bytes, which hold the counts, more often than others. */
            size_t at = pick(&seed, pick(&seed, 2) ? (uint32_t)size : 48);
            sample.image.bytes[offset + TMS_SECTION_SIZE + at] =
                (uint8_t)(pick(&seed, 2) ? pick(&seed, 256) : 1u << pick(&seed, 8));
        }
        mend_checksum(&sample.image, offset);
        store(sample.image.bytes, sample.image.length);
        refused += read_back(run % 2, NULL, NULL, 0).code < 0;
        memcpy(sample.image.bytes, copy, sample.image.length);
    }
    assert_in_range(refused, runs / 10, runs);
    free(copy);
    free_sample(&sample);
}

static void test_pipe(void **state)
{
    struct sample sample = make_sample();
    struct tms_context *into = tms_context_new(NULL, NULL);
    char name[32];
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        size_t piece = 1;
        for (size_t at = 0; at < sample.image.length; at += piece, piece = piece % 61 + 1) {
            piece = piece < sample.image.length - at ? piece : sample.image.length - at;
            if (write(ends[1], sample.image.bytes + at, piece) != (ssize_t)piece) {
                _exit(1);
            }
        }
        _exit(0);
    }
    close(ends[1]);
    snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
    struct outcome outcome =
        read_into(into, name, false, sample.context, sample.events, sample.shape.events);
    assert_int_equal(outcome.count, sample.shape.events);
    assert_false(outcome.loss);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ends[0]);
    tms_context_free(into);
    free_sample(&sample);
}

/* The index is found from the end, and leads to the blocks; a long one is thinned out. */
static void test_index(void **state)
{
    struct shape shape = {FEW, NO_LOCATIONS, TMS_INDEX_MOST + 5, 1};
    struct tms_context *context = tms_context_new(NULL, NULL);
    struct tms_event *events = random_events(context, &shape, 3);

    assert_int_equal(write_trace(context, events, shape.events, shape.block), TMS_OK);
    struct image image = load();
    const uint8_t *end = image.bytes + image.length - TMS_INDEX_END_SIZE;
    assert_memory_equal(end + 8, TMS_FILE_END_MAGIC, TMS_FILE_MAGIC_SIZE);
    size_t offset = tms_get64(end);
    assert_int_equal(section_tag(&image, offset), TMS_TAG_INDEX);
    const uint8_t *at = image.bytes + offset + TMS_SECTION_SIZE;
    assert_int_equal(tms_get64(at + TMS_INDEX_AT_EVENTS), shape.events);
    assert_int_equal(tms_get64(at + TMS_INDEX_AT_BLOCKS), shape.events);
    assert_int_equal(tms_get64(at + TMS_INDEX_AT_STRIDE), 2);
    size_t count = tms_get32(at + TMS_INDEX_AT_COUNT);
    assert_int_equal(count, TMS_INDEX_MOST / 2 + 3);
    at += TMS_INDEX_START_SIZE + 4 * tms_get32(at + TMS_INDEX_AT_CLASSES);
    for (size_t i = 0; i < count; i++, at += TMS_INDEX_ENTRY_SIZE) {
        size_t block = tms_get64(at);
        assert_int_equal(section_tag(&image, block), TMS_TAG_EVENTS);
        assert_int_equal(tms_get64(at + 8), 2 * i);
        assert_int_equal(tms_get64(image.bytes + block + TMS_SECTION_SIZE), 2 * i);
    }
    assert_int_equal(read_back(false, context, events, shape.events).count, shape.events);
    free(image.bytes);
    free(events);
    tms_context_free(context);
}

static double bytes_per_event(const struct shape *shape)
{
    struct tms_context *context = tms_context_new(NULL, NULL);
    struct tms_event *events = random_events(context, shape, 7);

    assert_int_equal(write_trace(context, events, shape->events, shape->block), TMS_OK);
    struct image image = load();
    free(image.bytes);
    free(events);
    tms_context_free(context);
    return (double)image.length / (double)shape->events;
}

/* Threads, kinds, operands and locations at random: 23 bits of news in every event. */
static void test_size(void **state)
{
    struct shape shape = {
        {0, 8, 10000, 20, 10, 1, 1, 1, 1, 40}, NAMED, 6 * TMS_BLOCK_EVENTS, TMS_BLOCK_EVENTS};

    assert_true(bytes_per_event(&shape) < 3);
    shape.style = NO_LOCATIONS;
    double without = bytes_per_event(&shape);
    /* Line numbers, each other than the last, are no news. */
    shape.style = NUMBERED;
    assert_true(bytes_per_event(&shape) < without + 0.01);
}

static void test_short_memory(void **state)
{
    struct sample sample = make_sample();
    struct shape *shape = &sample.shape;
    int code = TMS_ERR_MEMORY;
    uint64_t after;

    for (after = 1; code != TMS_OK; after++) {
        sample.context->memory.fail_after = after;
        code = write_trace(sample.context, sample.events, shape->events, shape->block);
        sample.context->memory.fail_after = 0;
        assert_true(code == TMS_OK || code == TMS_ERR_MEMORY);
    }
    assert_true(after > 10);
    code = TMS_ERR_MEMORY;
    for (after = 1; code != TMS_OK; after++) {
        struct tms_context *into = tms_context_new(NULL, NULL);
        into->memory.fail_after = after;
        struct outcome outcome =
            read_into(into, path, false, sample.context, sample.events, shape->events);
        code = outcome.code;
        assert_true(code == TMS_OK ? outcome.count == shape->events : code == TMS_ERR_MEMORY);
        tms_context_free(into);
    }
    assert_true(after > 5);
    free_sample(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_no_events),
        cmocka_unit_test(test_only_used_names),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_flip_anywhere),
        cmocka_unit_test(test_damaged_block),
        cmocka_unit_test(test_missing_block),
        cmocka_unit_test(test_something_behind),
        cmocka_unit_test(test_newer_version),
        cmocka_unit_test(test_other_content),
        cmocka_unit_test(test_unknown_kind),
        cmocka_unit_test(test_unknown_order),
        cmocka_unit_test(test_unknown_section),
        cmocka_unit_test(test_hostile_content),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_short_memory),
    };

    return cmocka_run_group_tests_name("native format", tests, make_path, NULL);
}
