/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses: steps, and the patterns of one variable.
 *
 * Most accesses are of the thread that made the last one: then the cell is brought up to date. If
 * another thread comes, the former owner's step moves to its record, and the newcomer's own record,
 * if it has one, tells what came between.
 */
#include <string.h>

#include "judge/records.h"

/* ---- steps -------------------------------------------------------------------------------------
 */

/* An access in hand. */
struct access {
    struct tms_judge_thread *t;
    uint32_t thread, variable;
    uint8_t kind; /* as it came */
    struct tms_judge_step step;
};

static struct tms_judge_step step_of(const struct tms_judge_thread *t, uint8_t kind, uint64_t event,
                                     uint32_t location)
{
    return (struct tms_judge_step){
        .event = event,
        .read = kind == TMS_JUDGE_R ? event : 0,
        .location = location,
        .node = t->open_count > 0 ? t->open[t->open_count - 1].node : 0,
        .lock = t->held_count > 0 ? t->held[t->held_count - 1].lock : 0,
        .kind = kind,
        .section = kind == TMS_JUDGE_U,
        .atomic = kind == TMS_JUDGE_U,
    };
}

/* Does the write make one step with the read before it? */
static inline bool makes_update(const struct tms_judge_thread *t, const struct tms_judge_step *read,
                                const struct tms_judge_step *write)
{
    bool together = read->location != 0 ? read->location == write->location
                                        : write->location == 0 && t->previous == read->event;

    return read->kind == TMS_JUDGE_R && together && read->node == write->node;
}

static struct tms_judge_foreign foreign_of(const struct access *access)
{
    return (struct tms_judge_foreign){
        .event = access->step.event,
        .thread = access->thread,
        .location = access->step.location,
        .node = access->step.node,
        .kind = access->step.kind,
        .halved = access->step.kind == TMS_JUDGE_U && !access->step.atomic,
    };
}

static void note_write(struct tms_judge_cell *cell, const struct access *access)
{
    if (access->kind != TMS_JUDGE_R) {
        cell->write_event = access->step.event;
        cell->write_thread = access->thread;
        cell->write_location = access->step.location;
        cell->write_node = access->step.node;
        cell->write_kind = access->step.kind;
        bool halved = access->step.kind == TMS_JUDGE_U && !access->step.atomic;
        cell->flags =
            (uint8_t)((cell->flags & ~TMS_JUDGE_HALVED) | (halved ? TMS_JUDGE_HALVED : 0));
    }
}

/* ---- one variable ------------------------------------------------------------------------------
 */

/* What came between two own steps. */
struct between {
    const struct tms_judge_step *first;
    const struct tms_judge_foreign *read, *write; /* the first ones; event 0: none */
};

/* The second step is R or U. `later` is what it is if the R turns out to be a section update. */
static uint8_t pattern_of_read(const struct between *between, const struct tms_judge_step *second,
                               uint8_t *later)
{
    const struct tms_judge_step *first = between->first;
    bool update = second->kind == TMS_JUDGE_U;

    *later = TMS_PATTERN_COUNT;
    if (first->kind == TMS_JUDGE_R) {
        if (between->write->event == 0) {
            return TMS_PATTERN_COUNT;
        }
        if (first->location != 0 && first->location == second->location) {
            return TMS_PATTERN_POLLED;
        }
        return first->lock == 0 && second->lock != 0 ? TMS_PATTERN_RECHECKED
                                                     : TMS_PATTERN_CHANGED_BETWEEN_READS;
    }
    if (between->write->event != 0) {
        *later =
            first->section ? TMS_PATTERN_INTERLEAVED_UPDATES : TMS_PATTERN_FOREIGN_VALUE_READ_BACK;
        return first->section && update ? TMS_PATTERN_INTERLEAVED_UPDATES
                                        : TMS_PATTERN_FOREIGN_VALUE_READ_BACK;
    }
    if (!update) {
        return TMS_PATTERN_COUNT;
    }
    return first->kind == TMS_JUDGE_U ? TMS_PATTERN_INTERLEAVED_UPDATES
                                      : TMS_PATTERN_INTERMEDIATE_VALUE_SEEN;
}

static uint8_t pattern_of_write(const struct between *between)
{
    if (between->first->kind == TMS_JUDGE_R) {
        return between->write->event != 0 ? TMS_PATTERN_LOST_UPDATE : TMS_PATTERN_COUNT;
    }
    return between->read->event != 0 ? TMS_PATTERN_INTERMEDIATE_VALUE_SEEN
                                     : TMS_PATTERN_OVERWRITTEN;
}

