/* SPDX-License-Identifier: Apache-2.0 */
/* Findings, grouped and named by their fingerprints; see findings.h. */
#include "analysis/findings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/fingerprint.h"
#include "base/arena.h"

#define ID_SIZE   40
#define ID_DIGITS 6 /* more if the ids of a result would collide */

/* The entry of a finding in the index, with its frequently used fields. */
struct slot {
    uint64_t key;
    uint64_t event; /* the one that it shows */
    uint64_t again; /* repetitions that its count does not include yet */
    size_t finding; /* its number in the list, from 1 on; 0: the slot is free */
};

struct tms_findings {
    struct tms_context *context;
    const struct tms_settings *settings;
    struct tms_memory *memory;
    struct tms_finding *list; /* in the order in which they were found; at the close, of events */
    size_t count, capacity;
    struct tms_arena lists; /* what they point to; kept when a representative changes */
    struct slot *index;     /* open-addressed, by key */
    size_t index_size;
    uint64_t total;    /* violations */
    uint64_t unlisted; /* individual violations that max_violations left out of `list` */
    enum tms_evidence strongest;
    const char **doubts; /* by label: the reason to doubt predictions about it, NULL: none */
    size_t doubt_capacity;
    char (*ids)[ID_SIZE]; /* of those that are listed, when they are */
    uint64_t *places;     /* likewise, tms_fingerprint_place */
    size_t listed;
};

struct tms_findings *tms_findings_new(struct tms_context *context,
                                      const struct tms_settings *settings,
                                      struct tms_memory *memory)
{
    struct tms_findings *findings = tms_resize(memory, NULL, 0, 1, sizeof(*findings));

    if (findings != NULL) {
        findings->context = context;
        findings->settings = settings;
        findings->memory = memory;
        findings->strongest = TMS_EVIDENCE_POTENTIAL;
    }
    return findings;
}

void tms_findings_free(struct tms_findings *findings)
{
    if (findings == NULL) {
        return;
    }
    struct tms_memory *memory = findings->memory;
    tms_arena_clear(&findings->lists, memory);
    tms_release(memory, findings->list, findings->capacity, sizeof(*findings->list));
    tms_release(memory, findings->index, findings->index_size, sizeof(*findings->index));
    tms_release(memory, findings->ids, findings->listed, sizeof(*findings->ids));
    tms_release(memory, findings->places, findings->listed, sizeof(*findings->places));
    tms_release(memory, findings->doubts, findings->doubt_capacity, sizeof(*findings->doubts));
    tms_release(memory, findings, 1, sizeof(*findings));
}

/* ---- the index -------------------------------------------------------------------------- */

/* The slot of the key, or the free slot where it belongs. */
static struct slot *find_slot(struct slot *index, size_t size, uint64_t key)
{
    size_t at = key & (size - 1);

    while (index[at].finding != 0 && index[at].key != key) {
        at = (at + 1) & (size - 1);
    }
    return &index[at];
}

static bool grow_index(struct tms_findings *findings)
{
    size_t size = findings->index_size == 0 ? 64 : findings->index_size * 2;
    struct slot *index = tms_table(findings->memory, size, sizeof(*index));

    if (index == NULL) {
        return false;
    }
    for (size_t i = 0; i < findings->index_size; i++) {
        if (findings->index[i].finding != 0) {
            *find_slot(index, size, findings->index[i].key) = findings->index[i];
        }
    }
    tms_release(findings->memory, findings->index, findings->index_size, sizeof(*index));
    findings->index = index;
    findings->index_size = size;
    return true;
}

/* ---- taking in -------------------------------------------------------------------------- */

/* A copy of a list, where there is room for it; NULL if it is empty. */
static const void *put_list(char **room, const void *list, size_t bytes)
{
    void *copy = bytes > 0 ? memcpy(*room, list, bytes) : NULL;

    *room += bytes;
    return copy;
}

static size_t size_of_lists(const struct tms_finding *finding)
{
    return finding->cycle_length * sizeof(*finding->cycle) +
           finding->schedule_length * sizeof(*finding->schedule) +
           finding->refuted_count * sizeof(*finding->refuted) +
           finding->held_count * sizeof(*finding->held);
}

/* An engine that does not track nested blocks still refutes the transaction that it blames. */
static size_t count_refuted(const struct tms_violation *violation)
{
    if (!violation->not_atomic) {
        return 0;
    }
    return violation->refuted_count > 0 ? violation->refuted_count : 1;
}

