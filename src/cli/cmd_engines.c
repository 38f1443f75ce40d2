/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis engines: what decides, and what its answer is worth. */
#include <string.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/options.h"
#include "tmesis/tmesis.h"

struct values {
    struct tms_common common;
    bool json;
};

static const struct tms_option options[] = {{.name = "json",
                                             .type = TMS_OPTION_FLAG,
                                             .at = offsetof(struct values, json),
                                             .help = "print one JSON object instead of text"},
                                            {0}};

static const struct {
    unsigned bit;
    const char *text;
} flags[] = {
#define X(name, value, text) {TMS_ENGINE_##name, text},
    TMS_ENGINE_FLAGS(X)
#undef X
};

#define FLAG_COUNT (sizeof(flags) / sizeof(flags[0]))

/* The texts of an engine, in the order they are shown. */
static const struct {
    const char *key;
    size_t at;
} facts[] = {
#define FACT(field)                                                                                \
    {                                                                                              \
#field, offsetof(struct tms_engine_info, field)                                            \
    }
    FACT(guarantee), FACT(reports), FACT(time), FACT(memory), FACT(paper),
#undef FACT
};

#define FACT_COUNT (sizeof(facts) / sizeof(facts[0]))

static const char *fact_of(const struct tms_engine_info *engine, size_t index)
{
    const char *text = *(const char *const *)((const char *)engine + facts[index].at);

    return text != NULL ? text : "";
}

static void write_text(const struct tms_engine_info *engine, bool color)
{
    printf("%s%s%s  %s\n", color ? "\033[1m" : "", engine->name, color ? "\033[0m" : "",
           engine->summary);
    printf("    %-10s", "is");
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        if ((engine->flags & flags[i].bit) != 0) {
            printf(" %s", flags[i].text);
        }
    }
    printf("\n    %-10s %s or %s\n", "answers", tms_verdict_text(engine->found),
           tms_verdict_text(engine->clean));
    for (size_t i = 0; i < FACT_COUNT; i++) {
        if (*fact_of(engine, i) != '\0') {
            printf("    %-10s ", facts[i].key);
            tms_console_wrap(stdout, 15, fact_of(engine, i));
        }
    }
    putchar('\n');
}

static void write_string(const char *key, const char *text)
{
    printf("\"%s\": ", key);
    tms_json_string(text, strlen(text), tms_console_sink, stdout);
}

static void write_json(const struct tms_engine_info *engine)
{
    const char *between = "";

    printf("{");
    write_string("name", engine->name);
    printf(", ");
    write_string("summary", engine->summary);
    for (size_t i = 0; i < FACT_COUNT; i++) {
        printf(", ");
        write_string(facts[i].key, fact_of(engine, i));
    }
    printf(", \"answers\": [\"%s\", \"%s\"]", tms_verdict_text(engine->found),
           tms_verdict_text(engine->clean));
    printf(", \"flags\": [");
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        if ((engine->flags & flags[i].bit) != 0) {
            printf("%s\"%s\"", between, flags[i].text);
            between = ", ";
        }
    }
    printf("]}");
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    const struct values *values = all_values;
    bool color = tms_console_color(values->common.color, STDOUT_FILENO);
    const struct tms_engine_info *engine;

    (void)operands;
    if (values->json) {
        printf("{\"schema\": 1, \"tool\": \"tmesis\", \"version\": \"%s\", \"engines\": [",
               tms_version());
    }
    for (size_t i = 0; (engine = tms_engine_info(i)) != NULL; i++) {
        if (values->json) {
            fputs(i > 0 ? ", " : "", stdout);
            write_json(engine);
        } else if (values->common.quiet) {
            puts(engine->name);
        } else {
            write_text(engine, color);
        }
    }
    if (values->json) {
        printf("]}\n");
    }
    return TMS_EXIT_OK;
}

const struct tms_command tms_command_engines = {
    .name = "engines",
    .group = TMS_GROUP_OTHER,
    .summary = "list the engines and what their answers guarantee",
    .about =
        "Lists the engines for check --engine, the default first: what each answer means, when "
        "a violation is reported, and what it costs.",
    .options = options,
    .values_size = sizeof(struct values),
    .run = run,
};
