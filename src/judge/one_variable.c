/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses: steps, and the patterns of one variable.
 *
 * Most accesses are by the owner, the thread of the last access, and only update the cell. At an
 * access by another thread the owner's step moves to a record, and the record of the new thread, if
 * it has one, shows the accesses in between.
 */
#include <assert.h>
#include <string.h>

#include "judge/step_records.h"

/* ---- steps ---------------------------------------------------------------------------- */

/* The current access. */
struct access {
    struct tms_judge_thread *t;
    uint32_t variable;
    uint8_t kind; /* as it came */
    struct tms_judge_step step;
};

/* The read that the owner's write would update, 0: none. */
static uint64_t updated_read(const struct tms_judge_step *last)
{
    return last->kind == TMS_JUDGE_R && !last->cleared && !last->atomic ? last->event : 0;
}

/* Does the owner's write form an update with the read before it? */
static bool makes_update(const struct tms_judge_thread *t, uint64_t read)
{
    return read > t->updates_from;
}

/* Only records need the node. */
static struct tms_judge_foreign foreign_of(struct tms_judge *judge, const struct access *access)
{
    return (struct tms_judge_foreign){
        .event = access->step.event,
        .thread = access->t->id,
        .location = access->step.location,
        .node = tms_judge_block(judge, access->t, access->step.event),
        .kind = access->step.kind,
        .plain_update = access->step.kind == TMS_JUDGE_U && !access->step.atomic,
    };
}

static void note_write(struct tms_judge_cell *cell, const struct access *access)
{
    assert(access->kind <= TMS_JUDGE_U && access->step.event > 0);
    if (access->kind != TMS_JUDGE_R) {
        cell->write_event = access->step.event;
        cell->write_thread = access->t->id;
        cell->write_location = access->step.location;
        cell->write_kind = access->step.kind;
        bool plain_update = access->step.kind == TMS_JUDGE_U && !access->step.atomic;
        cell->flags = (uint8_t)((cell->flags & ~TMS_JUDGE_PLAIN_UPDATE) |
                                (plain_update ? TMS_JUDGE_PLAIN_UPDATE : 0));
    }
}

/* ---- one variable --------------------------------------------------------------------- */

/* The foreign accesses between two own steps. */
struct between {
    const struct tms_judge_thread *t;
    const struct tms_judge_step *first;
    const struct tms_judge_foreign *read, *write; /* the first ones; event 0: none */
};

