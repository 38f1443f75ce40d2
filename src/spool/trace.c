/* SPDX-License-Identifier: Apache-2.0 */
/* From a spool to the events of a trace; see trace.h. */
#include "spool/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/config.h"
#include "runtime/rt.h"
#include "spool/merge.h"
#include "spool/places.h"
#include "spool/thin.h"

#define BATCH 4096

struct work {
    struct tms_spool_names *names;
    struct tms_places places;
    struct tms_thin thin;
    uint64_t *owners; /* by id of TMS_CLASS_OBJECT: the address that took the name, 0: nobody */
    size_t owner_count;
    struct tms_analysis *judge; /* of a recording that may be cut: looks at every event */
    struct tms_trace_outcome *outcome;
    tms_trace_sink *sink;
    void *user;
    size_t count;
    struct tms_event batch[BATCH];
};

/* ---- the first pass --------------------------------------------------------------------- */

static bool is_access(const struct tms_spool_event *event)
{
    return event->kind == TMS_EVENT_READ || event->kind == TMS_EVENT_WRITE ||
           event->kind == TMS_EVENT_UPDATE;
}

/* What an address stands for: memory, or an object of one of the kinds. */
static unsigned what_of(const struct tms_spool_event *event)
{
    static const uint8_t objects[TMS_EVENT_COUNT] = {
        [TMS_EVENT_WAIT] = TMS_RT_CONDITION,
        [TMS_EVENT_ARRIVE] = TMS_RT_BARRIER,
        [TMS_EVENT_DEPART] = TMS_RT_BARRIER,
    };

    if (!is_access(event)) {
        return objects[event->kind]; /* TMS_RT_LOCK for the rest */
    }
    return event->what == TMS_RT_SEMAPHORE || event->what == TMS_RT_ONCE ? event->what
                                                                         : TMS_PLACE_MEMORY;
}

/* Does the target name a place? Otherwise it is a label, a thread, or memory that is renewed. */
static bool has_place(const struct tms_spool_event *event)
{
    switch (tms_event_class((enum tms_event_kind)event->kind)) {
    case TMS_CLASS_VARIABLE:
    case TMS_CLASS_LOCK:
    case TMS_CLASS_CONDITION:
    case TMS_CLASS_BARRIER:
        return true;
    default:
        return false;
    }
}

static bool note_places(struct work *work)
{
    const struct tms_spool *spool = work->names->spool;

    for (size_t i = 0; i < spool->event_count; i++) {
        const struct tms_spool_event *events;
        size_t count = tms_chunk_events(spool, i, &events);
        for (size_t j = 0; j < count; j++) {
            const struct tms_spool_event *event = &events[j];
            if (tms_event_makes_sense(event) && has_place(event) &&
                !tms_places_note(&work->places, event->target, what_of(event), event->size)) {
                return false;
            }
        }
    }
    return tms_places_settle(&work->places);
}

/* ---- names ------------------------------------------------------------------------------ */

/* Can the name be this address's? It is its own from then on. */
static bool claim(struct work *work, const char *name, uint64_t address)
{
    uint32_t id = tms_spool_intern(work->names, TMS_CLASS_OBJECT, name);

    if (id >= work->owner_count) {
        size_t count = 2 * (size_t)id + 64;
        uint64_t *grown = realloc(work->owners, count * sizeof(*grown));
        if (grown == NULL) {
            work->names->failed = true;
            return true;
        }
        memset(&grown[work->owner_count], 0, (count - work->owner_count) * sizeof(*grown));
        work->owners = grown;
        work->owner_count = count;
    }
    if (work->owners[id] == 0) {
        work->owners[id] = address;
    }
    return work->owners[id] == address;
}

/*
 * Writes `name`, or name#2, name#3 …: one that no other address has. Blanks and bars, which not
 * every format can hold, are replaced.
 */
static void write_distinct(struct work *work, FILE *out, const char *name, uint64_t address)
{
    char *text = NULL;
    bool claimed = false;

    for (unsigned i = 1; !claimed && !work->names->failed; i++) {
        free(text);
        if ((i == 1 ? asprintf(&text, "%s", name) : asprintf(&text, "%s#%u", name, i)) < 0) {
            text = NULL;
            work->names->failed = true;
            break;
        }
        for (char *at = text; *at != '\0'; at++) {
            *at = (unsigned char)*at <= ' ' || *at == '|' || *at == 0x7f ? '_' : *at;
        }
        claimed = claim(work, text, address);
    }
    fputs(text != NULL ? text : "", out);
    free(text);
}

