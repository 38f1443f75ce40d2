/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the spool; spool.h has its layout. The file is made longer in steps and mapped in
 * pieces that stay where they are. Events go to a chunk of their thread without a lock, records
 * of all threads to one chunk at a time, under a lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"
#include "thread.h"

#define STEP_CHUNKS 64u /* 4 MiB at a time */
#define STEPS_MOST  (1u << 16)

static struct {
    int file;
    struct tms_rt_mutex lock;
    struct tms_spool_header *header;
    char *steps[STEPS_MOST]; /* mapped pieces */
    uint32_t step_count;
    uint64_t max_chunks; /* 0: no limit */
    struct tms_spool_chunk *records;
    bool full; /* no more events */
} spool = {.file = -1};

struct tms_spool_header *tms_rt_spool_header(void)
{
    return spool.header;
}

/*
 * "%p" in the pattern becomes the process id, with a number behind it for a program that the
 * process became by exec.
 */
static int create(const char *pattern)
{
    const char *mark = strstr(pattern, "%p");
    char path[PATH_MAX];
    int file = -1;

    for (int image = 1; image < 1000 && file < 0; image++) {
        if (mark == NULL) {
            snprintf(path, PATH_MAX, "%s", pattern);
        } else if (image == 1) {
            snprintf(path, PATH_MAX, "%.*s%d%s", (int)(mark - pattern), pattern, (int)getpid(),
                     mark + 2);
        } else {
            snprintf(path, PATH_MAX, "%.*s%d.%d%s", (int)(mark - pattern), pattern, (int)getpid(),
                     image, mark + 2);
        }
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (mark == NULL ? O_TRUNC : O_EXCL), 0600);
        if (file < 0 && (mark == NULL || errno != EEXIST)) {
            break;
        }
    }
    return file;
}

static bool add_step(void)
{
    off_t at = TMS_SPOOL_HEADER + (off_t)spool.step_count * STEP_CHUNKS * TMS_SPOOL_CHUNK;
    size_t bytes = (size_t)STEP_CHUNKS * TMS_SPOOL_CHUNK;

    /* Room on the disk now, rather than a bus error later. */
    if (spool.step_count == STEPS_MOST || fallocate(spool.file, 0, at, (off_t)bytes) != 0) {
        return false;
    }
    char *step = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, spool.file, at);
    if (step == MAP_FAILED) {
        return false;
    }
#ifdef MADV_POPULATE_WRITE
    if (spool.step_count > 0) { /* one page at a time costs more than what is written to it */
        madvise(step, bytes, MADV_POPULATE_WRITE);
    }
#endif
    spool.steps[spool.step_count++] = step;
    return true;
}

bool tms_rt_spool_open(const char *pattern, uint64_t max_size)
{
    atomic_store(&spool.lock.state, 0);
    spool.step_count = 0;
    spool.records = NULL;
    spool.full = false;
    spool.header = NULL;
    spool.max_chunks = max_size == 0 ? 0 : max_size / TMS_SPOOL_CHUNK + 2;
    spool.file = create(pattern);
    if (spool.file < 0 || ftruncate(spool.file, TMS_SPOOL_HEADER) != 0) {
        return false;
    }
    struct tms_spool_header *header =
        mmap(NULL, TMS_SPOOL_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, spool.file, 0);
    if (header == MAP_FAILED) {
        return false;
    }
    header->header_size = sizeof(*header);
    header->event_size = sizeof(struct tms_spool_event);
    header->pid = getpid();
    header->parent = getppid();
    ssize_t length = readlink("/proc/self/exe", header->program, sizeof(header->program) - 1);
    header->program[length > 0 ? length : 0] = '\0';
    memcpy(header->magic, TMS_SPOOL_MAGIC, sizeof(header->magic));
    spool.header = header;
    return true;
}

/* The lock is held. NULL when there is no room for more. */
static struct tms_spool_chunk *new_chunk(uint32_t kind, uint32_t thread)
{
    uint32_t number = spool.header->chunks;
    bool full = spool.max_chunks != 0 && kind == TMS_SPOOL_EVENTS && number >= spool.max_chunks;

