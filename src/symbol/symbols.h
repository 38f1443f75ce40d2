/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbolizes addresses of a process that has ended: functions with file and line, inlined ones
 * included, and variables. Debug information is read through libdw, from the files themselves or
 * from separate files by build id or debug link.
 *
 * Nothing here fails. Without debug information the symbol table is used, and without that the
 * answer is "module+0x1234". Answers are cached and live as long as the symbols, so a second query
 * costs a table lookup.
 */
#ifndef TMS_SYMBOL_SYMBOLS_H
#define TMS_SYMBOL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tms_symbols;

/* NULL if out of memory. */
struct tms_symbols *tms_symbols_new(void);
void tms_symbols_free(struct tms_symbols *symbols);

/*
 * Adds a file that the process had mapped at [start, end); `bias` is the difference between
 * addresses of the process and of the file. Of overlapping files the later one counts. False if out
 * of memory.
 */
bool tms_symbols_module(struct tms_symbols *symbols, const char *path, uint64_t start, uint64_t end,
                        uint64_t bias);

struct tms_type; /* types.h */

/* One function of the inline chain of an address. */
struct tms_frame {
    const char *function; /* demangled; "module+0x1234" if unknown */
    const char *brief;    /* the same without arguments; NULL if unknown */
    const char *file;     /* NULL: unknown. Shortened if the short path leads to the same file */
    const char *path;     /* of the file, as it was compiled; NULL: unknown */
    const char *source;   /* the source line without its indentation; NULL: unavailable */
    unsigned line;        /* 0: unknown */
    unsigned column;      /* in bytes, from 1 on; 0: unknown */
    const struct tms_type *holds; /* the type that an allocator allocates; NULL: not an allocator */
    const char *holds_name;
    uint64_t instance;  /* which inlined copy in the file; 0: not inlined */
    bool bare;          /* `function` is only an address */
    bool locks;         /* it is short, and its name suggests that it acquires or releases a lock */
    bool allocates;     /* it returns void * and is given a size */
    bool foreign;       /* it belongs to the system, not to the program */
    const char *object; /* path of the program or shared library; NULL: unknown */
};

/*
 * Symbolizes the call that returns to `pc`: the innermost function first, then those that it is
 * inlined into. Returns the number of frames, at least 1; 0 only if out of memory.
 */
size_t tms_symbols_frames(struct tms_symbols *symbols, uint64_t pc,
                          const struct tms_frame **frames);

/* Does the file of `pc` belong to the system, so that all frames do? Does not read the file. */
bool tms_symbols_foreign(struct tms_symbols *symbols, uint64_t pc);

/* A variable with static storage. */
struct tms_datum {
    const char *name;
    uint64_t home;               /* its address; if it was split, that of the first piece */
    uint64_t offset;             /* of the address in it */
    const struct tms_type *type; /* NULL: unknown */
    const char *file;            /* of its declaration; NULL: unknown */
    unsigned line;
};

/* The variable that holds the address; false if there is none. */
bool tms_symbols_datum(struct tms_symbols *symbols, uint64_t address, struct tms_datum *datum);

/* The name of the file that was mapped at the address, and the offset in it; NULL: none. */
const char *tms_symbols_module_at(struct tms_symbols *symbols, uint64_t address, uint64_t *offset);

#endif
