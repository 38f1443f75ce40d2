/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which variables belong to an object: `o` itself, `o.anything` and `o[anything`. Queried when an
 * object is allocated or freed, because its variables are new from then on.
 *
 * Representation: every prefix of a variable's name that ends before a `.` or a `[`, and the whole
 * name, is interned and has the list of its variables. The index is built by the first query and
 * brought up to date by each later one, so traces without alloc and free pay nothing.
 */
#ifndef TMS_SPEC_OBJECT_FIELDS_H
#define TMS_SPEC_OBJECT_FIELDS_H

#include "base/context.h"

struct tms_members {
    uint32_t *variable;
    size_t count, capacity;
};

struct tms_object_fields {
    struct tms_context *context;
    struct tms_memory memory;
    struct tms_names prefixes;
    struct tms_members *members; /* by prefix id */
    size_t capacity;
    uint32_t indexed; /* variables known so far */
};

int tms_object_fields_init(struct tms_object_fields *objects, struct tms_context *context);
void tms_object_fields_clear(struct tms_object_fields *objects);

/* The variables of an object, an id of TMS_CLASS_OBJECT; NULL if out of memory. */
const struct tms_members *tms_object_fields_members(struct tms_object_fields *objects,
                                                    uint32_t object);

#endif
