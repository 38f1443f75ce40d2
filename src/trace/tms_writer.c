/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the native format; tms_writer.h has the state, tms_format.h the layout. */
#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "trace/tms_writer.h"

#define IDS_LEAST 64

/* ---- sections ------------------------------------------------------------------------- */

static int put_bytes(struct tms_writer *writer, const void *bytes, size_t length)
{
    struct tms_file_writer *state = writer->state;

    state->offset += length;
    return tms_output_write(writer->output, bytes, length);
}

/* Appends room to the section being made; NULL when memory is short. */
static uint8_t *extend(struct tms_file_writer *state, size_t length)
{
    uint8_t *room = tms_bytes_room(&state->section, length);

    if (room != NULL) {
        state->section.length += length;
    }
    return room;
}

static bool begin_section(struct tms_file_writer *state)
{
    state->section.length = 0;
    return extend(state, TMS_SECTION_SIZE) != NULL;
}

static int end_section(struct tms_writer *writer, uint32_t tag)
{
    struct tms_file_writer *state = writer->state;
    uint8_t *start = state->section.data;
    size_t length = state->section.length;

    assert(length - TMS_SECTION_SIZE <= TMS_SECTION_BYTES);
    tms_put32(start + TMS_SECTION_AT_TAG, tag);
    tms_put32(start + TMS_SECTION_AT_LENGTH, (uint32_t)(length - TMS_SECTION_SIZE));
    tms_put64(start + TMS_SECTION_AT_CHECKSUM,
              XXH3_64bits(start + TMS_SECTION_AT_TAG, length - TMS_SECTION_AT_TAG));
    return put_bytes(writer, start, length);
}

/* ---- the head ------------------------------------------------------------------------- */

static bool put_text(struct tms_file_writer *state, const char *text)
{
    size_t length = strlen(text);
    uint8_t *room = extend(state, 1 + length);

    assert(length < TMS_KIND_TEXT_SIZE);
    if (room == NULL) {
        return false;
    }
    room[0] = (uint8_t)length;
    memcpy(room + 1, text, length);
    return true;
}

static bool put_tables(struct tms_file_writer *state)
{
    uint8_t *counts = extend(state, 2);

    if (counts == NULL) {
        return false;
    }
    counts[0] = TMS_CLASS_COUNT;
    counts[1] = TMS_EVENT_COUNT;
    bool done = true;
    for (int cls = 0; done && cls < TMS_CLASS_COUNT; cls++) {
        done = put_text(state, tms_class_text(cls));
    }
    for (int kind = 0; done && kind < TMS_EVENT_COUNT; kind++) {
        uint8_t *cls = extend(state, 1);
        if (cls != NULL) {
            *cls = (uint8_t)tms_event_class(kind);
        }
        done = cls != NULL && put_text(state, tms_event_text(kind));
    }
    return done;
}

static int put_head(struct tms_writer *writer)
{
    uint8_t start[TMS_FILE_START_SIZE] = TMS_FILE_MAGIC;

    tms_put32(start + TMS_FILE_AT_BYTE_ORDER, TMS_FILE_BYTE_ORDER);
    tms_put16(start + TMS_FILE_AT_MAJOR, TMS_FILE_MAJOR);
    tms_put16(start + TMS_FILE_AT_MINOR, TMS_FILE_MINOR);
    int code = put_bytes(writer, start, sizeof(start));
    if (code != TMS_OK) {
        return code;
    }
    if (!begin_section(writer->state) || !put_tables(writer->state)) {
        return tms_fail_memory(writer->context);
    }
    return end_section(writer, TMS_TAG_HEAD);
}

int tms_file_create(struct tms_writer *writer)
{
    struct tms_file_writer *state = writer->state;
    struct tms_memory *memory = &writer->context->memory;

    state->section.memory = state->names.memory = memory;
    state->block_events = TMS_BLOCK_EVENTS;
    state->stride = 1;
    state->encoder = tms_encoder_new(memory, writer->level);
    return state->encoder != NULL ? put_head(writer) : tms_fail_memory(writer->context);
}

