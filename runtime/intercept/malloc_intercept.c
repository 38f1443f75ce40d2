/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's heap and mappings. Freed memory is reported before the real function, allocated
 * memory after it, so that no other thread owns it in between.
 *
 * realloc is recorded as its parts: the old block is read, the new one written, the old one freed.
 * Treating the new block as fresh memory would lose the order between threads that this makes.
 *
 * C++: operator new of the C++ library calls malloc, which would make the library the site of every
 * allocation, so it is interposed to record its caller. delete calls free, and needs no
 * interception.
 */
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/intercept/interpose.h"
#include "runtime/intercept/malloc_intercept.h"

/* ---- before there is a real malloc ------------------------------------------------------ */

/* Allocations of the dynamic linker while it looks malloc up: zero at first, never freed. */
#define EARLY_SIZE 16384u

struct early_block {
    size_t size;
    size_t reserved; /* keeps what follows aligned for any type */
};

static _Alignas(max_align_t) char early[EARLY_SIZE];

/* The memory that this thread allocates from instead of the heap, if it has been lent some. */
static TMS_RT_TLS struct {
    char *start, *next, *end;
} lent;

void tms_rt_lend(char *memory, size_t size)
{
    lent.start = lent.next = memory;
    lent.end = memory + size;
}

static bool without_heap(void)
{
    return lent.start != NULL || tms_rt_looking_up();
}

static bool is_early(const void *block)
{
    return (uintptr_t)block - (uintptr_t)early < EARLY_SIZE ||
           (lent.start != NULL &&
            (uintptr_t)block - (uintptr_t)lent.start < (uintptr_t)(lent.end - lent.start));
}

static void *lent_allocate(size_t whole, size_t size)
{
    if (whole > (size_t)(lent.end - lent.next)) {
        return NULL;
    }
    struct early_block *block = (struct early_block *)lent.next;
    lent.next += whole;
    block->size = size;
    return block + 1;
}

static void *early_allocate(size_t size)
{
    static _Atomic size_t used;
    if (size > EARLY_SIZE) {
        return NULL;
    }
    size_t whole = sizeof(struct early_block) + ((size + 15) & ~(size_t)15);
    if (lent.start != NULL) {
        return lent_allocate(whole, size);
    }
    size_t at = atomic_fetch_add(&used, whole);
    if (at + whole > EARLY_SIZE) {
        return NULL;
    }
    struct early_block *block = (struct early_block *)(early + at);
    block->size = size;
    return block + 1;
}

/* ---- malloc and its family -------------------------------------------------------------- */

/* The site of the allocation, if it is not the caller of malloc; 0 otherwise. */
static TMS_RT_TLS uintptr_t wanted_at;

void tms_rt_allocating(uintptr_t pc)
{
    wanted_at = pc;
}

static uintptr_t caller_or(uintptr_t pc)
{
    uintptr_t caller = wanted_at;
    wanted_at = 0;
    return caller != 0 ? caller : pc;
}

static void *had(void *block, size_t size, uintptr_t pc)
{
    if (block != NULL) {
        TMS_RT_REPORT(tms_rt_allocated(thread, (uintptr_t)block, size, pc));
    }
    return block;
}

TMS_RT_REAL(void *, malloc, (size_t))
TMS_RT_INTERPOSE void *malloc(size_t size)
{
    uintptr_t pc = caller_or(TMS_RT_PC());
    if (without_heap()) {
        return early_allocate(size);
    }
    return had(real_malloc()(size), size, pc);
}

TMS_RT_REAL(void *, calloc, (size_t, size_t))
TMS_RT_INTERPOSE void *calloc(size_t count, size_t size)
{
    uintptr_t pc = TMS_RT_PC();
    size_t whole;
    if (without_heap()) {
        return __builtin_mul_overflow(count, size, &whole) ? NULL : early_allocate(whole);
    }
    return had(real_calloc()(count, size), count * size, pc);
}

