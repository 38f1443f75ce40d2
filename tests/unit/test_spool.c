/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-made spools: the trace and the result that a well-formed one yields, and that nothing goes
 * wrong with one that is truncated, was never finished, or contains garbage.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocol/config.h"
#include "runtime/core/rt.h"
#include "spool/spool_findings.h"
#include "spool/spool_trace.h"

#define CHUNKS     4
#define FILE_BYTES (TMS_SPOOL_HEADER + CHUNKS * TMS_SPOOL_CHUNK)
#define TEXT_SIZE  4096

/* ---- making one -------------------------------------------------------------------------- */

struct image {
    _Alignas(16) unsigned char bytes[FILE_BYTES];
};

static struct tms_spool_header *header_of(struct image *image)
{
    return (void *)image->bytes;
}

static struct tms_spool_chunk *chunk_of(struct image *image, unsigned index)
{
    return (void *)(image->bytes + TMS_SPOOL_HEADER + (size_t)index * TMS_SPOOL_CHUNK);
}

static struct image *new_image(void)
{
    struct image *image = calloc(1, sizeof(*image));
    struct tms_spool_header *header;

    assert_non_null(image);
    header = header_of(image);
    memcpy(header->magic, TMS_SPOOL_MAGIC, sizeof(header->magic));
    header->header_size = sizeof(*header);
    header->event_size = sizeof(struct tms_spool_event);
    header->pid = 17;
    header->state = TMS_SPOOL_DONE;
    header->end = FILE_BYTES;
    header->mode = TMS_RT_RECORD | TMS_RT_FULL;
    header->threads = 2;
    header->transactions = header->blocks = 1;
    for (unsigned i = 0; i < CHUNKS; i++) {
        struct tms_spool_chunk *chunk = chunk_of(image, i);
        chunk->kind = i == 0 ? TMS_SPOOL_RECORDS : TMS_SPOOL_EVENTS;
        chunk->thread = i == 0 ? 0 : 1 + (i - 1) % 2; /* records, and threads 1, 2, 1 */
        chunk->used = sizeof(*chunk);
        chunk->size = TMS_SPOOL_CHUNK;
    }
    return image;
}

static void *add_record(struct image *image, enum tms_spool_type type, size_t size)
{
    struct tms_spool_chunk *chunk = chunk_of(image, 0);
    struct tms_spool_record *record = (void *)((unsigned char *)chunk + chunk->used);

    *record = (struct tms_spool_record){type, (uint32_t)size};
    chunk->used += (uint32_t)((size + 7) & ~(size_t)7);
    return record;
}

static void add_text(struct image *image, enum tms_spool_type type, size_t at, uint32_t id,
                     const char *text)
{
    unsigned char *record = add_record(image, type, at + strlen(text) + 1);

    memcpy(record + sizeof(struct tms_spool_record), &id, sizeof(id)); /* the first field of all */
    memcpy(record + at, text, strlen(text) + 1);
}

static void add_event(struct image *image, unsigned index, struct tms_spool_event event)
{
    struct tms_spool_chunk *chunk = chunk_of(image, index);

    memcpy((unsigned char *)chunk + chunk->used, &event, sizeof(event));
    chunk->used += sizeof(event);
}

static struct tms_spool_event event_of(uint64_t number, enum tms_event_kind kind, uint64_t target,
                                       unsigned size)
{
    return (struct tms_spool_event){
        .number = number, .kind = (uint8_t)kind, .target = target, .size = (uint8_t)size};
}

/* A block that was cut: thread 1 reads four bytes and writes eight, thread 2 writes between. */
static struct image *new_cut(void)
{
    struct image *image = new_image();

    add_text(image, TMS_SPOOL_THREAD, offsetof(struct tms_spool_thread, name), 2, "cashier");
    add_text(image, TMS_SPOOL_LABEL, offsetof(struct tms_spool_label, text), 5, "deposit");
    add_event(image, 1, event_of(1, TMS_EVENT_FORK, 2, 0));
    add_event(image, 1, event_of(2, TMS_EVENT_BEGIN, 5, 0));
    add_event(image, 1, event_of(3, TMS_EVENT_READ, 0x1000, 4));
    add_event(image, 2, event_of(4, TMS_EVENT_WRITE, 0x1002, 1));
    add_event(image, 3, event_of(5, TMS_EVENT_WRITE, 0x1000, 8));
    add_event(image, 3, event_of(6, TMS_EVENT_END, 5, 0));
    return image;
}

/* ---- reading it -------------------------------------------------------------------------- */

struct reading {
    char path[32];
    struct tms_context *context;
    struct tms_spool spool;
    struct tms_spool_names names;
    char text[TEXT_SIZE]; /* the trace */
};

static bool open_image(struct reading *reading, const struct image *image, size_t bytes)
{
    char reason[TMS_SPOOL_REASON] = "";

    memset(reading, 0, sizeof(*reading));
    snprintf(reading->path, sizeof(reading->path), "spool-XXXXXX");
    int fd = mkstemp(reading->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, image->bytes, bytes), bytes);
    close(fd);
    reading->context = tms_context_new(NULL, NULL);
    bool good = tms_spool_open(&reading->spool, reading->path, reason);
    assert_true(good || strlen(reason) > 20);
    assert_int_equal(tms_spool_names_open(&reading->names, &reading->spool, reading->context),
                     TMS_OK);
    return good;
}

