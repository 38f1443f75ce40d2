/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the native format, in one pass and without seeking; tms_format.h has the layout.
 *
 * A section is used only if it is complete and its checksum is right. A file that ends before its
 * index is truncated: what precedes the end is read, and the loss is reported. A damaged section is
 * an error; a lenient reader stops before it as if the file were truncated there, and does not look
 * for later blocks, because they may use names that were lost with it.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "trace/format.h"
#include "trace/tms_block.h"
#include "trace/tms_writer.h"

#define CLASS_UNKNOWN 255
#define IDS_LEAST     64

typedef unsigned long long number; /* for printf */

struct file_reader {
    struct tms_decoder *decoder;
    struct tms_tables tables;
    uint8_t classes[256]; /* enum tms_class by class of the file, CLASS_UNKNOWN */
    char kind_texts[256][TMS_KIND_TEXT_SIZE];
    unsigned class_count, kind_count; /* in the file */
    uint64_t offset;                  /* of the section being read */
    uint64_t events, blocks;
    bool ended;
};

struct section {
    const uint8_t *payload;
    size_t length;
    uint32_t tag;
};

/* ---- what is wrong -------------------------------------------------------------------- */

static int cut(struct tms_reader *reader, const char *where)
{
    struct file_reader *state = reader->state;

    state->ended = true;
    tms_reader_cut(reader, "the file is cut off %s; the %llu events before that were read", where,
                   (number)state->events);
    return 0;
}

static int damaged(struct tms_reader *reader, const char *why)
{
    struct file_reader *state = reader->state;

    state->ended = true;
    if (!reader->lenient) {
        return tms_fail(reader->context, TMS_ERR_SYNTAX,
                        "%s: damaged at byte %llu, after event %llu: %s; get a whole copy, or "
                        "read it leniently up to there",
                        tms_input_name(reader->path), (number)state->offset, (number)state->events,
                        why);
    }
    tms_reader_cut(reader,
                   "damaged at byte %llu: %s; the %llu events before that were read, what "
                   "follows is left out",
                   (number)state->offset, why, (number)state->events);
    return 0;
}

static int too_new(struct tms_reader *reader, const char *what, const char *text)
{
    return tms_fail(reader->context, TMS_ERR_FORMAT,
                    "%s: %s \"%s\", which this version doesn't know (after event %llu); read it "
                    "with the version that wrote it, or a newer one",
                    tms_input_name(reader->path), what, text,
                    (number)((struct file_reader *)reader->state)->events);
}

/* ---- sections ------------------------------------------------------------------------- */

/* 1 if the window holds `length` bytes, 0 if the input ends before, or a negative code. */
static int need(struct tms_reader *reader, size_t length)
{
    while ((size_t)(reader->input.end - reader->input.at) < length) {
        int more = tms_input_more(&reader->input);
        if (more <= 0) {
            return more;
        }
    }
    return 1;
}

static const uint8_t *window(const struct tms_reader *reader)
{
    return (const uint8_t *)reader->input.at;
}

static void consume(struct tms_reader *reader, size_t length)
{
    struct file_reader *state = reader->state;

    reader->input.at += length;
    state->offset += length;
}

/* 1 with the next section in the window, 0 if there is none (the reason is reported), or a code. */
static int next_section(struct tms_reader *reader, struct section *section)
{
    int there = need(reader, TMS_SECTION_SIZE);

    if (there <= 0) {
        bool between = reader->input.at == reader->input.end;
        return there < 0 ? there
                         : cut(reader, between ? "between two sections" : "within a section");
    }
    section->tag = tms_get32(window(reader) + TMS_SECTION_AT_TAG);
    section->length = tms_get32(window(reader) + TMS_SECTION_AT_LENGTH);
    if (section->length > TMS_SECTION_BYTES) {
        return damaged(reader, "a section claims more bytes than it can have");
    }
    size_t size = TMS_SECTION_SIZE + section->length;
    there = need(reader, size);
    if (there <= 0) {
        return there < 0 ? there : cut(reader, "within a section");
    }
    const uint8_t *start = window(reader);
    section->payload = start + TMS_SECTION_SIZE;
    uint64_t checksum = tms_get64(start + TMS_SECTION_AT_CHECKSUM);
    if (XXH3_64bits(start + TMS_SECTION_AT_TAG, size - TMS_SECTION_AT_TAG) != checksum) {
        return damaged(reader, "the checksum of a section is wrong");
    }
    return 1;
}

/* ---- the head ------------------------------------------------------------------------- */

