/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One block of the native format: up to 65536 events, as columns.
 *
 * The events of a block are sorted by thread, keeping their order within a thread; the schedule
 * column has the thread of each event in trace order. A single thread is far more regular than the
 * interleaving, so in thread order the rest compresses well: on a loop of eleven events run by
 * eight threads in random turns it takes 0.65 bytes an event where trace order takes 1.7.
 * Everything but the schedule is then
 *
 *     shape     which (kind, location) of the few that occur in the block; a kind of the file is
 *               a kind of event with its memory order
 *     operand   two columns, variables and the rest: ids of variables are many and random,
 *               those of locks and labels few and repetitive
 *     location  only if there are too many for the shapes
 *
 * Decoding reads each column in one go, validates it as a whole, and assembles events only when a
 * batch is requested: a load from the schedule, a step of that thread's cursor, and loads at the
 * cursor. Values from the file are validated before they are used as an index.
 */
#ifndef TMS_TRACE_TMS_BLOCK_H
#define TMS_TRACE_TMS_BLOCK_H

#include "base/memory.h"
#include "tmesis/tmesis.h"
#include "trace/tms_column.h"
#include "trace/tms_format.h"

/*
 * Numbers the kinds of events for the file: one for each order that a kind can have. Returns their
 * count; the number of an impossible pair is 0.
 */
typedef uint8_t tms_file_kinds[TMS_EVENT_COUNT][TMS_ORDER_COUNT];
unsigned tms_number_kinds(tms_file_kinds numbers);

/* ---- encoding ------------------------------------------------------------------------- */

struct tms_encoder {
    struct tms_memory *memory;
    ZSTD_CCtx *zstd;
    uint32_t *turn_of; /* by thread id: its place in `threads` + 1, 0 outside a call */
    size_t turn_capacity;
    size_t thread_count, shape_count;
    uint32_t threads[TMS_BLOCK_EVENTS]; /* ids, in order of appearance */
    uint32_t starts[TMS_BLOCK_EVENTS];
    uint32_t schedule[TMS_BLOCK_EVENTS];
    uint32_t order[TMS_BLOCK_EVENTS]; /* thread order: which event */
    tms_file_kinds kinds;
    uint64_t shapes[TMS_BLOCK_SHAPES]; /* location << 8 | kind of the file */
    uint8_t codes[TMS_BLOCK_EVENTS];
    uint32_t variables[TMS_BLOCK_EVENTS], others[TMS_BLOCK_EVENTS], locations[TMS_BLOCK_EVENTS];
    uint8_t plane[TMS_BLOCK_EVENTS];
};

/* NULL if out of memory. `level` is zstd's; 0 is what suits these columns. */
struct tms_encoder *tms_encoder_new(struct tms_memory *memory, int level);
void tms_encoder_free(struct tms_encoder *encoder);

/* Names as stored in a block: u8 class, LEB128 length, text, one after another. */
struct tms_new_names {
    const uint8_t *bytes;
    uint32_t length, count;
};

/*
 * Appends the payload of a block to `out`. The ids are those of the file; `count` is 1 to
 * TMS_BLOCK_EVENTS. False if out of memory.
 */
bool tms_encode(struct tms_encoder *encoder, const struct tms_event *events, size_t count,
                uint64_t before, const struct tms_new_names *names, struct tms_bytes *out);

/* ---- decoding ------------------------------------------------------------------------- */

/* Maps the ids of a file to those of the context. */
struct tms_name_map {
    uint32_t count; /* ids 1 to count are there */
    uint32_t *ids;  /* by id, [0] is 0; NULL as long as all are the same on both sides */
    size_t capacity;
};

#define TMS_KIND_UNKNOWN 255

struct tms_tables {
    struct tms_name_map names[TMS_CLASS_COUNT];
    uint8_t kinds[256];  /* enum tms_event_kind by kind of the file, TMS_KIND_UNKNOWN */
    uint8_t orders[256]; /* enum tms_order */
};

struct tms_cursor {
    uint32_t next; /* place of the thread's next event in thread order */
    uint32_t thread;
};

/* What events of one shape share: the second half of the event. */
struct tms_event_shape {
    uint32_t location;
    uint8_t kind, order, reserved[2];
};
_Static_assert(sizeof(struct tms_event_shape) ==
                       sizeof(struct tms_event) - offsetof(struct tms_event, location) &&
                   offsetof(struct tms_event_shape, kind) ==
                       offsetof(struct tms_event, kind) - offsetof(struct tms_event, location),
               "an event ends with its shape");

/* The operands of a shape: valid ids are from least to most, below 2^31. */
struct tms_operand_shape {
    uint32_t least, most;
    uint32_t cls; /* enum tms_class */
};

struct tms_decoder {
    struct tms_memory *memory;
    ZSTD_DCtx *zstd;
    const char *why;      /* what is wrong, a clause, after TMS_ERR_SYNTAX */
    uint8_t unknown_kind; /* of the file, after TMS_ERR_FORMAT */

    uint64_t before; /* events before this block */
    uint32_t count, taken;
    struct tms_bytes names; /* struct tms_new_names, bytes */
    uint32_t name_count;

    struct tms_span columns; /* what is not decoded yet */
    uint32_t thread_count, shape_count, variable_count, location_base;
    uint8_t location_mode, variable_planes, other_planes, location_planes;

    struct tms_cursor cursors[TMS_BLOCK_EVENTS];
    struct tms_event_shape shapes[TMS_BLOCK_SHAPES];
    struct tms_operand_shape operand_shapes[TMS_BLOCK_SHAPES];
    size_t of_variable[TMS_BLOCK_SHAPES]; /* all ones: in the first half of `values`; else 0 */
    uint8_t schedule[TMS_BLOCK_EVENTS];
    uint32_t wide_schedule[TMS_BLOCK_EVENTS]; /* instead, with more than 256 threads */
    uint8_t codes[TMS_BLOCK_EVENTS];
    uint32_t operands[TMS_BLOCK_EVENTS];
    uint32_t locations[TMS_BLOCK_EVENTS];
    uint32_t values[2 * TMS_BLOCK_EVENTS]; /* variables, and from the middle on the rest … */
    uint8_t other_codes[TMS_BLOCK_EVENTS]; /* … with their shapes */
    uint8_t plane[TMS_BLOCK_EVENTS];
};

struct tms_decoder *tms_decoder_new(struct tms_memory *memory);
void tms_decoder_free(struct tms_decoder *decoder);

/*
 * Decodes the start of a block and its names; the caller enters these into the tables and continues
 * with tms_decode_events, which needs the payload again. TMS_OK, TMS_ERR_MEMORY, TMS_ERR_SYNTAX
 * (see `why`), and for the second TMS_ERR_FORMAT (see `unknown_kind`).
 */
int tms_decode_start(struct tms_decoder *decoder, const uint8_t *payload, size_t length);
int tms_decode_events(struct tms_decoder *decoder, const struct tms_tables *tables);

/* Discards a block that could not be decoded. */
void tms_decoder_drop(struct tms_decoder *decoder);

/* Returns the next events of the block, at most `room`; 0 at its end. */
size_t tms_decoder_take(struct tms_decoder *decoder, struct tms_event *events, size_t room);

#endif
