/* SPDX-License-Identifier: Apache-2.0 */
/* What is meant to be atomic, from the command line to the library; see spec_options.h. */
#include "cli/spec_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/console.h"

static int add_atomic(struct tms_spec *spec, const char *pattern)
{
    return tms_spec_add(spec, true, pattern);
}

static int add_not_atomic(struct tms_spec *spec, const char *pattern)
{
    return tms_spec_add(spec, false, pattern);
}

static const struct {
    const char *option;
    int (*add)(struct tms_spec *spec, const char *text);
    bool names_file; /* and the library's sentence names it */
} kinds[] = {
    {"atomic", add_atomic, false},
    {"not-atomic", add_not_atomic, false},
    {"spec", tms_spec_load, true},
};

static int add(const struct tms_rules *rules, const struct tms_given_value *value)
{
    size_t i = 0;

    while (strcmp(kinds[i].option, value->option->name) != 0) {
        i++; /* the rows of TMS_SPEC_OPTIONS are all there */
    }
    if (kinds[i].add(rules->spec, value->text) == TMS_OK) {
        return TMS_EXIT_OK;
    }
    return kinds[i].names_file ? tms_bad("%s", tms_error(rules->context))
                               : tms_bad("--%s: %s", kinds[i].option, tms_error(rules->context));
}

int tms_rules_open(struct tms_rules *rules, const struct tms_given *given)
{
    int status = TMS_EXIT_OK;

    *rules = (struct tms_rules){0};
    if (given->count == 0) {
        return TMS_EXIT_OK;
    }
    rules->context = tms_context_new(tms_console_complain, NULL);
    if (rules->context == NULL || tms_spec_new(rules->context, &rules->spec) != TMS_OK) {
        return tms_bad("out of memory");
    }
    for (size_t i = 0; i < given->count && status == TMS_EXIT_OK; i++) {
        status = add(rules, &given->values[i]);
    }
    return status;
}

void tms_rules_close(struct tms_rules *rules)
{
    tms_spec_free(rules->spec);
    tms_context_free(rules->context);
}

void tms_rules_warn(const struct tms_rules *rules)
{
    const char *rule;

    for (size_t i = 0; rules->spec != NULL && (rule = tms_spec_unmatched(rules->spec, i)) != NULL;
         i++) {
        tms_say("no label was seen that matches %s", rule);
    }
}

bool tms_given_file(const struct tms_given_value *value)
{
    const char *option = value->option->name;

    return strcmp(option, "spec") == 0 ||
           (strcmp(option, "suppress") == 0 && strncmp(value->text, "AV-", 3) != 0);
}

static size_t count_standard_input(const struct tms_given *rules)
{
    size_t times = 0;

    for (size_t i = 0; rules != NULL && i < rules->count; i++) {
        times += tms_given_file(&rules->values[i]) && strcmp(rules->values[i].text, "-") == 0;
    }
    return times;
}

bool tms_standard_input_once(const struct tms_operands *traces, const struct tms_given *rules,
                             const struct tms_given *suppressions)
{
    size_t times = count_standard_input(rules) + count_standard_input(suppressions);

    for (size_t i = 0; i < traces->count; i++) {
        times += strcmp(traces->text[i], "-") == 0;
    }
    if (times > 1) {
        tms_say("standard input (\"-\") can be read only once");
    }
    return times <= 1;
}

/* "?" matches any character: no control character gets into a file or onto a terminal. */
static bool put_printable(void *user, const char *text, size_t length)
{
    static const char replacement[] = "\xef\xbf\xbd";

    if (length == strlen(replacement) && memcmp(text, replacement, length) == 0) {
        return fputc('?', user) != EOF;
    }
    return fwrite(text, 1, length, user) == length;
}

/* A line whose pattern `spell` writes; what is not printable in it becomes "?". */
static void write_line(FILE *out, bool atomic, const char *text,
                       void (*spell)(FILE *out, const char *text))
{
    char *pattern = NULL;
    size_t size = 0;
    FILE *spelt = open_memstream(&pattern, &size);

    if (spelt != NULL) {
        spell(spelt, text);
        fclose(spelt);
    }
    fputs(atomic ? "atomic " : "not-atomic ", out);
    tms_printable_string(pattern != NULL ? pattern : "", size, put_printable, out);
    free(pattern);
}

/* No comment begins in it, no blank at its ends gets lost. */
static void spell_pattern(FILE *out, const char *pattern)
{
    for (const char *at = pattern; *at != '\0'; at++) {
        bool edge = at == pattern || at[1] == '\0';
        if (*at == '#' || (*at == ' ' && edge)) {
            fputc('\\', out);
        } else if (*at == '\\' && at[1] != '\0') {
            fputc(*at++, out);
        }
        fputc(*at, out);
    }
}

void tms_rules_write_pattern(FILE *out, bool atomic, const char *pattern)
{
    write_line(out, atomic, pattern, spell_pattern);
}

static void spell_label(FILE *out, const char *label)
{
    fputs(*label == '\0' ? "\"\"" : "", out);
    for (const char *at = label; *at != '\0'; at++) {
        bool blank = *at == ' ' && (at == label || at[1] == '\0');
        if (blank || strchr("*?[\\#", *at) != NULL) {
            fputc('\\', out);
        }
        fputc(*at, out);
    }
}

void tms_rules_write(FILE *out, bool atomic, const char *label)
{
    write_line(out, atomic, label, spell_label);
}
