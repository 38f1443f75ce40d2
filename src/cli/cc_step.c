/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the command line of a compiler; see cc_step.h. The tables list the options that change the
 * step, and those whose value is the next word, which must not be taken for an input. All other
 * options are ignored here and passed on.
 */
#include "cli/cc_step.h"
#include "base/array_length.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESPONSE_DEPTH 16

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The word of the list that is the text, or NULL. */
static const char *one_of(const char *text, const char *const *list)
{
    while (*list != NULL && strcmp(text, *list) != 0) {
        list++;
    }
    return *list;
}

/* ---- response files ------------------------------------------------------------------- */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;

    if (file == NULL) {
        return NULL;
    }
    /* No file of words has a zero byte: this reads to the end. */
    if (getdelim(&text, &room, '\0', file) < 0) {
        free(text);
        text = feof(file) ? strdup("") : NULL;
    }
    fclose(file);
    return text;
}

/* Cuts the next word off, in place; blanks part words, quotes and backslashes hold them together.
 */
static char *next_word(char **at)
{
    char quote = '\0', *from = *at;

    while (isspace((unsigned char)*from)) {
        from++;
    }
    char *word = from, *to = from;
    if (*from == '\0') {
        return NULL;
    }
    for (; *from != '\0' && (quote != '\0' || !isspace((unsigned char)*from)); from++) {
        if (*from == '\\' && from[1] != '\0') {
            *to++ = *++from;
        } else if (quote == '\0' && (*from == '\'' || *from == '"')) {
            quote = *from;
        } else if (quote != '\0' && *from == quote) {
            quote = '\0';
        } else {
            *to++ = *from;
        }
    }
    *at = *from != '\0' ? from + 1 : from;
    *to = '\0';
    return word;
}

/* A file that can't be read is an ordinary word, as it is for the compilers. */
static void expand(const char *word, unsigned depth, struct tms_words *all)
{
    char *text = word[0] == '@' && depth < RESPONSE_DEPTH ? read_file(word + 1) : NULL;
    char *at = text, *inner;

    if (text == NULL) {
        tms_words_add(all, word);
        return;
    }
    while ((inner = next_word(&at)) != NULL) {
        expand(inner, depth + 1, all);
    }
    free(text);
}

/* ---- sanitizers ----------------------------------------------------------------------- */

#define SANITIZE    "-fsanitize="
#define NO_SANITIZE "-fno-sanitize="

/* They keep shadow memory of their own or take the place of the same functions. */
static const char *const foes[] = {"address",
                                   "kernel-address",
                                   "hwaddress",
                                   "leak",
                                   "kernel-hwaddress",
                                   "memory",
                                   "kernel-memory",
                                   "dataflow",
                                   "pointer-compare",
                                   "pointer-subtract",
                                   NULL};

static void switch_sanitizer(struct tms_cc_step *step, const char *name, bool on)
{
    bool all = !on && strcmp(name, "all") == 0;

    if (all || strcmp(name, "thread") == 0) {
        step->thread |= on;
        step->unwatched = !on;
    }
    if (on && one_of(name, foes) != NULL) {
        step->foe = one_of(name, foes);
    } else if (all || (!on && step->foe == one_of(name, foes))) {
        step->foe = NULL;
    }
}

static void read_sanitizers(struct tms_cc_step *step, const char *list, bool on)
{
    while (*list != '\0') {
        char name[64];
        size_t length = strcspn(list, ",");
        snprintf(name, sizeof(name), "%.*s", (int)length, list);
        switch_sanitizer(step, name, on);
        list += length + (list[length] == ',');
    }
}

void tms_cc_step_add_for_link(const char *word, struct tms_words *words)
{
    const char *list = word + strlen(SANITIZE);
    char *kept = NULL;
    size_t size = 0;

    if (!starts(word, SANITIZE)) {
        tms_words_add(words, word);
        return;
    }
    FILE *out = open_memstream(&kept, &size);
    if (out == NULL) {
        words->failed = true;
        return;
    }
    for (const char *between = SANITIZE; *list != '\0';) {
        size_t length = strcspn(list, ",");
        if (length != strlen("thread") || !starts(list, "thread")) {
            fprintf(out, "%s%.*s", between, (int)length, list);
            between = ",";
        }
        list += length + (list[length] == ',');
    }
    fclose(out);
    if (size > 0) {
        tms_words_add(words, kept);
    }
    free(kept);
}

/* ---- options -------------------------------------------------------------------------- */

#define AT(field) offsetof(struct tms_cc_step, field)

