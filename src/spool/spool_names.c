/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers to names; see spool_names.h. */
#include "spool/spool_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/schedule.h"

#define DEEPEST       256 /* frames of a stack that are shown, and sites per chain */
#define FIRST_THREAD  1
#define THREAD_LENGTH 64

static int open_symbols(struct tms_spool_names *names)
{
    const struct tms_spool_list *modules = &names->spool->lists[TMS_SPOOL_MODULE];

    names->symbols = tms_symbols_new();
    for (size_t i = 0; names->symbols != NULL && i < modules->count; i++) {
        const struct tms_spool_module *module = (const void *)modules->entries[i].record;
        if (!tms_symbols_module(names->symbols, module->path, module->start, module->end,
                                module->bias)) {
            return TMS_ERR_MEMORY;
        }
    }
    return names->symbols != NULL ? TMS_OK : TMS_ERR_MEMORY;
}

int tms_spool_names_open(struct tms_spool_names *names, struct tms_spool *spool,
                         struct tms_context *context)
{
    *names = (struct tms_spool_names){.spool = spool, .context = context};
    names->sites = calloc(spool->lists[TMS_SPOOL_SITE].count + 1, sizeof(*names->sites));
    names->labels = calloc(spool->lists[TMS_SPOOL_LABEL].count + 1, sizeof(*names->labels));
    names->threads = calloc(spool->lists[TMS_SPOOL_THREAD].count + 1, sizeof(*names->threads));
    if (names->sites == NULL || names->labels == NULL || names->threads == NULL) {
        return TMS_ERR_MEMORY;
    }
    return open_symbols(names);
}

void tms_spool_names_close(struct tms_spool_names *names)
{
    tms_symbols_free(names->symbols);
    free(names->sites);
    free(names->labels);
    free(names->threads);
    tms_heap_names_free(&names->heap);
    tms_recorded_blocks_free(&names->recorded);
    tms_lock_names_free(&names->locks);
}

uint32_t tms_spool_intern(struct tms_spool_names *names, enum tms_class cls, const char *text)
{
    int64_t id = tms_intern(names->context, cls, text, strlen(text));

    names->failed = names->failed || id < 0;
    return id < 0 ? 0 : (uint32_t)id;
}

static size_t position(const struct tms_spool *spool, enum tms_spool_type type,
                       const struct tms_spool_entry *entry)
{
    return (size_t)(entry - spool->lists[type].entries);
}

const char *tms_spool_given_name(const struct tms_spool *spool, uint64_t address)
{
    const struct tms_spool_entry *entry = tms_spool_find(spool, TMS_SPOOL_NAME, address);
    const struct tms_spool_name *name = entry != NULL ? (const void *)entry->record : NULL;

    return name != NULL && name->text[0] != '\0' ? name->text : NULL;
}

/* ---- threads ---------------------------------------------------------------------------- */

/* The last name that was given to a thread, "" if it has none. */
static const char *own_name(const struct tms_spool *spool, const struct tms_spool_entry *entry)
{
    const struct tms_spool_list *list = &spool->lists[TMS_SPOOL_THREAD];

    for (size_t i = position(spool, TMS_SPOOL_THREAD, entry) + 1; i-- > 0;) {
        const struct tms_spool_thread *thread = (const void *)list->entries[i].record;
        if (list->entries[i].id != entry->id) {
            break;
        }
        if (thread->name[0] != '\0') {
            return thread->name;
        }
    }
    return "";
}

