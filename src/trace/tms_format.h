/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native format on disk: constants, limits, and conversion of numbers to bytes and back.
 * Everything is little-endian. docs/user/formats.md describes the layout byte by byte.
 *
 *     magic, byte order mark, version
 *     section HEAD    the texts of event kinds and name classes
 *     section EVTS …  one block of events each, with the names that are new in it
 *     section loss    why the trace is not all that happened; absent when it is
 *     section INDX    where the blocks are; absent when the writer was cut off
 *
 * A section is 16 bytes (checksum, tag, length) and its payload; the checksum covers all that
 * follows it in the section.
 */
#ifndef TMS_TRACE_TMS_FORMAT_H
#define TMS_TRACE_TMS_FORMAT_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* No text begins with 0x8e, and a line-end conversion spoils the last byte. */
#define TMS_FILE_MAGIC      "\x8eTMESIS\n"
#define TMS_FILE_END_MAGIC  "\nSISEMT\x8e"
#define TMS_FILE_MAGIC_SIZE 8
#define TMS_FILE_BYTE_ORDER UINT32_C(0x01020304)
#define TMS_FILE_MAJOR      1
#define TMS_FILE_MINOR      4

/* The fixed start of the file. */
enum {
    TMS_FILE_AT_BYTE_ORDER = 8,
    TMS_FILE_AT_MAJOR = 12,
    TMS_FILE_AT_MINOR = 14,
    TMS_FILE_START_SIZE = 16,
};

/* The fixed start of a section. */
enum {
    TMS_SECTION_AT_CHECKSUM = 0,
    TMS_SECTION_AT_TAG = 8,
    TMS_SECTION_AT_LENGTH = 12,
    TMS_SECTION_SIZE = 16,
};

/*
 * A tag is four letters in reading order. A lower-case first letter marks a section that readers
 * may skip if they do not know it.
 */
#define TMS_TAG(a, b, c, d)                                                                        \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define TMS_TAG_HEAD     TMS_TAG('H', 'E', 'A', 'D')
#define TMS_TAG_EVENTS   TMS_TAG('E', 'V', 'T', 'S')
#define TMS_TAG_INDEX    TMS_TAG('I', 'N', 'D', 'X')
#define TMS_TAG_LOSS     TMS_TAG('l', 'o', 's', 's')
#define TMS_TAG_OPTIONAL UINT32_C(0x20)

/* The fixed start of a block. */
enum {
    TMS_BLOCK_AT_BEFORE = 0,           /* u64, events before this block */
    TMS_BLOCK_AT_EVENTS = 8,           /* u32 */
    TMS_BLOCK_AT_THREADS = 12,         /* u32 */
    TMS_BLOCK_AT_SHAPES = 16,          /* u32 */
    TMS_BLOCK_AT_VARIABLES = 20,       /* u32, events whose operand is a variable */
    TMS_BLOCK_AT_NAMES = 24,           /* u32 */
    TMS_BLOCK_AT_NAME_BYTES = 28,      /* u32 */
    TMS_BLOCK_AT_LOCATION_BASE = 32,   /* u32 */
    TMS_BLOCK_AT_LOCATION_MODE = 36,   /* u8, enum tms_location_mode */
    TMS_BLOCK_AT_VARIABLE_PLANES = 37, /* u8 */
    TMS_BLOCK_AT_OTHER_PLANES = 38,    /* u8 */
    TMS_BLOCK_AT_LOCATION_PLANES = 39, /* u8 */
    TMS_BLOCK_START_SIZE = 40,
};

enum tms_location_mode {
    TMS_LOCATION_IN_SHAPE,  /* the shape of an event says it */
    TMS_LOCATION_BY_THREAD, /* a column in thread order, above the base */
    TMS_LOCATION_BY_STEP,   /* a column in trace order, differences, the first to the base */
    TMS_LOCATION_MODES,
};

/* The fixed start of the index; its entries and the end of the file follow. */
enum {
    TMS_INDEX_AT_EVENTS = 0,   /* u64, in the whole file */
    TMS_INDEX_AT_BLOCKS = 8,   /* u64, in the whole file */
    TMS_INDEX_AT_STRIDE = 16,  /* u64, blocks per entry */
    TMS_INDEX_AT_COUNT = 24,   /* u32, entries */
    TMS_INDEX_AT_CLASSES = 28, /* u32, name counts that follow, one u32 per class of HEAD */
    TMS_INDEX_START_SIZE = 32,
    TMS_INDEX_ENTRY_SIZE = 16, /* u64 offset of the block, u64 events before it */
    TMS_INDEX_END_SIZE = 16,   /* u64 offset of the index section, end magic */
};

/* Limits of the format: a reader may refuse, and never allocates for, anything beyond. */
#define TMS_BLOCK_EVENTS   65536
#define TMS_BLOCK_SHAPES   256
#define TMS_NAME_BYTES     (1u << 23) /* one name */
#define TMS_NAMES_BYTES    (1u << 25) /* names of one block */
#define TMS_SECTION_BYTES  (1u << 26)
#define TMS_KIND_TEXT_SIZE 32 /* with a zero byte */

#define TMS_KIND_COMMA "," /* between a kind of event and its memory order */

/*
 * A writer begins a new block at this many bytes of new names. That stays below TMS_NAMES_BYTES
 * even if the last event adds three names of maximal length.
 */
#define TMS_NAMES_FULL (1u << 20)

static inline uint16_t tms_get16(const uint8_t *bytes)
{
    uint16_t value;

    memcpy(&value, bytes, sizeof(value));
    return le16toh(value);
}

static inline uint32_t tms_get32(const uint8_t *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return le32toh(value);
}

static inline uint64_t tms_get64(const uint8_t *bytes)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof(value));
    return le64toh(value);
}

static inline void tms_put16(uint8_t *bytes, uint16_t value)
{
    value = htole16(value);
    memcpy(bytes, &value, sizeof(value));
}

static inline void tms_put32(uint8_t *bytes, uint32_t value)
{
    value = htole32(value);
    memcpy(bytes, &value, sizeof(value));
}

static inline void tms_put64(uint8_t *bytes, uint64_t value)
{
    value = htole64(value);
    memcpy(bytes, &value, sizeof(value));
}

#endif
