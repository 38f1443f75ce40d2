/* SPDX-License-Identifier: Apache-2.0 */
/* A running or finished analysis, as the reports see it. */
#ifndef TMS_ANALYSIS_ANALYSIS_H
#define TMS_ANALYSIS_ANALYSIS_H

#include "analysis/engine_thread.h"
#include "analysis/findings.h"
#include "engine_api/engine.h"
#include "spec/lower.h"
#include "trace/validate.h"

/* A running engine and its result. */
struct tms_run {
    const struct tms_engine *engine;
    void *state;
    bool concurrent; /* runs on the engine thread */
    struct tms_host host;
    double seconds;
    struct tms_result result; /* filled by tms_analysis_finish */
    /* While results are compared: the turn of each finding, and a mask of all turns. */
    uint8_t *turn_of;
    unsigned turns;
    struct tms_counters counters;
    char loss[TMS_MESSAGE_SIZE];
    char assumption[TMS_MESSAGE_SIZE];
};

struct tms_analysis {
    struct tms_context *context;
    struct tms_memory memory; /* of the analysis itself */
    struct tms_settings settings;
    struct tms_validator validator;
    struct tms_lower lower;
    struct tms_run *runs;
    size_t run_count, run_capacity;
    bool fused;                       /* plain events take the fused lane */
    struct tms_engine_thread *thread; /* of the runs that are concurrent; NULL: there are none */
    uint64_t counted;                 /* by tms_analysis_counted, 0: not */
    struct tms_trace_summary summary;
    uint32_t last_thread; /* of the last event fed */
    double started;
    int failed; /* sticky */
    bool finished;
    bool stopped;    /* at the first violation, as asked */
    size_t observed; /* the number of runs, at the end, with imported results; the first of them is
                        the first result, … */
    struct tms_trace_summary elsewhere; /* … with this summary */
    bool marked;                        /* known findings are at the end of the lists */
    struct tms_merged *merged;          /* results merged from other analyses; NULL: its own */
    char loss[TMS_MESSAGE_SIZE];
};

/* Waits until all engines have processed what was fed. Nothing may be fed afterwards. */
void tms_analysis_flush(struct tms_analysis *analysis);

/* Seconds of a monotonic clock. */
double tms_analysis_now(void);

/* Adds to the time of an engine, which fails once it exceeds settings.timeout. */
void tms_run_took(const struct tms_settings *settings, struct tms_run *run, double seconds);

/* With settings.first: has every engine found a violation or given up? */
bool tms_analysis_had_enough(const struct tms_analysis *analysis);

/* The findings of a run that has a result: those of its engine, or of its host. */
struct tms_finding *tms_run_findings(const struct tms_run *run);

/* The run of the index-th result. */
struct tms_run *tms_analysis_run(const struct tms_analysis *analysis, size_t index);

#endif
