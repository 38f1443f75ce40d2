/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels that refinement keeps although blocks of theirs were cut: data was affected, so that
 * it is the program that has to change, and not the specification.
 */
#ifndef TMS_CLI_KEPT_LABELS_H
#define TMS_CLI_KEPT_LABELS_H

#include <stdio.h>

#include "cli/check_job.h"

struct tms_kept_label {
    char *label;
    char *reason; /* "error: deposit, account.balance, lost-update" */
    char *id;     /* of the finding */
    enum tms_level level;
};

struct tms_kept {
    struct tms_kept_label *list;
    size_t count;
};

/*
 * Takes in the observed errors and warnings of the `judge` among the results, each label with the
 * first of its most severe ones. False when memory is short.
 */
bool tms_kept_take(struct tms_kept *kept, const struct tms_checking *checking);

bool tms_kept_has(const struct tms_kept *kept, const char *label);

/* The comment of a specification file. */
void tms_kept_write(const struct tms_kept *kept, FILE *out);

/* The list of a JSON object, with its brackets. */
void tms_kept_write_json(const struct tms_kept *kept, FILE *out);

void tms_kept_clear(struct tms_kept *kept);

#endif
