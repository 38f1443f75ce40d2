/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interleaving in columns; see interleaving_table.h.
 *
 * There is one event in a row, so a cell may run over the columns to its right: columns need
 * only be far enough apart for the eye. With too many threads for that, the thread's name
 * comes before each event instead.
 */
#include "report/interleaving_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/interleaving_rows.h"
#include "report/phrase.h"

#define MARGIN         4  /* left of the event numbers */
#define NUMBER_LEAST   5  /* width of the event numbers, "event" */
#define LOCATION_MOST  22 /* characters of a location */
#define OPERATION_MOST 34 /* characters of an operation */
#define COLUMN_LEAST   9  /* closer than this, columns are unreadable */
#define GAP            2

struct column {
    uint32_t thread;
    size_t at;    /* where on the line it starts */
    size_t width; /* of its widest cell */
    size_t row;   /* the last one written, while writing */
    bool started;
};

struct table {
    struct tms_page *page;
    struct tms_row *rows;
    size_t row_count;
    struct column *columns;
    size_t column_count;
    size_t number_width, location_width;
    size_t marked; /* the row with the triangle, or TMS_NO_STEP */
    bool narrow;   /* too many threads for columns */
};

/* ---- cells ---------------------------------------------------------------------------- */

/* "w(balance)", "begin deposit", "end", and "r(…)" where the operand is not known. */
static size_t write_operation(const struct table *table, FILE *out, const struct tms_row *row,
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

    return step == TMS_NO_STEP ? 0 : strlen(tms_step_letter(step, letter)) + 2;
}

static size_t role_width(const struct tms_row *row)
{
    return row->role != NULL ? GAP + tms_utf8_width(row->role) : 0;
}

static size_t cell_width(const struct table *table, const struct tms_row *row)
{
    return mark_width(row->in) + mark_width(row->out) + role_width(row) +
           write_operation(table, tms_page_note(table->page), row, OPERATION_MOST);
}

static void write_cell(const struct table *table, const struct tms_row *row, size_t room)
{
    FILE *out = table->page->out;
    char letter[TMS_LETTER_SIZE];
    size_t marks = mark_width(row->in) + mark_width(row->out) + role_width(row);
    size_t most = room > marks ? room - marks : 0;

    if (row->in != TMS_NO_STEP) {
        tms_page_ink(table->page, TMS_INK_MARK);
        fprintf(out, "→%s ", tms_step_letter(row->in, letter));
        tms_page_ink(table->page, TMS_INK_PLAIN);
    }
    write_operation(table, out, row, most < OPERATION_MOST ? most : OPERATION_MOST);
    if (row->out != TMS_NO_STEP) {
        tms_page_ink(table->page, TMS_INK_MARK);
        fprintf(out, " %s→", tms_step_letter(row->out, letter));
        tms_page_ink(table->page, TMS_INK_PLAIN);
    }
    if (row->role != NULL) {
        tms_page_blank(out, GAP);
        tms_page_ink(table->page, TMS_INK_MARK);
        fputs(row->role, out);
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
        struct tms_row *row = &table->rows[i];
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
        struct tms_row *row = &table->rows[i];
        row->next = table->columns[row->column].row;
        table->columns[row->column].row = i;
    }
}

/* As wide as the cells if that fits, else evenly spread; narrow if not even that. */
static void lay_out(struct table *table)
{
    size_t left = MARGIN + table->number_width + GAP +
                  (table->location_width > 0 ? table->location_width + GAP : 0);
    size_t width = table->page->width, room = width > left ? width - left : 0, wanted = 0;

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

/* The end of a path matters more than its start. */
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
        size_t at = table->columns[i].at,
               end = last ? table->page->width : table->columns[i + 1].at;

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
    const struct tms_row *row = &table->rows[column->row];
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

static size_t write_left(const struct table *table, const struct tms_row *row)
{
    FILE *out = table->page->out;
    bool marked = (size_t)(row - table->rows) == table->marked;

    tms_page_ink(table->page, marked ? TMS_INK_BAD : TMS_INK_PLAIN);
    fprintf(out, "%*s%s %*" PRIu64, MARGIN - 2, "", marked ? "▶" : " ", (int)table->number_width,
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
static void write_right(const struct table *table, const struct tms_row *row, size_t column)
{
    size_t next = row->column + 1;

    while (next < table->column_count && table->columns[next].at <= column) {
        next++;
    }
    write_guides(table, next, table->column_count, column);
}

static void write_row(const struct table *table, size_t index)
{
    const struct tms_row *row = &table->rows[index];
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
    write_cell(table, row, at < table->page->width ? table->page->width - at : 0);
    if (!table->narrow) {
        write_right(table, row, at + cell_width(table, row));
    }
    fputc('\n', table->page->out);
    column->row = index;
    column->started = true;
}

/* The rows are there: the rest is the same for cycles and schedules. */
static void write_table(struct table *table)
{
    measure(table);
    link_rows(table);
    lay_out(table);
    write_header(table);
    for (size_t i = 0; i < table->row_count; i++) {
        write_row(table, i);
    }
}

int tms_columns_write(struct tms_page *page, const struct tms_finding *finding, bool schedule)
{
    struct tms_rows rows;
    struct table table = {.page = page};
    int code = tms_rows_make(&rows, finding, schedule);

    if (code == TMS_OK) {
        table.columns = calloc(rows.count, sizeof(*table.columns));
        code = table.columns != NULL ? TMS_OK : TMS_ERR_MEMORY;
    }
    if (code == TMS_OK) {
        table.rows = rows.list;
        table.row_count = rows.count;
        table.marked = rows.marked;
        write_table(&table);
    }
    free(table.columns);
    tms_rows_free(&rows);
    return code;
}
