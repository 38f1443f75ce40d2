/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of a text report; see listing.h. */
#include "report/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/finding.h"
#include "report/unseen.h"

/* Findings told in full per engine and evidence; those beyond get a line each. */
#define FULL_MOST 10
#define INDENT    4

struct listing {
    struct tms_page *page;
    const struct tms_report_job *job;
    const struct tms_result *first; /* of those that observe; NULL: none does */
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

size_t tms_count_told(const struct tms_analysis *analysis, enum tms_evidence evidence)
{
    const struct tms_result *result;
    size_t count = 0;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        for (size_t j = 0; j < result->finding_count; j++) {
            const struct tms_finding *finding = &result->findings[j];
            count += finding->evidence == evidence && finding->same_as == NULL;
        }
    }
    return count;
}

/* ---- one finding, by all who have it ---------------------------------------------------- */

/* Is it this one, or the same? */
static bool is_same(const struct tms_finding *other, const struct tms_finding *finding)
{
    return other == finding || (other->same_as != NULL && strcmp(other->same_as, finding->id) == 0);
}

/* Has the result it with this evidence and, unless that is NULL, as this kind? */
static bool has_same(const struct tms_result *result, const struct tms_finding *finding,
                     enum tms_evidence evidence, const char *kind)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct tms_finding *other = &result->findings[i];
        if (other->evidence == evidence && is_same(other, finding) &&
            (kind == NULL || strcmp(other->kind, kind) == 0)) {
            return true;
        }
    }
    return false;
}

/* "sidetrack (before, after)"; the kind is left out where the name of the engine says it. */
static void write_witness(FILE *note, const struct tms_result *result,
                          const struct tms_finding *finding, enum tms_evidence evidence)
{
    static const char *const kinds[] = {"before",    "in",   "after",   "pattern",
                                        "reduction", "race", "deadlock"};
    size_t named = 0;

    fputs(result->engine->name, note);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i], result->engine->name) != 0 &&
            has_same(result, finding, evidence, kinds[i])) {
            fprintf(note, "%s%s", named++ == 0 ? " (" : ", ", kinds[i]);
        }
    }
    fputs(named > 0 ? ")" : "", note);
}

/* "; predicted by sidetrack (after)": those whose evidence this is. Returns how many. */
static size_t write_evidence_of(const struct listing *listing, FILE *note,
                                const struct tms_finding *finding, enum tms_evidence evidence)
{
    const struct tms_result *result;
    size_t named = 0;

    for (size_t i = 0; (result = tms_analysis_result(listing->job->analysis, i)) != NULL; i++) {
        if (!has_same(result, finding, evidence, NULL)) {
            continue;
        }
        if (named++ > 0) {
            fputs(", ", note);
        } else {
            fprintf(note, "%s%s by ", evidence == finding->evidence ? "" : "; ",
                    tms_evidence_text(evidence));
        }
        write_witness(note, result, finding, evidence);
    }
    return named;
}

static void write_evidence(const struct listing *listing, const struct tms_finding *finding)
{
    FILE *note = tms_page_note(listing->page);
    size_t named = 0;

    fputs("Evidence: ", note);
    for (int evidence = TMS_EVIDENCE_OBSERVED; evidence <= TMS_EVIDENCE_POTENTIAL; evidence++) {
        named += write_evidence_of(listing, note, finding, (enum tms_evidence)evidence);
    }
    fputc('.', note);
    if (named > 1 || !observes(tms_analysis_result(listing->job->analysis, 0)) ||
        finding->evidence != TMS_EVIDENCE_OBSERVED) {
        tms_page_blank(listing->page->out, INDENT);
        tms_page_flow(listing->page, INDENT, INDENT);
    }
}

/* A race takes the ground from under what is predicted. */
static void write_race(const struct listing *listing, const struct tms_result *result)
{
    const struct tms_result *racing = tms_racing(listing->job->analysis);

    if (result->assumption != NULL && racing != NULL &&
        result->engine->found == TMS_VERDICT_PREDICTED) {
        fprintf(
            tms_page_note(listing->page),
            "But: %s found a data race in this run, first at event %" PRIu64
            ". Locks then do not tell all that orders these events, and this may be impossible.",
            racing->engine->name, racing->first_violation_event);
        tms_page_blank(listing->page->out, INDENT);
        tms_page_flow(listing->page, INDENT, INDENT);
    }
}

