/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding of blocks; see tms_block.h. Nothing in a block is trusted, although its checksum was
 * right: each column is validated as a whole, so that assembling events needs no checks.
 */
#include <assert.h>
#include <string.h>

#include "base/context.h"
#include "trace/tms_block.h"

struct tms_decoder *tms_decoder_new(struct tms_memory *memory)
{
    struct tms_decoder *decoder = tms_resize(memory, NULL, 0, 1, sizeof(*decoder));

    if (decoder == NULL) {
        return NULL;
    }
    decoder->memory = memory;
    decoder->names.memory = memory;
    decoder->zstd = ZSTD_createDCtx();
    if (decoder->zstd == NULL) {
        tms_decoder_free(decoder);
        return NULL;
    }
    return decoder;
}

void tms_decoder_free(struct tms_decoder *decoder)
{
    if (decoder == NULL) {
        return;
    }
    ZSTD_freeDCtx(decoder->zstd);
    tms_bytes_free(&decoder->names);
    tms_release(decoder->memory, decoder, 1, sizeof(*decoder));
}

static int bad(struct tms_decoder *decoder, const char *why)
{
    decoder->why = why;
    return TMS_ERR_SYNTAX;
}

static bool read_planes(struct tms_decoder *decoder, uint32_t *values, size_t count,
                        unsigned planes)
{
    return tms_planes_read(&decoder->columns, decoder->zstd, values, count, planes, decoder->plane);
}

/* ---- the start and the names ---------------------------------------------------------- */

static bool counts_fit(const struct tms_decoder *decoder)
{
    return decoder->count >= 1 && decoder->count <= TMS_BLOCK_EVENTS &&
           decoder->thread_count >= 1 && decoder->thread_count <= decoder->count &&
           decoder->shape_count >= 1 && decoder->shape_count <= TMS_BLOCK_SHAPES &&
           decoder->variable_count <= decoder->count && decoder->location_mode < TMS_LOCATION_MODES;
}

static int read_names(struct tms_decoder *decoder, uint32_t length)
{
    if (length > TMS_NAMES_BYTES) {
        return bad(decoder, "it claims more names than a section may hold");
    }
    decoder->names.length = 0;
    uint8_t *room = tms_bytes_room(&decoder->names, TMS_COLUMN_ROOM((size_t)length + 1));
    if (room == NULL) {
        return TMS_ERR_MEMORY;
    }
    if (!tms_column_read(&decoder->columns, decoder->zstd, room, length)) {
        return bad(decoder, "its names can't be unpacked");
    }
    decoder->names.length = length;
    return TMS_OK;
}

int tms_decode_start(struct tms_decoder *decoder, const uint8_t *payload, size_t length)
{
    if (length < TMS_BLOCK_START_SIZE) {
        return bad(decoder, "it is too short");
    }
    decoder->before = tms_get64(payload + TMS_BLOCK_AT_BEFORE);
    decoder->count = tms_get32(payload + TMS_BLOCK_AT_EVENTS);
    decoder->taken = 0;
    decoder->thread_count = tms_get32(payload + TMS_BLOCK_AT_THREADS);
    decoder->shape_count = tms_get32(payload + TMS_BLOCK_AT_SHAPES);
    decoder->variable_count = tms_get32(payload + TMS_BLOCK_AT_VARIABLES);
    decoder->name_count = tms_get32(payload + TMS_BLOCK_AT_NAMES);
    decoder->location_base = tms_get32(payload + TMS_BLOCK_AT_LOCATION_BASE);
    decoder->location_mode = payload[TMS_BLOCK_AT_LOCATION_MODE];
    decoder->variable_planes = payload[TMS_BLOCK_AT_VARIABLE_PLANES];
    decoder->other_planes = payload[TMS_BLOCK_AT_OTHER_PLANES];
    decoder->location_planes = payload[TMS_BLOCK_AT_LOCATION_PLANES];
    if (!counts_fit(decoder)) {
        return bad(decoder, "its counts are out of range");
    }
    decoder->columns = (struct tms_span){payload + TMS_BLOCK_START_SIZE, payload + length};
    return read_names(decoder, tms_get32(payload + TMS_BLOCK_AT_NAME_BYTES));
}

/* ---- the columns ---------------------------------------------------------------------- */

static inline uint32_t to_context(const struct tms_name_map *map, uint32_t id)
{
    return map->ids == NULL ? id : map->ids[id];
}

