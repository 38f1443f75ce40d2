/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes: fork, exec, and exits that bypass the destructors. For children that the C library
 * creates only to run another program (posix_spawn, system, popen), only their environment is
 * recorded.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <paths.h>
#include <pty.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "protocol/spool_format.h"
#include "runtime/core/kernel_channels.h"
#include "runtime/intercept/interpose.h"

/* ---- fork ------------------------------------------------------------------------------- */

static struct tms_rt_thread *begin_fork(void)
{
    TMS_RT_REPORT(tms_rt_child_starts(thread));
    tms_rt_fork_begins();
    return tms_rt_enter();
}

static long end_fork(struct tms_rt_thread *thread, long child)
{
    int saved_errno = errno;
    if (child == 0) {
        tms_rt_forked(thread);
    } else if (child < 0) {
        tms_rt_fork_fails();
    }
    errno = saved_errno;
    if (thread != NULL) {
        tms_rt_leave(thread);
    }
    return child;
}

/*
 * Creates a child process. The handlers of pthread_atfork run inside, unwatched: in the child they
 * run before the runtime has been reset.
 */
#define FORKS(name, parameters, arguments)                                                         \
    TMS_RT_REAL(pid_t, name, parameters)                                                           \
    TMS_RT_INTERPOSE pid_t name parameters                                                         \
    {                                                                                              \
        struct tms_rt_thread *thread = begin_fork();                                               \
        return (pid_t)end_fork(thread, real_##name() arguments);                                   \
    }

FORKS(fork, (void), ())
FORKS(_Fork, (void), ())
FORKS(forkpty,
      (int *terminal, char *name, const struct termios *settings, const struct winsize *size),
      (terminal, name, settings, size))

/* The child would share our memory, and its accesses would be recorded as the parent's. */
TMS_RT_INTERPOSE pid_t vfork(void)
{
    return fork();
}

/*
 * The raw system calls. A child with memory of its own is treated like that of fork. A child that
 * shares ours is a thread that the runtime can't tell from its creator, unless the creator waits,
 * so watching ends.
 */
static bool copies_memory(uint64_t flags)
{
    if ((flags & CLONE_VM) != 0 && (flags & CLONE_VFORK) == 0) {
        tms_rt_stop_watching(TMS_SPOOL_LOST_CLONE);
    }
    return (flags & CLONE_VM) == 0;
}

static bool makes_process(long number, long first, long second)
{
    if (number == SYS_clone3 && (size_t)second >= sizeof(uint64_t)) {
        return copies_memory(*(const uint64_t *)first); /* the first field */
    }
    return number == SYS_fork || (number == SYS_clone && copies_memory((uint64_t)first));
}

/*
 * The atomics that go with a futex are visible only in programs that were compiled for the runtime.
 */
static void warn_of_futexes(void)
{
    static _Atomic bool warned;
    if (TMS_RT_NAMELESS && !atomic_exchange(&warned, true)) {
        tms_rt_warn("the program or a library of it uses futexes itself (C++20 atomic::wait "
                    "does): locks made of them are not seen, so a prediction that contradicts "
                    "their order can't happen");
    }
}

/* A wait for another thread to change a word, as in libraries with locks of their own. */
static void report_futex(long operation, uintptr_t pc)
{
    int command = (int)operation & FUTEX_CMD_MASK;
    if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) {
        TMS_RT_REPORT(tms_rt_rendezvous(thread, pc));
    }
    TMS_RT_REPORT(((void)thread, warn_of_futexes()));
}

TMS_RT_REAL(long, syscall, (long, ...))
TMS_RT_INTERPOSE long syscall(long number, ...)
{
    long word[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) {
        word[i] = va_arg(list, long);
    }
    va_end(list);
    if (number == SYS_vfork) {
        number = SYS_fork; /* like vfork above */
    }
    if (number == SYS_exit_group) {
        tms_rt_finish("exit");
    }
    bool forks = makes_process(number, word[0], word[1]);
    struct tms_rt_thread *thread = forks ? begin_fork() : NULL;
    long result = real_syscall()(number, word[0], word[1], word[2], word[3], word[4], word[5]);
    if (number == SYS_seccomp && result == 0) {
        tms_rt_stop_watching(TMS_SPOOL_LOST_SANDBOX);
    }
    if (number == SYS_futex) {
        report_futex(word[1], TMS_RT_PC());
    }
    return forks ? end_fork(thread, result) : result;
}

struct clone_start {
    int (*function)(void *);
    void *argument;
    struct tms_rt_thread *thread;
};

/* In the child, on its new stack: the parent's frames are out of reach. */
static int start_clone(void *argument)
{
    struct clone_start *start = argument;
    end_fork(start->thread, 0);
    TMS_RT_REPORT(tms_rt_unwind(thread, UINTPTR_MAX));
    int status = start->function(start->argument);
    tms_rt_finish("exit"); /* the raw system call follows */
    return status;
}

TMS_RT_REAL(int, clone, (int (*)(void *), void *, int, void *, ...))
TMS_RT_INTERPOSE int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
    void *word[3];
    va_list list;
    va_start(list, argument);
    for (int i = 0; i < 3; i++) {
        word[i] = va_arg(list, void *);
    }
    va_end(list);
    if (!copies_memory((uint64_t)flags)) {
        return real_clone()(function, stack, flags, argument, word[0], word[1], word[2]);
    }
    struct clone_start start = {function, argument, begin_fork()};
    return (int)end_fork(
        start.thread, real_clone()(start_clone, stack, flags, &start, word[0], word[1], word[2]));
}

