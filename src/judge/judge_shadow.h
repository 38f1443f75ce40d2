/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core of `judge` on shadow memory: for some of 8 bytes, each thread's last accesses as words.
 * docs/internals/judge-online.md has the design.
 *
 * Variables of the core are made when a word of another thread is found whose step may still
 * matter, from the words that are there, and dropped when no step of theirs matters any more. Each
 * is for some of the 8 bytes of one cell; the variables of a cell are a list, and the cell has the
 * number of the first. When there are too many, the oldest one is dropped without notifying the
 * cell: the address of a variable shows whether it is still the one that the cell means.
 *
 * tms_judge_thread and all functions that take a thread are called by that thread without the lock;
 * the functions here take it themselves. The caller holds the lock of the cell.
 */
#ifndef TMS_JUDGE_JUDGE_SHADOW_H
#define TMS_JUDGE_JUDGE_SHADOW_H

#include "judge/judge.h"

/* An access of a thread to some of 8 bytes, as far as it is still there. */
struct tms_judge_word {
    const struct tms_judge_thread *thread; /* NULL: it has ended */
    uint32_t id;                           /* of the thread */
    uint32_t slot;                         /* the caller's, for detail_of */
    uint64_t event;
    uint8_t bytes; /* a bit for each */
    uint8_t kind;  /* TMS_JUDGE_R, _W; _U: an atomic update, or the write of an update */
    bool atomic;   /* so a U that is not atomic is the latter */
    bool initial;  /* a write, and the only access to these bytes so far */
};

/* What else is known of the access of a word. */
struct tms_judge_detail {
    uint32_t location; /* 0: unknown */
    bool counter;      /* of the write of an update: its read was the event before it */
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
    uint32_t limit; /* most variables; beyond it the next in turn is dropped */
    uint32_t turn;
    uint64_t dropped; /* by that */
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
 * The thread's access, which is not repeated. The step's kind is U for an atomic update and for a
 * write with which the thread updates what it read; a counter, if that is so; `cleared` for the
 * read of a compare-and-swap that failed. Returns the first variable of the cell from now on.
 */
uint32_t tms_judge_online_access(struct tms_judge_online *online, struct tms_judge_thread *thread,
                                 const struct tms_judge_met *met);

/* Some of the 8 bytes are new memory. */
uint32_t tms_judge_online_clear_bytes(struct tms_judge_online *online, uint64_t address,
                                      uint8_t bytes, uint32_t variable);

#endif
