/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fused lane: an engine that validates and lowers plain events (trace/validate.h, spec/lower.h)
 * in the same loop that processes them. Used where it is the only engine; see tms_engine.fused.
 */
#ifndef TMS_ENGINE_API_FUSED_LANE_H
#define TMS_ENGINE_API_FUSED_LANE_H

#include "spec/lower.h"
#include "trace/validate.h"

struct tms_fused_lane {
    struct tms_validator *validator;
    struct tms_lower *lower;
};

#endif
