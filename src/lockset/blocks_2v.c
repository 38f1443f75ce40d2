/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theorem 4: two transactions and two variables. A 2v-block is a pair of initial reads or final
 * writes on different variables; two of them make a pattern if the operations on both variables
 * conflict, and can come in opposite order (6.2):
 *
 *   x y against x y   both operations of one block come between those of the other
 *   x y against y x   the first operation of one block comes between those of the other; whatever
 *                     comes then, both transactions are before and after each other
 *
 * The first needs all the locks that the inner transaction holds on its way from one operation to
 * the other: held(e1), held(e2) and heldmid(e1, e2) of the paper, here one set, `ever`.
 *
 * One of the two blocks is *open*: a single operation of another thread, on one of its variables,
 * can come between. In a program that locks well few are, so the open ones are found first, and
 * of the others only those on the same two variables are made.
 */
#include <assert.h>

#include "lockset/blocks.h"

/* Beyond so many steps the rest is not looked at; they take some seconds. */
#define STEPS_MOST  ((uint64_t)1 << 27)
#define BLOCKS_MOST ((size_t)1 << 22)

struct pair_key {
    uint32_t low, high; /* cells */
};

struct pair {
    struct pair_key key;
    uint32_t blocks; /* the first, or 0 */
};

struct two_key {
    uint32_t first, second; /* cells */
    uint32_t writes;        /* WRITES_FIRST, WRITES_SECOND */
    struct tms_held at_first;
    struct tms_held through; /* held all the way */
    struct tms_held ever;    /* held at some time, both ends included */
    uint32_t period;
    uint32_t label;
};

enum { WRITES_FIRST = 1, WRITES_SECOND = 2 };

struct two {
    struct two_key key;
    uint32_t next; /* of its pair */
    uint32_t flow;
    uint32_t at_first, at_second; /* items */
    bool open;
};

struct entry_key {
    uint32_t cell;
    uint32_t writes;
    uint32_t period;
    struct tms_held held;
};

/* Can an operation that conflicts with one on this cell come where these locks are held? */
struct entry {
    struct entry_key key;
    bool possible;
};

struct twos {
    struct tms_blocks_engine *b;
    struct tms_intern_table pairs, blocks, entries;
    uint64_t steps;
};

static bool gave_up(const struct twos *t)
{
    return t->steps > STEPS_MOST || tms_intern_table_count(&t->blocks) > BLOCKS_MOST ||
           t->b->host->failed != TMS_OK;
}

/* 0 when memory is short, and the host knows. */
static uint32_t intern(struct twos *t, struct tms_intern_table *rows, const void *key, bool *is_new)
{
    uint32_t number = tms_intern_table_add(rows, key, is_new);

    if (number == 0) {
        tms_host_fail(t->b->host, TMS_ERR_MEMORY);
    }
    return number;
}

/* ---- open blocks ------------------------------------------------------------------------- */

static bool find_entry(struct tms_blocks_engine *b, const struct entry_key *key)
{
    if (tms_blocks_kept_out(b, key->cell, KIND_WRITE, key->held) &&
        (key->writes == 0 || tms_blocks_kept_out(b, key->cell, KIND_READ, key->held))) {
        return false;
    }
    for (uint32_t i = b->cells[key->cell].points; i != 0;) {
        const struct tms_blocks_class *class = tms_blocks_class(b, i);
        bool conflicts =
            class->key.what == POINT_FINAL || (class->key.what == POINT_READ && key->writes != 0);
        if (conflicts && !tms_blocks_apart(b, key->held, class->key.held) &&
            tms_blocks_parallel_use(b, class, key->period) != 0) {
            return true;
        }
        i = class->next;
    }
    return false;
}

static bool can_enter(struct twos *t, const struct entry_key *key)
{
    bool is_new;
    uint32_t number = intern(t, &t->entries, key, &is_new);

    if (is_new) {
        bool possible = find_entry(t->b, key);
        ((struct entry *)tms_intern_table_row(&t->entries, number))->possible = possible;
    }
    return number != 0 && ((struct entry *)tms_intern_table_row(&t->entries, number))->possible;
}

