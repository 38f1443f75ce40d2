/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SARIF 2.1.0: one run with all findings. The interleaving of a finding is a code flow with a
 * thread flow for each thread; `executionOrder` counts over all of them, so that a viewer can put
 * the steps back into one order.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/exported_finding.h"
#include "report/json_write.h"
#include "report/part_outcome.h"

#define SCHEMA                                                                                     \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#define ROOT "%SRCROOT%"

/* ---- texts and places --------------------------------------------------------------------- */

/* `"key": {"text": …}` */
static void put_message(FILE *out, const char *before, const char *key, const char *text)
{
    fprintf(out, "%s\"%s\": ", before, key);
    tms_json_text(out, "{", "text", text);
    fputc('}', out);
}

/* The same of what the note of the page has. */
static void put_note(FILE *out, const struct tms_exported *exported, const char *before)
{
    fprintf(out, "%s\"message\": {", before);
    tms_exported_json(exported, out, "", "text");
    fputc('}', out);
}

/* Percent-encodes what can't be in the path of a URI. */
static void put_uri(FILE *out, const char *path, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)path[i];
        bool plain = c < 0x80 && (isalnum(c) || strchr("-._~/+@,=!$&'()*", c) != NULL);
        if (plain && c != '\0') {
            fputc(c, out);
        } else {
            fprintf(out, "%%%02X", c);
        }
    }
}

static void put_artifact(FILE *out, const struct tms_page *page, const char *text, size_t length)
{
    const char *path = tms_exported_path(page, text, &length);
    bool relative = *path != '/';

    fprintf(out, "\"artifactLocation\": {\"uri\": \"%s", relative ? "" : "file://");
    put_uri(out, path, length);
    fputs(relative ? "\", \"uriBaseId\": \"" ROOT "\"}" : "\"}", out);
}

static bool has_file(const struct tms_place *place)
{
    return place->file.length > 0 && !place->bare;
}

/* A physical location from `first` to the line of `last`, which is in the same file. */
static void put_place(FILE *out, const struct tms_page *page, const struct tms_place *first,
                      const struct tms_place *last)
{
    fputs("\"physicalLocation\": {", out);
    put_artifact(out, page, first->file.at, first->file.length);
    if (first->line != 0) {
        fprintf(out, ", \"region\": {\"startLine\": %u", first->line);
        if (last->line > first->line) {
            fprintf(out, ", \"endLine\": %u", last->line);
        }
        if (first == last && first->source.length > 0) {
            fputs(", \"snippet\": {\"text\": ", out);
            tms_json_string(first->source.at, first->source.length, tms_json_to_stream, out);
            fputc('}', out);
        }
        fputc('}', out);
    }
    fputc('}', out);
}

/* The first word of a command as a shell reads it, without the quotes around it. */
static size_t program_length(const char **command)
{
    bool quoted = **command == '\'';

    *command += quoted;
    return strcspn(*command, quoted ? "'" : " ");
}

/*
 * What has no known line is in the trace or the program. Code scanning on GitHub refuses a document
 * in which a location has no file.
 */
static void put_origin(FILE *out, const struct tms_exported *exported)
{
    const struct tms_report_settings *settings = exported->entry->part->settings;
    bool live = tms_report_is_live(settings) && settings->command != NULL;
    const char *path = live ? settings->command : settings->path;
    size_t length = live ? program_length(&path) : strlen(path);

    fputs("\"physicalLocation\": {", out);
    put_artifact(out, exported->page, length > 0 ? path : "-", length > 0 ? length : 1);
    fputc('}', out);
}

static void put_function(FILE *out, const char *before, const char *name, size_t length)
{
    fprintf(out,
            "%s\"logicalLocations\": [{\"kind\": \"function\", \"fullyQualifiedName\": ", before);
    tms_json_string(name, length, tms_json_to_stream, out);
    fputs("}]", out);
}

/* ---- interleavings ------------------------------------------------------------------------ */

static void put_frame(FILE *out, const struct tms_page *page, const struct tms_stack_frame *frame)
{
    struct tms_place place = {.file = frame->file};

    place.line = frame->line.length > 0 ? (unsigned)strtoul(frame->line.at, NULL, 10) : 0;
    fputs("{\"location\": {", out);
    if (has_file(&place)) {
        put_place(out, page, &place, &place);
    }
    put_function(out, has_file(&place) ? ", " : "", frame->function.at, frame->function.length);
    fputs("}}", out);
}

