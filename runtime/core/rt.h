/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the parts of the runtime, and the map of those parts.
 *
 * The runtime is linked into a program that was compiled with -fsanitize=thread, in place of the
 * compiler's own. Its parts:
 *
 *     intercept/                        entries from the program
 *       tsan_hooks.c, tsan_atomics.c    __tsan_* calls of instrumented code
 *       profile_hooks.c                 -finstrument-functions: entry and exit of functions
 *       pthread_sync.c, pthread_create.c, c11_threads.c, thread_start.h
 *                                       synchronisation, thread creation and join
 *       malloc_intercept.c, string_intercept.c, io_intercept.c
 *                                       heap and mappings, <string.h>, buffers of reads and writes
 *       kernel_waits.c, descriptors.c, send_signals.c
 *                                       order that the kernel passes from thread to thread
 *       signals.c, signal_handlers.c    fatal signals; the program's own handlers
 *       fork_exec.c, longjmp.c, exceptions.c
 *                                       processes; jumps out of frames
 *       annotate.c                      tmesis_begin …, annotations of other tools
 *       interpose.c                     the real functions
 *     shadow/                           memory accesses
 *       shadow.h, shadow_slow.c         the fast and the slow path of an access
 *       access.h, cells.c, claim_bytes.c, race_edges.c, races.c
 *                                       steps of the slow path: cells, edges, data races
 *       atomic_accesses.c, atomic_locks.c
 *                                       atomic operations and the locks they run under
 *       shadow_memory.c, shadow_clear.c, variable_ids.c, shared_use.c
 *                                       mapping and clearing; ids of variables; contended memory
 *     core/                             everything else
 *       init.c, thread_registry.c, runtime_memory.c, runtime_stack.c
 *                                       start and end, threads, our own memory and stacks
 *       engine_online.c, transaction_ring.c, violations.c
 *                                       the frontier engine, under one lock
 *       thread_clocks.c, kernel_channels.c
 *                                       happens-before
 *       open_blocks.c, call_stack.h, functions.c, function_names.c, sites.c
 *                                       blocks, frames, which functions are atomic, call stacks
 *       sync_objects.c, heap_blocks.c   locks and other objects; allocations
 *       judge_online.c, judge_events.c, judge_records.c
 *                                       `judge` inside the program, and its events in recordings
 *       predict_online.c, predict_spool.c
 *                                       predictions inside the program
 *       scheduler.c, schedule_noise.c, schedule_directed.c, schedule_pct.c,
 *       window_learning.c, blocked_threads.c
 *                                       controlled schedules
 *       coverage.c, live_counts.c       coverage; counts of a running process
 *       preload_api.h                   the part of preload/ that the runtime calls
 *     spool/                            the file that the command reads (spool_format.h)
 *       spool_writer.c, access_coalesce.c, sync_recorder.c
 *
 * An event goes from a hook or an interposed function through this header into shadow_slow.c or
 * engine_online.c. Redundant events are dropped there.
 *
 * Rules for all parts
 * - Nothing here calls malloc, stdio, or anything else that the program may have interposed or that
 *   may be interrupted halfway by a signal: memory is mapped (runtime_memory.h), output goes
 *   through spool_writer.c.
 * - Every entry from the program starts with tms_rt_enter() and, if that returned a thread, ends
 *   with tms_rt_leave(); otherwise the real function is called and nothing else happens: before the
 *   start, after the end, and inside the runtime itself.
 * - errno is the program's: an entry that may change it restores it.
 * - So is the stack: an entry uses 1 KiB of it at most, and calls the rest deep (runtime_stack.c).
 */
#ifndef TMS_RUNTIME_RT_H
#define TMS_RUNTIME_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TMS_RT_EXPORT __attribute__((visibility("default")))

/*
 * TMS_RT_PRELOAD: builds the library for programs that were not compiled for it (preload/).
 *
 * TMS_RT_PC: the instruction after the call into the runtime; only in functions that the program
 * calls. TMS_RT_SYNC_STACK: updates the runtime's frames where functions do not announce
 * themselves. TMS_RT_FOREIGN: is it code of a system library? TMS_RT_SUPERFLUOUS: is another
 * runtime active already? TMS_RT_NAMELESS: programs may be stripped, and main is known by its
 * address only. TMS_RT_SEES_MEMORY: accesses announce themselves.
 */
#ifdef TMS_RT_PRELOAD
#include "runtime/core/preload_api.h"
#define TMS_RT_TLS __thread __attribute__((tls_model("initial-exec")))
#define TMS_RT_PC()                                                                                \
    tms_rt_real_pc((uintptr_t)__builtin_return_address(0),                                         \
                   (const uintptr_t *)__builtin_frame_address(0) + 1)
