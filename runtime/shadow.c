/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who touched which byte last; see shadow.h for what a cell holds.
 *
 * An access that is not a repetition locks its cell, lays its words out, asks the engine about
 * those it conflicts with and whose edge is not implied, takes their bytes over, and folds the
 * rest again. The lock makes the order in which cells see accesses the order in which they get
 * their numbers, so that a recording and the engine agree even where the program has a race.
 */
#include "shadow.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "memory.h"

#define PAGE_WORDS 512u
#define PAGE_SHIFT 12
#define PAGES      (1u << 23) /* of the program that have ids: 32 GiB of it */
#define NODES      (1u << 26)
#define NODE_WORDS 7
#define DROP_BYTES 65536u /* from here on shadow is given back to the system, not cleared */
#define SPINS      1000

struct node {
    uint64_t word[NODE_WORDS]; /* 0: free, and so are those behind */
    uint32_t next;             /* 0: the last */
    uint32_t unused;
};
_Static_assert(sizeof(struct node) == 64, "a node is a cache line");

static struct {
    _Atomic uint32_t *page_ids;  /* by (address & SHADOW_MASK) >> PAGE_SHIFT */
    uintptr_t *page_address;     /* by page id */
    _Atomic uint64_t *page_time; /* by page id: when something in it was renewed */
    uint8_t *page_objects;       /* by page id: a lock or the like lies there */
    _Atomic uint32_t page_count;
    struct node *nodes;
    struct tms_rt_mutex node_lock;
    uint32_t node_count, node_free;
} shadow;

#define STRIPES 1024
static _Atomic uint32_t stripes[STRIPES];

