/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers that the kernel or the C library reads or writes: read and write, sockets, stdio streams
 * and the printf family into memory. Writes to the program's memory are recorded afterwards, for
 * the bytes that were transferred. Reads from it are recorded before, for the whole buffer, since
 * the receiver may continue before this thread does. Arguments of printf, iovecs and other small
 * structures are not recorded.
 */
#undef _FORTIFY_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/core/kernel_channels.h"
#include "runtime/intercept/interpose.h"

/* The callee, that is the kernel or the C library, has written to the buffer. */
static void filled(void *buffer, size_t size, uintptr_t pc)
{
    TMS_RT_REPORT(tms_rt_access(thread, (uintptr_t)buffer, size, TMS_RT_WRITE, pc));
}

/* It will read the buffer. */
static void read_by_callee(const void *buffer, size_t size, uintptr_t pc)
{
    TMS_RT_REPORT(tms_rt_access(thread, (uintptr_t)buffer, size, TMS_RT_READ, pc));
}

/* Before the data that came with it is recorded. */
static void received(int file, uintptr_t pc)
{
    TMS_RT_REPORT(tms_rt_received(thread, file, pc));
}

/* After the data that goes with it is recorded. */
static void sends(int file)
{
    TMS_RT_REPORT(tms_rt_file_sends(thread, file));
}

/* ---- one buffer ------------------------------------------------------------------------- */

#define FILLS(name, parameters, arguments)                                                         \
    TMS_RT_REAL(ssize_t, name, parameters)                                                         \
    TMS_RT_INTERPOSE ssize_t name parameters;                                                      \
    TMS_RT_INTERPOSE ssize_t name parameters                                                       \
    {                                                                                              \
        ssize_t came = real_##name() arguments;                                                    \
        if (came > 0) {                                                                            \
            filled(buffer, (size_t)came < size ? (size_t)came : size, TMS_RT_PC());                \
        }                                                                                          \
        return came;                                                                               \
    }

/*
 * The same, received from another thread or process. 0 means end of file, which is information as
 * well.
 */
#define RECEIVES(name, parameters, arguments)                                                      \
    TMS_RT_REAL(ssize_t, name, parameters)                                                         \
    TMS_RT_INTERPOSE ssize_t name parameters;                                                      \
    TMS_RT_INTERPOSE ssize_t name parameters                                                       \
    {                                                                                              \
        ssize_t came = real_##name() arguments;                                                    \
        if (came >= 0) {                                                                           \
            received(file, TMS_RT_PC());                                                           \
        }                                                                                          \
        if (came > 0) {                                                                            \
            filled(buffer, (size_t)came < size ? (size_t)came : size, TMS_RT_PC());                \
        }                                                                                          \
        return came;                                                                               \
    }

#define CALLEE_READS(name, parameters, arguments)                                                  \
    TMS_RT_REAL(ssize_t, name, parameters)                                                         \
    TMS_RT_INTERPOSE ssize_t name parameters                                                       \
    {                                                                                              \
        read_by_callee(buffer, size, TMS_RT_PC());                                                 \
        return real_##name() arguments;                                                            \
    }

/* The same, sent to another thread or process. */
#define SENDS(name, parameters, arguments)                                                         \
    TMS_RT_REAL(ssize_t, name, parameters)                                                         \
    TMS_RT_INTERPOSE ssize_t name parameters                                                       \
    {                                                                                              \
        read_by_callee(buffer, size, TMS_RT_PC());                                                 \
        sends(file);                                                                               \
        return real_##name() arguments;                                                            \
    }

RECEIVES(read, (int file, void *buffer, size_t size), (file, buffer, size))
RECEIVES(__read_chk, (int file, void *buffer, size_t size, size_t room), (file, buffer, size, room))
FILLS(pread, (int file, void *buffer, size_t size, off_t offset), (file, buffer, size, offset))
FILLS(pread64, (int file, void *buffer, size_t size, off64_t offset), (file, buffer, size, offset))
FILLS(__pread_chk, (int file, void *buffer, size_t size, off_t offset, size_t room),
      (file, buffer, size, offset, room))
FILLS(__pread64_chk, (int file, void *buffer, size_t size, off64_t offset, size_t room),
      (file, buffer, size, offset, room))
RECEIVES(recv, (int file, void *buffer, size_t size, int flags), (file, buffer, size, flags))
RECEIVES(__recv_chk, (int file, void *buffer, size_t size, size_t room, int flags),
         (file, buffer, size, room, flags))
