/* SPDX-License-Identifier: 0BSD */
/*
 * Valgrind's thread annotations, mapped to those of tmesis. Include this header instead of
 * <valgrind/helgrind.h> and <valgrind/drd.h>, or after them. Annotations by functions called
 * Annotate…, as other libraries have them, work without it. See annotate.h, which also has the
 * licence.
 */
#ifndef TMESIS_VALGRIND_H
#define TMESIS_VALGRIND_H

#include "annotate.h"

#undef ANNOTATE_RWLOCK_CREATE
#undef ANNOTATE_RWLOCK_DESTROY
#undef ANNOTATE_RWLOCK_ACQUIRED
#undef ANNOTATE_RWLOCK_RELEASED
#undef ANNOTATE_READERLOCK_ACQUIRED
#undef ANNOTATE_READERLOCK_RELEASED
#undef ANNOTATE_WRITERLOCK_ACQUIRED
#undef ANNOTATE_WRITERLOCK_RELEASED
#define ANNOTATE_RWLOCK_CREATE(lock)  tmesis_lock_gone(lock)
#define ANNOTATE_RWLOCK_DESTROY(lock) tmesis_lock_gone(lock)
#define ANNOTATE_RWLOCK_ACQUIRED(lock, writer)                                                     \
    ((writer) ? tmesis_lock_acquired(lock) : tmesis_lock_acquired_shared(lock))
#define ANNOTATE_RWLOCK_RELEASED(lock, writer)                                                     \
    ((writer) ? tmesis_lock_releasing(lock) : tmesis_lock_releasing_shared(lock))
#define ANNOTATE_READERLOCK_ACQUIRED(lock) tmesis_lock_acquired_shared(lock)
#define ANNOTATE_READERLOCK_RELEASED(lock) tmesis_lock_releasing_shared(lock)
#define ANNOTATE_WRITERLOCK_ACQUIRED(lock) tmesis_lock_acquired(lock)
#define ANNOTATE_WRITERLOCK_RELEASED(lock) tmesis_lock_releasing(lock)

#undef ANNOTATE_SEM_INIT_PRE
#undef ANNOTATE_SEM_DESTROY_POST
#undef ANNOTATE_SEM_WAIT_PRE
#undef ANNOTATE_SEM_WAIT_POST
#undef ANNOTATE_SEM_POST_PRE
#define ANNOTATE_SEM_INIT_PRE(semaphore, value) ((void)0)
#define ANNOTATE_SEM_DESTROY_POST(semaphore)    ((void)0)
#define ANNOTATE_SEM_WAIT_PRE(semaphore)        ((void)0)
#define ANNOTATE_SEM_WAIT_POST(semaphore)       tmesis_happens_after(semaphore)
#define ANNOTATE_SEM_POST_PRE(semaphore)        tmesis_happens_before(semaphore)

#undef ANNOTATE_BARRIER_INIT
#undef ANNOTATE_BARRIER_DESTROY
#undef ANNOTATE_BARRIER_WAIT_BEFORE
#undef ANNOTATE_BARRIER_WAIT_AFTER
#define ANNOTATE_BARRIER_INIT(barrier, count, again) ((void)0)
#define ANNOTATE_BARRIER_DESTROY(barrier)            ((void)0)
#define ANNOTATE_BARRIER_WAIT_BEFORE(barrier)        tmesis_barrier_arriving(barrier)
#define ANNOTATE_BARRIER_WAIT_AFTER(barrier)         tmesis_barrier_departed(barrier)

#undef ANNOTATE_HAPPENS_BEFORE
#undef ANNOTATE_HAPPENS_AFTER
#undef ANNOTATE_HAPPENS_BEFORE_FORGET_ALL
#undef ANNOTATE_PCQ_CREATE
#undef ANNOTATE_PCQ_DESTROY
#undef ANNOTATE_PCQ_PUT
#undef ANNOTATE_PCQ_GET
#define ANNOTATE_HAPPENS_BEFORE(object)            tmesis_happens_before(object)
#define ANNOTATE_HAPPENS_AFTER(object)             tmesis_happens_after(object)
#define ANNOTATE_HAPPENS_BEFORE_FORGET_ALL(object) ((void)0)
#define ANNOTATE_PCQ_CREATE(queue)                 ((void)0)
#define ANNOTATE_PCQ_DESTROY(queue)                ((void)0)
#define ANNOTATE_PCQ_PUT(queue)                    tmesis_happens_before(queue)
#define ANNOTATE_PCQ_GET(queue)                    tmesis_happens_after(queue)

