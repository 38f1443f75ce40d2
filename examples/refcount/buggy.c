/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reference count that is lowered in one operation and tested in another.
 *
 * The count is atomic. Still, when the last two owners release the object at the same time, both
 * may decrement the count before either tests it: then both find no owner left, and both free
 * it. That is rare; but whenever another release comes between the two operations, the test is
 * no longer about the thread's own release, and that is not rare at all. (To keep the program
 * running, freeing is only counted here.)
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
    atomic_fetch_sub(&used->references, 1);
    if (atomic_load(&used->references) == 0) {
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
