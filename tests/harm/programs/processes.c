/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a process, ends, or restricts itself, as its argument says. */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/seccomp.h>

#include "bank.h"
#include "tmesis/annotate.h"

#define TURNS 200

static void say(const char *what)
{
    printf("%s: %ld\n", what, bank_balance);
    fflush(stdout);
}

static void work(const char *who)
{
    bank_work(TURNS);
    say(who);
}

static int cloned(void *unused)
{
    (void)unused;
    work("child");
    return 0;
}

static void be_child(long pid)
{
    if (pid == 0) {
        work("child");
        exit(0);
    }
}

static void by_fork(char **argv)
{
    (void)argv;
    be_child(fork());
}

static void by_system_call(char **argv)
{
    (void)argv;
    be_child(syscall(SYS_fork));
}

static void by_clone(char **argv)
{
    (void)argv;
    enum { STACK = 1 << 20 };
    char *stack = malloc(STACK);
    clone(cloned, stack + STACK, SIGCHLD, NULL);
}

static void after_setuid(char **argv)
{
    (void)argv;
    if (setuid(65534) == 0) {
        be_child(fork());
    }
}

static void after_chroot(char **argv)
{
    (void)argv;
    if (chroot("/usr") == 0) {
        be_child(fork());
    }
}

static void orphan(char **argv)
{
    (void)argv;
    if (fork() == 0) {
        int nothing = 0;
        close(1);
        close(2);
        bank_work(TURNS);
        usleep(1500000);
        exit(nothing);
    }
    exit(0);
}

static void by_exec(char **argv)
{
    char *const words[] = {argv[0], (char *)"fork", NULL};
    execv("/proc/self/exe", words);
}

/* The new program does not know that it is to be watched. */
static void by_clean_exec(char **argv)
{
    char *const words[] = {argv[0], (char *)"fork", NULL};
    char *const nothing[] = {NULL};

    if (fork() == 0) {
        execve(argv[0], words, nothing);
    }
}

static void by_kill(char **argv)
{
    (void)argv;
    kill(getpid(), SIGKILL);
}

static void by_abort(char **argv)
{
    (void)argv;
    abort();
}

static void by_exit_group(char **argv)
{
    (void)argv;
    syscall(SYS_exit_group, 0);
}

/* Like the system's own, except for the frames that would be reused. */
static __attribute__((noinline)) int overflow(volatile char *before)
{
    volatile char room[65536];

    room[0] = before != NULL ? before[0] : 1;
    return overflow(room) + room[0];
}

static void by_overflow(char **argv)
{
    (void)argv;
    overflow(NULL);
}

static void locked(char **argv)
{
    (void)argv;
    printf("mlockall %d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
    bank_work(TURNS);
}

static void limited(char **argv)
{
    const struct rlimit limit = {1 << 20, 1 << 20};

    (void)argv;
    setrlimit(RLIMIT_FSIZE, &limit);
    bank_work(200000);
}

static void sandboxed(char **argv)
{
    (void)argv;
    pid_t child = fork();
    if (child == 0) {
        static const char done[] = "still alive\n";
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        for (int i = 0; i < TURNS; i++) {
            bank_deposit();
        }
        ssize_t written = write(1, done, sizeof(done) - 1);
        syscall(SYS_exit, written < 0);
    }
}

static void nameless(char **argv)
{
    (void)argv;
    tmesis_begin(NULL);
    bank_deposit();
    tmesis_end();
}

static void pipe_signal(char **argv)
{
    struct sigaction action;

    (void)argv;
    sigaction(SIGPIPE, NULL, &action);
    printf("SIGPIPE is %s\n", action.sa_handler == SIG_IGN ? "ignored" : "default");
}

#define EARLY 8
static pthread_barrier_t met;

static void *early_teller(void *unused)
{
    bank_deposit();
    pthread_barrier_wait(&met);
    return unused;
}

static void *late_teller(void *turns)
{
    bank_deposit();
    pthread_barrier_wait(&met);
    return bank_teller(turns);
}

static void short_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, bank_teller, (void *)1);
    pthread_join(thread, NULL);
}

/* Many short threads, and a long one that needs room again and again after others have ended. */
static void many_threads(char **argv)
{
    pthread_t threads[EARLY + 1];

    (void)argv;
    pthread_barrier_init(&met, NULL, EARLY + 1);
    for (int i = 0; i <= EARLY; i++) {
        pthread_create(&threads[i], NULL, i < EARLY ? early_teller : late_teller, (void *)20000);
    }
    for (int i = 0; i <= EARLY; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 4000; i++) {
        short_thread();
    }
}

static const struct {
    const char *name;
    void (*act)(char **argv);
} acts[] = {
    {"fork", by_fork},         {"system-call", by_system_call},
    {"clone", by_clone},       {"setuid", after_setuid},
    {"chroot", after_chroot},  {"orphan", orphan},
    {"exec", by_exec},         {"clean-exec", by_clean_exec},
    {"kill", by_kill},         {"exit_group", by_exit_group},
    {"overflow", by_overflow}, {"mlockall", locked},
    {"file-size", limited},    {"seccomp", sandboxed},
    {"nameless", nameless},    {"sigpipe", pipe_signal},
    {"threads", many_threads}, {"abort", by_abort},
};

int main(int argc, char **argv)
{
    work("parent");
    for (size_t i = 0; argc > 1 && i < sizeof(acts) / sizeof(acts[0]); i++) {
        if (strcmp(argv[1], acts[i].name) == 0) {
            acts[i].act(argv);
        }
    }
    while (wait(NULL) > 0) {
    }
    say("end");
    return 0;
}
