/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes blocks on a second thread; see tms_encode_thread.h. */
#include "trace/tms_encode_thread.h"

#include <assert.h>
#include <xxhash.h>

void tms_section_finish(struct tms_bytes *section, uint32_t tag)
{
    uint8_t *start = section->data;
    size_t length = section->length;

    assert(length >= TMS_SECTION_SIZE && length - TMS_SECTION_SIZE <= TMS_SECTION_BYTES);
    tms_put32(start + TMS_SECTION_AT_TAG, tag);
    tms_put32(start + TMS_SECTION_AT_LENGTH, (uint32_t)(length - TMS_SECTION_SIZE));
    tms_put64(start + TMS_SECTION_AT_CHECKSUM,
              XXH3_64bits(start + TMS_SECTION_AT_TAG, length - TMS_SECTION_AT_TAG));
}

/* ---- the thread ------------------------------------------------------------------------- */

static bool encode(struct tms_encode_thread *encoding, struct tms_encode_block *block)
{
    struct tms_new_names names = {block->names.data, (uint32_t)block->names.length,
                                  block->name_count};

    block->section.length = 0;
    if (tms_bytes_room(&block->section, TMS_SECTION_SIZE) == NULL) {
        return false;
    }
    block->section.length = TMS_SECTION_SIZE;
    if (!tms_encode(encoding->encoder, block->events, block->count, block->before, &names,
                    &block->section)) {
        return false;
    }
    tms_section_finish(&block->section, TMS_TAG_EVENTS);
    return true;
}

static void work(void *user, void *item)
{
    struct tms_encode_thread *encoding = user;

    encoding->failed = !encode(encoding, item) || encoding->failed;
}

bool tms_encode_thread_init(struct tms_encode_thread *encoding, struct tms_memory *memory,
                            int level)
{
    tms_worker_init(&encoding->worker, work, encoding);
    for (int i = 0; i < 2; i++) {
        encoding->blocks[i].section.memory = &encoding->memory;
        encoding->blocks[i].names.memory = memory;
    }
    encoding->encoder = tms_encoder_new(&encoding->memory, level);
    return encoding->encoder != NULL;
}

void tms_encode_thread_free(struct tms_encode_thread *encoding)
{
    tms_worker_clear(&encoding->worker);
    for (int i = 0; i < 2; i++) {
        tms_bytes_free(&encoding->blocks[i].names);
        tms_bytes_free(&encoding->blocks[i].section);
    }
    tms_encoder_free(encoding->encoder);
}

/* ---- the writing thread ----------------------------------------------------------------- */

static struct tms_encode_block *other_block(struct tms_encode_thread *encoding)
{
    return &encoding->blocks[!encoding->filling];
}

const struct tms_bytes *tms_encode_thread_wait(struct tms_encode_thread *encoding, uint64_t *before)
{
    struct tms_encode_block *block = other_block(encoding);

    if (block->count == 0) {
        return NULL;
    }
    tms_worker_wait(&encoding->worker, 0);
    *before = block->before;
    return &block->section;
}

static void clear(struct tms_encode_block *block)
{
    block->count = 0;
    block->names.length = 0;
    block->name_count = 0;
}

void tms_encode_thread_hand_over(struct tms_encode_thread *encoding, bool is_last)
{
    clear(other_block(encoding));
    encoding->filling = !encoding->filling;
    tms_worker_submit(&encoding->worker, other_block(encoding), is_last);
}
