/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One finding as a JSON object: what every engine says of it and, of findings of `judge`, the
 * judgement. src/saved/ reads it back.
 */
#include "report/json_finding.h"

#include <string.h>

#include "report/json_write.h"
#include "report/stack_frames.h"

/* "bank.c:12": where the colon is, or NULL if the location is not of that form. */
static const char *line_part(const char *location)
{
    const char *colon = strrchr(location, ':');

    if (colon == NULL || colon == location || colon[1] == '\0' || strlen(colon + 1) > 9 ||
        colon[1] == '0') {
        return NULL;
    }
    return strspn(colon + 1, "0123456789") == strlen(colon + 1) ? colon : NULL;
}

static void member_part(FILE *out, const char *before, const char *key, struct tms_stack_text text)
{
    fprintf(out, "%s\"%s\": ", before, key);
    tms_json_string(text.at, text.length, tms_json_to_stream, out);
}

static void write_frame(FILE *out, const struct tms_stack_frame *frame)
{
    member_part(out, "{", "function", frame->function);
    if (frame->file.length > 0 && frame->line.length > 0) {
        member_part(out, ", ", "file", frame->file);
        fprintf(out, ", \"line\": %.*s", (int)frame->line.length, frame->line.at);
    }
    if (frame->source.length > 0) {
        member_part(out, ", ", "source", frame->source);
    }
    fputc('}', out);
}

/* How the program came to an event; the innermost frame has the function of its location. */
static void write_stack(const struct tms_report_job *job, uint32_t id)
{
    const char *stack = tms_json_name(job, TMS_CLASS_STACK, id);
    struct tms_stack_frame frame;

    for (size_t i = 0; tms_stack_next(&stack, &frame); i++) {
        if (i == 0) {
            member_part(job->out, ", ", "function", frame.function);
        }
        if (i == 0 && frame.source.length > 0) {
            member_part(job->out, ", ", "source", frame.source);
        }
        if (i == 0 && frame.site.length > 0) {
            member_part(job->out, ", ", "site", frame.site);
        }
        fputs(i == 0 ? ", \"stack\": [" : ", ", job->out);
        write_frame(job->out, &frame);
    }
    fputs(id != 0 ? "]" : "", job->out);
}

/* `location`, and `file` and `line` if it is of that form. */
static void write_place(const struct tms_report_job *job, const char *before, uint32_t id)
{
    char number[TMS_NUMBER_SIZE];
    const char *location = tms_name(job->names, TMS_CLASS_LOCATION, id, number);
    const char *colon = line_part(location);

    tms_json_text(job->out, before, "location", location);
    if (colon != NULL) {
        fputs(", \"file\": ", job->out);
        tms_json_string(location, (size_t)(colon - location), tms_json_to_stream, job->out);
        fprintf(job->out, ", \"line\": %s", colon + 1);
    }
}

static void write_location(const struct tms_report_job *job, const char *key, uint32_t id,
                           uint32_t stack)
{
    if (id == 0) {
        return;
    }
    fprintf(job->out, ", \"%s\": {", key);
    write_place(job, "", id);
    write_stack(job, stack);
    fputc('}', job->out);
}

static void put_transaction(const struct tms_report_job *job,
                            const struct tms_transaction *transaction)
{
    const char *label = tms_json_name(job, TMS_CLASS_LABEL, transaction->label);

    tms_json_text(job->out, "{", "thread",
                  tms_json_name(job, TMS_CLASS_THREAD, transaction->thread));
    tms_json_text(job->out, ", ", "label", transaction->unary ? NULL : label);
    tms_json_number(job->out, ", ", "begin_event", transaction->begin_event);
    write_location(job, "begin", transaction->location, 0);
    fputc('}', job->out);
}

static void write_transaction(const struct tms_report_job *job, const char *before, const char *key,
                              const struct tms_transaction *transaction)
{
    fprintf(job->out, "%s\"%s\": ", before, key);
    put_transaction(job, transaction);
}

static void write_step(const struct tms_report_job *job, const struct tms_step *step)
{
    enum tms_class cls = (enum tms_class)step->on_class;

    fputc('{', job->out);
    write_transaction(job, "", "from", &step->from);
    write_transaction(job, ", ", "to", &step->to);
    tms_json_text(job->out, ", ", "kind", tms_edge_text((enum tms_edge_kind)step->kind));
    tms_json_text(job->out, ", ", "on", step->on != 0 ? tms_json_name(job, cls, step->on) : NULL);
    tms_json_number(job->out, ", ", "first_event", step->first_event);
    tms_json_number(job->out, ", ", "second_event", step->second_event);
    tms_json_text(job->out, ", ", "first_kind",
                  tms_event_text((enum tms_event_kind)step->first_kind));
    tms_json_text(job->out, ", ", "second_kind",
                  tms_event_text((enum tms_event_kind)step->second_kind));
    write_location(job, "first", step->first_location, step->first_stack);
    write_location(job, "second", step->second_location, step->second_stack);
    fputc('}', job->out);
}

