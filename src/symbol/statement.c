/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that allocate; see statement.h. */
#include "symbol/statement.h"

#include <ctype.h>
#include <string.h>

#define LONGEST 1000 /* bytes of a statement */

/* ---- words -------------------------------------------------------------------------------- */

static bool is_word(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

static bool is_blank(char byte)
{
    return isspace((unsigned char)byte);
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at)) {
        at++;
    }
    return at;
}

static const char *skip_word(const char *at, const char *end)
{
    while (at < end && is_word(*at)) {
        at++;
    }
    return at;
}

/* From an opening bracket to behind the one that closes it. */
static const char *skip_brackets(const char *at, const char *end)
{
    int depth = 0;

    for (; at < end; at++) {
        depth += *at == '(';
        depth -= *at == ')';
        if (depth <= 0) {
            return at + 1;
        }
    }
    return end;
}

static bool is_word_at(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);

    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0 &&
           (at + length == end || !is_word(at[length]));
}

/* The next place of a word from `at` on, NULL: none. */
static const char *find_word(const char *at, const char *end, const char *word)
{
    for (bool inside = false; at < end; at++) {
        if (!inside && is_word_at(at, end, word)) {
            return at;
        }
        inside = is_word(*at);
    }
    return NULL;
}

/* ---- where it begins and ends ------------------------------------------------------------- */

static bool is_border(char byte)
{
    return byte == ';' || byte == '{' || byte == '}';
}

static const char *find_start(const char *start, const char *at)
{
    const char *least = at - start > LONGEST ? at - LONGEST : start;

    while (at > least && !is_border(at[-1])) {
        at--;
    }
    return at;
}

static const char *find_end(const char *at, const char *end)
{
    const char *most = end - at > LONGEST ? at + LONGEST : end;

    while (at < most && !is_border(*at)) {
        at++;
    }
    return at;
}

static const char *find_call(const char *at, const char *end, const char *callee)
{
    static const char *const calls[] = {"new",           "malloc",   "calloc",        "realloc",
                                        "aligned_alloc", "memalign", "posix_memalign"};
    const char *found = callee != NULL ? find_word(at, end, callee) : NULL;

    for (size_t i = 0; found == NULL && i < sizeof(calls) / sizeof(calls[0]); i++) {
        found = find_word(at, end, calls[i]);
    }
    return found;
}

/* Of the statements that have a part in a line, the only one that allocates, or assigns at all. */
static bool choose(const char *start, const char *end, const char *line, const char *callee,
                   struct tms_words *chosen)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    const char *stop = newline != NULL ? newline : end;
    size_t calls = 0, others = 0;
    struct tms_words other = {0};

    for (const char *at = line; at < stop;) {
        const char *from = find_start(start, at), *to = find_end(at, end);
        struct tms_words words = {from, (size_t)(to - from)};
        if (find_call(from, to, callee) != NULL) {
            *chosen = words;
            calls++;
        } else if (memchr(from, '=', words.length) != NULL) {
            other = words;
            others++;
        }
        at = to + 1;
    }
    if (calls == 0 && others == 1) { /* a macro */
        *chosen = other;
        return true;
    }
    return calls == 1;
}

/* ---- what it says ------------------------------------------------------------------------- */

/* The last name of "struct bank::account<int>". */
static struct tms_words type_name(const char *at, const char *end)
{
    static const char *const tags[] = {"struct", "class", "union", "const", "typename"};
    struct tms_words name = {0};

    at = skip_blanks(at, end);
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        at = is_word_at(at, end, tags[i]) ? skip_blanks(skip_word(at, end), end) : at;
    }
    while (at < end && (is_word(*at) || *at == ':')) {
        const char *behind = skip_word(at, end);
        name = behind > at ? (struct tms_words){at, (size_t)(behind - at)} : name;
        at = behind > at ? behind : at + 1;
    }
    return name;
}

static void read_news(const char *at, const char *end, struct tms_statement *statement)
{
    while (statement->new_count < TMS_NEWS_MOST && (at = find_word(at, end, "new")) != NULL) {
        at = skip_blanks(at + strlen("new"), end);
        at = at < end && *at == '(' ? skip_brackets(at, end) : at;
        struct tms_words name = type_name(at, end);
        statement->news[statement->new_count] = name;
        statement->new_count += name.length > 0;
    }
}

static void read_sized(const char *at, const char *end, struct tms_statement *statement)
{
    const char *size = find_word(at, end, "sizeof");

    if (size == NULL || find_word(size + 1, end, "sizeof") != NULL) {
        return;
    }
    size = skip_blanks(size + strlen("sizeof"), end);
    if (size < end && *size == '(') {
        const char *close = skip_brackets(size, end) - 1;
        statement->sized = type_name(size + 1, close);
        const char *behind = statement->sized.length > 0
                                 ? statement->sized.text + statement->sized.length
                                 : size + 1;
        if (skip_blanks(behind, close) != close) { /* a pointer, an expression */
            statement->sized.length = 0;
        }
    }
}

/* The last assignment before `call`; it has no "==" or the like. */
static const char *find_assignment(const char *at, const char *call)
{
    const char *found = NULL;

    for (const char *from = at; at < call; at++) {
        bool alone = (at == from || memchr("=!<>+-*/%&|^", at[-1], 12) == NULL) &&
                     (at + 1 == call || at[1] != '=');
        if (*at == '=' && alone) {
            found = at;
        }
    }
    return found;
}

/* One step back over a part of "list->items[i].head". NULL: there is none. */
static const char *step_back(const char *start, const char *at)
{
    const char *from = at;
    int depth = 0;

    while (at > start && (depth > 0 || at[-1] == ']')) {
        at--;
        depth += *at == ']';
        depth -= *at == '[';
    }
    while (at > start && is_word(at[-1])) {
        at--;
    }
    return at < from && depth == 0 && is_word(*at) && !isdigit((unsigned char)*at) ? at : NULL;
}

static void read_target(const char *start, const char *assignment, struct tms_statement *statement)
{
    const char *end = assignment, *at;

    while (end > start && is_blank(end[-1])) {
        end--;
    }
    const char *first = NULL;
    for (at = end; at != NULL && (at = step_back(start, at)) != NULL;) {
        first = at;
        if (at - start >= 2 && at[-2] == '-' && at[-1] == '>') {
            at -= 2;
        } else if (at > start && at[-1] == '.') {
            at -= 1;
        } else {
            break;
        }
    }
    if (first == NULL || at == NULL) {
        return;
    }
    statement->target = (struct tms_words){first, (size_t)(end - first)};
    for (at = first; at > start && (is_blank(at[-1]) || at[-1] == '*'); at--) {
        statement->stars += at[-1] == '*';
    }
}

bool tms_statement_read(const char *start, const char *end, const char *line, const char *callee,
                        struct tms_statement *statement)
{
    struct tms_words words = {0};

    *statement = (struct tms_statement){0};
    if (!choose(start, end, line, callee, &words)) {
        return false;
    }
    const char *from = skip_blanks(words.text, words.text + words.length);
    const char *to = words.text + words.length;
    const char *call = find_call(from, to, callee);
    const char *assignment = find_assignment(from, call != NULL ? call : to);
    read_news(from, to, statement);
    read_sized(from, to, statement);
    if (assignment != NULL) {
        read_target(from, assignment, statement);
    }
    statement->returned = assignment == NULL && is_word_at(from, to, "return");
    return true;
}
