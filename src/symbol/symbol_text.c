/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, names, paths and source lines; see symbol_text.h. */
#include "symbol/symbol_text.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define DEMANGLER       "libstdc++.so.6"
#define SOURCE_SIZE     (16u << 20) /* a larger file is no source */
#define SOURCE_LINE     160         /* bytes shown of a line */
#define SOURCES_AT_ONCE 64

struct tms_source_file {
    char *path;
    char *content; /* NULL: can't be read */
    char *code;    /* the same without comments; NULL: not asked for yet */
    size_t length;
};

void tms_symbol_texts_open(struct tms_symbol_texts *texts)
{
    *texts = (struct tms_symbol_texts){.directory = getcwd(NULL, 0)};
    texts->demangler = dlopen(DEMANGLER, RTLD_LAZY | RTLD_LOCAL);
    if (texts->demangler != NULL) {
        *(void **)&texts->demangle = dlsym(texts->demangler, "__cxa_demangle");
    }
}

static void drop_sources(struct tms_symbol_texts *texts)
{
    for (size_t i = 0; i < texts->source_count; i++) {
        free(texts->sources[i].path);
        free(texts->sources[i].content);
        free(texts->sources[i].code);
    }
    texts->source_count = 0;
}

void tms_symbol_texts_close(struct tms_symbol_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        free(texts->texts[i]);
    }
    drop_sources(texts);
    free(texts->sources);
    free(texts->texts);
    free(texts->directory);
    if (texts->demangler != NULL) {
        dlclose(texts->demangler);
    }
}

/* Takes the block over; NULL, with the block freed, if out of memory. */
static void *own(struct tms_symbol_texts *texts, void *text)
{
    if (!TMS_RESERVE(NULL, &texts->texts, &texts->capacity, texts->count + 1, 64)) {
        free(text);
        return NULL;
    }
    if (text != NULL) {
        texts->texts[texts->count++] = text;
    }
    return text;
}

const char *tms_symbol_texts_keep(struct tms_symbol_texts *texts, const char *text)
{
    return text != NULL ? own(texts, strdup(text)) : NULL;
}

void *tms_symbol_texts_room(struct tms_symbol_texts *texts, size_t bytes)
{
    return own(texts, calloc(1, bytes));
}

const char *tms_symbol_texts_demangle(struct tms_symbol_texts *texts, const char *name)
{
    int status = -1;
    char *plain = NULL;

    if (texts->demangle != NULL && strncmp(name, "_Z", 2) == 0) {
        plain = texts->demangle(name, NULL, NULL, &status);
    }
    return plain != NULL ? own(texts, plain) : tms_symbol_texts_keep(texts, name);
}

/* ---- paths ------------------------------------------------------------------------------ */

/* The part of `path` below the directory, or `path` itself. */
static const char *below(const char *path, const char *directory)
{
    size_t length = directory != NULL ? strlen(directory) : 0;

    if (length > 1 && strncmp(path, directory, length) == 0 && path[length] == '/') {
        return path + length + 1;
    }
    return path;
}

