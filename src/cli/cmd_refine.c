/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmesis refine: the largest specification that the traces satisfy. Each round checks all traces
 * and drops every label with a block that was not atomic, until nothing changes. A dropped block is
 * replaced by the blocks nested in it, so the next round may find more.
 *
 * It ends: a round that is not the last drops at least one label, and a dropped one never comes
 * back, since its rule comes after all given ones.
 *
 * Instead of traces a program may be given. It is run with every access recorded, and `judge`
 * checks the recordings first: labels with an error or a warning are never dropped, since there the
 * program is wrong, not the specification.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check_job.h"
#include "cli/console.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/predict_options.h"
#include "cli/refine_runs.h"
#include "cli/refuted_labels.h"
#include "cli/spec_options.h"
#include "tmesis/tmesis.h"

struct values {
    struct tms_common common;
    const char *engine;
    const char *output;
    struct tms_maybe json;
    struct tms_reading reading;
    struct tms_given rules;
    struct tms_program_options program;
};

#define AT(field) offsetof(struct values, field)

/*
 * Only engines that point at a transaction of this very run: those that blame, and those that show
 * the cycle.
 */
static const char *word_engine(size_t index)
{
    const unsigned names = TMS_ENGINE_BLAMES | TMS_ENGINE_BLAMES_SOME | TMS_ENGINE_WITNESS;
    const struct tms_engine_info *engine;

    for (size_t i = 0; (engine = tms_engine_info(i)) != NULL; i++) {
        bool observes = engine->found == TMS_VERDICT_VIOLATION;
        if (observes && (engine->flags & names) != 0 && index-- == 0) {
            return engine->name;
        }
    }
    return NULL;
}

static const struct tms_option options[] = {
    {.name = "engine",
     .type = TMS_OPTION_CHOICE,
     .at = AT(engine),
     .initial = "frontier",
     .word = word_engine,
     .value = "NAME",
     .help = "which engine decides which blocks are not atomic; tmesis engines describes them"},
    {.name = "output",
     .letter = 'o',
     .type = TMS_OPTION_TEXT,
     .at = AT(output),
     .value = "FILE",
     .help = "where to write the specification; default, and \"-\": standard output"},
    {.name = "json",
     .type = TMS_OPTION_MAYBE,
     .at = AT(json),
     .value = "FILE",
     .help = "write rounds and labels as a JSON object, to standard output (the specification "
             "then needs a file) or to FILE"},
    TMS_SPEC_OPTIONS(AT(rules)),
    TMS_READING_OPTIONS(AT(reading)),
    {.name = "runs",
     .type = TMS_OPTION_COUNT,
     .at = AT(program.runs),
     .initial = "1",
     .least = 1,
     .most = 1000,
     .value = "N",
     .help = "run PROGRAM N times, and use all runs"},
    {.name = "perturb",
     .type = TMS_OPTION_MAYBE,
     .at = AT(program.perturb),
     .environment = true,
     .value = "SEED",
     .help = "delay threads of PROGRAM at random inside blocks, so that other threads interleave "
             "more often; the same SEED repeats the same delays"},
    {0}};

/* What one round over all traces found; the columns of the table. */
struct round {
    uint64_t traces;     /* that are not serializable */
    uint64_t labels;     /* dropped after it */
    uint64_t violations; /* transactions that are not atomic */
    uint64_t unblamed;   /* cycles without a block at fault */
    uint64_t transactions;
    double seconds; /* in the engine */
};

struct refinement {
    const struct values *values;
    const struct tms_operands *traces;
    bool is_program; /* the operands are a program, and these its recordings: */
    struct tms_program_runs program;
    struct tms_kept kept;
    struct tms_settings settings;
    struct tms_rules rules;
    struct tms_drops drops;
    struct round *rounds;
    size_t round_count;
    int status; /* over all traces and rounds */
};

/* ---- rounds --------------------------------------------------------------------------- */

/* An engine without blame points at the transaction that completes the cycle. */
static bool somebody_to_blame(const struct tms_result *result, const struct tms_finding *finding)
{
    return !finding->transaction.unary && (!result->blamed || finding->not_atomic);
}

static bool take_findings(struct refinement *refinement, const struct tms_checking *checking,
                          struct round *round)
{
    const struct tms_result *result = tms_analysis_result(checking->analysis, 0);
    struct tms_drops *drops = &refinement->drops;
    struct tms_trace_summary summary;
    bool good = tms_drops_trace(drops, checking);

