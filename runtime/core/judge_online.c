/* SPDX-License-Identifier: Apache-2.0 */
/* `judge` inside the program; see judge_online.h. */
#include "runtime/core/judge_online.h"

#include <assert.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/core/engine_online.h"
#include "runtime/core/heap_blocks.h"
#include "runtime/core/judge_records.h"
#include "runtime/core/raw_system_call.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/sites.h"
#include "runtime/core/thread_registry.h"
#include "runtime/shadow/variable_ids.h"
#include "runtime/spool/spool_writer.h"

#define VARIABLES_MOST (1u << 18)
#define WORDS_MOST     64 /* the newest words of a cell that are used */
#define COPIES_MOST    8  /* attempts to copy the state of a running thread */
#define LOOK_BACK      64 /* entries of a thread's log that are searched */

static struct tms_memory memory = TMS_RT_MEMORY;
static struct {
    struct tms_rt_mutex lock; /* the judge lock: taken inside a cell's and outside the engine's */
    struct tms_judge_online online;
    uint64_t *runs_of; /* by label, of threads that have ended */
    size_t run_capacity;
    bool finished;
} judge;

/* ---- the port ----------------------------------------------------------------------------- */

/* A thread that ends, or ends the process, holds the lock until it has added its counts. */
static _Thread_local bool holds_lock;

static void guard(void *user, bool enter)
{
    assert(!holds_lock || tms_rt_mutex_is_mine(&judge.lock));
    (void)user;
    if (holds_lock) {
        return;
    }
    if (enter) {
        tms_rt_mutex_lock(&judge.lock);
    } else {
        tms_rt_mutex_unlock(&judge.lock);
    }
}

/* The instruction, without its call stack. */
static uint32_t place_of(void *user, uint32_t location)
{
    (void)user;
    return location != 0 ? tms_rt_bare_site(tms_rt_site_pc(location)) : 0;
}

static uint64_t name_of(void *user, uint32_t variable)
{
    const struct tms_judge_memory *at = &judge.online.memory[variable];

    assert(variable > 0 && variable <= VARIABLES_MOST);
    assert(at->bytes != 0 && at->address % 8 == 0);
    (void)user;
    return tms_rt_judged_name(at->address, at->bytes);
}

static uint32_t object_of(void *user, uint32_t variable)
{
    return tms_rt_judged_object(name_of(user, variable));
}

static void found(void *user, uint32_t evidence, bool first)
{
    (void)user;
    tms_rt_judged_found(&judge.online.core, evidence, first);
}

static uint32_t learnt(void *user, uint64_t variable)
{
    (void)user;
    return tms_rt_judged_learn(variable);
}

/* Is it the first access to a heap block, as far back as the log is searched? */
static bool is_initial(const struct tms_frontier_log *log, uint64_t at, uintptr_t address)
{
    const struct tms_op *write = log_at(log, at);
    uint64_t first = tms_log_first(log);
    struct tms_rt_heap_block block;

    for (uint64_t i = at; i > first && at - i < LOOK_BACK; i--) {
        const struct tms_op *entry = log_at(log, i - 1);
        if (entry->target == write->target && entry->kind <= TMS_OP_UPDATE &&
            entry->kind >= TMS_OP_READ && (entry->spared | write->spared) != TMS_OP_SPARES_ALL) {
            return false;
        }
    }
    return tms_rt_heap_find(address, &block);
}

static struct tms_judge_detail detail_of(void *user, const struct tms_judge_word *word,
                                         uint64_t address)
{
    struct tms_judge_detail detail = {0};

    (void)user;
    tms_rt_mutex_lock(&tms_rt_engine_lock);
    const struct tms_frontier_thread *u = tms_rt_engine.threads[word->slot];
    uint64_t at = u != NULL ? tms_log_find(&u->log, word->event) : 0;
    if (u != NULL && at >= tms_log_first(&u->log) && at < log_written(&u->log) &&
        log_at(&u->log, at)->event == word->event) {
        const struct tms_op *entry = log_at(&u->log, at);
        const struct tms_op *before = at > tms_log_first(&u->log) ? log_at(&u->log, at - 1) : entry;
        detail.location = entry->location;
        detail.counter = before->kind == TMS_OP_READ && before->target == entry->target;
        detail.initial = word->kind == TMS_JUDGE_W && is_initial(&u->log, at, address);
    }
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
    return detail;
}

