/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a finished analysis from saved results, for reports: tms_analysis_restore. */
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"

/* NULL: the engine is unknown, or has a result already. */
static struct tms_run *add_run(struct tms_analysis *analysis, const char *name)
{
    const struct tms_engine *engine = tms_engine_find(name, strlen(name));

    for (size_t i = 0; i < analysis->run_count; i++) {
        if (analysis->runs[i].engine == engine) {
            return NULL;
        }
    }
    if (engine == NULL) {
        return NULL;
    }
    struct tms_run *run = &analysis->runs[analysis->run_count++];
    run->engine = engine;
    return run;
}

int tms_analysis_restore(struct tms_context *context, const struct tms_restored *restored,
                         struct tms_analysis **out)
{
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = ""; /* none is to work */
    int code = tms_analysis_new(context, &settings, out);
    for (size_t i = 0; code == TMS_OK && i < restored->result_count; i++) {
        struct tms_run *run = add_run(*out, restored->results[i].engine->name);
        if (run == NULL) {
            code = tms_fail(context, TMS_ERR_ARGUMENT, "there are two results of %s",
                            restored->results[i].engine->name);
        } else {
            run->result = restored->results[i];
        }
    }
    if (code != TMS_OK) {
        tms_analysis_free(*out);
        *out = NULL;
        return code;
    }
    (*out)->summary = restored->summary;
    tms_analysis_lost(*out, restored->loss);
    (*out)->finished = true;
    return TMS_OK;
}
