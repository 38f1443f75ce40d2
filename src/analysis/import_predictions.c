/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions of a running program as results of an analysis; see online_predictions.h. */
#include "engines/online_predictions.h"

#include <string.h>

#include "analysis/analysis.h"

static const struct {
    const char *engine;
    void (*take)(void *state, const struct tms_predictions *predictions);
} takers[] = {
    {"sidetrack", tms_sidetrack_decided},
    {"goodlock", tms_goodlock_requested},
};

static void take(struct tms_run *run, const struct tms_predictions *predictions)
{
    for (size_t i = 0; i < sizeof(takers) / sizeof(*takers); i++) {
        if (strcmp(run->engine->info.name, takers[i].engine) == 0) {
            takers[i].take(run->state, predictions);
        }
    }
}

static bool is_sound(const struct tms_lock_request *request, size_t locks)
{
    bool sound = request->wants.in.thread != 0 && request->line != 0 &&
                 (request->join ? request->wanted != 0 : request->wanted < locks);

    for (size_t i = 0; i < request->held_count; i++) {
        sound = sound && request->held[i].lock < locks;
    }
    return sound;
}

static bool are_sound(const struct tms_predictions *predictions)
{
    bool sound = true;

    for (size_t i = 0; i < predictions->predicted_count; i++) {
        sound = sound && predictions->predicted[i].kind < TMS_PREDICTED_KINDS;
    }
    for (size_t i = 0; i < predictions->request_count; i++) {
        sound = sound && is_sound(&predictions->requests[i], predictions->lock_count);
    }
    return sound;
}

int tms_analysis_predict(struct tms_analysis *analysis, const struct tms_predictions *predictions)
{
    int code = TMS_OK;

    if (!are_sound(predictions)) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                        "a prediction is of no known kind, or of a lock without a name");
    }
    if (analysis->finished || analysis->failed != TMS_OK || analysis->summary.events > 0) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                        "this analysis has ended, or has events of its own");
    }
    tms_analysis_flush(analysis);
    for (size_t i = 0; i < analysis->run_count - analysis->observed && code == TMS_OK; i++) {
        take(&analysis->runs[i], predictions);
        code = analysis->runs[i].host.failed;
    }
    if (code != TMS_OK) {
        analysis->failed = code;
        return code == TMS_ERR_MEMORY ? tms_fail_memory(analysis->context) : code;
    }
    return TMS_OK;
}