static int fill(struct tms_findings *findings, struct tms_finding *finding,
                const struct tms_violation *violation)
{
    struct tms_finding filled = {
        .kind = violation->kind,
        .evidence = violation->evidence,
        .count = finding->count + 1 + violation->repeats,
        .event = violation->event,
        .thread = violation->thread,
        .not_atomic = violation->not_atomic,
        .transaction = violation->transaction,
        .cycle_length = violation->cycle_length,
        .refuted_count = count_refuted(violation),
        .held_count = violation->held_count,
        .schedule_length = violation->schedule_length,
        .caveat = violation->caveat,
    };
    const struct tms_transaction *refuted =
        violation->refuted_count > 0 ? violation->refuted : &violation->transaction;
    char *room = tms_arena_take(&findings->lists, findings->memory, size_of_lists(&filled));

    if (room == NULL) {
        return TMS_ERR_MEMORY;
    }
    filled.cycle = put_list(&room, violation->cycle, filled.cycle_length * sizeof(*filled.cycle));
    filled.schedule =
        put_list(&room, violation->schedule, filled.schedule_length * sizeof(*filled.schedule));
    filled.refuted = put_list(&room, refuted, filled.refuted_count * sizeof(*filled.refuted));
    filled.held = put_list(&room, violation->held, filled.held_count * sizeof(*filled.held));
    *finding = filled;
    return TMS_OK;
}

static int add_finding(struct tms_findings *findings, const struct tms_violation *violation)
{
    if (!TMS_RESERVE(findings->memory, &findings->list, &findings->capacity, findings->count + 1,
                     16)) {
        return TMS_ERR_MEMORY;
    }
    struct tms_finding *finding = &findings->list[findings->count];
    *finding = (struct tms_finding){0};
    int code = fill(findings, finding, violation);
    findings->count += code == TMS_OK;
    return code;
}

/* Suppressed findings don't count for the limit, which is then applied when they are known. */
static uint64_t most_listed(const struct tms_findings *findings)
{
    return findings->settings->suppressions == NULL ? findings->settings->max_violations : 0;
}

/* Lists each violation individually. Beyond the limit an earlier event replaces the latest one. */
static int add_single(struct tms_findings *findings, const struct tms_violation *violation)
{
    uint64_t most = most_listed(findings);

    if (most == 0 || findings->count < most) {
        return add_finding(findings, violation);
    }
    struct tms_finding *latest = &findings->list[0];
    for (size_t i = 1; i < findings->count; i++) {
        if (findings->list[i].event > latest->event) {
            latest = &findings->list[i];
        }
    }
    findings->unlisted++;
    if (violation->event >= latest->event) {
        return TMS_OK;
    }
    latest->count = 0;
    return fill(findings, latest, violation);
}

static int add_grouped(struct tms_findings *findings, const struct tms_violation *violation)
{
    uint64_t key = tms_fingerprint_key(violation);

    if ((findings->count + 1) * 4 > findings->index_size * 3 && !grow_index(findings)) {
        return TMS_ERR_MEMORY;
    }
    struct slot *slot = find_slot(findings->index, findings->index_size, key);
    if (slot->finding == 0) {
        int code = add_finding(findings, violation);
        *slot = (struct slot){key, violation->event, 0, code == TMS_OK ? findings->count : 0};
        return code;
    }
    struct tms_finding *known = &findings->list[slot->finding - 1];
    if (violation->not_atomic != known->not_atomic ? violation->not_atomic
                                                   : violation->event < known->event) {
        slot->event = violation->event;
        return fill(findings, known, violation); /* a better representative of the group */
    }
    known->count += 1 + violation->repeats;
    return TMS_OK;
}

bool tms_findings_again(struct tms_findings *findings, uint64_t key, uint64_t event)
{
    if (findings->settings->all || findings->count == 0) {
        return false;
    }
    struct slot *slot = find_slot(findings->index, findings->index_size, key);
    if (slot->finding == 0 || event < slot->event) {
        return false;
    }
    slot->again++;
    findings->total++;
    return true;
}

int tms_findings_doubt(struct tms_findings *findings, uint32_t label, const char *why)
{
    if (!TMS_RESERVE(findings->memory, &findings->doubts, &findings->doubt_capacity,
                     (size_t)label + 1, 16)) {
        return TMS_ERR_MEMORY;
    }
    findings->doubts[label] = why;
    return TMS_OK;
}