/*
 * Custom condition variables are mapped to happens-before edges; their mutex needs no annotation.
 */
#undef ANNOTATE_CONDVAR_LOCK_WAIT
#undef ANNOTATE_CONDVAR_WAIT
#undef ANNOTATE_CONDVAR_SIGNAL
#undef ANNOTATE_CONDVAR_SIGNAL_ALL
#undef ANNOTATE_PURE_HAPPENS_BEFORE_MUTEX
#undef ANNOTATE_MUTEX_IS_USED_AS_CONDVAR
#define ANNOTATE_CONDVAR_LOCK_WAIT(condition, lock) tmesis_happens_after(condition)
#define ANNOTATE_CONDVAR_WAIT(condition)            tmesis_happens_after(condition)
#define ANNOTATE_CONDVAR_SIGNAL(condition)          tmesis_happens_before(condition)
#define ANNOTATE_CONDVAR_SIGNAL_ALL(condition)      tmesis_happens_before(condition)
#define ANNOTATE_PURE_HAPPENS_BEFORE_MUTEX(lock)    ((void)0)
#define ANNOTATE_MUTEX_IS_USED_AS_CONDVAR(lock)     ((void)0)

#undef ANNOTATE_IGNORE_READS_BEGIN
#undef ANNOTATE_IGNORE_READS_END
#undef ANNOTATE_IGNORE_WRITES_BEGIN
#undef ANNOTATE_IGNORE_WRITES_END
#undef ANNOTATE_IGNORE_READS_AND_WRITES_BEGIN
#undef ANNOTATE_IGNORE_READS_AND_WRITES_END
#define ANNOTATE_IGNORE_READS_BEGIN()            tmesis_ignore_reads_begin()
#define ANNOTATE_IGNORE_READS_END()              tmesis_ignore_reads_end()
#define ANNOTATE_IGNORE_WRITES_BEGIN()           tmesis_ignore_writes_begin()
#define ANNOTATE_IGNORE_WRITES_END()             tmesis_ignore_writes_end()
#define ANNOTATE_IGNORE_READS_AND_WRITES_BEGIN() tmesis_ignore_begin()
#define ANNOTATE_IGNORE_READS_AND_WRITES_END()   tmesis_ignore_end()

#undef ANNOTATE_NEW_MEMORY
#undef ANNOTATE_THREAD_NAME
#define ANNOTATE_NEW_MEMORY(address, size) tmesis_new_memory(address, size)
#define ANNOTATE_THREAD_NAME(name)         tmesis_name_thread(name)

/* Ignored: even a benign race can violate the atomicity of a block. */
#undef ANNOTATE_BENIGN_RACE
#undef ANNOTATE_BENIGN_RACE_SIZED
#undef ANNOTATE_EXPECT_RACE
#undef ANNOTATE_TRACE_MEMORY
#undef ANNOTATE_PUBLISH_MEMORY_RANGE
#undef ANNOTATE_UNPUBLISH_MEMORY_RANGE
#undef ANNOTATE_SWAP_MEMORY_RANGE
#define ANNOTATE_BENIGN_RACE(address, text)             ((void)0)
#define ANNOTATE_BENIGN_RACE_SIZED(address, size, text) ((void)0)
#define ANNOTATE_EXPECT_RACE(address, text)             ((void)0)
#define ANNOTATE_TRACE_MEMORY(address)                  ((void)0)
#define ANNOTATE_PUBLISH_MEMORY_RANGE(address, size)    ((void)0)
#define ANNOTATE_UNPUBLISH_MEMORY_RANGE(address, size)  ((void)0)
#define ANNOTATE_SWAP_MEMORY_RANGE(address, size)       ((void)0)

#endif
