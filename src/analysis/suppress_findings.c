/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks suppressed findings. A finding that is the same as a suppressed one (same_as, judged) is
 * suppressed with it, so a rule need not know which engine's finding the report shows.
 */
#include "analysis/suppress_findings.h"

#include <string.h>

/* Marks the findings that rules match, and records their ids. TMS_OK or TMS_ERR_MEMORY. */
static int mark_matching(struct tms_analysis *analysis, struct tms_run *run, struct tms_names *ids)
{
    struct tms_finding *list = tms_run_findings(run);

    for (size_t i = 0; i < run->result.finding_count; i++) {
        struct tms_finding *finding = &list[i];
        if (!tms_suppressions_match(analysis->settings.suppressions, analysis->context, finding)) {
            continue;
        }
        finding->suppressed = true;
        if (tms_names_intern(ids, finding->id, strlen(finding->id)) < 0) {
            return TMS_ERR_MEMORY;
        }
    }
    return TMS_OK;
}

/* Is the id among the first `known` ones? Ids that are not known get larger numbers. */
static int is_among(struct tms_names *ids, uint32_t known, const char *id, bool *among)
{
    int64_t place = id != NULL ? tms_names_intern(ids, id, strlen(id)) : 0;

    *among = *among || (place > 0 && place <= known);
    return place < 0 ? TMS_ERR_MEMORY : TMS_OK;
}

static int mark_linked(struct tms_run *run, struct tms_names *ids, uint32_t known)
{
    struct tms_finding *list = tms_run_findings(run);

    for (size_t i = 0; i < run->result.finding_count; i++) {
        if (is_among(ids, known, list[i].judged, &list[i].suppressed) != TMS_OK ||
            is_among(ids, known, list[i].same_as, &list[i].suppressed) != TMS_OK) {
            return TMS_ERR_MEMORY;
        }
    }
    return TMS_OK;
}

static int mark_all(struct tms_analysis *analysis, struct tms_names *ids)
{
    int code = TMS_OK;

    for (size_t i = 0; i < analysis->run_count && code == TMS_OK; i++) {
        code = mark_matching(analysis, &analysis->runs[i], ids);
    }
    uint32_t known = ids->count;
    for (size_t i = 0; i < analysis->run_count && known > 0 && code == TMS_OK; i++) {
        code = mark_linked(&analysis->runs[i], ids, known);
    }
    return code;
}

/* The limit of a list; an engine that keeps its own has none. */
static uint64_t most_of(const struct tms_analysis *analysis, const struct tms_run *run)
{
    return run->engine->findings != NULL ? 0 : analysis->settings.max_violations;
}

/*
 * Moves the suppressed ones to the end, and leaves out what is beyond the limit; both keep their
 * order. TMS_OK or TMS_ERR_MEMORY.
 */
static int part(struct tms_analysis *analysis, struct tms_run *run)
{
    struct tms_result *result = &run->result;
    struct tms_finding *list = tms_run_findings(run);
    size_t all = result->finding_count + (size_t)result->suppressed, shown = 0, hidden = 0;
    uint64_t most = most_of(analysis, run);
    struct tms_finding *suppressed =
        tms_resize(&analysis->memory, NULL, 0, all + 1, sizeof(*suppressed));

    if (suppressed == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < all; i++) {
        if (list[i].suppressed) {
            suppressed[hidden++] = list[i];
        } else if (most == 0 || shown < most) {
            list[shown++] = list[i];
        }
    }
    if (hidden > 0) {
        memcpy(&list[shown], suppressed, hidden * sizeof(*suppressed));
    }
    tms_release(&analysis->memory, suppressed, all + 1, sizeof(*suppressed));
    result->finding_count = shown;
    result->suppressed = hidden;
    result->unlisted += all - shown - hidden;
    return TMS_OK;
}

int tms_suppress_findings(struct tms_analysis *analysis)
{
    struct tms_names ids;

    if (analysis->settings.suppressions == NULL || analysis->marked) {
        return TMS_OK;
    }
    int code = tms_names_init(&ids, &analysis->memory);
    if (code == TMS_OK) {
        code = mark_all(analysis, &ids);
        tms_names_clear(&ids);
    }
    for (size_t i = 0; i < analysis->run_count && code == TMS_OK; i++) {
        code = part(analysis, &analysis->runs[i]);
    }
    return code == TMS_OK ? TMS_OK : TMS_ERR_MEMORY;
}
