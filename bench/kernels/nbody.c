/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies that attract each other, like the n-body and water programs of SPLASH: in each step the
 * threads compute forces on pairs of bodies, gather them in private memory, add them to the shared
 * ones under a lock per body, and meet at barriers between the phases. Phases are long functions
 * with many lock operations. Forces are integers, so that their sum does not depend on the order.
 */
#include "kernel.h"

#define STEPS 3u

struct body {
    pthread_mutex_t lock;
    int64_t place[3], speed[3], force[3];
};

static struct body *bodies;
static size_t body_count;
static pthread_barrier_t barrier;

static void attract(const struct body *a, const struct body *b, int64_t force[3])
{
    int64_t distance = 1000;

    for (int axis = 0; axis < 3; axis++) {
        int64_t d = b->place[axis] - a->place[axis];
        distance += d < 0 ? -d : d;
    }
    for (int axis = 0; axis < 3; axis++) {
        force[axis] = (b->place[axis] - a->place[axis]) * 1000 / distance;
    }
}

static void add_force(struct body *body, const int64_t force[3])
{
    pthread_mutex_lock(&body->lock);
    for (int axis = 0; axis < 3; axis++) {
        body->force[axis] += force[axis];
    }
    pthread_mutex_unlock(&body->lock);
}

/* Each pair once, by the thread that has the first of the two. */
static void compute_forces(unsigned index, int64_t (*own)[3])
{
    for (size_t i = 0; i < body_count; i++) {
        own[i][0] = own[i][1] = own[i][2] = 0;
    }
    for (size_t i = index; i < body_count; i += THREADS) {
        for (size_t j = i + 1; j < body_count; j++) {
            int64_t force[3];
            attract(&bodies[i], &bodies[j], force);
            for (int axis = 0; axis < 3; axis++) {
                own[i][axis] += force[axis];
                own[j][axis] -= force[axis];
            }
        }
    }
    for (size_t i = 0; i < body_count; i++) {
        add_force(&bodies[i], own[i]);
    }
}

static void move_bodies(unsigned index)
{
    for (size_t i = index; i < body_count; i += THREADS) {
        for (int axis = 0; axis < 3; axis++) {
            bodies[i].speed[axis] += bodies[i].force[axis];
            bodies[i].place[axis] += bodies[i].speed[axis] / 16;
            bodies[i].force[axis] = 0;
        }
    }
}

static void *work(void *argument)
{
    const struct part *part = argument;
    int64_t(*own)[3] = need(body_count, sizeof(*own));

    for (unsigned step = 0; step < STEPS; step++) {
        compute_forces(part->index, own);
        pthread_barrier_wait(&barrier);
        move_bodies(part->index);
        pthread_barrier_wait(&barrier);
    }
    free(own);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 1, sum = 0;

    body_count = size_argument(argc, argv, 3000);
    bodies = need(body_count, sizeof(*bodies));
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < body_count; i++) {
        pthread_mutex_init(&bodies[i].lock, NULL);
        for (int axis = 0; axis < 3; axis++) {
            bodies[i].place[axis] = (int64_t)(next_random(&state) >> 40);
        }
    }
    run_parts(work, 0);
    for (size_t i = 0; i < body_count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            sum = mix(sum + (uint64_t)bodies[i].place[axis]);
        }
    }
    free(bodies);
    return print_sum(sum);
}