#define TMS_RT_SYNC_STACK(thread) tms_rt_sync_stack(thread)
#define TMS_RT_DROP_STACK()       tms_rt_drop_stack()
#define TMS_RT_RESTART_STACKS()   tms_rt_preload_restart()
#define TMS_RT_ACTIVATION()       tms_rt_activation()
#define TMS_RT_FOREIGN(code)      tms_rt_is_foreign(code)
#define TMS_RT_SUPERFLUOUS()      tms_rt_is_superfluous()
#define TMS_RT_NAMELESS           true
#define TMS_RT_SEES_MEMORY        false
#else
#define TMS_RT_TLS                __thread __attribute__((tls_model("local-exec"))) /* executables only */
#define TMS_RT_PC()               ((uintptr_t)__builtin_return_address(0))
#define TMS_RT_SYNC_STACK(thread) (void)(thread)
#define TMS_RT_DROP_STACK()
#define TMS_RT_RESTART_STACKS()
#define TMS_RT_ACTIVATION()  0
#define TMS_RT_FOREIGN(code) false
#define TMS_RT_SUPERFLUOUS() false
#define TMS_RT_NAMELESS      false
#define TMS_RT_SEES_MEMORY   true
#endif

/* ---- stacks ----------------------------------------------------------------------------- */

/* Calls a function on a stack of our own: all that needs much of it (runtime_stack.c). */
typedef void tms_rt_deep(void *argument);
void tms_rt_call_deep(tms_rt_deep *function, void *argument);
void tms_rt_stacks_restart(void);
/* Where on the program's stack this thread left it for one of ours; 0: it is on it. */
extern TMS_RT_TLS uintptr_t tms_rt_away_from;
/* The other way round: calls a function on the program's stack, below what is in use there. */
void tms_rt_call_back(uintptr_t away_from, tms_rt_deep *function, void *argument);

/* ---- threads ---------------------------------------------------------------------------- */

struct tms_rt_thread; /* thread.h has the fields, for the hot path */

/* This thread, NULL before it is known and after it has ended. */
extern TMS_RT_TLS struct tms_rt_thread *tms_rt_self;
/* The same for hooks of memory: NULL also where that is not watched. */
extern TMS_RT_TLS struct tms_rt_thread *tms_rt_watched;
void tms_rt_set_self(struct tms_rt_thread *thread);

/*
 * Goes in: this thread, or NULL if the runtime is not to be concerned (see above). While inside,
 * every further entry gets NULL, so that what the runtime calls is not watched.
 */
struct tms_rt_thread *tms_rt_enter(void);
void tms_rt_leave(struct tms_rt_thread *thread);

/*
 * A thread will start in the function at `entry`, which is then no atomic block by default, in
 * whatever thread it runs. Said before the thread exists: who calls the function meanwhile is not
 * to depend on when the thread gets to run.
 */
void tms_rt_function_starts_thread(uintptr_t entry);
/*
 * This thread is about to create a thread. The caller passes the descriptor to the new thread,
 * which calls _start first. NULL: there are more threads than can be distinguished; then the child
 * runs unwatched, and the verdict is incomplete.
 */
struct tms_rt_thread *tms_rt_fork_thread(struct tms_rt_thread *thread, uintptr_t pc);
/* It could not be created after all. */
void tms_rt_fork_failed(struct tms_rt_thread *child);
/*
 * In the new thread; `entry` is its start function, `low` and `high` the bounds of its stack
 * (with its thread-local variables), both 0: unknown.
 */
void tms_rt_thread_start(struct tms_rt_thread *child, uintptr_t entry, uintptr_t low,
                         uintptr_t high);
/* The last thing that a thread does: open blocks end here, its stack becomes new memory. */
void tms_rt_thread_end(struct tms_rt_thread *thread);
/* After the real join of it. A detached thread is never joined: call _detach once instead. */
/* It is about to wait for a thread to end. */
void tms_rt_joining(struct tms_rt_thread *thread);
void tms_rt_join_thread(struct tms_rt_thread *thread, struct tms_rt_thread *child, uintptr_t pc);
void tms_rt_detach_thread(struct tms_rt_thread *child);
void tms_rt_name_thread(struct tms_rt_thread *thread, const char *name);

/* ---- signal handlers -------------------------------------------------------------------- */

/*
 * The handler to install in place of one of the program's, and the program's handler that it wraps.
 * signal_handlers.c says why.
 */
