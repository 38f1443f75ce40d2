/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of blocks; see tms_block.h. Everything is decided by the events of one block. */
#include <assert.h>

#include "base/hash_mix.h"
#include "trace/tms_block.h"

/*
 * Columns are noise or long repetitions: shorter matches gain nothing there, and make both
 * encoding and decoding slower.
 */
#define LEVEL       1
#define LEAST_MATCH 7

#define SHAPE_SLOTS 1024 /* a power of two, four times TMS_BLOCK_SHAPES */

struct shape_slot {
    uint64_t shape;
    uint16_t code; /* + 1; 0: free */
};

unsigned tms_number_kinds(tms_file_kinds numbers)
{
    unsigned count = 0;

    memset(numbers, 0, sizeof(tms_file_kinds));
    for (enum tms_event_kind kind = 0; kind < TMS_EVENT_COUNT; kind++) {
        for (enum tms_order order = 0; order < TMS_ORDER_COUNT; order++) {
            if (tms_event_orders(kind) >> order & 1) {
                numbers[kind][order] = (uint8_t)count++;
            }
        }
    }
    assert(count < TMS_KIND_UNKNOWN);
    return count;
}

static bool set_level(ZSTD_CCtx *zstd, int level)
{
    size_t code = ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level == 0 ? LEVEL : level);

    if (level == 0 && !ZSTD_isError(code)) {
        code = ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, LEAST_MATCH);
    }
    return !ZSTD_isError(code);
}

struct tms_encoder *tms_encoder_new(struct tms_memory *memory, int level)
{
    struct tms_encoder *encoder = tms_resize(memory, NULL, 0, 1, sizeof(*encoder));

    if (encoder == NULL) {
        return NULL;
    }
    encoder->memory = memory;
    tms_number_kinds(encoder->kinds);
    encoder->zstd = ZSTD_createCCtx();
    if (encoder->zstd == NULL || !set_level(encoder->zstd, level)) {
        tms_encoder_free(encoder);
        return NULL;
    }
    return encoder;
}

void tms_encoder_free(struct tms_encoder *encoder)
{
    if (encoder == NULL) {
        return;
    }
    ZSTD_freeCCtx(encoder->zstd);
    tms_release(encoder->memory, encoder->turn_of, encoder->turn_capacity, sizeof(uint32_t));
    tms_release(encoder->memory, encoder, 1, sizeof(*encoder));
}

/* ---- thread order --------------------------------------------------------------------- */

static bool reserve_turns(struct tms_encoder *encoder, const struct tms_event *events, size_t count)
{
    uint32_t most = 0;

    for (size_t i = 0; i < count; i++) {
        most = events[i].thread > most ? events[i].thread : most;
    }
    if (most < encoder->turn_capacity) {
        return true;
    }
    size_t capacity = tms_capacity(encoder->turn_capacity, (size_t)most + 1, 64);
    uint32_t *turn_of = tms_resize(encoder->memory, encoder->turn_of, encoder->turn_capacity,
                                   capacity, sizeof(*turn_of));
    if (turn_of == NULL) {
        return false;
    }
    encoder->turn_of = turn_of;
    encoder->turn_capacity = capacity;
    return true;
}

/* Fills threads, schedule and, in `starts`, how many events each thread has. */
static void make_schedule(struct tms_encoder *encoder, const struct tms_event *events, size_t count)
{
    encoder->thread_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t *turn = &encoder->turn_of[events[i].thread];
        if (*turn == 0) {
            encoder->threads[encoder->thread_count] = events[i].thread;
            encoder->starts[encoder->thread_count] = 0;
            *turn = (uint32_t)++encoder->thread_count;
        }
        encoder->schedule[i] = *turn - 1;
        encoder->starts[*turn - 1]++;
    }
    for (size_t i = 0; i < encoder->thread_count; i++) {
        encoder->turn_of[encoder->threads[i]] = 0;
    }
}

static void sort_by_thread(struct tms_encoder *encoder, size_t count)
{
    uint32_t start = 0;

    for (size_t i = 0; i < encoder->thread_count; i++) {
        uint32_t turns = encoder->starts[i];
        encoder->starts[i] = start;
        start += turns;
    }
    for (size_t i = 0; i < count; i++) {
        encoder->order[encoder->starts[encoder->schedule[i]]++] = (uint32_t)i;
    }
}

