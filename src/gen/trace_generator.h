/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace generator: turns a shape into well-formed events, in batches. Memory: 20 bytes per
 * variable and the names that were used, independent of the number of events.
 */
#ifndef TMS_GEN_TRACE_GENERATOR_H
#define TMS_GEN_TRACE_GENERATOR_H

#include "gen/shape.h"
#include "tmesis/tmesis.h"

struct tms_gen;

/* `shape` has passed tms_shape_check. TMS_OK, or TMS_ERR_MEMORY. */
int tms_gen_new(struct tms_context *context, const struct tms_shape *shape, struct tms_gen **out);

/* The next events: how many of `room` were filled, 0 at the end, or a negative code. */
int64_t tms_gen_next(struct tms_gen *gen, struct tms_event *events, size_t room);

/* The event that closed the first planted cycle; 0 if there is none, or it has not come yet. */
uint64_t tms_gen_violation(const struct tms_gen *gen);

/* The index-th of shape.cut labels that are not atomic: an id of TMS_CLASS_LABEL. */
uint32_t tms_gen_cut_label(struct tms_gen *gen, uint64_t index);

void tms_gen_free(struct tms_gen *gen);

#endif
