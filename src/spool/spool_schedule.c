/* SPDX-License-Identifier: Apache-2.0 */
/* Schedule and windows of a process; see spool_schedule.h. */
#include "spool/spool_schedule.h"

#include <stdlib.h>

#include "protocol/schedule.h"
#include "spool/object_names.h"

static struct tms_window_place place_of(struct tms_spool_names *names, uint32_t site, bool lock)
{
    uint8_t kind = lock ? TMS_EVENT_ACQUIRE : TMS_EVENT_READ;

    return (struct tms_window_place){.location = tms_spool_event_location(names, site, kind),
                                     .stack = tms_spool_stack(names, site)};
}

static void fill(struct tms_spool_names *names, const struct tms_spool_entry *entry,
                 struct tms_window *to)
{
    const struct tms_spool_window *from = (const void *)entry->record;
    bool lock = from->on_lock != 0;
    enum tms_class cls = lock ? TMS_CLASS_LOCK : TMS_CLASS_VARIABLE;
    uint32_t target =
        tms_spool_name_near(names, entry->sequence, cls, from->object >> 8, TMS_NAME_AS_RECORDED);
    uint32_t label = tms_spool_label(names, from->label);

    *to = (struct tms_window){
        .block = {.label = label, .location = tms_spool_location(names, from->block_site)},
        .target = target,
        .lock = lock,
        .guarded = from->guarded != 0,
        .open = place_of(names, from->open, lock),
        .close = place_of(names, from->close, lock || from->close != from->at),
        .at = place_of(names, from->at, lock),
        .seen = from->seen,
    };
    tms_judged_id(tms_name(names->context, TMS_CLASS_LABEL, label, NULL),
                  tms_name(names->context, cls, target, NULL), to->id);
}

static int take_windows(struct tms_spool_names *names, struct tms_steering *steering)
{
    const struct tms_spool_list *list = &names->spool->lists[TMS_SPOOL_WINDOW];
    struct tms_window *windows = calloc(list->count + 1, sizeof(*windows));

    if (windows == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct tms_spool_window *from = (const void *)list->entries[i].record;
        if (from->seen > 0 && from->label != 0) { /* else the process died while writing it */
            fill(names, &list->entries[i], &windows[steering->window_count++]);
        }
    }
    steering->windows = windows;
    return names->failed ? TMS_ERR_MEMORY : TMS_OK;
}

int tms_spool_steering(struct tms_spool_names *names, struct tms_steering *steering)
{
    const struct tms_spool_list *list = &names->spool->lists[TMS_SPOOL_SCHEDULE];
    const struct tms_spool_schedule *record =
        list->count > 0 ? (const void *)list->entries[list->count - 1].record : NULL;

    *steering = (struct tms_steering){0};
    if (record == NULL || record->strategy >= TMS_STRATEGY_COUNT) {
        return TMS_OK;
    }
    *steering = (struct tms_steering){
        .strategy = tms_strategy_word((enum tms_strategy)record->strategy),
        .seed = record->seed,
        .points = record->points,
        .delays = record->delays,
        .holds = record->holds,
        .met = record->met,
        .released = record->released,
    };
    return take_windows(names, steering);
}
