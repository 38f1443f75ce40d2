/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of a log buffer, read before the copy and moved after it.
 *
 * Several threads append lines to one buffer, as web servers do with their access log. A line is
 * copied to the end of the buffer, and then the end is advanced. Two threads that read the end at
 * the same time get the same one: one line overwrites the other, and the end advances by both, so
 * that there is a hole as well.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define WRITERS 2
#define LINES   3000
#define LENGTH  8 /* of a line, with its end */

static char buffer[WRITERS * LINES * LENGTH];
static atomic_size_t used;

static void log_line(const char *line)
{
    size_t at = atomic_load(&used);

    memcpy(buffer + at, line, LENGTH);
    atomic_fetch_add(&used, LENGTH);
}

static void *writer(void *line)
{
    for (int i = 0; i < LINES; i++) {
        log_line(line);
    }
    return NULL;
}

int main(void)
{
    static char texts[WRITERS][LENGTH] = {"GET /a\n", "GET /b\n"};
    pthread_t threads[WRITERS];
    int holes = 0;

    for (int i = 0; i < WRITERS; i++) {
        pthread_create(&threads[i], NULL, writer, texts[i]);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < WRITERS * LINES; i++) {
        holes += buffer[i * LENGTH] == '\0';
    }
    printf("%d of %d lines are lost\n", holes, WRITERS * LINES);
    return 0;
}
