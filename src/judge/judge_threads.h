/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a judge by id. Ids are given out in ascending order and never reused, and a server
 * may have millions of threads one after the other.
 *
 * Representation: pages of 512 consecutive ids, each with the number of threads in it. A page whose
 * last thread has ended is released, so memory is bounded by the threads that live (and 8 bytes for
 * 512 ids). Not thread-safe: under the lock of the judge.
 */
#ifndef TMS_JUDGE_JUDGE_THREADS_H
#define TMS_JUDGE_JUDGE_THREADS_H

#include "base/memory.h"

#define TMS_JUDGE_THREAD_PAGE 512u

struct tms_judge_thread;

struct tms_judge_thread_page {
    struct tms_judge_thread *threads[TMS_JUDGE_THREAD_PAGE];
    uint32_t count;
};

/* All zero at first. */
struct tms_judge_threads {
    struct tms_judge_thread_page **pages; /* NULL: no thread in it */
    size_t capacity;
};

/* NULL: not seen yet, or ended. */
static inline struct tms_judge_thread *tms_judge_thread_at(const struct tms_judge_threads *threads,
                                                           uint32_t id)
{
    size_t page = id / TMS_JUDGE_THREAD_PAGE;

    return page < threads->capacity && threads->pages[page] != NULL
               ? threads->pages[page]->threads[id % TMS_JUDGE_THREAD_PAGE]
               : NULL;
}

/* The id is not in the table. False: out of memory. */
bool tms_judge_threads_add(struct tms_judge_threads *threads, struct tms_memory *memory,
                           uint32_t id, struct tms_judge_thread *thread);

/* The id is in the table. */
void tms_judge_threads_remove(struct tms_judge_threads *threads, struct tms_memory *memory,
                              uint32_t id);

/* The first thread from an id on, and its id; NULL: there is none. */
struct tms_judge_thread *tms_judge_threads_from(const struct tms_judge_threads *threads,
                                                uint32_t *id);

/* Releases an empty table. */
void tms_judge_threads_clear(struct tms_judge_threads *threads, struct tms_memory *memory);

#endif