static void close_image(struct reading *reading)
{
    tms_spool_names_close(&reading->names);
    tms_spool_close(&reading->spool);
    tms_context_free(reading->context);
    unlink(reading->path);
}

static int take_text(void *user, const struct tms_event *events, size_t count)
{
    struct reading *reading = user;

    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(reading->text);
        snprintf(reading->text + used, TEXT_SIZE - used, "%s|%s(%s%s%s)\n",
                 tms_name(reading->context, TMS_CLASS_THREAD, events[i].thread, NULL),
                 tms_event_text((enum tms_event_kind)events[i].kind),
                 tms_name(reading->context, tms_event_class((enum tms_event_kind)events[i].kind),
                          events[i].target, NULL),
                 events[i].order != 0 && events[i].target != 0 ? "," : "",
                 tms_order_text(events[i].order));
    }
    return TMS_OK;
}

/* The tests write 0x1000 for memory+0x1000. */
static void shorten(char *text)
{
    static const char word[] = "memory+0x";
    size_t length = strlen("memory+");

    while ((text = strstr(text, word)) != NULL) {
        memmove(text, text + length, strlen(text + length) + 1);
    }
}

static void assert_trace(struct image *image, const char *expected, bool cut)
{
    struct reading reading;
    struct tms_trace_outcome outcome;

    assert_true(open_image(&reading, image, FILE_BYTES));
    assert_int_equal(tms_spool_trace(&reading.names, take_text, &reading, &outcome, NULL), TMS_OK);
    shorten(reading.text);
    assert_string_equal(reading.text, expected);
    assert_int_equal(outcome.cut, cut);
    close_image(&reading);
    free(image);
}

/* ---- traces ------------------------------------------------------------------------------ */

static const char cut_as_trace[] = "main|fork(cashier)\n"
                                   "main|begin(deposit)\n"
                                   "main|r(0x1000)\nmain|r(0x1002)\nmain|r(0x1003)\n"
                                   "cashier|w(0x1002)\n"
                                   "main|w(0x1000)\nmain|w(0x1002)\nmain|w(0x1003)\n"
                                   "main|w(0x1004)\n"
                                   "main|end(deposit)\n";

static void words_are_cut_where_accesses_are(void **state)
{
    (void)state;
    assert_trace(new_cut(), cut_as_trace, false);
}

static void sites_are_found_by_event_number(void **state)
{
    (void)state;
    struct image *image = new_image();
    struct tms_trace_outcome outcome;
    struct tms_event_sites sites;
    struct reading reading;

    add_text(image, TMS_SPOOL_LABEL, offsetof(struct tms_spool_label, text), 5, "deposit");
    for (unsigned i = 0; i < 3; i++) {
        static const uint8_t kinds[] = {TMS_EVENT_BEGIN, TMS_EVENT_READ, TMS_EVENT_END};
        struct tms_spool_event event = event_of(i + 1, kinds[i], i == 1 ? 0x1000 : 5, i == 1);
        event.site = 7 + i;
        add_event(image, 1, event);
    }
    tms_event_sites_init(&sites);
    assert_true(open_image(&reading, image, FILE_BYTES));
    assert_int_equal(tms_spool_trace(&reading.names, take_text, &reading, &outcome, &sites),
                     TMS_OK);
    assert_int_equal(sites.count, outcome.events);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(tms_event_sites_find(&sites, i + 1), 7 + i);
    }
    assert_int_equal(tms_event_sites_find(&sites, 0), 0);
    assert_int_equal(tms_event_sites_find(&sites, 4), 0);
    tms_event_sites_truncate(&sites, 2);
    assert_int_equal(tms_event_sites_find(&sites, 3), 0);
    tms_event_sites_free(&sites);
    close_image(&reading);
    free(image);
}

/* Marked accesses: a compare-and-swap that failed, and a semaphore, which has a name of its own. */
static void accesses_may_be_marked(void **state)
{
    struct image *image = new_image();
    struct tms_spool_event retry = event_of(2, TMS_EVENT_READ, 0x1000, 4);
    struct tms_spool_event post = event_of(3, TMS_EVENT_UPDATE, 0x2000, 1);

    (void)state;
    retry.what = TMS_SPOOL_RETRY;
    post.what = TMS_SPOOL_ON_SEMAPHORE;
    add_text(image, TMS_SPOOL_LABEL, offsetof(struct tms_spool_label, text), 5, "work");
    add_event(image, 1, event_of(1, TMS_EVENT_CALL, 5, 0));
    add_event(image, 1, retry);
    add_event(image, 1, post);
    add_event(image, 1, event_of(3, TMS_EVENT_CLEAR, 0, 0));
    add_event(image, 1, event_of(3, TMS_EVENT_DELAY, 0, 0));
    add_event(image, 1, event_of(4, TMS_EVENT_WRITE, 0x1002, 2));
    add_event(image, 1, event_of(4, TMS_EVENT_CALL, 6, 0)); /* a function without a name */
    add_event(image, 1, event_of(4, TMS_EVENT_RETURN, 6, 0));
    add_event(image, 1, event_of(4, TMS_EVENT_RETURN, 5, 0));
    assert_trace(image,
                 "main|call(work)\n"
                 "main|retry(0x1000)\nmain|r(0x1000)\nmain|retry(0x1000)\n"
                 "main|retry(0x1002)\nmain|r(0x1002)\nmain|retry(0x1002)\n"
                 "main|u(semaphore:0x2000)\nmain|clear()\nmain|delay()\n"
                 "main|w(0x1002)\nmain|call(?)\nmain|return(?)\nmain|return(work)\n",
                 false);
}