/* ---- shapes and locations ------------------------------------------------------------- */

/* False if there are too many shapes, which can't be without locations. */
static bool find_shapes(struct tms_encoder *encoder, const struct tms_event *events, size_t count,
                        bool with_location)
{
    struct shape_slot slots[SHAPE_SLOTS] = {{0}};

    encoder->shape_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct tms_event *event = &events[encoder->order[i]];
        uint64_t shape = (uint64_t)(with_location ? event->location : 0) << 8 |
                         encoder->kinds[event->kind][event->order];
        size_t at = tms_hash(shape) >> 40 & (SHAPE_SLOTS - 1);
        while (slots[at].code != 0 && slots[at].shape != shape) {
            at = (at + 1) & (SHAPE_SLOTS - 1);
        }
        if (slots[at].code == 0) {
            if (encoder->shape_count == TMS_BLOCK_SHAPES) {
                return false;
            }
            encoder->shapes[encoder->shape_count++] = shape;
            slots[at] = (struct shape_slot){shape, (uint16_t)encoder->shape_count};
        }
        encoder->codes[i] = (uint8_t)(slots[at].code - 1);
    }
    return true;
}

static unsigned bit_length(uint32_t value)
{
    return value == 0 ? 0 : 32 - (unsigned)__builtin_clz(value);
}

static uint32_t zigzag(uint32_t step)
{
    return step << 1 ^ -(step >> 31);
}

static uint32_t least_location(const struct tms_event *events, size_t count)
{
    uint32_t least = events[0].location;

    for (size_t i = 1; i < count; i++) {
        least = events[i].location < least ? events[i].location : least;
    }
    return least;
}

/* Line numbers of a trace have small differences in trace order; source locations do not. */
static enum tms_location_mode choose_mode(const struct tms_event *events, size_t count,
                                          uint32_t least)
{
    uint64_t by_thread = 0, by_step = 0;

    for (size_t i = 1; i < count; i++) {
        by_thread += bit_length(events[i].location - least);
        by_step += bit_length(zigzag(events[i].location - events[i - 1].location));
    }
    return by_step < by_thread ? TMS_LOCATION_BY_STEP : TMS_LOCATION_BY_THREAD;
}

/* Fills the location column; returns its base. */
static uint32_t make_locations(struct tms_encoder *encoder, const struct tms_event *events,
                               size_t count, enum tms_location_mode *mode)
{
    uint32_t least = least_location(events, count), last = events[0].location;

    *mode = choose_mode(events, count, least);
    if (*mode == TMS_LOCATION_BY_THREAD) {
        for (size_t i = 0; i < count; i++) {
            encoder->locations[i] = events[encoder->order[i]].location - least;
        }
        return least;
    }
    for (size_t i = 0; i < count; i++) {
        encoder->locations[i] = zigzag(events[i].location - last);
        last = events[i].location;
    }
    return events[0].location;
}

/* ---- operands ------------------------------------------------------------------------- */

/* Returns how many are variables. */
static size_t split_operands(struct tms_encoder *encoder, const struct tms_event *events,
                             size_t count)
{
    size_t variables = 0;

    for (size_t i = 0; i < count; i++) {
        const struct tms_event *event = &events[encoder->order[i]];
        if (tms_event_class(event->kind) == TMS_CLASS_VARIABLE) {
            encoder->variables[variables++] = event->target;
        } else {
            encoder->others[i - variables] = event->target;
        }
    }
    return variables;
}

static unsigned planes_of(const uint32_t *values, size_t count)
{
    uint32_t all = 0;

    for (size_t i = 0; i < count; i++) {
        all |= values[i];
    }
    return tms_planes(all);
}

/* ---- the block ------------------------------------------------------------------------ */

struct plan {
    size_t count, variables;
    enum tms_location_mode mode;
    uint32_t base;
    unsigned variable_planes, other_planes, location_planes;
};

