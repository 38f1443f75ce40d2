/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the spool; spool_format.h has its layout. The whole file is mapped when it is created, and
 * its descriptor is closed at once: the program may close and reuse any descriptor, so one that is
 * kept might refer to a file of the program later. Storage is allocated through the mapping, a few
 * chunks ahead of the writes, because a page without storage would raise SIGBUS. Each thread writes
 * events to a chunk of its own without a lock; all threads write records to one chunk, under a
 * lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/live_counts.h"
#include "runtime/core/open_blocks.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/thread.h"
#include "runtime/spool/spool_writer.h"
#include "runtime/spool/sync_recorder.h"

#define FILE_MOST   (UINT64_C(1) << 38)
#define FILE_LEAST  (TMS_SPOOL_HEADER + AHEAD_LEAST)
#define FIXED_MOST  (UINT64_C(1) << 28) /* size if storage must be allocated at the start */
#define AHEAD_LEAST (4 * TMS_SPOOL_CHUNK)
#define AHEAD_MOST  (64 * TMS_SPOOL_CHUNK)
#define REST_LEAST  1024u /* least remainder of a chunk that is worth reusing */
#define RESTS       256u

static struct {
    struct tms_rt_mutex lock;
    struct tms_spool_header *header; /* the start of the mapping; NULL: there is no spool */
    uint64_t length;                 /* of file and mapping */
    uint64_t backed;                 /* has storage up to here */
    uint64_t events_limit;           /* events must end before this; 0: no limit */
    struct tms_spool_chunk *records;
    _Atomic uint32_t record_count;
    struct tms_spool_chunk *rests[RESTS]; /* of threads that have ended, with room left */
    unsigned rest_count;
    bool out_of_room; /* for more events */
    /* Nonzero in the process that opened the spool: the kernel clears it in a child. */
    _Atomic uint32_t *ours;
} spool;

/* A child that was created in an unknown way shares the mapping, and must not write to it. */
static bool is_ours(void)
{
    return spool.header != NULL && atomic_load_explicit(spool.ours, memory_order_relaxed) != 0;
}

struct tms_spool_header *tms_rt_spool_header(void)
{
    return is_ours() ? spool.header : NULL;
}

/* ---- the file --------------------------------------------------------------------------- */

/* The last "%p": the directories before it may have any name. */
static const char *find_mark(const char *pattern)
{
    const char *mark = NULL;

    for (const char *at = pattern; (at = strstr(at, "%p")) != NULL; at += 2) {
        mark = at;
    }
    return mark;
}

uint64_t tms_rt_monotonic_time(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/*
 * "%p" in the pattern becomes the process id, followed by a number for a program that the process
 * became by exec. An existing file is never reused. Only one thread runs this, at the start of a
 * process, so the path need not be on a stack, which may be small.
 */
static char path[PATH_MAX];

static int create(const char *pattern, uint32_t *image)
{
    const char *mark = find_mark(pattern);
    int file = -1;

    errno = EINVAL;
    for (*image = 1; mark != NULL && *image < 1000; ++*image) {
        char number[16] = "";
        if (*image > 1) {
            snprintf(number, sizeof(number), ".%u", *image);
        }
        snprintf(path, PATH_MAX, "%.*s%d%s%s", (int)(mark - pattern), pattern, (int)getpid(),
                 number, mark + 2);
        file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file >= 0 || errno != EEXIST) {
            break;
        }
    }
    return file;
}

/* Allocates storage for mapped pages; false if there is none left. */
static bool back(void *start, size_t bytes)
{
    while (madvise(start, bytes, MADV_POPULATE_WRITE) != 0) {
        if (errno != EINTR && errno != EAGAIN) {
            return false;
        }
    }
    return true;
}

/* Older kernels lack this: all storage is allocated at the start then. */
static bool can_back(void)
{
    return madvise(NULL, 0, MADV_POPULATE_WRITE) == 0;
}

