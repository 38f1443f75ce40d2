/* SPDX-License-Identifier: Apache-2.0 */
/* Return values of every kind, and registers that a function preserves. */
#include <complex.h>
#include <immintrin.h>
#include <string.h>

#include "unharmed.h"

struct two {
    long first;
    double second;
};
struct many {
    long value[8];
};
typedef float wide __attribute__((vector_size(32)));

#define RETURNS(type, name, value)                                                                 \
    __attribute__((noinline)) static type name(int n)                                              \
    {                                                                                              \
        touch();                                                                                   \
        return value;                                                                              \
    }

RETURNS(int, an_int, n + 1)
RETURNS(__int128, a_large_int, (__int128)n << 100 | 7)
RETURNS(float, a_float, (float)n / 4)
RETURNS(double, a_double, n / 8.0)
RETURNS(long double, a_long_double, n / 16.0L)
RETURNS(double complex, a_complex, n + 2.5 * I)
RETURNS(long double complex, a_long_complex, n + 3.5L * I)
RETURNS(struct two, a_pair, ((struct two){n, n / 2.0}))
RETURNS(struct many, many_words, ((struct many){{n, 1, 2, 3, 4, 5, 6, n}}))

__attribute__((noinline, target("avx"))) static wide a_vector(int n)
{
    touch();
    return (wide){(float)n, 1, 2, 3, 4, 5, 6, 7};
}

__attribute__((target("avx"))) static float sum_of_vector(int n)
{
    wide vector = a_vector(n);
    float sum = 0;
    for (int i = 0; i < 8; i++) {
        sum += vector[i] * (float)(i + 1);
    }
    return sum;
}

__attribute__((noinline)) static long alloca_of(int n)
{
    char *bytes = __builtin_alloca((size_t)n + 16);
    memset(bytes, n, (size_t)n + 16);
    touch();
    long sum = 0;
    for (int i = 0; i < n; i++) {
        sum += bytes[i];
    }
    return sum;
}

/* A stack that must be realigned. */
__attribute__((noinline)) static int aligned(int n)
{
    _Alignas(64) volatile char bytes[64] = {(char)n};
    touch();
    return bytes[0] + (int)((unsigned long)bytes % 64);
}

__attribute__((noinline)) static long recursion(int n)
{
    if (n % 3 == 0) {
        touch();
    }
    return n == 0 ? 0 : n + recursion(n - 1) * (n % 2 ? 1 : -1) % 1000;
}

__attribute__((noinline)) static int last(int n)
{
    touch();
    return n * 2;
}

__attribute__((noinline)) static int jumps_to_last(int n)
{
    touch();
    return last(n + 1);
}

int main(void)
{
    for (int n = 0; n < 200; n++) {
        struct two pair = a_pair(n);
        struct many many = many_words(n);
        double complex c = a_complex(n);
        long double complex lc = a_long_complex(n);
        __int128 large = a_large_int(n);
        say("%d %llx.%llx %g %g %Lg %g%+gi %Lg%+Lgi %ld,%g %ld,%ld %ld %d %ld %d", an_int(n),
            (unsigned long long)(large >> 64), (unsigned long long)large, (double)a_float(n),
            a_double(n), a_long_double(n), creal(c), cimag(c), creall(lc), cimagl(lc), pair.first,
            pair.second, many.value[0], many.value[7], alloca_of(n), aligned(n), recursion(n),
            jumps_to_last(n));
        if (__builtin_cpu_supports("avx")) {
            say("%g", (double)sum_of_vector(n));
        }
    }
    say("%ld", recursion(20000));
    return 0;
}
