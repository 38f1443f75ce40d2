/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between an engine and its host.
 *
 * An engine is a `const struct tms_engine` with named initializers in a file of its own, declared
 * and listed in registry.c. It receives operations (op.h), keeps its own state, and reports every
 * violation to its host; it does not know where events come from or how findings are shown.
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

/* The services of the library for a running engine. */
struct tms_host {
    struct tms_context *context; /* for names */
    const struct tms_settings *settings;
    struct tms_memory memory;       /* every allocation of the engine goes through it */
    int failed;                     /* sticky: set by tms_host_fail, checked after the batch */
    uint64_t first_violation_event; /* 0: none yet; see tms_host_first */
    uint64_t closing_edges;         /* counted by the engine */
    const char *loss; /* a string constant: what the engine skipped though it ran to the end; NULL:
                         nothing */
    struct tms_findings *findings;
    uint64_t last_event;  /* at the finish: the number of the last event of the trace, … */
    uint32_t last_thread; /* … and its thread */
};

/* The counters of an engine, for --stats. */
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
    /* It checks events outside blocks too, so its verdict is valid for a trace without blocks. */
    bool without_blocks;
    /*
     * It may run on its own thread while the reader adds names (engine_thread.h): it looks up texts
     * with tms_names_text_concurrent, does not use name counts before `finish`, and accepts
     * TMS_OP_FIRST anywhere in a batch.
     */
    bool concurrent;

    /* Before the first operation; the state is zero. */
    int (*create)(void *state, struct tms_host *host);
    /* Called per operation, by kind; NULL: the engine ignores the kind. */
    void (*on[TMS_OP_COUNT])(void *state, const struct tms_op *op);
    /*
     * Replaces `on` for engines that look ahead: must be equivalent to it, and ignore the kinds
     * that the engine does not handle. NULL: none. After the last operation, TMS_OPS_AHEAD more can
     * be read, with any content.
     */
    void (*batch)(void *state, const struct tms_op *ops, size_t count);
    /*
     * The fused lane (fused_lane.h), in addition to one of the others: validates, lowers and
     * processes plain events, the first of which has this number, and returns how many. It stops at
     * an event that is not plain, which then arrives as operations, and on failure. NULL: none.
     */
    size_t (*fused)(void *state, struct tms_fused_lane *lane, const struct tms_event *events,
                    size_t count, uint64_t number);
    /* After the last operation, also after tms_settings.first stopped the run. */
    void (*finish)(void *state);
    /* After the finish: adds the engine's counters (TMS_COUNTERS_PUT). NULL: it has none. */
    void (*stats)(const void *state, struct tms_counters *counters);
    /*
     * For an engine that uses the results of others: called once all engines have finished. TMS_OK
     * or TMS_ERR_MEMORY. NULL: none.
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

/* Marks the engine as failed; for the rest of the batch its callbacks must return at once. */
void tms_host_fail(struct tms_host *host, int code);

/* A cycle was closed at this event: only the first call counts. Cheap. */
static inline void tms_host_first(struct tms_host *host, uint64_t event)
{
    if (host->first_violation_event == 0) {
        host->first_violation_event = event;
    }
}

/* Reports a violation, which is copied, and grouped by pattern or listed as the settings say. */
void tms_host_violation(struct tms_host *host, const struct tms_violation *violation);

/* How many violations the engine has reported so far, repeated ones included. */
uint64_t tms_host_violations(const struct tms_host *host);

/*
 * For engines that supply keys: if a known violation with this key also represents one at this
 * event, counts the latter and returns true, so that the engine need not construct it. Always false
 * if violations are listed individually.
 */
bool tms_host_again(struct tms_host *host, uint64_t key, uint64_t event);

/* The engines, ending with NULL. */
extern const struct tms_engine *const tms_engines[];

/* NULL if there is none of that name. */
const struct tms_engine *tms_engine_find(const char *name, size_t length);

#endif