    for (size_t i = 0; i < result->finding_count && good; i++) {
        const struct tms_finding *finding = &result->findings[i];
        if (somebody_to_blame(result, finding)) {
            round->violations += finding->count;
            good = tms_drops_add(drops, checking, result, finding, refinement->round_count);
        } else {
            round->unblamed += finding->count;
        }
    }
    tms_analysis_summary(checking->analysis, &summary);
    round->traces += result->verdict == TMS_VERDICT_VIOLATION;
    round->transactions += summary.transactions;
    round->seconds += result->seconds;
    return good;
}

/* Only the first round reports problems of a trace; the others would repeat them. */
static void say_loss(const struct refinement *refinement, const struct tms_checking *checking)
{
    const struct tms_result *result = tms_analysis_result(checking->analysis, 0);

    if (refinement->round_count == 1 && result->loss != NULL) {
        tms_say("%s: not everything was checked: %s", checking->path, result->loss);
    }
}

/* A trace that is checked: a file, or a recording of the program. */
struct source {
    struct tms_checking checking;
    struct tms_process_result process;
};

static size_t source_count(const struct refinement *refinement)
{
    return refinement->is_program ? refinement->program.trace_count : refinement->traces->count;
}

static const char *source_name(const struct refinement *refinement, size_t index)
{
    return refinement->is_program ? refinement->program.traces[index].title
                                  : refinement->traces->text[index];
}

static void close_source(const struct refinement *refinement, struct source *source)
{
    if (refinement->is_program) {
        tms_program_checked(&source->checking, &source->process);
    } else {
        tms_checking_free(&source->checking);
    }
}

/* TMS_EXIT_OK: it was checked. Otherwise the status after a sentence. close_source is due. */
static int check_source(const struct refinement *refinement, size_t index,
                        const struct tms_settings *settings, struct source *source)
{
    const struct values *values = refinement->values;
    bool first = refinement->round_count <= 1;
    int code;

    *source = (struct source){.checking.path = source_name(refinement, index)};
    if (refinement->is_program) {
        code = tms_program_check(&refinement->program, index, settings, &source->checking,
                                 &source->process);
    } else {
        code = tms_checking_run(&source->checking, &values->reading, settings, &values->common,
                                first ? tms_console_complain : NULL);
    }
    if (code == TMS_ERR_IO && refinement->is_program) {
        return TMS_EXIT_INCOMPLETE;
    }
    return code == TMS_OK ? TMS_EXIT_OK
                          : tms_checking_bad(&source->checking, code, &values->reading);
}

/* The exit status of refine: a block was cut; of a program: data was affected. */
static const struct tms_fail_on by_definition = {.level = TMS_LEVEL_NOTE,
                                                 .evidence = TMS_EVIDENCE_OBSERVED};
static const struct tms_fail_on by_data = {.level = TMS_LEVEL_WARNING,
                                           .evidence = TMS_EVIDENCE_OBSERVED};

static int check_trace(struct refinement *refinement, size_t index, struct round *round)
{
    struct source source;
    int status = check_source(refinement, index, &refinement->settings, &source);

    if (status == TMS_EXIT_OK && !take_findings(refinement, &source.checking, round)) {
        status = tms_bad("%s: out of memory", source.checking.path);
    } else if (status == TMS_EXIT_OK) {
        say_loss(refinement, &source.checking);
        status = tms_checking_status(&source.checking, &by_definition);
        status = refinement->is_program && status == TMS_EXIT_VIOLATION ? TMS_EXIT_OK : status;
    }
    close_source(refinement, &source);
    return status;
}

/* ---- a program ------------------------------------------------------------------------ */

static int judge_trace(struct refinement *refinement, size_t index)
{
    struct tms_settings settings = refinement->settings;
    struct source source;

    settings.engines = TMS_JUDGE;
    int status = check_source(refinement, index, &settings, &source);
    if (status == TMS_EXIT_OK) {
        status = tms_kept_take(&refinement->kept, &source.checking)
                     ? tms_checking_status(&source.checking, &by_data)
                     : tms_bad("%s: out of memory", source.checking.path);
    }
    close_source(refinement, &source);
    return status;
}

