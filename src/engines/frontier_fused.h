/* SPDX-License-Identifier: Apache-2.0 */
/* The fused lane of `frontier` (engine_api/fused_lane.h). */
#ifndef TMS_ENGINES_FRONTIER_FUSED_H
#define TMS_ENGINES_FRONTIER_FUSED_H

#include "frontier/frontier.h"

struct tms_fused_lane;

/* As tms_frontier_take, for events, as far as they are plain: how many were taken. */
size_t tms_frontier_fused(struct tms_frontier *f, struct tms_fused_lane *lane,
                          const struct tms_event *events, size_t count, uint64_t number);

#endif
