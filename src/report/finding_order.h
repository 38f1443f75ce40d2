/* SPDX-License-Identifier: Apache-2.0 */
/* The order of findings in all reports, as text and as documents. */
#ifndef TMS_REPORT_FINDING_ORDER_H
#define TMS_REPORT_FINDING_ORDER_H

#include "tmesis/tmesis.h"

/*
 * For qsort: notes last; before them what `judge` says, then what other engines do; as they are
 * ranked over many runs, if they are; else severe, sure and early ones first. 0 for findings of
 * other engines that only their order in the result distinguishes.
 */
int tms_finding_order(const struct tms_finding *a, const struct tms_finding *b);

#endif