bool tms_rt_shadow_start(void)
{
    void *wanted = (void *)SHADOW_BASE;
    void *base = mmap(wanted, SHADOW_SIZE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (base != wanted) {
        return false;
    }
    madvise(base, SHADOW_SIZE, MADV_DONTDUMP);
    shadow.page_ids = tms_rt_map((SHADOW_MASK >> PAGE_SHIFT) * sizeof(*shadow.page_ids) + 8);
    shadow.page_address = tms_rt_map(PAGES * sizeof(*shadow.page_address));
    shadow.page_time = tms_rt_map(PAGES * sizeof(*shadow.page_time));
    shadow.page_objects = tms_rt_map(PAGES);
    shadow.nodes = tms_rt_map(NODES * sizeof(struct node));
    shadow.page_count = 1;
    shadow.node_count = 1;
    return shadow.page_ids != NULL && shadow.page_address != NULL && shadow.page_time != NULL &&
           shadow.page_objects != NULL && shadow.nodes != NULL;
}

void tms_rt_shadow_restart(void)
{
    madvise((void *)SHADOW_BASE, SHADOW_SIZE, MADV_DONTNEED);
    shadow.node_count = 1;
    shadow.node_free = 0;
    atomic_store(&shadow.node_lock.state, 0);
    for (int i = 0; i < STRIPES; i++) {
        atomic_store(&stripes[i], 0);
    }
}

/* ---- ids -------------------------------------------------------------------------------- */

static uint32_t new_page(uintptr_t address, _Atomic uint32_t *place)
{
    uint32_t id = atomic_fetch_add(&shadow.page_count, 1);
    uint32_t none = 0;

    if (id >= PAGES) {
        tms_rt_lose(TMS_SPOOL_LOST_MEMORY);
        return 0;
    }
    shadow.page_address[id] = address >> PAGE_SHIFT << PAGE_SHIFT;
    return atomic_compare_exchange_strong(place, &none, id) ? id : none;
}

static uint32_t page_of(uintptr_t address)
{
    return atomic_load_explicit(&shadow.page_ids[(address & SHADOW_MASK) >> PAGE_SHIFT],
                                memory_order_relaxed);
}

static inline uint32_t word_id(uintptr_t address)
{
    _Atomic uint32_t *place = &shadow.page_ids[(address & SHADOW_MASK) >> PAGE_SHIFT];
    uint32_t page = atomic_load_explicit(place, memory_order_relaxed);

    if (page == 0) {
        page = new_page(address, place);
    }
    return page == 0 ? 0 : page * PAGE_WORDS + (uint32_t)(address >> 3) % PAGE_WORDS;
}

uint32_t tms_rt_word_id(uintptr_t address)
{
    return word_id(address);
}

uintptr_t tms_rt_word_address(uint32_t id)
{
    return shadow.page_address[id / PAGE_WORDS] + id % PAGE_WORDS * 8;
}

uint64_t tms_rt_word_renewed(uint32_t id)
{
    return atomic_load_explicit(&shadow.page_time[id / PAGE_WORDS], memory_order_relaxed);
}

void tms_rt_page_has_object(uintptr_t address)
{
    shadow.page_objects[tms_rt_word_id(address) / PAGE_WORDS] = 1;
}

static bool may_hold_objects(uintptr_t address, uintptr_t end)
{
    for (uintptr_t page = address >> PAGE_SHIFT; page <= (end - 1) >> PAGE_SHIFT; page++) {
        if (shadow.page_objects[page_of(page << PAGE_SHIFT)] != 0) {
            return true;
        }
    }
    return false;
}

/* ---- chains ----------------------------------------------------------------------------- */

/* Chains of one node come and go; a thread keeps the last one for its next. */
static uint32_t take_node(struct tms_rt_thread *t)
{
    if (t->spare_node != 0) {
        uint32_t spare = t->spare_node;
        t->spare_node = 0;
        return spare;
    }
    tms_rt_mutex_lock(&shadow.node_lock);
    uint32_t number = shadow.node_free;
    if (number != 0) {
        shadow.node_free = shadow.nodes[number].next;
    } else if (shadow.node_count < NODES) {
        number = shadow.node_count++;
    }
    tms_rt_mutex_unlock(&shadow.node_lock);
    if (number == 0) {
        tms_rt_lose(TMS_SPOOL_LOST_MEMORY);
    } else {
        shadow.nodes[number].next = 0;
    }
    return number;
}

static void give_chain(struct tms_rt_thread *t, uint32_t first)
{
    if (first == 0) {
        return;
    }
    if (t->spare_node == 0 && shadow.nodes[first].next == 0) {
        t->spare_node = first;
        return;
    }
    uint32_t last = first;
    while (shadow.nodes[last].next != 0) {
        last = shadow.nodes[last].next;
    }
    tms_rt_mutex_lock(&shadow.node_lock);
    shadow.nodes[last].next = shadow.node_free;
    shadow.node_free = first;
    tms_rt_mutex_unlock(&shadow.node_lock);
}

static inline uint64_t lock_cell(struct tms_rt_cell *cell)
{
    for (unsigned tries = 1;; tries++) {
        uint64_t word = atomic_load_explicit(&cell->write, memory_order_relaxed);
        if ((word & WORD_LOCK) == 0 &&
            atomic_compare_exchange_weak_explicit(&cell->write, &word, word | WORD_LOCK,
                                                  memory_order_acquire, memory_order_relaxed)) {
            return word;
        }
        if (tries % SPINS == 0) {
            tms_rt_yield();
        }
        __builtin_ia32_pause();
    }
}

/* ---- the words of a cell ---------------------------------------------------------------- */

/* A cell that is locked, its words laid out. */
struct laid_out {
    struct tms_rt_cell *cell;
    uint64_t *word; /* the thread's scratch */
    uint32_t count;
    uint32_t chain; /* its first node, 0: none */
    uint64_t version;
};

#define VERSION_SHIFT 32
#define VERSION_MASK  ((UINT64_C(1) << 30) - 1)

static bool add_word(struct tms_rt_thread *t, struct laid_out *cell, uint64_t word)
{
    if (cell->count == t->entry_capacity) {
        uint32_t capacity = t->entry_capacity == 0 ? 64 : 2 * t->entry_capacity;
        uint64_t *grown = tms_rt_map(capacity * sizeof(uint64_t)); /* old ones stay mapped: rare */
        if (grown == NULL) {
            tms_rt_lose(TMS_SPOOL_LOST_MEMORY);
            return false;
        }
        if (cell->count > 0) {
            memcpy(grown, t->entries, cell->count * sizeof(uint64_t));
        }
        t->entries = grown;
        t->entry_capacity = capacity;
    }
    cell->word = t->entries;
    cell->word[cell->count++] = word;
    return true;
}

/* The cell is locked, its first word was `write`. */
static void lay_out(struct tms_rt_thread *t, struct tms_rt_cell *at, uint64_t write,
                    struct laid_out *cell)
{
    uint64_t read = atomic_load_explicit(&at->read, memory_order_relaxed);

    *cell = (struct laid_out){.cell = at, .word = t->entries};
    if (write & WORD_CHAIN) {
        cell->chain = (uint32_t)write;
        cell->version = write >> VERSION_SHIFT & VERSION_MASK;
        for (uint32_t number = cell->chain; number != 0; number = shadow.nodes[number].next) {
            const struct node *node = &shadow.nodes[number];
            for (int i = 0; i < NODE_WORDS && node->word[i] != 0; i++) {
                add_word(t, cell, node->word[i]);
            }
        }
        return;
    }
    if (write != 0) {
        add_word(t, cell, write);
    }
    if (read != 0) {
        add_word(t, cell, read);
    }
}

static inline unsigned word_kind(uint64_t word)
{
    return word >> WORD_KIND & 3;
}

/* Writes the words as a chain, over the old one as far as it goes; its first node or 0. */
static uint32_t write_chain(struct tms_rt_thread *t, struct laid_out *cell)
{
    uint32_t number = cell->chain != 0 ? cell->chain : take_node(t);
    uint32_t first = number;

    for (uint32_t i = 0; number != 0;) {
        struct node *node = &shadow.nodes[number];
        int used = 0;
        while (used < NODE_WORDS && i < cell->count) {
            node->word[used++] = cell->word[i++];
        }
        if (used < NODE_WORDS) {
            node->word[used] = 0;
        }
        if (i == cell->count) {
            give_chain(t, node->next);
            node->next = 0;
            break;
        }
        node->next = node->next != 0 ? node->next : take_node(t);
        number = node->next;
    }
    return first;
}

/* Folds the words and unlocks the cell. */
static void fold(struct tms_rt_thread *t, struct laid_out *cell)
{
    uint64_t write = 0, read = 0;
    uint32_t writes = 0, reads = 0;

    for (uint32_t i = 0; i < cell->count; i++) {
        bool is_read = word_kind(cell->word[i]) == TMS_RT_READ;
        reads += is_read;
        writes += !is_read;
        *(is_read ? &read : &write) = cell->word[i];
    }
    if (writes > 1 || reads > 1) {
        uint32_t chain = write_chain(t, cell);
        uint64_t version = (cell->version + 1) & VERSION_MASK;
        write = chain == 0 ? 0 : WORD_CHAIN | version << VERSION_SHIFT | chain;
        read = 0;
    } else {
        give_chain(t, cell->chain);
    }
    atomic_store_explicit(&cell->cell->read, read, memory_order_relaxed);
    atomic_store_explicit(&cell->cell->write, write, memory_order_release);
}

/*
 * Looks without the lock: if the first word is the same before and after, the chain was the
 * cell's all the time, and what was found in it holds.
 */
bool tms_rt_read_in_chain(const struct tms_rt_thread *t, struct tms_rt_cell *cell, uint64_t write,
                          uint64_t bytes)
{
    if (write & WORD_LOCK) {
        return false;
    }
    for (uint32_t number = (uint32_t)write; number != 0 && number < NODES;) {
        const struct node *node = &shadow.nodes[number];
        for (int i = 0; i < NODE_WORDS; i++) {
            uint64_t word = __atomic_load_n(&node->word[i], __ATOMIC_RELAXED);
            if ((word >> WORD_EVENT) - t->floor < t->span && (~word & bytes) == 0) {
                atomic_thread_fence(memory_order_acquire);
                return atomic_load_explicit(&cell->write, memory_order_relaxed) == write;
            }
            if (word == 0) {
                return false;
            }
        }
        number = __atomic_load_n(&node->next, __ATOMIC_RELAXED);
    }
    return false;
}

/* ---- accesses --------------------------------------------------------------------------- */

static const struct {
    uint8_t op, event;
} kinds[] = {
    [TMS_RT_READ] = {TMS_OP_READ, TMS_EVENT_READ},
    [TMS_RT_WRITE] = {TMS_OP_WRITE, TMS_EVENT_WRITE},
    [TMS_RT_UPDATE] = {TMS_OP_UPDATE, TMS_EVENT_UPDATE},
    [3] = {TMS_OP_READ, TMS_EVENT_READ}, /* never */
};

static inline uint64_t word_moment(uint64_t word)
{
    return make_moment(word >> WORD_SLOT & WORD_SLOT_MOST, word >> WORD_EVENT & WORD_EVENT_MOST,
                       kinds[word_kind(word)].event);
}

/* An access that is something new: to some of the 8 bytes around an address. */
struct fresh_access {
    uintptr_t address;
    uint64_t bytes;
    enum tms_rt_access access;
    uint32_t site;
};

/*
 * All but its number. Field by field: an initializer is put together on the stack and then copied
 * in larger pieces, for which the processor waits until the small ones have arrived.
 */
static inline void fill_in(const struct tms_rt_thread *t, const struct fresh_access *a,
                           struct tms_op *op)
{
    op->thread = t->index;
    op->target = word_id(a->address);
    op->location = a->site;
    op->event_kind = kinds[a->access].event;
    op->kind = kinds[a->access].op;
    op->flags = tms_rt_in_block(t) ? TMS_OP_IN_BLOCK : 0;
    op->spared = (uint8_t)~a->bytes;
}

/* The access meets no other thread: it gets its number, and is noted. */
static inline uint64_t pass_by(struct tms_rt_thread *t, const struct fresh_access *a)
{
    struct tms_op *note = tms_rt_next_note(t);

    fill_in(t, a, note);
    note->event = tms_rt_next_number(t);
    tms_rt_noted(t);
    return note->event;
}

static bool makes_edge(const struct tms_rt_thread *t, uint64_t word, uint64_t bytes,
                       enum tms_rt_access access)
{
    return (word & bytes) != 0 && (access != TMS_RT_READ || word_kind(word) != TMS_RT_READ) &&
           !implied(t->engine, word_moment(word));
}

/* Where the event behind a word happened: looked up in what its thread did lately. */
static uint32_t place_of(const struct thread *u, uint64_t event, const struct tms_op *op)
{
    uint64_t first = tms_log_first(&u->log);
    uint64_t i = tms_log_find(&u->log, event) + 1;

    for (int tries = 0; i > first && tries < 64; tries++) {
        const struct tms_op *entry = log_at(&u->log, --i);
        if (entry->event <= event && entry->target == op->target &&
            (entry->spared | op->spared) != TMS_OP_SPARES_ALL &&
            tms_event_class(entry->event_kind) == TMS_CLASS_VARIABLE) {
            return entry->location;
        }
    }
    return 0;
}

static uint8_t edge_kind(uint64_t word, enum tms_rt_access access)
{
    if (word_kind(word) == TMS_RT_READ) {
        return TMS_EDGE_READ_WRITE;
    }
    return access == TMS_RT_READ ? TMS_EDGE_WRITE_READ : TMS_EDGE_WRITE_WRITE;
}

/* The edges that are not implied go to the engine. */
static void meet_others(struct tms_rt_thread *t, const struct laid_out *cell, uint64_t bytes,
                        enum tms_rt_access access, struct tms_op *op)
{
    const struct frontier *f = &tms_rt_engine;
    uint64_t latest = 0;

    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t event = cell->word[i] >> WORD_EVENT & WORD_EVENT_MOST;
        latest = (cell->word[i] & bytes) != 0 && event > latest ? event : latest;
    }
    tms_rt_mutex_lock(&tms_rt_engine_lock);
    op->event = tms_rt_meet(t, latest);
    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t word = cell->word[i];
        if (makes_edge(t, word, bytes, access)) {
            uint64_t moment = word_moment(word);
            uint32_t place = place_of(f->threads[moment_slot(moment)], moment_event(moment), op);
            tms_rt_arrive(t, op, (struct source){moment, place},
                          (struct cause){edge_kind(word, access), TMS_CLASS_VARIABLE, op->target});
        }
    }
    tms_rt_restretch(t);
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}

