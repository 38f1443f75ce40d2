/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a finding correlated with failures of the program? Fisher's exact test, one-sided: with
 * `failed` of `runs` runs failed, and a finding in `seen` of them, how probable is it that at least
 * `both` of those failed if the two are independent?
 */
#ifndef TMS_HUNT_FISHER_H
#define TMS_HUNT_FISHER_H

#include <stdint.h>

/* Below this probability a finding counts as correlated with failures. */
#define TMS_FISHER_LEVEL 0.05

/* Both `failed` and `seen` are at most `runs`, and `both` at most either. Cost: the smaller one. */
double tms_fisher(uint64_t runs, uint64_t failed, uint64_t seen, uint64_t both);

#endif
