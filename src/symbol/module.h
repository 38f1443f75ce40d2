/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of the process, opened with libdw at the first query. Each file is opened separately and
 * in its own addresses, so that a wrong memory map of the process cannot make two of them collide.
 */
#ifndef TMS_SYMBOL_MODULE_H
#define TMS_SYMBOL_MODULE_H

#include <elfutils/libdwfl.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/symbol_text.h"
#include "symbol/symbols.h"
#include "symbol/types.h"

/* A variable with static storage, in the addresses of the file. */
struct tms_module_variable {
    uint64_t start, size;
    uint64_t home;   /* start of its first piece */
    uint64_t before; /* bytes of it in earlier pieces, if it was split */
    const char *name;
    const char *file; /* NULL: unknown */
    unsigned line;
    Dwarf_Die die;
    const struct tms_type *type; /* NULL: not looked up yet, or unknown */
};

struct tms_module {
    char *path;
    uint64_t start, end, bias;
    bool opened;
    Dwfl *dwfl;                            /* NULL: the file can't be read */
    Dwfl_Module *image;                    /* the same */
    bool listed;                           /* `variables` was filled */
    struct tms_module_variable *variables; /* by start */
    size_t variable_count, variable_capacity;
    struct tms_types types;
};

/* The file as libdw sees it, NULL if it can't be read. */
Dwfl_Module *tms_module_image(struct tms_module *module);
void tms_module_close(struct tms_module *module);

/*
 * The target of a longjmp when libdw is out of memory; by default it ends the process. Set it
 * before calling the functions below. After a jump the module must be given up, since its state is
 * undefined.
 */
extern _Thread_local jmp_buf *tms_module_escape;
void tms_module_give_up(struct tms_module *module);

/* The last part of the path. */
const char *tms_module_name(const struct tms_module *module);

/*
 * The functions around an address of the file, innermost first; at most `room` frames. 0: none is
 * known.
 */
size_t tms_module_frames(struct tms_module *module, struct tms_symbol_texts *texts,
                         uint64_t address, struct tms_frame *frames, size_t room);

/* The debug information of the index-th of these functions; false if there is none. */
bool tms_module_function(struct tms_module *module, uint64_t address, size_t index,
                         Dwarf_Die *function);

/* A variable by its name; NULL if there is none, or more than one. */
const struct tms_module_variable *tms_module_variable(struct tms_module *module,
                                                      struct tms_symbol_texts *texts,
                                                      const char *name, size_t length);

/* The variable around an address of the file. */
bool tms_module_datum(struct tms_module *module, struct tms_symbol_texts *texts, uint64_t address,
                      struct tms_datum *datum);

#endif
