/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source; see html_sources.h. */
#include "report/html_sources.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/json_write.h"

#define AROUND     3   /* lines shown before and after */
#define LINES_MOST 80  /* of one range */
#define LINE_MOST  400 /* bytes of a line */

int tms_source_want(struct tms_source_ranges *ranges, const char *path, size_t length,
                    unsigned first, unsigned last)
{
    unsigned to = last - first < LINES_MOST ? last : first + LINES_MOST;
    struct tms_source_range range = {.first = first > AROUND ? first - AROUND : 1,
                                     .last = to + AROUND};

    if (!TMS_RESERVE(&ranges->memory, &ranges->list, &ranges->capacity, ranges->count + 1, 16)) {
        return TMS_ERR_MEMORY;
    }
    range.path = malloc(length + 1);
    if (range.path == NULL) {
        return TMS_ERR_MEMORY;
    }
    memcpy(range.path, path, length);
    range.path[length] = '\0';
    ranges->list[ranges->count++] = range;
    return TMS_OK;
}

static int by_line(const void *a, const void *b)
{
    const struct tms_source_range *one = a, *two = b;
    int order = strcmp(one->path, two->path);

    return order != 0 ? order : one->first < two->first ? -1 : one->first > two->first;
}

/* Is it below the working directory, as far as its name tells? */
static bool is_below(const char *path)
{
    return *path != '/' && strncmp(path, "../", 3) != 0 && strstr(path, "/../") == NULL;
}

/* A regular file: reading from anything else could wait, or change something. */
static FILE *open_source(const char *path)
{
    struct stat status;
    int fd = is_below(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    bool good = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    FILE *in = good ? fdopen(fd, "r") : NULL;

    if (in == NULL && fd >= 0) {
        close(fd);
    }
    return in;
}

static void put_line(FILE *out, const char *before, unsigned number, const char *text,
                     size_t length)
{
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r')) {
        length--;
    }
    fprintf(out, "%s\"%u\": ", before, number);
    tms_json_string(text, length < LINE_MOST ? length : LINE_MOST, tms_json_to_stream, out);
}

/* The lines of one file that its ranges want, which are sorted. */
static void put_lines(FILE *out, FILE *in, const struct tms_source_range *ranges, size_t count)
{
    const char *between = "";
    char *text = NULL;
    size_t room = 0, at = 0;
    ssize_t length;

    for (unsigned number = 1; at < count && (length = getline(&text, &room, in)) >= 0; number++) {
        while (at < count && ranges[at].last < number) {
            at++;
        }
        if (at < count && ranges[at].first <= number) {
            put_line(out, between, number, text, (size_t)length);
            between = ", ";
        }
    }
    free(text);
}

void tms_source_write(struct tms_source_ranges *ranges, FILE *out)
{
    const char *between = "";
    size_t end;

    if (ranges->count > 0) {
        qsort(ranges->list, ranges->count, sizeof(*ranges->list), by_line);
    }
    fputc('{', out);
    for (size_t start = 0; start < ranges->count; start = end) {
        const char *path = ranges->list[start].path;
        end = start + 1;
        while (end < ranges->count && strcmp(ranges->list[end].path, path) == 0) {
            end++;
        }
        FILE *in = open_source(path);
        if (in != NULL) {
            fputs(between, out);
            tms_json_string(path, strlen(path), tms_json_to_stream, out);
            fputs(": {", out);
            put_lines(out, in, ranges->list + start, end - start);
            fputc('}', out);
            between = ",\n";
            fclose(in);
        }
    }
    fputc('}', out);
}

void tms_source_free(struct tms_source_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        free(ranges->list[i].path);
    }
    tms_release(&ranges->memory, ranges->list, ranges->capacity, sizeof(*ranges->list));
}
