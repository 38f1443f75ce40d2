/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a spool into the events of a trace; see spool_trace.h. */
#include "spool/spool_trace.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "protocol/config.h"
#include "runtime/core/rt.h"
#include "spool/address_map.h"
#include "spool/coalesce_lines.h"
#include "spool/event_merge.h"
#include "spool/inlined_blocks.h"
#include "spool/prune.h"
#include "spool/variable_names.h"

#define BATCH   4096
#define AHEAD   16  /* prefetch distance in events */
#define THREADS 256 /* with cached ids */

struct work {
    struct tms_spool_names *names;
    struct tms_address_map places;
    struct tms_prune prune;
    struct tms_prune_thread *thread; /* whose events are taken */
    struct tms_inlined inlined;
    struct tms_variable_names naming;
    struct tms_coalesce coalesce;
    struct tms_merge_turn *renewals; /* of memory, where the order of accesses matters */
    size_t renewal_count, renewal_capacity;
    struct tms_analysis *judge; /* for a recording that may be truncated: validates every event */
    struct tms_trace_outcome *outcome;
    struct tms_event_sites *sites; /* NULL: not wanted */
    tms_trace_sink *sink;
    void *user;
    size_t count;
    struct tms_event batch[BATCH];
    uint32_t threads[THREADS]; /* ids, by index; 0: not asked for yet */
};

/* ---- the first pass --------------------------------------------------------------------- */

/* The kind of object of an operation; for an access to memory, 0 or enum tms_spool_mark. */
static unsigned object_of(const struct tms_spool_event *event)
{
    return tms_is_with_order(event) ? tms_spool_mark(event) : event->what;
}

/* Is it a semaphore or the like, which are variables of the trace? */
static bool is_apart(const struct tms_spool_event *event)
{
    return object_of(event) == TMS_RT_SEMAPHORE || object_of(event) == TMS_RT_ONCE;
}

static bool is_memory(const struct tms_spool_event *event)
{
    return tms_is_access(event) && !is_apart(event);
}

/* The kind of object that an address denotes, if it is not memory. */
static unsigned what_of(const struct tms_spool_event *event)
{
    static const uint8_t objects[TMS_EVENT_COUNT] = {
        [TMS_EVENT_WAIT] = TMS_RT_CONDITION,
        [TMS_EVENT_ARRIVE] = TMS_RT_BARRIER,
        [TMS_EVENT_DEPART] = TMS_RT_BARRIER,
    };

    return is_apart(event) ? object_of(event) : objects[event->kind]; /* TMS_RT_LOCK for the rest */
}

/* As tms_event_class, but inlined because every event needs it. */
static inline enum tms_class class_of(const struct tms_spool_event *event)
{
    static const uint8_t classes[UINT8_MAX + 1] = {
#define X(name, text, cls) [TMS_EVENT_##name] = TMS_CLASS_##cls,
        TMS_EVENT_KINDS(X)
#undef X
            [TMS_SPOOL_IDLE] = TMS_CLASS_LABEL,
    };

    return (enum tms_class)classes[event->kind];
}

/*
 * Is the target an address of memory or an object? Otherwise it is a label, a thread, or memory
 * that is cleared.
 */
static bool has_place(const struct tms_spool_event *event)
{
    const unsigned places = 1u << TMS_CLASS_VARIABLE | 1u << TMS_CLASS_LOCK |
                            1u << TMS_CLASS_CONDITION | 1u << TMS_CLASS_BARRIER;

    return (places >> class_of(event) & 1) != 0;
}

static bool note_place(struct tms_address_map *places, const struct tms_spool_event *event)
{
    if (is_memory(event)) {
        return tms_address_map_note(places, event->target, event->target + tms_event_bytes(event));
    }
    return !has_place(event) || tms_address_map_note_object(places, event->target, what_of(event));
}

/* Is memory new from here on? */
static bool is_renewal(const struct tms_spool_event *event)
{
    return event->kind == TMS_EVENT_ALLOC || (event->kind == TMS_EVENT_FREE && event->extra != 0);
}

static bool note_renewal(struct work *work, const struct tms_spool_event *event, uint32_t thread)
{
    if (!TMS_RESERVE(NULL, &work->renewals, &work->renewal_capacity, work->renewal_count + 1, 64)) {
        return false;
    }
    work->renewals[work->renewal_count++] = tms_merge_stop(event->number, thread);
    /* Renewals cover whole words. */
    return tms_address_map_note(&work->places, event->target & ~(uint64_t)(TMS_WORD - 1),
                                (event->target + event->extra + TMS_WORD - 1) &
                                    ~(uint64_t)(TMS_WORD - 1));
}

