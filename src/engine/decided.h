/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was decided inside a running program, on its way to the engines that would have decided it:
 * they report it as their own.
 */
#ifndef TMS_ENGINE_DECIDED_H
#define TMS_ENGINE_DECIDED_H

#include "engine/engine.h"

/* The state is that of `sidetrack`. The host knows if memory is short. */
void tms_sidetrack_decided(void *state, const struct tms_predictions *predictions);

/* The state is that of `goodlock`; it looks for cycles at its finish. */
void tms_goodlock_requested(void *state, const struct tms_predictions *predictions);

#endif