static bool own_fresh(const struct tms_rt_thread *t, uint64_t word)
{
    return (word >> WORD_EVENT) - t->floor < t->span;
}

static inline uint64_t make_word(const struct tms_rt_thread *t, uint64_t event,
                                 enum tms_rt_access access, uint64_t bytes)
{
    return (uint64_t)t->engine->slot << WORD_SLOT | event << WORD_EVENT |
           (uint64_t)access << WORD_KIND | bytes;
}

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

/* Has nothing to say to an access to these bytes. */
static inline bool gives_way(const struct tms_rt_thread *t, uint64_t word, uint64_t bytes)
{
    return (word & bytes) == 0 || implied(t->engine, word_moment(word));
}

/*
 * The short way, taken by nearly all: no edge comes from the one write and the one read that
 * there may be, and behind the access there is still at most one of each. The cell, locked, has
 * these two words and no chain; they become what they will be at this event. False if it is
 * another case, and then nothing has changed.
 */
static inline bool take_over_alone(const struct tms_rt_thread *t, uint64_t *write, uint64_t *read,
                                   uint64_t bytes, enum tms_rt_access access, uint64_t event)
{
    uint64_t *same = access == TMS_RT_READ ? read : write;
    uint64_t *other = access == TMS_RT_READ ? write : read;
    uint64_t mine = renew_own(t, *same, bytes, access, event);

    /* Two readers are kept apart even where they read other bytes. */
    if (mine == 0 || !gives_way(t, *other, bytes) ||
        !gives_way(t, *same, access == TMS_RT_READ ? WORD_BYTES : bytes)) {
        return false;
    }
    *same = mine;
    if (access != TMS_RT_READ) {
        *other = (*other & WORD_BYTES & ~bytes) == 0 ? 0 : *other & ~bytes;
    }
    return true;
}

