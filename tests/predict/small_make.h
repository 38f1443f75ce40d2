/* SPDX-License-Identifier: Apache-2.0 */
/* Random short traces, always well-formed, always the same for a seed. */
#ifndef TMS_PREDICT_SMALL_MAKE_H
#define TMS_PREDICT_SMALL_MAKE_H

#include "small.h"

void small_make(uint64_t seed, struct small_trace *trace);

#endif
