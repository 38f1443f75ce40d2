/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits in the kernel: for descriptors that become ready, connections, child processes, signals. A
 * thread that returns from such a wait was notified by another thread, which `judge` has to know
 * (docs/user/judge.md), and is ordered after what that thread did before (kernel_channels.h). Reads
 * from descriptors are in io_intercept.c.
 *
 * The real functions are called from outside the runtime: they block, are cancelled, and are
 * interrupted by handlers. Handlers may call most of them, so they are looked up at the start and
 * not with the first call. A poll (a timeout of 0, WNOHANG) counts if it finds something. Waiting
 * for no descriptor at all is sleeping, and does not count.
 */
#undef _FORTIFY_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/core/kernel_channels.h"
#include "runtime/core/live_counts.h"
#include "runtime/intercept/interpose.h"

/* Called only after the kernel has read the time, because it may be an invalid address. */
static bool is_zero(const struct timespec *time)
{
    return time != NULL && time->tv_sec == 0 && time->tv_nsec == 0;
}

/*
 * `heard`: the condition on `came`, the result of the call, that makes it a rendezvous; `learns`:
 * then acquires from the channel.
 */
#define WAITS_NEXT(result, name, parameters, arguments, heard, learns, fallback)                   \
    TMS_RT_REAL_NEXT(result, name, parameters, NULL, fallback)                                     \
    TMS_RT_INTERPOSE result name parameters;                                                       \
    TMS_RT_INTERPOSE result name parameters                                                        \
    {                                                                                              \
        tms_rt_waits(true);                                                                        \
        result came = real_##name() arguments;                                                     \
        tms_rt_waits(false);                                                                       \
        if (heard) {                                                                               \
            TMS_RT_REPORT({                                                                        \
                learns;                                                                            \
                tms_rt_rendezvous(thread, TMS_RT_PC());                                            \
            });                                                                                    \
        }                                                                                          \
        return came;                                                                               \
    }
#define WAITS(result, name, parameters, arguments, heard, learns)                                  \
    WAITS_NEXT(result, name, parameters, arguments, heard, learns, NULL)

/* ---- descriptors ------------------------------------------------------------------------ */

/* A timeout or a signal ends a wait as well; `looks`: the call was a poll, not a wait. */
#define HAS_WAITED(looks) (came > 0 || (count > 0 && (came == 0 ? !(looks) : errno == EINTR)))
/* The read or accept that follows reports what happened to the descriptor. */
#define POLLS(name, parameters, arguments, looks)                                                  \
    WAITS(int, name, parameters, arguments, HAS_WAITED(looks), )
#define IS_WOKEN (came > 0 ? tms_rt_file_receives(thread, file) : false)
#define EPOLLS(name, parameters, arguments, looks)                                                 \
    WAITS(int, name, parameters, arguments, HAS_WAITED(looks), IS_WOKEN)

POLLS(poll, (struct pollfd * files, nfds_t count, int timeout), (files, count, timeout),
      timeout == 0)
POLLS(__poll_chk, (struct pollfd * files, nfds_t count, int timeout, size_t room),
      (files, count, timeout, room), timeout == 0)
POLLS(ppoll,
      (struct pollfd * files, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
      (files, count, timeout, mask), is_zero(timeout))
POLLS(__ppoll_chk,
      (struct pollfd * files, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
       size_t room),
      (files, count, timeout, mask, room), is_zero(timeout))
POLLS(select, (int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *timeout),
      (count, reads, writes, others, timeout), false) /* select has changed the time */
POLLS(pselect,
      (int count, fd_set *reads, fd_set *writes, fd_set *others, const struct timespec *timeout,
       const sigset_t *mask),
      (count, reads, writes, others, timeout, mask), is_zero(timeout))
EPOLLS(epoll_wait, (int file, struct epoll_event *events, int count, int timeout),
       (file, events, count, timeout), timeout == 0)
EPOLLS(epoll_pwait,
       (int file, struct epoll_event *events, int count, int timeout, const sigset_t *mask),
       (file, events, count, timeout, mask), timeout == 0)

/* Not every C library has it. */
static int no_epoll_pwait2(int file, struct epoll_event *events, int count,
                           const struct timespec *timeout, const sigset_t *mask)
{
    (void)file, (void)events, (void)count, (void)timeout, (void)mask;
    errno = ENOSYS;
    return -1;
}

WAITS_NEXT(int, epoll_pwait2,
           (int file, struct epoll_event *events, int count, const struct timespec *timeout,
            const sigset_t *mask),
           (file, events, count, timeout, mask), HAS_WAITED(is_zero(timeout)), IS_WOKEN,
           (void *)(uintptr_t)no_epoll_pwait2)

WAITS(int, accept, (int file, __SOCKADDR_ARG address, socklen_t *length), (file, address, length),
      came >= 0, tms_rt_file_receives(thread, file))
WAITS(int, accept4, (int file, __SOCKADDR_ARG address, socklen_t *length, int flags),
      (file, address, length, flags), came >= 0, tms_rt_file_receives(thread, file))

/* ---- child processes -------------------------------------------------------------------- */

#define WAITS_CHILD(result, name, parameters, arguments, heard)                                    \
    WAITS(result, name, parameters, arguments, heard, tms_rt_child_ended(thread))

WAITS_CHILD(pid_t, wait, (int *status), (status), came > 0)
WAITS_CHILD(pid_t, waitpid, (pid_t child, int *status, int options), (child, status, options),
            came > 0)
WAITS_CHILD(pid_t, wait3, (int *status, int options, struct rusage *usage),
            (status, options, usage), came > 0)
WAITS_CHILD(pid_t, wait4, (pid_t child, int *status, int options, struct rusage *usage),
            (child, status, options, usage), came > 0)
WAITS_CHILD(int, waitid, (idtype_t type, id_t child, siginfo_t *info, int options),
            (type, child, info, options), came == 0 && (options & WNOHANG) == 0)

/* ---- signals ---------------------------------------------------------------------------- */

/* The program has received the signal as if by a handler. */
static void took(struct tms_rt_thread *thread, int number)
{
    tms_rt_heard_signal(number);
    tms_rt_signal_receives(thread, number);
}

WAITS(int, sigwait, (const sigset_t *set, int *number), (set, number), came == 0,
      took(thread, *number))
WAITS(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info), came > 0,
      took(thread, came))
WAITS(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout),
      (set, info, timeout), came > 0, took(thread, came))

/* ---- looking them up -------------------------------------------------------------------- */

__attribute__((constructor)) static void look_up(void)
{
    real_poll();
    real___poll_chk();
    real_ppoll();
    real___ppoll_chk();
    real_select();
    real_pselect();
    real_epoll_wait();
    real_epoll_pwait();
    real_epoll_pwait2();
    real_accept();
    real_accept4();
    real_wait();
    real_waitpid();
    real_wait3();
    real_wait4();
    real_waitid();
    real_sigwait();
    real_sigwaitinfo();
    real_sigtimedwait();
}
