/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow path of an access: what the fast path in shadow.h has not recognised as repeated.
 *
 *        unpack        order                    claim               pack
 *     cell ──▶ words ──▶ every conflicting word ──▶ bytes taken over ──▶ cell
 *                          │ ordered before: nothing
 *                          │ both atomic: an edge, unless it is redundant
 *                          └ neither: a data race, and an edge. If the kernel orders the two it is
 *                            no race to be reported, but all else is as if it were
 *
 * The cell is locked from the first step to the last, so the order in which a cell sees accesses is
 * the order of their numbers, and recording and engine agree even where the program has a race.
 * The engine's lock is taken inside, never the other way round.
 */
#include <assert.h>
#include <sys/mman.h>

#include "runtime/core/coverage.h"
#include "runtime/core/judge_online.h"
#include "runtime/core/memory.h"
#include "runtime/shadow/cells.h"
#include "runtime/shadow/races.h"
#include "runtime/shadow/words.h"

/*
 * Cells are scattered over four times the memory that they are for, so misses of the processor's
 * table of pages are what random accesses wait for. Huge pages for the shadow of the heap made
 * bench/kernels/tree.c and hashmap.c faster by about a third, on a busy machine. Stacks have none:
 * each would take 2 MB.
 */
#define LARGE        (UINT64_C(1) << 21 >> SHADOW_SHIFT) /* of the program, by a huge page */
#define LARGE_BLOCKS 1024u /* a process has only so many mappings of different kinds */
#define REGION_SHIFT 26    /* what malloc maps for the small blocks of a thread, and aligns so */
#define MAPPED_LEAST (UINT64_C(1) << 17) /* blocks that malloc maps by themselves */

static void use_huge_pages(uintptr_t address, uintptr_t end)
{
    uintptr_t first = (address + LARGE - 1) & ~(LARGE - 1), last = end & ~(LARGE - 1);

    if (first < last) {
        madvise(tms_rt_cell(first), (last - first) << SHADOW_SHIFT, MADV_HUGEPAGE);
    }
}

