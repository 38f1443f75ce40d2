/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, errors and the public functions for names; see context.h. */
#include "base/context.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

#define STRINGIFY(x)     #x
#define VERSION(a, b, c) STRINGIFY(a) "." STRINGIFY(b) "." STRINGIFY(c)

const char *tms_version(void)
{
    return VERSION(TMS_VERSION_MAJOR, TMS_VERSION_MINOR, TMS_VERSION_PATCH);
}

const char *tms_strerror(int code)
{
    switch (code) {
#define X(name, value, meaning)                                                                    \
    case value:                                                                                    \
        return meaning;
        TMS_ERRORS(X)
#undef X
    default:
        return "unknown error";
    }
}

struct tms_context *tms_context_new(tms_complain *complain, void *user)
{
    struct tms_context *context = calloc(1, sizeof(*context));

    if (context == NULL) {
        return NULL;
    }
    context->complain = complain;
    context->user = user;
    for (int cls = TMS_CLASS_NONE; cls < TMS_CLASS_COUNT; cls++) {
        if (tms_names_init(&context->names[cls], &context->memory) != TMS_OK) {
            tms_context_free(context);
            return NULL;
        }
    }
    return context;
}

void tms_context_free(struct tms_context *context)
{
    if (context == NULL) {
        return;
    }
    for (int cls = TMS_CLASS_NONE; cls < TMS_CLASS_COUNT; cls++) {
        tms_names_clear(&context->names[cls]);
    }
    free(context);
}

const char *tms_error(const struct tms_context *context)
{
    return context->error;
}

int tms_fail(struct tms_context *context, int code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(context->error, sizeof(context->error), format, arguments);
    va_end(arguments);
    tms_utf8_clean(context->error);
    return code;
}

int tms_fail_memory(struct tms_context *context)
{
    return tms_fail(context, TMS_ERR_MEMORY, "out of memory");
}

void tms_warn(struct tms_context *context, const char *format, ...)
{
    char message[TMS_MESSAGE_SIZE];
    va_list arguments;

    if (context->complain == NULL) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    tms_utf8_clean(message);
    context->complain(context->user, message);
}

uint32_t tms_location_number(const char *text, size_t length)
{
    uint64_t number = 0;

    if (length == 0 || length > 10 || (text[0] == '0' && length > 1)) {
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned char)text[i] - '0';
        if (digit > 9) {
            return 0;
        }
        number = number * 10 + digit;
    }
    return number < TMS_LOCATION_NUMBER ? TMS_LOCATION_NUMBER + (uint32_t)number : 0;
}

/* `intern` is tms_names_intern or tms_names_add. */
static inline int64_t intern_by(struct tms_context *context, enum tms_class cls, const char *name,
                                size_t length,
                                int64_t intern(struct tms_names *, const char *, size_t))
{
    if (cls <= TMS_CLASS_NONE || cls >= TMS_CLASS_COUNT || length == 0 || length > INT32_MAX) {
        return tms_fail(context, TMS_ERR_ARGUMENT, "a name needs a class and at least one byte");
    }
    if (cls == TMS_CLASS_LOCATION) {
        uint32_t number = tms_location_number(name, length);
        if (number != 0) {
            return number;
        }
    }
    int64_t id = intern(&context->names[cls], name, length);
    if (id < 0) {
        return tms_fail(context, (int)id, "no room for another %s name: %s", tms_class_text(cls),
                        tms_strerror((int)id));
    }
    return id;
}

int64_t tms_intern(struct tms_context *context, enum tms_class cls, const char *name, size_t length)
{
    return intern_by(context, cls, name, length, tms_names_intern);
}

int64_t tms_intern_new(struct tms_context *context, enum tms_class cls, const char *name,
                       size_t length)
{
    return intern_by(context, cls, name, length, tms_names_add);
}

const char *tms_name(const struct tms_context *context, enum tms_class cls, uint32_t id,
                     char *buffer)
{
    if (cls <= TMS_CLASS_NONE || cls >= TMS_CLASS_COUNT) {
        return "";
    }
    if (cls == TMS_CLASS_LOCATION && id >= TMS_LOCATION_NUMBER) {
        if (buffer == NULL) {
            return "";
        }
        snprintf(buffer, TMS_NUMBER_SIZE, "%u", id - TMS_LOCATION_NUMBER);
        return buffer;
    }
    return tms_names_text(&context->names[cls], id);
}

uint32_t tms_name_count(const struct tms_context *context, enum tms_class cls)
{
    return cls > TMS_CLASS_NONE && cls < TMS_CLASS_COUNT ? context->names[cls].count : 0;
}

/* The ids that the target of an event may have, and its orders, by its kind. */
struct bounds {
    uint32_t least, most;
    uint32_t orders; /* as bits */
};

static void find_bounds(const struct tms_context *context, struct bounds bounds[TMS_EVENT_COUNT])
{
    for (int kind = 0; kind < TMS_EVENT_COUNT; kind++) {
        bounds[kind] =
            (struct bounds){!tms_operand_is_optional((enum tms_event_kind)kind),
                            context->names[tms_event_class(kind)].count, tms_event_orders(kind)};
    }
}

size_t tms_events_known(const struct tms_context *context, const struct tms_event *events,
                        size_t count)
{
    uint32_t threads = context->names[TMS_CLASS_THREAD].count;
    uint32_t locations = context->names[TMS_CLASS_LOCATION].count;
    struct bounds bounds[TMS_EVENT_COUNT];
    size_t i;

    find_bounds(context, bounds);
    for (i = 0; i < count; i++) {
        const struct tms_event *event = &events[i];
        bool known = event->kind < TMS_EVENT_COUNT && event->thread - 1 < threads &&
                     event->target >= bounds[event->kind].least &&
                     event->target <= bounds[event->kind].most &&
                     (event->location <= locations || event->location >= TMS_LOCATION_NUMBER) &&
                     event->order < TMS_ORDER_COUNT &&
                     (bounds[event->kind].orders >> event->order & 1) != 0 &&
                     (event->reserved[0] | event->reserved[1]) == 0;
        if (!known) {
            break;
        }
    }
    return i;
}
