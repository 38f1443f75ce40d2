/* SPDX-License-Identifier: Apache-2.0 */
/* A survey as text and as JSON, from the same tables of figures and fields; see inventory.h. */
#include "cli/inventory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"

/* ---- numbers that both outputs show --------------------------------------------------- */

struct figure {
    const char *key;  /* in JSON */
    const char *text; /* for people */
    uint64_t value;
};

#define FIGURES_MOST 16

static size_t whole_figures(const struct tms_inventory *inventory, struct figure *figures)
{
    const struct tms_survey *survey = inventory->survey;
    uint64_t shared, variables = tms_survey_variables(survey, &shared);
    const struct figure all[] = {
        {"events", "events", survey->events},
        {"threads", "threads", tms_survey_threads(survey)},
        {"locks", "locks", tms_survey_locks(survey)},
        {"variables", "variables", variables},
        {"shared_variables", "  used by several threads", shared},
        {"labels", "labels", tms_survey_labels(survey)},
        {"locations", "locations", tms_survey_locations(survey)},
        {"transactions", "transactions (outermost blocks)", survey->transactions},
        {"unary", "events outside blocks", survey->outside},
        {"open_blocks", "blocks open at the end", tms_survey_open_blocks(survey)},
        {"held_locks", "locks held at the end", tms_survey_held_locks(survey)},
        {"bytes", "bytes", inventory->bytes},
    };

    _Static_assert(sizeof(all) / sizeof(all[0]) <= FIGURES_MOST, "room for the figures");
    memcpy(figures, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

static size_t length_figures(const struct tms_survey *survey, struct figure *figures)
{
    const struct figure all[] = {
        {"finished", "ended", survey->finished},
        {"min", "shortest", survey->shortest},
        {"median", "median", tms_survey_quantile(survey, 0.5)},
        {"p90", "90 % are no longer than", tms_survey_quantile(survey, 0.9)},
        {"max", "longest", survey->longest},
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

/* The fields of a row that are shown, as columns or as members. */
struct field {
    const char *key;
    const char *text;
    size_t at;
    bool wide; /* uint64_t, else uint32_t */
};

static const struct field thread_fields[] = {
#define FIELD(key, text, wide)                                                                     \
    {                                                                                              \
#key, text, offsetof(struct tms_survey_thread, key), wide                                  \
    }
    FIELD(events, "events", true),
    FIELD(transactions, "transactions", true),
    FIELD(outside, "outside", true),
    FIELD(accesses, "accesses", true),
    FIELD(acquires, "acquires", true),
    FIELD(depth_most, "nesting", false),
    {NULL, NULL, 0, false},
#undef FIELD
};

static const struct field lock_fields[] = {
#define FIELD(key, text, wide)                                                                     \
    {                                                                                              \
#key, text, offsetof(struct tms_survey_lock, key), wide                                    \
    }
    FIELD(acquires, "acquires", true),    FIELD(shared, "shared", true),
    FIELD(reentrant, "re-entrant", true), FIELD(handovers, "handovers", true),
    FIELD(deepest, "depth", false),       {NULL, NULL, 0, false},
#undef FIELD
};

static const struct field label_fields[] = {{"count", "blocks", 0, true}, {NULL, NULL, 0, false}};

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

#define TEXT_WIDTH 34
#define BUSIEST    10

static void print_figures(const struct figure *figures, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("  %-*s %14" PRIu64 "\n", TEXT_WIDTH, figures[i].text, figures[i].value);
    }
}

static void print_ratio(const char *text, double value)
{
    printf("  %-*s %14.2f\n", TEXT_WIDTH, text, value);
}

static void print_kinds(const struct tms_survey *survey)
{
    printf("\nEvents\n");
    for (int kind = 0; kind < TMS_EVENT_COUNT; kind++) {
        if (survey->kinds[kind] > 0) {
            printf("  %-*s %14" PRIu64 "\n", TEXT_WIDTH, tms_event_text((enum tms_event_kind)kind),
                   survey->kinds[kind]);
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
    printf("  %-*s %14u\n", TEXT_WIDTH, "deepest nesting", deepest_nesting(survey));
    printf("  %-*s %14" PRIu64 "\n", TEXT_WIDTH, "blocks without label", survey->unlabelled);
}

static void print_row(const struct tms_inventory *inventory, const struct listing *listing,
                      uint32_t id)
{
    const void *row = tms_survey_row(table_of(inventory, listing), id);

    for (const struct field *field = listing->fields; field->key != NULL; field++) {
        printf(" %13" PRIu64, field_value(field, row));
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
        for (const struct field *field = listing->fields; field->key != NULL; field++) {
            printf(" %13s", field->text);
        }
        putchar('\n');
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

bool tms_inventory_text(const struct tms_inventory *inventory)
{
    const struct tms_survey *survey = inventory->survey;
    struct figure figures[FIGURES_MOST];

    tms_console_name(stdout, inventory->path);
    printf("\n  %-*s %14s\n", TEXT_WIDTH, "format", inventory->format);
    print_figures(figures, whole_figures(inventory, figures));
    print_ratio("bytes an event", ratio(inventory->bytes, survey->events));
    print_ratio("% of events outside blocks", 100 * ratio(survey->outside, survey->events));
    printf("  %-*s %14s\n", TEXT_WIDTH, "well-formed", inventory->complaint == NULL ? "yes" : "no");
    if (inventory->complaint != NULL) {
        printf("    %s\n", inventory->complaint);
    }
    print_kinds(survey);
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

static void json_lengths(const struct tms_survey *survey)
{
    struct figure figures[FIGURES_MOST];

    printf(", \"transaction_lengths\": {");
    json_figures(figures, length_figures(survey, figures), "");
    printf(", \"mean\": %.3f}", ratio(survey->total, survey->finished));
    printf(", \"deepest_nesting\": %u, \"unlabelled_blocks\": %" PRIu64, deepest_nesting(survey),
           survey->unlabelled);
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
    struct figure figures[FIGURES_MOST];
    bool good = true;

    printf("{\"schema\": 1, \"tool\": \"tmesis\"");
    json_text(", ", "version", tms_version());
    json_text(", \"trace\": {", "path", inventory->path);
    json_text(", ", "format", inventory->format);
    json_figures(figures, whole_figures(inventory, figures), ", ");
    json_text(", ", "loss", inventory->loss);
    printf(", \"well_formed\": %s", inventory->complaint == NULL ? "true" : "false");
    json_text(", ", "complaint", inventory->complaint);
    printf("}");
    json_kinds(inventory->survey);
    json_lengths(inventory->survey);
    for (size_t i = 0; i < LISTING_COUNT; i++) {
        good = json_listing(inventory, &listings[i]) && good;
    }
    printf("}\n");
    return good;
}