/* Does another thread have this name? Then its number must distinguish them. */
static bool is_shared_name(const struct tms_spool *spool, const char *name, uint64_t index)
{
    const struct tms_spool_list *list = &spool->lists[TMS_SPOOL_THREAD];

    for (size_t i = 0; i < list->count; i++) {
        const struct tms_spool_thread *thread = (const void *)list->entries[i].record;
        if (thread->index != index && strcmp(thread->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Replaces blanks and the like, which not every trace format allows in the name of a thread. */
static void make_plain(char *name)
{
    for (; *name != '\0'; name++) {
        if ((unsigned char)*name <= ' ' || *name == '|' || *name == 0x7f) {
            *name = '_';
        }
    }
}

static void write_thread(const struct tms_spool *spool, const struct tms_spool_entry *entry,
                         uint32_t index, char text[THREAD_LENGTH])
{
    const char *own = entry != NULL ? own_name(spool, entry) : "";

    if (index == FIRST_THREAD) {
        snprintf(text, THREAD_LENGTH, "main");
    } else if (*own == '\0') {
        snprintf(text, THREAD_LENGTH, "T%u", index);
    } else if (strcmp(own, "main") == 0 || is_shared_name(spool, own, index)) {
        snprintf(text, THREAD_LENGTH, "%.40s#%u", own, index);
    } else {
        snprintf(text, THREAD_LENGTH, "%.40s", own);
    }
    make_plain(text);
}

uint32_t tms_spool_thread(struct tms_spool_names *names, uint32_t index)
{
    const struct tms_spool_entry *entry = tms_spool_find(names->spool, TMS_SPOOL_THREAD, index);
    uint32_t *known =
        entry != NULL ? &names->threads[position(names->spool, TMS_SPOOL_THREAD, entry)] : NULL;
    char text[THREAD_LENGTH];

    if (known != NULL && *known != 0) {
        return *known;
    }
    write_thread(names->spool, entry, index, text);
    uint32_t id = tms_spool_intern(names, TMS_CLASS_THREAD, text);
    if (known != NULL) {
        *known = id;
    }
    return id;
}

const struct tms_spool_thread *tms_spool_stack_owner(const struct tms_spool *spool,
                                                     uint64_t address)
{
    const struct tms_spool_list *threads = &spool->lists[TMS_SPOOL_THREAD];

    for (size_t i = threads->count; i-- > 0;) {
        const struct tms_spool_thread *thread = (const void *)threads->entries[i].record;
        if (address >= thread->stack_start && address < thread->stack_end) {
            return thread;
        }
    }
    return NULL;
}

const char *tms_spool_start_function(struct tms_spool_names *names,
                                     const struct tms_spool_thread *thread)
{
    const struct tms_frame *frames = NULL;
    size_t count =
        thread->entry != 0 ? tms_symbols_frames(names->symbols, thread->entry + 1, &frames) : 0;

    if (thread->index == FIRST_THREAD) {
        return "main";
    }
    return count > 0 && frames[count - 1].brief != NULL ? frames[count - 1].brief : "thread";
}

/* ---- labels ----------------------------------------------------------------------------- */

/* The function that contains an address; functions inlined there have no block of their own. */
static const char *function_at(struct tms_spool_names *names, const struct tms_spool_label *label)
{
    const struct tms_frame *frames;
    size_t count = tms_symbols_frames(names->symbols, label->address, &frames);

    if (count > 0 && (!frames[count - 1].bare || label->text[0] == '\0')) {
        return frames[count - 1].function;
    }
    return label->text;
}

uint32_t tms_spool_find_label(struct tms_spool_names *names, uint32_t id)
{
    const struct tms_spool_entry *entry = tms_spool_find(names->spool, TMS_SPOOL_LABEL, id);
    const struct tms_spool_label *label = entry != NULL ? (const void *)entry->record : NULL;

    if (id == 0 || label == NULL) {
        return 0;
    }
    const char *text = label->function ? function_at(names, label) : label->text;
    uint32_t found = text[0] != '\0' ? tms_spool_intern(names, TMS_CLASS_LABEL, text) : 0;
    if (id <= names->spool->lists[TMS_SPOOL_LABEL].count) {
        names->labels[id] = found;
    }
    return found;
}

/* ---- places ----------------------------------------------------------------------------- */

/* Goes through all frames of a site, from the inside out. */
struct walk {
    struct tms_spool_names *names;
    const struct tms_frame *frames;
    size_t at, count;
    uint32_t site;
    unsigned depth;
    bool own; /* leaves out the files of the system */
};

static const struct tms_frame *next_frame(struct walk *walk)
{
    while (walk->at == walk->count) {
        const struct tms_spool_site *site =
            walk->site != 0 ? tms_spool_site(walk->names->spool, walk->site) : NULL;
        if (site == NULL || walk->depth++ >= DEEPEST) {
            return NULL;
        }
        walk->site = site->parent;
        walk->at = 0;
        walk->count = walk->own && tms_symbols_foreign(walk->names->symbols, site->pc)
                          ? 0
                          : tms_symbols_frames(walk->names->symbols, site->pc, &walk->frames);
    }
    return &walk->frames[walk->at++];
}

/*
 * std::lock_guard acquires a lock, and containers allocate memory, in a system header; the line to
 * show is the one of the program's own code.
 */
static struct walk start_walk(struct tms_spool_names *names, uint32_t site)
{
    struct walk start = {.names = names, .site = site}, walk = start;
    const struct tms_frame *frame;

    walk.own = true;
    while ((frame = next_frame(&walk)) != NULL) {
        if (!frame->foreign && frame->file != NULL) {
            walk.own = false;
            walk.at--;
            return walk;
        }
    }
    return start;
}

const struct tms_frame *tms_spool_frame(struct tms_spool_names *names, uint32_t site)
{
    struct walk walk = start_walk(names, site);

    return next_frame(&walk);
}

static struct tms_site_names *names_of(struct tms_spool_names *names, uint32_t site)
{
    const struct tms_spool_list *list = &names->spool->lists[TMS_SPOOL_SITE];

    /* Fast path: ids are mostly consecutive from 1. */
    if (site != 0 && site <= list->count && list->entries[site - 1].id == site &&
        (site == list->count || list->entries[site].id != site)) {
        return &names->sites[site - 1];
    }
    const struct tms_spool_entry *entry =
        site != 0 ? tms_spool_find(names->spool, TMS_SPOOL_SITE, site) : NULL;

    return entry != NULL ? &names->sites[position(names->spool, TMS_SPOOL_SITE, entry)] : NULL;
}

/* "bank.c:12", or the function if the line is unknown. */
static uint32_t intern_location(struct tms_spool_names *names, const struct tms_frame *frame)
{
    uint32_t location = 0;
    char *text = NULL;

    if (frame->file == NULL) {
        return tms_spool_intern(names, TMS_CLASS_LOCATION, frame->function);
    }
    if (asprintf(&text, "%s:%u", frame->file, frame->line) >= 0) {
        location = tms_spool_intern(names, TMS_CLASS_LOCATION, text);
        free(text);
    }
    return location;
}

uint32_t tms_spool_find_location(struct tms_spool_names *names, uint32_t site)
{
    struct tms_site_names *known = names_of(names, site);
    const struct tms_frame *frame =
        known != NULL && known->location == 0 ? tms_spool_frame(names, site) : NULL;

    if (known != NULL) {
        known->site = site;
    }
    if (frame != NULL) {
        known->location = intern_location(names, frame);
    }
    return known != NULL ? known->location : 0;
}

uint32_t tms_spool_lock_location(struct tms_spool_names *names, uint32_t site)
{
    struct tms_site_names *known = names_of(names, site);

    if (known == NULL || known->lock_location != 0) {
        return known != NULL ? known->lock_location : 0;
    }
    struct walk walk = start_walk(names, site);
    const struct tms_frame *first = next_frame(&walk), *frame = first;
    while (frame != NULL && (frame->foreign || frame->file == NULL || frame->locks)) {
        frame = next_frame(&walk);
    }
    frame = frame != NULL ? frame : first;
    known->lock_location = frame != NULL ? intern_location(names, frame) : 0;
    return known->lock_location;
}

/*
 * Tabs separate fields and newlines separate frames, so both are replaced; a path may contain them.
 */
static void write_field(FILE *out, const char *text, const char *tab, char end)
{
    for (; text != NULL && *text != '\0'; text++) {
        if (*text == '\t' || *text == '\n') {
            fputs(*text == '\t' ? tab : "\\n", out);
        } else {
            fputc(*text, out);
        }
    }
    fputc(end, out);
}

/* The instruction of a site, as schedules name it; "" if the file is unknown. */
static void write_site(const struct tms_spool_names *names, uint32_t id, char text[TMS_SITE_SIZE])
{
    const struct tms_spool_site *site = tms_spool_site(names->spool, id);
    const struct tms_spool_list *modules = &names->spool->lists[TMS_SPOOL_MODULE];

    text[0] = '\0';
    for (size_t i = 0; site != NULL && i < modules->count; i++) {
        const struct tms_spool_module *module = (const void *)modules->entries[i].record;
        if (module->start <= site->pc && site->pc < module->end) {
            tms_site_write(module->path, site->pc - module->bias, text);
        }
    }
}

static void write_frame(FILE *out, const struct tms_frame *frame, const char *site)
{
    write_field(out, frame->function, "\\t", '\t');
    write_field(out, frame->file, "\\t", '\t');
    if (frame->line != 0) {
        fprintf(out, "%u", frame->line);
    }
    fputc('\t', out);
    write_field(out, frame->source, " ", '\t');
    write_field(out, frame->object, "\\t", *site != '\0' ? '\t' : '\n');
    fputs(site, out);
    fputs(*site != '\0' ? "\n" : "", out);
}

/* Leaves out the system's frames outside main or the thread's start function. */
static void write_frames(FILE *out, struct walk walk, const char *site)
{
    struct walk ahead = walk;
    const struct tms_frame *frame;
    int own = 1;

    for (int i = 1; i <= DEEPEST && (frame = next_frame(&ahead)) != NULL; i++) {
        own = frame->foreign ? own : i;
    }
    for (int i = 0; i < own && (frame = next_frame(&walk)) != NULL; i++) {
        write_frame(out, frame, i == 0 ? site : "");
    }
}

uint32_t tms_spool_stack(struct tms_spool_names *names, uint32_t site)
{
    struct tms_site_names *known = names_of(names, site);
    char *text = NULL, place[TMS_SITE_SIZE];
    size_t size = 0;

    if (known == NULL || known->stack != 0) {
        return known != NULL ? known->stack : 0;
    }
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        names->failed = true;
        return 0;
    }
    write_site(names, site, place);
    write_frames(out, start_walk(names, site), place);
    if (fclose(out) != 0) {
        names->failed = true;
    } else if (size > 0) {
        known->stack = tms_spool_intern(names, TMS_CLASS_STACK, text);
    }
    free(text);
    return known->stack;
}

struct tms_transaction tms_spool_name_transaction(struct tms_spool_names *names,
                                                  const struct tms_spool_transaction *from)
{
    return (struct tms_transaction){
        .begin_event = from->begin,
        .thread = tms_spool_thread(names, from->thread),
        .label = from->unary ? 0 : tms_spool_label(names, from->label),
        .location = tms_spool_location(names, from->site),
        .unary = from->unary != 0,
    };
}
