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

/* Skips from an opening bracket to one past the matching one. */
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

/* Braces around statements, unlike those around initial values: `new point{1, 2};`. */
static bool is_border(const char *start, const char *at, const char *end)
{
    if (*at == '{') {
        const char *before = at;
        while (before > start && before[-1] == ' ') {
            before--;
        }
        bool near = before == at && before > start && (is_word(at[-1]) || at[-1] == '>');
        return !near && (before == start || memchr("=,(", before[-1], 3) == NULL);
    }
    if (*at == '}') {
        return at + 1 == end || memchr(";,)", at[1], 3) == NULL;
    }
    return *at == ';';
}

static const char *find_start(const struct tms_source_code *code, const char *at)
{
    const char *least = at - code->start > LONGEST ? at - LONGEST : code->start;

    while (at > least && !is_border(code->start, at - 1, code->end)) {
        at--;
    }
    return at;
}

static const char *find_end(const struct tms_source_code *code, const char *at)
{
    const char *most = code->end - at > LONGEST ? at + LONGEST : code->end;

    while (at < most && !is_border(code->start, at, code->end)) {
        at++;
    }
    return at;
}

static const char *find_call(const char *at, const char *end, const char *callee)
{
    static const char *const calls[] = {"new",           "malloc",   "calloc",        "realloc",
                                        "aligned_alloc", "memalign", "posix_memalign"};
    const char *found = callee != NULL ? find_word(at, end, callee) : NULL;

    for (size_t i = 0; callee == NULL && found == NULL && i < sizeof(calls) / sizeof(calls[0]);
         i++) {
        found = find_word(at, end, calls[i]);
    }
    return found;
}

static struct tms_words statement_at(const struct tms_source_code *code, const char *at)
{
    const char *from = find_start(code, at), *to = find_end(code, at);

    return (struct tms_words){from, (size_t)(to - from)};
}

/* Chooses the only statement with a part in the line that allocates or, failing that, assigns. */
static bool choose_by_line(const struct tms_statement_place *place, const char *stop,
                           struct tms_words *chosen)
{
    size_t calls = 0, others = 0;
    struct tms_words other = {0};

    for (const char *at = place->code.line; at < stop;) {
        struct tms_words words = statement_at(&place->code, at);
        const char *to = words.text + words.length;
        if (find_call(words.text, to, place->callee) != NULL) {
            *chosen = words;
            calls++;
        } else if (memchr(words.text, '=', words.length) != NULL) {
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

static bool choose(const struct tms_statement_place *place, struct tms_words *chosen)
{
    const struct tms_source_code *code = &place->code;
    const char *newline = memchr(code->line, '\n', (size_t)(code->end - code->line));
    const char *stop = newline != NULL ? newline : code->end;

    if (place->column > 0 && place->column <= (size_t)(stop - code->line)) {
        *chosen = statement_at(code, code->line + place->column - 1);
        return true;
    }
    return choose_by_line(place, stop, chosen);
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
        const char *after = skip_word(at, end);
        name = after > at ? (struct tms_words){at, (size_t)(after - at)} : name;
        at = after > at ? after : at + 1;
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
        const char *after = statement->sized.length > 0
                                ? statement->sized.text + statement->sized.length
                                : size + 1;
        if (skip_blanks(after, close) != close) { /* a pointer, an expression */
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

bool tms_statement_read(const struct tms_statement_place *place, struct tms_statement *statement)
{
    struct tms_words words = {0};

    *statement = (struct tms_statement){0};
    if (!choose(place, &words)) {
        return false;
    }
    const char *to = words.text + words.length, *from = skip_blanks(words.text, to);
    const char *call = find_call(from, to, place->callee);
    const char *assignment = find_assignment(from, call != NULL ? call : to);
    read_news(from, to, statement);
    read_sized(from, to, statement);
    if (assignment != NULL) {
        read_target(from, assignment, statement);
    }
    statement->returned = assignment == NULL && is_word_at(from, to, "return");
    return true;
}