void tms_file_set_block(struct tms_writer *writer, size_t events)
{
    struct tms_file_writer *state = writer->state;

    assert(writer->format == &tms_format_tms && state->waiting == 0);
    assert(events >= 1 && events <= TMS_BLOCK_EVENTS);
    state->block_events = events;
}

/* ---- blocks --------------------------------------------------------------------------- */

static void add_to_index(struct tms_file_writer *state, struct tms_index_entry entry)
{
    if (state->blocks % state->stride == 0 && state->index_count == TMS_INDEX_MOST) {
        for (size_t i = 0; i < TMS_INDEX_MOST / 2; i++) {
            state->index[i] = state->index[2 * i];
        }
        state->index_count = TMS_INDEX_MOST / 2;
        state->stride *= 2;
    }
    if (state->blocks % state->stride == 0) {
        state->index[state->index_count++] = entry;
    }
    state->blocks++;
}

static int put_block(struct tms_writer *writer)
{
    struct tms_file_writer *state = writer->state;
    struct tms_new_names names = {state->names.data, (uint32_t)state->names.length,
                                  state->name_count};

    if (state->waiting == 0) {
        return TMS_OK;
    }
    if (!begin_section(state) || !tms_encode(state->encoder, state->events, state->waiting,
                                             state->written, &names, &state->section)) {
        return tms_fail_memory(writer->context);
    }
    add_to_index(state, (struct tms_index_entry){state->offset, state->written});
    state->written += state->waiting;
    state->waiting = 0;
    state->names.length = 0;
    state->name_count = 0;
    return end_section(writer, TMS_TAG_EVENTS);
}

/* ---- names ---------------------------------------------------------------------------- */

/* Room for the ids of all names that there are. */
static bool reserve_ids(struct tms_writer *writer)
{
    struct tms_file_writer *state = writer->state;
    bool done = true;

    for (int cls = 0; cls < TMS_CLASS_COUNT && done; cls++) {
        struct tms_file_ids *ids = &state->ids[cls];
        size_t wanted = (size_t)writer->context->names[cls].count + 1;
        done = TMS_RESERVE(&writer->context->memory, &ids->ids, &ids->capacity, wanted, IDS_LEAST);
    }
    return done;
}

static bool put_name(struct tms_file_writer *state, enum tms_class cls, const struct tms_text *name)
{
    uint8_t *room = tms_bytes_room(&state->names, 1 + 5 + name->length);
    uint32_t left = name->length;

    if (room == NULL) {
        return false;
    }
    *room++ = (uint8_t)cls;
    for (; left >= 0x80; left >>= 7) {
        *room++ = (uint8_t)(left | 0x80);
    }
    *room++ = (uint8_t)left;
    memcpy(room, name->text, name->length);
    state->names.length = (size_t)(room - state->names.data) + name->length;
    state->name_count++;
    return true;
}

static int new_name(struct tms_writer *writer, enum tms_class cls, uint32_t id)
{
    struct tms_file_writer *state = writer->state;
    struct tms_file_ids *ids = &state->ids[cls];
    const struct tms_text *name = &writer->context->names[cls].texts[id];

    if (name->length > TMS_NAME_BYTES) {
        return tms_fail(writer->context, TMS_ERR_LIMIT,
                        "%s: a %s has a name of %u bytes; this format takes at most %u",
                        writer->path, tms_class_text(cls), name->length, TMS_NAME_BYTES);
    }
    if (!put_name(state, cls, name)) {
        return tms_fail_memory(writer->context);
    }
    ids->ids[id] = ++ids->count;
    return TMS_OK;
}

/* Gives a name an id of the file, if it needs one and has none. */
static int meet_name(struct tms_writer *writer, enum tms_class cls, uint32_t id)
{
    const struct tms_file_writer *state = writer->state;
    bool none = id == 0 || (cls == TMS_CLASS_LOCATION && id >= TMS_LOCATION_NUMBER);

    return none || state->ids[cls].ids[id] != 0 ? TMS_OK : new_name(writer, cls, id);
}

static int meet_names(struct tms_writer *writer, const struct tms_event *event)
{
    int code = meet_name(writer, TMS_CLASS_THREAD, event->thread);

    if (code == TMS_OK) {
        code = meet_name(writer, tms_event_class(event->kind), event->target);
    }
    return code == TMS_OK ? meet_name(writer, TMS_CLASS_LOCATION, event->location) : code;
}

