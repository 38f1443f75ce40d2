/* SPDX-License-Identifier: Apache-2.0 */
/* --schedule; see schedule_option.h. */
#include "cli/schedule_option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "hunt/shard.h"

/* At most one byte more than a schedule may have, to notice that there are more. */
static bool read_text(struct tms_chosen_schedule *chosen, const char *path)
{
    FILE *file = fopen(path, "re");

    chosen->text = malloc(TMS_SCHEDULE_MOST + 1);
    if (file != NULL && chosen->text != NULL) {
        chosen->length = fread(chosen->text, 1, TMS_SCHEDULE_MOST + 1, file);
    }
    bool good = file != NULL && chosen->text != NULL && ferror(file) == 0;
    if (!good) {
        tms_say("--schedule: %s can't be read: %s", path, strerror(errno));
    }
    if (file != NULL) {
        fclose(file);
    }
    return good;
}

bool tms_chosen_schedule_open(struct tms_chosen_schedule *chosen, const char *path)
{
    struct tms_schedule_complaint complaint;

    if (!read_text(chosen, path)) {
        return false;
    }
    if (chosen->length > TMS_SCHEDULE_MOST) {
        tms_say("--schedule: %s is longer than %u bytes, so it is no schedule", path,
                TMS_SCHEDULE_MOST);
        return false;
    }
    if (!tms_schedule_parse(&chosen->schedule, chosen->text, chosen->length, &complaint)) {
        tms_say("--schedule: %s:%u: %s", path, complaint.line, complaint.text);
        return false;
    }
    if (chosen->schedule.seed > TMS_SEED_MOST) {
        tms_say("--schedule: the seed of %s is more than %llu", path,
                (unsigned long long)TMS_SEED_MOST);
        return false;
    }
    return true;
}

bool tms_chosen_schedule_write(const struct tms_chosen_schedule *chosen, const char *path)
{
    FILE *file = fopen(path, "we");
    bool good = file != NULL && fwrite(chosen->text, 1, chosen->length, file) == chosen->length;

    good = (file == NULL || fclose(file) == 0) && good;
    if (!good) {
        tms_say("%s can't be written: %s", path, strerror(errno));
    }
    return good;
}

void tms_chosen_schedule_free(struct tms_chosen_schedule *chosen)
{
    free(chosen->text);
    *chosen = (struct tms_chosen_schedule){0};
}
