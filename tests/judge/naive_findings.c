/* SPDX-License-Identifier: Apache-2.0 */
/* Findings out of occurrences: counts, levels, objects, functions and ids of docs/user/judge.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "judge/naive.h"

/* ---- Objects and ids --------------------------------------------------------------------- */

static void copy(char *to, size_t size, const char *from, size_t length)
{
    size_t whole = strnlen(from, length < size - 1 ? length : size - 1);

    memmove(to, from, whole);
    to[whole] = '\0';
}

/* "@05.test/Main.count_I": the number of the object, and the dot after it. */
static const char *behind_object_number(const char *name)
{
    size_t digits = name[0] == '@' ? strspn(name + 1, "0123456789abcdef") : 0;

    return digits > 0 && name[1 + digits] == '.' ? name + digits + 2 : NULL;
}

void naive_object(const char *variable, char *object, size_t size)
{
    size_t at = 1, depth = 0;

    if (strncmp(variable, "heap:", 5) == 0) {
        copy(object, size, variable, strcspn(variable, "#"));
        return;
    }
    if (behind_object_number(variable) != NULL) {
        copy(object, size, behind_object_number(variable), SIZE_MAX);
        return;
    }
    depth = variable[0] == '<' || variable[0] == '(';
    for (; variable[at] != '\0'; at++) {
        bool arrow = variable[at] == '-' && variable[at + 1] == '>';
        if (depth == 0 && (arrow || strchr(".[+#@", variable[at]) != NULL)) {
            break;
        }
        depth += variable[at] == '<' || variable[at] == '(';
        depth -=
            depth > 0 && variable[at - 1] != '-' && (variable[at] == '>' || variable[at] == ')');
    }
    copy(object, size, variable, at);
}

static void drop_template_arguments(char *text)
{
    char *to = text;
    size_t depth = 0;

    for (const char *from = text; *from != '\0'; from++) {
        depth += *from == '<';
        if (depth == 0) {
            *to++ = *from;
        }
        depth -= depth > 0 && *from == '>';
    }
    *to = '\0';
}

static bool ends_with(const char *text, size_t length, const char *suffix)
{
    size_t size = strlen(suffix);

    return length >= size && strncmp(text + length - size, suffix, size) == 0;
}

/* The length without one clone suffix at the end, or without a blank. */
static size_t without_suffix(const char *text, size_t length)
{
    static const char *const numbered[] = {".constprop.", ".isra.", ".part.", ".cold.",
                                           ".lto_priv."};
    size_t bare = length;

    if (ends_with(text, length, " ")) {
        return length - 1;
    }
    if (ends_with(text, length, ".cold")) {
        return length - strlen(".cold");
    }
    if (ends_with(text, length, "]")) {
        const char *clone = strstr(text, "[clone ");
        return clone != NULL ? (size_t)(clone - text) : length;
    }
    while (bare > 0 && strchr("0123456789", text[bare - 1]) != NULL) {
        bare--;
    }
    for (size_t i = 0; bare < length && i < sizeof(numbered) / sizeof(numbered[0]); i++) {
        if (ends_with(text, bare, numbered[i])) {
            return bare - strlen(numbered[i]);
        }
    }
    return length;
}

void naive_function(const char *label, char *function, size_t size)
{
    copy(function, size, label, SIZE_MAX);
    drop_template_arguments(function);
    for (size_t length = strlen(function), shorter;; length = shorter) {
        shorter = without_suffix(function, length);
        if (shorter == length) {
            function[length] = '\0';
            copy(function, size, length == 0 ? "?" : function, SIZE_MAX);
            return;
        }
    }
}

uint64_t naive_hash(const char *function, const char *object, const char *other)
{
    char text[3 * NAIVE_TEXT];
    int length = snprintf(text, sizeof(text), "%s%c%s", function, 0, object);

    if (other[0] != '\0') {
        length += snprintf(text + length, sizeof(text) - (size_t)length, "%c%s", 0, other);
    }
    return XXH3_64bits(text, (size_t)length);
}

/* ---- findings ---------------------------------------------------------------------------- */

static void objects_of(const struct naive *naive, const struct naive_occurrence *occurrence,
                       char objects[2][NAIVE_TEXT])
{
    char one[NAIVE_TEXT], other[NAIVE_TEXT] = "";

    naive_object(tms_name(naive->context, TMS_CLASS_VARIABLE, occurrence->variable, NULL), one,
                 sizeof(one));
    if (occurrence->other != 0) {
        naive_object(tms_name(naive->context, TMS_CLASS_VARIABLE, occurrence->other, NULL), other,
                     sizeof(other));
    }
    bool same = strcmp(one, other) == 0, swapped = other[0] != '\0' && strcmp(one, other) > 0;
    memcpy(objects[0], swapped ? other : one, NAIVE_TEXT);
    memcpy(objects[1], swapped ? one : other, NAIVE_TEXT);
    if (same) {
        objects[1][0] = '\0';
    }
}

