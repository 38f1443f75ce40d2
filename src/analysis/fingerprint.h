/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fingerprint of a finding identifies it across runs. It covers the kind, the evidence, the
 * labels, edge kinds and conflicting names along the cycle, and the labels of refuted nested
 * blocks, but no thread names, lines or event numbers. A variable without a name has an address
 * instead, which differs from run to run.
 */
#ifndef TMS_ANALYSIS_FINGERPRINT_H
#define TMS_ANALYSIS_FINGERPRINT_H

#include <xxhash.h>

#include "engine_api/engine.h"

/* By ids, for this run: the key that the engine supplied, or else a computed one. */
uint64_t tms_fingerprint_key(const struct tms_violation *violation);

/*
 * By ids: what the steps conflict on and the nested blocks, regardless of the interfering thread
 * and the order of events.
 */
uint64_t tms_fingerprint_place(const struct tms_finding *finding);

/* By names, independently of their ids. */
XXH128_hash_t tms_fingerprint(const struct tms_context *context, const struct tms_finding *finding);

#endif
