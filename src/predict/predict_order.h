/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads know of each other, by vector clocks over event numbers.
 *
 * A thread has a slot. Component s of a clock is the number of an event: that one of the thread in
 * slot s, and all its earlier ones, happen before whatever the owner of the clock does now. Numbers
 * rise within a thread, and an event of a thread becomes known only through one that publishes it,
 * with a number of its own; so there are no ticks. A thread knows what it did itself.
 *
 * Two orders: `clock` is happens-before, with the order that locks made in this run. `must` is what
 * every run has: program order, fork, join and barriers. The second is within the first, and lock
 * operations leave it alone.
 *
 * A slot whose thread is over goes to a new thread, at first to one whose parent must come after
 * all that the old one did. When there are TMS_ORDER_SLOTS of them it goes to any, and the new
 * thread then learns all that the old one knew and did. That is an order too many: it may hide a
 * prediction, and makes none.
 *
 * Not synchronised: a thread's clocks are its own, slots and the clocks of objects are under a lock
 * of the caller's. So is the memory that counts them: a thread's clocks are counted by the memory
 * of the thread, and handed over to that of the slots when it retires.
 */
#ifndef TMS_PREDICT_PREDICT_ORDER_H
#define TMS_PREDICT_PREDICT_ORDER_H

#include "clock/vector_clock.h"

#define TMS_ORDER_SLOTS 1024u

struct tms_thread_order {
    struct tms_memory *memory; /* counts its clocks; not shared */
    uint32_t thread, slot;     /* the slot is never 0 */
    uint64_t age;              /* a new number whenever it learns; no two threads have the same */
    uint64_t last;             /* the number of its last event, when it is over */
    struct tms_vector clock, must;
};

/* What the last thread of a slot left. */
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

/* The clocks that an object hands from thread to thread. */
struct tms_order_object {
    struct tms_vector clock, must;
};

static inline bool tms_order_knows(const struct tms_thread_order *order, uint32_t slot,
                                   uint64_t number)
{
    return slot == order->slot || number <= tms_vector_get(&order->clock, slot);
}

/* All of these are false when memory is short. */

/*
 * The order of a new thread, all zero until now but for its memory, whose parent forks it at
 * `number`; the first thread has none. Also false when all slots are in use.
 */
bool tms_order_start(struct tms_order_slots *slots, struct tms_thread_order *order, uint32_t thread,
                     const struct tms_thread_order *parent, uint64_t number);
/* The thread is over. Its clocks go to the slot. */
void tms_order_retire(struct tms_order_slots *slots, struct tms_thread_order *order, uint64_t last);
/* A thread that is over, and not retired yet, was joined: its last event had this number. */
bool tms_order_join(struct tms_thread_order *order, const struct tms_thread_order *child,
                    uint64_t last);

/*
 * All that the thread did up to `number` comes before what others do who learn from the object,
 * whose clocks `memory` counts.
 */
bool tms_order_teach(struct tms_memory *memory, const struct tms_thread_order *order,
                     uint64_t number, struct tms_order_object *object, bool must);
bool tms_order_learn(struct tms_thread_order *order, const struct tms_order_object *object);
/* The same from a single clock of happens-before. */
bool tms_order_learn_clock(struct tms_thread_order *order, const struct tms_vector *clock);

void tms_order_object_clear(struct tms_memory *memory, struct tms_order_object *object);
void tms_order_slots_clear(struct tms_order_slots *slots);

#endif
