/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command and makes the N-th of certain system calls fail once.
 *
 *     inject WHO CALL ERRNO N COUNT COMMAND…
 *
 * WHO is `command` (the process that is started) or `others` (those that it starts, which is the
 * watched program). CALL is a row of the table below, ERRNO a number. The file COUNT gets the
 * number of such calls that WHO made, so that the caller knows when to stop counting N up. The exit
 * status is that of the command, or 128 and the number of the signal that ended it; 99 if this
 * program itself can't go on.
 *
 * A filter sends the calls here (seccomp's user notification), and so it does not matter whether
 * they come from libc or from a system call by hand. Those of the dynamic linker are not counted:
 * without its own memory it crashes, and that is not for us to fix.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIANTS 3
#define BROKEN   99

static const struct {
    const char *name;
    int numbers[VARIANTS]; /* 0 is read, which is not among them */
} calls[] = {
    {"mmap", {SYS_mmap}},
    {"open", {SYS_open, SYS_openat}},
    {"write", {SYS_write, SYS_writev, SYS_pwrite64}},
    {"ftruncate", {SYS_ftruncate}},
    {"fallocate", {SYS_fallocate}},
    {"rename", {SYS_rename, SYS_renameat, SYS_renameat2}},
    {"close", {SYS_close}},
    {"mkdir", {SYS_mkdir, SYS_mkdirat}},
    {"fork", {SYS_clone, SYS_clone3, SYS_vfork}},
    {"pipe", {SYS_pipe, SYS_pipe2}},
    {"stat", {SYS_fstat, SYS_newfstatat}},
    {"madvise", {SYS_madvise}},
    {"socket", {SYS_socket, SYS_bind}},
};

static void stop(const char *what)
{
    perror(what);
    exit(BROKEN);
}

static const int *numbers_of(const char *name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strcmp(calls[i].name, name) == 0) {
            return calls[i].numbers;
        }
    }
    fprintf(stderr, "inject: there is no call \"%s\"\n", name);
    exit(BROKEN);
}

/* ---- the command, in a child ---------------------------------------------------------- */

static int install(const int numbers[VARIANTS])
{
    struct sock_filter code[VARIANTS + 3];
    unsigned count = 0;

    code[count++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < VARIANTS; i++) { /* one that is not used jumps to the same place */
        unsigned number = (unsigned)(numbers[i] != 0 ? numbers[i] : numbers[0]);
        code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number,
                                                     (unsigned char)(VARIANTS - i), 0);
    }
    code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    struct sock_fprog program = {(unsigned short)count, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return -1;
    }
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

/* The listener goes to the parent by its number, which the parent fetches with pidfd_getfd. */
static _Noreturn void become(const int numbers[VARIANTS], int channel, char **command)
{
    int listener = install(numbers);
    char ready;

    /* No call that might be filtered, until the parent listens: not even write. */
    if (send(channel, &listener, sizeof(listener), 0) != sizeof(listener) ||
        recv(channel, &ready, 1, 0) != 1) {
        _exit(BROKEN);
    }
    execvp(command[0], command);
    _exit(BROKEN);
}

static int fetch_listener(pid_t pid, int channel)
{
    int remote = -1;

    if (recv(channel, &remote, sizeof(remote), 0) != sizeof(remote) || remote < 0) {
        stop("inject: seccomp");
    }
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    int listener = (int)syscall(SYS_pidfd_getfd, process, remote, 0);
    if (listener < 0 || fcntl(listener, F_SETFD, FD_CLOEXEC) != 0) {
        stop("inject: pidfd_getfd");
    }
    close(process);
    return listener;
}

/* ---- answering ------------------------------------------------------------------------ */

struct fault {
    pid_t command;
    bool others;
    int error;
    unsigned long number, count;
};

/* The process of a thread: that of the command's first thread is its own. */
static pid_t process_of(pid_t thread)
{
    char path[64], line[256];
    int process = 0;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL &&
           sscanf(line, "Tgid: %d", &process) != 1) {
    }
    if (file != NULL) {
        fclose(file);
    }
    return process;
}

/* Is the instruction in the dynamic linker, or in a process that has not become a program yet? */
static bool is_linker(pid_t process, unsigned long long instruction)
{
    char path[64], line[512];
    bool linker = true;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)process);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        unsigned long long start, end;
        if (sscanf(line, "%llx-%llx", &start, &end) == 2 && instruction >= start &&
            instruction < end) {
            linker = strstr(line, "/ld-") != NULL || strstr(line, "/inject") != NULL;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return linker;
}

/*
 * A close that fails closes the descriptor anyway, but not if it never reaches the kernel. For a
 * file that makes no difference; for the end of a pipe, another process may wait for it.
 */
static bool is_file(pid_t process, int descriptor)
{
    struct stat status;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)process, descriptor);
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static void answer(int listener, struct fault *fault)
{
    struct seccomp_notif call = {0};
    struct seccomp_notif_resp reply = {0};

    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
        return; /* it was killed meanwhile */
    }
    pid_t process = process_of((pid_t)call.pid);
    bool counted = (process != fault->command) == fault->others &&
                   !is_linker(process, call.data.instruction_pointer) &&
                   (call.data.nr != SYS_close || is_file(process, (int)call.data.args[0]));
    fault->count += counted;
    reply.id = call.id;
    if (counted && fault->count == fault->number) {
        reply.error = -fault->error;
    } else {
        reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

/* Until no process with the filter is left. */
static void serve(int listener, struct fault *fault)
{
    struct pollfd wait = {.fd = listener, .events = POLLIN};

    while (poll(&wait, 1, -1) >= 0 || errno == EINTR) {
        if ((wait.revents & POLLIN) != 0) {
            answer(listener, fault);
        } else if ((wait.revents & POLLHUP) != 0) {
            return;
        }
    }
}

static void write_count(const char *path, unsigned long count)
{
    FILE *file = fopen(path, "we");

    if (file == NULL || fprintf(file, "%lu\n", count) < 0 || fclose(file) != 0) {
        stop(path);
    }
}

int main(int count, char **words)
{
    int channel[2], status;

    if (count < 7) {
        fprintf(stderr, "usage: inject WHO CALL ERRNO N COUNT COMMAND…\n");
        return BROKEN;
    }
    struct fault fault = {.others = strcmp(words[1], "others") == 0,
                          .error = atoi(words[3]),
                          .number = strtoul(words[4], NULL, 10)};
    const int *numbers = numbers_of(words[2]);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) {
        stop("inject: socketpair");
    }
    fault.command = fork();
    if (fault.command == 0) {
        become(numbers, channel[1], words + 6);
    }
    close(channel[1]);
    int listener = fetch_listener(fault.command, channel[0]);
    if (send(channel[0], "", 1, 0) != 1) {
        stop("inject: send");
    }
    serve(listener, &fault);
    write_count(words[5], fault.count);
    if (waitpid(fault.command, &status, 0) != fault.command) {
        stop("inject: waitpid");
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
