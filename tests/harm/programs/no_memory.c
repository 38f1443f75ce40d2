/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To be loaded into the command (LD_PRELOAD): the allocation number $NO_MEMORY_AT fails, and the
 * file $NO_MEMORY_COUNT gets the number of allocations. Only those of the command's own code count:
 * libdw and the dynamic linker crash at some of theirs. Other programs, such as the watched one,
 * which gets the variables as well, are left alone.
 */
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static bool counts;
static uintptr_t own, own_end; /* where the program itself is loaded */
static unsigned long fatal;
static atomic_ulong count;

/* The program itself comes first. */
static int find_own(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    (void)user;
    own = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t end = own + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
        own_end = info->dlpi_phdr[i].p_type == PT_LOAD && end > own_end ? end : own_end;
    }
    return 1;
}

__attribute__((constructor)) static void start(void)
{
    const char *at = getenv("NO_MEMORY_AT");

    counts = at != NULL && strcmp(program_invocation_short_name, "tmesis") == 0;
    dl_iterate_phdr(find_own, NULL);
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

static bool fails(const void *caller)
{
    bool is_own = (uintptr_t)caller >= own && (uintptr_t)caller < own_end;
    bool now = counts && is_own && atomic_fetch_add(&count, 1) + 1 == fatal;

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
