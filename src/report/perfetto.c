/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The windows of findings on a timeline: the Trace Event Format of Chromium as JSON ("Trace Event
 * Format", a document by Google), which Perfetto and chrome://tracing show.
 *
 * Each finding is a process. Its first track has one slice with the headline; then there is a track
 * for each thread, with the blocks as slices, the steps inside them and arrows between steps that
 * conflict, and one for each lock that a thread gave up in the window, if it is known where that
 * was taken. Nothing is known of times: `ts` counts the steps, STEP_TIME for each.
 */
#include <inttypes.h>
#include <string.h>

#include "report/exported_finding.h"
#include "report/json_write.h"

#define STEP_TIME  10 /* from one step to the next */
#define STEP_TAKES 8  /* the slice of a step; the rest is the gap that keeps them apart */
#define MARGIN     1  /* by which a block is longer than its steps, on both sides */

/* A finding, and where its tracks are among those of all findings. */
struct timeline {
    const struct tms_exported *exported;
    FILE *out;
    size_t process;
    size_t track;     /* of the headline; that of a thread or lock is after it, by its first step */
    uint64_t *arrows; /* so far, in the whole document */
};

/* ---- times and tracks ------------------------------------------------------------------- */

static size_t start_of(size_t step)
{
    return (step + 1) * STEP_TIME;
}

static size_t end_of(size_t step)
{
    return start_of(step) + STEP_TAKES;
}

static size_t first_of_thread(const struct tms_exported *exported, size_t step)
{
    size_t first = 0;

    while (exported->steps[first].turn.thread != exported->steps[step].turn.thread) {
        first++;
    }
    return first;
}

static enum tms_event_kind kind_of(const struct tms_exported_step *step)
{
    return (enum tms_event_kind)step->turn.kind;
}

static bool is_lock(const struct tms_exported_step *step)
{
    return !step->begins && tms_event_class(kind_of(step)) == TMS_CLASS_LOCK;
}

static bool gives(const struct tms_exported_step *step)
{
    return is_lock(step) &&
           (kind_of(step) == TMS_EVENT_RELEASE || kind_of(step) == TMS_EVENT_SHARED_RELEASE);
}

/* Operations of one thread on one lock. */
static bool same_lock(const struct tms_exported_step *one, const struct tms_exported_step *two)
{
    return is_lock(one) && is_lock(two) && one->turn.thread == two->turn.thread &&
           one->turn.target == two->turn.target;
}

static size_t track_of_thread(const struct timeline *timeline, size_t step)
{
    return timeline->track + 1 + first_of_thread(timeline->exported, step);
}

static size_t track_of_lock(const struct timeline *timeline, size_t step)
{
    const struct tms_exported *exported = timeline->exported;
    size_t first = 0;

    while (!same_lock(&exported->steps[first], &exported->steps[step])) {
        first++;
    }
    return timeline->track + 1 + exported->step_count + first;
}

/* ---- events of the format --------------------------------------------------------------- */

static void put_sorted(const struct timeline *timeline, const char *what, size_t track,
                       size_t place)
{
    fprintf(timeline->out,
            ",\n{\"ph\": \"M\", \"pid\": %zu, \"tid\": %zu, \"name\": \"%s\", \"args\": "
            "{\"sort_index\": %zu}}",
            timeline->process, track, what, place);
}

/* A track whose name the note of the page has. */
static void put_track(const struct timeline *timeline, size_t track)
{
    fprintf(timeline->out,
            ",\n{\"ph\": \"M\", \"pid\": %zu, \"tid\": %zu, \"name\": \"thread_name\", \"args\": {",
            timeline->process, track);
    tms_exported_json(timeline->exported, timeline->out, "", "name");
    fputs("}}", timeline->out);
    put_sorted(timeline, "thread_sort_index", track, track);
}

/* A slice without its name and arguments. */
static void put_slice(const struct timeline *timeline, size_t track, const char *category,
                      size_t start, size_t end)
{
    fprintf(timeline->out,
            ",\n{\"ph\": \"X\", \"pid\": %zu, \"tid\": %zu, \"ts\": %zu, \"dur\": %zu, \"cat\": "
            "\"%s\"",
            timeline->process, track, start, end - start, category);
}

static void put_arrow_end(const struct timeline *timeline, const char *phase, size_t step)
{
    fprintf(timeline->out,
            ",\n{\"ph\": \"%s\"%s, \"pid\": %zu, \"tid\": %zu, \"ts\": %zu, \"id\": "
            "%" PRIu64 ", \"cat\": \"conflict\", \"name\": \"conflict\"}",
            phase, *phase == 'f' ? ", \"bp\": \"e\"" : "", timeline->process,
            track_of_thread(timeline, step), start_of(step) + STEP_TAKES / 2, *timeline->arrows);
}

/* ---- the headline ----------------------------------------------------------------------- */

static void put_words(const struct timeline *timeline, const char *before, const char *key,
                      void (*write)(const struct tms_exported *exported, FILE *out))
{
    write(timeline->exported, tms_page_note(timeline->exported->page));
    tms_exported_json(timeline->exported, timeline->out, before, key);
}

static void put_process(const struct timeline *timeline)
{
    const struct tms_export_entry *entry = timeline->exported->entry;

    fprintf(timeline->out,
            "%s\n{\"ph\": \"M\", \"pid\": %zu, \"name\": \"process_name\", \"args\": {",
            timeline->process > 1 ? "," : "", timeline->process);
    fprintf(tms_page_note(timeline->exported->page), "%s, %s: ", tms_level_text(entry->level),
            tms_evidence_text(entry->finding->evidence));
    tms_exported_headline(timeline->exported, timeline->exported->page->note);
    tms_exported_json(timeline->exported, timeline->out, "", "name");
    fputs("}}", timeline->out);
    put_sorted(timeline, "process_sort_index", timeline->track, timeline->process);
    fputs(entry->finding->id, tms_page_note(timeline->exported->page));
    put_track(timeline, timeline->track);
}

static void put_headline(const struct timeline *timeline)
{
    const struct tms_export_entry *entry = timeline->exported->entry;
    size_t steps = timeline->exported->step_count;
    FILE *out = timeline->out;

    put_slice(timeline, timeline->track, "finding", start_of(0) - MARGIN,
              end_of(steps > 0 ? steps - 1 : 0) + MARGIN);
    put_words(timeline, ", ", "name", tms_exported_headline);
    tms_json_text(out, ", \"args\": {", "id", entry->finding->id);
    tms_json_text(out, ", ", "level", tms_level_text(entry->level));
    tms_json_text(out, ", ", "evidence", tms_evidence_text(entry->finding->evidence));
    tms_json_text(out, ", ", "engine", entry->result->engine->name);
    tms_json_text(out, ", ", "path", entry->part->settings->path);
    put_words(timeline, ", ", "why", tms_exported_why);
    put_words(timeline, ", ", "fix", tms_exported_fix);
    put_words(timeline, ", ", "counted", tms_exported_counted);
    fprintf(out, ", \"known\": %s, \"suppressed\": %s}}", tms_json_bool(entry->finding->known),
            tms_json_bool(entry->finding->suppressed));
}

/* ---- blocks and locks ------------------------------------------------------------------- */

/* The last step of the transaction that the step is in. */
static size_t last_of_block(const struct tms_exported *exported, size_t step)
{
    const struct tms_exported_step *steps = exported->steps;
    size_t last = step;

    for (size_t i = step + 1; i < exported->step_count; i++) {
        if (steps[i].turn.thread == steps[step].turn.thread &&
            steps[i].block == steps[step].block) {
            last = i;
        }
    }
    return last;
}

static void put_block(const struct timeline *timeline, size_t step, uint32_t label)
{
    const struct tms_exported *exported = timeline->exported;

    put_slice(timeline, track_of_thread(timeline, step), "block", start_of(step) - MARGIN,
              end_of(last_of_block(exported, step)) + MARGIN);
    tms_json_text(timeline->out, ", ", "name",
                  label != 0 ? tms_name(exported->page->names, TMS_CLASS_LABEL, label, NULL)
                             : "block");
    fputc('}', timeline->out);
}

/*
 * Judged findings have one block for each thread. In others it is known which steps begin one; what
 * begins inside a transaction lasts to the end of it, as far as can be seen.
 */
static void put_block_at(const struct timeline *timeline, size_t step)
{
    const struct tms_exported *exported = timeline->exported;
    const struct tms_judgement *judgement = exported->finding->judgement;
    const struct tms_exported_step *at = &exported->steps[step];

    if (judgement == NULL) {
        if (at->opens) {
            put_block(timeline, step, at->label);
        }
    } else if (first_of_thread(exported, step) == step) {
        uint32_t label =
            judgement->culprit.thread == at->turn.thread ? judgement->culprit.label : 0;
        if (at->own || label != 0) {
            put_block(timeline, step, at->own ? exported->finding->transaction.label : label);
        }
    }
}

static void put_lock_track(const struct timeline *timeline, size_t step)
{
    const struct tms_exported *exported = timeline->exported;
    const struct tms_turn *turn = &exported->steps[step].turn;
    struct tms_page *page = exported->page;
    size_t track = track_of_lock(timeline, step);

    fprintf(tms_page_note(page), "%s held by %s",
            tms_name(page->names, TMS_CLASS_LOCK, turn->target, NULL),
            tms_exported_thread(exported, turn->thread));
    put_track(timeline, track);
}

/* Where the lock that a step gives up was taken; TMS_NO_JOIN: that is not known. */
static size_t taken_at(const struct tms_exported *exported, size_t step)
{
    const struct tms_exported_step *steps = exported->steps;
    size_t at = step;

    while (at > 0 && !same_lock(&steps[at - 1], &steps[step])) {
        at--;
    }
    return at > 0 && !gives(&steps[at - 1]) ? at - 1 : TMS_NO_JOIN;
}

/*
 * From the acquire to the release. The lock that a judged block gave up between its steps was held
 * at the first of them.
 */
static void put_hold(const struct timeline *timeline, size_t step)
{
    const struct tms_exported *exported = timeline->exported;
    const struct tms_exported_step *at = &exported->steps[step];
    size_t taken = taken_at(exported, step);
    bool before = taken == TMS_NO_JOIN && exported->finding->judgement != NULL && at->own;

    if (taken == TMS_NO_JOIN && !before) {
        return;
    }
    size_t first = before ? first_of_thread(exported, step) : taken;
    put_lock_track(timeline, step);
    put_slice(timeline, track_of_lock(timeline, step), "lock", start_of(first), end_of(step));
    tms_json_text(timeline->out, ", ", "name", tms_exported_thread(exported, at->turn.thread));
    fprintf(timeline->out, ", \"args\": {\"from_before\": %s}}", tms_json_bool(before));
}

/* ---- steps ------------------------------------------------------------------------------ */

static void put_stack(const struct timeline *timeline, uint32_t stack)
{
    const struct tms_page *page = timeline->exported->page;
    const char *at = tms_name(page->names, TMS_CLASS_STACK, stack, NULL);
    struct tms_stack_frame frame;

    if (stack == 0) {
        return;
    }
    fputs(", \"stack\": [", timeline->out);
    for (size_t i = 0; tms_stack_next(&at, &frame); i++) {
        fputs(i > 0 ? ", " : "", timeline->out);
        tms_json_string(frame.function.at, frame.function.length, tms_json_to_stream,
                        timeline->out);
    }
    fputc(']', timeline->out);
}

static void put_step(const struct timeline *timeline, size_t index)
{
    const struct tms_exported *exported = timeline->exported;
    const struct tms_exported_step *step = &exported->steps[index];
    FILE *out = timeline->out;

    put_slice(timeline, track_of_thread(timeline, index), "step", start_of(index), end_of(index));
    tms_exported_operation(exported, step, tms_page_note(exported->page));
    tms_exported_json(exported, out, ", ", "name");
    fprintf(out, ", \"args\": {\"event\": %" PRIu64 ", \"order\": %zu", step->turn.event,
            index + 1);
    tms_exported_place(exported, &step->place, "", tms_page_note(exported->page));
    tms_exported_json(exported, out, ", ", "location");
    fputs(", \"source\": ", out);
    tms_json_string(step->place.source.at, step->place.source.length, tms_json_to_stream, out);
    put_stack(timeline, step->turn.stack);
    fputs("}}", out);
}

static void put_tracks(const struct timeline *timeline)
{
    const struct tms_exported *exported = timeline->exported;

    for (size_t i = 0; i < exported->step_count; i++) {
        if (first_of_thread(exported, i) == i) {
            fputs(tms_exported_thread(exported, exported->steps[i].turn.thread),
                  tms_page_note(exported->page));
            put_track(timeline, track_of_thread(timeline, i));
        }
        put_block_at(timeline, i);
    }
}

static void put_finding(const struct timeline *timeline)
{
    const struct tms_exported *exported = timeline->exported;

    put_process(timeline);
    put_headline(timeline);
    put_tracks(timeline);
    for (size_t i = 0; i < exported->step_count; i++) {
        put_step(timeline, i);
        if (gives(&exported->steps[i])) {
            put_hold(timeline, i);
        }
        if (exported->steps[i].joined != TMS_NO_JOIN) {
            ++*timeline->arrows;
            put_arrow_end(timeline, "s", i);
            put_arrow_end(timeline, "f", exported->steps[i].joined);
        }
    }
}

int tms_export_perfetto(const struct tms_export_job *job)
{
    struct tms_exported exported;
    uint64_t arrows = 0;
    size_t track = 1;
    int code = TMS_OK;

    fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", job->out);
    for (size_t i = 0; i < job->count && code == TMS_OK; i++) {
        const struct timeline timeline = {&exported, job->out, i + 1, track, &arrows};
        code = tms_exported_make(&exported, &job->entries[i]);
        if (code == TMS_OK) {
            put_finding(&timeline);
            track += 1 + 2 * exported.step_count;
        }
        tms_exported_free(&exported);
    }
    fprintf(job->out,
            "\n],\n\"otherData\": {\"tool\": \"tmesis %s\", \"clock\": \"ts is the order of the "
            "steps of a finding, %d for each, not a time\"}}\n",
            tms_version(), STEP_TIME);
    return code;
}
