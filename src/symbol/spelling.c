/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions; see spelling.h. */
#include "symbol/spelling.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A name being rewritten in place, as it only gets shorter. */
struct name {
    char *text;
    size_t length;
};

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* ---- what compilers add ------------------------------------------------------------------- */

/* The length without suffixes such as ".constprop.0" and ".cold". */
static size_t plain_length(const char *name)
{
    static const char *const suffixes[] = {".constprop", ".isra", ".part", ".cold", ".lto_priv"};

    for (const char *at = strchr(name, '.'); at != NULL; at = strchr(at + 1, '.')) {
        for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
            char after = starts(at, suffixes[i]) ? at[strlen(suffixes[i])] : 'x';
            if (after == '\0' || after == '.') {
                return (size_t)(at - name);
            }
        }
    }
    return strlen(name);
}

static void strip_clones(char *name)
{
    char *clone = strstr(name, " [clone ");

    if (clone != NULL) {
        *clone = '\0';
    }
    name[plain_length(name)] = '\0';
}

static void replace_all(char *name, const char *from, const char *to)
{
    size_t length = strlen(from), other = strlen(to);

    for (char *at = name; (at = strstr(at, from)) != NULL; at += other) {
        memcpy(at, to, other);
        memmove(at + other, at + length, strlen(at + length) + 1);
    }
}

/* Longer ones first; none gets longer. */
static void shorten_library(char *name)
{
    static const char *const spellings[][2] = {
        {"std::__cxx11::", "std::"},
        {"std::__1::", "std::"},
        {"std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"},
        {"std::basic_string<char, std::char_traits<char>, std::allocator<char>>", "std::string"},
        {"std::basic_string_view<char, std::char_traits<char> >", "std::string_view"},
        {"std::basic_string_view<char, std::char_traits<char>>", "std::string_view"},
        {"[abi:cxx11]", ""},
    };

    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        replace_all(name, spellings[i][0], spellings[i][1]);
    }
}

/* ---- lambdas ------------------------------------------------------------------------------ */

/* "{lambda(int)#1}::operator()" becomes "{lambda#1}". */
static void shorten_lambdas(char *name)
{
    static const char call[] = "::operator()";

    for (char *at = name; (at = strstr(at, "{lambda(")) != NULL; at++) {
        char *number = strchr(at, '#'), *inner = strstr(at + 1, "{lambda(");
        if (number == NULL || (inner != NULL && inner < number)) {
            continue;
        }
        memmove(at + strlen("{lambda"), number, strlen(number) + 1);
        char *close = strchr(at, '}');
        if (close != NULL && starts(close + 1, call)) {
            memmove(close + 1, close + sizeof(call), strlen(close + sizeof(call)) + 1);
        }
    }
}

/* clang's "main::$_0::operator()() const" is the same: "main::{lambda#1}() const". */
static char *name_lambdas(const char *name)
{
    static const char call[] = "::operator()";
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL) {
        return NULL;
    }
    while (*name != '\0') {
        if (starts(name, "$_") && isdigit((unsigned char)name[2])) {
            char *end;
            fprintf(out, "{lambda#%lu}", strtoul(name + 2, &end, 10) + 1);
            name = starts(end, call) ? end + strlen(call) : end;
        } else {
            fputc(*name++, out);
        }
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

const char *tms_spelling_function(struct tms_symbol_texts *texts, const char *name)
{
    char *text = name_lambdas(name);

    if (text == NULL) {
        return NULL;
    }
    strip_clones(text);
    shorten_library(text);
    shorten_lambdas(text);
    const char *kept = tms_symbol_texts_keep(texts, text);
    free(text);
    return kept;
}

/* ---- briefly ------------------------------------------------------------------------------ */

/* The length of a bracketed text, both brackets included. */
static size_t bracketed(const char *at)
{
    int depth = 0;
    size_t length = 0;

    do {
        depth += at[length] == '<' || at[length] == '(';
        depth -= (at[length] == '>' && (length == 0 || at[length - 1] != '-')) || at[length] == ')';
        length++;
    } while (depth > 0 && at[length] != '\0');
    return length;
}

static bool ends_with_operator(const struct name *name)
{
    static const char word[] = "operator";
    size_t length = sizeof(word) - 1;

    return name->length >= length && memcmp(name->text + name->length - length, word, length) == 0;
}

/* After "operator": its sign, such as "<<" or "()", without the parameter list. */
static size_t sign_length(const char *at)
{
    return starts(at, "()") ? 2 : strspn(at, "<>=-+*/%&|^!~,[]");
}

/* How much of the source at `at` is left out of the brief name, 0: nothing. */
static size_t left_out(const char *at)
{
    static const char unnamed[] = "(anonymous namespace)::";

    return starts(at, unnamed)        ? strlen(unnamed)
           : *at == '<' || *at == '(' ? bracketed(at)
           : starts(at, "{lambda")    ? strcspn(at, "}") + (strchr(at, '}') != NULL)
                                      : 0;
}

static void append(struct name *name, const char *text, size_t length)
{
    memcpy(name->text + name->length, text, length);
    name->length += length;
}

/* Cuts off trailing qualifiers such as const. */
static void cut_qualifiers(char *name)
{
    static const char *const suffixes[] = {" const", " volatile", " &&", " &"};

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t length = strlen(name), more = strlen(suffixes[i]);
        if (length > more && strcmp(name + length - more, suffixes[i]) == 0) {
            name[length - more] = '\0';
        }
    }
}

