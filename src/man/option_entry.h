/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One option as an entry of the list in a manual page, in the language of scdoc(5): spelling, the
 * sentence of --help, hand-written text that says more, and what else the row of the table knows.
 */
#ifndef TMS_MAN_OPTION_ENTRY_H
#define TMS_MAN_OPTION_ENTRY_H

#include "cli/options.h"

/* Room for "--no-" and the name of an option. */
#define TMS_SPELLING_SIZE 64

/* "--engine", or "--no-blame" for a flag that is on. */
void tms_option_spelling(const struct tms_option *option, char *out, size_t size);

/* `extra` are lines that begin with a tab, as the page has them; may be empty. */
void tms_option_entry(FILE *out, const struct tms_command *command, const struct tms_option *option,
                      const char *extra);

#endif
