/* SPDX-License-Identifier: Apache-2.0 */
/* Suppressions, from the command line to the library and back; see suppress_options.h. */
#include "cli/suppress_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "cli/output_file.h"
#include "cli/spec_options.h"

/* ---- rules ---------------------------------------------------------------------------- */

static const struct {
    const char *option;
    enum tms_suppression kind;
} shorthands[] = {
    {"ignore-block", TMS_SUPPRESS_BLOCK},   {"ignore-lock", TMS_SUPPRESS_LOCK},
    {"ignore-file", TMS_SUPPRESS_FILE},     {"ignore-variable", TMS_SUPPRESS_VARIABLE},
    {"ignore-object", TMS_SUPPRESS_OBJECT},
};

static int add(const struct tms_suppress *suppress, const struct tms_given_value *value)
{
    const char *option = value->option->name;
    enum tms_suppression kind = TMS_SUPPRESS_ID;

    if (tms_given_file(value)) {
        return tms_suppressions_load(suppress->list, value->text) == TMS_OK
                   ? TMS_EXIT_OK
                   : tms_bad("%s", tms_error(suppress->context));
    }
    for (size_t i = 0; i < sizeof(shorthands) / sizeof(shorthands[0]); i++) {
        kind = strcmp(shorthands[i].option, option) == 0 ? shorthands[i].kind : kind;
    }
    return tms_suppressions_add(suppress->list, kind, value->text) == TMS_OK
               ? TMS_EXIT_OK
               : tms_bad("--%s: %s", option, tms_error(suppress->context));
}

int tms_suppress_open(struct tms_suppress *suppress, const struct tms_suppressing *suppressing)
{
    const struct tms_given *given = &suppressing->rules;
    int status = TMS_EXIT_OK;

    *suppress = (struct tms_suppress){.output = suppressing->output};
    if (given->count == 0 && suppress->output == NULL) {
        return TMS_EXIT_OK;
    }
    suppress->context = tms_context_new(tms_console_complain, NULL);
    if (suppress->output != NULL) {
        suppress->lines = open_memstream(&suppress->text, &suppress->size);
    }
    if (suppress->context == NULL || (suppress->output != NULL && suppress->lines == NULL) ||
        (given->count > 0 && tms_suppressions_new(suppress->context, &suppress->list) != TMS_OK)) {
        return tms_bad("out of memory");
    }
    for (size_t i = 0; i < given->count && status == TMS_EXIT_OK; i++) {
        status = add(suppress, &given->values[i]);
    }
    return status;
}

void tms_suppress_close(struct tms_suppress *suppress)
{
    if (suppress->lines != NULL) {
        fclose(suppress->lines);
    }
    free(suppress->text);
    tms_suppressions_free(suppress->list);
    tms_context_free(suppress->context);
    *suppress = (struct tms_suppress){0};
}

void tms_suppress_warn(const struct tms_suppress *suppress)
{
    const char *rule;

    for (size_t i = 0;
         suppress->list != NULL && (rule = tms_suppressions_unused(suppress->list, i)) != NULL;
         i++) {
        tms_say("no finding matches the suppression %s", rule);
    }
}

bool tms_suppress_spares(const struct tms_suppressing *suppressing,
                         const struct tms_operands *inputs, const struct tms_given *rules,
                         const char *other)
{
    const char *output = suppressing->output;

    if (output == NULL) {
        return true;
    }
    if (other != NULL && tms_new_file_twice(output, other)) {
        tms_say(
            "--write-suppressions and another output can't both go to %s; write to another file",
            strcmp(output, "-") == 0 ? "standard output" : output);
        return false;
    }
    return tms_new_file_spares(output, inputs, rules) &&
           tms_new_file_spares(output, NULL, &suppressing->rules);
}

/* ---- findings as rules ---------------------------------------------------------------- */

struct writer {
    FILE *out;
    const struct tms_context *names;
};

static void write_name(const struct writer *writer, enum tms_class cls, uint32_t id)
{
    char number[TMS_NUMBER_SIZE];

    tms_console_name(writer->out, tms_name(writer->names, cls, id, number));
}

