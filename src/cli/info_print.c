/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of a trace as text and as JSON, from the same tables; see info_print.h. */
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

static size_t whole_figures(const struct tms_info *info, struct figure *figures)
{
    const struct tms_trace_stats *stats = info->stats;
    uint64_t shared, variables = tms_stats_variables(stats, &shared);
    const struct figure all[] = {
        {"events", NULL, stats->events},
        {"threads", NULL, tms_stats_threads(stats)},
        {"locks", NULL, tms_stats_locks(stats)},
        {"variables", NULL, variables},
        {"shared_variables", "of several threads", shared},
        {"labels", NULL, tms_stats_labels(stats)},
        {"locations", NULL, tms_stats_locations(stats)},
        {"transactions", "outermost blocks", stats->transactions},
        {"unary", "events outside blocks", stats->outside},
        {"open_blocks", "at the end", tms_stats_open_blocks(stats)},
        {"held_locks", "at the end", tms_stats_held_locks(stats)},
        {"bytes", NULL, info->bytes},
    };

    _Static_assert(sizeof(all) / sizeof(all[0]) <= FIGURES_MOST, "room for the figures");
    memcpy(figures, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

static size_t length_figures(const struct tms_trace_stats *stats, struct figure *figures)
{
    const struct figure all[] = {
        {"finished", NULL, stats->finished},
        {"min", NULL, stats->shortest},
        {"median", NULL, tms_stats_quantile(stats, 0.5)},
        {"p90", "90 % are at most this long", tms_stats_quantile(stats, 0.9)},
        {"max", NULL, stats->longest},
    };

    _Static_assert(sizeof(all) / sizeof(all[0]) <= FIGURES_MOST, "room for the figures");
    memcpy(figures, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static uint32_t deepest_nesting(const struct tms_trace_stats *stats)
{
    uint32_t most = 0;

    for (uint32_t id = 1; id <= stats->threads.most; id++) {
        const struct tms_stats_thread *thread = tms_stats_row(&stats->threads, id);
        most = thread->depth_most > most ? thread->depth_most : most;
    }
    return most;
}

static size_t block_figures(const struct tms_trace_stats *stats, struct figure *figures)
{
    figures[0] = (struct figure){"deepest_nesting", NULL, deepest_nesting(stats)};
    figures[1] = (struct figure){"unlabelled_blocks", NULL, stats->unlabelled};
    return 2;
}

/* The fields of a row that are shown, as columns or as members. */
struct field {
    const char *key;
    size_t at;
    bool wide; /* uint64_t, else uint32_t */
};

/* clang-format off */
#define THREAD(member) offsetof(struct tms_stats_thread, member)
#define LOCK(member)   offsetof(struct tms_stats_lock, member)

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
    size_t table;  /* offset in struct tms_trace_stats */
    size_t weight; /* offset of the uint64_t in a row by which the busiest are chosen */
    const struct field *fields;
};

static const struct listing listings[] = {
    {"by_thread", "Threads", TMS_CLASS_THREAD, offsetof(struct tms_trace_stats, threads),
     offsetof(struct tms_stats_thread, events), thread_fields},
    {"by_lock", "Locks", TMS_CLASS_LOCK, offsetof(struct tms_trace_stats, locks),
     offsetof(struct tms_stats_lock, events), lock_fields},
    {"by_label", "Labels", TMS_CLASS_LABEL, offsetof(struct tms_trace_stats, labels), 0,
     label_fields},
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

static const struct tms_stats_table *table_of(const struct tms_info *info,
                                              const struct listing *listing)
{
    return (const struct tms_stats_table *)(const void *)((const char *)info->stats +
                                                          listing->table);
}

/* The used rows of a table, the busiest first; NULL with *count 0 if there are none. */
static struct entry *sorted_entries(const struct tms_info *info, const struct listing *listing,
                                    size_t *count)
{
    const struct tms_stats_table *table = table_of(info, listing);
    struct entry *entries = calloc((size_t)table->most + 1, sizeof(*entries));

    *count = 0;
    for (uint32_t id = 1; entries != NULL && id <= table->most; id++) {
        const char *row = tms_stats_row(table, id);
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

static void print_kinds(const struct tms_trace_stats *stats)
{
    printf("\nEvents\n");
    for (int kind = 0; kind < TMS_EVENT_COUNT; kind++) {
        if (stats->kinds[kind] > 0) {
            print_number(tms_event_text((enum tms_event_kind)kind), NULL, stats->kinds[kind]);
        }
    }
}

/* Of a trace with atomics only. */
static void print_orders(const struct tms_trace_stats *stats)
{
    if (stats->orders[TMS_ORDER_NONE] == stats->events) {
        return;
    }
    printf("\nMemory orders (of ar, aw, au and fence)\n");
    for (enum tms_order order = TMS_ORDER_RELAXED; order < TMS_ORDER_COUNT; order++) {
        if (stats->orders[order] > 0) {
            const char *text = tms_order_text(order); /* as it is spelt in traces */
            printf("  %s%*" PRIu64 "\n", text, TEXT_WIDTH - (int)strlen(text),
                   stats->orders[order]);
        }
    }
}

static void print_lengths(const struct tms_trace_stats *stats)
{
    struct figure figures[FIGURES_MOST];

    if (stats->transactions == 0) {
        return;
    }
    printf("\nTransactions (events inside, without the outermost begin and end)\n");
    if (stats->finished > 0) {
        print_figures(figures, length_figures(stats, figures));
        print_ratio("mean", ratio(stats->total, stats->finished));
    }
    print_figures(figures, block_figures(stats, figures));
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

static void print_row(const struct tms_info *info, const struct listing *listing, uint32_t id)
{
    const void *row = tms_stats_row(table_of(info, listing), id);

    for (const struct field *field = listing->fields; field->key != NULL; field++) {
        printf(" %*" PRIu64, column_width(field), field_value(field, row));
    }
    printf("  ");
    tms_console_name(stdout, tms_name(info->context, listing->cls, id, NULL));
    putchar('\n');
}

static bool print_listing(const struct tms_info *info, const struct listing *listing)
{
    size_t count;
    struct entry *entries = sorted_entries(info, listing, &count);

    if (entries == NULL) {
        return false;
    }
    if (count > 0) {
        printf("\n%s\n", listing->title);
        print_columns(listing->fields);
    }
    size_t shown = info->all || count <= BUSIEST ? count : BUSIEST;
    for (size_t i = 0; i < shown; i++) {
        print_row(info, listing, entries[i].id);
    }
    if (shown < count) {
        printf("  … and %zu more (--all)\n", count - shown);
    }
    free(entries);
    return true;
}

static void print_state(const struct tms_info *info)
{
    const char *whole = info->loss == NULL ? "yes" : "as far as it was read";

    print_line("well_formed", NULL, info->complaint == NULL ? whole : "no");
    if (info->complaint != NULL) {
        printf("    %s\n", info->complaint);
    }
    if (info->loss != NULL) {
        printf("    %s\n", info->loss);
    }
}

bool tms_info_text(const struct tms_info *info)
{
    const struct tms_trace_stats *stats = info->stats;
    struct figure figures[FIGURES_MOST];

    tms_console_name(stdout, info->path);
    putchar('\n');
    print_line("format", NULL, info->format);
    print_figures(figures, whole_figures(info, figures));
    print_ratio("bytes_per_event", ratio(info->bytes, stats->events));
    print_ratio("unary_percent", 100 * ratio(stats->outside, stats->events));
    print_state(info);
    print_kinds(stats);
    print_orders(stats);
    print_lengths(stats);
    for (size_t i = 0; i < LISTING_COUNT; i++) {
        if (!print_listing(info, &listings[i])) {
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

static void json_kinds(const struct tms_trace_stats *stats)
{
    printf(", \"kinds\": {");
    for (int kind = 0; kind < TMS_EVENT_COUNT; kind++) {
        printf("%s\"%s\": %" PRIu64, kind > 0 ? ", " : "",
               tms_event_text((enum tms_event_kind)kind), stats->kinds[kind]);
    }
    printf("}");
}

static void json_orders(const struct tms_trace_stats *stats)
{
    printf(", \"orders\": {");
    for (enum tms_order order = TMS_ORDER_RELAXED; order < TMS_ORDER_COUNT; order++) {
        printf("%s\"%s\": %" PRIu64, order > TMS_ORDER_RELAXED ? ", " : "", tms_order_text(order),
               stats->orders[order]);
    }
    printf("}");
}

static void json_lengths(const struct tms_trace_stats *stats)
{
    struct figure figures[FIGURES_MOST];

    printf(", \"transaction_lengths\": {");
    json_figures(figures, length_figures(stats, figures), "");
    printf(", \"mean\": %.3f}", ratio(stats->total, stats->finished));
    json_figures(figures, block_figures(stats, figures), ", ");
}

static bool json_listing(const struct tms_info *info, const struct listing *listing)
{
    size_t count;
    struct entry *entries = sorted_entries(info, listing, &count);

    printf(", \"%s\": [", listing->key);
    for (size_t i = 0; entries != NULL && i < count; i++) {
        const void *row = tms_stats_row(table_of(info, listing), entries[i].id);
        json_text(i > 0 ? ", {" : "{", "name",
                  tms_name(info->context, listing->cls, entries[i].id, NULL));
        for (const struct field *field = listing->fields; field->key != NULL; field++) {
            printf(", \"%s\": %" PRIu64, field->key, field_value(field, row));
        }
        printf("}");
    }
    printf("]");
    free(entries);
    return entries != NULL;
}

bool tms_info_json(const struct tms_info *info)
{
    const struct tms_trace_stats *stats = info->stats;
    struct figure figures[FIGURES_MOST];
    bool good = true;

    printf("{\"schema\": 1, \"tool\": \"tmesis\"");
    json_text(", ", "version", tms_version());
    json_text(", \"trace\": {", "path", info->path);
    json_text(", ", "format", info->format);
    json_figures(figures, whole_figures(info, figures), ", ");
    printf(", \"bytes_per_event\": %.3f", ratio(info->bytes, stats->events));
    printf(", \"unary_percent\": %.3f", 100 * ratio(stats->outside, stats->events));
    json_text(", ", "loss", info->loss);
    printf(", \"well_formed\": %s", info->complaint == NULL ? "true" : "false");
    json_text(", ", "complaint", info->complaint);
    printf("}");
    json_kinds(stats);
    json_orders(stats);
    json_lengths(stats);
    for (size_t i = 0; i < LISTING_COUNT; i++) {
        good = json_listing(info, &listings[i]) && good;
    }
    printf("}\n");
    return good;
}