static void write_cycle(const struct tms_report_job *job, const struct tms_finding *finding)
{
    if (finding->cycle == NULL) {
        fputs("null", job->out);
        return;
    }
    fputc('[', job->out);
    for (size_t i = 0; i < finding->cycle_length; i++) {
        fputs(i > 0 ? ", " : "", job->out);
        write_step(job, &finding->cycle[i]);
    }
    fputc(']', job->out);
}

static void write_refuted(const struct tms_report_job *job, const struct tms_finding *finding)
{
    fputc('[', job->out);
    for (size_t i = 0; i < finding->refuted_count; i++) {
        fputs(i > 0 ? ", " : "", job->out);
        put_transaction(job, &finding->refuted[i]);
    }
    fputc(']', job->out);
}

static void write_held(const struct tms_report_job *job, const struct tms_finding *finding)
{
    for (size_t i = 0; i < finding->held_count; i++) {
        const char *name = tms_json_name(job, TMS_CLASS_LOCK, finding->held[i]);
        fputs(i == 0 ? ", \"held\": [" : ", ", job->out);
        tms_json_string(name, strlen(name), tms_json_to_stream, job->out);
    }
    fputs(finding->held_count > 0 ? "]" : "", job->out);
}

/* An event at its place in a schedule that was not observed. */
static void write_turn(const struct tms_report_job *job, const struct tms_turn *turn)
{
    enum tms_event_kind kind = (enum tms_event_kind)turn->kind;
    const char *on = tms_json_name(job, tms_event_class(kind), turn->target);

    tms_json_number(job->out, "{", "event", turn->event);
    tms_json_text(job->out, ", ", "thread", tms_json_name(job, TMS_CLASS_THREAD, turn->thread));
    tms_json_text(job->out, ", ", "kind", tms_event_text(kind));
    tms_json_text(job->out, ", ", "on", turn->target != 0 ? on : NULL);
    tms_json_text(job->out, ", ", "role", turn->role);
    write_location(job, "at", turn->location, turn->stack);
    fputc('}', job->out);
}

static void write_schedule(const struct tms_report_job *job, const struct tms_finding *finding)
{
    for (size_t i = 0; i < finding->schedule_length; i++) {
        fputs(i == 0 ? ", \"schedule\": [" : ", ", job->out);
        write_turn(job, &finding->schedule[i]);
    }
    fputs(finding->schedule_length > 0 ? "]" : "", job->out);
}

/* ---- the judgement ------------------------------------------------------------------------ */

static void write_words(FILE *out, unsigned patterns)
{
    const char *between = "";

    fputs(", \"patterns\": [", out);
    for (int i = 0; i < TMS_PATTERN_COUNT; i++) {
        if ((patterns & 1u << i) != 0) {
            fprintf(out, "%s\"%s\"", between, tms_pattern_text((enum tms_pattern)i));
            between = ", ";
        }
    }
    fputc(']', out);
}

/* A block by its label and where it begins. */
static void write_block(const struct tms_report_job *job, const struct tms_transaction *block)
{
    tms_json_text(job->out, "{", "label", tms_json_name(job, TMS_CLASS_LABEL, block->label));
    if (block->location != 0) {
        write_place(job, ", ", block->location);
    }
    fputc('}', job->out);
}

static void write_outer(const struct tms_report_job *job, const struct tms_judgement *judgement)
{
    fputs(", \"outer\": [", job->out);
    for (size_t i = 0; i < judgement->outer_count; i++) {
        fputs(i > 0 ? ", " : "", job->out);
        write_block(job, &judgement->outer[i]);
    }
    fputc(']', job->out);
}

static void write_variable(const struct tms_report_job *job, const struct tms_judgement *judgement)
{
    const char *name = tms_json_name(job, TMS_CLASS_VARIABLE, judgement->variable);
    const char *other = tms_json_name(job, TMS_CLASS_VARIABLE, judgement->other);

    tms_json_text(job->out, ", \"variable\": {", "name", judgement->variable != 0 ? name : NULL);
    tms_json_text(job->out, ", ", "object", judgement->object);
    if (judgement->other != 0) {
        tms_json_text(job->out, ", \"other\": {", "name", other);
        tms_json_text(job->out, ", ", "object", judgement->other_object);
        fputc('}', job->out);
    }
    fputc('}', job->out);
}

static void write_turns(const struct tms_report_job *job, const char *key,
                        const struct tms_turn *turns, size_t count)
{
    fprintf(job->out, ", \"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : "", job->out);
        write_turn(job, &turns[i]);
    }
    fputc(']', job->out);
}

