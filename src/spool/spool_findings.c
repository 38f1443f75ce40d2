/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the violations in a spool into findings; see spool_findings.h. */
#include "spool/spool_findings.h"

#include <stdlib.h>
#include <string.h>

#include "spool/object_names.h"

/* A finding with its lists. */
struct draft {
    struct tms_spool_names *names;
    uint32_t sequence; /* of its record in the file */
    const struct tms_spool_violation *violation;
    struct tms_step *steps;
    struct tms_transaction *refuted;
    uint32_t held[TMS_SPOOL_HELD];
};

/* ---- what they conflict on --------------------------------------------------------------- */

static uint32_t name_thing(const struct draft *draft, enum tms_class cls, uint64_t address,
                           enum tms_name_style style)
{
    return tms_spool_name_near(draft->names, draft->sequence, cls, address, style);
}

/* ---- findings --------------------------------------------------------------------------- */

static uint8_t below(uint8_t value, unsigned count)
{
    return value < count ? value : 0;
}

static struct tms_step step_of(const struct draft *draft, const struct tms_spool_step *from)
{
    struct tms_spool_names *names = draft->names;
    uint8_t cls = below(from->on_class, TMS_CLASS_COUNT);

    return (struct tms_step){
        .from = tms_spool_name_transaction(names, &from->from),
        .to = tms_spool_name_transaction(names, &from->to),
        .first_event = from->first,
        .second_event = from->second,
        .first_location = tms_spool_event_location(names, from->first_site, from->first_kind),
        .second_location = tms_spool_event_location(names, from->second_site, from->second_kind),
        .first_stack = tms_spool_stack(names, from->first_site),
        .second_stack = tms_spool_stack(names, from->second_site),
        .on = name_thing(draft, (enum tms_class)cls, from->on, TMS_NAME_FOR_PEOPLE),
        .on_alias = name_thing(draft, (enum tms_class)cls, from->on, TMS_NAME_AS_ALIAS),
        .on_class = cls,
        .kind = below(from->kind, TMS_EDGE_PROGRAM_ORDER + 1),
        .first_kind = below(from->first_kind, TMS_EVENT_COUNT),
        .second_kind = below(from->second_kind, TMS_EVENT_COUNT),
    };
}

/*
 * How often it was found. 0: the process died while writing the record, or the record is about a
 * block that was open then and has a record of its own since it ended.
 */
static uint64_t times_of(const struct tms_spool *spool, const struct tms_spool_violation *violation)
{
    bool open = violation->open != 0 && spool->header.state != TMS_SPOOL_DONE;

    return violation->count > 0 ? violation->count : open;
}

static bool open_draft(struct draft *draft, struct tms_spool_names *names,
                       const struct tms_spool_entry *entry)
{
    *draft = (struct draft){
        .names = names, .sequence = entry->sequence, .violation = (const void *)entry->record};
    draft->steps = calloc((size_t)draft->violation->steps + 1, sizeof(*draft->steps));
    draft->refuted = calloc((size_t)draft->violation->refuted + 1, sizeof(*draft->refuted));
    return draft->steps != NULL && draft->refuted != NULL;
}

static void close_draft(struct draft *draft)
{
    free(draft->steps);
    free(draft->refuted);
}

static void fill(struct draft *draft, struct tms_finding *finding)
{
    const struct tms_spool_violation *violation = draft->violation;

    for (uint32_t i = 0; i < violation->steps; i++) {
        draft->steps[i] = step_of(draft, &tms_spool_steps(violation)[i]);
    }
    for (uint32_t i = 0; i < violation->refuted; i++) {
        draft->refuted[i] =
            tms_spool_name_transaction(draft->names, &tms_spool_refuted(violation)[i]);
    }
    for (uint32_t i = 0; i < violation->held_count; i++) {
        draft->held[i] = name_thing(draft, TMS_CLASS_LOCK, violation->held[i], TMS_NAME_FOR_PEOPLE);
    }
    *finding = (struct tms_finding){
        .count = times_of(draft->names->spool, violation),
        .event = violation->event,
        .thread = tms_spool_thread(draft->names, violation->thread),
        .not_atomic = violation->not_atomic != 0,
        .transaction = tms_spool_name_transaction(draft->names, &violation->transaction),
        .cycle = violation->steps > 0 ? draft->steps : NULL,
        .cycle_length = violation->steps,
        .refuted = draft->refuted,
        .refuted_count = violation->not_atomic != 0 ? violation->refuted : 0,
        .held = draft->held,
        .held_count = violation->held_count,
    };
}

/* ---- the whole -------------------------------------------------------------------------- */

struct whole {
    struct draft *drafts;
    struct tms_finding *findings;
    size_t count;
};