static int read_start(struct tms_reader *reader)
{
    const char *name = tms_input_name(reader->path);
    int there = need(reader, TMS_FILE_START_SIZE);
    const uint8_t *start = window(reader);

    if (there < 0) {
        return there;
    }
    if (!tms_format_tms.detect(reader->input.at, (size_t)(reader->input.end - reader->input.at)) &&
        reader->input.at != reader->input.end) {
        return tms_fail(reader->context, TMS_ERR_SYNTAX,
                        "%s: is not a tms trace; omit the format to have it detected", name);
    }
    if (there == 0) {
        return cut(reader, "within its head");
    }
    uint32_t order = tms_get32(start + TMS_FILE_AT_BYTE_ORDER);
    if (order != TMS_FILE_BYTE_ORDER) {
        return tms_fail(reader->context, TMS_ERR_SYNTAX,
                        "%s: the byte order mark is %08x, expected %08x; get a whole copy", name,
                        order, TMS_FILE_BYTE_ORDER);
    }
    unsigned major = tms_get16(start + TMS_FILE_AT_MAJOR);
    if (major != TMS_FILE_MAJOR) {
        return tms_fail(reader->context, TMS_ERR_FORMAT,
                        "%s: is a native trace of version %u.%u, this version reads %u; read it "
                        "with the version that wrote it, or a newer one",
                        name, major, tms_get16(start + TMS_FILE_AT_MINOR), TMS_FILE_MAJOR);
    }
    consume(reader, TMS_FILE_START_SIZE);
    return 1;
}

/* A text of the tables as a string: false if it is not all there. */
static bool take_text(struct tms_span *in, char text[TMS_KIND_TEXT_SIZE])
{
    if (in->at == in->end || *in->at >= TMS_KIND_TEXT_SIZE || in->end - in->at <= *in->at) {
        return false;
    }
    size_t length = *in->at++;
    memcpy(text, in->at, length);
    text[length] = '\0';
    in->at += length;
    return true;
}

static uint8_t find_class(const char *text)
{
    for (int cls = 0; cls < TMS_CLASS_COUNT; cls++) {
        if (strcmp(text, tms_class_text(cls)) == 0) {
            return (uint8_t)cls;
        }
    }
    return CLASS_UNKNOWN;
}

/* A kind and one of its orders: TMS_ORDER_COUNT if the order is none of them. */
static enum tms_order find_order(const char *text, enum tms_event_kind kind)
{
    enum tms_order order = TMS_ORDER_NONE;

    while (order < TMS_ORDER_COUNT && strcmp(text, tms_order_text(order)) != 0) {
        order++;
    }
    return tms_event_orders(kind) >> order & 1 ? order : TMS_ORDER_COUNT;
}

static void find_kind(struct tms_tables *tables, unsigned file_kind, const char *text, uint8_t cls)
{
    size_t length = strcspn(text, TMS_KIND_COMMA);
    const char *order_text = text + length + (text[length] != '\0');

    for (enum tms_event_kind kind = 0; kind < TMS_EVENT_COUNT; kind++) {
        const char *known = tms_event_text(kind);
        bool same = strlen(known) == length && memcmp(known, text, length) == 0;
        enum tms_order order = same ? find_order(order_text, kind) : TMS_ORDER_COUNT;
        if (order < TMS_ORDER_COUNT && cls == tms_event_class(kind)) {
            tables->kinds[file_kind] = (uint8_t)kind;
            tables->orders[file_kind] = (uint8_t)order;
        }
    }
}

static bool read_tables(struct file_reader *state, struct tms_span in)
{
    memset(state->classes, CLASS_UNKNOWN, sizeof(state->classes));
    memset(state->tables.kinds, TMS_KIND_UNKNOWN, sizeof(state->tables.kinds));
    if (in.end - in.at < 2) {
        return false;
    }
    state->class_count = *in.at++;
    state->kind_count = *in.at++;
    for (unsigned i = 0; i < state->class_count; i++) {
        char text[TMS_KIND_TEXT_SIZE];
        if (!take_text(&in, text)) {
            return false;
        }
        state->classes[i] = find_class(text);
    }
    for (unsigned i = 0; i < state->kind_count; i++) {
        uint8_t cls = in.at < in.end ? *in.at++ : 0;
        if (!take_text(&in, state->kind_texts[i])) {
            return false;
        }
        find_kind(&state->tables, i, state->kind_texts[i], state->classes[cls]);
    }
    return true; /* what may follow was added by a later minor version */
}

