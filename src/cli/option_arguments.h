/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options as words of a command line again, for a command that starts another. */
#ifndef TMS_CLI_OPTION_ARGUMENTS_H
#define TMS_CLI_OPTION_ARGUMENTS_H

#include "cli/options.h"
#include "cli/subprocess.h"

/*
 * Adds "--name=value" for each row of the table whose value is not its default; those in `except`,
 * a list that ends with NULL, are left out. The options of a common field keep their order.
 */
void tms_option_words(const struct tms_option *options, const void *values,
                      const char *const *except, struct tms_words *words);

#endif
