/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns: many small numbers of the same kind, stored consecutively.
 *
 * A column of bytes is stored either bit-packed, with as many bits for each value as the largest
 * needs (8 bits: as it is; 0 bits: all zero, nothing stored), or as a zstd frame. Bit-packed values
 * decode in a seventh of the time, so they are preferred when they are at most half larger: random
 * ids gain next to nothing from entropy coding. A column of wider numbers is split into byte
 * planes, the lowest bytes first, and each plane is a column of bytes by itself: the low bytes of
 * random ids are incompressible and are only copied, the high bytes have little in them.
 *
 * In the file a column is a u32, `stored length << 4 | coding`, and the stored bytes. The number of
 * values is stored elsewhere.
 */
#ifndef TMS_TRACE_TMS_COLUMN_H
#define TMS_TRACE_TMS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/memory.h"

/* Codings 0 to 8 are bits per value. */
#define TMS_COLUMN_STORED 8
#define TMS_COLUMN_ZSTD   9

/* Decoding writes whole words: an array for `count` values has room for this many. */
#define TMS_COLUMN_ROOM(count) (((count) + 7) / 8 * 8)

/* Bytes that grow. */
struct tms_bytes {
    struct tms_memory *memory;
    uint8_t *data;
    size_t length, capacity;
};

/* Room for `more` bytes after the current length, NULL if out of memory. */
uint8_t *tms_bytes_room(struct tms_bytes *bytes, size_t more);
void tms_bytes_free(struct tms_bytes *bytes);

/* Appends a column; false if out of memory. */
bool tms_column_write(struct tms_bytes *out, ZSTD_CCtx *zstd, const uint8_t *values, size_t count);

/* How many byte planes numbers up to `most` take: 0 to 4. */
unsigned tms_planes(uint32_t most);

/* The same for wider numbers; `scratch` has room for `count` bytes. */
bool tms_planes_write(struct tms_bytes *out, ZSTD_CCtx *zstd, const uint32_t *values, size_t count,
                      unsigned planes, uint8_t *scratch);

/* The part still to be read. Eight bytes after `end` must be readable. */
struct tms_span {
    const uint8_t *at, *end;
};

/* False if these bytes are not a column of `count` values. */
bool tms_column_read(struct tms_span *in, ZSTD_DCtx *zstd, uint8_t *values, size_t count);
bool tms_planes_read(struct tms_span *in, ZSTD_DCtx *zstd, uint32_t *values, size_t count,
                     unsigned planes, uint8_t *scratch);

#endif