void tms_rt_judge_start(void)
{
    const struct tms_judge_port port = {.name_of = name_of,
                                        .object_of = object_of,
                                        .place_of = place_of,
                                        .found = found,
                                        .learnt = learnt,
                                        .guard = guard};

    memset(&judge, 0, sizeof(judge));
    tms_judge_online_init(&judge.online, &memory, &port, VARIABLES_MOST);
    judge.online.detail_of = detail_of;
    judge.online.core.learns = true;
    tms_rt_judged_restart();
}

/* ---- threads ------------------------------------------------------------------------------ */

void tms_rt_judge_thread_starts(struct tms_rt_thread *t)
{
    if (tms_rt_mode.judges) {
        tms_rt_mutex_lock(&judge.lock);
        assert(t->judge == NULL && t->judged_blocks == 0 && t->judged_calls == 0);
        t->judge = tms_judge_thread(&judge.online.core, TMS_RT_JUDGED_THREAD(t->index));
        tms_rt_mutex_unlock(&judge.lock);
    }
}

static void add_runs(const uint64_t *runs_of, size_t count)
{
    assert(tms_rt_mutex_is_mine(&judge.lock));
    if (!TMS_RESERVE(&memory, &judge.runs_of, &judge.run_capacity, count, 64)) {
        judge.online.core.failed = true;
        return;
    }
    assert(judge.run_capacity >= count);
    for (size_t i = 0; i < count; i++) {
        judge.runs_of[i] += runs_of[i];
    }
}

/* All at once: the process may end meanwhile, and takes the counts from here or from there. */
static void end_thread(void *argument)
{
    struct tms_rt_thread *t = argument;
    struct tms_judge_thread *own = t->judge;

    assert(t == tms_rt_self && t->open_count == 0);
    tms_rt_mutex_lock(&judge.lock);
    holds_lock = true;
    t->judge = NULL;
    tms_judge_end_thread(&judge.online.core, own, t->number + 1);
    add_runs(t->runs_of, t->run_capacity);
    holds_lock = false;
    tms_rt_mutex_unlock(&judge.lock);
}

void tms_rt_judge_thread_ends(struct tms_rt_thread *t)
{
    if (t->judge == NULL) {
        return;
    }
    tms_rt_call_deep(end_thread, t);
    tms_release(&memory, t->runs_of, t->run_capacity, sizeof(*t->runs_of));
    t->runs_of = NULL;
    t->run_capacity = 0;
}

/* A copy of the state of a thread that may still run. Under the judge lock. */
static struct {
    struct tms_judge_thread judge; /* with copies of its `open` and `functions` */
    uint64_t *runs_of;
    size_t run_capacity;
} copied;

/* Reads memory that another thread may release at this moment; false if it is gone. */
static bool read_array(void *to, const void *from, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)from, bytes};

    return bytes == 0 || tms_rt_raw(SYS_process_vm_readv, getpid(), (long)&local, 1, (long)&remote,
                                    1, 0) == (long)bytes;
}

/* NULL if it can't be read, or if memory is short. */
static void *copy_array(const void *from, size_t count, size_t size)
{
    void *copy = tms_resize(&memory, NULL, 0, count + 1, size);

    if (copy != NULL && !read_array(copy, from, count * size)) {
        tms_release(&memory, copy, count + 1, size);
        copy = NULL;
    }
    return copy;
}

static void release_array(void *copy, size_t count, size_t size)
{
    if (copy != NULL) {
        tms_release(&memory, copy, count + 1, size);
    }
}

static void release_copy(void)
{
    const struct tms_judge_thread *copy = &copied.judge;

    release_array(copied.runs_of, copied.run_capacity, sizeof(*copied.runs_of));
    release_array(copy->open, copy->open_capacity, sizeof(*copy->open));
    release_array(copy->functions, copy->function_capacity, sizeof(*copy->functions));
}

