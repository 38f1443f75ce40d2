/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmesis cc and tmesis c++: the compiler, with what makes a program watchable.
 *
 * Sources are compiled with -fsanitize=thread; programs are linked without it, and with our
 * runtime in the place of the compiler's. A step that only compiles takes the option as it is. In
 * a step that links, the driver must not see it: gcc hands it on to the compiler proper through
 * a specs file, clang by -Xclang, so compiling and linking in one go stays one command, and the
 * compiler keeps its ways with temporary and dependency files. The same holds for -flto: what is
 * compiled at link time then gets the option too.
 *
 * A shared library gets no runtime: it finds the one of the program. Its references are left
 * undefined, whatever the user says about that (--no-undefined).
 */
#include <stdio.h>
#include <string.h>

#include "cli/cc_step.h"
#include "cli/console.h"
#include "cli/options.h"
#include "cli/toolchain.h"

struct values {
    struct tms_common common;
    const char *inlined;
    const char *flags; /* NULL: compile */
    bool verbose;
};

#define AT(field) offsetof(struct values, field)

static const char *word_flags(size_t index);

static const struct tms_option options[] = {
    {.name = "tmesis-flags",
     .type = TMS_OPTION_CHOICE,
     .at = AT(flags),
     .word = word_flags,
     .value = "STEP",
     .help = "run nothing: print the flags that this step takes, one per line, for build systems "
             "that call the compiler themselves. compile: of a source; link: of a program; "
             "shared: of a shared library"},
    {.name = "tmesis-inline",
     .type = TMS_OPTION_CHOICE,
     .at = AT(inlined),
     .initial = "system",
     .word = tms_word_inline,
     .environment = true,
     .value = "WHAT",
     .help = "which functions may be inlined; an inlined function is no block of its own. none: no "
             "function; system: those of system headers (in C++ the program's own may be inlined "
             "too, but stay blocks); marked: also those declared inline or defined in a class; "
             "all: as the compiler sees fit"},
    {.name = "tmesis-verbose",
     .type = TMS_OPTION_FLAG,
     .at = AT(verbose),
     .environment = true,
     .help = "print the command that is run"},
    {0}};

struct job {
    const struct values *values;
    const struct tms_operands *given;
    struct tms_compiler compiler;
    struct tms_cc_step step;
    struct tms_runtime_files files;
    struct tms_words all;     /* the words as given, response files expanded */
    struct tms_words command; /* what is run */
};

static void add_given(struct job *job)
{
    /* Response files stay such, unless a word must go. */
    if (!job->step.stops && job->step.thread) {
        for (size_t i = 0; i < job->all.count; i++) {
            tms_cc_step_add_for_link(job->all.text[i], &job->command);
        }
    } else {
        for (size_t i = 0; i < job->given->count; i++) {
            tms_words_add(&job->command, job->given->text[i]);
        }
    }
    job->command.failed |= job->all.failed;
}

static void add_for_compiling(struct job *job)
{
    if (job->step.unwatched) {
        return;
    }
    if (job->step.stops) {
        tms_words_add(&job->command, "-fsanitize=thread");
    } else {
        tms_compiler_add_hidden(&job->compiler, &job->files, &job->command);
    }
    tms_compiler_add_options(&job->compiler, &job->files, job->values->inlined, &job->command);
}

static void add_words(struct job *job)
{
    const struct tms_cc_step *step = &job->step;
    bool program = !step->stops && !step->shared && !step->partial;

    /* gcc compiles objects made with -flto when it links. */
    if (step->sources || (!step->stops && !job->compiler.clang)) {
        add_for_compiling(job);
    }
    if (program) {
        tms_runtime_add(&job->files, &job->command);
    }
    add_given(job);
    if (program) {
        tms_runtime_add_needs(&job->command);
    } else if (!step->stops && step->shared) {
        tms_words_add(&job->command, "-Wl,--unresolved-symbols=ignore-all");
    }
}

/* What can't work is refused here, where it can be explained, and not by the linker. */
static int refuse(const struct job *job)
{
    const struct tms_cc_step *step = &job->step;

    if (step->foe != NULL) {
        return tms_bad("-fsanitize=%s can't be combined with tmesis, which itself uses "
                       "-fsanitize=thread: build one program for each",
                       step->foe);
    }
    if (step->fixed && !step->stops && !step->shared) {
        return tms_bad("-static can't be combined with tmesis, which intercepts functions of the "
                       "shared C library: link without it (-static-libgcc and -static-libstdc++ "
                       "are fine)");
    }
    return TMS_EXIT_OK;
}

/* A step that only compiles needs none of the files, unless clang compiles C++. */
static bool needs_files(const struct job *job)
{
    return !job->step.stops || (job->compiler.clang && job->compiler.language == TMS_LANGUAGE_CXX);
}

