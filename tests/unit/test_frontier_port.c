/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core of the frontier engine with a port that is neither the library's nor the runtime's: when
 * it calls which function, and that it has no other input or output.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#undef fail /* the port has a member of that name */
#include "frontier/frontier.h"

enum { THREADS = 3, VARIABLES = 8, LABEL = 7 };

struct bench {
    struct tms_frontier f;
    struct tms_memory memory;
    uint64_t events;
    uint64_t begin[THREADS]; /* of the running transaction, as the history has it */
    uint64_t unopened[THREADS];
    unsigned begins, ends, finds, violations, failures, woken_sources, woken, asked;
    uint64_t ended;
    int failed_with, refuse_with;
    bool no_history, renews, keeps_slots;
    struct tms_violation violation;
};

/* ---- memory ----------------------------------------------------------------------------- */

static struct {
    size_t bytes;
    unsigned allowed; /* further allocations */
} heap;

static void *heap_resize(void *block, size_t old_bytes, size_t new_bytes)
{
    if (heap.allowed == 0) {
        return NULL;
    }
    heap.allowed--;
    char *grown = realloc(block, new_bytes);
    assert_non_null(grown);
    size_t kept = block == NULL ? 0 : old_bytes;
    if (new_bytes > kept) {
        memset(grown + kept, 0, new_bytes - kept);
    }
    heap.bytes += new_bytes - kept;
    return grown;
}

static void heap_release(void *block, size_t bytes)
{
    assert_non_null(block);
    assert_true(heap.bytes >= bytes);
    heap.bytes -= bytes;
    free(block);
}

static const struct tms_allocator allocator = {.resize = heap_resize, .release = heap_release};

/* ---- the port --------------------------------------------------------------------------- */

static bool begin(struct tms_frontier *f, struct tms_frontier_thread *t, const struct tms_op *op)
{
    struct bench *bench = f->user;

    assert_int_equal(op->target, LABEL);
    assert_int_equal(bench->begin[t->id], 0);
    bench->begin[t->id] = op->event;
    bench->begins++;
    return !bench->no_history;
}

/* The two without a way to the bench. */
static struct bench *current;

static void end(struct tms_frontier_thread *t, uint64_t event)
{
    assert_true(current->begin[t->id] != 0);
    current->begin[t->id] = 0;
    current->ended = event;
    current->ends++;
}

static struct tms_transaction find(const struct tms_frontier_thread *t, uint64_t event,
                                   uint32_t place)
{
    uint64_t begun = current->begin[t->id];

    current->finds++;
    if (begun != 0 && begun <= event) {
        return (struct tms_transaction){.begin_event = begun, .thread = t->id, .label = LABEL};
    }
    return (struct tms_transaction){
        .begin_event = event, .thread = t->id, .location = place, .unary = true};
}

static int violation(struct tms_frontier *f, const struct tms_violation *found)
{
    struct bench *bench = f->user;

    bench->violations++;
    bench->violation = *found;
    return bench->refuse_with;
}

static void failed(struct tms_frontier *f, int code)
{
    struct bench *bench = f->user;

    assert_int_equal(f->failed, code);
    bench->failures++;
    bench->failed_with = code;
}

static bool renewed(const struct tms_frontier *f, const struct tms_op *first,
                    const struct tms_op *second)
{
    struct bench *bench = f->user;

    assert_int_equal(first->target, second->target);
    assert_true(first->event < second->event);
    bench->asked++;
    return bench->renews;
}

static void open_late(struct tms_frontier *f, struct tms_frontier_thread *t)
{
    struct bench *bench = f->user;

    if (bench->unopened[t->id] != 0) {
        assert_true(tms_frontier_open(f, t, bench->unopened[t->id]));
        bench->unopened[t->id] = 0;
    }
}

static void wake_source(struct tms_frontier *f, uint32_t slot, uint64_t event)
{
    struct bench *bench = f->user;

    bench->woken_sources++;
    if (bench->unopened[f->threads[slot]->id] <= event) {
        open_late(f, f->threads[slot]);
    }
}

static void wake(struct tms_frontier *f, struct tms_frontier_thread *t)
{
    struct bench *bench = f->user;

    bench->woken++;
    open_late(f, t);
}

static bool may_reuse(const struct tms_frontier *f, uint32_t slot, const struct tms_op *op)
{
    const struct bench *bench = f->user;

    assert_true(slot < f->slot_count && op->thread != 0);
    return !bench->keeps_slots;
}

static const struct tms_frontier_port eager = {
    .begin = begin,
    .end = end,
    .find = find,
    .violation = violation,
    .fail = failed,
    .renewed = renewed,
    .may_reuse = may_reuse,
    .memory = &allocator,
};

static const struct tms_frontier_port lazy = {
    .begin = begin,
    .end = end,
    .find = find,
    .violation = violation,
    .fail = failed,
    .renewed = renewed,
    .wake_source = wake_source,
    .wake = wake,
    .memory = &allocator,
};

/* ---- the bench -------------------------------------------------------------------------- */

