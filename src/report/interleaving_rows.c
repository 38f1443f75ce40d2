/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of an interleaving; see interleaving_rows.h. */
#include "report/interleaving_rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NESTED_MOST 5 /* begins of nested blocks that are shown */

/* ---- rows of a cycle ------------------------------------------------------------------ */

static void add_begin(struct tms_rows *rows, const struct tms_transaction *transaction)
{
    rows->list[rows->count++] = (struct tms_row){
        .event = transaction->begin_event,
        .begin_event = transaction->begin_event,
        .thread = transaction->thread,
        .label = transaction->label,
        .location = transaction->location,
        .begins = !transaction->unary,
        .in = TMS_NO_STEP,
        .out = TMS_NO_STEP,
    };
}

/* A fork's second event and a join's first are any event of the child: `on` is not theirs. */
static bool shows_target(const struct tms_step *step, bool first)
{
    uint8_t kind = first ? step->first_kind : step->second_kind;

    if (step->kind == (first ? TMS_EDGE_JOIN : TMS_EDGE_FORK)) {
        return false;
    }
    return tms_event_class((enum tms_event_kind)kind) == (enum tms_class)step->on_class;
}

static void add_end_of_step(struct tms_rows *rows, size_t index, bool first)
{
    const struct tms_step *step = &rows->finding->cycle[index];
    const struct tms_transaction *transaction = first ? &step->from : &step->to;

    rows->list[rows->count++] = (struct tms_row){
        .event = first ? step->first_event : step->second_event,
        .begin_event = transaction->begin_event,
        .thread = transaction->thread,
        .location = first ? step->first_location : step->second_location,
        .target = shows_target(step, first) ? step->on : 0,
        .kind = first ? step->first_kind : step->second_kind,
        .has_kind = true,
        .in = first ? TMS_NO_STEP : index,
        .out = first ? index : TMS_NO_STEP,
    };
}

static int by_event(const void *a, const void *b)
{
    const struct tms_row *one = a, *two = b;

    return one->event < two->event ? -1 : one->event > two->event;
}

/* Merges two rows about one event. */
static void absorb(struct tms_row *row, const struct tms_row *other)
{
    row->in = other->in != TMS_NO_STEP ? other->in : row->in;
    row->out = other->out != TMS_NO_STEP ? other->out : row->out;
    row->location = other->location != 0 ? other->location : row->location;
    row->target = other->target != 0 ? other->target : row->target;
    row->label = other->label != 0 ? other->label : row->label;
    row->kind = other->has_kind ? other->kind : row->kind;
    row->has_kind = row->has_kind || other->has_kind;
    row->begins = row->begins || other->begins;
}

static void sort_rows(struct tms_rows *rows)
{
    size_t kept = 0;

    qsort(rows->list, rows->count, sizeof(*rows->list), by_event);
    for (size_t i = 1; i < rows->count; i++) {
        if (rows->list[i].event == rows->list[kept].event) {
            absorb(&rows->list[kept], &rows->list[i]);
        } else {
            rows->list[++kept] = rows->list[i];
        }
    }
    rows->count = kept + 1;
}

/* Where the blocks begin that are refuted with their transaction; not those begun before it. */
static void add_nested(struct tms_rows *rows)
{
    const struct tms_finding *finding = rows->finding;

    for (size_t i = 1; i < finding->refuted_count && i <= NESTED_MOST; i++) {
        if (finding->refuted[i].begin_event > finding->transaction.begin_event) {
            add_begin(rows, &finding->refuted[i]);
            rows->list[rows->count - 1].begin_event = finding->transaction.begin_event;
        }
    }
}

static void mark_closing(struct tms_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->list[i].event == rows->finding->event) {
            rows->marked = i;
        }
    }
}

static void collect_cycle(struct tms_rows *rows)
{
    add_nested(rows);
    for (size_t i = 0; i < rows->finding->cycle_length; i++) {
        add_begin(rows, &rows->finding->cycle[i].from);
        add_end_of_step(rows, i, true);
        add_end_of_step(rows, i, false);
    }
    sort_rows(rows);
    mark_closing(rows);
}

