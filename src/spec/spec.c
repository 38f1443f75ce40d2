/* SPDX-License-Identifier: Apache-2.0 */
/* Specifications: their rules, and the files that hold them; see spec.h. */
#include "spec/spec.h"

#include <string.h>

#include "base/context.h"
#include "spec/glob.h"
#include "spec/rule_lines.h"

#define RULES_LEAST 16

struct rule {
    uint32_t pattern; /* ids in texts */
    uint32_t path;    /* 0: from no file */
    uint64_t line;
    bool atomic;
    bool matched;
};

struct tms_spec {
    struct tms_context *context;
    struct tms_names texts; /* patterns and paths */
    struct rule *rules;
    size_t count, capacity;
    char sentence[TMS_MESSAGE_SIZE]; /* of tms_spec_unmatched */
};

static const char *const words[] = {[false] = "not-atomic", [true] = "atomic"};

int tms_spec_new(struct tms_context *context, struct tms_spec **out)
{
    struct tms_spec *spec = tms_resize(&context->memory, NULL, 0, 1, sizeof(*spec));

    *out = NULL;
    if (spec == NULL) {
        return tms_fail_memory(context);
    }
    spec->context = context;
    if (tms_names_init(&spec->texts, &context->memory) != TMS_OK) {
        tms_spec_free(spec);
        return tms_fail_memory(context);
    }
    *out = spec;
    return TMS_OK;
}

void tms_spec_free(struct tms_spec *spec)
{
    if (spec == NULL) {
        return;
    }
    struct tms_memory *memory = &spec->context->memory;
    tms_names_clear(&spec->texts);
    tms_release(memory, spec->rules, spec->capacity, sizeof(*spec->rules));
    tms_release(memory, spec, 1, sizeof(*spec));
}

/* ---- asking ----------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *label)
{
    return (label[0] == '\0' && strcmp(pattern, TMS_SPEC_NO_LABEL) == 0) ||
           tms_glob_names(pattern, label);
}

enum tms_spec_answer tms_spec_ask(struct tms_spec *spec, const char *label)
{
    enum tms_spec_answer answer = TMS_SPEC_DEFAULT, otherwise = TMS_SPEC_DEFAULT;

    for (size_t i = 0; i < spec->count; i++) {
        struct rule *rule = &spec->rules[i];
        if (rule->atomic) {
            otherwise = TMS_SPEC_NOT_ATOMIC;
        }
        if (matches(tms_names_text(&spec->texts, rule->pattern), label)) {
            rule->matched = true;
            answer = rule->atomic ? TMS_SPEC_ATOMIC : TMS_SPEC_NOT_ATOMIC;
        }
    }
    return answer != TMS_SPEC_DEFAULT ? answer : otherwise;
}

const char *tms_spec_rule(const struct tms_spec *spec, size_t index, bool *atomic)
{
    if (index >= spec->count) {
        return NULL;
    }
    *atomic = spec->rules[index].atomic;
    return tms_names_text(&spec->texts, spec->rules[index].pattern);
}

const char *tms_spec_unmatched(struct tms_spec *spec, size_t index)
{
    size_t at = 0;

    while (at < spec->count && (spec->rules[at].matched || index-- > 0)) {
        at++;
    }
    if (at == spec->count) {
        return NULL;
    }
    const struct rule *rule = &spec->rules[at];
    struct tms_rule_place place = {.line = rule->line};
    if (rule->path != 0) {
        place.path = tms_names_text(&spec->texts, rule->path);
    }
    tms_rule_quote(spec->sentence, sizeof(spec->sentence), words[rule->atomic],
                   tms_names_text(&spec->texts, rule->pattern), &place);
    return spec->sentence;
}

/* ---- adding ----------------------------------------------------------------------------- */

static int add(struct tms_spec *spec, const struct tms_rule_place *place, bool atomic,
               struct tms_span pattern)
{
    int code = tms_rule_pattern(spec->context, place, pattern);

    if (code != TMS_OK) {
        return code;
    }
    int64_t id = tms_names_intern(&spec->texts, pattern.at, pattern.length);
    if (id < 0 || !TMS_RESERVE(&spec->context->memory, &spec->rules, &spec->capacity,
                               spec->count + 1, RULES_LEAST)) {
        return tms_fail_memory(spec->context);
    }
    spec->rules[spec->count++] = (struct rule){
        .pattern = (uint32_t)id, .path = place->path_id, .line = place->line, .atomic = atomic};
    return TMS_OK;
}

int tms_spec_add(struct tms_spec *spec, bool atomic, const char *pattern)
{
    return add(spec, &(struct tms_rule_place){0}, atomic,
               (struct tms_span){pattern, strlen(pattern)});
}

/* ---- files ------------------------------------------------------------------------------ */

static int take_rule(void *user, const struct tms_rule_place *place, struct tms_span rule)
{
    struct tms_spec *spec = user;
    char quoted[TMS_QUOTE_SIZE];
    size_t atomic = 0;

    while (atomic < 2 && !tms_rule_take_word(&rule, words[atomic])) {
        atomic++;
    }
    if (atomic == 2) {
        return tms_rule_refuse(spec->context, place, TMS_ERR_SYNTAX,
                               "expected \"atomic PATTERN\" or \"not-atomic PATTERN\", found "
                               "\"%s\"",
                               tms_lines_quote(rule, quoted));
    }
    if (rule.length == 0) {
        return tms_rule_refuse(spec->context, place, TMS_ERR_SYNTAX,
                               "expected a pattern after \"%s\", found the end of the line",
                               words[atomic]);
    }
    return add(spec, place, atomic != 0, rule);
}

int tms_spec_load(struct tms_spec *spec, const char *path)
{
    const struct tms_rule_file file = {spec->context, &spec->texts, "specification", take_rule,
                                       spec};
    size_t before = spec->count;
    int code = tms_rule_lines(&file, path);

    if (code != TMS_OK) {
        spec->count = before;
    }
    return code;
}