static int setup(void **state)
{
    static struct bench bench;

    memset(&bench, 0, sizeof(bench));
    heap.bytes = 0;
    heap.allowed = UINT32_MAX;
    *state = current = &bench;
    return 0;
}

/* All that came from the port's allocator has gone back to it. */
static int teardown(void **state)
{
    struct bench *bench = *state;

    tms_frontier_clear(&bench->f);
    assert_int_equal(heap.bytes, 0);
    assert_int_equal(bench->memory.bytes, 0);
    return 0;
}

static bool start(struct bench *bench, const struct tms_frontier_port *port)
{
    struct tms_frontier *f = &bench->f;

    return tms_frontier_set_up(f, port, bench, &bench->memory, true) == TMS_OK &&
           tms_log_start(f, &f->forgotten) &&
           tms_cells_grow(f, &f->cells[TMS_PLACE_VARIABLE], VARIABLES);
}

static uint64_t put(struct bench *bench, uint32_t thread, enum tms_op_kind kind,
                    enum tms_event_kind event_kind, uint32_t target)
{
    struct tms_frontier *f = &bench->f;
    bool first = thread >= f->id_capacity || f->by_id[thread] == NULL;
    struct tms_op ops[1 + TMS_OPS_AHEAD] = {{.event = ++bench->events,
                                             .thread = thread,
                                             .target = target,
                                             .event_kind = (uint8_t)event_kind,
                                             .kind = (uint8_t)kind,
                                             .flags = first ? TMS_OP_FIRST : 0}};

    if (f->failed == TMS_OK) {
        tms_frontier_take(f, ops, 1);
    }
    return bench->events;
}

/* Thread 1 reads x, thread 2 writes it, thread 1 writes it: the event that closes the cycle. */
static uint64_t lose_update(struct bench *bench)
{
    put(bench, 1, TMS_OP_READ, TMS_EVENT_READ, 1);
    put(bench, 2, TMS_OP_WRITE, TMS_EVENT_WRITE, 1);
    return put(bench, 1, TMS_OP_WRITE, TMS_EVENT_WRITE, 1);
}

/* ---- tests ------------------------------------------------------------------------------ */

static void a_violation_is_handed_over_at_the_end(void **state)
{
    struct bench *bench = *state;

    assert_true(start(bench, &eager));
    uint64_t begun = put(bench, 1, TMS_OP_BEGIN, TMS_EVENT_BEGIN, LABEL);
    uint64_t closing = lose_update(bench);
    assert_int_equal(bench->f.first_violation, closing);
    assert_int_equal(bench->f.closing_edges, 1);
    assert_int_equal(bench->violations, 0);
    assert_true(bench->finds > 0);
    assert_int_equal(bench->asked, 1);
    uint64_t last = put(bench, 1, TMS_OP_END, TMS_EVENT_END, LABEL);
    assert_int_equal(bench->violations, 1);
    assert_int_equal(bench->violation.event, closing);
    assert_int_equal(bench->violation.cycle_length, 2);
    assert_true(bench->violation.not_atomic);
    assert_int_equal(bench->violation.transaction.begin_event, begun);
    assert_int_equal(bench->violation.transaction.label, LABEL);
    assert_int_equal(bench->begins, 1);
    assert_int_equal(bench->ends, 1);
    assert_int_equal(bench->ended, last);
    assert_int_equal(bench->failures, 0);
    tms_frontier_settle(&bench->f, bench->f.by_id[1]);
    assert_int_equal(bench->violations, 1);
}

static void what_runs_is_handed_over_when_settled(void **state)
{
    struct bench *bench = *state;

    assert_true(start(bench, &eager));
    put(bench, 1, TMS_OP_BEGIN, TMS_EVENT_BEGIN, LABEL);
    lose_update(bench);
    tms_frontier_settle(&bench->f, bench->f.by_id[1]);
    assert_int_equal(bench->violations, 1);
    assert_int_equal(bench->ends, 0);
}

/* The way through the matrix does not ask. */
static void a_renewed_variable_is_no_witness_by_itself(void **state)
{
    struct bench *bench = *state;

    bench->renews = true;
    assert_true(start(bench, &eager));
    put(bench, 1, TMS_OP_BEGIN, TMS_EVENT_BEGIN, LABEL);
    lose_update(bench);
    put(bench, 1, TMS_OP_END, TMS_EVENT_END, LABEL);
    assert_int_equal(bench->asked, 1);
    assert_int_equal(bench->violations, 1);
    assert_int_equal(bench->violation.cycle_length, 2);
}

/* Transactions that the port keeps for itself until an edge leaves or enters them. */
static void a_late_row_is_as_good_as_an_early_one(void **state)
{
    struct bench *bench = *state;

    assert_true(start(bench, &lazy));
    put(bench, 1, TMS_OP_STEP, TMS_EVENT_WAIT, 0);
    bench->begin[1] = bench->unopened[1] = bench->events + 1;
    bench->events++;
    uint64_t closing = lose_update(bench);
    assert_int_equal(bench->woken_sources, 2); /* the edges to the other thread and back */
    assert_int_equal(bench->woken, 2);
    assert_int_equal(bench->unopened[1], 0);
    assert_int_equal(bench->f.first_violation, closing);
    put(bench, 1, TMS_OP_END, TMS_EVENT_END, LABEL);
    assert_int_equal(bench->violations, 1);
    assert_int_equal(bench->violation.cycle_length, 2);
}

