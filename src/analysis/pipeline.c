/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes events to the engines, in one of two lanes.
 *
 * The general lane validates each event, lowers it to operations, and passes these to the engines
 * in batches. The fused lane is for a single engine that does all of this in one loop
 * (fused_lane.h): it takes plain events, and the general lane takes the others.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "engine_api/fused_lane.h"
#include "trace/format.h"

#define COMPLAINTS_SHOWN 10
/*
 * The number of events that take the general lane after one that is not plain. Switching back to
 * the fused lane flushes the buffer of operations, which would be costly in a trace with many such
 * events.
 */
#define GENERAL_STRETCH 32

/* The events of one call, and where they came from, for messages. */
struct feed {
    const struct tms_event *events;
    size_t count;
    struct tms_reader *reader; /* NULL: unknown */
};

static int refuse(struct tms_analysis *analysis, struct tms_reader *reader, size_t index)
{
    char number[64];
    const char *where = number;
    const char *reason = tms_validator_reason(&analysis->validator);

    if (reader != NULL) {
        where = tms_reader_where(reader, index);
    } else {
        snprintf(number, sizeof(number), "event %llu",
                 (unsigned long long)analysis->summary.events);
    }
    if (!analysis->settings.lenient) {
        return tms_fail(analysis->context, TMS_ERR_MALFORMED, "%s: %s", where, reason);
    }
    analysis->summary.skipped++;
    if (analysis->summary.skipped <= COMPLAINTS_SHOWN) {
        tms_warn(analysis->context, "%s: %s; skipped", where, reason);
    } else if (analysis->summary.skipped == COMPLAINTS_SHOWN + 1) {
        tms_warn(analysis->context, "further skipped events are counted, not shown");
    }
    return TMS_OK;
}

/* ---- the general lane ------------------------------------------------------------------- */

/*
 * Lowers plain events, blocks among them, until the buffer of operations is full or an event is not
 * plain, which sets *stopped. Returns their number.
 */
static size_t lower_plain(struct tms_analysis *analysis, const struct tms_event *restrict events,
                          size_t count, bool *stopped)
{
    struct tms_lower *lower = &analysis->lower;
    /* Declared restrict, so that nothing is reloaded after each store. */
    struct tms_valid_lock *restrict locks = analysis->validator.locks;
    uint8_t *restrict plain_of = lower->plain;
    struct tms_op *restrict ops = &lower->ops[lower->count];
    uint64_t number = analysis->summary.events + 1;
    size_t room = lower->batch - lower->count;
    size_t most = count < room ? count : room;
    size_t inside = 0, i;

    for (i = 0; i < most; i++) {
        uint8_t plain = plain_of[events[i].thread];
        const struct tms_plain_kind *kind = &tms_plain_kinds[events[i].kind];
        if (tms_validate_plain(locks, &events[i], kind, plain & TMS_PLAIN)) {
            tms_lower_plain(&ops[i], &events[i], number + i, plain);
        } else if (tms_is_plain_block(&events[i], plain) &&
                   tms_lower_block(lower, &ops[i], &events[i], number + i,
                                   &plain_of[events[i].thread], tms_opens_block(&events[i]))) {
            tms_validate_block(&analysis->validator, &events[i], tms_opens_block(&events[i]));
        } else {
            break;
        }
        inside += ops[i].flags & TMS_OP_IN_BLOCK;
    }
    lower->count += i;
    lower->unary += i - inside;
    analysis->summary.events += i;
    *stopped = i < most;
    if (lower->count == lower->batch) {
        tms_lower_flush(lower);
    }
    return i;
}

/* Any event. */
static int lower_one(struct tms_analysis *analysis, const struct feed *feed, size_t index)
{
    const struct tms_event *event = &feed->events[index];
    int validity = tms_validate(&analysis->validator, event);

    analysis->summary.events++;
    if (validity < 0 || validity == TMS_VALID_INNER) {
        return validity < 0 ? validity : TMS_OK;
    }
    return validity == TMS_INVALID
               ? refuse(analysis, feed->reader, index)
               : tms_lower_event(&analysis->lower, event, analysis->summary.events, validity);
}