static const char *doubt_about(const struct tms_findings *findings,
                               const struct tms_violation *violation)
{
    uint32_t label = violation->transaction.label;

    return violation->evidence == TMS_EVIDENCE_PREDICTED && label < findings->doubt_capacity
               ? findings->doubts[label]
               : NULL;
}

int tms_findings_add(struct tms_findings *findings, const struct tms_violation *given)
{
    struct tms_violation doubted = *given;
    const char *doubt = doubt_about(findings, given);
    const struct tms_violation *violation = doubt != NULL ? &doubted : given;

    if (doubt != NULL) {
        doubted.evidence = TMS_EVIDENCE_POTENTIAL;
        doubted.caveat = doubt;
    }
    assert(violation->not_atomic || violation->refuted_count == 0);
    findings->total += 1 + violation->repeats;
    if (violation->evidence < findings->strongest) {
        findings->strongest = violation->evidence;
    }
    return findings->settings->all ? add_single(findings, violation)
                                   : add_grouped(findings, violation);
}

uint64_t tms_findings_total(const struct tms_findings *findings)
{
    return findings->total;
}

enum tms_evidence tms_findings_strongest(const struct tms_findings *findings)
{
    return findings->strongest;
}

/* ---- closing ---------------------------------------------------------------------------- */

static void count_again(struct tms_findings *findings)
{
    for (size_t i = 0; i < findings->index_size; i++) {
        const struct slot *slot = &findings->index[i];
        if (slot->again != 0) {
            findings->list[slot->finding - 1].count += slot->again;
        }
    }
}

/* By event, those of one event by thread, and otherwise in the order in which they were found. */
static int by_event(const void *a, const void *b)
{
    const struct tms_finding *x = *(const struct tms_finding *const *)a;
    const struct tms_finding *y = *(const struct tms_finding *const *)b;

    if (x->event != y->event) {
        return x->event < y->event ? -1 : 1;
    }
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

/* Puts a sorted copy in the place of the list. */
static int sort_findings(struct tms_findings *findings)
{
    struct tms_memory *memory = findings->memory;
    size_t count = findings->count;
    const struct tms_finding **order = tms_resize(memory, NULL, 0, count, sizeof(*order));
    struct tms_finding *sorted = tms_resize(memory, NULL, 0, count, sizeof(*sorted));
    bool room = order != NULL && sorted != NULL;

    if (room) {
        for (size_t i = 0; i < count; i++) {
            order[i] = &findings->list[i];
        }
        qsort(order, count, sizeof(*order), by_event);
        for (size_t i = 0; i < count; i++) {
            sorted[i] = *order[i];
        }
        tms_release(memory, findings->list, findings->capacity, sizeof(*findings->list));
        findings->list = sorted;
        findings->capacity = count;
    } else {
        tms_release(memory, sorted, count, sizeof(*sorted));
    }
    tms_release(memory, order, count, sizeof(*order));
    return room ? TMS_OK : TMS_ERR_MEMORY;
}

static int by_fingerprint(const void *a, const void *b)
{
    return XXH128_cmp(*(const XXH128_hash_t *const *)a, *(const XXH128_hash_t *const *)b);
}

/* How many hexadecimal digits two fingerprints have in common from the left. */
static int common_digits(XXH128_hash_t a, XXH128_hash_t b)
{
    uint64_t high = a.high64 ^ b.high64;
    uint64_t low = a.low64 ^ b.low64;

    if (high != 0) {
        return __builtin_clzll(high) / 4;
    }
    return low != 0 ? 16 + __builtin_clzll(low) / 4 : 32;
}

static void write_id(char *id, XXH128_hash_t fingerprint, int digits)
{
    memcpy(id, "AV-", 3);
    for (int i = 0; i < digits; i++) {
        uint64_t half = i < 16 ? fingerprint.high64 : fingerprint.low64;
        id[3 + i] = "0123456789abcdef"[half >> (60 - i % 16 * 4) & 15];
    }
    id[3 + digits] = '\0';
}

/* Six digits, or as many as distinguish an id from its neighbours in the order of fingerprints. */
static int digits_needed(const XXH128_hash_t *const *order, size_t count, size_t i)
{
    int digits = ID_DIGITS;

    for (size_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < count; j++) {
        int common = common_digits(*order[i], *order[j]);
        if (common < 32 && common >= digits) {
            digits = common + 1;
        }
    }
    return digits;
}

/* `fingerprints` and `order` have room for all findings, also for those that are not listed. */
static void give_ids(struct tms_findings *findings, XXH128_hash_t *fingerprints,
                     const XXH128_hash_t **order)
{
    size_t count = findings->count;

    for (size_t i = 0; i < count; i++) {
        fingerprints[i] = tms_fingerprint(findings->context, &findings->list[i]);
        order[i] = &fingerprints[i];
    }
    qsort(order, count, sizeof(*order), by_fingerprint);
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)(order[i] - fingerprints);
        if (at < findings->listed) {
            write_id(findings->ids[at], *order[i], digits_needed(order, count, i));
            findings->list[at].id = findings->ids[at];
            findings->places[at] = tms_fingerprint_place(&findings->list[at]);
        }
    }
}

