/* SPDX-License-Identifier: Apache-2.0 */
/* Engines and where they decide; see engine_plan.h. */
#include "cli/engine_plan.h"

#include <stdio.h>
#include <string.h>

/* The engine of the first word of a list; NULL: "all". */
static const struct tms_engine_info *first_engine(const char *list)
{
    const struct tms_engine_info *info;
    size_t length = strcspn(list, ",");

    for (size_t i = 0; (info = tms_engine_info(i)) != NULL; i++) {
        if (strlen(info->name) == length && memcmp(info->name, list, length) == 0) {
            return info;
        }
    }
    return NULL;
}

static const char *next_word(const char *at)
{
    at += strcspn(at, ",");
    return at + (*at == ',');
}

static void append(char *list, const char *word)
{
    size_t length = strlen(list);

    snprintf(list + length, TMS_ENGINE_LIST_SIZE - length, "%s%.*s", length > 0 ? "," : "",
             (int)strcspn(word, ","), word);
}

static bool is_inside(const struct tms_engine_info *engine)
{
    return engine != NULL && strcmp(engine->name, TMS_ENGINE_INSIDE) == 0;
}

/* Its findings come with those of the engine inside. */
static bool comes_along(const struct tms_engine_info *engine, const char *list)
{
    return engine != NULL && strcmp(engine->name, TMS_ENGINE_RACES) == 0 &&
           tms_predicting_has(list, TMS_ENGINE_INSIDE);
}

/* Does it speak of nothing but accesses to memory? */
static bool needs_accesses(const struct tms_engine_info *engine)
{
    return (engine->flags & (TMS_ENGINE_PREDICTIVE | TMS_ENGINE_NO_ACCESSES)) ==
           TMS_ENGINE_PREDICTIVE;
}

void tms_engine_plan(struct tms_engine_plan *plan, const char *list, bool variables)
{
    bool inside = false;

    *plan = (struct tms_engine_plan){.judges = tms_predicting_judges(list),
                                     .light = !variables,
                                     .races = tms_predicting_has(list, TMS_ENGINE_RACES) ||
                                              tms_predicting_has(list, "sidetrack")};
    for (const char *at = list; *at != '\0'; at = next_word(at)) {
        const struct tms_engine_info *engine = first_engine(at);
        if (is_inside(engine)) {
            inside = true;
            continue;
        }
        if (comes_along(engine, list)) {
            continue;
        }
        append(plan->here, at);
        if (engine != NULL && strcmp(engine->name, TMS_JUDGE) == 0) {
            continue; /* it is where frontier is */
        }
        plan->light =
            plan->light && engine != NULL && (engine->flags & TMS_ENGINE_NO_ACCESSES) != 0;
        append(plan->recorded, at);
    }
    plan->inside = inside && (plan->light || plan->recorded[0] == '\0');
    plan->judged = plan->inside && plan->judges;
    plan->light = plan->light && (plan->inside || !plan->judges);
    plan->judges = plan->judges && !plan->inside;
    if (!plan->inside) {
        snprintf(plan->recorded, sizeof(plan->recorded), "%s", list);
        snprintf(plan->here, sizeof(plan->here), "%s", list);
    }
}

/* What becomes of one engine in a process whose memory is not watched. */
static void plan_lock_engine(struct tms_engine_plan *plan, const struct tms_engine_info *engine,
                             char *left_out)
{
    if (is_inside(engine)) {
        plan->inside = true;
    } else if (needs_accesses(engine)) {
        append(left_out, engine->name);
    } else {
        plan->judges = plan->judges || strcmp(engine->name, TMS_JUDGE) == 0;
        plan->observes = plan->observes || engine->found == TMS_VERDICT_VIOLATION;
        append(plan->recorded, engine->name);
    }
}

bool tms_engine_plan_locks(struct tms_engine_plan *plan, const char *list, char *left_out)
{
    const struct tms_engine_info *engine;
    bool all = strcmp(list, "all") == 0;

    *plan = (struct tms_engine_plan){.light = true};
    left_out[0] = '\0';
    for (size_t i = 0; all && (engine = tms_engine_info(i)) != NULL; i++) {
        plan_lock_engine(plan, engine, left_out);
    }
    for (const char *at = list; !all && *at != '\0'; at = next_word(at)) {
        plan_lock_engine(plan, first_engine(at), left_out);
    }
    snprintf(plan->here, sizeof(plan->here), "%s", plan->recorded);
    return plan->inside || plan->recorded[0] != '\0';
}
