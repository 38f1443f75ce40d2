/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes predictions and requests to the spool; see predict_spool.h.
 *
 * The pattern of a prediction consists of kind, labels, the instructions that take the lock, and
 * the lock, by its address or, on the heap, by its allocation site. A small cache, indexed by the
 * lock's id, recognizes an immediately repeated prediction without taking a lock. Requests are
 * identified by their hash.
 */
#include "runtime/core/predict_spool.h"

#include <assert.h>
#include <string.h>

#include "base/hashtable.h"
#include "runtime/core/heap_blocks.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/sites.h"
#include "runtime/core/sync_objects.h"
#include "runtime/core/thread.h"
#include "runtime/spool/spool_writer.h"

#define PATTERNS      4096u /* twice as many as are listed */
#define CACHED        256u
#define REQUESTS      (1u << 17) /* twice as many as are listed */
#define LOCKS_NOTED   (1u << 15)
#define PATTERNS_MOST (PATTERNS / 2)
#define PAIRS_MOST    (PATTERNS_MOST / 2) /* of them: any two locks may form one */
#define REQUESTS_MOST (REQUESTS / 2)

struct pattern {
    uint64_t hash; /* 0: free */
    struct tms_spool_prediction *record;
};

static struct {
    struct tms_rt_mutex lock;
    struct pattern patterns[PATTERNS];
    uint32_t pattern_count, pair_count;
    struct {
        _Atomic uint64_t hash;
        struct tms_spool_prediction *_Atomic record;
    } cache[CACHED];
    uint64_t *requests; /* hashes, open addressing; mapped with the first one */
    uint32_t request_count;
    uint32_t
        noted[LOCKS_NOTED]; /* by id: locks with a record; 0: none. Others may be recorded again */
} kept;

void tms_rt_predict_patterns_restart(void)
{
    uint64_t *requests = kept.requests;

    memset(&kept, 0, sizeof(kept));
    kept.requests = requests;
    if (requests != NULL) {
        memset(requests, 0, REQUESTS * sizeof(*requests));
    }
}

static void lose(void)
{
    struct tms_spool_header *header = tms_rt_spool_header();

    if (header != NULL) {
        __atomic_fetch_or(&header->lost, TMS_SPOOL_LOST_PREDICTIONS, __ATOMIC_RELAXED);
    }
}

/* ---- records ------------------------------------------------------------------------------ */

static void spool_lock(uint32_t id)
{
    uintptr_t address = tms_rt_object_address(TMS_RT_LOCK, id);
    struct tms_rt_heap_block block;

    assert(tms_rt_mutex_is_mine(&kept.lock) && id > 0);
    if (kept.noted[id % LOCKS_NOTED] == id) {
        return;
    }
    struct tms_spool_lock *record = tms_rt_spool_record(TMS_SPOOL_LOCK, sizeof(*record));
    if (record == NULL) {
        return;
    }
    record->address = address;
    if (tms_rt_heap_find(address, &block)) {
        record->heap_address = block.start;
        record->heap_size = block.size;
        record->heap_site = block.site;
    }
    record->id = id;
    kept.noted[id % LOCKS_NOTED] = id;
}

static struct tms_spool_transaction transaction_of(const struct tms_predict_block *block,
                                                   uint32_t thread, bool unary)
{
    return (struct tms_spool_transaction){.begin = block->begin,
                                          .thread = thread,
                                          .label = block->label,
                                          .site = block->site,
                                          .unary = unary};
}

static struct tms_spool_acquire acquire_of(const struct tms_predict_place *place,
                                           struct tms_spool_transaction in)
{
    return (struct tms_spool_acquire){.number = place->number,
                                      .activation = place->activation,
                                      .site = place->site,
                                      .shared = place->kind == TMS_TAKE_SHARED,
                                      .in = in};
}

static struct tms_spool_acquire whole_acquire(const struct tms_predict_acquire *from)
{
    return acquire_of(&from->place, transaction_of(&from->block, from->thread, from->unary));
}

/* ---- predictions -------------------------------------------------------------------------- */

