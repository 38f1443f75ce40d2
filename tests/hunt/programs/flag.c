/* SPDX-License-Identifier: Apache-2.0 */
/* A flag that is checked and then acted on: two threads may both find the job free. */
/* expected: block claim_job, about taken */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define JOBS 50

static atomic_int taken[JOBS];
static atomic_int done;

static int claim_job(int job)
{
    if (atomic_load(&taken[job]) != 0) {
        return 0;
    }
    atomic_store(&taken[job], 1);
    return 1;
}

static void *worker(void *unused)
{
    for (int job = 0; job < JOBS; job++) {
        if (claim_job(job)) {
            atomic_fetch_add(&done, 1);
        }
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, worker, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%d of %d jobs done\n", atomic_load(&done), JOBS);
    return 0;
}
