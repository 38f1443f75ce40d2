/* SPDX-License-Identifier: Apache-2.0 */
/* Names of heap blocks; see heap_names.h. */
#include "spool/heap_names.h"

#include <stdio.h>
#include <stdlib.h>

#include "spool/spool_names.h"

#define SLOTS_LEAST 64
#define DEEPEST     64 /* frames up to the program's own function */

void tms_heap_names_free(struct tms_heap_names *heap)
{
    for (size_t i = 0; i < heap->slot_count; i++) {
        free(heap->slots[i].text);
    }
    free(heap->slots);
    *heap = (struct tms_heap_names){0};
}

static struct tms_heap_name *slot_of(struct tms_heap_name *slots, size_t count, uint32_t site,
                                     uint64_t size)
{
    size_t at = (size_t)((size + ((uint64_t)site << 32)) * UINT64_C(0x9e3779b97f4a7c15) >> 32) &
                (count - 1);

    while (slots[at].text != NULL && (slots[at].site != site || slots[at].size != size)) {
        at = (at + 1) & (count - 1);
    }
    return &slots[at];
}

static bool make_room(struct tms_heap_names *heap)
{
    size_t count = heap->slot_count == 0 ? SLOTS_LEAST : 2 * heap->slot_count;

    if (2 * (heap->used + 1) <= heap->slot_count) {
        return true;
    }
    struct tms_heap_name *slots = calloc(count, sizeof(*slots));
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < heap->slot_count; i++) {
        const struct tms_heap_name *name = &heap->slots[i];
        if (name->text != NULL) {
            *slot_of(slots, count, name->site, name->size) = *name;
        }
    }
    free(heap->slots);
    heap->slots = slots;
    heap->slot_count = count;
    return true;
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

/* Blanks and bars, which not every format can hold, are replaced; '#' comes before the number. */
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

    if (!make_room(heap)) {
        return NULL;
    }
    struct tms_heap_name *name = slot_of(heap->slots, heap->slot_count, site, size);
    if (name->text != NULL) {
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
    *name = (struct tms_heap_name){site, size, text, allocation};
    heap->used++;
    return name;
}