/* ---- rows of a schedule --------------------------------------------------------------- */

/* The transaction of a turn, as far as the finding names it; NULL if it does not. */
static const struct tms_transaction *transaction_of(const struct tms_finding *finding,
                                                    const struct tms_turn *turn)
{
    const struct tms_transaction *best = NULL;

    for (size_t i = 0; i <= finding->cycle_length; i++) {
        const struct tms_transaction *one =
            i == 0 ? &finding->transaction : &finding->cycle[i - 1].from;
        if (one->thread == turn->thread && one->begin_event <= turn->event &&
            (best == NULL || one->begin_event > best->begin_event)) {
            best = one;
        }
    }
    return best;
}

static struct tms_row *row_of(const struct tms_rows *rows, uint32_t thread, uint64_t event)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->list[i].thread == thread && rows->list[i].event == event) {
            return &rows->list[i];
        }
    }
    return NULL;
}

/* A turn, and before the first of its block where that begins. */
static void add_turn(struct tms_rows *rows, const struct tms_turn *turn)
{
    const struct tms_transaction *block = transaction_of(rows->finding, turn);

    if (block != NULL && !block->unary && block->begin_event != turn->event &&
        row_of(rows, turn->thread, block->begin_event) == NULL) {
        add_begin(rows, block);
    }
    rows->list[rows->count++] = (struct tms_row){
        .event = turn->event,
        .begin_event = block != NULL ? block->begin_event : turn->event,
        .thread = turn->thread,
        .location = turn->location,
        .target = turn->kind != TMS_EVENT_BEGIN && turn->kind != TMS_EVENT_END ? turn->target : 0,
        .label = turn->kind == TMS_EVENT_BEGIN || turn->kind == TMS_EVENT_END ? turn->target : 0,
        .role = turn->role,
        .kind = turn->kind,
        .has_kind = true,
        .in = TMS_NO_STEP,
        .out = TMS_NO_STEP,
    };
}

/* Where another thread comes in between; without one, the event that the finding is about. */
static void mark_intruder(struct tms_rows *rows)
{
    uint32_t own = rows->finding->transaction.thread;
    bool inside = false;

    for (size_t i = 0; i < rows->count; i++) {
        const struct tms_row *row = &rows->list[i];
        if (inside && row->thread != own && row->role != NULL) {
            rows->marked = i;
            return;
        }
        inside = inside || (row->thread == own && row->role != NULL);
    }
    mark_closing(rows);
}

/* Where both events of a step are among the turns, it has its letter there. */
static void letter_steps(struct tms_rows *rows)
{
    for (size_t i = 0; i < rows->finding->cycle_length; i++) {
        const struct tms_step *step = &rows->finding->cycle[i];
        struct tms_row *first = row_of(rows, step->from.thread, step->first_event);
        struct tms_row *second = row_of(rows, step->to.thread, step->second_event);
        if (first != NULL && second != NULL && first < second) {
            first->out = i;
            second->in = i;
        }
    }
}

/* The order of a schedule is its own. */
static void collect_schedule(struct tms_rows *rows)
{
    for (size_t i = 0; i < rows->finding->schedule_length; i++) {
        add_turn(rows, &rows->finding->schedule[i]);
    }
    letter_steps(rows);
    if (strcmp(rows->finding->kind, "deadlock") != 0) { /* no block is at fault there */
        mark_intruder(rows);
    }
}

int tms_rows_make(struct tms_rows *rows, const struct tms_finding *finding, bool schedule)
{
    size_t most = schedule ? 2 * finding->schedule_length : 3 * finding->cycle_length + NESTED_MOST;

    assert(schedule ? finding->schedule_length > 0 : finding->cycle_length > 0);
    *rows = (struct tms_rows){.finding = finding, .marked = TMS_NO_ROW};
    rows->list = calloc(most, sizeof(*rows->list));
    if (rows->list == NULL) {
        return TMS_ERR_MEMORY;
    }
    if (schedule) {
        collect_schedule(rows);
    } else {
        collect_cycle(rows);
    }
    return TMS_OK;
}

void tms_rows_free(struct tms_rows *rows)
{
    free(rows->list);
}
