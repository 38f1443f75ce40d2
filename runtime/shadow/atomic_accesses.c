/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic accesses and fences: besides the work of every access, they pass clocks on by C11's rules
 * for releases, acquires and release sequences.
 */
#include "runtime/core/open_blocks.h"
#include "runtime/core/sites.h"
#include "runtime/shadow/access.h"
#include "runtime/spool/spool_writer.h"

bool tms_rt_is_repeated_load(const struct tms_rt_thread *t, uintptr_t address, size_t size,
                             bool acquired)
{
    while (size > 0) {
        size_t here = word_part(address, size);
        const struct tms_rt_cell *cell = tms_rt_cell(address);
        uint64_t bits = tms_rt_bytes(address, here) | WORD_ATOMIC | (acquired ? WORD_ACQUIRES : 0);
        bool found = false;
        for (int i = 0; i < CELL_WORDS; i++) {
            uint64_t word = atomic_load_explicit(&cell->word[i], memory_order_relaxed);
            found |= (~word & bits) == 0 && is_fresh(t, word);
        }
        if (!found) {
            return false;
        }
        address += here;
        size -= here;
    }
    return !tms_rt_mode.scheduled; /* then it may be the end of a window */
}

/* By __ATOMIC_…; higher bits do not matter here. */
static const uint8_t orders[8] = {
    [__ATOMIC_RELAXED] = TMS_ORDER_RELAXED, [__ATOMIC_CONSUME] = TMS_ORDER_ACQUIRE,
    [__ATOMIC_ACQUIRE] = TMS_ORDER_ACQUIRE, [__ATOMIC_RELEASE] = TMS_ORDER_RELEASE,
    [__ATOMIC_ACQ_REL] = TMS_ORDER_ACQ_REL, [__ATOMIC_SEQ_CST] = TMS_ORDER_SEQ_CST,
};

static bool acquires(int order)
{
    return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

static bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* Acquires the clock of the value that is read: now, or at the next acquire fence. */
static void read_clock(struct tms_rt_thread *t, uintptr_t address, int order)
{
    const struct tms_rt_clock *clock = tms_rt_clock_find(address);

    if (clock == NULL || clock->snapshot == NULL) {
        return;
    }
    if (acquires(order)) {
        tms_rt_clock_acquire(t, clock);
    } else {
        tms_rt_clock_merge(&t->loaded, clock);
    }
}

/*
 * A store replaces the clock with what the thread releases (for a relaxed store, what its last
 * release fence released); a read-modify-write adds to the clock, because it continues the release
 * sequence.
 */
static void write_clock(struct tms_rt_thread *t, uintptr_t address, bool update, int order)
{
    bool publishes = releases(order) || t->fenced.snapshot != NULL;
    struct tms_rt_clock *clock =
        publishes ? tms_rt_clock_make(address) : tms_rt_clock_find(address);

    if (clock == NULL) {
        return;
    }
    if (!update) {
        tms_rt_clock_drop(clock);
    }
    if (releases(order)) {
        tms_rt_clock_add(t, clock);
        tms_rt_function_releases(t, 0);
    } else if (t->fenced.snapshot != NULL) {
        tms_rt_clock_merge(clock, &t->fenced);
    }
}

/* The thread's first event is an atomic access: it needs its clock before that. */
static __attribute__((noinline)) bool settle_in(struct tms_rt_thread *t, uintptr_t address,
                                                uint32_t site)
{
    const struct tms_rt_word_access a = {
        .id = tms_rt_variable_id(address), .kind = WORD_ATOMIC, .site = site};

    return tms_rt_first_access(t, &a);
}

void tms_rt_access_atomic(struct tms_rt_thread *t, uintptr_t address, size_t size,
                          enum tms_rt_access access, int order, uintptr_t pc)
{
    static const uint64_t kinds[] = {
        [TMS_RT_READ] = WORD_ATOMIC,
        [TMS_RT_WRITE] = WORD_ATOMIC | WORD_WRITE,
        [TMS_RT_UPDATE] = WORD_ATOMIC | WORD_WRITE | WORD_RMW,
    };
    bool acquired = access == TMS_RT_READ && acquires(order);

    if (!tms_rt_mode.checks || t->ignored[access] != 0) {
        return;
    }
    uint32_t site = tms_rt_site(t, pc);
    if (t->engine == NULL && !settle_in(t, address, site)) {
        return;
    }
    if (access != TMS_RT_WRITE) {
        read_clock(t, address, order);
    }
    t->order = t->mark == 0 || t->mark == TMS_SPOOL_RETRY ? orders[order & 7] : 0;
    tms_rt_access_words(t, address, size, kinds[access] | (acquired ? WORD_ACQUIRES : 0), site);
    t->order = 0;
    if (access != TMS_RT_READ) {
        write_clock(t, address, access == TMS_RT_UPDATE, order);
    }
}

void tms_rt_fence(struct tms_rt_thread *t, int order)
{
    if (!tms_rt_mode.checks || t->engine == NULL) {
        return;
    }
    if (acquires(order)) {
        tms_rt_clock_acquire(t, &t->loaded);
    }
    if (releases(order)) {
        tms_rt_clock_release(t, &t->fenced);
        tms_rt_judge_fence(t);
    }
    if (tms_rt_mode.records) {
        struct tms_spool_event event = {.number = t->number,
                                        .kind = TMS_EVENT_FENCE,
                                        .what = tms_spool_what(orders[order & 7], 0)};
        tms_rt_spool_event(t, &event);
    }
}