/* What identifies a lock across runs, as far as that is known here. */
static uint64_t identity_of(uint32_t lock)
{
    uintptr_t address = tms_rt_object_address(TMS_RT_LOCK, lock);
    struct tms_rt_heap_block block;

    return tms_rt_heap_find(address, &block)
               ? tms_mix(tms_rt_site_pc(block.site), address - block.start)
               : address;
}

/* `first`: identity of the other lock of a pair. */
static uint64_t pattern_of(const struct tms_prediction *p, uint64_t lock, uint64_t first)
{
    uint64_t hash = tms_mix(lock, (uint64_t)p->error << 1 | p->rough);

    hash = tms_mix(hash, (uint64_t)p->block.label << 32 | p->culprit_in->block.label);
    hash = tms_mix(hash, tms_rt_site_pc(p->first->site));
    hash = tms_mix(hash, tms_rt_site_pc(p->second->site));
    hash = tms_mix(hash, tms_rt_site_pc(p->culprit->site));
    if (p->through != NULL) {
        hash = tms_mix(hash, tms_rt_site_pc(p->through->place.site));
        hash = tms_mix(hash, first);
    }
    for (uint32_t i = 1; i < p->block_count; i++) {
        hash = tms_mix(hash, p->blocks[i].label);
    }
    return hash | 1;
}

struct spooling {
    const struct tms_prediction *prediction;
    struct tms_spool_prediction *record;
};

static void spool(struct spooling *spooling)
{
    const struct tms_prediction *p = spooling->prediction;
    struct tms_spool_transaction block = transaction_of(&p->block, p->thread, false);

    assert((p->first_in != NULL) == (p->through != NULL));
    spool_lock(p->lock->id);
    if (p->first_in != NULL) {
        spool_lock(p->first_in->lock);
    }
    struct tms_spool_prediction *record = tms_rt_spool_record(
        TMS_SPOOL_PREDICTION,
        sizeof(*record) + p->block_count * sizeof(struct tms_spool_transaction));
    spooling->record = record;
    if (record == NULL) {
        return;
    }
    record->lock = p->lock->id;
    record->kind = (uint8_t)p->error;
    record->rough = p->rough;
    record->first = acquire_of(p->first, block);
    record->second = acquire_of(p->second, block);
    record->culprit = whole_acquire(p->culprit_in);
    if (p->through != NULL) {
        const struct tms_predict_recent *through = p->through;
        record->first_lock = p->first_in->lock;
        record->through =
            acquire_of(&through->place,
                       transaction_of(&through->block, p->culprit_in->thread, through->unary));
    }
    record->refuted = p->block_count;
    struct tms_spool_transaction *refuted = (void *)(record + 1);
    for (uint32_t i = 0; i < p->block_count; i++) {
        refuted[i] = transaction_of(&p->blocks[i], p->thread, false);
    }
    __atomic_store_n(&record->count, 1, __ATOMIC_RELEASE);
}

/* The caller holds the lock and is on a deep stack. Without a record it can't be listed. */
static void find_pattern(void *argument)
{
    struct spooling *spooling = argument;
    const struct tms_prediction *p = spooling->prediction;
    uint64_t first = p->first_in != NULL ? identity_of(p->first_in->lock) : 0;
    uint64_t hash = pattern_of(p, identity_of(p->lock->id), first);
    struct pattern *pattern = TMS_HASH_SLOT_OF(kept.patterns, PATTERNS, hash);

    assert(tms_rt_mutex_is_mine(&kept.lock));
    assert(kept.pattern_count <= PATTERNS_MOST && kept.pair_count <= kept.pattern_count);
    if (pattern->hash == hash) {
        spooling->record = pattern->record;
        if (spooling->record != NULL) {
            __atomic_fetch_add(&spooling->record->count, 1, __ATOMIC_RELAXED);
        }
        return;
    }
    bool pair = p->first_in != NULL;
    if (kept.pattern_count == PATTERNS_MOST || (pair && kept.pair_count == PAIRS_MOST)) {
        lose();
        return;
    }
    spool(spooling);
    kept.pattern_count++;
    kept.pair_count += pair;
    *pattern = (struct pattern){hash, spooling->record};
}

