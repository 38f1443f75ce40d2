/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the engine in aerodrome.c, and how it grows. Threads sit in slots, which clocks and
 * sets of readers are indexed by; the slot of a joined thread serves the next one. Variables,
 * locks and barriers are all *places*.
 *
 * Invariants, between operations:
 * - `writer` and bits of `readers` name slots whose transaction is running, and the place is in
 *   the update set of that slot;
 * - a clock of a place exists only while some running transaction's begin is in it, and the place
 *   is in the update sets of all those;
 * - `write` and `writer` are not both set.
 */
#ifndef TMS_ENGINES_AERODROME_STATE_H
#define TMS_ENGINES_AERODROME_STATE_H

#include "clock/clock_pool.h"
#include "engines/aerodrome.h"

#define NOT_RUNNING UINT64_MAX
#define NO_SLOT     UINT32_MAX

struct tms_aerodrome_place {
    uint32_t write;  /* the clock W_x, or L of a lock; 0 if it would not be live, or is stale */
    uint32_t read;   /* the clock R_x, for reads of ended transactions; 0 likewise */
    uint32_t writer; /* W_x is stale: 1 + slot of the thread that runs the writing transaction */
    bool marked;     /* while an update set is tidied */
};

#define KIND_BITS 2

/* By id. */
struct tms_aerodrome_places {
    struct tms_aerodrome_place *at;
    size_t count;
    struct tms_grid readers; /* stale reads: a row per place, a bit per slot */
};

/* An update set: keys of places, in no order, some perhaps twice. */
struct tms_aerodrome_set {
    uint64_t *keys; /* id << KIND_BITS | kind */
    size_t count, capacity;
};

struct tms_aerodrome_thread {
    uint32_t clock; /* C_t */
    bool acted;     /* it has had an event */
    struct tms_aerodrome_block block;
    struct tms_aerodrome_set set;
};

struct tms_aerodrome {
    struct tms_host *host;
    struct tms_memory *memory;
    struct tms_clocks clocks;
    struct tms_aerodrome_thread *threads; /* by slot; so the next */
    uint64_t *begins;                     /* C_t^▷(t), or NOT_RUNNING */
    uint32_t *spare;                      /* slots of joined threads */
    uint32_t *ancestors; /* those that C_t knew the begins of, when last looked for */
    size_t thread_capacity, begin_capacity, spare_capacity, ancestor_capacity;
    uint32_t slot_count, spare_count, ancestor_count;
    uint32_t *slots; /* by thread id: 1 + slot, or 0 */
    size_t id_capacity;
    struct tms_aerodrome_places places[TMS_PLACES];
    uint64_t ends, collected, visits, joins;
};

static inline struct tms_aerodrome_places *places_of(struct tms_aerodrome *a, uint64_t key)
{
    return &a->places[key & ((1 << KIND_BITS) - 1)];
}

static inline struct tms_aerodrome_place *place_of(struct tms_aerodrome *a, uint64_t key)
{
    return &places_of(a, key)->at[key >> KIND_BITS];
}

/*
 * A slot for a thread that has none; NO_SLOT when memory is short. Its clock is ⊥, but that it
 * goes on counting the begins of the slot: what clocks know of a thread that sat there before is
 * less than any begin of the new one.
 */
uint32_t tms_aerodrome_take_slot(struct tms_aerodrome *a, uint32_t id);

/* After the join: nothing asks for the clock of the thread any more. */
void tms_aerodrome_give_slot_back(struct tms_aerodrome *a, uint32_t id);

/* Makes room for a place of that id. False when memory is short. */
bool tms_aerodrome_grow_places(struct tms_aerodrome *a, struct tms_aerodrome_places *places,
                               uint32_t id);

/* Makes room in a full set, by dropping what it has twice or by growing. False likewise. */
bool tms_aerodrome_tidy(struct tms_aerodrome *a, struct tms_aerodrome_set *set);

void tms_aerodrome_clear(struct tms_aerodrome *a);

#endif
