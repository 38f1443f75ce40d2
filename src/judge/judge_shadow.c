/* SPDX-License-Identifier: Apache-2.0 */
/* Maps words of shadow memory to variables of the core; see judge_shadow.h. */
#include "judge/judge_shadow.h"

#include <assert.h>
#include <string.h>

#include "judge/step_records.h"

#define ALL_BYTES  8
#define LOOKS_MOST 64u /* variables that are looked at for a useless one */

void tms_judge_online_init(struct tms_judge_online *online, struct tms_memory *memory,
                           const struct tms_judge_port *port, uint32_t limit)
{
    tms_judge_init(&online->core, memory, port);
    online->core.defers = true;
    online->limit = limit;
}

void tms_judge_online_clear(struct tms_judge_online *online)
{
    struct tms_memory *memory = online->core.memory;

    tms_release(memory, online->memory, online->capacity, sizeof(*online->memory));
    tms_judge_clear(&online->core);
}

/* ---- variables of a cell -------------------------------------------------------------------- */

/* The number, if it is still a variable of that cell; else 0. */
static uint32_t check(const struct tms_judge_online *online, uint32_t variable, uint64_t address)
{
    assert(variable <= online->count);
    return variable != 0 && online->memory[variable].address == address ? variable : 0;
}

static void drop(struct tms_judge_online *online, uint32_t variable, uint32_t *first)
{
    struct tms_judge_memory *memory = &online->memory[variable];

    assert(variable > 0 && variable <= online->count && memory->address != 0);
    assert(memory->previous == 0 || online->memory[memory->previous].next == variable);
    assert(memory->next == 0 || online->memory[memory->next].previous == variable);
    if (memory->previous != 0) {
        online->memory[memory->previous].next = memory->next;
    } else if (first != NULL) {
        *first = memory->next;
    }
    if (memory->next != 0) {
        online->memory[memory->next].previous = memory->previous;
    }
    tms_judge_clear_variable(&online->core, variable);
    *memory = (struct tms_judge_memory){.next = online->free};
    online->free = variable;
}

/* Does it have a step that may still become part of a pattern, or a case that is not decided? */
static bool is_in_use(const struct tms_judge *core, const struct tms_judge_record *record)
{
    const struct tms_judge_thread *t = tms_judge_thread_at(&core->threads, record->thread);

    return record->open != 0 || record->has_read_write ||
           (record->away && t != NULL && tms_judge_keeps(t, record->step.event));
}

/* Is only the owner's last step still in use, which the words of the cell record as well? */
static bool is_useless(const struct tms_judge_online *online, uint32_t variable)
{
    const struct tms_judge *core = &online->core;
    const struct tms_judge_cell *cell = &core->cells[variable];
    const struct tms_judge_thread *owner = tms_judge_thread_at(&core->threads, cell->owner);
    uint32_t at = cell->records;

    if (cell->last.cleared && owner != NULL && tms_judge_keeps(owner, cell->last.event)) {
        return false;
    }
    while (at != 0 && !is_in_use(core, &core->records.at[at])) {
        at = core->records.at[at].next;
    }
    return at == 0;
}

/* Does dropping it lose steps? With the first of a cell, the cell loses the others. */
static bool loses_steps(const struct tms_judge_online *online, uint32_t variable)
{
    const struct tms_judge_memory *memory = &online->memory[variable];

    return (memory->previous == 0 && memory->next != 0) || !is_useless(online, variable);
}

/* There are too many: drops one, round robin, if possible one that has become useless. */
static void make_room(struct tms_judge_online *online)
{
    unsigned looks = 0;

    assert(online->count > 0 && online->free == 0);
    do {
        online->turn = online->turn % online->count + 1;
        assert(online->memory[online->turn].address != 0);
    } while (++looks < LOOKS_MOST && loses_steps(online, online->turn));
    online->dropped += loses_steps(online, online->turn);
    drop(online, online->turn, NULL);
}

