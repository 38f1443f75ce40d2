/* SPDX-License-Identifier: Apache-2.0 */
/* One finding with all its evidence; see finding_entry.h. */
#include "report/finding_entry.h"

#include <inttypes.h>
#include <string.h>

#include "report/findings_list.h"
#include "report/observed.h"

#define FINDING_MOST 25 /* lines of a finding, unless the page is verbose */
#define KEPT_LEAST   4  /* lines kept back for the findings after it */
#define INDENT       4

struct entry {
    struct tms_page *page;
    const struct tms_analysis *analysis;
};

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
    static const char *const kinds[] = {"before",  "in",        "after", "pair",
                                        "pattern", "reduction", "race",  "deadlock"};
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
static size_t write_evidence_of(const struct entry *entry, FILE *note,
                                const struct tms_finding *finding, enum tms_evidence evidence)
{
    const struct tms_result *result;
    size_t named = 0;

    for (size_t i = 0; (result = tms_analysis_result(entry->analysis, i)) != NULL; i++) {
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

/* Does the first engine check the run as it was? */
static bool observes(const struct tms_analysis *analysis)
{
    return tms_analysis_result(analysis, 0)->engine->found == TMS_VERDICT_VIOLATION;
}

static void write_evidence(const struct entry *entry, const struct tms_finding *finding)
{
    FILE *note = tms_page_note(entry->page);
    size_t named = 0;

    fputs("Evidence: ", note);
    for (int evidence = TMS_EVIDENCE_OBSERVED; evidence <= TMS_EVIDENCE_POTENTIAL; evidence++) {
        named += write_evidence_of(entry, note, finding, (enum tms_evidence)evidence);
    }
    fputc('.', note);
    if (named > 1 || !observes(entry->analysis) || finding->evidence != TMS_EVIDENCE_OBSERVED) {
        tms_page_blank(entry->page->out, INDENT);
        tms_page_flow(entry->page, INDENT, INDENT);
    }
}

/* Predictions assume that there are no data races. */
static void write_race(const struct entry *entry, const struct tms_result *result)
{
    const struct tms_result *racing = tms_racing(entry->analysis);

    if (result->assumption != NULL && racing != NULL &&
        result->engine->found == TMS_VERDICT_PREDICTED) {
        fprintf(tms_page_note(entry->page),
                "But: %s found a data race in this run, first at event %" PRIu64
                ". With data races, locks alone do not determine the order of these events, so "
                "this may "
                "be impossible.",
                racing->engine->name, racing->first_violation_event);
        tms_page_blank(entry->page->out, INDENT);
        tms_page_flow(entry->page, INDENT, INDENT);
    }
}

/* The label of the interleaved block; 0 if unknown. */
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

/* Other blocks that can interleave. */
static void write_culprits(const struct entry *entry, const struct tms_finding *finding)
{
    FILE *note = tms_page_note(entry->page);
    const struct tms_result *result;
    uint32_t labels[CULPRITS_MOST];
    size_t count = 0;

    for (size_t i = 0; (result = tms_analysis_result(entry->analysis, i)) != NULL; i++) {
        count = gather_culprits(result, finding, labels, count);
    }
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? "It can also be cut apart by " : i + 1 == count ? " and " : ", ", note);
        tms_page_name(entry->page, note, TMS_CLASS_LABEL, labels[i], SIZE_MAX);
    }
    if (count > 0) {
        fputs(count == CULPRITS_MOST ? ", and perhaps others." : ".", note);
        tms_page_blank(entry->page->out, INDENT);
        tms_page_flow(entry->page, INDENT, INDENT);
    }
}

static int write_whole(const struct entry *entry, const struct tms_result *result,
                       const struct tms_finding *finding)
{
    int code = tms_finding_write(entry->page, result, finding);

    if (finding->evidence != TMS_EVIDENCE_OBSERVED) {
        write_culprits(entry, finding);
        write_race(entry, result);
    }
    write_evidence(entry, finding);
    fputc('\n', entry->page->out);
    return code;
}

/* With the empty line at its end, and room for headlines of the next ones? */
static bool fits(struct tms_page *page)
{
    size_t lines = tms_page_held(page);

    return page->left == SIZE_MAX ||
           (lines <= FINDING_MOST + 1 && lines + KEPT_LEAST <= page->left);
}

int tms_finding_entry(struct tms_page *page, const struct tms_analysis *analysis,
                      const struct tms_result *result, const struct tms_finding *finding,
                      bool *full, bool *written)
{
    const struct entry entry = {page, analysis};
    int code = TMS_OK;

    *written = true;
    for (int stacks = TMS_STACKS_FRAMES; *full && stacks >= TMS_STACKS_NONE && code == TMS_OK;
         stacks--) {
        page->stacks = (enum tms_stack_room)stacks;
        tms_page_hold(page);
        code = write_whole(&entry, result, finding);
        if (fits(page)) {
            tms_page_release(page);
            return code;
        }
        tms_page_drop(page);
    }
    *full = false;
    tms_page_hold(page);
    tms_finding_headline(page, result, finding);
    if (tms_page_held(page) + 2 <= page->left) {
        tms_page_release(page);
    } else {
        tms_page_drop(page);
        *written = false;
    }
    return code;
}
