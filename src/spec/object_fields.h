/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which variables belong to an object: `o` itself, `o.anything` and `o[anything`. Asked when
 * an object is allocated or freed, because its variables are new ones from then on.
 *
 * Representation: every prefix of a variable's name that ends before a `.` or a `[`, and the
 * whole name, is interned and has the list of its variables. Built at the first question and
 * kept up with new variables at each later one, so traces without alloc and free pay nothing.
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

/* The variables of an object, an id of TMS_CLASS_OBJECT; NULL when memory is short. */
const struct tms_members *tms_object_fields_members(struct tms_object_fields *objects,
                                                    uint32_t object);

#endif
