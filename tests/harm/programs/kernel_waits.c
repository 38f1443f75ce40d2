/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits in the kernel, by every function that the runtime interposes: results, errno, changed
 * arguments, interruption and cancellation.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int ends[2], listener, all;
static sem_t empty;
static pid_t sleeper;

/*
 * ---- waits that never end ---------------------------------------------------------------
 */

static long do_poll(void)
{
    struct pollfd file = {.fd = ends[0], .events = POLLIN};
    return poll(&file, 1, -1);
}

static long do_ppoll(void)
{
    struct pollfd file = {.fd = ends[0], .events = POLLIN};
    return ppoll(&file, 1, NULL, NULL);
}

static long do_select(void)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    return select(ends[0] + 1, &set, NULL, NULL, NULL);
}

static long do_pselect(void)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    return pselect(ends[0] + 1, &set, NULL, NULL, NULL, NULL);
}

static long do_epoll_wait(void)
{
    struct epoll_event event;
    return epoll_wait(all, &event, 1, -1);
}

static long do_epoll_pwait(void)
{
    struct epoll_event event;
    return epoll_pwait(all, &event, 1, -1, NULL);
}

static long do_read(void)
{
    char byte;
    return read(ends[0], &byte, 1);
}

static long do_readv(void)
{
    char byte;
    struct iovec part = {&byte, 1};
    return readv(ends[0], &part, 1);
}

static long do_recv(void)
{
    char byte;
    return recv(ends[0], &byte, 1, 0);
}

static long do_recvmsg(void)
{
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return recvmsg(ends[0], &message, 0);
}

static long do_accept(void)
{
    return accept(listener, NULL, NULL);
}