/* The access that the pattern is about: the write, unless it was the read that mattered. */
static const struct tms_judge_foreign *shown(const struct between *between, uint8_t pattern)
{
    bool by_read = pattern == TMS_PATTERN_INTERMEDIATE_VALUE_SEEN || between->write->event == 0;

    return by_read ? between->read : between->write;
}

static struct tms_judge_case case_of(struct tms_judge *judge, const struct access *access,
                                     const struct between *between, uint8_t pattern)
{
    struct tms_judge_case found = {
        .variable = access->variable,
        .thread = access->thread,
        .block = tms_judge_block(judge, access->t, between->first->event),
        .pattern = pattern,
        .if_update = TMS_PATTERN_COUNT,
        .if_section = TMS_PATTERN_COUNT,
        .own = {*between->first, access->step},
        .foreign = {*shown(between, pattern)},
    };

    tms_judge_given_up(judge, &found);
    return found;
}

static void compare(struct tms_judge *judge, const struct access *access,
                    const struct between *between)
{
    uint8_t later = TMS_PATTERN_COUNT;
    uint8_t pattern = access->step.kind == TMS_JUDGE_W
                          ? pattern_of_write(between)
                          : pattern_of_read(between, &access->step, &later);

    if (pattern == TMS_PATTERN_COUNT) {
        return;
    }
    struct tms_judge_case found = case_of(judge, access, between, pattern);
    if (found.block == 0) {
        return;
    }
    if (access->step.kind == TMS_JUDGE_R && later == TMS_PATTERN_INTERLEAVED_UPDATES) {
        found.if_update = found.if_section = later;
        tms_judge_keep_open(judge, access->variable, &found);
    } else {
        tms_judge_found(judge, &found);
    }
}

/* A write that another thread read, then own reads, now a W or U. */
static void compare_skipped(struct tms_judge *judge, const struct access *access,
                            struct tms_judge_record *record)
{
    static const struct tms_judge_foreign none;
    struct tms_judge_step skip = record->skip;
    struct tms_judge_foreign skipped = record->skipped;
    struct between between = {&skip, &skipped, &none};

    record->skips = false;
    compare(judge, access, &between);
}

/* ---- the owner again
 * ----------------------------------------------------------------------------- */

/* What the owner's next access says about the reads that cases depend on. */
struct follow {
    const struct access *access;
    bool update;        /* the access is a write that makes an update with the read before it */
    uint64_t last_read; /* that read */
    bool is_own;        /* the read was not cleared */
};

static enum tms_judge_answer follows(const struct tms_judge_case *open, const void *user)
{
    const struct follow *follow = user;
    uint64_t read = open->own[1].event;
    bool pair = open->other != 0;

    if (!follow->is_own || follow->access->kind == TMS_JUDGE_U) {
        return TMS_JUDGE_IS_READ;
    }
    if (follow->access->kind == TMS_JUDGE_R) {
        return pair ? TMS_JUDGE_IS_READ : TMS_JUDGE_WAITS;
    }
    if (follow->update && read == follow->last_read) {
        return TMS_JUDGE_IS_UPDATE;
    }
    return !pair && tms_judge_in_section(follow->access->t, read) ? TMS_JUDGE_IS_SECTION
                                                                  : TMS_JUDGE_IS_READ;
}

static __attribute__((noinline)) void follow_up(struct tms_judge *judge, struct access *access,
                                                const struct tms_judge_step *last, bool update)
{
    uint32_t number = tms_judge_record(judge, access->thread, access->variable);
    struct follow follow = {access, update, last->event, tms_judge_is_fresh(access->t, last)};

    if (number == 0) {
        return;
    }
    tms_judge_settle(judge, number, follows, &follow);
    struct tms_judge_record *record = &judge->records.at[number];
    if (!follow.is_own) {
        record->skips = false;
    } else if (record->skips && access->kind != TMS_JUDGE_R) {
        struct access later = *access;
        if (update) { /* as the later step, it happened when its read did */
            later.step.event = last->event;
        }
        compare_skipped(judge, &later, record);
        record = &judge->records.at[number];
    }
    if (!record->skips && record->open == 0) {
        judge->cells[access->variable].flags &= (uint8_t)~TMS_JUDGE_EXTRA;
    }
}

