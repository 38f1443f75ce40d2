/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of TAP. */
#ifndef TMS_PREDICT_TAP_H
#define TMS_PREDICT_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

struct tap {
    unsigned number;
    bool failed;
};

__attribute__((format(printf, 3, 4))) static inline void ok(struct tap *tap, bool good,
                                                            const char *format, ...)
{
    va_list list;

    printf("%sok %u - ", good ? "" : "not ", ++tap->number);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
    tap->failed = tap->failed || !good;
}

/* The plan; the status to end with. */
static inline int done(const struct tap *tap)
{
    printf("1..%u\n", tap->number);
    return tap->failed;
}

#endif