    if (full || (number / STEP_CHUNKS >= spool.step_count && !add_step())) {
        spool.full = spool.full || kind == TMS_SPOOL_EVENTS;
        uint32_t loss = kind == TMS_SPOOL_EVENTS && !tms_rt_records ? TMS_SPOOL_LOST_ALONG
                        : full                                      ? TMS_SPOOL_LOST_SIZE
                                                                    : TMS_SPOOL_LOST_MEMORY;
        __atomic_fetch_or(&spool.header->lost, loss, __ATOMIC_RELAXED);
        return NULL;
    }
    struct tms_spool_chunk *chunk =
        (void *)(spool.steps[number / STEP_CHUNKS] + number % STEP_CHUNKS * TMS_SPOOL_CHUNK);
    *chunk = (struct tms_spool_chunk){.kind = kind, .thread = thread, .used = sizeof(*chunk)};
    __atomic_store_n(&spool.header->chunks, number + 1, __ATOMIC_RELEASE);
    return chunk;
}

/* The first event of a thread that is lost: from the first of all threads on there is no trace. */
static void cut_here(uint64_t number)
{
    uint64_t cut = __atomic_load_n(&spool.header->cut, __ATOMIC_RELAXED);

    while ((cut == 0 || number < cut) &&
           !__atomic_compare_exchange_n(&spool.header->cut, &cut, number, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
}

static bool next_chunk(struct tms_rt_thread *t, uint64_t number)
{
    tms_rt_mutex_lock(&spool.lock);
    struct tms_spool_chunk *chunk =
        spool.header == NULL || spool.full ? NULL : new_chunk(TMS_SPOOL_EVENTS, t->index);
    tms_rt_mutex_unlock(&spool.lock);
    t->events = chunk;
    if (chunk == NULL && spool.header != NULL) {
        cut_here(number);
        t->events_cut = true;
    }
    return chunk != NULL;
}

/* What threads do to each other, or to memory itself: accesses are not put together across it. */
static inline bool disturbs(const struct tms_spool_event *event)
{
    return event->kind != TMS_EVENT_BEGIN && event->kind != TMS_EVENT_END &&
           event->kind != TMS_EVENT_READ && event->kind != TMS_EVENT_WRITE &&
           event->kind != TMS_EVENT_UPDATE && event->kind != TMS_SPOOL_IDLE;
}

void tms_rt_spool_write(struct tms_rt_thread *t, const struct tms_spool_event *event)
{
    bool room = t->events != NULL && t->events->used + sizeof(*event) <= TMS_SPOOL_CHUNK;

    if (t->events_cut || (!room && !next_chunk(t, event->number))) {
        t->last_event = NULL;
        return;
    }
    struct tms_spool_chunk *chunk = t->events;
    t->last_event = (void *)((char *)chunk + chunk->used);
    *t->last_event = *event;
    __atomic_store_n(&chunk->used, chunk->used + (uint32_t)sizeof(*event), __ATOMIC_RELEASE);
    t->spooled = event->number;
    t->calm += disturbs(event);
}

void tms_rt_spool_event(struct tms_rt_thread *t, const struct tms_spool_event *event)
{
    if (!tms_rt_records) {
        tms_rt_along(t, event);
        return;
    }
    if (t->untold != 0) {
        tms_rt_tell_blocks(t, UINT64_MAX);
    }
    tms_rt_spool_write(t, event);
}

void tms_rt_spool_idle(struct tms_rt_thread *t, uint32_t label, uint32_t site)
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

void tms_rt_spool_aside(struct tms_rt_thread *t, const struct tms_spool_event *event)
{
    tms_rt_along_flush(t);
    if (tms_rt_records && t->recalled_count > 0) { /* these may become events of the blocks */
        tms_rt_tell_blocks(t, UINT64_MAX);
    }
    tms_rt_spool_write(t, event);
}

void tms_rt_spool_renewal(struct tms_rt_thread *t, uint8_t kind, uintptr_t address, size_t size,
                          uint32_t site)
{
    if (tms_rt_records) {
        struct tms_spool_event event = {
            .number = t->number, .target = address, .extra = size, .site = site, .kind = kind};
        tms_rt_spool_aside(t, &event);
    }
}

static size_t rounded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/*
 * The record is filled in by the caller behind the reader's back: its bytes are zero until then,
 * which a reader takes for what it is when the process died in between.
 */
void *tms_rt_spool_record(enum tms_spool_type type, size_t bytes)
{
    struct tms_spool_record *record = NULL;

    if (spool.header == NULL || bytes > TMS_SPOOL_CHUNK / 2) {
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
    }
    tms_rt_mutex_unlock(&spool.lock);
    return record;
}