static int open_file(struct tms_reader *reader)
{
    struct file_reader *state = reader->state;
    struct section section;

    state->decoder = tms_decoder_new(&reader->context->memory);
    if (state->decoder == NULL) {
        return tms_fail_memory(reader->context);
    }
    int there = read_start(reader);
    there = there == 1 ? next_section(reader, &section) : there;
    if (there <= 0) {
        return there;
    }
    struct tms_span tables = {section.payload, section.payload + section.length};
    if (section.tag != TMS_TAG_HEAD || !read_tables(state, tables)) {
        return damaged(reader, "the header is invalid");
    }
    consume(reader, TMS_SECTION_SIZE + section.length);
    return TMS_OK;
}

/* ---- names ---------------------------------------------------------------------------- */

/* Creates the explicit mapping, as the ids of file and context differ from here on. */
static bool spell_out(struct tms_memory *memory, struct tms_name_map *map)
{
    size_t capacity = tms_capacity(map->capacity, (size_t)map->count + 2, IDS_LEAST);
    uint32_t *ids = tms_resize(memory, map->ids, map->capacity, capacity, sizeof(*ids));

    if (ids == NULL) {
        return false;
    }
    for (uint32_t id = 1; map->ids == NULL && id <= map->count; id++) {
        ids[id] = id;
    }
    map->ids = ids;
    map->capacity = capacity;
    return true;
}

static int add_name(struct tms_reader *reader, enum tms_class cls, const char *text, size_t length)
{
    struct tms_name_map *map = &((struct file_reader *)reader->state)->tables.names[cls];
    int64_t id = tms_intern(reader->context, cls, text, length);

    if (id < 0) {
        return (int)id;
    }
    if (map->count >= INT32_MAX - 1) {
        return tms_fail(reader->context, TMS_ERR_LIMIT, "%s: has too many names of one kind (%s)",
                        tms_input_name(reader->path), tms_class_text(cls));
    }
    bool same = map->ids == NULL && id == (int64_t)map->count + 1;
    if (!same && (size_t)map->count + 2 > map->capacity &&
        !spell_out(&reader->context->memory, map)) {
        return tms_fail_memory(reader->context);
    }
    map->count++;
    if (!same) {
        map->ids[map->count] = (uint32_t)id;
    }
    return TMS_OK;
}

/* The length of a name, 0 if there is none that makes sense. */
static size_t take_length(struct tms_span *in)
{
    uint64_t length = 0;

    for (unsigned shift = 0; shift < 35 && in->at < in->end; shift += 7) {
        uint8_t byte = *in->at++;
        length |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            bool fits = length <= TMS_NAME_BYTES && length <= (size_t)(in->end - in->at);
            return fits ? (size_t)length : 0;
        }
    }
    return 0;
}

/* 1, or what damaged() or a failure gave. */
static int read_names(struct tms_reader *reader)
{
    struct file_reader *state = reader->state;
    const struct tms_bytes *names = &state->decoder->names;
    struct tms_span in = {names->data, names->data + names->length};
    uint32_t count = 0;

    for (; in.at < in.end; count++) {
        uint8_t cls = state->classes[*in.at++];
        size_t length = take_length(&in);
        if (length == 0 || cls == TMS_CLASS_NONE || memchr(in.at, '\0', length) != NULL) {
            return damaged(reader, "a section has an invalid name");
        }
        /* Names of an unknown class can only belong to events of unknown kinds. */
        int code =
            cls == CLASS_UNKNOWN ? TMS_OK : add_name(reader, cls, (const char *)in.at, length);
        if (code != TMS_OK) {
            return code;
        }
        in.at += length;
    }
    return count == state->decoder->name_count ? 1 : damaged(reader, "a section lacks names");
}

/* ---- blocks and the index ------------------------------------------------------------- */

static int decode_failed(struct tms_reader *reader, int code)
{
    const struct file_reader *state = reader->state;
    const struct tms_decoder *decoder = state->decoder;

    if (code == TMS_ERR_MEMORY) {
        return tms_fail_memory(reader->context);
    }
    if (code == TMS_ERR_FORMAT && decoder->unknown_kind < state->kind_count) {
        return too_new(reader, "has events of the kind", state->kind_texts[decoder->unknown_kind]);
    }
    char why[128];
    snprintf(why, sizeof(why), "the checksum of a section is right, but %s",
             code == TMS_ERR_FORMAT ? "it has a kind of event that the head lacks" : decoder->why);
    return damaged(reader, why);
}

static int decode_block(struct tms_reader *reader, const struct section *section)
{
    const struct file_reader *state = reader->state;
    struct tms_decoder *decoder = state->decoder;
    int code = tms_decode_start(decoder, section->payload, section->length);

    if (code != TMS_OK) {
        return decode_failed(reader, code);
    }
    if (decoder->before != state->events) {
        return damaged(reader, "a section is missing before this one");
    }
    int there = read_names(reader);
    if (there <= 0) {
        return there;
    }
    code = tms_decode_events(decoder, &state->tables);
    return code == TMS_OK ? 1 : decode_failed(reader, code);
}

