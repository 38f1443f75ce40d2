/* SPDX-License-Identifier: Apache-2.0 */
/* A running transaction of the engine reduction; reduction.h says what is kept of it. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lockset/reduction.h"

#define LEAST_INSIDE 256
#define LEAST_NESTED 64

void tms_rd_clear_running(struct tms_reduction *r, struct tms_reduction_running *running)
{
    struct tms_memory *memory = &r->host->memory;

    tms_release(memory, running->items, running->item_capacity, sizeof(*running->items));
    tms_hashtable_clear(&running->index, memory);
    tms_release(memory, running->sections, running->section_capacity, sizeof(*running->sections));
    tms_release(memory, running->inside, running->inside_capacity, sizeof(*running->inside));
    tms_release(memory, running->nested, running->nested_capacity, sizeof(*running->nested));
}

/* After blocks were removed from the list: finds the open ones of each kind again. */
void tms_rd_link_nested(struct tms_reduction_running *running)
{
    memset(running->innermost, 0, sizeof(running->innermost));
    for (uint32_t i = 0; i < running->nested_count; i++) {
        struct tms_reduction_nested *nested = &running->nested[i];
        if (nested->end == UINT64_MAX) {
            nested->outer = running->innermost[nested->function];
            running->innermost[nested->function] = i + 1;
        }
    }
}

/* Blocks that are open stay: the next transaction may begin inside them. */
void tms_rd_start(struct tms_reduction_running *running)
{
    size_t open = 0;

    for (size_t i = 0; i < running->nested_count; i++) {
        if (running->nested[i].end == UINT64_MAX) {
            running->nested[open++] = running->nested[i];
        }
    }
    running->nested_count = open;
    tms_rd_link_nested(running);
    running->nested_limit = 0;
    running->item_count = 0;
    running->section_count = 0;
    running->inside_count = 0;
    running->inside_limit = LEAST_INSIDE;
    tms_hashtable_empty(&running->index);
}

/* ---- items ------------------------------------------------------------------------------ */

static bool is_item(const struct tms_reduction_item *item, uint32_t target, uint32_t content)
{
    return item->target == target && item->content == content;
}

static struct tms_reduction_item *find_item(struct tms_reduction *r,
                                            struct tms_reduction_running *running, uint32_t target,
                                            uint32_t content)
{
    uint64_t hash = tms_hash((uint64_t)content << 32 | target);
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&running->index, hash, &walk);

    while (found != 0 && !is_item(&running->items[found - 1], target, content)) {
        found = tms_hash_next(&walk);
    }
    if (found == 0) {
        found = (uint32_t)running->item_count + 1;
        if (!RESERVE(r, &running->items, &running->item_capacity, found) ||
            !tms_rd_check(r, tms_hashtable_add(&running->index, &r->host->memory, hash, found))) {
            return NULL;
        }
        running->items[running->item_count++] =
            (struct tms_reduction_item){.target = target, .content = content};
    }
    return &running->items[found - 1];
}

static struct tms_reduction_spot spot_of(const struct tms_op *op)
{
    return (struct tms_reduction_spot){op->event, op->location, op->event_kind, FIRST};
}

/* Another operation on the item. */
static void put_spot(struct tms_reduction_item *item, struct tms_reduction_spot spot)
{
    spot.which = item->spots[FIRST].event == 0    ? FIRST
                 : item->spots[SECOND].event == 0 ? SECOND
                                                  : LAST;
    item->spots[spot.which] = spot;
}

static void put_release(struct tms_reduction_item *item, const struct tms_op *op)
{
    if (item->spots[RELEASED].event == 0) {
        item->spots[RELEASED] = spot_of(op);
        item->spots[RELEASED].which = RELEASED;
    }
}

