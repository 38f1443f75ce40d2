/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of a shape, and validation of shapes. */
#include "gen/shape.h"

#include <inttypes.h>
#include <stdio.h>

#include "gen/planted_bug.h"
#include "gen/random.h"

void tms_shape_init(struct tms_shape *shape)
{
    *shape = (struct tms_shape){
        .events = 10000,
        .seed = 1,
        .threads = 4,
        .locks = 4,
        .variables = 100,
        .length = 12 * (uint64_t)TMS_MILLION,
        .reads = 700000,
        .unary = 100000,
        .overlap = 500000,
        .sharing = 500000,
        .guarded = 500000,
        .nesting = 1,
        .labels = 10,
    };
}

/* With cut labels: the number of events per lost update. */
#define CUT_SPACING 1000

uint64_t tms_shape_cuts(const struct tms_shape *shape)
{
    if (shape->cut == 0) {
        return shape->planting >= TMS_PLANT_AT;
    }
    uint64_t each = shape->events / CUT_SPACING / shape->cut;
    return shape->cut * (each > 0 ? each : 1);
}

uint64_t tms_shape_planted(const struct tms_shape *shape)
{
    return tms_shape_cuts(shape) * tms_script(shape->locks)->length;
}

uint64_t tms_shape_least_events(const struct tms_shape *shape)
{
    uint64_t forks_and_joins = shape->fork_join ? 2 * (shape->threads - 1 + shape->churn) : 0;
    return forks_and_joins + tms_shape_planted(shape);
}

static bool in_range(const char *what, uint64_t value, uint64_t least, uint64_t most, char *why)
{
    if (value >= least && value <= most) {
        return true;
    }
    snprintf(why, TMS_SHAPE_SENTENCE, "%s must be %" PRIu64 " to %" PRIu64 ", not %" PRIu64, what,
             least, most, value);
    return false;
}

static bool ranges_fit(const struct tms_shape *shape, char *why)
{
    const uint64_t million = TMS_MILLION;
    const uint64_t names = TMS_SHAPE_NAMES_MOST;
    const struct {
        const char *what;
        uint64_t value, least, most;
    } ranges[] = {
        {"the number of events", shape->events, 1, TMS_SHAPE_EVENTS_MOST},
        {"the number of threads", shape->threads, 1, TMS_SHAPE_THREADS_MOST},
        {"the number of locks", shape->locks, 0, names},
        {"the number of variables", shape->variables, 1, names},
        {"the number of labels", shape->labels, 0, names},
        {"the number of labels that are cut", shape->cut, 0, shape->labels},
        {"the number of locations", shape->locations, 0, names},
        {"the number of replaced threads", shape->churn, 0, names},
        {"the depth of nesting", shape->nesting, 1, TMS_SHAPE_NESTING_MOST},
        {"the mean length of a block, in millionths,", shape->length, 2 * million,
         TMS_SHAPE_LENGTH_MOST * million},
        {"the share of reads, in millionths,", shape->reads, 0, million},
        {"the share of unary events, in millionths,", shape->unary, 0, million},
        {"the overlap, in millionths,", shape->overlap, 0, million},
        {"the share of common variables, in millionths,", shape->sharing, 0, million},
        {"the share of guarded variables, in millionths,", shape->guarded, 0, million},
        {"the share of atomic variables, in millionths,", shape->atomics, 0, million},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (!in_range(ranges[i].what, ranges[i].value, ranges[i].least, ranges[i].most, why)) {
            return false;
        }
    }
    return true;
}

static bool refuse(char *why, const char *sentence)
{
    snprintf(why, TMS_SHAPE_SENTENCE, "%s", sentence);
    return false;
}

bool tms_shape_check(const struct tms_shape *shape, char *why)
{
    if (!ranges_fit(shape, why)) {
        return false;
    }
    bool planted = tms_shape_cuts(shape) > 0;
    if (shape->cut > 0 && shape->planting != TMS_PLANT_NONE) {
        return refuse(why, "--cut-labels and --violation can't be combined");
    }
    if (planted && shape->threads < 2) {
        return refuse(why, "a violation needs at least two threads (--threads)");
    }
    if (planted && shape->variables < 2) {
        return refuse(why, "a violation needs at least two variables (--variables)");
    }
    if (shape->churn > 0 && (!shape->fork_join || shape->threads < 2)) {
        return refuse(why, "--churn needs --fork-join and at least two threads (--threads)");
    }
    if (shape->events < tms_shape_least_events(shape)) {
        snprintf(why, TMS_SHAPE_SENTENCE,
                 "%" PRIu64 " %s too few: forks, joins and planted violations alone take %" PRIu64,
                 shape->events, shape->events == 1 ? "event is" : "events are",
                 tms_shape_least_events(shape));
        return false;
    }
    if (shape->planting == TMS_PLANT_AT && shape->violation_at > shape->events) {
        snprintf(why, TMS_SHAPE_SENTENCE,
                 "the violation can't be at event %" PRIu64 " of %" PRIu64
                 ": place it earlier, or ask for more events",
                 shape->violation_at, shape->events);
        return false;
    }
    return true;
}
