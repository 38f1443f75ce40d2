/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the evidence of `judge` from a spool; see spool_judged.h. The process may have died while
 * it wrote a record, and may have damaged others: what contradicts itself is left out or lowered
 * here, as the engine relies on it.
 */
#include "spool/spool_judged.h"

#include <stdlib.h>

#include "base/memory.h"
#include "protocol/config.h"
#include "spool/object_names.h"

/* Kinds of steps, as the runtime has them: enum tms_judge_kind. */
enum { READS = 1, WRITES, UPDATES };
#define KINDS (1u << READS | 1u << WRITES | 1u << UPDATES)

struct whole {
    struct tms_spool_names *names;
    struct tms_judged_evidence *evidence;
    struct tms_transaction *outer; /* of all */
    struct tms_judged_block *blocks;
    uint32_t *places;
    struct tms_judged_member *members;
    size_t member_capacity;
    struct tms_judging judging;
};

static uint64_t at_most(uint64_t number, uint64_t most)
{
    return number < most ? number : most;
}

/* A limit for the counts of all records of a type: their sums do not overflow. */
static uint64_t count_most(const struct tms_spool_list *list)
{
    return UINT64_MAX / (list->count + 1);
}

/* An update that is a read and a write is shown as its read if it is the later step. */
static uint8_t shown_kind(const struct tms_spool_turn *turn, bool later)
{
    if (turn->kind == UPDATES && !turn->atomic) {
        return later ? TMS_EVENT_READ : TMS_EVENT_WRITE;
    }
    return turn->kind == READS    ? TMS_EVENT_READ
           : turn->kind == WRITES ? TMS_EVENT_WRITE
                                  : TMS_EVENT_UPDATE;
}

static struct tms_turn turn_of(struct tms_spool_names *names, const struct tms_spool_turn *from,
                               bool later, uint32_t target)
{
    uint8_t kind = shown_kind(from, later);

    return (struct tms_turn){
        .event = from->event,
        .thread = tms_spool_thread(names, from->thread),
        .target = target,
        .location = tms_spool_event_location(names, from->site, kind),
        .stack = tms_spool_stack(names, from->site),
        .kind = kind,
    };
}

static struct tms_turn release_of(struct tms_spool_names *names, uint32_t sequence,
                                  const struct tms_spool_judged *from)
{
    if (from->lock == 0) {
        return (struct tms_turn){0};
    }
    return (struct tms_turn){
        .event = from->released,
        .thread = tms_spool_thread(names, from->thread),
        .target =
            tms_spool_name_near(names, sequence, TMS_CLASS_LOCK, from->lock, TMS_NAME_AS_RECORDED),
        .location = tms_spool_event_location(names, from->released_site, TMS_EVENT_RELEASE),
        .stack = tms_spool_stack(names, from->released_site),
        .kind = from->released_shared ? TMS_EVENT_SHARED_RELEASE : TMS_EVENT_RELEASE,
    };
}

static uint32_t variable_of(struct tms_spool_names *names, uint32_t sequence, uint64_t name)
{
    return name == 0 ? 0
                     : tms_spool_name_near(names, sequence, TMS_CLASS_VARIABLE, name >> 8,
                                           TMS_NAME_AS_RECORDED);
}

static void fill(struct whole *whole, const struct tms_spool_entry *entry,
                 struct tms_judged_evidence *to)
{
    struct tms_spool_names *names = whole->names;
    const struct tms_spool_judged *from = (const void *)entry->record;
    uint32_t variable = variable_of(names, entry->sequence, from->variable[0]);
    uint32_t other = variable_of(names, entry->sequence, from->variable[1]);
    uint32_t second = other != 0 ? other : variable;
    uint64_t most = count_most(&names->spool->lists[TMS_SPOOL_JUDGED]);

    *to = (struct tms_judged_evidence){
        .pattern = (enum tms_pattern)from->pattern,
        .mild = from->mild != 0,
        .firm = from->firm != 0,
        .culprit = from->firm != 0 ? tms_spool_label(names, from->culprit) : 0,
        .place =
            from->place != 0 ? tms_spool_event_location(names, from->place, TMS_EVENT_READ) : 0,
        .count = at_most(from->count, most),
        .finding = from->finding,
        .cut = at_most(from->cut, most),
        .variable = variable,
        .other = other,
        .own = {turn_of(names, &from->own[0], false, variable),
                turn_of(names, &from->own[1], true, second)},
        .foreign = {turn_of(names, &from->others[0], false, variable),
                    turn_of(names, &from->others[1], false, second)},
        .given_up = release_of(names, entry->sequence, from),
        .block = tms_spool_name_transaction(names, &from->block),
        .foreign_block = tms_spool_name_transaction(names, &from->foreign),
        .outer_count = from->outer_count,
    };
}

static bool is_turn(const struct tms_spool_turn *turn)
{
    return turn->event != 0 && turn->kind >= READS && turn->kind <= UPDATES;
}

static bool is_complete(const struct tms_spool_judged *record)
{
    return record->count > 0 && record->pattern < TMS_PATTERN_COUNT && record->variable[0] != 0 &&
           is_turn(&record->own[0]) && is_turn(&record->own[1]) && is_turn(&record->others[0]) &&
           (record->variable[1] == 0 || is_turn(&record->others[1]));
}

