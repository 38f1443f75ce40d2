/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TMS_REPORT_JSON_FINDING_H
#define TMS_REPORT_JSON_FINDING_H

#include "report/report.h"

/* An object, docs/user/json.md has its fields. */
void tms_json_finding(const struct tms_report_job *job, const struct tms_result *result,
                      const struct tms_finding *finding);

/* A window likewise. */
void tms_json_window(const struct tms_report_job *job, const struct tms_window *window);

#endif
