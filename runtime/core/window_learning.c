/* SPDX-License-Identifier: Apache-2.0 */
/* Windows seen in a run; see window_learning.h. */
#include "runtime/core/window_learning.h"

#include <assert.h>
#include <string.h>

#include "base/hashtable.h"
#include "runtime/core/heap_blocks.h"
#include "runtime/core/judge_records.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/sites.h"
#include "runtime/core/violations.h"
#include "runtime/shadow/shared_use.h"
#include "runtime/spool/spool_writer.h"

#define ROWS         4096u /* a power of two */
#define ROWS_MOST    (ROWS / 2)
#define WAITING_MOST (ROWS / 4) /* rows whose memory only one thread has used so far */
#define SIGHTINGS    4096u
#define SEEN_OFTEN   64u
#define SKIPPED      16u
#define LOCKS        1024u

struct row {
    uint64_t key; /* 0: free */
    struct tms_spool_window
        *record; /* NULL: no other thread has used the memory, or there is no room */
    struct tms_spool_window window;
};

static struct {
    struct tms_rt_mutex lock;
    struct row *rows; /* ROWS */
    uint32_t count, waiting;
    _Atomic uint8_t sightings[SIGHTINGS]; /* by block and location */
    struct {
        uintptr_t lock;
        uint32_t thread;
        bool shared;
    } locks[LOCKS]; /* which threads use a lock: the last ones that hashed to each row */
} notes;

/* ---- the block ---------------------------------------------------------------------------- */

/* The innermost entry of a list that began before an event; NULL: none. */
static const struct tms_rt_open *open_at(const struct tms_rt_open *list, uint32_t count,
                                         uint64_t event)
{
    while (count > 0 && list[count - 1].number >= event) {
        count--;
    }
    assert(count == 0 || list[count - 1].number < event);
    return count > 0 ? &list[count - 1] : NULL;
}

/* The innermost block or call that was open at an event of the thread, and still is. */
static const struct tms_rt_open *innermost_at(const struct tms_rt_thread *t, uint64_t event)
{
    const struct tms_rt_open *block = open_at(t->open, t->open_count, event);
    const struct tms_rt_open *call = open_at(t->calls, t->call_count, event);

    return block == NULL || (call != NULL && call->number > block->number) ? call : block;
}

/* ---- who else uses it --------------------------------------------------------------------- */

/*
 * Would an access in between matter? Between two reads only a write does; around the thread's own
 * write any use of the memory does.
 */
static bool matters(uint8_t used, bool writes)
{
    return (used & TMS_RT_CONTENDED) != 0 || (writes && used != 0);
}

/* ---- rows --------------------------------------------------------------------------------- */

static uint32_t find_open(const struct tms_rt_thread *t, uint64_t event)
{
    const struct tms_frontier_log *log = &t->engine->log;
    uint64_t at = tms_log_find(log, event);
    bool found = at < log_written(log) && log_at(log, at)->event == event;

    return found ? log_at(log, at)->location : 0;
}

/* Where to hold the thread: at the outermost lock that it has taken since and still holds. */
static void find_close(const struct tms_rt_thread *t, uint64_t event, struct tms_spool_window *to)
{
    to->close = to->at;
    for (uint32_t i = t->held_count; i-- > 0;) {
        if (t->held[i].since < event) {
            to->guarded = 1;
        } else if (t->held[i].site != 0) {
            to->close = t->held[i].site;
        }
    }
}

static uint64_t key_of(const struct tms_spool_window *window)
{
    uint64_t key = tms_hash(window->label);

    key = tms_hash(key + tms_rt_site_pc(window->open));
    key = tms_hash(key + tms_rt_site_pc(window->close));
    return tms_hash(key + tms_rt_site_pc(window->at)) | 1;
}

static void spool(struct row *row)
{
    struct tms_rt_heap_block block;

    assert(row->key != 0 && row->record == NULL);
    if (tms_rt_heap_find(row->window.object >> 8, &block)) {
        tms_rt_spool_block(&block, 0, 0); /* the reader looks for it near the record */
    }
    row->record = tms_rt_spool_record(TMS_SPOOL_WINDOW, sizeof(*row->record));
    if (row->record != NULL) {
        row->window.record = row->record->record;
        memcpy(row->record, &row->window, sizeof(row->window));
    }
}

static struct row *find_row(uint64_t key)
{
    assert(tms_rt_mutex_is_mine(&notes.lock) && notes.count <= ROWS_MOST);
    return TMS_HASH_SLOT_OF(notes.rows, ROWS, key);
}

/* The row of a window, created if it is new and there is room; NULL: there is none. */
static struct row *make_row(const struct tms_spool_window *window, bool shared)
{
    struct row *row = find_row(key_of(window));

    assert(notes.waiting <= notes.count);
    if (row->key == 0) {
        if (notes.count == ROWS_MOST || (!shared && notes.waiting == WAITING_MOST)) {
            return NULL;
        }
        notes.count++;
        notes.waiting += !shared;
        row->key = key_of(window);
        row->window = *window;
        row->window.waits = !shared;
    }
    return row;
}

struct sighting {
    const struct tms_spool_window *window;
    bool shared;
};

