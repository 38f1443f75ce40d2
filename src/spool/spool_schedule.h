/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how the threads of a process were steered, and the windows that it recorded. */
#ifndef TMS_SPOOL_SPOOL_SCHEDULE_H
#define TMS_SPOOL_SPOOL_SCHEDULE_H

#include "spool/spool_names.h"

/*
 * Fills in `steering`, whose strategy is NULL if there was no schedule. Names are ids of the
 * context of `names`; the caller frees the list of windows. TMS_OK or TMS_ERR_MEMORY. Cost: the
 * number of windows.
 */
int tms_spool_steering(struct tms_spool_names *names, struct tms_steering *steering);

#endif
