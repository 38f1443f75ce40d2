/* SPDX-License-Identifier: Apache-2.0 */
/* Slots, places and update sets of the AeroDrome engine; see aerodrome_state.h. */
#include "engines/aerodrome_state.h"

#include <assert.h>
#include <string.h>

#define LEAST_ITEMS 64
#define LEAST_SLOTS 8

static size_t words_for(size_t slots)
{
    return (slots + 63) / 64;
}

static bool grow_slots(struct tms_aerodrome *a)
{
    size_t wanted = (size_t)a->slot_count + 1;
    bool grown = tms_clocks_widen(&a->clocks, wanted) &&
                 TMS_RESERVE(a->memory, &a->threads, &a->thread_capacity, wanted, LEAST_SLOTS) &&
                 TMS_RESERVE(a->memory, &a->begins, &a->begin_capacity, wanted, LEAST_SLOTS) &&
                 TMS_RESERVE(a->memory, &a->spare, &a->spare_capacity, wanted, LEAST_SLOTS) &&
                 TMS_RESERVE(a->memory, &a->ancestors, &a->ancestor_capacity, wanted, LEAST_SLOTS);

    for (int kind = 0; kind < TMS_PLACES && grown; kind++) {
        struct tms_grid *readers = &a->places[kind].readers;
        grown = tms_grid_reserve(a->memory, readers, readers->rows, words_for(wanted));
    }
    return grown;
}

static uint32_t new_slot(struct tms_aerodrome *a)
{
    uint32_t clock = grow_slots(a) ? tms_clocks_make(&a->clocks) : 0;

    if (clock == 0) {
        return NO_SLOT;
    }
    a->threads[a->slot_count].clock = clock;
    a->begins[a->slot_count] = NOT_RUNNING;
    return a->slot_count++;
}

uint32_t tms_aerodrome_take_slot(struct tms_aerodrome *a, uint32_t id)
{
    if (!TMS_RESERVE(a->memory, &a->slots, &a->id_capacity, (size_t)id + 1, LEAST_ITEMS)) {
        return NO_SLOT;
    }
    assert(a->slots[id] == 0);
    uint32_t slot = a->spare_count > 0 ? a->spare[--a->spare_count] : new_slot(a);
    assert(slot == NO_SLOT || a->begins[slot] == NOT_RUNNING);
    a->slots[id] = slot + 1; /* none for NO_SLOT */
    return slot;
}

void tms_aerodrome_give_slot_back(struct tms_aerodrome *a, uint32_t id)
{
    uint32_t slot = a->slots[id] - 1;
    struct tms_aerodrome_thread *thread = &a->threads[slot];
    uint64_t *component = tms_clocks_at(&a->clocks, thread->clock);
    uint64_t begun = component[slot];

    assert(a->begins[slot] == NOT_RUNNING && thread->set.count == 0);
    memset(component, 0, a->clocks.grid.width * sizeof(*component));
    component[slot] = begun;
    thread->acted = false;
    a->slots[id] = 0;
    assert(a->spare_count < a->slot_count);
    a->spare[a->spare_count++] = slot;
}

bool tms_aerodrome_grow_places(struct tms_aerodrome *a, struct tms_aerodrome_places *places,
                               uint32_t id)
{
    return TMS_RESERVE(a->memory, &places->at, &places->count, (size_t)id + 1, LEAST_ITEMS) &&
           tms_grid_reserve(a->memory, &places->readers, places->count, words_for(a->slot_count));
}

static void drop_doubles(struct tms_aerodrome *a, struct tms_aerodrome_set *set)
{
    size_t kept = 0;

    for (size_t i = 0; i < set->count; i++) {
        struct tms_aerodrome_place *place = place_of(a, set->keys[i]);
        if (!place->marked) {
            place->marked = true;
            set->keys[kept++] = set->keys[i];
        }
    }
    for (size_t i = 0; i < kept; i++) {
        place_of(a, set->keys[i])->marked = false;
    }
    assert(kept <= set->count);
    set->count = kept;
}

bool tms_aerodrome_tidy(struct tms_aerodrome *a, struct tms_aerodrome_set *set)
{
    drop_doubles(a, set);
    return set->count < set->capacity / 2 ||
           TMS_RESERVE(a->memory, &set->keys, &set->capacity, set->capacity + 1, LEAST_ITEMS);
}

void tms_aerodrome_clear(struct tms_aerodrome *a)
{
    for (size_t slot = 0; slot < a->thread_capacity; slot++) {
        struct tms_aerodrome_set *set = &a->threads[slot].set;
        tms_release(a->memory, set->keys, set->capacity, sizeof(*set->keys));
    }
    tms_release(a->memory, a->threads, a->thread_capacity, sizeof(*a->threads));
    tms_release(a->memory, a->begins, a->begin_capacity, sizeof(*a->begins));
    tms_release(a->memory, a->spare, a->spare_capacity, sizeof(*a->spare));
    tms_release(a->memory, a->ancestors, a->ancestor_capacity, sizeof(*a->ancestors));
    tms_release(a->memory, a->slots, a->id_capacity, sizeof(*a->slots));
    for (int kind = 0; kind < TMS_PLACES; kind++) {
        struct tms_aerodrome_places *places = &a->places[kind];
        tms_release(a->memory, places->at, places->count, sizeof(*places->at));
        tms_grid_clear(a->memory, &places->readers);
    }
    tms_clocks_clear(&a->clocks);
}
