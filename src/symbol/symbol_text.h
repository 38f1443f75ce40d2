/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What symbols are put together from: texts that live as long as their pool, names without their
 * mangling, paths made short, and lines of source files.
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

/* A copy that the pool owns; NULL for NULL and when memory is short. */
const char *tms_symbol_texts_keep(struct tms_symbol_texts *texts, const char *text);

/* So many bytes, all zero, that the pool owns; NULL when memory is short. */
void *tms_symbol_texts_room(struct tms_symbol_texts *texts, size_t bytes);

/*
 * The name as a programmer writes it. Only C++ knows how its names are mangled: its library is
 * asked if the machine has it, and otherwise the name stays as it is.
 */
const char *tms_symbol_texts_demangle(struct tms_symbol_texts *texts, const char *name);

/*
 * A path relative to the current directory or to that of the compilation (may be NULL), whichever
 * is shortest, without steps through ".".
 */
const char *tms_symbol_texts_path(struct tms_symbol_texts *texts, const char *path,
                                  const char *compiled_in);

/*
 * Line `line` of a file without the blanks around it, and others in place of control characters;
 * NULL if there is no such line, or it is empty.
 */
const char *tms_symbol_texts_source(struct tms_symbol_texts *texts, const char *path,
                                    unsigned line);

/*
 * All of a file with blanks in the place of comments, strings and what is for the preprocessor, and
 * where in it a line starts. False if there is no such line.
 */
struct tms_source_code {
    const char *start, *end, *line; /* until the next call */
};
bool tms_symbol_texts_code(struct tms_symbol_texts *texts, const char *path, unsigned line,
                           struct tms_source_code *code);

/* The path that a compiler wrote down, from the root if the directory is known. */
const char *tms_symbol_texts_full_path(struct tms_symbol_texts *texts, const char *path,
                                       const char *compiled_in);

#endif
