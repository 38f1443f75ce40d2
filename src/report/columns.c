/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interleaving in columns; see columns.h.
 *
 * There is one event in a row, so a cell may run over the columns to its right: columns need
 * only be far enough apart for the eye. With too many threads for that, the thread's name
 * stands before each event instead.
 */
#include "report/columns.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/phrase.h"
#include "report/utf8.h"

#define MARGIN         4  /* left of the event numbers */
#define NUMBER_LEAST   5  /* width of the event numbers, "event" */
#define LOCATION_MOST  22 /* characters of a location */
#define OPERATION_MOST 34 /* characters of an operation */
#define COLUMN_LEAST   9  /* closer than this, columns are unreadable */
#define GAP            2
#define NESTED_MOST    5 /* begins of nested blocks that are shown */

#define NO_STEP SIZE_MAX

struct row {
    uint64_t event;
    uint64_t begin_event; /* with `thread`: the transaction it belongs to */
    uint32_t thread;
    uint32_t location;
    uint32_t target; /* of the event, 0 if the step does not tell */
    uint32_t label;  /* of the block that begins here */
    size_t in, out;  /* steps that arrive and leave, or NO_STEP */
    size_t column;
    size_t next; /* the next row of the same column, or the number of rows */
    uint8_t kind;
    bool has_kind;
    bool begins;
};

struct column {
    uint32_t thread;
    size_t at;    /* where on the line it starts */
    size_t width; /* of its widest cell */
    size_t row;   /* the last one written, while writing */
    bool started;
};

struct table {
    struct tms_page *page;
    const struct tms_finding *finding;
    struct row *rows;
    size_t row_count;
    struct column *columns;
    size_t column_count;
    size_t number_width, location_width;
    bool narrow; /* too many threads for columns */
};

/* ---- rows ----------------------------------------------------------------------------- */

static void add_begin(struct table *table, const struct tms_transaction *transaction)
{
    table->rows[table->row_count++] = (struct row){
        .event = transaction->begin_event,
        .begin_event = transaction->begin_event,
        .thread = transaction->thread,
        .label = transaction->label,
        .location = transaction->location,
        .begins = !transaction->unary,
        .in = NO_STEP,
        .out = NO_STEP,
    };
}

/* A fork's second event and a join's first are any event of the child: `on` is not theirs. */
static bool tells_target(const struct tms_step *step, bool first)
{
    uint8_t kind = first ? step->first_kind : step->second_kind;

    if (step->kind == (first ? TMS_EDGE_JOIN : TMS_EDGE_FORK)) {
        return false;
    }
    return tms_event_class((enum tms_event_kind)kind) == (enum tms_class)step->on_class;
}

static void add_end_of_step(struct table *table, size_t index, bool first)
{
    const struct tms_step *step = &table->finding->cycle[index];
    const struct tms_transaction *transaction = first ? &step->from : &step->to;

    table->rows[table->row_count++] = (struct row){
        .event = first ? step->first_event : step->second_event,
        .begin_event = transaction->begin_event,
        .thread = transaction->thread,
        .location = first ? step->first_location : step->second_location,
        .target = tells_target(step, first) ? step->on : 0,
        .kind = first ? step->first_kind : step->second_kind,
        .has_kind = true,
        .in = first ? NO_STEP : index,
        .out = first ? index : NO_STEP,
    };
}

static int by_event(const void *a, const void *b)
{
    const struct row *one = a, *two = b;

    return one->event < two->event ? -1 : one->event > two->event;
}

/* Two rows about one event become one that knows what both knew. */
static void absorb(struct row *row, const struct row *other)
{
    row->in = other->in != NO_STEP ? other->in : row->in;
    row->out = other->out != NO_STEP ? other->out : row->out;
    row->location = other->location != 0 ? other->location : row->location;
    row->target = other->target != 0 ? other->target : row->target;
    row->label = other->label != 0 ? other->label : row->label;
    row->kind = other->has_kind ? other->kind : row->kind;
    row->has_kind = row->has_kind || other->has_kind;
    row->begins = row->begins || other->begins;
}

static void sort_rows(struct table *table)
{
    size_t kept = 0;

    qsort(table->rows, table->row_count, sizeof(*table->rows), by_event);
    for (size_t i = 1; i < table->row_count; i++) {
        if (table->rows[i].event == table->rows[kept].event) {
            absorb(&table->rows[kept], &table->rows[i]);
        } else {
            table->rows[++kept] = table->rows[i];
        }
    }
    table->row_count = kept + 1;
}

/* Where the blocks begin that are refuted with their transaction; not those begun before it. */
static void add_nested(struct table *table)
{
    const struct tms_finding *finding = table->finding;

    for (size_t i = 1; i < finding->refuted_count && i <= NESTED_MOST; i++) {
        if (finding->refuted[i].begin_event > finding->transaction.begin_event) {
            add_begin(table, &finding->refuted[i]);
            table->rows[table->row_count - 1].begin_event = finding->transaction.begin_event;
        }
    }
}

