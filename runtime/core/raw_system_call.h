/* SPDX-License-Identifier: Apache-2.0 */
/* System calls without the C library's wrappers. */
#ifndef TMS_RUNTIME_RAW_SYSTEM_CALL_H
#define TMS_RUNTIME_RAW_SYSTEM_CALL_H

/*
 * A system call: not a cancellation point, leaves errno alone, bypasses the interposed syscall().
 * Inline, because it is the last step of the deepest ways through the runtime.
 */
static inline long tms_rt_raw(long number, long a, long b, long c, long d, long e, long f)
{
#ifdef __x86_64__
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
#error "the runtime knows only x86-64"
#endif
}

#endif
