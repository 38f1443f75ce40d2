/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steering the threads of the program along a schedule (docs/user/schedules.md). Threads announce
 * the scheduling points that they come to; a strategy decides whether a thread is delayed there. A
 * delay never happens while the thread holds a lock of the runtime.
 *
 * Everything here is called only when there is a schedule: who calls looks at
 * tms_rt_mode.scheduled, or at tms_rt_scheduled outside of core.
 */
#ifndef TMS_RUNTIME_SCHEDULER_H
#define TMS_RUNTIME_SCHEDULER_H

#include "protocol/schedule.h"
#include "runtime/core/thread.h"

struct tms_rt_point {
    enum tms_rt_point_kind kind;
    uintptr_t pc;       /* where the program called the runtime; 0: unknown */
    uintptr_t object;   /* the lock that is wanted, or given up; of accesses the first byte */
    size_t size;        /* of accesses: bytes, … */
    bool reads, writes; /* … and how */
};

/* What a strategy does; NULL: nothing. The thread is inside the runtime, and holds no lock of it.
 */
struct tms_rt_strategy {
    /* Once, when the schedule is known. */
    void (*start)(void);
    /* At each scheduling point, before what the thread is about to do: was it delayed there? */
    bool (*point)(struct tms_rt_thread *thread, const struct tms_rt_point *point);
    /* Plain accesses that pass the filter are points whatever memory they are to, but for the
     * thread's own stack. */
    bool eager;
    /* Is a plain access at this instruction a point, whatever memory it is to? */
    bool (*wants)(uintptr_t pc);
    /*
     * Before each access that passes the filter, with the 8 aligned bytes and which of them; points
     * come first. Of atomic ones with the lock of the address held.
     */
    void (*accesses)(struct tms_rt_thread *thread, uintptr_t address, uint8_t bytes, bool writes);
    /* The thread has got a lock, or is about to give it up. */
    void (*holds)(struct tms_rt_thread *thread, const void *lock, bool shared, bool taken);
    /* It is about to wait for other threads, or has. */
    void (*waits)(struct tms_rt_thread *thread, bool begins);
    /* It is about to be created; it is over, or could not be created. */
    void (*forks)(struct tms_rt_thread *child);
    void (*ends)(struct tms_rt_thread *thread);
    /* In the child of a fork. */
    void (*restart)(void);
};

extern const struct tms_rt_strategy tms_rt_noise, tms_rt_directed, tms_rt_pct;

/* Is it one of the points that are counted, and that pct knows? Others are for delays alone. */
static inline bool tms_rt_is_point(enum tms_rt_point_kind kind)
{
    return kind != TMS_RT_AT_ACQUIRED && kind != TMS_RT_AT_RELEASE && kind != TMS_RT_AT_BLOCK;
}

/* The strategy of this process. */
extern const struct tms_rt_strategy *tms_rt_strategy;

/* The schedule of this process. Constant once the runtime has started. */
extern struct tms_schedule tms_rt_schedule;

/*
 * Reads the schedule at `path`, or makes one of noise out of the seed in `perturb`; NULL: not
 * given. Without either there is none. False if the file is no schedule.
 */
bool tms_rt_schedule_start(const char *path, const char *perturb);
/* In the child of a fork, which has a spool of its own. */
void tms_rt_schedule_restart(void);

/* A thread that is inside the runtime is at a scheduling point, and may be delayed there. */
void tms_rt_point_inside(struct tms_rt_thread *thread, enum tms_rt_point_kind kind,
                         const void *object, uintptr_t pc);
/* The same before a plain access. */
void tms_rt_access_point(struct tms_rt_thread *thread, uintptr_t address, size_t size, bool writes,
                         uintptr_t pc);

/* The first of these, if there is a schedule. */
static inline void tms_rt_point(struct tms_rt_thread *thread, enum tms_rt_point_kind kind,
                                const void *object, uintptr_t pc)
{
    if (__builtin_expect(tms_rt_mode.scheduled, 0)) {
        tms_rt_point_inside(thread, kind, object, pc);
    }
}

/*
 * At a point: the thread sleeps for so many nanoseconds. If it has come from outside, it is outside
 * meanwhile, so that handlers of signals are watched. No cancellation point; errno stays.
 */
void tms_rt_rest(struct tms_rt_thread *thread, uint64_t nanoseconds);

/* A file was loaded, with its code so far from where the file says. */
void tms_rt_steer_module(const char *path, uintptr_t bias);

/* For strategies: a lock was taken or is about to be released; a thread is created, or over. */
void tms_rt_steer_holds(struct tms_rt_thread *thread, const void *lock, bool shared, bool taken);
void tms_rt_steer_thread(struct tms_rt_thread *thread, bool forks);

/* A thread was held, and let go because another one came, or in vain. */
void tms_rt_count_hold(bool met);

/* The next number of the thread's own random stream, which depends on seed and thread alone. */
uint64_t tms_rt_random(struct tms_rt_thread *thread);

#endif
