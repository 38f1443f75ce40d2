/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory is shared, and accesses to it as scheduling points; see shared_use.h. */
#include "runtime/shadow/shared_use.h"

#include <assert.h>

#include "runtime/core/runtime_memory.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/sites.h"
#include "runtime/core/thread_registry.h"
#include "runtime/core/window_learning.h"

static _Atomic uint8_t *sharing; /* by id of 8 bytes: enum tms_rt_sharing */

bool tms_rt_steering_start(void)
{
    sharing = tms_rt_map((size_t)PAGES_MOST * PAGE_WORDS);
    return sharing != NULL;
}

uint8_t tms_rt_sharing_of(uint32_t id)
{
    return sharing != NULL ? atomic_load_explicit(&sharing[id], memory_order_relaxed) : 0;
}

/* Has another thread accessed some of the bytes? Ignores older words, in nodes. */
static bool is_met(const struct tms_rt_thread *t, const struct tms_rt_cell *cell,
                   const struct tms_rt_word_access *a)
{
    for (int i = 0; i < CELL_WORDS; i++) {
        uint64_t word = atomic_load_explicit(&cell->word[i], memory_order_relaxed);
        if ((word & a->bytes) != 0 && !is_own(t, word)) {
            return true;
        }
    }
    return false;
}

static uint8_t note_sharing(const struct tms_rt_thread *t, const struct tms_rt_cell *cell,
                            const struct tms_rt_word_access *a)
{
    uint8_t known = tms_rt_sharing_of(a->id), now = known;

    assert(sharing != NULL && a->id != 0);
    if ((known & TMS_RT_CONTENDED) == 0 && is_met(t, cell, a)) {
        now |= TMS_RT_SHARED;
        now |= (a->kind & WORD_WRITE) != 0 ? TMS_RT_CONTENDED : 0;
    }
    if (now != known) {
        atomic_fetch_or_explicit(&sharing[a->id], now, memory_order_relaxed);
    }
    return now;
}

static bool is_on_own_stack(const struct tms_rt_thread *t, uintptr_t address)
{
    return t->stack_low <= address && address < t->stack_high;
}

/* The thread's own last access to some of the bytes; 0: none is left in the cell. */
static uint64_t own_event(const struct tms_rt_thread *t, const struct tms_rt_cell *cell,
                          const struct tms_rt_word_access *a)
{
    uint64_t event = 0;

    for (int i = 0; i < CELL_WORDS; i++) {
        uint64_t word = atomic_load_explicit(&cell->word[i], memory_order_relaxed);
        if ((word & a->bytes) != 0 && is_own(t, word) && word_event(word) > event) {
            event = word_event(word);
        }
    }
    return event;
}

/* Has the thread accessed the bytes before, in a block that is still open? */
static void look_for_window(struct tms_rt_thread *t, const struct tms_rt_cell *cell,
                            const struct tms_rt_word_access *a, uint8_t used)
{
    uint64_t event = own_event(t, cell, a);

    assert(event <= t->number);
    if (event != 0 && !tms_rt_is_alone()) {
        tms_rt_note_window(t, &(struct tms_rt_window_end){.object = a->address,
                                                          .bytes = (uint8_t)a->bytes,
                                                          .writes = (a->kind & WORD_WRITE) != 0,
                                                          .used = used,
                                                          .site = a->site,
                                                          .event = event});
    }
}

static void point_at(struct tms_rt_thread *t, struct tms_rt_word_access *a, uint8_t used)
{
    uintptr_t pc = tms_rt_site_pc(a->site);
    bool stack = is_on_own_stack(t, a->address);
    bool wanted = tms_rt_strategy->wants != NULL && !stack && tms_rt_strategy->wants(pc);

    if (wanted || (used & TMS_RT_CONTENDED) != 0) {
        a->kind &= ~WORD_FAST;
    }
    if ((a->kind & WORD_FAST) == 0 || (tms_rt_strategy->eager && !stack)) {
        tms_rt_access_point(t, a->address, (size_t)__builtin_popcountll(a->bytes),
                            (a->kind & WORD_WRITE) != 0, pc);
    }
}

void tms_rt_steer_access(struct tms_rt_thread *t, const struct tms_rt_cell *cell,
                         struct tms_rt_word_access *a)
{
    uint8_t used = note_sharing(t, cell, a);

    if (t->mark <= TMS_SPOOL_RETRY && !is_on_own_stack(t, a->address)) {
        look_for_window(t, cell, a, used);
    }
    if ((a->kind & WORD_ATOMIC) == 0) { /* atomic ones were points before their lock was taken */
        point_at(t, a, used);
    }
    if (tms_rt_strategy->accesses != NULL) {
        tms_rt_strategy->accesses(t, a->address, (uint8_t)a->bytes, (a->kind & WORD_WRITE) != 0);
    }
}