static int name_findings(struct tms_findings *findings)
{
    struct tms_memory *memory = findings->memory;
    size_t count = findings->count;
    XXH128_hash_t *fingerprints = tms_resize(memory, NULL, 0, count, sizeof(*fingerprints));
    const XXH128_hash_t **order = tms_resize(memory, NULL, 0, count, sizeof(*order));
    bool room = fingerprints != NULL && order != NULL;

    if (room) {
        give_ids(findings, fingerprints, order);
    }
    tms_release(memory, fingerprints, count, sizeof(*fingerprints));
    tms_release(memory, order, count, sizeof(*order));
    return room ? TMS_OK : TMS_ERR_MEMORY;
}

int tms_findings_close(struct tms_findings *findings, const struct tms_finding **list,
                       size_t *count, uint64_t *unlisted)
{
    uint64_t most = most_listed(findings);
    size_t listed = most != 0 && most < findings->count ? (size_t)most : findings->count;

    assert(findings->ids == NULL);
    *list = NULL;
    *count = 0;
    *unlisted = findings->unlisted + (findings->count - listed);
    if (listed == 0) {
        return TMS_OK;
    }
    findings->ids = tms_resize(findings->memory, NULL, 0, listed, sizeof(*findings->ids));
    findings->places = tms_resize(findings->memory, NULL, 0, listed, sizeof(*findings->places));
    findings->listed = listed;
    count_again(findings);
    if (findings->ids == NULL || findings->places == NULL || sort_findings(findings) != TMS_OK ||
        name_findings(findings) != TMS_OK) {
        return TMS_ERR_MEMORY;
    }
    *list = findings->list;
    *count = listed;
    return TMS_OK;
}

uint64_t tms_findings_place(const struct tms_findings *findings, size_t index)
{
    assert(index < findings->listed);
    return findings->places[index];
}

void tms_findings_same(struct tms_findings *findings, size_t index, const char *id)
{
    assert(index < findings->listed);
    findings->list[index].same_as = id;
}

struct tms_finding *tms_findings_list(struct tms_findings *findings)
{
    return findings->list;
}

static void resolve_cycle(struct tms_findings *findings, struct tms_finding *finding,
                          tms_stack_of *stack_of, void *user)
{
    size_t size = finding->cycle_length * sizeof(struct tms_step);
    struct tms_step *cycle = tms_arena_take(&findings->lists, findings->memory, size);

    if (cycle == NULL) {
        return; /* stacks are optional */
    }
    memcpy(cycle, finding->cycle, size);
    for (size_t i = 0; i < finding->cycle_length; i++) {
        cycle[i].first_stack = stack_of(user, cycle[i].first_event);
        cycle[i].second_stack = stack_of(user, cycle[i].second_event);
    }
    finding->cycle = cycle;
}

static void resolve_schedule(struct tms_findings *findings, struct tms_finding *finding,
                             tms_stack_of *stack_of, void *user)
{
    size_t size = finding->schedule_length * sizeof(struct tms_turn);
    struct tms_turn *schedule = tms_arena_take(&findings->lists, findings->memory, size);

    if (schedule == NULL) {
        return;
    }
    memcpy(schedule, finding->schedule, size);
    for (size_t i = 0; i < finding->schedule_length; i++) {
        schedule[i].stack = stack_of(user, schedule[i].event);
    }
    finding->schedule = schedule;
}

void tms_findings_resolve(struct tms_findings *findings, tms_stack_of *stack_of, void *user)
{
    for (size_t i = 0; i < findings->listed; i++) {
        if (findings->list[i].cycle_length > 0) {
            resolve_cycle(findings, &findings->list[i], stack_of, user);
        }
        if (findings->list[i].schedule_length > 0) {
            resolve_schedule(findings, &findings->list[i], stack_of, user);
        }
    }
}

void tms_findings_judged(struct tms_findings *findings, size_t index, const char *id)
{
    findings->list[index].judged = id;
}
