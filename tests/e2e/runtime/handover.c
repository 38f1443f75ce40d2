/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread writes `data` and hands it over through the kernel to another, which reads it.
 *
 *     handover WAY           as it should be: the two do not race
 *     handover WAY slept     nothing is handed over, and the receiver sleeps: they race
 *     handover WAY late      the sender writes once more after it has handed over: they race
 *
 * Both threads are there from the start, so nothing else orders them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHORT 20000 /* microseconds: until the other thread is where it is meant to be */
#define LONG  150000

extern long data; /* not static: the compiler must not know all writers */
long data;
static int ends[2], others[2]; /* the receiver's end first */
static int poller;
static pthread_t receiver;

static void check(bool good, const char *what)
{
    if (!good) {
        perror(what);
        exit(2);
    }
}

/* ---- pipes ------------------------------------------------------------------------------- */

static void make_pipe(void)
{
    check(pipe(ends) == 0 && pipe(others) == 0, "pipe");
}

static void send_byte(void)
{
    check(write(ends[1], "x", 1) == 1, "write");
}

static void receive_byte(void)
{
    char byte;

    check(read(ends[0], &byte, 1) == 1, "read");
}

static void send_vector(void)
{
    char byte[] = "xy";
    struct iovec parts[] = {{byte, 1}, {byte + 1, 1}};

    check(writev(ends[1], parts, 2) == 2, "writev");
}

static void receive_vector(void)
{
    char byte[2];
    struct iovec parts[] = {{byte, 1}, {byte + 1, 1}};

    check(readv(ends[0], parts, 2) == 2, "readv");
}

static void send_end(void)
{
    check(close(ends[1]) == 0, "close");
}

static void receive_end(void)
{
    char byte;

    check(read(ends[0], &byte, 1) == 0, "read");
}

/* ---- sockets ----------------------------------------------------------------------------- */

static void make_pair(void)
{
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
}

static void send_packet(void)
{
    check(send(ends[1], "x", 1, 0) == 1, "send");
}

static void receive_packet(void)
{
    char byte;

    check(recv(ends[0], &byte, 1, 0) == 1, "recv");
}

static void send_message(void)
{
    char byte = 'x';
    struct iovec part = {&byte, 1};

    check(sendmsg(ends[1], &(struct msghdr){.msg_iov = &part, .msg_iovlen = 1}, 0) == 1, "sendmsg");
}

static void receive_message(void)
{
    char byte;
    struct iovec part = {&byte, 1};

    check(recvmsg(ends[0], &(struct msghdr){.msg_iov = &part, .msg_iovlen = 1}, 0) == 1, "recvmsg");
}

static void send_shutdown(void)
{
    check(shutdown(ends[1], SHUT_WR) == 0, "shutdown");
}

static struct sockaddr_in address = {.sin_family = AF_INET};

static void make_socket(int type)
{
    socklen_t length = sizeof(address);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ends[0] = socket(AF_INET, type, 0);
    ends[1] = socket(AF_INET, type, 0);
    check(bind(ends[0], (struct sockaddr *)&address, length) == 0 &&
              getsockname(ends[0], (struct sockaddr *)&address, &length) == 0,
          "bind");
}

static void make_datagrams(void)
{
    make_socket(SOCK_DGRAM);
}

static void send_datagram(void)
{
    check(sendto(ends[1], "x", 1, 0, (struct sockaddr *)&address, sizeof(address)) == 1, "sendto");
}

static void receive_datagram(void)
{
    char byte;

    check(recvfrom(ends[0], &byte, 1, 0, NULL, NULL) == 1, "recvfrom");
}

static void make_listener(void)
{
    make_socket(SOCK_STREAM);
    check(listen(ends[0], 1) == 0, "listen");
}

