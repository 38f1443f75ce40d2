/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of a process that is over to names of its program: functions with file and line,
 * inlined ones included, and variables. What the files of the process say is found through
 * libdw: their own debug information, or that of separate files by build id or debug link.
 *
 * Nothing here fails. Without debug information the symbol table is asked, and without that the
 * answer is "module+0x1234". Answers are kept, so a second question costs a look into a table;
 * they live as long as the symbols.
 */
#ifndef TMS_SYMBOL_SYMBOLS_H
#define TMS_SYMBOL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tms_symbols;

/* NULL when memory is short. */
struct tms_symbols *tms_symbols_new(void);
void tms_symbols_free(struct tms_symbols *symbols);

/*
 * A file that the process had at [start, end): what is at an address there has the address minus
 * `bias` in the file. Of two that overlap the later one counts. False when memory is short.
 */
bool tms_symbols_module(struct tms_symbols *symbols, const char *path, uint64_t start, uint64_t end,
                        uint64_t bias);

struct tms_type; /* types.h */

/* One function on the way to an address. */
struct tms_frame {
    const char *function;         /* demangled; "module+0x1234" if unknown */
    const char *brief;            /* the same without arguments; NULL if unknown */
    const char *file;             /* NULL: unknown. Shortened where that leads to the same file */
    const char *path;             /* of the file, as it was compiled; NULL: unknown */
    const char *source;           /* the line itself without its indentation; NULL: not to be had */
    unsigned line;                /* 0: unknown */
    unsigned column;              /* in bytes, from 1 on; 0: unknown */
    const struct tms_type *holds; /* of an allocator: for what; NULL: it is none */
    const char *holds_name;
    uint64_t instance;  /* which copy of an inlined function in the file; 0: it is none */
    bool bare;          /* `function` is only an address */
    bool locks;         /* it is short, and by its name made to take or release a lock */
    bool allocates;     /* it returns void * and is given a size */
    bool foreign;       /* it belongs to the system, not to the program */
    const char *object; /* path of the program or shared library; NULL: unknown */
};

/*
 * Where the call was that returns to `pc`: the innermost function first, then those that it is
 * inlined into. The number of frames, at least 1; 0 only when memory is short.
 */
size_t tms_symbols_frames(struct tms_symbols *symbols, uint64_t pc,
                          const struct tms_frame **frames);

/* Is the whole file of the system, so that all frames are? It is not read to find that out. */
bool tms_symbols_foreign(struct tms_symbols *symbols, uint64_t pc);

/* A variable with static storage. */
struct tms_datum {
    const char *name;
    uint64_t home;               /* its address; of one that was taken apart, of the first piece */
    uint64_t offset;             /* of the address in it */
    const struct tms_type *type; /* NULL: unknown */
    const char *file;            /* of its declaration; NULL: unknown */
    unsigned line;
};

/* The variable that holds the address; false if there is none. */
bool tms_symbols_datum(struct tms_symbols *symbols, uint64_t address, struct tms_datum *datum);

/* The name of the file that the process had at the address, and where in it; NULL: none. */
const char *tms_symbols_module_at(struct tms_symbols *symbols, uint64_t address, uint64_t *offset);

#endif
