/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that follows single-letter commands on standard input, and waits in poll() in between.
 *
 *     w   work: two threads make deposits that cut each other apart
 *     o   open: cuts a block apart that then waits for the next letter
 *     b   busy: two threads lock and unlock until the next letter but r
 *     r   tmesis_report()
 *     q   the end; so is the end of the input
 *
 *     server [HOW]   how it takes SIGTERM: ends (the default), ignores, goes-on, waits (sigwait)
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tmesis/annotate.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance;
static volatile sig_atomic_t stop, ends;
static atomic_bool busy;

static void say(const char *what)
{
    printf("%s\n", what);
    fflush(stdout);
}

static long get(void)
{
    pthread_mutex_lock(&lock);
    long value = balance;
    pthread_mutex_unlock(&lock);
    return value;
}

static void set(long value)
{
    pthread_mutex_lock(&lock);
    balance = value;
    pthread_mutex_unlock(&lock);
}

static void deposit(long sum)
{
    long value = get();

    usleep(5000);
    set(value + sum);
}

static void *teller(void *unused)
{
    for (int i = 0; i < 20; i++) {
        deposit(1);
    }
    return unused;
}

static void *meddler(void *unused)
{
    set(get() + 1);
    return unused;
}

static void *spinner(void *unused)
{
    while (busy) {
        set(get() + 1);
        usleep(50);
    }
    return unused;
}

static void run_two(void *(*start)(void *))
{
    static pthread_t threads[2];

    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, start, NULL);
    }
    for (int i = 0; i < 2 && start != spinner; i++) {
        pthread_join(threads[i], NULL);
    }
}

static char next_letter(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char letter = 'q';

    if (poll(&input, 1, -1) < 0 && errno == EINTR) {
        say("interrupted");
        return stop && ends ? 'q' : ' ';
    }
    return read(STDIN_FILENO, &letter, 1) == 1 ? letter : 'q';
}

/* Waits in a block that was cut. Another thread comes in between: nothing orders them but time. */
static char open_block(void)
{
    pthread_t thread;
    long value = get();

    pthread_create(&thread, NULL, meddler, NULL);
    pthread_detach(thread);
    usleep(300000);
    set(value);
    say("open");
    return next_letter();
}

static void on_term(int number)
{
    (void)number;
    stop = 1;
}

static void *wait_for_term(void *set)
{
    int number;

    sigwait(set, &number);
    say("waited");
    return NULL;
}

static void take_term(const char *how)
{
    static sigset_t set;
    pthread_t thread;

    ends = strcmp(how, "ends") == 0;
    if (strcmp(how, "ignores") == 0) {
        signal(SIGTERM, SIG_IGN);
    } else if (strcmp(how, "waits") == 0) {
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        pthread_create(&thread, NULL, wait_for_term, &set);
        pthread_detach(thread);
    } else {
        signal(SIGTERM, on_term);
    }
}

int main(int count, char **words)
{
    char letter = ' ';

    take_term(count > 1 ? words[1] : "ends");
    printf("pid %d\n", (int)getpid());
    say("ready");
    while (letter != 'q') {
        switch (letter) {
        case 'w':
            run_two(teller);
            say("worked");
            break;
        case 'b':
            busy = true;
            run_two(spinner);
            say("busy");
            break;
        case 'r':
            tmesis_report();
            say("asked");
            break;
        default:
            break;
        }
        letter = letter == 'o' ? open_block() : next_letter();
        if (letter != 'r' && letter != ' ') {
            busy = false;
        }
    }
    say("ended");
    return 7;
}