/* Runs the program and determines the labels to keep. */
static int start_program(struct refinement *refinement)
{
    const struct values *values = refinement->values;
    int status = tms_program_run(&refinement->program, &values->program, refinement->traces,
                                 values->reading.split, values->common.quiet);

    for (size_t i = 0; i < source_count(refinement) && status != TMS_EXIT_BAD; i++) {
        status = tms_console_worse(status, judge_trace(refinement, i));
    }
    for (size_t i = 0; i < refinement->kept.count && status != TMS_EXIT_BAD; i++) {
        const struct tms_kept_label *label = &refinement->kept.list[i];
        tms_say("%s (%s): it stays atomic", label->reason, label->id);
    }
    refinement->drops.kept = &refinement->kept;
    refinement->status = status;
    return status;
}

/* ---- all of them ---------------------------------------------------------------------- */

static struct round *add_round(struct refinement *refinement)
{
    size_t size = (refinement->round_count + 1) * sizeof(*refinement->rounds);
    struct round *rounds = realloc(refinement->rounds, size);

    if (rounds == NULL) {
        return NULL;
    }
    refinement->rounds = rounds;
    struct round *round = &rounds[refinement->round_count++];
    *round = (struct round){0};
    return round;
}

/* Rules change only between rounds: all traces of a round are held to the same. */
static int run_round(struct refinement *refinement)
{
    size_t known = refinement->drops.count;
    struct round *round = add_round(refinement);
    int status = round != NULL ? TMS_EXIT_OK : tms_bad("out of memory");

    for (size_t i = 0; i < source_count(refinement) && status != TMS_EXIT_BAD; i++) {
        status = tms_console_worse(status, check_trace(refinement, i, round));
    }
    if (status == TMS_EXIT_BAD) {
        return status;
    }
    round->labels = refinement->drops.count - known;
    return tms_drops_exclude(&refinement->drops, known, refinement->rules.spec)
               ? status
               : tms_bad("out of memory");
}

static const struct round *last_round(const struct refinement *refinement)
{
    return &refinement->rounds[refinement->round_count - 1];
}

static int run_rounds(struct refinement *refinement)
{
    do {
        refinement->status = tms_console_worse(refinement->status, run_round(refinement));
    } while (refinement->status != TMS_EXIT_BAD && last_round(refinement)->labels > 0);
    return refinement->status;
}

/* ---- output --------------------------------------------------------------------- */

static void write_row(FILE *out, const struct round *round, const char *name)
{
    fprintf(out, "%5s %8" PRIu64 " %8" PRIu64 " %11" PRIu64 " %9" PRIu64 " %11" PRIu64 " %9.3f\n",
            name, round->traces, round->labels, round->violations, round->unblamed,
            round->transactions, round->seconds);
}

/* Traces and blocks of the first round: later ones only have fewer. */
static struct round sum_of(const struct refinement *refinement)
{
    struct round sum = {.traces = refinement->rounds[0].traces,
                        .transactions = refinement->rounds[0].transactions,
                        .unblamed = last_round(refinement)->unblamed};

    for (size_t i = 0; i < refinement->round_count; i++) {
        sum.labels += refinement->rounds[i].labels;
        sum.violations += refinement->rounds[i].violations;
        sum.seconds += refinement->rounds[i].seconds;
    }
    return sum;
}

static void write_table(const struct refinement *refinement)
{
    struct round sum = sum_of(refinement);

    fprintf(stderr, "%5s %8s %8s %11s %9s %11s %9s\n", "round", "traces", "labels", "violations",
            "unblamed", "blocks", "seconds");
    for (size_t i = 0; i < refinement->round_count; i++) {
        char name[24];
        snprintf(name, sizeof(name), "%zu", i + 1);
        write_row(stderr, &refinement->rounds[i], name);
    }
    write_row(stderr, &sum, "total");
    tms_console_wrap(stderr, 0,
                     "traces: not serializable; labels: distinct violations, dropped after the "
                     "round; violations: blocks that were cut; unblamed: cycles without a block "
                     "at fault (total: those left); blocks: transactions.");
    fputc('\n', stderr);
}

static void say_outcome(const struct refinement *refinement)
{
    const struct values *values = refinement->values;
    struct round sum = sum_of(refinement);
    uint64_t left = last_round(refinement)->unblamed;

    tms_say("%s, %zu round%s: %" PRIu64 " label%s not atomic, %" PRIu64 " block%s cut",
            values->engine, refinement->round_count, refinement->round_count == 1 ? "" : "s",
            sum.labels, sum.labels == 1 ? " is" : "s are", sum.violations,
            sum.violations == 1 ? "" : "s");
    if (left > 0) {
        tms_say("still not serializable: %" PRIu64
                " violation%s left in which %s finds no single block at fault, so "
                "there is no label to drop",
                left, left == 1 ? " is" : "s are", values->engine);
    }
}

