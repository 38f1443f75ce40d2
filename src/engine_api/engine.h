/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine has to provide, and what it may ask of its host.
 *
 * An engine is a `const struct tms_engine` with named initializers in a file of its own and
 * one line in registry.c. It gets operations (op.h), keeps its own state, and hands every
 * violation to its host; it never learns where events come from or how findings are shown.
 */
#ifndef TMS_ENGINE_API_ENGINE_H
#define TMS_ENGINE_API_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/memory.h"
#include "engine_api/violation.h"
#include "tmesis/tmesis.h"
#include "trace/op_traits.h"

/* What the library gives to a running engine. */
struct tms_host {
    struct tms_context *context; /* for names */
    const struct tms_settings *settings;
    struct tms_memory memory;       /* every allocation of the engine goes through it */
    int failed;                     /* sticky: set by tms_host_fail, seen after the batch */
    uint64_t first_violation_event; /* 0: none yet; see tms_host_first */
    uint64_t closing_edges;         /* counted by the engine */
    const char *loss;               /* a string constant: what the engine gave up, though it went on
                                       to the end; NULL: nothing */
    struct tms_findings *findings;
    uint64_t last_event;  /* at the finish: the number of the last event of the trace, … */
    uint32_t last_thread; /* … and its thread */
};

/* What an engine says of itself, for --stats. */
#define TMS_COUNTERS_MOST 16
struct tms_counters {
    struct tms_counter at[TMS_COUNTERS_MOST];
    size_t count;
};

/* Adds counters, as many as there is room for; `more` is an array, and is copied. */
#define TMS_COUNTERS_PUT(counters, more)                                                           \
    tms_counters_put(counters, more, sizeof(more) / sizeof((more)[0]))
void tms_counters_put(struct tms_counters *counters, const struct tms_counter *more, size_t count);

struct tms_analysis;
struct tms_run;
struct tms_fused_lane;

struct tms_engine {
    struct tms_engine_info info;
    size_t state_size;
    /* It looks at all events, in blocks or not: without any block there still is what to check. */
    bool without_blocks;
    /*
     * It may run on a thread of its own while the reader adds names (engine_thread.h): it looks
     * texts up by tms_names_text_aside, asks for no number of names before the finish, and takes
     * TMS_OP_FIRST anywhere in a batch.
     */
    bool concurrent;

    /* Before the first operation; the state is zero. */
    int (*create)(void *state, struct tms_host *host);
    /* Per operation, by kind; NULL: the engine does not care. */
    void (*on[TMS_OP_COUNT])(void *state, const struct tms_op *op);
    /*
     * Instead of `on`, for engines that look ahead: must mean the same, and ignore kinds that the
     * engine has no use for. NULL: none. After the last operation, TMS_OPS_AHEAD more can be read,
     * with any content.
     */
    void (*batch)(void *state, const struct tms_op *ops, size_t count);
    /*
     * The fused lane (fused_lane.h), in addition to one of the others: validates, lowers and
     * processes plain events, the first of which has this number, and returns how many. It stops
     * at an event that is not plain, which then comes as operations, and where it can't go on.
     * NULL: none.
     */
    size_t (*fused)(void *state, struct tms_fused_lane *lane, const struct tms_event *events,
                    size_t count, uint64_t number);
    /* After the last operation, also after tms_settings.first stopped the run. */
    void (*finish)(void *state);
    /* After the finish: adds the engine's counters (TMS_COUNTERS_PUT). NULL: it has none. */
    void (*stats)(const void *state, struct tms_counters *counters);
    /*
     * For an engine that draws on the results of others: called once all engines have finished.
     * TMS_OK or TMS_ERR_MEMORY. NULL: none.
     */
    int (*conclude)(struct tms_analysis *analysis, struct tms_run *run);
    /* For an engine that keeps its own list of findings, which then has no limit. NULL: the host's.
     */
    struct tms_finding *(*findings)(const void *state);
    /* … and looks up the call stacks of those itself, after the finish. */
    void (*resolve)(struct tms_run *run, tms_stack_of *stack_of, void *user);
    /* Also after a failed create. */
    void (*destroy)(void *state);
};

/* The engine can't go on; the batch is finished by returning from callbacks at once. */
void tms_host_fail(struct tms_host *host, int code);

/* A cycle was closed at this event: only the first call counts. Cheap. */
static inline void tms_host_first(struct tms_host *host, uint64_t event)
{
    if (host->first_violation_event == 0) {
        host->first_violation_event = event;
    }
}

/* Takes in a violation: grouped by pattern, or listed, as the settings say. Copies. */
void tms_host_violation(struct tms_host *host, const struct tms_violation *violation);

/* How many violations the engine has reported so far, repeated ones included. */
uint64_t tms_host_violations(const struct tms_host *host);

/*
 * For engines that give keys: is a violation with this key known that speaks for one at this event
 * as well? Then that is counted, and need not be made. Never if each is to be listed.
 */
bool tms_host_again(struct tms_host *host, uint64_t key, uint64_t event);

/* The engines, ending with NULL. */
extern const struct tms_engine *const tms_engines[];

/* NULL if there is none of that name. */
const struct tms_engine *tms_engine_find(const char *name, size_t length);

#endif
