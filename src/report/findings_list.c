/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of a text report; see findings_list.h. */
#include "report/findings_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/finding_entry.h"
#include "report/predicted.h"

#define INDENT 4

struct listing {
    struct tms_page *page;
    const struct tms_report_job *job;
    const struct tms_result *first; /* of those that observe; NULL: none does */
    bool judged;                    /* `judge` has judged some */
};

static bool observes(const struct tms_result *result)
{
    return result->engine->found == TMS_VERDICT_VIOLATION;
}

const struct tms_result *tms_first_observing(const struct tms_analysis *analysis)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        if (observes(result)) {
            return result;
        }
    }
    return NULL;
}

const struct tms_result *tms_racing(const struct tms_analysis *analysis)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        if (result->verdict == TMS_VERDICT_RACE) {
            return result;
        }
    }
    return NULL;
}

uint64_t tms_count_blamed(const struct tms_result *result)
{
    uint64_t count = 0;

    for (size_t i = 0; i < result->finding_count; i++) {
        count += result->findings[i].not_atomic ? result->findings[i].count : 0;
    }
    return count;
}

bool tms_hides_races(const struct tms_report_job *job, const struct tms_result *result)
{
    return !job->settings->races && result->engine->found == TMS_VERDICT_RACE;
}

size_t tms_count_shown(const struct tms_report_job *job, enum tms_evidence evidence)
{
    const struct tms_result *result;
    size_t count = 0;

    for (size_t i = 0; (result = tms_analysis_result(job->analysis, i)) != NULL; i++) {
        for (size_t j = 0; j < result->finding_count && !tms_hides_races(job, result); j++) {
            const struct tms_finding *finding = &result->findings[j];
            count += finding->evidence == evidence && finding->same_as == NULL &&
                     finding->judged == NULL;
        }
    }
    return count;
}

/* ---- observed findings ------------------------------------------------------------------ */

/* The ids of a result, sorted for lookup. */
struct ids {
    const char **sorted;
    size_t count;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int ids_of(const struct tms_result *result, struct ids *ids)
{
    ids->count = result->finding_count;
    ids->sorted = calloc(ids->count + 1, sizeof(*ids->sorted));
    if (ids->sorted == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < ids->count; i++) {
        ids->sorted[i] = result->findings[i].id;
    }
    qsort(ids->sorted, ids->count, sizeof(*ids->sorted), by_text);
    return TMS_OK;
}

static bool has_id(const struct ids *ids, const char *id)
{
    return bsearch(&id, ids->sorted, ids->count, sizeof(*ids->sorted), by_text) != NULL;
}

/* Do judged findings replace those that they judge? */
static bool is_brief(const struct listing *listing)
{
    return listing->judged && !listing->page->verbose;
}

/*
 * Is it to be shown under this evidence, and neither elsewhere nor by an id in `shown`? A brief
 * report shows judged findings in place of the cycles and findings that they judge.
 */
static bool is_shown(const struct listing *listing, const struct tms_finding *finding,
                     enum tms_evidence evidence, const struct ids *shown)
{
    bool elsewhere = evidence != TMS_EVIDENCE_OBSERVED && finding->same_as != NULL;
    bool reason = finding->judged != NULL || evidence == TMS_EVIDENCE_OBSERVED;

    return finding->evidence == evidence && finding->judgement == NULL && !elsewhere &&
           !(is_brief(listing) && reason) && !(shown != NULL && has_id(shown, finding->id));
}

/* Says how many do not fit. */
static void write_more(struct tms_page *page, size_t count, bool gap)
{
    if (count > 0 || gap) {
        tms_page_hold(page);
        if (count > 0) {
            fprintf(page->out, "%zu more: --verbose\n", count);
        }
        fputc('\n', page->out);
        tms_page_offer(page);
    }
}

/* The findings of that evidence that are shown. */
static int write_findings(const struct listing *listing, const struct tms_result *result,
                          enum tms_evidence evidence, const struct ids *shown)
{
    size_t omitted = 0, brief = 0;
    bool full = true;

