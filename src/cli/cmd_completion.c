/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmesis completion: what a shell needs to complete commands, options and values, written from
 * the tables of the commands. Words after a PROGRAM are completed as the shell does without us.
 */
#include <string.h>

#include "base/array_length.h"
#include "cli/console.h"
#include "cli/option_table.h"
#include "cli/options.h"

struct values {
    struct tms_common common;
};

static bool is_file(const struct tms_option *option)
{
    return option->value != NULL && strstr(option->value, "FILE") != NULL;
}

static bool is_directory(const struct tms_option *option)
{
    return option->value != NULL && strcmp(option->value, "DIR") == 0;
}

static void write_words(const char *(*word)(size_t index))
{
    for (size_t i = 0; word(i) != NULL; i++) {
        printf("%s%s", i > 0 ? " " : "", word(i));
    }
}

/*
 * The first clause of what --help says. `special` are characters that get a backslash; the text
 * is in single quotes, so a quote in it ends them, adds itself and begins them again.
 */
static void write_summary(const char *text, const char *special)
{
    size_t length = strcspn(text, ";:.(");

    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'') {
            fputs("'\\''", stdout);
        } else {
            printf("%s%c", strchr(special, text[i]) != NULL ? "\\" : "", text[i]);
        }
    }
}

static const char *summary_of(const struct tms_option *option)
{
    return option->brief != NULL ? option->brief : option->help;
}

/* ---- bash ----------------------------------------------------------------------------- */

static void bash_options(const struct tms_command *command)
{
    const struct tms_option *option;

    printf("    %s) echo '", command->name);
    for (size_t i = 0; (option = tms_option_at(command, i)) != NULL; i++) {
        if (!tms_option_takes_value(option) || tms_option_may_be_bare(option)) {
            printf("--%s%s ", tms_option_negation(option), option->name);
        }
        if (tms_option_takes_value(option)) {
            printf("--%s= ", option->name);
        }
        if (option->letter != 0) {
            printf("-%c ", option->letter);
        }
    }
    puts("' ;;");
}

static void bash_values(const struct tms_command *command)
{
    const struct tms_option *option;

    for (size_t i = 0; (option = tms_option_at(command, i)) != NULL; i++) {
        if (option->word != NULL) {
            printf("    %s:--%s) echo '", command->name, option->name);
            write_words(option->word);
            puts("' ;;");
        }
    }
}

static void bash_first(const struct tms_command *command)
{
    if (command->first != NULL) {
        printf("    %s) echo '", command->name);
        write_words(command->first);
        puts("' ;;");
    }
}

/* All commands, and those that start a program. */
static void bash_lists(void)
{
    const struct tms_command *command;

    fputs("_tmesis_commands='", stdout);
    for (size_t i = 0; (command = tms_command_at(i)) != NULL; i++) {
        printf("%s ", command->name);
    }
    fputs("help --help --version'\n_tmesis_starting=' ", stdout);
    for (size_t i = 0; (command = tms_command_at(i)) != NULL; i++) {
        printf("%s%s", command->starts_program ? command->name : "",
               command->starts_program ? " " : "");
    }
    puts("'");
}

