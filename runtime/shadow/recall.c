/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread does again; recall.h says why that is little. */
#include "runtime/shadow/recall.h"

#include "runtime/core/memory.h"
#include "runtime/shadow/fresh.h"

#define SINCE_MOST ((UINT32_C(1) << 30) - 1)

/* Of one access. */
static uint64_t bytes_of(uintptr_t address, size_t size, uintptr_t word)
{
    uintptr_t start = address > word ? address - word : 0;
    uintptr_t end = address + size < word + 8 ? address + size - word : 8;

    return start >= 8 || address + size <= word
               ? 0
               : WORD_BYTES >> (8 - (end - start)) << start & WORD_BYTES;
}

uint64_t tms_rt_recalled_bytes(const struct tms_rt_recalled *entry, uintptr_t word)
{
    uintptr_t last = __atomic_load_n(&entry->last, __ATOMIC_ACQUIRE);
    uintptr_t step = __atomic_load_n(&entry->step, __ATOMIC_RELAXED);
    uint64_t bytes = 0;

    if (word + 8 <= entry->start || word >= last + entry->size) {
        return 0;
    }
    if (step == 0) {
        return bytes_of(entry->start, entry->size, word);
    }
    /* No more than the accesses that begin in the 8 bytes, and the one before. */
    uintptr_t before = word < entry->start ? 0 : (word - entry->start) / step;
    for (uintptr_t at = entry->start + before * step; at < word + 8 && at <= last; at += step) {
        bytes |= bytes_of(at, entry->size, word);
    }
    return bytes;
}

/* ---- the thread itself -------------------------------------------------------------------- */

void tms_rt_recall_start(struct tms_rt_thread *t)
{
    if (t->recalled == NULL) {
        t->recalled = tms_rt_map(RECALLED_MOST * sizeof(*t->recalled));
    }
    t->recalled_room = t->recalled == NULL ? 0 : RECALLED_MOST;
}

/*
 * Whoever looks for a word in the list finds out with one look that it is hardly in it. An entry
 * that goes through memory may be any.
 */