/*
 * Takes events from `at` up to `end`. TMS_OK, 1 if the analysis needs no more, or a negative code.
 */
static int take_general(struct tms_analysis *analysis, const struct feed *feed, size_t at,
                        size_t end)
{
    bool none_is_plain = analysis->lower.ignored != NULL; /* each lock is looked up */

    while (at < end) {
        bool stopped = none_is_plain;
        if (!none_is_plain) {
            at += lower_plain(analysis, &feed->events[at], end - at, &stopped);
        }
        int code = stopped ? lower_one(analysis, feed, at++) : TMS_OK;
        if (code != TMS_OK) {
            return code;
        }
        if (analysis->settings.first && tms_analysis_had_enough(analysis)) {
            analysis->stopped = true;
            return 1;
        }
    }
    return TMS_OK;
}

/* ---- the fused lane --------------------------------------------------------------------- */

/* Takes plain events; all of the time counts as the engine's. */
static size_t fuse_plain(struct tms_analysis *analysis, const struct tms_event *events,
                         size_t count)
{
    struct tms_run *run = &analysis->runs[0];
    struct tms_fused_lane lane = {&analysis->validator, &analysis->lower};

    tms_lower_flush(&analysis->lower);
    if (run->host.failed != TMS_OK) {
        return 0;
    }
    double start = tms_analysis_now();
    size_t taken =
        run->engine->fused(run->state, &lane, events, count, analysis->summary.events + 1);
    analysis->summary.events += taken;
    run->result.events = analysis->summary.events;
    tms_run_took(&analysis->settings, run, tms_analysis_now() - start);
    return taken;
}

static int take_fused(struct tms_analysis *analysis, const struct feed *feed)
{
    int code = TMS_OK;

    for (size_t at = 0; at < feed->count && code == TMS_OK;) {
        at += fuse_plain(analysis, &feed->events[at], feed->count - at);
        size_t rest = feed->count - at;
        size_t some = rest < GENERAL_STRETCH ? rest : GENERAL_STRETCH;
        code = take_general(analysis, feed, at, at + some);
        at += some;
    }
    return code;
}

/* ---- both ------------------------------------------------------------------------------- */

/* All names of the batch are interned, so this sizes the tables by thread and lock. */
static int make_room(struct tms_analysis *analysis)
{
    int code = tms_validator_reserve(&analysis->validator);

    return code == TMS_OK ? tms_lower_reserve(&analysis->lower) : code;
}

int tms_analysis_feed(struct tms_analysis *analysis, const struct tms_event *events, size_t count,
                      struct tms_reader *reader)
{
    if (analysis->finished || analysis->observed > 0 || analysis->failed != TMS_OK) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                        "this analysis has ended and takes no more events");
    }
    if (reader != NULL && reader->context != analysis->context) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                        "the reader belongs to another context, so its names are unknown here");
    }
    if (analysis->started == 0) {
        analysis->started = tms_analysis_now();
        analysis->lower.run_methods =
            reader != NULL && strcmp(tms_reader_format(reader), "rr") == 0;
    }
    size_t known = reader == NULL ? tms_events_known(analysis->context, events, count) : count;
    if (known < count) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                        "event %llu is invalid: unknown kind or name, memory order not allowed for "
                        "its kind, or reserved bytes not 0",
                        (unsigned long long)(analysis->summary.events + known + 1));
    }
    int code = make_room(analysis);
    if (code == TMS_OK) {
        const struct feed feed = {events, count, reader};
        code =
            analysis->fused ? take_fused(analysis, &feed) : take_general(analysis, &feed, 0, count);
    }
    if (count > 0) {
        analysis->last_thread = events[count - 1].thread;
    }
    if (code < 0) {
        analysis->failed = code;
    }
    return code == TMS_ERR_MEMORY ? tms_fail_memory(analysis->context) : code;
}
