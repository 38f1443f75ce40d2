/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector clocks over event numbers.
 *
 * A thread has a slot. Component s of a clock is an event number: that event of the thread in slot
 * s, and all earlier ones, happen before whatever the owner of the clock does now. Numbers increase
 * within a thread, and other threads learn of an event only through a publishing event with its own
 * number, so clocks need no ticks. A thread implicitly knows its own events.
 *
 * Two orders: `clock` is happens-before, including the lock order of this run. `must` is the part
 * that holds in every run: program order, fork, join and barriers. Lock operations do not change
 * it.
 *
 * The slot of an ended thread is reused, preferably by a thread whose parent must come after
 * everything that the old thread did. Once TMS_ORDER_SLOTS are in use any thread may get it, and
 * then learns everything that the old one knew and did. That extra ordering may hide a prediction,
 * but never causes one.
 *
 * Not synchronised: a thread owns its clocks, and a lock of the caller protects slots and the
 * clocks of objects. The same holds for memory accounting: a thread's clocks are counted in the
 * memory of the thread, and move to that of the slots when it retires.
 */
#ifndef TMS_PREDICT_PREDICT_ORDER_H
#define TMS_PREDICT_PREDICT_ORDER_H

#include "clock/vector_clock.h"

#define TMS_ORDER_SLOTS 1024u

struct tms_thread_order {
    struct tms_memory *memory; /* counts its clocks; not shared */
    uint32_t thread, slot;     /* the slot is never 0 */
    uint64_t age;              /* changes whenever it learns; unique among threads */
    uint64_t last;             /* the number of its last event, when it is over */
    struct tms_vector clock, must;
};

/* The clocks that the last thread of a slot left. */
struct tms_order_slot {
    uint64_t last;
    struct tms_vector clock, must;
    bool retired;
};

struct tms_order_slots {
    struct tms_memory *memory; /* counts the clocks that are here */
    uint32_t count;            /* slots ever used; 0 is none of them */
    uint32_t retired_count;
    struct tms_order_slot at[TMS_ORDER_SLOTS];
    uint32_t retired[TMS_ORDER_SLOTS];
};

/* The clocks that an object passes from thread to thread. */
struct tms_order_object {
    struct tms_vector clock, must;
};

static inline bool tms_order_knows(const struct tms_thread_order *order, uint32_t slot,
                                   uint64_t number)
{
    return slot == order->slot || number <= tms_vector_get(&order->clock, slot);
}

/* All of these return false if out of memory. */

/*
 * Initialises the order of a new thread, which is all zero except for its memory. Its parent forks
 * it at `number`; the first thread has none. Also returns false if all slots are in use.
 */
bool tms_order_start(struct tms_order_slots *slots, struct tms_thread_order *order, uint32_t thread,
                     const struct tms_thread_order *parent, uint64_t number);
/* The thread has ended. Its clocks move to the slot. */
void tms_order_retire(struct tms_order_slots *slots, struct tms_thread_order *order, uint64_t last);
/* A thread that has ended and is not retired yet was joined; its last event had this number. */
bool tms_order_join(struct tms_thread_order *order, const struct tms_thread_order *child,
                    uint64_t last);

/*
 * Everything that the thread did up to `number` happens before what threads do that learn from the
 * object later. `memory` counts the clocks of the object.
 */
bool tms_order_teach(struct tms_memory *memory, const struct tms_thread_order *order,
                     uint64_t number, struct tms_order_object *object, bool must);
bool tms_order_learn(struct tms_thread_order *order, const struct tms_order_object *object);
/* The same from a single clock of happens-before. */
bool tms_order_learn_clock(struct tms_thread_order *order, const struct tms_vector *clock);

void tms_order_object_clear(struct tms_memory *memory, struct tms_order_object *object);
void tms_order_slots_clear(struct tms_order_slots *slots);

#endif
