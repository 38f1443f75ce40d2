/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of all records and typedefs of a file by name, for types of which only the name is
 * known: those that a unit only declares, and those that a source line mentions. Built at the first
 * query, in one walk over the debug information; a lookup costs the logarithm of their number.
 */
#ifndef TMS_SYMBOL_TYPE_INDEX_H
#define TMS_SYMBOL_TYPE_INDEX_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

/* Names end before template arguments. */
struct tms_type_entry {
    const char *name;
    size_t length;
    Dwarf_Die die;
};

/* All zero at first. */
struct tms_type_index {
    struct tms_type_entry *entries;
    size_t count, capacity;
    bool made;
};

void tms_type_index_close(struct tms_type_index *index);

/*
 * The first complete type with this name; sets *count to the number of such entries in a row, 0:
 * none.
 */
const struct tms_type_entry *tms_type_index_find(struct tms_type_index *index, Dwarf *dwarf,
                                                 const char *name, size_t length, size_t *count);

#endif
