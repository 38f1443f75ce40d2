/* SPDX-License-Identifier: 0BSD */
/*
 * Annotations for programs that tmesis watches: which blocks are meant to be atomic, which objects
 * are custom locks, and names for reports.
 *
 *     void deposit(struct account *a, long sum)
 *     {
 *         TMESIS_ATOMIC("deposit");       from here to the end of the scope
 *         set(a, get(a) + sum);
 *     }
 *
 * This header is self-contained and works in C and C++. If the tmesis runtime is not linked in,
 * each call costs one test of a null address; with -DTMESIS_OFF, and with compilers without weak
 * symbols, it costs nothing. Names must be string literals or live as long as the program.
 *
 * Permission to use, copy, modify, and/or distribute this software for any purpose with or without
 * fee is hereby granted. THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES
 * WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN
 * NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES
 * OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF
 * CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR
 * PERFORMANCE OF THIS SOFTWARE.
 */
#ifndef TMESIS_ANNOTATE_H
#define TMESIS_ANNOTATE_H

#include <stddef.h>

/*
 * Weak, with default visibility: resolves to the runtime in the executable, or to null without one.
 */
#if defined(__GNUC__) && defined(__ELF__) && !defined(TMESIS_OFF)
#define TMESIS_RUNTIME    extern __attribute__((__weak__, __visibility__("default")))
#define TMESIS_CALL(f, x) (f ? f x : (void)0)
#else
#define TMESIS_RUNTIME    extern
#define TMESIS_CALL(f, x) (0 ? f x : (void)0)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Delimit an atomic block of the calling thread. Blocks nest; `end` closes the innermost. */
TMESIS_RUNTIME void tmesis_begin(const char *name);
TMESIS_RUNTIME void tmesis_end(void);
#define tmesis_begin(name) TMESIS_CALL(tmesis_begin, (name))
#define tmesis_end()       TMESIS_CALL(tmesis_end, ())

/*
 * Annotate a custom lock. Call `acquired` right after acquiring it, and `releasing` right before
 * releasing it; the _shared variants are for readers of a reader-writer lock. Call `gone` when the
 * lock is destroyed and its memory may be reused.
 */
TMESIS_RUNTIME void tmesis_lock_acquired(const volatile void *lock);
TMESIS_RUNTIME void tmesis_lock_releasing(const volatile void *lock);
TMESIS_RUNTIME void tmesis_lock_acquired_shared(const volatile void *lock);
TMESIS_RUNTIME void tmesis_lock_releasing_shared(const volatile void *lock);
TMESIS_RUNTIME void tmesis_lock_gone(const volatile void *lock);
#define tmesis_lock_acquired(lock)         TMESIS_CALL(tmesis_lock_acquired, (lock))
#define tmesis_lock_releasing(lock)        TMESIS_CALL(tmesis_lock_releasing, (lock))
#define tmesis_lock_acquired_shared(lock)  TMESIS_CALL(tmesis_lock_acquired_shared, (lock))
#define tmesis_lock_releasing_shared(lock) TMESIS_CALL(tmesis_lock_releasing_shared, (lock))
#define tmesis_lock_gone(lock)             TMESIS_CALL(tmesis_lock_gone, (lock))

/*
 * Ignore the reads, the writes, or all accesses of the calling thread between begin and end, which
 * nest: for the implementation of a custom lock, or for statistics counters. Locks and blocks are
 * still recorded.
 */
TMESIS_RUNTIME void tmesis_ignore_begin(void);
TMESIS_RUNTIME void tmesis_ignore_end(void);
TMESIS_RUNTIME void tmesis_ignore_reads_begin(void);
TMESIS_RUNTIME void tmesis_ignore_reads_end(void);
TMESIS_RUNTIME void tmesis_ignore_writes_begin(void);
TMESIS_RUNTIME void tmesis_ignore_writes_end(void);
#define tmesis_ignore_begin()        TMESIS_CALL(tmesis_ignore_begin, ())
#define tmesis_ignore_end()          TMESIS_CALL(tmesis_ignore_end, ())
#define tmesis_ignore_reads_begin()  TMESIS_CALL(tmesis_ignore_reads_begin, ())
#define tmesis_ignore_reads_end()    TMESIS_CALL(tmesis_ignore_reads_end, ())
#define tmesis_ignore_writes_begin() TMESIS_CALL(tmesis_ignore_writes_begin, ())
#define tmesis_ignore_writes_end()   TMESIS_CALL(tmesis_ignore_writes_end, ())

/*
 * A call of tmesis_happens_before on an object happens before later calls of tmesis_happens_after
 * on it.
 */
TMESIS_RUNTIME void tmesis_happens_before(const volatile void *object);
TMESIS_RUNTIME void tmesis_happens_after(const volatile void *object);
#define tmesis_happens_before(object) TMESIS_CALL(tmesis_happens_before, (object))
#define tmesis_happens_after(object)  TMESIS_CALL(tmesis_happens_after, (object))

/*
 * Annotate a custom barrier. Call `arriving` before the thread waits, and `departed` when it
 * continues. Like a system barrier, it splits a block in two.
 */
TMESIS_RUNTIME void tmesis_barrier_arriving(const volatile void *barrier);
TMESIS_RUNTIME void tmesis_barrier_departed(const volatile void *barrier);
#define tmesis_barrier_arriving(barrier) TMESIS_CALL(tmesis_barrier_arriving, (barrier))
#define tmesis_barrier_departed(barrier) TMESIS_CALL(tmesis_barrier_departed, (barrier))

/* Declares that a custom allocator returns this memory: earlier accesses to it are forgotten. */
TMESIS_RUNTIME void tmesis_new_memory(const volatile void *address, size_t size);
#define tmesis_new_memory(address, size) TMESIS_CALL(tmesis_new_memory, (address, size))

/*
 * Set the name that reports use for the calling thread, for a lock or other synchronisation object,
 * or for the variable at an address.
 */
TMESIS_RUNTIME void tmesis_name_thread(const char *name);
TMESIS_RUNTIME void tmesis_name_lock(const volatile void *lock, const char *name);
TMESIS_RUNTIME void tmesis_name_memory(const volatile void *address, const char *name);
#define tmesis_name_thread(name)          TMESIS_CALL(tmesis_name_thread, (name))
#define tmesis_name_lock(lock, name)      TMESIS_CALL(tmesis_name_lock, (lock, name))
#define tmesis_name_memory(address, name) TMESIS_CALL(tmesis_name_memory, (address, name))

/*
 * Asks `tmesis run` to report the findings so far. Returns immediately; the command writes the
 * report to its standard error within a second.
 */
TMESIS_RUNTIME void tmesis_report(void);
#define tmesis_report() TMESIS_CALL(tmesis_report, ())

/* Makes the rest of the scope an atomic block, which ends however the scope is left. */
#if defined(__GNUC__) && defined(__ELF__) && !defined(TMESIS_OFF)
#define TMESIS_ATOMIC(name)                                                                        \
    __attribute__((__cleanup__(tmesis_scope_end), __unused__)) char TMESIS_JOIN(                   \
        tmesis_scope_, __COUNTER__) = (tmesis_begin(name), '\0')
#define TMESIS_JOIN(a, b)  TMESIS_JOIN_(a, b)
#define TMESIS_JOIN_(a, b) a##b

static __inline__ __attribute__((__always_inline__, __unused__)) void tmesis_scope_end(char *scope)
{
    (void)scope;
    tmesis_end();
}
#else
#define TMESIS_ATOMIC(name) ((void)(name))
#endif

#ifdef __cplusplus
}
#endif

#endif
