/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the findings of `judge`; see judge_entries.h. */
#include "judge/judge_entries.h"

#include <assert.h>
#include <string.h>

#include "judge/pattern_levels.h"

struct tms_judge_entry *tms_judge_add_entry(struct tms_judge_work *work)
{
    struct tms_judgement *judgement =
        tms_arena_take(&work->engine->lists, work->memory, sizeof(*judgement));

    if (judgement == NULL ||
        !TMS_RESERVE(work->memory, &work->entries, &work->capacity, work->count + 1, 16)) {
        work->failed = true;
        return NULL;
    }
    struct tms_judge_entry *entry = &work->entries[work->count++];
    *judgement = (struct tms_judgement){.processes = 1};
    *entry = (struct tms_judge_entry){.judgement = judgement};
    entry->finding = (struct tms_finding){.kind = "data", .not_atomic = true};
    return entry;
}

void *tms_judge_copy(struct tms_judge_work *work, const void *from, size_t size)
{
    void *to = size > 0 ? tms_arena_take(&work->engine->lists, work->memory, size) : NULL;

    if (to != NULL) {
        memcpy(to, from, size);
    }
    work->failed = work->failed || (to == NULL && size > 0);
    return to;
}

void tms_judge_link(struct tms_judge_work *work, struct tms_run *run, size_t index, uint64_t hash)
{
    assert(index < run->result.finding_count);
    if (!TMS_RESERVE(work->memory, &work->links, &work->link_capacity, work->link_count + 1, 16)) {
        work->failed = true;
        return;
    }
    work->links[work->link_count++] = (struct tms_judge_link){run, index, hash};
}

const char *tms_judge_name(const struct tms_judge_work *work, enum tms_class cls, uint32_t id)
{
    return tms_name(work->analysis->context, cls, id, NULL);
}

/* The object of a variable or lock, as a text that stays. */
const char *tms_judge_object_text(struct tms_judge_work *work, enum tms_class cls, uint32_t id)
{
    uint32_t object = tms_judge_object_id(work->engine, tms_judge_name(work, cls, id));

    return tms_names_text(&work->engine->objects, object);
}

void tms_judge_add_cut(struct tms_judgement *judgement, uint64_t cut)
{
    judgement->cut = tms_judge_bounded_cut(judgement->cut + cut, judgement->executions);
}

void tms_judge_set_block(struct tms_judge_work *work, struct tms_judgement *judgement,
                         uint32_t function)
{
    judgement->executions = tms_judge_executions(work->engine, function);
    judgement->driver = tms_judge_is_driver(work->engine, function);
    judgement->interleaved = tms_judge_is_interleaved_driver(work->engine, function);
}

/* Notes the most severe entry of each function. */
void tms_judge_note_severity(struct tms_judge_work *work, uint32_t function, size_t index)
{
    assert(index < work->count);
    if (!TMS_RESERVE(work->memory, &work->most_severe, &work->function_capacity,
                     (size_t)function + 1, 64)) {
        work->failed = true;
        return;
    }
    assert(work->most_severe[function] <= work->count);
    uint32_t known = work->most_severe[function];
    if (known == 0 ||
        work->entries[known - 1].judgement->level < work->entries[index].judgement->level) {
        work->most_severe[function] = (uint32_t)index + 1;
    }
}