static int take_evidence(struct whole *whole)
{
    const struct tms_spool_list *list = &whole->names->spool->lists[TMS_SPOOL_JUDGED];

    whole->evidence = calloc(list->count + 1, sizeof(*whole->evidence));
    whole->outer = calloc(list->count * TMS_SPOOL_OUTER + 1, sizeof(*whole->outer));
    if (whole->evidence == NULL || whole->outer == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct tms_spool_judged *from = (const void *)list->entries[i].record;
        if (!is_complete(from)) {
            continue;
        }
        struct tms_transaction *outer = &whole->outer[i * TMS_SPOOL_OUTER];
        struct tms_judged_evidence *to = &whole->evidence[whole->judging.evidence_count++];
        fill(whole, &list->entries[i], to);
        for (uint32_t k = 0; k < from->outer_count; k++) {
            outer[k] = tms_spool_name_transaction(whole->names, &from->outer[k]);
        }
        to->outer = outer;
    }
    whole->judging.evidence = whole->evidence;
    return TMS_OK;
}

static int take_blocks(struct whole *whole)
{
    const struct tms_spool_list *list = &whole->names->spool->lists[TMS_SPOOL_COUNTS];

    whole->blocks = calloc(list->count + 1, sizeof(*whole->blocks));
    if (whole->blocks == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct tms_spool_counts *from = (const void *)list->entries[i].record;
        uint64_t executions = at_most(from->executions, count_most(list));
        uint64_t ended = at_most(from->ended, executions);
        uint64_t counted = at_most(from->counted, ended);
        whole->blocks[i] = (struct tms_judged_block){
            .label = tms_spool_label(whole->names, from->label),
            .executions = executions,
            .same = at_most(from->same, ended),
            .busy = at_most(from->busy, ended),
            .ended = ended,
            .counted = counted,
            .counted_cut = at_most(from->counted_cut, counted),
        };
    }
    whole->judging.blocks = whole->blocks;
    whole->judging.block_count = list->count;
    return TMS_OK;
}

static int take_places(struct whole *whole)
{
    const struct tms_spool_list *list = &whole->names->spool->lists[TMS_SPOOL_PLACE];

    whole->places = calloc(list->count + 1, sizeof(*whole->places));
    if (whole->places == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct tms_spool_place *from = (const void *)list->entries[i].record;
        whole->places[i] = tms_spool_event_location(whole->names, from->site, TMS_EVENT_READ);
    }
    whole->judging.waiting_places = whole->places;
    whole->judging.waiting_count = list->count;
    return TMS_OK;
}

/* False if out of memory. */
static bool add_members(struct whole *whole, const struct tms_spool_entry *entry, uint32_t lock)
{
    const struct tms_spool_section *from = (const void *)entry->record;
    struct tms_judging *judging = &whole->judging;
    uint32_t location = tms_spool_event_location(whole->names, from->site, TMS_EVENT_ACQUIRE);

    if (!TMS_RESERVE(NULL, &whole->members, &whole->member_capacity,
                     judging->member_count + from->member_count, 256)) {
        return false;
    }
    for (uint32_t i = 0; i < from->member_count; i++) {
        const struct tms_spool_member *member = &from->member[i];
        unsigned kinds = member->kinds & KINDS;
        if (member->variable == 0 || kinds == 0) {
            continue;
        }
        uint32_t sequence = member->learnt_at > 0 ? member->learnt_at - 1 : entry->sequence;
        whole->members[judging->member_count++] = (struct tms_judged_member){
            .lock = lock,
            .location = location,
            .variable = variable_of(whole->names, sequence, member->variable),
            .kinds = kinds,
        };
    }
    return true;
}

/*
 * Sections are learnt by the address of their lock, where several locks may have been one after the
 * other. A process that predicts nothing itself has no records of locks, but records their use.
 * False if out of memory.
 */
static bool add_section(struct whole *whole, const struct tms_lock_names *locks,
                        const struct tms_spool_entry *entry)
{
    const struct tms_spool_section *from = (const void *)entry->record;
    uint32_t last = 0;
    bool good = true;

    if (locks->count == 0) {
        return add_members(whole, entry,
                           tms_spool_name_near(whole->names, entry->sequence, TMS_CLASS_LOCK,
                                               from->lock, TMS_NAME_AS_RECORDED));
    }
    for (size_t i = tms_locks_at(whole->names, from->lock);
         good && i < locks->count && tms_lock_address(whole->names, i) == from->lock; i++) {
        uint32_t lock = locks->names[locks->by_address[i]];
        good = lock == last || add_members(whole, entry, lock);
        last = lock;
    }
    return good;
}

static int take_sections(struct whole *whole)
{
    const struct tms_spool_list *list = &whole->names->spool->lists[TMS_SPOOL_SECTION];
    const struct tms_lock_names *locks = tms_lock_names(whole->names);
    bool good = locks != NULL;

    for (size_t i = 0; good && i < list->count; i++) {
        good = add_section(whole, locks, &list->entries[i]);
    }
    whole->judging.members = whole->members;
    return good ? TMS_OK : TMS_ERR_MEMORY;
}

int tms_spool_judged(struct tms_spool_names *names, struct tms_analysis *analysis)
{
    const uint32_t unwatched = TMS_RT_LOCKS_ONLY | TMS_RT_NO_MEMORY;
    struct whole whole = {.names = names};
    char loss[TMS_SPOOL_REASON];

    whole.judging.loss = tms_spool_loss_judged(names->spool, loss) ? loss : NULL;
    whole.judging.watched = (names->spool->header.mode & unwatched) == 0;
    int code = take_evidence(&whole);

    code = code == TMS_OK ? take_blocks(&whole) : code;
    code = code == TMS_OK ? take_places(&whole) : code;
    code = code == TMS_OK ? take_sections(&whole) : code;
    code = code == TMS_OK && names->failed ? TMS_ERR_MEMORY : code;
    code = code == TMS_OK ? tms_analysis_judge(analysis, &whole.judging) : code;
    free(whole.evidence);
    free(whole.outer);
    free(whole.blocks);
    free(whole.places);
    free(whole.members);
    return code;
}
