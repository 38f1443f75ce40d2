/* SPDX-License-Identifier: Apache-2.0 */
/* Suppressions: their rules, the files that hold them, and what they match; see suppressions.h. */
#include "spec/suppressions.h"

#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "spec/glob.h"
#include "spec/identity.h"
#include "spec/rule_lines.h"

#define RULES_LEAST 16
#define ID_PREFIX   "AV-"
#define ID_LEAST    6 /* digits */
#define ID_MOST     32
#define NAME_MOST   4096 /* longer names are matched only literally */

struct rule {
    uint32_t pattern; /* ids in texts */
    uint32_t path;    /* 0: from no file */
    uint64_t line;
    enum tms_suppression kind;
    bool used;
};

struct tms_suppressions {
    struct tms_context *context;
    struct tms_names texts; /* patterns and paths */
    struct rule *rules;
    size_t count, capacity;
    bool found;                      /* some finding was looked at, … */
    bool stacks;                     /* … and one had a call stack with objects */
    char sentence[TMS_MESSAGE_SIZE]; /* of tms_suppressions_unused */
};

static const char *const words[] = {
#define X(name, text) [TMS_SUPPRESS_##name] = text,
    TMS_SUPPRESSIONS(X)
#undef X
};
#define KINDS (sizeof(words) / sizeof(words[0]))

int tms_suppressions_new(struct tms_context *context, struct tms_suppressions **out)
{
    struct tms_suppressions *made = tms_resize(&context->memory, NULL, 0, 1, sizeof(*made));

    *out = NULL;
    if (made == NULL) {
        return tms_fail_memory(context);
    }
    made->context = context;
    if (tms_names_init(&made->texts, &context->memory) != TMS_OK) {
        tms_suppressions_free(made);
        return tms_fail_memory(context);
    }
    *out = made;
    return TMS_OK;
}

void tms_suppressions_free(struct tms_suppressions *suppressions)
{
    if (suppressions == NULL) {
        return;
    }
    struct tms_memory *memory = &suppressions->context->memory;
    tms_names_clear(&suppressions->texts);
    tms_release(memory, suppressions->rules, suppressions->capacity, sizeof(struct rule));
    tms_release(memory, suppressions, 1, sizeof(*suppressions));
}

/* ---- adding ----------------------------------------------------------------------------- */

static bool is_id(struct tms_span text)
{
    size_t prefix = strlen(ID_PREFIX);
    size_t digits = text.length > prefix ? text.length - prefix : 0;
    bool good = digits >= ID_LEAST && digits <= ID_MOST && memcmp(text.at, ID_PREFIX, prefix) == 0;

    for (size_t i = prefix; good && i < text.length; i++) {
        good = text.at[i] != '\0' && strchr("0123456789abcdef", text.at[i]) != NULL;
    }
    return good;
}

/* TMS_OK, or a code if the pattern is invalid for that kind of rule. */
static int check(const struct tms_suppressions *suppressions, const struct tms_rule_place *place,
                 enum tms_suppression kind, struct tms_span pattern)
{
    char quoted[TMS_QUOTE_SIZE];

    if (kind != TMS_SUPPRESS_ID) {
        return tms_rule_pattern(suppressions->context, place, pattern);
    }
    return is_id(pattern)
               ? TMS_OK
               : tms_rule_refuse(suppressions->context, place,
                                 place->path != NULL ? TMS_ERR_SYNTAX : TMS_ERR_ARGUMENT,
                                 "expected the id of a finding, such as AV-3f2a91, found \"%s\"",
                                 tms_lines_quote(pattern, quoted));
}

static int add(struct tms_suppressions *suppressions, const struct tms_rule_place *place,
               enum tms_suppression kind, struct tms_span pattern)
{
    int code = check(suppressions, place, kind, pattern);

