/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations: the functions of tmesis/annotate.h, the public functions of ThreadSanitizer for
 * locks and order, and the dynamic annotations (Annotate…) that libraries such as abseil and
 * gperftools call.
 *
 * A program may define the dynamic annotations itself, as functions that do nothing. So ours are
 * weak: linked before the program they override weak definitions and give way to strong ones.
 *
 * "Happens before" and "happens after" are semaphore operations: each operation on an object is
 * ordered after all earlier ones on it.
 */
#include <tmesis/annotate.h>

#include "runtime/core/live_counts.h"
#include "runtime/core/thread.h"
#include "runtime/intercept/interpose.h"

/* The callers' type is volatile; the runtime only needs the address. */
static const void *plain(const volatile void *address)
{
    return (const void *)(uintptr_t)address;
}

/* An end without a begin (which came before the thread was registered, say) is ignored. */
static void ignore(struct tms_rt_thread *thread, enum tms_rt_access access, int change)
{
    if (change > 0 || thread->ignored[access] > 0) {
        thread->ignored[access] += (uint32_t)change;
    }
}

static void ignore_reads(struct tms_rt_thread *thread, int change)
{
    ignore(thread, TMS_RT_READ, change);
}

static void ignore_writes(struct tms_rt_thread *thread, int change)
{
    ignore(thread, TMS_RT_WRITE, change);
    ignore(thread, TMS_RT_UPDATE, change);
}

static void ignore_all(struct tms_rt_thread *thread, int change)
{
    ignore_reads(thread, change);
    ignore_writes(thread, change);
}

/* ---- tmesis/annotate.h ------------------------------------------------------------------ */

/* In parentheses, because the header has macros of the same names. */

void(tmesis_begin)(const char *name)
{
    TMS_RT_REPORT(tms_rt_begin(thread, name, TMS_RT_PC()));
}

void(tmesis_end)(void)
{
    TMS_RT_REPORT(tms_rt_end(thread, TMS_RT_PC()));
}

void(tmesis_new_memory)(const volatile void *address, size_t size)
{
    TMS_RT_REPORT(tms_rt_clear_history((uintptr_t)address, size));
}

/* Updates the counts first, so that the report has the current ones. */
void(tmesis_report)(void)
{
    TMS_RT_REPORT(tms_rt_publish());
    tms_rt_ask_report();
}

void(tmesis_name_thread)(const char *name)
{
    if (name != NULL) {
        TMS_RT_REPORT(tms_rt_name_thread(thread, name));
    }
}

void(tmesis_name_lock)(const volatile void *lock, const char *name)
{
    if (name != NULL) {
        TMS_RT_REPORT(tms_rt_name_object(plain(lock), name));
    }
}

void(tmesis_name_memory)(const volatile void *address, const char *name)
{
    if (name != NULL) {
        TMS_RT_REPORT(tms_rt_name_object(plain(address), name));
    }
}

#define ABOUT(name, call)                                                                          \
    void(name)(const volatile void *object)                                                        \
    {                                                                                              \
        TMS_RT_REPORT(call(thread, plain(object), TMS_RT_PC()));                                   \
    }
#define IGNORE(name, call, change)                                                                 \
    void(name)(void)                                                                               \
    {                                                                                              \
        TMS_RT_REPORT(call(thread, change));                                                       \
    }
#define LOCK_GONE(thread, lock, pc) tms_rt_sync_gone(TMS_RT_LOCK, lock)

ABOUT(tmesis_lock_acquired, tms_rt_acquired)
ABOUT(tmesis_lock_releasing, tms_rt_releasing)
ABOUT(tmesis_lock_acquired_shared, tms_rt_acquired_shared)
ABOUT(tmesis_lock_releasing_shared, tms_rt_releasing_shared)
ABOUT(tmesis_lock_gone, LOCK_GONE)
ABOUT(tmesis_happens_before, tms_rt_ordered)
ABOUT(tmesis_happens_after, tms_rt_ordered)
ABOUT(tmesis_barrier_arriving, tms_rt_arriving)
ABOUT(tmesis_barrier_departed, tms_rt_departed)

IGNORE(tmesis_ignore_begin, ignore_all, 1)
IGNORE(tmesis_ignore_end, ignore_all, -1)
IGNORE(tmesis_ignore_reads_begin, ignore_reads, 1)
IGNORE(tmesis_ignore_reads_end, ignore_reads, -1)
IGNORE(tmesis_ignore_writes_begin, ignore_writes, 1)
IGNORE(tmesis_ignore_writes_end, ignore_writes, -1)

/* ---- sanitizer/tsan_interface.h --------------------------------------------------------- */

