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
 *       init.c, thread_registry.c       start and end, threads
 *       runtime_memory.c, runtime_stack.c, runtime_mutex.c, raw_system_call.h
 *                                       our own memory, stacks, mutexes and system calls
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
 * - No malloc, no stdio, and nothing else that the program may have interposed or that a signal may
 *   interrupt halfway: memory is mapped (runtime_memory.h), output goes through spool_writer.c.
 * - Every entry from the program starts with tms_rt_enter() and, if that returned a thread, ends
 *   with tms_rt_leave(); otherwise the real function is called and nothing else happens: before the
 *   start, after the end, and inside the runtime itself.
 * - errno belongs to the program: an entry that may change it restores it.
 * - So does the stack: an entry uses at most 1 KiB of it; anything that needs more runs on a stack
 *   of the runtime's own (runtime_stack.c).
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
 * calls. TMS_RT_SYNC_STACK: updates the runtime's frames if functions have no hooks.
 * TMS_RT_FOREIGN: is it code of a system library? TMS_RT_SUPERFLUOUS: is another runtime active
 * already? TMS_RT_NAMELESS: programs may be stripped, and main is known by its address only.
 * TMS_RT_SEES_MEMORY: memory accesses have hooks.
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

/* Calls a function on a stack of the runtime's own, for everything that needs more than 1 KiB. */
typedef void tms_rt_deep(void *argument);
void tms_rt_call_deep(tms_rt_deep *function, void *argument);
void tms_rt_stacks_restart(void);
/* The program's stack pointer when this thread switched to a stack of ours; 0: it has not. */
extern TMS_RT_TLS uintptr_t tms_rt_away_from;
/* The reverse: calls a function on the program's stack, below the part that is in use. */
void tms_rt_call_back(uintptr_t away_from, tms_rt_deep *function, void *argument);

/* ---- threads ---------------------------------------------------------------------------- */

struct tms_rt_thread; /* thread.h has the fields, for the hot path */

/* This thread; NULL before it is registered and after it has ended. */
extern TMS_RT_TLS struct tms_rt_thread *tms_rt_self;
/* The same for memory hooks: NULL also if accesses are not watched. */
extern TMS_RT_TLS struct tms_rt_thread *tms_rt_watched;
void tms_rt_set_self(struct tms_rt_thread *thread);

/*
 * Enters the runtime: returns this thread, or NULL if the runtime must not be entered (see above).
 * While inside, every further entry gets NULL, so that what the runtime calls is not watched.
 */
struct tms_rt_thread *tms_rt_enter(void);
void tms_rt_leave(struct tms_rt_thread *thread);

/*
 * A thread will start in the function at `entry`, which makes it non-atomic by default in all
 * threads. Called before the thread exists, so that the result does not depend on when the thread
 * gets to run.
 */
void tms_rt_function_starts_thread(uintptr_t entry);
/*
 * This thread is about to create a thread. The caller passes the descriptor to the new thread,
 * which calls _start first. NULL: there are more threads than can be distinguished; the child then
 * runs unwatched, and the verdict is incomplete.
 */
struct tms_rt_thread *tms_rt_fork_thread(struct tms_rt_thread *thread, uintptr_t pc);
/* The thread could not be created. */
void tms_rt_fork_failed(struct tms_rt_thread *child);
/*
 * In the new thread; `entry` is its start function, `low` and `high` the bounds of its stack
 * (with its thread-local variables), both 0: unknown.
 */
void tms_rt_thread_start(struct tms_rt_thread *child, uintptr_t entry, uintptr_t low,
                         uintptr_t high);
/* The last thing that a thread does: open blocks end here, its stack becomes new memory. */
void tms_rt_thread_end(struct tms_rt_thread *thread);
/* Before the real join. */
void tms_rt_joining(struct tms_rt_thread *thread);
/* After the real join. A detached thread is never joined: call _detach once instead. */
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
 * The program jumps to a frame at stack pointer `target` by calling `way_out`. If that would leave
 * a handler that has interrupted the runtime, this does not return, and `way_out` is called later.
 */
typedef void tms_rt_way_out(void *argument, int value);
void tms_rt_leave_later(uintptr_t target, tms_rt_way_out *way_out, void *argument, int value);

/* ---- memory ----------------------------------------------------------------------------- */

enum tms_rt_access { TMS_RT_READ, TMS_RT_WRITE, TMS_RT_UPDATE };

/* Any size, any alignment. Hooks try the fast path in shadow.h first. */
void tms_rt_access(struct tms_rt_thread *thread, uintptr_t address, size_t size,
                   enum tms_rt_access access, uintptr_t pc);
/* The memory is freed, allocated, mapped or unmapped: earlier accesses to it no longer count. */
void tms_rt_clear_history(uintptr_t address, size_t size);
/* Heap blocks, for names in reports. `tms_rt_freed` clears the history as well. */
void tms_rt_allocated(struct tms_rt_thread *thread, uintptr_t address, size_t size, uintptr_t pc);
void tms_rt_freed(struct tms_rt_thread *thread, uintptr_t address);

/*
 * Around an atomic operation that the hook carries out: the lock excludes other atomic operations
 * on the same address, so that the recorded order is the real one. While it is held,
 * tms_rt_access_atomic records the operation with its memory order (__ATOMIC_…).
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
 * before it, so that the object is the caller's in between. Call both for re-entrant operations,
 * too: they are dropped here.
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
/* The same for locks that only their owner can release: in any other thread the real call fails. */
void tms_rt_releasing_own(struct tms_rt_thread *thread, const void *lock, uintptr_t pc);
void tms_rt_acquired_shared(struct tms_rt_thread *thread, const void *lock, uintptr_t pc);
void tms_rt_releasing_shared(struct tms_rt_thread *thread, const void *lock, uintptr_t pc);
/* Exclusive or shared, whichever way the thread holds it: for pthread_rwlock_unlock. */
void tms_rt_releasing_any(struct tms_rt_thread *thread, const void *lock, uintptr_t pc);
/*
 * A condition wait: before the real one, which releases the mutex whatever its depth, and after it,
 * when the mutex is taken again. Returns the depth, which is passed to _ends.
 */