/* Is it the first block in its region? */
static bool is_new_region(uintptr_t address)
{
    static _Atomic uint8_t known[(SHADOW_MASK >> REGION_SHIFT) + 1];
    _Atomic uint8_t *region = &known[(address & SHADOW_MASK) >> REGION_SHIFT];

    return atomic_load_explicit(region, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(region, 1, memory_order_relaxed) == 0;
}

void tms_rt_expect_use(uintptr_t address, size_t size)
{
    static _Atomic uint32_t large;

    if (!tms_rt_mode.memory) {
        return;
    }
    if (size >= MAPPED_LEAST) {
        if (size >= LARGE &&
            atomic_fetch_add_explicit(&large, 1, memory_order_relaxed) < LARGE_BLOCKS) {
            use_huge_pages(address, address + size);
        }
    } else if (is_new_region(address)) {
        uintptr_t region = address >> REGION_SHIFT << REGION_SHIFT;
        use_huge_pages(region, region + (UINT64_C(1) << REGION_SHIFT));
    }
}

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

/* ---- kinds of accesses -------------------------------------------------------------------- */

/* An access to some of 8 aligned bytes. */
struct access {
    uintptr_t address;
    uint64_t bytes;
    uint64_t kind; /* WORD_KIND bits */
    uint32_t site;
    uint32_t id; /* of the 8 bytes */
};

/* What engine and recording call it. */
struct name {
    uint8_t op, event;
};
static const struct name names[] = {
    [TMS_RT_READ] = {TMS_OP_READ, TMS_EVENT_READ},
    [TMS_RT_WRITE] = {TMS_OP_WRITE, TMS_EVENT_WRITE},
    [TMS_RT_UPDATE] = {TMS_OP_UPDATE, TMS_EVENT_UPDATE},
};

static inline enum tms_rt_access access_of(uint64_t kind)
{
    const uint64_t update = WORD_ATOMIC | WORD_WRITE | WORD_SYNCED;

    return (kind & WORD_WRITE) == 0    ? TMS_RT_READ
           : (kind & update) == update ? TMS_RT_UPDATE
                                       : TMS_RT_WRITE;
}

static inline uint64_t moment_of(uint64_t word)
{
    return make_moment(word_slot(word), word_event(word), names[access_of(word)].event);
}

/* ---- order -------------------------------------------------------------------------------- */

static inline bool is_of_epoch(const struct tms_rt_thread *t, uint64_t word)
{
    return word - t->epoch < t->epoch_span;
}

/*
 * Of this thread, and as good as a new one of the same kind: of its epoch, its stretch, or, where a
 * race was seen, of both. The engine goes by stretches, and races by epochs; so atomic accesses
 * before and after a release are the same to the engine, and only exact races tell them apart.
 */
static inline bool is_fresh(const struct tms_rt_thread *t, uint64_t word)
{
    if ((word & WORD_FAST) != 0) {
        return is_of_epoch(t, word);
    }
    bool any_epoch = (word & WORD_ATOMIC) != 0 && !tms_rt_mode.exact_races;

    return word - t->stretch < t->stretch_span && (any_epoch || is_of_epoch(t, word));
}

static inline bool conflicts(const struct tms_rt_thread *t, uint64_t word, const struct access *a)
{
    return (word & a->bytes) != 0 && ((word | a->kind) & WORD_WRITE) != 0 && !is_own(t, word);
}

static inline bool are_atomic(uint64_t word, const struct access *a)
{
    return (word & a->kind & WORD_ATOMIC) != 0;
}

static inline bool happens_before(const struct tms_rt_thread *t, uint64_t word)
{
    return t->seen[word_slot(word)] >= word_event(word);
}

static inline bool is_race(const struct tms_rt_thread *t, uint64_t word, const struct access *a)
{
    return conflicts(t, word, a) && !are_atomic(word, a) && !happens_before(t, word);
}

/* What the run covers: does a cell have accesses of other threads to the same bytes? */
static __attribute__((noinline)) void cover(struct tms_rt_thread *t, const uint64_t *word,
                                            uint32_t count, const struct access *a)
{
    for (uint32_t i = 0; i < count; i++) {
        if ((word[i] & a->bytes) != 0 && !is_own(t, word[i])) {
            tms_rt_cover_meeting(t, word_slot(word[i]), word_event(word[i]));
        }
    }
}

/* Neither ordered by synchronisation nor redundant; with a covered word, what covers it has it. */
static inline bool makes_edge(const struct tms_rt_thread *t, uint64_t word, const struct access *a)
{
    return (word & WORD_COVERED) == 0 && conflicts(t, word, a) &&
           (are_atomic(word, a) || !happens_before(t, word)) &&
           !tms_rt_edge_is_redundant(t, moment_of(word));
}

/* ---- events ------------------------------------------------------------------------------- */

/*
 * All but its number. Field by field: an initializer is put together on the stack and then copied
 * in larger pieces, for which the processor waits until the small ones have arrived.
 */
static inline void fill_in(const struct tms_rt_thread *t, const struct access *a, struct tms_op *op)
{
    const struct name *name = &names[access_of(a->kind)];

    op->thread = t->index;
    op->target = a->id;
    op->location = a->site;
    op->event_kind = name->event;
    op->kind = name->op;
    op->flags = tms_rt_in_block(t) ? TMS_OP_IN_BLOCK : 0;
    op->spared = (uint8_t)~a->bytes;
}

/* The access makes no edge: it gets its number, and is noted. */
static inline uint64_t pass_by(struct tms_rt_thread *t, const struct access *a)
{
    struct tms_op *note = tms_rt_next_note(t);

    fill_in(t, a, note);
    note->event = tms_rt_next_number(t);
    tms_rt_noted(t);
    return note->event;
}

/* Where the event of a word happened: looked up in what its thread did lately. */
static uint32_t find_place(const struct frontier *f, uint64_t moment, const struct tms_op *op)
{
    const struct thread *u = f->threads[moment_slot(moment)];
    uint64_t event = moment_event(moment);
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

static uint8_t edge_kind(uint64_t word, const struct access *a)
{
    if ((word & WORD_WRITE) == 0) {
        return TMS_EDGE_READ_WRITE;
    }
    return (a->kind & WORD_WRITE) == 0 ? TMS_EDGE_WRITE_READ : TMS_EDGE_WRITE_WRITE;
}

struct meeting {
    struct tms_rt_thread *thread;
    const struct tms_rt_unpacked *cell;
    const struct access *access;
    struct tms_op op;
    bool raced;
};

static void report_race(const struct meeting *meeting, uint64_t word)
{
    const struct access *a = meeting->access;
    uint32_t place = find_place(&tms_rt_engine, moment_of(word), &meeting->op);

    tms_rt_race(&(struct tms_rt_race){
        .address = a->address,
        .bytes = (uint8_t)(a->bytes & word),
        .first = {.thread = tms_rt_engine.threads[word_slot(word)]->id,
                  .event = word_event(word),
                  .site = place,
                  .kind = names[access_of(word)].event,
                  .atomic = (word & WORD_ATOMIC) != 0},
        .second = {.thread = meeting->thread->index,
                   .event = meeting->op.event,
                   .site = a->site,
                   .kind = meeting->op.event_kind,
                   .atomic = (a->kind & WORD_ATOMIC) != 0},
    });
}

static void meet(void *argument)
{
    struct meeting *meeting = argument;
    struct tms_rt_thread *t = meeting->thread;
    const struct access *a = meeting->access;
    const struct tms_rt_unpacked *cell = meeting->cell;
    uint64_t latest = 0;

    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t event = conflicts(t, cell->word[i], a) ? word_event(cell->word[i]) : 0;
        latest = latest < event ? event : latest;
    }
    tms_rt_mutex_lock(&tms_rt_engine_lock);
    meeting->op.event = tms_rt_meet(t, latest);
    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t word = cell->word[i];
        if (is_race(t, word, a)) {
            meeting->raced = true;
            if (!tms_rt_clock_knows(t, word_slot(word), word_event(word))) {
                report_race(meeting, word);
            }
        }
        if (makes_edge(t, word, a)) {
            tms_rt_arrive(t, &meeting->op,
                          (struct source){.moment = moment_of(word),
                                          .kind = edge_kind(word, a),
                                          .find_place = find_place});
        }
    }
    tms_rt_restretch(t);
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}

