/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scene of most of these programs: a thread opens the block "cut" and does something, then
 * another thread does something outside any block, then the first does something again and closes
 * its block. The block was cut if the second thread's part conflicts with what came before as well
 * as with what came after it.
 *
 * The program plays the scene that its argument names.
 */
#ifndef TMS_E2E_RUNTIME_SCENE_H
#define TMS_E2E_RUNTIME_SCENE_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tmesis/annotate.h"
#include "weave/turn.h"

struct scene {
    const char *name;
    void (*before)(void), (*between)(void);
    void (*after)(void); /* NULL: the same as before */
};

/* Makes the C library allocate its per-thread data. (A compiler would remove a plain pair.) */
static void scene_warm_up(void)
{
    void *volatile memory = malloc(1);

    free(memory);
}

/*
 * Both threads exist from the first turn to the last, and only then does the C library release its
 * data for them: memory that one frees in between is what the other allocates.
 */
static void *scene_block(void *argument)
{
    const struct scene *scene = (const struct scene *)argument;

    scene_warm_up();
    in_turn (2) {
        tmesis_begin("cut");
        scene->before();
    }
    in_turn (4) {
        (scene->after != NULL ? scene->after : scene->before)();
        tmesis_end();
    }
    return NULL;
}

static void *scene_between(void *argument)
{
    const struct scene *scene = (const struct scene *)argument;

    in_turn (1) {
        scene_warm_up();
    }
    in_turn (3) {
        scene->between();
    }
    turn_take(5);
    return NULL;
}

static inline int scene_play(struct scene *scenes, size_t count, int argc, char **argv)
{
    for (size_t i = 0; i < count && argc == 2; i++) {
        if (strcmp(scenes[i].name, argv[1]) == 0) {
            pthread_t threads[2];
            pthread_create(&threads[0], NULL, scene_block, &scenes[i]);
            pthread_create(&threads[1], NULL, scene_between, &scenes[i]);
            pthread_join(threads[0], NULL);
            pthread_join(threads[1], NULL);
            return 0;
        }
    }
    fprintf(stderr, "usage: %s SCENE, for instance %s\n", argv[0], scenes[0].name);
    return 2;
}

#define SCENE_PLAY(scenes, argc, argv)                                                             \
    scene_play(scenes, sizeof(scenes) / sizeof((scenes)[0]), argc, argv)

#endif
