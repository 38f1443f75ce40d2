/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has a variable escaped from the thread that made it (Wang and Stoller, section 3)? No other
 * thread can interfere with accesses before that, and the lockset engines ignore them.
 *
 * By settings.escape:
 *   events  a variable escapes with an `escape` event of an object that it belongs to, and before
 *           such an event, or without one, it never has;
 *   auto    it escapes with the first of such an event and the first access by a second thread;
 *           the first thread is the one that allocated it, if the trace has that, else the first
 *           one seen to touch it;
 *   off     it has, from the start.
 *
 * spec/object_fields.h maps objects to variables. An event may come before the first event that
 * names a variable of the object, so objects are marked too, and a new variable is looked up among
 * them once.
 */
#ifndef TMS_LOCKSET_ESCAPE_H
#define TMS_LOCKSET_ESCAPE_H

#include "engine_api/engine.h"
#include "spec/object_fields.h"

#define TMS_ESCAPED UINT32_MAX

struct tms_escapes {
    struct tms_host *host;
    enum tms_escape when;
    struct tms_object_fields members;
    bool indexed;        /* members is there */
    bool marked;         /* some object is */
    uint32_t *owner;     /* by variable: 0: unknown; the thread that has it; TMS_ESCAPED */
    uint32_t *of_object; /* by object: likewise */
    size_t owner_capacity, object_capacity;
};

/* Always works; all zero is cleared. */
void tms_escapes_init(struct tms_escapes *escapes, struct tms_host *host);
void tms_escapes_clear(struct tms_escapes *escapes);

/* At ESCAPE, STEP (allocations are steps) and FORGET. */
void tms_escapes_follow(struct tms_escapes *escapes, const struct tms_op *op);

/* At READ, WRITE and UPDATE: has the variable escaped, the access itself counted? */
bool tms_escapes_by_access(struct tms_escapes *escapes, const struct tms_op *op);
static inline bool tms_escaped(struct tms_escapes *escapes, const struct tms_op *op)
{
    return escapes->when == TMS_ESCAPE_OFF ||
           (op->target < escapes->owner_capacity && escapes->owner[op->target] == TMS_ESCAPED) ||
           tms_escapes_by_access(escapes, op);
}

#endif
