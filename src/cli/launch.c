/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs started; see launch.h. Signals are blocked here and taken one by one, so that there is
 * no handler, and nothing global for a handler to know.
 */
#include "cli/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/subprocess.h"
#include "cli/watched_run.h"

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Other variables are unset, so that those of an outer `tmesis run` have no effect. */
static void set_variables(const struct tms_rt_config *config)
{
    const struct {
        const char *name, *value;
    } variables[] = {
#define X(field, name, meaning) {"TMESIS_RT_" name, config->field},
        TMS_RT_CONFIG(X)
#undef X
    };

    unsetenv(TMS_WATCH_DIRECTORY);
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        if (variables[i].value != NULL) {
            setenv(variables[i].name, variables[i].value, 1);
        } else {
            unsetenv(variables[i].name);
        }
    }
}

static bool set_preload(const char *library)
{
    const char *others = library != NULL ? getenv("LD_PRELOAD") : NULL;
    char *list = NULL;

    if (library == NULL) {
        return true;
    }
    if (others == NULL || *others == '\0') {
        return setenv("LD_PRELOAD", library, 1) == 0;
    }
    bool good =
        asprintf(&list, "%s:%s", library, others) >= 0 && setenv("LD_PRELOAD", list, 1) == 0;
    free(list);
    return good;
}

/* In the child. If the program can't be started, the reason goes through the pipe. */
static _Noreturn void become(const struct tms_operands *operands, const struct tms_launch *launch,
                             const sigset_t *mask, int failure)
{
    char **words = calloc(operands->count + 1, sizeof(*words));
    int error = ENOMEM;

    if (words != NULL && set_preload(launch->preload)) {
        memcpy(words, operands->text, operands->count * sizeof(*words));
        set_variables(launch->config);
        tms_sigpipe_restore();
        sigprocmask(SIG_SETMASK, mask, NULL);
        execvp(words[0], words);
        error = errno;
    }
    ssize_t written = write(failure, &error, sizeof(error));
    _exit(written == sizeof(error) ? 0 : 1);
}

static void block_signals(const struct tms_on_demand *demand, sigset_t *blocked, sigset_t *before)
{
    sigemptyset(blocked);
    sigaddset(blocked, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++) {
        sigaddset(blocked, passed_on[i]);
    }
    if (demand != NULL) {
        sigaddset(blocked, demand->signal);
    }
    signal(SIGCHLD, SIG_DFL); /* an inherited SIG_IGN would lose the status */
    sigprocmask(SIG_BLOCK, blocked, before);
}

/* A code above 0 means that the kernel sent it, to both of us. */
static void pass_on(pid_t pid, const siginfo_t *info, struct tms_on_demand *demand)
{
    if (demand != NULL && info->si_signo == demand->signal) {
        tms_on_demand_ask(demand);
    } else if (info->si_signo != SIGCHLD && info->si_code <= 0) {
        kill(pid, info->si_signo);
        if (demand != NULL && info->si_signo == SIGTERM) {
            tms_on_demand_terminated(demand);
        }
    }
}

/* Until the program has ended. */
static int wait_for_end(pid_t pid, const sigset_t *signals, struct tms_on_demand *demand)
{
    static const struct timespec tick = {.tv_nsec = TMS_ON_DEMAND_TICK * 1000000L};
    int status = 0;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        siginfo_t info;
        if (sigtimedwait(signals, &info, demand != NULL ? &tick : NULL) > 0) {
            pass_on(pid, &info, demand);
        }
        if (demand != NULL) {
            tms_on_demand_look(demand);
        }
    }
    if (demand != NULL) {
        tms_on_demand_finish(demand);
    }
    return status;
}

/* The same key that ended the program must not end us before the report is out. */
static void forget_pending(const sigset_t *signals)
{
    static const struct timespec at_once = {0};

    while (sigtimedwait(signals, NULL, &at_once) > 0) {
    }
}

/* What the child says through the pipe, 0: nothing, it became the program. */
static int read_failure(int from)
{
    int error = 0;
    ssize_t got;

    do {
        got = read(from, &error, sizeof(error));
    } while (got < 0 && errno == EINTR);
    return got == sizeof(error) ? error : 0;
}

/* The system's reason, unless it is about another file or a permission that can't be given. */
static const char *reason_of(const char *program, int error)
{
    struct stat status;

    if (strchr(program, '/') == NULL || stat(program, &status) != 0) {
        return strerror(error);
    }
    if (S_ISDIR(status.st_mode)) {
        return strerror(EISDIR);
    }
    return error == ENOENT ? "its interpreter (of the #! line) or its loader does not exist"
                           : strerror(error);
}

static bool cannot(const char *program, int error)
{
    tms_say("%s can't be started: %s", program, reason_of(program, error));
    return false;
}

bool tms_launch(const struct tms_operands *operands, const struct tms_launch *launch, pid_t *pid,
                int *status, double *seconds)
{
    sigset_t blocked, before;
    int ends[2];

    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return cannot(operands->text[0], errno);
    }
    block_signals(launch->demand, &blocked, &before);
    double started = now();
    if (launch->demand != NULL) {
        launch->demand->started = started;
    }
    *pid = fork();
    int error = errno;
    if (*pid == 0) {
        become(operands, launch, &before, ends[1]);
    }
    close(ends[1]);
    if (*pid > 0) {
        error = read_failure(ends[0]);
        *status = wait_for_end(*pid, &blocked, launch->demand);
    }
    close(ends[0]);
    *seconds = now() - started;
    forget_pending(&blocked);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error == 0 || cannot(operands->text[0], error);
}
