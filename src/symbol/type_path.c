/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps an offset in an object to its path of fields and elements; see types.h. Called for each
 * variable of a recording, of which there may be millions: it allocates nothing, and a level costs
 * a walk over the members of a record.
 */
#include <string.h>

#include "symbol/types.h"

#define LEVELS 32 /* records and arrays inside each other */

struct walk {
    char *path;
    size_t length;
    bool full;
    const struct tms_type *type;
    uint64_t at;    /* offset in `type` */
    uint64_t shown; /* offset in what the path denotes so far */
    uint64_t bytes;
    const char *base; /* class to be named before the next member */
};

static void put(struct walk *walk, const char *text, size_t length)
{
    walk->full = walk->full || length > TMS_PATH_SIZE - walk->length;
    if (!walk->full) {
        memcpy(walk->path + walk->length, text, length);
        walk->length += length;
    }
}

static void put_text(struct walk *walk, const char *text)
{
    put(walk, text, strlen(text));
}

static void put_number(struct walk *walk, uint64_t number)
{
    char digits[24];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    put(walk, digits + at, sizeof(digits) - at);
}

/* A flexible array member has no end. */
static bool is_endless(const struct tms_member *member)
{
    return member->type != NULL && member->type->kind == TMS_TYPE_ARRAY &&
           member->type->count == 0 && !member->bits;
}

static bool covers(const struct tms_member *member, uint64_t at)
{
    return at >= member->offset && (is_endless(member) || at - member->offset < member->size);
}

/*
 * The member at an offset. Members overlap in a union, where the first of exactly the size counts,
 * or else the first; and where a class puts members into the padding of its base.
 */
static const struct tms_member *find_member(const struct walk *walk)
{
    const struct tms_member *found = NULL, *endless = NULL;

    for (size_t i = 0; i < walk->type->member_count; i++) {
        const struct tms_member *member = &walk->type->members[i];
        if (!covers(member, walk->at)) {
            continue;
        }
        if (is_endless(member)) {
            endless = member;
        } else if (found == NULL || member->offset > found->offset ||
                   (member->offset == found->offset && !member->bits &&
                    member->size == walk->bytes && found->size != walk->bytes)) {
            found = member;
        }
    }
    return found != NULL ? found : endless;
}

/* Bit-fields share their bytes: "ready,done". One that goes on from the byte before: "wide+1". */
static void show_bits(struct walk *walk, const struct tms_member *first)
{
    const struct tms_type *record = walk->type;
    size_t shown = 0;

    for (size_t i = (size_t)(first - record->members); i < record->member_count; i++) {
        const struct tms_member *member = &record->members[i];
        if (member->bits && member->name != NULL && covers(member, walk->at)) {
            put_text(walk, shown++ == 0 ? "." : ",");
            put_text(walk, member->name);
        }
    }
    walk->shown = shown == 1 ? walk->at - first->offset : 0;
    walk->type = NULL;
}

static bool enter_record(struct walk *walk)
{
    const struct tms_member *member = find_member(walk);

    if (member == NULL || (member->hidden && !member->passed)) {
        return false;
    }
    if (member->bits) {
        show_bits(walk, member);
        return false;
    }
    walk->at -= member->offset;
    walk->type = member->type;
    if (member->name == NULL || member->hidden) {
        walk->base = member->base != NULL ? member->base : walk->base;
        return walk->type != NULL;
    }
    put_text(walk, ".");
    if (walk->base != NULL) {
        put_text(walk, walk->base);
        put_text(walk, "::");
        walk->base = NULL;
    }
    put_text(walk, member->name);
    walk->shown = walk->at;
    return walk->type != NULL;
}

static bool enter_array(struct walk *walk)
{
    const struct tms_type *array = walk->type;
    uint64_t each = array->target != NULL ? array->target->size : 0;

    if (each == 0 || (array->count != 0 && walk->at / each >= array->count)) {
        return false;
    }
    put_text(walk, "[");
    put_number(walk, walk->at / each);
    put_text(walk, "]");
    walk->at %= each;
    walk->shown = walk->at;
    walk->type = array->target;
    return true;
}

/*
 * Does the access cover a whole array or record? Not for unions, whose parts are not consecutive.
 */
static bool is_whole(const struct walk *walk)
{
    const struct tms_type *type = walk->type;
    bool several = type->kind == TMS_TYPE_ARRAY
                       ? type->count > 1
                       : type->member_count > 0 && type->members[type->member_count - 1].offset > 0;

    return walk->at == 0 && walk->shown == 0 && several && type->size != 0 &&
           walk->bytes >= type->size;
}

static bool enter(struct walk *walk)
{
    switch (walk->type->kind) {
    case TMS_TYPE_RECORD:
        return !is_whole(walk) && enter_record(walk);
    case TMS_TYPE_ARRAY:
        return !is_whole(walk) && enter_array(walk);
    default:
        return false;
    }
}

size_t tms_type_path(const struct tms_type *type, uint64_t offset, uint64_t bytes,
                     char path[TMS_PATH_SIZE])
{
    struct walk walk = {.path = path, .type = type, .at = offset, .shown = offset, .bytes = bytes};

    for (int level = 0; walk.type != NULL && level < LEVELS && enter(&walk); level++) {
    }
    if (walk.shown != 0) {
        put_text(&walk, "+");
        put_number(&walk, walk.shown);
    }
    if (walk.full) {
        walk.full = false;
        walk.length = 0;
        put_text(&walk, "+");
        put_number(&walk, offset);
    }
    return walk.length;
}

const struct tms_type *tms_type_member(const struct tms_type *record, const char *name,
                                       size_t length)
{
    const struct tms_type *found = NULL;

    for (size_t i = 0; record != NULL && i < record->member_count && found == NULL; i++) {
        const struct tms_member *member = &record->members[i];
        if (member->name == NULL) {
            found = tms_type_member(member->type, name, length);
        } else if (strlen(member->name) == length && memcmp(member->name, name, length) == 0) {
            found = member->type;
        }
    }
    return found;
}
