/* SPDX-License-Identifier: Apache-2.0 */
/* The last line of a text report: how many findings it left out because a baseline has them. */
#include <inttypes.h>

#include "report/text_layout.h"

void tms_page_known(const struct tms_page *page, const struct tms_analysis *analysis)
{
    const struct tms_result *result;
    uint64_t count = 0;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        for (uint64_t j = 0; j < result->known; j++) {
            const struct tms_finding *known = &result->findings[result->finding_count + j];
            count += known->same_as == NULL && known->judged == NULL; /* each once */
        }
    }
    if (count > 0) {
        fprintf(page->out, "%" PRIu64 " known finding%s left out (--baseline).\n", count,
                count == 1 ? "" : "s");
    }
}
