/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a spool into a trace: its events in their order, with names in place of addresses.
 *
 * Distinct variables stay distinct and equal ones equal, byte by byte and through every reuse of
 * the same memory (address_map.h). An access that is cut into pieces becomes as many consecutive
 * events, in the order of addresses; inside a block that is equivalent, and outside blocks an
 * access was never assumed to be atomic.
 *
 *     balance                             a variable of the program, or a lock
 *     table[3].limits.max                 a field of an element
 *     balance+4                           its fifth byte
 *     balance#2                           another variable of the same name
 *     heap:new_account:account#2.lock     a field of the second heap block: the function that
 *                                         allocated it, and its type
 *     heap:read_line#3+8                  the same if the type is unknown
 *     stack:worker#2+120                  on the stack of the second thread, which runs worker
 *     memory+0x7f31c8@5                   memory without a name, since the fifth renewal
 *
 * docs/user/names.md has all of it. Unless the recording is full, events that matter to no verdict
 * are pruned (prune.h).
 *
 * A truncated recording may lack the last events of a thread but have later ones of another: it is
 * used as long as it is well-formed.
 */
#ifndef TMS_SPOOL_SPOOL_TRACE_H
#define TMS_SPOOL_SPOOL_TRACE_H

#include "spool/event_sites.h"
#include "spool/spool_names.h"

/* Receives some events; a negative code stops the work. */
typedef int tms_trace_sink(void *user, const struct tms_event *events, size_t count);

struct tms_trace_outcome {
    uint64_t events;
    uint64_t inlined; /* blocks of inlined functions among them */
    bool cut;         /* the rest was dropped because it is not well-formed */
};

/*
 * TMS_OK, or a code: of the sink, or TMS_ERR_MEMORY. `sites` receives the site of every event
 * before the sink receives the event; may be NULL.
 */
int tms_spool_trace(struct tms_spool_names *names, tms_trace_sink *sink, void *user,
                    struct tms_trace_outcome *outcome, struct tms_event_sites *sites);

#endif