/* The second step is R or U. `later` is the pattern if the R turns out to belong to an update. */
static uint8_t pattern_of_read(const struct between *between, const struct tms_judge_step *second,
                               uint8_t *later)
{
    const struct tms_judge_step *first = between->first;
    bool update = second->kind == TMS_JUDGE_U;

    assert(second->kind != TMS_JUDGE_W && first->kind <= TMS_JUDGE_U);
    *later = TMS_PATTERN_COUNT;
    if (first->kind == TMS_JUDGE_R) {
        if (between->write->event == 0) {
            return TMS_PATTERN_COUNT;
        }
        return between->t->held_count > 0 && !tms_judge_is_locked(between->t, first->event)
                   ? TMS_PATTERN_RECHECKED
                   : TMS_PATTERN_CHANGED_BETWEEN_READS;
    }
    bool updates = first->kind == TMS_JUDGE_U;
    if (between->write->event != 0) {
        *later = updates ? TMS_PATTERN_INTERLEAVED_UPDATES : TMS_PATTERN_FOREIGN_VALUE_READ_BACK;
        return updates && update ? TMS_PATTERN_INTERLEAVED_UPDATES
                                 : TMS_PATTERN_FOREIGN_VALUE_READ_BACK;
    }
    if (!update) {
        return TMS_PATTERN_COUNT;
    }
    return first->counter && second->counter ? TMS_PATTERN_INTERLEAVED_UPDATES
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

/* The foreign access to show: the write, unless the pattern is about the read. */
static const struct tms_judge_foreign *shown(const struct between *between, uint8_t pattern)
{
    bool by_read = pattern == TMS_PATTERN_INTERMEDIATE_VALUE_SEEN || between->write->event == 0;

    return by_read ? between->read : between->write;
}

static struct tms_judge_case case_of(struct tms_judge *judge, const struct access *access,
                                     const struct between *between, uint8_t pattern)
{
    struct tms_judge_case found = {
        .thread = access->t->id,
        .block = tms_judge_block(judge, access->t, between->first->event),
        .pattern = pattern,
        .if_update = TMS_PATTERN_COUNT,
        .if_later = TMS_PATTERN_COUNT,
        .own = {*between->first, access->step},
        .foreign = {*shown(between, pattern)},
    };

    assert(found.foreign[0].event != 0 && found.foreign[0].thread != found.thread);
    tms_judge_on_variables(judge, &found, access->variable, 0);
    tms_judge_look_at_locks(judge, &found);
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
        found.if_update = found.if_later = later;
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
    struct tms_judge_step write = record->read_write;
    struct tms_judge_foreign reader = record->its_reader;
    struct between between = {access->t, &write, &reader, &none};

    assert(record->has_read_write && access->kind != TMS_JUDGE_R);
    record->has_read_write = false;
    compare(judge, access, &between);
}

/* ---- the owner again ------------------------------------------------------------------ */

/* What the owner's next access reveals about the reads that open cases depend on. */
struct follow {
    const struct access *access;
    bool update;        /* the access is a write that forms an update with the read before it */
    uint64_t last_read; /* that read, or whatever else came last */
    bool is_open;       /* a write would still form an update with it */
};

static enum tms_judge_answer follows(const struct tms_judge_case *open, const void *user)
{
    const struct follow *follow = user;
    uint64_t read = open->own[1].event;
    bool pair = open->other != 0;

    if (!follow->is_open || follow->access->kind == TMS_JUDGE_U) {
        return TMS_JUDGE_IS_READ;
    }
    if (follow->access->kind == TMS_JUDGE_R) {
        return pair ? TMS_JUDGE_IS_READ : TMS_JUDGE_WAITS;
    }
    if (follow->update && read == follow->last_read) {
        return TMS_JUDGE_IS_UPDATE;
    }
    bool plain = !open->own[1].atomic && !follow->access->step.atomic;
    return !pair && plain && makes_update(follow->access->t, read) ? TMS_JUDGE_IS_LATER
                                                                   : TMS_JUDGE_IS_READ;
}

static __attribute__((noinline)) void follow_up(struct tms_judge *judge, struct access *access,
                                                const struct tms_judge_step *last, bool update)
{
    uint32_t number = tms_judge_record(judge, access->t->id, access->variable);
    struct follow follow = {access, update, last->event,
                            !last->cleared && makes_update(access->t, last->event)};

    if (number == 0) {
        return;
    }
    tms_judge_settle(judge, number, follows, &follow);
    struct tms_judge_record *record = &judge->records.at[number];
    if (!tms_judge_is_own(access->t, last)) {
        record->has_read_write = false;
    } else if (record->has_read_write && access->kind != TMS_JUDGE_R) {
        struct access later = *access;
        if (update) { /* as the later step, it happened at its read */
            later.step.event = last->event;
            later.step.location = last->location;
        }
        compare_skipped(judge, &later, record);
        record = &judge->records.at[number];
    }
    if (!record->has_read_write && record->open == 0) {
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
    bool update = false;

    assert(cell->owner == access->t->id && last.event <= access->step.event);
    if (access->kind == TMS_JUDGE_W && !access->step.atomic) {
        update = makes_update(access->t, updated_read(&last));
        access->step.kind = update ? TMS_JUDGE_U : TMS_JUDGE_W;
        access->step.counter = access->step.counter && update;
    }
    if (cell->flags & TMS_JUDGE_EXTRA) {
        follow_up(judge, access, &last, update);
        cell = &judge->cells[access->variable];
    }
    if (cell->records != 0 && (~cell->flags & shown_flags(access->kind))) {
        struct tms_judge_foreign foreign = foreign_of(judge, access);
        tms_judge_show(judge, cell, &foreign);
    }
    cell->flags |= shown_flags(access->kind);
    note_write(cell, access);
    cell->last = access->step;
}

/* ---- another thread ------------------------------------------------------------------- */

/* The thread's record: what came since its last access. */
static void come_back(struct tms_judge *judge, const struct access *access, uint32_t number)
{
    struct tms_judge_record record = judge->records.at[number];
    struct between between = {access->t, &record.step, &record.first_read, &record.first_write};

    assert(record.thread == access->t->id && record.away);
    judge->records.at[number].away = false;
    tms_judge_unlist(judge, number);
    if (!tms_judge_is_own(access->t, &record.step)) {
        judge->records.at[number].has_read_write = false;
        return;
    }
    bool reads = record.step.kind == TMS_JUDGE_R;
    if (reads && record.has_read_write && access->kind != TMS_JUDGE_R && !record.write) {
        compare_skipped(judge, access, &judge->records.at[number]);
        return;
    }
    if (!reads) {
        bool remains = access->kind == TMS_JUDGE_R && !record.write;
        judge->records.at[number].has_read_write = remains;
        judge->records.at[number].read_write = record.step;
        judge->records.at[number].its_reader = record.first_read;
    }
    compare(judge, access, &between);
    if (access->kind != TMS_JUDGE_R) {
        judge->records.at[number].has_read_write = false;
    }
}

static __attribute__((noinline)) void change_owner(struct tms_judge *judge,
                                                   const struct access *access)
{
    struct tms_judge_cell *cell = &judge->cells[access->variable];

    assert(cell->owner != 0 && cell->owner != access->t->id);
    judge->met++;
    tms_judge_push_away(judge, access->variable);
    if (cell->records != 0) {
        struct tms_judge_foreign foreign = foreign_of(judge, access);
        tms_judge_show(judge, cell, &foreign);
    }
    uint32_t number = tms_judge_find_record(judge, cell, access->t->id);
    cell->flags &= (uint8_t) ~(TMS_JUDGE_SHOWN_READ | TMS_JUDGE_SHOWN_WRITE | TMS_JUDGE_EXTRA);
    cell->flags |= shown_flags(access->kind);
    bool written = number == 0 || judge->records.at[number].write;
    tms_judge_pairs(judge, access->t, access->variable, &access->step, written);
    if (number != 0) {
        come_back(judge, access, number);
        if (judge->records.at[number].has_read_write || judge->records.at[number].open != 0) {
            cell->flags |= TMS_JUDGE_EXTRA;
        }
    }
    note_write(cell, access);
    cell->owner = access->t->id;
    cell->last = access->step;
}

/* ---- the port ------------------------------------------------------------------------- */

static __attribute__((noinline)) bool make_room(struct tms_judge *judge, uint32_t variable)
{
    if (!TMS_RESERVE(judge->memory, &judge->cells, &judge->cell_capacity, (size_t)variable + 1,
                     1024)) {
        judge->failed = true;
        return false;
    }
    return true;
}

/* Is it data? Synchronisation only affects which activations are busy. */
static inline bool is_data(struct tms_judge *judge, uint32_t variable)
{
    struct tms_judge_cell *cell = &judge->cells[variable];

    if (!(cell->flags & TMS_JUDGE_ASKED)) {
        bool data = judge->port.is_data == NULL || judge->port.is_data(judge->port.user, variable);
        cell->flags |= TMS_JUDGE_ASKED | (data ? 0 : TMS_JUDGE_IGNORED);
    }
    return !(cell->flags & TMS_JUDGE_IGNORED);
}

/* Has the thread done the same in its stretch, with no other thread in between? */
static bool is_repeated(const struct tms_judge *judge, const struct tms_judge_thread *t,
                        uint32_t variable, uint8_t kind)
{
    const struct tms_judge_cell *cell = &judge->cells[variable];

    if (cell->owner == t->id) {
        return cell->last.event > t->stretch &&
               (kind == TMS_JUDGE_R || cell->last.kind != TMS_JUDGE_R);
    }
    uint32_t number = kind == TMS_JUDGE_R ? tms_judge_find_record(judge, cell, t->id) : 0;
    return number != 0 && !judge->records.at[number].write &&
           judge->records.at[number].step.event > t->stretch;
}

/* The thread rereads what it read last and another thread has written since: it polls. */
static inline bool is_poll(const struct tms_judge *judge, const struct tms_judge_thread *t,
                           uint64_t key, const struct tms_judge_step *step, uint64_t write)
{
    return write > t->previous && t->previous_key == key &&
           tms_judge_place_of(judge, t->previous_location) ==
               tms_judge_place_of(judge, step->location);
}

void tms_judge_note(struct tms_judge *judge, struct tms_judge_thread *t, uint64_t key,
                    const struct tms_judge_step *step, uint64_t write)
{
    bool reads = step->kind == TMS_JUDGE_R;
    bool waits = reads && t->held_count > 0 && step->location != 0 &&
                 tms_judge_waits_at(judge, t, key, step->location, write != 0);

    assert(step->event > 0 && step->kind <= TMS_JUDGE_U);
    if (waits || (reads && is_poll(judge, t, key, step, write))) {
        /* It would have waited here if another thread had not already made the condition true. */
        tms_judge_rendezvous(judge, t, step->event - 1);
    }
    if (!reads && !step->counter) {
        t->wrote = step->event;
    }
    if (step->atomic && reads) {
        tms_judge_end_stretch(t, step->event);
    } else if (step->atomic) {
        tms_judge_end_updates(t, step->event);
    }
    t->previous = step->event;
    t->previous_key = reads ? key : 0;
    t->previous_location = step->location;
}

void tms_judge_process(struct tms_judge *judge, struct tms_judge_thread *t, uint32_t variable,
                       const struct tms_judge_step *step)
{
    struct tms_judge_cell *cell = &judge->cells[variable];
    uint8_t kind = step->kind == TMS_JUDGE_U && !step->atomic ? TMS_JUDGE_W : step->kind;
    struct access access = {t, variable, kind, *step};

    assert(variable != 0 && variable < judge->cell_capacity);
    access.step.kind = kind;
    if (cell->owner == t->id) {
        access_again(judge, &access);
    } else if (cell->owner == 0) {
        access.step.initial = kind == TMS_JUDGE_W;
        cell->owner = t->id;
        cell->last = access.step;
        note_write(cell, &access);
    } else {
        change_owner(judge, &access);
    }
    tms_judge_check_variable(judge, variable);
}

void tms_judge_adopt(struct tms_judge *judge, uint32_t variable, uint32_t owner,
                     const struct tms_judge_step *last, const struct tms_judge_foreign *write)
{
    if (variable >= judge->cell_capacity && !make_room(judge, variable)) {
        return;
    }
    assert(judge->cells[variable].records == 0);
    judge->cells[variable] = (struct tms_judge_cell){
        .last = *last,
        .owner = owner,
        .write_event = write->event,
        .write_thread = write->thread,
        .write_location = write->location,
        .write_kind = write->kind,
        .flags = TMS_JUDGE_ASKED | (write->plain_update ? TMS_JUDGE_PLAIN_UPDATE : 0)};
}

void tms_judge_adopt_read(struct tms_judge *judge, uint32_t variable, uint32_t thread,
                          const struct tms_judge_step *read)
{
    const struct tms_judge_cell *cell = &judge->cells[variable];

    assert(read->kind == TMS_JUDGE_R && cell->owner != 0);
    if (cell->owner == thread || tms_judge_find_record(judge, cell, thread) != 0) {
        return;
    }
    uint32_t number = tms_judge_record(judge, thread, variable);
    if (number != 0) {
        judge->records.at[number].step = *read;
        judge->records.at[number].away = true;
    }
}

/* The step for an access of a trace, without the fields that change_owner and access_again set. */
static struct tms_judge_step step_of(const struct tms_judge *judge,
                                     const struct tms_judge_thread *t, uint32_t variable,
                                     uint8_t kind, bool atomic)
{
    const struct tms_judge_cell *cell = &judge->cells[variable];
    struct tms_judge_step step = {.kind = kind, .atomic = atomic};

    if (kind == TMS_JUDGE_W && !atomic && cell->owner == t->id) {
        step.read = updated_read(&cell->last);
        step.kind = makes_update(t, step.read) ? TMS_JUDGE_U : TMS_JUDGE_W;
    }
    step.counter = step.kind == TMS_JUDGE_U && (atomic || step.read == t->previous);
    return step;
}

void tms_judge_access(struct tms_judge *judge, struct tms_judge_thread *t, uint32_t variable,
                      uint8_t kind, bool atomic, uint64_t event, uint32_t location)
{
    if (variable >= judge->cell_capacity && !make_room(judge, variable)) {
        return;
    }
    if (kind == TMS_JUDGE_U || (atomic && kind == TMS_JUDGE_W)) {
        tms_judge_count_use(judge, t, variable, false, event);
        t->synchronised++;
    }
    if (!is_data(judge, variable)) {
        tms_judge_end_updates(t, event);
        return;
    }
    judge->accesses++;
    if (!atomic && is_repeated(judge, t, variable, kind)) {
        return;
    }
    const struct tms_judge_cell *cell = &judge->cells[variable];
    struct tms_judge_step step = step_of(judge, t, variable, kind, atomic);
    step.event = event;
    step.location = location;
    tms_judge_note(judge, t, variable, &step, cell->write_thread != t->id ? cell->write_event : 0);
    tms_judge_process(judge, t, variable, &step);
    if (t->learning > 0) {
        tms_judge_learn(judge, t, variable, 1u << kind | 1u << step.kind);
    }
}

void tms_judge_clear_variable(struct tms_judge *judge, uint32_t variable)
{
    if (variable < judge->cell_capacity) {
        struct tms_judge_cell *cell = &judge->cells[variable];
        uint8_t flags = cell->flags & (TMS_JUDGE_ASKED | TMS_JUDGE_IGNORED);
        tms_judge_drop_records(judge, variable);
        *cell = (struct tms_judge_cell){.flags = flags};
    }
}

void tms_judge_retry(struct tms_judge *judge, struct tms_judge_thread *t, uint32_t variable,
                     uint64_t event)
{
    tms_judge_end_stretch(t, event);
    if (variable >= judge->cell_capacity) {
        return;
    }
    struct tms_judge_cell *cell = &judge->cells[variable];
    uint32_t number = tms_judge_find_record(judge, cell, t->id);
    if (cell->owner == t->id) {
        cell->last.cleared = true;
    } else if (number != 0) {
        judge->records.at[number].step.cleared = true;
        tms_judge_unlist(judge, number);
    }
}

/* Forgets the taken-over steps that no longer count as own steps of the thread. */
static void forget_taken(struct tms_judge *judge, struct tms_judge_thread *t)
{
    size_t kept = 0;

    tms_judge_guard(judge, true);
    for (size_t i = 0; i < t->taken_over_count; i++) {
        struct tms_judge_record *record = &judge->records.at[t->taken_over[i]];
        record->taken_over = tms_judge_is_kept(t, &record->step);
        t->taken_over[kept] = t->taken_over[i];
        kept += record->taken_over;
    }
    assert(kept <= t->taken_over_count);
    t->taken_over_count = kept;
    tms_judge_guard(judge, false);
}

void tms_judge_clear_steps(struct tms_judge *judge, struct tms_judge_thread *t, uint64_t event)
{
    atomic_store_explicit(&t->cleared, event, memory_order_relaxed);
    if (t->taken_over_count > 0) {
        forget_taken(judge, t);
    }
}

void tms_judge_rendezvous(struct tms_judge *judge, struct tms_judge_thread *t, uint64_t event)
{
    bool is_judged = t->open_count > t->settled;

    assert(t->settled <= t->open_count);
    tms_judge_clear_steps(judge, t, is_judged ? event : TMS_JUDGE_NOTHING_KEPT);
    t->updates_from = event;
    tms_judge_end_stretch(t, event);
}
