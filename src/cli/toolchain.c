/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers and the files of the runtime; see toolchain.h. */
#include "cli/toolchain.h"
#include "base/array_length.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the runtime ---------------------------------------------------------------------- */

static bool has_runtime(struct tms_runtime_files *files, const char *directory)
{
    bool good = true;

#define X(name, field)                                                                             \
    good &= (size_t)snprintf(files->field, PATH_MAX, "%s/%s", directory, name) < PATH_MAX &&       \
            access(files->field, R_OK) == 0;
    TMS_RUNTIME_FILES(X)
#undef X
    return good;
}

bool tms_runtime_find(struct tms_runtime_files *files, char *why, size_t size)
{
    /* From the directory of the program; the build says where the installed one is. */
    static const char *const places[] = {"runtime", TMS_RUNTIME_DIRECTORY};
    char self[PATH_MAX], directory[2 * PATH_MAX];

    if (!tms_program_self(self, sizeof(self))) {
        snprintf(why, size, "can't find this program's directory: /proc/self/exe is not readable");
        return false;
    }
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < TMS_LENGTH(places); i++) {
        bool absolute = places[i][0] == '/';
        snprintf(directory, sizeof(directory), "%s%s%s", absolute ? "" : self, absolute ? "" : "/",
                 places[i]);
        if (has_runtime(files, directory)) {
            return true;
        }
    }
    snprintf(why, size, "the runtime is neither in %s/runtime nor in %s; build or install it again",
             self, directory);
    return false;
}

/* ---- compilers ------------------------------------------------------------------------ */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* What CC may hold too: a program and options for it, unless it is one path with blanks. */
static void split(struct tms_words *words, const char *text)
{
    if (tms_program_exists(text)) {
        tms_words_add(words, text);
        return;
    }
    while (*(text += strspn(text, " \t")) != '\0') {
        size_t length = strcspn(text, " \t");
        tms_words_add_part(words, text, length);
        text += length;
    }
}

/* The names of compilers in file names, for C and for C++. */
static const struct {
    const char *c, *cxx;
} names[] = {{"clang", "clang++"}, {"gcc", "g++"}, {"cc", "c++"}};

/* The word that is the compiler: others may come before it (ccache), or be options (-m32). */
static char **compiler_word(const struct tms_words *words)
{
    size_t at = words->count - 1;

    while (at > 0 && words->text[at][0] == '-') {
        at--;
    }
    return &words->text[at];
}

/* "/opt/gcc-12" becomes "/opt/g++-12"; false if it is no name we know. */
static bool derive_cxx(const struct tms_words *words)
{
    char **word = compiler_word(words);

    for (size_t i = 0; i < TMS_LENGTH(names); i++) {
        const char *start = *word, *found = strstr(last_part(start), names[i].c);
        char *derived = NULL;
        if (found != NULL && asprintf(&derived, "%.*s%s%s", (int)(found - start), start,
                                      names[i].cxx, found + strlen(names[i].c)) > 0) {
            free(*word);
            *word = derived;
            return true;
        }
    }
    return false;
}

/* By its name if that is known, otherwise by its --version. */
static bool is_clang(const struct tms_words *words)
{
    const char *name = last_part(*compiler_word(words));
    struct tms_words question = {0};
    char said[1024];

    if (strstr(name, "clang") != NULL) {
        return true;
    }
    if (strstr(name, "gcc") != NULL || strstr(name, "g++") != NULL) {
        return false;
    }
    for (size_t i = 0; i < words->count; i++) {
        tms_words_add(&question, words->text[i]);
    }
    tms_words_add(&question, "--version");
    bool clang = tms_program_ask(&question, said, sizeof(said)) == 0 && strstr(said, "clang");
    tms_words_free(&question);
    return clang;
}

