/* SPDX-License-Identifier: Apache-2.0 */
/* Types of heap blocks; see allocation.h. */
#include "symbol/allocation.h"

#include "symbol/assigned.h"

/* The search from the allocation outwards to the program's own function. */
struct search {
    struct tms_symbols *symbols;
    uint64_t size;
    const char *callee;          /* the last wrapper on the way; NULL: none */
    const struct tms_type *type; /* of an allocator on the way; NULL: none */
    const char *type_name;
    bool through_library;
    struct tms_allocation found;
};

/* A frame of the stack, from the inside out. */
struct place {
    const uint64_t *pcs;
    size_t count, pc, index;
    const struct tms_frame *frames;
    size_t frame_count;
};

static const struct tms_frame *next(struct tms_symbols *symbols, struct place *place)
{
    place->index++;
    while (place->index >= place->frame_count) {
        if (++place->pc >= place->count) {
            return NULL;
        }
        place->index = 0;
        place->frame_count = tms_symbols_frames(symbols, place->pcs[place->pc], &place->frames);
    }
    return &place->frames[place->index];
}

static bool is_own(const struct tms_frame *frame)
{
    return !frame->foreign && !frame->bare && frame->brief != NULL;
}

/* Is there another function of the program further out? A wrapper has such a caller. */
static bool is_called(struct tms_symbols *symbols, struct place place)
{
    const struct tms_frame *frame;

    while ((frame = next(symbols, &place)) != NULL) {
        if (is_own(frame)) {
            return true;
        }
    }
    return false;
}

/* Does a block consist of objects of this type, or of one followed by more? */
static bool fits(const struct tms_type *type, uint64_t size)
{
    return type->size != 0 &&
           (size % type->size == 0 || (type->kind == TMS_TYPE_RECORD && size > type->size));
}

/* `new` stores the number of elements before an array with destructors. */
static void settle(struct search *search, const struct tms_type *type, const char *name,
                   bool counted)
{
    struct tms_allocation *found = &search->found;
    const uint64_t cookie = sizeof(size_t);

    if (type == NULL || name == NULL || !fits(type, search->size)) {
        return;
    }
    found->type = type;
    found->type_name = name;
    if (counted && search->size % type->size == cookie % type->size && cookie % type->size != 0) {
        found->skip = cookie;
    }
    found->several = !type->open && (search->size - found->skip) % type->size == 0 &&
                     search->size - found->skip > type->size;
}

static void take_own(struct search *search, const struct place *place)
{
    struct tms_assigned assigned = {0};

    search->found.function = place->frames[place->index].brief;
    if (search->type != NULL) {
        settle(search, search->type, search->type_name, false);
    } else if (!search->through_library) {
        tms_symbols_assigned(search->symbols, place->pcs[place->pc], place->index, search->callee,
                             search->size, &assigned);
        settle(search, assigned.type, assigned.name, assigned.by_new);
    }
}

static void pass(struct search *search, const struct tms_frame *frame)
{
    if (search->type == NULL && frame->holds != NULL) {
        search->type = frame->holds;
        search->type_name = frame->holds_name;
    }
    search->callee = frame->brief;
    search->through_library = search->through_library || !frame->allocates;
}

struct tms_allocation tms_symbols_allocation(struct tms_symbols *symbols, const uint64_t *pcs,
                                             size_t count, uint64_t size)
{
    struct search search = {.symbols = symbols, .size = size};
    struct place place = {.pcs = pcs, .count = count, .pc = SIZE_MAX, .index = SIZE_MAX};
    const struct tms_frame *frame;

    while ((frame = next(symbols, &place)) != NULL) {
        if (is_own(frame) && !(frame->allocates && is_called(symbols, place))) {
            take_own(&search, &place);
            break;
        }
        pass(&search, frame);
    }
    return search.found;
}

size_t tms_allocation_path(const struct tms_allocation *allocation, uint64_t offset, uint64_t bytes,
                           char path[TMS_PATH_SIZE])
{
    struct tms_type array = {.kind = TMS_TYPE_ARRAY, .target = allocation->type};

    if (offset < allocation->skip || allocation->type == NULL) {
        return tms_type_path(NULL, offset, bytes, path);
    }
    offset -= allocation->skip;
    return tms_type_path(allocation->several ? &array : allocation->type, offset, bytes, path);
}
