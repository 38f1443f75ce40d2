/* SPDX-License-Identifier: Apache-2.0 */
/* The last line of a text report: how many findings it does not show. */
#include <inttypes.h>

#include "report/text_layout.h"

void tms_page_suppressed(const struct tms_page *page, const struct tms_analysis *analysis)
{
    const struct tms_result *result;
    uint64_t count = 0;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        for (uint64_t j = 0; j < result->suppressed; j++) {
            const struct tms_finding *finding =
                &result->findings[result->finding_count + result->known + j];
            count += finding->same_as == NULL && finding->judged == NULL; /* each once */
        }
    }
    if (count > 0) {
        fprintf(page->out, "%" PRIu64 " finding%s suppressed.\n", count, count == 1 ? "" : "s");
    }
}