static int read_threads(struct tms_decoder *decoder, const struct tms_tables *tables)
{
    const struct tms_name_map *map = &tables->names[TMS_CLASS_THREAD];
    uint32_t *ids = decoder->operands; /* not in use yet */

    if (!read_planes(decoder, ids, decoder->thread_count, 4)) {
        return bad(decoder, "its threads can't be unpacked");
    }
    for (uint32_t i = 0; i < decoder->thread_count; i++) {
        if (ids[i] == 0 || ids[i] > map->count) {
            return bad(decoder, "it names a thread that is not there");
        }
        decoder->cursors[i] = (struct tms_cursor){0, to_context(map, ids[i])};
    }
    return TMS_OK;
}

/* False if a location does not exist: names and plain numbers do, values between them do not. */
static bool map_locations(const struct tms_name_map *map, uint32_t *values, size_t count)
{
    uint32_t first = map->count + 1, gap = TMS_LOCATION_NUMBER - first, missing = 0;

    for (size_t i = 0; i < count; i++) {
        missing |= values[i] - first < gap;
    }
    if (missing != 0) {
        return false;
    }
    for (size_t i = 0; map->ids != NULL && i < count; i++) {
        values[i] = values[i] < TMS_LOCATION_NUMBER ? map->ids[values[i]] : values[i];
    }
    return true;
}

static int read_shapes(struct tms_decoder *decoder, const struct tms_tables *tables)
{
    uint8_t *kinds = decoder->codes; /* not in use yet, like the operands */
    uint32_t *locations = decoder->operands;
    unsigned planes = decoder->location_mode == TMS_LOCATION_IN_SHAPE ? 4 : 0;

    if (!tms_column_read(&decoder->columns, decoder->zstd, kinds, decoder->shape_count) ||
        !read_planes(decoder, locations, decoder->shape_count, planes)) {
        return bad(decoder, "its shapes can't be unpacked");
    }
    if (!map_locations(&tables->names[TMS_CLASS_LOCATION], locations, decoder->shape_count)) {
        return bad(decoder, "it names a location that is not there");
    }
    for (uint32_t i = 0; i < decoder->shape_count; i++) {
        uint8_t kind = tables->kinds[kinds[i]];
        if (kind == TMS_KIND_UNKNOWN) {
            decoder->unknown_kind = kinds[i];
            return TMS_ERR_FORMAT;
        }
        enum tms_class cls = tms_event_class(kind);
        uint32_t least = !tms_operand_is_optional((enum tms_event_kind)kind);
        decoder->shapes[i] = (struct tms_event_shape){
            .kind = kind, .order = tables->orders[kinds[i]], .location = locations[i]};
        decoder->operand_shapes[i] =
            (struct tms_operand_shape){least, tables->names[cls].count, cls};
        decoder->of_variable[i] = cls == TMS_CLASS_VARIABLE ? SIZE_MAX : 0;
    }
    return TMS_OK;
}

/*
 * Four separate counts, to break the dependency chain between neighbours, which are often of one
 * thread.
 */
static void count_turns(struct tms_decoder *decoder, uint32_t turns[256])
{
    uint32_t counts[4][256] = {{0}};
    uint32_t i = 0;

    for (; i + 4 <= decoder->count; i += 4) {
        for (uint32_t k = 0; k < 4; k++) {
            counts[k][decoder->schedule[i + k]]++;
        }
    }
    for (; i < decoder->count; i++) {
        counts[0][decoder->schedule[i]]++;
    }
    for (i = 0; i < 256; i++) {
        turns[i] = counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i];
    }
}

static bool count_narrow(struct tms_decoder *decoder)
{
    uint32_t turns[256], known = 0;

    if (!tms_column_read(&decoder->columns, decoder->zstd, decoder->schedule, decoder->count)) {
        return false;
    }
    count_turns(decoder, turns);
    for (uint32_t i = 0; i < decoder->thread_count; i++) {
        decoder->cursors[i].next = turns[i];
        known += turns[i];
    }
    return known == decoder->count;
}

static bool count_wide(struct tms_decoder *decoder)
{
    if (!read_planes(decoder, decoder->wide_schedule, decoder->count, 2)) {
        return false;
    }
    for (uint32_t i = 0; i < decoder->count; i++) {
        if (decoder->wide_schedule[i] >= decoder->thread_count) {
            return false;
        }
        decoder->cursors[decoder->wide_schedule[i]].next++;
    }
    return true;
}

