/* SPDX-License-Identifier: Apache-2.0 */
/* What to type next. */
#ifndef TMS_REPORT_NEXT_H
#define TMS_REPORT_NEXT_H

#include "report/page.h"
#include "report/report.h"

/* Suggests commands after a result; nothing if the trace came from standard input. */
void tms_next_write(const struct tms_page *page, const struct tms_report_job *job,
                    const struct tms_result *worst);

#endif
