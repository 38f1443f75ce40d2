/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the counts of `tmesis info` to standard output, as text or JSON. */
#ifndef TMS_CLI_INFO_PRINT_H
#define TMS_CLI_INFO_PRINT_H

#include "cli/trace_stats.h"

struct tms_info {
    const char *path;
    const char *format;
    const char *loss;      /* NULL, or why the trace is not whole */
    const char *complaint; /* NULL, or why it is not well-formed */
    uint64_t bytes;        /* of the file, as read */
    bool all;              /* text: every thread, lock and label, not only the busiest */
    const struct tms_context *context; /* for the names */
    const struct tms_trace_stats *stats;
};

/* False when memory is short. */
bool tms_info_text(const struct tms_info *info);
bool tms_info_json(const struct tms_info *info);

#endif