/* bash makes a word of each "=". */
static const char bash_rest[] =
    "_tmesis_next() { # OPTIONS WORD: is the word after WORD its value?\n"
    "    [[ $1 == *\" $2= \"* && $1 != *\" $2 \"* ]]\n"
    "}\n"
    "_tmesis_reply() { # WORDS CURRENT\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\")\n"
    "    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null\n"
    "}\n"
    "_tmesis() {\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}\n"
    "    local options option= words i at=0 first=1\n"
    "    COMPREPLY=()\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        _tmesis_reply \"$_tmesis_commands\" \"$current\"\n"
    "        return\n"
    "    fi\n"
    "    options=\" $(_tmesis_options \"$command\") \"\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n"
    "        --) return ;;\n"
    "        -*)\n"
    "            if [[ ${COMP_WORDS[i + 1]} == = ]]; then\n"
    "                option=${COMP_WORDS[i]}\n"
    "                ((at = i += 2))\n"
    "            elif _tmesis_next \"$options\" \"${COMP_WORDS[i]}\"; then\n"
    "                option=${COMP_WORDS[i]}\n"
    "                ((at = i += 1))\n"
    "            fi ;;\n"
    "        *)\n"
    "            [[ $_tmesis_starting != *\" $command \"* ]] || return 0\n"
    "            first= ;;\n"
    "        esac\n"
    "    done\n"
    "    ((at >= COMP_CWORD)) || option=\n"
    "    [[ $current != = ]] || current=\n"
    "    if [[ -n $option ]]; then\n"
    "        words=$(_tmesis_values \"$command\" \"$option\")\n"
    "        if [[ $current == *,* ]]; then\n"
    "            words=${words//' '/\" ${current%,*},\"}\n"
    "            words=${current%,*},$words\n"
    "        fi\n"
    "        [[ -z $words ]] || _tmesis_reply \"$words\" \"$current\"\n"
    "    elif [[ $current == -* ]]; then\n"
    "        _tmesis_reply \"$options\" \"$current\"\n"
    "    elif [[ -n $first && -n $(_tmesis_first \"$command\") ]]; then\n"
    "        _tmesis_reply \"$(_tmesis_first \"$command\")\" \"$current\"\n"
    "    elif [[ $_tmesis_starting == *\" $command \"* && $current != */* ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -c -- \"$current\")\n"
    "    fi\n"
    "}\n"
    "complete -o bashdefault -o default -F _tmesis tmesis\n";

static void write_bash(void)
{
    const struct tms_command *command;

    puts("_tmesis_options() {\n    case $1 in");
    for (size_t i = 0; (command = tms_command_at(i)) != NULL; i++) {
        bash_options(command);
    }
    puts("    esac\n}\n_tmesis_values() {\n    case $1:$2 in");
    for (size_t i = 0; (command = tms_command_at(i)) != NULL; i++) {
        bash_values(command);
    }
    puts("    esac\n}\n_tmesis_first() {\n    case $1 in");
    for (size_t i = 0; (command = tms_command_at(i)) != NULL; i++) {
        bash_first(command);
    }
    puts("    esac\n}");
    bash_lists();
    fputs(bash_rest, stdout);
}

/* ---- zsh ------------------------------------------------------------------------------ */

/* What comes after the description: the value's name and what it may be. */
static void zsh_value(const struct tms_option *option)
{
    printf(":%s%s:", tms_option_may_be_bare(option) ? ":" : "", option->name);
    if (option->type == TMS_OPTION_LIST) {
        fputs("_values -s , value ", stdout);
        write_words(option->word);
    } else if (option->word != NULL) {
        putchar('(');
        write_words(option->word);
        putchar(')');
    } else if (is_file(option)) {
        fputs("_files", stdout);
    } else {
        fputs(is_directory(option) ? "_files -/" : " ", stdout);
    }
}

static void zsh_option(const struct tms_option *option)
{
    bool repeated = option->type == TMS_OPTION_ORDERED;
    const char *value = tms_option_may_be_bare(option)   ? "=-"
                        : tms_option_takes_value(option) ? "="
                                                         : "";

    printf("        '%s--%s%s%s[", repeated ? "*" : "", tms_option_negation(option), option->name,
           value);
    write_summary(summary_of(option), "[]\\");
    putchar(']');
    if (tms_option_takes_value(option)) {
        zsh_value(option);
    }
    puts("' \\");
    if (option->letter != 0) {
        printf("        '-%c[", option->letter);
        write_summary(summary_of(option), "[]\\");
        putchar(']');
        if (tms_option_takes_value(option)) {
            zsh_value(option);
        }
        puts("' \\");
    }
}

static void zsh_operands(const struct tms_command *command)
{
    if (command->first != NULL) {
        fputs("        '1:word:(", stdout);
        write_words(command->first);
        fputs(")'", stdout);
    }
    puts(command->starts_program ? "        '1:program:_command_names -e' '*::argument:_normal'"
                                 : "        '*:file:_files'");
}

static void zsh_command(const struct tms_command *command)
{
    const struct tms_option *option;

    printf("    %s)\n        _arguments %s\\\n", command->name,
           command->starts_program ? "-A '-*' " : "");
    for (size_t i = 0; (option = tms_option_at(command, i)) != NULL; i++) {
        zsh_option(option);
    }
    zsh_operands(command);
    puts("        ;;");
}