static inline uint8_t shown_flags(uint8_t kind)
{
    static const uint8_t flags[] = {
        [TMS_JUDGE_R] = TMS_JUDGE_SHOWN_READ,
        [TMS_JUDGE_W] = TMS_JUDGE_SHOWN_WRITE,
        [TMS_JUDGE_U] = TMS_JUDGE_SHOWN_READ | TMS_JUDGE_SHOWN_WRITE,
    };

    return flags[kind];
}

static inline void access_again(struct tms_judge *judge, struct access *access)
{
    struct tms_judge_cell *cell = &judge->cells[access->variable];
    struct tms_judge_step last = cell->last;
    bool fresh = tms_judge_is_fresh(access->t, &last);
    bool update = false;

    if (access->kind != TMS_JUDGE_R) {
        update =
            access->kind == TMS_JUDGE_W && fresh && makes_update(access->t, &last, &access->step);
        access->step.kind = update ? TMS_JUDGE_U : access->kind;
        access->step.read = fresh ? last.read : 0;
        access->step.section =
            access->step.kind == TMS_JUDGE_U ||
            (access->step.read != 0 && tms_judge_in_section(access->t, access->step.read));
    }
    if (cell->flags & TMS_JUDGE_EXTRA) {
        follow_up(judge, access, &last, update);
        cell = &judge->cells[access->variable];
    }
    if (cell->records != 0 && (~cell->flags & shown_flags(access->kind))) {
        struct tms_judge_foreign foreign = foreign_of(access);
        tms_judge_show(judge, cell, &foreign);
    }
    cell->flags |= shown_flags(access->kind);
    note_write(cell, access);
    cell->last = access->step;
}

/* ---- another thread
 * -------------------------------------------------------------------------------- */

/* The thread's record: what came since its last access. */
static void come_back(struct tms_judge *judge, const struct access *access, uint32_t number)
{
    struct tms_judge_record record = judge->records.at[number];
    struct between between = {&record.step, &record.first_read, &record.first_write};

    judge->records.at[number].away = false;
    tms_judge_untake(judge, number);
    if (!tms_judge_is_own(access->t, &record.step)) {
        judge->records.at[number].skips = false;
        return;
    }
    bool reads = record.step.kind == TMS_JUDGE_R;
    if (reads && record.skips && access->kind != TMS_JUDGE_R && !record.write) {
        compare_skipped(judge, access, &judge->records.at[number]);
        return;
    }
    if (!reads) {
        bool skips = access->kind == TMS_JUDGE_R && !record.write;
        judge->records.at[number].skips = skips;
        judge->records.at[number].skip = record.step;
        judge->records.at[number].skipped = record.first_read;
    }
    compare(judge, access, &between);
    if (access->kind != TMS_JUDGE_R) {
        judge->records.at[number].skips = false;
    }
}

static __attribute__((noinline)) void take_over(struct tms_judge *judge,
                                                const struct access *access)
{
    struct tms_judge_cell *cell = &judge->cells[access->variable];
    struct tms_judge_foreign foreign = foreign_of(access);

    judge->met++;
    tms_judge_push_away(judge, access->variable);
    tms_judge_show(judge, cell, &foreign);
    uint32_t number = tms_judge_find_record(judge, cell, access->thread);
    cell->flags &= (uint8_t) ~(TMS_JUDGE_SHOWN_READ | TMS_JUDGE_SHOWN_WRITE | TMS_JUDGE_EXTRA);
    cell->flags |= shown_flags(access->kind);
    uint64_t since = number != 0 ? judge->records.at[number].step.event : 0;
    tms_judge_pairs(judge, access->thread, access->variable, &access->step, since);
    if (number != 0) {
        come_back(judge, access, number);
        if (judge->records.at[number].skips || judge->records.at[number].open != 0) {
            cell->flags |= TMS_JUDGE_EXTRA;
        }
    }
    note_write(cell, access);
    cell->owner = access->thread;
    cell->last = access->step;
}

/* ---- the port
 * -------------------------------------------------------------------------------------- */

static __attribute__((noinline)) bool make_room(struct tms_judge *judge, uint32_t variable)
{
    if (!TMS_RESERVE(judge->memory, &judge->cells, &judge->cell_capacity, (size_t)variable + 1,
                     1024)) {
        judge->failed = true;
        return false;
    }
    return true;
}