unsigned tms_rt_wait_begins(struct tms_rt_thread *thread, const void *condition, const void *lock,
                            uintptr_t pc);
void tms_rt_wait_ends(struct tms_rt_thread *thread, const void *lock, unsigned depth, uintptr_t pc);
/* Before the thread waits at the barrier, and after all have arrived. */
void tms_rt_arriving(struct tms_rt_thread *thread, const void *barrier, uintptr_t pc);
void tms_rt_departed(struct tms_rt_thread *thread, const void *barrier, uintptr_t pc);
/* A post (before it) or a successful wait (after it) of a semaphore. */
void tms_rt_semaphore(struct tms_rt_thread *thread, const void *semaphore, uintptr_t pc);
/* An annotation of order on any object, which may be data: ordered after all earlier ones on it. */
void tms_rt_ordered(struct tms_rt_thread *thread, const void *object, uintptr_t pc);
/* The initialiser is done (inside the real once), or a call returned and found it done. */
void tms_rt_once_done(struct tms_rt_thread *thread, const void *once, uintptr_t pc);
void tms_rt_once_seen(struct tms_rt_thread *thread, const void *once, uintptr_t pc);
/*
 * A rendezvous: the thread has waited for another one in a way that is not recorded otherwise (a
 * semaphore, a futex, the kernel). Only recordings with accesses have it (docs/user/judge.md).
 */
void tms_rt_rendezvous(struct tms_rt_thread *thread, uintptr_t pc);
/*
 * The same for a read from a descriptor that other threads can write to: a pipe, socket or eventfd.
 */
void tms_rt_received(struct tms_rt_thread *thread, int file, uintptr_t pc);
void tms_rt_sync_gone(enum tms_rt_sync what, const void *object);
void tms_rt_name_object(const void *object, const char *name);

/* ---- blocks ----------------------------------------------------------------------------- */

/* An annotated block; `name` must stay valid. `end` closes the innermost annotated block. */
void tms_rt_begin(struct tms_rt_thread *thread, const char *name, uintptr_t pc);
void tms_rt_end(struct tms_rt_thread *thread, uintptr_t pc);
/*
 * Function entry and exit: `function` is an address inside the function (the return address of the
 * hook), `caller` its return address, `frame` its stack pointer or an address near it.
 */
void tms_rt_function_enter(struct tms_rt_thread *thread, uintptr_t function, uintptr_t caller,
                           uintptr_t frame);
void tms_rt_function_exit(struct tms_rt_thread *thread, uintptr_t frame);
/* A jump out of all frames below this stack pointer: longjmp. */
void tms_rt_unwind(struct tms_rt_thread *thread, uintptr_t stack_pointer);

/* ---- the process ------------------------------------------------------------------------ */

/*
 * Starts the runtime if it has not started yet: called by the constructor, and by any hook that
 * runs earlier. Safe to call repeatedly and recursively.
 */
void tms_rt_start(void);
/* Finishes all analyses and closes the spool: at exit, before _exit and exec, in fatal signals. */
void tms_rt_finish(const char *how);
/*
 * Before an exec: finishes all analyses and marks the spool as ended by the exec, but keeps it
 * open, because other threads run on and the exec may fail. Then _failed removes the mark. Before
 * an exec or a spawn, _exec_notes records which program gets which environment.
 */
void tms_rt_exec_notes(const char *path, char *const *environment);
void tms_rt_exec_begins(void);
void tms_rt_exec_failed(void);
/*
 * Around a fork in the parent, so that no child is missed; and in the child, whose only thread is
 * the caller. NULL: the fork came from inside the runtime (a signal handler), so the child can't be
 * watched.
 */
void tms_rt_fork_begins(void);
void tms_rt_fork_fails(void);
void tms_rt_forked(struct tms_rt_thread *thread);

/* The process does something that can't be watched; `loss`: enum tms_spool_loss. */
void tms_rt_stop_watching(unsigned loss);

/* ---- schedules -------------------------------------------------------------------------- */

/* There is a schedule (scheduler.h). Scheduling points are announced only then. */
extern bool tms_rt_scheduled;

/* What a thread is about to do at a scheduling point, or has just done. */
enum tms_rt_point_kind {
    TMS_RT_AT_ACQUIRE,  /* wants the lock `object` */
    TMS_RT_AT_TRY,      /* … but may fail to get it */
    TMS_RT_AT_ACQUIRED, /* has it */
    TMS_RT_AT_RELEASE,  /* is about to release it */
    TMS_RT_AT_ATOMIC,
    TMS_RT_AT_ACCESS, /* plain, to memory that several threads use */
    TMS_RT_AT_BLOCK,  /* has begun a block */
    TMS_RT_AT_START,  /* is a new thread */
    TMS_RT_AT_OTHER,  /* conditions, barriers, semaphores, once, new threads */
};

/* A scheduling point of a thread that is outside the runtime, and may be delayed there. */
void tms_rt_point_outside(enum tms_rt_point_kind kind, const void *object, uintptr_t pc);
/* A thread that is outside the runtime is about to wait for others, or has done so. */
void tms_rt_waits_outside(bool begins);
/* A scheduling point before an atomic operation. */
void tms_rt_atomic_point(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc);

/* A warning for the user, once per distinct text; the command shows it at the end. */
void tms_rt_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