/* ---- what is inside sections ------------------------------------------------------------ */

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Leaves each variable once in each section, so that a long one does not grow without end. */
static void thin_inside(struct tms_reduction_running *running)
{
    uint32_t *inside = running->inside;
    size_t kept = 0;

    for (size_t i = 0; i < running->section_count; i++) {
        struct tms_reduction_section *section = &running->sections[i];
        size_t end =
            i + 1 < running->section_count ? running->sections[i + 1].start : running->inside_count;
        size_t from = section->start;
        qsort(&inside[from], end - from, sizeof(*inside), by_id);
        section->start = kept;
        for (size_t j = from; j < end; j++) {
            if (kept == section->start || inside[kept - 1] != inside[j]) {
                inside[kept++] = inside[j];
            }
        }
    }
    running->inside_count = kept;
    running->inside_limit = kept < LEAST_INSIDE / 2 ? LEAST_INSIDE : 2 * kept;
}

static void put_inside(struct tms_reduction *r, struct tms_reduction_running *running,
                       uint32_t variable)
{
    size_t count = running->inside_count;

    if (count > running->sections[running->section_count - 1].start &&
        running->inside[count - 1] == variable) {
        return;
    }
    if (count >= running->inside_limit) {
        thin_inside(running);
    }
    if (RESERVE(r, &running->inside, &running->inside_capacity, running->inside_count + 1)) {
        running->inside[running->inside_count++] = variable;
    }
}

static uint32_t content_of(struct tms_reduction *r, struct tms_reduction_running *running,
                           const struct tms_reduction_section *section)
{
    size_t count = running->inside_count - section->start;
    const uint32_t *variables = count > 0 ? &running->inside[section->start] : NULL;

    if (!r->host->settings->acq_rel || running->busy > section->acquired.event) {
        return BUSY;
    }
    for (size_t i = 0; i < count; i++) {
        if (tms_races_contact(&r->movers.races, variables[i])) {
            return BUSY;
        }
    }
    return tms_lockset_make(&r->contents, variables, count);
}

/* ---- operations ------------------------------------------------------------------------- */

void tms_rd_access(struct tms_reduction *r, struct tms_reduction_running *running,
                   const struct tms_op *op)
{
    struct tms_reduction_item *item = find_item(r, running, op->target, ACCESS);

    if (item == NULL) {
        return;
    }
    put_spot(item, spot_of(op));
    if (tms_races_contact(&r->movers.races, op->target)) {
        running->busy = op->event;
    } else if (running->section_count > 0 && r->host->settings->acq_rel) {
        put_inside(r, running, op->target);
    }
}

void tms_rd_acquire(struct tms_reduction *r, struct tms_reduction_running *running,
                    const struct tms_op *op)
{
    if (RESERVE(r, &running->sections, &running->section_capacity, running->section_count + 1)) {
        running->sections[running->section_count++] =
            (struct tms_reduction_section){op->target, running->inside_count, spot_of(op)};
    }
}

/* If the lock was taken before the transaction began, all in it so far was done under it. */
void tms_rd_release(struct tms_reduction *r, struct tms_reduction_running *running,
                    const struct tms_op *op)
{
    size_t at = running->section_count;

    while (at > 0 && running->sections[at - 1].lock != op->target) {
        at--;
    }
    struct tms_reduction_section *section = at > 0 ? &running->sections[at - 1] : NULL;
    uint32_t content = section != NULL ? content_of(r, running, section) : BUSY;
    struct tms_reduction_item *item = find_item(r, running, op->target, content);
    if (item == NULL) {
        return;
    }
    put_release(item, op);
    if (section != NULL) {
        put_spot(item, section->acquired);
        memmove(section, section + 1, (running->section_count - at) * sizeof(*section));
        running->section_count--;
        running->inside_count = running->section_count == 0 ? 0 : running->inside_count;
    }
}

/* ---- the word of a transaction ---------------------------------------------------------- */

static int by_event(const void *a, const void *b)
{
    uint64_t x = ((const struct tms_reduction_token *)a)->spot.event;
    uint64_t y = ((const struct tms_reduction_token *)b)->spot.event;

    return (x > y) - (x < y);
}

