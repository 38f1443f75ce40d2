/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the findings of several processes.
 *
 * Findings of `judge` are the same if function and objects are. Those of other engines are the same
 * if their ids are, or else if they say the same about the same blocks: the ids of variables
 * without a name contain addresses, which differ between processes. A merged finding shows its
 * first occurrence with the highest level. Memory grows with the number of different findings.
 */
#ifndef TMS_ANALYSIS_MERGE_FINDINGS_H
#define TMS_ANALYSIS_MERGE_FINDINGS_H

#include "analysis/copy_finding.h"
#include "base/arena.h"
#include "base/names.h"

/* Bookkeeping for each finding. */
struct tms_merged_entry {
    uint64_t last;             /* the last process that it occurred in */
    struct tms_judgement *sum; /* its judgement, NULL: none */
};

/* The findings of one engine. */
struct tms_merged_list {
    struct tms_finding *findings;
    struct tms_merged_entry *entries;
    size_t count, capacity, entry_capacity;
    size_t renamed; /* the number of those whose references to other ids are translated */
};

/* Those of all engines. */
struct tms_merging {
    struct tms_memory memory;
    struct tms_arena arena;
    struct tms_names keys; /* what findings are compared by: ids and blocks */
    uint32_t *found;       /* by key: the number of the finding in its list, from 1 on */
    size_t found_capacity;
    struct tms_merged_list *lists;
    size_t list_count, list_capacity;
    uint64_t process; /* the number of the current process, from 1 */
};

/* TMS_OK or TMS_ERR_MEMORY; call tms_merging_clear in both cases. */
int tms_merging_init(struct tms_merging *merging);
void tms_merging_clear(struct tms_merging *merging);

/* Takes a finding of the current process into a list. TMS_OK or TMS_ERR_MEMORY. */
int tms_merging_add(struct tms_merging *merging, size_t list, struct tms_copying *copying,
                    const struct tms_finding *finding);

/* The id of what a finding with this id was merged into, or the id itself. */
const char *tms_merging_id(struct tms_merging *merging, const char *id);

#endif
