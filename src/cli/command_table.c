/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of commands. It is apart from main.c because the program that writes the option lists
 * of the manual pages (src/man) links it, too.
 */
#include <string.h>

#include "cli/options.h"

static const struct tms_command *const commands[] = {
    &tms_command_cc,      &tms_command_cxx,     &tms_command_run,     &tms_command_hunt,
    &tms_command_confirm, &tms_command_replay,  &tms_command_report,  &tms_command_explain,
    &tms_command_merge,   &tms_command_diff,    &tms_command_history, &tms_command_record,
    &tms_command_check,   &tms_command_refine,  &tms_command_info,    &tms_command_convert,
    &tms_command_gen,     &tms_command_engines, &tms_command_doctor,  &tms_command_completion,
};

size_t tms_command_count(void)
{
    return sizeof(commands) / sizeof(commands[0]);
}

const struct tms_command *tms_command_at(size_t index)
{
    return index < tms_command_count() ? commands[index] : NULL;
}

const struct tms_command *tms_command_named(const char *name)
{
    for (size_t i = 0; i < tms_command_count(); i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}
