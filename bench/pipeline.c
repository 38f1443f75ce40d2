/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ablation of the pipeline: the gain of the fused lane and of the second thread. Checks each trace
 * with each lane and prints a row of a Markdown table, the best of several runs of each.
 *
 *     bench-pipeline RUNS TRACE…
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/analysis.h"

static const struct variant {
    const char *title;
    const char *engines;
    clockid_t
        clock;     /* wall time only where there may be two threads: others use the machine, too */
    bool general;  /* without the fused lane */
    bool parallel; /* with the second thread */
} variants[] = {
    {"frontier, fused", "frontier", CLOCK_PROCESS_CPUTIME_ID, false, false},
    {"frontier, general", "frontier", CLOCK_PROCESS_CPUTIME_ID, true, false},
    {"default, one thread", "frontier,judge,sidetrack", CLOCK_MONOTONIC, false, false},
    {"default, two threads", "frontier,judge,sidetrack", CLOCK_MONOTONIC, false, true},
};
#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

static void insist(bool fine, const struct tms_context *context, const char *path)
{
    if (!fine) {
        fprintf(stderr, "bench-pipeline: %s: %s\n", path, tms_error(context));
        exit(2);
    }
}

static double now(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Seconds from opening the trace to the results. */
static double check(const char *path, const struct variant *variant)
{
    struct tms_context *context = tms_context_new(NULL, NULL);
    struct tms_settings settings;
    struct tms_reader *reader;
    struct tms_analysis *analysis;
    double start = now(variant->clock);

    tms_settings_init(&settings);
    settings.engines = variant->engines;
    settings.parallel = variant->parallel;
    insist(tms_reader_open(context, path, NULL, &reader) == TMS_OK, context, path);
    insist(tms_analysis_new(context, &settings, &analysis) == TMS_OK, context, path);
    analysis->fused = analysis->fused && !variant->general;
    insist(tms_analysis_read(analysis, reader) == TMS_OK, context, path);
    double seconds = now(variant->clock) - start;
    tms_analysis_free(analysis);
    tms_reader_close(reader);
    tms_context_free(context);
    return seconds;
}

/* The best of some runs of each variant, in turn: other work on the machine only adds to it. */
static void measure(const char *path, int runs, double best[VARIANTS])
{
    for (int run = 0; run < runs; run++) {
        for (size_t i = 0; i < VARIANTS; i++) {
            double seconds = check(path, &variants[i]);
            best[i] = run == 0 || seconds < best[i] ? seconds : best[i];
        }
    }
}

static void print_row(const char *name, const double seconds[VARIANTS])
{
    printf("| %s |", name);
    for (size_t i = 0; i < VARIANTS; i++) {
        printf(" %.3f |", seconds[i]);
    }
    printf(" %+.0f %% | %+.0f %% |\n", 100 * (seconds[1] / seconds[0] - 1),
           100 * (seconds[2] / seconds[3] - 1));
    fflush(stdout);
}

int main(int count, char **words)
{
    double logs[VARIANTS] = {0};
    int traces = count - 2, runs = count > 2 ? atoi(words[1]) : 0;

    if (runs < 1) {
        fputs("usage: bench-pipeline RUNS TRACE…\n", stderr);
        return 2;
    }
    printf("| trace |");
    for (size_t i = 0; i < VARIANTS; i++) {
        printf(" %s |", variants[i].title);
    }
    printf(
        " without the fused lane | without the second thread |\n|---|---|---|---|---|---|---|\n");
    for (int i = 2; i < count; i++) {
        const char *slash = strrchr(words[i], '/');
        double best[VARIANTS];
        measure(words[i], runs, best);
        print_row(slash != NULL ? slash + 1 : words[i], best);
        for (size_t v = 0; v < VARIANTS; v++) {
            logs[v] += log(best[v]);
        }
    }
    for (size_t v = 0; v < VARIANTS; v++) {
        logs[v] = exp(logs[v] / traces);
    }
    print_row("geometric mean", logs);
    return 0;
}