    if (code != TMS_OK) {
        return code;
    }
    int64_t id = tms_names_intern(&suppressions->texts, pattern.at, pattern.length);
    if (id < 0 || !TMS_RESERVE(&suppressions->context->memory, &suppressions->rules,
                               &suppressions->capacity, suppressions->count + 1, RULES_LEAST)) {
        return tms_fail_memory(suppressions->context);
    }
    suppressions->rules[suppressions->count++] = (struct rule){
        .pattern = (uint32_t)id, .path = place->path_id, .line = place->line, .kind = kind};
    return TMS_OK;
}

int tms_suppressions_add(struct tms_suppressions *suppressions, enum tms_suppression kind,
                         const char *pattern)
{
    if ((size_t)kind >= KINDS) {
        return tms_fail(suppressions->context, TMS_ERR_ARGUMENT,
                        "there is no such kind of suppression");
    }
    return add(suppressions, &(struct tms_rule_place){0}, kind,
               (struct tms_span){pattern, strlen(pattern)});
}

static int take_rule(void *user, const struct tms_rule_place *place, struct tms_span rule)
{
    struct tms_suppressions *suppressions = user;
    char quoted[TMS_QUOTE_SIZE];
    size_t kind = 0;

    while (kind < KINDS && !tms_rule_take_word(&rule, words[kind])) {
        kind++;
    }
    if (kind == KINDS) {
        return tms_rule_refuse(suppressions->context, place, TMS_ERR_SYNTAX,
                               "expected \"block\", \"lock\", \"variable\", \"file\" or "
                               "\"object\" and a pattern, or \"id\" and an id, found \"%s\"",
                               tms_lines_quote(rule, quoted));
    }
    if (rule.length == 0) {
        return tms_rule_refuse(suppressions->context, place, TMS_ERR_SYNTAX,
                               "expected %s after \"%s\", found the end of the line",
                               kind == TMS_SUPPRESS_ID ? "an id" : "a pattern", words[kind]);
    }
    return add(suppressions, place, (enum tms_suppression)kind, rule);
}

int tms_suppressions_load(struct tms_suppressions *suppressions, const char *path)
{
    const struct tms_rule_file file = {suppressions->context, &suppressions->texts,
                                       "file of suppressions", take_rule, suppressions};
    size_t before = suppressions->count;
    int code = tms_rule_lines(&file, path);

    if (code != TMS_OK) {
        suppressions->count = before;
    }
    return code;
}

/* ---- matching --------------------------------------------------------------------------- */

/* A rule and the finding that it is matched with. */
struct test {
    const struct tms_context *names;
    const struct tms_finding *finding;
    const char *pattern;
};

/*
 * Matches the name itself, or what `cut` extracts from it: the object of a variable, a bare
 * function.
 */
static bool matches_either(const char *pattern, const char *name,
                           size_t (*cut)(const char *name, char *text))
{
    char text[NAME_MOST];

    return tms_glob_names(pattern, name) ||
           (strlen(name) < sizeof(text) && cut(name, text) > 0 && tms_glob_names(pattern, text));
}

static bool matches_name(const struct test *test, enum tms_class cls, uint32_t id)
{
    return id != 0 && matches_either(test->pattern, tms_name(test->names, cls, id, NULL),
                                     cls == TMS_CLASS_LABEL ? tms_function_text : tms_object_text);
}

static bool matches_text(const struct test *test, const char *text)
{
    return text != NULL && tms_glob_names(test->pattern, text);
}

/* A path, or the name at its end. */
static bool matches_path(const struct test *test, const char *path, size_t length)
{
    const char *slash = memrchr(path, '/', length);
    size_t before = slash != NULL ? (size_t)(slash + 1 - path) : 0;

    return length > 0 && (tms_glob_matches(test->pattern, path, length) ||
                          tms_glob_matches(test->pattern, path + before, length - before));
}

