/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The long way of an access into its cell: the words are laid out, the engine is told of those that
 * it conflicts with and whose edge is not implied, their bytes are taken over, and the rest is
 * folded again.
 */
#include "runtime/core/memory.h"
#include "runtime/shadow/fresh.h"

const struct tms_rt_kind tms_rt_kinds[] = {
    [TMS_RT_READ] = {TMS_OP_READ, TMS_EVENT_READ},
    [TMS_RT_WRITE] = {TMS_OP_WRITE, TMS_EVENT_WRITE},
    [TMS_RT_UPDATE] = {TMS_OP_UPDATE, TMS_EVENT_UPDATE},
    [3] = {TMS_OP_READ, TMS_EVENT_READ}, /* never */
};

/* Of the thread behind the word. */
static inline uint64_t again_moment(uint64_t word, const struct tms_rt_again *again)
{
    return make_moment(word >> WORD_SLOT & WORD_SLOT_MOST, again->number,
                       tms_rt_kinds[again->access].event);
}

/* The latest of what the word stands for that conflicts with an access. */
static inline uint64_t moment_behind(const struct tms_rt_thread *t, uint64_t word,
                                     uintptr_t address, uint64_t bytes, enum tms_rt_access access)
{
    struct tms_rt_again again;
    uint64_t begin;

    return tms_rt_newer(word, &begin) != NULL &&
                   tms_rt_did_again(t, word, address, bytes, access, &again)
               ? again_moment(word, &again)
               : word_moment(word);
}

bool tms_rt_is_foreign_old_news(const struct tms_rt_thread *t, uint64_t word, uintptr_t address,
                                uint64_t bytes, enum tms_rt_access access)
{
    return tms_rt_was_said(t, moment_behind(t, word, address, bytes, access));
}

bool tms_rt_foreign_makes_way(const struct tms_rt_thread *t, uint64_t word, uintptr_t address)
{
    return implied(t->engine, word_moment(word)) && tms_rt_is_past_recall(word, address);
}

static bool makes_edge(const struct tms_rt_thread *t, uint64_t word, const struct fresh_access *a)
{
    return (word & a->bytes) != 0 && (a->access != TMS_RT_READ || word_kind(word) != TMS_RT_READ) &&
           !is_old_news(t, word, a);
}

static uint64_t source_of(const struct tms_rt_thread *t, uint64_t word,
                          const struct fresh_access *a)
{
    return moment_behind(t, word, a->address, a->bytes, a->access);
}

/* Where the event behind a word happened: looked up in what its thread did lately. */
static uint32_t find_place(const struct frontier *f, uint64_t moment, const struct tms_op *op)
{
    const struct thread *u = f->threads[moment_slot(moment)];
    const struct tms_rt_thread *v = tms_rt_of_slot(moment_slot(moment));
    uint64_t event = moment_event(moment);
    uint32_t again =
        v == NULL ? 0 : tms_rt_recalled_site(v, event, tms_rt_word_address(op->target));
    uint64_t first = tms_log_first(&u->log);
    uint64_t i = tms_log_find(&u->log, event) + 1;

    for (int tries = 0; again == 0 && i > first && tries < 64; tries++) {
        const struct tms_op *entry = log_at(&u->log, --i);
        if (entry->event <= event && entry->target == op->target &&
            (entry->spared | op->spared) != TMS_OP_SPARES_ALL &&
            tms_event_class(entry->event_kind) == TMS_CLASS_VARIABLE) {
            return entry->location;
        }
    }
    return again;
}

static uint8_t edge_kind(uint64_t word, enum tms_rt_access access)
{
    if (word_kind(word) == TMS_RT_READ) {
        return TMS_EDGE_READ_WRITE;
    }
    return access == TMS_RT_READ ? TMS_EDGE_WRITE_READ : TMS_EDGE_WRITE_WRITE;
}

/* The latest event that the access comes behind; *dull: none of the edges matters to anybody. */
static uint64_t latest_source(const struct tms_rt_thread *t, const struct laid_out *cell,
                              const struct fresh_access *a, bool *dull)
{
    uint64_t latest = 0;

    *dull = true;
    for (uint32_t i = 0; i < cell->count; i++) {
        if (makes_edge(t, cell->word[i], a)) {
            uint64_t moment = source_of(t, cell->word[i], a);
            latest = moment_event(moment) > latest ? moment_event(moment) : latest;
            *dull = *dull && tms_rt_is_dull(moment);
        }
    }
    return latest;
}