/*
 * A lock that one thread releases for another becomes a semaphore: its operations become updates,
 * or reads if they are shared.
 */
static bool is_unowned(const struct work *work, const struct tms_spool_event *event)
{
    return work->names->spool->lists[TMS_SPOOL_UNOWNED].count > 0 &&
           class_of(event) == TMS_CLASS_LOCK &&
           tms_spool_find(work->names->spool, TMS_SPOOL_UNOWNED, event->target) != NULL;
}

static struct tms_spool_event as_semaphore(const struct tms_spool_event *event)
{
    struct tms_spool_event semaphore = *event;
    bool exclusive = event->kind == TMS_EVENT_ACQUIRE || event->kind == TMS_EVENT_RELEASE;

    semaphore.what = TMS_RT_SEMAPHORE;
    semaphore.size = 1;
    semaphore.kind = exclusive ? TMS_EVENT_UPDATE : TMS_EVENT_READ;
    return semaphore;
}

static bool note_event(struct work *work, const struct tms_spool_event *event, uint32_t thread)
{
    struct tms_spool_event semaphore;

    if (is_unowned(work, event)) {
        semaphore = as_semaphore(event);
        event = &semaphore;
    }
    return is_renewal(event) ? note_renewal(work, event, thread) : note_place(&work->places, event);
}

/* Prefetches the entry of an access AHEAD events later. */
static inline void expect(const struct work *work, const struct tms_spool_event *at,
                          const struct tms_spool_event *known)
{
    if (known - at > AHEAD && is_memory(&at[AHEAD])) {
        tms_address_map_expect(&work->places, at[AHEAD].target);
    }
}

static bool note_chunk(struct work *work, size_t index)
{
    struct tms_spool_chunk_ref *chunk = &work->names->spool->events[index];
    const struct tms_spool_event *at;
    size_t count = tms_chunk_events(work->names->spool, index, &at);
    const struct tms_spool_event *end = at + count;
    bool sound = true;
    uint64_t last = 0;

    while (at < end) {
        struct tms_spool_event whole;
        expect(work, at, end);
        const struct tms_spool_event *event = tms_coalesce_next(&work->coalesce, &at, end, &whole);
        bool sense = tms_event_makes_sense(event);
        if (sense && !note_event(work, event, chunk->thread)) {
            return false;
        }
        sound = sound && sense && event->number >= last && at[-1].number >= event->number;
        last = event->number;
    }
    chunk->sound = sound;
    return true;
}

static bool note_places(struct work *work)
{
    if (!tms_address_map_open(&work->places)) {
        return false;
    }
    for (size_t i = 0; i < work->names->spool->event_count; i++) {
        if (!note_chunk(work, i)) {
            return false;
        }
    }
    return tms_address_map_settle(&work->places);
}

/* ---- names ------------------------------------------------------------------------------ */

_Static_assert((unsigned)TMS_SPOOL_RETRY == TMS_NAMING_MEMORY, "accesses are marked so");

/* The id of the piece at `address` of a word. Its first access determines the name. */
static inline uint32_t name_of(struct work *work, struct tms_mapped_page *page, uint64_t address,
                               const struct tms_spool_event *access)
{
    unsigned index = tms_address_map_index(address);
    uint32_t *name = tms_address_map_name(&work->places, &page->words[index], address % TMS_WORD);

    if (*name == 0) {
        struct tms_named_thing thing = {.cls = TMS_CLASS_VARIABLE,
                                        .what = tms_spool_mark(access) | TMS_NAMING_MEMORY,
                                        .origin = &page->origins[index],
                                        .address = address,
                                        .bytes = tms_mapped_next(&page->words[index], address) -
                                                 address};
        *name = tms_variable_name(&work->naming, &thing);
    }
    return *name;
}

/* ---- events ----------------------------------------------------------------------------- */

/* Validates a batch: drops everything from the first event that is not well-formed. */
static int judge(struct work *work)
{
    int code = tms_analysis_feed(work->judge, work->batch, work->count, NULL);

    if (code == TMS_ERR_MALFORMED) {
        struct tms_trace_summary summary;
        tms_analysis_summary(work->judge, &summary);
        work->count = (size_t)(summary.events - 1 - work->outcome->events);
        work->outcome->cut = true;
        if (work->sites != NULL) {
            tms_event_sites_truncate(work->sites, summary.events - 1);
        }
        return TMS_OK;
    }
    return code;
}

