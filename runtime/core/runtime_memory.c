/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the runtime; see runtime_memory.h. It comes in power-of-two sizes: small blocks are cut
 * from slabs and returned to a free list per size; large ones are mappings of their own. The lists
 * have a lock, because threads start and end concurrently with the engine.
 */
#include "runtime/core/runtime_memory.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/core/raw_system_call.h"
#include "runtime/core/runtime_mutex.h"

#define SLAB        (1u << 20)
#define SMALL_MOST  (1u << 16) /* larger ones are mapped individually */
#define SMALL_LEAST 32u
#define SIZES       12 /* 32 bytes to 64 KiB */

struct free_block {
    struct free_block *next;
};

static struct {
    struct tms_rt_mutex lock;
    struct free_block *free[SIZES];
    char *slab;
    size_t left;
} pool;

void *tms_rt_map(size_t bytes)
{
    long address = tms_rt_raw(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (address < 0 && address > -4096) {
        return NULL;
    }
    tms_rt_raw(SYS_madvise, address, (long)bytes, MADV_DONTDUMP, 0, 0,
               0); /* keeps core files small */
    return (void *)address;
}

/* Another thread may have been inside at the fork: its half-finished lists are not reused. */
void tms_rt_memory_restart(void)
{
    tms_rt_mutex_restart(&pool.lock);
    memset(pool.free, 0, sizeof(pool.free));
    pool.slab = NULL;
    pool.left = 0;
}

/* ---- blocks ----------------------------------------------------------------------------- */

static unsigned size_class(size_t bytes)
{
    unsigned cls = 0;

    while ((size_t)SMALL_LEAST << cls < bytes) {
        cls++;
    }
    assert(cls < SIZES && bytes <= SMALL_MOST);
    return cls;
}

static void *take_small(size_t bytes)
{
    unsigned cls = size_class(bytes);
    size_t size = (size_t)SMALL_LEAST << cls;
    void *block;

    tms_rt_mutex_lock(&pool.lock);
    assert(pool.left <= SLAB);
    if (pool.free[cls] != NULL) {
        block = pool.free[cls];
        pool.free[cls] = pool.free[cls]->next;
        memset(block, 0, size);
    } else {
        if (pool.left < size) {
            pool.slab = tms_rt_map(SLAB);
            pool.left = pool.slab == NULL ? 0 : SLAB;
        }
        block = pool.left < size ? NULL : pool.slab;
        pool.slab += block == NULL ? 0 : size;
        pool.left -= block == NULL ? 0 : size;
    }
    tms_rt_mutex_unlock(&pool.lock);
    return block;
}

static void give_small(void *block, size_t bytes)
{
    struct free_block *free = block;
    unsigned cls = size_class(bytes);

    assert(block != NULL && (uintptr_t)block % SMALL_LEAST == 0);
    tms_rt_mutex_lock(&pool.lock);
    free->next = pool.free[cls];
    pool.free[cls] = free;
    tms_rt_mutex_unlock(&pool.lock);
}

static void *take(size_t bytes)
{
    return bytes <= SMALL_MOST ? take_small(bytes) : tms_rt_map(bytes);
}

static void give(void *block, size_t bytes)
{
    assert(block != NULL && bytes > 0);
    if (bytes <= SMALL_MOST) {
        give_small(block, bytes);
    } else {
        tms_rt_raw(SYS_munmap, (long)block, (long)bytes, 0, 0, 0, 0);
    }
}

/* ---- base/memory.h ---------------------------------------------------------------------- */

static void *resize(void *block, size_t old_bytes, size_t new_bytes)
{
    void *grown = take(new_bytes);

    assert((block == NULL) == (old_bytes == 0));
    if (grown != NULL && block != NULL) {
        memcpy(grown, block, old_bytes < new_bytes ? old_bytes : new_bytes);
        give(block, old_bytes);
    }
    return grown;
}

const struct tms_allocator tms_rt_allocator = {.resize = resize, .release = give};
