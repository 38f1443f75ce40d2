/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To be loaded into the command (LD_PRELOAD): the allocation number $NO_MEMORY_AT fails, and the
 * file $NO_MEMORY_COUNT gets the number of allocations. Only those of the command's own code count:
 * libdw and the dynamic linker crash at some of theirs. Other programs, such as the watched one,
 * which gets the variables as well, are left alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static bool counts;
static const void *own; /* where the program itself is loaded */
static unsigned long fatal;
static atomic_ulong count;

__attribute__((constructor)) static void start(void)
{
    const char *at = getenv("NO_MEMORY_AT");

    counts = at != NULL && strcmp(program_invocation_short_name, "tmesis") == 0;
    own = (const void *)getauxval(AT_PHDR);
    fatal = counts ? strtoul(at, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
    FILE *file = counts ? fopen(getenv("NO_MEMORY_COUNT"), "we") : NULL;
    unsigned long total = count;

    if (file != NULL) {
        fprintf(file, "%lu\n", total);
        fclose(file);
    }
}

/* Called from the program itself, which its program headers are a part of? */
static bool is_own(const void *caller)
{
    Dl_info here, there;

    return dladdr(caller, &here) != 0 && dladdr(own, &there) != 0 &&
           here.dli_fbase == there.dli_fbase;
}

static bool fails(const void *caller)
{
    bool now = counts && is_own(caller) && atomic_fetch_add(&count, 1) + 1 == fatal;

    errno = now ? ENOMEM : errno;
    return now;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

void *realloc(void *block, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}
