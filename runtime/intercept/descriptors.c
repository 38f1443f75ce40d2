/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors that lead from one thread to another (kernel_channels.h): the functions that create,
 * copy, connect, watch and close them. Closing or shutting down the last descriptor of one end
 * shows at the other end, as a read that returns 0. Reads and writes are in io_intercept.c.
 *
 * Signal handlers and children of fork may call most of these, so they are looked up at the start.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/core/kernel_channels.h"
#include "runtime/intercept/interpose.h"

/* ---- to the other end ------------------------------------------------------------------- */

#define TELLS_OTHERS(name, parameters, arguments)                                                  \
    TMS_RT_REAL(int, name, parameters)                                                             \
    TMS_RT_INTERPOSE int name parameters                                                           \
    {                                                                                              \
        TMS_RT_REPORT(tms_rt_file_sends(thread, file));                                            \
        return real_##name() arguments;                                                            \
    }

TELLS_OTHERS(connect, (int file, __CONST_SOCKADDR_ARG address, socklen_t length),
             (file, address, length))
TELLS_OTHERS(shutdown, (int file, int how), (file, how))
TELLS_OTHERS(close, (int file), (file))

TMS_RT_REAL(int, epoll_ctl, (int, int, int, struct epoll_event *))
TMS_RT_INTERPOSE int epoll_ctl(int poll, int operation, int file, struct epoll_event *event)
{
    if (operation != EPOLL_CTL_DEL) {
        TMS_RT_REPORT(tms_rt_file_watched(thread, poll, file));
    }
    return real_epoll_ctl()(poll, operation, file, event);
}

/* ---- new ones --------------------------------------------------------------------------- */

/*
 * Functions that return a descriptor or 0, and a negative number on failure. `opened` mostly stores
 * into a table and does not enter the runtime. tms_rt_files_paired takes a lock, so it is called
 * inside: a signal handler of the same thread then does not enter, and can't wait for that lock.
 */
#define OPENS(name, parameters, arguments, opened)                                                 \
    TMS_RT_REAL(int, name, parameters)                                                             \
    TMS_RT_INTERPOSE int name parameters                                                           \
    {                                                                                              \
        int made = real_##name() arguments;                                                        \
        if (made >= 0) {                                                                           \
            opened;                                                                                \
        }                                                                                          \
        return made;                                                                               \
    }

OPENS(eventfd, (unsigned value, int flags), (value, flags), tms_rt_file_opened(made))
OPENS(epoll_create, (int size), (size), tms_rt_file_opened(made))
OPENS(epoll_create1, (int flags), (flags), tms_rt_file_opened(made))
OPENS(signalfd, (int file, const sigset_t *set, int flags), (file, set, flags),
      tms_rt_file_takes_signals(made))
OPENS(socketpair, (int domain, int type, int protocol, int pair[2]), (domain, type, protocol, pair),
      TMS_RT_REPORT(((void)thread, tms_rt_files_paired(pair[0], pair[1]))))

/* ---- copies ----------------------------------------------------------------------------- */

OPENS(dup, (int file), (file), tms_rt_file_copied(made, file))
OPENS(dup2, (int file, int copy), (file, copy), tms_rt_file_copied(made, file))
OPENS(dup3, (int file, int copy, int flags), (file, copy, flags), tms_rt_file_copied(made, file))

/* The third argument is a number or an address, if there is one. */
#define CONTROLS(name)                                                                             \
    TMS_RT_REAL(int, name, (int, int, ...))                                                        \
    TMS_RT_INTERPOSE int name(int file, int command, ...)                                          \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, command);                                                                   \
        void *argument = va_arg(list, void *);                                                     \
        va_end(list);                                                                              \
        int result = real_##name()(file, command, argument);                                       \
        if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) {                   \
            tms_rt_file_copied(result, file);                                                      \
        }                                                                                          \
        return result;                                                                             \
    }

CONTROLS(fcntl)
CONTROLS(fcntl64)

__attribute__((constructor)) static void look_up(void)
{
    real_connect();
    real_shutdown();
    real_close();
    real_epoll_ctl();
    real_eventfd();
    real_epoll_create();
    real_epoll_create1();
    real_signalfd();
    real_socketpair();
    real_dup();
    real_dup2();
    real_dup3();
    real_fcntl();
    real_fcntl64();
}
