/* SPDX-License-Identifier: Apache-2.0 */
/* Inlined functions as blocks; see inlined_blocks.h. */
#include "spool/inlined_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "spool/prune.h"

/*
 * ---- the inlined copies that contain a site -----------------------------------------------
 */

/* A function of the program, and not one of the system that was inlined into it. */
static bool is_real(const struct tms_frame *frame)
{
    return !frame->foreign && !frame->bare && frame->file != NULL;
}

/* Does the program call the function that contains the site? */
static bool has_caller(const struct tms_inlined *inlined, const struct tms_spool_site *site)
{
    struct tms_spool_names *names = inlined->names;
    const struct tms_frame *frames;

    for (int depth = 0; site != NULL && depth < 64; depth++) {
        site = site->parent != 0 ? tms_spool_site(names->spool, site->parent) : NULL;
        size_t count = site != NULL ? tms_symbols_frames(names->symbols, site->pc, &frames) : 0;
        for (size_t i = 0; i < count; i++) {
            if (is_real(&frames[i])) {
                return true;
            }
        }
    }
    return false;
}

static uint32_t label_of(struct tms_spool_names *names, const char *function)
{
    char *text = NULL;
    uint32_t label = 0;

    if (asprintf(&text, "%s" TMS_SPOOL_INLINED, function) < 0) {
        names->failed = true;
    } else {
        label = tms_spool_intern(names, TMS_CLASS_LABEL, text);
        free(text);
    }
    return label;
}

/* The start function of a thread is not a block, so each copy must have an enclosing function. */
static void look_up(struct tms_inlined *inlined, struct tms_inlined_site *known,
                    const struct tms_spool_site *site)
{
    const struct tms_frame *frames;
    size_t count = tms_symbols_frames(inlined->names->symbols, site->pc, &frames);

    known->known = true;
    known->pc = site->pc;
    known->parent = site->parent;
    known->copies = calloc(TMS_INLINED_MOST, sizeof(*known->copies));
    if (known->copies == NULL) {
        inlined->names->failed = true;
        return;
    }
    bool around = has_caller(inlined, site);
    for (size_t i = count; i-- > 0 && known->count < TMS_INLINED_MOST;) {
        if (frames[i].instance != 0 && around && is_real(&frames[i])) {
            known->copies[known->count++] = (struct tms_inlined_copy){
                frames[i].instance, label_of(inlined->names, frames[i].function), frames[i].line};
        }
        around = around || is_real(&frames[i]);
    }
}

static const struct tms_inlined_site *site_of(struct tms_inlined *inlined, uint32_t id)
{
    const struct tms_spool_list *list = &inlined->names->spool->lists[TMS_SPOOL_SITE];
    const struct tms_spool_entry *entry = tms_spool_find(inlined->names->spool, TMS_SPOOL_SITE, id);

    if (inlined->sites == NULL) {
        inlined->sites = calloc(list->count + 1, sizeof(*inlined->sites));
    }
    if (inlined->sites == NULL || entry == NULL) {
        inlined->names->failed = inlined->names->failed || inlined->sites == NULL;
        return NULL;
    }
    struct tms_inlined_site *known = &inlined->sites[entry - list->entries];
    if (!known->known) {
        look_up(inlined, known, (const void *)entry->record);
    }
    return known;
}

/* ---- blocks ----------------------------------------------------------------------------- */

static struct tms_inlined_thread *thread_of(struct tms_inlined *inlined, uint32_t id)
{
    if (!TMS_RESERVE(NULL, &inlined->threads, &inlined->thread_count, (size_t)id + 1, 16)) {
        inlined->names->failed = true;
        return NULL;
    }
    return &inlined->threads[id];
}

/* How many of the open ones contain the site as well. */
static uint32_t common(const struct tms_inlined_thread *thread, const struct tms_inlined_site *site)
{
    uint32_t count = 0;

    while (count < thread->count && count < site->count &&
           thread->open[count].instance == site->copies[count].instance) {
        count++;
    }
    return count;
}

/* Is the site further down in the source of the functions that it shares with the last one? */
static bool is_forward(const struct tms_inlined_thread *thread, const struct tms_inlined_site *site,
                       uint32_t shared)
{
    for (uint32_t i = 0; i < shared; i++) {
        if (site->copies[i].line != thread->open[i].line) {
            return site->copies[i].line > thread->open[i].line;
        }
    }
    return site->pc > thread->pc; /* on one line: in the code */
}

