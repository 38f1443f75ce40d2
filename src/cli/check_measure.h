/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace that is checked several times to measure the engines: --repeat and --until-first of
 * tmesis check. docs/research/reproducing.md says what is measured.
 */
#ifndef TMS_CLI_CHECK_MEASURE_H
#define TMS_CLI_CHECK_MEASURE_H

#include "cli/check_job.h"

struct tms_measure_options {
    uint64_t repeat;
    bool until_first;
};

/* Rows of an option table; `field` is the offset of a struct tms_measure_options. */
#define TMS_MEASURE_OPTIONS(field)                                                                 \
    {.name = "repeat",                                                                             \
     .type = TMS_OPTION_COUNT,                                                                     \
     .at = (field) + offsetof(struct tms_measure_options, repeat),                                 \
     .initial = "1",                                                                               \
     .least = 1,                                                                                   \
     .most = 10000,                                                                                \
     .environment = true,                                                                          \
     .value = "N",                                                                                 \
     .help =                                                                                       \
         "measure: check each trace N times; the table, --csv and --json then have the least, "    \
         "the median and the most seconds of each engine"},                                        \
    {                                                                                              \
        .name = "until-first", .type = TMS_OPTION_FLAG,                                            \
        .at = (field) + offsetof(struct tms_measure_options, until_first), .environment = true,    \
        .help = "measure each engine by itself, up to its first violation, as papers do"           \
    }

/* Is a trace read more than once, and the result a table of times? */
bool tms_measure_wanted(const struct tms_measure_options *options);

/*
 * False after a sentence: a trace can't be read more than once, or --until-first is given and also
 * `other`, an option that it can't be combined with (NULL: none).
 */
bool tms_measure_good(const struct tms_measure_options *options, const struct tms_operands *traces,
                      const char *other);

struct tms_measuring {
    const struct tms_measure_options *options;
    const struct tms_reading *reading;
    const struct tms_settings *settings;
    const struct tms_common *common;
};

struct tms_measured {
    struct tms_timing *timings; /* for each result of the analysis; NULL: read once */
    size_t count;
    double *samples;             /* of each result, for each time: in the engine, of the pass */
    struct tms_analysis **alone; /* until_first: what the results point into */
};

/*
 * As tms_checking_run, with the analysis of the first time; --until-first: with one that has the
 * results of all engines. Both frees are due in all cases, this one's first.
 */
int tms_measure(struct tms_measured *measured, struct tms_checking *checking,
                const struct tms_measuring *measuring);
void tms_measured_free(struct tms_measured *measured);

#endif
