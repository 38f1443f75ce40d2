/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks: the frames in the name of a TMS_CLASS_STACK, and how a text report shows them. */
#ifndef TMS_REPORT_STACK_FRAMES_H
#define TMS_REPORT_STACK_FRAMES_H

#include "report/text_layout.h"

/* A part of a name; not ended by a zero. */
struct tms_stack_text {
    const char *at;
    size_t length;
};

struct tms_stack_frame {
    struct tms_stack_text function, file, line, source; /* empty: unknown */
    struct tms_stack_text site; /* of the first frame: the instruction; empty: unknown */
};

/* Takes the next frame off *stack; false at its end. */
bool tms_stack_next(const char **stack, struct tms_stack_frame *frame);

/* All frames, the innermost first, indented so far. */
void tms_stack_write(const struct tms_page *page, uint32_t stack, size_t indent);

/*
 * The stacks of the two events of the index-th step, if they are known, indented so far. The first
 * one is left out if it was the second of the step before. Few frames each, unless the page is
 * verbose, and as `page->stacks` says.
 */
void tms_stacks_write(struct tms_page *page, const struct tms_finding *finding, size_t index,
                      size_t indent);

#endif
