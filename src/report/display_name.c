/* SPDX-License-Identifier: Apache-2.0 */
/* Display names; see display_name.h. Everything works on copies of a limited size. */
#include "report/display_name.h"

#include <string.h>

#include <xxhash.h>

#include "base/utf8.h"

#define NAME_MOST 2048 /* bytes of a name that is simplified; longer ones are only cut */

/* ---- passes over a copy --------------------------------------------------------------- */

static void cut_out(char *at, size_t length)
{
    memmove(at, at + length, strlen(at + length) + 1);
}

static void replace_all(char *name, const char *from, const char *to)
{
    size_t length = strlen(from), shorter = strlen(to);

    for (char *at = name; (at = strstr(at, from)) != NULL; at += shorter) {
        memcpy(at, to, shorter);
        cut_out(at + shorter, length - shorter);
    }
}

/* Is the bracket at `at` one of template arguments, not of an operator or an arrow? */
static bool is_bracket(const char *name, const char *at)
{
    static const char word[] = "operator";
    const char *start = at;

    if (*at == '>' && at > name && at[-1] == '-') {
        return false;
    }
    while (start > name && strchr("<>=-", start[-1]) != NULL) {
        start--;
    }
    size_t before = (size_t)(start - name);
    return before < sizeof(word) - 1 ||
           memcmp(start - (sizeof(word) - 1), word, sizeof(word) - 1) != 0;
}

/* After the bracket that closes the one at `open`; NULL if none does. */
static char *skip_brackets(char *name, char *open, char left, char right)
{
    size_t depth = 0;

    for (char *at = open; *at != '\0'; at++) {
        if (*at == left && is_bracket(name, at)) {
            depth++;
        } else if (*at == right && is_bracket(name, at) && --depth == 0) {
            return at + 1;
        }
    }
    return NULL;
}

/* Template arguments that are there only because the library has them by default. */
static void drop_defaults(char *name)
{
    static const char *const defaults[] = {", std::allocator<", ", std::char_traits<",
                                           ", std::less<",      ", std::hash<",
                                           ", std::equal_to<",  ", std::default_delete<"};

    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        for (char *at; (at = strstr(name, defaults[i])) != NULL;) {
            char *end = skip_brackets(name, at + strlen(defaults[i]) - 1, '<', '>');
            if (end == NULL) {
                return;
            }
            cut_out(at, (size_t)(end - at));
        }
    }
}

static void simplify(char *name)
{
    replace_all(name, "std::__cxx11::", "std::");
    replace_all(name, "std::__1::", "std::");
    drop_defaults(name);
    replace_all(name, " >", ">");
    replace_all(name, "std::basic_string<char>", "std::string");
    replace_all(name, "std::basic_string_view<char>", "std::string_view");
    replace_all(name, "std::basic_ostream<char>", "std::ostream");
    replace_all(name, "std::basic_istream<char>", "std::istream");
}

/* The last bracket on the outermost level that still has more than an ellipsis in it. */
static char *last_brackets(char *name, char left, char right, char **end)
{
    char *found = NULL;

    for (char *at = name; (at = strchr(at, left)) != NULL;) {
        char *after = is_bracket(name, at) ? skip_brackets(name, at, left, right) : NULL;
        if (after != NULL && after - at > (ptrdiff_t)strlen("<…>")) {
            found = at;
            *end = after;
        }
        at = after != NULL ? after : at + 1;
    }
    return found;
}

static void elide(char *name, char left, char right, size_t most)
{
    char *at, *end;

    while (tms_utf8_width(name) > most && (at = last_brackets(name, left, right, &end)) != NULL) {
        memcpy(at + 1, "…", strlen("…"));
        cut_out(at + 1 + strlen("…"), (size_t)(end - 1 - at - 1) - strlen("…"));
    }
}

/* ---- writing -------------------------------------------------------------------------- */

static const char *skip_characters(const char *text, size_t count)
{
    for (; count > 0 && *text != '\0'; count--) {
        size_t length = tms_utf8_length(text);
        text += length != 0 ? length : 1;
    }
    return text;
}

/* The characters of [text, end). */
static size_t write_part(FILE *out, const char *text, const char *end)
{
    char part[NAME_MOST];
    size_t written = 0;

    while (text < end) {
        size_t length = (size_t)(end - text);
        length = length < sizeof(part) ? length : sizeof(part) - 1;
        while (text + length < end && ((unsigned char)text[length] & 0xc0) == 0x80) {
            length--; /* not within a character */
        }
        memcpy(part, text, length);
        part[length] = '\0';
        written += tms_utf8_write(out, part, SIZE_MAX);
        text += length != 0 ? length : 1;
    }
    return written;
}

