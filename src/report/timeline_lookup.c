/* SPDX-License-Identifier: Apache-2.0 */
/* A finding in a timeline: for the documents that show it, and for those who make timelines. */
#include <stdlib.h>
#include <string.h>

#include "tmesis/tmesis.h"

static int by_id(const void *id, const void *finding)
{
    return strcmp(id, ((const struct tms_timeline_finding *)finding)->id);
}

const struct tms_timeline_finding *tms_timeline_find(const struct tms_timeline *timeline,
                                                     const char *id)
{
    return timeline->finding_count == 0 ? NULL
                                        : bsearch(id, timeline->findings, timeline->finding_count,
                                                  sizeof(*timeline->findings), by_id);
}