/* The other short way: among several readers, this thread has read the same bytes before. */
static uint64_t *read_before(const struct tms_rt_thread *t, struct node *node, uint64_t bytes)
{
    uint64_t *mine = NULL;

    for (int i = 0; i < NODE_WORDS && node->word[i] != 0; i++) {
        uint64_t word = node->word[i];
        bool is_read = word_kind(word) == TMS_RT_READ;
        if (!is_read && (word & bytes) != 0 && !implied(t->engine, word_moment(word))) {
            return NULL;
        }
        if (is_read && (word & WORD_BYTES) == bytes &&
            (word >> WORD_SLOT & WORD_SLOT_MOST) == t->engine->slot) {
            mine = &node->word[i];
        }
    }
    return node->next != 0 ? NULL : mine;
}

/*
 * The access takes its bytes over: a write from everybody, a read from readers that are implied.
 * What is left of another word of this stretch of this thread is as good as the new one.
 */
static void take_over(struct tms_rt_thread *t, struct laid_out *cell, uint64_t bytes,
                      enum tms_rt_access access, uint64_t event)
{
    uint64_t mine = make_word(t, event, access, bytes);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t word = cell->word[i];
        bool is_read = word_kind(word) == TMS_RT_READ;
        if (access != TMS_RT_READ || (is_read && implied(t->engine, word_moment(word)))) {
            word &= ~bytes;
        }
        if (own_fresh(t, word) && word_kind(word) == access) {
            mine |= word & WORD_BYTES;
        } else if ((word & WORD_BYTES) != 0) {
            cell->word[kept++] = word;
        }
    }
    cell->count = kept;
    cell->version = cell->chain != 0 ? cell->version : event;
    add_word(t, cell, mine);
}

