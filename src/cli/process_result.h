/* SPDX-License-Identifier: Apache-2.0 */
/* The spool of one process of a watched run, opened and ready to be named. */
#ifndef TMS_CLI_PROCESS_RESULT_H
#define TMS_CLI_PROCESS_RESULT_H

#include "cli/watched_run.h"
#include "spool/spool_names.h"

struct tms_process_result {
    struct tms_context *context; /* each process has names of its own */
    struct tms_spool spool;
    struct tms_spool_names names;
    char *title; /* the command line; of a child process its program and number */
    bool child;
};

/*
 * Opens the index-th spool. False after a sentence: it can't be read, or its process still runs.
 * tms_process_result_close is due in both cases.
 */
bool tms_process_result_open(struct tms_process_result *process, const struct tms_watched *watched,
                             size_t index);
void tms_process_result_close(struct tms_process_result *process);

/* The same on its own memory; NULL after a sentence. To be freed with tms_process_result_free. */
struct tms_process_result *tms_process_result_new(const struct tms_watched *watched, size_t index);
void tms_process_result_free(struct tms_process_result *process);

/* How long the process ran. A child that ended without a word ran until now at most. */
double tms_process_result_seconds(const struct tms_process_result *process,
                                  const struct tms_watched *watched);

/* Prints the messages of the runtime. */
void tms_process_result_warn(const struct tms_process_result *process);

/* Says why something failed. */
void tms_process_result_bad(const struct tms_process_result *process, int code);

/* Says what to do if there was nothing to be cut apart. */
void tms_process_result_advise(const struct tms_watched *watched);

#endif
