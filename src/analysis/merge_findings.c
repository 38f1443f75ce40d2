/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the findings of several processes; see merge_findings.h. */
#include "analysis/merge_findings.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/finding_blocks.h"
#include "spec/identity.h"

int tms_merging_init(struct tms_merging *merging)
{
    *merging = (struct tms_merging){0};
    return tms_names_init(&merging->keys, &merging->memory);
}

void tms_merging_clear(struct tms_merging *merging)
{
    struct tms_memory *memory = &merging->memory;

    for (size_t i = 0; i < merging->list_count; i++) {
        struct tms_merged_list *list = &merging->lists[i];
        tms_release(memory, list->findings, list->capacity, sizeof(*list->findings));
        tms_release(memory, list->entries, list->entry_capacity, sizeof(*list->entries));
    }
    tms_release(memory, merging->lists, merging->list_capacity, sizeof(*merging->lists));
    tms_release(memory, merging->found, merging->found_capacity, sizeof(*merging->found));
    tms_names_clear(&merging->keys);
    tms_arena_clear(&merging->arena, memory);
    assert(memory->bytes == 0);
}

/* ---- keys --------------------------------------------------------------------------------- */

static bool put_function(FILE *out, const char *label)
{
    char *function = malloc(strlen(label) + 1);

    if (function == NULL) {
        return false;
    }
    fwrite(function, 1, tms_function_text(label, function), out);
    fputc('\0', out);
    free(function);
    return true;
}

static void put_objects(FILE *out, const struct tms_judgement *judgement)
{
    const char *one = judgement->object != NULL ? judgement->object : "";
    const char *two = judgement->other_object != NULL ? judgement->other_object : "";
    bool swap = strcmp(one, two) > 0;

    fprintf(out, "%s%c%s", swap ? two : one, '\0', swap ? one : two);
}

/* The key of what a finding says about which blocks. */
static bool put_blocks(FILE *out, const struct tms_context *names,
                       const struct tms_finding *finding)
{
    bool good = true;

    for (size_t i = 0; good && i < tms_finding_blocks(finding); i++) {
        uint32_t label = tms_finding_label(finding, i);
        good = put_function(out, tms_name(names, TMS_CLASS_LABEL, label, NULL));
    }
    if (finding->judgement != NULL) {
        put_objects(out, finding->judgement);
    } else {
        fprintf(out, "%s %d %d", finding->kind, finding->evidence, finding->not_atomic);
    }
    return good;
}

/* The number of a key, with room for it in `found`; 0 if out of memory. */
static uint32_t key_number(struct tms_merging *merging, size_t list, bool by_id,
                           const struct tms_context *names, const struct tms_finding *finding)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    int64_t number = 0;

    if (out == NULL) {
        return 0;
    }
    fprintf(out, by_id ? "%zu id %s" : "%zu ", list, finding->id);
    bool good = by_id || put_blocks(out, names, finding);
    if (fclose(out) == 0 && good) {
        number = tms_names_intern(&merging->keys, text, length);
    }
    free(text);
    bool room = number > 0 && TMS_RESERVE(&merging->memory, &merging->found,
                                          &merging->found_capacity, (size_t)number + 1, 64);
    return room ? (uint32_t)number : 0;
}

/* ---- findings ----------------------------------------------------------------------------- */

static bool add_finding(struct tms_merging *merging, struct tms_merged_list *list,
                        struct tms_copying *copying, const struct tms_finding *finding)
{
    struct tms_memory *memory = &merging->memory;

