/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts and counts findings; see export_order.h. */
#include "report/export_order.h"

#include <stdlib.h>
#include <string.h>

#include "report/finding_order.h"
#include "report/judged_listing.h"

/* How a finding is placed among those of its block. */
enum standing { OBSERVED, PREDICTED, NOTE, LEFT_OUT };

static enum standing standing_of(const struct tms_export_entry *entry)
{
    const struct tms_finding *finding = entry->finding;
    bool potential = finding->evidence == TMS_EVIDENCE_POTENTIAL;

    if (finding->known || finding->suppressed || (potential && !entry->part->settings->potential)) {
        return LEFT_OUT;
    }
    if (entry->level == TMS_LEVEL_NOTE) {
        return NOTE;
    }
    return finding->evidence == TMS_EVIDENCE_OBSERVED ? OBSERVED : PREDICTED;
}

/* ---- order ---------------------------------------------------------------------------------- */

static int compare(uint64_t one, uint64_t two)
{
    return one < two ? -1 : one > two;
}

static int by_severity(const void *a, const void *b)
{
    const struct tms_export_entry *one = a, *two = b;
    int order = tms_finding_order(one->finding, two->finding);

    return order != 0 ? order : compare(one->rank, two->rank);
}

/* Entries are in the order of severity, `place`. */
static int within_block(const struct tms_export_entry *one, const struct tms_export_entry *two)
{
    int order = compare(standing_of(one), standing_of(two));

    return order != 0 ? order : compare(one->place, two->place);
}

static int compare_blocks(const struct tms_export_entry *one, const struct tms_export_entry *two)
{
    bool judged = one->finding->judgement != NULL;

    if (one->part != two->part) {
        return one->part < two->part ? -1 : 1;
    }
    if (judged != (two->finding->judgement != NULL)) {
        return judged ? -1 : 1;
    }
    return judged ? compare(one->block, two->block) : compare(one->place, two->place);
}

static int by_block(const void *a, const void *b)
{
    int order = compare_blocks(a, b);

    return order != 0 ? order : within_block(a, b);
}

static int by_head(const void *a, const void *b)
{
    const struct tms_export_entry *one = a, *two = b;
    int order = compare(one->head, two->head);

    return order != 0 ? order : within_block(one, two);
}

/* ---- counts --------------------------------------------------------------------------------- */

static bool is_race(const struct tms_export_entry *entry)
{
    return strcmp(entry->finding->kind, "race") == 0;
}

static bool is_potential(const struct tms_export_entry *entry)
{
    return entry->finding->evidence == TMS_EVIDENCE_POTENTIAL &&
           (entry->finding->judgement == NULL || !entry->part->settings->potential);
}

static void count_entry(struct tms_export_counts *counts, const struct tms_export_entry *entry)
{
    bool hidden = !tms_export_is_shown(entry);

    if (entry->finding->suppressed) {
        counts->suppressed++;
    } else if (entry->finding->known) {
        counts->known++;
    } else if (is_race(entry)) {
        counts->races++;
        counts->hidden_races += hidden;
    } else if (is_potential(entry)) {
        counts->potential++;
        counts->hidden_potential += hidden;
    } else if (entry->heads && standing_of(entry) == PREDICTED) {
        counts->predicted++;
    } else if (entry->heads) {
        counts->levels[entry->level]++;
        counts->hidden_notes += hidden;
    }
}

/* ---- both ----------------------------------------------------------------------------------- */

void tms_export_arrange(struct tms_export_job *job)
{
    struct tms_export_entry *entries = job->entries;

    qsort(entries, job->count, sizeof(*entries), by_severity);
    for (size_t i = 0; i < job->count; i++) {
        entries[i].place = i;
        entries[i].block = tms_block_key(entries[i].page->names, entries[i].finding);
    }
    qsort(entries, job->count, sizeof(*entries), by_block);
    for (size_t i = 0; i < job->count; i++) {
        entries[i].heads = i == 0 || compare_blocks(&entries[i - 1], &entries[i]) != 0;
        entries[i].head = entries[i].heads ? entries[i].place : entries[i - 1].head;
    }
    qsort(entries, job->count, sizeof(*entries), by_head);
    for (size_t i = 0; i < job->count; i++) {
        count_entry(&job->counts, &entries[i]);
    }
}