static int flush(struct work *work)
{
    int code = work->names->failed                      ? TMS_ERR_MEMORY
               : work->judge != NULL && work->count > 0 ? judge(work)
                                                        : TMS_OK;

    if (code >= 0 && work->count > 0) {
        code = work->sink(work->user, work->batch, work->count);
    }
    work->outcome->events += work->count;
    work->count = 0;
    return code < 0 ? code : TMS_OK;
}

/*
 * Passes an event on. Until here its `location` was the site in the spool; replaces it with the
 * name.
 */
static inline int put(void *user, const struct tms_event *event)
{
    struct work *work = user;

    if (work->outcome->cut) {
        return TMS_OK;
    }
    if (work->sites != NULL && !tms_event_sites_note(work->sites, event->location)) {
        return TMS_ERR_MEMORY;
    }
    struct tms_event *named = &work->batch[work->count++];
    *named = *event;
    named->location = tms_spool_event_location(work->names, event->location, event->kind);
    return work->count == BATCH ? flush(work) : TMS_OK;
}

static int put_inlined(void *user, const struct tms_event *event)
{
    struct work *work = user;

    work->outcome->inlined += event->kind == TMS_EVENT_BEGIN;
    return tms_prune_event(work->thread, event, put, work);
}

static inline int pass(struct work *work, const struct tms_spool_event *from,
                       const struct tms_event *event)
{
    int code = work->names->inlined
                   ? tms_inlined_before(&work->inlined, from, event, put_inlined, work)
                   : TMS_OK;

    return code == TMS_OK ? tms_prune_event(work->thread, event, put, work) : code;
}

/* Fast path: nearly all accesses follow others in a block. */
static inline int pass_access(struct work *work, const struct tms_spool_event *from,
                              const struct tms_event *event)
{
    return !work->names->inlined && tms_prune_passes(work->thread) ? put(work, event)
                                                                   : pass(work, from, event);
}

/* A failed compare-and-swap, which is not an own step. */
static int pass_retry(struct work *work, const struct tms_spool_event *from,
                      const struct tms_event *event)
{
    struct tms_event retry = *event;

    retry.kind = TMS_EVENT_RETRY;
    retry.order = TMS_ORDER_NONE;
    int code = pass(work, from, &retry);
    code = code == TMS_OK ? pass(work, from, event) : code;
    return code == TMS_OK ? pass(work, from, &retry) : code;
}

/* One event for each piece that the access covers. */
static int put_pieces(struct work *work, const struct tms_spool_event *access,
                      struct tms_event *event)
{
    uint64_t end = access->target + tms_event_bytes(access), page_end = 0;
    struct tms_mapped_page *page = NULL;
    bool read = access->kind == TMS_EVENT_READ || access->kind == TMS_EVENT_ATOMIC_READ;
    bool retry = read && tms_spool_mark(access) == TMS_SPOOL_RETRY;
    int code = TMS_OK;

    for (uint64_t at = access->target; at < end && code == TMS_OK && !work->outcome->cut;) {
        if (at >= page_end) {
            page = tms_address_map_page(&work->places, at);
            page_end = at - at % TMS_PAGE_BYTES + TMS_PAGE_BYTES;
        }
        struct tms_mapped_word *word = &page->words[tms_address_map_index(at)];
        if (!work->prune.off && tms_address_map_private(&work->places, word) &&
            !tms_prune_keeps(work->thread)) {
            at = tms_mapped_word_end(word, at);
        } else {
            event->target = name_of(work, page, at, access);
            code = retry ? pass_retry(work, access, event) : pass_access(work, access, event);
            at = tms_mapped_next(word, at);
        }
    }
    return code;
}

static int put_object(struct work *work, const struct tms_spool_event *from,
                      struct tms_event *event)
{
    unsigned what = what_of(from);
    struct tms_mapped_object *object = tms_address_map_object(&work->places, from->target, what);

    assert(object != NULL);
    if (object->word.name == 0) {
        struct tms_named_thing thing = {.cls = class_of(from),
                                        .what = what,
                                        .origin = &object->origin,
                                        .event = from->number,
                                        .address = from->target};
        object->word.name = tms_variable_name(&work->naming, &thing);
    }
    event->target = object->word.name;
    return pass(work, from, event);
}

