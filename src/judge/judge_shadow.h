/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core of `judge` on shadow memory, in which a cell of 8 bytes has the last accesses of each
 * thread as words. docs/internals/judge-online.md has the design.
 *
 * A variable of the core is created from the words of a cell when a word of another thread may
 * still matter, and dropped when none of its steps does. It covers some of the 8 bytes of one cell.
 * The variables of a cell form a list, and the cell has the number of the first. When there are too
 * many, one is dropped, round robin, without notifying the cell; the cell detects this by the
 * address of the variable.
 *
 * tms_judge_thread and all functions that take a thread are called by that thread without the lock;
 * the functions here take it themselves. The caller holds the lock of the cell.
 */
#ifndef TMS_JUDGE_JUDGE_SHADOW_H
#define TMS_JUDGE_JUDGE_SHADOW_H

#include "judge/judge.h"

/* An access of a thread to some of 8 bytes that is still in the shadow memory. */
struct tms_judge_word {
    const struct tms_judge_thread *thread; /* NULL: it has ended */
    uint32_t id;                           /* of the thread */
    uint32_t slot;                         /* the caller's, for detail_of */
    uint64_t event;
    uint8_t bytes; /* a bit for each */
    uint8_t kind;  /* TMS_JUDGE_R, _W; _U: an atomic update, or the write of an update */
    bool atomic;   /* a U that is not atomic is the write of an update */
    bool initial;  /* a write, and the only access to these bytes so far */
};

/* Further details of the access of a word. */
struct tms_judge_detail {
    uint32_t location; /* 0: unknown */
    bool counter;      /* the write of an update whose read was the event before it */
    bool initial;      /* the only access so far, and a write; or the word says so */
};

/* Which memory a variable of the core is. */
struct tms_judge_memory {
    uint64_t address; /* of the 8 bytes; 0: free */
    uint32_t next, previous;
    uint8_t bytes;
};

struct tms_judge_online {
    struct tms_judge core;
    struct tms_judge_memory *memory; /* by variable */
    size_t capacity;
    uint32_t count; /* numbers given out so far */
    uint32_t free;  /* the first free one, 0: none; linked by `next` */
    uint32_t limit; /* limit of variables; beyond it they are dropped round robin */
    uint32_t turn;
    uint64_t dropped; /* because of the limit, although they had steps in use */
    struct tms_judge_detail (*detail_of)(void *user, const struct tms_judge_word *word,
                                         uint64_t address);
};

/* `online` is zeroed. */
void tms_judge_online_init(struct tms_judge_online *online, struct tms_memory *memory,
                           const struct tms_judge_port *port, uint32_t limit);
void tms_judge_online_clear(struct tms_judge_online *online);

/* An access to some of the 8 bytes at an address. */
struct tms_judge_met {
    uint64_t address;
    uint8_t bytes;
    struct tms_judge_step step;
    const struct tms_judge_word *words; /* on any of the 8 bytes, the oldest first */
    size_t count;
    uint32_t variable; /* the first of the cell, 0: none */
};

/*
 * Processes an access that is not repeated. The kind of the step is U for an atomic update and for
 * a write that updates what the thread has read (with `counter` set accordingly); `cleared` marks
 * the read of a failed compare-and-swap. Returns the new first variable of the cell.
 */
uint32_t tms_judge_online_access(struct tms_judge_online *online, struct tms_judge_thread *thread,
                                 const struct tms_judge_met *met);

/* Some of the 8 bytes are new memory. */
uint32_t tms_judge_online_clear_bytes(struct tms_judge_online *online, uint64_t address,
                                      uint8_t bytes, uint32_t variable);

#endif
