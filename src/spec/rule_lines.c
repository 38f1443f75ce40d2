/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of rule files; see rule_lines.h. */
#include "spec/rule_lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "spec/glob.h"
#include "trace/input.h"

#define LINE_MOST (1u << 20)

/* How much of a pattern, and of the path before it, messages show. */
#define SHOWN_MOST 300

int tms_rule_refuse(struct tms_context *context, const struct tms_rule_place *place, int code,
                    const char *format, ...)
{
    char message[TMS_MESSAGE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (place->path == NULL) {
        return tms_fail(context, code, "%s", message);
    }
    return tms_fail(context, code, "%s:%llu: %s", place->path, (unsigned long long)place->line,
                    message);
}

/* Replaces unprintable characters in a message. */
static void blot(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) {
            *text = '?';
        }
    }
}

void tms_rule_quote(char *sentence, size_t size, const char *word, const char *pattern,
                    const struct tms_rule_place *place)
{
    int length = snprintf(sentence, size, "%s \"%.*s\"", word, SHOWN_MOST, pattern);

    if (place->path != NULL) {
        snprintf(sentence + length, size - (size_t)length, " (%.*s:%llu)", SHOWN_MOST, place->path,
                 (unsigned long long)place->line);
    }
    blot(sentence);
}

int tms_rule_pattern(struct tms_context *context, const struct tms_rule_place *place,
                     struct tms_span pattern)
{
    const char *fault = tms_glob_fault(pattern.at, pattern.length);
    char quoted[TMS_QUOTE_SIZE];

    return fault == NULL
               ? TMS_OK
               : tms_rule_refuse(context, place,
                                 place->path != NULL ? TMS_ERR_SYNTAX : TMS_ERR_ARGUMENT,
                                 "the pattern \"%s\" %s", tms_lines_quote(pattern, quoted), fault);
}

/* ---- lines ------------------------------------------------------------------------------ */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Strips the comment and surrounding blanks; a blank after a backslash stays. */
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

bool tms_rule_take_word(struct tms_span *rule, const char *word)
{
    size_t length = strlen(word);

    if (rule->length < length || memcmp(rule->at, word, length) != 0 ||
        (rule->length > length && !is_blank(rule->at[length]))) {
        return false;
    }
    *rule = strip((struct tms_span){rule->at + length, rule->length - length});
    return true;
}

static int take_line(const struct tms_rule_file *file, const struct tms_rule_place *place,
                     struct tms_span line)
{
    struct tms_span rule = strip(line);

    if (memchr(line.at, '\0', line.length) != NULL) {
        return tms_rule_refuse(file->context, place, TMS_ERR_SYNTAX,
                               "expected lines of text, found a zero byte; this is not a %s",
                               file->what);
    }
    return rule.length > 0 ? file->take(file->user, place, rule) : TMS_OK;
}

/* The next line with its end, if it has one: 1, 0 at the end of the input, or a code. */
static int next_line(const struct tms_rule_file *file, struct tms_input *input,
                     const struct tms_rule_place *place, struct tms_span *line)
{
    for (int more = 1;;) {
        size_t there = (size_t)(input->end - input->at);
        const char *end = memchr(input->at, '\n', there);
        *line = (struct tms_span){input->at, end != NULL ? (size_t)(end + 1 - input->at) : there};
        if (line->length > LINE_MOST) {
            return tms_rule_refuse(file->context, place, TMS_ERR_SYNTAX,
                                   "expected a rule, found a line longer than 1 MiB; this is not "
                                   "a %s",
                                   file->what);
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

static int take_lines(const struct tms_rule_file *file, struct tms_input *input,
                      struct tms_rule_place *place)
{
    struct tms_span line;
    int code;

    for (place->line = 1; (code = next_line(file, input, place, &line)) == 1; place->line++) {
        drop_line_end(&line);
        if (place->line == 1) {
            drop_byte_order_mark(&line);
        }
        code = take_line(file, place, line);
        if (code != TMS_OK) {
            return code;
        }
    }
    if (code == 0 && tms_input_cut(input)) {
        return tms_rule_refuse(file->context, place, TMS_ERR_SYNTAX,
                               "the compressed data is cut off; get the file again");
    }
    return code;
}

int tms_rule_lines(const struct tms_rule_file *file, const char *path)
{
    struct tms_rule_place place = {.path = tms_input_name(path)};
    struct tms_input input;
    int64_t id = tms_names_intern(file->texts, place.path, strlen(place.path));

    if (id < 0) {
        return tms_fail_memory(file->context);
    }
    place.path_id = (uint32_t)id;
    int code = tms_input_open(file->context, path, &input);
    if (code != TMS_OK) {
        return code;
    }
    code = take_lines(file, &input, &place);
    tms_input_close(&input);
    return code;
}