/* Removes the return type; "operator new" contains a blank itself. */
static void cut_before(char *name)
{
    char *start = strstr(name, "operator");

    start = start != NULL ? start : name + strlen(name);
    while (start > name && start[-1] != ' ') {
        start--;
    }
    memmove(name, start, strlen(start) + 1);
}

/* Is it the function that runs static constructors? Its name depends on the compiler. */
static bool is_initializer(const char *name)
{
    return starts(name, "__static_initialization_and_destruction_") ||
           starts(name, "_GLOBAL__sub_I_") || starts(name, "__cxx_global_var_init");
}

const char *tms_spelling_brief(struct tms_symbol_texts *texts, const char *full)
{
    struct name name = {.text = malloc(strlen(full) + 1)};
    const char *kept = NULL;

    if (name.text == NULL) {
        return NULL;
    }
    for (const char *at = full; *at != '\0';) {
        size_t sign = ends_with_operator(&name) ? sign_length(at) : 0, out = left_out(at);
        if (sign > 0) {
            append(&name, at, sign);
            at += sign;
        } else if (out > 0) {
            append(&name, "lambda", *at == '{' ? strlen("lambda") : 0);
            at += out;
        } else {
            append(&name, at++, 1);
        }
    }
    name.text[name.length] = '\0';
    cut_qualifiers(name.text);
    cut_before(name.text);
    if (is_initializer(name.text)) {
        free(name.text);
        return tms_symbol_texts_keep(texts, "static-initializer");
    }
    for (char *at = name.text; (at = strchr(at, '#')) != NULL;) {
        *at = '_';
    }
    kept = name.text[0] != '\0' ? tms_symbol_texts_keep(texts, name.text) : NULL;
    free(name.text);
    return kept;
}

const char *tms_spelling_variable(struct tms_symbol_texts *texts, const char *name)
{
    static const char unnamed[] = "(anonymous namespace)::", local[] = ")::";
    char *text = name != NULL ? strdup(name) : NULL, *at;

    if (text == NULL) {
        return NULL;
    }
    replace_all(text, unnamed, "");
    shorten_library(text);
    while ((at = strstr(text, local)) != NULL) {
        memmove(text, at + strlen(local), strlen(at + strlen(local)) + 1);
    }
    const char *kept = tms_symbol_texts_keep(texts, text);
    free(text);
    return kept;
}

/* ---- words of a name ---------------------------------------------------------------------- */

static bool is_lock_word(const char *word, size_t length)
{
    static const char *const words[] = {"lock",   "unlock", "trylock", "rdlock",  "wrlock",
                                        "mutex",  "mtx",    "acquire", "release", "guard",
                                        "rwlock", "spin",   "spinlock"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0) {
            return true;
        }
    }
    return false;
}

bool tms_spelling_locks(const char *name)
{
    size_t end = strcspn(name, "(<");

    for (size_t at = 0; at < end;) {
        size_t from = at;
        while (at < end && isalpha((unsigned char)name[at]) &&
               (at == from || !isupper((unsigned char)name[at]) ||
                isupper((unsigned char)name[at - 1]))) {
            at++;
        }
        if (is_lock_word(name + from, at - from)) {
            return true;
        }
        at += at == from || !isalpha((unsigned char)name[at]);
    }
    return false;
}