/* Takes "./", doubled slashes and, if wanted, "x/../" out, in place. */
static void tidy(char *path, bool parents)
{
    char *to = path;

    for (const char *from = path; *from != '\0';) {
        bool start = to == path || to[-1] == '/';
        if (start && from[0] == '.' && from[1] == '/') {
            from += 2;
        } else if (start && to != path && from[0] == '/') {
            from++;
        } else if (parents && start && to - path > 1 && strncmp(from, "../", 3) == 0 &&
                   (to - path < 3 || strncmp(to - 3, "../", 3) != 0)) {
            for (to--; to > path && to[-1] != '/'; to--) {
            }
            from += 3;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

static bool is_same_file(const char *path, const char *other)
{
    struct stat x, y;

    return stat(path, &x) == 0 && stat(other, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* If a directory is a symbolic link, ".." after it leads elsewhere, so the result is checked. */
static const char *tidied(struct tms_symbol_texts *texts, const char *path)
{
    char plain[PATH_MAX], shorter[PATH_MAX];

    snprintf(plain, sizeof(plain), "%s", path);
    tidy(plain, false);
    memcpy(shorter, plain, sizeof(shorter));
    if (plain[0] == '/' && strstr(plain, "/../") != NULL) {
        tidy(shorter, true);
    }
    bool same = strcmp(plain, shorter) == 0 || is_same_file(plain, shorter);
    return tms_symbol_texts_keep(texts, same ? shorter : plain);
}

const char *tms_symbol_texts_path(struct tms_symbol_texts *texts, const char *path,
                                  const char *compiled_in)
{
    const char *tidy_path = strlen(path) < PATH_MAX ? tidied(texts, path) : path;

    if (tidy_path == NULL) {
        return NULL;
    }
    const char *here = below(tidy_path, texts->directory), *there = below(tidy_path, compiled_in);
    return tms_symbol_texts_keep(texts, here != tidy_path ? here : there);
}

/* ---- source lines ----------------------------------------------------------------------- */

static void read_file(struct tms_source_file *file)
{
    struct stat status;
    FILE *in = stat(file->path, &status) == 0 && S_ISREG(status.st_mode) &&
                       (size_t)status.st_size <= SOURCE_SIZE
                   ? fopen(file->path, "re")
                   : NULL;

    if (in == NULL) {
        return;
    }
    file->content = malloc((size_t)status.st_size + 1);
    if (file->content != NULL) {
        file->length = fread(file->content, 1, (size_t)status.st_size, in);
    }
    fclose(in);
}

static struct tms_source_file *find_source(struct tms_symbol_texts *texts, const char *path)
{
    for (size_t i = 0; i < texts->source_count; i++) {
        if (strcmp(texts->sources[i].path, path) == 0) {
            return &texts->sources[i];
        }
    }
    if (texts->sources == NULL) {
        texts->sources = calloc(SOURCES_AT_ONCE, sizeof(*texts->sources));
    } else if (texts->source_count == SOURCES_AT_ONCE) {
        drop_sources(texts);
    }
    struct tms_source_file file = {.path = strdup(path)};
    if (texts->sources == NULL || file.path == NULL) {
        free(file.path);
        return NULL;
    }
    read_file(&file);
    texts->sources[texts->source_count] = file;
    return &texts->sources[texts->source_count++];
}

static const char *keep_line(struct tms_symbol_texts *texts, const char *at, size_t length)
{
    while (length > 0 && ((unsigned char)at[length - 1] <= ' ')) {
        length--;
    }
    while (length > 0 && (unsigned char)*at <= ' ') {
        at++;
        length--;
    }
    length = length < SOURCE_LINE ? length : SOURCE_LINE;
    char *line = length > 0 ? strndup(at, length) : NULL;
    for (char *byte = line; byte != NULL && *byte != '\0'; byte++) {
        *byte = (unsigned char)*byte < ' ' || *byte == 0x7f ? ' ' : *byte;
    }
    return own(texts, line);
}

/* Where a line starts, NULL: the file has fewer. */
static const char *find_line(const char *at, const char *end, unsigned line)
{
    while (line > 1 && at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next != NULL ? next + 1 : end;
        line--;
    }
    return line == 1 && at < end ? at : NULL;
}

const char *tms_symbol_texts_full_path(struct tms_symbol_texts *texts, const char *path,
                                       const char *compiled_in)
{
    char full[PATH_MAX];
    bool relative = path[0] != '/' && compiled_in != NULL;
    int length = relative ? snprintf(full, sizeof(full), "%s/%s", compiled_in, path) : 0;

    return tms_symbol_texts_keep(texts, relative && length < PATH_MAX ? full : path);
}

const char *tms_symbol_texts_source(struct tms_symbol_texts *texts, const char *path, unsigned line)
{
    const struct tms_source_file *file = find_source(texts, path);

    if (file == NULL || file->content == NULL) {
        return NULL;
    }
    const char *end = file->content + file->length, *at = find_line(file->content, end, line);
    if (at == NULL) {
        return NULL;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return keep_line(texts, at, (size_t)((stop != NULL ? stop : end) - at));
}

/* ---- code --------------------------------------------------------------------------------- */

/* The end of the comment, string or directive that begins here; `at` itself if it is code. */
static char *skip_other(char *at, const char *end, bool line_start)
{
    char *from = at;

    if (end - at >= 2 && at[0] == '/' && at[1] == '*') {
        for (at += 2; at < end && !(at[-1] == '*' && at[0] == '/' && at - from > 2); at++) {
        }
        return at < end ? at + 1 : at;
    }
    if ((end - at >= 2 && at[0] == '/' && at[1] == '/') || (line_start && *at == '#')) {
        while (at < end && (*at != '\n' || at[-1] == '\\')) {
            at++;
        }
    } else if (*at == '"' || (*at == '\'' && (end - at < 3 || at[1] == '\\' || at[2] == '\''))) {
        for (at++; at < end && *at != *from && *at != '\n'; at++) {
            at += *at == '\\' && end - at > 1;
        }
        return at < end ? at + 1 : at;
    }
    return at;
}

static void blank_other(char *at, const char *end)
{
    bool line_start = true;

    while (at < end) {
        char *after = skip_other(at, end, line_start);
        for (; at < after; at++) {
            *at = *at == '\n' ? '\n' : ' ';
        }
        if (at < end) {
            line_start = *at == '\n' || (line_start && (*at == ' ' || *at == '\t'));
            at++;
        }
    }
}

bool tms_symbol_texts_code(struct tms_symbol_texts *texts, const char *path, unsigned line,
                           struct tms_source_code *code)
{
    struct tms_source_file *file = find_source(texts, path);

    if (file == NULL || file->content == NULL) {
        return false;
    }
    if (file->code == NULL) {
        file->code = malloc(file->length + 1);
        if (file->code == NULL) {
            return false;
        }
        memcpy(file->code, file->content, file->length);
        blank_other(file->code, file->code + file->length);
    }
    code->start = file->code;
    code->end = file->code + file->length;
    code->line = find_line(code->start, code->end, line);
    return code->line != NULL;
}
