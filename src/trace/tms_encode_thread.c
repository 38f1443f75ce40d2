/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding beside the thread that writes; see tms_encode_thread.h. */
#include "trace/tms_encode_thread.h"

#include <assert.h>
#include <xxhash.h>

#include "base/worker.h"

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

bool tms_encode_thread_init(struct tms_encode_thread *press, struct tms_memory *memory, int level)
{
    pthread_mutex_init(&press->lock, NULL);
    pthread_cond_init(&press->changed, NULL);
    for (int i = 0; i < 2; i++) {
        press->blocks[i].section.memory = &press->memory;
        press->blocks[i].names.memory = memory;
    }
    press->encoder = tms_encoder_new(&press->memory, level);
    return press->encoder != NULL;
}

/* ---- the thread ------------------------------------------------------------------------- */

static bool encode(struct tms_encode_thread *press, struct tms_encode_block *block)
{
    struct tms_new_names names = {block->names.data, (uint32_t)block->names.length,
                                  block->name_count};

    block->section.length = 0;
    if (tms_bytes_room(&block->section, TMS_SECTION_SIZE) == NULL) {
        return false;
    }
    block->section.length = TMS_SECTION_SIZE;
    if (!tms_encode(press->encoder, block->events, block->count, block->before, &names,
                    &block->section)) {
        return false;
    }
    tms_section_finish(&block->section, TMS_TAG_EVENTS);
    return true;
}

static struct tms_encode_block *other_block(struct tms_encode_thread *press)
{
    return &press->blocks[!press->filling];
}

static void *work(void *user)
{
    struct tms_encode_thread *press = user;

    pthread_mutex_lock(&press->lock);
    for (;;) {
        while (!press->busy && !press->over) {
            pthread_cond_wait(&press->changed, &press->lock);
        }
        if (!press->busy) {
            break;
        }
        struct tms_encode_block *block = other_block(press);
        pthread_mutex_unlock(&press->lock);
        bool done = encode(press, block);
        pthread_mutex_lock(&press->lock);
        press->failed = press->failed || !done;
        press->busy = false;
        pthread_cond_signal(&press->changed);
    }
    pthread_mutex_unlock(&press->lock);
    return NULL;
}

static bool start(struct tms_encode_thread *press)
{
    press->runs = tms_worker_start(&press->thread, work, press);
    return press->runs;
}

void tms_encode_thread_free(struct tms_encode_thread *press)
{
    if (press->runs) {
        pthread_mutex_lock(&press->lock);
        press->over = true;
        pthread_cond_signal(&press->changed);
        pthread_mutex_unlock(&press->lock);
        pthread_join(press->thread, NULL);
    }
    pthread_cond_destroy(&press->changed);
    pthread_mutex_destroy(&press->lock);
    for (int i = 0; i < 2; i++) {
        tms_bytes_free(&press->blocks[i].names);
        tms_bytes_free(&press->blocks[i].section);
    }
    tms_encoder_free(press->encoder);
}

/* ---- the one that writes ---------------------------------------------------------------- */

const struct tms_bytes *tms_encode_thread_wait(struct tms_encode_thread *press, uint64_t *before)
{
    struct tms_encode_block *block = other_block(press);

    if (block->count == 0) {
        return NULL;
    }
    pthread_mutex_lock(&press->lock);
    while (press->busy) {
        pthread_cond_wait(&press->changed, &press->lock);
    }
    pthread_mutex_unlock(&press->lock);
    *before = block->before;
    return &block->section;
}

static void clear(struct tms_encode_block *block)
{
    block->count = 0;
    block->names.length = 0;
    block->name_count = 0;
}

void tms_encode_thread_hand_over(struct tms_encode_thread *press, bool is_last)
{
    clear(other_block(press));
    press->alone = press->alone || (!press->runs && !is_last && !start(press));
    pthread_mutex_lock(&press->lock);
    press->filling = !press->filling;
    press->busy = press->runs;
    pthread_cond_signal(&press->changed);
    pthread_mutex_unlock(&press->lock);
    if (!press->runs) {
        press->failed = !encode(press, other_block(press)) || press->failed;
    }
}