static void put_stack(FILE *out, const struct tms_page *page, uint32_t stack)
{
    const char *at = tms_name(page->names, TMS_CLASS_STACK, stack, NULL);
    struct tms_stack_frame frame;

    if (stack == 0) {
        return;
    }
    for (size_t i = 0; tms_stack_next(&at, &frame); i++) {
        fputs(i == 0 ? ", \"stack\": {\"frames\": [" : ", ", out);
        put_frame(out, page, &frame);
    }
    fputs("]}", out);
}

static const char *kind_word(const struct tms_exported_step *step)
{
    static const char *const words[TMS_EVENT_COUNT] = {[TMS_EVENT_BEGIN] = "enter",
                                                       [TMS_EVENT_END] = "exit",
                                                       [TMS_EVENT_READ] = "read",
                                                       [TMS_EVENT_WRITE] = "write",
                                                       [TMS_EVENT_UPDATE] = "update",
                                                       [TMS_EVENT_ACQUIRE] = "acquire",
                                                       [TMS_EVENT_RELEASE] = "release",
                                                       [TMS_EVENT_SHARED_ACQUIRE] = "acquire",
                                                       [TMS_EVENT_SHARED_RELEASE] = "release"};
    enum tms_event_kind kind = (enum tms_event_kind)step->turn.kind;

    return words[kind] != NULL ? words[kind] : tms_event_text(kind);
}

/* A location that is no line of a file, such as "location 3". */
static void put_other_place(FILE *out, const struct tms_exported *exported,
                            const struct tms_place *place)
{
    FILE *note = tms_page_note(exported->page);

    put_origin(out, exported);
    tms_exported_place(exported, place, "", note);
    if (ftell(note) > 0) {
        tms_exported_json(exported, out, ", \"logicalLocations\": [{", "fullyQualifiedName");
        fputs("}]", out);
    }
}

static void put_step(FILE *out, const struct tms_exported *exported, size_t index)
{
    const struct tms_exported_step *step = &exported->steps[index];
    struct tms_page *page = exported->page;

    fputs("{\"location\": {", out);
    if (tms_exported_is_known(&step->place)) {
        put_place(out, page, &step->place, &step->place);
    } else {
        put_other_place(out, exported, &step->place);
    }
    tms_exported_operation(exported, step, tms_page_note(page));
    put_note(out, exported, ", ");
    fprintf(out, "}, \"kinds\": [\"%s\"], \"importance\": \"%s\", \"executionOrder\": %zu",
            kind_word(step), step->begins ? "important" : "essential", index + 1);
    put_stack(out, page, step->turn.stack);
    fprintf(out, ", \"properties\": {\"event\": %" PRIu64 "}}", step->turn.event);
}

/* Has a step before this one the same thread? */
static bool is_listed(const struct tms_exported *exported, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (exported->steps[i].turn.thread == exported->steps[index].turn.thread) {
            return true;
        }
    }
    return false;
}

static void put_thread_flow(FILE *out, const struct tms_exported *exported, size_t first)
{
    uint32_t thread = exported->steps[first].turn.thread;
    const char *between = "";

    tms_json_text(out, "{", "id", tms_exported_thread(exported, thread));
    fputs(", \"locations\": [", out);
    for (size_t i = first; i < exported->step_count; i++) {
        if (exported->steps[i].turn.thread == thread) {
            fputs(between, out);
            put_step(out, exported, i);
            between = ", ";
        }
    }
    fputs("]}", out);
}

static void put_code_flow(FILE *out, const struct tms_exported *exported)
{
    bool observed = exported->finding->evidence == TMS_EVIDENCE_OBSERVED;
    const char *between = "";

    if (exported->step_count == 0) {
        return;
    }
    fputs(", \"codeFlows\": [{", out);
    put_message(out, "", "message",
                observed ? "What the threads did, in this order."
                         : "What the threads can do, in this order; it was not observed.");
    fputs(", \"threadFlows\": [", out);
    for (size_t i = 0; i < exported->step_count; i++) {
        if (!is_listed(exported, i)) {
            fputs(between, out);
            put_thread_flow(out, exported, i);
            between = ", ";
        }
    }
    fputs("]}]", out);
}