static struct plan make_columns(struct tms_encoder *encoder, const struct tms_event *events,
                                size_t count)
{
    struct plan plan = {.count = count, .mode = TMS_LOCATION_IN_SHAPE};

    make_schedule(encoder, events, count);
    sort_by_thread(encoder, count);
    if (!find_shapes(encoder, events, count, true)) {
        plan.base = make_locations(encoder, events, count, &plan.mode);
        plan.location_planes = planes_of(encoder->locations, count);
        bool fits = find_shapes(encoder, events, count, false);
        assert(fits);
        (void)fits;
    }
    plan.variables = split_operands(encoder, events, count);
    plan.variable_planes = planes_of(encoder->variables, plan.variables);
    plan.other_planes = planes_of(encoder->others, count - plan.variables);
    return plan;
}

static bool write_start(const struct tms_encoder *encoder, const struct plan *plan, uint64_t before,
                        const struct tms_new_names *names, struct tms_bytes *out)
{
    uint8_t *start = tms_bytes_room(out, TMS_BLOCK_START_SIZE);

    if (start == NULL) {
        return false;
    }
    tms_put64(start + TMS_BLOCK_AT_BEFORE, before);
    tms_put32(start + TMS_BLOCK_AT_EVENTS, (uint32_t)plan->count);
    tms_put32(start + TMS_BLOCK_AT_THREADS, (uint32_t)encoder->thread_count);
    tms_put32(start + TMS_BLOCK_AT_SHAPES, (uint32_t)encoder->shape_count);
    tms_put32(start + TMS_BLOCK_AT_VARIABLES, (uint32_t)plan->variables);
    tms_put32(start + TMS_BLOCK_AT_NAMES, names->count);
    tms_put32(start + TMS_BLOCK_AT_NAME_BYTES, names->length);
    tms_put32(start + TMS_BLOCK_AT_LOCATION_BASE, plan->base);
    start[TMS_BLOCK_AT_LOCATION_MODE] = (uint8_t)plan->mode;
    start[TMS_BLOCK_AT_VARIABLE_PLANES] = (uint8_t)plan->variable_planes;
    start[TMS_BLOCK_AT_OTHER_PLANES] = (uint8_t)plan->other_planes;
    start[TMS_BLOCK_AT_LOCATION_PLANES] = (uint8_t)plan->location_planes;
    out->length += TMS_BLOCK_START_SIZE;
    return true;
}

static bool write_planes(struct tms_encoder *encoder, const uint32_t *values, size_t count,
                         unsigned planes, struct tms_bytes *out)
{
    return tms_planes_write(out, encoder->zstd, values, count, planes, encoder->plane);
}

static bool write_shapes(struct tms_encoder *encoder, enum tms_location_mode mode,
                         struct tms_bytes *out)
{
    uint8_t kinds[TMS_BLOCK_SHAPES];
    uint32_t locations[TMS_BLOCK_SHAPES];

    for (size_t i = 0; i < encoder->shape_count; i++) {
        kinds[i] = (uint8_t)encoder->shapes[i];
        locations[i] = (uint32_t)(encoder->shapes[i] >> 8);
    }
    bool in_shape = mode == TMS_LOCATION_IN_SHAPE;
    return tms_column_write(out, encoder->zstd, kinds, encoder->shape_count) &&
           (!in_shape || write_planes(encoder, locations, encoder->shape_count, 4, out));
}

bool tms_encode(struct tms_encoder *encoder, const struct tms_event *events, size_t count,
                uint64_t before, const struct tms_new_names *names, struct tms_bytes *out)
{
    assert(count >= 1 && count <= TMS_BLOCK_EVENTS);
    if (!reserve_turns(encoder, events, count)) {
        return false;
    }
    struct plan plan = make_columns(encoder, events, count);
    size_t threads = encoder->thread_count, others = count - plan.variables;
    unsigned schedule_planes = threads <= 256 ? 1 : 2;

    return write_start(encoder, &plan, before, names, out) &&
           tms_column_write(out, encoder->zstd, names->bytes, names->length) &&
           write_planes(encoder, encoder->threads, threads, 4, out) &&
           write_shapes(encoder, plan.mode, out) &&
           write_planes(encoder, encoder->schedule, count, schedule_planes, out) &&
           tms_column_write(out, encoder->zstd, encoder->codes, count) &&
           write_planes(encoder, encoder->variables, plan.variables, plan.variable_planes, out) &&
           write_planes(encoder, encoder->others, others, plan.other_planes, out) &&
           write_planes(encoder, encoder->locations, count, plan.location_planes, out);
}
