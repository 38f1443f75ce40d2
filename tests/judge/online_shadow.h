/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of shadow memory for `judge` inside a running program: cells of 8 bytes with the words of
 * all threads, and the filter of exact mode, in which an epoch of a thread starts with every event
 * that is no plain access. Two variables of a trace share a cell.
 */
#ifndef TMS_JUDGE_ONLINE_SHADOW_H
#define TMS_JUDGE_ONLINE_SHADOW_H

#include "judge/judge_shadow.h"
#include "judge/trace.h"

#define SHADOW_WORDS 16 /* of a cell: two for each thread and variable */
#define SHADOW_CELLS (VARIABLES + 3)

struct shadow_cell {
    struct tms_judge_word words[SHADOW_WORDS]; /* the oldest first */
    struct tms_judge_detail details[SHADOW_WORDS];
    size_t count;
    uint32_t variable; /* of the core */
    uint8_t only;      /* bytes that have seen nothing but one write */
};

struct shadow {
    struct shadow_cell cells[SHADOW_CELLS];
};

/* Where a variable of the trace is, by its id, and back. */
static inline uint64_t shadow_address(uint32_t variable)
{
    return 8 * (1 + (uint64_t)variable / 2);
}

static inline uint8_t shadow_bytes(uint32_t variable)
{
    return variable % 2 == 0 ? 0x0f : 0xf0;
}

static inline uint32_t shadow_variable(uint64_t address, uint8_t bytes)
{
    return (uint32_t)(2 * (address / 8 - 1) + (bytes == 0xf0));
}

struct shadow_cell *shadow_cell(struct shadow *shadow, uint32_t variable);

/* The fast path: the thread has done it since its epoch began. */
bool shadow_is_repeated(const struct shadow_cell *cell, const struct tms_judge_thread *thread,
                        uint64_t epoch, uint32_t variable, uint8_t kind);

/* The thread's own read, which its write would update: it comes right before it; 0: none. */
uint64_t shadow_own_read(const struct shadow_cell *cell, const struct tms_judge_thread *thread,
                         uint32_t variable);

/* The access claims its bytes. */
void shadow_claim(struct shadow_cell *cell, const struct tms_judge_thread *thread,
                  uint32_t variable, const struct tms_judge_step *step);

void shadow_renew(struct shadow_cell *cell, uint32_t variable);

#endif
