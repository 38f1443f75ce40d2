/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the results of several processes into one analysis: one result for each engine that any of
 * them had, with the worst verdict, merged findings (merge_findings.h), summed counts, and each
 * distinct loss with the number of processes that had it.
 */
#include "analysis/merge_results.h"

#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"

/* A sentence that some processes had, and how many. */
struct loss {
    const char *text;
    uint64_t processes;
};

struct losses {
    struct loss *list;
    size_t count, capacity;
};

struct tms_merged {
    struct tms_merging merging;
    struct losses *losses; /* by result + 1; [0]: of whole processes */
    size_t loss_capacity;
};

void tms_merged_free(struct tms_merged *merged, struct tms_memory *owner)
{
    if (merged == NULL) {
        return;
    }
    struct tms_memory *memory = &merged->merging.memory;
    for (size_t i = 0; i < merged->loss_capacity; i++) {
        struct losses *losses = &merged->losses[i];
        tms_release(memory, losses->list, losses->capacity, sizeof(*losses->list));
    }
    tms_release(memory, merged->losses, merged->loss_capacity, sizeof(*merged->losses));
    tms_merging_clear(&merged->merging);
    tms_release(owner, merged, 1, sizeof(*merged));
}

struct tms_merged_list *tms_merged_list(struct tms_merged *merged, size_t index)
{
    return &merged->merging.lists[index];
}

/* ---- losses ------------------------------------------------------------------------------- */

static bool add_loss(struct tms_merged *merged, struct tms_copying *copying, size_t at,
                     const char *text)
{
    struct losses *losses = &merged->losses[at];

    for (size_t i = 0; text != NULL && i < losses->count; i++) {
        if (strcmp(losses->list[i].text, text) == 0) {
            losses->list[i].processes++;
            return true;
        }
    }
    if (text == NULL) {
        return true;
    }
    const char *copy = tms_copy_text(copying, text);
    if (copy == NULL || !TMS_RESERVE(&merged->merging.memory, &losses->list, &losses->capacity,
                                     losses->count + 1, 4)) {
        return false;
    }
    losses->list[losses->count++] = (struct loss){copy, 1};
    return true;
}

/* "2 of 5 processes: …; 1 of 5 processes: …". */
static void write_losses(const struct tms_merged *merged, size_t at, char *text, size_t size)
{
    const struct losses *losses = &merged->losses[at];
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < losses->count && length < size; i++) {
        length +=
            (size_t)snprintf(text + length, size - length, "%s%llu of %llu processes: %s",
                             i > 0 ? "; " : "", (unsigned long long)losses->list[i].processes,
                             (unsigned long long)merged->merging.process, losses->list[i].text);
    }
}

/* ---- results ------------------------------------------------------------------------------ */

static enum tms_verdict worse(enum tms_verdict a, enum tms_verdict b)
{
    static const uint8_t weights[] = {
        [TMS_VERDICT_INCOMPLETE] = 1, [TMS_VERDICT_POTENTIAL] = 2, [TMS_VERDICT_RACE] = 3,
        [TMS_VERDICT_PREDICTED] = 4,  [TMS_VERDICT_AFFECTED] = 5,  [TMS_VERDICT_VIOLATION] = 6,
        [TMS_VERDICT_UNAFFECTED] = 0, /* the last; like all that found nothing */
    };

    return weights[b] > weights[a] ? b : a;
}

/* The run of an engine, made if it is new; the number of its list. */
static size_t run_of(struct tms_analysis *into, const struct tms_run *from)
{
    size_t index = 0;

    while (index < into->run_count && into->runs[index].engine != from->engine) {
        index++;
    }
    if (index == into->run_count) {
        struct tms_run *run = &into->runs[into->run_count++];
        run->engine = from->engine;
        run->result = (struct tms_result){
            .engine = from->result.engine, .verdict = from->result.verdict, .complete = true};
    }
    return index;
}

static void add_counts(struct tms_result *into, const struct tms_result *from)
{
    into->verdict = worse(into->verdict, from->verdict);
    into->complete = into->complete && from->complete;
    into->blamed = into->blamed || from->blamed;
    into->unlisted += from->unlisted;
    into->violations += from->violations;
    into->closing_edges += from->closing_edges;
    into->events += from->events;
    into->seconds += from->seconds;
    if (from->memory_bytes > into->memory_bytes) {
        into->memory_bytes = from->memory_bytes;
    }
    if (into->first_violation_event == 0) {
        into->first_violation_event = from->first_violation_event;
    }
}

static int merge_result(struct tms_analysis *into, size_t index, struct tms_copying *copying,
                        const struct tms_result *from)
{
    struct tms_merged *merged = into->merged;
    struct tms_run *run = &into->runs[index];
    struct tms_result *result = &run->result;

    add_counts(result, from);
    if (result->assumption == NULL && from->assumption != NULL) {
        result->assumption = tms_copy_text(copying, from->assumption);
    }
    for (size_t i = 0; i < from->finding_count + from->known; i++) {
        if (tms_merging_add(&merged->merging, index, copying, &from->findings[i]) != TMS_OK) {
            return TMS_ERR_MEMORY;
        }
    }
    const struct tms_finding *suppressed = from->findings + from->finding_count + from->known;
    for (size_t i = 0; i < from->suppressed; i++) {
        if (tms_merging_add(&merged->merging, into->run_capacity + index, copying,
                            &suppressed[i]) != TMS_OK) {
            return TMS_ERR_MEMORY;
        }
    }
    return add_loss(merged, copying, index + 1, from->loss) ? TMS_OK : TMS_ERR_MEMORY;
}

