/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who touched which byte last; see shadow.h for what a cell holds.
 *
 * An access that is not a repetition locks its cell, lays its words out, asks the engine about
 * those it conflicts with and whose edge is not implied, takes their bytes over, and folds the
 * rest again. The lock makes the order in which cells see accesses the order in which they get
 * their numbers, so that a recording and the engine agree even where the program has a race.
 */
#include "runtime/shadow/shadow.h"

#include <sys/mman.h>

#include "runtime/core/memory.h"
#include "runtime/shadow/fresh.h"

bool tms_rt_shadow_start(void)
{
    void *wanted = (void *)SHADOW_BASE;
    void *base = mmap(wanted, SHADOW_SIZE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (base != wanted) {
        return false;
    }
    madvise(base, SHADOW_SIZE, MADV_DONTDUMP);
    return tms_rt_words_start() && tms_rt_cells_start();
}

void tms_rt_shadow_restart(void)
{
    madvise((void *)SHADOW_BASE, SHADOW_SIZE, MADV_DONTNEED);
    tms_rt_cells_restart();
    tms_rt_stripes_restart();
}

/* ---- accesses --------------------------------------------------------------------------- */

/*
 * What the cell has of the same kind of access, behind one to these bytes at this event: nothing
 * of the old word, or what this thread did in the same stretch, which is as good as the new one.
 * 0 if both words would be needed.
 */
static inline uint64_t renew_own(const struct tms_rt_thread *t, uint64_t old, uint64_t bytes,
                                 enum tms_rt_access access, uint64_t event)
{
    uint64_t left = old & WORD_BYTES & ~bytes;
    bool together = left == 0 || (own_fresh(t, old) && word_kind(old) == access);

    return together ? make_word(t, event, access, bytes | left) : 0;
}

/*
 * The short way, taken by nearly all: no edge comes from the one write and the one read that
 * there may be, and behind the access there is still at most one of each. The cell, locked, has
 * these two words and no chain; they become what they will be at this event. False if it is
 * another case, and then nothing has changed.
 */
static inline bool read_alone(const struct tms_rt_thread *t, uint64_t write, uint64_t *read,
                              const struct fresh_access *a, uint64_t event)
{
    uint64_t mine = renew_own(t, *read, a->bytes, TMS_RT_READ, event);

    /* Two readers are kept apart even where they read other bytes. */
    if (mine == 0 || ((write & a->bytes) != 0 && !is_old_news(t, write, a)) ||
        !makes_way(t, *read, a)) {
        return false;
    }
    *read = mine;
    return true;
}

static inline bool write_alone(const struct tms_rt_thread *t, uint64_t *write, uint64_t *read,
                               const struct fresh_access *a, uint64_t event)
{
    uint64_t mine = renew_own(t, *write, a->bytes, a->access, event);

    if (mine == 0 || ((*write & a->bytes) != 0 && !is_old_news(t, *write, a)) ||
        ((*read & a->bytes) != 0 && !is_old_news(t, *read, a))) {
        return false;
    }
    *write = mine;
    *read = (*read & WORD_BYTES & ~a->bytes) == 0 ? 0 : *read & ~a->bytes;
    return true;
}

static __attribute__((noinline)) void spool_access(struct tms_rt_thread *t, struct fresh_access a,
                                                   uint64_t event)
{
    struct tms_spool_event record = {.number = event,
                                     .target = a.address,
                                     .site = a.site,
                                     .kind = tms_rt_kinds[a.access].event,
                                     .size = (uint8_t)__builtin_popcountll(a.bytes),
                                     .what = t->mark};

    tms_rt_spool_access(t, &record);
}

/*
 * What is left of a word behind the access, in *word; what is as good as the access becomes part
 * of it. False if an edge comes from it.
 */
static inline bool is_taken_over(const struct tms_rt_thread *t, uint64_t *word,
                                 const struct fresh_access *a, uint64_t *bytes)
{
    bool both_read = a->access == TMS_RT_READ && word_kind(*word) == TMS_RT_READ;

    if ((*word & a->bytes) != 0) {
        if (!both_read && !is_old_news(t, *word, a)) {
            return false;
        }
        if (a->access != TMS_RT_READ || (both_read && makes_way(t, *word, a))) {
            *word &= ~a->bytes;
        }
    }
    if (own_fresh(t, *word) && word_kind(*word) == a->access) {
        *bytes |= *word & WORD_BYTES;
        *word = 0;
    }
    return true;
}

/*
 * The middle way: no edge comes in, and one node has room for all words. The same as the long one,
 * in one go. 0 if it is another case, and then nothing has changed.
 */
static __attribute__((noinline)) uint64_t take_over_few(struct tms_rt_thread *t,
                                                        struct tms_rt_cell *at, uint64_t write,
                                                        const struct fresh_access *a)
{
    const struct node *node = (write & WORD_CHAIN) != 0 ? &tms_rt_nodes[(uint32_t)write] : NULL;
    const uint64_t two[] = {write, atomic_load_explicit(&at->read, memory_order_relaxed)};
    const uint64_t *words = node != NULL ? node->word : two;
    uint64_t kept[NODE_WORDS], bytes = a->bytes;
    uint32_t room = node != NULL ? NODE_WORDS : 2, count = 0;

    for (uint32_t i = 0; i < room && (node == NULL || words[i] != 0); i++) {
        uint64_t word = words[i];
        if (!is_taken_over(t, &word, a, &bytes)) {
            return 0;
        }
        kept[count] = word;
        count += (word & WORD_BYTES) != 0;
    }
    if (count == NODE_WORDS || (node != NULL && node->next != 0)) {
        return 0;
    }
    uint64_t event = pass_by(t, a);
    kept[count++] = make_word(t, event, a->access, bytes);
    tms_rt_fold_few(t, at, write, kept, count, event);
    return event;
}

static __attribute__((noinline)) bool first_access(struct tms_rt_thread *t, struct fresh_access a)
{
    struct tms_op op;

    fill_in(t, &a, &op);
    op.event = 0;
    return tms_rt_first(t, &op);
}

/* The cell is locked, `write` its first word, and the short way was not possible. */
static __attribute__((noinline)) uint64_t access_shared(struct tms_rt_thread *t,
                                                        struct tms_rt_cell *cell, uint64_t write,
                                                        const struct fresh_access *a)
{
    uint64_t event = take_over_few(t, cell, write, a);

    return event != 0 ? event : tms_rt_take_over_among_others(t, cell, write, a);
}

/*
 * Who uses new memory comes behind the one who made it new. Mostly that is so by what ordered the
 * two; if nothing did that is seen, the numbers of a recording still say it.
 */
static inline void come_behind_renewal(struct tms_rt_thread *t, uint32_t word)
{
    uint64_t renewed = tms_rt_word_renewed(word);

    if (t->number < renewed) {
        t->number = renewed;
        t->calm++;
    }
}

/* Within 8 aligned bytes, and not a repetition. */
static inline __attribute__((always_inline)) void access_word(struct tms_rt_thread *t,
                                                              uintptr_t address, size_t size,
                                                              enum tms_rt_access access,
                                                              uint32_t site)
{
    struct fresh_access a = {.address = address,
                             .bytes = ((UINT64_C(1) << size) - 1) << (address & 7),
                             .access = access,
                             .site = site,
                             .id = tms_rt_word_id(address)};
    struct tms_rt_cell *cell = tms_rt_cell(address);

    if (a.id == 0 || (t->engine == NULL && !first_access(t, a))) {
        return;
    }
    if (t->split_due) {
        tms_rt_split_due(t, site);
    }
    if (tms_rt_records) {
        come_behind_renewal(t, a.id);
    }
    uint64_t first = lock_cell(cell), write = first, event = t->number + 1;
    uint64_t read = atomic_load_explicit(&cell->read, memory_order_relaxed);
    if ((first & WORD_CHAIN) == 0 &&
        (access == TMS_RT_READ ? read_alone(t, write, &read, &a, event)
                               : write_alone(t, &write, &read, &a, event))) {
        pass_by(t, &a);
        atomic_store_explicit(&cell->read, read, memory_order_relaxed);
        atomic_store_explicit(&cell->write, write, memory_order_release);
    } else {
        const struct fresh_access copy = a; /* so the short way has it in registers */
        event = access_shared(t, cell, first, &copy);
    }
    if (tms_rt_records) {
        spool_access(t, a, event);
    }
    if (t->settle_due) {
        tms_rt_settle_recalled(t);
    }
}

/* ---- the way here ------------------------------------------------------------------------ */

/* How many bytes of an access lie in the first 8 aligned ones that it touches. */
static inline size_t word_part(uintptr_t address, size_t size)
{
    size_t here = 8 - (address & 7);

    return here < size ? here : size;
}

/* Within 8 aligned bytes. */
static void look_at_word(struct tms_rt_thread *t, uintptr_t address, size_t size,
                         enum tms_rt_access access, uintptr_t pc)
{
    enum tms_rt_news news = tms_rt_ask(t, address, size, access);

    if (news == TMS_RT_NOTHING ||
        (news == TMS_RT_AGAIN && t->mark == 0 && tms_rt_recall(t, address, size, access, pc))) {
        return;
    }
    access_word(t, address, size, access, tms_rt_site(t, pc));
}

void tms_rt_access(struct tms_rt_thread *t, uintptr_t address, size_t size,
                   enum tms_rt_access access, uintptr_t pc)
{
    if (!tms_rt_checks || t->ignored[access] != 0) {
        return;
    }
    while (size > 0) {
        size_t here = word_part(address, size);
        look_at_word(t, address, here, access, pc);
        address += here;
        size -= here;
    }
}

static inline void act_upon(enum tms_rt_news news, uintptr_t address, size_t size,
                            enum tms_rt_access access, uintptr_t pc)
{
    if (news == TMS_RT_NEWS) {
        tms_rt_visit(address, size, access, pc);
    } else if (news == TMS_RT_AGAIN && !tms_rt_goes_on(tms_rt_self, address, size, access, pc)) {
        tms_rt_repeat(address, size, access, pc);
    }
}

void tms_rt_visit_chain(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    act_upon(tms_rt_ask_chain(tms_rt_self, address, size), address, size, access, pc);
}

/* `access` is a constant. */
static inline __attribute__((always_inline)) enum tms_rt_news
ask_cells(const struct tms_rt_thread *t, uintptr_t address, size_t size, enum tms_rt_access access)
{
    enum tms_rt_news least = TMS_RT_NOTHING;

    for (uintptr_t end = address + size; address < end && least != TMS_RT_NEWS;) {
        size_t here = word_part(address, end - address);
        enum tms_rt_news news = tms_rt_ask_cell(t, address, here, access);
        if (news == TMS_RT_CHAINED || news == TMS_RT_HINTED) {
            news = tms_rt_ask_chain(t, address, here);
        }
        least = news < least ? news : least;
        address += here;
    }
    return least;
}

void tms_rt_visit_wide(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    enum tms_rt_news news = access == TMS_RT_READ
                                ? ask_cells(tms_rt_self, address, size, TMS_RT_READ)
                                : ask_cells(tms_rt_self, address, size, TMS_RT_WRITE);

    act_upon(news, address, size, access, pc);
}

void tms_rt_visit(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    struct tms_rt_thread *t = tms_rt_go_in();

    if (t == NULL) {
        return;
    }
    if (size > 8 - (address & 7)) {
        tms_rt_access(t, address, size, access, pc);
    } else if (tms_rt_checks && t->ignored[access] == 0) {
        access_word(t, address, size, access, tms_rt_place_site(t, pc, size, access));
    }
    tms_rt_go_out(t);
}
