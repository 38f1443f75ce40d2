/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses in a library that was loaded by dlopen are seen like any others. */
#include <dlfcn.h>

#include "scene.h"

int main(int argc, char **argv)
{
    static struct scene scene = {.name = ""};
    char *names[] = {argv[0], "", NULL};
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;

    if (library == NULL) {
        fprintf(stderr, "usage: loaded LIBRARY; %s\n", argc == 2 ? dlerror() : "");
        return 2;
    }
    *(void **)&scene.before = dlsym(library, "plugin_write");
    scene.between = scene.before;
    return scene_play(&scene, 1, 2, names);
}