static void connect_to(void)
{
    check(connect(ends[1], (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
}

static void accept_one(void)
{
    check(accept(ends[0], NULL, NULL) >= 0, "accept");
}

/* ---- eventfd and epoll ------------------------------------------------------------------- */

static void make_event(void)
{
    check((ends[0] = ends[1] = eventfd(0, 0)) >= 0, "eventfd");
}

static void make_copied_event(void)
{
    ends[0] = eventfd(0, 0);
    check((ends[1] = fcntl(dup(ends[0]), F_DUPFD, 100)) >= 100, "fcntl");
}

static void send_event(void)
{
    uint64_t one = 1;

    check(write(ends[1], &one, sizeof(one)) == sizeof(one), "write");
}

static void receive_event(void)
{
    uint64_t count;

    check(read(ends[0], &count, sizeof(count)) == sizeof(count), "read");
}

static void add_event(void)
{
    check(eventfd_write(ends[1], 1) == 0, "eventfd_write");
}

static void take_event(void)
{
    eventfd_t count;

    check(eventfd_read(ends[0], &count) == 0, "eventfd_read");
}

static void watch(void)
{
    check(epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){.events = EPOLLIN}) == 0,
          "epoll_ctl");
}

static void make_poller(void)
{
    make_event();
    check((poller = epoll_create1(0)) >= 0, "epoll_create1");
}

static void make_watched(void)
{
    make_poller();
    watch();
}

/* It is readable already: adding it wakes the other thread. */
static void make_ready(void)
{
    make_poller();
    send_event();
}

static void receive_wakeup(void)
{
    struct epoll_event event;

    check(epoll_wait(poller, &event, 1, -1) == 1, "epoll_wait");
}

/* ---- signals and child processes --------------------------------------------------------- */

static _Atomic bool came;

static void handle(int number)
{
    (void)number;
    atomic_store_explicit(&came, true, memory_order_relaxed);
}

static void make_handler(void)
{
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle}, NULL);
}

static void send_signal(void)
{
    check(pthread_kill(receiver, SIGUSR1) == 0, "pthread_kill");
}

/* The signal may have come before, or come while the runtime is looking at the loop. */
static void receive_signal(void)
{
    while (!atomic_load_explicit(&came, memory_order_relaxed)) {
        usleep(SHORT);
    }
}

static void spin_for_signal(void)
{
    while (!atomic_load_explicit(&came, memory_order_relaxed)) {
    }
}

static void block_signal(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    ends[0] = signalfd(-1, &set, 0);
}

static void send_to_process(void)
{
    check(kill(getpid(), SIGUSR1) == 0, "kill");
}

static void queue_signal(void)
{
    check(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1}) == 0, "sigqueue");
}

static void wait_for_signal(void)
{
    sigset_t set;
    int number;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    check(sigwait(&set, &number) == 0, "sigwait");
}

static void read_signal(void)
{
    struct signalfd_siginfo info;

    check(read(ends[0], &info, sizeof(info)) == sizeof(info), "read");
}

static void start_child(void)
{
    pid_t child = fork();

    check(child >= 0, "fork");
    if (child == 0) {
        _exit(0);
    }
}

static void wait_for_child(void)
{
    while (waitpid(-1, NULL, 0) < 0) {
        check(errno == ECHILD || errno == EINTR, "waitpid");
        usleep(SHORT);
    }
}

/* ---- what travels on --------------------------------------------------------------------- */

static pthread_t relay;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool passed;
static _Atomic bool published;

static void make_relay(void *(*function)(void *))
{
    make_pipe();
    check(pthread_create(&relay, NULL, function, NULL) == 0, "pthread_create");
}

