/* SPDX-License-Identifier: Apache-2.0 */
/* System calls without the C library's wrappers. */
#ifndef TMS_RUNTIME_RAW_SYSTEM_CALL_H
#define TMS_RUNTIME_RAW_SYSTEM_CALL_H

/*
 * A system call: not a cancellation point, leaves errno alone, bypasses the interposed syscall().
 */
long tms_rt_raw(long number, long a, long b, long c, long d, long e, long f);

#endif