static void write_text_member(FILE *out, const char *before, const char *name, const char *text)
{
    fprintf(out, "%s\"%s\": ", before, name);
    tms_json_string(text, strlen(text), tms_console_sink, out);
}

static void write_json_rounds(const struct refinement *refinement, FILE *out)
{
    for (size_t i = 0; i < refinement->round_count; i++) {
        const struct round *round = &refinement->rounds[i];
        fprintf(out,
                "%s{\"round\": %zu, \"traces\": %" PRIu64 ", \"labels\": %" PRIu64
                ", \"violations\": %" PRIu64 ", \"unblamed\": %" PRIu64
                ", \"transactions\": %" PRIu64 ", \"seconds\": %.6f}",
                i > 0 ? ", " : "", i + 1, round->traces, round->labels, round->violations,
                round->unblamed, round->transactions, round->seconds);
    }
}

static void write_json_labels(const struct refinement *refinement, FILE *out)
{
    for (size_t i = 0; i < refinement->drops.count; i++) {
        const struct tms_dropped *dropped = &refinement->drops.list[i];
        fputs(i > 0 ? ", {" : "{", out);
        if (*dropped->label != '\0') {
            write_text_member(out, "", "label", dropped->label);
        } else {
            fputs("\"label\": null", out);
        }
        fprintf(out, ", \"round\": %zu, \"violations\": %" PRIu64, dropped->round,
                dropped->violations);
        write_text_member(out, ", ", "reason", dropped->reason);
        write_text_member(out, ", ", "location", dropped->location);
        write_text_member(out, ", ", "trace", dropped->trace);
        fprintf(out, ", \"event\": %" PRIu64 "}", dropped->event);
    }
}

static void write_json(const struct refinement *refinement, FILE *out)
{
    fputs("{\"schema\": 1, \"tool\": \"tmesis\"", out);
    write_text_member(out, ", ", "version", tms_version());
    write_text_member(out, ", ", "engine", refinement->values->engine);
    fputs(", \"traces\": [", out);
    for (size_t i = 0; i < source_count(refinement); i++) {
        const char *path = source_name(refinement, i);
        fputs(i > 0 ? ", " : "", out);
        tms_json_string(path, strlen(path), tms_console_sink, out);
    }
    fputs("], \"rounds\": [", out);
    write_json_rounds(refinement, out);
    fputs("], \"not_atomic\": [", out);
    write_json_labels(refinement, out);
    fprintf(out, "], \"unblamed\": %" PRIu64, last_round(refinement)->unblamed);
    if (refinement->is_program) {
        fputs(", \"kept\": ", out);
        tms_kept_write_json(&refinement->kept, out);
    }
    fputs("}\n", out);
}

static void write_specification(const struct refinement *refinement, FILE *out)
{
    uint64_t left = last_round(refinement)->unblamed;

    fprintf(out,
            "# What is meant to be atomic, made by tmesis refine with %s in %zu round%s from\n",
            refinement->values->engine, refinement->round_count,
            refinement->round_count == 1 ? "" : "s");
    for (size_t i = 0; i < source_count(refinement); i++) {
        fputs("#   ", out);
        tms_console_name(out, source_name(refinement, i));
        fputc('\n', out);
    }
    fprintf(out,
            "# If several rules match a label, the last applies. Labels found not atomic: %zu\n",
            refinement->drops.count);
    if (left > 0) {
        fprintf(out,
                "# Still not serializable, without a block at fault: %" PRIu64 " violation%s\n",
                left, left == 1 ? "" : "s");
    }
    tms_kept_write(&refinement->kept, out);
    tms_drops_write(&refinement->drops, refinement->rules.spec, out);
}

static int write_all(const struct refinement *refinement, struct tms_new_file *output,
                     struct tms_new_file *json)
{
    if (!refinement->values->common.quiet) {
        tms_rules_warn(&refinement->rules);
        write_table(refinement);
    }
    say_outcome(refinement);
    write_specification(refinement, output->stream.out);
    int status = tms_new_file_close(output);
    if (json->stream.out != NULL) {
        write_json(refinement, json->stream.out);
        status = tms_console_worse(status, tms_new_file_close(json));
    }
    return tms_console_worse(refinement->status, status);
}