void tms_rt_spool_prediction(void *user, const struct tms_prediction *p)
{
    uint64_t hash = pattern_of(p, p->lock->id, p->first_in != NULL ? p->first_in->lock : 0);
    size_t at = (hash >> 32) % CACHED;
    struct tms_spool_prediction *record =
        atomic_load_explicit(&kept.cache[at].record, memory_order_acquire);

    (void)user;
    if (record != NULL &&
        atomic_load_explicit(&kept.cache[at].hash, memory_order_relaxed) == hash) {
        __atomic_fetch_add(&record->count, 1, __ATOMIC_RELAXED);
        return;
    }
    struct spooling spooling = {.prediction = p};
    tms_rt_mutex_lock(&kept.lock);
    tms_rt_call_deep(find_pattern, &spooling);
    atomic_store_explicit(&kept.cache[at].record, NULL, memory_order_relaxed);
    atomic_store_explicit(&kept.cache[at].hash, hash, memory_order_release);
    atomic_store_explicit(&kept.cache[at].record, spooling.record, memory_order_release);
    tms_rt_mutex_unlock(&kept.lock);
}

/* ---- requests ----------------------------------------------------------------------------- */

struct wanting {
    const struct tms_request *request;
    const struct tms_predict_hold *held;
    size_t held_count;
    const struct tms_vector *must;
};

static void write_request(const struct wanting *wanting, struct tms_spool_request *record)
{
    const struct tms_request *request = wanting->request;
    struct tms_spool_hold *hold = (void *)(record + 1);

    record->wants = whole_acquire(&request->at);
    record->join = request->join;
    record->wanted = request->wanted;
    record->slot = request->slot;
    record->held = (uint32_t)wanting->held_count;
    record->knows = (uint32_t)wanting->must->capacity;
    for (size_t i = 0; i < wanting->held_count; i++) {
        hold[i].lock = wanting->held[i].lock->id;
        hold[i].taken = whole_acquire(&wanting->held[i].acquire);
    }
    if (wanting->must->capacity > 0) {
        memcpy(hold + wanting->held_count, wanting->must->at,
               wanting->must->capacity * sizeof(*wanting->must->at));
    }
    __atomic_store_n(&record->complete, 1, __ATOMIC_RELEASE);
}

static void spool_request(void *argument)
{
    const struct wanting *wanting = argument;

    if (!wanting->request->join) {
        spool_lock(wanting->request->wanted);
    }
    for (size_t i = 0; i < wanting->held_count; i++) {
        spool_lock(wanting->held[i].lock->id);
    }
    struct tms_spool_request *record = tms_rt_spool_record(
        TMS_SPOOL_REQUEST, sizeof(*record) + wanting->held_count * sizeof(struct tms_spool_hold) +
                               wanting->must->capacity * sizeof(uint64_t));
    if (record != NULL) {
        write_request(wanting, record);
    } else {
        lose();
    }
}

/* Is it new, and is there room to list it? The caller holds the lock. */
static bool is_new(uint64_t hash)
{
    assert(tms_rt_mutex_is_mine(&kept.lock) && kept.request_count <= REQUESTS_MOST);
    if (kept.requests == NULL) {
        kept.requests = tms_rt_map(REQUESTS * sizeof(*kept.requests));
    }
    uint64_t *slot = kept.requests != NULL ? TMS_HASH_SLOT_OF(kept.requests, REQUESTS, hash) : NULL;
    if (slot == NULL || (*slot == 0 && kept.request_count == REQUESTS_MOST)) {
        lose();
        return false;
    }
    if (*slot == hash) {
        return false;
    }
    *slot = hash;
    kept.request_count++;
    return true;
}

void tms_rt_spool_request(void *user, const struct tms_request *request,
                          const struct tms_predict_hold *held, size_t held_count,
                          const struct tms_vector *must, uint64_t hash)
{
    struct wanting wanting = {request, held, held_count, must};

    (void)user;
    tms_rt_mutex_lock(&kept.lock);
    if (is_new(hash)) {
        tms_rt_call_deep(spool_request, &wanting);
    }
    tms_rt_mutex_unlock(&kept.lock);
}
