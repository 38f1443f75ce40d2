/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks that a finding says are not atomic. Findings of several runs are compared by them. */
#ifndef TMS_ANALYSIS_FINDING_BLOCKS_H
#define TMS_ANALYSIS_FINDING_BLOCKS_H

#include <string.h>

#include "tmesis/tmesis.h"

/* At least 1: the refuted blocks; without blame, and for findings of `judge`, the transaction. */
static inline size_t tms_finding_blocks(const struct tms_finding *finding)
{
    return finding->judgement == NULL && finding->refuted_count > 0 ? finding->refuted_count : 1;
}

static inline uint32_t tms_finding_label(const struct tms_finding *finding, size_t index)
{
    return finding->judgement == NULL && finding->refuted_count > 0 ? finding->refuted[index].label
                                                                    : finding->transaction.label;
}

/* Races and deadlocks are about variables and locks, and their ids are hashes of those. */
static inline bool tms_finding_has_blocks(const struct tms_finding *finding)
{
    return strcmp(finding->kind, "race") != 0 && strcmp(finding->kind, "deadlock") != 0;
}

#endif
