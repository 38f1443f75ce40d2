/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in the user's code an event happened. The innermost frame of a call stack is often one of a
 * library, or of a wrapper that does no more than take or release a lock: the line that a person
 * looks for is further out.
 */
#ifndef TMS_REPORT_USER_FRAME_H
#define TMS_REPORT_USER_FRAME_H

#include "report/stack_frames.h"
#include "report/text_layout.h"

struct tms_place {
    struct tms_stack_text function, file, source; /* empty: unknown */
    unsigned line;                                /* 0: unknown */
    bool called; /* of the frame of a block: the event happened in something called from it */
    bool bare;   /* `line` is a location that is only a number, perhaps none of a line */
};

/*
 * The first frame that is the user's code; `label` is the block's, whose own function is never
 * taken for a wrapper. Without a call stack, the location. All that is not known is empty.
 */
struct tms_place tms_place_of_event(const struct tms_page *page, const struct tms_turn *turn,
                                    uint32_t label);

/* The frame of the block's own function on the way to the event; false if there is none. */
bool tms_place_in_block(const struct tms_page *page, const struct tms_turn *turn, uint32_t label,
                        struct tms_place *place);

/* A location such as "bank.c:38" taken apart. The texts are those of `page->names`. */
struct tms_place tms_place_of_location(const struct tms_page *page, uint32_t location);

bool tms_same_file(const struct tms_place *a, const struct tms_place *b);

#endif
