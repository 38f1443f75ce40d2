/* SPDX-License-Identifier: Apache-2.0 */
/* Types by name; see type_index.h. */
#include "symbol/type_index.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define DEEPEST 64 /* entries inside each other */

void tms_type_index_close(struct tms_type_index *index)
{
    free(index->entries);
}

static bool is_record(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static void add_entry(struct tms_type_index *index, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);

    if (name == NULL || dwarf_hasattr(die, DW_AT_declaration)) {
        return;
    }
    if (!TMS_RESERVE(NULL, &index->entries, &index->capacity, index->count + 1, 256)) {
        return;
    }
    index->entries[index->count++] = (struct tms_type_entry){name, strcspn(name, "<"), *die};
}

static void index_children(struct tms_type_index *index, Dwarf_Die *parent, int depth)
{
    Dwarf_Die die;

    if (depth >= DEEPEST || dwarf_child(parent, &die) != 0) {
        return;
    }
    do {
        int tag = dwarf_tag(&die);
        if (is_record(tag) || tag == DW_TAG_typedef) {
            add_entry(index, &die);
        }
        if (is_record(tag) || tag == DW_TAG_namespace || tag == DW_TAG_subprogram ||
            tag == DW_TAG_lexical_block) {
            index_children(index, &die, depth + 1);
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static int by_text(const char *x, size_t x_length, const char *y, size_t y_length)
{
    size_t common = x_length < y_length ? x_length : y_length;
    int order = memcmp(x, y, common);

    return order != 0 ? order : (x_length > y_length) - (x_length < y_length);
}

/* Orders by name; equal names in the order of the file. */
static int by_name(const void *a, const void *b)
{
    const struct tms_type_entry *x = a, *y = b;
    int order = by_text(x->name, x->length, y->name, y->length);
    const char *left = x->die.addr, *right = y->die.addr;

    return order != 0 ? order : (left > right) - (left < right);
}

static void index_all(struct tms_type_index *index, Dwarf *dwarf)
{
    Dwarf_Off offset = 0, next;
    size_t header;
    Dwarf_Die unit;

    index->made = true;
    for (; dwarf != NULL && dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0;
         offset = next) {
        if (dwarf_offdie(dwarf, offset + header, &unit) != NULL) {
            index_children(index, &unit, 0);
        }
    }
    if (index->count > 0) {
        qsort(index->entries, index->count, sizeof(*index->entries), by_name);
    }
}

const struct tms_type_entry *tms_type_index_find(struct tms_type_index *index, Dwarf *dwarf,
                                                 const char *name, size_t length, size_t *count)
{
    size_t low = 0, high, end;

    if (!index->made) {
        index_all(index, dwarf);
    }
    high = end = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tms_type_entry *entry = &index->entries[middle];
        if (by_text(entry->name, entry->length, name, length) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (high = low; high < end && by_text(index->entries[high].name, index->entries[high].length,
                                           name, length) == 0;) {
        high++;
    }
    *count = high - low;
    return *count > 0 ? &index->entries[low] : NULL;
}