/* Memory that several heap blocks occupy in turn counts as soon as one of them is shared. */
static void note(void *argument)
{
    const struct sighting *sighting = argument;

    tms_rt_mutex_lock(&notes.lock);
    if (notes.rows == NULL) {
        notes.rows = tms_rt_map(ROWS * sizeof(*notes.rows));
    }
    struct row *row = notes.rows != NULL ? make_row(sighting->window, sighting->shared) : NULL;
    if (row != NULL) {
        row->window.seen++;
        if (row->record != NULL) {
            row->record->seen = row->window.seen;
        } else if (sighting->shared) {
            notes.waiting -= row->window.waits != 0;
            row->window.waits = 0;
            row->window.object = sighting->window->object;
            spool(row);
        } else {
            row->window.object = sighting->window->object;
        }
    }
    tms_rt_mutex_unlock(&notes.lock);
}

/* ---- two accesses ------------------------------------------------------------------------- */

/* Frequent locations are checked only now and then. */
static bool is_skipped(const struct tms_rt_thread *t, uint32_t label, uint32_t site)
{
    uint64_t hash = tms_hash(tms_hash(label) + tms_rt_site_pc(site));
    _Atomic uint8_t *counter = &notes.sightings[(hash >> 40) % SIGHTINGS];
    uint8_t before = atomic_load_explicit(counter, memory_order_relaxed);

    if (before < SEEN_OFTEN) {
        atomic_store_explicit(counter, (uint8_t)(before + 1), memory_order_relaxed);
        return false;
    }
    return t->number % SKIPPED != 0;
}

void tms_rt_note_window(struct tms_rt_thread *t, const struct tms_rt_window_end *end)
{
    const struct tms_rt_open *block = innermost_at(t, end->event);

    assert(end->event > 0 && end->event <= t->number);
    if (block == NULL || is_skipped(t, block->label, end->site)) {
        return;
    }
    uint32_t open = end->open != 0 ? end->open : find_open(t, end->event);
    if (open == 0) {
        return;
    }
    struct tms_spool_window window = {.label = block->label,
                                      .block_site = block->site,
                                      .open = open,
                                      .at = end->site,
                                      .writes = end->writes};
    struct sighting sighting = {&window, matters(end->used, end->writes)};
    if (end->bytes != 0) {
        window.object = tms_rt_judged_name(end->object & ~UINT64_C(7), end->bytes);
        find_close(t, end->event, &window);
    } else {
        window.object = end->object << 8;
        window.on_lock = 1;
        window.close = end->site;
    }
    tms_rt_call_deep(note, &sighting);
}

/* ---- two acquires ------------------------------------------------------------------------- */

/* Do several threads use the lock, as far as is known? */
static bool is_used_by_others(const struct tms_rt_thread *t, uintptr_t lock)
{
    assert(tms_rt_mutex_is_mine(&notes.lock));
    __typeof__(&notes.locks[0]) row = &notes.locks[tms_hash(lock) % LOCKS];
    bool same = row->lock == lock;

    row->shared = same && (row->shared || row->thread != t->index);
    row->lock = lock;
    row->thread = t->index;
    return row->shared;
}

void tms_rt_note_acquire(struct tms_rt_thread *t, const void *lock, uint32_t site)
{
    struct tms_rt_acquires *before = &t->acquires;
    struct tms_rt_window_end end = {.object = (uintptr_t)lock, .site = site};

    for (uint32_t i = 0; i < TMS_RT_ACQUIRES; i++) {
        if (before->lock[i] == lock && before->event[i] > end.event) {
            end.event = before->event[i];
            end.open = before->site[i];
        }
    }
    tms_rt_mutex_lock(&notes.lock);
    end.used = is_used_by_others(t, end.object) ? TMS_RT_CONTENDED : 0;
    tms_rt_mutex_unlock(&notes.lock);
    if (end.event != 0) {
        tms_rt_note_window(t, &end);
    }
    uint32_t at = before->next++ % TMS_RT_ACQUIRES;
    before->lock[at] = lock;
    before->event[at] = t->number;
    before->site[at] = site;
}

/* ---- the process -------------------------------------------------------------------------- */

/* Do other threads use the memory or the lock of a waiting window by now? */
static bool is_shared_now(const struct tms_spool_window *window)
{
    uintptr_t object = window->object >> 8;

    return window->on_lock ? notes.locks[tms_hash(object) % LOCKS].lock == object &&
                                 notes.locks[tms_hash(object) % LOCKS].shared
                           : matters(tms_rt_sharing_of(tms_rt_variable_id(object)), window->writes);
}

void tms_rt_windows_finish(void)
{
    if (notes.rows == NULL || !tms_rt_mutex_lock_soon(&notes.lock)) {
        return;
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        struct row *row = &notes.rows[i];
        if (row->window.waits != 0 && is_shared_now(&row->window)) {
            row->window.waits = 0;
            spool(row);
        }
    }
    tms_rt_mutex_unlock(&notes.lock);
}

void tms_rt_windows_restart(void)
{
    if (notes.rows != NULL) {
        memset(notes.rows, 0, ROWS * sizeof(*notes.rows));
    }
    notes.count = notes.waiting = 0;
    tms_rt_mutex_restart(&notes.lock);
}
