/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and their slots, locks, and what a block has taken; sidetrack.h says what is what. */
#include <assert.h>

#include "engines/sidetrack.h"

#define LEAST       16
#define LEAST_TAKEN 8
#define SLOTS_TRIED 8
#define FIRST_SLOT  1 /* 0 is no slot */

/* ---- threads ------------------------------------------------------------------------------ */

static bool new_slot(struct tms_sidetrack *s, uint32_t *slot)
{
    if (s->slot_count == 0) {
        s->slot_count = FIRST_SLOT;
    }
    if (!TMS_RESERVE(s->memory, &s->slots, &s->slot_capacity, s->slot_count + 1u, LEAST)) {
        return false;
    }
    *slot = s->slot_count++;
    assert(*slot >= FIRST_SLOT && *slot < s->slot_capacity);
    s->slots[*slot] = 1;
    return true;
}

/* A slot that the parent knows all of, among the last retired; else, if slots are many, any. */
static bool old_slot(struct tms_sidetrack *s, const struct tms_sidetrack_thread *parent,
                     uint32_t *slot)
{
    size_t tried = s->retired_count < SLOTS_TRIED ? s->retired_count : SLOTS_TRIED;
    size_t chosen = s->retired_count;

    for (size_t i = 1; i <= tried && parent != NULL && chosen == s->retired_count; i++) {
        uint32_t old = s->retired[s->retired_count - i];
        if (s->slots[old] - 1 <= tms_vector_get(&parent->clock, old)) {
            chosen = s->retired_count - i;
        }
    }
    if (chosen == s->retired_count) {
        if (s->slot_count < SIDETRACK_SLOTS || s->retired_count == 0) {
            return false;
        }
        chosen--;
    }
    assert(chosen < s->retired_count && s->retired[chosen] < s->slot_count);
    *slot = s->retired[chosen];
    s->retired[chosen] = s->retired[--s->retired_count];
    return true;
}

static bool start_thread(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                         const struct tms_sidetrack_thread *parent)
{
    uint32_t slot;

    if (!old_slot(s, parent, &slot) && !new_slot(s, &slot)) {
        return sidetrack_out_of_memory(s);
    }
    if ((parent != NULL && !tms_vector_copy(s->memory, &t->clock, &parent->clock)) ||
        !tms_vector_set(s->memory, &t->clock, slot, s->slots[slot])) {
        return sidetrack_out_of_memory(s);
    }
    assert(t->slot == 0 && !t->gone);
    t->slot = slot;
    t->age = ++s->age;
    return true;
}

struct tms_sidetrack_thread *tms_sidetrack_new_thread(struct tms_sidetrack *s, uint32_t id)
{
    if (!TMS_RESERVE(s->memory, &s->threads, &s->thread_capacity, (size_t)id + 1, LEAST)) {
        sidetrack_out_of_memory(s);
        return NULL;
    }
    struct tms_sidetrack_thread *t = &s->threads[id];
    if (t->slot == 0) {
        t->id = id;
        return start_thread(s, t, NULL) ? t : NULL;
    }
    return t;
}

bool tms_sidetrack_fork(struct tms_sidetrack *s, uint32_t parent, uint32_t child)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, parent);

    if (t == NULL ||
        !TMS_RESERVE(s->memory, &s->threads, &s->thread_capacity, (size_t)child + 1, LEAST)) {
        return sidetrack_out_of_memory(s);
    }
    assert(parent != child);
    t = &s->threads[parent];
    s->threads[child].id = child;
    if (!start_thread(s, &s->threads[child], t)) {
        return false;
    }
    t->clock.at[t->slot]++;
    return true;
}

static void drop_thread(struct tms_sidetrack *s, struct tms_sidetrack_thread *t)
{
    tms_vector_clear(s->memory, &t->clock);
    tms_nesting_clear(&t->nesting, s->memory);
    for (size_t i = 0; i < t->cut_count; i++) {
        tms_refuted_clear(&t->cuts[i].window.refuted, s->memory);
    }
    tms_release(s->memory, t->cuts, t->cut_capacity, sizeof(*t->cuts));
    tms_release(s->memory, t->taken, t->taken_size, sizeof(*t->taken));
    tms_release(s->memory, t->held, t->held_capacity, sizeof(*t->held));
}

/* The child does nothing any more: its slot goes on counting for another. */
static bool retire(struct tms_sidetrack *s, struct tms_sidetrack_thread *child)
{
    uint32_t slot = child->slot;

    assert(slot >= FIRST_SLOT && slot < s->slot_count && !child->gone);
    if (!TMS_RESERVE(s->memory, &s->retired, &s->retired_capacity, s->retired_count + 1, LEAST)) {
        return sidetrack_out_of_memory(s);
    }
    s->retired[s->retired_count++] = slot;
    assert(s->slots[slot] <= sidetrack_own(child));
    s->slots[slot] = sidetrack_own(child) + 1;
    drop_thread(s, child);
    *child = (struct tms_sidetrack_thread){.id = child->id, .slot = slot, .gone = true};
    return true;
}

