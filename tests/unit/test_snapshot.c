/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spool that is read while it is written: the events of one thread never end before those that
 * another one's depend on. Here two threads take turns, so the second has as many events as the
 * first, or one less, at any moment.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "spool/spool_reader.h"
#include "tmesis/tmesis.h"

#define CHUNKS     64
#define FILE_BYTES (TMS_SPOOL_HEADER + (size_t)CHUNKS * TMS_SPOOL_CHUNK)
#define ROUNDS     40

struct writing {
    char path[32];
    unsigned char *map;
    struct tms_spool_chunk *chunks[2];
    bool done;
};

static struct tms_spool_header *header_of(const struct writing *writing)
{
    return (void *)writing->map;
}

static void start_writing(struct writing *writing)
{
    *writing = (struct writing){.path = "spool-XXXXXX"};
    int fd = mkstemp(writing->path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, FILE_BYTES), 0);
    writing->map = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(writing->map != MAP_FAILED);
    close(fd);
    struct tms_spool_header *header = header_of(writing);
    header->header_size = sizeof(*header);
    header->event_size = sizeof(struct tms_spool_event);
    header->end = TMS_SPOOL_HEADER;
    memcpy(header->magic, TMS_SPOOL_MAGIC, sizeof(header->magic));
}

static void stop_writing(struct writing *writing)
{
    munmap(writing->map, FILE_BYTES);
    unlink(writing->path);
}

static struct tms_spool_chunk *set_up(void *at, uint32_t thread, uint32_t size)
{
    struct tms_spool_chunk *chunk = at;

    *chunk = (struct tms_spool_chunk){
        .kind = TMS_SPOOL_EVENTS, .thread = thread, .used = sizeof(*chunk), .size = size};
    return chunk;
}

/* As runtime/spool/spool_writer.c does. NULL: the file is full. */
static struct tms_spool_chunk *next_chunk(struct writing *writing, uint32_t thread)
{
    struct tms_spool_header *header = header_of(writing);

    if (header->end + TMS_SPOOL_CHUNK > FILE_BYTES) {
        return NULL;
    }
    struct tms_spool_chunk *chunk = set_up(writing->map + header->end, thread, TMS_SPOOL_CHUNK);
    __atomic_store_n(&header->end, header->end + TMS_SPOOL_CHUNK, __ATOMIC_RELEASE);
    return chunk;
}

static bool append(struct writing *writing, uint32_t thread, uint64_t number)
{
    struct tms_spool_chunk **chunk = &writing->chunks[thread - 1];

    if (*chunk == NULL || (*chunk)->used + sizeof(struct tms_spool_event) > (*chunk)->size) {
        *chunk = next_chunk(writing, thread);
    }
    if (*chunk == NULL) {
        return false;
    }
    struct tms_spool_event *event = (void *)((unsigned char *)*chunk + (*chunk)->used);
    *event = (struct tms_spool_event){
        .number = number, .kind = TMS_EVENT_WRITE, .target = 0x1000, .size = 8};
    __atomic_store_n(&(*chunk)->used, (*chunk)->used + (uint32_t)sizeof(*event), __ATOMIC_RELEASE);
    return true;
}

static void *write_on(void *argument)
{
    struct writing *writing = argument;
    uint64_t number = 1;

    while (append(writing, 1, number) && append(writing, 2, number + 1)) {
        number += 2;
    }
    __atomic_store_n(&writing->done, true, __ATOMIC_RELEASE);
    return NULL;
}

static void count_events(const struct tms_spool *spool, uint64_t counts[3])
{
    for (size_t i = 0; i < spool->event_count; i++) {
        const struct tms_spool_chunk *chunk = tms_spool_chunk(spool, spool->events[i].at);
        size_t count = (chunk->used - sizeof(*chunk)) / sizeof(struct tms_spool_event);
        const struct tms_spool_event *events = (const void *)(chunk + 1);
        for (size_t j = 0; j < count; j++) { /* all were written to their ends */
            assert_int_equal(events[j].number, 2 * counts[chunk->thread] + chunk->thread);
            counts[chunk->thread]++;
        }
    }
}

/* Another thread uses the rest of the chunk of a thread that has ended. */
static void divide(struct tms_spool_chunk *chunk, uint32_t thread)
{
    set_up((unsigned char *)chunk + chunk->used, thread, chunk->size - chunk->used);
    __atomic_store_n(&chunk->size, chunk->used, __ATOMIC_RELEASE);
}

/* One look: how many events the first thread has. */
static uint64_t look(const struct writing *writing)
{
    char reason[TMS_SPOOL_REASON];
    struct tms_spool spool;
    uint64_t counts[3] = {0};

    assert_true(tms_spool_open_running(&spool, writing->path, reason));
    assert_int_equal(spool.damaged, 0);
    count_events(&spool, counts);
    assert_true(counts[1] == counts[2] || counts[1] == counts[2] + 1);
    tms_spool_close(&spool);
    return counts[1];
}

static void what_is_read_was_there_at_one_moment(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        struct writing writing;
        pthread_t writer;
        uint64_t last = 0;

        start_writing(&writing);
        pthread_create(&writer, NULL, write_on, &writing);
        while (!__atomic_load_n(&writing.done, __ATOMIC_ACQUIRE)) {
            uint64_t count = look(&writing);
            assert_true(count >= last);
            last = count;
        }
        pthread_join(writer, NULL);
        stop_writing(&writing);
    }
}

static void a_chunk_may_be_divided(void **state)
{
    char reason[TMS_SPOOL_REASON];
    struct writing writing;
    struct tms_spool spool;
    uint64_t counts[3] = {0};

    (void)state;
    start_writing(&writing);
    assert_true(append(&writing, 1, 1));
    divide(writing.chunks[0], 2);
    assert_true(tms_spool_open_running(&spool, writing.path, reason));
    count_events(&spool, counts);
    assert_int_equal(spool.damaged, 0);
    assert_int_equal(spool.event_count, 2);
    assert_int_equal(counts[1], 1);
    assert_true(spool.running && tms_spool_loss(&spool, reason));
    assert_non_null(strstr(reason, "still runs"));
    tms_spool_close(&spool);
    stop_writing(&writing);
}

/* A snapshot does not show what the process writes later, although the file is the same. */
static void a_snapshot_stays_as_it_is(void **state)
{
    char reason[TMS_SPOOL_REASON];
    struct writing writing;
    struct tms_spool spool;
    uint64_t counts[3] = {0};

    (void)state;
    start_writing(&writing);
    assert_true(append(&writing, 1, 1));
    assert_true(tms_spool_open_running(&spool, writing.path, reason));
    for (uint64_t number = 3; number < 20000; number += 2) {
        assert_true(append(&writing, 1, number));
    }
    count_events(&spool, counts);
    assert_int_equal(counts[1], 1);
    tms_spool_close(&spool);
    stop_writing(&writing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_was_there_at_one_moment),
        cmocka_unit_test(a_chunk_may_be_divided),
        cmocka_unit_test(a_snapshot_stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