/* ---- results ------------------------------------------------------------------------------ */

static void put_location(FILE *out, const struct tms_exported *exported)
{
    const char *block = tms_exported_block(exported);

    fputs(", \"locations\": [{", out);
    if (tms_exported_is_known(&exported->first)) {
        put_place(out, exported->page, &exported->first,
                  exported->first.line == exported->last.line ? &exported->first : &exported->last);
    } else {
        put_origin(out, exported);
    }
    if (*block != '\0') {
        put_function(out, ", ", block, strlen(block));
    }
    fputs("}]", out);
}

/* By a decision that a history keeps, or by a rule. */
static void put_suppression(FILE *out, const struct tms_timeline_finding *history)
{
    bool decided = history != NULL && history->suppressed_why != NULL;

    tms_json_text(out, "{\"kind\": \"external\", ", "justification",
                  decided ? history->suppressed_why
                          : "A suppression rule of the user matches this finding.");
    if (decided) {
        tms_json_text(out, ", \"status\": \"accepted\", \"properties\": {", "suppressedBy",
                      history->suppressed_by);
        tms_json_text(out, ", ", "suppressedAt", history->suppressed_at);
        fputc('}', out);
    }
    fputc('}', out);
}

/* The baseline that it was compared with, and whether the user suppressed it. */
static void put_standing(FILE *out, const struct tms_exported *exported)
{
    const struct tms_finding *finding = exported->finding;

    if (exported->entry->part->settings->baseline) {
        fprintf(out, ", \"baselineState\": \"%s\"", finding->known ? "unchanged" : "new");
    }
    fputs(", \"suppressions\": [", out);
    if (finding->suppressed) {
        put_suppression(out, exported->entry->over_time);
    }
    fputc(']', out);
}

/* Of a hunt. */
static void put_runs(FILE *out, const struct tms_finding *finding)
{
    if (finding->runs > 0) {
        tms_json_number(out, ", ", "runs", finding->runs);
        tms_json_number(out, ", ", "failedRuns", finding->failed_runs);
        tms_json_number(out, ", ", "firstSeed", finding->first_seed);
    }
}

static void put_outer(FILE *out, const struct tms_exported *exported)
{
    FILE *note = tms_page_note(exported->page);

    tms_exported_outer(exported, note);
    if (ftell(note) > 0) {
        tms_exported_json(exported, out, ", ", "cutAlongWith");
    }
}

static void put_properties(FILE *out, const struct tms_exported *exported)
{
    const struct tms_finding *finding = exported->finding;

    tms_json_text(out, ", \"properties\": {", "engine", exported->entry->result->engine->name);
    tms_json_text(out, ", ", "evidence", tms_evidence_text(finding->evidence));
    tms_json_text(out, ", ", "path", exported->entry->part->settings->path);
    tms_exported_counted(exported, tms_page_note(exported->page));
    tms_exported_json(exported, out, ", ", "counted");
    tms_json_if(out, "process", finding->process);
    put_runs(out, finding);
    put_outer(out, exported);
    fputc('}', out);
}

static void put_result(FILE *out, const struct tms_exported *exported)
{
    const struct tms_finding *finding = exported->finding;

    tms_json_text(out, "{", "ruleId", exported->rule->id);
    tms_json_number(out, ", ", "ruleIndex", tms_export_rule_index(exported->rule));
    tms_json_text(out, ", ", "kind", "fail");
    tms_json_text(out, ", ", "level", tms_level_text(exported->entry->level));
    tms_exported_message(exported);
    put_note(out, exported, ", ");
    put_location(out, exported);
    tms_json_text(out, ", \"partialFingerprints\": {", "tmesis/v1", finding->id);
    fputc('}', out);
    tms_json_number(out, ", ", "occurrenceCount", finding->count > 0 ? finding->count : 1);
    put_code_flow(out, exported);
    put_standing(out, exported);
    put_properties(out, exported);
    fputc('}', out);
}

/* ---- the run ------------------------------------------------------------------------------ */