static struct tms_spool_event atomic_of(uint64_t number, enum tms_event_kind kind, uint64_t target,
                                        enum tms_order order, unsigned mark)
{
    struct tms_spool_event event = event_of(number, kind, target, target != 0 ? 4 : 0);

    event.what = tms_spool_what(order, mark);
    return event;
}

/* Orders belong to the kinds that have them; adjacent atomics are not coalesced. */
static void atomics_have_orders(void **state)
{
    struct image *image = new_image();

    (void)state;
    add_event(image, 1, event_of(1, TMS_EVENT_FORK, 2, 0));
    add_event(image, 1, atomic_of(2, TMS_EVENT_ATOMIC_WRITE, 0x1000, TMS_ORDER_RELEASE, 0));
    add_event(image, 1, atomic_of(3, TMS_EVENT_ATOMIC_WRITE, 0x1004, TMS_ORDER_RELEASE, 0));
    add_event(image, 1, atomic_of(4, TMS_EVENT_FENCE, 0, TMS_ORDER_SEQ_CST, 0));
    add_event(image, 2,
              atomic_of(5, TMS_EVENT_ATOMIC_READ, 0x1000, TMS_ORDER_ACQUIRE, TMS_SPOOL_RETRY));
    add_event(image, 2, atomic_of(6, TMS_EVENT_ATOMIC_UPDATE, 0x1000, TMS_ORDER_ACQ_REL, 0));
    add_event(image, 2, atomic_of(7, TMS_EVENT_ATOMIC_READ, 0x1004, TMS_ORDER_RELAXED, 0));
    add_event(image, 1, event_of(8, TMS_EVENT_UPDATE, 0x1000, 4));
    assert_trace(image,
                 "main|fork(T2)\nmain|aw(0x1000,release)\nmain|aw(0x1004,release)\n"
                 "main|fence(seq_cst)\n"
                 "T2|retry(0x1000)\nT2|ar(0x1000,acquire)\nT2|retry(0x1000)\n"
                 "T2|au(0x1000,acq_rel)\nT2|ar(0x1004,relaxed)\nmain|u(0x1000)\n",
                 false);
}

/* An order that its kind can't have: no process has written that event. */
static void an_impossible_order_is_left_out(void **state)
{
    struct image *image = new_cut();

    (void)state;
    add_event(image, 3, atomic_of(7, TMS_EVENT_ATOMIC_READ, 0x1000, TMS_ORDER_RELEASE, 0));
    add_event(image, 3, atomic_of(8, TMS_EVENT_ATOMIC_WRITE, 0x1000, TMS_ORDER_NONE, 0));
    assert_trace(image, cut_as_trace, false);
}

/* The highest number of a kind is beyond that of idle blocks. */
static void an_unknown_kind_is_left_out(void **state)
{
    struct image *image = new_cut();

    (void)state;
    add_event(image, 3, event_of(7, (enum tms_event_kind)UINT8_MAX, 0, 0));
    add_event(image, 3, event_of(8, TMS_EVENT_COUNT, 0, 0));
    assert_trace(image, cut_as_trace, false);
}

/* The rest of the chunk of thread 1 is thread 2's, and the rest of that thread 1's again. */
static void a_chunk_may_be_divided(void **state)
{
    struct image *image = new_cut();
    struct tms_spool_chunk *first = chunk_of(image, 1);

    (void)state;
    for (unsigned i = 2; i < CHUNKS; i++) {
        struct tms_spool_chunk *rest = (void *)((unsigned char *)first + first->used);
        uint32_t size = first->size - first->used;
        memmove(rest, chunk_of(image, i), chunk_of(image, i)->used);
        chunk_of(image, i)->kind = 0;
        rest->size = size;
        first->size = first->used;
        first = rest;
    }
    assert_trace(image, cut_as_trace, false);
}

/* The chunks after one whose size makes no sense are found again. */
static void a_damaged_chunk_takes_no_others_with_it(void **state)
{
    struct image *image = new_cut();
    struct reading reading;

    (void)state;
    chunk_of(image, 2)->size = 7;
    assert_true(open_image(&reading, image, FILE_BYTES));
    assert_int_equal(reading.spool.damaged, 1);
    assert_int_equal(reading.spool.event_count, 2);
    close_image(&reading);
    free(image);
}

/* An access to more bytes than an event has room for in its `size`. */
static struct tms_spool_event long_of(uint64_t number, enum tms_event_kind kind, uint64_t target,
                                      uint64_t bytes)
{
    struct tms_spool_event event = event_of(number, kind, target, 0);

    event.extra = bytes;
    return event;
}

