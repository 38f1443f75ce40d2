/* SPDX-License-Identifier: Apache-2.0 */
/* Coalesces the accesses of one line; see coalesce_lines.h. */
#include "spool/coalesce_lines.h"

#include <string.h>

#include "base/hash_mix.h"
#include "spool/event_merge.h"

#define PATIENCE 16u

static bool is_one_line(struct tms_spool_names *names, uint32_t one, uint32_t other)
{
    const struct tms_frame *frame = tms_spool_frame(names, one);
    const struct tms_frame copy = frame != NULL ? *frame : (struct tms_frame){0};

    frame = copy.file != NULL && copy.line != 0 ? tms_spool_frame(names, other) : NULL;
    return frame != NULL && frame->file != NULL && frame->line == copy.line &&
           strcmp(frame->file, copy.file) == 0;
}

static bool is_same_place(struct tms_coalesce *coalesce, uint32_t one, uint32_t other)
{
    size_t at = (tms_hash((uint64_t)one << 32 | other) >> 32) % TMS_COALESCE_KNOWN;

    if (one == other) {
        return true;
    }
    if (coalesce->known[at].one != one || coalesce->known[at].other != other) {
        coalesce->known[at].one = one;
        coalesce->known[at].other = other;
        coalesce->known[at].times = 0;
        coalesce->known[at].same = false;
    }
    if (coalesce->known[at].times < PATIENCE && ++coalesce->known[at].times == PATIENCE) {
        coalesce->known[at].same = is_one_line(coalesce->names, one, other);
    }
    return coalesce->known[at].same;
}

bool tms_coalesce_joins(struct tms_coalesce *coalesce, const struct tms_spool_event *before,
                        const struct tms_spool_event *event)
{
    bool joins = tms_is_access(event) && !tms_is_with_order(event) &&
                 tms_event_makes_sense(before) && before->what == event->what &&
                 tms_event_is_beside(before, event) &&
                 is_same_place(coalesce, before->site, event->site);

    if (joins) {
        tms_spool_join(coalesce->names->spool, event);
    }
    return joins;
}
