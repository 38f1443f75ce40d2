/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of merged findings; see link_processes.h. */
#include "saved/link_processes.h"

#include <stdlib.h>
#include <string.h>

/* A finding of one process; sorted by id, then in the order of the file. */
struct shown {
    const char *id, *path;
    size_t order;
};

static int by_id(const void *a, const void *b)
{
    const struct shown *one = a, *two = b;
    int order = strcmp(one->id, two->id);

    return order != 0 ? order : one->order < two->order ? -1 : one->order > two->order;
}

static bool has_merged(const struct tms_saved *saved)
{
    for (size_t i = 0; i < saved->count; i++) {
        if (saved->results[i].merged) {
            return true;
        }
    }
    return false;
}

/* Findings of processes; how many there are with `list` NULL. */
static size_t collect(const struct tms_saved *saved, struct shown *list)
{
    size_t count = 0;

    for (size_t i = 0; i < saved->count; i++) {
        const struct tms_saved_result *each = &saved->results[i];
        for (size_t j = 0; !each->merged && j < each->result.finding_count; j++) {
            if (list != NULL) {
                list[count] = (struct shown){each->result.findings[j].id, each->path, count};
            }
            count++;
        }
    }
    return count;
}

/* The path of the first one with this id; NULL if there is none. */
static const char *find(const struct shown *list, size_t count, const char *id)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(list[middle].id, id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && strcmp(list[low].id, id) == 0 ? list[low].path : NULL;
}

void tms_saved_link_processes(struct tms_loading *loading)
{
    const struct tms_saved *saved = loading->saved;
    size_t count = has_merged(saved) ? collect(saved, NULL) : 0;
    struct shown *list = count > 0 ? calloc(count, sizeof(*list)) : NULL;

    if (list == NULL) {
        if (count > 0) {
            tms_loading_fail_memory(loading);
        }
        return;
    }
    collect(saved, list);
    qsort(list, count, sizeof(*list), by_id);
    for (size_t i = 0; i < saved->count; i++) {
        const struct tms_result *result = &saved->results[i].result;
        for (size_t j = 0; saved->results[i].merged && j < result->finding_count; j++) {
            struct tms_finding *finding = /* in our arena */
                (struct tms_finding *)(uintptr_t)&result->findings[j];
            finding->process = find(list, count, finding->id);
        }
    }
    free(list);
}
