/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the spool of a process; see spool_reader.h. */
#include "spool/spool_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array_length.h"
#include "base/memory.h"
#include "spool/spool_snapshot.h"

#define NO_TEXT 0

/* The minimum size of each type of record, and the offsets of its id and its text. */
static const struct {
    size_t size;
    size_t text; /* offset; NO_TEXT: it has none */
} shapes[TMS_SPOOL_TYPES] = {
    [TMS_SPOOL_MODULE] = {sizeof(struct tms_spool_module), offsetof(struct tms_spool_module, path)},
    [TMS_SPOOL_SITE] = {sizeof(struct tms_spool_site), NO_TEXT},
    [TMS_SPOOL_LABEL] = {sizeof(struct tms_spool_label), offsetof(struct tms_spool_label, text)},
    [TMS_SPOOL_THREAD] = {sizeof(struct tms_spool_thread), offsetof(struct tms_spool_thread, name)},
    [TMS_SPOOL_NAME] = {sizeof(struct tms_spool_name), offsetof(struct tms_spool_name, text)},
    [TMS_SPOOL_HEAP] = {sizeof(struct tms_spool_heap), NO_TEXT},
    [TMS_SPOOL_VIOLATION] = {sizeof(struct tms_spool_violation), NO_TEXT},
    [TMS_SPOOL_EXEC] = {sizeof(struct tms_spool_exec), offsetof(struct tms_spool_exec, path)},
    [TMS_SPOOL_WARNING] = {sizeof(struct tms_spool_warning),
                           offsetof(struct tms_spool_warning, text)},
    [TMS_SPOOL_UNOWNED] = {sizeof(struct tms_spool_unowned), NO_TEXT},
    [TMS_SPOOL_JUDGED] = {sizeof(struct tms_spool_judged), NO_TEXT},
    [TMS_SPOOL_COUNTS] = {sizeof(struct tms_spool_counts), NO_TEXT},
    [TMS_SPOOL_SECTION] = {sizeof(struct tms_spool_section), NO_TEXT},
    [TMS_SPOOL_PLACE] = {sizeof(struct tms_spool_place), NO_TEXT},
    [TMS_SPOOL_RACE] = {sizeof(struct tms_spool_race), NO_TEXT},
    [TMS_SPOOL_LOCK] = {sizeof(struct tms_spool_lock), NO_TEXT},
    [TMS_SPOOL_PREDICTION] = {sizeof(struct tms_spool_prediction), NO_TEXT},
    [TMS_SPOOL_REQUEST] = {sizeof(struct tms_spool_request), NO_TEXT},
    [TMS_SPOOL_SCHEDULE] = {sizeof(struct tms_spool_schedule), NO_TEXT},
    [TMS_SPOOL_WINDOW] = {sizeof(struct tms_spool_window), NO_TEXT},
};

/* ---- records ---------------------------------------------------------------------------- */

const struct tms_spool_step *tms_spool_steps(const struct tms_spool_violation *violation)
{
    return (const void *)(violation + 1);
}

const struct tms_spool_transaction *tms_spool_refuted(const struct tms_spool_violation *violation)
{
    return (const void *)(tms_spool_steps(violation) + violation->steps);
}

static bool lists_fit(const struct tms_spool_violation *violation)
{
    uint64_t steps = (uint64_t)violation->steps * sizeof(struct tms_spool_step);
    uint64_t refuted = (uint64_t)violation->refuted * sizeof(struct tms_spool_transaction);

    return steps + refuted <= violation->record.length - sizeof(*violation) &&
           violation->held_count <= TMS_SPOOL_HELD;
}

const struct tms_spool_transaction *
tms_spool_predicted_refuted(const struct tms_spool_prediction *prediction)
{
    return (const void *)(prediction + 1);
}

const struct tms_spool_hold *tms_spool_holds(const struct tms_spool_request *request)
{
    return (const void *)(request + 1);
}

