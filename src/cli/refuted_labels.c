/* SPDX-License-Identifier: Apache-2.0 */
/* Labels that are not atomic; see refuted_labels.h. */
#include "cli/refuted_labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/spec_options.h"

/* ---- why ------------------------------------------------------------------------------ */

struct writer {
    FILE *out;
    const struct tms_context *names;
};

static void write_name(const struct writer *writer, enum tms_class cls, uint32_t id)
{
    char number[TMS_NUMBER_SIZE];

    tms_console_name(writer->out, tms_name(writer->names, cls, id, number));
}

/* "B's withdraw", "B's block begun at event 5", "B's event 7 outside any block" */
static void write_transaction(const struct writer *writer,
                              const struct tms_transaction *transaction)
{
    write_name(writer, TMS_CLASS_THREAD, transaction->thread);
    if (transaction->unary) {
        fprintf(writer->out, "'s event %" PRIu64 " outside any block", transaction->begin_event);
    } else if (transaction->label == 0) {
        fprintf(writer->out, "'s block begun at event %" PRIu64, transaction->begin_event);
    } else {
        fputs("'s ", writer->out);
        write_name(writer, TMS_CLASS_LABEL, transaction->label);
    }
}

static void write_thing(const struct writer *writer, const struct tms_step *step)
{
    fputs(tms_class_text(step->on_class), writer->out);
    fputc(' ', writer->out);
    write_name(writer, step->on_class, step->on);
}

static bool same_transaction(const struct tms_transaction *a, const struct tms_transaction *b)
{
    return a->thread == b->thread && a->begin_event == b->begin_event;
}

/* By whom and on what: the step that leaves the transaction, and the one that comes back. */
static void write_cut(const struct writer *writer, const struct tms_finding *finding)
{
    const struct tms_step *out = &finding->cycle[0];
    const struct tms_step *back = &finding->cycle[finding->cycle_length - 1];

    fputs("cut by ", writer->out);
    write_transaction(writer, &out->to);
    if (!same_transaction(&out->to, &back->from)) {
        fputs(finding->cycle_length > 3 ? " … " : " and ", writer->out);
        write_transaction(writer, &back->from);
    }
    fputs(", on ", writer->out);
    write_thing(writer, out);
    if (out->on_class != back->on_class || out->on != back->on) {
        fputs(" and ", writer->out);
        write_thing(writer, back);
    }
}

