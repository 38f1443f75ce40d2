/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of symbols: texts owned by a pool, demangled names, shortened paths, and source lines.
 */
#ifndef TMS_SYMBOL_SYMBOL_TEXT_H
#define TMS_SYMBOL_SYMBOL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct tms_source_file;

struct tms_symbol_texts {
    void **texts;
    size_t count, capacity;
    char *directory; /* that the command runs in; NULL: unknown */
    char *(*demangle)(const char *name, char *buffer, size_t *size, int *status);
    void *demangler; /* the library that has it; NULL: not loaded */
    struct tms_source_file *sources;
    size_t source_count;
};

void tms_symbol_texts_open(struct tms_symbol_texts *texts);
void tms_symbol_texts_close(struct tms_symbol_texts *texts);

/* A copy that the pool owns; NULL for NULL and if out of memory. */
const char *tms_symbol_texts_keep(struct tms_symbol_texts *texts, const char *text);

/* Zeroed bytes that the pool owns; NULL if out of memory. */
void *tms_symbol_texts_room(struct tms_symbol_texts *texts, size_t bytes);

/*
 * The demangled name. Demangling uses the C++ library if the machine has it; otherwise the name
 * stays unchanged.
 */
const char *tms_symbol_texts_demangle(struct tms_symbol_texts *texts, const char *name);

/*
 * A path relative to the current directory or to that of the compilation (may be NULL), whichever
 * is shortest, without steps through ".".
 */
const char *tms_symbol_texts_path(struct tms_symbol_texts *texts, const char *path,
                                  const char *compiled_in);

/*
 * Line `line` of a file without surrounding blanks, and with control characters replaced by blanks;
 * NULL if there is no such line, or it is empty.
 */
const char *tms_symbol_texts_source(struct tms_symbol_texts *texts, const char *path,
                                    unsigned line);

/*
 * A whole file with comments, strings and preprocessor directives replaced by blanks, and the start
 * of a line in it. False if there is no such line.
 */
struct tms_source_code {
    const char *start, *end, *line; /* until the next call */
};
bool tms_symbol_texts_code(struct tms_symbol_texts *texts, const char *path, unsigned line,
                           struct tms_source_code *code);

/* The path as the compiler recorded it, absolute if the directory is known. */
const char *tms_symbol_texts_full_path(struct tms_symbol_texts *texts, const char *path,
                                       const char *compiled_in);

#endif
