/* SPDX-License-Identifier: Apache-2.0 */
/* Restores saved results as an analysis that can be reported; see saved_result.h. */
#include <string.h>

#include "saved/saved_result.h"

/* The lists of a result: findings that count, then those of a baseline, then suppressed ones. */
enum part { COUNTS, KNOWN, SUPPRESSED, PARTS };

static enum part part_of(const struct tms_finding *finding)
{
    return finding->suppressed ? SUPPRESSED : finding->known ? KNOWN : COUNTS;
}

/* Copies the findings in that order; those of many runs are ranked by their position. */
static bool arrange(struct tms_saved *saved, struct tms_result *result)
{
    size_t size = result->finding_count, at = 0, counts[PARTS] = {0};
    struct tms_finding *list =
        tms_arena_take(&saved->arena, &saved->memory, (size + 1) * sizeof(*list));

    if (list == NULL) {
        return false;
    }
    for (enum part part = COUNTS; part < PARTS; part++) {
        for (size_t i = 0; i < size; i++) {
            if (part_of(&result->findings[i]) == part) {
                list[at] = result->findings[i];
                list[at].rank = list[at].runs > 0 ? i + 1 : 0;
                at++;
                counts[part]++;
            }
        }
    }
    result->findings = list;
    result->finding_count = counts[COUNTS];
    result->known = counts[KNOWN];
    result->suppressed = counts[SUPPRESSED];
    return true;
}

void tms_saved_suppress(struct tms_saved *saved, tms_saved_ask *is_suppressed, void *user)
{
    for (size_t i = 0; i < saved->count; i++) {
        const struct tms_result *result = &saved->results[i].result;
        for (size_t j = 0; j < result->finding_count; j++) {
            const struct tms_finding *finding = &result->findings[j];
            if (is_suppressed(user, finding->id) ||
                (finding->judged != NULL && is_suppressed(user, finding->judged)) ||
                (finding->same_as != NULL && is_suppressed(user, finding->same_as))) {
                ((struct tms_finding *)(uintptr_t)finding)->suppressed = true; /* in our arena */
            }
        }
    }
}

int tms_saved_restore(struct tms_saved *saved, size_t index, struct tms_analysis **out)
{
    const struct tms_saved_object *object = &saved->objects[index];
    struct tms_result *results =
        tms_arena_take(&saved->arena, &saved->memory, object->count * sizeof(*results));
    struct tms_restored restored = {.summary = object->summary,
                                    .results = results,
                                    .result_count = object->count,
                                    .loss = object->loss};

    for (size_t i = 0; results != NULL && i < object->count; i++) {
        results[i] = saved->results[object->first + i].result;
        if (!arrange(saved, &results[i])) {
            return TMS_ERR_MEMORY;
        }
    }
    return results != NULL ? tms_analysis_restore(saved->context, &restored, out) : TMS_ERR_MEMORY;
}

bool tms_saved_is_shown(const struct tms_saved *saved, size_t index)
{
    bool merged = false;

    for (size_t i = 0; i < saved->object_count; i++) {
        merged = merged || saved->objects[i].merged;
    }
    return !merged || saved->objects[index].merged;
}

void tms_saved_settings(const struct tms_saved_object *object, struct tms_report_settings *settings)
{
    settings->path = object->path != NULL ? object->path : "-";
    settings->format = object->format != NULL ? object->format : "std";
    settings->blocks = object->blocks;
    settings->unread = object->unread;
    settings->command = object->command;
    settings->host = object->host;
    settings->started = object->started;
    settings->seconds = object->seconds;
    settings->baseline = object->baseline;
    settings->processes = object->processes;
    settings->runs = object->runs;
    settings->failed_runs = object->failed_runs;
    settings->failures = object->failures;
    settings->version = object->version;
    settings->seed = object->seed;
    settings->seeded = object->seeded;
    settings->ended = object->exit_status >= 0 || object->exit_signal > 0;
    settings->exit_status = object->exit_status > 0 ? (int)object->exit_status : 0;
    settings->exit_signal = object->exit_signal > 0 ? (int)object->exit_signal : 0;
    settings->partial = object->partial;
    settings->coverage = object->coverage;
    settings->locks_only = object->locks_only;
    if (object->locks_only) { /* nothing is worse than a note there */
        settings->notes = settings->potential = true;
    }
}