/* The engine learns of the edges, and of races. True if there was one. */
static __attribute__((noinline)) bool meet_others(struct tms_rt_thread *t,
                                                  const struct tms_rt_unpacked *cell,
                                                  const struct access *a, uint64_t *event)
{
    struct meeting meeting = {.thread = t, .cell = cell, .access = a};

    fill_in(t, a, &meeting.op);
    t->calm++;
    tms_rt_call_deep(meet, &meeting);
    tms_rt_note(t, &meeting.op);
    *event = meeting.op.event;
    return meeting.raced;
}

/* ---- claiming bytes ----------------------------------------------------------------------- */

static inline uint64_t make_word(const struct tms_rt_thread *t, uint64_t event,
                                 const struct access *a)
{
    return t->word_base | event << WORD_EVENT | a->kind | a->bytes;
}

static inline bool is_atomic_write(const struct access *a)
{
    return (~a->kind & (WORD_WRITE | WORD_ATOMIC)) == 0;
}

/*
 * May a later access race with the word, and not with this atomic write? One that is atomic races
 * with plain accesses only; a plain one that the write is ordered before need not come after atomic
 * accesses that the write itself does not come after. In the other cases who races with the word
 * races with the write.
 */
static inline bool outlives(const struct tms_rt_thread *t, uint64_t word)
{
    return (word & WORD_ATOMIC) == 0 || !(is_own(t, word) || happens_before(t, word));
}

/*
 * Is the memory accessed plainly as well? Otherwise the words of atomic accesses are covered in
 * vain, unless the first plain access is still to come, which only exact races allow for.
 */
static inline bool is_mixed(const struct tms_rt_unpacked *cell)
{
    bool mixed = tms_rt_mode.exact_races;

    for (uint32_t i = 0; i < cell->count; i++) {
        mixed |= (cell->word[i] & WORD_ATOMIC) == 0;
    }
    return mixed;
}

