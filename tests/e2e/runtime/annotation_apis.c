/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations of tmesis/annotate.h, Valgrind, the dynamic annotations and ThreadSanitizer's public
 * header; and atomic operations on wide objects, for which compilers call a library.
 */
#include <sanitizer/tsan_interface.h>
#include <stdatomic.h>

#include "scene.h"
#include "tmesis/valgrind.h"

/* There is no header for these: every program declares them itself. */
void AnnotateRWLockAcquired(const char *file, int line, const void *lock, long writer);
void AnnotateRWLockReleased(const char *file, int line, const void *lock, long writer);
void AnnotateHappensBefore(const char *file, int line, const void *object);
void AnnotateHappensAfter(const char *file, int line, const void *object);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateNewMemory(const char *file, int line, const void *address, size_t size);
void AnnotateBenignRace(const char *file, int line, const void *address, const char *text);

#define HERE __FILE__, __LINE__

static volatile long number;
static _Thread_local volatile long sink;
static int object, word;

#define DO(name, ...)                                                                              \
    static void name(void)                                                                         \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }

DO(read_number, sink = number)
DO(change, number = number + 1)

DO(ignored, tmesis_ignore_begin(); change(); tmesis_ignore_end())
DO(ignored_twice, tmesis_ignore_begin(); ignored(); change(); tmesis_ignore_end())
DO(no_longer_ignored, ignored_twice(); change())
DO(ended_only, tmesis_ignore_end(); change())
DO(ignored_read, tmesis_ignore_reads_begin(); read_number(); tmesis_ignore_reads_end())
DO(written_meanwhile, tmesis_ignore_reads_begin(); number = 1; tmesis_ignore_reads_end())
DO(ignored_write, tmesis_ignore_writes_begin(); number = 1; tmesis_ignore_writes_end())
DO(read_meanwhile, tmesis_ignore_writes_begin(); read_number(); tmesis_ignore_writes_end())
DO(happens_before, tmesis_happens_before(&object))
DO(happens_after, tmesis_happens_after(&object))
DO(happens_elsewhere, tmesis_happens_after(&word))
DO(renewed, tmesis_new_memory((const void *)&number, sizeof(number)); number = 1)
DO(arrive, change(); tmesis_barrier_arriving(&object))
DO(depart, tmesis_barrier_departed(&object); change())
DO(another_lock, tmesis_lock_gone(&object); tmesis_lock_acquired(&object);
   tmesis_lock_releasing(&object))

DO(valgrind_lock, ANNOTATE_RWLOCK_ACQUIRED(&object, 1); ANNOTATE_RWLOCK_RELEASED(&object, 1))
DO(valgrind_share, ANNOTATE_RWLOCK_ACQUIRED(&object, 0); ANNOTATE_RWLOCK_RELEASED(&object, 0))

DO(dynamic_lock, AnnotateRWLockAcquired(HERE, &object, 1); AnnotateRWLockReleased(HERE, &object, 1))
DO(dynamic_share, AnnotateRWLockAcquired(HERE, &object, 0);
   AnnotateRWLockReleased(HERE, &object, 0))
DO(dynamic_before, AnnotateHappensBefore(HERE, &object))
DO(dynamic_after, AnnotateHappensAfter(HERE, &object))
DO(dynamic_read, AnnotateIgnoreReadsBegin(HERE); read_number(); AnnotateIgnoreReadsEnd(HERE))
DO(dynamic_renewed, AnnotateNewMemory(HERE, (const void *)&number, sizeof(number)); number = 1)
DO(dynamic_race, AnnotateBenignRace(HERE, (const void *)&number, "harmless"); change())