/* The flags that matter, with the values of that header. */
enum {
    LINKER_INIT = 1 << 0, /* may be used before it is created, and is never destroyed */
    READ_LOCK = 1 << 3,
    TRY_LOCK_FAILED = 1 << 5,
    RECURSIVE_LOCK = 1 << 6,   /* acquires it to the depth at which RECURSIVE_UNLOCK released it, */
    RECURSIVE_UNLOCK = 1 << 7, /* which is how hand-made conditions wait */
};

#define DECLARE_ABOUT(name)  TMS_RT_EXPORT void name(const volatile void *object);
#define DECLARE_IGNORE(name) TMS_RT_EXPORT void name(void);
#define MUTEX(name)          TMS_RT_EXPORT void __tsan_mutex_##name(void *lock, unsigned flags);

DECLARE_ABOUT(__tsan_acquire)
DECLARE_ABOUT(__tsan_release)
DECLARE_IGNORE(__tsan_ignore_thread_begin)
DECLARE_IGNORE(__tsan_ignore_thread_end)
MUTEX(create)
MUTEX(destroy)
MUTEX(pre_lock)
MUTEX(post_unlock)
MUTEX(pre_signal)
MUTEX(post_signal)
MUTEX(pre_divert)
MUTEX(post_divert)
TMS_RT_EXPORT void __tsan_mutex_post_lock(void *lock, unsigned flags, int depth);
TMS_RT_EXPORT int __tsan_mutex_pre_unlock(void *lock, unsigned flags);

ABOUT(__tsan_acquire, tms_rt_ordered)
ABOUT(__tsan_release, tms_rt_ordered)
IGNORE(__tsan_ignore_thread_begin, ignore_all, 1)
IGNORE(__tsan_ignore_thread_end, ignore_all, -1)

static void renew_lock(const void *lock, unsigned flags)
{
    if ((flags & LINKER_INIT) == 0) {
        TMS_RT_REPORT(tms_rt_sync_gone(TMS_RT_LOCK, lock));
    }
}

void __tsan_mutex_create(void *lock, unsigned flags)
{
    renew_lock(lock, flags);
}

void __tsan_mutex_destroy(void *lock, unsigned flags)
{
    renew_lock(lock, flags);
}

/*
 * Between pre and post the program is inside its lock implementation, whose reads and writes are
 * not checked; a divert leaves that section for a callback.
 */
#define INSIDE(name, change)                                                                       \
    void __tsan_mutex_##name(void *lock, unsigned flags)                                           \
    {                                                                                              \
        TMS_RT_REPORT(ignore_all(thread, change));                                                 \
    }

INSIDE(pre_lock, 1)
INSIDE(post_unlock, -1)
INSIDE(pre_signal, 1)
INSIDE(post_signal, -1)
INSIDE(pre_divert, -1)
INSIDE(post_divert, 1)

static void acquired(struct tms_rt_thread *thread, const void *lock, unsigned flags, int depth,
                     uintptr_t pc)
{
    ignore_all(thread, -1);
    if ((flags & TRY_LOCK_FAILED) != 0) {
        return;
    }
    if ((flags & READ_LOCK) != 0) {
        tms_rt_acquired_shared(thread, lock, pc);
    } else if ((flags & RECURSIVE_LOCK) != 0) {
        tms_rt_wait_ends(thread, lock, (unsigned)depth, pc);
    } else {
        tms_rt_acquired(thread, lock, pc);
    }
}

static int releasing(struct tms_rt_thread *thread, const void *lock, unsigned flags, uintptr_t pc)
{
    int depth = 1;
    if ((flags & READ_LOCK) != 0) {
        tms_rt_releasing_shared(thread, lock, pc);
    } else if ((flags & RECURSIVE_UNLOCK) != 0) {
        depth = (int)tms_rt_wait_begins(thread, lock, lock, pc);
    } else {
        tms_rt_releasing(thread, lock, pc);
    }
    ignore_all(thread, 1);
    return depth;
}

void __tsan_mutex_post_lock(void *lock, unsigned flags, int depth)
{
    TMS_RT_REPORT(acquired(thread, lock, flags, depth, TMS_RT_PC()));
}

int __tsan_mutex_pre_unlock(void *lock, unsigned flags)
{
    int depth = 1;
    TMS_RT_REPORT(depth = releasing(thread, lock, flags, TMS_RT_PC()));
    return depth;
}

/* ---- dynamic annotations ---------------------------------------------------------------- */

/* The first two parameters are file and line of the annotation. */
#define ANNOTATE(name, parameters, call)                                                           \
    TMS_RT_INTERPOSE void name(const char *file, int line, TMS_RT_LIST parameters);                \
    void name(const char *file, int line, TMS_RT_LIST parameters)                                  \
    {                                                                                              \
        TMS_RT_REPORT(call);                                                                       \
    }