/* Words that change the step; one that ends in a star is a prefix. */
static const struct {
    const char *text;
    size_t at;
} switches[] = {
    {"-c", AT(stops)},          {"-S", AT(stops)},           {"-E", AT(stops)},
    {"-M", AT(stops)},          {"-MM", AT(stops)},          {"-fsyntax-only", AT(stops)},
    {"--compile", AT(stops)},   {"--assemble", AT(stops)},   {"--preprocess", AT(stops)},
    {"--analyze", AT(stops)},   {"--precompile", AT(stops)}, {"-shared", AT(shared)},
    {"--shared", AT(shared)},   {"-r", AT(partial)},         {"-static", AT(fixed)},
    {"--static", AT(fixed)},    {"-static-pie", AT(fixed)},  {"--static-pie", AT(fixed)},
    {"--version", AT(asks)},    {"-dumpversion", AT(asks)},  {"-dumpfullversion", AT(asks)},
    {"-dumpmachine", AT(asks)}, {"-dumpspecs", AT(asks)},    {"-print-*", AT(asks)},
    {"--print-*", AT(asks)},    {"--help*", AT(asks)},       {"--target-help", AT(asks)},
    {"-###", AT(asks)},
};

/* Their value is the next word. (When it is joined on, as in -Idir, the word is longer.) */
static const char *const takes_next[] = {"-o",
                                         "-I",
                                         "-L",
                                         "-D",
                                         "-U",
                                         "-include",
                                         "-imacros",
                                         "-isystem",
                                         "-iquote",
                                         "-idirafter",
                                         "-iprefix",
                                         "-isysroot",
                                         "-imultilib",
                                         "-iwithprefix",
                                         "-iwithprefixbefore",
                                         "-cxx-isystem",
                                         "-MF",
                                         "-MT",
                                         "-MQ",
                                         "-MJ",
                                         "-Xlinker",
                                         "-Xassembler",
                                         "-Xclang",
                                         "-Xanalyzer",
                                         "-Xpreprocessor",
                                         "-mllvm",
                                         "-z",
                                         "-u",
                                         "-T",
                                         "-e",
                                         "-A",
                                         "-B",
                                         "-G",
                                         "-h",
                                         "-R",
                                         "-arch",
                                         "-target",
                                         "--target",
                                         "--param",
                                         "--sysroot",
                                         "-aux-info",
                                         "-dumpbase",
                                         "-dumpdir",
                                         "-dumpbase-ext",
                                         "-wrapper",
                                         "-framework",
                                         "-rpath",
                                         "--serialize-diagnostics",
                                         NULL};

static void read_switch(struct tms_cc_step *step, const char *word)
{
    for (size_t i = 0; i < TMS_LENGTH(switches); i++) {
        const char *text = switches[i].text;
        size_t length = strcspn(text, "*");
        if (strncmp(word, text, length) == 0 && (text[length] == '*' || word[length] == '\0')) {
            *(bool *)((char *)step + switches[i].at) = true;
        }
    }
}

/* ---- inputs --------------------------------------------------------------------------- */

/* Nothing in these is compiled; other suffixes, and none, are left to the compiler. */
static bool is_object(const char *path)
{
    static const char *const suffixes[] = {".o", ".a", ".so", ".lo", ".s", ".ld", ".obj", NULL};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.'), *so = strstr(name, ".so.");

    if (strcmp(path, "-") == 0) {
        return false;
    }
    /* "libx.so.1.2" */
    if (so != NULL && so[strspn(so, ".so0123456789")] == '\0') {
        return true;
    }
    return dot == NULL || one_of(dot, suffixes) != NULL;
}

static bool is_header(const char *path)
{
    static const char *const suffixes[] = {".h",   ".hh",  ".H",   ".hp",  ".hxx",
                                           ".hpp", ".HPP", ".h++", ".tcc", NULL};
    const char *dot = strrchr(path, '.');

    return dot != NULL && one_of(dot, suffixes) != NULL;
}

/* `language` is the value of the last -x, NULL without one. */
static void read_input(struct tms_cc_step *step, const char *word, const char *language)
{
    bool by_name = language == NULL || strcmp(language, "none") == 0;

    step->inputs = true;
    if (by_name) {
        step->sources |= !is_object(word);
        step->stops |= is_header(word);
    } else {
        step->sources |= strcmp(language, "assembler") != 0;
        step->stops |= strstr(language, "-header") != NULL;
    }
}

void tms_cc_step_read(struct tms_cc_step *step, const char *const *words, size_t count,
                      struct tms_words *all)
{
    const char *language = NULL;

    for (size_t i = 0; i < count; i++) {
        expand(words[i], 0, all);
    }
    for (size_t i = 0; i < all->count; i++) {
        const char *word = all->text[i], *next = i + 1 < all->count ? all->text[i + 1] : "";
        if (word[0] != '-' || word[1] == '\0') {
            read_input(step, word, language);
        } else if (starts(word, "-x")) {
            language = word[2] != '\0' ? word + 2 : next;
            i += word[2] == '\0';
        } else if (starts(word, "-l")) {
            step->inputs = true;
            i += word[2] == '\0';
        } else if (starts(word, SANITIZE) || starts(word, NO_SANITIZE)) {
            read_sanitizers(step, strchr(word, '=') + 1, starts(word, SANITIZE));
        } else if (one_of(word, takes_next) != NULL) {
            i++;
        } else {
            read_switch(step, word);
        }
    }
}
