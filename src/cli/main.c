/* SPDX-License-Identifier: Apache-2.0 */
/* The command `tmesis`: the global options, and the dispatch to commands. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cleanup.h"
#include "cli/console.h"
#include "cli/environment_variables.h"
#include "cli/options.h"
#include "cli/subprocess.h"
#include "tmesis/tmesis.h"

/* What may have been meant by a word in the place of a command. */
static const char *first_word(size_t index)
{
    static const char *const others[] = {"help", "--help", "--version", NULL};
    const struct tms_command *command = tms_command_at(index);

    return command != NULL ? command->name : others[index - tms_command_count()];
}

/* A file in the place of a command: a program to be watched, or else a trace. */
static bool say_what_file(const char *name)
{
    struct stat status;

    if (stat(name, &status) != 0 || !S_ISREG(status.st_mode)) {
        return false;
    }
    bool program = access(name, X_OK) == 0;
    tms_say("%s is a file, and a command comes first: tmesis %s %s%s", name,
            program ? "run" : "check", program && strchr(name, '/') == NULL ? "./" : "", name);
    return true;
}

static const struct tms_command *find_command(const char *name)
{
    const struct tms_command *command = tms_command_named(name);

    if (command != NULL || say_what_file(name)) {
        return command;
    }
    const char *near = tms_nearest(name, first_word);
    if (near != NULL) {
        tms_say("there is no command \"%s\"; did you mean %s?", name, near);
    } else {
        tms_say("there is no command \"%s\"; tmesis --help lists all commands", name);
    }
    return NULL;
}

static void help_group(FILE *out, enum tms_command_group group)
{
    static const char *const headings[] = {
#define X(name, heading) [TMS_GROUP_##name] = heading,
        TMS_COMMAND_GROUPS(X)
#undef X
    };

    const struct tms_command *command;

    fprintf(out, "\n%s\n", headings[group]);
    for (size_t i = 0; (command = tms_command_at(i)) != NULL; i++) {
        if (command->group == group) {
            fprintf(out, "  %-10s %s\n", command->name, command->summary);
        }
    }
}

static void help(FILE *out)
{
    fprintf(out, "Usage: tmesis COMMAND [OPTION…] [OPERAND…]\n\n");
    tms_console_wrap(out, 0,
                     "tmesis finds code that was meant to be atomic and was cut apart by another "
                     "thread.");
    for (int group = 0; group < TMS_GROUP_COUNT; group++) {
        help_group(out, group);
    }
    fprintf(out, "\nHelp\n"
                 "  tmesis COMMAND --help      what a command does, and its main options\n"
                 "  tmesis COMMAND --help=all  all its options\n"
                 "  tmesis --version           the version\n\n");
    tms_console_wrap(out, 0,
                     "Exit status: 0 no violation, 1 a violation was observed, 2 wrong usage or "
                     "bad input, 3 no violation but the verdict is incomplete.");
}

static int run_help(int count, char *const *words)
{
    if (count == 0) {
        help(stdout);
        return TMS_EXIT_OK;
    }
    if (count > 1) {
        return tms_bad("help takes one command, but %d words were given", count);
    }
    const struct tms_command *command = find_command(words[0]);
    if (command == NULL) {
        return TMS_EXIT_BAD;
    }
    tms_options_help(command, false, stdout);
    return TMS_EXIT_OK;
}

static int run_command(const struct tms_command *command, int count, char *const *words)
{
    struct tms_common *values = calloc(1, command->values_size);
    const char **operands = calloc((size_t)count + 1, sizeof(*operands));
    struct tms_operands given = {.text = operands};
    int status = command->bad != 0 ? command->bad : TMS_EXIT_BAD;

    if (values == NULL || operands == NULL) {
        tms_say("out of memory");
    } else if (tms_options_parse(command, count, words, values, operands, &given.count)) {
        if (values->help != NULL) {
            tms_options_help(command, strcmp(values->help, "all") == 0, stdout);
            status = TMS_EXIT_OK;
        } else {
            if (!command->raw && !values->quiet) { /* a build runs a raw one thousands of times */
                tms_variables_check();
            }
            status = command->run(values, &given);
        }
    }
    if (values != NULL) {
        tms_options_release(command, values);
    }
    free(operands);
    free(values);
    return status;
}

/* Words for another program are passed on, except a single --help or --help=all. */
static int run_named(const struct tms_command *command, int count, char *const *words)
{
    bool asks =
        count == 1 && (strcmp(words[0], "--help") == 0 || strcmp(words[0], "--help=all") == 0);

    if (command->raw && asks) {
        tms_options_help(command, true, stdout);
        return TMS_EXIT_OK;
    }
    return run_command(command, count, words);
}

/* The command that the program is called as, "tmesis-cc"; NULL: as itself. */
static const struct tms_command *called_as(const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash != NULL ? slash + 1 : program;
    const struct tms_command *command =
        strncmp(name, "tmesis-", 7) == 0 ? tms_command_named(name + 7) : NULL;

    return command != NULL && command->raw ? command : NULL;
}

static int run_global(const char *word, int count, char *const *words)
{
    if (strcmp(word, "--version") == 0) {
        printf("tmesis %s\n", tms_version());
        return TMS_EXIT_OK;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        return run_help(count, words);
    }
    return tms_bad("a command comes first, not the option %s; see tmesis --help", word);
}

int main(int argc, char **argv)
{
    const struct tms_command *command = called_as(argc > 0 ? argv[0] : "");
    int status;

    tms_descriptors_keep();
    tms_sigpipe_ignore();
    tms_cleanup_start();
    if (!tms_console_start()) {
        return tms_bad("out of memory");
    }
    if (argc < 2 && command == NULL) {
        help(stderr);
        return TMS_EXIT_BAD;
    }
    if (command != NULL) {
        status = run_command(command, argc - 1, argv + 1);
    } else if (argv[1][0] == '-') {
        status = run_global(argv[1], argc - 2, argv + 2);
    } else if (strcmp(argv[1], "help") == 0) {
        status = run_help(argc - 2, argv + 2);
    } else {
        command = find_command(argv[1]);
        status = command != NULL ? run_named(command, argc - 2, argv + 2) : TMS_EXIT_BAD;
    }
    int written = tms_console_flush();
    return written != TMS_EXIT_OK ? written : status;
}