/* Both ends of a text, with an ellipsis between them. */
static size_t write_ends(FILE *out, const char *text, size_t most)
{
    size_t width = tms_utf8_width(text);

    if (width <= most) {
        return tms_utf8_write(out, text, most);
    }
    size_t tail = (most - 1) / 2, head = most - 1 - tail;
    head = write_part(out, text, skip_characters(text, head));
    fputs("…", out);
    return head + 1 + tms_utf8_write(out, skip_characters(text, width - tail), SIZE_MAX);
}

size_t tms_display_name(FILE *out, const char *name, size_t most)
{
    char copy[NAME_MOST];
    size_t length = strlen(name);

    if (length >= sizeof(copy) || (strchr(name, '<') == NULL && length <= most)) {
        return write_ends(out, name, most);
    }
    memcpy(copy, name, length + 1);
    if (strchr(copy, '<') != NULL) {
        simplify(copy);
        elide(copy, '<', '>', most);
    }
    elide(copy, '(', ')', most);
    return write_ends(out, copy, most);
}

/* ---- paths ---------------------------------------------------------------------------- */

/* Bytes of `path` that the directory and the slash after it take; 0 if it is not in there. */
static size_t inside(const char *path, size_t length, const char *directory)
{
    size_t size = directory != NULL ? strlen(directory) : 0;

    while (size > 1 && directory[size - 1] == '/') {
        size--;
    }
    if (size == 0 || size >= length || memcmp(path, directory, size) != 0) {
        return 0;
    }
    if (directory[size - 1] == '/') {
        return size;
    }
    return path[size] == '/' && size + 1 < length ? size + 1 : 0;
}

/* Bytes of the directories that both have from the root on, the slash included; *up is how many
   directories are left of `directory`. */
static size_t common_directories(const char *path, const char *directory, size_t *up)
{
    size_t common = 0, i = 0;

    while (path[i] == directory[i] && path[i] != '\0') {
        i++;
        common = path[i - 1] == '/' ? i : common;
    }
    *up = directory[common] != '\0';
    for (const char *rest = directory + common; *rest != '\0'; rest++) {
        *up += *rest == '/';
    }
    return common;
}

static size_t write_end(FILE *out, const char *text, size_t length, size_t most, size_t before)
{
    char part[NAME_MOST];

    length = length < sizeof(part) ? length : sizeof(part) - 1;
    memcpy(part, text, length);
    part[length] = '\0';
    size_t width = tms_utf8_width(part);
    if (before + width <= most) {
        return tms_utf8_write(out, part, SIZE_MAX);
    }
    size_t room = most > before + 1 ? most - before - 1 : 1;
    fputs("…", out);
    return 1 + tms_utf8_write(out, skip_characters(part, width > room ? width - room : 0), room);
}

size_t tms_display_path(FILE *out, const char *path, size_t length, const char *prefix,
                        const char *directory, size_t most)
{
    size_t skip = inside(path, length, prefix), up = 0, written = 0;

    if (skip == 0) {
        skip = inside(path, length, directory);
    }
    if (skip == 0 && length > 0 && *path == '/' && directory != NULL && *directory == '/') {
        skip = common_directories(path, directory, &up);
        if (skip <= 1 || skip >= length || 3 * up >= skip || 3 * up >= most) {
            skip = up = 0;
        }
    }
    for (; up > 0; up--, written += 3) {
        fputs("../", out);
    }
    return written + write_end(out, path + skip, length - skip, most, written);
}

const char *tms_path_base(const char *path, size_t *length)
{
    size_t start = *length;

    while (start > 0 && path[start - 1] != '/') {
        start--;
    }
    *length -= start;
    return path + start;
}

/* ---- functions ------------------------------------------------------------------------ */

static bool ends_clone(const char *suffix)
{
    static const char *const suffixes[] = {".constprop", ".isra",     ".part",
                                           ".cold",      ".lto_priv", " [clone"};

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (strncmp(suffix, suffixes[i], strlen(suffixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

uint64_t tms_function_key(const char *label)
{
    char function[NAME_MOST];
    size_t depth = 0, length = 0;

    for (const char *at = label; *at != '\0' && length < sizeof(function); at++) {
        if (depth == 0 && ends_clone(at)) {
            break;
        }
        bool bracket = (*at == '<' || *at == '>') && is_bracket(label, at);
        if (bracket && *at == '<') {
            depth++;
        } else if (bracket && depth > 0) {
            depth--;
        } else if (depth == 0) {
            function[length++] = *at;
        }
    }
    return XXH3_64bits(function, length);
}
