/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steering the threads of the program along a schedule (docs/schedules.md). Threads announce the
 * scheduling points that they come to; a strategy decides whether a thread is delayed there. A
 * delay never happens while the thread holds a lock of the runtime.
 *
 * Everything here is called only when there is a schedule: who calls looks at
 * tms_rt_mode.scheduled, or at tms_rt_scheduled outside of core.
 */
#ifndef TMS_RUNTIME_SCHEDULE_H
#define TMS_RUNTIME_SCHEDULE_H

#include "protocol/schedule.h"
#include "runtime/core/thread.h"

struct tms_rt_point {
    enum tms_rt_point_kind kind;
    uintptr_t pc;       /* where the program called the runtime; 0: unknown */
    uintptr_t object;   /* the lock that is wanted, or given up; of accesses the first byte */
    size_t size;        /* of accesses: bytes, … */
    bool reads, writes; /* … and how */
};

/*
 * What a strategy does. `point` is called by a thread at each scheduling point, inside the runtime
 * or outside as the thread is, and says whether it has delayed the thread.
 */
struct tms_rt_strategy {
    bool (*point)(struct tms_rt_thread *thread, const struct tms_rt_point *point);
};

extern const struct tms_rt_strategy tms_rt_noise;

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

/* The thread sleeps for so many nanoseconds: no cancellation point, errno stays. */
void tms_rt_sleep(uint64_t nanoseconds);

/* The next number of the thread's own random stream, which depends on seed and thread alone. */
uint64_t tms_rt_random(struct tms_rt_thread *thread);

#endif