static void an_unreached_transaction_wakes_no_thread(void **state)
{
    struct bench *bench = *state;

    assert_true(start(bench, &lazy));
    put(bench, 1, TMS_OP_WRITE, TMS_EVENT_WRITE, 1);
    put(bench, 2, TMS_OP_STEP, TMS_EVENT_WAIT, 0);
    bench->begin[2] = bench->unopened[2] = bench->events + 1;
    bench->events++;
    put(bench, 2, TMS_OP_WRITE, TMS_EVENT_WRITE, 1);
    assert_int_equal(bench->woken_sources, 1);
    assert_int_equal(bench->woken, 0);
    assert_true(bench->unopened[2] != 0);
}

static void what_the_port_refuses_fails_the_engine(void **state)
{
    struct bench *bench = *state;

    bench->refuse_with = TMS_ERR_IO;
    assert_true(start(bench, &eager));
    put(bench, 1, TMS_OP_BEGIN, TMS_EVENT_BEGIN, LABEL);
    lose_update(bench);
    put(bench, 1, TMS_OP_END, TMS_EVENT_END, LABEL);
    assert_int_equal(bench->failures, 1);
    assert_int_equal(bench->failed_with, TMS_ERR_IO);
    tms_frontier_fail(&bench->f, TMS_ERR_MEMORY); /* the first one counts */
    assert_int_equal(bench->failures, 1);
    assert_int_equal(bench->f.failed, TMS_ERR_IO);
}

static void without_history_nothing_begins(void **state)
{
    struct bench *bench = *state;

    bench->no_history = true;
    assert_true(start(bench, &eager));
    put(bench, 1, TMS_OP_BEGIN, TMS_EVENT_BEGIN, LABEL);
    assert_int_equal(bench->failed_with, TMS_ERR_MEMORY);
    assert_int_equal(bench->f.by_id[1]->row, NO_ROW);
}

/* Any allocation may fail: it is reported once, or the set-up fails. */
static void each_allocation_may_fail(void **state)
{
    struct bench *bench = *state;
    unsigned failures = 0;

    for (unsigned allowed = 0;; allowed++) {
        assert_true(allowed < 1000);
        memset(bench, 0, sizeof(*bench));
        heap.allowed = allowed;
        if (start(bench, &eager)) {
            put(bench, 1, TMS_OP_BEGIN, TMS_EVENT_BEGIN, LABEL);
            lose_update(bench);
            put(bench, 1, TMS_OP_END, TMS_EVENT_END, LABEL);
            assert_int_equal(bench->failures, bench->f.failed == TMS_OK ? 0 : 1);
            failures += bench->failures;
        }
        bool whole =
            bench->violations == 1 && bench->violation.cycle_length == 2 && heap.allowed > 0;
        tms_frontier_clear(&bench->f);
        assert_int_equal(heap.bytes, 0);
        memset(&bench->f, 0, sizeof(bench->f));
        if (whole) {
            break;
        }
    }
    assert_true(failures > 3);
}

/* Threads 1 to `last` end one after the other; the slot of none of them may be reused. */
static void use_up_slots(struct bench *bench, uint32_t last)
{
    bench->keeps_slots = true;
    for (uint32_t thread = 1; thread <= last; thread++) {
        put(bench, thread, TMS_OP_READ, TMS_EVENT_READ, 1);
        tms_frontier_retire(&bench->f, bench->f.by_id[thread]->slot);
    }
}

static void the_last_slot_ends_no_search(void **state)
{
    struct bench *bench = *state;
    const uint32_t slots = 6;

    assert_true(start(bench, &eager));
    assert_int_equal(tms_frontier_limit_slots(&bench->f, FIRST_SLOT + slots - 1), TMS_OK);
    use_up_slots(bench, slots);
    assert_int_equal(bench->failures, 0);
    bench->keeps_slots = false;
    put(bench, slots + 1, TMS_OP_READ, TMS_EVENT_READ, 1);
    assert_int_equal(bench->failures, 0);
    bench->keeps_slots = true;
    put(bench, slots + 2, TMS_OP_READ, TMS_EVENT_READ, 1);
    assert_int_equal(bench->failed_with, TMS_ERR_LIMIT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_violation_is_handed_over_at_the_end),
        TEST(what_runs_is_handed_over_when_settled),
        TEST(a_renewed_variable_is_no_witness_by_itself),
        TEST(a_late_row_is_as_good_as_an_early_one),
        TEST(an_unreached_transaction_wakes_no_thread),
        TEST(what_the_port_refuses_fails_the_engine),
        TEST(without_history_nothing_begins),
        TEST(each_allocation_may_fail),
        TEST(the_last_slot_ends_no_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