static bool prediction_fits(const struct tms_spool_prediction *prediction)
{
    return (uint64_t)prediction->refuted * sizeof(struct tms_spool_transaction) <=
           prediction->record.length - sizeof(*prediction);
}

static bool request_fits(const struct tms_spool_request *request)
{
    uint64_t held = (uint64_t)request->held * sizeof(struct tms_spool_hold);

    return held + (uint64_t)request->knows * sizeof(uint64_t) <=
           request->record.length - sizeof(*request);
}

static bool judged_fits(const struct tms_spool_judged *judged)
{
    return judged->outer_count <= TMS_SPOOL_OUTER &&
           judged->outer_count * sizeof(judged->outer[0]) <=
               judged->record.length - sizeof(*judged);
}

static bool section_fits(const struct tms_spool_section *section)
{
    return section->member_count * sizeof(section->member[0]) <=
           section->record.length - sizeof(*section);
}

/* Does the content of a record, which is long enough for its structure, fit its length? */
static bool all_fits(const struct tms_spool_record *record)
{
    switch (record->type) {
    case TMS_SPOOL_VIOLATION:
        return lists_fit((const void *)record);
    case TMS_SPOOL_PREDICTION:
        return prediction_fits((const void *)record);
    case TMS_SPOOL_REQUEST:
        return request_fits((const void *)record);
    case TMS_SPOOL_JUDGED:
        return judged_fits((const void *)record);
    case TMS_SPOOL_SECTION:
        return section_fits((const void *)record);
    default:
        return true;
    }
}

static bool makes_sense(const struct tms_spool_record *record)
{
    size_t size = shapes[record->type].size, text = shapes[record->type].text;

    if (text != NO_TEXT) { /* the structure may be padded after its text */
        return record->length > text &&
               memchr((const char *)record + text, '\0', record->length - text) != NULL;
    }
    return record->length >= size && all_fits(record);
}

static uint64_t id_of(const struct tms_spool_record *record)
{
    switch (record->type) {
    case TMS_SPOOL_SITE:
        return ((const struct tms_spool_site *)record)->id;
    case TMS_SPOOL_LABEL:
        return ((const struct tms_spool_label *)record)->id;
    case TMS_SPOOL_THREAD:
        return ((const struct tms_spool_thread *)record)->index;
    case TMS_SPOOL_NAME:
        return ((const struct tms_spool_name *)record)->address;
    case TMS_SPOOL_LOCK:
        return ((const struct tms_spool_lock *)record)->id;
    case TMS_SPOOL_UNOWNED:
        return ((const struct tms_spool_unowned *)record)->address;
    default:
        return 0;
    }
}

static bool take_record(struct tms_spool *spool, const struct tms_spool_record *record,
                        uint32_t thread)
{
    if (record->type == TMS_SPOOL_NONE || record->type >= TMS_SPOOL_TYPES || !makes_sense(record)) {
        spool->damaged++;
        return true;
    }
    struct tms_spool_list *list = &spool->lists[record->type];
    if (!TMS_RESERVE(NULL, &list->entries, &list->capacity, list->count + 1, 64)) {
        return false;
    }
    list->entries[list->count++] = (struct tms_spool_entry){
        .record = record, .id = id_of(record), .thread = thread, .sequence = spool->sequence++};
    return true;
}

static bool take_records(struct tms_spool *spool, const struct tms_spool_chunk *chunk, size_t used)
{
    const unsigned char *start = (const unsigned char *)chunk;
    size_t at = sizeof(*chunk);

    while (used - at >= sizeof(struct tms_spool_record)) {
        const struct tms_spool_record *record = (const void *)(start + at);
        if (record->length < sizeof(*record) || record->length > used - at) {
            spool->damaged++;
            return true;
        }
        if (!take_record(spool, record, chunk->thread)) {
            return false;
        }
        size_t step = ((size_t)record->length + 7) & ~(size_t)7;
        at += step < used - at ? step : used - at;
    }
    return true;
}

/* ---- chunks ----------------------------------------------------------------------------- */