/* A lock whose implementation is ignored, whatever it accesses. */
static void tsan_hold(unsigned flags)
{
    __tsan_mutex_pre_lock(&object, flags);
    word = word + 1;
    __tsan_mutex_post_lock(&object, flags, 0);
    if ((flags & __tsan_mutex_try_lock_failed) == 0) {
        __tsan_mutex_pre_unlock(&object, flags);
        word = word - 1;
        __tsan_mutex_post_unlock(&object, flags);
    }
}
DO(tsan_lock, tsan_hold(0))
DO(tsan_share, tsan_hold(__tsan_mutex_read_lock))
DO(tsan_fail, tsan_hold(__tsan_mutex_try_lock | __tsan_mutex_try_lock_failed))
DO(tsan_release, __tsan_release(&object))
DO(tsan_acquire, __tsan_acquire(&object))
DO(tsan_divert, __tsan_mutex_pre_lock(&object, 0); __tsan_mutex_pre_divert(&object, 0); change();
   __tsan_mutex_post_divert(&object, 0);
   __tsan_mutex_post_lock(&object, __tsan_mutex_try_lock_failed, 0))

struct wide {
    long words[3];
};
static _Atomic struct wide wide;
static _Atomic __int128 pair;
static const struct wide one = {{1}};

DO(load_pair, sink = (long)atomic_load(&pair))
DO(store_pair, atomic_store(&pair, 1))
DO(add_pair, atomic_fetch_add(&pair, 1))
DO(fail_pair, __int128 expected = 77; atomic_compare_exchange_strong(&pair, &expected, 1))
DO(load_wide, struct wide value = atomic_load(&wide); sink = value.words[0])
DO(store_wide, atomic_store(&wide, one))
DO(exchange_wide, struct wide value = atomic_exchange(&wide, one); sink = value.words[0])
DO(fail_wide, struct wide expected = {{77}};
   if (atomic_compare_exchange_strong(&wide, &expected, one)) puts("it is not 77"))

static struct scene scenes[] = {
    {"ignored", ignored, ignored, NULL},
    {"ignored-here", ignored, change, NULL},
    {"ignored-nested", ignored_twice, change, NULL},
    {"ignored-no-longer", no_longer_ignored, change, NULL},
    {"ignored-never", ended_only, change, NULL},
    {"ignored-reads", ignored_read, change, NULL},
    {"ignored-reads-only", written_meanwhile, change, NULL},
    {"ignored-writes", ignored_write, read_number, NULL},
    {"ignored-writes-only", read_meanwhile, change, NULL},
    {"happens", happens_before, happens_after, happens_after},
    {"happens-elsewhere", happens_before, happens_elsewhere, happens_before},
    {"new-memory", renewed, renewed, NULL},
    {"barrier", arrive, change, depart},
    {"lock-gone", another_lock, another_lock, NULL},
    {"valgrind-lock", valgrind_lock, valgrind_lock, NULL},
    {"valgrind-shared", valgrind_share, valgrind_share, NULL},
    {"valgrind-mixed", valgrind_share, valgrind_lock, NULL},
    {"dynamic-lock", dynamic_lock, dynamic_lock, NULL},
    {"dynamic-shared", dynamic_share, dynamic_share, NULL},
    {"dynamic-happens", dynamic_before, dynamic_after, dynamic_after},
    {"dynamic-ignored", dynamic_read, change, NULL},
    {"dynamic-new-memory", dynamic_renewed, dynamic_renewed, NULL},
    {"dynamic-race", dynamic_race, change, NULL},
    {"tsan-lock", tsan_lock, tsan_lock, NULL},
    {"tsan-shared", tsan_share, tsan_share, NULL},
    {"tsan-mixed", tsan_share, tsan_lock, NULL},
    {"tsan-fail", tsan_fail, tsan_fail, NULL},
    {"tsan-happens", tsan_release, tsan_acquire, tsan_acquire},
    {"tsan-divert", tsan_divert, change, NULL},
    {"pair-add", add_pair, add_pair, NULL},
    {"pair-load", load_pair, load_pair, NULL},
    {"pair-load-store", load_pair, store_pair, NULL},
    {"pair-fail", fail_pair, load_pair, NULL},
    {"pair-fail-store", fail_pair, store_pair, NULL},
    {"wide-load", load_wide, load_wide, NULL},
    {"wide-load-store", load_wide, store_wide, NULL},
    {"wide-exchange", exchange_wide, exchange_wide, NULL},
    {"wide-fail", fail_wide, load_wide, NULL},
    {"wide-fail-exchange", fail_wide, exchange_wide, NULL},
};

int main(int argc, char **argv)
{
    return SCENE_PLAY(scenes, argc, argv);
}