/* False if an array can't be read, or was replaced meanwhile; nothing remains then. */
static bool copy_thread(const struct tms_rt_thread *t, const struct tms_judge_thread *own)
{
    struct tms_judge_thread *copy = &copied.judge;

    assert(tms_rt_mutex_is_mine(&judge.lock));
    memcpy(copy, own, sizeof(*copy));
    const void *open = copy->open, *functions = copy->functions, *runs_of = t->runs_of;
    copied.run_capacity = t->run_capacity;
    copied.runs_of = copy_array(runs_of, copied.run_capacity, sizeof(*copied.runs_of));
    copy->open = copy_array(open, copy->open_capacity, sizeof(*copy->open));
    copy->functions = copy_array(functions, copy->function_capacity, sizeof(*copy->functions));
    if (own->open != open || own->functions != functions || t->runs_of != runs_of ||
        t->run_capacity != copied.run_capacity || copied.runs_of == NULL || copy->open == NULL ||
        copy->functions == NULL) {
        release_copy();
        return false;
    }
    return true;
}

/*
 * Adds the open blocks and the counts of a thread that may still run. If it never stays as it is
 * for the time of a copy, one is repaired.
 */
static void finish_thread(struct tms_rt_thread *t)
{
    struct tms_judge *core = &judge.online.core;
    const struct tms_judge_thread *own = t->judge;
    bool done = own == NULL;

    for (unsigned i = 0; !done && i < 2 * COPIES_MOST; i++) {
        if (!copy_thread(t, own)) {
            continue;
        }
        if (i >= COPIES_MOST) {
            tms_judge_repair_copy(core, &copied.judge);
        }
        done = tms_judge_finish_copy(core, &copied.judge, UINT64_MAX >> 1);
        if (done) {
            add_runs(copied.runs_of, copied.run_capacity);
        }
        release_copy();
    }
}

/* The check goes on without what was dropped, unlike after tms_rt_record_loss. */
static void note_loss(void)
{
    struct tms_spool_header *header = tms_rt_spool_header();

    if (header != NULL && judge.online.dropped > 0) {
        __atomic_fetch_or(&header->lost, TMS_SPOOL_LOST_JUDGED, __ATOMIC_RELAXED);
    }
}

/* Other threads may still run: their state is only read. */
void tms_rt_judge_finish(void)
{
    if (!tms_rt_mode.judges || judge.finished) {
        return;
    }
    judge.finished = true;
    if (!tms_rt_mutex_lock_soon(&judge.lock)) {
        return;
    }
    holds_lock = true;
    tms_judge_decide_open(&judge.online.core);
    tms_rt_registry_each(finish_thread);
    tms_rt_judged_finish(&judge.online.core, judge.runs_of, judge.run_capacity);
    note_loss();
    holds_lock = false;
    tms_rt_mutex_unlock(&judge.lock);
}

/* ---- blocks ------------------------------------------------------------------------------- */

/* The next block or call that is not open in the core, in the order of their begins; NULL: none. */
static const struct tms_rt_open *next_deferred(struct tms_rt_thread *t)
{
    const struct tms_rt_open *block =
        t->judged_blocks < t->open_count ? &t->open[t->judged_blocks] : NULL;
    const struct tms_rt_open *call =
        t->judged_calls < t->call_count ? &t->calls[t->judged_calls] : NULL;

    assert(t->judged_blocks <= t->open_count && t->judged_calls <= t->call_count);
    if (call == NULL || (block != NULL && block->number <= call->number)) {
        t->judged_blocks += block != NULL;
        return block;
    }
    t->judged_calls++;
    return call;
}

void tms_rt_judge_open_deferred(struct tms_rt_thread *t)
{
    const struct tms_rt_open *open;

    assert(t->judge != NULL);
    while ((open = next_deferred(t)) != NULL) {
        tms_judge_open(&judge.online.core, t->judge, open->label, 0, open->number, open->site);
    }
}