static void an_array_is_one_variable_until_somebody_touches_a_part_of_it(void **state)
{
    struct image *image = new_image();

    (void)state;
    add_event(image, 1, long_of(1, TMS_EVENT_WRITE, 0x1000, 4000));
    add_event(image, 1, long_of(2, TMS_EVENT_WRITE, 0x3000, 100000));
    add_event(image, 2, long_of(3, TMS_EVENT_READ, 0x1000, 4000));
    add_event(image, 2, event_of(4, TMS_EVENT_READ, 0x3123, 1));
    assert_trace(image,
                 "main|w(0x1000)\nmain|w(0x3000)\nmain|w(0x3123)\nmain|w(0x3124)\n"
                 "T2|r(0x1000)\nT2|r(0x3123)\n",
                 false);
}

static void renewed_memory_is_cut_out_of_an_array(void **state)
{
    struct image *image = new_image();
    struct tms_spool_event freed = event_of(2, TMS_EVENT_FREE, 0x1010, 0);

    (void)state;
    freed.extra = 16;
    add_event(image, 1, long_of(1, TMS_EVENT_WRITE, 0x1000, 64));
    add_event(image, 1, freed);
    add_event(image, 2, long_of(3, TMS_EVENT_READ, 0x1000, 64));
    assert_trace(image,
                 "main|w(0x1000)\nmain|w(0x1010)\nmain|w(0x1020)\n"
                 "T2|r(0x1000)\nT2|r(0x1010@1)\nT2|r(0x1020)\n",
                 false);
}

static void one_idle_block_stands_for_those_that_follow(void **state)
{
    struct image *image = new_image();
    struct tms_spool_event idle = event_of(1, TMS_EVENT_BEGIN, 5, 0);

    (void)state;
    add_text(image, TMS_SPOOL_LABEL, offsetof(struct tms_spool_label, text), 5, "deposit");
    idle.kind = TMS_SPOOL_IDLE;
    idle.extra = 2;
    add_event(image, 1, idle);
    idle.extra = UINT64_MAX; /* makes no sense */
    add_event(image, 1, idle);
    assert_trace(image, "main|begin(deposit)\nmain|end(deposit)\n", false);
}

/* Without lines, only accesses of one site are coalesced. */
static void neighbours_of_one_site_become_one_access(void **state)
{
    struct image *image = new_image();
    struct tms_spool_event event = event_of(1, TMS_EVENT_WRITE, 0x1000, 4);

    (void)state;
    add_event(image, 1, event);
    for (unsigned i = 0; i < 4; i++) {
        event.number++;
        event.target += 4;
        event.joins = i < 3;
        event.site = i < 2 ? 0 : 7;
        add_event(image, 1, event);
    }
    add_event(image, 2, long_of(9, TMS_EVENT_READ, 0x1000, 20));
    assert_trace(image,
                 "main|w(0x1000)\nmain|w(0x100c)\nmain|w(0x1010)\n"
                 "T2|r(0x1000)\nT2|r(0x100c)\nT2|r(0x1010)\n",
                 false);
}

static void accesses_of_one_extent_stay_whole(void **state)
{
    struct image *image = new_image();

    (void)state;
    add_event(image, 1, event_of(1, TMS_EVENT_WRITE, 0x1008, 8));
    add_event(image, 1, event_of(2, TMS_EVENT_READ, 0x1010, 4));
    add_event(image, 2, event_of(3, TMS_EVENT_READ, 0x1014, 4));
    add_event(image, 2, event_of(4, TMS_EVENT_READ, 0x1024, 16)); /* in three words */
    assert_trace(image,
                 "main|w(0x1008)\nmain|r(0x1010)\nT2|r(0x1014)\n"
                 "T2|r(0x1024)\n",
                 false);
}

static void memory_that_is_renewed_is_new(void **state)
{
    struct image *image = new_image();
    struct tms_spool_event alloc = event_of(2, TMS_EVENT_ALLOC, 0x1000, 0);
    struct tms_spool_event freed = event_of(6, TMS_EVENT_FREE, 0x1000, 0);

    (void)state;
    alloc.extra = freed.extra = 16;
    add_event(image, 1, event_of(1, TMS_EVENT_WRITE, 0x1008, 8));
    add_event(image, 1, alloc);
    add_event(image, 1, event_of(3, TMS_EVENT_WRITE, 0x1008, 8));
    add_event(image, 1, event_of(4, TMS_EVENT_ACQUIRE, 0x1000, 0));
    add_event(image, 1, event_of(5, TMS_EVENT_RELEASE, 0x1000, 0));
    add_event(image, 1, freed);
    add_event(image, 2, event_of(7, TMS_EVENT_WRITE, 0x1008, 8));
    add_event(image, 2, event_of(8, TMS_EVENT_ACQUIRE, 0x1000, 0));
    add_event(image, 2, event_of(9, TMS_EVENT_WRITE, 0x1010, 8));
    assert_trace(image,
                 "main|w(0x1008)\nmain|w(heap#1+8)\nmain|acq(heap#1)\nmain|rel(heap#1)\n"
                 "T2|w(0x1008@2)\nT2|acq(0x1000@2)\nT2|w(0x1010)\n",
                 false);
}