TMS_RT_REAL(void, free, (void *))
TMS_RT_INTERPOSE void free(void *block)
{
    /* A failed lookup frees its message: looking up free for that would recurse forever. */
    if (block == NULL || is_early(block) || without_heap()) {
        return;
    }
    TMS_RT_REPORT(tms_rt_freed(thread, (uintptr_t)block));
    real_free()(block);
}

TMS_RT_REAL(void *, realloc, (void *, size_t))
TMS_RT_REAL(size_t, malloc_usable_size, (void *))

static void *move_early(void *block, size_t size)
{
    const struct early_block *old = (const struct early_block *)block - 1;
    void *moved = without_heap() ? early_allocate(size) : malloc(size);
    if (moved != NULL) {
        memcpy(moved, block, old->size < size ? old->size : size);
    }
    return moved;
}

static void record_old_block(struct tms_rt_thread *thread, void *block, size_t kept, uintptr_t pc)
{
    tms_rt_access(thread, (uintptr_t)block, kept, TMS_RT_READ, pc);
    tms_rt_freed(thread, (uintptr_t)block);
}

static void record_new_block(struct tms_rt_thread *thread, void *block, size_t size, size_t kept,
                             uintptr_t pc)
{
    tms_rt_allocated(thread, (uintptr_t)block, size, pc);
    tms_rt_access(thread, (uintptr_t)block, kept, TMS_RT_WRITE, pc);
}

static void *resize(void *block, size_t size, uintptr_t pc)
{
    if (is_early(block)) {
        return move_early(block, size);
    }
    if (without_heap()) {
        return early_allocate(size);
    }
    if (block == NULL) {
        return had(real_malloc()(size), size, pc);
    }
    size_t old_size = real_malloc_usable_size()(block);
    size_t kept = old_size < size ? old_size : size;
    TMS_RT_REPORT(record_old_block(thread, block, kept, pc));
    void *moved = real_realloc()(block, size);
    if (moved != NULL) {
        TMS_RT_REPORT(record_new_block(thread, moved, size, kept, pc));
    } else if (size != 0) { /* it failed, and the block is unchanged */
        had(block, old_size, pc);
    }
    return moved;
}

TMS_RT_INTERPOSE void *realloc(void *block, size_t size)
{
    return resize(block, size, TMS_RT_PC());
}

TMS_RT_INTERPOSE void *reallocarray(void *block, size_t count, size_t size)
{
    size_t whole;
    if (!__builtin_mul_overflow(count, size, &whole)) {
        return resize(block, whole, TMS_RT_PC());
    }
    errno = ENOMEM;
    return NULL;
}

TMS_RT_REAL(int, posix_memalign, (void **, size_t, size_t))
TMS_RT_INTERPOSE int posix_memalign(void **block, size_t alignment, size_t size)
{
    uintptr_t pc = TMS_RT_PC();
    int result = real_posix_memalign()(block, alignment, size);
    if (result == 0) {
        had(*block, size, pc);
    }
    return result;
}