static size_t finding_of(struct naive *naive, const struct naive_occurrence *occurrence)
{
    size_t block = naive->activations[occurrence->activation].block;
    char objects[2][NAIVE_TEXT];
    size_t at = 0;

    objects_of(naive, occurrence, objects);
    while (at < naive->finding_count &&
           !(naive->findings[at].block == block &&
             strcmp(naive->findings[at].objects[0], objects[0]) == 0 &&
             strcmp(naive->findings[at].objects[1], objects[1]) == 0)) {
        at++;
    }
    if (at == naive->finding_count) {
        struct naive_finding *finding = &naive->findings[naive->finding_count++];
        *finding = (struct naive_finding){.block = block};
        memcpy(finding->objects, objects, sizeof(objects));
        finding->hash = naive_hash(naive->blocks[block].function, objects[0], objects[1]);
    }
    return at;
}

/* Each activation counts once for each finding. */
static void count_cuts(struct naive *naive)
{
    for (size_t i = 0; i < naive->occurrence_count; i++) {
        const struct naive_occurrence *occurrence = &naive->occurrences[i];
        bool again = false;
        for (size_t j = 0; j < i; j++) {
            again = again || (naive->occurrences[j].finding == occurrence->finding &&
                              naive->occurrences[j].activation == occurrence->activation);
        }
        naive->findings[occurrence->finding].cut += !again;
        naive->activations[occurrence->activation].cut = true;
    }
}

static void find_interleaved(struct naive *naive, size_t at)
{
    struct naive_block *block = &naive->blocks[at];
    uint64_t counted = 0, cut = 0;

    for (size_t i = 0; i < naive->activation_count; i++) {
        const struct naive_activation *activation = &naive->activations[i];
        if (activation->block == at && !activation->delayed) {
            counted++;
            cut += activation->cut;
        }
    }
    block->interleaved =
        block->driver && (2 * block->same > block->executions || counted < 4 || 2 * cut >= counted);
}

/* The level in the end. */
static enum tms_level final_level(const struct naive *naive,
                                  const struct naive_occurrence *occurrence)
{
    const struct naive_finding *finding = &naive->findings[occurrence->finding];
    const struct naive_block *block = &naive->blocks[finding->block];
    uint64_t undisturbed = block->executions - finding->cut;

    if (block->interleaved || occurrence->initial ||
        naive_at_waiting_place(naive, occurrence->own[1])) {
        return TMS_LEVEL_NOTE;
    }
    if (occurrence->pattern == TMS_PATTERN_INTERMEDIATE_VALUE_SEEN) {
        const struct tms_event *p = &naive->events[occurrence->own[0]];
        const struct tms_event *q = &naive->events[occurrence->own[1]];
        bool again = p->location != 0 && p->location == q->location;
        bool rare = undisturbed >= 50 && 10 * finding->cut <= undisturbed && !again;
        return rare ? TMS_LEVEL_WARNING : TMS_LEVEL_NOTE;
    }
    bool together = occurrence->culprit != NAIVE_NONE &&
                    !naive->blocks[naive->activations[occurrence->culprit].block].driver;
    return occurrence->other == 0 || together ? occurrence->level : TMS_LEVEL_NOTE;
}

static void set_level(struct naive *naive, struct naive_occurrence *occurrence)
{
    struct naive_finding *finding = &naive->findings[occurrence->finding];
    enum tms_level *known = &finding->levels[occurrence->pattern];

    occurrence->level = final_level(naive, occurrence);
    finding->patterns |= 1u << occurrence->pattern;
    *known = occurrence->level > *known ? occurrence->level : *known;
    finding->level = *known > finding->level ? *known : finding->level;
}

void naive_conclude(struct naive *naive)
{
    naive->findings = naive_array(naive->occurrence_count, sizeof(*naive->findings));
    for (size_t i = 0; i < naive->occurrence_count; i++) {
        naive->occurrences[i].finding = finding_of(naive, &naive->occurrences[i]);
    }
    count_cuts(naive);
    for (size_t i = 0; i < naive->block_count; i++) {
        find_interleaved(naive, i);
    }
    for (size_t i = 0; i < naive->occurrence_count; i++) {
        set_level(naive, &naive->occurrences[i]);
    }
}
