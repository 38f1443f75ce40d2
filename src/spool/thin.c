/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks without events, left out; see thin.h. */
#include "spool/thin.h"

#include <stdlib.h>

#include "spool/grow.h"

struct tms_thin_thread *tms_thin_thread(struct tms_thin *thin, uint32_t id)
{
    if (id >= thin->count) {
        size_t count = 2 * (size_t)id + 16;
        struct tms_thin_thread *grown = realloc(thin->threads, count * sizeof(*grown));
        if (grown == NULL) {
            return NULL;
        }
        for (size_t i = thin->count; i < count; i++) {
            grown[i] = (struct tms_thin_thread){.off = thin->off};
        }
        thin->threads = grown;
        thin->count = count;
    }
    return &thin->threads[id];
}

int tms_thin_put_off(struct tms_thin_thread *thread, const struct tms_event *begin)
{
    if (!TMS_GROW(&thread->begins, &thread->capacity, thread->count)) {
        return TMS_ERR_MEMORY;
    }
    thread->begins[thread->count++] = *begin;
    return TMS_OK;
}

void tms_thin_free(struct tms_thin *thin)
{
    for (size_t i = 0; i < thin->count; i++) {
        free(thin->threads[i].begins);
    }
    free(thin->threads);
}
