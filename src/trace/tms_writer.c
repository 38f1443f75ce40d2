/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the native format; tms_writer.h has the state, tms_format.h the layout. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "trace/tms_writer.h"

#define IDS_LEAST 64

/* ---- sections ------------------------------------------------------------------------- */

static int put_bytes(struct tms_writer *writer, const void *bytes, size_t length)
{
    struct tms_file_writer *state = writer->state;

    state->offset += length;
    return tms_output_write(writer->output, bytes, length);
}

/* Appends room to the section being made; NULL if out of memory. */
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

    tms_section_finish(&state->section, tag);
    return put_bytes(writer, state->section.data, state->section.length);
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

/* Class and text of a kind: one text for each of its orders. */
static bool put_kind(struct tms_file_writer *state, enum tms_event_kind kind)
{
    bool done = true;

    for (enum tms_order order = 0; done && order < TMS_ORDER_COUNT; order++) {
        char text[TMS_KIND_TEXT_SIZE];
        if ((tms_event_orders(kind) >> order & 1) == 0) {
            continue;
        }
        snprintf(text, sizeof(text), "%s%s%s", tms_event_text(kind),
                 order == TMS_ORDER_NONE ? "" : TMS_KIND_COMMA, tms_order_text(order));
        uint8_t *cls = extend(state, 1);
        if (cls != NULL) {
            *cls = (uint8_t)tms_event_class(kind);
        }
        done = cls != NULL && put_text(state, text);
    }
    return done;
}

static bool put_tables(struct tms_file_writer *state)
{
    uint8_t *counts = extend(state, 2);
    tms_file_kinds kinds;

    if (counts == NULL) {
        return false;
    }
    counts[0] = TMS_CLASS_COUNT;
    counts[1] = (uint8_t)tms_number_kinds(kinds);
    bool done = true;
    for (int cls = 0; done && cls < TMS_CLASS_COUNT; cls++) {
        done = put_text(state, tms_class_text(cls));
    }
    for (enum tms_event_kind kind = 0; done && kind < TMS_EVENT_COUNT; kind++) {
        done = put_kind(state, kind);
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

    state->section.memory = &writer->context->memory;
    state->block_events = TMS_BLOCK_EVENTS;
    state->stride = 1;
    return tms_encode_thread_init(&state->encoding, &writer->context->memory, writer->level)
               ? put_head(writer)
               : tms_fail_memory(writer->context);
}

void tms_file_set_block(struct tms_writer *writer, size_t events)
{
    struct tms_file_writer *state = writer->state;

    assert(writer->format == &tms_format_tms &&
           tms_encode_thread_filling(&state->encoding)->count == 0);
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

/* Writes the block that was submitted last to the file. */
static int put_block(struct tms_writer *writer)
{
    struct tms_file_writer *state = writer->state;
    uint64_t before;
    const struct tms_bytes *section = tms_encode_thread_wait(&state->encoding, &before);

    if (section == NULL || state->encoding.failed) {
        return section == NULL ? TMS_OK : tms_fail_memory(writer->context);
    }
    add_to_index(state, (struct tms_index_entry){state->offset, before});
    return put_bytes(writer, section->data, section->length);
}

static int end_block(struct tms_writer *writer, bool is_last)
{
    struct tms_file_writer *state = writer->state;
    struct tms_encode_block *block = tms_encode_thread_filling(&state->encoding);
    int code = put_block(writer);

    if (code == TMS_OK) {
        block->before = state->handed;
        state->handed += block->count;
        tms_encode_thread_hand_over(&state->encoding, is_last);
    }
    return code;
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

static bool put_name(struct tms_encode_block *block, enum tms_class cls,
                     const struct tms_text *name)
{
    uint8_t *room = tms_bytes_room(&block->names, 1 + 5 + name->length);
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
    block->names.length = (size_t)(room - block->names.data) + name->length;
    block->name_count++;
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
    if (!put_name(tms_encode_thread_filling(&state->encoding), cls, name)) {
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
    struct tms_encode_block *block = tms_encode_thread_filling(&state->encoding);
    int code = reserve_ids(writer) ? TMS_OK : tms_fail_memory(writer->context);

    for (size_t i = 0; i < count && code == TMS_OK; i++) {
        struct tms_event *event = &block->events[block->count];
        if (!translate(state, &events[i], event)) {
            code = meet_names(writer, &events[i]);
            translate(state, &events[i], event);
        }
        block->count += code == TMS_OK;
        bool full = block->count == state->block_events || block->names.length >= TMS_NAMES_FULL;
        if (full && code == TMS_OK) {
            code = end_block(writer, false);
            block = tms_encode_thread_filling(&state->encoding);
        }
    }
    return code;
}

/* ---- the end -------------------------------------------------------------------------- */

static void fill_index(const struct tms_file_writer *state, uint8_t *at)
{
    tms_put64(at + TMS_INDEX_AT_EVENTS, state->handed);
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

static int put_loss(struct tms_writer *writer)
{
    size_t length = strlen(writer->loss);
    uint8_t *room = begin_section(writer->state) ? extend(writer->state, length) : NULL;

    if (room == NULL) {
        return tms_fail_memory(writer->context);
    }
    memcpy(room, writer->loss, length);
    return end_section(writer, TMS_TAG_LOSS);
}

int tms_file_finish(struct tms_writer *writer)
{
    struct tms_file_writer *state = writer->state;
    int code =
        tms_encode_thread_filling(&state->encoding)->count > 0 ? end_block(writer, true) : TMS_OK;

    if (code == TMS_OK) {
        code = put_block(writer);
    }
    if (code == TMS_OK && writer->loss[0] != '\0') {
        code = put_loss(writer);
    }
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
    tms_bytes_free(&state->section);
    tms_encode_thread_free(&state->encoding);
}
