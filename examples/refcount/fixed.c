/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference count of buggy.c, fixed: one operation lowers the count and says what it was.
 * Only the owner who found a 1 was the last.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define OWNERS 2
#define USES   20000

struct object {
    atomic_int references;
    atomic_int freed; /* how often */
};

static struct object object = {.references = OWNERS};

static void object_free(struct object *dead)
{
    atomic_fetch_add(&dead->freed, 1);
}

static void object_hold(struct object *used)
{
    atomic_fetch_add(&used->references, 1);
}

static void object_release(struct object *used)
{
    if (atomic_fetch_sub(&used->references, 1) == 1) {
        object_free(used);
    }
}

static void *owner(void *unused)
{
    for (int i = 0; i < USES; i++) {
        object_hold(&object);
        object_release(&object);
    }
    object_release(&object);
    return unused;
}

int main(void)
{
    pthread_t threads[OWNERS];

    for (int i = 0; i < OWNERS; i++) {
        pthread_create(&threads[i], NULL, owner, NULL);
    }
    for (int i = 0; i < OWNERS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("the object was freed %d times\n", atomic_load(&object.freed));
    return 0;
}