static void spool_access(struct tms_rt_thread *t, const struct fresh_access *a, uint64_t event)
{
    struct tms_spool_event record = {.number = event,
                                     .target = a->address,
                                     .site = a->site,
                                     .kind = kinds[a->access].event,
                                     .size = (uint8_t)__builtin_popcountll(a->bytes)};

    tms_rt_spool_event(t, &record);
}

/* The long way. */
static uint64_t take_over_among_others(struct tms_rt_thread *t, struct tms_rt_cell *at,
                                       uint64_t write, const struct fresh_access *a)
{
    struct laid_out cell;
    uint64_t event;
    bool edges = false;

    lay_out(t, at, write, &cell);
    for (uint32_t i = 0; i < cell.count && !edges; i++) {
        edges = makes_edge(t, cell.word[i], a->bytes, a->access);
    }
    if (edges) {
        struct tms_op op;
        fill_in(t, a, &op);
        meet_others(t, &cell, a->bytes, a->access, &op);
        tms_rt_note(t, &op);
        event = op.event;
    } else {
        event = pass_by(t, a);
    }
    take_over(t, &cell, a->bytes, a->access, event);
    fold(t, &cell);
    return event;
}

/* The cell is locked, `write` its first word, and the short way was not possible. */
static __attribute__((noinline)) uint64_t access_shared(struct tms_rt_thread *t,
                                                        struct tms_rt_cell *cell, uint64_t write,
                                                        const struct fresh_access *a)
{
    uint64_t *before = a->access == TMS_RT_READ && (write & WORD_CHAIN) != 0
                           ? read_before(t, &shadow.nodes[(uint32_t)write], a->bytes)
                           : NULL;

    if (before == NULL) {
        return take_over_among_others(t, cell, write, a);
    }
    uint64_t event = pass_by(t, a);
    __atomic_store_n(before, make_word(t, event, TMS_RT_READ, a->bytes), __ATOMIC_RELAXED);
    atomic_store_explicit(&cell->write, write, memory_order_release);
    return event;
}

