/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is what a judgement shows a cycle over data? Uses only the events: the thread's own steps are
 * inside the named activation, each foreign access is by another thread and in its place, and
 * neighbours conflict or follow each other in one thread.
 */
#ifndef TMS_JUDGE_CYCLE_H
#define TMS_JUDGE_CYCLE_H

#include "tmesis/tmesis.h"

/* Events are numbers from 1, as in findings. */
struct cycle {
    uint64_t begin; /* the event that opens the activation */
    uint64_t own[2];
    const uint64_t *foreign; /* in their order */
    size_t foreign_count;
    bool pair; /* two variables: the foreign ones are f1 and f2 */
};

/* NULL, or a description of the fault. */
const char *cycle_fault(const struct tms_event *events, size_t count, const struct cycle *cycle);

#endif
