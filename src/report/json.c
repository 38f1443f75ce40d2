/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for programs: one JSON object on one line. docs/schema/result.schema.json says
 * what is in it; fields are added, never renamed.
 */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/report.h"
#include "report/stack.h"

/* ---- strings -------------------------------------------------------------------------- */

/* The number of a well-formed character below U+10000, as all that are escaped are. */
static unsigned number_of(const char *text)
{
    size_t length = tms_utf8_length(text);
    unsigned number = (unsigned char)text[0] & (length == 1 ? 0x7f : 0xff >> (length + 1));

    for (size_t i = 1; i < length; i++) {
        number = number << 6 | ((unsigned char)text[i] & 0x3f);
    }
    return number;
}

static const char *escape(const char *text, char *buffer, size_t size)
{
    switch (*text) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\t':
        return "\\t";
    default:
        snprintf(buffer, size, "\\u%04x", number_of(text));
        return buffer;
    }
}

static bool is_plain(const char *text)
{
    return *text != '"' && *text != '\\' && tms_utf8_printable(text) != 0;
}

/* One character that can't stand for itself: an escape, or the sign for a malformed byte. */
static bool put_special(const char *text, tms_sink *sink, void *user)
{
    char buffer[8];
    const char *piece = TMS_UTF8_BAD;

    if (tms_utf8_length(text) != 0) {
        piece = escape(text, buffer, sizeof(buffer));
    }
    return sink(user, piece, strlen(piece));
}

bool tms_json_string(const char *text, size_t length, tms_sink *sink, void *user)
{
    const char *end = text + length;
    bool good = sink(user, "\"", 1);

    while (good && text < end) {
        const char *start = text;
        while (text < end && is_plain(text)) {
            text += tms_utf8_length(text);
        }
        if (text > start) {
            good = sink(user, start, (size_t)(text - start));
        } else {
            size_t size = tms_utf8_length(text);
            good = put_special(text, sink, user);
            text += size != 0 ? size : 1;
        }
    }
    return good && sink(user, "\"", 1);
}

static bool to_stream(void *user, const char *text, size_t length)
{
    return fwrite(text, 1, length, user) == length;
}

/* ---- members -------------------------------------------------------------------------- */

/* `"key": "text"`, or null for NULL. Every member starts with its own separator. */
static void member_text(FILE *out, const char *before, const char *key, const char *text)
{
    fprintf(out, "%s\"%s\": ", before, key);
    if (text != NULL) {
        tms_json_string(text, strlen(text), to_stream, out);
    } else {
        fputs("null", out);
    }
}

static void member_number(FILE *out, const char *before, const char *key, uint64_t value)
{
    fprintf(out, "%s\"%s\": %" PRIu64, before, key, value);
}

static void member_seconds(FILE *out, const char *before, double seconds)
{
    fprintf(out, "%s\"seconds\": %.6f", before, seconds);
}

static const char *yes_or_no(bool value)
{
    return value ? "true" : "false";
}

static const char *name_of(const struct tms_report_job *job, enum tms_class cls, uint32_t id)
{
    return tms_name(job->names, cls, id, NULL);
}

/* ---- findings ------------------------------------------------------------------------- */

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
    tms_json_string(text.at, text.length, to_stream, out);
}

static void write_frame(FILE *out, const struct tms_stack_frame *frame)
{
    member_part(out, "{", "function", frame->function);
    if (frame->file.length > 0 && frame->line.length > 0) {
        member_part(out, ", ", "file", frame->file);
        fprintf(out, ", \"line\": %.*s", (int)frame->line.length, frame->line.at);
    }
    fputc('}', out);
}

/* How the program came to an event; the innermost frame has the function of its location. */
static void write_stack(const struct tms_report_job *job, uint32_t id)
{
    const char *stack = name_of(job, TMS_CLASS_STACK, id);
    struct tms_stack_frame frame;

    for (size_t i = 0; tms_stack_next(&stack, &frame); i++) {
        if (i == 0) {
            member_part(job->out, ", ", "function", frame.function);
        }
        if (i == 0 && frame.source.length > 0) {
            member_part(job->out, ", ", "source", frame.source);
        }
        fputs(i == 0 ? ", \"stack\": [" : ", ", job->out);
        write_frame(job->out, &frame);
    }
    fputs(id != 0 ? "]" : "", job->out);
}