/* One address can be a lock, a semaphore and memory, which are unrelated. */
static void one_address_may_be_several_things(void **state)
{
    struct image *image = new_image();
    struct tms_spool_event post = event_of(2, TMS_EVENT_UPDATE, 0x1000, 0);

    (void)state;
    post.what = TMS_RT_SEMAPHORE;
    add_event(image, 1, event_of(1, TMS_EVENT_ACQUIRE, 0x1000, 0));
    add_event(image, 1, post);
    add_event(image, 1, event_of(3, TMS_EVENT_UPDATE, 0x1000, 4));
    add_event(image, 1, event_of(4, TMS_EVENT_ARRIVE, 0x1000, 0));
    add_event(image, 1, event_of(5, TMS_EVENT_WAIT, 0x1000, 0));
    assert_trace(image,
                 "main|acq(0x1000)\nmain|u(semaphore:0x1000)\nmain|u(0x1000)\n"
                 "main|arrive(0x1000)\nmain|wait(0x1000)\n",
                 false);
}

static void names_given_by_the_program_are_kept_apart(void **state)
{
    struct image *image = new_image();

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        size_t at = offsetof(struct tms_spool_name, text);
        struct tms_spool_name *name = add_record(image, TMS_SPOOL_NAME, at + 8);
        name->address = 0x1000 + 64 * i;
        memcpy(name->text, "my lock", 8);
        add_event(image, 1, event_of(1 + i, TMS_EVENT_ACQUIRE, name->address, 0));
    }
    assert_trace(image, "main|acq(my_lock)\nmain|acq(my_lock#2)\n", false);
}

/* Killed: the release of thread 1 was not written any more, the acquire of thread 2 was. */
static void an_unfinished_recording_is_followed_as_far_as_it_goes(void **state)
{
    struct image *image = new_image();

    (void)state;
    header_of(image)->state = TMS_SPOOL_RUNNING;
    add_event(image, 1, event_of(1, TMS_EVENT_ACQUIRE, 0x1000, 0));
    add_event(image, 2, event_of(2, TMS_EVENT_READ, 0x2000, 4));
    add_event(image, 2, event_of(3, TMS_EVENT_ACQUIRE, 0x1000, 0));
    add_event(image, 2, event_of(4, TMS_EVENT_READ, 0x2000, 4));
    assert_trace(image, "main|acq(0x1000)\nT2|r(0x2000)\n", true);
}

static void what_is_behind_the_cut_is_left_out(void **state)
{
    struct image *image = new_cut();

    (void)state;
    header_of(image)->lost = TMS_SPOOL_LOST_SIZE;
    header_of(image)->cut = 4;
    assert_trace(image,
                 "main|fork(cashier)\nmain|begin(deposit)\n"
                 "main|r(0x1000)\nmain|r(0x1002)\nmain|r(0x1003)\n",
                 false);
}

/*
 * 0x2000 and 0x3000 are of one thread each, so nothing happens in the first block inside the block,
 * nor in the blocks inside that. The second stays, and so do the outermost ones, the event right
 * after the fork, and the first event of a thread.
 */
static struct image *new_lengthy(unsigned mode)
{
    static const struct {
        enum tms_event_kind kind;
        uint64_t target;
        unsigned size;
    } events[] = {
        {TMS_EVENT_WRITE, 0x1000, 4}, {TMS_EVENT_BEGIN, 5, 0},     {TMS_EVENT_BEGIN, 6, 0},
        {TMS_EVENT_WRITE, 0x2000, 4}, {TMS_EVENT_BEGIN, 6, 0},     {TMS_EVENT_END, 6, 0},
        {TMS_EVENT_END, 6, 0},        {TMS_EVENT_BEGIN, 6, 0},     {TMS_EVENT_FORK, 2, 0},
        {TMS_EVENT_READ, 0x2000, 4},  {TMS_EVENT_READ, 0x2000, 4}, {TMS_EVENT_WRITE, 0x1000, 4},
        {TMS_EVENT_END, 6, 0},        {TMS_EVENT_END, 5, 0},       {TMS_EVENT_BEGIN, 5, 0},
        {TMS_EVENT_END, 5, 0},
    };
    struct image *image = new_image();
    uint64_t number = 0;

    header_of(image)->mode = mode;
    add_text(image, TMS_SPOOL_LABEL, offsetof(struct tms_spool_label, text), 5, "outer");
    add_text(image, TMS_SPOOL_LABEL, offsetof(struct tms_spool_label, text), 6, "inner");
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        add_event(image, 1, event_of(++number, events[i].kind, events[i].target, events[i].size));
    }
    add_event(image, 2, event_of(++number, TMS_EVENT_READ, 0x3000, 4));
    add_event(image, 2, event_of(++number, TMS_EVENT_WRITE, 0x3000, 4));
    add_event(image, 2, event_of(++number, TMS_EVENT_READ, 0x1000, 4));
    return image;
}

static void what_can_matter_to_no_verdict_is_left_out(void **state)
{
    (void)state;
    assert_trace(new_lengthy(TMS_RT_RECORD),
                 "main|w(0x1000)\nmain|begin(outer)\n"
                 "main|begin(inner)\nmain|fork(T2)\nmain|r(0x2000)\nmain|w(0x1000)\n"
                 "main|end(inner)\nmain|end(outer)\n"
                 "main|begin(outer)\nmain|end(outer)\n"
                 "T2|r(0x3000)\nT2|r(0x1000)\n",
                 false);
}

