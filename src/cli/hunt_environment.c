/* SPDX-License-Identifier: Apache-2.0 */
/* Input and environment of a hunt; see hunt_environment.h. */
#include "cli/hunt_environment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/console.h"
#include "hunt/run_record.h"

/* ---- input ---------------------------------------------------------------------------- */

#define TICK      250 /* milliseconds between looks for a signal */
#define SAY_AFTER 20  /* ticks without input */

/* Waits for input. False: a signal came first. */
static bool wait_for_input(const sigset_t *signals, unsigned *ticks)
{
    static const struct timespec at_once = {0};
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};

    while (poll(&ready, 1, TICK) == 0) {
        if (sigtimedwait(signals, NULL, &at_once) > 0) {
            return false;
        }
        if (++*ticks == SAY_AFTER) {
            tms_say("waiting for the end of standard input, which every run gets a copy of; "
                    "</dev/null gives them none");
        }
    }
    return true;
}

static bool write_all(int to, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(to, bytes, length);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* 0, EINTR after a signal, or another error. */
static int copy_input(int to, const sigset_t *signals)
{
    char bytes[65536];
    unsigned ticks = 0;

    for (;;) {
        if (!wait_for_input(signals, &ticks)) {
            return EINTR;
        }
        ssize_t length = read(STDIN_FILENO, bytes, sizeof(bytes));
        if (length == 0) {
            return 0;
        }
        if ((length < 0 && errno != EINTR) ||
            (length > 0 && !write_all(to, bytes, (size_t)length))) {
            return errno;
        }
    }
}

bool tms_hunt_input(const char *given, const char *directory, const sigset_t *signals,
                    char input[PATH_MAX])
{
    struct stat status;
    bool copied = given == NULL && fstat(STDIN_FILENO, &status) == 0 &&
                  (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode));

    snprintf(input, PATH_MAX, "%s", given != NULL ? given : "/dev/null");
    if (!copied) {
        return true;
    }
    snprintf(input, PATH_MAX, "%.*s/input", PATH_MAX - 16, directory);
    int out = open(input, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int error = out >= 0 ? copy_input(out, signals) : errno;
    if (out >= 0 && close(out) != 0 && error == 0) {
        error = errno;
    }
    if (error == EINTR) {
        tms_say("interrupted before the first run");
    } else if (error != 0) {
        tms_say("standard input can't be copied to %s: %s", input, strerror(error));
    }
    return error == 0;
}

/* ---- environment ---------------------------------------------------------------------- */

/* Variables whose names begin so. */
static const char *const prefixes[] = {"TMESIS_", "LANG=",  "LC_",  "LD_",
                                       "MALLOC_", "GLIBC_", "OMP_", "TMPDIR="};

static bool is_relevant(const char *variable)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

static json_t *variables(void)
{
    extern char **environ;
    json_t *object = json_object();

    for (char **at = environ; object != NULL && at != NULL && *at != NULL; at++) {
        char name[128];
        size_t length = strcspn(*at, "=");
        if (is_relevant(*at) && (*at)[length] == '=' && length < sizeof(name)) {
            snprintf(name, sizeof(name), "%.*s", (int)length, *at);
            json_object_set_new(object, name, tms_json_text_of(*at + length + 1));
        }
    }
    return object;
}

json_t *tms_hunt_environment(void)
{
    struct utsname names = {0};
    struct tm parts;
    time_t seconds = time(NULL);
    char started[32] = "";

    uname(&names);
    if (gmtime_r(&seconds, &parts) != NULL) {
        strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:o}", "version", tms_version(), "started",
                     started, "host", names.nodename, "system", names.release, "machine",
                     names.machine, "processors", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN),
                     "variables", variables());
}