/* A child without a slot never did anything and was never forked: nothing is learnt from it. */
bool tms_sidetrack_join(struct tms_sidetrack *s, uint32_t parent, uint32_t child)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, parent);

    if (t == NULL || child >= s->thread_capacity || s->threads[child].slot == 0) {
        return t != NULL;
    }
    struct tms_sidetrack_thread *joined = &s->threads[child];
    assert(!joined->gone && joined != t);
    if (!tms_vector_join(s->memory, &t->clock, &joined->clock)) {
        return sidetrack_out_of_memory(s);
    }
    t->age = ++s->age;
    return retire(s, joined);
}

/* ---- locks -------------------------------------------------------------------------------- */

struct tms_sidetrack_lock *tms_sidetrack_new_lock(struct tms_sidetrack *s,
                                                  struct tms_sidetrack_lock ***table,
                                                  size_t *capacity, uint32_t id)
{
    if (!TMS_RESERVE(s->memory, table, capacity, (size_t)id + 1, LEAST)) {
        sidetrack_out_of_memory(s);
        return NULL;
    }
    struct tms_sidetrack_lock **lock = &(*table)[id];
    if (*lock == NULL) {
        *lock = tms_arena_take_line(&s->arena, s->memory, sizeof(**lock));
        if (*lock == NULL) {
            sidetrack_out_of_memory(s);
            return NULL;
        }
    }
    return *lock;
}

static void drop_locks(struct tms_sidetrack *s, struct tms_sidetrack_lock **table, size_t capacity)
{
    for (size_t i = 0; i < capacity; i++) {
        struct tms_sidetrack_lock *lock = table[i];
        if (lock == NULL) {
            continue;
        }
        tms_vector_clear(s->memory, &lock->released_shared);
        for (int kind = 0; kind < KINDS; kind++) {
            tms_refuted_clear(&lock->window[kind].refuted, s->memory);
        }
        if (lock->paired) {
            tms_refuted_clear(&lock->pair->window.refuted, s->memory);
        }
    }
    tms_release(s->memory, table, capacity, sizeof(*table));
}

/* ---- what a block has taken --------------------------------------------------------------- */

bool tms_sidetrack_grow_taken(struct tms_sidetrack *s, struct tms_sidetrack_thread *t)
{
    size_t size = t->taken_size == 0 ? LEAST_TAKEN : 2 * t->taken_size;
    struct tms_sidetrack_taken *table = tms_table(s->memory, size, sizeof(*table));

    if (table == NULL) {
        return sidetrack_out_of_memory(s);
    }
    for (size_t i = 0; i < t->taken_size; i++) {
        if (t->taken[i].block == t->block) {
            *sidetrack_find_taken(table, size, t->block, t->taken[i].key) = t->taken[i];
        }
    }
    assert(2 * t->taken_count <= size);
    tms_release(s->memory, t->taken, t->taken_size, sizeof(*table));
    t->taken = table;
    t->taken_size = size;
    return true;
}

/* ---- the end ------------------------------------------------------------------------------ */

void tms_sidetrack_clear(struct tms_sidetrack *s)
{
    for (size_t i = 0; i < s->thread_capacity; i++) {
        drop_thread(s, &s->threads[i]);
    }
    tms_release(s->memory, s->threads, s->thread_capacity, sizeof(*s->threads));
    tms_release(s->memory, s->slots, s->slot_capacity, sizeof(*s->slots));
    tms_release(s->memory, s->retired, s->retired_capacity, sizeof(*s->retired));
    drop_locks(s, s->locks, s->lock_capacity);
    drop_locks(s, s->atomics, s->atomic_capacity);
    tms_arena_clear(&s->arena, s->memory);
    for (size_t i = 0; i < s->channel_capacity; i++) {
        tms_vector_clear(s->memory, &s->channels[i]);
    }
    tms_release(s->memory, s->channels, s->channel_capacity, sizeof(*s->channels));
    for (size_t i = 0; i < s->barrier_capacity; i++) {
        tms_vector_clear(s->memory, &s->barriers[i]);
    }
    tms_release(s->memory, s->barriers, s->barrier_capacity, sizeof(*s->barriers));
    tms_release(s->memory, s->variables, s->variable_capacity, sizeof(*s->variables));
    tms_refuted_clear(&s->refuted, s->memory);
}