/* Transactions without an event: one represents those with the same name that follow it. */
static int put_idle(struct work *work, const struct tms_spool_event *from, struct tms_event *event)
{
    event->kind = TMS_EVENT_BEGIN;
    int code = pass(work, from, event);
    event->kind = TMS_EVENT_END;
    return code == TMS_OK ? pass(work, from, event) : code;
}

static int renew(struct work *work, const struct tms_spool_event *from)
{
    bool allocated = from->kind == TMS_EVENT_ALLOC;

    if (is_renewal(from)) {
        return tms_address_map_renew(&work->places, from->target, from->extra, allocated,
                                     from->site)
                   ? TMS_OK
                   : TMS_ERR_MEMORY;
    }
    if (from->kind == TMS_EVENT_FREE) {
        tms_address_map_renew_object(&work->places, from->target, from->what);
        if (from->what == TMS_RT_LOCK) { /* it may have become a semaphore */
            tms_address_map_renew_object(&work->places, from->target, TMS_RT_SEMAPHORE);
        }
    }
    return TMS_OK;
}

static int take_unowned(struct work *work, const struct tms_spool_event *from,
                        struct tms_event *event)
{
    struct tms_spool_event semaphore = as_semaphore(from);

    event->kind = semaphore.kind;
    int code = put_object(work, &semaphore, event);
    bool taken = from->kind == TMS_EVENT_ACQUIRE || from->kind == TMS_EVENT_SHARED_ACQUIRE;
    event->kind = TMS_EVENT_CLEAR; /* it waits for others */
    event->target = 0;
    return code == TMS_OK && taken ? pass(work, from, event) : code;
}

/* A block may have no label; a function needs one, even if it has no symbol. */
static uint32_t label_of(struct work *work, const struct tms_spool_event *from)
{
    uint32_t label = tms_spool_label(work->names, (uint32_t)from->target);
    bool needed = from->kind == TMS_EVENT_CALL || from->kind == TMS_EVENT_RETURN ||
                  from->kind == TMS_EVENT_DEMOTE;

    return label == 0 && needed ? tms_spool_intern(work->names, TMS_CLASS_LABEL, "?") : label;
}

static uint32_t channel_of(struct work *work, const struct tms_spool_event *from)
{
    char name[32];

    snprintf(name, sizeof(name), "channel:%u", (unsigned)from->target);
    return tms_spool_intern(work->names, TMS_CLASS_CHANNEL, name);
}

static int take_event(struct work *work, const struct tms_spool_event *from, uint32_t thread)
{
    struct tms_event event = {.thread = thread, .kind = from->kind, .location = from->site};

    if (tms_is_with_order(from)) {
        event.order = (uint8_t)tms_spool_order(from);
    }
    if (is_unowned(work, from)) {
        return take_unowned(work, from, &event);
    }
    if (is_memory(from)) {
        return put_pieces(work, from, &event);
    }
    if (has_place(from)) {
        return put_object(work, from, &event);
    }
    switch (class_of(from)) {
    case TMS_CLASS_LABEL:
        event.target = label_of(work, from);
        return from->kind == TMS_SPOOL_IDLE ? put_idle(work, from, &event)
                                            : pass(work, from, &event);
    case TMS_CLASS_THREAD:
        event.target = tms_spool_thread(work->names, (uint32_t)from->target);
        return pass(work, from, &event);
    case TMS_CLASS_CHANNEL:
        event.target = channel_of(work, from);
        return pass(work, from, &event);
    case TMS_CLASS_NONE:
        return pass(work, from, &event);
    default: /* new memory shows by new names */
        return renew(work, from);
    }
}

static uint32_t thread_id(struct work *work, uint32_t thread)
{
    uint32_t *known = &work->threads[thread % THREADS];

    if (thread >= THREADS) {
        return tms_spool_thread(work->names, thread);
    }
    *known = *known != 0 ? *known : tms_spool_thread(work->names, thread);
    return *known;
}