static void collect_rows(struct table *table)
{
    add_nested(table);
    for (size_t i = 0; i < table->finding->cycle_length; i++) {
        add_begin(table, &table->finding->cycle[i].from);
        add_end_of_step(table, i, true);
        add_end_of_step(table, i, false);
    }
    sort_rows(table);
}

/* ---- cells ---------------------------------------------------------------------------- */

/* "w(balance)", "begin deposit", "end", and "r(…)" where the operand is not known. */
static size_t write_operation(const struct table *table, FILE *out, const struct row *row,
                              size_t most)
{
    enum tms_event_kind kind = row->has_kind ? (enum tms_event_kind)row->kind : TMS_EVENT_BEGIN;
    const char *text = tms_event_text(kind);
    size_t width = tms_utf8_write(out, text, most);

    if (kind == TMS_EVENT_BEGIN || kind == TMS_EVENT_END) {
        if (row->label != 0 && width + 2 < most) {
            fputc(' ', out);
            width +=
                1 + tms_page_name(table->page, out, TMS_CLASS_LABEL, row->label, most - width - 1);
        }
        return width;
    }
    if (width + 3 > most) {
        return width;
    }
    fputc('(', out);
    if (row->target != 0) {
        width +=
            tms_page_name(table->page, out, tms_event_class(kind), row->target, most - width - 2);
    } else {
        fputs("…", out);
        width++;
    }
    fputc(')', out);
    return width + 2;
}

static size_t mark_width(size_t step)
{
    char letter[TMS_LETTER_SIZE];

    return step == NO_STEP ? 0 : strlen(tms_step_letter(step, letter)) + 2;
}

static size_t cell_width(const struct table *table, const struct row *row)
{
    return mark_width(row->in) + mark_width(row->out) +
           write_operation(table, tms_page_note(table->page), row, OPERATION_MOST);
}

static void write_cell(const struct table *table, const struct row *row, size_t room)
{
    FILE *out = table->page->out;
    char letter[TMS_LETTER_SIZE];
    size_t marks = mark_width(row->in) + mark_width(row->out);
    size_t most = room > marks ? room - marks : 0;

    if (row->in != NO_STEP) {
        tms_page_ink(table->page, TMS_INK_MARK);
        fprintf(out, "→%s ", tms_step_letter(row->in, letter));
        tms_page_ink(table->page, TMS_INK_PLAIN);
    }
    write_operation(table, out, row, most < OPERATION_MOST ? most : OPERATION_MOST);
    if (row->out != NO_STEP) {
        tms_page_ink(table->page, TMS_INK_MARK);
        fprintf(out, " %s→", tms_step_letter(row->out, letter));
        tms_page_ink(table->page, TMS_INK_PLAIN);
    }
}

/* ---- layout --------------------------------------------------------------------------- */

static size_t column_of(struct table *table, uint32_t thread)
{
    size_t i = 0;

    while (i < table->column_count && table->columns[i].thread != thread) {
        i++;
    }
    if (i == table->column_count) {
        const char *name = tms_name(table->page->names, TMS_CLASS_THREAD, thread, NULL);
        table->columns[table->column_count++] =
            (struct column){.thread = thread, .width = tms_utf8_width(name)};
    }
    return i;
}

static void measure(struct table *table)
{
    char number[TMS_NUMBER_SIZE];

    table->number_width = NUMBER_LEAST;
    for (size_t i = 0; i < table->row_count; i++) {
        struct row *row = &table->rows[i];
        const char *location =
            tms_name(table->page->names, TMS_CLASS_LOCATION, row->location, number);
        size_t digits = (size_t)snprintf(NULL, 0, "%" PRIu64, row->event);
        size_t width = tms_utf8_width(location);

        width = width < LOCATION_MOST ? width : LOCATION_MOST;
        table->number_width = digits > table->number_width ? digits : table->number_width;
        table->location_width = width > table->location_width ? width : table->location_width;
        row->column = column_of(table, row->thread);
        struct column *column = &table->columns[row->column];
        size_t cell = cell_width(table, row);
        column->width = cell > column->width ? cell : column->width;
    }
}

static void link_rows(struct table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        table->columns[i].row = table->row_count;
    }
    for (size_t i = table->row_count; i-- > 0;) {
        struct row *row = &table->rows[i];
        row->next = table->columns[row->column].row;
        table->columns[row->column].row = i;
    }
}

/* As wide as the cells if that fits, else evenly spread; narrow if not even that. */
static void lay_out(struct table *table)
{
    size_t left = MARGIN + table->number_width + GAP +
                  (table->location_width > 0 ? table->location_width + GAP : 0);
    size_t room = TMS_PAGE_WIDTH - left, wanted = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        wanted += table->columns[i].width + GAP;
    }
    size_t stride = room / table->column_count;
    table->narrow = stride < COLUMN_LEAST;
    for (size_t i = 0, at = left; i < table->column_count; i++) {
        table->columns[i].at = table->narrow ? left : at;
        at += wanted <= room ? table->columns[i].width + GAP : stride;
    }
}