static int change(struct tms_inlined_thread *thread, uint32_t keep,
                  const struct tms_inlined_site *site, const struct tms_event *at,
                  tms_inlined_sink *sink, void *user)
{
    struct tms_event event = {.thread = at->thread, .location = at->location};
    int code = TMS_OK;

    for (event.kind = TMS_EVENT_END; thread->count > keep && code == TMS_OK;) {
        event.target = thread->open[--thread->count].label;
        code = sink(user, &event);
    }
    for (uint32_t i = 0; site != NULL && i < keep; i++) {
        thread->open[i].line = site->copies[i].line;
    }
    event.kind = TMS_EVENT_BEGIN;
    while (site != NULL && thread->count < site->count && code == TMS_OK) {
        thread->open[thread->count] = site->copies[thread->count];
        event.target = thread->open[thread->count++].label;
        code = sink(user, &event);
    }
    return code;
}

static bool is_acquire(const struct tms_spool_event *event)
{
    return event->kind == TMS_EVENT_ACQUIRE || event->kind == TMS_EVENT_SHARED_ACQUIRE;
}

static bool is_release(const struct tms_spool_event *event)
{
    return event->kind == TMS_EVENT_RELEASE || event->kind == TMS_EVENT_SHARED_RELEASE;
}

/* An acquire: where, and in which activations. */
struct place {
    const struct tms_inlined_site *site, *call; /* the call of the function that does it */
    uint32_t inner, outer;
};

static struct place place_of(struct tms_inlined *inlined, const struct tms_spool_event *from)
{
    struct place place = {.inner = (uint32_t)from->extra, .outer = (uint32_t)(from->extra >> 32)};

    place.site = site_of(inlined, from->site);
    place.call = place.site != NULL && place.outer != 0 && place.site->parent != 0
                     ? site_of(inlined, place.site->parent)
                     : NULL;
    return place;
}

/* Are the copies those in the caller? If nothing is open yet, these are preferred. */
static bool is_outer(const struct tms_inlined_thread *thread, const struct place *place)
{
    if (place->call == NULL || thread->activation == place->inner) {
        return false;
    }
    return thread->activation == place->outer || place->call->count > 0;
}

/* Moves the thread to the acquire, and returns how many of its open blocks presumably continue. */
static uint32_t move(struct tms_inlined_thread *thread, const struct place *place,
                     const struct tms_inlined_site **site)
{
    bool outer = is_outer(thread, place);
    uint32_t activation = outer ? place->outer : place->inner;

    *site = outer ? place->call : place->site;
    if (*site == NULL) {
        thread->activation = 0;
        return 0;
    }
    uint32_t shared = thread->activation == activation ? common(thread, *site) : 0;
    bool same = is_forward(thread, *site, shared) || (outer && thread->inner == place->inner);
    thread->activation = activation;
    thread->inner = place->inner;
    thread->pc = (*site)->pc;
    return same ? shared : 0;
}

int tms_inlined_before(struct tms_inlined *inlined, const struct tms_spool_event *from,
                       const struct tms_event *event, tms_inlined_sink *sink, void *user)
{
    struct tms_inlined_thread *thread = thread_of(inlined, event->thread);
    const struct tms_inlined_site *site = NULL;
    uint32_t keep = 0;

    if (thread == NULL || is_release(from) || tms_prune_is_unchecked(event)) {
        return thread == NULL ? TMS_ERR_MEMORY : TMS_OK;
    }
    if (is_acquire(from) && from->extra != 0) {
        struct place place = place_of(inlined, from);
        keep = move(thread, &place, &site);
    } else {
        thread->activation = 0;
    }
    return change(thread, keep, site, event, sink, user);
}

void tms_inlined_free(struct tms_inlined *inlined)
{
    size_t count = inlined->sites != NULL ? inlined->names->spool->lists[TMS_SPOOL_SITE].count : 0;

    for (size_t i = 0; i < count; i++) {
        free(inlined->sites[i].copies);
    }
    free(inlined->sites);
    free(inlined->threads);
}
