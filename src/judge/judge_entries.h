/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the findings of `judge` from its core (data_findings.c) and from other engines
 * (other_findings.c). conclude.c then assigns ids and makes them the result.
 */
#ifndef TMS_JUDGE_JUDGE_ENTRIES_H
#define TMS_JUDGE_JUDGE_ENTRIES_H

#include "judge/conclude.h"

/* A finding before it enters the result. */
struct tms_judge_entry {
    uint64_t hash; /* of its id */
    struct tms_finding finding;
    struct tms_judgement *judgement;
};

/* A finding of another engine, and the hash of the corresponding finding of `judge`. */
struct tms_judge_link {
    struct tms_run *run;
    size_t index;
    uint64_t hash;
};

struct tms_judge_work {
    struct tms_analysis *analysis;
    struct tms_judge_engine *engine;
    struct tms_memory *memory;
    struct tms_judge_entry *entries;
    size_t count, capacity;
    struct tms_judge_link *links;
    size_t link_count, link_capacity;
    uint32_t *most_severe; /* by function: its most severe entry that is about data, from 1 on */
    size_t function_capacity;
    bool failed; /* out of memory */
};

/* A new one, observed and a note; NULL if out of memory. Valid until the next is added. */
struct tms_judge_entry *tms_judge_add_entry(struct tms_judge_work *work);

/* A list that lives as long as the result; NULL if it is empty or out of memory. */
void *tms_judge_copy(struct tms_judge_work *work, const void *from, size_t size);

/* The finding at `index` of a run is the same as the judged one with that hash. */
void tms_judge_link(struct tms_judge_work *work, struct tms_run *run, size_t index, uint64_t hash);

const char *tms_judge_name(const struct tms_judge_work *work, enum tms_class cls, uint32_t id);

/* The object of a variable or lock, as a text that stays. */
const char *tms_judge_object_text(struct tms_judge_work *work, enum tms_class cls, uint32_t id);

static inline const char *tms_judge_function_text(const struct tms_judge_engine *engine,
                                                  uint32_t function)
{
    return tms_names_text(&engine->functions, function);
}

/* Adds to the number of executions that were cut. `executions` is already set. */
void tms_judge_add_cut(struct tms_judgement *judgement, uint64_t cut);

/* Executions of the block, and whether it is a driver. */
void tms_judge_set_block(struct tms_judge_work *work, struct tms_judgement *judgement,
                         uint32_t function);

/* Updates `most_severe` with an entry that is about data of the function. */
void tms_judge_note_severity(struct tms_judge_work *work, uint32_t function, size_t index);

/* Adds the findings of the core; must come before all others. */
void tms_judge_add_data(struct tms_judge_work *work);

/* Adds the findings of other engines that the core does not have. */
void tms_judge_add_others(struct tms_judge_work *work);

#endif
