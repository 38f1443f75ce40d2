/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what an engine found against what the oracle knows, event by event. */
#ifndef TMS_DIFFERENTIAL_CHECKER_H
#define TMS_DIFFERENTIAL_CHECKER_H

#include "oracle.h"

/*
 * Checks a result (of an analysis with tms_settings.all): verdict, first event, blame and every
 * witness, as far as the flags of the engine promise them. NULL, or what is wrong; that lives
 * until the next call.
 */
const char *tms_check_result(struct tms_oracle *oracle, const struct tms_result *result);

#endif
