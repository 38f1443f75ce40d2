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
struct finding_tracks {
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

static size_t track_of_thread(const struct finding_tracks *tracks, size_t step)
{
    return tracks->track + 1 + first_of_thread(tracks->exported, step);
}

static size_t track_of_lock(const struct finding_tracks *tracks, size_t step)
{
    const struct tms_exported *exported = tracks->exported;
    size_t first = 0;

    while (!same_lock(&exported->steps[first], &exported->steps[step])) {
        first++;
    }
    return tracks->track + 1 + exported->step_count + first;
}

/* ---- events of the format --------------------------------------------------------------- */

static void put_sorted(const struct finding_tracks *tracks, const char *what, size_t track,
                       size_t place)
{
    fprintf(tracks->out,
            ",\n{\"ph\": \"M\", \"pid\": %zu, \"tid\": %zu, \"name\": \"%s\", \"args\": "
            "{\"sort_index\": %zu}}",
            tracks->process, track, what, place);
}

/* A track whose name the note of the page has. */
static void put_track(const struct finding_tracks *tracks, size_t track)
{
    fprintf(tracks->out,
            ",\n{\"ph\": \"M\", \"pid\": %zu, \"tid\": %zu, \"name\": \"thread_name\", \"args\": {",
            tracks->process, track);
    tms_exported_json(tracks->exported, tracks->out, "", "name");
    fputs("}}", tracks->out);
    put_sorted(tracks, "thread_sort_index", track, track);
}

/* A slice without its name and arguments. */
static void put_slice(const struct finding_tracks *tracks, size_t track, const char *category,
                      size_t start, size_t end)
{
    fprintf(tracks->out,
            ",\n{\"ph\": \"X\", \"pid\": %zu, \"tid\": %zu, \"ts\": %zu, \"dur\": %zu, \"cat\": "
            "\"%s\"",
            tracks->process, track, start, end - start, category);
}

static void put_arrow_end(const struct finding_tracks *tracks, const char *phase, size_t step)
{
    fprintf(tracks->out,
            ",\n{\"ph\": \"%s\"%s, \"pid\": %zu, \"tid\": %zu, \"ts\": %zu, \"id\": "
            "%" PRIu64 ", \"cat\": \"conflict\", \"name\": \"conflict\"}",
            phase, *phase == 'f' ? ", \"bp\": \"e\"" : "", tracks->process,
            track_of_thread(tracks, step), start_of(step) + STEP_TAKES / 2, *tracks->arrows);
}

/* ---- the headline ----------------------------------------------------------------------- */

static void put_words(const struct finding_tracks *tracks, const char *before, const char *key,
                      void (*write)(const struct tms_exported *exported, FILE *out))
{
    write(tracks->exported, tms_page_note(tracks->exported->page));
    tms_exported_json(tracks->exported, tracks->out, before, key);
}

static void put_process(const struct finding_tracks *tracks)
{
    const struct tms_export_entry *entry = tracks->exported->entry;

    fprintf(tracks->out,
            "%s\n{\"ph\": \"M\", \"pid\": %zu, \"name\": \"process_name\", \"args\": {",
            tracks->process > 1 ? "," : "", tracks->process);
    fprintf(tms_page_note(tracks->exported->page), "%s, %s: ", tms_level_text(entry->level),
            tms_evidence_text(entry->finding->evidence));
    tms_exported_headline(tracks->exported, tracks->exported->page->note);
    tms_exported_json(tracks->exported, tracks->out, "", "name");
    fputs("}}", tracks->out);
    put_sorted(tracks, "process_sort_index", tracks->track, tracks->process);
    fputs(entry->finding->id, tms_page_note(tracks->exported->page));
    put_track(tracks, tracks->track);
}

static void put_headline(const struct finding_tracks *tracks)
{
    const struct tms_export_entry *entry = tracks->exported->entry;
    size_t steps = tracks->exported->step_count;
    FILE *out = tracks->out;

    put_slice(tracks, tracks->track, "finding", start_of(0) - MARGIN,
              end_of(steps > 0 ? steps - 1 : 0) + MARGIN);
    put_words(tracks, ", ", "name", tms_exported_headline);
    tms_json_text(out, ", \"args\": {", "id", entry->finding->id);
    tms_json_text(out, ", ", "level", tms_level_text(entry->level));
    tms_json_text(out, ", ", "evidence", tms_evidence_text(entry->finding->evidence));
    tms_json_text(out, ", ", "engine", entry->result->engine->name);
    tms_json_text(out, ", ", "path", entry->part->settings->path);
    put_words(tracks, ", ", "why", tms_exported_why);
    put_words(tracks, ", ", "fix", tms_exported_fix);
    put_words(tracks, ", ", "counted", tms_exported_counted);
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

static void put_block(const struct finding_tracks *tracks, size_t step, uint32_t label)
{
    const struct tms_exported *exported = tracks->exported;

    put_slice(tracks, track_of_thread(tracks, step), "block", start_of(step) - MARGIN,
              end_of(last_of_block(exported, step)) + MARGIN);
    tms_json_text(tracks->out, ", ", "name",
                  label != 0 ? tms_name(exported->page->names, TMS_CLASS_LABEL, label, NULL)
                             : "block");
    fputc('}', tracks->out);
}

/*
 * Judged findings have one block for each thread. In others it is known which steps begin one; what
 * begins inside a transaction lasts to the end of it, as far as can be seen.
 */
static void put_block_at(const struct finding_tracks *tracks, size_t step)
{
    const struct tms_exported *exported = tracks->exported;
    const struct tms_judgement *judgement = exported->finding->judgement;
    const struct tms_exported_step *at = &exported->steps[step];

    if (judgement == NULL) {
        if (at->opens) {
            put_block(tracks, step, at->label);
        }
    } else if (first_of_thread(exported, step) == step) {
        uint32_t label =
            judgement->culprit.thread == at->turn.thread ? judgement->culprit.label : 0;
        if (at->own || label != 0) {
            put_block(tracks, step, at->own ? exported->finding->transaction.label : label);
        }
    }
}

static void put_lock_track(const struct finding_tracks *tracks, size_t step)
{
    const struct tms_exported *exported = tracks->exported;
    const struct tms_turn *turn = &exported->steps[step].turn;
    struct tms_page *page = exported->page;
    size_t track = track_of_lock(tracks, step);

    fprintf(tms_page_note(page), "%s held by %s",
            tms_name(page->names, TMS_CLASS_LOCK, turn->target, NULL),
            tms_exported_thread(exported, turn->thread));
    put_track(tracks, track);
}

/* Where the lock that a step gives up was taken; TMS_NO_CONFLICT: that is not known. */
static size_t taken_at(const struct tms_exported *exported, size_t step)
{
    const struct tms_exported_step *steps = exported->steps;
    size_t at = step;

    while (at > 0 && !same_lock(&steps[at - 1], &steps[step])) {
        at--;
    }
    return at > 0 && !gives(&steps[at - 1]) ? at - 1 : TMS_NO_CONFLICT;
}

/*
 * From the acquire to the release. The lock that a judged block gave up between its steps was held
 * at the first of them.
 */
static void put_hold(const struct finding_tracks *tracks, size_t step)
{
    const struct tms_exported *exported = tracks->exported;
    const struct tms_exported_step *at = &exported->steps[step];
    size_t taken = taken_at(exported, step);
    bool before = taken == TMS_NO_CONFLICT && exported->finding->judgement != NULL && at->own;

    if (taken == TMS_NO_CONFLICT && !before) {
        return;
    }
    size_t first = before ? first_of_thread(exported, step) : taken;
    put_lock_track(tracks, step);
    put_slice(tracks, track_of_lock(tracks, step), "lock", start_of(first), end_of(step));
    tms_json_text(tracks->out, ", ", "name", tms_exported_thread(exported, at->turn.thread));
    fprintf(tracks->out, ", \"args\": {\"from_before\": %s}}", tms_json_bool(before));
}

/* ---- steps ------------------------------------------------------------------------------ */

static void put_stack(const struct finding_tracks *tracks, uint32_t stack)
{
    const struct tms_page *page = tracks->exported->page;
    const char *at = tms_name(page->names, TMS_CLASS_STACK, stack, NULL);
    struct tms_stack_frame frame;

    if (stack == 0) {
        return;
    }
    fputs(", \"stack\": [", tracks->out);
    for (size_t i = 0; tms_stack_next(&at, &frame); i++) {
        fputs(i > 0 ? ", " : "", tracks->out);
        tms_json_string(frame.function.at, frame.function.length, tms_json_to_stream, tracks->out);
    }
    fputc(']', tracks->out);
}

static void put_step(const struct finding_tracks *tracks, size_t index)
{
    const struct tms_exported *exported = tracks->exported;
    const struct tms_exported_step *step = &exported->steps[index];
    FILE *out = tracks->out;

    put_slice(tracks, track_of_thread(tracks, index), "step", start_of(index), end_of(index));
    tms_exported_operation(exported, step, tms_page_note(exported->page));
    tms_exported_json(exported, out, ", ", "name");
    fprintf(out, ", \"args\": {\"event\": %" PRIu64 ", \"order\": %zu", step->turn.event,
            index + 1);
    tms_exported_place(exported, &step->place, "", tms_page_note(exported->page));
    tms_exported_json(exported, out, ", ", "location");
    fputs(", \"source\": ", out);
    tms_json_string(step->place.source.at, step->place.source.length, tms_json_to_stream, out);
    put_stack(tracks, step->turn.stack);
    fputs("}}", out);
}

static void put_tracks(const struct finding_tracks *tracks)
{
    const struct tms_exported *exported = tracks->exported;

    for (size_t i = 0; i < exported->step_count; i++) {
        if (first_of_thread(exported, i) == i) {
            fputs(tms_exported_thread(exported, exported->steps[i].turn.thread),
                  tms_page_note(exported->page));
            put_track(tracks, track_of_thread(tracks, i));
        }
        put_block_at(tracks, i);
    }
}

static void put_finding(const struct finding_tracks *tracks)
{
    const struct tms_exported *exported = tracks->exported;

    put_process(tracks);
    put_headline(tracks);
    put_tracks(tracks);
    for (size_t i = 0; i < exported->step_count; i++) {
        put_step(tracks, i);
        if (gives(&exported->steps[i])) {
            put_hold(tracks, i);
        }
        if (exported->steps[i].conflict != TMS_NO_CONFLICT) {
            ++*tracks->arrows;
            put_arrow_end(tracks, "s", i);
            put_arrow_end(tracks, "f", exported->steps[i].conflict);
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
        const struct finding_tracks tracks = {&exported, job->out, i + 1, track, &arrows};
        code = tms_exported_make(&exported, &job->entries[i]);
        if (code == TMS_OK) {
            put_finding(&tracks);
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