static int compile(struct job *job)
{
    bool ours = job->step.inputs && !job->step.asks;
    char why[2 * PATH_MAX];

    for (size_t i = 0; i < job->compiler.words.count; i++) {
        tms_words_add(&job->command, job->compiler.words.text[i]);
    }
    if (ours && refuse(job) != TMS_EXIT_OK) {
        return TMS_EXIT_BAD;
    }
    if (ours && needs_files(job) && !tms_runtime_find(&job->files, why, sizeof(why))) {
        return tms_bad("%s", why);
    }
    if (ours) {
        add_words(job);
    } else {
        add_given(job);
    }
    if (job->values->verbose) {
        tms_words_show(&job->command);
    }
    return tms_program_become(&job->command);
}

/* ---- flags instead of a command ------------------------------------------------------- */

/* Steps that flags can be asked for, as the words of a command line would describe them. */
static const struct {
    const char *word;
    struct tms_cc_step step;
} steps[] = {
    {"compile", {.inputs = true, .sources = true, .stops = true}},
    {"link", {.inputs = true}},
    {"shared", {.inputs = true, .shared = true}},
};

static const char *word_flags(size_t index)
{
    return index < sizeof(steps) / sizeof(steps[0]) ? steps[index].word : NULL;
}

static int print_flags(struct job *job)
{
    char why[2 * PATH_MAX];
    size_t row = 0;

    while (strcmp(steps[row].word, job->values->flags) != 0) {
        row++;
    }
    job->step = steps[row].step;
    if (needs_files(job) && !tms_runtime_find(&job->files, why, sizeof(why))) {
        return tms_bad("%s", why);
    }
    add_words(job);
    if (job->command.failed) {
        return tms_bad("out of memory");
    }
    for (size_t i = 0; i < job->command.count; i++) {
        puts(job->command.text[i]);
    }
    return TMS_EXIT_OK;
}

/* ---- the commands --------------------------------------------------------------------- */

static bool operands_fit(const struct values *values, const struct tms_operands *operands,
                         const char *name)
{
    if (values->flags != NULL && operands->count > 0) {
        tms_say("--tmesis-flags compiles nothing, so %s is one word too many", operands->text[0]);
    } else if (values->flags == NULL && operands->count == 0) {
        tms_say("%s needs ARG…; see tmesis %s --help", name, name);
    } else {
        return true;
    }
    return false;
}

static int run(const void *values, const struct tms_operands *operands, enum tms_language language)
{
    static const char *const called[] = {[TMS_LANGUAGE_C] = "cc", [TMS_LANGUAGE_CXX] = "c++"};
    struct job job = {.values = values, .given = operands};
    char why[PATH_MAX];
    int status = TMS_EXIT_BAD;

    if (!operands_fit(values, operands, called[language])) {
        return status;
    }
    tms_cc_step_read(&job.step, operands->text, operands->count, &job.all);
    if (tms_compiler_choose(&job.compiler, language, why, sizeof(why))) {
        status = job.values->flags != NULL ? print_flags(&job) : compile(&job);
    } else {
        tms_say("%s", why);
    }
    tms_words_free(&job.compiler.words);
    tms_words_free(&job.all);
    tms_words_free(&job.command);
    return status;
}

static int run_c(const void *values, const struct tms_operands *operands)
{
    return run(values, operands, TMS_LANGUAGE_C);
}

static int run_cxx(const void *values, const struct tms_operands *operands)
{
    return run(values, operands, TMS_LANGUAGE_CXX);
}

#define ABOUT(compilers, variable)                                                                 \
    "Compiles and links so that tmesis run and tmesis record can watch the program. Takes the "    \
    "compiler's arguments and passes on all that do not start with --tmesis-. The compiler "       \
    "is " compilers " unless " variable                                                            \
    " names another. Build systems that need one word can use "

const struct tms_command tms_command_cc = {
    .name = "cc",
    .group = TMS_GROUP_PROGRAM,
    .summary = "compile and link a C program for tmesis run",
    .usage = "ARG…",
    .about =
        ABOUT("gcc", "TMESIS_CC") "CC=tmesis-cc.\n\n"
                                  "Exit status: that of the compiler, or 2 if it was not called.",
    .options = options,
    .values_size = sizeof(struct values),
    .raw = true,
    .run = run_c,
};

const struct tms_command tms_command_cxx = {
    .name = "c++",
    .group = TMS_GROUP_PROGRAM,
    .summary = "the same for C++",
    .usage = "ARG…",
    .about = ABOUT(
        "g++",
        "TMESIS_CXX or TMESIS_CC") "CXX=tmesis-c++.\n\n"
                                   "Exit status: that of the compiler, or 2 if it was not called.",
    .options = options,
    .values_size = sizeof(struct values),
    .raw = true,
    .run = run_cxx,
};
