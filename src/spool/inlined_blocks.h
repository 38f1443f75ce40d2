/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks for inlined functions, which have no frame of their own: for programs that were not built
 * for tmesis (docs/user/preload.md). The debug information says which copies of inlined functions
 * contain an instruction, and the process which acquires belong to one activation of the enclosing
 * function.
 *
 * Either the acquire itself is in a copy, or the call of the function that does it.
 *
 * Nothing proves that two acquires in one copy belong to one pass through it. It is assumed if the
 * second is further down in the source, and findings based on it count as potential. Such blocks
 * are always innermost, and end when any other block begins or ends.
 *
 * Representation: by thread, the copies that are open, outermost first; by site, those that contain
 * it. Cost: constant per event once a site is known.
 */
#ifndef TMS_SPOOL_INLINED_BLOCKS_H
#define TMS_SPOOL_INLINED_BLOCKS_H

#include "spool/spool_names.h"

#define TMS_INLINED_MOST 16

/* A copy of an inlined function. */
struct tms_inlined_copy {
    uint64_t instance; /* in the debug information */
    uint32_t label;
    uint32_t line; /* in the source of the function, of the acquire or of what leads there */
};

struct tms_inlined_thread {
    uint32_t activation; /* of the function with the copies, at the last acquire; 0: none */
    uint32_t inner;      /* and of the one that did it */
    uint64_t pc;         /* the pc of the first at that time */
    struct tms_inlined_copy open[TMS_INLINED_MOST];
    uint32_t count;
};

/* The copies that contain a site. */
struct tms_inlined_site {
    struct tms_inlined_copy *copies;
    uint64_t pc;
    uint32_t parent; /* the site of the call */
    uint32_t count;
    bool known;
};

struct tms_inlined {
    struct tms_spool_names *names;
    struct tms_inlined_thread *threads; /* by id of TMS_CLASS_THREAD */
    size_t thread_count;
    struct tms_inlined_site *sites; /* parallel to the spool's list of sites */
};

typedef int tms_inlined_sink(void *user, const struct tms_event *event);

/*
 * Emits the begins and ends that precede the event, which was made from `from`. TMS_OK, or a code.
 */
int tms_inlined_before(struct tms_inlined *inlined, const struct tms_spool_event *from,
                       const struct tms_event *event, tms_inlined_sink *sink, void *user);
void tms_inlined_free(struct tms_inlined *inlined);

#endif
