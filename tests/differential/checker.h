/* SPDX-License-Identifier: Apache-2.0 */
/* Checks an engine's findings against the oracle, event by event. */
#ifndef TMS_DIFFERENTIAL_CHECKER_H
#define TMS_DIFFERENTIAL_CHECKER_H

#include "oracle.h"

/*
 * Checks a result (of an analysis with tms_settings.all): verdict, first event, blame and every
 * witness, as far as the flags of the engine promise them. Returns NULL, or a description of the
 * fault, which is valid until the next call.
 */
const char *tms_check_result(struct tms_oracle *oracle, const struct tms_result *result);

#endif