/* Marks what an atomic write covers: whole words, or the part of them that it has in common. */
static void cover_words(struct tms_rt_thread *t, struct tms_rt_unpacked *cell,
                        const struct access *a)
{
    for (uint32_t i = 0, count = cell->count; i < count; i++) {
        uint64_t word = cell->word[i], rest = word & WORD_BYTES & ~a->bytes;
        if ((word & a->bytes) == 0 || (word & WORD_COVERED) != 0 || !outlives(t, word)) {
            continue;
        }
        uint64_t covered = (word & ~(rest | WORD_FAST)) | WORD_COVERED;
        if (rest == 0) {
            cell->word[i] = covered;
        } else {
            tms_rt_add_word(t, cell, covered);
        }
    }
}

/*
 * A plain write takes its bytes from all words, an atomic one from those that it does not only
 * cover, a read from the thread's own reads of the same kind.
 */
static inline uint64_t left_of(const struct tms_rt_thread *t, uint64_t word, const struct access *a)
{
    bool taken = (a->kind & WORD_WRITE) != 0
                     ? !(is_atomic_write(a) && (word & WORD_COVERED) != 0 && outlives(t, word))
                     : is_own(t, word) && ((word ^ a->kind) & (WORD_WRITE | WORD_ATOMIC)) == 0;

    return taken ? word & ~a->bytes : word;
}

/* The thread's earlier read of these bytes, which the write updates: see judge/judge.h. */
static inline bool is_read_before(const struct tms_rt_thread *t, uint64_t word,
                                  const struct access *a)
{
    return (word & (WORD_ATOMIC | WORD_WRITE)) == 0 && (~word & a->bytes) == 0 && is_own(t, word) &&
           t->judge != NULL && word_event(word) > t->judge->since;
}

/*
 * The two can be one word: of a plain write, `synced` then holds for some of the bytes. Never
 * across a release, which others may have come after: the word would say of older accesses that
 * they are of now, and race.
 */
static inline bool is_joined(const struct tms_rt_thread *t, uint64_t word, uint64_t mine)
{
    uint64_t kind = (mine & WORD_ATOMIC) != 0 ? WORD_KIND : WORD_KIND & ~WORD_SYNCED;

    return ((word ^ mine) & kind) == 0 && is_fresh(t, word) && is_of_epoch(t, word);
}

/* What is left of the words after the access, and its own. */
static void claim(struct tms_rt_thread *t, struct tms_rt_unpacked *cell, struct access *a,
                  uint64_t event)
{
    uint32_t kept = 0;

    if (is_atomic_write(a)) {
        if (is_mixed(cell)) {
            cover_words(t, cell, a);
        }
    } else if ((a->kind & WORD_WRITE) != 0) {
        for (uint32_t i = 0; i < cell->count; i++) {
            a->kind |= is_read_before(t, cell->word[i], a) ? WORD_SYNCED : 0;
        }
    }
    uint64_t mine = make_word(t, event, a);
    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t word = left_of(t, cell->word[i], a);
        if ((word & WORD_BYTES) == 0) {
            continue;
        }
        if (is_joined(t, word, mine)) {
            mine |= word & (WORD_BYTES | WORD_SYNCED);
        } else {
            cell->word[kept++] = word;
        }
    }
    cell->count = kept;
    tms_rt_add_word(t, cell, mine);
}

/* Is the word, of another thread, a step that may still become part of a pattern? */
static inline bool is_kept_step(uint64_t word)
{
    const struct tms_rt_thread *u = tms_rt_of_slot(word_slot(word));
    const struct tms_judge_thread *judge = u != NULL ? u->judge : NULL;

    return judge != NULL && tms_judge_keeps(judge, word_event(word));
}

/* A reader that this read comes after: whoever comes after the one comes after both. */
static inline bool is_superseded(const struct tms_rt_thread *t, uint64_t word, uint64_t mine)
{
    return (mine & WORD_WRITE) == 0 && !is_own(t, word) &&
           (word & (WORD_WRITE | WORD_ATOMIC)) == 0 && (word & WORD_BYTES & ~mine) == 0 &&
           happens_before(t, word) && (t->judge == NULL || !is_kept_step(word));
}

/*
 * Covered words stay as long as there is room in the cell, and with exact races in any case: where
 * many threads use an atomic without ordering each other, each of them would have one.
 */
