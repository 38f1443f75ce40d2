/* SPDX-License-Identifier: Apache-2.0 */
/* From the spool of a process to an analysis; see process_analysis.h. */
#include "cli/process_analysis.h"

#include <string.h>

#include "protocol/config.h"
#include "spool/spool_findings.h"
#include "spool/spool_judged.h"
#include "spool/spool_predicted.h"
#include "spool/spool_trace.h"

/* Events on their way from a process to the engines. */
struct feeding {
    struct tms_process_result *process;
    struct tms_analysis *analysis;
};

static bool is_inlined(const struct tms_context *context, uint32_t label)
{
    const char *name = tms_name(context, TMS_CLASS_LABEL, label, NULL);
    size_t length = strlen(name), ending = strlen(TMS_SPOOL_INLINED);

    return length > ending && strcmp(name + length - ending, TMS_SPOOL_INLINED) == 0;
}

/* It is a guess that two acquires in an inlined function belong to one call of it. */
static int doubt_inlined(struct feeding *feeding, const struct tms_event *events, size_t count)
{
    int code = TMS_OK;

    for (size_t i = 0; feeding->process->names.inlined && i < count && code == TMS_OK; i++) {
        if (events[i].kind == TMS_EVENT_BEGIN &&
            is_inlined(feeding->process->context, events[i].target)) {
            code =
                tms_analysis_doubt(feeding->analysis, events[i].target,
                                   "the function was inlined, so it is a guess that both steps "
                                   "belong to one call of it; compile with -fno-inline to be sure");
        }
    }
    return code;
}

static int feed(void *user, const struct tms_event *events, size_t count)
{
    struct feeding *feeding = user;
    int code = doubt_inlined(feeding, events, count);

    if (code == TMS_OK) {
        code = tms_analysis_feed(feeding->analysis, events, count, NULL);
    }
    return code < 0 ? code : TMS_OK;
}

bool tms_process_is_locks_only(const struct tms_process_result *process)
{
    return (process->spool.header.mode & TMS_RT_LOCKS_ONLY) != 0;
}

static const struct tms_engine_plan *plan_for(const struct tms_process_engines *engines,
                                              const struct tms_process_result *process)
{
    return tms_process_is_locks_only(process) ? engines->preload : engines->runtime;
}

/*
 * Where an inlined function begins and ends is a guess, so no verdict on the run itself may depend
 * on one: they are blocks only to engines that predict.
 */
static bool takes_inlined(const struct tms_process_engines *engines,
                          const struct tms_process_result *process)
{
    return tms_process_is_locks_only(process) && !engines->preload->observes && !engines->rules;
}

/* Feeds the recorded events to the engines; `sites` gets where each of them happened. */
static int run_engines(const struct tms_process_engines *engines,
                       struct tms_process_result *process, struct tms_analysis *analysis,
                       struct tms_event_sites *sites, bool *blocks)
{
    struct tms_trace_outcome outcome;
    struct feeding feeding = {process, analysis};
    char loss[TMS_SPOOL_REASON];

    process->names.inlined = takes_inlined(engines, process);
    int code = tms_spool_trace(&process->names, feed, &feeding, &outcome, sites);
    if (code == TMS_OK) {
        bool lost = tms_spool_loss_sync(&process->spool, loss) ||
                    (!plan_for(engines, process)->inside && outcome.inlined == 0 &&
                     tms_spool_doubt(&process->spool, loss));
        tms_analysis_lost(analysis, lost ? loss : NULL);
        tms_analysis_counted(analysis, process->spool.header.transactions);
        *blocks = *blocks || outcome.inlined > 0;
    }
    return code;
}

/* Did the process predict itself? Else it has recorded what engines need for that. */
static bool is_decided(const struct tms_process_engines *engines,
                       const struct tms_process_result *process)
{
    return plan_for(engines, process)->inside && !engines->preloaded &&
           (process->spool.header.mode & TMS_RT_RECORD_SYNC) == 0;
}

/* What the process predicted itself, for the engines that would have. */
static int take_predictions(struct tms_process_result *process, struct tms_analysis *analysis)
{
    char loss[TMS_SPOOL_REASON];
    int code = tms_spool_predict(&process->names, analysis);

    if (code == TMS_OK) {
        bool lost = tms_spool_loss_sync(&process->spool, loss);
        tms_analysis_lost(analysis, lost ? loss : NULL);
        tms_analysis_counted(analysis, process->spool.header.transactions);
    }
    return code;
}

/* The call stacks of the events in findings. */
struct stacks {
    struct tms_process_result *process;
    const struct tms_event_sites *sites;
};

static uint32_t stack_of(void *user, uint64_t event)
{
    const struct stacks *stacks = user;

    return tms_spool_stack(&stacks->process->names, tms_event_sites_find(stacks->sites, event));
}

int tms_process_analyse(const struct tms_process_engines *engines,
                        struct tms_process_result *process, struct tms_analysis **analysis,
                        bool *blocks)
{
    struct tms_event_sites sites;
    struct stacks stacks = {process, &sites};
    const struct tms_engine_plan *plan = plan_for(engines, process);
    struct tms_settings settings = *engines->settings;

    settings.engines = plan->here;
    int code = tms_analysis_new(process->context, &settings, analysis);
    tms_event_sites_init(&sites);
    bool decided = is_decided(engines, process);
    if (code == TMS_OK && plan->judged) {
        code = tms_analysis_judge_elsewhere(*analysis);
    }
    if (code == TMS_OK && plan->recorded[0] != '\0') {
        code = decided ? take_predictions(process, *analysis)
                       : run_engines(engines, process, *analysis, &sites, blocks);
    }
    if (code == TMS_OK && plan->inside) {
        code = tms_spool_observe(&process->names,
                                 tms_process_result_seconds(process, engines->watched), *analysis);
    }
    if (code == TMS_OK && plan->inside && plan->races) {
        code = tms_spool_observe_races(
            &process->names, tms_process_result_seconds(process, engines->watched), *analysis);
    }
    if (code == TMS_OK && plan->judged) {
        code = tms_spool_judged(&process->names, *analysis);
    }
    code = code == TMS_OK ? tms_analysis_finish(*analysis) : code;
    if (code == TMS_OK && !decided) { /* online predictions have their stacks */
        tms_analysis_resolve(*analysis, stack_of, &stacks);
    }
    if (code == TMS_OK) {
        code = process->names.failed ? TMS_ERR_MEMORY : TMS_OK;
    }
    tms_event_sites_free(&sites);
    return code;
}