static bool is_open(struct twos *t, const struct two_key *key)
{
    const struct entry_key first = {key->first, key->writes & WRITES_FIRST, key->period,
                                    key->through};
    const struct entry_key second = {key->second, key->writes & WRITES_SECOND, key->period,
                                     key->through};

    return can_enter(t, &first) || can_enter(t, &second);
}

/* ---- making blocks ----------------------------------------------------------------------- */

static struct pair_key pair_of(const struct two_key *key)
{
    bool ascending = key->first < key->second;

    assert(key->first != key->second);
    return ascending ? (struct pair_key){key->first, key->second}
                     : (struct pair_key){key->second, key->first};
}

static void keep_block(struct twos *t, const struct two *block, uint32_t pair_number)
{
    bool is_new;
    uint32_t number = intern(t, &t->blocks, &block->key, &is_new);

    assert(pair_number > 0 && block->at_first < block->at_second);
    if (is_new) {
        struct pair *pair = tms_intern_table_row(&t->pairs, pair_number);
        struct two *kept = tms_intern_table_row(&t->blocks, number);
        *kept = *block;
        kept->next = pair->blocks;
        pair->blocks = number;
    }
}

static void keep_if_open(struct twos *t, struct two *block)
{
    struct pair_key pair = pair_of(&block->key);
    bool is_new;

    block->open = is_open(t, &block->key);
    if (block->open) {
        uint32_t number = intern(t, &t->pairs, &pair, &is_new);
        if (number != 0) {
            keep_block(t, block, number);
        }
    }
}

static void keep_if_known(struct twos *t, struct two *block)
{
    struct pair_key pair = pair_of(&block->key);
    uint32_t number = tms_intern_table_find(&t->pairs, &pair);

    if (number != 0) {
        keep_block(t, block, number);
    }
}

typedef void taker(struct twos *t, struct two *block);

/* The blocks that begin with this item of the flow. */
static void blocks_from(struct twos *t, uint32_t number, uint32_t first, taker *take)
{
    struct tms_blocks_engine *b = t->b;
    const struct tms_blocks_flow *flow = tms_blocks_flow(b, number);
    const struct tms_blocks_item *items = &b->items[flow->items];
    struct tms_held through = items[first].held, ever = items[first].held;

    assert(first < flow->count && tms_blocks_is_access(&items[first]));
    for (uint32_t i = first + 1; i < flow->count && !gave_up(t); i++) {
        t->steps++;
        if (!tms_blocks_is_access(&items[i])) {
            through = tms_held_both(&b->locksets, through, items[i].held);
            ever = tms_blocks_held_either(b, ever, items[i].held);
        } else if (items[i].target != items[first].target &&
                   tms_blocks_contended(b, items[i].target)) {
            struct two block = {
                .key = {items[first].target, items[i].target,
                        (items[first].kind == ITEM_WRITE ? WRITES_FIRST : 0) |
                            (items[i].kind == ITEM_WRITE ? WRITES_SECOND : 0),
                        items[first].held, through, ever, flow->period,
                        b->transactions[flow->transaction].label},
                .flow = number,
                .at_first = first,
                .at_second = i,
            };
            take(t, &block);
        }
    }
}

static void each_block(struct twos *t, taker *take)
{
    const struct tms_blocks_engine *b = t->b;
    size_t count = tms_intern_table_count(&b->flows);

    for (size_t i = 1; i <= count; i++) {
        const struct tms_blocks_flow *flow = tms_blocks_flow(b, (uint32_t)i);
        for (uint32_t j = 0; j < flow->count && !gave_up(t); j++) {
            const struct tms_blocks_item *item = &b->items[flow->items + j];
            if (tms_blocks_is_access(item) && tms_blocks_contended(b, item->target)) {
                blocks_from(t, (uint32_t)i, j, take);
            }
        }
    }
}

/* ---- comparing --------------------------------------------------------------------------- */

