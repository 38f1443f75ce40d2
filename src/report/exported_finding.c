/* SPDX-License-Identifier: Apache-2.0 */
/* Findings for documents; see exported_finding.h. */
#include "report/exported_finding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/interleaving_rows.h"
#include "report/json_write.h"
#include "report/judged_findings.h"
#include "report/judged_interleaving.h"
#include "report/observed.h"

#define BLOCK_MOST 120 /* characters of a function in a headline */

/* ---- steps ------------------------------------------------------------------------------ */

static uint32_t label_of_thread(const struct tms_finding *finding, uint32_t thread)
{
    const struct tms_judgement *judgement = finding->judgement;

    if (thread == finding->transaction.thread) {
        return finding->transaction.label;
    }
    return judgement != NULL && judgement->culprit.thread == thread ? judgement->culprit.label : 0;
}

static void add_step(struct tms_exported *exported, const struct tms_turn *turn)
{
    uint32_t label = label_of_thread(exported->finding, turn->thread);

    exported->steps[exported->step_count++] = (struct tms_exported_step){
        .turn = *turn,
        .place = tms_place_of_event(exported->page, turn, label),
        .own = turn->thread == exported->finding->transaction.thread,
        .conflict = TMS_NO_CONFLICT,
    };
}

/* The first or the last of the foreign steps on what the own step is on; else just that. */
static size_t foreign_on(const struct tms_exported *exported, size_t first, size_t count,
                         const struct tms_turn *own, bool last)
{
    size_t found = last ? first + count - 1 : first;

    for (size_t i = 0; i < count; i++) {
        size_t at = last ? first + i : first + count - 1 - i;
        const struct tms_turn *turn = &exported->steps[at].turn;
        if (turn->target == own->target && tms_event_class((enum tms_event_kind)turn->kind) ==
                                               tms_event_class((enum tms_event_kind)own->kind)) {
            found = at;
        }
    }
    return found;
}

/* The first step with the foreign one that it meets, and that with the second step. */
static void join_judged(struct tms_exported *exported, size_t first, size_t count)
{
    size_t last = exported->step_count - 1;

    if (count == 0 || last == 0) {
        return;
    }
    exported->steps[0].conflict =
        foreign_on(exported, first, count, &exported->steps[0].turn, false);
    exported->steps[foreign_on(exported, first, count, &exported->steps[last].turn, true)]
        .conflict = last;
}

/* In the order of the text: the first step, what gave up the lock, the others, the second step. */
static int take_judged(struct tms_exported *exported)
{
    const struct tms_judgement *judgement = exported->finding->judgement;
    size_t most = judgement->own_count + judgement->foreign_count + 1, foreign = 0;

    exported->steps = calloc(most, sizeof(*exported->steps));
    if (exported->steps == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i + 1 < judgement->own_count; i++) {
        add_step(exported, &judgement->own[i]);
    }
    if (judgement->lock != 0 && judgement->given_up.event != 0) {
        add_step(exported, &judgement->given_up);
    }
    size_t first = exported->step_count;
    for (size_t i = 0; i < judgement->foreign_count; i++) {
        if (i == 0 || judgement->foreign[i].event != judgement->foreign[i - 1].event) {
            add_step(exported, &judgement->foreign[i]);
            foreign++;
        }
    }
    if (judgement->own_count > 0) {
        add_step(exported, &judgement->own[judgement->own_count - 1]);
        join_judged(exported, first, foreign);
    }
    return TMS_OK;
}

/* The call stack of a row, which only the cycle and the schedule have. */
static uint32_t stack_of(const struct tms_finding *finding, const struct tms_row *row)
{
    for (size_t i = 0; i < finding->schedule_length; i++) {
        const struct tms_turn *turn = &finding->schedule[i];
        if (turn->event == row->event && turn->thread == row->thread && turn->stack != 0) {
            return turn->stack;
        }
    }
    if (row->out != TMS_NO_STEP) {
        return finding->cycle[row->out].first_stack;
    }
    return row->in != TMS_NO_STEP ? finding->cycle[row->in].second_stack : 0;
}

