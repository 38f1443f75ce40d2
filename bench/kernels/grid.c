/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heat on a grid: each thread has half of the rows, writes to one copy of the grid and reads from
 * the other, its neighbour's row at the border as well; a barrier after each step.
 */
#include "kernel.h"

#define STEPS 60

static uint32_t *grids[2];
static pthread_barrier_t barrier;

static void step_row(const uint32_t *from, uint32_t *to, size_t width)
{
    for (size_t x = 1; x + 1 < width; x++) {
        uint32_t around = from[x - 1] + from[x + 1] + from[x - width] + from[x + width];
        to[x] = (4 * from[x] + around) / 8;
    }
}

static void *spread(void *argument)
{
    const struct part *part = argument;
    size_t width = part->size;
    size_t half = width / 2;
    size_t first = part->index == 0 ? 1 : half;
    size_t last = part->index == 0 ? half : width - 1;

    for (int step = 0; step < STEPS; step++) {
        for (size_t y = first; y < last; y++) {
            step_row(&grids[step % 2][y * width], &grids[1 - step % 2][y * width], width);
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    size_t width = size_argument(argc, argv, 1000);
    uint64_t sum = 0, state = 1;

    for (int i = 0; i < 2; i++) {
        grids[i] = need(width * width, sizeof(**grids));
    }
    for (size_t i = 0; i < width * width; i++) {
        grids[0][i] = next_random(&state) % 65536;
    }
    pthread_barrier_init(&barrier, NULL, THREADS);
    run_parts(spread, width);
    for (size_t i = 0; i < width * width; i++) {
        sum = mix(sum + grids[STEPS % 2][i]);
    }
    return print_sum(sum);
}
