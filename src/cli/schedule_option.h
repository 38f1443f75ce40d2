/* SPDX-License-Identifier: Apache-2.0 */
/* --schedule=FILE: reads and checks a schedule (docs/user/schedules.md) before the start. */
#ifndef TMS_CLI_SCHEDULE_OPTION_H
#define TMS_CLI_SCHEDULE_OPTION_H

#include "protocol/schedule.h"

/* Zero: none was given. */
struct tms_chosen_schedule {
    char *text; /* what the file had */
    size_t length;
    struct tms_schedule schedule;
};

/* False after a sentence: the file is no schedule. tms_chosen_schedule_free is due in any case. */
bool tms_chosen_schedule_open(struct tms_chosen_schedule *chosen, const char *path);

/* Writes it to a file for the runtime; false after a sentence. */
bool tms_chosen_schedule_write(const struct tms_chosen_schedule *chosen, const char *path);

void tms_chosen_schedule_free(struct tms_chosen_schedule *chosen);

#endif