static uint32_t new_variable(struct tms_judge_online *online, uint64_t address, uint8_t bytes,
                             uint32_t *first)
{
    if (online->free == 0 && online->count == online->limit) {
        make_room(online);
        *first = check(online, *first, address);
    }
    uint32_t variable = online->free;
    if (variable != 0) {
        online->free = online->memory[variable].next;
    } else if (!TMS_RESERVE(online->core.memory, &online->memory, &online->capacity,
                            (size_t)online->count + 2, 1024)) {
        online->core.failed = true;
        return 0;
    } else {
        variable = ++online->count;
    }
    assert(online->memory[variable].address == 0 && online->count <= online->limit);
    online->memory[variable] =
        (struct tms_judge_memory){.address = address, .next = *first, .bytes = bytes};
    if (*first != 0) {
        online->memory[*first].previous = variable;
    }
    *first = variable;
    return variable;
}

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_foreign(const struct tms_judge_thread *t, const struct tms_judge_word *word)
{
    return word->thread != t;
}

/* The last write to any of the bytes, if it is foreign; else 0. */
static uint64_t foreign_write(const struct tms_judge_thread *t, const struct tms_judge_met *met)
{
    for (size_t i = met->count; i-- > 0;) {
        const struct tms_judge_word *word = &met->words[i];
        if ((word->bytes & met->bytes) != 0 && word->kind != TMS_JUDGE_R) {
            return is_foreign(t, word) ? word->event : 0;
        }
    }
    return 0;
}

/*
 * Does a step of another thread, or of this one, matter for this access to the bytes? Not for a
 * read of what another thread also read: it changes nothing, and the words record both.
 */
static bool matters(const struct tms_judge_thread *t, const struct tms_judge_met *met,
                    uint8_t bytes)
{
    bool foreign = false, kept = false;

    for (size_t i = 0; i < met->count; i++) {
        const struct tms_judge_word *word = &met->words[i];
        bool reads = word->kind == TMS_JUDGE_R && met->step.kind == TMS_JUDGE_R;
        if ((word->bytes & bytes) != 0 && is_foreign(t, word) && !reads) {
            foreign = true;
            kept = kept || (word->thread != NULL && tms_judge_keeps(word->thread, word->event));
        }
    }
    return kept || (foreign && t->taken_over_count > 0) || met->step.cleared;
}

/* The bytes that were accessed by the same words as the lowest one. */
static uint8_t group_of(const struct tms_judge_met *met, uint8_t bytes)
{
    uint8_t lowest = bytes & (uint8_t)-bytes;

    for (size_t i = 0; i < met->count; i++) {
        uint8_t word = met->words[i].bytes;
        bytes &= (word & lowest) != 0 ? word : (uint8_t)~word;
    }
    assert(bytes != 0);
    return bytes;
}

static struct tms_judge_step step_of(const struct tms_judge_word *word,
                                     const struct tms_judge_detail *detail)
{
    return (struct tms_judge_step){
        .event = word->event,
        .location = detail->location,
        .kind = word->kind,
        .atomic = word->atomic,
        .counter = word->kind == TMS_JUDGE_U && (word->atomic || detail->counter),
        .initial = (word->initial || detail->initial) && word->kind == TMS_JUDGE_W};
}

static struct tms_judge_step look_up_step(const struct tms_judge_online *online,
                                          const struct tms_judge_met *met,
                                          const struct tms_judge_word *word)
{
    struct tms_judge_detail detail = online->detail_of(online->core.port.user, word, met->address);

    return step_of(word, &detail);
}

/* The reads of threads other than the owner that may still matter: the newest of each. */
static void adopt_reads(struct tms_judge_online *online, uint32_t variable,
                        const struct tms_judge_met *met, uint8_t bytes)
{
    for (size_t i = met->count; i-- > 0;) {
        const struct tms_judge_word *word = &met->words[i];
        if ((word->bytes & bytes) != 0 && word->kind == TMS_JUDGE_R && word->thread != NULL &&
            tms_judge_keeps(word->thread, word->event)) {
            struct tms_judge_step step = look_up_step(online, met, word);
            tms_judge_adopt_read(&online->core, variable, word->id, &step);
        }
    }
}

