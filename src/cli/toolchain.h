/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs are built with: the compiler that `tmesis cc` calls, the flags that it gets, and
 * the files of the runtime. The wrapper (cmd_cc.c) and the doctor use them.
 */
#ifndef TMS_CLI_TOOLCHAIN_H
#define TMS_CLI_TOOLCHAIN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/subprocess.h"

/* X(name of the file, field) */
#define TMS_RUNTIME_FILES(X)                                                                       \
    X("libtmesis-rt.a", archive)                                                                   \
    X("exports.list", exports)                                                                     \
    X("gcc.specs", specs)                                                                          \
    X("libstdcxx.h", libstdcxx)                                                                    \
    X("libtmesis-preload.so", preload)

struct tms_runtime_files {
#define X(name, field) char field[PATH_MAX];
    TMS_RUNTIME_FILES(X)
#undef X
};

/*
 * Finds the runtime: beside the program, as in a build directory, or where it was installed.
 * False after a sentence into `why`.
 */
bool tms_runtime_find(struct tms_runtime_files *files, char *why, size_t size);

enum tms_language { TMS_LANGUAGE_C, TMS_LANGUAGE_CXX };

struct tms_compiler {
    struct tms_words words;     /* "gcc", or "ccache" and "gcc" */
    enum tms_language language; /* that the command is for */
    bool clang;                 /* takes the options of clang, otherwise those of gcc */
};

/* From the environment, or what there is. False after a sentence into `why`; to be freed. */
bool tms_compiler_choose(struct tms_compiler *compiler, enum tms_language language, char *why,
                         size_t size);

/* Which functions keep an entry of their own: the words of --tmesis-inline. */
const char *tms_word_inline(size_t index);

/* The options for compiling besides -fsanitize=thread; `inlined` is a word of the above. */
void tms_compiler_add_options(const struct tms_compiler *compiler,
                              const struct tms_runtime_files *files, const char *inlined,
                              struct tms_words *words);

/* -fsanitize=thread for the compiler proper, kept from the linker: for one step that does both. */
void tms_compiler_add_hidden(const struct tms_compiler *compiler,
                             const struct tms_runtime_files *files, struct tms_words *words);

/* The runtime, before everything else that is linked, and its own libraries, after it. */
void tms_runtime_add(const struct tms_runtime_files *files, struct tms_words *words);
void tms_runtime_add_needs(struct tms_words *words);

#endif
