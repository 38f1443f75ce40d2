/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine `frontier` of the library: the core (frontier/, where frontier_edges.c has the
 * algorithm in words) with cells for all names, and the library's side of its port.
 */

#include <assert.h>

#include "engine_api/engine.h"
#include "engines/frontier_fused.h"
#include "engines/frontier_history.h"
#include "frontier/frontier.h"

/* Did the variable become a new one between the two accesses, or may it have? */
static bool renewed(const struct tms_frontier *f, const struct tms_op *first,
                    const struct tms_op *second)
{
    const struct tms_frontier_log *forgotten = &f->forgotten;

    assert(first->event < second->event);
    if (log_written(forgotten) == 0 || tms_event_class(first->event_kind) != TMS_CLASS_VARIABLE) {
        return false;
    }
    uint64_t i = tms_log_find(forgotten, first->event);
    if (i > 0 && i == tms_log_first(forgotten)) {
        return true; /* cleared so early that it is no longer known */
    }
    while (i < log_written(forgotten) && log_at(forgotten, i)->event < second->event) {
        if (log_at(forgotten, i++)->target == first->target) {
            return true;
        }
    }
    return false;
}

/* All that has a name has a cell. */
static bool make_cells(struct tms_frontier *f)
{
    const struct tms_host *host = f->user;

    for (int i = 0; i < TMS_PLACES; i++) {
        uint32_t names = tms_name_count(host->context, tms_place_class[i]);
        if (names >= f->cells[i].capacity && !tms_cells_grow(f, &f->cells[i], names)) {
            return false;
        }
    }
    return true;
}

/* False if the events up to this one can't be processed: the engine has failed. */
static bool make_ready(struct tms_frontier *f, uint64_t last)
{
    if (last > MOMENT_EVENT_MOST) {
        tms_frontier_fail(f, TMS_ERR_LIMIT);
        return false;
    }
    if (!make_cells(f)) {
        tms_frontier_fail(f, TMS_ERR_MEMORY);
        return false;
    }
    return true;
}

/* What the host is to know after each batch. */
static void report_cycles(const struct tms_frontier *f)
{
    struct tms_host *host = f->user;

    host->first_violation_event = f->first_violation;
    host->closing_edges = f->closing_edges;
}

static void frontier_batch(void *state, const struct tms_op *ops, size_t count)
{
    assert(count > 0 && ops[0].event <= ops[count - 1].event);
    if (make_ready(state, ops[count - 1].event)) {
        tms_frontier_take(state, ops, count);
        report_cycles(state);
    }
}

static size_t frontier_fused(void *state, struct tms_fused_lane *lane,
                             const struct tms_event *events, size_t count, uint64_t number)
{
    if (!make_ready(state, number + count)) {
        return 0;
    }
    size_t taken = tms_frontier_fused(state, lane, events, count, number);
    report_cycles(state);
    assert(taken <= count);
    return taken;
}

/* ---- the port --------------------------------------------------------------------------- */

static int hand_over(struct tms_frontier *f, const struct tms_violation *violation)
{
    struct tms_host *host = f->user;

    tms_host_violation(host, violation);
    return host->failed;
}

static void fail(struct tms_frontier *f, int code)
{
    tms_host_fail(f->user, code);
}

static const struct tms_frontier_port port = {
    .begin = tms_frontier_history_begin,
    .end = tms_frontier_history_end,
    .find = tms_frontier_history_find,
    .violation = hand_over,
    .fail = fail,
    .renewed = renewed,
};

/* ---- the engine ------------------------------------------------------------------------- */

static int frontier_create(void *state, struct tms_host *host)
{
    struct tms_frontier *f = state;
    int code = tms_frontier_set_up(f, &port, host, &host->memory, host->settings->blame);

    return code == TMS_OK && !tms_log_start(f, &f->forgotten) ? TMS_ERR_MEMORY : code;
}

static void frontier_finish(void *state)
{
    struct tms_frontier *f = state;

    for (uint32_t slot = FIRST_SLOT; slot < f->slot_count; slot++) {
        tms_frontier_settle(f, f->threads[slot]);
    }
}

static void frontier_stats(const void *state, struct tms_counters *counters)
{
    const struct tms_frontier *f = state;
    const struct tms_counter all[] = {
        {"slots", "most threads distinguished at the same time", f->slot_count - FIRST_SLOT},
        {"rows", "peak rows: running transactions, and nested blocks with successors",
         f->row_count},
        {"edges", "conflicts between threads that were not implied by earlier ones", f->edges_seen},
        {"inserted", "of these, taken into the graph", f->edges_inserted},
        {"shared_reads", "times a second thread read something between two writes", f->nodes_used},
        {"sweeps", "times the history of all threads was swept", f->sweeps},
    };

    TMS_COUNTERS_PUT(counters, all);
}

static void frontier_destroy(void *state)
{
    struct tms_frontier *f = state;

    for (uint32_t slot = FIRST_SLOT; slot < f->slot_count; slot++) {
        struct tms_frontier_history *history = &f->threads[slot]->history;
        tms_release(f->memory, history->past, history->capacity, sizeof(*history->past));
    }
    tms_frontier_clear(f);
}

const struct tms_engine tms_engine_frontier = {
    .info =
        {
            .name = "frontier",
            .summary = "exact verdict and blame at the event itself, without graph or clocks",
            .paper = "docs/research/engines.md; the same idea as Tunç, Dong and Pavlogiannis, "
                     "Fast Atomicity Monitoring, 2026",
            .guarantee = "exact. A violation is reported if and only if this run was not "
                         "serializable, at the first event that shows it.",
            .reports = "at the event",
            .time = "O(k^2) per event at worst, O(1) typically (k: threads)",
            .memory = "24 bytes per variable, 64 per four threads that share a read, 40 per "
                      "pair of threads; none per event",
            .flags = TMS_ENGINE_EXACT | TMS_ENGINE_AT_EVENT | TMS_ENGINE_BLAMES |
                     TMS_ENGINE_WITNESS | TMS_ENGINE_BOUNDED,
            .found = TMS_VERDICT_VIOLATION,
            .clean = TMS_VERDICT_SERIALIZABLE,
        },
    .state_size = sizeof(struct tms_frontier),
    .create = frontier_create,
    .batch = frontier_batch,
    .fused = frontier_fused,
    .finish = frontier_finish,
    .stats = frontier_stats,
    .destroy = frontier_destroy,
};