static void write_block(struct work *work, FILE *out, const struct tms_place *place,
                        uint64_t address)
{
    const struct tms_place_block *block = &work->places.blocks[place->block - 1];
    uint32_t location = tms_spool_location(work->names, block->site);
    char number[TMS_NUMBER_SIZE];

    fputs("heap", out);
    if (location != 0) {
        fputc(':', out);
        for (const char *at = tms_name(work->names->context, TMS_CLASS_LOCATION, location, number);
             *at != '\0'; at++) {
            fputc((unsigned char)*at <= ' ' || *at == '|' ? '_' : *at, out);
        }
    }
    fprintf(out, "#%u[%" PRIu64 "]", place->block, address - block->start);
}

static void write_name(struct work *work, FILE *out, const struct tms_place *place,
                       uint64_t address)
{
    const char *given = tms_spool_given_name(work->names->spool, address);
    struct tms_datum datum;

    if (given != NULL) {
        write_distinct(work, out, given, address);
    } else if (place->block != 0) {
        write_block(work, out, place, address);
        return; /* it has the number of the block */
    } else if (tms_symbols_datum(work->names->symbols, address, &datum)) {
        write_distinct(work, out, datum.name, address - datum.offset);
        if (datum.offset != 0) {
            fprintf(out, "+%" PRIu64, datum.offset);
        }
    } else {
        fprintf(out, "0x%" PRIx64, address);
    }
    if (place->renewal != 0) {
        fprintf(out, "@%u", place->renewal);
    }
}

/* What the name of an object starts with, if it lies among the variables of the trace. */
static const char *prefix_of(unsigned what)
{
    return what == TMS_RT_SEMAPHORE ? "semaphore:" : what == TMS_RT_ONCE ? "once:" : "";
}

/* The id of the piece at `address` of a place. */
static uint32_t name_of(struct work *work, enum tms_class cls, const struct tms_place *place,
                        uint64_t address)
{
    unsigned what = place->key % 8;
    unsigned offset = what == TMS_PLACE_MEMORY ? address % 8 : 0;
    uint32_t *name = tms_places_name(&work->places, place, offset);
    char *text = NULL;
    size_t size;

    if (*name != 0) {
        return *name;
    }
    FILE *out = open_memstream(&text, &size);
    if (out != NULL) {
        fputs(prefix_of(what), out);
        write_name(work, out, place, address);
    }
    if (out == NULL || fclose(out) != 0) {
        work->names->failed = true;
    } else {
        *name = tms_spool_intern(work->names, cls, text);
    }
    free(text);
    return *name;
}

/* ---- events ----------------------------------------------------------------------------- */

static int flush(struct work *work)
{
    int code = work->count > 0 ? work->sink(work->user, work->batch, work->count) : TMS_OK;

    work->outcome->events += work->count;
    work->count = 0;
    return code;
}

/* Hands an event on; does it still fit to those before it? */
static int put(void *user, const struct tms_event *event)
{
    struct work *work = user;

    if (work->names->failed) {
        return TMS_ERR_MEMORY;
    }
    if (work->judge != NULL && !work->outcome->cut) {
        int code = tms_analysis_feed(work->judge, event, 1, NULL);
        if (code == TMS_ERR_MALFORMED) {
            work->outcome->cut = true;
        } else if (code < 0) {
            return code;
        }
    }
    if (work->outcome->cut) {
        return TMS_OK;
    }
    work->batch[work->count++] = *event;
    return work->count == BATCH ? flush(work) : TMS_OK;
}

static int pass(struct work *work, const struct tms_spool_event *from, struct tms_event *event)
{
    event->location = tms_spool_location(work->names, from->site);
    return tms_thin_event(&work->thin, event, put, work);
}

/* One event for each piece that the access covers. */
static int put_pieces(struct work *work, const struct tms_spool_event *access,
                      struct tms_event *event)
{
    uint64_t end = access->target + access->size;
    int code = TMS_OK;

    for (uint64_t at = access->target; at < end && code == TMS_OK && !work->outcome->cut;) {
        struct tms_place *place = tms_places_find(&work->places, at, TMS_PLACE_MEMORY);
        bool is_private = !work->thin.off && tms_places_private(&work->places, place);
        if (!is_private || tms_thin_keeps(&work->thin, event->thread)) {
            event->target = name_of(work, TMS_CLASS_VARIABLE, place, at);
            code = pass(work, access, event);
        }
        at += tms_place_piece_end(place, at % 8) - at % 8;
    }
    return code;
}