bool tms_rt_judge_more_labels(struct tms_rt_thread *t, uint32_t label)
{
    if (!TMS_RESERVE(&memory, &t->runs_of, &t->run_capacity, (size_t)label + 1, 256)) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
        return false;
    }
    return true;
}

struct closing {
    struct tms_judge_thread *thread;
    uint64_t begin, event;
};

static void close_deep(void *argument)
{
    const struct closing *closing = argument;

    tms_judge_close_begun(&judge.online.core, closing->thread, closing->begin, closing->event);
}

/* Those that stay open must be open in the core by then, even if they began later. */
void tms_rt_judge_close(struct tms_rt_thread *t, uint64_t begin, bool call, bool inner)
{
    struct closing closing = {t->judge, begin, t->number + 1};

    if (t->judge == NULL) {
        return;
    }
    if (!inner || (!call && t->call_count > 0 && t->calls[t->call_count - 1].number >= begin)) {
        tms_rt_judge_open_deferred(t);
    }
    assert((call ? t->judged_calls : t->judged_blocks) > 0);
    tms_rt_call_deep(close_deep, &closing);
    t->judged_blocks -= !call;
    t->judged_calls -= call;
}

void tms_rt_judge_demoted(struct tms_rt_thread *t, bool recorded)
{
    if (t->judge != NULL && recorded) {
        assert(t->judged_blocks > 0 && t->judged_calls < t->call_count);
        t->judged_blocks--;
        t->judged_calls++;
    }
}

/* ---- synchronisation ---------------------------------------------------------------------- */

void tms_rt_judge_acquired(struct tms_rt_thread *t, const void *lock, uint32_t site)
{
    if (t->judge != NULL) {
        tms_rt_judge_open_deferred(t);
        tms_judge_acquire(&judge.online.core, t->judge, (uintptr_t)lock, t->number, site);
    }
}

void tms_rt_judge_released(struct tms_rt_thread *t, const void *lock, uint32_t site, bool shared)
{
    if (t->judge != NULL) {
        tms_rt_judge_open_deferred(t);
        tms_judge_release(&judge.online.core, t->judge, (uintptr_t)lock, t->number, site, shared);
    }
}

void tms_rt_judge_updated(struct tms_rt_thread *t, uintptr_t object)
{
    if (t->judge != NULL) {
        tms_rt_judge_open_deferred(t);
        tms_judge_count_use(&judge.online.core, t->judge, object, false, t->number);
        t->judge->synchronised++;
        tms_judge_end_updates(t->judge, t->number);
    }
}

void tms_rt_judge_waits(struct tms_rt_thread *t)
{
    if (t->judge != NULL) {
        tms_judge_wait(t->judge);
        tms_rt_judge_synchronised(t);
        tms_rt_judge_rendezvous(t);
    }
}

void tms_rt_judge_synchronised(struct tms_rt_thread *t)
{
    if (t->judge != NULL) {
        tms_rt_judge_open_deferred(t);
        tms_judge_synchronise(t->judge, t->number);
    }
}

void tms_rt_judge_rendezvous(struct tms_rt_thread *t)
{
    if (t->judge != NULL) {
        tms_judge_rendezvous(&judge.online.core, t->judge, t->number);
        tms_rt_start_epoch(t);
    }
}

void tms_rt_judge_delayed(struct tms_rt_thread *t)
{
    if (t->judge != NULL) {
        tms_rt_judge_open_deferred(t);
        tms_judge_delay(t->judge);
    }
}

void tms_rt_judge_fence(struct tms_rt_thread *t)
{
    if (t->judge != NULL) {
        tms_judge_end_updates(t->judge, t->number);
    }
}

/* ---- memory ------------------------------------------------------------------------------- */