/* The label of the block that comes in between, as far as it can be told from others. */
static uint32_t culprit_of(const struct tms_finding *finding)
{
    return finding->cycle_length > 1 ? finding->cycle[1].from.label : 0;
}

#define CULPRITS_MOST 8

/* Adds the culprits of findings that are the same, each label once. */
static size_t gather_culprits(const struct tms_result *result, const struct tms_finding *finding,
                              uint32_t *labels, size_t count)
{
    for (size_t i = 0; i < result->finding_count && count < CULPRITS_MOST; i++) {
        uint32_t label = culprit_of(&result->findings[i]);
        bool known =
            label == 0 || label == culprit_of(finding) || !is_same(&result->findings[i], finding);
        for (size_t j = 0; j < count; j++) {
            known = known || labels[j] == label;
        }
        if (!known) {
            labels[count++] = label;
        }
    }
    return count;
}

/* Who else can come in between. */
static void write_culprits(const struct listing *listing, const struct tms_finding *finding)
{
    FILE *note = tms_page_note(listing->page);
    const struct tms_result *result;
    uint32_t labels[CULPRITS_MOST];
    size_t count = 0;

    for (size_t i = 0; (result = tms_analysis_result(listing->job->analysis, i)) != NULL; i++) {
        count = gather_culprits(result, finding, labels, count);
    }
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? "It can as well be cut by " : i + 1 == count ? " and " : ", ", note);
        tms_page_name(listing->page, note, TMS_CLASS_LABEL, labels[i], SIZE_MAX);
    }
    if (count > 0) {
        fputs(count == CULPRITS_MOST ? ", and perhaps others." : ".", note);
        tms_page_blank(listing->page->out, INDENT);
        tms_page_flow(listing->page, INDENT, INDENT);
    }
}

static int write_full(const struct listing *listing, const struct tms_result *result,
                      const struct tms_finding *finding)
{
    int code = tms_finding_write(listing->page, result, finding);

    if (finding->evidence != TMS_EVIDENCE_OBSERVED) {
        write_culprits(listing, finding);
        write_race(listing, result);
    }
    write_evidence(listing, finding);
    fputc('\n', listing->page->out);
    return code;
}

/* ---- what was observed ------------------------------------------------------------------ */

/* The ids of a result in order, to be looked up. */
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

/* The findings of that evidence, without those that stand elsewhere and those that `told` has. */
static int write_findings(const struct listing *listing, const struct tms_result *result,
                          enum tms_evidence evidence, const struct ids *told)
{
    size_t written = 0;

    for (size_t i = 0; i < result->finding_count; i++) {
        const struct tms_finding *finding = &result->findings[i];
        bool elsewhere = evidence != TMS_EVIDENCE_OBSERVED && finding->same_as != NULL;
        if (finding->evidence != evidence || elsewhere ||
            (told != NULL && has_id(told, finding->id))) {
            continue;
        }
        if (written++ >= FULL_MOST) {
            tms_finding_headline(listing->page, result, finding);
        } else if (write_full(listing, result, finding) != TMS_OK) {
            return TMS_ERR_MEMORY;
        }
    }
    if (written > FULL_MOST) {
        fputc('\n', listing->page->out);
    }
    return TMS_OK;
}

