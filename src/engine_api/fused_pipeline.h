/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as they come, for an engine that takes them so: what is plain (see trace/validate.h and
 * spec/lower.h) it validates and lowers by itself, event by event.
 */
#ifndef TMS_ENGINE_API_FUSED_PIPELINE_H
#define TMS_ENGINE_API_FUSED_PIPELINE_H

#include "spec/lower.h"
#include "trace/validate.h"

struct tms_stream {
    struct tms_validator *validator;
    struct tms_lower *lower;
};

#endif
