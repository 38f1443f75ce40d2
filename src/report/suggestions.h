/* SPDX-License-Identifier: Apache-2.0 */
/* Commands to type next. */
#ifndef TMS_REPORT_SUGGESTIONS_H
#define TMS_REPORT_SUGGESTIONS_H

#include "report/report.h"
#include "report/text_layout.h"

/* Suggests commands after a result; nothing if the trace came from standard input. */
void tms_next_write(const struct tms_page *page, const struct tms_report_job *job,
                    const struct tms_result *worst);

#endif