static void add_row(struct tms_exported *exported, const struct tms_row *row)
{
    struct tms_turn turn = {.event = row->event,
                            .thread = row->thread,
                            .target = row->target,
                            .location = row->location,
                            .stack = stack_of(exported->finding, row),
                            .kind = row->has_kind ? row->kind : TMS_EVENT_BEGIN,
                            .role = row->role};

    add_step(exported, &turn);
    struct tms_exported_step *step = &exported->steps[exported->step_count - 1];
    step->label = row->label;
    step->begins = row->begins && !row->has_kind;
    step->opens = row->begins;
    step->block = row->begin_event;
}

static void join_rows(struct tms_exported *exported, const struct tms_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t j = i + 1; j < rows->count && rows->list[i].out != TMS_NO_STEP; j++) {
            if (rows->list[j].in == rows->list[i].out) {
                exported->steps[i].conflict = j;
            }
        }
    }
}

/* Of a cycle in the order of the trace; else of the schedule that would show it. */
static int take_rows(struct tms_exported *exported)
{
    const struct tms_finding *finding = exported->finding;
    bool race = strcmp(finding->kind, "race") == 0;
    bool schedule = finding->schedule_length > 0 && !race;
    struct tms_rows rows;

    if (!schedule && finding->cycle_length == 0) {
        return TMS_OK;
    }
    int code = tms_rows_make(&rows, finding, schedule);
    exported->steps = code == TMS_OK ? calloc(rows.count, sizeof(*exported->steps)) : NULL;
    for (size_t i = 0; exported->steps != NULL && i < rows.count; i++) {
        add_row(exported, &rows.list[i]);
    }
    if (exported->steps != NULL) {
        join_rows(exported, &rows);
    } else {
        code = TMS_ERR_MEMORY;
    }
    tms_rows_free(&rows);
    return code;
}

/* ---- where ------------------------------------------------------------------------------ */

bool tms_exported_is_known(const struct tms_place *place)
{
    return place->file.length > 0 && place->line != 0 && !place->bare;
}

/* Without two lines in one file, one after the other, the second step tells most. */
static void choose_lines(struct tms_exported *exported, struct tms_place first,
                         struct tms_place last, struct tms_place block)
{
    if (!tms_exported_is_known(&last)) {
        last = tms_exported_is_known(&first) ? first : block;
    }
    bool window =
        tms_exported_is_known(&first) && tms_same_file(&first, &last) && first.line <= last.line;
    exported->first = window ? first : last;
    exported->last = last;
}

/* The steps of the thread of the block that have a line, the first and the last one. */
static void find_lines(struct tms_exported *exported)
{
    struct tms_place first = {0}, last = {0};

    for (size_t i = 0; i < exported->step_count; i++) {
        const struct tms_exported_step *step = &exported->steps[i];
        if (step->own && !step->begins && tms_exported_is_known(&step->place)) {
            first = tms_exported_is_known(&first) ? first : step->place;
            last = step->place;
        }
    }
    choose_lines(exported, first, last,
                 tms_place_of_location(exported->page, exported->finding->transaction.location));
}

int tms_exported_make(struct tms_exported *exported, const struct tms_export_entry *entry)
{
    const struct tms_finding *finding = entry->finding;
    int code;

    *exported = (struct tms_exported){.entry = entry,
                                      .page = entry->page,
                                      .finding = finding,
                                      .rule = tms_export_rule_of(finding),
                                      .judged = {.page = entry->page, .full = true}};
    if (finding->judgement != NULL) {
        tms_judged_start(&exported->judged, entry->page, finding);
        exported->judged.wide = true;
        code = take_judged(exported);
        choose_lines(exported, exported->judged.first, exported->judged.last,
                     exported->judged.block);
    } else {
        code = take_rows(exported);
        find_lines(exported);
    }
    return code;
}

