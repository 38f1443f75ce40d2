/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix multiplication: long loops over memory that both threads read and one of them writes, with
 * hardly a call and no locks.
 */
#include "kernel.h"

static double *a, *b, *product; /* b is transposed */

static double dot(const double *row, const double *column, size_t n)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++) {
        sum += row[k] * column[k];
    }
    return sum;
}

static void *multiply(void *argument)
{
    struct part *part = argument;
    size_t n = part->size;

    for (size_t i = part->index; i < n; i += THREADS) {
        for (size_t j = 0; j < n; j++) {
            product[i * n + j] = dot(&a[i * n], &b[j * n], n);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    size_t n = size_argument(argc, argv, 400);
    uint64_t sum = 0, state = 1;

    a = need(n * n, sizeof(*a));
    b = need(n * n, sizeof(*b));
    product = need(n * n, sizeof(*product));
    for (size_t i = 0; i < n * n; i++) {
        a[i] = (double)(next_random(&state) % 1000);
        b[i] = (double)(next_random(&state) % 1000);
    }
    run_parts(multiply, n);
    for (size_t i = 0; i < n * n; i++) {
        sum = mix(sum + (uint64_t)product[i]); /* whole numbers: exact in any order */
    }
    return print_sum(sum);
}