static void *map_length(int file, uint64_t length, bool grows)
{
    int failed = grows ? ftruncate(file, (off_t)length) : fallocate(file, 0, 0, (off_t)length);
    void *map = failed != 0 ? MAP_FAILED
                            : mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                                   file, 0);

    return map != MAP_FAILED ? map : NULL;
}

/*
 * Maps as much of the file as limits and address space allow. Exceeding RLIMIT_FSIZE would raise a
 * signal.
 */
static void *map_file(int file)
{
    struct rlimit limit;
    bool grows = can_back();
    uint64_t length = grows ? FILE_MOST : FIXED_MOST;
    void *map = NULL;

    errno = EFBIG;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < length) {
        length = limit.rlim_cur & ~(uint64_t)4095;
    }
    for (; map == NULL && length >= FILE_LEAST; length = length / 2 & ~(uint64_t)4095) {
        map = map_length(file, length, grows);
        spool.length = length;
    }
    spool.backed = grows ? TMS_SPOOL_HEADER : spool.length;
    if (map != NULL && grows && !back(map, TMS_SPOOL_HEADER)) {
        munmap(map, spool.length);
        errno = ENOSPC;
        return NULL;
    }
    if (map != NULL) {
        madvise(map, spool.length, MADV_DONTDUMP);
    }
    return map;
}

static bool mark_ours(void)
{
    if (spool.ours == NULL) {
        spool.ours = tms_rt_map(4096);
        if (spool.ours == NULL || madvise(spool.ours, 4096, MADV_WIPEONFORK) != 0) {
            return false;
        }
    }
    atomic_store(spool.ours, 1);
    return true;
}

static void fill_header(struct tms_spool_header *header, uint32_t image, int32_t parent)
{
    header->header_size = sizeof(*header);
    header->event_size = sizeof(struct tms_spool_event);
    header->pid = getpid();
    header->parent = parent != 0 ? parent : getppid();
    header->forked = parent != 0;
    header->started = tms_rt_monotonic_time();
    header->image = image;
    header->end = TMS_SPOOL_HEADER;
    ssize_t length = readlink("/proc/self/exe", header->program, sizeof(header->program) - 1);
    header->program[length > 0 ? length : 0] = '\0';
    memcpy(header->magic, TMS_SPOOL_MAGIC, sizeof(header->magic));
}

static void forget(void)
{
    tms_rt_publish_to(NULL);
    if (spool.header != NULL) {
        munmap(spool.header, spool.length); /* the parent's spool */
    }
    tms_rt_mutex_restart(&spool.lock);
    spool.header = NULL;
    spool.records = NULL;
    spool.record_count = 0;
    spool.rest_count = 0;
    spool.out_of_room = false;
}

bool tms_rt_spool_open(const char *pattern, uint64_t max_size)
{
    int32_t parent = spool.header != NULL ? spool.header->pid : 0;
    uint32_t image;

    forget();
    spool.events_limit =
        max_size == 0 ? 0 : TMS_SPOOL_HEADER + max_size + 2 * (uint64_t)TMS_SPOOL_CHUNK;
    int file = create(pattern, &image);
    if (file < 0) {
        return false;
    }
    struct tms_spool_header *header = map_file(file);
    int error = errno;
    close(file);
    if (header == NULL || !mark_ours()) {
        unlink(path);
        errno = error;
        return false;
    }
    fill_header(header, image, parent);
    spool.header = header;
    tms_rt_publish_to((void *)((char *)header + TMS_SPOOL_LIVE));
    return true;
}

/* ---- chunks ----------------------------------------------------------------------------- */

/* Allocates storage for one more chunk, and for some after it. */
static bool back_ahead(uint64_t end)
{
    uint64_t ahead = spool.backed / 4 < AHEAD_LEAST  ? AHEAD_LEAST
                     : spool.backed / 4 > AHEAD_MOST ? AHEAD_MOST
                                                     : spool.backed / 4 & ~(uint64_t)4095;

    if (end <= spool.backed) {
        return true;
    }
    if (spool.backed + ahead > spool.length) {
        ahead = spool.length - spool.backed;
    }
    if (spool.backed + ahead < end || !back((char *)spool.header + spool.backed, ahead)) {
        return false;
    }
    spool.backed += ahead;
    return true;
}