void tms_exported_free(struct tms_exported *exported)
{
    free(exported->steps);
}

/* ---- words ------------------------------------------------------------------------------ */

void tms_exported_headline(const struct tms_exported *exported, FILE *out)
{
    if (exported->finding->judgement != NULL) {
        tms_judged_sentence(&exported->judged, out, BLOCK_MOST);
    } else {
        struct tms_finding once = *exported->finding;
        once.count = 1; /* how often is said elsewhere: tms_exported_counted */
        tms_finding_sentence(exported->page, out, exported->entry->result, &once);
    }
}

void tms_exported_why(const struct tms_exported *exported, FILE *out)
{
    if (exported->finding->judgement != NULL) {
        tms_judged_why(&exported->judged, out);
    } else {
        tms_finding_why(exported->page, out, exported->finding);
    }
}

void tms_exported_but(const struct tms_exported *exported, FILE *out)
{
    const char *caveat = exported->finding->caveat;
    bool said = caveat != NULL && *caveat != '\0';
    bool predicted = exported->finding->evidence == TMS_EVIDENCE_PREDICTED;
    bool race = strcmp(exported->finding->kind, "race") == 0; /* no doubt about itself */

    if (said) {
        fprintf(out, "%s%s", caveat, caveat[strlen(caveat) - 1] == '.' ? "" : ".");
    }
    if (predicted && exported->page->racing && !race) {
        fprintf(out,
                "%sthis run has a data race, so locks alone do not determine the order of these "
                "steps; the predicted order may be impossible.",
                said ? " " : "");
    }
}

void tms_exported_fix(const struct tms_exported *exported, FILE *out)
{
    if (exported->finding->judgement != NULL) {
        tms_judged_fix(&exported->judged, out);
    } else {
        fputs(exported->rule->fix, out);
    }
}

/* "observed once", "predicted 3 times", "potential, found 3 times" */
static void write_times(const struct tms_finding *finding, FILE *out)
{
    const char *verb = finding->evidence == TMS_EVIDENCE_POTENTIAL ? ", found" : "";

    fprintf(out, "%s%s ", tms_evidence_text(finding->evidence), verb);
    if (finding->count == 1) {
        fputs("once", out);
    } else {
        tms_write_number(out, finding->count);
        fputs(" times", out);
    }
}

/* ", in 7 of 30 runs, first with seed 12; the program failed in 5 of them" */
static void write_runs(const struct tms_exported *exported, FILE *out)
{
    const struct tms_finding *finding = exported->finding;

    if (finding->runs == 0) {
        return;
    }
    fprintf(out, ", in %" PRIu64 " of %" PRIu64 " runs, first with seed %" PRIu64, finding->runs,
            exported->page->runs, finding->first_seed);
    if (finding->failed_runs > 0) {
        fprintf(out, "; the program failed in %" PRIu64 " of them", finding->failed_runs);
    }
}

void tms_exported_counted(const struct tms_exported *exported, FILE *out)
{
    const struct tms_finding *finding = exported->finding;

    if (finding->judgement != NULL) {
        tms_judged_executions(&exported->judged, out);
    } else {
        write_times(finding, out);
    }
    write_runs(exported, out);
}

void tms_exported_outer(const struct tms_exported *exported, FILE *out)
{
    const struct tms_judgement *judgement = exported->finding->judgement;

    for (size_t i = 0; judgement != NULL && i < judgement->outer_count; i++) {
        fputs(i > 0 ? ", " : "", out);
        tms_judged_block(exported->page, out, &judgement->outer[i], BLOCK_MOST);
    }
}

const char *tms_exported_origin(const struct tms_exported *exported)
{
    const struct tms_export_entry *entry = exported->entry;

    if (entry->finding->process != NULL) {
        return entry->finding->process;
    }
    return entry->several ? entry->part->settings->path : NULL;
}