/* Fills the step in place: copying it would stall on its narrow stores. */
static inline void fill_step(const struct tms_rt_thread *t, const struct tms_rt_judged *access,
                             uint64_t own_read, struct tms_judge_step *step)
{
    const uint64_t update = WORD_ATOMIC | WORD_WRITE | WORD_RMW;
    bool writes = (access->kind & WORD_WRITE) != 0, atomic = (access->kind & WORD_ATOMIC) != 0;
    bool updates_itself = (access->kind & update) == update;
    bool updates_read = writes && !atomic && own_read > t->judge->updates_from;

    assert(access->event <= t->number);
    assert(!updates_read || own_read < access->event);
    step->event = access->event;
    step->read = updates_read ? own_read : 0;
    step->location = access->site;
    step->kind = updates_itself || updates_read ? TMS_JUDGE_U : writes ? TMS_JUDGE_W : TMS_JUDGE_R;
    step->cleared = t->mark == TMS_SPOOL_RETRY;
    step->atomic = atomic;
    step->counter = updates_itself || (updates_read && own_read == t->judge->previous);
    step->initial = false;
}

/* Is the access an operation on a semaphore or the like, not on data? */
static bool is_synchronisation(const struct tms_rt_thread *t)
{
    return t->mark > TMS_SPOOL_RETRY;
}

/* Records what the current sections access, as long as the core asks for it. */
static void learn(struct tms_rt_thread *t, const struct tms_rt_judged *access, uint8_t kind)
{
    unsigned came = (access->kind & WORD_WRITE) != 0 ? TMS_JUDGE_W : TMS_JUDGE_R;

    if (t->judge->learning > 0) {
        tms_judge_learn(&judge.online.core, t->judge,
                        tms_rt_judged_name(access->address & ~UINT64_C(7), (uint8_t)access->bytes),
                        1u << came | 1u << kind);
    }
}

/*
 * If tms_judge_note has ended the stretch at a plain read, it took the read for a wait whose
 * condition was already true. Accesses before it no longer count as own steps, so those after it
 * must pass the filter again: an epoch starts.
 */
static void follow_wait(struct tms_rt_thread *t, const struct tms_judge_step *step,
                        uint64_t stretch)
{
    if (!step->atomic && t->judge->stretch != stretch) {
        tms_rt_start_epoch_at(t, step->event);
    }
}

void tms_rt_judge_private_access(struct tms_rt_thread *t, const struct tms_rt_judged *access,
                                 uint64_t own_read, uint64_t write)
{
    struct tms_judge_step step;
    uint64_t key = access->address & ~UINT64_C(7), stretch = t->judge->stretch;

    assert(access->bytes != 0 && t->judge != NULL);
    fill_step(t, access, own_read, &step);
    tms_judge_note(&judge.online.core, t->judge, key | (uint64_t)__builtin_ctzll(access->bytes),
                   &step, write);
    learn(t, access, step.kind);
    follow_wait(t, &step, stretch);
}

static struct tms_judge_word unpack_word(const struct tms_rt_thread *t, uint64_t word)
{
    const uint64_t update = WORD_WRITE | WORD_VARIANT; /* a read-modify-write, too */
    const struct tms_rt_thread *u = is_own(t, word) ? t : tms_rt_thread_of_slot(word_slot(word));

    return (struct tms_judge_word){
        .thread = u != NULL ? u->judge : NULL,
        .id = TMS_RT_JUDGED_THREAD(u != NULL ? u->index : 0),
        .slot = word_slot(word),
        .event = word_event(word),
        .bytes = (uint8_t)word,
        .kind = (word & WORD_WRITE) == 0    ? TMS_JUDGE_R
                : (word & update) == update ? TMS_JUDGE_U
                                            : TMS_JUDGE_W,
        .atomic = (word & WORD_ATOMIC) != 0,
    };
}

struct meeting {
    struct tms_rt_thread *thread;
    struct tms_rt_unpacked *cell;
    const struct tms_rt_judged *access;
};

