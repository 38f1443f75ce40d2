/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fingerprint of a finding: what it has in common with others of the same place in the program,
 * in every run. That is its kind and evidence, and along the cycle the labels, edge kinds and names
 * of what the steps conflict on, and the labels of nested blocks that are refuted too; no thread
 * names, lines or event numbers. A variable without a name has an address instead, which differs
 * from run to run.
 */
#ifndef TMS_ANALYSIS_FINGERPRINT_H
#define TMS_ANALYSIS_FINGERPRINT_H

#include <xxhash.h>

#include "engine_api/engine.h"

/* By ids, for this run: the key that the engine gave, or one made here. */
uint64_t tms_fingerprint_key(const struct tms_violation *violation);

/* By ids: what the steps conflict on and the nested blocks, whichever thread cuts the block, and
 * how. */
uint64_t tms_fingerprint_place(const struct tms_finding *finding);

/* By names, whatever ids they have. */
XXH128_hash_t tms_fingerprint(const struct tms_context *context, const struct tms_finding *finding);

#endif
