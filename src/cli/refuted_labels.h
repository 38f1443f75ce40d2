/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels that refinement found not to be atomic, in the order they were found, each with the
 * first violation that showed it, and the specification file that leaves them out.
 *
 * Representation: an array, and beside it, while one trace is looked at, the place in it of each
 * label of that trace. So a violation costs no comparison of names but the first of its label.
 */
#ifndef TMS_CLI_REFUTED_LABELS_H
#define TMS_CLI_REFUTED_LABELS_H

#include "cli/check_job.h"
#include "cli/kept_labels.h"

struct tms_dropped {
    char *label;         /* "": blocks without one */
    char *reason;        /* which block cut it, on which object: the end of a sentence */
    char *location;      /* of the block; "": unknown */
    const char *trace;   /* where it was found */
    uint64_t event;      /* that showed it, in the trace */
    uint64_t violations; /* blocks of this label that were found not atomic */
    size_t round;        /* from 1 */
};

struct tms_drops {
    struct tms_dropped *list;
    size_t count, capacity;
    const struct tms_kept *kept; /* labels that are never dropped; NULL: none */
    uint32_t *places;            /* by label id of the trace in hand: place in the list + 1 */
};

/* Begins with another trace. False when memory is short, as in what follows. */
bool tms_drops_trace(struct tms_drops *drops, const struct tms_checking *checking);

/* Adds the blocks that a finding with a block at fault refutes. */
bool tms_drops_add(struct tms_drops *drops, const struct tms_checking *checking,
                   const struct tms_result *result, const struct tms_finding *finding,
                   size_t round);

/* Adds a rule for each of them from place `first` on. */
bool tms_drops_exclude(const struct tms_drops *drops, size_t first, struct tms_spec *spec);

/*
 * Writes the rules of `spec`, whose last `drops->count` are those of tms_drops_exclude, as a
 * file: each dropped label with reason and location as a comment.
 */
void tms_drops_write(const struct tms_drops *drops, const struct tms_spec *spec, FILE *out);

void tms_drops_clear(struct tms_drops *drops);

#endif
