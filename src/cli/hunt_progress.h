/* SPDX-License-Identifier: Apache-2.0 */
/* How far a hunt is: a line that is rewritten on a terminal, and a line a minute elsewhere. */
#ifndef TMS_CLI_HUNT_PROGRESS_H
#define TMS_CLI_HUNT_PROGRESS_H

#include "cli/options.h"
#include "hunt/hunt_result.h"

struct tms_hunt_progress {
    bool wanted;   /* by the user, … */
    bool terminal; /* … on a terminal */
    bool shown;    /* there is a line to wipe away */
    double started, last;
};

void tms_hunt_progress_start(struct tms_hunt_progress *progress, const struct tms_common *common);

/* Now and then; `runs` and `seconds` are the limits, 0: none. */
void tms_hunt_progress_step(struct tms_hunt_progress *progress,
                            const struct tms_hunt_counts *counts, uint64_t runs, double seconds);

void tms_hunt_progress_hide(struct tms_hunt_progress *progress);

#endif