static void *pass_by_lock(void *unused)
{
    receive_byte();
    pthread_mutex_lock(&lock);
    passed = true;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void make_lock_relay(void)
{
    make_relay(pass_by_lock);
}

static void receive_by_lock(void)
{
    for (bool done = false; !done; usleep(SHORT)) {
        pthread_mutex_lock(&lock);
        done = passed;
        pthread_mutex_unlock(&lock);
    }
}

static void *pass_by_atomic(void *unused)
{
    receive_byte();
    atomic_store_explicit(&published, true, memory_order_release);
    return unused;
}

static void make_atomic_relay(void)
{
    make_relay(pass_by_atomic);
}

static void receive_by_atomic(void)
{
    while (!atomic_load_explicit(&published, memory_order_acquire)) {
        usleep(SHORT);
    }
}

static void *receive_and_end(void *unused)
{
    receive_byte();
    return unused;
}

static void make_joined_relay(void)
{
    make_relay(receive_and_end);
}

static void join_relay(void)
{
    check(pthread_join(relay, NULL) == 0, "pthread_join");
}

/* It accesses nothing that is watched. */
static void *pass_silently(void *end)
{
    char byte;

    if (read((int)(intptr_t)end, &byte, 1) == 0) {
        close((int)(intptr_t)end + 3); /* others[1]: see below */
    }
    return NULL;
}

static void make_silent_relay(void)
{
    make_pipe();
    check(dup2(others[1], ends[0] + 3) >= 0 || errno == EINVAL, "dup2");
    check(others[1] == ends[0] + 3, "descriptors in a row");
    check(pthread_create(&relay, NULL, pass_silently, (void *)(intptr_t)ends[0]) == 0,
          "pthread_create");
}

static void receive_other_end(void)
{
    char byte;

    check(read(others[0], &byte, 1) == 0, "read");
}

/* ---- the two threads --------------------------------------------------------------------- */

struct way {
    const char *name;
    void (*make)(void), (*send)(void), (*receive)(void);
};

static const struct way ways[] = {
    {"pipe", make_pipe, send_byte, receive_byte},
    {"pipe-vector", make_pipe, send_vector, receive_vector},
    {"pipe-closed", make_pipe, send_end, receive_end},
    {"pair", make_pair, send_packet, receive_packet},
    {"pair-written", make_pair, send_byte, receive_byte},
    {"pair-message", make_pair, send_message, receive_message},
    {"pair-shut", make_pair, send_shutdown, receive_end},
    {"datagram", make_datagrams, send_datagram, receive_datagram},
    {"accept", make_listener, connect_to, accept_one},
    {"eventfd", make_event, send_event, receive_event},
    {"eventfd-functions", make_event, add_event, take_event},
    {"eventfd-copied", make_copied_event, send_event, receive_event},
    {"epoll-added", make_ready, watch, receive_wakeup},
    {"epoll-woken", make_watched, send_event, receive_wakeup},
    {"handler", make_handler, send_signal, receive_signal},
    {"handler-spinning", make_handler, send_signal, spin_for_signal},
    {"sigwait", block_signal, send_to_process, wait_for_signal},
    {"sigwait-queued", block_signal, queue_signal, wait_for_signal},
    {"signalfd", block_signal, send_to_process, read_signal},
    {"child", make_pipe, start_child, wait_for_child},
    {"then-lock", make_lock_relay, send_byte, receive_by_lock},
    {"then-atomic", make_atomic_relay, send_byte, receive_by_atomic},
    {"then-join", make_joined_relay, send_byte, join_relay},
    {"then-silent", make_silent_relay, send_end, receive_other_end},
};

static bool slept, late;

static void *run_sender(void *argument)
{
    const struct way *way = (const struct way *)argument;

    usleep(SHORT);
    data = 1;
    if (!slept) {
        way->send();
    }
    if (late) {
        data = 2;
    }
    return NULL;
}

static void *run_receiver(void *argument)
{
    const struct way *way = (const struct way *)argument;

    if (!slept) {
        way->receive();
    }
    if (slept || late) {
        usleep(LONG);
    }
    return (void *)(data != 0 ? &data : NULL);
}

static int play(const struct way *way)
{
    pthread_t sender;
    void *got;

    way->make();
    check(pthread_create(&receiver, NULL, run_receiver, (void *)(uintptr_t)way) == 0, "receiver");
    check(pthread_create(&sender, NULL, run_sender, (void *)(uintptr_t)way) == 0, "sender");
    pthread_join(sender, NULL);
    pthread_join(receiver, &got);
    return got == &data ? 0 : 1;
}

int main(int argc, char **argv)
{
    slept = argc > 2 && strcmp(argv[2], "slept") == 0;
    late = argc > 2 && strcmp(argv[2], "late") == 0;
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        if (argc < 2) {
            puts(ways[i].name);
        } else if (strcmp(ways[i].name, argv[1]) == 0) {
            return play(&ways[i]);
        }
    }
    return argc < 2 ? 0 : 2;
}
