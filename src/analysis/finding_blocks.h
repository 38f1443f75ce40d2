/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks that a finding says are not atomic: by them, findings of several runs are compared. */
#ifndef TMS_ANALYSIS_FINDING_BLOCKS_H
#define TMS_ANALYSIS_FINDING_BLOCKS_H

#include <string.h>

#include "tmesis/tmesis.h"

/* 1 at least: the refuted ones, or without blame, and of findings of `judge`, the transaction. */
static inline size_t tms_finding_blocks(const struct tms_finding *finding)
{
    return finding->judgement == NULL && finding->refuted_count > 0 ? finding->refuted_count : 1;
}

static inline uint32_t tms_finding_label(const struct tms_finding *finding, size_t index)
{
    return finding->judgement == NULL && finding->refuted_count > 0 ? finding->refuted[index].label
                                                                    : finding->transaction.label;
}

/* Races and deadlocks are about variables and locks, which their ids are made of. */
static inline bool tms_finding_has_blocks(const struct tms_finding *finding)
{
    return strcmp(finding->kind, "race") != 0 && strcmp(finding->kind, "deadlock") != 0;
}

#endif