static void write_location(const struct tms_report_job *job, const char *key, uint32_t id,
                           uint32_t stack)
{
    char number[TMS_NUMBER_SIZE];
    const char *location = tms_name(job->names, TMS_CLASS_LOCATION, id, number);
    const char *colon = line_part(location);

    if (id == 0) {
        return;
    }
    fprintf(job->out, ", \"%s\": {", key);
    member_text(job->out, "", "location", location);
    if (colon != NULL) {
        fputs(", \"file\": ", job->out);
        tms_json_string(location, (size_t)(colon - location), to_stream, job->out);
        fprintf(job->out, ", \"line\": %s", colon + 1);
    }
    write_stack(job, stack);
    fputc('}', job->out);
}

static void put_transaction(const struct tms_report_job *job,
                            const struct tms_transaction *transaction)
{
    const char *label = name_of(job, TMS_CLASS_LABEL, transaction->label);

    member_text(job->out, "{", "thread", name_of(job, TMS_CLASS_THREAD, transaction->thread));
    member_text(job->out, ", ", "label", transaction->unary ? NULL : label);
    member_number(job->out, ", ", "begin_event", transaction->begin_event);
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
    member_text(job->out, ", ", "kind", tms_edge_text((enum tms_edge_kind)step->kind));
    member_text(job->out, ", ", "on", step->on != 0 ? name_of(job, cls, step->on) : NULL);
    member_number(job->out, ", ", "first_event", step->first_event);
    member_number(job->out, ", ", "second_event", step->second_event);
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
        const char *name = name_of(job, TMS_CLASS_LOCK, finding->held[i]);
        fputs(i == 0 ? ", \"held\": [" : ", ", job->out);
        tms_json_string(name, strlen(name), to_stream, job->out);
    }
    fputs(finding->held_count > 0 ? "]" : "", job->out);
}

