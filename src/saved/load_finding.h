/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TMS_SAVED_LOAD_FINDING_H
#define TMS_SAVED_LOAD_FINDING_H

#include "saved/json_members.h"

/* A finding as tms_report wrote it (docs/user/json.md, "violations[]"). */
void tms_saved_finding(struct tms_loading *loading, const json_t *object,
                       struct tms_finding *finding);

#endif
