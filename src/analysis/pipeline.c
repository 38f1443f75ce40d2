/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The corridor that an event walks: validated, turned into operations, and these, in batches,
 * handed to each engine; or, where the first engine takes events as they come (fused_pipeline.h),
 * straight into it, and what others want of them aside (engine_thread.h).
 */
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "engine_api/fused_pipeline.h"
#include "trace/format.h"

#define COMPLAINTS_SHOWN 10
#define STREAM_LEAST     16 /* events in hand: with fewer, collecting operations is cheaper */
#define SMOOTH           16 /* … and so it is if more than one in so many is not plain */

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

static int take(struct tms_analysis *analysis, const struct tms_event *event,
                struct tms_reader *reader, size_t index)
{
    int validity = tms_validate(&analysis->validator, event);

    if (validity < 0 || validity == TMS_VALID_INNER) {
        return validity < 0 ? validity : TMS_OK;
    }
    return validity == TMS_INVALID
               ? refuse(analysis, reader, index)
               : tms_lower_event(&analysis->lower, event, analysis->summary.events, validity);
}

/* The plain events from here on, blocks among them, as go into the buffer; does another one stop
 * them? */
static size_t take_plain(struct tms_analysis *analysis, const struct tms_event *restrict events,
                         size_t count, bool *stopped)
{
    struct tms_lower *lower = &analysis->lower;
    /* Said to be apart, so that nothing is fetched anew after each store. */
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

/* The same, straight into the first engine. */
static size_t stream_plain(struct tms_analysis *analysis, const struct tms_event *events,
                           size_t count, bool *stopped)
{
    struct tms_run *run = &analysis->runs[0];
    struct tms_stream stream = {&analysis->validator, &analysis->lower};
    uint64_t number = analysis->summary.events + 1;

    *stopped = false;
    tms_lower_flush(&analysis->lower);
    if (run->host.failed != TMS_OK) {
        return 0; /* what is left is for the others */
    }
    size_t taken = run->engine->stream(run->state, &stream, events, count, number);
    if (analysis->aside != NULL) {
        tms_aside_events(analysis->aside, events, taken, number);
    }
    analysis->summary.events += taken;
    run->result.events = analysis->summary.events;
    *stopped = taken < count && run->host.failed == TMS_OK;
    return taken;
}

/* Where locks are ignored every event takes the long way. */
static size_t take_none(struct tms_analysis *analysis, const struct tms_event *events, size_t count,
                        bool *stopped)
{
    (void)analysis;
    (void)events;
    *stopped = count > 0;
    return 0;
}

static bool goes_straight(const struct tms_analysis *analysis, size_t count)
{
    return analysis->streams && !analysis->bumpy && count >= STREAM_LEAST &&
           analysis->runs[0].host.failed == TMS_OK;
}

static int take_all(struct tms_analysis *analysis, const struct tms_event *events, size_t count,
                    struct tms_reader *reader, size_t *stops)
{
    size_t (*take_some)(struct tms_analysis * analysis, const struct tms_event *events,
                        size_t count, bool *stopped) =
        analysis->lower.ignored != NULL ? take_none : take_plain;

    for (size_t i = 0; i < count;) {
        bool straight = goes_straight(analysis, count), stopped;
        i += (straight ? stream_plain : take_some)(analysis, &events[i], count - i, &stopped);
        if (stopped) {
            ++*stops;
            analysis->summary.events++;
            int code = take(analysis, &events[i], reader, i);
            if (code != TMS_OK) {
                return code;
            }
            i++;
        }
        if (analysis->settings.first && tms_analysis_had_enough(analysis)) {
            analysis->stopped = true;
            return 1;
        }
    }
    return TMS_OK;
}

/* Going straight, all the time counts as the first engine's. */
static int take_timed(struct tms_analysis *analysis, const struct tms_event *events, size_t count,
                      struct tms_reader *reader)
{
    struct tms_run *run = analysis->runs;
    bool straight = goes_straight(analysis, count);
    double before = straight ? run->seconds : 0, start = straight ? tms_analysis_now() : 0;
    size_t stops = 0;
    int code = take_all(analysis, events, count, reader, &stops);

    if (straight) {
        run->seconds = before; /* what operations took in between is part of it */
        tms_run_took(&analysis->settings, run, tms_analysis_now() - start);
    }
    analysis->bumpy = stops > count / SMOOTH;
    return code;
}

/* The names of the batch are known, so the tables by thread and lock can have their size. */
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
                        "event %llu has a kind or a name that there is not, an order that its kind "
                        "does not have, or reserved bytes that are not 0",
                        (unsigned long long)(analysis->summary.events + known + 1));
    }
    int code = make_room(analysis);
    if (code == TMS_OK) {
        code = take_timed(analysis, events, count, reader);
    }
    if (count > 0) {
        analysis->last_thread = events[count - 1].thread;
    }
    if (code < 0) {
        analysis->failed = code;
    }
    return code == TMS_ERR_MEMORY ? tms_fail_memory(analysis->context) : code;
}