static int take_violations(struct tms_spool_names *names, struct whole *whole)
{
    const struct tms_spool_list *list = &names->spool->lists[TMS_SPOOL_VIOLATION];

    whole->drafts = calloc(list->count + 1, sizeof(*whole->drafts));
    whole->findings = calloc(list->count + 1, sizeof(*whole->findings));
    if (whole->drafts == NULL || whole->findings == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < list->count; i++) {
        struct draft *draft = &whole->drafts[whole->count];
        const struct tms_spool_violation *violation = (const void *)list->entries[i].record;
        if (times_of(names->spool, violation) == 0) {
            continue;
        }
        if (!open_draft(draft, names, &list->entries[i])) {
            close_draft(draft);
            return TMS_ERR_MEMORY;
        }
        fill(draft, &whole->findings[whole->count++]);
    }
    return names->failed ? TMS_ERR_MEMORY : TMS_OK;
}

static int conclude(struct tms_spool_names *names, double seconds, const struct whole *whole,
                    struct tms_analysis *analysis)
{
    const struct tms_spool_header *header = &names->spool->header;
    char loss[TMS_SPOOL_REASON];
    uint64_t listed = 0;
    for (size_t i = 0; i < whole->count; i++) {
        listed += whole->findings[i].count;
    }
    struct tms_observation observation = {
        .summary = {.events = header->events,
                    .threads = header->threads,
                    .transactions = header->transactions,
                    .rough = true,
                    .seconds = seconds},
        .findings = whole->findings,
        .finding_count = whole->count,
        .first_violation_event = header->first_violation,
        .violations = header->violations > listed ? header->violations : listed,
        .closing_edges = header->closing_edges,
        .memory_bytes = header->memory,
    };

    if (observation.first_violation_event == 0 && whole->count > 0) {
        observation.first_violation_event = whole->findings[0].event; /* killed in between */
    }
    observation.loss = tms_spool_doubt(names->spool, loss) ? loss : NULL;
    return tms_analysis_observe(analysis, &observation);
}

int tms_spool_observe(struct tms_spool_names *names, double seconds, struct tms_analysis *analysis)
{
    struct whole whole = {0};
    int code = take_violations(names, &whole);

    if (code == TMS_OK) {
        code = conclude(names, seconds, &whole, analysis);
    }
    for (size_t i = 0; i < whole.count; i++) {
        close_draft(&whole.drafts[i]);
    }
    free(whole.drafts);
    free(whole.findings);
    return code;
}

/* ---- races ------------------------------------------------------------------------------ */

static struct tms_finding finding_of(const struct tms_spool_race *race, const struct tms_step *step)
{
    return (struct tms_finding){
        .count = race->count,
        .event = step->second_event,
        .thread = step->to.thread,
        .transaction = step->to,
        .cycle = step,
        .cycle_length = 1,
    };
}

static bool is_access(uint8_t kind)
{
    return kind < TMS_EVENT_COUNT && tms_event_class(kind) == TMS_CLASS_VARIABLE;
}

/* If not, the process died while writing it, or the file is damaged. */
static bool is_whole(const struct tms_spool_race *race)
{
    return race->count > 0 && race->step.on_class == TMS_CLASS_VARIABLE &&
           is_access(race->step.first_kind) && is_access(race->step.second_kind);
}

/* Fills in the findings with names; returns their number. */
static size_t take_races(struct tms_spool_names *names, struct tms_step *steps,
                         struct tms_finding *findings)
{
    const struct tms_spool_list *list = &names->spool->lists[TMS_SPOOL_RACE];
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct tms_spool_race *race = (const void *)list->entries[i].record;
        struct draft draft = {.names = names, .sequence = list->entries[i].sequence};
        if (is_whole(race)) {
            steps[count] = step_of(&draft, &race->step);
            findings[count] = finding_of(race, &steps[count]);
            count++;
        }
    }
    return count;
}

static uint64_t first_event_of(const struct tms_finding *findings, size_t count)
{
    uint64_t first = 0;

    for (size_t i = 0; i < count; i++) {
        first = first == 0 || findings[i].event < first ? findings[i].event : first;
    }
    return first;
}

int tms_spool_observe_races(struct tms_spool_names *names, double seconds,
                            struct tms_analysis *analysis)
{
    const struct tms_spool_header *header = &names->spool->header;
    size_t most = names->spool->lists[TMS_SPOOL_RACE].count;
    struct tms_step *steps = calloc(most + 1, sizeof(*steps));
    struct tms_finding *findings = calloc(most + 1, sizeof(*findings));
    char loss[TMS_SPOOL_REASON];
    int code = TMS_ERR_MEMORY;

    if (steps != NULL && findings != NULL) {
        size_t count = take_races(names, steps, findings);
        struct tms_observed_races races = {
            .findings = findings,
            .finding_count = count,
            .first_race_event = first_event_of(findings, count),
            .races = header->races,
            .events = header->events,
            .seconds = seconds,
            .loss = tms_spool_doubt(names->spool, loss) ? loss : NULL,
        };
        code = names->failed ? TMS_ERR_MEMORY : tms_analysis_observe_races(analysis, &races);
    }
    free(steps);
    free(findings);
    return code;
}