static struct tms_spool_chunk *set_up(void *at, uint32_t kind, uint32_t thread, uint32_t size)
{
    struct tms_spool_chunk *chunk = at;

    *chunk = (struct tms_spool_chunk){
        .kind = kind, .thread = thread, .used = sizeof(*chunk), .size = size};
    return chunk;
}

/* The rest of a chunk, from a thread that has ended. */
static struct tms_spool_chunk *take_rest(uint32_t thread)
{
    struct tms_spool_chunk *before = spool.rests[--spool.rest_count];
    struct tms_spool_chunk *chunk = set_up((char *)before + before->used, TMS_SPOOL_EVENTS, thread,
                                           before->size - before->used);

    __atomic_store_n(&before->size, before->used, __ATOMIC_RELEASE);
    return chunk;
}

/* The caller holds the lock. NULL if there is no more room. */
static struct tms_spool_chunk *new_chunk(uint32_t kind, uint32_t thread)
{
    uint64_t at = spool.header->end, end = at + TMS_SPOOL_CHUNK;
    bool over_limit =
        kind == TMS_SPOOL_EVENTS && spool.events_limit != 0 && end > spool.events_limit;

    if (over_limit || !back_ahead(end)) {
        spool.out_of_room = spool.out_of_room || kind == TMS_SPOOL_EVENTS;
        bool along = kind == TMS_SPOOL_EVENTS && !tms_rt_mode.records;
        uint32_t loss = over_limit ? along ? TMS_SPOOL_LOST_ALONG : TMS_SPOOL_LOST_SIZE
                        : along    ? TMS_SPOOL_LOST_ALONG_ROOM
                                   : TMS_SPOOL_LOST_ROOM;
        __atomic_fetch_or(&spool.header->lost, loss, __ATOMIC_RELAXED);
        return NULL;
    }
    struct tms_spool_chunk *chunk =
        set_up((char *)spool.header + at, kind, thread, TMS_SPOOL_CHUNK);
    __atomic_store_n(&spool.header->end, end, __ATOMIC_RELEASE);
    return chunk;
}