/* One thread frees the memory, the other gets it: nothing is shared. */
static void memory_that_changes_hands_is_not_shared(void **state)
{
    struct image *image = new_image();
    struct tms_spool_event freed = event_of(4, TMS_EVENT_FREE, 0x2000, 0);

    (void)state;
    freed.extra = 16;
    header_of(image)->mode = TMS_RT_RECORD;
    add_event(image, 1, event_of(1, TMS_EVENT_ACQUIRE, 0x1000, 0));
    add_event(image, 2, event_of(1, TMS_EVENT_ACQUIRE, 0x1008, 0));
    add_event(image, 1, event_of(2, TMS_EVENT_WRITE, 0x2000, 8));
    add_event(image, 2, event_of(3, TMS_EVENT_WRITE, 0x2004, 8));
    add_event(image, 1, freed);
    add_event(image, 1, event_of(5, TMS_EVENT_WRITE, 0x2008, 8));
    add_event(image, 2, event_of(6, TMS_EVENT_WRITE, 0x2000, 8));
    assert_trace(image,
                 "main|acq(0x1000)\nT2|acq(0x1008)\n"
                 "main|w(0x2000)\nmain|w(0x2004)\nT2|w(0x2004)\n",
                 false);
}

/* Each has it for itself in turn, the second right after the free by number; then both do. */
static void renewals_part_the_uses_of_memory(void **state)
{
    struct image *image = new_image();
    struct tms_spool_event first = event_of(3, TMS_EVENT_FREE, 0x2000, 0), second = first;

    (void)state;
    first.extra = second.extra = 8;
    second.number = 5;
    header_of(image)->mode = TMS_RT_RECORD;
    add_event(image, 1, event_of(1, TMS_EVENT_ACQUIRE, 0x1000, 0));
    add_event(image, 1, event_of(2, TMS_EVENT_WRITE, 0x2000, 8));
    add_event(image, 1, first);
    add_event(image, 1, event_of(6, TMS_EVENT_WRITE, 0x2000, 8));
    add_event(image, 2, event_of(1, TMS_EVENT_ACQUIRE, 0x1008, 0));
    add_event(image, 2, event_of(3, TMS_EVENT_WRITE, 0x2000, 8));
    add_event(image, 2, second);
    add_event(image, 2, event_of(7, TMS_EVENT_WRITE, 0x2000, 8));
    assert_trace(image, "main|acq(0x1000)\nT2|acq(0x1008)\nmain|w(0x2000@2)\nT2|w(0x2000@2)\n",
                 false);
}

static void a_full_recording_has_it_all(void **state)
{
    (void)state;
    assert_trace(new_lengthy(TMS_RT_RECORD | TMS_RT_FULL),
                 "main|w(0x1000)\nmain|begin(outer)\n"
                 "main|begin(inner)\nmain|w(0x2000)\nmain|begin(inner)\nmain|end(inner)\n"
                 "main|end(inner)\n"
                 "main|begin(inner)\nmain|fork(T2)\nmain|r(0x2000)\nmain|r(0x2000)\n"
                 "main|w(0x1000)\nmain|end(inner)\nmain|end(outer)\n"
                 "main|begin(outer)\nmain|end(outer)\n"
                 "T2|r(0x3000)\nT2|w(0x3000)\nT2|r(0x1000)\n",
                 false);
}

/* ---- results ----------------------------------------------------------------------------- */

static struct tms_spool_transaction block(uint32_t thread, uint64_t begin)
{
    return (struct tms_spool_transaction){.begin = begin, .thread = thread, .label = 5};
}

static void add_violation(struct image *image)
{
    struct tms_spool_violation *violation = add_record(
        image, TMS_SPOOL_VIOLATION, sizeof(*violation) + 2 * sizeof(struct tms_spool_step));
    struct tms_spool_step *step = (void *)(violation + 1);
    struct tms_spool_heap *heap = add_record(image, TMS_SPOOL_HEAP, sizeof(*heap));

    heap->address = 0x1000;
    heap->size = 48;
    violation->count = 3;
    violation->event = 9;
    violation->thread = 1;
    violation->not_atomic = 1;
    violation->transaction = block(1, 2);
    violation->steps = 2;
    for (unsigned i = 0; i < 2; i++) {
        step[i] = (struct tms_spool_step){.from = block(1 + i, 2 + i),
                                          .to = block(2 - i, 3 - i),
                                          .first = 4 + 3 * i,
                                          .second = 6 + 3 * i,
                                          .on = 0x1008,
                                          .size = 4,
                                          .on_class = TMS_CLASS_VARIABLE,
                                          .kind = TMS_EDGE_WRITE_WRITE,
                                          .first_kind = TMS_EVENT_WRITE,
                                          .second_kind = TMS_EVENT_WRITE};
    }
    header_of(image)->first_violation = 9;
    header_of(image)->violations = 3;
}

/* The findings of the process, and nothing else. */
static int observe(struct reading *reading, double seconds, struct tms_analysis **analysis)
{
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = "";
    int code = tms_analysis_new(reading->context, &settings, analysis);
    if (code == TMS_OK) {
        code = tms_spool_observe(&reading->names, seconds, *analysis);
    }
    return code == TMS_OK ? tms_analysis_finish(*analysis) : code;
}

