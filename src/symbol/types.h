/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of a program, as far as names of memory need them: records with their members, arrays,
 * pointers, and everything else by its size. Read lazily from debug information and kept: a type
 * that was built never changes, and lives as long as the texts that it was built with. The target
 * of a pointer is read only when it is followed, so reading a type reads only its own parts.
 */
#ifndef TMS_SYMBOL_TYPES_H
#define TMS_SYMBOL_TYPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashtable.h"
#include "symbol/symbol_text.h"
#include "symbol/type_index.h"

enum tms_type_kind {
    TMS_TYPE_OTHER, /* a number, an enumeration; it has no named parts */
    TMS_TYPE_POINTER,
    TMS_TYPE_ARRAY,
    TMS_TYPE_RECORD, /* struct, class, union */
};

struct tms_type;

struct tms_member {
    const char *name;      /* NULL: a base class or an anonymous member; its members belong to the
                              record around it */
    uint64_t offset, size; /* the bytes that it overlaps */
    const struct tms_type *type;
    const char *base; /* name of a base class whose members would be ambiguous */
    bool bits;        /* a bit-field */
    bool hidden; /* its name is reserved for the implementation, like the members of std::vector */
    bool passed; /* hidden, but may contain parts of the program's */
};

struct tms_type {
    enum tms_type_kind kind;
    const char *name;                 /* without template arguments; NULL: it has none */
    uint64_t size;                    /* 0: unknown */
    const struct tms_type *target;    /* of an array: its elements */
    uint64_t count;                   /* of an array: 0 if unknown */
    const struct tms_member *members; /* of a record, in the order of declaration */
    size_t member_count;
    bool built;         /* false: a cycle, in a damaged file */
    const char *inside; /* of a record that is an instance of a template: the name of its first
                           argument; NULL: unknown */
    bool open;          /* a record whose last member is a flexible array */
    Dwarf_Die where;    /* of a pointer: what it leads to; .addr NULL: void */
};

/* What was built so far, by its place in the file. All zero at first. */
struct tms_types {
    struct tms_symbol_texts *texts;
    Dwarf *dwarf;
    struct tms_built_type *built; /* each entry once */
    size_t built_count, built_capacity;
    struct tms_hashtable built_index; /* by entry: 1 + place */
    struct tms_type_index index;
};

void tms_types_close(struct tms_types *types);

/* The type of an entry (DW_AT_type); NULL: void, or out of memory. */
const struct tms_type *tms_types_of(struct tms_types *types, Dwarf_Die *entry);

/* The type that an entry defines. */
const struct tms_type *tms_types_at(struct tms_types *types, Dwarf_Die *entry);

/* The target type of a pointer; NULL: unknown. */
const struct tms_type *tms_types_pointee(struct tms_types *types, const struct tms_type *pointer);

/*
 * A complete record or typedef with this name, without qualification and template arguments, whose
 * size divides `size`; NULL unless there is exactly one (all of a name and size count as one).
 */
const struct tms_type *tms_types_named(struct tms_types *types, const char *name, size_t length,
                                       uint64_t size);

/* A member by its name, in a base class or an anonymous member as well; NULL: none. */
const struct tms_type *tms_type_member(const struct tms_type *record, const char *name,
                                       size_t length);

/*
 * The path of `offset` in an object of a type, as written after its name: ".limits.max",
 * "[3].count", "+12" in padding, "" for the object itself. `bytes` is the size of the access: one
 * that covers all of a record or array denotes it as a whole. 0: one byte. Different offsets have
 * different paths. Returns the length; `path` is not zero-terminated.
 */
#define TMS_PATH_SIZE 512
size_t tms_type_path(const struct tms_type *type, uint64_t offset, uint64_t bytes,
                     char path[TMS_PATH_SIZE]);

#endif