/* The newest word is the owner's last step. */
static void adopt(struct tms_judge_online *online, uint32_t variable,
                  const struct tms_judge_met *met, uint8_t bytes)
{
    struct tms_judge_foreign write = {0};
    struct tms_judge_step last = {0};
    uint32_t owner = 0;

    for (size_t i = 0; i < met->count; i++) {
        const struct tms_judge_word *word = &met->words[i];
        if ((word->bytes & bytes) == 0) {
            continue;
        }
        owner = word->id;
        last = look_up_step(online, met, word);
        if (word->kind != TMS_JUDGE_R) {
            write = (struct tms_judge_foreign){.event = word->event,
                                               .thread = word->id,
                                               .location = last.location,
                                               .kind = word->kind,
                                               .plain_update =
                                                   word->kind == TMS_JUDGE_U && !word->atomic};
        }
    }
    assert(write.event <= last.event);
    tms_judge_adopt(&online->core, variable, owner, &last, &write);
    adopt_reads(online, variable, met, bytes);
}

/* ---- an access ------------------------------------------------------------------------------ */

static void process(struct tms_judge_online *online, struct tms_judge_thread *t, uint32_t variable,
                    const struct tms_judge_step *step, uint32_t *first)
{
    if (step->cleared) {
        tms_judge_retry(&online->core, t, variable, step->event);
    }
    tms_judge_process(&online->core, t, variable, step);
    if (is_useless(online, variable)) {
        drop(online, variable, first);
    }
}

/* Processes the bytes that have a variable; returns those that have none. */
static uint8_t process_known(struct tms_judge_online *online, struct tms_judge_thread *t,
                             const struct tms_judge_met *met, uint32_t *first)
{
    uint8_t rest = met->bytes;
    uint32_t next;

    for (uint32_t variable = *first; variable != 0; variable = next) {
        uint8_t bytes = online->memory[variable].bytes;
        assert(online->memory[variable].address == met->address && bytes != 0);
        next = online->memory[variable].next;
        if ((bytes & met->bytes) == bytes) {
            rest &= (uint8_t)~bytes;
            process(online, t, variable, &met->step, first);
        } else if ((bytes & met->bytes) != 0) {
            drop(online, variable,
                 first); /* only a part of it: the words have enough information */
        }
    }
    return rest;
}

static void process_new(struct tms_judge_online *online, struct tms_judge_thread *t,
                        const struct tms_judge_met *met, uint8_t bytes, uint32_t *first)
{
    uint32_t variable = new_variable(online, met->address, bytes, first);

    if (variable != 0) {
        adopt(online, variable, met, bytes);
        process(online, t, variable, &met->step, first);
    }
}

uint32_t tms_judge_online_access(struct tms_judge_online *online, struct tms_judge_thread *t,
                                 const struct tms_judge_met *met)
{
    uint64_t key = met->address | (uint64_t)__builtin_ctz(met->bytes);
    uint32_t first = met->variable;

    assert(met->bytes != 0 && met->address % ALL_BYTES == 0);
    tms_judge_note(&online->core, t, key, &met->step, foreign_write(t, met));
    if (first == 0 && !matters(t, met, met->bytes)) {
        return 0;
    }
    tms_judge_guard(&online->core, true);
    first = check(online, first, met->address);
    uint8_t rest = process_known(online, t, met, &first);
    while (rest != 0 && !online->core.failed) {
        uint8_t group = group_of(met, rest);
        rest &= (uint8_t)~group;
        if (matters(t, met, group)) {
            process_new(online, t, met, group, &first);
        }
    }
    tms_judge_guard(&online->core, false);
    return first;
}

uint32_t tms_judge_online_clear_bytes(struct tms_judge_online *online, uint64_t address,
                                      uint8_t bytes, uint32_t variable)
{
    uint32_t next;

    tms_judge_guard(&online->core, true);
    uint32_t first = check(online, variable, address);
    for (uint32_t at = first; at != 0; at = next) {
        next = online->memory[at].next;
        if ((online->memory[at].bytes & bytes) != 0) {
            drop(online, at, &first);
        }
    }
    tms_judge_guard(&online->core, false);
    return first;
}
