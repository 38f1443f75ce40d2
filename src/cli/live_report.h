/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports while a watched program runs: asked for by a signal to the command, by the program
 * (tmesis_report), or because the program got SIGTERM and did not end. The command looks at the
 * spools a few times a second: there the processes leave their wishes, and are asked to bring
 * their counts up to date (src/protocol/spool_format.h).
 *
 * A report is written by a child of the command, from a copy of the spools: meanwhile signals are
 * sent on as always, and what a report takes of memory is gone with it. One is written at a time.
 */
#ifndef TMS_CLI_LIVE_REPORT_H
#define TMS_CLI_LIVE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TMS_ON_DEMAND_TICK  200 /* milliseconds from one look to the next */
#define TMS_ON_DEMAND_GRACE 2.0 /* seconds that a program has to end after SIGTERM */
#define TMS_ON_DEMAND_ANSWER                                                                       \
    0.25 /* seconds that processes have to bring their counts up to date                           \
          */

struct tms_spool_live;

/* What a process and the command have in common; mapped. */
struct tms_on_demand_process {
    char *path;
    struct tms_spool_live *live; /* NULL: not this version's */
    bool writable;
    uint32_t asked, terminated; /* as they were at the last look */
};

/* Zero, except for the fields that the caller sets. */
struct tms_on_demand {
    const char *directory; /* set by the caller: where the spools appear, … */
    int signal;            /* … which signal to the command asks for a report, … */
    void (*report)(void *user, double seconds,
                   bool late); /* … and what writes it, in a process of its own */
    void *user;
    double started; /* set with the start of the program */
    struct tms_on_demand_process *processes;
    size_t count;
    int64_t seen;   /* when the directory was changed, as far as this was looked at */
    bool late;      /* the report is due because the program did not end after SIGTERM */
    double due;     /* when a program that got SIGTERM should have ended; 0: none did */
    pid_t writer;   /* the process that writes a report, 0: none */
    bool wanted;    /* one more is wanted */
    size_t reports; /* how many were begun */
};

/* To be called every TMS_ON_DEMAND_TICK milliseconds, or more often. */
void tms_on_demand_look(struct tms_on_demand *demand);

/* A report is wanted. */
void tms_on_demand_ask(struct tms_on_demand *demand);

/* SIGTERM was sent to the program: if it does not end, a report is wanted. */
void tms_on_demand_terminated(struct tms_on_demand *demand);

/* The program has ended: waits for a report that is being written, and drops further requests. */
void tms_on_demand_finish(struct tms_on_demand *demand);

#endif