/* Leaves in each cursor where its thread begins: no later step can then leave the block. */
static int read_schedule(struct tms_decoder *decoder)
{
    uint32_t start = 0;

    if (!(decoder->thread_count <= 256 ? count_narrow(decoder) : count_wide(decoder))) {
        return bad(decoder, "its schedule names unknown threads");
    }
    for (uint32_t i = 0; i < decoder->thread_count; i++) {
        uint32_t turns = decoder->cursors[i].next;
        decoder->cursors[i].next = start;
        start += turns;
    }
    assert(start == decoder->count);
    return TMS_OK;
}

static int read_codes(struct tms_decoder *decoder)
{
    uint8_t most = 0;

    if (!tms_column_read(&decoder->columns, decoder->zstd, decoder->codes, decoder->count)) {
        return bad(decoder, "its shape column can't be unpacked");
    }
    for (uint32_t i = 0; i < decoder->count; i++) {
        most = decoder->codes[i] > most ? decoder->codes[i] : most;
    }
    return most < decoder->shape_count ? TMS_OK : bad(decoder, "it uses a shape it doesn't have");
}

/* Separate from the merging: all variables, the majority, have the same bounds. */
static bool operands_are_there(const struct tms_decoder *decoder, const struct tms_tables *tables)
{
    const uint32_t *variables = decoder->values, *others = decoder->values + TMS_BLOCK_EVENTS;
    uint32_t most = tables->names[TMS_CLASS_VARIABLE].count, missing = 0;

    for (uint32_t i = 0; i < decoder->variable_count; i++) {
        missing |= (variables[i] - 1) | (most - variables[i]);
    }
    for (uint32_t i = 0; i < decoder->count - decoder->variable_count; i++) {
        const struct tms_operand_shape *shape = &decoder->operand_shapes[decoder->other_codes[i]];
        missing |= (others[i] - shape->least) | (shape->most - others[i]);
    }
    return missing >> 31 == 0; /* one is negative if an id is not there */
}

/*
 * Merges the two operand columns without a branch, which would be mispredicted half the time. Both
 * have room for a whole block, so a wrong number of variables may be detected at the end.
 */
static bool merge_operands(struct tms_decoder *decoder)
{
    const uint32_t *restrict values = decoder->values;
    const uint8_t *restrict codes = decoder->codes;
    uint32_t *restrict operands = decoder->operands;
    const size_t *restrict of_variable = decoder->of_variable;
    uint8_t *restrict other_codes = decoder->other_codes;
    size_t count = decoder->count, variable = 0, other = TMS_BLOCK_EVENTS;

#pragma GCC unroll 4
    for (size_t i = 0; i < count; i++) {
        size_t mask = of_variable[codes[i]];
        other_codes[other - TMS_BLOCK_EVENTS] = codes[i];
        operands[i] = values[other ^ ((other ^ variable) & mask)];
        variable -= mask;
        other += 1 + mask;
    }
    return variable == decoder->variable_count;
}

static int read_operands(struct tms_decoder *decoder, const struct tms_tables *tables)
{
    uint32_t others = decoder->count - decoder->variable_count;
    bool same = true;

    if (!read_planes(decoder, decoder->values, decoder->variable_count, decoder->variable_planes) ||
        !read_planes(decoder, decoder->values + TMS_BLOCK_EVENTS, others, decoder->other_planes)) {
        return bad(decoder, "its operands can't be unpacked");
    }
    if (!merge_operands(decoder) || !operands_are_there(decoder, tables)) {
        return bad(decoder, "it has an operand that is not there");
    }
    for (uint32_t i = 0; i < decoder->shape_count; i++) {
        same &= tables->names[decoder->operand_shapes[i].cls].ids == NULL;
    }
    for (uint32_t i = 0; !same && i < decoder->count; i++) {
        uint32_t cls = decoder->operand_shapes[decoder->codes[i]].cls;
        decoder->operands[i] = to_context(&tables->names[cls], decoder->operands[i]);
    }
    return TMS_OK;
}

static void add_base(uint32_t *values, size_t count, uint32_t base)
{
    for (size_t i = 0; i < count; i++) {
        values[i] += base;
    }
}

