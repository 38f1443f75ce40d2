/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of judged findings; see judged_listing.h. */
#include "report/judged_listing.h"

#include <stdlib.h>

#include "report/display_name.h"
#include "report/finding_order.h"
#include "report/judged_findings.h"

#define BRIEF_LEAST 12 /* entries for which a line each is kept back */

/* ---- entries ----------------------------------------------------------------------------- */

/* A finding on its way into an entry. */
struct keyed {
    uint64_t key; /* of its block */
    const struct tms_finding *finding;
};

/* A note, or worse: predicted or observed. */
static int rank(const struct tms_finding *finding)
{
    return finding->judgement->level == TMS_LEVEL_NOTE  ? 2
           : finding->evidence == TMS_EVIDENCE_OBSERVED ? 0
                                                        : 1;
}

static int by_block(const void *a, const void *b)
{
    const struct keyed *one = a, *two = b;

    if (one->key != two->key) {
        return one->key < two->key ? -1 : 1;
    }
    if (rank(one->finding) != rank(two->finding)) {
        return rank(one->finding) < rank(two->finding) ? -1 : 1;
    }
    return tms_finding_order(one->finding, two->finding);
}

static int by_first(const void *a, const void *b)
{
    const struct tms_judged_entry *one = a, *two = b;

    return tms_finding_order(one->findings[0], two->findings[0]);
}

/* Blocks without label are distinguished by their location, or else by the finding's id. */
uint64_t tms_block_key(const struct tms_context *names, const struct tms_finding *finding)
{
    char number[TMS_NUMBER_SIZE];
    uint32_t label = finding->transaction.label, location = finding->transaction.location;

    if (label != 0) {
        return tms_function_key(tms_name(names, TMS_CLASS_LABEL, label, NULL));
    }
    return tms_function_key(location != 0 ? tms_name(names, TMS_CLASS_LOCATION, location, number)
                                          : finding->id);
}

/* Would it be an error elsewhere than in a driver that is usually interleaved? */
static bool is_expected(const struct tms_finding *finding)
{
    const unsigned errors = 1u << TMS_PATTERN_LOST_UPDATE | 1u << TMS_PATTERN_INCONSISTENT_READS;
    const struct tms_judgement *judgement = finding->judgement;

    return finding->evidence == TMS_EVIDENCE_OBSERVED && judgement->level == TMS_LEVEL_NOTE &&
           judgement->interleaved && (judgement->patterns & errors) != 0;
}

static void count_entry(struct tms_judged_listing *listing, const struct tms_judged_entry *entry)
{
    const struct tms_judgement *judgement = entry->findings[0]->judgement;

    if (judgement->level == TMS_LEVEL_NOTE) {
        listing->notes[judgement->pattern]++;
    }
    if (rank(entry->findings[0]) == 1) {
        listing->predicted++;
    } else {
        listing->levels[judgement->level]++;
    }
    for (size_t i = 0; i < entry->count; i++) {
        const struct tms_finding *finding = entry->findings[i];
        bool severe = finding->judgement->level > TMS_LEVEL_NOTE;
        listing->affected =
            listing->affected || (severe && finding->evidence == TMS_EVIDENCE_OBSERVED);
        listing->threatened =
            listing->threatened || (severe && finding->evidence == TMS_EVIDENCE_PREDICTED);
        listing->expected = listing->expected || is_expected(finding);
    }
}

static void make_entries(struct tms_judged_listing *listing, const struct keyed *keyed,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        listing->findings[i] = keyed[i].finding;
        if (i == 0 || keyed[i].key != keyed[i - 1].key) {
            listing->entries[listing->count++].findings = &listing->findings[i];
        }
        listing->entries[listing->count - 1].count++;
    }
    for (size_t i = 0; i < listing->count; i++) {
        count_entry(listing, &listing->entries[i]);
    }
    qsort(listing->entries, listing->count, sizeof(*listing->entries), by_first);
}

