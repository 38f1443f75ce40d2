/* SPDX-License-Identifier: Apache-2.0 */
/* A survey as text and as JSON, from the same tables of figures and fields; see info_print.h. */
#include "cli/info_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"

/* ---- numbers that both outputs show --------------------------------------------------- */

/* A number. In text its key has blanks for the underscores, so that both call it the same. */
struct figure {
    const char *key;
    const char *note; /* for people, in brackets; or NULL */
    uint64_t value;
};

#define FIGURES_MOST 16

static size_t whole_figures(const struct tms_inventory *inventory, struct figure *figures)
{
    const struct tms_survey *survey = inventory->survey;
    uint64_t shared, variables = tms_survey_variables(survey, &shared);
    const struct figure all[] = {
        {"events", NULL, survey->events},
        {"threads", NULL, tms_survey_threads(survey)},
        {"locks", NULL, tms_survey_locks(survey)},
        {"variables", NULL, variables},
        {"shared_variables", "of several threads", shared},
        {"labels", NULL, tms_survey_labels(survey)},
        {"locations", NULL, tms_survey_locations(survey)},
        {"transactions", "outermost blocks", survey->transactions},
        {"unary", "events outside blocks", survey->outside},
        {"open_blocks", "at the end", tms_survey_open_blocks(survey)},
        {"held_locks", "at the end", tms_survey_held_locks(survey)},
        {"bytes", NULL, inventory->bytes},
    };

    _Static_assert(sizeof(all) / sizeof(all[0]) <= FIGURES_MOST, "room for the figures");
    memcpy(figures, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

static size_t length_figures(const struct tms_survey *survey, struct figure *figures)
{
    const struct figure all[] = {
        {"finished", NULL, survey->finished},
        {"min", NULL, survey->shortest},
        {"median", NULL, tms_survey_quantile(survey, 0.5)},
        {"p90", "90 % are at most this long", tms_survey_quantile(survey, 0.9)},
        {"max", NULL, survey->longest},
    };

    _Static_assert(sizeof(all) / sizeof(all[0]) <= FIGURES_MOST, "room for the figures");
    memcpy(figures, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static uint32_t deepest_nesting(const struct tms_survey *survey)
{
    uint32_t most = 0;

    for (uint32_t id = 1; id <= survey->threads.most; id++) {
        const struct tms_survey_thread *thread = tms_survey_row(&survey->threads, id);
        most = thread->depth_most > most ? thread->depth_most : most;
    }
    return most;
}

static size_t block_figures(const struct tms_survey *survey, struct figure *figures)
{
    figures[0] = (struct figure){"deepest_nesting", NULL, deepest_nesting(survey)};
    figures[1] = (struct figure){"unlabelled_blocks", NULL, survey->unlabelled};
    return 2;
}

/* The fields of a row that are shown, as columns or as members. */
struct field {
    const char *key;
    size_t at;
    bool wide; /* uint64_t, else uint32_t */
};

/* clang-format off */
#define THREAD(member) offsetof(struct tms_survey_thread, member)
#define LOCK(member)   offsetof(struct tms_survey_lock, member)

static const struct field thread_fields[] = {
    {"events", THREAD(events), true},
    {"transactions", THREAD(transactions), true},
    {"unary", THREAD(outside), true},
    {"accesses", THREAD(accesses), true},
    {"acquires", THREAD(acquires), true},
    {"deepest_nesting", THREAD(depth_most), false},
    {NULL, 0, false},
};

static const struct field lock_fields[] = {
    {"acquires", LOCK(acquires), true},
    {"shared", LOCK(shared), true},
    {"reentrant", LOCK(reentrant), true},
    {"handovers", LOCK(handovers), true},
    {"most_held", LOCK(deepest), false},
    {NULL, 0, false},
};

static const struct field label_fields[] = {
    {"blocks", 0, true},
    {NULL, 0, false},
};
/* clang-format on */

static uint64_t field_value(const struct field *field, const void *row)
{
    const char *at = (const char *)row + field->at;

    return field->wide ? *(const uint64_t *)(const void *)at : *(const uint32_t *)(const void *)at;
}

/* What is listed by name; a row counts if its events (or blocks, or acquires) say so. */
struct listing {
    const char *key;
    const char *title;
    enum tms_class cls;
    size_t table;  /* offset in struct tms_survey */
    size_t weight; /* offset of the uint64_t in a row by which the busiest are chosen */
    const struct field *fields;
};

static const struct listing listings[] = {
    {"by_thread", "Threads", TMS_CLASS_THREAD, offsetof(struct tms_survey, threads),
     offsetof(struct tms_survey_thread, events), thread_fields},
    {"by_lock", "Locks", TMS_CLASS_LOCK, offsetof(struct tms_survey, locks),
     offsetof(struct tms_survey_lock, events), lock_fields},
    {"by_label", "Labels", TMS_CLASS_LABEL, offsetof(struct tms_survey, labels), 0, label_fields},
};

#define LISTING_COUNT (sizeof(listings) / sizeof(listings[0]))

struct entry {
    uint32_t id;
    uint64_t weight;
};

static int by_weight(const void *a, const void *b)
{
    const struct entry *one = a, *two = b;

    if (one->weight != two->weight) {
        return one->weight > two->weight ? -1 : 1;
    }
    return one->id < two->id ? -1 : one->id > two->id;
}

static const struct tms_survey_table *table_of(const struct tms_inventory *inventory,
                                               const struct listing *listing)
{
    return (const struct tms_survey_table *)(const void *)((const char *)inventory->survey +
                                                           listing->table);
}

/* The used rows of a table, the busiest first; NULL with *count 0 if there are none. */
static struct entry *sorted_entries(const struct tms_inventory *inventory,
                                    const struct listing *listing, size_t *count)
{
    const struct tms_survey_table *table = table_of(inventory, listing);
    struct entry *entries = calloc((size_t)table->most + 1, sizeof(*entries));

    *count = 0;
    for (uint32_t id = 1; entries != NULL && id <= table->most; id++) {
        const char *row = tms_survey_row(table, id);
        uint64_t weight = *(const uint64_t *)(const void *)(row + listing->weight);
        if (weight > 0) {
            entries[(*count)++] = (struct entry){id, weight};
        }
    }
    if (*count > 0) {
        qsort(entries, *count, sizeof(*entries), by_weight);
    }
    return entries;
}

/* ---- text ----------------------------------------------------------------------------- */

#define TEXT_WIDTH   49
#define COLUMN_LEAST 12
#define BUSIEST      10

/* Writes a key for people; returns its width. */
static int print_key(const char *key)
{
    for (const char *at = key; *at != '\0'; at++) {
        putchar(*at == '_' ? ' ' : *at);
    }
    return (int)strlen(key);
}

/* A line: the key, and at its end the value. */
static void print_line(const char *key, const char *note, const char *value)
{
    printf("  ");
    int width = print_key(key);
    if (note != NULL) {
        width += printf(" (%s)", note);
    }
    printf("%*s\n", TEXT_WIDTH - width, value);
}

static void print_number(const char *key, const char *note, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    print_line(key, note, text);
}

static void print_ratio(const char *key, double value)
{
    char text[32];

    snprintf(text, sizeof(text), "%.2f", value);
    print_line(key, NULL, text);
}

static void print_figures(const struct figure *figures, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        print_number(figures[i].key, figures[i].note, figures[i].value);
    }
}

static void print_kinds(const struct tms_survey *survey)
{
    printf("\nEvents\n");
    for (int kind = 0; kind < TMS_EVENT_COUNT; kind++) {
        if (survey->kinds[kind] > 0) {
            print_number(tms_event_text((enum tms_event_kind)kind), NULL, survey->kinds[kind]);
        }
    }
}

/* Of a trace with atomics only. */
static void print_orders(const struct tms_survey *survey)
{
    if (survey->orders[TMS_ORDER_NONE] == survey->events) {
        return;
    }
    printf("\nMemory orders (of ar, aw, au and fence)\n");
    for (enum tms_order order = TMS_ORDER_RELAXED; order < TMS_ORDER_COUNT; order++) {
        if (survey->orders[order] > 0) {
            const char *text = tms_order_text(order); /* as it is spelt in traces */
            printf("  %s%*" PRIu64 "\n", text, TEXT_WIDTH - (int)strlen(text),
                   survey->orders[order]);
        }
    }
}

static void print_lengths(const struct tms_survey *survey)
{
    struct figure figures[FIGURES_MOST];

    if (survey->transactions == 0) {
        return;
    }
    printf("\nTransactions (events inside, without the outermost begin and end)\n");
    if (survey->finished > 0) {
        print_figures(figures, length_figures(survey, figures));
        print_ratio("mean", ratio(survey->total, survey->finished));
    }
    print_figures(figures, block_figures(survey, figures));
}

static int column_width(const struct field *field)
{
    int length = (int)strlen(field->key);

    return length > COLUMN_LEAST ? length : COLUMN_LEAST;
}

static void print_columns(const struct field *fields)
{
    for (const struct field *field = fields; field->key != NULL; field++) {
        printf("%*s", 1 + column_width(field) - (int)strlen(field->key), "");
        print_key(field->key);
    }
    putchar('\n');
}

static void print_row(const struct tms_inventory *inventory, const struct listing *listing,
                      uint32_t id)
{
    const void *row = tms_survey_row(table_of(inventory, listing), id);

    for (const struct field *field = listing->fields; field->key != NULL; field++) {
        printf(" %*" PRIu64, column_width(field), field_value(field, row));
    }
    printf("  ");
    tms_console_name(stdout, tms_name(inventory->context, listing->cls, id, NULL));
    putchar('\n');
}

static bool print_listing(const struct tms_inventory *inventory, const struct listing *listing)
{
    size_t count;
    struct entry *entries = sorted_entries(inventory, listing, &count);

    if (entries == NULL) {
        return false;
    }
    if (count > 0) {
        printf("\n%s\n", listing->title);
        print_columns(listing->fields);
    }
    size_t shown = inventory->all || count <= BUSIEST ? count : BUSIEST;
    for (size_t i = 0; i < shown; i++) {
        print_row(inventory, listing, entries[i].id);
    }
    if (shown < count) {
        printf("  … and %zu more (--all)\n", count - shown);
    }
    free(entries);
    return true;
}

static void print_state(const struct tms_inventory *inventory)
{
    const char *whole = inventory->loss == NULL ? "yes" : "as far as it was read";

    print_line("well_formed", NULL, inventory->complaint == NULL ? whole : "no");
    if (inventory->complaint != NULL) {
        printf("    %s\n", inventory->complaint);
    }
    if (inventory->loss != NULL) {
        printf("    %s\n", inventory->loss);
    }
}

bool tms_inventory_text(const struct tms_inventory *inventory)
{
    const struct tms_survey *survey = inventory->survey;
    struct figure figures[FIGURES_MOST];

    tms_console_name(stdout, inventory->path);
    putchar('\n');
    print_line("format", NULL, inventory->format);
    print_figures(figures, whole_figures(inventory, figures));
    print_ratio("bytes_per_event", ratio(inventory->bytes, survey->events));
    print_ratio("unary_percent", 100 * ratio(survey->outside, survey->events));
    print_state(inventory);
    print_kinds(survey);
    print_orders(survey);
    print_lengths(survey);
    for (size_t i = 0; i < LISTING_COUNT; i++) {
        if (!print_listing(inventory, &listings[i])) {
            return false;
        }
    }
    return true;
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void json_text(const char *before, const char *key, const char *text)
{
    printf("%s\"%s\": ", before, key);
    if (text != NULL) {
        tms_json_string(text, strlen(text), tms_console_sink, stdout);
    } else {
        printf("null");
    }
}

static void json_figures(const struct figure *figures, size_t count, const char *before)
{
    for (size_t i = 0; i < count; i++) {
        printf("%s\"%s\": %" PRIu64, i == 0 ? before : ", ", figures[i].key, figures[i].value);
    }
}

static void json_kinds(const struct tms_survey *survey)
{
    printf(", \"kinds\": {");
    for (int kind = 0; kind < TMS_EVENT_COUNT; kind++) {
        printf("%s\"%s\": %" PRIu64, kind > 0 ? ", " : "",
               tms_event_text((enum tms_event_kind)kind), survey->kinds[kind]);
    }
    printf("}");
}

static void json_orders(const struct tms_survey *survey)
{
    printf(", \"orders\": {");
    for (enum tms_order order = TMS_ORDER_RELAXED; order < TMS_ORDER_COUNT; order++) {
        printf("%s\"%s\": %" PRIu64, order > TMS_ORDER_RELAXED ? ", " : "", tms_order_text(order),
               survey->orders[order]);
    }
    printf("}");
}

static void json_lengths(const struct tms_survey *survey)
{
    struct figure figures[FIGURES_MOST];

    printf(", \"transaction_lengths\": {");
    json_figures(figures, length_figures(survey, figures), "");
    printf(", \"mean\": %.3f}", ratio(survey->total, survey->finished));
    json_figures(figures, block_figures(survey, figures), ", ");
}

static bool json_listing(const struct tms_inventory *inventory, const struct listing *listing)
{
    size_t count;
    struct entry *entries = sorted_entries(inventory, listing, &count);

    printf(", \"%s\": [", listing->key);
    for (size_t i = 0; entries != NULL && i < count; i++) {
        const void *row = tms_survey_row(table_of(inventory, listing), entries[i].id);
        json_text(i > 0 ? ", {" : "{", "name",
                  tms_name(inventory->context, listing->cls, entries[i].id, NULL));
        for (const struct field *field = listing->fields; field->key != NULL; field++) {
            printf(", \"%s\": %" PRIu64, field->key, field_value(field, row));
        }
        printf("}");
    }
    printf("]");
    free(entries);
    return entries != NULL;
}

bool tms_inventory_json(const struct tms_inventory *inventory)
{
    const struct tms_survey *survey = inventory->survey;
    struct figure figures[FIGURES_MOST];
    bool good = true;

    printf("{\"schema\": 1, \"tool\": \"tmesis\"");
    json_text(", ", "version", tms_version());
    json_text(", \"trace\": {", "path", inventory->path);
    json_text(", ", "format", inventory->format);
    json_figures(figures, whole_figures(inventory, figures), ", ");
    printf(", \"bytes_per_event\": %.3f", ratio(inventory->bytes, survey->events));
    printf(", \"unary_percent\": %.3f", 100 * ratio(survey->outside, survey->events));
    json_text(", ", "loss", inventory->loss);
    printf(", \"well_formed\": %s", inventory->complaint == NULL ? "true" : "false");
    json_text(", ", "complaint", inventory->complaint);
    printf("}");
    json_kinds(survey);
    json_orders(survey);
    json_lengths(survey);
    for (size_t i = 0; i < LISTING_COUNT; i++) {
        good = json_listing(inventory, &listings[i]) && good;
    }
    printf("}\n");
    return good;
}