static void add_steps(uint32_t *values, size_t count, uint32_t last)
{
    for (size_t i = 0; i < count; i++) {
        last += values[i] >> 1 ^ -(values[i] & 1);
        values[i] = last;
    }
}

static int read_locations(struct tms_decoder *decoder, const struct tms_tables *tables)
{
    uint32_t *values = decoder->locations, count = decoder->count;

    if (decoder->location_mode == TMS_LOCATION_IN_SHAPE) {
        return TMS_OK;
    }
    if (!read_planes(decoder, values, count, decoder->location_planes)) {
        return bad(decoder, "its locations can't be unpacked");
    }
    if (decoder->location_mode == TMS_LOCATION_BY_STEP) {
        add_steps(values, count, decoder->location_base);
    } else {
        add_base(values, count, decoder->location_base);
    }
    if (!map_locations(&tables->names[TMS_CLASS_LOCATION], values, count)) {
        return bad(decoder, "it names a location that is not there");
    }
    return TMS_OK;
}

int tms_decode_events(struct tms_decoder *decoder, const struct tms_tables *tables)
{
    int code = read_threads(decoder, tables);

    code = code == TMS_OK ? read_shapes(decoder, tables) : code;
    code = code == TMS_OK ? read_schedule(decoder) : code;
    code = code == TMS_OK ? read_codes(decoder) : code;
    code = code == TMS_OK ? read_operands(decoder, tables) : code;
    code = code == TMS_OK ? read_locations(decoder, tables) : code;
    if (code == TMS_OK && decoder->columns.at != decoder->columns.end) {
        return bad(decoder, "something follows its last column");
    }
    return code;
}

/* ---- handing out ---------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void take(struct tms_decoder *decoder,
                                                       struct tms_event *restrict events,
                                                       size_t count, bool wide, unsigned mode)
{
    const uint8_t *restrict codes = decoder->codes;
    const uint32_t *restrict operands = decoder->operands, *restrict locations = decoder->locations;
    const struct tms_event_shape *restrict shapes = decoder->shapes;
    struct tms_cursor *restrict cursors = decoder->cursors;
    const uint8_t *restrict schedule = decoder->schedule + decoder->taken;
    const uint32_t *restrict wide_schedule = decoder->wide_schedule + decoder->taken;
    uint32_t first = decoder->taken;

#pragma GCC unroll 4
    for (size_t i = 0; i < count; i++) {
        struct tms_cursor *cursor = &cursors[wide ? wide_schedule[i] : schedule[i]];
        uint32_t at = cursor->next++;
        events[i].thread = cursor->thread;
        events[i].target = operands[at];
        memcpy(&events[i].location, &shapes[codes[at]], sizeof(*shapes));
        if (mode != TMS_LOCATION_IN_SHAPE) {
            events[i].location = locations[mode == TMS_LOCATION_BY_THREAD ? at : first + i];
        }
    }
}

typedef void taker(struct tms_decoder *decoder, struct tms_event *events, size_t count);

#define TAKER(name, wide, mode)                                                                    \
    static void name(struct tms_decoder *decoder, struct tms_event *events, size_t count)          \
    {                                                                                              \
        take(decoder, events, count, wide, mode);                                                  \
    }
TAKER(take_narrow_shape, false, TMS_LOCATION_IN_SHAPE)
TAKER(take_narrow_thread, false, TMS_LOCATION_BY_THREAD)
TAKER(take_narrow_step, false, TMS_LOCATION_BY_STEP)
TAKER(take_wide_shape, true, TMS_LOCATION_IN_SHAPE)
TAKER(take_wide_thread, true, TMS_LOCATION_BY_THREAD)
TAKER(take_wide_step, true, TMS_LOCATION_BY_STEP)

void tms_decoder_drop(struct tms_decoder *decoder)
{
    decoder->count = decoder->taken = 0;
}

size_t tms_decoder_take(struct tms_decoder *decoder, struct tms_event *events, size_t room)
{
    static taker *const takers[2][TMS_LOCATION_MODES] = {
        {take_narrow_shape, take_narrow_thread, take_narrow_step},
        {take_wide_shape, take_wide_thread, take_wide_step},
    };
    size_t left = decoder->count - decoder->taken, count = left < room ? left : room;

    if (count > 0) {
        takers[decoder->thread_count > 256][decoder->location_mode](decoder, events, count);
        decoder->taken += (uint32_t)count;
    }
    return count;
}