#define TMS_RT_LIST(...) __VA_ARGS__

#define ORDER(name)                                                                                \
    ANNOTATE(name, (const void *object), tms_rt_ordered(thread, object, TMS_RT_PC()))
ORDER(AnnotateHappensBefore)
ORDER(AnnotateHappensAfter)
ORDER(WTFAnnotateHappensBefore)
ORDER(WTFAnnotateHappensAfter)
ORDER(AnnotateCondVarSignal)
ORDER(AnnotateCondVarSignalAll)
ORDER(AnnotatePCQPut)
ORDER(AnnotatePCQGet)
ANNOTATE(AnnotateCondVarWait, (const void *condition, const void *lock),
         tms_rt_ordered(thread, condition, TMS_RT_PC()))

ANNOTATE(AnnotateRWLockCreate, (const void *lock), tms_rt_sync_gone(TMS_RT_LOCK, lock))
ANNOTATE(AnnotateRWLockDestroy, (const void *lock), tms_rt_sync_gone(TMS_RT_LOCK, lock))
ANNOTATE(AnnotateRWLockAcquired, (const void *lock, long writer),
         (writer != 0 ? tms_rt_acquired : tms_rt_acquired_shared)(thread, lock, TMS_RT_PC()))
ANNOTATE(AnnotateRWLockReleased, (const void *lock, long writer),
         (writer != 0 ? tms_rt_releasing : tms_rt_releasing_shared)(thread, lock, TMS_RT_PC()))

ANNOTATE(AnnotateNewMemory, (const void *address, size_t size),
         tms_rt_clear_history((uintptr_t)address, size))
ANNOTATE(AnnotateThreadName, (const char *name), tms_rt_name_thread(thread, name))

#define ANNOTATE_IGNORE(name, call, change)                                                        \
    TMS_RT_INTERPOSE void name(const char *file, int line);                                        \
    void name(const char *file, int line)                                                          \
    {                                                                                              \
        TMS_RT_REPORT(call(thread, change));                                                       \
    }
ANNOTATE_IGNORE(AnnotateIgnoreReadsBegin, ignore_reads, 1)
ANNOTATE_IGNORE(AnnotateIgnoreReadsEnd, ignore_reads, -1)
ANNOTATE_IGNORE(AnnotateIgnoreWritesBegin, ignore_writes, 1)
ANNOTATE_IGNORE(AnnotateIgnoreWritesEnd, ignore_writes, -1)

/*
 * What concerns race detectors only. A race that does no harm may cut a block all the same, and
 * locks and order are followed always. (Arguments of theirs are left where they are.)
 */
#define ANNOTATE_NOTHING(name)                                                                     \
    TMS_RT_INTERPOSE void name(void);                                                              \
    void name(void)                                                                                \
    {                                                                                              \
    }
ANNOTATE_NOTHING(AnnotateBenignRace)
ANNOTATE_NOTHING(AnnotateBenignRaceSized)
ANNOTATE_NOTHING(WTFAnnotateBenignRaceSized)
ANNOTATE_NOTHING(AnnotateExpectRace)
ANNOTATE_NOTHING(AnnotateFlushExpectedRaces)
ANNOTATE_NOTHING(AnnotateFlushState)
ANNOTATE_NOTHING(AnnotateEnableRaceDetection)
ANNOTATE_NOTHING(AnnotateIgnoreSyncBegin)
ANNOTATE_NOTHING(AnnotateIgnoreSyncEnd)
ANNOTATE_NOTHING(AnnotateMemoryIsInitialized)
ANNOTATE_NOTHING(AnnotateMemoryIsUninitialized)
ANNOTATE_NOTHING(AnnotateMutexIsNotPHB)
ANNOTATE_NOTHING(AnnotateMutexIsUsedAsCondVar)
ANNOTATE_NOTHING(AnnotateNoOp)
ANNOTATE_NOTHING(AnnotatePCQCreate)
ANNOTATE_NOTHING(AnnotatePCQDestroy)
ANNOTATE_NOTHING(AnnotatePublishMemoryRange)
ANNOTATE_NOTHING(AnnotateUnpublishMemoryRange)
ANNOTATE_NOTHING(AnnotateRWLockCreateStatic)
ANNOTATE_NOTHING(AnnotateTraceMemory)

TMS_RT_INTERPOSE int RunningOnValgrind(void);
TMS_RT_INTERPOSE double ValgrindSlowdown(void);
TMS_RT_INTERPOSE int ThreadSanitizerQuery(const char *query);

int RunningOnValgrind(void)
{
    return 0;
}

double ValgrindSlowdown(void)
{
    return 1;
}

/* No property is supported: this is not that tool. */
int ThreadSanitizerQuery(const char *query)
{
    return 0;
}