/* ---- writing -------------------------------------------------------------------------- */

/* The end of a path tells more than its start. */
static size_t write_location(const struct table *table, uint32_t id)
{
    char number[TMS_NUMBER_SIZE];
    const char *text = tms_name(table->page->names, TMS_CLASS_LOCATION, id, number);
    size_t width = tms_utf8_width(text);

    if (width <= LOCATION_MOST) {
        return tms_utf8_write(table->page->out, text, LOCATION_MOST);
    }
    for (; width >= LOCATION_MOST; width--) {
        size_t length = tms_utf8_length(text);
        text += length != 0 ? length : 1;
    }
    fputs("…", table->page->out);
    return 1 + tms_utf8_write(table->page->out, text, LOCATION_MOST);
}

/* The header: the names of the threads. */
static void write_header(const struct table *table)
{
    FILE *out = table->page->out;
    size_t column = MARGIN + table->number_width;

    tms_page_ink(table->page, TMS_INK_BOLD);
    fprintf(out, "%*s", (int)column, "event");
    for (size_t i = 0; i < table->column_count && !table->narrow; i++) {
        bool last = i + 1 == table->column_count;
        size_t at = table->columns[i].at, end = last ? TMS_PAGE_WIDTH : table->columns[i + 1].at;

        tms_page_blank(out, at - column);
        column = at + tms_page_name(table->page, out, TMS_CLASS_THREAD, table->columns[i].thread,
                                    end - at - !last);
    }
    tms_page_ink(table->page, TMS_INK_PLAIN);
    fputc('\n', out);
}

/* Is a transaction of this column open between its last row written and its next? */
static bool is_open(const struct table *table, const struct column *column)
{
    if (!column->started) {
        return false;
    }
    const struct row *row = &table->rows[column->row];
    return row->next < table->row_count && table->rows[row->next].begin_event == row->begin_event;
}

/* Threads to the left of the cell, each with a line while its transaction is open. */
static size_t write_guides(const struct table *table, size_t from, size_t to, size_t column)
{
    for (size_t i = from; i < to; i++) {
        if (is_open(table, &table->columns[i])) {
            tms_page_blank(table->page->out, table->columns[i].at - column);
            tms_page_ink(table->page, TMS_INK_FAINT);
            fputs("│", table->page->out);
            tms_page_ink(table->page, TMS_INK_PLAIN);
            column = table->columns[i].at + 1;
        }
    }
    return column;
}

static size_t write_left(const struct table *table, const struct row *row)
{
    FILE *out = table->page->out;
    bool closing = row->event == table->finding->event;

    tms_page_ink(table->page, closing ? TMS_INK_BAD : TMS_INK_PLAIN);
    fprintf(out, "%*s%s %*" PRIu64, MARGIN - 2, "", closing ? "▶" : " ", (int)table->number_width,
            row->event);
    tms_page_ink(table->page, TMS_INK_PLAIN);
    size_t column = MARGIN + table->number_width;
    if (row->location != 0) {
        tms_page_blank(out, GAP);
        column += GAP + write_location(table, row->location);
    }
    return column;
}

/* Guides to the right of a cell, where it has not run over them. */
static void write_right(const struct table *table, const struct row *row, size_t column)
{
    size_t next = row->column + 1;

    while (next < table->column_count && table->columns[next].at <= column) {
        next++;
    }
    write_guides(table, next, table->column_count, column);
}

static void write_row(const struct table *table, size_t index)
{
    const struct row *row = &table->rows[index];
    struct column *column = &table->columns[row->column];
    size_t at = write_left(table, row);

    if (!table->narrow) {
        at = write_guides(table, 0, row->column, at);
    }
    tms_page_blank(table->page->out, column->at - at);
    at = column->at;
    if (table->narrow) {
        at += tms_page_name(table->page, table->page->out, TMS_CLASS_THREAD, row->thread,
                            OPERATION_MOST);
        fputs(": ", table->page->out);
        at += 2;
    }
    write_cell(table, row, at < TMS_PAGE_WIDTH ? TMS_PAGE_WIDTH - at : 0);
    if (!table->narrow) {
        write_right(table, row, at + cell_width(table, row));
    }
    fputc('\n', table->page->out);
    column->row = index;
    column->started = true;
}

int tms_columns_write(struct tms_page *page, const struct tms_finding *finding)
{
    struct table table = {.page = page, .finding = finding};
    size_t length = finding->cycle_length;

    assert(length > 0);
    table.rows = calloc(3 * length + NESTED_MOST, sizeof(*table.rows));
    table.columns = calloc(length, sizeof(*table.columns));
    if (table.rows != NULL && table.columns != NULL) {
        collect_rows(&table);
        measure(&table);
        link_rows(&table);
        lay_out(&table);
        write_header(&table);
        for (size_t i = 0; i < table.row_count; i++) {
            write_row(&table, i);
        }
    }
    bool good = table.rows != NULL && table.columns != NULL;
    free(table.rows);
    free(table.columns);
    return good ? TMS_OK : TMS_ERR_MEMORY;
}