typedef void tms_rt_handler_function(int);
tms_rt_handler_function *tms_rt_wrap_handler(int number, tms_rt_handler_function *handler);
tms_rt_handler_function *tms_rt_handler_of(int number);
bool tms_rt_is_wrapped(tms_rt_handler_function *handler);

/*
 * The program leaves for a frame at this stack pointer by calling `way_out`. If that would leave
 * a handler that has interrupted the runtime, this does not return, and `way_out` is called later.
 */
typedef void tms_rt_way_out(void *argument, int value);
void tms_rt_leave_later(uintptr_t target, tms_rt_way_out *way_out, void *argument, int value);

/* ---- memory ----------------------------------------------------------------------------- */

enum tms_rt_access { TMS_RT_READ, TMS_RT_WRITE, TMS_RT_UPDATE };

/* Any number of bytes, any alignment. `shadow.h` has what hooks ask first. */
void tms_rt_access(struct tms_rt_thread *thread, uintptr_t address, size_t size,
                   enum tms_rt_access access, uintptr_t pc);
/* What is there now has nothing to do with what was there: freed, allocated, mapped, unmapped. */
void tms_rt_clear_history(uintptr_t address, size_t size);
/* A block of the heap, for names in reports. `tms_rt_freed` renews it as well. */
void tms_rt_allocated(struct tms_rt_thread *thread, uintptr_t address, size_t size, uintptr_t pc);
void tms_rt_freed(struct tms_rt_thread *thread, uintptr_t address);

/*
 * Around an atomic operation that the hook carries out: between the two no other thread is
 * between them for the same address, so that the recorded order is the real one. In between
 * tms_rt_access_atomic says what it was, with the memory order (__ATOMIC_…).
 */
void tms_rt_atomic_lock(uintptr_t address);
void tms_rt_atomic_unlock(uintptr_t address);
void tms_rt_access_atomic(struct tms_rt_thread *thread, uintptr_t address, size_t size,
                          enum tms_rt_access access, int order, uintptr_t pc);
void tms_rt_fence(struct tms_rt_thread *thread, int order);

/* ---- synchronisation -------------------------------------------------------------------- */

/*
 * An object is identified by its address and kind; it exists from its first use to tms_rt_sync_gone
 * (destroyed, or its memory reused). `acquired` is called after the real operation, `releasing`
 * before it, so that the object is the caller's in between. Re-entrant acquires and their releases
 * are dropped here: call for each.
 */
enum tms_rt_sync {
    TMS_RT_LOCK,      /* mutexes, rwlocks, spin locks, annotated locks */
    TMS_RT_CONDITION, /* named in waits only */
    TMS_RT_BARRIER,
    TMS_RT_SEMAPHORE, /* and other objects whose operations are read-modify-writes */
    TMS_RT_ONCE,
};

void tms_rt_acquired(struct tms_rt_thread *thread, const void *lock, uintptr_t pc);
void tms_rt_releasing(struct tms_rt_thread *thread, const void *lock, uintptr_t pc);
/* The same where only the thread that holds the lock can release it: any other one fails. */
void tms_rt_releasing_own(struct tms_rt_thread *thread, const void *lock, uintptr_t pc);
void tms_rt_acquired_shared(struct tms_rt_thread *thread, const void *lock, uintptr_t pc);
void tms_rt_releasing_shared(struct tms_rt_thread *thread, const void *lock, uintptr_t pc);
/* Either of the two, for pthread_rwlock_unlock: as the thread holds it. */
void tms_rt_releasing_any(struct tms_rt_thread *thread, const void *lock, uintptr_t pc);
/*
 * A condition wait: before the real one, which releases the mutex (with all that re-entrance),
 * and after it, when the mutex is taken again. Returns the depth to be handed back.
 */
unsigned tms_rt_wait_begins(struct tms_rt_thread *thread, const void *condition, const void *lock,
                            uintptr_t pc);
