/* SPDX-License-Identifier: Apache-2.0 */
/* Names of heap blocks; see heap_names.h. */
#include "spool/heap_names.h"

#include <stdio.h>
#include <stdlib.h>

#include "spool/spool_names.h"

#define DEEPEST 64 /* frames up to the program's own function */

void tms_heap_names_free(struct tms_heap_names *heap)
{
    for (size_t i = 0; i < heap->count; i++) {
        free(heap->names[i].text);
    }
    free(heap->names);
    tms_hashtable_clear(&heap->index, NULL);
    *heap = (struct tms_heap_names){0};
}

static uint64_t hash_of(uint32_t site, uint64_t size)
{
    return tms_mix(tms_hash(site), size);
}

static const struct tms_heap_name *find_name(const struct tms_heap_names *heap, uint32_t site,
                                             uint64_t size)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&heap->index, hash_of(site, size), &walk);

    while (found != 0 &&
           (heap->names[found - 1].site != site || heap->names[found - 1].size != size)) {
        found = tms_hash_next(&walk);
    }
    return found != 0 ? &heap->names[found - 1] : NULL;
}

/* Takes ownership of the text, even if out of memory. */
static const struct tms_heap_name *add_name(struct tms_heap_names *heap,
                                            const struct tms_heap_name *name)
{
    size_t next = heap->count + 1;

    if (!TMS_RESERVE(NULL, &heap->names, &heap->capacity, next, 64) ||
        !tms_hashtable_add(&heap->index, NULL, hash_of(name->site, name->size), (uint32_t)next)) {
        free(name->text);
        return NULL;
    }
    heap->names[heap->count++] = *name;
    return &heap->names[heap->count - 1];
}

static struct tms_allocation find_allocation(struct tms_spool_names *names, uint32_t site,
                                             uint64_t size)
{
    uint64_t pcs[DEEPEST];
    size_t count = 0;
    const struct tms_spool_site *at;

    while (count < DEEPEST && site != 0 && (at = tms_spool_site(names->spool, site)) != NULL) {
        pcs[count++] = at->pc;
        site = at->parent;
    }
    return tms_symbols_allocation(names->symbols, pcs, count, size);
}

/* Replaces blanks and bars, which not every format supports, and '#', which precedes the number. */
static void make_plain(char *text)
{
    for (; *text != '\0'; text++) {
        *text = (unsigned char)*text <= ' ' || *text == '|' || *text == '#' || *text == 0x7f
                    ? '_'
                    : *text;
    }
}

const struct tms_heap_name *tms_heap_name(struct tms_spool_names *names, uint32_t site,
                                          uint64_t size)
{
    struct tms_heap_names *heap = &names->heap;
    const struct tms_heap_name *name = find_name(heap, site, size);

    if (name != NULL) {
        return name;
    }
    struct tms_allocation allocation = find_allocation(names, site, size);
    bool known = allocation.function != NULL, typed = allocation.type_name != NULL;
    char *text;
    if (asprintf(&text, "heap%s%s%s%s", known ? ":" : "", known ? allocation.function : "",
                 typed ? ":" : "", typed ? allocation.type_name : "") < 0) {
        return NULL;
    }
    make_plain(text);
    return add_name(heap, &(struct tms_heap_name){site, size, text, allocation});
}
