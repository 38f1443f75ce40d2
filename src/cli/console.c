/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, colour, checked output and progress; see console.h. */
#include "cli/console.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define WIDTH        84
#define WIDTH_LEAST  40
#define COLUMNS_MOST 1000

void tms_say_begin(void)
{
    fputs("tmesis: ", stderr);
}

/* The whole sentence is made printable: any part of it may come from outside. */
static void say(const char *format, va_list arguments)
{
    char *sentence = NULL;

    tms_say_begin();
    if (vasprintf(&sentence, format, arguments) >= 0) {
        tms_console_name(stderr, sentence);
        free(sentence);
    } else {
        fputs("out of memory", stderr);
    }
    fputc('\n', stderr);
}

void tms_say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

int tms_bad(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return TMS_EXIT_BAD;
}

void tms_console_complain(void *user, const char *message)
{
    struct tms_progress *progress = user;

    if (progress != NULL) {
        tms_progress_hide(progress);
    }
    if (progress == NULL || !progress->muted) {
        tms_say("%s", message);
    }
}

bool tms_console_sink(void *user, const char *text, size_t length)
{
    return fwrite(text, 1, length, user) == length;
}

void tms_console_name(FILE *out, const char *name)
{
    tms_printable_string(name, strlen(name), tms_console_sink, out);
}

int tms_console_worse(int a, int b)
{
    static const int weight[] = {
        [TMS_EXIT_OK] = 0, [TMS_EXIT_INCOMPLETE] = 1, [TMS_EXIT_VIOLATION] = 2, [TMS_EXIT_BAD] = 3};

    return weight[a] >= weight[b] ? a : b;
}

bool tms_console_color(const char *choice, int descriptor)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

    if (strcmp(choice, "auto") != 0) {
        return strcmp(choice, "always") == 0;
    }
    return isatty(descriptor) && (no_color == NULL || *no_color == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0;
}

/* ---- checked output -------------------------------------------------------------------- */

static ssize_t write_all(void *cookie, const char *text, size_t length)
{
    struct tms_stream *stream = cookie;
    size_t done = 0;

    while (done < length && stream->error == 0) {
        ssize_t written = write(stream->fd, text + done, length - done);
        if (written >= 0) {
            done += (size_t)written;
        } else if (errno != EINTR) {
            stream->error = errno;
        }
    }
    return (ssize_t)done;
}

bool tms_stream_open(struct tms_stream *stream, int fd)
{
    *stream = (struct tms_stream){.fd = fd};
    stream->out = fopencookie(stream, "w", (cookie_io_functions_t){.write = write_all});
    if (stream->out != NULL && isatty(fd)) {
        setvbuf(stream->out, NULL, _IOLBF, BUFSIZ);
    }
    return stream->out != NULL;
}

static int flush(struct tms_stream *stream, const char *name)
{
    bool flushed = fflush(stream->out) == 0 && !ferror(stream->out);

    if (flushed || stream->error == EPIPE) {
        return TMS_EXIT_OK;
    }
    if (!stream->reported) {
        tms_say("%s could not be written: %s", name, strerror(stream->error));
        stream->reported = true;
    }
    return TMS_EXIT_BAD;
}

int tms_stream_close(struct tms_stream *stream, const char *name)
{
    int status = flush(stream, name);

    fclose(stream->out);
    stream->out = NULL;
    return status;
}

/* It takes the place of stdio's own, which forgets why a write failed. */
static struct tms_stream standard_output;

bool tms_console_start(void)
{
    if (!tms_stream_open(&standard_output, STDOUT_FILENO)) {
        return false;
    }
    stdout = standard_output.out;
    return true;
}

int tms_console_flush(void)
{
    return flush(&standard_output, "standard output");
}

/* The reader of this pipe is gone. */
static bool reader_is_gone(int fd)
{
    struct pollfd poll_one = {.fd = fd, .events = POLLOUT};

    return poll(&poll_one, 1, 0) == 1 && (poll_one.revents & POLLERR) != 0;
}

/* ---- failures of the library ----------------------------------------------------------- */