void tms_rt_wait_ends(struct tms_rt_thread *thread, const void *lock, unsigned depth, uintptr_t pc);
/* Before the thread waits at the barrier, and after all have arrived. */
void tms_rt_arriving(struct tms_rt_thread *thread, const void *barrier, uintptr_t pc);
void tms_rt_departed(struct tms_rt_thread *thread, const void *barrier, uintptr_t pc);
/* A post (before it) or a successful wait (after it) of a semaphore. */
void tms_rt_semaphore(struct tms_rt_thread *thread, const void *semaphore, uintptr_t pc);
/* An annotation of order: comes after all earlier operations on the object, which may be data. */
void tms_rt_ordered(struct tms_rt_thread *thread, const void *object, uintptr_t pc);
/* The initialiser is done (inside the real once), or a call returned and found it done. */
void tms_rt_once_done(struct tms_rt_thread *thread, const void *once, uintptr_t pc);
void tms_rt_once_seen(struct tms_rt_thread *thread, const void *once, uintptr_t pc);
/*
 * A rendezvous: the thread has waited for another one, in a way that is no event otherwise (a
 * semaphore, a futex, the kernel). Only recordings with accesses have it (docs/user/judge.md).
 */
void tms_rt_rendezvous(struct tms_rt_thread *thread, uintptr_t pc);
/* The same for a read from a descriptor, if that leads to others: a pipe, socket or eventfd. */
void tms_rt_received(struct tms_rt_thread *thread, int file, uintptr_t pc);
void tms_rt_sync_gone(enum tms_rt_sync what, const void *object);
void tms_rt_name_object(const void *object, const char *name);

/* ---- blocks ----------------------------------------------------------------------------- */

/* A block by annotation; `name` must stay where it is. `end` closes the innermost of these. */
void tms_rt_begin(struct tms_rt_thread *thread, const char *name, uintptr_t pc);
void tms_rt_end(struct tms_rt_thread *thread, uintptr_t pc);
/*
 * A function is entered or left: `function` is an address inside it (where the hook returns to),
 * `caller` where it will return to, `frame` the stack pointer of its frame or something near.
 */
void tms_rt_function_enter(struct tms_rt_thread *thread, uintptr_t function, uintptr_t caller,
                           uintptr_t frame);
void tms_rt_function_exit(struct tms_rt_thread *thread, uintptr_t frame);
/* A jump out of all frames below this stack pointer: longjmp. */
void tms_rt_unwind(struct tms_rt_thread *thread, uintptr_t stack_pointer);

/* ---- the process ------------------------------------------------------------------------ */

/*
 * Starts the runtime if it has not started: from the constructor, and from whatever is called
 * before that. Safe to call again and again, and from inside itself.
 */
void tms_rt_start(void);
/* Settles everything and closes the spool: at exit, before _exit and exec, in fatal signals. */
void tms_rt_finish(const char *how);
/*
 * Before an exec: everything is settled and the spool marked as ended by it, but it stays in
 * use, for other threads go on, and exec may fail. Then _failed takes the mark back. Before that,
 * or before a spawn, _exec_notes says which program gets which environment.
 */
void tms_rt_exec_notes(const char *path, char *const *environment);
void tms_rt_exec_begins(void);
void tms_rt_exec_failed(void);
/*
 * Around a fork, in the parent, so that no child goes missing unnoticed; and in the child, which is
 * a process of its own whose only thread is the caller. NULL: the fork came from inside the
 * runtime (a signal handler), so the child can't be watched.
 */
void tms_rt_fork_begins(void);
void tms_rt_fork_fails(void);
void tms_rt_forked(struct tms_rt_thread *thread);

/* The process does what can't be watched: `loss` (enum tms_spool_loss) says what. */
void tms_rt_stop_watching(unsigned loss);

/* ---- schedules -------------------------------------------------------------------------- */

/* Threads are steered along a schedule (scheduler.h): only then points are announced. */
extern bool tms_rt_scheduled;

/* What a thread is about to do at a scheduling point, or has just done. */
enum tms_rt_point_kind {
    TMS_RT_AT_ACQUIRE,  /* wants the lock `object` */
    TMS_RT_AT_TRY,      /* … but need not get it */
    TMS_RT_AT_ACQUIRED, /* has it */
    TMS_RT_AT_RELEASE,  /* gives it up */
    TMS_RT_AT_ATOMIC,
    TMS_RT_AT_ACCESS, /* plain, to memory that several threads use */
    TMS_RT_AT_BLOCK,  /* has begun a block */
    TMS_RT_AT_START,  /* is a new thread */
    TMS_RT_AT_OTHER,  /* conditions, barriers, semaphores, once, new threads */
};

/* A thread that has not gone in is at a scheduling point, and may be delayed there. */
void tms_rt_point_outside(enum tms_rt_point_kind kind, const void *object, uintptr_t pc);
/* A thread that has not gone in is about to wait for others, or has. */
void tms_rt_waits_outside(bool begins);
/* The first before an atomic operation. */
void tms_rt_atomic_point(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc);

/* A sentence for the person, once per distinct text: shown by the command when all is over. */
void tms_rt_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
