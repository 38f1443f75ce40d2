/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was decided inside a running program, on its way to the engines that would have decided it:
 * they report it as their own.
 */
#ifndef TMS_ENGINES_ONLINE_PREDICTIONS_H
#define TMS_ENGINES_ONLINE_PREDICTIONS_H

#include "engine_api/engine.h"

/* The state is that of `sidetrack`. The host knows if memory is short. */
void tms_sidetrack_decided(void *state, const struct tms_predictions *predictions);

/* The state is that of `goodlock`; it looks for cycles at its finish. */
void tms_goodlock_requested(void *state, const struct tms_predictions *predictions);

#endif
