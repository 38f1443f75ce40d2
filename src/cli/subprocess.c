/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs; see subprocess.h. */
#include "cli/subprocess.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/console.h"

/* ---- words ---------------------------------------------------------------------------- */

void tms_words_add_part(struct tms_words *words, const char *text, size_t length)
{
    char **more = realloc(words->text, (words->count + 2) * sizeof(*more));
    char *copy = strndup(text, length);

    if (more != NULL) {
        words->text = more;
    }
    if (more == NULL || copy == NULL) {
        words->failed = true;
        free(copy);
        return;
    }
    more[words->count++] = copy;
    more[words->count] = NULL;
}

void tms_words_add(struct tms_words *words, const char *text)
{
    tms_words_add_part(words, text, strlen(text));
}

void tms_words_free(struct tms_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->text[i]);
    }
    free(words->text);
    *words = (struct tms_words){0};
}

static void write_quoted(FILE *out, const char *word)
{
    fputc('\'', out);
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            fputs("'\\''", out);
        } else {
            fputc(*word, out);
        }
    }
    fputc('\'', out);
}

void tms_words_write(FILE *out, const char *const *words, size_t count)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%^";

    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? " " : "", out);
        if (*words[i] != '\0' && words[i][strspn(words[i], plain)] == '\0') {
            fputs(words[i], out);
        } else {
            write_quoted(out, words[i]);
        }
    }
}

char *tms_words_text(const char *const *words, size_t count)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL) {
        return NULL;
    }
    tms_words_write(out, words, count);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

void tms_words_show(const struct tms_words *words)
{
    char *line = tms_words_text((const char *const *)words->text, words->count);

    tms_say("%s", line != NULL ? line : "out of memory");
    free(line);
}

/* ---- programs ------------------------------------------------------------------------- */

bool tms_program_exists(const char *name)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/') != NULL) {
        return access(name, X_OK) == 0;
    }
    for (const char *at = path != NULL ? path : ""; *name != '\0' && *at != '\0';) {
        char file[PATH_MAX];
        int length = (int)strcspn(at, ":");
        int size = snprintf(file, sizeof(file), "%.*s/%s", length > 0 ? length : 1,
                            length > 0 ? at : ".", name);
        if (size < (int)sizeof(file) && access(file, X_OK) == 0) {
            return true;
        }
        at += length;
        at += *at == ':';
    }
    return false;
}

bool tms_program_self(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size);

    if (length <= 0 || (size_t)length >= size) {
        return false;
    }
    path[length] = '\0';
    return true;
}

void tms_descriptors_keep(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        while (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) >= 0) {
        }
    }
}

/* What the command was started with, and the programs that it starts are to have. */
static void (*inherited_sigpipe)(int) = SIG_DFL;

void tms_sigpipe_ignore(void)
{
    inherited_sigpipe = signal(SIGPIPE, SIG_IGN);
}

void tms_sigpipe_restore(void)
{
    signal(SIGPIPE, inherited_sigpipe);
}

int tms_program_become(const struct tms_words *words)
{
    assert(words->count > 0);
    if (words->failed) {
        return tms_bad("out of memory");
    }
    tms_sigpipe_restore();
    execvp(words->text[0], words->text);
    return tms_bad("%s can't be started: %s", words->text[0], strerror(errno));
}

/* Reads to the end, but keeps only what there is room for. */
static void drain(int from, char *said, size_t size)
{
    char rest[4096];
    size_t used = 0;

    for (;;) {
        bool room = used + 1 < size;
        ssize_t got = read(from, room ? said + used : rest, room ? size - used - 1 : sizeof(rest));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        used += room ? (size_t)got : 0;
    }
    said[used] = '\0';
}

static pid_t start(const struct tms_words *words, int to)
{
    extern char **environ;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    pid_t child = -1;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, to, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, to, STDERR_FILENO);
    sigemptyset(&defaults);
    if (inherited_sigpipe != SIG_IGN) {
        sigaddset(&defaults, SIGPIPE);
    }
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    int error = posix_spawnp(&child, words->text[0], &files, &attributes, words->text, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error == 0 ? child : -1;
}

int tms_program_ask(const struct tms_words *words, char *said, size_t size)
{
    int ends[2], status = 0;

    assert(words->count > 0 && size > 0);
    said[0] = '\0';
    if (words->failed || pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    pid_t child = start(words, ends[1]);
    close(ends[1]);
    if (child > 0) {
        drain(ends[0], said, size);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    if (child < 0) {
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
