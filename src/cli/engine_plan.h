/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which engines decide about the processes of a run, and where. `frontier` can decide inside the
 * program; the others get what was recorded, and some of them need no accesses to memory.
 *
 * Processes with the runtime in them and processes that only have the preload library have a plan
 * each: in the latter no accesses are seen, so engines that look at nothing else are left out.
 */
#ifndef TMS_CLI_ENGINE_PLAN_H
#define TMS_CLI_ENGINE_PLAN_H

#include "cli/predict_options.h"

#define TMS_ENGINE_INSIDE "frontier"  /* the engine that the runtime has, … */
#define TMS_ENGINE_RACES  "fasttrack" /* … and the one whose findings it has as well */

/* The engines for programs whose memory is not watched, unless --engine names others. */
#define TMS_LOCK_ENGINES "frontier," TMS_JUDGE ",sidetrack,goodlock"

struct tms_engine_plan {
    char recorded[TMS_ENGINE_LIST_SIZE]; /* engines that get what was recorded */
    char here[TMS_ENGINE_LIST_SIZE];     /* these, and judge, if that works in the program */
    bool inside;                         /* frontier decides in the program, … */
    bool races;                          /* … and its data races are looked at, … */
    bool judged;                         /* … and judge works there as well */
    bool judges;                         /* one of the others judges: it gets every access */
    bool light;                          /* the others need no accesses */
    bool observes; /* one of the others decides whether this run was serializable */
};

/*
 * For programs with the runtime in them. `list` is the engines asked for, or "all"; `variables`:
 * accesses are wanted for predictions (--predict=variable). Unless the others are light, all of
 * them get a recording, frontier included.
 */
void tms_engine_plan(struct tms_engine_plan *plan, const char *list, bool variables);

/*
 * For processes with the preload library. `left_out`, of TMS_ENGINE_LIST_SIZE bytes, gets the
 * names of engines that are of no use there. False if no engine is left.
 */
bool tms_engine_plan_locks(struct tms_engine_plan *plan, const char *list, char *left_out);

#endif
