/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of a hunt, summed over its runs and ranked. */
#ifndef TMS_HUNT_MERGED_FINDINGS_H
#define TMS_HUNT_MERGED_FINDINGS_H

#include "hunt/hunt_result.h"

/* A finding over all runs. */
struct tms_merged_finding {
    const char *key, *engine;
    const json_t *example; /* an entry of tms_hunt.examples */
    uint64_t runs;         /* that showed it with the evidence of the example, … */
    uint64_t failed_runs;  /* … in how many of these the program failed, … */
    uint64_t first_seed;   /* … and the seed of the first of them */
    uint64_t count, executions, cut;
    json_t *patterns; /* all that occurred; NULL: it is not judged */
    double p;         /* of Fisher's test; 1 if no run failed */
};

struct tms_merged_findings {
    struct tms_merged_finding *list; /* the most important first */
    size_t count;
    json_t *places; /* by key: the place in the list before it was ranked */
};

/* False if out of memory; call tms_merged_findings_clear in both cases. */
bool tms_merged_findings_make(struct tms_merged_findings *findings, const struct tms_hunt *hunt,
                              json_t *const *records, size_t count);
void tms_merged_findings_clear(struct tms_merged_findings *findings);

#endif
