/* SPDX-License-Identifier: Apache-2.0 */
/* Specifications: their rules, and the files that hold them; see spec.h. */
#include "spec/spec.h"

#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "spec/glob.h"
#include "trace/input.h"
#include "trace/lines.h"

#define LINE_MOST   (1u << 20)
#define RULES_LEAST 16

/* How much of a pattern, and of the path before it, messages show. */
#define SHOWN_MOST 300

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

/* Nothing unprintable in a message. */
static void blot(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) {
            *text = '?';
        }
    }
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
    int length =
        snprintf(spec->sentence, sizeof(spec->sentence), "%s \"%.*s\"", words[rule->atomic],
                 SHOWN_MOST, tms_names_text(&spec->texts, rule->pattern));
    if (rule->path != 0) {
        snprintf(spec->sentence + length, sizeof(spec->sentence) - (size_t)length, " (%.*s:%llu)",
                 SHOWN_MOST, tms_names_text(&spec->texts, rule->path),
                 (unsigned long long)rule->line);
    }
    blot(spec->sentence);
    return spec->sentence;
}

/* ---- adding ----------------------------------------------------------------------------- */

/* Where rules come from: a line of a file, or a caller. */
struct place {
    const char *path; /* NULL: a caller */
    uint32_t path_id;
    uint64_t line;
};

__attribute__((format(printf, 4, 5))) static int
refuse(struct tms_spec *spec, const struct place *place, int code, const char *format, ...)
{
    char message[TMS_MESSAGE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (place->path == NULL) {
        return tms_fail(spec->context, code, "%s", message);
    }
    return tms_fail(spec->context, code, "%s:%llu: %s", place->path,
                    (unsigned long long)place->line, message);
}

static int add(struct tms_spec *spec, const struct place *place, bool atomic,
               struct tms_span pattern)
{
    const char *fault = tms_glob_fault(pattern.at, pattern.length);
    char quoted[TMS_QUOTE_SIZE];

    if (fault != NULL) {
        return refuse(spec, place, place->path != NULL ? TMS_ERR_SYNTAX : TMS_ERR_ARGUMENT,
                      "the pattern \"%s\" %s", tms_lines_quote(pattern, quoted), fault);
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
    return add(spec, &(struct place){0}, atomic, (struct tms_span){pattern, strlen(pattern)});
}

/* ---- files ------------------------------------------------------------------------------ */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Without the comment, and without blanks around it; a blank behind a backslash stays. */
static struct tms_span strip(struct tms_span line)
{
    while (line.length > 0 && is_blank(line.at[0])) {
        line.at++;
        line.length--;
    }
    for (size_t i = 0; i < line.length; i++) {
        if (line.at[i] == '#' && (i == 0 || is_blank(line.at[i - 1]))) {
            line.length = i;
        }
    }
    while (line.length > 0 && is_blank(line.at[line.length - 1]) &&
           tms_glob_fault(line.at, line.length - 1) == NULL) {
        line.length--;
    }
    return line;
}

/* Takes "atomic" or "not-atomic" and the blanks behind it off the line. */
static bool take_word(struct tms_span *line, bool *atomic)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i]);
        if (line->length >= length && memcmp(line->at, words[i], length) == 0 &&
            (line->length == length || is_blank(line->at[length]))) {
            *atomic = i;
            *line = strip((struct tms_span){line->at + length, line->length - length});
            return true;
        }
    }
    return false;
}

static int add_line(struct tms_spec *spec, const struct place *place, struct tms_span line)
{
    char quoted[TMS_QUOTE_SIZE];
    struct tms_span rule = strip(line);
    bool atomic;

    if (memchr(line.at, '\0', line.length) != NULL) {
        return refuse(spec, place, TMS_ERR_SYNTAX,
                      "expected lines of text, found a zero byte; this is not a specification");
    }
    if (rule.length == 0) {
        return TMS_OK;
    }
    if (!take_word(&rule, &atomic)) {
        return refuse(spec, place, TMS_ERR_SYNTAX,
                      "expected \"atomic PATTERN\" or \"not-atomic PATTERN\", found \"%s\"",
                      tms_lines_quote(rule, quoted));
    }
    if (rule.length == 0) {
        return refuse(spec, place, TMS_ERR_SYNTAX,
                      "expected a pattern behind \"%s\", found the end of the line", words[atomic]);
    }
    return add(spec, place, atomic, rule);
}

/* The next line with its end, if it has one: 1, 0 at the end of the input, or a code. */
static int next_line(struct tms_spec *spec, struct tms_input *input, const struct place *place,
                     struct tms_span *line)
{
    for (int more = 1;;) {
        size_t there = (size_t)(input->end - input->at);
        const char *end = memchr(input->at, '\n', there);
        *line = (struct tms_span){input->at, end != NULL ? (size_t)(end + 1 - input->at) : there};
        if (line->length > LINE_MOST) {
            return refuse(spec, place, TMS_ERR_SYNTAX,
                          "expected a rule, found a line longer than 1 MiB; this is not a "
                          "specification");
        }
        if (end != NULL || more == 0) {
            input->at += line->length;
            return line->length > 0;
        }
        more = tms_input_more(input);
        if (more < 0) {
            return more;
        }
    }
}

static void drop_line_end(struct tms_span *line)
{
    line->length -= line->at[line->length - 1] == '\n';
    line->length -= line->length > 0 && line->at[line->length - 1] == '\r';
}

static void drop_byte_order_mark(struct tms_span *line)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t length = strlen(mark);

    if (line->length >= length && memcmp(line->at, mark, length) == 0) {
        line->at += length;
        line->length -= length;
    }
}

static int add_lines(struct tms_spec *spec, struct tms_input *input, struct place *place)
{
    struct tms_span line;
    int code;

    for (place->line = 1; (code = next_line(spec, input, place, &line)) == 1; place->line++) {
        drop_line_end(&line);
        if (place->line == 1) {
            drop_byte_order_mark(&line);
        }
        code = add_line(spec, place, line);
        if (code != TMS_OK) {
            return code;
        }
    }
    if (code == 0 && tms_input_cut(input)) {
        return refuse(spec, place, TMS_ERR_SYNTAX,
                      "the compressed data is cut off; get the file again");
    }
    return code;
}

int tms_spec_load(struct tms_spec *spec, const char *path)
{
    struct place place = {.path = tms_input_name(path)};
    struct tms_input input;
    size_t before = spec->count;
    int64_t id = tms_names_intern(&spec->texts, place.path, strlen(place.path));

    if (id < 0) {
        return tms_fail_memory(spec->context);
    }
    place.path_id = (uint32_t)id;
    int code = tms_input_open(spec->context, path, &input);
    if (code != TMS_OK) {
        return code;
    }
    code = add_lines(spec, &input, &place);
    tms_input_close(&input);
    if (code != TMS_OK) {
        spec->count = before;
    }
    return code;
}
