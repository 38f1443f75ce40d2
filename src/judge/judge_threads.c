/* SPDX-License-Identifier: Apache-2.0 */
/* Threads by id; see judge_threads.h. */
#include "judge/judge_threads.h"

#include <assert.h>

static struct tms_judge_thread_page **page_of(const struct tms_judge_threads *threads, uint32_t id)
{
    return &threads->pages[id / TMS_JUDGE_THREAD_PAGE];
}

bool tms_judge_threads_add(struct tms_judge_threads *threads, struct tms_memory *memory,
                           uint32_t id, struct tms_judge_thread *thread)
{
    if (!TMS_RESERVE(memory, &threads->pages, &threads->capacity,
                     (size_t)id / TMS_JUDGE_THREAD_PAGE + 1, 16)) {
        return false;
    }
    struct tms_judge_thread_page **page = page_of(threads, id);
    if (*page == NULL) {
        *page = tms_resize(memory, NULL, 0, 1, sizeof(**page));
    }
    if (*page == NULL) {
        return false;
    }
    assert((*page)->threads[id % TMS_JUDGE_THREAD_PAGE] == NULL && thread != NULL);
    (*page)->threads[id % TMS_JUDGE_THREAD_PAGE] = thread;
    (*page)->count++;
    return true;
}

void tms_judge_threads_remove(struct tms_judge_threads *threads, struct tms_memory *memory,
                              uint32_t id)
{
    struct tms_judge_thread_page **page = page_of(threads, id);

    assert(tms_judge_thread_at(threads, id) != NULL && (*page)->count > 0);
    (*page)->threads[id % TMS_JUDGE_THREAD_PAGE] = NULL;
    if (--(*page)->count == 0) {
        tms_release(memory, *page, 1, sizeof(**page));
        *page = NULL;
    }
}

struct tms_judge_thread *tms_judge_threads_from(const struct tms_judge_threads *threads,
                                                uint32_t *id)
{
    struct tms_judge_thread *thread = NULL;

    while (thread == NULL && *id / TMS_JUDGE_THREAD_PAGE < threads->capacity) {
        thread = tms_judge_thread_at(threads, *id);
        *id += thread == NULL;
    }
    return thread;
}

void tms_judge_threads_clear(struct tms_judge_threads *threads, struct tms_memory *memory)
{
    tms_release(memory, threads->pages, threads->capacity, sizeof(*threads->pages));
    *threads = (struct tms_judge_threads){0};
}
