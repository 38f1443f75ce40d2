/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking for the definition of a function that the program would have called without us: the
 * next one behind the executable, in the order in which the dynamic linker searches.
 *
 * This runs before any constructor, from whatever is called first, so it relies on nothing but
 * the dynamic linker. The dynamic linker itself may allocate meanwhile, which comes back here
 * through malloc: alloc.c asks tms_rt_looking_up() and then does without the real malloc.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose.h"

static TMS_RT_TLS unsigned looking_up;

bool tms_rt_looking_up(void)
{
    return looking_up != 0;
}

/*
 * C++ that came in with dlopen is not behind the executable, and asks us for operator new all
 * the same, and preload/ for what exceptions need.
 */
static void *look_in_loaded(const char *name)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++.so.1", "libgcc_s.so.1"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        void *found = library == NULL ? NULL : dlsym(library, name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static void *look_up(const char *name, const char *version, bool anywhere)
{
    void *found = version == NULL ? NULL : dlvsym(RTLD_NEXT, name, version);
    if (found == NULL)
        found = dlsym(RTLD_NEXT, name);
    if (found == NULL && anywhere)
        found = look_in_loaded(name);
    return found;
}

/* One byte at a time, because strlen may be what is missing. */
static void say(const char *text)
{
    for (; *text != '\0'; text++)
        syscall(SYS_write, STDERR_FILENO, text, 1);
}

static _Noreturn void give_up(const char *name)
{
    say("tmesis: the program calls ");
    say(name);
    say("(), but the runtime finds it in none of the shared libraries; link with the one that "
        "has it\n");
    abort();
}

void *tms_rt_next(const char *name, const char *version, void *fallback)
{
    int saved_errno = errno;
    looking_up++;
    void *found = look_up(name, version, fallback != NULL);
    looking_up--;
    errno = saved_errno;
    if (found == NULL)
        found = fallback;
    if (found == NULL)
        give_up(name);
    return found;
}