static int read_block(struct tms_reader *reader, const struct section *section)
{
    struct file_reader *state = reader->state;
    int there = decode_block(reader, section);

    if (there <= 0) {
        tms_decoder_drop(state->decoder);
        return there;
    }
    state->events += state->decoder->count;
    state->blocks++;
    return 1;
}

static bool index_agrees(const struct file_reader *state, const struct section *section)
{
    if (section->length < TMS_INDEX_START_SIZE + TMS_INDEX_END_SIZE) {
        return false;
    }
    const uint8_t *at = section->payload, *end = at + section->length - TMS_INDEX_END_SIZE;
    uint64_t size = TMS_INDEX_START_SIZE + TMS_INDEX_END_SIZE +
                    UINT64_C(4) * tms_get32(at + TMS_INDEX_AT_CLASSES) +
                    UINT64_C(1) * TMS_INDEX_ENTRY_SIZE * tms_get32(at + TMS_INDEX_AT_COUNT);

    return size == section->length && tms_get64(at + TMS_INDEX_AT_EVENTS) == state->events &&
           tms_get64(at + TMS_INDEX_AT_BLOCKS) == state->blocks &&
           tms_get64(end) == state->offset &&
           memcmp(end + 8, TMS_FILE_END_MAGIC, TMS_FILE_MAGIC_SIZE) == 0;
}

static int read_index(struct tms_reader *reader, const struct section *section)
{
    struct file_reader *state = reader->state;

    if (!index_agrees(state, section)) {
        return damaged(reader, "the index does not agree with the sections before it");
    }
    consume(reader, TMS_SECTION_SIZE + section->length);
    state->ended = true;
    int more = need(reader, 1);
    return more > 0 ? damaged(reader, "something follows the end of the trace") : more;
}

static int read_section(struct tms_reader *reader)
{
    struct section section;
    int there = next_section(reader, &section);

    if (there <= 0) {
        return there;
    }
    if (section.tag == TMS_TAG_INDEX) {
        return read_index(reader, &section);
    }
    if (section.tag == TMS_TAG_EVENTS) {
        there = read_block(reader, &section);
    } else if (section.tag == TMS_TAG_LOSS) {
        tms_reader_marked_lost(reader, (const char *)section.payload, section.length);
    } else if ((section.tag & TMS_TAG_OPTIONAL) == 0) {
        char text[5] = {0};
        tms_put32((uint8_t *)text, section.tag);
        there = too_new(reader, "has a section", text);
    }
    if (there > 0) {
        consume(reader, TMS_SECTION_SIZE + section.length);
    }
    return there;
}

static int64_t read_events(struct tms_reader *reader)
{
    struct file_reader *state = reader->state;
    size_t count = tms_decoder_take(state->decoder, reader->events, TMS_BATCH);

    while (count == 0 && !state->ended) {
        int there = read_section(reader);
        if (there < 0) {
            return there;
        }
        count = tms_decoder_take(state->decoder, reader->events, TMS_BATCH);
    }
    return (int64_t)count;
}

static void close_file(struct tms_reader *reader)
{
    struct file_reader *state = reader->state;

    for (int cls = 0; cls < TMS_CLASS_COUNT; cls++) {
        tms_release(&reader->context->memory, state->tables.names[cls].ids,
                    state->tables.names[cls].capacity, sizeof(uint32_t));
    }
    tms_decoder_free(state->decoder);
}

/* Accepts a file that is truncated within its magic, unless it is empty. */
static bool detect(const char *head, size_t length)
{
    size_t compared = length < TMS_FILE_MAGIC_SIZE ? length : TMS_FILE_MAGIC_SIZE;

    return length > 0 && memcmp(head, TMS_FILE_MAGIC, compared) == 0;
}

const struct tms_format tms_format_tms = {
    .info = {.name = "tms",
             .extension = ".tms",
             .summary = "native: compressed, checksummed, readable after being cut off",
             .reads = true,
             .writes = true},
    .own_compression = true,
    .detect = detect,
    .reader_size = sizeof(struct file_reader),
    .open = open_file,
    .read = read_events,
    .close = close_file,
    .writer_size = sizeof(struct tms_file_writer),
    .create = tms_file_create,
    .write = tms_file_write,
    .finish = tms_file_finish,
    .destroy = tms_file_destroy,
};