/* Oldest first: a write is older than the reads of its bytes, and the newest read is in word 1. */
static size_t unpack_words(const struct meeting *meeting, struct tms_judge_word words[WORDS_MOST])
{
    const struct tms_rt_unpacked *cell = meeting->cell;
    uint64_t newest = atomic_load_explicit(&cell->cell->word[1], memory_order_relaxed);
    uint32_t first = cell->count > WORDS_MOST - 1 ? cell->count - (WORDS_MOST - 1) : 0;
    size_t count = 0;
    bool last = false;

    for (unsigned write = 0; write < 2; write++) {
        for (uint32_t i = first; i < cell->count; i++) {
            uint64_t word = cell->word[i];
            bool reads = (word & WORD_WRITE) == 0;
            if (reads == write && word != newest && (word & WORD_RACE_ONLY) == 0) {
                words[count++] = unpack_word(meeting->thread, word);
            }
            last = last || (word == newest && (word & WORD_RACE_ONLY) == 0);
        }
    }
    if (last) {
        words[count++] = unpack_word(meeting->thread, newest);
    }
    assert(count <= WORDS_MOST);
    return count;
}

/* The thread's own plain read of the bytes, if it was the last access to them. */
static uint64_t own_read(const struct meeting *meeting, const struct tms_judge_word *words,
                         size_t count)
{
    for (size_t i = count; i-- > 0;) {
        if ((words[i].bytes & meeting->access->bytes) != 0) {
            bool own = words[i].thread == meeting->thread->judge && words[i].kind == TMS_JUDGE_R &&
                       !words[i].atomic && (~words[i].bytes & meeting->access->bytes) == 0;
            return own ? words[i].event : 0;
        }
    }
    return 0;
}

static void judge_access(void *argument)
{
    const struct meeting *meeting = argument;
    struct tms_rt_thread *t = meeting->thread;
    struct tms_rt_unpacked *cell = meeting->cell;
    struct tms_judge_word words[WORDS_MOST];
    size_t count = unpack_words(meeting, words);
    struct tms_judge_met met = {
        .address = meeting->access->address & ~UINT64_C(7),
        .bytes = (uint8_t)meeting->access->bytes,
        .words = words,
        .count = count,
        .variable = (uint32_t)(cell->link >> LINK_JUDGED & LINK_JUDGED_MOST),
    };

    fill_step(t, meeting->access, own_read(meeting, words, count), &met.step);
    tms_rt_judge_open_deferred(t);
    uint64_t stretch = t->judge->stretch;
    if (met.step.kind != TMS_JUDGE_R && met.step.atomic) {
        tms_judge_count_use(&judge.online.core, t->judge, met.address | met.bytes, false,
                            met.step.event);
        t->judge->synchronised++;
    }
    uint64_t variable = tms_judge_online_access(&judge.online, t->judge, &met);
    assert(variable <= LINK_JUDGED_MOST);
    cell->link = (cell->link & ~(LINK_JUDGED_MOST << LINK_JUDGED)) | variable << LINK_JUDGED;
    learn(t, meeting->access, met.step.kind);
    follow_wait(t, &met.step, stretch);
}

static void update(void *argument)
{
    const struct meeting *meeting = argument;

    tms_rt_judge_updated(meeting->thread, meeting->access->address);
}

void tms_rt_judge_shared_access(struct tms_rt_thread *t, struct tms_rt_unpacked *cell,
                                const struct tms_rt_judged *access)
{
    struct meeting meeting = {t, cell, access};

    if (is_synchronisation(t)) {
        tms_rt_call_deep(update, &meeting);
    } else if (!judge.online.core.failed) {
        tms_rt_call_deep(judge_access, &meeting);
    }
}

struct clearing {
    uintptr_t address;
    uint8_t bytes;
    uint32_t variable;
};

static void clear_bytes(void *argument)
{
    struct clearing *clearing = argument;

    clearing->variable = tms_judge_online_clear_bytes(
        &judge.online, clearing->address & ~UINT64_C(7), clearing->bytes, clearing->variable);
}

void tms_rt_judge_clear_bytes(struct tms_rt_unpacked *cell, uintptr_t address, uint64_t bytes)
{
    struct clearing clearing = {address, (uint8_t)bytes,
                                (uint32_t)(cell->link >> LINK_JUDGED & LINK_JUDGED_MOST)};

    if (clearing.variable != 0) {
        tms_rt_call_deep(clear_bytes, &clearing);
        cell->link = (cell->link & ~(LINK_JUDGED_MOST << LINK_JUDGED)) | (uint64_t)clearing.variable
                                                                             << LINK_JUDGED;
    }
}