static void a_violation_becomes_a_finding(void **state)
{
    struct image *image = new_cut();
    struct reading reading;
    struct tms_analysis *analysis;

    (void)state;
    add_violation(image);
    assert_true(open_image(&reading, image, FILE_BYTES));
    assert_int_equal(observe(&reading, 1.5, &analysis), TMS_OK);
    const struct tms_result *result = tms_analysis_result(analysis, 0);
    assert_string_equal(result->engine->name, "frontier");
    assert_int_equal(result->verdict, TMS_VERDICT_VIOLATION);
    assert_true(result->complete && result->blamed);
    assert_int_equal(result->first_violation_event, 9);
    assert_int_equal(result->finding_count, 1);
    const struct tms_finding *finding = &result->findings[0];
    assert_int_equal(finding->count, 3);
    assert_true(finding->not_atomic);
    assert_int_equal(finding->cycle_length, 2);
    assert_string_equal(tms_name(reading.context, TMS_CLASS_VARIABLE, finding->cycle[0].on, NULL),
                        "heap#1+8");
    assert_string_equal(
        tms_name(reading.context, TMS_CLASS_LABEL, finding->transaction.label, NULL), "deposit");
    assert_null(tms_analysis_result(analysis, 1));
    tms_analysis_free(analysis);
    close_image(&reading);
    free(image);
}

static enum tms_verdict verdict_of(struct image *image, char loss[TMS_SPOOL_REASON])
{
    struct reading reading;
    struct tms_analysis *analysis;

    assert_true(open_image(&reading, image, FILE_BYTES));
    assert_int_equal(observe(&reading, 0, &analysis), TMS_OK);
    const struct tms_result *result = tms_analysis_result(analysis, 0);
    snprintf(loss, TMS_SPOOL_REASON, "%s", result->loss != NULL ? result->loss : "");
    enum tms_verdict verdict = result->verdict;
    tms_analysis_free(analysis);
    close_image(&reading);
    free(image);
    return verdict;
}

static void no_verdict_is_better_than_what_was_seen(void **state)
{
    char loss[TMS_SPOOL_REASON];
    struct image *image = new_cut();

    (void)state;
    assert_int_equal(verdict_of(image, loss), TMS_VERDICT_SERIALIZABLE);
    image = new_cut();
    header_of(image)->state = TMS_SPOOL_RUNNING;
    assert_int_equal(verdict_of(image, loss), TMS_VERDICT_INCOMPLETE);
    assert_non_null(strstr(loss, "without warning"));
    image = new_cut();
    header_of(image)->blocks = 0;
    assert_int_equal(verdict_of(image, loss), TMS_VERDICT_INCOMPLETE);
    assert_non_null(strstr(loss, "no block"));
    image = new_cut();
    chunk_of(image, 2)->used = TMS_SPOOL_CHUNK + 1;
    assert_int_equal(verdict_of(image, loss), TMS_VERDICT_INCOMPLETE);
    assert_non_null(strstr(loss, "damaged"));
}

/* How often the one violation of an image counts in a process of that state; 0: not at all. */
static uint64_t times_found(uint32_t state, uint64_t count, uint32_t open)
{
    struct image *image = new_cut();
    struct reading reading;
    struct tms_analysis *analysis;

    add_violation(image);
    header_of(image)->state = state;
    header_of(image)->violations = count;
    struct tms_spool_record *record = (void *)(chunk_of(image, 0) + 1);
    while (record->type != TMS_SPOOL_VIOLATION) {
        record = (void *)((unsigned char *)record + ((record->length + 7) & ~7u));
    }
    struct tms_spool_violation *violation = (void *)record;
    violation->count = count;
    violation->open = open;
    assert_true(open_image(&reading, image, FILE_BYTES));
    assert_int_equal(observe(&reading, 0, &analysis), TMS_OK);
    const struct tms_result *result = tms_analysis_result(analysis, 0);
    uint64_t times = result->finding_count > 0 ? result->findings[0].count : 0;
    assert_true(result->violations >= times);
    tms_analysis_free(analysis);
    close_image(&reading);
    free(image);
    return times;
}

static void a_block_that_is_open_counts_until_the_process_has_settled(void **state)
{
    (void)state;
    assert_int_equal(times_found(TMS_SPOOL_RUNNING, 0, 0), 0);
    assert_int_equal(times_found(TMS_SPOOL_RUNNING, 0, 1), 1);
    assert_int_equal(times_found(TMS_SPOOL_RUNNING, 3, 0), 3);
    assert_int_equal(times_found(TMS_SPOOL_DONE, 0, 1), 0);
    assert_int_equal(times_found(TMS_SPOOL_DONE, 3, 0), 3);
}

/* ---- nonsense ---------------------------------------------------------------------------- */

static int ignore(void *user, const struct tms_event *events, size_t count)
{
    (void)user;
    (void)events;
    (void)count;
    return TMS_OK;
}

/* The same as the spool of a process that runs: it may have hit the file with a wild pointer. */
static void use_running(const struct image *image, size_t bytes)
{
    char path[] = "spool-XXXXXX", reason[TMS_SPOOL_REASON];
    struct tms_spool spool;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, image->bytes, bytes), bytes);
    close(fd);
    tms_spool_open_running(&spool, path, reason);
    tms_spool_close(&spool);
    unlink(path);
}