    for (size_t i = 0; i < result->finding_count; i++) {
        const struct tms_finding *finding = &result->findings[i];
        bool written = false;
        if (!is_shown(listing, finding, evidence, shown)) {
            continue;
        }
        if (omitted == 0 && tms_finding_entry(listing->page, listing->job->analysis, result,
                                              finding, &full, &written) != TMS_OK) {
            return TMS_ERR_MEMORY;
        }
        omitted += !written;
        brief += written && !full;
    }
    write_more(listing->page, omitted, brief > 0);
    return TMS_OK;
}

static void write_unlisted(const struct listing *listing, const struct tms_result *result)
{
    if (result->unlisted > 0 && !is_brief(listing)) {
        tms_page_hold(listing->page);
        fprintf(listing->page->out, "%" PRIu64 " more of %s are not listed (--max-violations).\n\n",
                result->unlisted, result->engine->name);
        tms_page_offer(listing->page);
    }
}

static size_t count_missing(const struct tms_result *result, const struct ids *ids)
{
    size_t missing = 0;

    for (size_t i = 0; i < result->finding_count; i++) {
        missing += !has_id(ids, result->findings[i].id);
    }
    return missing;
}

static void write_answer(FILE *note, const struct tms_result *result)
{
    fputs(tms_verdict_text(result->verdict), note);
    if (result->first_violation_event != 0) {
        fprintf(note, ", first at event %" PRIu64, result->first_violation_event);
    }
    if (result->blamed && result->verdict == TMS_VERDICT_VIOLATION) {
        fprintf(note, ", %" PRIu64 " blamed", tms_count_blamed(result));
    }
}

/* A line that compares an engine with the first, which has `fewer` findings that it lacks. */
static void write_beside(const struct listing *listing, const struct tms_result *result,
                         size_t more, size_t fewer)
{
    const struct tms_result *first = listing->first;
    FILE *note = tms_page_note(listing->page);

    fprintf(note, "%s: ", result->engine->name);
    write_answer(note, result);
    if (result->verdict == TMS_VERDICT_NONE_BLAMED && first->verdict == TMS_VERDICT_SERIALIZABLE) {
        fprintf(note, ", which agrees with %s.", first->engine->name);
    } else if (more == 0 && fewer == 0 && result->verdict == first->verdict &&
               result->first_violation_event == first->first_violation_event) {
        fprintf(note, "; the same as %s.", first->engine->name);
    } else {
        fprintf(note, "; %s: ", first->engine->name);
        write_answer(note, first);
        if (more + fewer > 0) {
            fprintf(note, ". %s misses %zu of the findings above and reports %zu more%s",
                    result->engine->name, fewer, more, more > 0 ? ", shown below" : "");
        }
        fputc('.', note);
    }
    tms_page_hold(listing->page);
    tms_page_flow(listing->page, 0, INDENT);
    fputc('\n', listing->page->out);
    tms_page_offer(listing->page);
}

/* Compares an engine with the first one, and shows findings that only it has. */
static int write_other(const struct listing *listing, const struct tms_result *result,
                       const struct ids *shown)
{
    const struct tms_result *first = listing->first;
    struct ids own;

    /* Without a cycle a finding has an id of another kind: only the answers can be compared. */
    if ((result->engine->flags ^ first->engine->flags) & TMS_ENGINE_WITNESS) {
        bool alone = first->finding_count == 0;
        write_beside(listing, result, alone ? result->finding_count : 0, 0);
        return alone ? write_findings(listing, result, TMS_EVIDENCE_OBSERVED, shown) : TMS_OK;
    }
    int code = ids_of(result, &own);
    if (code == TMS_OK) {
        write_beside(listing, result, count_missing(result, shown), count_missing(first, &own));
        code = write_findings(listing, result, TMS_EVIDENCE_OBSERVED, shown);
    }
    free(own.sorted);
    return code;
}

static int write_observed(const struct listing *listing)
{
    const struct tms_result *first = listing->first, *result;
    struct ids shown;

    if (first == NULL) {
        return TMS_OK;
    }
    int code = ids_of(first, &shown);
    if (code == TMS_OK) {
        code = write_findings(listing, first, TMS_EVIDENCE_OBSERVED, NULL);
        write_unlisted(listing, first);
    }
    for (size_t i = 0;
         code == TMS_OK && (result = tms_analysis_result(listing->job->analysis, i)) != NULL; i++) {
        if (observes(result) && result != first) {
            code = write_other(listing, result, &shown);
            write_unlisted(listing, result);
        }
    }
    free(shown.sorted);
    return code;
}

/* ---- predicted and potential findings ------------------------------------------------- */

/* The answers of the engines that look at other schedules. */
static void write_answers(const struct listing *listing)
{
    FILE *note = tms_page_note(listing->page);
    const struct tms_result *result;
    size_t named = 0;

    for (size_t i = 0; (result = tms_analysis_result(listing->job->analysis, i)) != NULL; i++) {
        if (!observes(result) && !tms_hides_races(listing->job, result)) {
            fprintf(note, "%s%s: ", named++ > 0 ? ". " : "", result->engine->name);
            write_answer(note, result);
        }
    }
    if (named > 1) { /* the verdict and the findings show that of a single one */
        fputc('.', note);
        tms_page_hold(listing->page);
        tms_page_flow(listing->page, 0, INDENT);
        fputc('\n', listing->page->out);
        tms_page_offer(listing->page);
    }
}

static size_t count_shown(const struct listing *listing, enum tms_evidence evidence)
{
    const struct tms_result *result;
    size_t count = 0;

    for (size_t i = 0; (result = tms_analysis_result(listing->job->analysis, i)) != NULL; i++) {
        bool shown = !observes(result) && !tms_hides_races(listing->job, result);
        for (size_t j = 0; j < result->finding_count && shown; j++) {
            count += is_shown(listing, &result->findings[j], evidence, NULL);
        }
    }
    return count;
}

/* Potential findings are only counted, unless the user asks for them. */
static bool hides_potential(const struct listing *listing, enum tms_evidence evidence)
{
    size_t count = tms_count_shown(listing->job, evidence);

    if (evidence != TMS_EVIDENCE_POTENTIAL || listing->job->settings->potential) {
        return false;
    }
    if (count > 0) {
        tms_page_hold(listing->page);
        fprintf(listing->page->out, "%zu potential finding%s not shown; --potential shows %s.\n\n",
                count, count == 1 ? " is" : "s are", count == 1 ? "it" : "them");
        tms_page_offer(listing->page);
    }
    return true;
}

static int write_unseen(const struct listing *listing, enum tms_evidence evidence)
{
    const struct tms_result *result;
    int code = TMS_OK;

    if (hides_potential(listing, evidence) || count_shown(listing, evidence) == 0) {
        return TMS_OK;
    }
    tms_page_hold(listing->page);
    tms_unseen_introduce(listing->page, evidence);
    tms_page_offer(listing->page);
    for (size_t i = 0;
         code == TMS_OK && (result = tms_analysis_result(listing->job->analysis, i)) != NULL; i++) {
        if (!observes(result) && !tms_hides_races(listing->job, result)) {
            code = write_findings(listing, result, evidence, NULL);
        }
    }
    return code;
}

/* Counts pairs of racing locations; predictions assume that there are none. */
static void write_hidden_races(const struct listing *listing)
{
    const struct tms_result *racing = tms_racing(listing->job->analysis);

    if (racing == NULL || !tms_hides_races(listing->job, racing) || racing->finding_count == 0) {
        return;
    }
    uint64_t count = racing->finding_count + racing->unlisted;
    FILE *note = tms_page_note(listing->page);
    fprintf(note,
            "%" PRIu64 " data race%s seen, the first at event %" PRIu64
            ", so predictions may not hold; --races lists %s.",
            count, count == 1 ? " was" : "s were", racing->first_violation_event,
            count == 1 ? "it" : "them");
    tms_page_hold(listing->page);
    tms_page_flow(listing->page, 0, INDENT);
    fputc('\n', listing->page->out);
    tms_page_offer(listing->page);
}

int tms_listing_write(struct tms_page *page, const struct tms_report_job *job, bool judged)
{
    struct listing listing = {page, job, tms_first_observing(job->analysis), judged};
    const struct tms_result *result;
    int code = write_observed(&listing);

    for (int evidence = TMS_EVIDENCE_PREDICTED;
         evidence <= TMS_EVIDENCE_POTENTIAL && code == TMS_OK; evidence++) {
        code = write_unseen(&listing, (enum tms_evidence)evidence);
    }
    for (size_t i = 0; (result = tms_analysis_result(job->analysis, i)) != NULL; i++) {
        if (!observes(result) && !tms_hides_races(job, result)) {
            write_unlisted(&listing, result);
        }
    }
    write_hidden_races(&listing);
    if (!is_brief(&listing)) {
        write_answers(&listing);
    }
    return code;
}
