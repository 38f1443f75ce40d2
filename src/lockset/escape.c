/* SPDX-License-Identifier: Apache-2.0 */
/* Escaped variables; see escape.h. */
#include "lockset/escape.h"

#include <assert.h>

#define LEAST_ITEMS 64
#define UNKNOWN     0u

void tms_escapes_init(struct tms_escapes *escapes, struct tms_host *host)
{
    *escapes = (struct tms_escapes){.host = host, .when = host->settings->escape};
}

void tms_escapes_clear(struct tms_escapes *escapes)
{
    if (escapes->host == NULL) {
        return;
    }
    struct tms_memory *memory = &escapes->host->memory;
    tms_release(memory, escapes->owner, escapes->owner_capacity, sizeof(*escapes->owner));
    tms_release(memory, escapes->of_object, escapes->object_capacity, sizeof(*escapes->of_object));
    if (escapes->indexed) {
        tms_object_fields_clear(&escapes->members);
    }
    *escapes = (struct tms_escapes){0};
}

static bool reserve(struct tms_escapes *escapes, uint32_t **array, size_t *capacity, uint32_t id)
{
    bool room = TMS_RESERVE(&escapes->host->memory, array, capacity, (size_t)id + 1, LEAST_ITEMS);

    if (!room) {
        tms_host_fail(escapes->host, TMS_ERR_MEMORY);
    }
    return room;
}

/* ---- objects ---------------------------------------------------------------------------- */

static const struct tms_members *members_of(struct tms_escapes *escapes, uint32_t object)
{
    int code = escapes->indexed ? TMS_OK
                                : tms_object_fields_init(&escapes->members, escapes->host->context);

    escapes->indexed = true; /* to be cleared, even if it failed */
    const struct tms_members *members =
        code == TMS_OK ? tms_object_fields_members(&escapes->members, object) : NULL;
    if (members == NULL) {
        tms_host_fail(escapes->host, TMS_ERR_MEMORY);
    }
    return members;
}

/* The object and all that is known of it has this owner from now on. */
static void mark_object(struct tms_escapes *escapes, uint32_t object, uint32_t owner)
{
    const struct tms_members *members = members_of(escapes, object);

    if (members == NULL ||
        !reserve(escapes, &escapes->of_object, &escapes->object_capacity, object)) {
        return;
    }
    escapes->of_object[object] = owner;
    escapes->marked = true;
    for (size_t i = 0; i < members->count; i++) {
        uint32_t variable = members->variable[i];
        if (!reserve(escapes, &escapes->owner, &escapes->owner_capacity, variable)) {
            return;
        }
        escapes->owner[variable] = owner;
    }
}

void tms_escapes_follow(struct tms_escapes *escapes, const struct tms_op *op)
{
    if (escapes->when == TMS_ESCAPE_OFF) {
        return;
    }
    if (op->kind == TMS_OP_ESCAPE) {
        mark_object(escapes, op->target, TMS_ESCAPED);
    } else if (op->kind == TMS_OP_FORGET) {
        if (op->target < escapes->owner_capacity) {
            escapes->owner[op->target] = UNKNOWN;
        }
    } else if (op->event_kind == TMS_EVENT_ALLOC || op->event_kind == TMS_EVENT_FREE) {
        mark_object(escapes, op->target, op->event_kind == TMS_EVENT_ALLOC ? op->thread : UNKNOWN);
    }
}

/* ---- variables -------------------------------------------------------------------------- */

/* The owner that the object of this name has been given. */
static uint32_t owner_by_name(const struct tms_escapes *escapes, const char *text, size_t length)
{
    uint32_t object =
        tms_names_find(&escapes->host->context->names[TMS_CLASS_OBJECT], text, length);

    return object != 0 && object < escapes->object_capacity ? escapes->of_object[object] : UNKNOWN;
}

/* Of the objects that a variable belongs to one that escaped decides, else the innermost. */
static uint32_t owner_by_objects(const struct tms_escapes *escapes, uint32_t variable)
{
    const struct tms_text *name =
        &escapes->host->context->names[TMS_CLASS_VARIABLE].texts[variable];
    uint32_t owner = UNKNOWN;

    for (size_t i = 1; i <= name->length && owner != TMS_ESCAPED; i++) {
        if (i == name->length || name->text[i] == '.' || name->text[i] == '[') {
            uint32_t inner = owner_by_name(escapes, name->text, i);
            owner = inner != UNKNOWN ? inner : owner;
        }
    }
    return owner;
}

bool tms_escapes_by_access(struct tms_escapes *escapes, const struct tms_op *op)
{
    if (!reserve(escapes, &escapes->owner, &escapes->owner_capacity, op->target)) {
        return false;
    }
    uint32_t *owner = &escapes->owner[op->target];
    if (*owner == UNKNOWN && escapes->marked) {
        *owner = owner_by_objects(escapes, op->target);
    }
    if (*owner == UNKNOWN) {
        *owner = op->thread;
    } else if (escapes->when == TMS_ESCAPE_AUTO && *owner != op->thread) {
        *owner = TMS_ESCAPED;
    }
    return *owner == TMS_ESCAPED;
}
