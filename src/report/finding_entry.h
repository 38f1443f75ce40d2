/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding of an engine other than `judge` with the evidence of all engines that have it, in the
 * lines that are left on the page.
 */
#ifndef TMS_REPORT_FINDING_ENTRY_H
#define TMS_REPORT_FINDING_ENTRY_H

#include "report/text_layout.h"

/*
 * If *full: in full, with call stacks if they fit, else without, and else only its headline; *full
 * is false then, and the next finding should not be shown in full either. *written is false if
 * there was no room even for the headline. TMS_OK or TMS_ERR_MEMORY.
 */
int tms_finding_entry(struct tms_page *page, const struct tms_analysis *analysis,
                      const struct tms_result *result, const struct tms_finding *finding,
                      bool *full, bool *written);

#endif