RECEIVES(recvfrom,
         (int file, void *buffer, size_t size, int flags, __SOCKADDR_ARG address,
          socklen_t *length),
         (file, buffer, size, flags, address, length))
RECEIVES(__recvfrom_chk,
         (int file, void *buffer, size_t size, size_t room, int flags, __SOCKADDR_ARG address,
          socklen_t *length),
         (file, buffer, size, room, flags, address, length))

SENDS(write, (int file, const void *buffer, size_t size), (file, buffer, size))
CALLEE_READS(pwrite, (int file, const void *buffer, size_t size, off_t offset),
             (file, buffer, size, offset))
CALLEE_READS(pwrite64, (int file, const void *buffer, size_t size, off64_t offset),
             (file, buffer, size, offset))
SENDS(send, (int file, const void *buffer, size_t size, int flags), (file, buffer, size, flags))
SENDS(sendto,
      (int file, const void *buffer, size_t size, int flags, __CONST_SOCKADDR_ARG address,
       socklen_t length),
      (file, buffer, size, flags, address, length))

/* ---- eventfd: the C library's own functions, which call read and write by inner names ------ */

TMS_RT_REAL(int, eventfd_read, (int, eventfd_t *))
TMS_RT_INTERPOSE int eventfd_read(int file, eventfd_t *value)
{
    int failed = real_eventfd_read()(file, value);
    if (failed == 0) {
        received(file, TMS_RT_PC());
        filled(value, sizeof *value, TMS_RT_PC());
    }
    return failed;
}

TMS_RT_REAL(int, eventfd_write, (int, eventfd_t))
TMS_RT_INTERPOSE int eventfd_write(int file, eventfd_t value)
{
    sends(file);
    return real_eventfd_write()(file, value);
}

/* ---- several buffers -------------------------------------------------------------------- */

static void filled_each(const struct iovec *part, size_t count, ssize_t came, uintptr_t pc)
{
    size_t left = came < 0 ? 0 : (size_t)came;
    for (size_t i = 0; i < count && left > 0; i++) {
        size_t size = part[i].iov_len < left ? part[i].iov_len : left;
        filled(part[i].iov_base, size, pc);
        left -= size;
    }
}

static void read_each_by_callee(const struct iovec *part, size_t count, uintptr_t pc)
{
    for (size_t i = 0; i < count; i++) {
        read_by_callee(part[i].iov_base, part[i].iov_len, pc);
    }
}

TMS_RT_REAL(ssize_t, readv, (int, const struct iovec *, int))
TMS_RT_INTERPOSE ssize_t readv(int file, const struct iovec *part, int count)
{
    ssize_t came = real_readv()(file, part, count);
    if (came >= 0) {
        received(file, TMS_RT_PC());
    }
    filled_each(part, (size_t)count, came, TMS_RT_PC());
    return came;
}

TMS_RT_REAL(ssize_t, writev, (int, const struct iovec *, int))
TMS_RT_INTERPOSE ssize_t writev(int file, const struct iovec *part, int count)
{
    read_each_by_callee(part, count < 0 ? 0 : (size_t)count, TMS_RT_PC());
    sends(file);
    return real_writev()(file, part, count);
}

TMS_RT_REAL(ssize_t, recvmsg, (int, struct msghdr *, int))
TMS_RT_INTERPOSE ssize_t recvmsg(int file, struct msghdr *message, int flags)
{
    ssize_t came = real_recvmsg()(file, message, flags);
    if (came >= 0) {
        received(file, TMS_RT_PC());
    }
    filled_each(message->msg_iov, message->msg_iovlen, came, TMS_RT_PC());
    return came;
}

TMS_RT_REAL(ssize_t, sendmsg, (int, const struct msghdr *, int))
TMS_RT_INTERPOSE ssize_t sendmsg(int file, const struct msghdr *message, int flags)
{
    read_each_by_callee(message->msg_iov, message->msg_iovlen, TMS_RT_PC());
    sends(file);
    return real_sendmsg()(file, message, flags);
}

/* ---- streams ---------------------------------------------------------------------------- */

#define READS_STREAM(name, parameters, arguments)                                                  \
    TMS_RT_REAL(size_t, name, parameters)                                                          \
    TMS_RT_INTERPOSE size_t name parameters;                                                       \
    TMS_RT_INTERPOSE size_t name parameters                                                        \
    {                                                                                              \
        size_t came = real_##name() arguments;                                                     \
        size_t bytes = size * came;                                                                \
        filled(buffer, bytes, TMS_RT_PC());                                                        \
        return came;                                                                               \
    }