/* The first of those that every system calls so. */
static void choose_present(struct tms_words *words, enum tms_language language)
{
    static const char *const usual[][3] = {
        [TMS_LANGUAGE_C] = {"gcc", "cc", "clang"}, [TMS_LANGUAGE_CXX] = {"g++", "c++", "clang++"}};

    for (size_t i = 0; words->count == 0 && i < TMS_LENGTH(usual[language]); i++) {
        if (tms_program_exists(usual[language][i])) {
            tms_words_add(words, usual[language][i]);
        }
    }
}

/* What the environment names; `variable` becomes the one that did. False: not usable. */
static bool choose_named(struct tms_words *words, enum tms_language language, const char **variable)
{
    const char *c = getenv("TMESIS_CC"), *cxx = getenv("TMESIS_CXX");
    bool derive = language == TMS_LANGUAGE_CXX && (cxx == NULL || *cxx == '\0');
    const char *text = language == TMS_LANGUAGE_C || derive ? c : cxx;

    *variable = text == c ? "TMESIS_CC" : "TMESIS_CXX";
    if (text != NULL) {
        split(words, text);
    }
    return words->count == 0 || !derive || derive_cxx(words);
}

bool tms_compiler_choose(struct tms_compiler *compiler, enum tms_language language, char *why,
                         size_t size)
{
    static const char *const spoken[] = {[TMS_LANGUAGE_C] = "C", [TMS_LANGUAGE_CXX] = "C++"};
    struct tms_words *words = &compiler->words;
    const char *variable = NULL;
    bool named = choose_named(words, language, &variable);

    *why = '\0';
    if (!named) {
        snprintf(why, size,
                 "there is no C++ compiler known for TMESIS_CC=%s; name it in TMESIS_CXX",
                 getenv("TMESIS_CC"));
        return false;
    }
    choose_present(words, language);
    const char *program = words->count > 0 ? words->text[0] : "";
    if (words->count == 0) {
        bool c = language == TMS_LANGUAGE_C;
        snprintf(why, size, "there is no %s compiler; install %s or clang, or name one in %s",
                 spoken[language], c ? "gcc" : "g++", c ? "TMESIS_CC" : "TMESIS_CXX");
    } else if (strncmp(last_part(program), "tmesis", 6) == 0) {
        snprintf(why, size, "%s is %s, but must name the real compiler: gcc, clang …", variable,
                 program);
    } else if (!tms_program_exists(program)) {
        snprintf(why, size, "there is no compiler %s, which %s names", program, variable);
    }
    compiler->language = language;
    compiler->clang = *why == '\0' && is_clang(words);
    return *why == '\0';
}

/* ---- options -------------------------------------------------------------------------- */

static void add_all(struct tms_words *words, const char *const *options)
{
    for (; *options != NULL; options++) {
        tms_words_add(words, *options);
    }
}

/*
 * Inlined functions have no entry. gcc also makes one function of two that are alike, and copies
 * or parts of functions, which then go by other names.
 */
#define NAMES_OF_GCC "-fno-ipa-icf", "-fno-ipa-cp", "-fno-ipa-sra", "-fno-partial-inlining"

/*
 * Hooks that are added before inlining and name their function, in place of those that are added
 * after it. Functions of system headers have none: the last word is part of every path of
 * libstdc++.
 */
#define HOOKS_OF_GCC                                                                               \
    "-finstrument-functions",                                                                      \
        "-finstrument-functions-exclude-file-list=/usr/include,/usr/lib,include/c++", "--param",   \
        "tsan-instrument-func-entry-exit=0"
#define HOOKS_OF_CLANG                                                                             \
    "-finstrument-functions", "-mllvm", "-tsan-instrument-func-entry-exit=0", "-Xclang",           \
        "-include", "-Xclang", LIBSTDCXX
#define LIBSTDCXX "libstdcxx.h" /* replaced by the path of that file */

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})
#define NONE_GCC     OPTIONS("-fno-inline", NAMES_OF_GCC)
#define NONE_CLANG   OPTIONS("-fno-inline")
#define MARKED_GCC                                                                                 \
    OPTIONS("-fno-inline-functions", "-fno-inline-small-functions",                                \
            "-fno-inline-functions-called-once", NAMES_OF_GCC)