/* Any result is fine, as long as there is one. */
static void use(const struct image *image, size_t bytes)
{
    struct reading reading;
    struct tms_trace_outcome outcome;
    struct tms_analysis *analysis = NULL;
    char loss[TMS_SPOOL_REASON];

    if (open_image(&reading, image, bytes)) {
        tms_spool_trace(&reading.names, ignore, NULL, &outcome, NULL);
        observe(&reading, 0, &analysis);
        tms_spool_loss(&reading.spool, loss);
        tms_analysis_free(analysis);
    }
    close_image(&reading);
    use_running(image, bytes);
}

static void files_that_are_cut_off(void **state)
{
    struct image *image = new_cut();
    const size_t header = TMS_SPOOL_HEADER, chunk = TMS_SPOOL_CHUNK;
    const size_t sizes[] = {0,
                            1,
                            header - 1,
                            header,
                            header + 8,
                            header + chunk,
                            header + 2 * chunk - 1,
                            FILE_BYTES - 1};

    (void)state;
    add_violation(image);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        use(image, sizes[i]);
    }
    free(image);
}

static void files_of_somebody_else(void **state)
{
    struct image *image = new_cut();
    struct reading reading;

    (void)state;
    header_of(image)->event_size++;
    assert_false(open_image(&reading, image, FILE_BYTES));
    close_image(&reading);
    memset(image->bytes, 'x', FILE_BYTES);
    assert_false(open_image(&reading, image, FILE_BYTES));
    close_image(&reading);
    free(image);
}

/* Some of the bytes that mean something are replaced at random, again and again. */
static void bytes_that_a_wild_pointer_hit(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < 400; round++) {
        struct image *image = new_cut();
        add_violation(image);
        for (int hit = 0; hit < 1 + round % 8; hit++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            unsigned index = (unsigned)(seed >> 33) % CHUNKS;
            size_t used = chunk_of(image, index)->used;
            size_t room = used < TMS_SPOOL_CHUNK ? used : TMS_SPOOL_CHUNK;
            size_t at = (size_t)(seed >> 40) % (room > 0 ? room : 1);
            ((unsigned char *)chunk_of(image, index))[at] = (unsigned char)(seed >> 20);
        }
        use(image, FILE_BYTES);
        free(image);
    }
}

/* A site that is its own caller, and labels, threads and sites that were never recorded. */
static void references_that_lead_nowhere(void **state)
{
    struct image *image = new_cut();
    struct tms_spool_site *site = add_record(image, TMS_SPOOL_SITE, sizeof(*site));
    struct tms_spool_event event = event_of(7, TMS_EVENT_BEGIN, 99, 0);

    (void)state;
    site->id = site->parent = 3;
    site->pc = 0x1234;
    event.site = 3;
    add_event(image, 3, event);
    event = event_of(8, TMS_EVENT_JOIN, 77, 0);
    event.site = 4;
    add_event(image, 3, event);
    use(image, FILE_BYTES);
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_cut_where_accesses_are),
        cmocka_unit_test(sites_are_found_by_event_number),
        cmocka_unit_test(accesses_may_be_marked),
        cmocka_unit_test(atomics_have_orders),
        cmocka_unit_test(an_impossible_order_is_left_out),
        cmocka_unit_test(an_unknown_kind_is_left_out),
        cmocka_unit_test(a_chunk_may_be_divided),
        cmocka_unit_test(a_damaged_chunk_takes_no_others_with_it),
        cmocka_unit_test(accesses_of_one_extent_stay_whole),
        cmocka_unit_test(an_array_is_one_variable_until_somebody_touches_a_part_of_it),
        cmocka_unit_test(renewed_memory_is_cut_out_of_an_array),
        cmocka_unit_test(one_idle_block_stands_for_those_that_follow),
        cmocka_unit_test(neighbours_of_one_site_become_one_access),
        cmocka_unit_test(memory_that_is_renewed_is_new),
        cmocka_unit_test(one_address_may_be_several_things),
        cmocka_unit_test(names_given_by_the_program_are_kept_apart),
        cmocka_unit_test(an_unfinished_recording_is_followed_as_far_as_it_goes),
        cmocka_unit_test(what_is_behind_the_cut_is_left_out),
        cmocka_unit_test(what_can_matter_to_no_verdict_is_left_out),
        cmocka_unit_test(memory_that_changes_hands_is_not_shared),
        cmocka_unit_test(renewals_part_the_uses_of_memory),
        cmocka_unit_test(a_full_recording_has_it_all),
        cmocka_unit_test(a_violation_becomes_a_finding),
        cmocka_unit_test(no_verdict_is_better_than_what_was_seen),
        cmocka_unit_test(a_block_that_is_open_counts_until_the_process_has_settled),
        cmocka_unit_test(files_that_are_cut_off),
        cmocka_unit_test(files_of_somebody_else),
        cmocka_unit_test(bytes_that_a_wild_pointer_hit),
        cmocka_unit_test(references_that_lead_nowhere),
    };
    char directory[] = "/tmp/tmesis-spool-XXXXXX";

    if (mkdtemp(directory) == NULL || chdir(directory) != 0) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("spool", tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