int tms_judged_listing_make(struct tms_judged_listing *listing, const struct tms_result *result,
                            const struct tms_context *names, bool potential)
{
    *listing = (struct tms_judged_listing){.result = result};
    if (result == NULL || result->finding_count == 0) {
        return TMS_OK;
    }
    size_t most = result->finding_count, count = 0;
    struct keyed *keyed = calloc(most, sizeof(*keyed));
    listing->findings = calloc(most, sizeof(*listing->findings));
    listing->entries = calloc(most, sizeof(*listing->entries));
    bool good = keyed != NULL && listing->findings != NULL && listing->entries != NULL;
    for (size_t i = 0; good && i < most; i++) {
        const struct tms_finding *finding = &result->findings[i];
        if (finding->evidence == TMS_EVIDENCE_POTENTIAL && !potential) {
            listing->potential++;
        } else if (finding->judgement != NULL) {
            keyed[count++] = (struct keyed){tms_block_key(names, finding), finding};
        }
    }
    if (good) {
        qsort(keyed, count, sizeof(*keyed), by_block);
        make_entries(listing, keyed, count);
    }
    free(keyed);
    return good ? TMS_OK : TMS_ERR_MEMORY;
}

void tms_judged_listing_free(struct tms_judged_listing *listing)
{
    free(listing->findings);
    free(listing->entries);
}

/* ---- writing ----------------------------------------------------------------------------- */

/* In full if enough is left for it and for a line for each of the next few; false: it is not. */
static bool write_full(struct tms_page *page, const struct tms_judged_entry *entry, size_t after,
                       bool first)
{
    size_t kept = after < BRIEF_LEAST ? after : BRIEF_LEAST;

    tms_page_hold(page);
    tms_judged_write_entry(page, entry->findings, entry->count, page->verbose);
    size_t lines = tms_page_held(page) + 1;
    bool fits = page->left == SIZE_MAX || lines + (after > 0 ? kept + 2 : 0) <= page->left;
    if (!fits && !(first && lines + 2 <= page->left)) {
        tms_page_drop(page);
        return false;
    }
    fputc('\n', page->out);
    tms_page_release(page);
    return true;
}

/* A line, if one is left beside that which counts the rest and the empty one. */
static bool write_brief(struct tms_page *page, const struct tms_judged_entry *entry, bool last)
{
    if (page->left < (last ? 2 : 3)) {
        return false;
    }
    tms_page_hold(page);
    tms_judged_headline(page, entry->findings[0]);
    tms_page_release(page);
    return true;
}

void tms_judged_listing_write(struct tms_page *page, const struct tms_judged_listing *listing,
                              bool notes)
{
    size_t count = notes ? listing->count : listing->count - listing->levels[TMS_LEVEL_NOTE];
    size_t full = 0, written;

    while (full < count && write_full(page, &listing->entries[full], count - full - 1, full == 0)) {
        full++;
    }
    for (written = full; written < count; written++) {
        if (!write_brief(page, &listing->entries[written], written + 1 == count)) {
            break;
        }
    }
    if (full < count) {
        tms_page_hold(page);
        if (written < count) {
            fprintf(page->out, "%zu more: --verbose\n", count - written);
        }
        fputc('\n', page->out);
        tms_page_release(page);
    }
}

void tms_judged_listing_notes(struct tms_page *page, const struct tms_judged_listing *listing)
{
    size_t count = listing->levels[TMS_LEVEL_NOTE];
    struct tms_item_line line;
    char head[48];

    if (count == 0) {
        return;
    }
    snprintf(head, sizeof(head), "%zu note%s: ", count, count == 1 ? "" : "s");
    tms_item_line_start(&line, page, head);
    for (int i = 0; i < TMS_PATTERN_COUNT; i++) {
        if (listing->notes[i] > 0) {
            fprintf(tms_item_line_next(&line), "%zu %s", listing->notes[i],
                    tms_pattern_text((enum tms_pattern)i));
            tms_item_line_add(&line, listing->notes[i]);
        }
    }
    tms_item_line_end(&line);
}
