/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for the ids in a spool: threads, labels, source locations and call stacks. Names are
 * interned in a context, so that events and findings can use them; each is computed once. 0 is no
 * name; if out of memory, the functions return 0 and set `failed`.
 */
#ifndef TMS_SPOOL_SPOOL_NAMES_H
#define TMS_SPOOL_SPOOL_NAMES_H

#include "spool/heap_names.h"
#include "spool/lock_names.h"
#include "spool/spool_reader.h"
#include "symbol/symbols.h"
#include "tmesis/tmesis.h"

/* A site with its names. */
struct tms_site_names {
    uint32_t location, stack; /* 0: not asked for yet */
    uint32_t site;            /* its id, once the location was computed */
    uint32_t lock_location;   /* 0: not asked for yet */
};

struct tms_spool_names {
    struct tms_spool *spool;
    struct tms_context *context;
    struct tms_symbols *symbols;
    struct tms_site_names *sites; /* beside the spool's list of sites */
    uint32_t *labels;             /* by label id: 0: not computed yet */
    uint32_t *threads;            /* parallel to its list of threads */
    struct tms_heap_names heap;
    struct tms_recorded_blocks recorded;
    struct tms_lock_names locks;
    bool inlined; /* inlined functions are wanted as blocks (inlined_blocks.h) */
    bool failed;
};

/* What the labels of inlined functions end with. */
#define TMS_SPOOL_INLINED " (inlined)"

/* TMS_OK or TMS_ERR_MEMORY; call tms_spool_names_close in both cases. */
int tms_spool_names_open(struct tms_spool_names *names, struct tms_spool *spool,
                         struct tms_context *context);
void tms_spool_names_close(struct tms_spool_names *names);

/* The id of a text of any length in a class. */
uint32_t tms_spool_intern(struct tms_spool_names *names, enum tms_class cls, const char *text);

/* "main", the thread's own name, or "T3"; different for different threads. */
uint32_t tms_spool_thread(struct tms_spool_names *names, uint32_t index);

/* The demangled function, or the text of the annotation. */
uint32_t tms_spool_find_label(struct tms_spool_names *names, uint32_t id);

/* The same with a fast path: label ids are consecutive from 1. */
static inline uint32_t tms_spool_label(struct tms_spool_names *names, uint32_t id)
{
    bool known = id <= names->spool->lists[TMS_SPOOL_LABEL].count && names->labels[id] != 0;

    return known ? names->labels[id] : tms_spool_find_label(names, id);
}

/* "bank.c:12", or "bank+0x1234". */
uint32_t tms_spool_find_location(struct tms_spool_names *names, uint32_t site);

/* The same with a fast path, as every event needs it: site ids are mostly consecutive from 1. */
static inline uint32_t tms_spool_location(struct tms_spool_names *names, uint32_t site)
{
    bool dense = site != 0 && site <= names->spool->lists[TMS_SPOOL_SITE].count;
    const struct tms_site_names *known = dense ? &names->sites[site - 1] : NULL;

    return known != NULL && known->site == site ? known->location
                                                : tms_spool_find_location(names, site);
}

/*
 * The same for an operation on a lock: skips functions that only acquire or release one
 * (tms_frame.locks), if a function of the program calls them.
 */
uint32_t tms_spool_lock_location(struct tms_spool_names *names, uint32_t site);

/* One or the other, by the kind of the event. */
static inline uint32_t tms_spool_event_location(struct tms_spool_names *names, uint32_t site,
                                                uint8_t kind)
{
#define X(name, text, cls)                                                                         \
    | (TMS_CLASS_##cls == TMS_CLASS_LOCK ? UINT32_C(1) << TMS_EVENT_##name : 0)
    const uint32_t locks = 0 TMS_EVENT_KINDS(X);
#undef X

    return kind < 32 && (locks >> kind & 1) != 0 ? tms_spool_lock_location(names, site)
                                                 : tms_spool_location(names, site);
}

/* The call stack, in the format of TMS_CLASS_STACK. */
uint32_t tms_spool_stack(struct tms_spool_names *names, uint32_t site);

/* The frame that represents a site: the innermost in a file that is not the system's. */
const struct tms_frame *tms_spool_frame(struct tms_spool_names *names, uint32_t site);

/* The last thread whose stack contains an address; NULL: none. */
const struct tms_spool_thread *tms_spool_stack_owner(const struct tms_spool *spool,
                                                     uint64_t address);

/* The function that a thread begins with, "main" of the first; "thread" if unknown. */
const char *tms_spool_start_function(struct tms_spool_names *names,
                                     const struct tms_spool_thread *thread);

/* The name that an annotation gave to the object at an address, or NULL. */
const char *tms_spool_given_name(const struct tms_spool *spool, uint64_t address);

/* A transaction as the library has it, with the names of its thread, label and place. */
struct tms_transaction tms_spool_name_transaction(struct tms_spool_names *names,
                                                  const struct tms_spool_transaction *from);

#endif
