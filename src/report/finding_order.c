/* SPDX-License-Identifier: Apache-2.0 */
/* Compares findings; see finding_order.h. */
#include "report/finding_order.h"

#include <string.h>

#include "report/export.h"

static int compare(uint64_t one, uint64_t two)
{
    return one < two ? -1 : one > two;
}

/* Both are judged. */
static int by_judgement(const struct tms_finding *a, const struct tms_finding *b)
{
    int order = compare(a->judgement->pattern, b->judgement->pattern);

    order = order != 0 ? order : compare(a->event, b->event);
    return order != 0 ? order : strcmp(a->id, b->id);
}

int tms_finding_order(const struct tms_finding *a, const struct tms_finding *b)
{
    enum tms_level one = tms_export_level(a), two = tms_export_level(b);
    bool judged = a->judgement != NULL && b->judgement != NULL;
    int order = compare(one == TMS_LEVEL_NOTE, two == TMS_LEVEL_NOTE);

    order = order != 0 ? order : compare(a->judgement == NULL, b->judgement == NULL);
    order = order != 0 ? order : compare(a->rank, b->rank);
    order = order != 0 ? order : compare(two, one);
    order = order != 0 ? order : compare(a->evidence, b->evidence);
    return order == 0 && judged ? by_judgement(a, b) : order;
}