static char *reason_of(const struct tms_checking *checking, const struct tms_result *result,
                       const struct tms_finding *finding, const struct tms_transaction *block)
{
    char *text = NULL;
    size_t size;
    struct writer writer = {open_memstream(&text, &size), checking->context};

    if (writer.out == NULL) {
        return NULL;
    }
    if (finding->cycle_length > 0) {
        write_cut(&writer, finding);
    } else {
        fprintf(writer.out, "cut by another thread (%s does not determine which)",
                result->engine->name);
    }
    if (block->begin_event != finding->transaction.begin_event) {
        fputs(", inside ", writer.out);
        write_transaction(&writer, &finding->transaction);
    }
    bool failed = ferror(writer.out);
    failed = fclose(writer.out) != 0 || failed;
    if (failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- taking in ------------------------------------------------------------------------ */

bool tms_drops_trace(struct tms_drops *drops, const struct tms_checking *checking)
{
    size_t labels = (size_t)tms_name_count(checking->context, TMS_CLASS_LABEL) + 1;

    free(drops->places);
    drops->places = calloc(labels, sizeof(*drops->places));
    return drops->places != NULL;
}

static size_t find(const struct tms_drops *drops, const char *label)
{
    size_t place = 0;

    while (place < drops->count && strcmp(drops->list[place].label, label) != 0) {
        place++;
    }
    return place;
}

/* The place of a block's label in the list, made if it is new; SIZE_MAX: no memory. */
static size_t place_of(struct tms_drops *drops, const struct tms_checking *checking,
                       const struct tms_result *result, const struct tms_finding *finding,
                       const struct tms_transaction *block)
{
    const struct tms_context *names = checking->context;
    const char *label = tms_name(names, TMS_CLASS_LABEL, block->label, NULL);
    size_t place = find(drops, label);
    char number[TMS_NUMBER_SIZE];

    if (place < drops->count) {
        return place;
    }
    if (!TMS_RESERVE(NULL, &drops->list, &drops->capacity, drops->count + 1, 16)) {
        return SIZE_MAX;
    }
    struct tms_dropped *dropped = &drops->list[drops->count++];
    *dropped = (struct tms_dropped){
        .label = strdup(label),
        .location = strdup(tms_name(names, TMS_CLASS_LOCATION, block->location, number)),
        .reason = reason_of(checking, result, finding, block),
        .trace = checking->path,
        .event = finding->event,
    };
    return dropped->label != NULL && dropped->location != NULL && dropped->reason != NULL
               ? place
               : SIZE_MAX;
}

static bool add_block(struct tms_drops *drops, const struct tms_checking *checking,
                      const struct tms_result *result, const struct tms_finding *finding,
                      const struct tms_transaction *block, size_t round)
{
    uint32_t *known = &drops->places[block->label];

    if (drops->kept != NULL &&
        tms_kept_has(drops->kept,
                     tms_name(checking->context, TMS_CLASS_LABEL, block->label, NULL))) {
        return true;
    }
    if (*known == 0) {
        size_t place = place_of(drops, checking, result, finding, block);
        if (place == SIZE_MAX) {
            return false;
        }
        *known = (uint32_t)place + 1;
    }
    struct tms_dropped *dropped = &drops->list[*known - 1];
    dropped->round = dropped->round == 0 ? round : dropped->round;
    dropped->violations += finding->count;
    return true;
}

bool tms_drops_add(struct tms_drops *drops, const struct tms_checking *checking,
                   const struct tms_result *result, const struct tms_finding *finding, size_t round)
{
    bool good = true;

    if (finding->refuted_count == 0) {
        return add_block(drops, checking, result, finding, &finding->transaction, round);
    }
    for (size_t i = 0; i < finding->refuted_count && good; i++) {
        good = add_block(drops, checking, result, finding, &finding->refuted[i], round);
    }
    return good;
}

void tms_drops_clear(struct tms_drops *drops)
{
    for (size_t i = 0; i < drops->count; i++) {
        free(drops->list[i].label);
        free(drops->list[i].location);
        free(drops->list[i].reason);
    }
    free(drops->list);
    free(drops->places);
    *drops = (struct tms_drops){0};
}

/* ---- the specification ---------------------------------------------------------------- */

/* A label as a pattern: the rest of a line after "not-atomic ". */
static int exclude(struct tms_spec *spec, const char *label)
{
    char *line = NULL;
    size_t size;
    FILE *out = open_memstream(&line, &size);

    if (out == NULL) {
        return TMS_ERR_MEMORY;
    }
    tms_rules_write(out, false, label);
    int code = fclose(out) == 0 ? TMS_OK : TMS_ERR_MEMORY;
    if (code == TMS_OK) {
        code = tms_spec_add(spec, false, line + strlen("not-atomic "));
    }
    free(line);
    return code;
}

bool tms_drops_exclude(const struct tms_drops *drops, size_t first, struct tms_spec *spec)
{
    for (size_t i = first; i < drops->count; i++) {
        if (exclude(spec, drops->list[i].label) != TMS_OK) {
            return false;
        }
    }
    return true;
}

static void write_dropped(const struct tms_dropped *dropped, FILE *out)
{
    fprintf(out, "\n# %s\n# ", dropped->reason);
    if (*dropped->location != '\0') {
        tms_console_name(out, dropped->location);
        fputs("; ", out);
    }
    tms_console_name(out, dropped->trace);
    fprintf(out, ", event %" PRIu64 "; round %zu, %" PRIu64 " violation%s\n", dropped->event,
            dropped->round, dropped->violations, dropped->violations == 1 ? "" : "s");
    tms_rules_write(out, false, dropped->label);
    fputc('\n', out);
}

void tms_drops_write(const struct tms_drops *drops, const struct tms_spec *spec, FILE *out)
{
    size_t rules = 0;
    bool atomic;

    while (tms_spec_rule(spec, rules, &atomic) != NULL) {
        rules++;
    }
    for (size_t i = 0; i < rules - drops->count; i++) {
        const char *pattern = tms_spec_rule(spec, i, &atomic);
        tms_rules_write_pattern(out, atomic, pattern);
        fputc('\n', out);
    }
    for (size_t i = 0; i < drops->count; i++) {
        write_dropped(&drops->list[i], out);
    }
}
