/* SPDX-License-Identifier: Apache-2.0 */
/* How far a hunt is; see hunt_progress.h. */
#include "cli/hunt_progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/console.h"

/* Seconds between lines. */
#define ON_TERMINAL 0.25
#define IN_LOG      60.0

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void tms_hunt_progress_start(struct tms_hunt_progress *progress, const struct tms_common *common)
{
    *progress = (struct tms_hunt_progress){.wanted = common->progress && !common->quiet,
                                           .terminal = isatty(STDERR_FILENO)};
    progress->started = progress->last = now();
}

/* Seconds until the first of the limits is reached; below 0: unknown. */
static double time_left(const struct tms_hunt_counts *counts, double passed, uint64_t runs,
                        double seconds)
{
    double left = seconds > 0 ? seconds - passed : -1;

    if (runs > 0 && counts->runs > 0) {
        double by_runs = passed / (double)counts->runs * (double)(runs - counts->runs);
        left = left < 0 || by_runs < left ? by_runs : left;
    }
    return left;
}

/* "12 runs, 2 findings, 1 predicted, 3 failed, 4.1 runs/s, 20 s left" */
static void write_line(char *line, size_t size, const struct tms_hunt_counts *counts, double passed,
                       double left)
{
    int length =
        snprintf(line, size, "%llu run%s, %llu finding%s, %llu predicted, %llu failed, %.1f runs/s",
                 (unsigned long long)counts->runs, counts->runs == 1 ? "" : "s",
                 (unsigned long long)counts->observed, counts->observed == 1 ? "" : "s",
                 (unsigned long long)counts->predicted, (unsigned long long)counts->failed,
                 passed > 0 ? (double)counts->runs / passed : 0);

    if (left >= 0 && length > 0 && (size_t)length < size) {
        snprintf(line + length, size - (size_t)length, ", %.0f s left", left);
    }
}

void tms_hunt_progress_step(struct tms_hunt_progress *progress,
                            const struct tms_hunt_counts *counts, uint64_t runs, double seconds)
{
    double time = now(), passed = time - progress->started;
    char line[160];

    if (!progress->wanted || time - progress->last < (progress->terminal ? ON_TERMINAL : IN_LOG)) {
        return;
    }
    progress->last = time;
    write_line(line, sizeof(line), counts, passed, time_left(counts, passed, runs, seconds));
    if (progress->terminal) {
        fprintf(stderr, "\r\033[K%s", line);
        fflush(stderr);
        progress->shown = true;
    } else {
        tms_say("%s", line);
    }
}

void tms_hunt_progress_hide(struct tms_hunt_progress *progress)
{
    if (progress->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        progress->shown = false;
    }
}