/* An event at its place in a schedule that was not observed. */
static void write_turn(const struct tms_report_job *job, const struct tms_turn *turn)
{
    enum tms_event_kind kind = (enum tms_event_kind)turn->kind;
    const char *on = name_of(job, tms_event_class(kind), turn->target);

    member_number(job->out, "{", "event", turn->event);
    member_text(job->out, ", ", "thread", name_of(job, TMS_CLASS_THREAD, turn->thread));
    member_text(job->out, ", ", "kind", tms_event_text(kind));
    member_text(job->out, ", ", "on", turn->target != 0 ? on : NULL);
    member_text(job->out, ", ", "role", turn->role);
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

/* A member that is there only if there is something to tell. */
static void member_if(FILE *out, const char *key, const char *text)
{
    if (text != NULL) {
        member_text(out, ", ", key, text);
    }
}

static void write_finding(const struct tms_report_job *job, const struct tms_result *result,
                          const struct tms_finding *finding)
{
    FILE *out = job->out;

    member_text(out, "{", "id", finding->id);
    member_number(out, ", ", "count", finding->count);
    member_text(out, ", ", "kind", finding->kind);
    member_text(out, ", ", "evidence", tms_evidence_text(finding->evidence));
    member_number(out, ", ", "event", finding->event);
    member_text(out, ", ", "thread", name_of(job, TMS_CLASS_THREAD, finding->thread));
    write_transaction(job, ", ", "transaction", &finding->transaction);
    fprintf(out, ", \"not_atomic\": %s", result->blamed ? yes_or_no(finding->not_atomic) : "null");
    if (result->blamed && finding->not_atomic) {
        fputs(", \"refuted\": ", out);
        write_refuted(job, finding);
    }
    write_held(job, finding);
    fputs(", \"cycle\": ", out);
    write_cycle(job, finding);
    write_schedule(job, finding);
    member_if(out, "caveat", finding->caveat);
    member_if(out, "same_as", finding->same_as);
    fputc('}', out);
}

/* ---- results and trace ---------------------------------------------------------------- */

static void write_stats(FILE *out, const struct tms_result *result)
{
    double rate = result->seconds > 0 ? (double)result->events / result->seconds : 0;

    fputs(", \"stats\": {", out);
    member_seconds(out, "", result->seconds);
    fprintf(out, ", \"events_per_second\": %.0f", rate);
    member_number(out, ", ", "peak_memory_bytes", result->memory_bytes);
    fputs(", \"counters\": {", out);
    for (size_t i = 0; i < result->counter_count; i++) {
        member_number(out, i > 0 ? ", " : "", result->counters[i].name, result->counters[i].value);
    }
    fputs("}}", out);
}

static void write_result(const struct tms_report_job *job, const struct tms_result *result)
{
    FILE *out = job->out;

    member_text(out, "{", "engine", result->engine->name);
    member_text(out, ", ", "verdict", tms_verdict_text(result->verdict));
    fprintf(out, ", \"complete\": %s", yes_or_no(result->complete));
    member_text(out, ", ", "loss", result->loss);
    fputs(", \"first_violation_event\": ", out);
    if (result->first_violation_event != 0) {
        fprintf(out, "%" PRIu64, result->first_violation_event);
    } else {
        fputs("null", out);
    }
    member_number(out, ", ", "violation_count", result->violations);
    member_number(out, ", ", "closing_edges", result->closing_edges);
    member_number(out, ", ", "unlisted", result->unlisted);
    member_if(out, "assumption", result->assumption);
    fputs(", \"violations\": [", out);
    for (size_t i = 0; i < result->finding_count; i++) {
        fputs(i > 0 ? ", " : "", out);
        write_finding(job, result, &result->findings[i]);
    }
    fputc(']', out);
    write_stats(out, result);
    fputc('}', out);
}

/* A number that a watched program does not count. */
static void member_counted(FILE *out, const char *key, uint64_t value, bool counted)
{
    if (counted) {
        member_number(out, ", ", key, value);
    } else {
        member_text(out, ", ", key, NULL);
    }
}

static void write_trace(const struct tms_report_job *job, const struct tms_trace_summary *summary)
{
    FILE *out = job->out;

    member_text(out, ", \"trace\": {", "path", job->settings->path);
    member_text(out, ", ", "format", job->settings->format);
    member_counted(out, "events", summary->events, !summary->rough || summary->events > 0);
    member_number(out, ", ", "threads", summary->threads);
    member_counted(out, "variables", summary->variables, !summary->rough);
    member_counted(out, "locks", summary->locks, !summary->rough);
    member_number(out, ", ", "transactions", summary->transactions);
    member_number(out, ", ", "not_atomic", summary->not_atomic);
    member_counted(out, "unary", summary->unary, !summary->rough);
    member_number(out, ", ", "skipped", summary->skipped);
    member_seconds(out, ", ", summary->seconds);
    member_text(out, ", ", "loss", tms_analysis_loss(job->analysis));
    if (job->settings->blocks != NULL) {
        member_text(out, ", ", "blocks", job->settings->blocks);
    }
    fputc('}', out);
}

int tms_report_json(const struct tms_report_job *job)
{
    struct tms_trace_summary summary;
    const struct tms_result *result;

    tms_analysis_summary(job->analysis, &summary);
    fputs("{\"schema\": 1, \"tool\": \"tmesis\"", job->out);
    member_text(job->out, ", ", "version", tms_version());
    write_trace(job, &summary);
    fputs(", \"results\": [", job->out);
    for (size_t i = 0; (result = tms_analysis_result(job->analysis, i)) != NULL; i++) {
        fputs(i > 0 ? ", " : "", job->out);
        write_result(job, result);
    }
    fputs("]}\n", job->out);
    return TMS_OK;
}