static void write_zsh(void)
{
    const struct tms_command *command;

    puts("#compdef tmesis\n_tmesis() {\n    local -a commands=(");
    for (size_t i = 0; (command = tms_command_at(i)) != NULL; i++) {
        printf("        '%s:", command->name);
        write_summary(command->summary, ":\\");
        puts("'");
    }
    puts("    )\n"
         "    if ((CURRENT == 2)); then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    local command=$words[2]\n"
         "    shift words\n"
         "    ((CURRENT--))\n"
         "    case $command in");
    for (size_t i = 0; (command = tms_command_at(i)) != NULL; i++) {
        zsh_command(command);
    }
    puts("    esac\n}\n"
         "# Loaded from a directory of fpath this file is the function; it may also be sourced.\n"
         "if [[ $funcstack[1] == _tmesis ]]; then\n"
         "    _tmesis \"$@\"\n"
         "else\n"
         "    compdef _tmesis tmesis\n"
         "fi");
}

/* ---- fish ----------------------------------------------------------------------------- */

static void fish_option(const struct tms_command *command, const struct tms_option *option)
{
    printf("complete -c tmesis -n '__tmesis_in %s' -l %s%s", command->name,
           tms_option_negation(option), option->name);
    if (option->letter != 0) {
        printf(" -s %c", option->letter);
    }
    if (tms_option_takes_value(option) && !tms_option_may_be_bare(option)) {
        fputs(is_file(option) || is_directory(option) ? " -r -F" : " -x", stdout);
    }
    if (option->word != NULL) {
        fputs(" -a '", stdout);
        write_words(option->word);
        putchar('\'');
    }
    fputs(" -d '", stdout);
    write_summary(summary_of(option), "");
    puts("'");
}

static void fish_command(const struct tms_command *command)
{
    const struct tms_option *option;

    printf("complete -c tmesis -n '__tmesis_first' -f -a %s -d '", command->name);
    write_summary(command->summary, "");
    puts("'");
    for (size_t i = 0; (option = tms_option_at(command, i)) != NULL; i++) {
        fish_option(command, option);
    }
    if (command->first != NULL) {
        printf("complete -c tmesis -n '__tmesis_in %s; and __tmesis_operand' -f -a '",
               command->name);
        write_words(command->first);
        puts("'");
    }
    if (command->starts_program) {
        printf("complete -c tmesis -n '__tmesis_in %s' -x -a '(__fish_complete_subcommand "
               "--fcs-skip=2)'\n",
               command->name);
    }
}

static void write_fish(void)
{
    const struct tms_command *command;

    puts("function __tmesis_first\n"
         "    test (count (commandline -opc)) -eq 1\n"
         "end\n"
         "function __tmesis_in\n"
         "    set -l words (commandline -opc)\n"
         "    test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
         "end\n"
         "function __tmesis_operand\n"
         "    test (count (string match -v -- '-*' (commandline -opc))) -eq 2\n"
         "end");
    for (size_t i = 0; (command = tms_command_at(i)) != NULL; i++) {
        fish_command(command);
    }
}

/* ---- the command ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*write)(void);
} shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};

static const char *shell_name(size_t index)
{
    return index < TMS_LENGTH(shells) ? shells[index].name : NULL;
}

static int run(const void *values, const struct tms_operands *operands)
{
    (void)values;
    for (size_t i = 0; i < TMS_LENGTH(shells); i++) {
        if (strcmp(shells[i].name, operands->text[0]) == 0) {
            shells[i].write();
            return TMS_EXIT_OK;
        }
    }
    return tms_bad("there is completion for bash, zsh and fish, not for %s", operands->text[0]);
}

static const struct tms_option options[] = {{0}};

const struct tms_command tms_command_completion = {
    .name = "completion",
    .group = TMS_GROUP_OTHER,
    .summary = "print a completion script for a shell",
    .usage = "SHELL",
    .about = "Prints a script that completes commands, options and their values in bash, zsh or "
             "fish. Installed, shells load it by themselves. For a build directory:\n\n"
             "bash: source <(tmesis completion bash)\n"
             "zsh:  source <(tmesis completion zsh), after compinit\n"
             "fish: tmesis completion fish | source",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .operands_most = 1,
    .first = shell_name,
    .run = run,
};
