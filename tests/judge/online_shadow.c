/* SPDX-License-Identifier: Apache-2.0 */
/* Words of cells; see online_shadow.h. */
#include "judge/online_shadow.h"

#include <assert.h>

struct shadow_cell *shadow_cell(struct shadow *shadow, uint32_t variable)
{
    assert(variable / 2 < SHADOW_CELLS);
    return &shadow->cells[variable / 2];
}

bool shadow_is_repeated(const struct shadow_cell *cell, const struct tms_judge_thread *thread,
                        uint64_t epoch, uint32_t variable, uint8_t kind)
{
    bool own = false, others = false;

    for (size_t i = 0; i < cell->count; i++) {
        const struct tms_judge_word *word = &cell->words[i];
        if (word->bytes != shadow_bytes(variable)) {
            continue;
        }
        bool fresh = word->thread == thread && word->event > epoch && !word->atomic;
        own = own || (fresh && (kind == TMS_JUDGE_R || word->kind != TMS_JUDGE_R));
        others = others || word->thread != thread;
    }
    return own && kind != TMS_JUDGE_U && (kind == TMS_JUDGE_R || !others);
}

uint64_t shadow_own_read(const struct shadow_cell *cell, const struct tms_judge_thread *thread,
                         uint32_t variable)
{
    for (size_t i = cell->count; i-- > 0;) {
        const struct tms_judge_word *word = &cell->words[i];
        if (word->bytes == shadow_bytes(variable)) {
            bool own = word->thread == thread && word->kind == TMS_JUDGE_R && !word->atomic;
            return own ? word->event : 0;
        }
    }
    return 0;
}

/* A write takes its bytes from all words, a read from the thread's own read. */
static void give_way(struct shadow_cell *cell, const struct tms_judge_thread *thread, uint8_t bytes,
                     bool write)
{
    size_t kept = 0;

    for (size_t i = 0; i < cell->count; i++) {
        const struct tms_judge_word *word = &cell->words[i];
        bool own_read = word->thread == thread && word->kind == TMS_JUDGE_R;
        if (word->bytes != bytes || !(write || own_read)) {
            cell->details[kept] = cell->details[i];
            cell->words[kept++] = *word;
        }
    }
    cell->count = kept;
}

static bool is_empty(const struct shadow_cell *cell, uint8_t bytes)
{
    for (size_t i = 0; i < cell->count; i++) {
        if (cell->words[i].bytes == bytes) {
            return false;
        }
    }
    return true;
}

void shadow_claim(struct shadow_cell *cell, const struct tms_judge_thread *thread,
                  uint32_t variable, const struct tms_judge_step *step)
{
    uint8_t bytes = shadow_bytes(variable);
    bool initial = is_empty(cell, bytes) && step->kind == TMS_JUDGE_W;

    give_way(cell, thread, bytes, step->kind != TMS_JUDGE_R);
    for (size_t i = 0; i < cell->count; i++) { /* it is not the only access any more */
        cell->words[i].initial = cell->words[i].initial && cell->words[i].bytes != bytes;
    }
    assert(cell->count < SHADOW_WORDS);
    cell->details[cell->count] =
        (struct tms_judge_detail){.location = step->location, .counter = step->counter};
    cell->words[cell->count++] = (struct tms_judge_word){.thread = thread,
                                                         .id = thread->id,
                                                         .event = step->event,
                                                         .bytes = bytes,
                                                         .kind = step->kind,
                                                         .atomic = step->atomic,
                                                         .initial = initial};
}

void shadow_renew(struct shadow_cell *cell, uint32_t variable)
{
    give_way(cell, NULL, shadow_bytes(variable), true);
}