static bool to_null_device(void)
{
    int file = open(_PATH_DEVNULL, O_RDWR);
    if (file < 0) {
        return false;
    }
    bool done = dup2(file, STDIN_FILENO) >= 0 && dup2(file, STDOUT_FILENO) >= 0 &&
                dup2(file, STDERR_FILENO) >= 0;
    if (file > STDERR_FILENO) {
        close(file);
    }
    return done;
}

/* The C library's forks and ends the parent through internal names. */
TMS_RT_INTERPOSE int daemon(int keep_directory, int keep_files)
{
    pid_t child = fork();
    if (child > 0) {
        _exit(0);
    }
    if (child < 0 || setsid() < 0 || (!keep_directory && chdir("/") < 0)) {
        return -1;
    }
    return keep_files || to_null_device() ? 0 : -1;
}

/* ---- exec ------------------------------------------------------------------------------- */

#define EXECUTES(name, parameters, arguments, program, variables)                                  \
    TMS_RT_REAL(int, name, parameters)                                                             \
    TMS_RT_INTERPOSE int name parameters                                                           \
    {                                                                                              \
        TMS_RT_REPORT({                                                                            \
            tms_rt_exec_notes(program, variables);                                                 \
            tms_rt_exec_begins();                                                                  \
        });                                                                                        \
        int result = real_##name() arguments;                                                      \
        TMS_RT_REPORT(tms_rt_exec_failed());                                                       \
        return result;                                                                             \
    }

EXECUTES(execve, (const char *path, char *const argument[], char *const environment[]),
         (path, argument, environment), path, environment)
EXECUTES(execv, (const char *path, char *const argument[]), (path, argument), path, environ)
EXECUTES(execvp, (const char *file, char *const argument[]), (file, argument), file, environ)
EXECUTES(execvpe, (const char *file, char *const argument[], char *const environment[]),
         (file, argument, environment), file, environment)
EXECUTES(fexecve, (int file, char *const argument[], char *const environment[]),
         (file, argument, environment), argument[0], environment)
EXECUTES(execveat,
         (int directory, const char *path, char *const argument[], char *const environment[],
          int flags),
         (directory, path, argument, environment, flags), path, environment)

static size_t count_arguments(const char *first, va_list *list)
{
    size_t count = 0;
    for (const char *argument = first; argument != NULL; argument = va_arg(*list, const char *)) {
        count++;
    }
    return count;
}

/* Leaves `list` after the last argument. */
static void gather_arguments(const char *first, va_list *list, const char **out)
{
    for (const char *argument = first; argument != NULL; argument = va_arg(*list, const char *)) {
        *out++ = argument;
    }
    *out = NULL;
}

/* The lists of arguments become arrays; on the stack, because no malloc is allowed after fork. */
#define EXECUTES_LIST(name, call)                                                                  \
    TMS_RT_INTERPOSE int name(const char *path, const char *first, ...)                            \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, first);                                                                     \
        size_t count = count_arguments(first, &list);                                              \
        va_end(list);                                                                              \
        const char **argument = __builtin_alloca((count + 1) * sizeof *argument);                  \
        va_start(list, first);                                                                     \
        gather_arguments(first, &list, argument);                                                  \
        int result = call;                                                                         \
        va_end(list);                                                                              \
        return result;                                                                             \
    }

#define ARGUMENTS (char *const *)(uintptr_t)argument

EXECUTES_LIST(execl, execv(path, ARGUMENTS))
EXECUTES_LIST(execlp, execvp(path, ARGUMENTS))
EXECUTES_LIST(execle, execve(path, ARGUMENTS, va_arg(list, char *const *)))

/* The child runs no code of ours before it becomes another program. */
#define SPAWNS(name)                                                                               \
    TMS_RT_REAL(int, name,                                                                         \
                (pid_t *, const char *, const posix_spawn_file_actions_t *,                        \
                 const posix_spawnattr_t *, char *const[], char *const[]))                         \
    TMS_RT_INTERPOSE int name(                                                                     \
        pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,                 \
        const posix_spawnattr_t *attributes, char *const argument[], char *const environment[])    \
    {                                                                                              \
        TMS_RT_REPORT({                                                                            \
            tms_rt_exec_notes(path, environment);                                                  \
            tms_rt_child_starts(thread);                                                           \
        });                                                                                        \
        return real_##name()(child, path, actions, attributes, argument, environment);             \
    }

SPAWNS(posix_spawn)
SPAWNS(posix_spawnp)

/* ---- end -------------------------------------------------------------------------------- */

/* exit() is left to the destructors of init.c. */
#define ENDS(name)                                                                                 \
    TMS_RT_REAL(void, name, (int))                                                                 \
    TMS_RT_INTERPOSE _Noreturn void name(int status)                                               \
    {                                                                                              \
        tms_rt_finish("exit");                                                                     \
        real_##name()(status);                                                                     \
        __builtin_unreachable();                                                                   \
    }

ENDS(_exit)
ENDS(_Exit)

static void at_quick_end(void)
{
    tms_rt_finish("exit");
}

/*
 * Functions that a child may call after fork, or a signal handler, are looked up now: a lookup
 * takes a lock of the dynamic linker, which another thread may hold at the fork. quick_exit
 * handlers run in reverse order, so the first one registered runs after all of the program's.
 */
__attribute__((constructor(101))) static void prepare(void)
{
    real_fork();
    real_execve();
    real_execv();
    real_execvp();
    real_execvpe();
    real__exit();
    real__Exit();
    at_quick_exit(at_quick_end);
}