static void drop_covered(struct tms_rt_unpacked *cell)
{
    uint32_t kept = 0, spare = cell->count > CELL_WORDS ? cell->count - CELL_WORDS : 0;

    if (spare == 0 || tms_rt_mode.exact_races) {
        return;
    }
    for (uint32_t i = 0; i < cell->count; i++) {
        bool dropped = spare > 0 && (cell->word[i] & WORD_COVERED) != 0;
        spare -= dropped;
        if (!dropped) {
            cell->word[kept++] = cell->word[i];
        }
    }
    cell->count = kept;
}

/* Readers stay as long as there is room in the cell: the fast path serves them all. */
static void drop_superseded(struct tms_rt_thread *t, struct tms_rt_unpacked *cell)
{
    uint64_t mine = cell->word[cell->count - 1];
    uint32_t kept = 0;

    if (cell->count <= CELL_WORDS || (mine & (WORD_WRITE | WORD_ATOMIC)) != 0) {
        return;
    }
    for (uint32_t i = 0; i + 1 < cell->count; i++) {
        if (!is_superseded(t, cell->word[i], mine)) {
            cell->word[kept++] = cell->word[i];
        }
    }
    cell->word[kept++] = mine;
    cell->count = kept;
}

/* A race was seen here: from now on no access to the cell is filtered by epoch. */
static void mark_raced(struct tms_rt_unpacked *cell, struct access *a)
{
    cell->link |= LINK_RACED;
    a->kind &= ~WORD_FAST;
    for (uint32_t i = 0; i < cell->count; i++) {
        cell->word[i] &= ~WORD_FAST;
    }
}

/* ---- one cell ----------------------------------------------------------------------------- */

/* Has the thread done the same in its stretch? Only what the fast path does not decide. */
static __attribute__((noinline)) bool
repeats(const struct tms_rt_thread *t, const struct tms_rt_unpacked *cell, const struct access *a)
{
    bool found = false;

    if ((a->kind & WORD_FAST) != 0 || (tms_rt_mode.records && (a->kind & WORD_WRITE) != 0)) {
        return false; /* a recording has every write that may release something */
    }
    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t word = cell->word[i];
        bool covers = (~word & (a->bytes | (a->kind & ~WORD_SYNCED))) == 0 && is_own(t, word) &&
                      is_fresh(t, word) && ((word ^ a->kind) & WORD_ATOMIC) == 0;
        bool weaker = (a->kind & WORD_SYNCED & ~word) != 0 && (a->kind & WORD_WRITE) == 0;
        if (covers && !weaker) {
            found = true;
        } else if ((a->kind & WORD_WRITE) != 0 && (word & a->bytes) != 0 && !is_own(t, word) &&
                   (word & WORD_COVERED) == 0) {
            return false;
        }
    }
    return found;
}

static __attribute__((noinline)) void spool_access(struct tms_rt_thread *t, const struct access *a,
                                                   uint64_t event)
{
    static const uint8_t with_order[] = {
        [TMS_RT_READ] = TMS_EVENT_ATOMIC_READ,
        [TMS_RT_WRITE] = TMS_EVENT_ATOMIC_WRITE,
        [TMS_RT_UPDATE] = TMS_EVENT_ATOMIC_UPDATE,
    };
    enum tms_rt_access access = access_of(a->kind);
    struct tms_spool_event record = {
        .number = event,
        .target = a->address,
        .site = a->site,
        .kind = t->order != 0 ? with_order[access] : names[access].event,
        .size = (uint8_t)__builtin_popcountll(a->bytes),
        .what = t->order != 0 ? tms_spool_what(t->order, t->mark) : t->mark};

    tms_rt_spool_access(t, &record);
}

/* The cell is locked; it is unlocked after this. The number of the event, 0: there was none. */
static uint64_t access_unpacked(struct tms_rt_thread *t, struct tms_rt_unpacked *cell,
                                struct access *a)
{
    bool edges = false;
    uint64_t event;