/* The second pass: which threads use the memory, from one renewal to the next. */
static int note_use(struct work *work, const struct tms_spool_event *from, uint32_t thread)
{
    if (is_renewal(from)) {
        tms_address_map_end_uses(&work->places, from->target, from->extra);
    }
    if (!is_memory(from)) {
        return TMS_OK;
    }
    uint64_t end = from->target + tms_event_bytes(from);
    for (uint64_t at = from->target; at < end;) {
        struct tms_mapped_word *word = tms_address_map_word(&work->places, at);
        if (!tms_address_map_use(&work->places, word, thread)) {
            return TMS_ERR_MEMORY;
        }
        at = tms_mapped_word_end(word, at);
    }
    return TMS_OK;
}

/* Takes an event of a thread. */
typedef int taker(struct work *work, const struct tms_spool_event *from, uint32_t thread);

static inline int take_run(struct work *work, const struct tms_merge *merge,
                           const struct tms_spool_event *at, size_t count, uint32_t thread,
                           taker *take)
{
    const struct tms_spool_event *end = at + count, *known = end + merge->ahead;
    int code = TMS_OK;

    while (at < end && code == TMS_OK && !work->outcome->cut) {
        struct tms_spool_event whole;
        expect(work, at, known);
        code = take(work, tms_merge_next(merge, &at, end, &whole), thread);
    }
    return code;
}

static int note_uses(struct work *work)
{
    const struct tms_spool_event *events;
    struct tms_merge merge = {0};
    uint32_t thread;
    size_t count;
    int code = TMS_ERR_MEMORY;

    if (work->prune.off) {
        return TMS_OK;
    }
    if (tms_merge_open(&merge, work->names->spool)) {
        tms_merge_loosen(&merge, work->renewals, work->renewal_count);
        code = TMS_OK;
        while (code == TMS_OK && (count = tms_merge_run(&merge, &events, &thread)) > 0) {
            uint32_t user = thread != 0 ? thread : TMS_USED_BY_SEVERAL; /* 0: unknown */
            code = take_run(work, &merge, events, count, user, note_use);
        }
    }
    tms_merge_close(&merge);
    return code;
}

/* The last pass, in the order of the trace. */
static int make_events(struct work *work)
{
    const struct tms_spool_event *events;
    struct tms_merge merge = {0};
    uint32_t thread;
    size_t count;
    int code = TMS_ERR_MEMORY;

    if (tms_address_map_start(&work->places) && tms_merge_open(&merge, work->names->spool)) {
        code = TMS_OK;
        while (code == TMS_OK && !work->outcome->cut &&
               (count = tms_merge_run(&merge, &events, &thread)) > 0) {
            uint32_t id = thread_id(work, thread);
            work->thread = tms_prune_thread(&work->prune, id);
            code = work->thread != NULL ? take_run(work, &merge, events, count, id, take_event)
                                        : TMS_ERR_MEMORY;
        }
    }
    tms_merge_close(&merge);
    return code == TMS_OK ? flush(work) : code;
}

static int hire_judge(struct work *work)
{
    char sentence[TMS_SPOOL_REASON];
    struct tms_settings settings;

    if (!tms_spool_loss_sync(work->names->spool, sentence)) {
        return TMS_OK;
    }
    tms_settings_init(&settings);
    settings.engines = "";
    return tms_analysis_new(work->names->context, &settings, &work->judge);
}

int tms_spool_trace(struct tms_spool_names *names, tms_trace_sink *sink, void *user,
                    struct tms_trace_outcome *outcome, struct tms_event_sites *sites)
{
    struct work *work = calloc(1, sizeof(*work));

    *outcome = (struct tms_trace_outcome){0};
    if (work == NULL) {
        return TMS_ERR_MEMORY;
    }
    work->names = names;
    work->inlined.names = work->naming.names = work->coalesce.names = names;
    work->naming.places = &work->places;
    /* Full recordings, and synchronisation recorded alongside a check, are not pruned. */
    work->prune.off = (names->spool->header.mode & (TMS_RT_FULL | TMS_RT_RECORD_SYNC)) != 0;
    work->outcome = outcome;
    work->sites = sites;
    work->sink = sink;
    work->user = user;
    int code = note_places(work) ? hire_judge(work) : TMS_ERR_MEMORY;
    if (code == TMS_OK) {
        code = note_uses(work);
    }
    if (code == TMS_OK) {
        code = make_events(work);
    }
    tms_analysis_free(work->judge);
    tms_inlined_free(&work->inlined);
    tms_prune_free(&work->prune);
    tms_address_map_free(&work->places);
    tms_variable_names_free(&work->naming);
    free(work->renewals);
    free(work);
    return names->failed ? TMS_ERR_MEMORY : code;
}