    if (!TMS_RESERVE(memory, &list->findings, &list->capacity, list->count + 1, 16) ||
        !TMS_RESERVE(memory, &list->entries, &list->entry_capacity, list->count + 1, 16)) {
        return false;
    }
    struct tms_finding copy = tms_copy_finding(copying, finding);
    struct tms_merged_entry entry = {0};
    if (finding->judgement != NULL && !copying->failed) {
        entry.sum = tms_arena_take(&merging->arena, memory, sizeof(*entry.sum));
        copying->failed = entry.sum == NULL;
    }
    if (copying->failed) {
        return false;
    }
    if (entry.sum != NULL) {
        *entry.sum = *copy.judgement;
        copy.judgement = entry.sum;
    }
    copy.processes = 0;
    copy.known = false;
    list->findings[list->count] = copy;
    list->entries[list->count++] = entry;
    return true;
}

/* Shows the more severe of the two; counts both. */
static void combine_judged(struct tms_copying *copying, struct tms_finding *into,
                           struct tms_judgement *sum, const struct tms_finding *from)
{
    struct tms_judgement before = *sum;
    const struct tms_judgement *more = from->judgement;

    if (more->level > before.level) {
        struct tms_finding shown = tms_copy_finding(copying, from);
        if (copying->failed) {
            return;
        }
        *sum = *shown.judgement;
        shown.id = into->id;
        shown.count = into->count;
        shown.processes = into->processes;
        shown.evidence = into->evidence;
        shown.judgement = sum;
        *into = shown;
    }
    sum->patterns = before.patterns | more->patterns;
    sum->executions = before.executions + more->executions;
    sum->cut = before.cut + more->cut;
    if (from->evidence < into->evidence) {
        into->evidence = from->evidence;
    }
}

static void count_process(struct tms_merging *merging, struct tms_merged_list *list, size_t index)
{
    struct tms_merged_entry *entry = &list->entries[index];

    if (entry->last != merging->process) {
        entry->last = merging->process;
        list->findings[index].processes++;
    }
    if (entry->sum != NULL) {
        entry->sum->processes = list->findings[index].processes;
    }
}

/* The number of the finding that this one belongs to, 0: none so far. */
static uint32_t find(const struct tms_merging *merging, const struct tms_finding *finding,
                     uint32_t by_id, uint32_t by_blocks)
{
    if (finding->judgement != NULL) { /* six digits of a hash are not enough to merge by */
        return merging->found[by_blocks];
    }
    return merging->found[by_id] != 0 || !tms_finding_has_blocks(finding)
               ? merging->found[by_id]
               : merging->found[by_blocks];
}

int tms_merging_add(struct tms_merging *merging, size_t number, struct tms_copying *copying,
                    const struct tms_finding *finding)
{
    struct tms_merged_list *list = &merging->lists[number];
    uint32_t by_id = key_number(merging, number, true, copying->from, finding);
    uint32_t by_blocks = key_number(merging, number, false, copying->from, finding);
    bool good = by_id != 0 && by_blocks != 0;
    uint32_t known = good ? find(merging, finding, by_id, by_blocks) : 0;

    if (known != 0) {
        list->findings[known - 1].count += finding->count;
        if (finding->judgement != NULL) {
            combine_judged(copying, &list->findings[known - 1], list->entries[known - 1].sum,
                           finding);
        }
    } else if (good && add_finding(merging, list, copying, finding)) {
        known = (uint32_t)list->count;
    }
    if (known == 0 || copying->failed) {
        return TMS_ERR_MEMORY;
    }
    merging->found[by_id] = known;
    if (merging->found[by_blocks] == 0) {
        merging->found[by_blocks] = known;
    }
    count_process(merging, list, known - 1);
    return TMS_OK;
}

const char *tms_merging_id(struct tms_merging *merging, const char *id)
{
    char text[64];

    for (size_t i = 0; i < merging->list_count; i++) {
        int length = snprintf(text, sizeof(text), "%zu id %s", i, id);
        uint32_t key =
            length < (int)sizeof(text) ? tms_names_find(&merging->keys, text, (size_t)length) : 0;
        if (key != 0 && key < merging->found_capacity && merging->found[key] != 0) {
            return merging->lists[i].findings[merging->found[key] - 1].id;
        }
    }
    return id;
}