/* Locks that are held still are in it as acquires without a release. */
static bool spell_tokens(struct tms_reduction *r, const struct tms_reduction_running *running)
{
    size_t most = running->item_count * SPOTS + running->section_count;

    if (!RESERVE(r, &r->word, &r->word_capacity, most)) {
        return false;
    }
    r->word_count = 0;
    for (size_t i = 0; i < running->section_count; i++) {
        r->word[r->word_count++] = (struct tms_reduction_token){running->sections[i].lock, BUSY,
                                                                running->sections[i].acquired};
    }
    for (size_t i = 0; i < running->item_count; i++) {
        const struct tms_reduction_item *item = &running->items[i];
        for (int which = 0; which < SPOTS; which++) {
            if (item->spots[which].event != 0) {
                r->word[r->word_count++] =
                    (struct tms_reduction_token){item->target, item->content, item->spots[which]};
            }
        }
    }
    assert(r->word_count <= r->word_capacity);
    if (r->word_count > 1) {
        qsort(r->word, r->word_count, sizeof(*r->word), by_event);
    }
    return true;
}

/* How many tokens come before the event. */
static uint32_t tokens_before(const struct tms_reduction *r, uint64_t event)
{
    size_t low = 0, high = r->word_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->word[middle].spot.event < event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint32_t)low;
}

/* Drops the closed blocks with fewer than two tokens: they can't be refuted, now or later. */
static void place_nested(const struct tms_reduction *r, struct tms_reduction_running *running)
{
    size_t kept = 0;

    for (size_t i = 0; i < running->nested_count; i++) {
        struct tms_reduction_nested *nested = &running->nested[i];
        nested->from = tokens_before(r, nested->block.begin_event);
        nested->to = tokens_before(r, nested->end);
        assert(nested->from <= nested->to && nested->to <= r->word_count);
        if (nested->end == UINT64_MAX || nested->to >= nested->from + 2) {
            running->nested[kept++] = *nested;
        }
    }
    running->nested_count = kept;
    tms_rd_link_nested(running);
}

bool tms_rd_spell(struct tms_reduction *r, struct tms_reduction_running *running)
{
    if (!spell_tokens(r, running)) {
        return false;
    }
    place_nested(r, running);
    return true;
}

/* ---- nested blocks ---------------------------------------------------------------------- */

/*
 * A loop may go through many nested blocks. Tokens only ever leave a closed one, when something
 * comes later than what was the last, so those without enough of them can go at any time.
 */
static bool thin_nested(struct tms_reduction *r, struct tms_reduction_running *running)
{
    if (!spell_tokens(r, running)) {
        return false;
    }
    place_nested(r, running);
    running->nested_limit =
        running->nested_count < LEAST_NESTED / 2 ? LEAST_NESTED : 2 * running->nested_count;
    return true;
}

void tms_rd_nest(struct tms_reduction *r, struct tms_reduction_running *running,
                 const struct tms_op *op)
{
    if (running->nested_limit == 0) {
        running->nested_limit = LEAST_NESTED + running->nested_count;
    }
    if (running->nested_count >= running->nested_limit && !thin_nested(r, running)) {
        return;
    }
    if (RESERVE(r, &running->nested, &running->nested_capacity, running->nested_count + 1)) {
        uint32_t *innermost = &running->innermost[op->event_kind == TMS_EVENT_ENTER];
        assert(*innermost <= running->nested_count);
        running->nested[running->nested_count++] = (struct tms_reduction_nested){
            .block = {op->event, op->thread, op->target, op->location, false},
            .end = UINT64_MAX,
            .outer = *innermost,
            .function = op->event_kind == TMS_EVENT_ENTER,
        };
        *innermost = (uint32_t)running->nested_count;
    }
}

/* `end` and `exit` close the innermost of their kind; if none of them is open, the outermost. */
void tms_rd_unnest(struct tms_reduction_running *running, const struct tms_op *op)
{
    uint32_t *innermost = &running->innermost[op->event_kind == TMS_EVENT_EXIT];

    if (*innermost == 0) {
        running->headless = true;
        return;
    }
    struct tms_reduction_nested *nested = &running->nested[*innermost - 1];
    assert(nested->end == UINT64_MAX && nested->outer < *innermost);
    nested->end = op->event;
    *innermost = nested->outer;
}