/* Sets the list of a result; suppressed findings, which are in a list of their own, come last. */
static int set_findings(struct tms_analysis *into, size_t index)
{
    struct tms_merged_list *list = tms_merged_list(into->merged, index);
    const struct tms_merged_list *suppressed =
        tms_merged_list(into->merged, into->run_capacity + index);
    struct tms_result *result = &into->runs[index].result;

    if (!TMS_RESERVE(&into->merged->merging.memory, &list->findings, &list->capacity,
                     list->count + suppressed->count + 1, 16)) {
        return TMS_ERR_MEMORY;
    }
    if (suppressed->count > 0) {
        memcpy(&list->findings[list->count], suppressed->findings,
               suppressed->count * sizeof(*list->findings));
    }
    result->findings = list->findings;
    result->finding_count = list->count;
    result->suppressed = suppressed->count;
    return TMS_OK;
}

/* Translates the ids that new findings refer to, which are those of their own process. */
static void rename_ids(struct tms_merging *merging)
{
    for (size_t i = 0; i < merging->list_count; i++) {
        struct tms_merged_list *list = &merging->lists[i];
        for (; list->renamed < list->count; list->renamed++) {
            struct tms_finding *finding = &list->findings[list->renamed];
            if (finding->same_as != NULL) {
                finding->same_as = tms_merging_id(merging, finding->same_as);
            }
            if (finding->judged != NULL) {
                finding->judged = tms_merging_id(merging, finding->judged);
            }
        }
    }
}

static void add_summary(struct tms_trace_summary *into, const struct tms_trace_summary *from)
{
    into->events += from->events;
    into->threads += from->threads;
    into->variables += from->variables;
    into->locks += from->locks;
    into->transactions += from->transactions;
    into->not_atomic += from->not_atomic;
    into->unary += from->unary;
    into->skipped += from->skipped;
    into->rough = into->rough || from->rough;
    if (from->seconds > into->seconds) { /* they ran at the same time */
        into->seconds = from->seconds;
    }
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* Room for the results of all engines that there are, and for what is suppressed of each. */
static struct tms_merged *start(struct tms_analysis *into)
{
    struct tms_merged *merged = tms_resize(&into->memory, NULL, 0, 1, sizeof(*merged));
    size_t most = into->run_capacity;

    if (merged == NULL) {
        return NULL;
    }
    struct tms_merging *merging = &merged->merging;
    bool good =
        tms_merging_init(merging) == TMS_OK &&
        TMS_RESERVE(&merging->memory, &merging->lists, &merging->list_capacity, 2 * most,
                    2 * most) &&
        TMS_RESERVE(&merging->memory, &merged->losses, &merged->loss_capacity, most + 1, most + 1);
    if (!good) {
        tms_merged_free(merged, &into->memory);
        return NULL;
    }
    merging->list_count = 2 * most;
    return merged;
}

static int merge_all(struct tms_analysis *into, const struct tms_analysis *from,
                     struct tms_copying *copying)
{
    struct tms_merged *merged = into->merged;

    for (size_t i = 0; i < from->run_count; i++) {
        const struct tms_run *run = tms_analysis_run(from, i);
        if (merge_result(into, run_of(into, run), copying, &run->result) != TMS_OK) {
            return TMS_ERR_MEMORY;
        }
    }
    rename_ids(&merged->merging);
    for (size_t i = 0; i < into->run_count; i++) {
        if (set_findings(into, i) != TMS_OK) {
            return TMS_ERR_MEMORY;
        }
    }
    return add_loss(merged, copying, 0, tms_analysis_loss(from)) ? TMS_OK : TMS_ERR_MEMORY;
}

int tms_analysis_merge(struct tms_analysis *into, const struct tms_analysis *from)
{
    bool fit = from->finished && into != from && !into->marked &&
               (into->merged != NULL || (into->run_count == 0 && !into->finished));

    if (!fit) {
        return tms_fail(into->context, TMS_ERR_ARGUMENT,
                        "only a finished analysis can be merged, and only into one without "
                        "engines whose findings were not compared with a baseline");
    }
    into->merged = into->merged != NULL ? into->merged : start(into);
    if (into->merged == NULL) {
        return tms_fail_memory(into->context);
    }
    struct tms_merging *merging = &into->merged->merging;
    struct tms_copying copying = {.from = from->context,
                                  .into = into->context,
                                  .arena = &merging->arena,
                                  .memory = &merging->memory};
    merging->process++;
    if (merge_all(into, from, &copying) != TMS_OK || copying.failed) {
        return tms_fail_memory(into->context);
    }
    for (size_t i = 0; i < into->run_count; i++) {
        struct tms_run *run = &into->runs[i];
        write_losses(into->merged, i + 1, run->loss, sizeof(run->loss));
        run->result.loss = run->loss[0] != '\0' ? run->loss : NULL;
    }
    write_losses(into->merged, 0, into->loss, sizeof(into->loss));
    add_summary(&into->summary, &from->summary);
    into->finished = true;
    return TMS_OK;
}
