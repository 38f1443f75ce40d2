/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TMS_SAVED_LOAD_OUTCOMES_H
#define TMS_SAVED_LOAD_OUTCOMES_H

#include "saved/json_members.h"

/* How the failed runs of a hunt ended: "SIGABRT, status 3"; NULL if none failed. */
const char *tms_saved_failures(struct tms_loading *loading, const json_t *hunt);

#endif
