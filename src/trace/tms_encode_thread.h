/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes blocks of the native format on a second thread while the next block is filled, since
 * encoding takes as long as everything before it. There are two blocks, used alternately. They
 * contain everything that encoding needs, so the thread accesses neither the context nor the file.
 *
 * The thread starts with the first full block, so short files need none; if it cannot be started,
 * blocks are encoded by the submitting thread.
 */
#ifndef TMS_TRACE_TMS_ENCODE_THREAD_H
#define TMS_TRACE_TMS_ENCODE_THREAD_H

#include "base/worker.h"
#include "trace/tms_block.h"

struct tms_encode_block {
    struct tms_bytes section; /* the encoded section, checksum included */
    struct tms_bytes names;   /* that are new in it */
    uint32_t name_count;
    uint64_t before; /* events before it */
    size_t count;
    struct tms_event events[TMS_BLOCK_EVENTS];
};

struct tms_encode_thread {
    struct tms_memory memory; /* of what the thread makes */
    struct tms_encoder *encoder;
    struct tms_worker worker; /* its item: the block that is not being filled */
    bool failed;              /* out of memory; the worker's until tms_encode_thread_wait */
    unsigned filling;
    struct tms_encode_block blocks[2];
};

/*
 * `memory` is for the names of blocks that are filled, `level` as tms_encoder_new has it. False
 * if out of memory: tms_encode_thread_free must be called too.
 */
bool tms_encode_thread_init(struct tms_encode_thread *encoding, struct tms_memory *memory,
                            int level);
void tms_encode_thread_free(struct tms_encode_thread *encoding);

/* The block that is being filled. */
static inline struct tms_encode_block *tms_encode_thread_filling(struct tms_encode_thread *encoding)
{
    return &encoding->blocks[encoding->filling];
}

/*
 * Waits for the block that is being encoded, and returns its section, with its number of events
 * before it in `before`: NULL if there is none. It is valid until tms_encode_thread_hand_over.
 */
const struct tms_bytes *tms_encode_thread_wait(struct tms_encode_thread *encoding,
                                               uint64_t *before);

/*
 * Submits the filled block for encoding and switches to the other one. Call it after
 * tms_encode_thread_wait.
 */
void tms_encode_thread_hand_over(struct tms_encode_thread *encoding, bool is_last);

/* Fills in the start of a section: its tag, its length and its checksum. */
void tms_section_finish(struct tms_bytes *section, uint32_t tag);

#endif