static __attribute__((noinline)) bool first_access(struct tms_rt_thread *t,
                                                   const struct fresh_access *a)
{
    struct tms_op op;

    fill_in(t, a, &op);
    op.event = 0;
    return tms_rt_first(t, &op);
}

/* Within 8 aligned bytes, and not a repetition. */
static inline void access_word(struct tms_rt_thread *t, uintptr_t address, size_t size,
                               enum tms_rt_access access, uint32_t site)
{
    struct fresh_access a = {.address = address,
                             .bytes = ((UINT64_C(1) << size) - 1) << (address & 7),
                             .access = access,
                             .site = site};
    struct tms_rt_cell *cell = tms_rt_cell(address);

    if (word_id(address) == 0 || (t->engine == NULL && !first_access(t, &a))) {
        return;
    }
    if (t->split_due) {
        tms_rt_split_due(t, site);
    }
    uint64_t first = lock_cell(cell), write = first, event = t->number + 1;
    uint64_t read = atomic_load_explicit(&cell->read, memory_order_relaxed);
    if ((first & WORD_CHAIN) == 0 && take_over_alone(t, &write, &read, a.bytes, access, event)) {
        pass_by(t, &a);
        atomic_store_explicit(&cell->read, read, memory_order_relaxed);
        atomic_store_explicit(&cell->write, write, memory_order_release);
    } else {
        event = access_shared(t, cell, first, &a);
    }
    if (tms_rt_records) {
        spool_access(t, &a, event);
    }
}

void tms_rt_access(struct tms_rt_thread *t, uintptr_t address, size_t size,
                   enum tms_rt_access access, uintptr_t pc)
{
    uint32_t site = 0;

    if (!tms_rt_checks || t->ignored[access] != 0) {
        return;
    }
    while (size > 0) {
        size_t here = 8 - (address & 7);
        here = here < size ? here : size;
        if (tms_rt_full || !tms_rt_seen(t, address, here, access)) {
            site = site != 0 ? site : tms_rt_site(t, pc);
            access_word(t, address, here, access, site);
        }
        address += here;
        size -= here;
    }
}

void tms_rt_visit(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    struct tms_rt_thread *t = tms_rt_go_in();

    if (t == NULL) {
        return;
    }
    if ((address & 7) + size > 8) {
        tms_rt_access(t, address, size, access, pc);
    } else if (tms_rt_checks && t->ignored[access] == 0) {
        access_word(t, address, size, access, tms_rt_site(t, pc));
    }
    tms_rt_go_out(t);
}