int tms_bad_input(const struct tms_context *context, int code, const char *format)
{
    const char *why = tms_error(context);

    if (code == TMS_ERR_MALFORMED) {
        return tms_bad("%s; --lenient skips such events", why);
    }
    if (code == TMS_ERR_SYNTAX && format != NULL) {
        return tms_bad("%s (read as %s because of --format)", why, format);
    }
    return tms_bad("%s", *why != '\0' ? why : tms_strerror(code));
}

int tms_bad_output(const struct tms_context *context, int code, const char *path, const char *to)
{
    const char *why = tms_error(context);

    if (code == TMS_ERR_IO && strcmp(path, "-") == 0 && reader_is_gone(STDOUT_FILENO)) {
        return TMS_EXIT_OK;
    }
    return tms_bad("%s%s", *why != '\0' ? why : tms_strerror(code),
                   code == TMS_ERR_FORMAT && to == NULL ? "; name the format with --to" : "");
}

void tms_console_json_error(FILE *out, const char *path, const char *message)
{
    fprintf(out,
            "{\"schema\": 1, \"tool\": \"tmesis\", \"version\": \"%s\", \"trace\": {\"path\": ",
            tms_version());
    tms_json_string(path, strlen(path), tms_console_sink, out);
    fprintf(out, "}, \"error\": {\"message\": ");
    tms_json_string(message, strlen(message), tms_console_sink, out);
    fprintf(out, "}}\n");
}

/* ---- wrapped text --------------------------------------------------------------------- */

int tms_console_width(const char *text, size_t length)
{
    int count = 0;

    for (size_t i = 0; i < length; i++) {
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return count;
}

unsigned tms_console_columns(int descriptor)
{
    const char *text = getenv("COLUMNS");
    struct winsize size;
    char *end;
    unsigned long columns = text != NULL ? strtoul(text, &end, 10) : 0;

    if (columns > 0 && columns <= COLUMNS_MOST && *end == '\0') {
        return (unsigned)columns;
    }
    return isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Help and lists: no wider than is good to read. */
static int wrapping_width(void)
{
    unsigned columns = tms_console_columns(STDOUT_FILENO);

    return columns == 0 || columns > WIDTH ? WIDTH
           : columns < WIDTH_LEAST         ? WIDTH_LEAST
                                           : (int)columns;
}

void tms_console_wrap(FILE *out, int indent, const char *text)
{
    int column = indent, most = wrapping_width();

    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        int width = tms_console_width(text, length);
        if (column > indent && column + 1 + width > most) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        tms_printable_string(text, length, tms_console_sink, out);
        column += width;
        text += length;
        if (*text == '\n' && text[1] != '\0') {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        text += *text != '\0';
    }
    fputc('\n', out);
}

/* ---- progress ------------------------------------------------------------------------- */

#define FIRST_AFTER 1.0 /* seconds */
#define AGAIN_AFTER 0.2

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void tms_progress_start(struct tms_progress *progress, const struct tms_common *common)
{
    *progress = (struct tms_progress){.wanted = common->progress && !common->quiet &&
                                                isatty(fileno(stderr))};
    progress->started = now();
    progress->last = progress->started + FIRST_AFTER - AGAIN_AFTER;
}

void tms_progress_step(struct tms_progress *progress, uint64_t events, uint64_t done,
                       uint64_t total)
{
    progress->events += events;
    if (!progress->wanted) {
        return;
    }
    double time = now();
    if (time - progress->last < AGAIN_AFTER) {
        return;
    }
    double rate = (double)progress->events / (time - progress->started) * 1e-6;
    fprintf(stderr, "\r\033[K%.1f M events", (double)progress->events * 1e-6);
    if (total != 0) {
        fprintf(stderr, ", %.0f %%", 100.0 * (double)done / (double)total);
    }
    fprintf(stderr, ", %.1f M events/s", rate);
    fflush(stderr);
    progress->last = time;
    progress->shown = true;
}

void tms_progress_hide(struct tms_progress *progress)
{
    if (progress->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        progress->shown = false;
    }
}