static void meet_nobody(struct tms_rt_thread *t, const struct laid_out *cell,
                        const struct fresh_access *a)
{
    for (uint32_t i = 0; i < cell->count; i++) {
        if (makes_edge(t, cell->word[i], a)) {
            uint64_t moment = source_of(t, cell->word[i], a);
            t->engine->in[moment_slot(moment)] = moment | MOMENT_KIND_MASK;
        }
    }
}

/*
 * Where the edge from a word comes from. In a recording what a thread did again has no place until
 * somebody comes behind it.
 */
static uint64_t tell_source(struct tms_rt_thread *t, uint64_t word, const struct fresh_access *a)
{
    struct tms_rt_again again;

    if (!tms_rt_did_again(t, word, a->address, a->bytes, a->access, &again)) {
        return word_moment(word);
    }
    if (tms_rt_records) {
        tms_rt_spool_again(t, &again, a->address);
    }
    return again_moment(word, &again);
}

struct meeting {
    struct tms_rt_thread *thread;
    const struct laid_out *cell;
    const struct fresh_access *access;
    struct tms_op *op;
    uint64_t latest;
};

static void meet(void *argument)
{
    const struct meeting *meeting = argument;
    struct tms_rt_thread *t = meeting->thread;
    const struct laid_out *cell = meeting->cell;
    const struct fresh_access *a = meeting->access;
    struct tms_op *op = meeting->op;

    tms_rt_mutex_lock(&tms_rt_engine_lock);
    op->event = tms_rt_meet(t, meeting->latest);
    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t word = cell->word[i];
        if (makes_edge(t, word, a)) {
            struct source source = {.moment = tell_source(t, word, a),
                                    .kind = edge_kind(word, a->access),
                                    .find_place = find_place};
            tms_rt_arrive(t, op, source);
        }
    }
    tms_rt_restretch(t);
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}

/* The edges that are not implied go to the engine, if they matter. */
static void meet_others(struct tms_rt_thread *t, const struct laid_out *cell,
                        const struct fresh_access *a, struct tms_op *op)
{
    struct meeting meeting = {.thread = t, .cell = cell, .access = a, .op = op};
    bool dull;

    meeting.latest = latest_source(t, cell, a, &dull);
    t->calm++;
    if (dull) {
        op->event = tms_rt_follow(t, meeting.latest);
        meet_nobody(t, cell, a);
    } else {
        tms_rt_call_deep(meet, &meeting);
    }
}

/*
 * The access takes its bytes over: a write from everybody, a read from readers that are implied.
 * What is left of another word of this stretch of this thread is as good as the new one.
 */
static void take_over(struct tms_rt_thread *t, struct laid_out *cell, const struct fresh_access *a,
                      uint64_t event)
{
    uint64_t mine = make_word(t, event, a->access, a->bytes);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t word = cell->word[i];
        bool is_read = word_kind(word) == TMS_RT_READ;
        if (a->access != TMS_RT_READ || (is_read && makes_way(t, word, a))) {
            word &= ~a->bytes;
        }
        if (own_fresh(t, word) && word_kind(word) == a->access) {
            mine |= word & WORD_BYTES;
        } else if ((word & WORD_BYTES) != 0) {
            cell->word[kept++] = word;
        }
    }
    cell->count = kept;
    cell->version = cell->chain != 0 ? cell->version : event;
    tms_rt_add_word(t, cell, mine);
}

uint64_t tms_rt_take_over_among_others(struct tms_rt_thread *t, struct tms_rt_cell *at,
                                       uint64_t write, const struct fresh_access *a)
{
    struct laid_out cell;
    uint64_t event;
    bool edges = false;

    tms_rt_lay_out(t, at, write, &cell);
    for (uint32_t i = 0; i < cell.count && !edges; i++) {
        edges = makes_edge(t, cell.word[i], a);
    }
    if (edges) {
        struct tms_op op;
        fill_in(t, a, &op);
        meet_others(t, &cell, a, &op);
        tms_rt_note(t, &op);
        event = op.event;
    } else {
        event = pass_by(t, a);
    }
    take_over(t, &cell, a, event);
    tms_rt_fold(t, &cell);
    return event;
}
