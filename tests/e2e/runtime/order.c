/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What orders threads besides locks: once, creation and join. And what does not: a child that does
 * nothing, one that is never joined.
 */
#include <threads.h>

#include "scene.h"

extern int touched; /* not static: its accesses must not be optimised away */
int touched;

/* ---- once: the initialiser, and every call that finds it done ---------------------------- */

static pthread_once_t once_one = PTHREAD_ONCE_INIT, once_two = PTHREAD_ONCE_INIT;
static once_flag flag_one = ONCE_FLAG_INIT, flag_two = ONCE_FLAG_INIT;

static void initialise(void)
{
}

static void once_first(void)
{
    pthread_once(&once_one, initialise);
}

static void once_both(void)
{
    pthread_once(&once_one, initialise);
    pthread_once(&once_two, initialise);
}

static void once_second(void)
{
    pthread_once(&once_two, initialise);
}

static void flag_first(void)
{
    call_once(&flag_one, initialise);
}

static void flag_both(void)
{
    call_once(&flag_one, initialise);
    call_once(&flag_two, initialise);
}

static void flag_second(void)
{
    call_once(&flag_two, initialise);
}

/* ---- threads that the block creates and joins -------------------------------------------- */

static pthread_t child;
static thrd_t c11_child;

static void *touch(void *unused)
{
    touched = 1;
    return unused;
}

static void *do_nothing(void *unused)
{
    return unused;
}

static void *touch_and_exit(void *unused)
{
    (void)unused;
    touched = 1;
    pthread_exit(NULL);
}

static int c11_touch(void *unused)
{
    (void)unused;
    touched = 1;
    return 0;
}

static void create(void)
{
    pthread_create(&child, NULL, touch, NULL);
}

static void create_silent(void)
{
    pthread_create(&child, NULL, do_nothing, NULL);
}

static void create_exiting(void)
{
    pthread_create(&child, NULL, touch_and_exit, NULL);
}

static void create_detached(void)
{
    pthread_create(&child, NULL, touch, NULL);
    pthread_detach(child);
}

static void join(void)
{
    pthread_join(child, NULL);
}

static void try_join(void)
{
    while (pthread_tryjoin_np(child, NULL) != 0) {
    }
}

static void c11_create(void)
{
    thrd_create(&c11_child, c11_touch, NULL);
}

static void c11_join(void)
{
    thrd_join(c11_child, NULL);
}

static void nothing(void)
{
}

static struct scene scenes[] = {
    {"once", once_first, once_both, once_second},
    {"once-seen", once_both, once_both, once_both}, /* nothing is written after the first */
    {"c11-once", flag_first, flag_both, flag_second},
    {"join", create, nothing, join},
    {"try-join", create, nothing, try_join},
    {"join-exited", create_exiting, nothing, join},
    {"join-silent", create_silent, nothing, join},
    {"detached", create_detached, nothing, nothing},
    {"c11-join", c11_create, nothing, c11_join},
};

int main(int argc, char **argv)
{
    return SCENE_PLAY(scenes, argc, argv);
}