static long do_accept4(void)
{
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

static long do_wait(void)
{
    return wait(NULL);
}

static long do_waitpid(void)
{
    return waitpid(sleeper, NULL, 0);
}

static long do_waitid(void)
{
    siginfo_t info;
    return waitid(P_PID, (id_t)sleeper, &info, WEXITED);
}

static long do_sigwaitinfo(void)
{
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return sigwaitinfo(&set, &info);
}

static long do_sem_wait(void)
{
    return sem_wait(&empty);
}

static const struct {
    const char *name;
    long (*wait)(void);
} waits[] = {
    {"poll", do_poll},
    {"ppoll", do_ppoll},
    {"select", do_select},
    {"pselect", do_pselect},
    {"epoll_wait", do_epoll_wait},
    {"epoll_pwait", do_epoll_pwait},
    {"read", do_read},
    {"readv", do_readv},
    {"recv", do_recv},
    {"recvmsg", do_recvmsg},
    {"accept", do_accept},
    {"accept4", do_accept4},
    {"wait", do_wait},
    {"waitpid", do_waitpid},
    {"waitid", do_waitid},
    {"sigwaitinfo", do_sigwaitinfo},
    {"sem_wait", do_sem_wait},
};
#define WAITS (sizeof(waits) / sizeof(waits[0]))

/* A child that waits to be killed, once it runs. */
static void start_sleeper(void)
{
    int started[2];
    char byte = 0;

    if (pipe(started) != 0)
        exit(1);
    sleeper = fork();
    if (sleeper == 0) {
        close(ends[1]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (write(started[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    if (read(started[0], &byte, 1) != 1)
        exit(1);
}

static void set_up(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct epoll_event event = {.events = EPOLLIN};

    sem_init(&empty, 0, 0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        exit(1);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    all = epoll_create1(0);
    if (bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)) != 0 ||
        listen(listener, 1) != 0 || epoll_ctl(all, EPOLL_CTL_ADD, ends[0], &event) != 0)
        exit(1);
    start_sleeper();
}

static void tear_down(void)
{
    kill(sleeper, SIGTERM);
    waitpid(sleeper, NULL, 0);
}

static void say(const char *name, long result)
{
    printf("%s: %ld %s\n", name, result, result < 0 ? strerrorname_np(errno) : "");
}

/* ---- interrupted, cancelled -------------------------------------------------------------- */

static atomic_int handled, over;

/* Handlers may wait, too. */
static void handle(int number)
{
    struct pollfd file = {.fd = ends[0], .events = POLLIN};
    struct timespec none = {0};
    fd_set set;

    (void)number;
    FD_ZERO(&set);
    int saved = errno;
    poll(&file, 1, 0);
    pselect(0, &set, NULL, NULL, &none, NULL);
    waitpid(-1, NULL, WNOHANG);
    errno = saved;
    handled++;
}

static void *interrupt(void *thread)
{
    while (!over) {
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
        usleep(2000);
    }
    return NULL;
}

static void interrupted(void)
{
    struct sigaction action = {.sa_handler = handle};
    pthread_t self = pthread_self(), other;
    sigset_t set;

    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&other, NULL, interrupt, &self);
    for (size_t i = 0; i < WAITS; i++) {
        errno = 0;
        long result = waits[i].wait();
        say(waits[i].name, result);
    }
    over = 1;
    pthread_join(other, NULL);
    printf("%s\n", handled > 0 ? "handled" : "not handled");
}

static void clean_up(void *cleaned)
{
    *(int *)cleaned = 1;
}

static int cleaned;

static void *be_cancelled(void *index)
{
    pthread_cleanup_push(clean_up, &cleaned);
    waits[*(size_t *)index].wait();
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancelled(void)
{
    for (size_t i = 0; i < WAITS; i++) {
        pthread_t thread;
        void *result;
        cleaned = 0;
        pthread_create(&thread, NULL, be_cancelled, &i);
        usleep(5000);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        printf("%s: %s %d\n", waits[i].name, result == PTHREAD_CANCELED ? "cancelled" : "ended",
               cleaned);
    }
}

/* ---- everything else --------------------------------------------------------------------- */

static void refused(void)
{
    struct pollfd file = {.fd = 999, .events = POLLIN};
    void *nowhere = (void *)16;
    struct timespec bad = {.tv_nsec = -1};
    char bytes[8];
    fd_set set;
    int status;

    FD_ZERO(&set);
    say("poll, closed descriptor", poll(&file, 1, 0));
    printf("revents %d\n", file.revents);
    say("poll nowhere", poll(nowhere, 1, 0));
    say("ppoll, bad time", ppoll(&file, 1, &bad, NULL));
    say("select, too few", select(-1, &set, NULL, NULL, NULL));
    say("epoll_wait, none", epoll_wait(all, nowhere, 0, 0));
    say("epoll_wait, no epoll", epoll_wait(ends[0], nowhere, 1, 0));
    say("read, closed descriptor", read(999, bytes, 1));
    say("write", write(ends[1], "x", 1));
    say("read nowhere", read(ends[0], nowhere, 1));
    say("accept, no socket", accept(0, NULL, NULL));
    say("waitpid, no child", waitpid(999999, &status, 0));
    say("waitpid, bad options", waitpid(-1, &status, 1 << 20));
    say("sigtimedwait, nothing", sigtimedwait(&(sigset_t){0}, NULL, &(struct timespec){0}));
    say("sem_trywait", sem_trywait(&empty));
    say("sem_timedwait", sem_timedwait(&empty, &(struct timespec){0}));
    say("sem_timedwait, bad time", sem_timedwait(&empty, &bad));
}

static void fulfilled(void)
{
    struct timeval time = {.tv_sec = 100};
    struct pollfd file = {.fd = ends[0], .events = POLLIN};
    struct epoll_event event;
    char bytes[8] = "";
    uint64_t value;
    sigset_t signals;
    fd_set set;
    int status, number, counter = eventfd(3, EFD_NONBLOCK);

    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    say("read, nothing there", read(ends[0], bytes, sizeof(bytes)));
    say("recv, nothing there", recv(ends[0], bytes, sizeof(bytes), 0));
    say("accept, no connection",
        (fcntl(listener, F_SETFL, O_NONBLOCK), accept(listener, NULL, NULL)));
    say("poll, nothing there", poll(&file, 1, 1));
    say("write", write(ends[1], "abc", 3));
    say("poll", poll(&file, 1, -1));
    say("epoll_wait", epoll_wait(all, &event, 1, -1));
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    say("select", select(ends[0] + 1, &set, NULL, NULL, &time));
    printf("%d, time left: %d\n", FD_ISSET(ends[0], &set) != 0, time.tv_sec >= 99);
    say("short read", read(ends[0], bytes, sizeof(bytes)));
    printf("%s\n", bytes);
    say("read a counter", read(counter, &value, sizeof(value)));
    printf("%lu\n", (unsigned long)value);
    say("read it again", read(counter, &value, sizeof(value)));
    close(ends[1]);
    say("read the end", read(ends[0], bytes, 1));
    kill(sleeper, SIGTERM);
    say("waitpid", waitpid(sleeper, &status, 0) == sleeper);
    printf("%d\n", WTERMSIG(status));
    say("waitpid again", waitpid(sleeper, &status, WNOHANG));
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    raise(SIGUSR2);
    say("sigwait", sigwait(&signals, &number));
    printf("%d\n", number == SIGUSR2);
}

static void *run(void *way)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } ways[] = {{"interrupted", interrupted},
                {"cancelled", cancelled},
                {"refused", refused},
                {"fulfilled", fulfilled}};

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(way, ways[i].name) == 0)
            ways[i].function();
    }
    return NULL;
}

int main(int count, char **arguments)
{
    if (count < 2)
        return 2;
    alarm(50);
    set_up();
    run(arguments[1]);
    tear_down();
    return 0;
}