static int put_place(struct work *work, const struct tms_spool_event *from, struct tms_event *event)
{
    unsigned what = what_of(from);

    if (what == TMS_PLACE_MEMORY) {
        return put_pieces(work, from, event);
    }
    const struct tms_place *place = tms_places_find(&work->places, from->target, what);
    event->target =
        name_of(work, tms_event_class((enum tms_event_kind)from->kind), place, from->target);
    return pass(work, from, event);
}

static int renew(struct work *work, const struct tms_spool_event *from)
{
    bool memory =
        from->kind == TMS_EVENT_ALLOC || (from->kind == TMS_EVENT_FREE && from->extra != 0);

    if (from->kind == TMS_EVENT_FREE && !memory) {
        tms_places_renew_object(&work->places, from->target, from->what);
    }
    return !memory || tms_places_renew(&work->places, from->target, from->extra,
                                       from->kind == TMS_EVENT_ALLOC, from->site)
               ? TMS_OK
               : TMS_ERR_MEMORY;
}

static int take_event(struct work *work, const struct tms_spool_event *from, uint32_t thread)
{
    struct tms_event event = {.thread = tms_spool_thread(work->names, thread), .kind = from->kind};

    if (has_place(from)) {
        return put_place(work, from, &event);
    }
    switch (tms_event_class((enum tms_event_kind)from->kind)) {
    case TMS_CLASS_LABEL:
        event.target = tms_spool_label(work->names, (uint32_t)from->target);
        return pass(work, from, &event);
    case TMS_CLASS_THREAD:
        event.target = tms_spool_thread(work->names, (uint32_t)from->target);
        return pass(work, from, &event);
    default: /* what is new is told by new names */
        return renew(work, from);
    }
}

/* The second pass: which threads use the memory, from one renewal to the next. */
static int note_use(struct work *work, const struct tms_spool_event *from, uint32_t thread)
{
    if (!has_place(from)) {
        return renew(work, from);
    }
    if (what_of(from) != TMS_PLACE_MEMORY) {
        return TMS_OK;
    }
    uint64_t end = from->target + from->size;
    for (uint64_t at = from->target; at < end; at = (at | 7) + 1) {
        if (!tms_places_use(&work->places, tms_places_find(&work->places, at, TMS_PLACE_MEMORY),
                            thread)) {
            return TMS_ERR_MEMORY;
        }
    }
    return TMS_OK;
}

typedef int taker(struct work *work, const struct tms_spool_event *event, uint32_t thread);

/* All events in their order. */
static int take_all(struct work *work, taker *take)
{
    struct tms_merge merge;
    const struct tms_spool_event *event;
    uint32_t thread;
    int code = tms_merge_open(&merge, work->names->spool) ? TMS_OK : TMS_ERR_MEMORY;

    while (code == TMS_OK && !work->outcome->cut &&
           (event = tms_merge_next(&merge, &thread)) != NULL) {
        code = take(work, event, thread);
    }
    tms_merge_close(&merge);
    return code;
}

static int note_uses(struct work *work)
{
    int code = work->thin.off ? TMS_OK : take_all(work, note_use);

    tms_places_restart(&work->places);
    return code;
}

static int hire_judge(struct work *work)
{
    char sentence[TMS_SPOOL_REASON];
    struct tms_settings settings;

    if (!tms_spool_loss(work->names->spool, sentence)) {
        return TMS_OK;
    }
    tms_settings_init(&settings);
    settings.engines = "";
    return tms_analysis_new(work->names->context, &settings, &work->judge);
}

int tms_spool_trace(struct tms_spool_names *names, tms_trace_sink *sink, void *user,
                    struct tms_trace_outcome *outcome)
{
    struct work *work = calloc(1, sizeof(*work));

    *outcome = (struct tms_trace_outcome){0};
    if (work == NULL) {
        return TMS_ERR_MEMORY;
    }
    work->names = names;
    work->thin.off = (names->spool->header.mode & TMS_RT_FULL) != 0;
    work->outcome = outcome;
    work->sink = sink;
    work->user = user;
    int code = note_places(work) ? hire_judge(work) : TMS_ERR_MEMORY;
    if (code == TMS_OK) {
        code = note_uses(work);
    }
    if (code == TMS_OK) {
        code = take_all(work, take_event);
    }
    if (code == TMS_OK) {
        code = flush(work);
    }
    tms_analysis_free(work->judge);
    tms_thin_free(&work->thin);
    tms_places_free(&work->places);
    free(work->owners);
    free(work);
    return names->failed ? TMS_ERR_MEMORY : code;
}
