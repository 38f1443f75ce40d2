/* SPDX-License-Identifier: Apache-2.0 */
/* The race tests; race_test.h says what they are. */
#include "lockset/race_test.h"

#include <assert.h>
#include <string.h>

#define LEAST_CELLS 64
#define LEAST_MANY  8

/* ---- short lists ------------------------------------------------------------------------ */

static uint32_t *items(struct tms_few *few)
{
    return few->capacity == 0 ? few->some : few->many;
}

static void clear_few(struct tms_memory *memory, struct tms_few *few)
{
    if (few->capacity != 0) {
        tms_release(memory, few->many, few->capacity, sizeof(*few->many));
    }
    *few = (struct tms_few){0};
}

static bool grow_few(struct tms_memory *memory, struct tms_few *few)
{
    uint32_t capacity = few->capacity == 0 ? LEAST_MANY : 2 * few->capacity;
    uint32_t *old = few->capacity == 0 ? NULL : few->many;
    uint32_t *many = tms_resize(memory, old, few->capacity, capacity, sizeof(*many));

    if (many == NULL) {
        return false;
    }
    if (old == NULL) {
        memcpy(many, few->some, sizeof(few->some));
    }
    assert(few->count <= capacity);
    few->many = many;
    few->capacity = capacity;
    return true;
}

static void add_few(struct tms_races *races, struct tms_few *few, uint32_t item)
{
    bool full = few->count == (few->capacity == 0 ? TMS_FEW : few->capacity);

    if (full && !grow_few(&races->host->memory, few)) {
        tms_host_fail(races->host, TMS_ERR_MEMORY);
        return;
    }
    assert(few->count < (few->capacity == 0 ? TMS_FEW : few->capacity));
    items(few)[few->count++] = item;
}

/* ---- contacts --------------------------------------------------------------------------- */

/* Is the period in the list already? Then it was compared with whatever else is known. */
static bool has_period(struct tms_few *list, uint32_t period)
{
    const uint32_t *known = items(list);

    for (uint32_t i = 0; i < list->count; i++) {
        if (known[i] == period) {
            return true;
        }
    }
    return false;
}

static bool meets(struct tms_races *races, struct tms_few *list, uint32_t period)
{
    const uint32_t *known = items(list);

    for (uint32_t i = 0; i < list->count; i++) {
        if (tms_periods_parallel(races->periods, known[i], period)) {
            return true;
        }
    }
    return false;
}

/* It becomes the last period of its line. */
static void put_period(struct tms_races *races, struct tms_few *list, uint32_t period)
{
    uint32_t *known = items(list);
    uint32_t line = races->periods->periods[period].line;

    assert(period > 0 && period < races->periods->period_count);
    for (uint32_t i = 0; i < list->count; i++) {
        if (races->periods->periods[known[i]].line == line) {
            known[i] = period;
            return;
        }
    }
    add_few(races, list, period);
}

static void read_contacts(struct tms_races *races, struct tms_race_cell *cell, uint32_t period)
{
    assert(period != 0);
    if (!cell->read_write && !has_period(&cell->readers, period)) {
        cell->read_write = meets(races, &cell->writers, period);
        put_period(races, &cell->readers, period);
    }
}

static void write_contacts(struct tms_races *races, struct tms_race_cell *cell, uint32_t period)
{
    bool known = cell->read_write && cell->write_write;

    assert(period != 0);
    if (!known && !has_period(&cell->writers, period)) {
        cell->read_write = cell->read_write || meets(races, &cell->readers, period);
        cell->write_write = cell->write_write || meets(races, &cell->writers, period);
        put_period(races, &cell->writers, period);
    }
}

/* ---- the tests -------------------------------------------------------------------------- */

static bool writes(const struct tms_op *op)
{
    return op->kind != TMS_OP_READ;
}

static bool has_contact(const struct tms_race_cell *cell)
{
    return cell->read_write || cell->write_write;
}

/* The access set of a variable that has just become shared holds all locks: the first refines it.
 */
static bool test_eraser(struct tms_races *races, struct tms_race_cell *cell,
                        const struct tms_op *op, struct tms_held held)
{
    uint32_t locks = writes(op) ? held.exclusive : held.any;

    cell->access_set =
        cell->shared ? tms_lockset_intersection(races->sets, cell->access_set, locks) : locks;
    cell->shared = true;
    cell->written = cell->written || writes(op);
    return cell->written && cell->access_set == TMS_LOCKSET_EMPTY && has_contact(cell);
}

static bool test_atomizer(struct tms_races *races, struct tms_race_cell *cell,
                          const struct tms_op *op, struct tms_held held)
{
    uint32_t locks = writes(op) ? held.exclusive : held.any;

    cell->access_set =
        cell->shared ? tms_lockset_intersection(races->sets, cell->access_set, locks) : locks;
    cell->shared = true;
    if (writes(op)) {
        cell->write_set =
            cell->written ? tms_lockset_intersection(races->sets, cell->write_set, locks) : locks;
        cell->written = true;
        return cell->access_set == TMS_LOCKSET_EMPTY && has_contact(cell);
    }
    return cell->written && has_contact(cell) &&
           tms_lockset_disjoint(races->sets, cell->write_set, locks);
}

