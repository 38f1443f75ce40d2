/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of the native format; see tms_column.h. */
#include "trace/tms_column.h"

#include <assert.h>
#include <string.h>

#include "trace/tms_format.h"

#define BYTES_LEAST 4096
#define CODING_BITS 4
/* Below this size the overhead of a zstd frame exceeds the gain. */
#define WORTH_ZSTD 24

uint8_t *tms_bytes_room(struct tms_bytes *bytes, size_t more)
{
    if (bytes->capacity - bytes->length < more) {
        size_t capacity = tms_capacity(bytes->capacity, bytes->length + more, BYTES_LEAST);
        uint8_t *data = tms_resize(bytes->memory, bytes->data, bytes->capacity, capacity, 1);
        if (data == NULL) {
            return NULL;
        }
        bytes->data = data;
        bytes->capacity = capacity;
    }
    return bytes->data + bytes->length;
}

void tms_bytes_free(struct tms_bytes *bytes)
{
    tms_release(bytes->memory, bytes->data, bytes->capacity, 1);
    *bytes = (struct tms_bytes){.memory = bytes->memory};
}

static size_t packed_size(size_t count, unsigned bits)
{
    return (count * bits + 7) / 8;
}

static unsigned bits_needed(const uint8_t *values, size_t count)
{
    unsigned all = 0;

    for (size_t i = 0; i < count; i++) {
        all |= values[i];
    }
    return all == 0 ? 0 : 32 - (unsigned)__builtin_clz(all);
}

/* Eight values make `bits` bytes, the first value in the lowest bits. */
static void pack(uint8_t *out, const uint8_t *values, size_t count, unsigned bits)
{
    size_t left = packed_size(count, bits);

    for (size_t i = 0; i < count; i += 8) {
        uint8_t bytes[8];
        uint64_t word = 0;
        size_t group = count - i < 8 ? count - i : 8;
        for (size_t k = 0; k < group; k++) {
            word |= (uint64_t)values[i + k] << (k * bits);
        }
        tms_put64(bytes, word);
        size_t length = left < bits ? left : bits;
        memcpy(out, bytes, length);
        out += length;
        left -= length;
    }
}

/*
 * Spreads the eight fields of a word to one byte each: halves apart, then quarters, then
 * single fields, all of them at once.
 */
static void unpack(uint8_t *values, const uint8_t *in, size_t count, unsigned bits)
{
    const uint64_t field = (UINT64_C(1) << bits) - 1, pair = (UINT64_C(1) << 2 * bits) - 1;
    const uint64_t half = (UINT64_C(1) << 4 * bits) - 1;
    const uint64_t pairs = pair * UINT64_C(0x0000000100000001);
    const uint64_t fields = field * UINT64_C(0x0001000100010001);

    for (size_t i = 0; i < count; i += 8, in += bits) {
        uint64_t word = tms_get64(in);
        word = (word & half) | (word >> 4 * bits & half) << 32;
        word = (word & pairs) | (word & ~pairs) << (16 - 2 * bits);
        word = (word & fields) | (word & ~fields) << (8 - bits);
        tms_put64(values + i, word);
    }
}

static void finish_column(struct tms_bytes *out, size_t length, unsigned coding)
{
    assert(length < UINT32_MAX >> CODING_BITS);
    tms_put32(out->data + out->length, (uint32_t)length << CODING_BITS | coding);
    out->length += 4 + length;
}

bool tms_column_write(struct tms_bytes *out, ZSTD_CCtx *zstd, const uint8_t *values, size_t count)
{
    unsigned bits = bits_needed(values, count);
    size_t packed = packed_size(count, bits), bound = ZSTD_compressBound(count);
    uint8_t *room = tms_bytes_room(out, 4 + bound);

    if (room == NULL) {
        return false;
    }
    if (packed >= WORTH_ZSTD) {
        size_t length = ZSTD_compress2(zstd, room + 4, bound, values, count);
        if (ZSTD_isError(length)) {
            return false; /* with room for the bound nothing else can fail */
        }
        if (packed > length + length / 2) {
            finish_column(out, length, TMS_COLUMN_ZSTD);
            return true;
        }
    }
    if (bits == TMS_COLUMN_STORED) {
        memcpy(room + 4, values, count);
    } else {
        pack(room + 4, values, count, bits);
    }
    finish_column(out, packed, bits);
    return true;
}

unsigned tms_planes(uint32_t most)
{
    return most == 0 ? 0 : 4 - (unsigned)__builtin_clz(most) / 8;
}

bool tms_planes_write(struct tms_bytes *out, ZSTD_CCtx *zstd, const uint32_t *values, size_t count,
                      unsigned planes, uint8_t *scratch)
{
    for (unsigned plane = 0; plane < planes; plane++) {
        for (size_t i = 0; i < count; i++) {
            scratch[i] = (uint8_t)(values[i] >> 8 * plane);
        }
        if (!tms_column_write(out, zstd, scratch, count)) {
            return false;
        }
    }
    return true;
}

bool tms_column_read(struct tms_span *in, ZSTD_DCtx *zstd, uint8_t *values, size_t count)
{
    if (in->end - in->at < 4) {
        return false;
    }
    uint32_t word = tms_get32(in->at), coding = word & ((1u << CODING_BITS) - 1);
    size_t length = word >> CODING_BITS;
    const uint8_t *stored = in->at + 4;
    if ((size_t)(in->end - stored) < length) {
        return false;
    }
    in->at = stored + length;
    if (coding == TMS_COLUMN_ZSTD) {
        return ZSTD_decompressDCtx(zstd, values, count, stored, length) == count;
    }
    if (coding > TMS_COLUMN_STORED || length != packed_size(count, coding)) {
        return false;
    }
    if (coding == TMS_COLUMN_STORED) {
        memcpy(values, stored, count);
    } else if (coding == 0) {
        memset(values, 0, count);
    } else {
        unpack(values, stored, count, coding);
    }
    return true;
}

/* One loop per plane, which the compiler vectorizes. */
static void add_plane(uint32_t *restrict values, const uint8_t *restrict plane, size_t count,
                      unsigned shift)
{
    if (shift == 0) {
        for (size_t i = 0; i < count; i++) {
            values[i] = plane[i];
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] |= (uint32_t)plane[i] << shift;
    }
}

bool tms_planes_read(struct tms_span *in, ZSTD_DCtx *zstd, uint32_t *values, size_t count,
                     unsigned planes, uint8_t *scratch)
{
    if (planes > 4) {
        return false;
    }
    if (planes == 0) {
        memset(values, 0, count * sizeof(*values));
    }
    for (unsigned plane = 0; plane < planes; plane++) {
        if (!tms_column_read(in, zstd, scratch, count)) {
            return false;
        }
        add_plane(values, scratch, count, 8 * plane);
    }
    return true;
}
