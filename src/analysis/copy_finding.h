/* SPDX-License-Identifier: Apache-2.0 */
/* Copies findings from one context to another, where it interns their names. */
#ifndef TMS_ANALYSIS_COPY_FINDING_H
#define TMS_ANALYSIS_COPY_FINDING_H

#include "base/arena.h"
#include "base/context.h"

struct tms_copying {
    const struct tms_context *from;
    struct tms_context *into;
    struct tms_arena *arena; /* for everything that the copies point to */
    struct tms_memory *memory;
    bool failed; /* sticky: out of memory, or there are too many names */
};

/* The copy of a finding; valid only if `failed` is not set. */
struct tms_finding tms_copy_finding(struct tms_copying *copying, const struct tms_finding *finding);

/* A copy of a text, NULL for NULL. */
const char *tms_copy_text(struct tms_copying *copying, const char *text);

#endif