#define MARKED_CLANG OPTIONS("-finline-hint-functions")

/* In C hooks cost more than calls, and headers of the system define next to nothing. */
static const struct {
    const char *word;
    const char *const *gcc[2], *const *clang[2]; /* by enum tms_language */
} inlining[] = {
    {"none", {NONE_GCC, NONE_GCC}, {NONE_CLANG, NONE_CLANG}},
    {"system", {NONE_GCC, OPTIONS(HOOKS_OF_GCC)}, {NONE_CLANG, OPTIONS(HOOKS_OF_CLANG)}},
    {"marked", {MARKED_GCC, MARKED_GCC}, {MARKED_CLANG, MARKED_CLANG}},
    {"all", {OPTIONS(), OPTIONS()}, {OPTIONS(), OPTIONS()}},
};

const char *tms_word_inline(size_t index)
{
    return index < TMS_LENGTH(inlining) ? inlining[index].word : NULL;
}

/* gcc before 11 can't leave its own hooks out. */
static bool has_hooks(const struct tms_compiler *compiler)
{
    struct tms_words question = {0};
    char said[64] = "";

    if (compiler->clang || compiler->language == TMS_LANGUAGE_C) {
        return true;
    }
    for (size_t i = 0; i < compiler->words.count; i++) {
        tms_words_add(&question, compiler->words.text[i]);
    }
    tms_words_add(&question, "-dumpversion");
    bool known = tms_program_ask(&question, said, sizeof(said)) == 0;
    tms_words_free(&question);
    return known && strtol(said, NULL, 10) >= 11;
}

static size_t row_of(const char *inlined)
{
    size_t i = 0;

    while (strcmp(inlining[i].word, inlined) != 0) {
        i++;
        assert(i < TMS_LENGTH(inlining));
    }
    return i;
}

void tms_compiler_add_options(const struct tms_compiler *compiler,
                              const struct tms_runtime_files *files, const char *inlined,
                              struct tms_words *words)
{
    bool possible = strcmp(inlined, "system") != 0 || has_hooks(compiler);
    size_t row = row_of(possible ? inlined : "none");
    const char *const *options =
        (compiler->clang ? inlining[row].clang : inlining[row].gcc)[compiler->language];

    if (!compiler->clang) {
        /* gcc warns of fences, which its own runtime does not know of; ours does. */
        tms_words_add(words, "-Wno-tsan");
    }
    for (; *options != NULL; options++) {
        bool file = strcmp(*options, LIBSTDCXX) == 0;
        tms_words_add(words, file ? files->libstdcxx : *options);
    }
}

void tms_compiler_add_hidden(const struct tms_compiler *compiler,
                             const struct tms_runtime_files *files, struct tms_words *words)
{
    if (compiler->clang) {
        add_all(words, (const char *const[]){"-Xclang", "-fsanitize=thread", NULL});
    } else {
        char option[PATH_MAX + 16];
        snprintf(option, sizeof(option), "-specs=%s", files->specs);
        tms_words_add(words, option);
    }
}

/* -Xlinker and not -Wl: a path may have commas; nor as a plain word, which -x would reach. */
void tms_runtime_add(const struct tms_runtime_files *files, struct tms_words *words)
{
    char list[PATH_MAX + 32];
    const char *const linked[] = {"--whole-archive", files->archive, "--no-whole-archive", list};

    snprintf(list, sizeof(list), "--dynamic-list=%s", files->exports);
    for (size_t i = 0; i < TMS_LENGTH(linked); i++) {
        tms_words_add(words, "-Xlinker");
        tms_words_add(words, linked[i]);
    }
}

void tms_runtime_add_needs(struct tms_words *words)
{
    add_all(words, (const char *const[]){"-lpthread", "-ldl", NULL});
}
