/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and slots; see predict_order.h. */
#include "predict/predict_order.h"

#include <assert.h>

#define FIRST_SLOT  1u
#define SLOTS_TRIED 8u /* retired slots, the latest first */
#define AGE_SHIFT   38 /* threads are fewer than 2²⁶, and learn less often than 2³⁸ times */

/* ---- slots ------------------------------------------------------------------------------ */

/* A recently retired slot whose entire past must happen before the child; 0: none. */
static uint32_t find_past(const struct tms_order_slots *slots,
                          const struct tms_thread_order *parent)
{
    uint32_t tried = slots->retired_count < SLOTS_TRIED ? slots->retired_count : SLOTS_TRIED;

    for (uint32_t i = 1; parent != NULL && i <= tried; i++) {
        uint32_t slot = slots->retired[slots->retired_count - i];
        if (slots->at[slot].last <= tms_vector_get(&parent->must, slot)) {
            return i;
        }
    }
    return 0;
}

static uint32_t take_retired(struct tms_order_slots *slots, uint32_t from_end)
{
    uint32_t at = slots->retired_count - from_end, slot = slots->retired[at];

    slots->retired[at] = slots->retired[--slots->retired_count];
    return slot;
}

/* 0: all are in use. `forced`: the old thread of the slot need not come before the new one. */
static uint32_t take_slot(struct tms_order_slots *slots, const struct tms_thread_order *parent,
                          bool *forced)
{
    uint32_t past = find_past(slots, parent);

    *forced = false;
    if (slots->count == 0) {
        slots->count = FIRST_SLOT;
    }
    if (past != 0) {
        return take_retired(slots, past);
    }
    if (slots->count < TMS_ORDER_SLOTS) {
        return slots->count++;
    }
    *forced = true;
    return slots->retired_count > 0 ? take_retired(slots, 1) : 0;
}

/* ---- threads ---------------------------------------------------------------------------- */

static void note_news(struct tms_thread_order *order)
{
    order->age++;
}

static bool raise(struct tms_memory *memory, struct tms_vector *clock, uint32_t slot,
                  uint64_t number)
{
    return tms_vector_get(clock, slot) >= number || tms_vector_set(memory, clock, slot, number);
}

static bool inherit(struct tms_thread_order *order, const struct tms_thread_order *parent,
                    uint64_t number)
{
    struct tms_memory *memory = order->memory;

    return tms_vector_copy(memory, &order->clock, &parent->clock) &&
           tms_vector_copy(memory, &order->must, &parent->must) &&
           raise(memory, &order->clock, parent->slot, number) &&
           raise(memory, &order->must, parent->slot, number);
}

static bool come_after(struct tms_thread_order *order, const struct tms_order_slot *old)
{
    return tms_vector_join(order->memory, &order->clock, &old->clock) &&
           tms_vector_join(order->memory, &order->must, &old->must);
}

bool tms_order_start(struct tms_order_slots *slots, struct tms_thread_order *order, uint32_t thread,
                     const struct tms_thread_order *parent, uint64_t number)
{
    struct tms_memory *memory = order->memory;
    bool forced;
    uint32_t slot = take_slot(slots, parent, &forced);

    if (slot == 0) {
        return false;
    }
    struct tms_order_slot *old = &slots->at[slot];
    *order = (struct tms_thread_order){
        .memory = memory, .thread = thread, .slot = slot, .age = (uint64_t)thread << AGE_SHIFT};
    bool good = (parent == NULL || inherit(order, parent, number)) &&
                (!forced || come_after(order, old)) &&
                raise(memory, &order->clock, slot, old->last > 0 ? old->last : 1);
    tms_vector_clear(slots->memory, &old->clock);
    tms_vector_clear(slots->memory, &old->must);
    *old = (struct tms_order_slot){.last = old->last};
    return good;
}

static struct tms_vector hand_over(struct tms_order_slots *slots,
                                   const struct tms_thread_order *order, struct tms_vector clock)
{
    tms_hand_over(order->memory, slots->memory, clock.capacity, sizeof(*clock.at));
    return clock;
}

void tms_order_retire(struct tms_order_slots *slots, struct tms_thread_order *order, uint64_t last)
{
    struct tms_order_slot *slot = &slots->at[order->slot];

    assert(order->slot != 0 && !slot->retired);
    slot->last = slot->last > last ? slot->last : last;
    slot->clock = hand_over(slots, order, order->clock);
    slot->must = hand_over(slots, order, order->must);
    slot->retired = true;
    slots->retired[slots->retired_count++] = order->slot;
    *order = (struct tms_thread_order){.memory = order->memory, .thread = order->thread};
}

bool tms_order_join(struct tms_thread_order *order, const struct tms_thread_order *child,
                    uint64_t last)
{
    struct tms_memory *memory = order->memory;

    note_news(order);
    return tms_vector_join(memory, &order->clock, &child->clock) &&
           tms_vector_join(memory, &order->must, &child->must) &&
           raise(memory, &order->clock, child->slot, last) &&
           raise(memory, &order->must, child->slot, last);
}

/* ---- objects ---------------------------------------------------------------------------- */

bool tms_order_teach(struct tms_memory *memory, const struct tms_thread_order *order,
                     uint64_t number, struct tms_order_object *object, bool must)
{
    return tms_vector_join(memory, &object->clock, &order->clock) &&
           raise(memory, &object->clock, order->slot, number) &&
           (!must || (tms_vector_join(memory, &object->must, &order->must) &&
                      raise(memory, &object->must, order->slot, number)));
}

bool tms_order_learn(struct tms_thread_order *order, const struct tms_order_object *object)
{
    return tms_order_learn_clock(order, &object->clock) &&
           tms_vector_join(order->memory, &order->must, &object->must);
}

bool tms_order_learn_clock(struct tms_thread_order *order, const struct tms_vector *clock)
{
    note_news(order);
    return tms_vector_join(order->memory, &order->clock, clock);
}

void tms_order_object_clear(struct tms_memory *memory, struct tms_order_object *object)
{
    tms_vector_clear(memory, &object->clock);
    tms_vector_clear(memory, &object->must);
}

void tms_order_slots_clear(struct tms_order_slots *slots)
{
    for (uint32_t i = 0; i < TMS_ORDER_SLOTS; i++) {
        tms_vector_clear(slots->memory, &slots->at[i].clock);
        tms_vector_clear(slots->memory, &slots->at[i].must);
    }
    slots->count = slots->retired_count = 0;
}
