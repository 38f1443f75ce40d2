/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of (thread, variable): the foreign accesses between two accesses of a thread, and the
 * cases that depend on what follows a read.
 */
#include <assert.h>
#include <string.h>

#include "judge/step_records.h"

TMS_JUDGE_DEFINE_POOL(record, records, next)
TMS_JUDGE_DEFINE_POOL(read, reads, next)
TMS_JUDGE_DEFINE_POOL(case, cases, next)

uint32_t tms_judge_find_record(const struct tms_judge *judge, const struct tms_judge_cell *cell,
                               uint32_t thread)
{
    uint32_t number = cell->records;

    while (number != 0 && judge->records.at[number].thread != thread) {
        number = judge->records.at[number].next;
    }
    return number;
}

uint32_t tms_judge_record(struct tms_judge *judge, uint32_t thread, uint32_t variable)
{
    struct tms_judge_cell *cell = &judge->cells[variable];
    uint32_t number = tms_judge_find_record(judge, cell, thread);

    if (number == 0 && (number = tms_judge_take_record(judge)) != 0) {
        struct tms_judge_record *record = &judge->records.at[number];
        record->thread = thread;
        assert(thread != 0);
        record->variable = variable;
        record->next = cell->records;
        cell->records = number;
    }
    return number;
}

/* ---- cases that are open -------------------------------------------------------------- */

void tms_judge_keep_open(struct tms_judge *judge, uint32_t variable,
                         const struct tms_judge_case *found)
{
    uint32_t record = tms_judge_record(judge, found->thread, variable);
    uint32_t number = record != 0 ? tms_judge_take_case(judge) : 0;

    assert(found->own[1].kind == TMS_JUDGE_R && found->block != 0);
    if (number != 0) {
        judge->cases.at[number] = *found;
        judge->cases.at[number].next = judge->records.at[record].open;
        judge->records.at[record].open = number;
        judge->cells[variable].flags |= TMS_JUDGE_EXTRA;
    }
}

static void decide(struct tms_judge *judge, uint32_t number, uint8_t pattern)
{
    struct tms_judge_case found = judge->cases.at[number];

    assert(number > 0 && number <= judge->cases.count);
    tms_judge_give_case(judge, number);
    found.pattern = pattern;
    if (pattern != TMS_PATTERN_COUNT) {
        tms_judge_found(judge, &found);
    }
}

void tms_judge_settle(struct tms_judge *judge, uint32_t record, tms_judge_outcome *outcome,
                      const void *user)
{
    uint32_t number = judge->records.at[record].open, next;

    assert(record > 0 && record <= judge->records.count);
    judge->records.at[record].open = 0;
    for (; number != 0; number = next) {
        const struct tms_judge_case *open = &judge->cases.at[number];
        next = open->next;
        switch (outcome(open, user)) {
        case TMS_JUDGE_WAITS:
            judge->cases.at[number].next = judge->records.at[record].open;
            judge->records.at[record].open = number;
            break;
        case TMS_JUDGE_IS_READ:
            decide(judge, number, open->pattern);
            break;
        case TMS_JUDGE_IS_LATER:
            decide(judge, number, open->if_later);
            break;
        case TMS_JUDGE_IS_UPDATE:
            decide(judge, number, open->if_update);
            break;
        }
    }
}

enum tms_judge_answer tms_judge_reads_only(const struct tms_judge_case *open, const void *user)
{
    (void)open, (void)user;
    return TMS_JUDGE_IS_READ;
}

/* ---- variables that were taken over --------------------------------------------------- */

void tms_judge_unlist(struct tms_judge *judge, uint32_t record)
{
    struct tms_judge_record *r = &judge->records.at[record];
    struct tms_judge_thread *t = tms_judge_thread_at(&judge->threads, r->thread);
    size_t at = 0;

    if (!r->taken_over || t == NULL) {
        return;
    }
    while (t->taken_over[at] != record) {
        at++;
        assert(at < t->taken_over_count);
    }
    t->taken_over_count--;
    memmove(&t->taken_over[at], &t->taken_over[at + 1],
            (t->taken_over_count - at) * sizeof(*t->taken_over));
    r->taken_over = false;
}

static void list_taken_over(struct tms_judge *judge, uint32_t record)
{
    struct tms_judge_thread *t =
        tms_judge_thread_at(&judge->threads, judge->records.at[record].thread);

    assert(t != NULL && !judge->records.at[record].taken_over);
    if (t->taken_over_count == TMS_JUDGE_TAKEN_OVER) {
        tms_judge_unlist(judge, t->taken_over[0]);
    }
    assert(t->taken_over_count < TMS_JUDGE_TAKEN_OVER);
    t->taken_over[t->taken_over_count++] = record;
    judge->records.at[record].taken_over = true;
}

/*
 * ---- foreign accesses in between --------------------------------------------------------
 */

static void free_reads(struct tms_judge *judge, struct tms_judge_record *record)
{
    uint32_t next;

    for (uint32_t at = record->reads; at != 0; at = next) {
        next = judge->reads.at[at].next;
        tms_judge_give_read(judge, at);
    }
    record->reads = 0;
}

