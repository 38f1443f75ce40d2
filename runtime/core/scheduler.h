/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controls the threads of the program by a schedule (docs/user/schedules.md). Threads announce
 * their scheduling points; a strategy decides whether a thread is delayed there. A thread is never
 * delayed while it holds a lock of the runtime.
 *
 * Everything here is called only if there is a schedule: callers check tms_rt_mode.scheduled, or
 * tms_rt_scheduled outside of core.
 */
#ifndef TMS_RUNTIME_SCHEDULER_H
#define TMS_RUNTIME_SCHEDULER_H

#include "protocol/schedule.h"
#include "runtime/core/thread.h"

struct tms_rt_point {
    enum tms_rt_point_kind kind;
    uintptr_t pc;       /* where the program called the runtime; 0: unknown */
    uintptr_t object;   /* the lock that is acquired or released, or the first byte accessed */
    size_t size;        /* of an access, … */
    bool reads, writes; /* … and its kind */
};

/*
 * Callbacks of a strategy; any may be NULL. The thread is inside the runtime and holds none of its
 * locks.
 */
struct tms_rt_strategy {
    /* Called once, when the schedule has been read. */
    void (*start)(void);
    /* At each scheduling point, before the operation. True if the thread was delayed. */
    bool (*point)(struct tms_rt_thread *thread, const struct tms_rt_point *point);
    /*
     * Every plain access that passes the filter is a point, except those to the thread's own stack.
     */
    bool eager;
    /* Is a plain access at this instruction a point, even to memory that is not shared? */
    bool (*wants)(uintptr_t pc);
    /*
     * Before each access that passes the filter, and after its scheduling point: the 8 aligned
     * bytes, and which of them. For atomic accesses the lock of the address is held.
     */
    void (*accesses)(struct tms_rt_thread *thread, uintptr_t address, uint8_t bytes, bool writes);
    /* The thread has acquired a lock, or is about to release it. */
    void (*lock_changed)(struct tms_rt_thread *thread, const void *lock, bool shared,
                         bool acquired);
    /* The thread is about to wait for others, or has done so. */
    void (*waits)(struct tms_rt_thread *thread, bool begins);
    /* A thread is about to be created; has ended or could not be created. */
    void (*forks)(struct tms_rt_thread *child);
    void (*ends)(struct tms_rt_thread *thread);
    /* In the child of a fork. */
    void (*restart)(void);
};

extern const struct tms_rt_strategy tms_rt_noise, tms_rt_directed, tms_rt_pct;

/* Is it a point that is counted and that pct uses? The others only allow delays. */
static inline bool tms_rt_is_point(enum tms_rt_point_kind kind)
{
    return kind != TMS_RT_AT_ACQUIRED && kind != TMS_RT_AT_RELEASE && kind != TMS_RT_AT_BLOCK;
}

/* The strategy of this process. */
extern const struct tms_rt_strategy *tms_rt_strategy;

/* The schedule of this process. Constant once the runtime has started. */
extern struct tms_schedule tms_rt_schedule;

/*
 * Reads the schedule at `path`, or makes a noise schedule from the seed in `perturb`; NULL: not
 * given. If both are NULL there is no schedule. False if the file is not a schedule.
 */
bool tms_rt_schedule_start(const char *path, const char *perturb);
/* In the child of a fork, which has a spool of its own. */
void tms_rt_schedule_restart(void);

/* A scheduling point of a thread that is inside the runtime, and may be delayed there. */
void tms_rt_point_inside(struct tms_rt_thread *thread, enum tms_rt_point_kind kind,
                         const void *object, uintptr_t pc);
/* The same before a plain access. */
void tms_rt_access_point(struct tms_rt_thread *thread, uintptr_t address, size_t size, bool writes,
                         uintptr_t pc);

/* tms_rt_point_inside, if there is a schedule. */
static inline void tms_rt_point(struct tms_rt_thread *thread, enum tms_rt_point_kind kind,
                                const void *object, uintptr_t pc)
{
    if (__builtin_expect(tms_rt_mode.scheduled, 0)) {
        tms_rt_point_inside(thread, kind, object, pc);
    }
}

/*
 * Puts the thread to sleep at a scheduling point. If it entered the runtime only for the point, it
 * is outside while it sleeps, so that signal handlers are watched. Not a cancellation point;
 * preserves errno.
 */
void tms_rt_rest(struct tms_rt_thread *thread, uint64_t nanoseconds);

/* A file was loaded, with its code at `bias` from the addresses in the file. */
void tms_rt_steer_module(const char *path, uintptr_t bias);

/*
 * Pass events on to the strategy: a lock was acquired or is about to be released; a thread is about
 * to be created, or has ended.
 */
void tms_rt_steer_lock(struct tms_rt_thread *thread, const void *lock, bool shared, bool acquired);
void tms_rt_steer_thread(struct tms_rt_thread *thread, bool forks);

/* Counts a hold that has ended because another thread arrived (`met`), or in vain. */
void tms_rt_count_hold(bool met);

/* The next value of the thread's random stream, which depends only on seed and thread. */
uint64_t tms_rt_random(struct tms_rt_thread *thread);

#endif
