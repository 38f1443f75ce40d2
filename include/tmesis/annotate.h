/* SPDX-License-Identifier: 0BSD */
/*
 * What a program can tell tmesis about itself: which blocks are meant to be atomic, which locks it
 * made by hand, and what things are called.
 *
 *     void deposit(struct account *a, long sum)
 *     {
 *         TMESIS_ATOMIC("deposit");       from here to the end of the scope
 *         set(a, get(a) + sum);
 *     }
 *
 * This file is all that is needed, in C and in C++. Where the runtime of tmesis is not linked in,
 * each call is one test of an address that is null; with -DTMESIS_OFF, and with compilers that
 * lack the means, it is nothing at all. Names are string literals, or live as long as the program.
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

/* Weak, with default visibility: found in the executable if it is there, null if it is not. */
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

/* A block from begin to end, by the same thread. Blocks nest; `end` closes the innermost. */
TMESIS_RUNTIME void tmesis_begin(const char *name);
TMESIS_RUNTIME void tmesis_end(void);
#define tmesis_begin(name) TMESIS_CALL(tmesis_begin, (name))
#define tmesis_end()       TMESIS_CALL(tmesis_end, ())

/*
 * A lock that is not one of the system's: call these right after it was acquired, and right before
 * it is released. A lock may be held by one, or shared by several. Gone: destroyed, its memory is
 * used for something else.
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
 * Between begin and end (they nest) what this thread reads, or writes, or both, is no event: the
 * inside of a hand-made lock, counters of statistics. Locks and blocks are followed all the same.
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

/* Calls of tmesis_happens_before on an object come before later ones of tmesis_happens_after. */
TMESIS_RUNTIME void tmesis_happens_before(const volatile void *object);
TMESIS_RUNTIME void tmesis_happens_after(const volatile void *object);
#define tmesis_happens_before(object) TMESIS_CALL(tmesis_happens_before, (object))
#define tmesis_happens_after(object)  TMESIS_CALL(tmesis_happens_after, (object))

/*
 * A barrier made by hand: call these before the thread waits, and when it goes on. Like the
 * barriers of the system it cuts a block in two.
 */
TMESIS_RUNTIME void tmesis_barrier_arriving(const volatile void *barrier);
TMESIS_RUNTIME void tmesis_barrier_departed(const volatile void *barrier);
#define tmesis_barrier_arriving(barrier) TMESIS_CALL(tmesis_barrier_arriving, (barrier))
#define tmesis_barrier_departed(barrier) TMESIS_CALL(tmesis_barrier_departed, (barrier))

/* An allocator of the program's own hands out this memory: its past is forgotten. */
TMESIS_RUNTIME void tmesis_new_memory(const volatile void *address, size_t size);
#define tmesis_new_memory(address, size) TMESIS_CALL(tmesis_new_memory, (address, size))

/* Names for reports: of this thread, of a lock or the like, of the variable at an address. */
TMESIS_RUNTIME void tmesis_name_thread(const char *name);
TMESIS_RUNTIME void tmesis_name_lock(const volatile void *lock, const char *name);
TMESIS_RUNTIME void tmesis_name_memory(const volatile void *address, const char *name);
#define tmesis_name_thread(name)          TMESIS_CALL(tmesis_name_thread, (name))
#define tmesis_name_lock(lock, name)      TMESIS_CALL(tmesis_name_lock, (lock, name))
#define tmesis_name_memory(address, name) TMESIS_CALL(tmesis_name_memory, (address, name))

/*
 * Asks `tmesis run` for the report of what was found so far. It does not wait for it: the report
 * follows on the command's standard error within a second, and the program goes on.
 */
TMESIS_RUNTIME void tmesis_report(void);
#define tmesis_report() TMESIS_CALL(tmesis_report, ())

/* A block from here to the end of the scope, however that is left. */
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