static void write_block(const struct writer *writer, const struct tms_finding *finding)
{
    const struct tms_transaction *block = finding->refuted_count > 0
                                              ? &finding->refuted[finding->refuted_count - 1]
                                              : &finding->transaction;

    if (block->unary) {
        fputs("an event outside any block", writer->out);
    } else if (block->label == 0) {
        fputs("a block without a label", writer->out);
    } else {
        write_name(writer, TMS_CLASS_LABEL, block->label);
    }
}

/* What the block was cut on: that of a judgement, or the first of the cycle or the schedule. */
static void write_subject(const struct writer *writer, const struct tms_finding *finding)
{
    const struct tms_judgement *judgement = finding->judgement;

    if (judgement != NULL && judgement->variable != 0) {
        fputs(", ", writer->out);
        write_name(writer, TMS_CLASS_VARIABLE, judgement->variable);
        if (judgement->other != 0) {
            fputs(" and ", writer->out);
            write_name(writer, TMS_CLASS_VARIABLE, judgement->other);
        }
    } else if (judgement != NULL && judgement->lock != 0) {
        fputs(", lock ", writer->out);
        write_name(writer, TMS_CLASS_LOCK, judgement->lock);
    } else if (finding->cycle_length > 0 && finding->cycle[0].on != 0) {
        enum tms_class cls = (enum tms_class)finding->cycle[0].on_class;
        fprintf(writer->out, ", %s ", tms_class_text(cls));
        write_name(writer, cls, finding->cycle[0].on);
    }
}

void tms_suppress_describe(FILE *out, const struct tms_context *names,
                           const struct tms_finding *finding)
{
    const struct writer writer = {out, names};
    const struct tms_judgement *judgement = finding->judgement;

    fputs(judgement != NULL ? tms_level_text(judgement->level)
                            : tms_evidence_text(finding->evidence),
          out);
    if (judgement != NULL && finding->evidence != TMS_EVIDENCE_OBSERVED) {
        fprintf(out, " (%s)", tms_evidence_text(finding->evidence));
    }
    fputs(": ", out);
    write_block(&writer, finding);
    write_subject(&writer, finding);
    if (judgement != NULL) {
        fprintf(out, ", %s", tms_pattern_text(judgement->pattern));
    }
}

/* Is it the first with this id? Ids are names that the context has not seen yet. */
static bool is_new(const struct tms_suppress *suppress, const char *id)
{
    uint32_t before = tms_name_count(suppress->context, TMS_CLASS_OBJECT);

    return tms_intern(suppress->context, TMS_CLASS_OBJECT, id, strlen(id)) > (int64_t)before;
}

void tms_suppress_take(struct tms_suppress *suppress, const struct tms_analysis *analysis)
{
    const struct tms_context *names = tms_analysis_context(analysis);
    const struct tms_result *result;

    for (size_t i = 0;
         suppress->lines != NULL && (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        for (size_t j = 0; j < result->finding_count + result->known + result->suppressed; j++) {
            const struct tms_finding *finding = &result->findings[j];
            /* The rule for a finding that replaces another one suppresses both. */
            if (finding->judged == NULL && finding->same_as == NULL &&
                is_new(suppress, finding->id)) {
                fputs("\n# ", suppress->lines);
                tms_suppress_describe(suppress->lines, names, finding);
                fprintf(suppress->lines, "\nid %s\n", finding->id);
            }
        }
    }
}

int tms_suppress_write(struct tms_suppress *suppress, const char *command)
{
    struct tms_new_file file;

    if (suppress->lines == NULL) {
        return TMS_EXIT_OK;
    }
    bool failed = fclose(suppress->lines) != 0;
    suppress->lines = NULL;
    if (failed) {
        return tms_bad("out of memory");
    }
    if (tms_new_file_open_text(&file, suppress->output) != TMS_EXIT_OK) {
        return TMS_EXIT_BAD;
    }
    fprintf(file.stream.out, "# Findings of ");
    tms_console_name(file.stream.out, command);
    fputs("\n# --suppress=FILE suppresses all of them: delete the rules of those to be reported.\n",
          file.stream.out);
    fwrite(suppress->text, 1, suppress->size, file.stream.out);
    return tms_new_file_close(&file);
}