/* " Why: …", with a full stop if it has none; nothing for no words. */
static void add_words(const struct tms_exported *exported, const char *heading,
                      void (*write)(const struct tms_exported *exported, FILE *out))
{
    struct tms_page *page = exported->page;
    long start = ftell(page->note);

    fputs(heading, page->note);
    long words = ftell(page->note);
    write(exported, page->note);
    fflush(page->note);
    if (ftell(page->note) == words) {
        fseek(page->note, start, SEEK_SET);
    } else if (page->note_text[page->note_size - 1] != '.') {
        fputc('.', page->note);
    }
}

void tms_exported_message(const struct tms_exported *exported)
{
    tms_page_note(exported->page);
    add_words(exported, "", tms_exported_headline);
    add_words(exported, " Why: ", tms_exported_why);
    add_words(exported, " But: ", tms_exported_but);
    add_words(exported, " Fix: ", tms_exported_fix);
    fflush(exported->page->note);
}

void tms_exported_json(const struct tms_exported *exported, FILE *out, const char *before,
                       const char *key)
{
    const struct tms_page *page = exported->page;

    fflush(page->note);
    fprintf(out, "%s\"%s\": ", before, key);
    tms_json_string(page->note_text, page->note_size, tms_json_to_stream, out);
}

void tms_exported_operation(const struct tms_exported *exported,
                            const struct tms_exported_step *step, FILE *out)
{
    const struct tms_transaction block = {.label = step->label, .location = step->turn.location};

    if (step->begins) {
        fputs("begin ", out);
        tms_judged_block(exported->page, out, &block, BLOCK_MOST);
    } else {
        tms_judged_operation(&exported->judged, out, &step->turn, SIZE_MAX);
    }
}

const char *tms_exported_block(const struct tms_exported *exported)
{
    return tms_name(exported->page->names, TMS_CLASS_LABEL, exported->finding->transaction.label,
                    NULL);
}

const char *tms_exported_thread(const struct tms_exported *exported, uint32_t thread)
{
    return tms_name(exported->page->names, TMS_CLASS_THREAD, thread, NULL);
}

/* ---- paths ------------------------------------------------------------------------------ */

/* Bytes of `path` that are the directory and the slash after it; 0 if it is not in it. */
static size_t directory_part(const char *path, size_t length, const char *directory)
{
    size_t size = directory != NULL ? strlen(directory) : 0;

    while (size > 0 && directory[size - 1] == '/') {
        size--;
    }
    if (size == 0 || length <= size + 1 || memcmp(path, directory, size) != 0 ||
        path[size] != '/') {
        return 0;
    }
    while (size < length - 1 && path[size] == '/') {
        size++;
    }
    return size;
}

const char *tms_exported_path(const struct tms_page *page, const char *path, size_t *length)
{
    size_t skipped = directory_part(path, *length, page->prefix);

    if (skipped == 0) {
        skipped = directory_part(path, *length, page->directory);
    }
    while (*length - skipped > 2 && path[skipped] == '.' && path[skipped + 1] == '/') {
        skipped += 2;
    }
    *length -= skipped;
    return path + skipped;
}

void tms_exported_file(const struct tms_exported *exported, const struct tms_place *place,
                       FILE *out)
{
    size_t length = place->file.length;

    if (tms_exported_is_known(place)) {
        const char *path = tms_exported_path(exported->page, place->file.at, &length);
        fwrite(path, 1, length, out);
    }
}

void tms_exported_place(const struct tms_exported *exported, const struct tms_place *place,
                        const char *before, FILE *out)
{
    if (tms_exported_is_known(place)) {
        fputs(before, out);
        tms_exported_file(exported, place, out);
        fprintf(out, ":%u", place->line);
    } else if (place->bare) {
        fprintf(out, "%slocation %u", before, place->line);
    } else if (place->file.length > 0) {
        fputs(before, out);
        fwrite(place->file.at, 1, place->file.length, out);
    }
}
