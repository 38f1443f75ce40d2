/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command line of gcc or clang asks for, as far as the wrapper must know: whether
 * something is compiled, whether it is linked and into what, and which sanitizers are wanted.
 */
#ifndef TMS_CLI_CC_STEP_H
#define TMS_CLI_CC_STEP_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/subprocess.h"

struct tms_cc_step {
    bool asks;       /* a question: --version, -print-file-name=… */
    bool stops;      /* before linking: -c, -S, -E, -M, -fsyntax-only, a header */
    bool shared;     /* a shared library comes out */
    bool partial;    /* -r: an object comes out */
    bool fixed;      /* -static: no shared library comes in */
    bool inputs;     /* something to work on is named */
    bool sources;    /* … and needs compiling */
    bool thread;     /* -fsanitize=thread is among the words */
    bool unwatched;  /* -fno-sanitize=thread comes after it */
    const char *foe; /* a sanitizer that does not go with us, or NULL */
};

/* Reads the words, response files (@FILE) too; `all` gets the words with those expanded. */
void tms_cc_step_read(struct tms_cc_step *step, const char *const *words, size_t count,
                      struct tms_words *all);

/* A word of a linking step as the compiler may see it: without the sanitizer `thread`. */
void tms_cc_step_add_for_link(const char *word, struct tms_words *words);

#endif