/*
 * Figure 3 keeps a set if no known one *is a subset of* it, and removes those that it is a subset
 * of. (In print, what is removed is what the first test has just shown not to be there.)
 */
static void add_read_set(struct tms_races *races, struct tms_race_cell *cell, uint32_t locks)
{
    uint32_t *known = items(&cell->read_sets);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cell->read_sets.count; i++) {
        if (tms_lockset_within(races->sets, known[i], locks)) {
            return;
        }
    }
    for (uint32_t i = 0; i < cell->read_sets.count; i++) {
        if (!tms_lockset_within(races->sets, locks, known[i])) {
            known[kept++] = known[i];
        }
    }
    assert(kept <= cell->read_sets.count);
    cell->read_sets.count = kept;
    add_few(races, &cell->read_sets, locks);
}

static bool has_open_read(struct tms_races *races, struct tms_race_cell *cell)
{
    const uint32_t *known = items(&cell->read_sets);

    assert(cell->written);
    for (uint32_t i = 0; i < cell->read_sets.count; i++) {
        if (tms_lockset_disjoint(races->sets, known[i], cell->write_set)) {
            return true;
        }
    }
    return false;
}

static bool test_multilockset(struct tms_races *races, struct tms_race_cell *cell,
                              const struct tms_op *op, struct tms_held held)
{
    if (writes(op)) {
        cell->write_set =
            cell->written ? tms_lockset_intersection(races->sets, cell->write_set, held.exclusive)
                          : held.exclusive;
        cell->written = true;
    } else {
        add_read_set(races, cell, held.any);
    }
    if (!cell->written) {
        return false;
    }
    return cell->write_set == TMS_LOCKSET_EMPTY ? has_contact(cell)
                                                : cell->read_write && has_open_read(races, cell);
}

/* ---- the interface ---------------------------------------------------------------------- */

void tms_races_init(struct tms_races *races, struct tms_host *host, struct tms_locksets *sets,
                    struct tms_periods *periods, enum tms_race_test test)
{
    static const struct tms_race_rules rules[] = {
        [TMS_RACE_MULTILOCKSET] = {0, test_multilockset},
        [TMS_RACE_ERASER] = {1, test_eraser},
        [TMS_RACE_PRAUN_GROSS] = {2, test_eraser},
        [TMS_RACE_ATOMIZER] = {1, test_atomizer},
    };

    assert(rules[test].access != NULL);
    *races = (struct tms_races){host, sets, periods, &rules[test], NULL, 0, 0};
}

static void renew(struct tms_races *races, struct tms_race_cell *cell)
{
    struct tms_memory *memory = &races->host->memory;

    clear_few(memory, &cell->readers);
    clear_few(memory, &cell->writers);
    clear_few(memory, &cell->read_sets);
    *cell = (struct tms_race_cell){.contact = cell->contact, .racy = cell->racy};
}

void tms_races_clear(struct tms_races *races)
{
    for (size_t i = 0; i < races->cell_capacity; i++) {
        renew(races, &races->cells[i]);
    }
    if (races->host != NULL) {
        tms_release(&races->host->memory, races->cells, races->cell_capacity,
                    sizeof(*races->cells));
    }
    *races = (struct tms_races){0};
}

void tms_races_forget(struct tms_races *races, uint32_t variable)
{
    if (variable < races->cell_capacity) {
        renew(races, &races->cells[variable]);
    }
}

/* Does the variable still belong to one thread, perhaps another one from here on? */
static bool is_owned(struct tms_races *races, struct tms_race_cell *cell, uint32_t period)
{
    uint8_t most = races->rules->owners;

    if (cell->shared || most == 0) {
        return false;
    }
    bool passes_on = cell->owners == 0 || tms_periods_parallel(races->periods, cell->owner, period);
    cell->owners += passes_on && cell->owners <= most;
    cell->owner = period;
    return cell->owners <= most;
}

bool tms_races_access(struct tms_races *races, const struct tms_op *op, struct tms_held held,
                      uint32_t period)
{
    if (!TMS_RESERVE(&races->host->memory, &races->cells, &races->cell_capacity,
                     (size_t)op->target + 1, LEAST_CELLS)) {
        tms_host_fail(races->host, TMS_ERR_MEMORY);
        return false;
    }
    struct tms_race_cell *cell = &races->cells[op->target];
    if (writes(op)) {
        write_contacts(races, cell, period);
    } else {
        read_contacts(races, cell, period);
    }
    cell->contact = cell->contact || has_contact(cell);
    bool race = !is_owned(races, cell, period) && races->rules->access(races, cell, op, held);
    assert(!race || cell->contact);
    races->racy += race && !cell->racy;
    cell->racy = cell->racy || race;
    return race;
}
