/* SPDX-License-Identifier: Apache-2.0 */
/* When and where something ran; see run_origin.h. */
#include "cli/run_origin.h"

#include <stddef.h>
#include <sys/utsname.h>
#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec time = {0};

    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double tms_origin_now(void)
{
    return read_clock(CLOCK_REALTIME);
}

double tms_origin_monotonic(uint64_t nanoseconds)
{
    return tms_origin_now() - (read_clock(CLOCK_MONOTONIC) - (double)nanoseconds * 1e-9);
}

const char *tms_origin_host(void)
{
    static struct utsname names;

    return uname(&names) == 0 && names.nodename[0] != '\0' ? names.nodename : NULL;
}
