/* SPDX-License-Identifier: Apache-2.0 */
/* The engine `judge`: the core, fed by a trace, with the names of its context. */
#ifndef TMS_JUDGE_JUDGE_ENGINE_H
#define TMS_JUDGE_JUDGE_ENGINE_H

#include "base/arena.h"
#include "base/names.h"
#include "engine_api/engine.h"
#include "judge/judge.h"

struct tms_judge_engine {
    struct tms_judge core;
    struct tms_host *host;
    struct tms_names functions, objects; /* their ids are the numbers of the port */
    struct tms_names members;            /* objects with fields, for predictions */
    char *text;                          /* room for one name */
    size_t text_capacity;
    bool elsewhere;         /* the core runs in the program: see import_judgement.h … */
    bool watched;           /* … and saw accesses there, even if none were recorded */
    struct tms_turn *turns; /* the events of imported evidence, with stacks */
    size_t turn_count, turn_capacity;
    /* The result, made by conclude.c. */
    struct tms_arena lists;
    struct tms_finding *findings;
    size_t finding_count, finding_capacity;
};

extern const struct tms_engine tms_engine_judge;

/* The function of a label, and the object and member of a variable, as ids of these names. */
uint32_t tms_judge_function_id(struct tms_judge_engine *engine, const char *label);
uint32_t tms_judge_object_id(struct tms_judge_engine *engine, const char *variable);
uint32_t tms_judge_member_id(struct tms_judge_engine *engine, const char *variable);

/* Were accesses to memory seen at all? */
static inline bool tms_judge_saw_memory(const struct tms_judge_engine *engine)
{
    return engine->watched || engine->core.accesses > 0;
}

#endif