/* The innermost block that was interleaved. */
static bool matches_block(const struct test *test)
{
    const struct tms_finding *finding = test->finding;
    const struct tms_transaction *block = finding->refuted_count > 0
                                              ? &finding->refuted[finding->refuted_count - 1]
                                              : &finding->transaction;

    if (block->unary) {
        return false;
    }
    return block->label == 0 ? strcmp(test->pattern, "\"\"") == 0
                             : matches_name(test, TMS_CLASS_LABEL, block->label);
}

/*
 * Matches a name of that class on which a step of the cycle conflicts, or that an event of the
 * schedule has.
 */
static bool passes_through(const struct test *test, enum tms_class cls)
{
    const struct tms_finding *finding = test->finding;
    bool found = false;

    for (size_t i = 0; i < finding->cycle_length && !found; i++) {
        const struct tms_step *step = &finding->cycle[i];
        found = step->on_class == cls &&
                (matches_name(test, cls, step->on) || matches_name(test, cls, step->on_alias));
    }
    for (size_t i = 0; i < finding->schedule_length && !found; i++) {
        const struct tms_turn *turn = &finding->schedule[i];
        found = tms_event_class((enum tms_event_kind)turn->kind) == cls &&
                matches_name(test, cls, turn->target);
    }
    return found;
}

static bool matches_lock(const struct test *test)
{
    const struct tms_judgement *judgement = test->finding->judgement;
    bool ordered = judgement != NULL && judgement->variable == 0; /* nothing but locks */

    return passes_through(test, TMS_CLASS_LOCK) ||
           (ordered && matches_name(test, TMS_CLASS_LOCK, judgement->lock));
}

static bool matches_variable(const struct test *test)
{
    const struct tms_judgement *judgement = test->finding->judgement;

    if (judgement == NULL) {
        return passes_through(test, TMS_CLASS_VARIABLE);
    }
    return matches_name(test, TMS_CLASS_VARIABLE, judgement->variable) ||
           matches_name(test, TMS_CLASS_VARIABLE, judgement->other) ||
           (judgement->variable != 0 &&
            (matches_text(test, judgement->object) || matches_text(test, judgement->other_object)));
}

/* "bank.c" of "bank.c:12"; a location that is only a number, or an address, has no file. */
static bool is_in_file(const struct test *test, uint32_t location)
{
    char number[TMS_NUMBER_SIZE];
    const char *text = tms_name(test->names, TMS_CLASS_LOCATION, location, number);
    const char *colon = strrchr(text, ':');

    return colon != NULL && matches_path(test, text, (size_t)(colon - text));
}

/* The shared library of the innermost frame. */
static bool is_in_object(const struct test *test, uint32_t stack)
{
    const char *text = tms_name(test->names, TMS_CLASS_STACK, stack, NULL);
    size_t length = strcspn(text, "\n");
    const char *at = text;

    for (int field = 1; field < TMS_STACK_FIELDS && at != NULL; field++) {
        at = memchr(at, '\t', length - (size_t)(at - text));
        at = at != NULL ? at + 1 : NULL;
    }
    return at != NULL && matches_path(test, at, strcspn(at, "\t\n"));
}

/* Is one of the block's own events there? */
static bool some_event(const struct test *test,
                       bool (*is_at)(const struct test *test, uint32_t location, uint32_t stack))
{
    const struct tms_finding *finding = test->finding;
    const struct tms_judgement *judgement = finding->judgement;
    bool found = false;

    if (finding->cycle_length > 0) {
        const struct tms_step *first = &finding->cycle[0];
        const struct tms_step *last = &finding->cycle[finding->cycle_length - 1];
        found = is_at(test, first->first_location, first->first_stack) ||
                is_at(test, last->second_location, last->second_stack);
    }
    for (size_t i = 0; judgement != NULL && i < judgement->own_count && !found; i++) {
        found = is_at(test, judgement->own[i].location, judgement->own[i].stack);
    }
    for (size_t i = 0; i < finding->schedule_length && !found; i++) {
        const struct tms_turn *turn = &finding->schedule[i];
        found =
            turn->thread == finding->transaction.thread && is_at(test, turn->location, turn->stack);
    }
    return found;
}