/* A thread's first event is lost: the trace ends before the first such event of any thread. */
static void cut_here(uint64_t number)
{
    uint64_t cut = __atomic_load_n(&spool.header->cut, __ATOMIC_RELAXED);

    while ((cut == 0 || number < cut) &&
           !__atomic_compare_exchange_n(&spool.header->cut, &cut, number, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
}

/*
 * A thread's chunks are in file order, so only its first one may be a rest; short threads need no
 * more.
 */
static bool next_chunk(struct tms_rt_thread *t, uint64_t number)
{
    tms_rt_mutex_lock(&spool.lock);
    bool rest = t->events == NULL && spool.rest_count > 0;
    struct tms_spool_chunk *chunk = spool.header == NULL || spool.out_of_room ? NULL
                                    : rest                                    ? take_rest(t->index)
                                           : new_chunk(TMS_SPOOL_EVENTS, t->index);
    tms_rt_mutex_unlock(&spool.lock);
    t->events = chunk;
    if (chunk == NULL && spool.header != NULL) {
        cut_here(number);
        t->events_cut = true;
    }
    return chunk != NULL;
}

/* Does the event affect other threads or memory itself? Accesses are not coalesced across it. */
static inline bool disturbs(const struct tms_spool_event *event)
{
    return event->kind != TMS_EVENT_BEGIN && event->kind != TMS_EVENT_END &&
           event->kind != TMS_EVENT_READ && event->kind != TMS_EVENT_WRITE &&
           event->kind != TMS_EVENT_UPDATE && event->kind != TMS_SPOOL_IDLE;
}

void tms_rt_spool_write(struct tms_rt_thread *t, const struct tms_spool_event *event)
{
    bool room = t->events != NULL && t->events->used + sizeof(*event) <= t->events->size;

    if (!is_ours()) {
        tms_rt_mode.checks = false;
        return;
    }
    if (t->events_cut || (!room && !next_chunk(t, event->number))) {
        t->last_event = NULL;
        return;
    }
    struct tms_spool_chunk *chunk = t->events;
    t->last_event = (void *)((char *)chunk + chunk->used);
    *t->last_event = *event;
    __atomic_store_n(&chunk->used, chunk->used + (uint32_t)sizeof(*event), __ATOMIC_RELEASE);
    t->spooled = event->number;
    t->coalesce_epoch += disturbs(event);
}

void tms_rt_spool_event(struct tms_rt_thread *t, const struct tms_spool_event *event)
{
    if (!tms_rt_mode.records) {
        tms_rt_record_sync(t, event);
        return;
    }
    if ((t->deferred_begins | t->deferred_calls) != 0) {
        tms_rt_record_begins(t, UINT64_MAX);
    }
    tms_rt_spool_write(t, event);
}

void tms_rt_spool_empty_transaction(struct tms_rt_thread *t, uint32_t label, uint32_t site)
{
    struct tms_spool_event *last = t->last_event;
    const struct tms_spool_event idle = {
        .number = t->number, .target = label, .extra = 1, .site = site, .kind = TMS_SPOOL_IDLE};

    if (last != NULL && last->kind == TMS_SPOOL_IDLE && last->target == label &&
        last->site == site && last->extra < TMS_SPOOL_RUN_MOST) {
        last->extra++;
    } else {
        tms_rt_spool_write(t, &idle);
    }
}

void tms_rt_spool_without_blocks(struct tms_rt_thread *t, const struct tms_spool_event *event)
{
    tms_rt_record_sync_flush(t);
    tms_rt_spool_write(t, event);
}

void tms_rt_spool_renewal(struct tms_rt_thread *t, uint8_t kind, uintptr_t address, size_t size,
                          uint32_t site)
{
    if (tms_rt_mode.records) {
        struct tms_spool_event event = {
            .number = t->number, .target = address, .extra = size, .site = site, .kind = kind};
        tms_rt_spool_without_blocks(t, &event);
    }
}

bool tms_rt_spool_is_out_of_room(void)
{
    return __atomic_load_n(&spool.out_of_room, __ATOMIC_RELAXED);
}

void tms_rt_spool_thread_ends(struct tms_rt_thread *t)
{
    const struct tms_spool_chunk *chunk = t->events;

    if (chunk != NULL && chunk->size - chunk->used >= REST_LEAST && is_ours()) {
        tms_rt_mutex_lock(&spool.lock);
        if (spool.rest_count < RESTS) {
            spool.rests[spool.rest_count++] = t->events;
        }
        tms_rt_mutex_unlock(&spool.lock);
    }
    t->events = NULL;
    t->last_event = NULL;
}

static size_t rounded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/*
 * The caller fills the record in after this returns. Until then its bytes are zero, so a reader
 * recognizes a record that was incomplete when the process died.
 */
void *tms_rt_spool_record(enum tms_spool_type type, size_t bytes)
{
    struct tms_spool_record *record = NULL;

    if (!is_ours() || bytes > TMS_SPOOL_CHUNK / 2) {
        return NULL;
    }
    tms_rt_mutex_lock(&spool.lock);
    if (spool.records == NULL || spool.records->used + rounded(bytes) > TMS_SPOOL_CHUNK) {
        spool.records = new_chunk(TMS_SPOOL_RECORDS, 0);
    }
    if (spool.records != NULL) {
        struct tms_spool_chunk *chunk = spool.records;
        record = (void *)((char *)chunk + chunk->used);
        *record = (struct tms_spool_record){type, (uint32_t)bytes};
        __atomic_store_n(&chunk->used, chunk->used + (uint32_t)rounded(bytes), __ATOMIC_RELEASE);
        atomic_fetch_add_explicit(&spool.record_count, 1, memory_order_relaxed);
    }
    tms_rt_mutex_unlock(&spool.lock);
    return record;
}

uint32_t tms_rt_spool_record_count(void)
{
    return atomic_load_explicit(&spool.record_count, memory_order_relaxed);
}
