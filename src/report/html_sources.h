/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of source that an HTML report shows: gathered as ranges, then read once per file and
 * written as JSON. Only files below the working directory are read: names come from results, and
 * those are not trusted.
 */
#ifndef TMS_REPORT_HTML_SOURCES_H
#define TMS_REPORT_HTML_SOURCES_H

#include <stdio.h>

#include "base/memory.h"

struct tms_source_range {
    char *path;
    unsigned first, last;
};

/* Zero at first. */
struct tms_source_ranges {
    struct tms_memory memory;
    struct tms_source_range *list;
    size_t count, capacity;
};

/* Wants the lines around these; the path is copied. TMS_OK or TMS_ERR_MEMORY. */
int tms_source_want(struct tms_source_ranges *ranges, const char *path, size_t length,
                    unsigned first, unsigned last);

/* `{"bank.c": {"12": "int x;", …}, …}`: what could be read of it. */
void tms_source_write(struct tms_source_ranges *ranges, FILE *out);
void tms_source_free(struct tms_source_ranges *ranges);

#endif