static inline uint64_t word_bit(uintptr_t address)
{
    return UINT64_C(1) << ((address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

/*
 * If it may be, it is looked for by the region that it is in. The newest entry with a head, of the
 * first `count`: heads are not cleared with the list, so what one says is of this transaction if
 * the entry is there and has that head, for each new entry is named by its head at once.
 */
static inline uint32_t head_of(uintptr_t address)
{
    uintptr_t region = address / RECALLED_REGION;

    return (region ^ region >> 10) % TMS_RT_RECALLED_HEADS;
}

static inline uint32_t newest(const struct tms_rt_thread *t, uint32_t head, uint32_t count)
{
    uint32_t at = __atomic_load_n(&t->recalled_heads[head], __ATOMIC_ACQUIRE);

    return at < count && t->recalled[at].head == head ? at : RECALLED_MOST;
}

/* Who looks while the list is written over must come to an end. */
static inline uint32_t older(const struct tms_rt_thread *t, uint32_t at)
{
    uint32_t before = t->recalled[at].before;

    return before < at ? before : RECALLED_MOST;
}

static inline bool in_one_region(uintptr_t address, uintptr_t end)
{
    return (address ^ (end - 1)) < RECALLED_REGION;
}

static inline void add_words(struct tms_rt_thread *t, uint64_t bits)
{
    __atomic_store_n(&t->recalled_words, t->recalled_words | bits, __ATOMIC_RELAXED);
}

/* The place of an instruction: if it was that of another, nothing is known of it. */
static struct tms_rt_place *take_place(struct tms_rt_thread *t, uintptr_t pc, uint64_t key)
{
    struct tms_rt_place *place = tms_rt_place(t, pc);
    uint32_t parent = tms_rt_frame_site(t);

    parent = parent != 0 ? parent : UINT32_MAX;
    if (place->key != key || place->parent != parent) {
        *place = (struct tms_rt_place){
            .key = key, .parent = parent, .step = place->key == key ? place->step : 0};
    }
    return place;
}

uint32_t tms_rt_find_place_site(struct tms_rt_thread *t, uintptr_t pc, uint64_t key)
{
    struct tms_rt_place *place = take_place(t, pc, key);

    place->site = tms_rt_site(t, pc);
    return place->site;
}

/* The next access of the entry is one step on, in its region; with no step, the same one. */
static inline void expect(struct tms_rt_place *place, struct tms_rt_recalled *entry,
                          uintptr_t address)
{
    place->step = entry->step;
    place->next = address + entry->step;
    place->limit = (address | (RECALLED_REGION - 1)) + 1 - entry->size;
}

static bool append(struct tms_rt_thread *t, struct tms_rt_place *place, uintptr_t address,
                   size_t size, enum tms_rt_access access, uintptr_t pc)
{
    uint32_t count = t->recalled_count, head = head_of(address), before = newest(t, head, count);
    uint32_t depth = before == RECALLED_MOST ? 1 : t->recalled[before].depth + 1u;
    uint64_t since = t->number - t->running_from;

    if (count == t->recalled_room || depth > RECALLED_DEEP || since > SINCE_MOST) {
        return false;
    }
    struct tms_rt_recalled *entry = &t->recalled[count];
    entry->start = entry->last = address;
    entry->pc = pc;
    entry->parent = t->top->site;
    entry->access = access;
    entry->since = since & SINCE_MOST;
    entry->before = before;
    entry->head = (uint16_t)head;
    entry->depth = (uint16_t)depth;
    entry->step = (uint16_t)place->step; /* as the last time, maybe */
    entry->size = (uint8_t)size;
    place->number = t->number;
    place->entry = entry;
    expect(place, entry, address);
    for (uintptr_t at = address & ~UINT64_C(7); at < address + size; at += 8) {
        add_words(t, place->step != 0 ? UINT64_MAX : word_bit(at));
    }
    __atomic_store_n(&t->recalled_count, count + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&t->recalled_heads[head], count, __ATOMIC_RELEASE);
    return true;
}

/*
 * The second access of an entry says what the step is, as long as there is only one any step is
 * right; and one that starts over walks it again.
 */
static bool takes_step(struct tms_rt_thread *t, struct tms_rt_place *place, uintptr_t address,
                       size_t size)
{
    struct tms_rt_recalled *entry = place->entry;
    uintptr_t step = address - entry->start;

    bool single = entry->start == entry->last;

    if (single && step >= size && in_one_region(entry->start, address + size)) {
        add_words(t, UINT64_MAX);
        __atomic_store_n(&entry->step, (uint16_t)step, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->last, address, __ATOMIC_RELEASE);
    } else if (step != 0) {
        place->step = single ? 0 : place->step; /* it was not the step */
        return false;
    }
    expect(place, entry, address);
    return true;
}

static bool recall_in_region(struct tms_rt_thread *t, uintptr_t address, size_t size,
                             enum tms_rt_access access, uintptr_t pc)
{
    struct tms_rt_place *place = take_place(t, pc, tms_rt_place_key(pc, size, access));

    return (place->number == t->number && (tms_rt_continues(place, place->entry, address) ||
                                           takes_step(t, place, address, size))) ||
           append(t, place, address, size, access, pc);
}

/* Nobody is to know but who finds the cell while the transaction runs. */
bool tms_rt_recall(struct tms_rt_thread *t, uintptr_t address, size_t size,
                   enum tms_rt_access access, uintptr_t pc)
{
    if (!tms_rt_in_block(t) || t->split_due) {
        return !t->split_due; /* it is the first of the next transaction */
    }
    if (in_one_region(address, address + size)) {
        return recall_in_region(t, address, size, access, pc);
    }
    size_t here = RECALLED_REGION - address % RECALLED_REGION;
    return recall_in_region(t, address, here, access, pc) &&
           recall_in_region(t, address + here, size - here, access, pc);
}

/* A signal in between would at worst write over the entry of what it interrupted. */
void tms_rt_repeat(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    struct tms_rt_thread *t = tms_rt_self;

    if (t->inside != 0 || t->ignored[access] != 0 || tms_rt_recall(t, address, size, access, pc)) {
        return;
    }
    tms_rt_visit(address, size, access, pc);
}

/* ---- recordings --------------------------------------------------------------------------- */

/* Of 8 aligned bytes at an address. */
static struct tms_rt_again again_of(const struct tms_rt_thread *t, uint64_t begin, uintptr_t word,
                                    const struct tms_rt_recalled *entry)
{
    return (struct tms_rt_again){.number = begin + entry->since,
                                 .bytes = tms_rt_recalled_bytes(entry, word),
                                 .thread = t->index,
                                 .parent = entry->parent,
                                 .pc = entry->pc,
                                 .access = (enum tms_rt_access)entry->access};
}

/* Bytes that are not beside each other were not touched by one access. */
void tms_rt_spool_again(struct tms_rt_thread *t, const struct tms_rt_again *again,
                        uintptr_t address)
{
    struct tms_spool_event event = {.number = t->number,
                                    .extra = tms_spool_moment(again->thread, again->number),
                                    .site = tms_rt_site_behind(again->parent, again->pc),
                                    .kind = TMS_SPOOL_AGAIN,
                                    .what = tms_rt_kinds[again->access].event};

    for (uint64_t bytes = again->bytes; bytes != 0;) {
        unsigned first = (unsigned)__builtin_ctzll(bytes);
        unsigned size = (unsigned)__builtin_ctzll(~(bytes >> first));
        event.target = (address & ~UINT64_C(7)) + first;
        event.size = (uint8_t)size;
        tms_rt_spool_event(t, &event);
        bytes &= ~(((UINT64_C(1) << size) - 1) << first);
    }
}

/* ---- into the cells ----------------------------------------------------------------------- */

/*
 * The words of the thread from before its transaction get the number of the event in it. Of the
 * bytes those remain for which it says something: if others have come since, they knew of the
 * event.
 */
static uint64_t restamp(struct tms_rt_thread *t, struct laid_out *cell, uint64_t *touched,
                        enum tms_rt_access access, uint64_t number)
{
    uint64_t bytes = *touched, owned = 0;

    for (uint32_t i = 0, count = cell->count; i < count; i++) {
        uint64_t word = cell->word[i], both = word & bytes;
        bool old = (word >> WORD_SLOT & WORD_SLOT_MOST) == t->engine->slot &&
                   (word >> WORD_EVENT & WORD_EVENT_MOST) < t->running_from;
        if (!old || both == 0) {
            continue;
        }
        if ((word_kind(word) == TMS_RT_READ) != (access == TMS_RT_READ)) {
            owned |= access == TMS_RT_READ ? both : 0;
            continue;
        }
        bytes &= ~both;
        cell->word[i] = make_word(t, number, word_kind(word), both);
        if ((word & WORD_BYTES & ~both) != 0) {
            tms_rt_add_word(t, cell, word & ~both);
        }
    }
    owned &= bytes; /* written before, and read now */
    *touched = (*touched & ~bytes) | owned;
    return owned;
}

static void settle_word(struct tms_rt_thread *t, uintptr_t address,
                        const struct tms_rt_recalled *entry)
{
    struct tms_rt_cell *at = tms_rt_cell(address);
    struct tms_rt_again again = again_of(t, t->running_from, address, entry);
    struct laid_out cell;

    tms_rt_lay_out(t, at, lock_cell(at), &cell);
    uint64_t owned = restamp(t, &cell, &again.bytes, again.access, again.number);
    if (owned != 0) {
        tms_rt_add_word(t, &cell, make_word(t, again.number, TMS_RT_READ, owned));
    }
    cell.version = cell.chain != 0 ? cell.version : again.number;
    tms_rt_fold(t, &cell);
    if (tms_rt_records) {
        tms_rt_spool_again(t, &again, address);
    }
}

static void settle(void *argument)
{
    struct tms_rt_thread *t = argument;

    t->settle_due = false;
    for (uint32_t i = 0; i < t->recalled_count; i++) {
        const struct tms_rt_recalled *entry = &t->recalled[i];
        for (uintptr_t at = entry->start & ~UINT64_C(7); at < entry->last + entry->size; at += 8) {
            if (tms_rt_recalled_bytes(entry, at) != 0) {
                settle_word(t, at, entry);
            }
        }
    }
}

void tms_rt_settle_recalled(struct tms_rt_thread *t)
{
    tms_rt_call_deep(settle, t);
}

/* ---- the others --------------------------------------------------------------------------- */

/* The first in the list that conflicts with an access to these of 8 aligned bytes. */
static const struct tms_rt_recalled *find(const struct tms_rt_thread *t, uintptr_t word,
                                          uint64_t bytes, enum tms_rt_access access)
{
    uint32_t count = __atomic_load_n(&t->recalled_count, __ATOMIC_ACQUIRE);
    const struct tms_rt_recalled *first = NULL;

    if ((__atomic_load_n(&t->recalled_words, __ATOMIC_RELAXED) & word_bit(word)) == 0) {
        return NULL;
    }
    for (uint32_t at = newest(t, head_of(word), count); at != RECALLED_MOST; at = older(t, at)) {
        const struct tms_rt_recalled *entry = &t->recalled[at];
        if ((entry->access != TMS_RT_READ || access != TMS_RT_READ) &&
            (tms_rt_recalled_bytes(entry, word) & bytes) != 0) {
            first = entry;
        }
    }
    return first;
}

bool tms_rt_did_again(const struct tms_rt_thread *thread, uint64_t word, uintptr_t address,
                      uint64_t bytes, enum tms_rt_access access, struct tms_rt_again *again)
{
    uint64_t begin;
    const struct tms_rt_thread *t = tms_rt_newer(word, &begin);
    uint64_t left = bytes & word; /* others have come behind the rest of what it did */
    const struct tms_rt_recalled *entry =
        t == NULL || t == thread ? NULL : find(t, address & ~UINT64_C(7), left, access);

    if (entry == NULL) {
        return false;
    }
    *again = again_of(t, begin, address & ~UINT64_C(7), entry);
    again->bytes &= left;
    /* If it has ended meanwhile, the entry may be half of one that came later. */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&t->running, memory_order_relaxed) == begin;
}

bool tms_rt_is_past_recall(uint64_t word, uintptr_t address)
{
    const struct tms_rt_thread *t = tms_rt_of_slot(word >> WORD_SLOT & WORD_SLOT_MOST);
    uint64_t begin;

    if (t == NULL) {
        return true;
    }
    return __atomic_load_n(&t->quiet, __ATOMIC_ACQUIRE) > word &&
           (tms_rt_newer(word, &begin) == NULL ||
            find(t, address & ~UINT64_C(7), word & WORD_BYTES, TMS_RT_WRITE) == NULL);
}

uint32_t tms_rt_recalled_site(const struct tms_rt_thread *t, uint64_t number, uintptr_t address)
{
    uint64_t begin = atomic_load_explicit(&t->running, memory_order_acquire);
    uint32_t count = begin != 0 ? __atomic_load_n(&t->recalled_count, __ATOMIC_ACQUIRE) : 0;
    uint32_t site = 0;

    for (uint32_t at = newest(t, head_of(address), count); at != RECALLED_MOST; at = older(t, at)) {
        const struct tms_rt_recalled *entry = &t->recalled[at];
        if (begin + entry->since == number &&
            tms_rt_recalled_bytes(entry, address & ~UINT64_C(7)) != 0) {
            site = tms_rt_site_behind(entry->parent, entry->pc);
        }
    }
    return site;
}
