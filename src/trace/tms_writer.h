/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writing half of the native format, for its entry in the registry (tms_reader.c).
 *
 * The file has its own ids, assigned as names appear, so it contains only the names that it uses,
 * whatever else the context has. Events are buffered, with the file's ids, until a block is full,
 * and a block is written once it is encoded and the next one is full (tms_encode_thread.h). Memory
 * does not grow with the number of events: of the index of a very long file only every second,
 * fourth, … block is kept.
 */
#ifndef TMS_TRACE_TMS_WRITER_H
#define TMS_TRACE_TMS_WRITER_H

#include "trace/format.h"
#include "trace/tms_encode_thread.h"

#define TMS_INDEX_MOST 65536 /* entries in memory and in the file; even */

struct tms_index_entry {
    uint64_t offset, before; /* where the block is, events before it */
};

struct tms_file_ids {
    uint32_t *ids; /* by id of the context; 0: not in the file yet */
    size_t capacity;
    uint32_t count;
};

struct tms_file_writer {
    struct tms_bytes section; /* the current section, except blocks */
    struct tms_file_ids ids[TMS_CLASS_COUNT];
    size_t block_events;
    uint64_t handed;         /* events of blocks that are done or being encoded */
    uint64_t offset, blocks; /* bytes, blocks in the file */
    uint64_t stride;         /* blocks per entry of the index */
    size_t index_count;
    struct tms_index_entry index[TMS_INDEX_MOST];
    struct tms_encode_thread
        encoding; /* with the buffered events, and the names that no block has yet */
};

/* The functions of struct tms_format. */
int tms_file_create(struct tms_writer *writer);
int tms_file_write(struct tms_writer *writer, const struct tms_event *events, size_t count);
int tms_file_finish(struct tms_writer *writer);
void tms_file_destroy(struct tms_writer *writer);

/*
 * For tests: sets the number of events per block (1 to TMS_BLOCK_EVENTS). Call it before the first
 * write.
 */
void tms_file_set_block(struct tms_writer *writer, size_t events);

#endif
