/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the two AeroDrome engines: the running transaction of a thread, and the report of a
 * cycle through it. Both find that there is a cycle, not its steps: a violation names the
 * transaction whose begin was reached again, and the event at which that was detected.
 */
#ifndef TMS_ENGINES_AERODROME_H
#define TMS_ENGINES_AERODROME_H

#include "engine_api/engine.h"

struct tms_aerodrome_block {
    struct tms_transaction name;
    bool declared; /* as a violation: further cycles through it are only counted */
};

/* At which event something was found. */
struct tms_aerodrome_moment {
    uint64_t event;
    uint32_t thread;
};

static inline struct tms_aerodrome_moment tms_aerodrome_now(const struct tms_op *op)
{
    return (struct tms_aerodrome_moment){op->event, op->thread};
}

static inline void tms_aerodrome_begin(struct tms_aerodrome_block *block, const struct tms_op *op)
{
    *block = (struct tms_aerodrome_block){
        .name = {op->event, op->thread, op->target, op->location, false},
    };
}

static inline void tms_aerodrome_declare(struct tms_host *host, struct tms_aerodrome_block *block,
                                         struct tms_aerodrome_moment now)
{
    tms_host_first(host, now.event);
    host->closing_edges++;
    if (!block->declared) {
        block->declared = true;
        tms_host_violation(host, &(struct tms_violation){
                                     .kind = "cycle",
                                     .evidence = TMS_EVIDENCE_OBSERVED,
                                     .event = now.event,
                                     .thread = now.thread,
                                     .transaction = block->name,
                                 });
    }
}

/*
 * Blocks that are open when the trace ends are closed then, or a cycle of which two transactions
 * are open would be missed. Not if the run was stopped at its first violation: its trace has no
 * end that was seen.
 */
static inline bool tms_aerodrome_closes_blocks(const struct tms_host *host)
{
    return !(host->settings->first && host->first_violation_event != 0);
}

#endif
