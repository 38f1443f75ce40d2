/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread does again, transaction after transaction.
 *
 * The cell in shadow memory says when a thread touched some bytes. If it touches them again, in a
 * later transaction, and in between no running transaction came to reach the thread (an edge came
 * in that let it, see `met` in frontier/frontier.h), the new event says no more to anybody than the
 * old one does, once its transaction has ended: who is ordered behind the one is so behind the
 * other. Only while the transaction runs does it matter that the event is one of it. So the cell
 * stays as it is, and the event goes into a list of the thread that is valid until the
 * transaction ends; outside of transactions it goes nowhere.
 *
 * Whoever finds the old event in a cell, and sees that its thread runs a transaction that began
 * later, looks into that list. If a transaction comes to be reached while it runs, the list is
 * carried into the cells.
 *
 * Nothing orders the list of one thread and the cell of another but what orders the accesses
 * themselves: of two accesses that race, in the few nanoseconds that a store takes to be seen, the
 * one may miss the other. Readers do not race: so the word of another reader stays in the cell as
 * long as its thread may rely on it.
 */
#ifndef TMS_RUNTIME_RECALL_H
#define TMS_RUNTIME_RECALL_H

#include "runtime/shadow/shadow.h"

#define RECALLED_MOST 65536u
#define RECALLED_DEEP 4096u /* so many may anybody have to go through */

/*
 * What one instruction touched again and again, with no event in between: a loop goes through
 * memory in steps, and needs one entry for each region. So who looks for some bytes has only the
 * entries of their region to go through.
 */
#define RECALLED_REGION UINT64_C(4096)
struct tms_rt_recalled {
    uintptr_t start, last; /* the first access and the last, `step` bytes from each to the next */
    uintptr_t pc;
    uint32_t parent; /* site of the call */
    uint32_t access : 2;
    uint32_t since : 30;  /* the number of the thread's last event, counted from the begin */
    uint32_t before;      /* an older one with the same head, RECALLED_MOST: none */
    uint16_t head, depth; /* how many have that head, with this one */
    uint16_t step;        /* 0: there is one access */
    uint8_t size;
};

/* An instruction, what it does, and to how many bytes; the addresses of programs have 47 bits. */
static inline uint64_t tms_rt_place_key(uintptr_t pc, size_t size, enum tms_rt_access access)
{
    return pc | (uint64_t)size << 48 | (uint64_t)access << 56;
}

static inline struct tms_rt_place *tms_rt_place(struct tms_rt_thread *thread, uintptr_t pc)
{
    return &thread->places[pc % TMS_RT_PLACES]; /* the calls of a loop are near each other */
}

/* The site of an instruction of the thread; `size` and `access` only say which it is. */
uint32_t tms_rt_find_place_site(struct tms_rt_thread *thread, uintptr_t pc, uint64_t key);
static inline uint32_t tms_rt_place_site(struct tms_rt_thread *thread, uintptr_t pc, size_t size,
                                         enum tms_rt_access access)
{
    const struct tms_rt_place *place = tms_rt_place(thread, pc);
    uint64_t key = tms_rt_place_key(pc, size, access);

    return place->key == key && place->parent == thread->top->site && place->site != 0
               ? place->site
               : tms_rt_find_place_site(thread, pc, key);
}

/* The access is the next one of the entry that the place knows: then it belongs to it by now. */
static inline __attribute__((always_inline)) bool
tms_rt_continues(struct tms_rt_place *place, struct tms_rt_recalled *entry, uintptr_t address)
{
    if (place->next != address || address > place->limit) {
        return false;
    }
    place->next = address + place->step;
    /* One that goes through the same again has nothing to add. */
    if (address > entry->last) {
        __atomic_store_n(&entry->last, address, __ATOMIC_RELEASE);
    }
    return true;
}

/* The same for a hook: the instruction made the entry, with no event since, called as now. */
static inline __attribute__((always_inline)) bool tms_rt_goes_on(struct tms_rt_thread *thread,
                                                                 uintptr_t address, size_t size,
                                                                 enum tms_rt_access access,
                                                                 uintptr_t pc)
{
    struct tms_rt_place *place = tms_rt_place(thread, pc);
    struct tms_rt_recalled *entry = place->entry;

    atomic_signal_fence(memory_order_acquire); /* a handler may take the place meanwhile */
    return place->key == tms_rt_place_key(pc, size, access) && place->number == thread->number &&
           place->parent == thread->top->site && (thread->inside | thread->ignored[access]) == 0 &&
           tms_rt_continues(place, entry, address);
}

/* The thread behind the word, if it runs a transaction that began later, and when. */
static inline const struct tms_rt_thread *tms_rt_newer(uint64_t word, uint64_t *begin)
{
    const struct tms_rt_thread *thread = tms_rt_of_slot(word >> WORD_SLOT & WORD_SLOT_MOST);

    *begin = thread == NULL ? 0 : atomic_load_explicit(&thread->running, memory_order_acquire);
    return *begin > (word >> WORD_EVENT & WORD_EVENT_MOST) ? thread : NULL;
}

/* An event that is in a list only, as who meets it sees it. */
struct tms_rt_again {
    uint64_t number;
    uint64_t bytes;  /* of 8 aligned ones */
    uint32_t thread; /* its index */
    uint32_t parent; /* site of the call */
    uintptr_t pc;
    enum tms_rt_access access;
};

/*
 * Has the thread behind a word of a cell done something to these of the 8 bytes around an address,
 * in the transaction it runs, that conflicts with this access, and that the cell does not say?
 */
bool tms_rt_did_again(const struct tms_rt_thread *thread, uint64_t word, uintptr_t address,
                      uint64_t bytes, enum tms_rt_access access, struct tms_rt_again *again);

/* Such an event is written down, and so has its place in the recording; by who meets it. */
void tms_rt_spool_again(struct tms_rt_thread *thread, const struct tms_rt_again *again,
                        uintptr_t address);

/* The word of another reader, behind which this thread comes, is not needed any more. */
bool tms_rt_is_past_recall(uint64_t word, uintptr_t address);

/* Room for the list, with the first transaction. */
void tms_rt_recall_start(struct tms_rt_thread *thread);

/* Where the event happened, if it is in the thread's list; 0 if not. */
uint32_t tms_rt_recalled_site(const struct tms_rt_thread *thread, uint64_t number,
                              uintptr_t address);

/* The bytes of an entry among the 8 aligned ones at an address. */
uint64_t tms_rt_recalled_bytes(const struct tms_rt_recalled *entry, uintptr_t word);

#endif
