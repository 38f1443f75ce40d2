/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a program among many; see hunt_trial.h. */
#include "cli/hunt_trial.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/watched_run.h"

/* Seconds: from SIGTERM until the program is killed, and from then on until `tmesis run` is. */
#define TERM_GRACE 2.0
#define KILL_GRACE 30.0

/* How far the end of a run has been forced. */
enum force { NOT_FORCED, ASKED, PROGRAM_KILLED, ALL_KILLED };

struct supervisor {
    struct tms_trial_outcome *outcome;
    const struct tms_trial_plan *plan;
    pid_t run;       /* `tmesis run` */
    int said;        /* its standard error, -1: closed */
    int signals;     /* signalfd */
    double started;  /* seconds of the monotonic clock */
    double deadline; /* when more force is due; 0: never */
    enum force force;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- processes ---------------------------------------------------------------------------- */

/* The parent of a process, 0: it is gone. */
static pid_t parent_of(const char *process)
{
    char path[64], text[512];
    int fd;

    snprintf(path, sizeof(path), "/proc/%.20s/stat", process);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    text[length > 0 ? length : 0] = '\0';
    const char *name_end = strrchr(text, ')'); /* the name may have anything in it */
    int parent = 0;
    return name_end != NULL && sscanf(name_end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* Sends a signal to all children of a process. */
static void signal_children(pid_t parent, int number)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;

    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);
        if (process > 0 && parent_of(entry->d_name) == parent) {
            kill(process, number);
        }
    }
    if (processes != NULL) {
        closedir(processes);
    }
}

/* Processes that outlived the program: they become our children when it ends. */
static void end_leftovers(void)
{
    static const struct timespec pause = {.tv_nsec = 1000000};

    while (waitpid(-1, NULL, WNOHANG) >= 0) {
        signal_children(getpid(), SIGKILL);
        nanosleep(&pause, NULL);
    }
}

/* ---- the child that becomes `tmesis run` ---------------------------------------------------- */

static _Noreturn void become(const struct tms_trial_plan *plan, const sigset_t *mask, int said)
{
    int input = open(plan->input, O_RDONLY), nothing = open("/dev/null", O_WRONLY);

    setpgid(0, 0);
    if (input >= 0 && nothing >= 0 && dup2(input, STDIN_FILENO) >= 0 &&
        dup2(nothing, STDOUT_FILENO) >= 0 && dup2(said, STDERR_FILENO) >= 0) {
        close(input);
        close(nothing);
        setenv(TMS_WATCH_DIRECTORY, plan->directory, 1);
        unsetenv("TMESIS_PERTURB");
        unsetenv("TMESIS_SCHEDULE");
        tms_sigpipe_restore();
        sigprocmask(SIG_SETMASK, mask, NULL);
        execv(plan->words->text[0], plan->words->text);
    }
    dprintf(said, "tmesis: %s can't be started: %s\n", plan->words->text[0], strerror(errno));
    _exit(TMS_EXIT_WATCH_BAD);
}

/* ---- the supervisor ------------------------------------------------------------------------- */

static bool start_run(struct supervisor *supervisor, const sigset_t *mask)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    supervisor->run = fork();
    if (supervisor->run == 0) {
        become(supervisor->plan, mask, ends[1]);
    }
    close(ends[1]);
    supervisor->said = ends[0];
    return supervisor->run > 0;
}

static void keep_said(struct tms_trial_outcome *outcome, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        outcome->text[(outcome->said + i) % TMS_TRIAL_SAID] = text[i];
    }
    outcome->said += length;
}

/* What is there to be read, at most so much. */
static void read_said(struct supervisor *supervisor)
{
    char text[16384];
    ssize_t length = read(supervisor->said, text, sizeof(text));

    if (length > 0) {
        keep_said(supervisor->outcome, text, (size_t)length);
    } else if (length == 0 || errno != EINTR) {
        close(supervisor->said);
        supervisor->said = -1;
    }
}

/* The rest, which a process that is left may still hold open. */
static void drain_said(struct supervisor *supervisor)
{
    struct pollfd ready = {.fd = supervisor->said, .events = POLLIN};

    while (supervisor->said >= 0 && poll(&ready, 1, 0) > 0) {
        read_said(supervisor);
        ready.fd = supervisor->said;
    }
}

/* One step further towards the end. */
static void use_force(struct supervisor *supervisor)
{
    double grace = 0;

    supervisor->force += supervisor->force < ALL_KILLED;
    switch (supervisor->force) {
    case ASKED:
        kill(supervisor->run, SIGTERM);
        grace = TERM_GRACE;
        break;
    case PROGRAM_KILLED:
        signal_children(supervisor->run, SIGKILL);
        grace = KILL_GRACE;
        break;
    default:
        kill(supervisor->run, SIGKILL);
    }
    supervisor->deadline = grace > 0 ? now() + grace : 0;
}

