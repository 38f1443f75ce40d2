/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A baseline: the blocks of earlier results, each with the severity of its worst finding. A finding
 * is known if the baseline has all of its blocks with at least its severity. Variables, fields and
 * patterns are not compared: with another timing the same bug shows in another field.
 *
 * The severity of a finding of `judge` is its level; that of others is their evidence, observed
 * being the worst. Findings without blocks (races, deadlocks) are compared by id.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/finding_blocks.h"
#include "analysis/merge_results.h"
#include "base/names.h"
#include "spec/identity.h"

/* The first byte of a name in the baseline says what it is. */
enum { JUDGED = 'j', NAMED = 'n', ID = 'i' };

struct tms_baseline {
    struct tms_context *context;
    struct tms_memory memory;
    struct tms_names names;
    uint8_t *worst; /* by name: the highest level, or the strength of the evidence; see worth_of */
    size_t worst_capacity;
};

int tms_baseline_new(struct tms_context *context, struct tms_baseline **out)
{
    struct tms_baseline *baseline = calloc(1, sizeof(*baseline));

    *out = NULL;
    if (baseline == NULL) {
        return tms_fail_memory(context);
    }
    baseline->context = context;
    if (tms_names_init(&baseline->names, &baseline->memory) != TMS_OK) {
        tms_baseline_free(baseline);
        return tms_fail_memory(context);
    }
    *out = baseline;
    return TMS_OK;
}

void tms_baseline_free(struct tms_baseline *baseline)
{
    if (baseline != NULL) {
        tms_release(&baseline->memory, baseline->worst, baseline->worst_capacity,
                    sizeof(*baseline->worst));
        tms_names_clear(&baseline->names);
        free(baseline);
    }
}

/* The severity of a finding, at least 1. */
static uint8_t worth_of(const struct tms_finding *finding)
{
    return finding->judgement != NULL ? (uint8_t)(finding->judgement->level + 1)
                                      : (uint8_t)(TMS_EVIDENCE_POTENTIAL - finding->evidence + 1);
}

/* The index-th name that a finding is compared by, newly allocated; NULL if out of memory. */
static char *name_of(const struct tms_context *context, const struct tms_finding *finding,
                     size_t index, size_t *length)
{
    bool blocks = tms_finding_has_blocks(finding);
    const char *text =
        blocks ? tms_name(context, TMS_CLASS_LABEL, tms_finding_label(finding, index), NULL)
               : finding->id;
    char *name = malloc(strlen(text) + 2);

    if (name == NULL) {
        return NULL;
    }
    name[0] = finding->judgement != NULL ? JUDGED : blocks ? NAMED : ID;
    *length = 1;
    if (blocks) {
        *length += tms_function_text(text, name + 1);
    } else {
        *length += strlen(text);
        memcpy(name + 1, text, strlen(text));
    }
    return name;
}

static size_t name_count(const struct tms_finding *finding)
{
    return tms_finding_has_blocks(finding) ? tms_finding_blocks(finding) : 1;
}

/* ---- taking in ---------------------------------------------------------------------------- */

static int note_name(struct tms_baseline *baseline, const char *name, size_t length, uint8_t worth)
{
    int64_t id = tms_names_intern(&baseline->names, name, length);

    if (id < 0 || !TMS_RESERVE(&baseline->memory, &baseline->worst, &baseline->worst_capacity,
                               (size_t)id + 1, 64)) {
        return TMS_ERR_MEMORY;
    }
    if (baseline->worst[id] < worth) {
        baseline->worst[id] = worth;
    }
    return TMS_OK;
}

int tms_baseline_add(struct tms_baseline *baseline, const struct tms_context *names,
                     const struct tms_finding *finding)
{
    int code = TMS_OK;

    for (size_t i = 0; i < name_count(finding) && code == TMS_OK; i++) {
        size_t length = 0;
        char *name = name_of(names, finding, i, &length);
        code = name != NULL ? note_name(baseline, name, length, worth_of(finding)) : TMS_ERR_MEMORY;
        free(name);
    }
    return code == TMS_OK ? TMS_OK : tms_fail_memory(baseline->context);
}

/* ---- comparing ---------------------------------------------------------------------------- */

static uint8_t worst_of(struct tms_baseline *baseline, const char *name, size_t length)
{
    uint32_t id = tms_names_find(&baseline->names, name, length);

    return id != 0 ? baseline->worst[id] : 0;
}

/* A block that `judge` named was interleaved, so findings of other engines about it are known. */
static bool has_name(struct tms_baseline *baseline, char *name, size_t length, uint8_t worth)
{
    if (worst_of(baseline, name, length) >= worth) {
        return true;
    }
    if (name[0] != NAMED) {
        return false;
    }
    name[0] = JUDGED;
    return worst_of(baseline, name, length) > 0;
}

/* 1: all names are known, 0: not, or TMS_ERR_MEMORY. */
static int is_known(struct tms_baseline *baseline, const struct tms_context *names,
                    const struct tms_finding *finding)
{
    bool known = true;

    for (size_t i = 0; known && i < name_count(finding); i++) {
        size_t length = 0;
        char *name = name_of(names, finding, i, &length);
        if (name == NULL) {
            return TMS_ERR_MEMORY;
        }
        known = has_name(baseline, name, length, worth_of(finding));
        free(name);
    }
    return known;
}

static struct tms_finding *list_of(const struct tms_analysis *analysis, size_t index)
{
    const struct tms_run *run = &analysis->runs[index];

    if (analysis->merged != NULL) {
        return tms_merged_list(analysis->merged, index)->findings;
    }
    return tms_run_findings(run);
}

/* Moves known findings to the end; a stable partition. */
static int part(struct tms_analysis *analysis, struct tms_finding *list, struct tms_result *result)
{
    size_t all = result->finding_count + (size_t)result->known, shown = 0, known = 0;
    struct tms_finding *rest = tms_resize(&analysis->memory, NULL, 0, all + 1, sizeof(*rest));

    if (rest == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < all; i++) {
        if (list[i].known) {
            rest[known++] = list[i];
        } else {
            list[shown++] = list[i];
        }
    }
    if (known > 0) {
        memcpy(&list[shown], rest, known * sizeof(*rest));
    }
    tms_release(&analysis->memory, rest, all + 1, sizeof(*rest));
    result->finding_count = shown;
    result->known = known;
    return TMS_OK;
}

static int mark(struct tms_baseline *baseline, struct tms_analysis *analysis, size_t index)
{
    struct tms_result *result = &analysis->runs[index].result;
    size_t count = result->finding_count + (size_t)result->known;
    struct tms_finding *list = count > 0 ? list_of(analysis, index) : NULL;

    for (size_t i = 0; i < count; i++) {
        int known = is_known(baseline, analysis->context, &list[i]);
        if (known < 0) {
            return known;
        }
        list[i].known = known == 1;
    }
    return count > 0 ? part(analysis, list, result) : TMS_OK;
}

int64_t tms_baseline_mark(struct tms_baseline *baseline, struct tms_analysis *analysis)
{
    int64_t count = 0;

    for (size_t i = 0; analysis->finished && i < analysis->run_count; i++) {
        if (mark(baseline, analysis, i) != TMS_OK) {
            return tms_fail_memory(baseline->context);
        }
        count += (int64_t)analysis->runs[i].result.known;
    }
    analysis->marked = true;
    return count;
}
