/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of program is to be watched, judging by its file: whether it contains the runtime, and
 * if not, whether the preload library can be loaded into it.
 */
#ifndef TMS_CLI_ELF_PROBE_H
#define TMS_CLI_ELF_PROBE_H

#include <limits.h>
#include <stdbool.h>

enum tms_binary {
    TMS_BINARY_WATCHED,    /* built with tmesis cc */
    TMS_BINARY_PLAIN,      /* of this machine, linked dynamically */
    TMS_BINARY_STATIC,     /* linked with -static: nothing can be loaded into it */
    TMS_BINARY_PRIVILEGED, /* set-user-ID and the like: the system refuses to load into it */
    TMS_BINARY_FOREIGN,    /* for another kind of machine */
    TMS_BINARY_OTHER_LIBC, /* linked with a C library that is not glibc */
    TMS_BINARY_SCRIPT,     /* run by an interpreter */
    TMS_BINARY_UNKNOWN,    /* not to be found or read */
};

/* More facts about the file. */
struct tms_binary_facts {
    bool symbols;       /* not stripped */
    bool lines;         /* debug information with source lines, here or in a file of its own */
    bool starts_others; /* it may: the programs that it starts can be watched */
};

/* The path of a program, found as a shell does: a path, or a word to be looked for on PATH. */
bool tms_binary_find(const char *name, char path[PATH_MAX]);

void tms_binary_look(const char *name, struct tms_binary_facts *facts);

/* `name` as a shell would take it: a path, or a word to be looked for on PATH. */
enum tms_binary tms_binary_kind(const char *name);

#endif
