/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding of `judge` as text: what happened to which data of which block, the interleaving in two
 * columns, the lines of source, why it is wrong and how to fix it.
 */
#ifndef TMS_REPORT_JUDGED_H
#define TMS_REPORT_JUDGED_H

#include "report/page.h"

/*
 * Writes one finding in full, without an empty line after it; `finding->judgement` is not NULL.
 * `verbose` adds call stacks and event numbers, and shows every foreign event.
 */
void tms_judged_write(struct tms_page *page, const struct tms_finding *finding, bool verbose);

#endif
