/* SPDX-License-Identifier: Apache-2.0 */
/* Extracts the error message of a failed program. */
#ifndef TMS_HUNT_FAILURE_TEXT_H
#define TMS_HUNT_FAILURE_TEXT_H

#include <stddef.h>

/* Bytes of the longest text that is kept, with its zero. */
#define TMS_FAILURE_TEXT 256

/*
 * The first line of `said` that reports a failed assertion or an uncaught exception, without
 * control characters and in at most TMS_FAILURE_TEXT - 1 bytes; "" if there is none.
 */
void tms_failure_text(const char *said, size_t length, char text[TMS_FAILURE_TEXT]);

#endif