static void write_lock(const struct tms_report_job *job, const struct tms_judgement *judgement)
{
    if (judgement->lock == 0) {
        tms_json_text(job->out, ", ", "lock", NULL);
        return;
    }
    tms_json_text(job->out, ", \"lock\": {", "name",
                  tms_json_name(job, TMS_CLASS_LOCK, judgement->lock));
    if (judgement->given_up.event != 0) {
        fputs(", \"given_up\": ", job->out);
        write_turn(job, &judgement->given_up);
    }
    fputc('}', job->out);
}

static void write_judgement(const struct tms_report_job *job, const struct tms_finding *finding)
{
    const struct tms_judgement *judgement = finding->judgement;
    FILE *out = job->out;

    tms_json_text(out, ", ", "level", tms_level_text(judgement->level));
    tms_json_text(out, ", ", "pattern", tms_pattern_text(judgement->pattern));
    write_words(out, judgement->patterns);
    fputs(", \"block\": ", out);
    write_block(job, &finding->transaction);
    write_outer(job, judgement);
    write_variable(job, judgement);
    tms_json_number(out, ", ", "executions", judgement->executions);
    tms_json_number(out, ", ", "cut", judgement->cut);
    fprintf(out, ", \"driver\": %s, \"interleaved\": %s", tms_json_bool(judgement->driver),
            tms_json_bool(judgement->interleaved));
    write_turns(job, "own", judgement->own, judgement->own_count);
    write_turns(job, "foreign", judgement->foreign, judgement->foreign_count);
    write_transaction(job, ", ", "culprit", &judgement->culprit);
    write_lock(job, judgement);
}

/* How many processes it occurred in: a judgement counts them, and a merged result. */
static uint64_t processes_of(const struct tms_finding *finding)
{
    return finding->judgement != NULL ? finding->judgement->processes : finding->processes;
}

/* ---- the finding -------------------------------------------------------------------------- */

static void write_standing(const struct tms_report_job *job, const struct tms_finding *finding)
{
    if (processes_of(finding) != 0) {
        tms_json_number(job->out, ", ", "processes", processes_of(finding));
    }
    if (finding->runs != 0) {
        tms_json_number(job->out, ", ", "runs", finding->runs);
        tms_json_number(job->out, ", ", "failed_runs", finding->failed_runs);
        tms_json_number(job->out, ", ", "first_seed", finding->first_seed);
    }
    tms_json_if(job->out, "caveat", finding->caveat);
    tms_json_if(job->out, "same_as", finding->same_as);
    tms_json_if(job->out, "finding", finding->judged);
    if (job->settings->baseline) {
        fprintf(job->out, ", \"new\": %s", tms_json_bool(!finding->known));
    }
    if (finding->suppressed) {
        fputs(", \"suppressed\": true", job->out);
    }
}

void tms_json_finding(const struct tms_report_job *job, const struct tms_result *result,
                      const struct tms_finding *finding)
{
    FILE *out = job->out;

    tms_json_text(out, "{", "id", finding->id);
    tms_json_number(out, ", ", "count", finding->count);
    tms_json_text(out, ", ", "kind", finding->kind);
    tms_json_text(out, ", ", "evidence", tms_evidence_text(finding->evidence));
    tms_json_number(out, ", ", "event", finding->event);
    tms_json_text(out, ", ", "thread", tms_json_name(job, TMS_CLASS_THREAD, finding->thread));
    write_transaction(job, ", ", "transaction", &finding->transaction);
    fprintf(out, ", \"not_atomic\": %s",
            result->blamed ? tms_json_bool(finding->not_atomic) : "null");
    if (result->blamed && finding->refuted_count > 0) {
        fputs(", \"refuted\": ", out);
        write_refuted(job, finding);
    }
    write_held(job, finding);
    fputs(", \"cycle\": ", out);
    write_cycle(job, finding);
    write_schedule(job, finding);
    if (finding->judgement != NULL) {
        write_judgement(job, finding);
    }
    write_standing(job, finding);
    fputc('}', out);
}

/* ---- windows ------------------------------------------------------------------------------ */

void tms_json_window(const struct tms_report_job *job, const struct tms_window *window)
{
    FILE *out = job->out;
    enum tms_class cls = window->lock ? TMS_CLASS_LOCK : TMS_CLASS_VARIABLE;
    const char *name = tms_json_name(job, cls, window->target);

    tms_json_text(out, "{", "id", window->id);
    fputs(", \"block\": ", out);
    write_block(job, &window->block);
    tms_json_text(out, ", ", "variable", window->lock ? NULL : name);
    tms_json_if(out, "lock", window->lock ? name : NULL);
    write_location(job, "open", window->open.location, window->open.stack);
    write_location(job, "close", window->close.location, window->close.stack);
    write_location(job, "at", window->at.location, window->at.stack);
    tms_json_number(out, ", ", "seen", window->seen);
    fprintf(out, ", \"guarded\": %s}", tms_json_bool(window->guarded));
}
