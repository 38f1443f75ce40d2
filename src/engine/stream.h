/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as they come, for an engine that takes them so: what is plain (see trace/validate.h and
 * spec/lower.h) it validates and lowers by itself, event by event.
 */
#ifndef TMS_ENGINE_STREAM_H
#define TMS_ENGINE_STREAM_H

#include "spec/lower.h"
#include "trace/validate.h"

struct tms_stream {
    struct tms_validator *validator;
    struct tms_lower *lower;
    /*
     * For other engines, all operations but reads and writes: where the next one goes. There is
     * room for one per event, and one more. NULL: there are no others.
     */
    struct tms_op *side;
    const struct tms_op *first_side; /* what is there from here on may be taken back */
    bool no_ends; /* nor do they need the ends of blocks, and nested ones that are empty to them */
};

#endif
