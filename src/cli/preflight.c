/* SPDX-License-Identifier: Apache-2.0 */
/* Programs looked at before they run; see preflight.h. */
#include "cli/preflight.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/elf_probe.h"
#include "cli/toolchain.h"

static bool is_executable(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* A number in the place of the program was meant for --perturb. */
static bool is_seed(const char *program, const struct tms_watching *watching)
{
    return watching->perturb.given && watching->perturb.value == NULL &&
           program[strspn(program, "0123456789")] == '\0';
}

bool tms_preflight_find(const char *program, const struct tms_watching *watching,
                        const char *option, const char *file, char path[PATH_MAX])
{
    bool word = strchr(program, '/') == NULL;

    if (tms_binary_find(program, path)) {
        return true;
    }
    snprintf(path, PATH_MAX, "%s", program);
    if (word && is_seed(program, watching)) {
        tms_say("there is no program \"%s\"; --perturb takes its number with \"=\": --perturb=%s",
                program, program);
    } else if (file != NULL && is_executable(file)) {
        tms_say("there is no program \"%s\", and %s took %s, which is one, for its FILE; write "
                "%s FILE %s",
                program, option, file, option, file);
    } else if (word && is_executable(program)) {
        tms_say("%s is not on PATH; for the one in this directory write ./%s", program, program);
    } else {
        return true;
    }
    return false;
}

bool tms_preflight_watchable(const char *program, bool quiet)
{
    static const char *const why[] = {
        [TMS_BINARY_PLAIN] = "",
        [TMS_BINARY_STATIC] = " and is linked statically",
        [TMS_BINARY_FOREIGN] = " and is not a program for x86-64",
        [TMS_BINARY_OTHER_LIBC] = " and does not use glibc",
    };
    enum tms_binary kind = tms_binary_kind(program);
    struct tms_binary_facts facts;

    if (kind == TMS_BINARY_WATCHED || kind == TMS_BINARY_SCRIPT || kind == TMS_BINARY_UNKNOWN ||
        kind == TMS_BINARY_PRIVILEGED) { /* which the start refuses */
        return true;
    }
    tms_binary_look(program, &facts);
    if (kind == TMS_BINARY_FOREIGN || !facts.starts_others) {
        tms_say("%s was not built with tmesis cc%s, so there is nothing to watch: build it with "
                "`tmesis cc` or `tmesis c++` instead of the compiler%s",
                program, why[kind],
                kind == TMS_BINARY_PLAIN
                    ? ", or check only its locks with tmesis run --engine sidetrack"
                    : "");
        return false;
    }
    if (!quiet) {
        tms_say("%s was not built with tmesis cc%s: it is not watched; programs that it starts "
                "are, if built with tmesis cc",
                program, why[kind]);
    }
    return true;
}

/* Why nothing can be loaded into a program, by its kind; NULL: it can. */
static const char *obstacle_of(enum tms_binary kind)
{
    static const char *const obstacles[TMS_BINARY_UNKNOWN + 1] = {
        [TMS_BINARY_STATIC] = "it is linked statically, so no library can be loaded into it",
        [TMS_BINARY_PRIVILEGED] = "it is set-user-ID, set-group-ID or has capabilities, and the "
                                  "system loads no foreign libraries into such programs",
        [TMS_BINARY_FOREIGN] = "it is not a program for x86-64",
        [TMS_BINARY_OTHER_LIBC] = "it uses a C library other than glibc, with which the library "
                                  "that would watch it can't be loaded",
    };

    return obstacles[kind];
}

static void remark_preload(const char *program, enum tms_binary kind)
{
    if (kind == TMS_BINARY_SCRIPT) {
        tms_say("%s is a script: the programs that it starts are watched, but only the locks and "
                "threads of those that were not built with tmesis cc, not their memory",
                program);
    } else {
        tms_say("%s was not built with tmesis cc: its locks and threads are watched, its memory "
                "is not",
                program);
    }
}

bool tms_preflight_preload(const char *program, bool quiet, char preload[PATH_MAX])
{
    enum tms_binary kind = tms_binary_kind(program);
    struct tms_runtime_files files;
    char why[512];

    preload[0] = '\0';
    if (kind == TMS_BINARY_WATCHED || kind == TMS_BINARY_UNKNOWN) {
        return true;
    }
    if (obstacle_of(kind) != NULL) {
        tms_say("%s was not built with tmesis cc, and %s; build it with `tmesis cc` or "
                "`tmesis c++` instead of the compiler",
                program, obstacle_of(kind));
        return false;
    }
    if (!tms_runtime_find(&files, why, sizeof(why))) {
        tms_say("%s", why);
        return false;
    }
    memcpy(preload, files.preload, PATH_MAX);
    if (!quiet) {
        remark_preload(program, kind);
    }
    return true;
}

void tms_preflight_remark(const char *program)
{
    struct tms_binary_facts facts;

    tms_binary_look(program, &facts);
    if (!facts.symbols) {
        tms_say("%s is stripped, so functions and variables are shown as addresses; link it "
                "without -s, and don't run strip on it",
                program);
    } else if (!facts.lines) {
        tms_say("%s has no debug information, so source lines are missing; compile it with -g",
                program);
    }
}
