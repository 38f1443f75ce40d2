/* SPDX-License-Identifier: Apache-2.0 */
/* Fisher's exact test; see fisher.h. */
#include "hunt/fisher.h"

#include <assert.h>
#include <math.h>

/* The logarithm of the number of ways to choose k of n. */
static double log_choose(uint64_t n, uint64_t k)
{
    int sign;

    return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
           lgamma_r((double)(n - k) + 1, &sign);
}

double tms_fisher(uint64_t runs, uint64_t failed, uint64_t seen, uint64_t both)
{
    uint64_t most = failed < seen ? failed : seen;
    double all = log_choose(runs, seen), sum = 0;

    assert(failed <= runs && seen <= runs && both <= most);
    for (uint64_t i = both; i <= most; i++) {
        if (seen - i <= runs - failed) { /* else there are not enough runs that passed */
            sum += exp(log_choose(failed, i) + log_choose(runs - failed, seen - i) - all);
        }
    }
    return sum < 1 ? sum : 1;
}
