/* SPDX-License-Identifier: Apache-2.0 */
/* The program of a finding under gdb; see replay_gdb.h. */
#include "cli/replay_gdb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/schedule_option.h"
#include "cli/subprocess.h"
#include "cli/watched_run.h"

/* Held threads have to wait while a person looks: milliseconds. */
#define BOUND "600000"

/*
 * The runtime calls tmesis_schedule_step at each step of a window. Its own frames have no source
 * lines, or those of runtime/; the first other one is the program's.
 */
static const char commands[] =
    "set breakpoint pending on\n"
    "set pagination off\n"
    "python\n"
    "def is_runtime(frame):\n"
    "    symtab = frame.find_sal().symtab\n"
    "    return symtab is None or '/runtime/' in symtab.fullname()\n"
    "def show_step(event):\n"
    "    frame = gdb.selected_frame()\n"
    "    if frame.name() != 'tmesis_schedule_step':\n"
    "        return\n"
    "    step = int(frame.read_register('rdi'))\n"
    "    what = frame.read_register('rsi').cast(gdb.lookup_type('char').pointer()).string()\n"
    "    while frame.older() is not None and is_runtime(frame):\n"
    "        frame = frame.older()\n"
    "    frame.select()\n"
    "    print('tmesis: step %d of the finding: %s, thread %d'\n"
    "          % (step, what, gdb.selected_thread().num))\n"
    "    gdb.execute('frame')\n"
    "gdb.events.stop.connect(show_step)\n"
    "end\n"
    "break tmesis_schedule_step\n"
    "run\n";

/* Where gdb reads its commands: the number of a file in memory that it inherits; -1: none. */
static int write_commands(void)
{
    int file = memfd_create("tmesis-gdb", 0);

    if (file >= 0 && write(file, commands, strlen(commands)) != (ssize_t)strlen(commands)) {
        close(file);
        file = -1;
    }
    return file;
}

/* The same schedule with a longer bound; to be freed. NULL: out of memory. */
static char *lengthen(const char *schedule)
{
    const char *bound = strstr(schedule, "\nbound ");
    const char *rest = bound != NULL ? bound + 1 + strcspn(bound + 1, "\n") : "";
    size_t length = bound != NULL ? (size_t)(bound - schedule) : strlen(schedule);
    char *text;

    return asprintf(&text, "%.*s\nbound " BOUND "%s", (int)length, schedule, rest) >= 0 ? text
                                                                                        : NULL;
}

static bool add_words(struct tms_words *words, int file, const struct tms_operands *program)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    tms_words_add(words, "gdb");
    tms_words_add(words, "-q");
    tms_words_add(words, "-x");
    tms_words_add(words, path);
    tms_words_add(words, "--args");
    for (size_t i = 0; i < program->count; i++) {
        tms_words_add(words, program->text[i]);
    }
    return !words->failed;
}

static int start(struct tms_chosen_schedule *chosen, const struct tms_words *words)
{
    struct tms_schedule_complaint complaint;

    if (!tms_schedule_parse(&chosen->schedule, chosen->text, chosen->length, &complaint)) {
        return tms_bad("the schedule in the result is invalid: line %u: %s", complaint.line,
                       complaint.text);
    }
    const struct tms_watching watching = {
        .split = "wait,barrier", .memory = "on", .schedule = chosen};
    const struct tms_manner manner = {.mode = "check", .blame = true, .judges = true};
    const struct tms_operands operands = {(const char *const *)words->text, words->count};
    struct tms_watched watched;
    int status = tms_watch(&watched, &watching, &manner, &operands);

    tms_watched_free(&watched);
    return status == TMS_EXIT_OK ? TMS_EXIT_OK : TMS_EXIT_BAD;
}

int tms_replay_gdb(const char *schedule, const struct tms_operands *program)
{
    struct tms_words words = {0};
    struct tms_chosen_schedule chosen = {.text = lengthen(schedule)};
    int file = -1, status = TMS_EXIT_BAD;

    if (!tms_program_exists("gdb")) {
        tms_say("--gdb needs gdb, which is not on PATH: apt-get install gdb");
    } else if (chosen.text == NULL || (file = write_commands()) < 0 ||
               !add_words(&words, file, program)) {
        tms_say("gdb can't be given its commands: %s", strerror(errno));
    } else {
        chosen.length = strlen(chosen.text);
        status = start(&chosen, &words);
    }
    if (file >= 0) {
        close(file);
    }
    tms_words_free(&words);
    tms_chosen_schedule_free(&chosen);
    return status;
}