void tms_rt_range(struct tms_rt_thread *t, uintptr_t address, size_t size,
                  enum tms_rt_access access, uintptr_t pc)
{
    tms_rt_access(t, address, size, access, pc);
}

/* ---- new memory ------------------------------------------------------------------------- */

static void renew_word(struct tms_rt_thread *t, struct tms_rt_cell *at, uint64_t bytes)
{
    uint64_t write = atomic_load_explicit(&at->write, memory_order_relaxed);
    uint64_t read = atomic_load_explicit(&at->read, memory_order_relaxed);

    if ((write | read) == 0) {
        return;
    }
    if (bytes == WORD_BYTES && (write & (WORD_CHAIN | WORD_LOCK)) == 0) {
        atomic_store_explicit(&at->read, 0, memory_order_relaxed);
        atomic_store_explicit(&at->write, 0, memory_order_relaxed);
    } else {
        struct laid_out cell;
        uint32_t kept = 0;
        lay_out(t, at, lock_cell(at), &cell);
        for (uint32_t i = 0; i < cell.count; i++) {
            uint64_t word = cell.word[i] & ~bytes;
            if ((word & WORD_BYTES) != 0) {
                cell.word[kept++] = word;
            }
        }
        cell.count = kept;
        fold(t, &cell);
    }
}

static void renew_words(struct tms_rt_thread *t, uintptr_t address, uintptr_t end)
{
    while (address < end) {
        uintptr_t next = (address | 7) + 1;
        uint64_t bytes = WORD_BYTES << (address & 7) & WORD_BYTES;
        if (next > end) {
            bytes &= (UINT64_C(1) << (end & 7)) - 1;
        }
        renew_word(t, tms_rt_cell(address), bytes);
        address = next;
    }
}

static void note_renewal(uintptr_t address, uintptr_t end)
{
    uint64_t now = tms_rt_now();

    for (uintptr_t page = address >> PAGE_SHIFT; page <= (end - 1) >> PAGE_SHIFT; page++) {
        uint32_t id = page_of(page << PAGE_SHIFT);
        if (id != 0) {
            atomic_store_explicit(&shadow.page_time[id], now, memory_order_relaxed);
        }
    }
}

void tms_rt_renew_by(struct tms_rt_thread *t, uintptr_t address, size_t size)
{
    uintptr_t end = address + size;

    if (!tms_rt_checks || size == 0) {
        return;
    }
    tms_rt_pass(t);
    tms_rt_spool_renewal(t, TMS_EVENT_FREE, address, size, 0);
    note_renewal(address, end);
    if (may_hold_objects(address, end)) {
        tms_rt_objects_gone(address, size);
    }
    if (size < DROP_BYTES) {
        renew_words(t, address, end);
        return;
    }
    /* Whole pages of shadow, each 2048 bytes of the program; chains in them are lost to reuse. */
    uintptr_t first = (address + 2047) & ~UINT64_C(2047);
    uintptr_t last = end & ~UINT64_C(2047);
    renew_words(t, address, first);
    madvise(tms_rt_cell(first), (last - first) * 2, MADV_DONTNEED);
    renew_words(t, last, end);
}

void tms_rt_renew(uintptr_t address, size_t size)
{
    if (tms_rt_self != NULL) {
        tms_rt_renew_by(tms_rt_self, address, size);
    }
}

/* ---- atomic operations ------------------------------------------------------------------ */

static _Atomic uint32_t *stripe_of(uintptr_t address)
{
    return &stripes[(address >> 3) * 0x9e3779b1u >> 7 & (STRIPES - 1)];
}

void tms_rt_atomic_lock(uintptr_t address)
{
    _Atomic uint32_t *stripe = stripe_of(address);

    for (unsigned tries = 1; atomic_exchange_explicit(stripe, 1, memory_order_acquire) != 0;
         tries++) {
        if (tries % SPINS == 0) {
            tms_rt_yield();
        }
        __builtin_ia32_pause();
    }
}

void tms_rt_atomic_unlock(uintptr_t address)
{
    atomic_store_explicit(stripe_of(address), 0, memory_order_release);
}