    if ((cell->link & LINK_RACED) != 0) {
        a->kind &= ~WORD_FAST;
        tms_rt_function_raced(t);
    }
    if (!tms_rt_mode.full && repeats(t, cell, a)) {
        tms_rt_cell_unlock(cell->cell, cell->link);
        return 0;
    }
    for (uint32_t i = 0; i < cell->count; i++) {
        edges |= makes_edge(t, cell->word[i], a) || is_race(t, cell->word[i], a);
    }
    if (tms_rt_cover_is_due(t)) {
        cover(t, cell->word, cell->count, a);
    }
    if (!edges) {
        event = pass_by(t, a);
    } else if (meet_others(t, cell, a, &event)) {
        tms_rt_start_epoch_at(t, event);
        tms_rt_function_raced(t);
        mark_raced(cell, a);
    }
    if (t->judge != NULL) {
        tms_rt_judge_met(t, cell,
                         &(struct tms_rt_judged){a->address, a->bytes, a->kind, event, a->site});
    }
    claim(t, cell, a, event);
    drop_covered(cell);
    drop_superseded(t, cell);
    tms_rt_pack(t, cell);
    return event;
}

static __attribute__((noinline)) bool first_event(struct tms_rt_thread *t, const struct access *a)
{
    struct tms_op op;

    fill_in(t, a, &op);
    op.event = 0;
    return tms_rt_first(t, &op);
}

/*
 * Who uses new memory comes after the one who made it new. Mostly that is so by what ordered the
 * two; if nothing did that is seen, the numbers of a recording still say it.
 */
static inline void follow_renewal(struct tms_rt_thread *t, uint32_t word)
{
    uint64_t renewed = tms_rt_word_renewed(word);

    if (t->number < renewed) {
        t->number = renewed;
        t->calm++;
    }
}

/* ---- plain accesses that are ordered ------------------------------------------------------ */

/* No edge comes from the word, and no lock is needed to see that it stays so. */
static inline bool is_ordered(const struct tms_rt_thread *t, uint64_t word, const struct access *a)
{
    return word == 0 ||
           ((word & WORD_FAST) != 0 && (!conflicts(t, word, a) || happens_before(t, word)));
}

/* What stays of a word; what can be one with the new word becomes part of that. */
static inline uint64_t keep(const struct tms_rt_thread *t, uint64_t word, const struct access *a,
                            uint64_t *mine)
{
    bool own = is_own(t, word), fresh = is_of_epoch(t, word);
    bool same = own && ((word ^ a->kind) & WORD_WRITE) == 0;
    uint64_t left = (a->kind & WORD_WRITE) != 0 || same ? word & ~a->bytes : word;

    if (same && fresh) {
        *mine |= word & (WORD_BYTES | WORD_SYNCED);
        return 0;
    }
    return (left & WORD_BYTES) != 0 ? left : 0;
}

/*
 * Nearly all accesses that are not repeated: plain, and after everything that the cell has of other
 * threads. That needs no lock. Another thread that comes this very moment races with this one, or
 * both read, or it is after other bytes; its word, or this one, may get lost then, which can hide a
 * race and nothing else. False if it is another case, and then nothing has happened.
 */
static inline bool access_ordered(struct tms_rt_thread *t, struct tms_rt_cell *cell,
                                  struct access *a)
{
    uint64_t word[CELL_WORDS] = {atomic_load_explicit(&cell->word[0], memory_order_relaxed),
                                 atomic_load_explicit(&cell->word[1], memory_order_relaxed),
                                 atomic_load_explicit(&cell->word[2], memory_order_relaxed)};
    const unsigned place = (a->kind & WORD_WRITE) == 0;
    uint64_t mine = 0;

    if (atomic_load_explicit(&cell->link, memory_order_relaxed) != 0 ||
        !is_ordered(t, word[0], a) || !is_ordered(t, word[1], a) || !is_ordered(t, word[2], a)) {
        return false;
    }
    if (place == 0 && (is_read_before(t, word[1], a) || is_read_before(t, word[2], a))) {
        mine = WORD_SYNCED;
    }
    uint64_t write = keep(t, word[0], a, &mine), read = keep(t, word[1], a, &mine);
    uint64_t third = keep(t, word[2], a, &mine);
    uint64_t moved = place == 0 ? write : read;
    if (moved != 0) {
        if (third != 0 && !is_superseded(t, third, a->kind | a->bytes)) {
            return false;
        }
        third = moved;
    }
    if (tms_rt_cover_is_due(t)) {
        cover(t, word, CELL_WORDS, a);
    }
    mine |= make_word(t, pass_by(t, a), a);
    atomic_store_explicit(&cell->word[0], place == 0 ? mine : write, memory_order_relaxed);
    atomic_store_explicit(&cell->word[1], place == 0 ? read : mine, memory_order_relaxed);
    atomic_store_explicit(&cell->word[2], third, memory_order_relaxed);
    return true;
}

