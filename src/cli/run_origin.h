/* SPDX-License-Identifier: Apache-2.0 */
/* When and where something ran, for JSON. */
#ifndef TMS_CLI_RUN_ORIGIN_H
#define TMS_CLI_RUN_ORIGIN_H

#include <stdint.h>

/* Seconds since 1970. */
double tms_origin_now(void);

/* The same of a time in nanoseconds of the monotonic clock. */
double tms_origin_monotonic(uint64_t nanoseconds);

/* The name of this machine, NULL: unknown. */
const char *tms_origin_host(void);

#endif
