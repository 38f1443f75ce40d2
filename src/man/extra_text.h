/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-written text about options that says more than the sentence of --help. It is in the section
 * OPTIONS of a page, for its command alone, and in docs/man/options.scd for options that several
 * commands share. In both an entry is
 *
 *     *--store* (run, check)
 *         Lines that begin with a tab.
 *
 * where the list of commands is left out if the text is for all that have the option. Lines that
 * begin with "; " are comments.
 */
#ifndef TMS_MAN_EXTRA_TEXT_H
#define TMS_MAN_EXTRA_TEXT_H

#include "cli/options.h"

struct tms_extra_text {
    char *option;   /* "--store" */
    char *commands; /* "run, check"; NULL: all that have the option */
    char *text;
    size_t line; /* of the option */
};

struct tms_extra_texts {
    const char *path;
    struct tms_extra_text *entries;
    size_t count;
    size_t line;  /* the last one read */
    bool skipped; /* it was an empty one */
};

/* Takes in the next line of the file, with its line end; false after a sentence. */
bool tms_extra_line(struct tms_extra_texts *texts, const char *line);

/* Takes in a whole file; false after a sentence. */
bool tms_extra_file(struct tms_extra_texts *texts);

/*
 * Is every option one of `command`, or with NULL, of the commands that its entry names or of any?
 * False after a sentence.
 */
bool tms_extra_known(const struct tms_extra_texts *texts, const struct tms_command *command);

/* Writes what there is about the option of this command. */
void tms_extra_write(const struct tms_extra_texts *texts, const struct tms_command *command,
                     const struct tms_option *option, FILE *out);

void tms_extra_release(struct tms_extra_texts *texts);

#endif