READS_STREAM(fread, (void *buffer, size_t size, size_t count, FILE *stream),
             (buffer, size, count, stream))
READS_STREAM(__fread_chk, (void *buffer, size_t room, size_t size, size_t count, FILE *stream),
             (buffer, room, size, count, stream))

TMS_RT_REAL(size_t, fwrite, (const void *, size_t, size_t, FILE *))
TMS_RT_INTERPOSE size_t fwrite(const void *buffer, size_t size, size_t count, FILE *stream)
{
    read_by_callee(buffer, size * count, TMS_RT_PC());
    return real_fwrite()(buffer, size, count, stream);
}

TMS_RT_REAL(size_t, strlen, (const char *))

#define READS_LINE(name, parameters, arguments)                                                    \
    TMS_RT_REAL(char *, name, parameters)                                                          \
    TMS_RT_INTERPOSE char *name parameters;                                                        \
    TMS_RT_INTERPOSE char *name parameters                                                         \
    {                                                                                              \
        char *line = real_##name() arguments;                                                      \
        if (line != NULL) {                                                                        \
            filled(line, real_strlen()(line) + 1, TMS_RT_PC());                                    \
        }                                                                                          \
        return line;                                                                               \
    }

READS_LINE(fgets, (char *buffer, int size, FILE *stream), (buffer, size, stream))
READS_LINE(__fgets_chk, (char *buffer, size_t room, int size, FILE *stream),
           (buffer, room, size, stream))

/* ---- printf into memory ----------------------------------------------------------------- */

TMS_RT_REAL(int, vsnprintf, (char *, size_t, const char *, va_list))
TMS_RT_REAL(int, __vsnprintf_chk, (char *, size_t, int, size_t, const char *, va_list))
TMS_RT_REAL(int, vsprintf, (char *, const char *, va_list))
TMS_RT_REAL(int, __vsprintf_chk, (char *, int, size_t, const char *, va_list))

struct text {
    struct tms_rt_thread *thread;
    char *start;
    size_t size;
    uintptr_t pc;
};

static void record_text(void *argument)
{
    const struct text *text = argument;
    tms_rt_access(text->thread, (uintptr_t)text->start, text->size, TMS_RT_WRITE, text->pc);
}

/*
 * Records the output of `length` characters and the terminator into a buffer of `room` bytes.
 * record_text runs on a stack of the runtime, because variadic functions, which call this, have
 * large frames.
 */
static int printed(char *to, size_t room, int length, uintptr_t pc)
{
    struct text text = {.start = to, .pc = pc};
    text.size = (size_t)length < room ? (size_t)length + 1 : room;
    if (length >= 0 && room > 0) {
        TMS_RT_REPORT({
            text.thread = thread;
            tms_rt_call_deep(record_text, &text);
        });
    }
    return length;
}

/* A function and its va_list variant; the parameters up to the format. */
#define PRINTS(name, vname, parameters, arguments, room)                                           \
    TMS_RT_INTERPOSE int name(UNWRAP parameters, const char *format, ...);                         \
    TMS_RT_INTERPOSE int name(UNWRAP parameters, const char *format, ...)                          \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, format);                                                                    \
        int length = real_##vname()(UNWRAP arguments, format, list);                               \
        va_end(list);                                                                              \
        return printed(to, room, length, TMS_RT_PC());                                             \
    }                                                                                              \
    TMS_RT_INTERPOSE int vname(UNWRAP parameters, const char *format, va_list list);               \
    TMS_RT_INTERPOSE int vname(UNWRAP parameters, const char *format, va_list list)                \
    {                                                                                              \
        int length = real_##vname()(UNWRAP arguments, format, list);                               \
        return printed(to, room, length, TMS_RT_PC());                                             \
    }
#define UNWRAP(...) __VA_ARGS__

PRINTS(snprintf, vsnprintf, (char *to, size_t size), (to, size), size)
PRINTS(__snprintf_chk, __vsnprintf_chk, (char *to, size_t size, int flags, size_t room),
       (to, size, flags, room), size)
PRINTS(sprintf, vsprintf, (char *to), (to), SIZE_MAX)
PRINTS(__sprintf_chk, __vsprintf_chk, (char *to, int flags, size_t room), (to, flags, room), room)