static bool event_in_file(const struct test *test, uint32_t location, uint32_t stack)
{
    (void)stack;
    return is_in_file(test, location);
}

static bool matches_file(const struct test *test)
{
    return is_in_file(test, test->finding->transaction.location) || some_event(test, event_in_file);
}

static bool event_in_object(const struct test *test, uint32_t location, uint32_t stack)
{
    (void)location;
    return is_in_object(test, stack);
}

static bool matches_object(const struct test *test)
{
    return some_event(test, event_in_object);
}

static bool matches_id(const struct test *test)
{
    const struct tms_finding *finding = test->finding;

    return (finding->id != NULL && strcmp(finding->id, test->pattern) == 0) ||
           (finding->judged != NULL && strcmp(finding->judged, test->pattern) == 0);
}

static bool (*const matchers[])(const struct test *test) = {
    [TMS_SUPPRESS_BLOCK] = matches_block,       [TMS_SUPPRESS_LOCK] = matches_lock,
    [TMS_SUPPRESS_VARIABLE] = matches_variable, [TMS_SUPPRESS_FILE] = matches_file,
    [TMS_SUPPRESS_OBJECT] = matches_object,     [TMS_SUPPRESS_ID] = matches_id,
};

static bool has_stack(const struct test *test, uint32_t location, uint32_t stack)
{
    (void)test;
    (void)location;
    return stack != 0;
}

bool tms_suppressions_match(struct tms_suppressions *suppressions, const struct tms_context *names,
                            const struct tms_finding *finding)
{
    struct test test = {names, finding, NULL};
    bool matched = false;

    suppressions->found = true;
    suppressions->stacks = suppressions->stacks || some_event(&test, has_stack);
    for (size_t i = 0; i < suppressions->count; i++) {
        struct rule *rule = &suppressions->rules[i];
        test.pattern = tms_names_text(&suppressions->texts, rule->pattern);
        if (matchers[rule->kind](&test)) {
            rule->used = true;
            matched = true;
        }
    }
    return matched;
}

bool tms_suppressions_have(const struct tms_suppressions *suppressions, enum tms_suppression kind)
{
    for (size_t i = 0; suppressions != NULL && i < suppressions->count; i++) {
        if (suppressions->rules[i].kind == kind) {
            return true;
        }
    }
    return false;
}

bool tms_suppressions_lock(struct tms_suppressions *suppressions, const char *name)
{
    bool matched = false;

    for (size_t i = 0; i < suppressions->count; i++) {
        struct rule *rule = &suppressions->rules[i];
        if (rule->kind == TMS_SUPPRESS_LOCK &&
            matches_either(tms_names_text(&suppressions->texts, rule->pattern), name,
                           tms_object_text)) {
            rule->used = true;
            matched = true;
        }
    }
    return matched;
}

const char *tms_suppressions_unused(struct tms_suppressions *suppressions, size_t index)
{
    size_t at = 0;

    while (at < suppressions->count && (suppressions->rules[at].used || index-- > 0)) {
        at++;
    }
    if (at == suppressions->count) {
        return NULL;
    }
    const struct rule *rule = &suppressions->rules[at];
    struct tms_rule_place place = {.line = rule->line};
    char *sentence = suppressions->sentence;
    if (rule->path != 0) {
        place.path = tms_names_text(&suppressions->texts, rule->path);
    }
    tms_rule_quote(sentence, sizeof(suppressions->sentence), words[rule->kind],
                   tms_names_text(&suppressions->texts, rule->pattern), &place);
    if (rule->kind == TMS_SUPPRESS_OBJECT && suppressions->found && !suppressions->stacks) {
        size_t length = strlen(sentence);
        snprintf(sentence + length, sizeof(suppressions->sentence) - length,
                 ": shared libraries are known only from call stacks, and there were none");
    }
    return sentence;
}