/* What `judge` has to know of the words that a cell has on the bytes of an access. */
struct judged_words {
    uint64_t own_read; /* the thread's own read, if nobody has accessed the bytes since; else 0 */
    uint64_t write;    /* the last write, if it is foreign; else 0 */
};

/* False if a step of another thread is among them that matters: then the lock is needed. */
static inline bool look_at_words(const struct tms_rt_thread *t, const struct tms_rt_cell *cell,
                                 const struct access *a, struct judged_words *found)
{
    bool read = false, written = false;

    *found = (struct judged_words){0};
    for (int i = 0; i < CELL_WORDS; i++) { /* the newest write comes first, then the newest read */
        uint64_t word = atomic_load_explicit(&cell->word[i], memory_order_relaxed);
        bool own = is_own(t, word);
        if ((word & a->bytes) == 0) {
            continue;
        }
        if (!own && ((word | a->kind) & WORD_WRITE) != 0 &&
            (t->judge->taken_count > 0 || is_kept_step(word))) {
            return false;
        }
        if ((word & WORD_WRITE) != 0) {
            found->write = written || own ? found->write : word_event(word);
            written = true;
        } else {
            bool covers = own && !read && (~word & a->bytes) == 0;
            found->own_read = covers ? word_event(word) : found->own_read;
            read = true;
        }
    }
    return true;
}

/* The same where accesses are judged. */
static bool access_judged(struct tms_rt_thread *t, struct tms_rt_cell *cell, struct access *a)
{
    struct judged_words words;

    if (!look_at_words(t, cell, a, &words) || !access_ordered(t, cell, a)) {
        return false;
    }
    const struct tms_rt_judged judged = {a->address, a->bytes, a->kind, t->number, a->site};
    tms_rt_judge_alone(t, &judged, words.own_read, words.write);
    return true;
}

/* ---- one word ----------------------------------------------------------------------------- */

/* A function of its own, so that the path without the lock needs little of the stack. */
static __attribute__((noinline)) uint64_t access_locked(struct tms_rt_thread *t,
                                                        struct tms_rt_cell *cell, struct access *a)
{
    struct tms_rt_unpacked unpacked;

    tms_rt_unpack(t, cell, tms_rt_cell_lock(cell), &unpacked);
    return access_unpacked(t, &unpacked, a);
}

/* Within 8 aligned bytes, and not repeated. */
static void access_word(struct tms_rt_thread *t, uintptr_t address, size_t size, uint64_t kind,
                        uint32_t site)
{
    struct access a = {.address = address,
                       .bytes = tms_rt_bytes(address, size),
                       .kind = kind,
                       .site = site,
                       .id = tms_rt_word_id(address)};
    struct tms_rt_cell *cell = tms_rt_cell(address);

    if (a.id == 0 || (t->engine == NULL && !first_event(t, &a))) {
        return;
    }
    if (t->split_due) {
        tms_rt_split_due(t, site);
    }
    if (tms_rt_mode.records) {
        follow_renewal(t, a.id);
    } else if ((kind & WORD_FAST) != 0 &&
               (t->judge != NULL ? access_judged(t, cell, &a) : access_ordered(t, cell, &a))) {
        return;
    }
    uint64_t event = access_locked(t, cell, &a);
    if (tms_rt_mode.records && event != 0) {
        spool_access(t, &a, event);
    }
}

/* ---- the way here ------------------------------------------------------------------------- */

static const uint64_t plain_kinds[] = {
    [TMS_RT_READ] = WORD_FAST,
    [TMS_RT_WRITE] = WORD_FAST | WORD_WRITE,
    [TMS_RT_UPDATE] = WORD_ATOMIC | WORD_WRITE | WORD_SYNCED,
};

/* How many bytes of an access are in the first 8 aligned ones that it touches. */
static inline size_t word_part(uintptr_t address, size_t size)
{
    size_t here = 8 - (address & 7);

    return here < size ? here : size;
}

