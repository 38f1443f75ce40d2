/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and their variables; see object_fields.h. */
#include "spec/object_fields.h"

int tms_object_fields_init(struct tms_object_fields *objects, struct tms_context *context)
{
    *objects = (struct tms_object_fields){.context = context};
    return tms_names_init(&objects->prefixes, &objects->memory);
}

void tms_object_fields_clear(struct tms_object_fields *objects)
{
    for (size_t i = 0; i < objects->capacity; i++) {
        tms_release(&objects->memory, objects->members[i].variable, objects->members[i].capacity,
                    sizeof(uint32_t));
    }
    tms_release(&objects->memory, objects->members, objects->capacity, sizeof(*objects->members));
    objects->capacity = 0;
    tms_names_clear(&objects->prefixes);
}

static struct tms_members *members_at(struct tms_object_fields *objects, uint32_t prefix)
{
    bool room = TMS_RESERVE(&objects->memory, &objects->members, &objects->capacity,
                            (size_t)prefix + 1, 64);

    return room ? &objects->members[prefix] : NULL;
}

static bool add_member(struct tms_object_fields *objects, const char *text, size_t length,
                       uint32_t variable)
{
    int64_t prefix = tms_names_intern(&objects->prefixes, text, length);
    struct tms_members *members = prefix < 0 ? NULL : members_at(objects, (uint32_t)prefix);

    if (members == NULL || !TMS_RESERVE(&objects->memory, &members->variable, &members->capacity,
                                        members->count + 1, 2)) {
        return false;
    }
    members->variable[members->count++] = variable;
    return true;
}

static bool index_variable(struct tms_object_fields *objects, uint32_t variable)
{
    const struct tms_text *name = &objects->context->names[TMS_CLASS_VARIABLE].texts[variable];

    for (size_t i = 1; i < name->length; i++) {
        if ((name->text[i] == '.' || name->text[i] == '[') &&
            !add_member(objects, name->text, i, variable)) {
            return false;
        }
    }
    return add_member(objects, name->text, name->length, variable);
}

const struct tms_members *tms_object_fields_members(struct tms_object_fields *objects,
                                                    uint32_t object)
{
    static const struct tms_members none = {0};
    const struct tms_text *name = &objects->context->names[TMS_CLASS_OBJECT].texts[object];

    while (objects->indexed < tms_name_count(objects->context, TMS_CLASS_VARIABLE)) {
        if (!index_variable(objects, objects->indexed + 1)) {
            return NULL;
        }
        objects->indexed++;
    }
    uint32_t prefix = tms_names_find(&objects->prefixes, name->text, name->length);
    return prefix == 0 ? &none : &objects->members[prefix];
}