/* ---- the command ---------------------------------------------------------------------- */

static bool is_standard_output(const char *path)
{
    return path == NULL || strcmp(path, "-") == 0;
}

/* The program itself is an input, its arguments are none. */
static bool usage_is_good(const struct values *values, const struct tms_operands *operands,
                          bool is_program)
{
    const struct tms_operands inputs = {operands->text, is_program ? 1 : operands->count};
    const struct tms_operands *traces = &inputs;

    for (size_t i = 0; i < traces->count; i++) {
        if (strcmp(traces->text[i], "-") == 0) {
            tms_say("refine reads its traces several times, so standard input (\"-\") is not "
                    "possible; put "
                    "it into a file first");
            return false;
        }
    }
    if (values->json.given && tms_new_file_twice(values->json.value, values->output)) {
        tms_say("the specification and --json can't both go to %s; write the "
                "specification to another file with -o FILE",
                is_standard_output(values->output) ? "standard output" : values->output);
        return false;
    }
    return tms_standard_input_once(traces, &values->rules, NULL) &&
           tms_new_file_spares(values->output, traces, &values->rules) &&
           (!values->json.given || tms_new_file_spares(values->json.value, traces, &values->rules));
}

/* Without rules from the user there is still a specification, of no rule yet. */
static int open_rules(struct refinement *refinement)
{
    struct tms_rules *rules = &refinement->rules;
    int status = tms_rules_open(rules, &refinement->values->rules);

    if (status == TMS_EXIT_OK && rules->spec == NULL) {
        rules->context = tms_context_new(NULL, NULL);
        if (rules->context == NULL || tms_spec_new(rules->context, &rules->spec) != TMS_OK) {
            return tms_bad("out of memory");
        }
    }
    refinement->settings.spec = rules->spec;
    return status;
}

static void set_up(struct refinement *refinement)
{
    struct tms_settings *settings = &refinement->settings;

    tms_settings_init(settings);
    settings->expect_blocks = true;
    settings->engines = refinement->values->engine;
    /* A pattern may have violations with a block at fault and without. Programs have too many. */
    settings->all = !refinement->is_program;
    tms_reading_settings(&refinement->values->reading, settings);
}

static int run(const void *all_values, const struct tms_operands *traces)
{
    const struct values *values = all_values;
    struct refinement refinement = {.values = values, .traces = traces};
    struct tms_new_file output = {0}, json = {0};

    refinement.is_program = values->common.dashes && tms_program_is_there(traces);
    if (!usage_is_good(values, traces, refinement.is_program)) {
        return TMS_EXIT_BAD;
    }
    set_up(&refinement);
    int status = open_rules(&refinement);
    if (status == TMS_EXIT_OK) {
        status = tms_new_file_open_text(&output, values->output);
    }
    if (status == TMS_EXIT_OK && values->json.given) {
        status = tms_new_file_open_text(&json, values->json.value);
    }
    if (status == TMS_EXIT_OK && refinement.is_program) {
        status = start_program(&refinement);
    }
    if (status != TMS_EXIT_BAD) {
        status = run_rounds(&refinement);
    }
    if (status != TMS_EXIT_BAD) {
        status = write_all(&refinement, &output, &json);
    }
    tms_new_file_abandon(&output);
    tms_new_file_abandon(&json);
    tms_drops_clear(&refinement.drops);
    tms_kept_clear(&refinement.kept);
    tms_program_free(&refinement.program);
    tms_rules_close(&refinement.rules);
    free(refinement.rounds);
    return status;
}

const struct tms_command tms_command_refine = {
    .name = "refine",
    .group = TMS_GROUP_TRACE,
    .summary = "find the largest specification that a trace or program satisfies",
    .usage = "TRACE… | -- PROGRAM [ARGUMENT…]",
    .about =
        "Checks all TRACEs, removes each label with a block that was not atomic from the "
        "specification, and repeats this until nothing changes. Writes the result as a "
        "specification file for --spec, with the reason for each removed label. A table of the "
        "rounds goes to standard error. With a PROGRAM, runs it (once, or --runs times), records "
        "every access, and uses these recordings as traces; labels in which judge finds an error "
        "or a warning are named and stay atomic.\n\n"
        "Exit status: 2 if a trace can't be read or the specification can't be written, else 1 if "
        "there was a violation in any round (of a program: an error or a warning), else 3 if a "
        "verdict is incomplete, else 0.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .run = run,
};