static void write_unlisted(const struct listing *listing, const struct tms_result *result)
{
    if (result->unlisted > 0) {
        fprintf(listing->page->out, "%" PRIu64 " more of %s are not listed (--max-violations).\n\n",
                result->unlisted, result->engine->name);
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

/* A line about an engine beside the first, which has `fewer` that it lacks. */
static void write_beside(const struct listing *listing, const struct tms_result *result,
                         size_t more, size_t fewer)
{
    const struct tms_result *first = listing->first;
    FILE *note = tms_page_note(listing->page);

    fprintf(note, "%s says ", result->engine->name);
    write_answer(note, result);
    if (result->verdict == TMS_VERDICT_NONE_BLAMED && first->verdict == TMS_VERDICT_SERIALIZABLE) {
        fprintf(note, ", which agrees with %s.", first->engine->name);
    } else if (more == 0 && fewer == 0 && result->verdict == first->verdict &&
               result->first_violation_event == first->first_violation_event) {
        fprintf(note, ": the same as %s.", first->engine->name);
    } else {
        fprintf(note, ", but %s says ", first->engine->name);
        write_answer(note, first);
        if (more + fewer > 0) {
            fprintf(note, ". Of the findings above it lacks %zu; of its own there are %zu%s", fewer,
                    more, more > 0 ? ", told below" : "");
        }
        fputc('.', note);
    }
    tms_page_flow(listing->page, 0, INDENT);
    fputc('\n', listing->page->out);
}

/* Compares an engine with the first one, and tells what only it found. */
static int write_other(const struct listing *listing, const struct tms_result *result,
                       const struct ids *told)
{
    const struct tms_result *first = listing->first;
    struct ids own;

    /* Without a cycle a finding has an id of another kind: only the answers can be compared. */
    if ((result->engine->flags ^ first->engine->flags) & TMS_ENGINE_WITNESS) {
        bool alone = first->finding_count == 0;
        write_beside(listing, result, alone ? result->finding_count : 0, 0);
        return alone ? write_findings(listing, result, TMS_EVIDENCE_OBSERVED, told) : TMS_OK;
    }
    int code = ids_of(result, &own);
    if (code == TMS_OK) {
        write_beside(listing, result, count_missing(result, told), count_missing(first, &own));
        code = write_findings(listing, result, TMS_EVIDENCE_OBSERVED, told);
    }
    free(own.sorted);
    return code;
}

static int write_observed(const struct listing *listing)
{
    const struct tms_result *first = listing->first, *result;
    struct ids told;

    if (first == NULL) {
        return TMS_OK;
    }
    int code = ids_of(first, &told);
    if (code == TMS_OK) {
        code = write_findings(listing, first, TMS_EVIDENCE_OBSERVED, NULL);
        write_unlisted(listing, first);
    }
    for (size_t i = 0;
         code == TMS_OK && (result = tms_analysis_result(listing->job->analysis, i)) != NULL; i++) {
        if (observes(result) && result != first) {
            code = write_other(listing, result, &told);
            write_unlisted(listing, result);
        }
    }
    free(told.sorted);
    return code;
}

/* ---- what was not observed -------------------------------------------------------------- */

/* What the engines that look at other schedules answered. */
static void write_answers(const struct listing *listing)
{
    FILE *note = tms_page_note(listing->page);
    const struct tms_result *result;
    size_t named = 0;

    for (size_t i = 0; (result = tms_analysis_result(listing->job->analysis, i)) != NULL; i++) {
        if (!observes(result)) {
            fprintf(note, "%s%s says ", named++ > 0 ? ". " : "", result->engine->name);
            write_answer(note, result);
        }
    }
    if (named > 1) { /* of one alone, the verdict and the findings tell */
        fputc('.', note);
        tms_page_flow(listing->page, 0, INDENT);
        fputc('\n', listing->page->out);
    }
}

static int write_unseen(const struct listing *listing, enum tms_evidence evidence)
{
    const struct tms_analysis *analysis = listing->job->analysis;
    const struct tms_result *result;
    size_t count = tms_count_told(analysis, evidence);
    int code = TMS_OK;

    if (count > 0 && evidence == TMS_EVIDENCE_POTENTIAL && !listing->job->settings->potential) {
        fprintf(listing->page->out, "%zu potential finding%s not shown; --potential does.\n\n",
                count, count == 1 ? " is" : "s are");
        return TMS_OK;
    }
    if (count > 0) {
        tms_unseen_introduce(listing->page, evidence);
    }
    for (size_t i = 0; code == TMS_OK && (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        if (!observes(result)) {
            code = write_findings(listing, result, evidence, NULL);
        }
    }
    return code;
}

int tms_listing_write(struct tms_page *page, const struct tms_report_job *job)
{
    struct listing listing = {page, job, tms_first_observing(job->analysis)};
    const struct tms_result *result;
    int code = write_observed(&listing);

    for (int evidence = TMS_EVIDENCE_PREDICTED;
         evidence <= TMS_EVIDENCE_POTENTIAL && code == TMS_OK; evidence++) {
        code = write_unseen(&listing, (enum tms_evidence)evidence);
    }
    for (size_t i = 0; (result = tms_analysis_result(job->analysis, i)) != NULL; i++) {
        if (!observes(result)) {
            write_unlisted(&listing, result);
        }
    }
    write_answers(&listing);
    return code;
}