static bool take_events(struct tms_spool *spool, const struct tms_spool_chunk *chunk, uint64_t at)
{
    if (!TMS_RESERVE(NULL, &spool->events, &spool->event_capacity, spool->event_count + 1, 64)) {
        return false;
    }
    spool->events[spool->event_count++] =
        (struct tms_spool_chunk_ref){.at = at, .thread = chunk->thread};
    return true;
}

static bool take_chunk(struct tms_spool *spool, uint64_t at)
{
    const struct tms_spool_chunk *chunk = tms_spool_chunk(spool, at);

    if (chunk->kind == 0 || chunk->used == 0) {
        return true; /* allocated, but nothing written */
    }
    if (chunk->used < sizeof(*chunk) || chunk->used > chunk->size ||
        chunk->kind > TMS_SPOOL_RECORDS) {
        spool->damaged++;
        return true;
    }
    return chunk->kind == TMS_SPOOL_EVENTS ? take_events(spool, chunk, at)
                                           : take_records(spool, chunk, chunk->used);
}

static int by_thread(const void *a, const void *b)
{
    const struct tms_spool_chunk_ref *x = a, *y = b;

    return x->thread != y->thread ? (x->thread > y->thread) - (x->thread < y->thread)
                                  : (x->at > y->at) - (x->at < y->at);
}

static int by_id(const void *a, const void *b)
{
    const struct tms_spool_entry *x = a, *y = b;

    return x->id != y->id ? (x->id > y->id) - (x->id < y->id)
                          : (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static void sort(struct tms_spool *spool)
{
    for (size_t type = 0; type < TMS_SPOOL_TYPES; type++) {
        struct tms_spool_list *list = &spool->lists[type];
        if (list->count > 0) {
            qsort(list->entries, list->count, sizeof(*list->entries), by_id);
        }
    }
    if (spool->event_count > 0) {
        qsort(spool->events, spool->event_count, sizeof(*spool->events), by_thread);
    }
}

/*
 * Chunks that were divided do not cross multiples of TMS_SPOOL_CHUNK bytes, so the next one can be
 * found.
 */
static uint64_t bytes_to_grid(const struct tms_spool *spool, uint64_t at)
{
    uint64_t left = TMS_SPOOL_CHUNK - (at - TMS_SPOOL_HEADER) % TMS_SPOOL_CHUNK;

    return left < spool->size - at ? left : spool->size - at;
}

static bool take_chunks(struct tms_spool *spool)
{
    uint64_t at = TMS_SPOOL_HEADER;

    spool->damaged += spool->header.end > spool->size; /* the file is truncated */
    while (spool->size - at >= sizeof(struct tms_spool_chunk)) {
        uint64_t left = bytes_to_grid(spool, at), size = tms_spool_chunk(spool, at)->size;
        bool sound = size >= sizeof(struct tms_spool_chunk) && size % 8 == 0 && size <= left;
        spool->damaged += !sound;
        if (sound && !take_chunk(spool, at)) {
            return false;
        }
        at += sound ? size : left;
    }
    sort(spool);
    spool->joined = calloc(spool->size / sizeof(struct tms_spool_event) / 64 + 1, 8);
    return spool->joined != NULL;
}

/* ---- the file --------------------------------------------------------------------------- */

/* The file is sparse: nothing beyond the used part is mapped or read. */
static bool map_used(struct tms_spool *spool, int fd)
{
    struct stat status;

    if (fstat(fd, &status) != 0) {
        return false;
    }
    if (status.st_size < TMS_SPOOL_HEADER) {
        errno = ENODATA;
        return false;
    }
    uint64_t there = (uint64_t)status.st_size, used = spool->header.end;
    spool->size = used < there ? used : there;
    if (spool->running) {
        spool->map = tms_snapshot(fd, there, &spool->size);
        return spool->map != NULL;
    }
    void *map = mmap(NULL, spool->size, PROT_READ, MAP_PRIVATE, fd, 0);
    spool->map = map != MAP_FAILED ? map : NULL;
    return spool->map != NULL;
}

static bool is_of_this_version(struct tms_spool_header *header)
{
    header->how[sizeof(header->how) - 1] = '\0';
    header->program[sizeof(header->program) - 1] = '\0';
    header->block_source[sizeof(header->block_source) - 1] = '\0';
    return memcmp(header->magic, TMS_SPOOL_MAGIC, sizeof(header->magic)) == 0 &&
           header->header_size == sizeof(*header) &&
           header->event_size == sizeof(struct tms_spool_event) && header->end >= TMS_SPOOL_HEADER;
}

/* The bytes read, or -1. */
static ssize_t get_header(int fd, struct tms_spool_header *header, bool *known)
{
    ssize_t got = fd >= 0 ? pread(fd, header, sizeof(*header), 0) : -1;

    *known = got == (ssize_t)sizeof(*header) && is_of_this_version(header);
    return got;
}

bool tms_spool_read_header(const char *path, struct tms_spool_header *header)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool known;

    get_header(fd, header, &known);
    if (fd >= 0) {
        close(fd);
    }
    return known;
}

static bool map_file(struct tms_spool *spool, const char *path, char reason[TMS_SPOOL_REASON])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool known;
    ssize_t got = get_header(fd, &spool->header, &known);
    bool mapped = known && map_used(spool, fd);

    if (got < 0 || (known && !mapped)) {
        snprintf(reason, TMS_SPOOL_REASON, "%s can't be read: %s", path, strerror(errno));
    } else if (!known) {
        snprintf(reason, TMS_SPOOL_REASON,
                 "%s was not written by this version of the runtime; build the program again",
                 path);
    }
    if (fd >= 0) {
        close(fd);
    }
    return mapped;
}

