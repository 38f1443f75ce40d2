/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines that a judged finding is about, with a remark on what happened between them. */
#ifndef TMS_REPORT_JUDGED_EXCERPT_H
#define TMS_REPORT_JUDGED_EXCERPT_H

#include "report/judged_phrase.h"

/* The lines of the block's own function, each once; nothing if their text is not known. */
void tms_judged_excerpt(const struct tms_judged *judged);

#endif