const struct tms_judge_foreign *tms_judge_read_of(const struct tms_judge *judge,
                                                  const struct tms_judge_record *record,
                                                  uint32_t thread)
{
    for (uint32_t at = record->reads; at != 0; at = judge->reads.at[at].next) {
        if (judge->reads.at[at].access.thread == thread) {
            return &judge->reads.at[at].access;
        }
    }
    return NULL;
}

/* Is the step needed, as an own step of its thread or to recognise repetitions? */
static bool is_needed(const struct tms_judge *judge, uint32_t thread,
                      const struct tms_judge_step *step)
{
    const struct tms_judge_thread *t = tms_judge_thread_at(&judge->threads, thread);

    return t != NULL &&
           (tms_judge_is_kept(t, step) || (judge->filters && step->event > t->stretch));
}

/* The owner's step moves to its record: another thread is about to access the variable. */
void tms_judge_push_away(struct tms_judge *judge, uint32_t variable)
{
    struct tms_judge_cell *cell = &judge->cells[variable];
    uint32_t owner = cell->owner;
    bool is_kept = is_needed(judge, owner, &cell->last);
    uint32_t number = is_kept ? tms_judge_record(judge, owner, variable)
                              : tms_judge_find_record(judge, cell, owner);

    assert(owner != 0);
    if (number == 0) {
        return;
    }
    tms_judge_settle(judge, number, tms_judge_reads_only, NULL);
    if (!is_kept) {
        tms_judge_drop_record(judge, variable, number);
        return;
    }
    struct tms_judge_record *record = &judge->records.at[number];
    free_reads(judge, record);
    record->step = judge->cells[variable].last;
    record->away = true;
    record->read = record->write = false;
    record->first_read.event = record->first_write.event = 0;
}

/* Does a foreign access since then conflict with the step? */
static bool is_conflict(const struct tms_judge_record *record)
{
    return record->write || (record->read && record->step.kind != TMS_JUDGE_R);
}

static void show_read(struct tms_judge *judge, uint32_t number,
                      const struct tms_judge_foreign *access)
{
    struct tms_judge_record *record = &judge->records.at[number];

    assert(record->away && record->thread != access->thread);
    record->read = true;
    if (record->first_read.event == 0) {
        record->first_read = *access;
    }
    if (access->kind != TMS_JUDGE_R || record->write || record->step.kind == TMS_JUDGE_R ||
        tms_judge_read_of(judge, record, access->thread) != NULL) {
        return;
    }
    uint32_t read = tms_judge_take_read(judge);
    if (read != 0) {
        judge->reads.at[read] = (struct tms_judge_read){*access, record->reads};
        judge->records.at[number].reads = read;
    }
}

static void show_write(struct tms_judge_record *record, const struct tms_judge_foreign *access)
{
    assert(record->away && access->kind != TMS_JUDGE_R);
    record->write = true;
    record->has_read_write = false;
    if (record->first_write.event == 0) {
        record->first_write = *access;
    }
}

void tms_judge_show(struct tms_judge *judge, const struct tms_judge_cell *cell,
                    const struct tms_judge_foreign *access)
{
    uint32_t next;

    for (uint32_t at = cell->records; at != 0; at = next) {
        struct tms_judge_record *record = &judge->records.at[at];
        next = record->next;
        if (!record->away || record->thread == access->thread) {
            continue;
        }
        if (!is_needed(judge, record->thread, &record->step)) {
            tms_judge_drop_record(judge, record->variable, at);
            continue;
        }
        bool conflict = is_conflict(record);
        if (access->kind != TMS_JUDGE_R) {
            show_write(record, access);
        }
        if (access->kind != TMS_JUDGE_W && !access->plain_update) {
            show_read(judge, at, access);
        }
        record = &judge->records.at[at];
        if (!conflict && is_conflict(record) &&
            tms_judge_is_own(tms_judge_thread_at(&judge->threads, record->thread), &record->step)) {
            list_taken_over(judge, at);
        }
    }
}

/* Its open cases must have been decided. */
static void free_record(struct tms_judge *judge, uint32_t number)
{
    assert(number > 0 && judge->records.at[number].thread != 0);
    tms_judge_settle(judge, number, tms_judge_reads_only, NULL);
    tms_judge_unlist(judge, number);
    free_reads(judge, &judge->records.at[number]);
    memset(&judge->records.at[number], 0, sizeof(judge->records.at[number]));
    tms_judge_give_record(judge, number);
}

void tms_judge_drop_record(struct tms_judge *judge, uint32_t variable, uint32_t record)
{
    uint32_t *link = &judge->cells[variable].records;

    assert(judge->records.at[record].variable == variable);
    while (*link != record) {
        assert(*link != 0);
        link = &judge->records.at[*link].next;
    }
    *link = judge->records.at[record].next;
    free_record(judge, record);
}

void tms_judge_drop_records(struct tms_judge *judge, uint32_t variable)
{
    struct tms_judge_cell *cell = &judge->cells[variable];
    uint32_t next;

    for (uint32_t at = cell->records; at != 0; at = next) {
        next = judge->records.at[at].next;
        free_record(judge, at);
    }
    cell->records = 0;
}