static bool open_spool(struct tms_spool *spool, const char *path, char reason[TMS_SPOOL_REASON])
{
    if (!map_file(spool, path, reason)) {
        return false;
    }
    memcpy(&spool->live, spool->map + TMS_SPOOL_LIVE, sizeof(spool->live));
    spool->header.end = spool->running ? spool->size : spool->header.end;
    if (!take_chunks(spool)) {
        snprintf(reason, TMS_SPOOL_REASON, "out of memory");
        return false;
    }
    return true;
}

bool tms_spool_open(struct tms_spool *spool, const char *path, char reason[TMS_SPOOL_REASON])
{
    *spool = (struct tms_spool){0};
    return open_spool(spool, path, reason);
}

bool tms_spool_open_running(struct tms_spool *spool, const char *path,
                            char reason[TMS_SPOOL_REASON])
{
    *spool = (struct tms_spool){.running = true};
    return open_spool(spool, path, reason);
}

void tms_spool_close(struct tms_spool *spool)
{
    for (size_t type = 0; type < TMS_SPOOL_TYPES; type++) {
        free(spool->lists[type].entries);
    }
    free(spool->events);
    free(spool->joined);
    if (spool->map != NULL) {
        munmap((void *)(uintptr_t)spool->map, spool->size);
    }
    *spool = (struct tms_spool){0};
}

/* ---- questions -------------------------------------------------------------------------- */

const struct tms_spool_entry *tms_spool_find(const struct tms_spool *spool,
                                             enum tms_spool_type type, uint64_t id)
{
    const struct tms_spool_list *list = &spool->lists[type];
    size_t low = 0, high = list->count;

