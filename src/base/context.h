/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context: names, the last error, and where complaints go. Everything else in the library
 * is created from one and reaches the names through it.
 */
#ifndef TMS_BASE_CONTEXT_H
#define TMS_BASE_CONTEXT_H

#include <stdarg.h>

#include "base/memory.h"
#include "base/names.h"
#include "tmesis/tmesis.h"

#define TMS_MESSAGE_SIZE 1024

struct tms_context {
    struct tms_memory memory;
    struct tms_names names[TMS_CLASS_COUNT]; /* [TMS_CLASS_NONE] stays empty */
    tms_complain *complain;
    void *user;
    char error[TMS_MESSAGE_SIZE];
};

/*
 * Records the sentence for a failure and returns its code: `return tms_fail(…)`. Like all sentences
 * of the library it is made printable (utf8.h): names and paths in it may hold any bytes.
 */
__attribute__((format(printf, 3, 4))) int tms_fail(struct tms_context *context, int code,
                                                   const char *format, ...);

/* Fails with TMS_ERR_MEMORY and its standard message. */
int tms_fail_memory(struct tms_context *context);

/* Passes a sentence to the user's complain function, if there is one. */
__attribute__((format(printf, 2, 3))) void tms_warn(struct tms_context *context, const char *format,
                                                    ...);

/* The location id of a plain decimal number below 2^31 without leading zeros, else 0. */
uint32_t tms_location_number(const char *text, size_t length);

/*
 * Returns how many of the events, from the first on, have a known kind, a valid order, existing
 * names and zero reserved bytes. Needed for events from a caller; those of readers are always
 * valid.
 */
size_t tms_events_known(const struct tms_context *context, const struct tms_event *events,
                        size_t count);

/* May an event of this kind do without an operand? */
static inline bool tms_operand_is_optional(enum tms_event_kind kind)
{
    return kind == TMS_EVENT_BEGIN || kind == TMS_EVENT_END ||
           tms_event_class(kind) == TMS_CLASS_NONE;
}

/* Does an event of this kind have a memory order? */
static inline bool tms_is_ordered(enum tms_event_kind kind)
{
    return kind >= TMS_EVENT_ATOMIC_READ && kind <= TMS_EVENT_FENCE;
}

/* Is it for `judge` alone, so that all other engines ignore it? */
static inline bool tms_is_for_judge(enum tms_event_kind kind)
{
    return kind >= TMS_EVENT_CALL && kind <= TMS_EVENT_DELAY && kind != TMS_EVENT_DEMOTE;
}

/* Do the engines that check the observed trace ignore it? */
static inline bool tms_is_unchecked(enum tms_event_kind kind)
{
    return tms_is_for_judge(kind) || (kind >= TMS_EVENT_FENCE && kind <= TMS_EVENT_RECEIVE);
}

#endif