/* Puts the file's ids in place of the context's: false if a name has none yet. */
static inline bool translate(const struct tms_file_writer *state, const struct tms_event *from,
                             struct tms_event *to)
{
    static const uint8_t classes[TMS_EVENT_COUNT] = {
#define X(name, text, cls) [TMS_EVENT_##name] = TMS_CLASS_##cls,
        TMS_EVENT_KINDS(X)
#undef X
    };
    bool numbered = from->location >= TMS_LOCATION_NUMBER;

    *to = *from;
    to->thread = state->ids[TMS_CLASS_THREAD].ids[from->thread];
    to->target = state->ids[classes[from->kind]].ids[from->target];
    to->location = numbered ? from->location : state->ids[TMS_CLASS_LOCATION].ids[from->location];
    return to->thread != 0 && (to->target != 0 || from->target == 0) &&
           (to->location != 0 || from->location == 0);
}

int tms_file_write(struct tms_writer *writer, const struct tms_event *events, size_t count)
{
    struct tms_file_writer *state = writer->state;
    int code = reserve_ids(writer) ? TMS_OK : tms_fail_memory(writer->context);

    for (size_t i = 0; i < count && code == TMS_OK; i++) {
        struct tms_event *event = &state->events[state->waiting];
        if (!translate(state, &events[i], event)) {
            code = meet_names(writer, &events[i]);
            translate(state, &events[i], event);
        }
        state->waiting += code == TMS_OK;
        bool full = state->waiting == state->block_events || state->names.length >= TMS_NAMES_FULL;
        if (full && code == TMS_OK) {
            code = put_block(writer);
        }
    }
    return code;
}

/* ---- the end -------------------------------------------------------------------------- */

static void fill_index(const struct tms_file_writer *state, uint8_t *at)
{
    tms_put64(at + TMS_INDEX_AT_EVENTS, state->written);
    tms_put64(at + TMS_INDEX_AT_BLOCKS, state->blocks);
    tms_put64(at + TMS_INDEX_AT_STRIDE, state->stride);
    tms_put32(at + TMS_INDEX_AT_COUNT, (uint32_t)state->index_count);
    tms_put32(at + TMS_INDEX_AT_CLASSES, TMS_CLASS_COUNT);
    at += TMS_INDEX_START_SIZE;
    for (int cls = 0; cls < TMS_CLASS_COUNT; cls++, at += 4) {
        tms_put32(at, state->ids[cls].count);
    }
    for (size_t i = 0; i < state->index_count; i++, at += TMS_INDEX_ENTRY_SIZE) {
        tms_put64(at, state->index[i].offset);
        tms_put64(at + 8, state->index[i].before);
    }
    tms_put64(at, state->offset);
    memcpy(at + 8, TMS_FILE_END_MAGIC, TMS_FILE_MAGIC_SIZE);
}

int tms_file_finish(struct tms_writer *writer)
{
    struct tms_file_writer *state = writer->state;
    int code = put_block(writer);

    if (code != TMS_OK) {
        return code;
    }
    size_t size = TMS_INDEX_START_SIZE + 4 * TMS_CLASS_COUNT +
                  state->index_count * TMS_INDEX_ENTRY_SIZE + TMS_INDEX_END_SIZE;
    uint8_t *room = begin_section(state) ? extend(state, size) : NULL;
    if (room == NULL) {
        return tms_fail_memory(writer->context);
    }
    fill_index(state, room);
    return end_section(writer, TMS_TAG_INDEX);
}

void tms_file_destroy(struct tms_writer *writer)
{
    struct tms_file_writer *state = writer->state;
    struct tms_memory *memory = &writer->context->memory;

    for (int cls = 0; cls < TMS_CLASS_COUNT; cls++) {
        tms_release(memory, state->ids[cls].ids, state->ids[cls].capacity, sizeof(uint32_t));
    }
    tms_bytes_free(&state->names);
    tms_bytes_free(&state->section);
    tms_encoder_free(state->encoder);
}