/* Do the operations on each of the two variables conflict? */
static bool conflict(const struct two_key *x, const struct two_key *y)
{
    uint32_t writes = y->writes;

    assert(x->first == y->first || x->first == y->second);
    if (x->first != y->first) {
        writes = (writes & WRITES_FIRST ? WRITES_SECOND : 0) |
                 (writes & WRITES_SECOND ? WRITES_FIRST : 0);
    }
    return (x->writes | writes) == (WRITES_FIRST | WRITES_SECOND);
}

/* Can `other` come into `open`, so that neither transaction is first? */
static bool cuts(struct tms_blocks_engine *b, const struct two_key *open,
                 const struct two_key *other)
{
    bool aligned = open->first == other->first;

    return conflict(open, other) &&
           !tms_blocks_apart(b, open->through, aligned ? other->ever : other->at_first) &&
           tms_periods_parallel(&b->periods, open->period, other->period);
}

static struct tms_blocks_operation operation_of(const struct tms_blocks_engine *b,
                                                const struct two *block, uint32_t number)
{
    const struct tms_blocks_flow *flow = tms_blocks_flow(b, block->flow);
    const struct tms_blocks_item *item = &b->items[flow->items + number];

    assert(number < flow->count);
    return (struct tms_blocks_operation){flow->transaction, item->target, &item->at};
}

static void report(struct twos *t, const struct two *cut, const struct two *culprit)
{
    assert(cut->open && cut->key.period != culprit->key.period);
    struct tms_blocks_engine *b = t->b;
    struct tms_blocks_flow *flow = tms_blocks_flow(b, cut->flow);
    const struct tms_blocks_operation operation[] = {
        operation_of(b, cut, cut->at_first),
        operation_of(b, cut, cut->at_second),
        operation_of(b, culprit, culprit->at_first),
        operation_of(b, culprit, culprit->at_second),
    };
    /* If the culprit can't get to its second operation while the cut one waits, that comes last. */
    bool inside = !tms_blocks_apart(b, cut->key.through, culprit->key.ever);

    flow->cut = true;
    tms_blocks_report_two(b, operation, tms_blocks_refuted(b, flow, cut->at_first, cut->at_second),
                          cut->key.first == culprit->key.first, inside);
}

static void compare_pair(struct twos *t, const struct pair *pair)
{
    assert(pair->key.low < pair->key.high);
    for (uint32_t i = pair->blocks; i != 0;) {
        const struct two *open = tms_intern_table_row(&t->blocks, i);
        for (uint32_t j = open->open ? pair->blocks : 0; j != 0 && !gave_up(t);) {
            const struct two *other = tms_intern_table_row(&t->blocks, j);
            t->steps++;
            if (cuts(t->b, &open->key, &other->key)) {
                report(t, open, other);
                break;
            }
            j = other->next;
        }
        i = open->next;
    }
}

void tms_blocks_compare_two(struct tms_blocks_engine *b)
{
    struct twos t = {.b = b};

    tms_intern_table_init(&t.pairs, b->memory, sizeof(struct pair), sizeof(struct pair_key));
    tms_intern_table_init(&t.blocks, b->memory, sizeof(struct two), sizeof(struct two_key));
    tms_intern_table_init(&t.entries, b->memory, sizeof(struct entry), sizeof(struct entry_key));
    each_block(&t, keep_if_open);
    each_block(&t, keep_if_known);
    size_t count = tms_intern_table_count(&t.pairs);
    for (size_t i = 1; i <= count && !gave_up(&t); i++) {
        compare_pair(&t, tms_intern_table_row(&t.pairs, (uint32_t)i));
    }
    if (gave_up(&t)) {
        b->host->loss = TMS_BLOCKS_GAVE_UP_PAIRS;
    }
    b->seen.twos = tms_intern_table_count(&t.blocks);
    b->seen.pair_steps = t.steps;
    tms_intern_table_clear(&t.pairs);
    tms_intern_table_clear(&t.blocks);
    tms_intern_table_clear(&t.entries);
}
