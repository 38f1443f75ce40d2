/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables; see environment_variables.h. */
#include "cli/environment_variables.h"

#include <string.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/option_table.h"

#define PREFIX     "TMESIS_"
#define RUNTIME    "RT_" /* between the command and the program that it watches */
#define NAMES_MOST 64

/* Without the prefix, which would make all of them look alike. */
static char names[NAMES_MOST][TMS_OPTION_NAME_SIZE];
static size_t name_count;

static const char *name_at(size_t index)
{
    return index < name_count ? names[index] : NULL;
}

static void add_name(const char *name)
{
    for (size_t i = 0; i < name_count; i++) {
        if (strcmp(names[i], name) == 0) {
            return;
        }
    }
    if (name_count < NAMES_MOST) {
        snprintf(names[name_count++], sizeof(names[0]), "%s", name);
    }
}

static void gather(void)
{
    const struct tms_command *command;
    const struct tms_option *option;

    add_name("CC");
    add_name("CXX");
    for (size_t i = 0; (command = tms_command_at(i)) != NULL; i++) {
        for (size_t j = 0; (option = tms_option_at(command, j)) != NULL; j++) {
            char variable[TMS_OPTION_NAME_SIZE];
            if (option->environment) {
                tms_option_variable(option, variable, sizeof(variable));
                add_name(variable + strlen(PREFIX));
            }
        }
    }
}

static void check(const char *name)
{
    const char *near = tms_nearest(name, name_at);

    for (size_t i = 0; i < name_count; i++) {
        if (strcmp(names[i], name) == 0) {
            return;
        }
    }
    if (near != NULL) {
        tms_say(PREFIX "%s in the environment is not a variable of tmesis; did you mean " PREFIX
                       "%s?",
                name, near);
    }
}

void tms_variables_check(void)
{
    extern char **environ;
    size_t length = strlen(PREFIX);

    for (char **at = environ; at != NULL && *at != NULL; at++) {
        const char *name = *at + length;
        if (strncmp(*at, PREFIX, length) != 0 || strncmp(name, RUNTIME, strlen(RUNTIME)) == 0) {
            continue;
        }
        if (name_count == 0) {
            gather();
        }
        char plain[TMS_OPTION_NAME_SIZE];
        snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, "="), name);
        check(plain);
    }
}
