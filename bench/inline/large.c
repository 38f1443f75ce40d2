/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The opposite case: nearly all time is spent in loops of functions that no compiler inlines, as in
 * matrix and compression code.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE  220
#define BYTES (1u << 21)

static void multiply(double (*to)[SIDE], double (*a)[SIDE], double (*b)[SIDE])
{
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            double sum = 0;
            for (int k = 0; k < SIDE; k++) {
                sum += a[i][k] * b[k][j];
            }
            to[i][j] = sum;
        }
    }
}

static size_t matches(const uint8_t *text, size_t length)
{
    static uint32_t last[1u << 16];
    size_t found = 0;

    for (size_t i = 0; i + 4 < length; i++) {
        uint32_t key = (text[i] * 2654435761u ^ text[i + 1] * 40503u ^ text[i + 2]) & 0xffffu;
        found += last[key] != 0 && memcmp(text + last[key], text + i, 4) == 0;
        last[key] = (uint32_t)i;
    }
    return found;
}

int main(void)
{
    static double a[SIDE][SIDE], b[SIDE][SIDE], to[SIDE][SIDE];
    uint8_t *text = malloc(BYTES);
    uint32_t state = 1;

    if (text == NULL) {
        return 1;
    }
    for (size_t i = 0; i < BYTES; i++) {
        state = state * 1664525u + 1013904223u;
        text[i] = "etaoin shrdlu"[(state >> 24) % 13];
    }
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            a[i][j] = i + j;
            b[i][j] = i - j;
        }
    }
    multiply(to, a, b);
    multiply(a, to, b);
    printf("%g %zu\n", a[SIDE / 2][SIDE / 3], matches(text, BYTES));
    free(text);
    return 0;
}