static void put_rules(FILE *out)
{
    const struct tms_export_rule *rule;

    for (size_t i = 0; (rule = tms_export_rule(i)) != NULL; i++) {
        tms_json_text(out, i == 0 ? "{" : ",\n{", "id", rule->id);
        put_message(out, ", ", "shortDescription", rule->summary);
        put_message(out, ", ", "fullDescription", rule->help);
        fputs(", \"help\": {\"text\": \"", out);
        fprintf(out, "%s Fix: %s\"}", rule->help, rule->fix);
        tms_json_text(out, ", \"defaultConfiguration\": {", "level", tms_level_text(rule->level));
        fputs("}, \"properties\": {\"tags\": [\"concurrency\", \"atomicity\"]}}", out);
    }
}

static void put_exit(FILE *out, const struct tms_report_settings *settings)
{
    if (settings->ended && settings->exit_signal != 0) {
        fputs(", \"exitSignalName\": \"", out);
        tms_signal_write(out, settings->exit_signal);
        fprintf(out, "\", \"exitSignalNumber\": %d", settings->exit_signal);
    } else if (settings->ended) {
        fprintf(out, ", \"exitCode\": %d", settings->exit_status);
    }
}

/* What is wrong with the run as a whole. */
static void put_notifications(FILE *out, const struct tms_export_part *part, struct tms_page *page)
{
    const struct tms_part_trouble *trouble;
    size_t put = 0;

    for (size_t i = 0; (trouble = tms_part_trouble(i)) != NULL; i++) {
        if (trouble->is_there(part)) {
            trouble->write(part, tms_page_note(page));
            fflush(page->note);
            fputs(put++ > 0 ? ", " : ", \"toolExecutionNotifications\": [", out);
            fputs("{\"level\": \"warning\"", out);
            put_message(out, ", ", "message", page->note_text);
            fputc('}', out);
        }
    }
    fputs(put > 0 ? "]" : "", out);
}

static void put_invocation(FILE *out, const struct tms_export_part *part, struct tms_page *page)
{
    const struct tms_report_settings *settings = part->settings;

    fprintf(out, "{\"executionSuccessful\": %s", tms_json_bool(tms_part_troubles(part) == 0));
    put_exit(out, settings);
    tms_json_if(out, "commandLine", settings->command);
    tms_json_if(out, "machine", settings->host);
    tms_json_time(out, "startTimeUtc", settings->started);
    tms_json_time(out, "endTimeUtc",
                  settings->started > 0 ? settings->started + settings->seconds : 0);
    put_notifications(out, part, page);
    fputc('}', out);
}

static void put_tool(FILE *out)
{
    tms_json_text(out, "{\"tool\": {\"driver\": {", "name", "tmesis");
    tms_json_text(out, ", ", "version", tms_version());
    tms_json_text(out, ", ", "semanticVersion", tms_version());
    put_message(out, ", ", "shortDescription",
                "Finds code that was meant to be atomic and was interrupted by another thread.");
    fputs(", \"rules\": [\n", out);
    put_rules(out);
    fputs("\n]}}", out);
}

int tms_export_sarif(const struct tms_export_job *job)
{
    struct tms_exported exported;
    FILE *out = job->out;
    int code = TMS_OK;

    fputs("{\"$schema\": \"" SCHEMA "\", \"version\": \"2.1.0\", \"runs\": [\n", out);
    put_tool(out);
    fputs(",\n\"invocations\": [", out);
    for (size_t i = 0; i < job->part_count; i++) {
        fputs(i > 0 ? ", " : "", out);
        put_invocation(out, &job->parts[i], &job->pages[i]);
    }
    fputs("],\n\"originalUriBaseIds\": {\"" ROOT "\": ", out);
    put_message(out, "{", "description", "The directory in which the report was written.");
    fputs("}},\n\"columnKind\": \"utf16CodeUnits\",\n\"results\": [", out);
    for (size_t i = 0; i < job->count && code == TMS_OK; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        code = tms_exported_make(&exported, &job->entries[i]);
        if (code == TMS_OK) {
            put_result(out, &exported);
        }
        tms_exported_free(&exported);
    }
    fputs("\n]}]}\n", out);
    return code;
}