#define ALLOCATES(name, parameters, arguments)                                                     \
    TMS_RT_REAL(void *, name, parameters)                                                          \
    TMS_RT_INTERPOSE void *name parameters                                                         \
    {                                                                                              \
        uintptr_t pc = caller_or(TMS_RT_PC());                                                     \
        return had(real_##name() arguments, size, pc);                                             \
    }

ALLOCATES(memalign, (size_t alignment, size_t size), (alignment, size))
ALLOCATES(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
ALLOCATES(valloc, (size_t size), (size))
ALLOCATES(pvalloc, (size_t size), (size))

/* ---- C++ -------------------------------------------------------------------------------- */

/*
 * Fallbacks for programs without a C++ library after us in the search order (if it is linked
 * statically, operator new would be ours). std::__throw_bad_alloc() exists if the program has it.
 */
extern void _ZSt17__throw_bad_allocv(void) __attribute__((weak));

static void *or_throw(void *block)
{
    if (block != NULL) {
        return block;
    }
    if (_ZSt17__throw_bad_allocv != NULL) {
        _ZSt17__throw_bad_allocv();
    }
    abort();
}

static void *plain_new(size_t size)
{
    return or_throw(malloc(size));
}

static void *plain_new_nothrow(size_t size, const void *tag)
{
    (void)tag;
    return malloc(size);
}

static void *plain_new_aligned(size_t size, size_t alignment)
{
    return or_throw(memalign(alignment, size));
}

static void *plain_new_aligned_nothrow(size_t size, size_t alignment, const void *tag)
{
    (void)tag;
    return memalign(alignment, size);
}

#define NEW(name, parameters, arguments, plain)                                                    \
    TMS_RT_REAL_NEXT(void *, name, parameters, NULL, (void *)(uintptr_t)plain)                     \
    TMS_RT_INTERPOSE void *name parameters;                                                        \
    TMS_RT_INTERPOSE void *name parameters                                                         \
    {                                                                                              \
        tms_rt_allocating(TMS_RT_PC());                                                            \
        return real_##name() arguments;                                                            \
    }

NEW(_Znwm, (size_t size), (size), plain_new)
NEW(_Znam, (size_t size), (size), plain_new)
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag), (size, tag), plain_new_nothrow)
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *tag), (size, tag), plain_new_nothrow)
NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment), plain_new_aligned)
NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment), plain_new_aligned)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *tag),
    (size, alignment, tag), plain_new_aligned_nothrow)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *tag),
    (size, alignment, tag), plain_new_aligned_nothrow)

/* ---- mappings --------------------------------------------------------------------------- */

static void *mapped(void *start, size_t size)
{
    if (start != MAP_FAILED) {
        TMS_RT_REPORT(tms_rt_clear_history((uintptr_t)start, size));
    }
    return start;
}

#define MAPS(name, offset_type)                                                                    \
    TMS_RT_REAL(void *, name, (void *, size_t, int, int, int, offset_type))                        \
    TMS_RT_INTERPOSE void *name(void *start, size_t size, int protection, int flags, int file,     \
                                offset_type offset)                                                \
    {                                                                                              \
        return mapped(real_##name()(start, size, protection, flags, file, offset), size);          \
    }

MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

/*
 * Locking all memory would fault in terabytes of shadow memory, so pages are locked when they are
 * touched. Without privileges the reserved address space alone exceeds the limit: then nothing is
 * locked, as in other sanitizers, because a program must behave the same whether it is watched or
 * not.
 */
TMS_RT_REAL(int, mlockall, (int))
TMS_RT_INTERPOSE int mlockall(int flags)
{
    int before = errno;
    bool known = flags != 0 && (flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)) == 0;
    if (tms_rt_self == NULL || !known || flags == MCL_ONFAULT) {
        return real_mlockall()(flags);
    }
    if (real_mlockall()(flags | MCL_ONFAULT) != 0) {
        TMS_RT_REPORT(tms_rt_warn("mlockall had no effect: the program is watched, and has no "
                                  "privilege to lock the runtime's memory"));
        errno = before;
    }
    return 0;
}

TMS_RT_REAL(int, munmap, (void *, size_t))
TMS_RT_INTERPOSE int munmap(void *start, size_t size)
{
    TMS_RT_REPORT(tms_rt_clear_history((uintptr_t)start, size));
    return real_munmap()(start, size);
}

/*
 * A mapping that stays in place keeps its history, so that is tried first. One that moves is new
 * memory at both addresses.
 */
TMS_RT_REAL(void *, mremap, (void *, size_t, size_t, int, ...))
TMS_RT_INTERPOSE void *mremap(void *start, size_t size, size_t new_size, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *target = va_arg(list, void *);
    va_end(list);
    if (flags == MREMAP_MAYMOVE) {
        void *same = real_mremap()(start, size, new_size, 0);
        if (same != MAP_FAILED) {
            return same;
        }
    }
    if (flags & MREMAP_MAYMOVE) {
        TMS_RT_REPORT(tms_rt_clear_history((uintptr_t)start, size));
    }
    void *result = real_mremap()(start, size, new_size, flags, target);
    return flags & MREMAP_MAYMOVE ? mapped(result, new_size) : result;
}