/* SIGTERM comes from the caller, or from the kernel if the caller has died. */
static void take_signal(struct supervisor *supervisor)
{
    struct signalfd_siginfo info;

    if (read(supervisor->signals, &info, sizeof(info)) == sizeof(info) &&
        info.ssi_signo == SIGTERM) {
        supervisor->outcome->stopped = true;
        use_force(supervisor);
    }
}

/* Until `tmesis run` has ended. */
static int supervise(struct supervisor *supervisor)
{
    int status = 0;

    while (waitpid(supervisor->run, &status, WNOHANG) == 0) {
        struct pollfd ready[] = {{.fd = supervisor->signals, .events = POLLIN},
                                 {.fd = supervisor->said, .events = POLLIN}};
        double left = supervisor->deadline - now();
        int timeout = supervisor->deadline == 0 ? -1 : left > 0 ? (int)(left * 1000) + 1 : 0;
        poll(ready, 2, timeout);
        if (ready[0].revents != 0) {
            take_signal(supervisor);
        }
        if (ready[1].revents != 0) {
            read_said(supervisor);
        }
        if (supervisor->deadline != 0 && now() >= supervisor->deadline) {
            supervisor->outcome->timed_out =
                supervisor->outcome->timed_out || supervisor->force == NOT_FORCED;
            use_force(supervisor);
        }
    }
    return status;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    remove(path);
    return 0;
}

void tms_remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Spools, if `tmesis run` could not remove them itself. */
static void remove_inside(const char *directory)
{
    tms_remove_tree(directory);
    mkdir(directory, 0700);
}

/* If the caller has died, nothing else removes its files. */
static void remove_all(const char *directory, pid_t caller)
{
    char above[PATH_MAX];

    if (getppid() == caller) {
        return;
    }
    snprintf(above, sizeof(above), "%s", directory);
    *strrchr(above, '/') = '\0'; /* the run's own directory */
    tms_remove_tree(above);
    *strrchr(above, '/') = '\0'; /* that of all runs: the last one removes it */
    rmdir(above);
}

static _Noreturn void be_supervisor(const struct tms_trial_plan *plan,
                                    struct tms_trial_outcome *outcome, const sigset_t *mask,
                                    pid_t caller)
{
    struct supervisor supervisor = {.outcome = outcome, .plan = plan, .started = now(), .said = -1};
    sigset_t signals;

    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    supervisor.signals = signalfd(-1, &signals, SFD_CLOEXEC);
    if (getppid() == caller && supervisor.signals >= 0 && start_run(&supervisor, mask)) {
        outcome->started = true;
        supervisor.deadline = plan->limit > 0 ? supervisor.started + plan->limit : 0;
        outcome->status = supervise(&supervisor);
        drain_said(&supervisor);
    }
    outcome->seconds = now() - supervisor.started;
    end_leftovers();
    remove_inside(plan->directory);
    remove_all(plan->directory, caller);
    _exit(0);
}

/* ---- the caller ----------------------------------------------------------------------------- */

bool tms_trial_start(struct tms_trial *trial, const struct tms_trial_plan *plan, const void *before)
{
    pid_t caller = getpid();

    *trial = (struct tms_trial){0};
    void *shared = mmap(NULL, sizeof(*trial->outcome), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        tms_say("out of memory");
        return false;
    }
    trial->outcome = shared;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        be_supervisor(plan, trial->outcome, before, caller);
    }
    if (child < 0) {
        tms_say("no process can be started: %s", strerror(errno));
        return false;
    }
    trial->supervisor = child;
    return true;
}

void tms_trial_stop(const struct tms_trial *trial)
{
    if (trial->supervisor > 0) {
        kill(trial->supervisor, SIGTERM);
    }
}

size_t tms_trial_said(const struct tms_trial *trial, char *text)
{
    const struct tms_trial_outcome *outcome = trial->outcome;
    size_t length = outcome->said < TMS_TRIAL_SAID ? outcome->said : TMS_TRIAL_SAID;

    for (size_t i = 0; i < length; i++) {
        text[i] = outcome->text[(outcome->said - length + i) % TMS_TRIAL_SAID];
    }
    return length;
}

void tms_trial_free(struct tms_trial *trial)
{
    if (trial->outcome != NULL) {
        munmap(trial->outcome, sizeof(*trial->outcome));
    }
    *trial = (struct tms_trial){0};
}