    /* Fast path: ids are mostly consecutive from 1, with one record each. */
    if (id > 0 && id < high && list->entries[id - 1].id == id && list->entries[id].id != id) {
        return &list->entries[id - 1];
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->entries[middle].id <= id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && list->entries[low - 1].id == id ? &list->entries[low - 1] : NULL;
}

const struct tms_spool_site *tms_spool_site(const struct tms_spool *spool, uint32_t id)
{
    const struct tms_spool_entry *entry = tms_spool_find(spool, TMS_SPOOL_SITE, id);

    return entry != NULL ? (const void *)entry->record : NULL;
}

struct loss {
    bool lost;
    const char *what;
};

/* Appends what was lost to a sentence. */
static void append(char sentence[TMS_SPOOL_REASON], const struct loss *losses, size_t count)
{
    size_t length = strlen(sentence);

    for (size_t i = 0; i < count; i++) {
        if (losses[i].lost && length < TMS_SPOOL_REASON) {
            length += (size_t)snprintf(sentence + length, TMS_SPOOL_REASON - length, "%s%s",
                                       length > 0 ? "; " : "", losses[i].what);
        }
    }
}

bool tms_spool_loss(const struct tms_spool *spool, char sentence[TMS_SPOOL_REASON])
{
    const struct tms_spool_header *header = &spool->header;
    const struct loss losses[] = {
        {spool->running, "the process still runs; blocks that are open count as far as they got"},
        {header->state != TMS_SPOOL_DONE && !spool->running,
         "the process ended without warning, and what it did last may be missing"},
        {header->lost & TMS_SPOOL_LOST_THREADS,
         "there were more threads at a time than can be distinguished"},
        {header->lost & TMS_SPOOL_LOST_MEMORY, "memory ran out"},
        {header->lost & TMS_SPOOL_LOST_ROOM,
         "there was no room for the file that the process writes (a full disk, or a limit on the "
         "size of files)"},
        {header->lost & TMS_SPOOL_LOST_NUMBERS, "there were more events than can be numbered"},
        {header->lost & TMS_SPOOL_LOST_SIZE, "the recording reached its --max-size"},
        {header->lost & TMS_SPOOL_LOST_STACKS,
         "the program has an unwinder of its own, and its functions can't be followed after the "
         "first exception"},
        {header->lost & TMS_SPOOL_LOST_CLONE, "the program creates threads with clone, whose "
                                              "events are attributed to the creating thread"},
        {header->lost & TMS_SPOOL_LOST_SANDBOX,
         "the process entered a sandbox (seccomp), where it can't be watched"},
        {header->lost & TMS_SPOOL_LOST_PROCESS, "a process that it started was not watched"},
        {spool->damaged > 0, "parts of the recording are damaged"},
    };

    sentence[0] = '\0';
    append(sentence, losses, TMS_LENGTH(losses));
    return sentence[0] != '\0';
}

bool tms_spool_loss_sync(const struct tms_spool *spool, char sentence[TMS_SPOOL_REASON])
{
    uint32_t lost = spool->header.lost;
    bool size = (lost & TMS_SPOOL_LOST_ALONG) != 0, room = (lost & TMS_SPOOL_LOST_ALONG_ROOM) != 0;
    const struct loss losses[] = {
        {size, "only the first part of the run was recorded (--max-size allows more)"},
        {room && !size, "only the first part of the run was recorded, because there was no room "
                        "for more (a full disk, or a limit on the size of files)"},
        {(lost & TMS_SPOOL_LOST_PREDICTIONS) && !size && !room,
         "the limit on predictions or lock nestings was reached, or memory ran out"},
    };

    tms_spool_loss(spool, sentence);
    append(sentence, losses, TMS_LENGTH(losses));
    return sentence[0] != '\0';
}

bool tms_spool_loss_judged(const struct tms_spool *spool, char sentence[TMS_SPOOL_REASON])
{
    bool lost = (spool->header.lost & TMS_SPOOL_LOST_JUDGED) != 0;

    snprintf(sentence, TMS_SPOOL_REASON, "%s",
             lost ? "threads shared more memory at a time than can be judged, so findings may be "
                    "missing"
                  : "");
    return lost;
}

bool tms_spool_doubt(const struct tms_spool *spool, char sentence[TMS_SPOOL_REASON])
{
    if (tms_spool_loss(spool, sentence)) {
        return true;
    }
    if (spool->header.blocks == 0) {
        snprintf(sentence, TMS_SPOOL_REASON, "no block that is meant to be atomic was entered");
    }
    return spool->header.blocks == 0;
}
