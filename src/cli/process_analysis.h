/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The analysis of one process of a watched run: what the process found itself, and what engines
 * find that read its recording.
 */
#ifndef TMS_CLI_PROCESS_ANALYSIS_H
#define TMS_CLI_PROCESS_ANALYSIS_H

#include "cli/engine_plan.h"
#include "cli/process_result.h"

struct tms_process_engines {
    const struct tms_settings *settings;
    const struct tms_engine_plan *runtime; /* for processes with the runtime in them … */
    const struct tms_engine_plan *preload; /* … and with the preload library */
    const struct tms_watched *watched;
    bool preloaded; /* the program has no runtime in it */
    bool rules;     /* the user says which functions are blocks */
};

/* Was the process watched by the preload library? */
bool tms_process_is_locks_only(const struct tms_process_result *process);

/*
 * Makes the analysis, which the caller frees also after a failure, and before the process. Sets
 * `*blocks` if functions that were inlined gave blocks. Returns TMS_OK or an error.
 */
int tms_process_analyse(const struct tms_process_engines *engines,
                        struct tms_process_result *process, struct tms_analysis **analysis,
                        bool *blocks);

#endif
