/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the definition of a function that the program would call without this runtime: the next one
 * after the executable in the dynamic linker's search order.
 *
 * This runs before any constructor, from whichever function is called first, so it relies on
 * nothing but the dynamic linker. The dynamic linker may allocate meanwhile and re-enter through
 * malloc: malloc_intercept.c checks tms_rt_looking_up() and then serves the request without the
 * real malloc.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/raw_system_call.h"
#include "runtime/intercept/interpose.h"

static TMS_RT_TLS unsigned looking_up;

bool tms_rt_looking_up(void)
{
    return looking_up != 0;
}

/*
 * A C++ library loaded with dlopen is not in the search order after the executable, but still binds
 * operator new, and in preload/ the functions of exceptions, to ours.
 */
static void *look_in_loaded(const char *name)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++.so.1", "libgcc_s.so.1"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        void *found = library == NULL ? NULL : dlsym(library, name);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

struct search {
    const char *name, *version;
    bool anywhere;
    void *found;
};

static void look_up(void *argument)
{
    struct search *search = argument;
    void *found = search->version == NULL ? NULL : dlvsym(RTLD_NEXT, search->name, search->version);
    if (found == NULL) {
        found = dlsym(RTLD_NEXT, search->name);
    }
    if (found == NULL && search->anywhere) {
        found = look_in_loaded(search->name);
    }
    search->found = found;
}

/* One byte at a time, because strlen may be what is missing. */
static void say(const char *text)
{
    for (; *text != '\0'; text++) {
        tms_rt_raw(SYS_write, STDERR_FILENO, (long)text, 1, 0, 0, 0);
    }
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
    struct search search = {name, version, fallback != NULL, NULL};
    int saved_errno = errno;
    struct tms_rt_thread *thread = tms_rt_enter();
    looking_up++;
    tms_rt_call_deep(look_up, &search);
    looking_up--;
    errno = saved_errno;
    if (thread != NULL) {
        tms_rt_leave(thread);
    }
    void *found = search.found;
    if (found == NULL) {
        found = fallback;
    }
    if (found == NULL) {
        give_up(name);
    }
    return found;
}