static inline bool is_repeated(const struct tms_rt_thread *t, uintptr_t address, size_t size,
                               uint64_t kind)
{
    return (kind & WORD_FAST) == 0    ? false
           : (kind & WORD_WRITE) == 0 ? tms_rt_is_repeated(t, address, size, TMS_RT_READ)
                                      : tms_rt_is_repeated(t, address, size, TMS_RT_WRITE);
}

static void access_words(struct tms_rt_thread *t, uintptr_t address, size_t size, uint64_t kind,
                         uint32_t site)
{
    while (size > 0) {
        size_t here = word_part(address, size);
        if (!is_repeated(t, address, here, kind)) {
            access_word(t, address, here, kind, site);
        }
        address += here;
        size -= here;
    }
}

void tms_rt_access(struct tms_rt_thread *t, uintptr_t address, size_t size,
                   enum tms_rt_access access, uintptr_t pc)
{
    if (tms_rt_mode.memory && tms_rt_mode.checks && t->ignored[access] == 0) {
        access_words(t, address, size, plain_kinds[access], tms_rt_site(t, pc));
    }
}

void tms_rt_access_slow(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    struct tms_rt_thread *t = tms_rt_go_in();

    if (t == NULL) {
        return;
    }
    if (tms_rt_mode.checks && t->ignored[access] == 0) {
        access_word(t, address, size, plain_kinds[access], tms_rt_site(t, pc));
    }
    tms_rt_go_out(t);
}

/* Is an access of up to 16 bytes repeated in all cells that it touches? */
static inline __attribute__((always_inline)) bool is_repeated_wide(const struct tms_rt_thread *t,
                                                                   uintptr_t address, size_t size,
                                                                   enum tms_rt_access access)
{
    size_t here = word_part(address, size);

    return tms_rt_is_repeated(t, address, here, access) &&
           (size - here <= 8
                ? tms_rt_is_repeated(t, address + here, size - here, access)
                : tms_rt_is_repeated(t, address + here, 8, access) &&
                      tms_rt_is_repeated(t, address + here + 8, size - here - 8, access));
}

void tms_rt_access_wide(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    struct tms_rt_thread *t = tms_rt_watched;
    bool repeated = access == TMS_RT_READ ? is_repeated_wide(t, address, size, TMS_RT_READ)
                                          : is_repeated_wide(t, address, size, TMS_RT_WRITE);

    if (repeated || (t = tms_rt_go_in()) == NULL) {
        return;
    }
    if (tms_rt_mode.checks && t->ignored[access] == 0) {
        access_words(t, address, size, plain_kinds[access], tms_rt_site(t, pc));
    }
    tms_rt_go_out(t);
}

/* ---- atomics ------------------------------------------------------------------------------ */

bool tms_rt_is_repeated_load(const struct tms_rt_thread *t, uintptr_t address, size_t size,
                             bool synced)
{
    while (size > 0) {
        size_t here = word_part(address, size);
        const struct tms_rt_cell *cell = tms_rt_cell(address);
        uint64_t bits = tms_rt_bytes(address, here) | WORD_ATOMIC | (synced ? WORD_SYNCED : 0);
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
    return true;
}

/* By __ATOMIC_…; the bits above say what does not matter here. */
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

/* The value that is read may have been released: now, or when a fence says so. */
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
 * A store releases what the thread did, or with a relaxed order what it did before its last release
 * fence, in the place of what was there; a read-modify-write in addition to it, for it continues
 * the release sequence.
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

/* The thread's first event is an atomic access: it gets its clock before. */
static __attribute__((noinline)) bool settle_in(struct tms_rt_thread *t, uintptr_t address,
                                                uint32_t site)
{
    const struct access a = {.id = tms_rt_word_id(address), .kind = WORD_ATOMIC, .site = site};

    return first_event(t, &a);
}

void tms_rt_access_atomic(struct tms_rt_thread *t, uintptr_t address, size_t size,
                          enum tms_rt_access access, int order, uintptr_t pc)
{
    static const uint64_t kinds[] = {
        [TMS_RT_READ] = WORD_ATOMIC,
        [TMS_RT_WRITE] = WORD_ATOMIC | WORD_WRITE,
        [TMS_RT_UPDATE] = WORD_ATOMIC | WORD_WRITE | WORD_SYNCED,
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
    access_words(t, address, size, kinds[access] | (acquired ? WORD_SYNCED : 0), site);
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