/* Is it data? Synchronisation counts only for who is busy. */
static inline bool is_data(struct tms_judge *judge, uint32_t variable)
{
    struct tms_judge_cell *cell = &judge->cells[variable];

    if (!(cell->flags & TMS_JUDGE_ASKED)) {
        bool data = judge->port.is_data(judge->port.user, variable);
        cell->flags |= TMS_JUDGE_ASKED | (data ? 0 : TMS_JUDGE_IGNORED);
    }
    return !(cell->flags & TMS_JUDGE_IGNORED);
}

/* Reads again what it read last, and another thread has written it: it waits for that. */
static inline bool is_poll(const struct tms_judge *judge, const struct access *access)
{
    const struct tms_judge_cell *cell = &judge->cells[access->variable];
    const struct tms_judge_thread *t = access->t;

    return access->kind == TMS_JUDGE_R && t->previous_variable == access->variable &&
           t->previous_location == access->step.location && cell->write_thread != access->thread &&
           cell->write_event > t->previous;
}

/* It might have waited here, had not another thread done already what it waits for. */
static inline bool is_waited_for(struct tms_judge *judge, const struct access *access)
{
    const struct tms_judge_cell *cell = &judge->cells[access->variable];

    return access->kind == TMS_JUDGE_R && access->t->held_count > 0 && access->step.location != 0 &&
           tms_judge_waits_at(judge, access->t, access->step.location) && cell->write_thread != 0 &&
           cell->write_thread != access->thread;
}

void tms_judge_access(struct tms_judge *judge, uint32_t thread, uint32_t variable, uint8_t kind,
                      uint64_t event, uint32_t location)
{
    struct tms_judge_thread *t = tms_judge_thread(judge, thread);

    if (t == NULL || (variable >= judge->cell_capacity && !make_room(judge, variable))) {
        return;
    }
    if (kind == TMS_JUDGE_U) {
        tms_judge_used(judge, thread, variable, false, event);
        t->synchronised++;
    }
    if (!is_data(judge, variable)) {
        return;
    }
    judge->accesses++;
    struct access access = {t, thread, variable, kind, step_of(t, kind, event, location)};
    if (is_poll(judge, &access) || is_waited_for(judge, &access)) {
        tms_judge_rendezvous(judge, thread, event - 1);
    }
    struct tms_judge_cell *cell = &judge->cells[variable];
    if (cell->owner == thread) {
        access_again(judge, &access);
    } else if (cell->owner == 0) {
        access.step.initial = kind == TMS_JUDGE_W;
        cell->owner = thread;
        cell->last = access.step;
        note_write(cell, &access);
    } else {
        take_over(judge, &access);
    }
    if (access.step.kind == TMS_JUDGE_W && t->held_count > 0) {
        tms_judge_wrote(t);
    }
    if (t->learning > 0) {
        tms_judge_learn(judge, t, variable, 1u << kind | 1u << access.step.kind);
    }
    t->previous = event;
    t->previous_variable = kind == TMS_JUDGE_R ? variable : 0;
    t->previous_location = location;
}

void tms_judge_renew(struct tms_judge *judge, uint32_t variable)
{
    if (variable < judge->cell_capacity) {
        struct tms_judge_cell *cell = &judge->cells[variable];
        uint8_t flags = cell->flags & (TMS_JUDGE_ASKED | TMS_JUDGE_IGNORED);
        tms_judge_drop_records(judge, variable);
        *cell = (struct tms_judge_cell){.flags = flags};
    }
}

void tms_judge_retry(struct tms_judge *judge, uint32_t thread, uint32_t variable)
{
    if (variable >= judge->cell_capacity) {
        return;
    }
    struct tms_judge_cell *cell = &judge->cells[variable];
    uint32_t number = tms_judge_find_record(judge, cell, thread);
    if (cell->owner == thread) {
        cell->last.cleared = true;
    } else if (number != 0) {
        judge->records.at[number].step.cleared = true;
        tms_judge_untake(judge, number);
    }
}

void tms_judge_rendezvous(struct tms_judge *judge, uint32_t thread, uint64_t event)
{
    struct tms_judge_thread *t = tms_judge_thread(judge, thread);

    if (t == NULL) {
        return;
    }
    t->cleared = event;
    for (size_t i = 0; i < t->taken_count; i++) {
        judge->records.at[t->taken[i]].taken = false;
    }
    t->taken_count = 0;
}
